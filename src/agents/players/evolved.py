"""Presets found by evolution: `<family>/evolved` for four players, `/evolved/two` for two.

They were found by `python -m training.evolve`; docs/results/evolution.md has the commands, and how
much stronger they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from agents.players import expert, strategic
from agents.players.expert.parameters import Expert
from agents.players.strategic.parameters import Strategic
from agents.players.vocabulary.parameters import Parameters, family
from monopoly_env.policy.protocol import CompiledPolicy, PolicyKernel

# By preset
NUMBERS: Final[dict[str, dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "evolved.json").read_text()
)
_FAMILIES: Final[dict[str, tuple[PolicyKernel, type[Parameters]]]] = {
    "expert": (expert.POLICIES["expert"]().kernel, Expert),
    "strategic": (strategic.POLICIES["strategic"]().kernel, Strategic),
}

POLICIES: Final[dict[str, Callable[..., CompiledPolicy]]] = {
    name: family(name, *_FAMILIES[name.split("/")[0]], **numbers)
    for name, numbers in NUMBERS.items()
}
