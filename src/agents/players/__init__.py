"""Policies written by hand, a family a module; `POLICIES` gathers their names.

`reading` looks at the record, `offers` composes trades, `habits` are the small decisions that the families share, `parameters`
is what each family can be tuned by.
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
