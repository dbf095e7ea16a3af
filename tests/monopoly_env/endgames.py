"""A position whose shares can be worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import monopoly_env as me
from monopoly_env import core
from monopoly_env.board import LOT_NAME

ORANGE = ("St. James Place", "Tennessee Avenue", "New York Avenue")
LAST_TURN = me.Rules.preset("official", doubles_again=False, max_turns=1, score="tax_worth")

# From Just Visiting, 14 of 36 throws (those of 6, 8 and 9) end on an orange street with a hotel, and a throw of 12 on Chance, where one
# card of 16 goes back three spaces to New York Avenue. Everything else is mortgaged.
LEADER_WINS = 1 - (14 + Fraction(1, 16)) / 36


def last_throw(lead: int = 800) -> Any:
    """Player 0 throws once more, from Just Visiting; then the higher worth wins. It leads by a sum that only a hotel's rent beats."""
    others = [lot for lot in LOT_NAME[0] if lot not in ORANGE]
    game = me.position(
        2, LAST_TURN, turn=0, positions={0: 10, 1: 0}, lots={1: [*ORANGE, *others]}, mortgaged=others, buildings=dict.fromkeys(ORANGE, 5),
        cash={0: 10_000, 1: 0},
    )  # fmt: skip
    worth = me.worth(game)
    game.cash[0] = worth[1] + lead
    return core.settle(game)
