"""`strategic/*`: the agent of Ocnaru's thesis (Bucharest, 2025) and its ten presets.

It buys, builds, mortgages and trades by scores of lots, with weights and thresholds. By default it
plays as the published program; `complete` repairs some of that program's defects.

`parameters` has the 28 parameters and the presets, `values` the agent's beliefs, `trading` the
offers it accepts, `proposals` those it makes, `money` buildings, sales and mortgages, and `play`
the order of a turn and the decisions that the thesis does not have.
"""

from __future__ import annotations

from typing import Final

from agents.players.strategic.parameters import PRESETS, Strategic
from agents.players.strategic.play import play
from agents.players.vocabulary.parameters import named

__all__ = ["POLICIES", "PRESETS", "Strategic"]

POLICIES: Final = named(
    play,
    Strategic,
    {"strategic": {}} | {f"strategic/{name}": preset for name, preset in PRESETS.items()},
)
