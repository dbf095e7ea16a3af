"""Policies written by hand, one module or package per family; `POLICIES` has all of them by name.

What the families share is in `vocabulary`. `genetic` are players with a genome, and `human` is a person at the terminal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agents.players import algorithmic, evolved, expert, fp, friedman, gcp, landlord, ocnaru, random, strategic, yasumura
from monopoly_env.policy.protocol import CompiledPolicy

POLICIES: Final[dict[str, Callable[..., CompiledPolicy]]] = {
    **random.POLICIES,
    **algorithmic.POLICIES,
    **landlord.POLICIES,
    **yasumura.POLICIES,
    **fp.POLICIES,
    **gcp.POLICIES,
    **friedman.POLICIES,
    **expert.POLICIES,
    **ocnaru.POLICIES,
    **strategic.POLICIES,
    **evolved.POLICIES,
}
