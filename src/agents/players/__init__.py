"""Policies written by hand, one module or package per family; `POLICIES` has all of them by name.

What the families share is in `vocabulary`. `genetic` are players with a genome, and `human` is a
person at the terminal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agents.players import (
    algorithmic,
    evolved,
    expert,
    fp,
    friedman,
    gcp,
    landlord,
    ocnaru,
    random,
    strategic,
    yasumura,
)
from monopoly_env.policy.protocol import CompiledPolicy

_FAMILIES: Final = (
    random, algorithmic, landlord, yasumura, fp, gcp, friedman, expert, ocnaru, strategic, evolved,
)  # fmt: skip
POLICIES: Final[dict[str, Callable[..., CompiledPolicy]]] = {
    name: factory for family in _FAMILIES for name, factory in family.POLICIES.items()
}
