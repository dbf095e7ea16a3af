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
from agents.players.vocabulary.parameters import ScriptedPolicy, named

# By preset
NUMBERS: Final[dict[str, dict[str, Any]]] = json.loads(
    Path(__file__).with_name("evolved.json").read_text()
)


def _of(family: str) -> dict[str, dict[str, Any]]:
    return {name: numbers for name, numbers in NUMBERS.items() if name.startswith(f"{family}/")}


POLICIES: Final[dict[str, Callable[..., ScriptedPolicy]]] = {
    **named(expert.POLICIES["expert"]().kernel, Expert, _of("expert")),
    **named(strategic.POLICIES["strategic"]().kernel, Strategic, _of("strategic")),
}
