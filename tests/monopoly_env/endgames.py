"""Positions whose shares can be worked out: by hand, or by going through all that may happen."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import agents
import monopoly_env as me
from monopoly_env import core
from monopoly_env.actions import A_TURN
from monopoly_env.facts.board import LOT_NAME
from monopoly_env.facts.cards import CARD_ID, DECKS
from monopoly_env.positions import force

ORANGE = ("St. James Place", "Tennessee Avenue", "New York Avenue")
RED = ("Kentucky Avenue", "Indiana Avenue", "Illinois Avenue")
YELLOW = ("Atlantic Avenue", "Ventnor Avenue", "Marvin Gardens")
GREEN = ("Pacific Avenue", "North Carolina Avenue", "Pennsylvania Avenue")
DECK_OF = {7: 0, 22: 0, 36: 0, 2: 1, 17: 1, 33: 1}  # by square
LAST_TURN = me.Rules.preset("official", doubles_again=False, max_turns=1, score="tax_worth")
LAST_TWO_TURNS = me.Rules.preset("official", doubles_again=False, max_turns=2, score="tax_worth")

# From Just Visiting, 14 of 36 throws (those of 6, 8 and 9) end on an orange street with a hotel,
# and a throw of 12 on Chance, where one card of 16 goes back three spaces to New York Avenue.
# Everything else is mortgaged.
LEADER_WINS = 1 - (14 + Fraction(1, 16)) / 36

# The follower wins if the leader stops on a hotel and the follower does not. The leader does so
# with 14 throws of 36, or by a throw of 12 and one card of 16, as above. The follower is five
# squares before the first red street: 14 throws (of 6, 8 and 9), or one of the six of 7 to Chance,
# where one card goes to Illinois Avenue: one of 16, or of 15 if the leader has drawn another one.
FOLLOWER_WINS = Fraction(14, 36) * (1 - (14 + Fraction(6, 16)) / 36) + Fraction(1, 36 * 16) * (
    1 - (14 + Fraction(6, 15)) / 36
)


@agents.policy_kernel
def _goes_on(game: Any, mask: Any, params: Any, memory: Any) -> int:
    action = A_TURN
    if not mask[A_TURN]:
        action = mask.argmax()
    return action


GOES_ON = agents.CompiledPolicy("goes on", _goes_on)  # it does nothing that can be left undone


def last_throw(
    lead: int = 800, square: int = 10, streets: Iterable[str] = ORANGE, level: int = 5
) -> Any:
    """Player 0 throws once more, by default from Just Visiting; then the higher worth wins.

    By default it leads by a sum that only a hotel's rent beats.
    """
    streets = list(streets)
    others = [lot for lot in LOT_NAME[0] if lot not in streets]
    game = me.position(
        2, LAST_TURN, turn=0, positions={0: square, 1: 0}, lots={1: [*streets, *others]},
        mortgaged=others,
        buildings=dict.fromkeys(streets, level), cash={0: 10_000, 1: 100},
    )  # fmt: skip
    worth = me.worth(game)
    game.cash[0] = worth[1] + lead
    return core.settle(game)


def last_two_throws() -> Any:
    """Each player throws once more, then the higher worth wins. Player 0 leads by $1,000.

    Player 0 has hotels on the red streets and stands on Just Visiting; player 1 has them on the
    orange ones and stands five squares on. Rents of $950 to $1,100 change the lead by twice as
    much, cards by $545 at most.
    """
    others = [lot for lot in LOT_NAME[0] if lot not in (*ORANGE, *RED)]
    game = me.position(
        2, LAST_TWO_TURNS, turn=0, positions={0: 10, 1: 15}, lots={0: RED, 1: [*ORANGE, *others]},
        mortgaged=others,
        buildings=dict.fromkeys([*ORANGE, *RED], 5), cash={0: 10_000, 1: 5000},
    )  # fmt: skip
    worth = me.worth(game)
    game.cash[0] += worth[1] + 1000 - worth[0]
    return core.settle(game)


def exact_share(game: Any) -> Fraction:
    """Player 0's share before a last throw in which nobody acts.

    Over all throws, and all cards where they end on a card square.
    """
    share = Fraction(0)
    for total in range(2, 13):
        deck = DECK_OF.get(int(game.position[0]) + total)
        cards = [{}] if deck is None else [{DECKS[deck]: [card]} for card in CARD_ID[0][deck]]
        for card in cards:
            after = force(game, throws=[(total // 2, total - total // 2)], **card)
            while not me.is_over(after):
                me.step(after, A_TURN)
            share += Fraction(6 - abs(7 - total), 36 * len(cards)) * (me.winner(after) == 0)
    return share
