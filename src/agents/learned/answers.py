"""The memory of a learned agent: counts and prices of the offers that each partner took or refused.

Players differ: some judge by printed prices, others by the prospects of both sides, and the record
of a game holds no offers of past rounds. So networks see these counts. An offer is noted when its
price is named, its answer when its maker decides next.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.players.expert.trading import was_taken
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.reading import total_price
from monopoly_env.encoding.table import Block
from monopoly_env.engine import agenda
from monopoly_env.facts.board import ALL_LOTS
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import MEMORY, Row

MOST_PLAYERS: Final = 4  # as many as fit into memory

ANSWERS: Final = (
    Block("took", ("",), "growing", "offers of the observing player; a = 2"),
    Block("refused", ("", "in a row"), "growing", "such offers; a = 4"),
    Block("took below the limit", ("",), "growing",
          "such offers at prices that `expert` would refuse; a = 2"),
    Block("refused at the limit", ("of expert", "of a bargainer"), "growing",
          "such offers that `expert`, or `expert/bargaining`, would take; a = 2"),
    Block("least taken", ("",), "rise", "dollars beyond the printed prices; a = 300"),
    Block("most refused", ("",), "rise", "the same"),
)  # fmt: skip

# The unanswered offer: its partner + 1, its goods, the dollars beyond the printed prices, and
# whether it reaches the limits of `expert` and of `expert/bargaining`. Then, for each partner, the
# numbers behind `ANSWERS`.
SLOT: Final = memory_slots(
    "partner", "ask", "give", "premium", "at_expert", "at_bargainer",
    took=MOST_PLAYERS, refused=MOST_PLAYERS, in_a_row=MOST_PLAYERS, below=MOST_PLAYERS,
    refused_expert=MOST_PLAYERS,
    refused_bargainer=MOST_PLAYERS, least=MOST_PLAYERS, most=MOST_PLAYERS,
)  # fmt: skip


@kernel
def nothing() -> Row:
    """The memory of a player that has made no offers."""
    return np.zeros(MEMORY)


@kernel
def note_offer(game: Game, cash: int, limits: Any, memory: Row) -> None:
    """Note the offer that is being made.

    Args:
        game: An offer whose goods are picked.
        cash: Dollars given for them.
        limits: (2,) float64, the lowest prices that `expert` and `expert/bargaining` would take;
            see `prices.write_prices`.
        memory: The memory of its maker.
    """
    ask, give = int(game.offer_ask), int(game.offer_give)
    memory[SLOT.partner], memory[SLOT.ask], memory[SLOT.give] = int(game.offer_to) + 1, ask, give
    memory[SLOT.premium] = (
        cash - total_price(game, ask & ALL_LOTS) + total_price(game, give & ALL_LOTS)
    )
    memory[SLOT.at_expert], memory[SLOT.at_bargainer] = cash >= limits[0], cash >= limits[1]


@kernel
def note_answer(game: Game, seat: int, memory: Row) -> None:
    """Note the answer to a seat's last offer, when the seat decides again."""
    partner = int(memory[SLOT.partner]) - 1
    if partner < 0 or agenda.ASK <= game.decision <= agenda.CASH:
        return
    memory[SLOT.partner] = 0.0
    premium = memory[SLOT.premium]
    if was_taken(game, seat, partner, int(memory[SLOT.ask]), int(memory[SLOT.give])):
        first = memory[SLOT.took + partner] == 0.0
        memory[SLOT.least + partner] = (
            premium if first else min(memory[SLOT.least + partner], premium)
        )
        memory[SLOT.took + partner] += 1.0
        memory[SLOT.in_a_row + partner] = 0.0
        memory[SLOT.below + partner] += 1.0 - memory[SLOT.at_expert]
    else:
        first = memory[SLOT.refused + partner] == 0.0
        memory[SLOT.most + partner] = (
            premium if first else max(memory[SLOT.most + partner], premium)
        )
        memory[SLOT.refused + partner] += 1.0
        memory[SLOT.in_a_row + partner] += 1.0
        memory[SLOT.refused_expert + partner] += memory[SLOT.at_expert]
        memory[SLOT.refused_bargainer + partner] += memory[SLOT.at_bargainer]


@kernel
def write_answers(partner: int, memory: Row, row: Any) -> None:
    """Write the features of `ANSWERS` of a partner, in their order."""
    row[0] = _growing(memory[SLOT.took + partner], 2.0)
    row[1] = _growing(memory[SLOT.refused + partner], 4.0)
    row[2] = _growing(memory[SLOT.in_a_row + partner], 4.0)
    row[3] = _growing(memory[SLOT.below + partner], 2.0)
    row[4] = _growing(memory[SLOT.refused_expert + partner], 2.0)
    row[5] = _growing(memory[SLOT.refused_bargainer + partner], 2.0)
    row[6] = _growing(memory[SLOT.least + partner], 300.0)
    row[7] = _growing(memory[SLOT.most + partner], 300.0)


@kernel
def _growing(number: float, half: float) -> float:
    return number / (abs(number) + half)
