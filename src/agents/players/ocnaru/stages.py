"""What both agents share: the stages of a window, the way out of jail, what selling brings.

In each window they go through the same stages once, as the published program does: trades, lowering, mortgaging, lifting, building.
What a stage is to do is settled when it is entered; what is left of it is kept in memory, a bit a member.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.players.vocabulary.habits import leave_jail
from agents.players.vocabulary.reading import legal
from monopoly_env.actions import A_BUILD, A_JAIL, A_MORTGAGE, A_SELL, A_TURN, A_UNMORTGAGE
from monopoly_env.board import GROUP_OF, GROUP_SIZE, HOTEL, NUM_LOTS
from monopoly_env.engine.building import WHOLE_GROUP, refund
from monopoly_env.engine.sets import lowest
from monopoly_env.engine.turn import AFTER_SETTLEMENT
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row
from monopoly_env.rules import number

LEGACY_DEBTS: Final = (
    "gives up every debt above the cash in hand where the rules let it: the program of May 2025, with which the thesis's figures were "
    "made, has no rescue"
)

# Memory: 28 numbers of the agent's own, one a lot; then where it stands in the window and in a debt.
WINDOW, STAGE, LEFT, DEBT, TO_SELL, TO_MORTGAGE = range(NUM_LOTS, NUM_LOTS + 6)
LEAVE, TRADE, LOWER, MORTGAGES, LIFT, BUILD, DONE = range(7)
NOT_ENTERED: Final = -1
NO_ACTION: Final = -1
FIRST_ACTION: Final = np.array([A_JAIL, NO_ACTION, A_SELL, A_MORTGAGE, A_UNMORTGAGE, A_BUILD])  # of each stage: its member 0

_NO_TRADE = number("trade", "none")


@kernel
def open_window(game: Game, seat: int, memory: Row) -> bool:
    """Begin with the first stage if this window is a new one; False if the agent may not act in it."""
    when = int(game.agenda[game.depth - 1, 2])
    window = (int(game.turns) * 64 + int(game.throws[seat]) % 64) * 4 + when
    if memory[WINDOW] != window:
        memory[WINDOW], memory[STAGE], memory[LEFT] = window, LEAVE, NOT_ENTERED
    # Sent to jail by this very throw: his program ends the turn there.
    return game.rules.build_window != AFTER_SETTLEMENT or game.jail[seat] != 1


@kernel
def take_member(memory: Row) -> int:
    """The next member of the stage at hand, which is then done with."""
    left = int(memory[LEFT])
    memory[LEFT] = left & (left - 1)
    return lowest(left)


@kernel
def close_stage(memory: Row) -> None:
    """Go on to the next stage."""
    memory[STAGE] += 1
    memory[LEFT] = NOT_ENTERED


@kernel
def partners(game: Game, seat: int) -> int:
    """The other players, a bit each; none for who is in jail: there his program asks for no trades."""
    if game.jail[seat] > 0 or game.rules.trade == _NO_TRADE:
        return 0
    return ((1 << int(game.num_players)) - 1) & ~(1 << seat)


@kernel
def debt_at_hand(game: Game) -> int:
    """A number for the debt that is asked about: its turn and its dollars."""
    return int(game.turns) * 1_000_000 + int(game.agenda[game.depth - 1, 2])


@kernel
def stay_or_leave(game: Game, way_out: int) -> int:
    """Stay or leave as chosen; who must leave pays, with or without a card."""
    if not legal(game, A_TURN, 1):
        return A_JAIL if legal(game, A_JAIL, 1) else leave_jail(game)
    return A_JAIL + lowest(way_out) if way_out else A_TURN


@kernel
def proceeds(game: Game, street: int) -> int:
    """What selling a level of a street brings, or of its group where groups are sold at once (dollars)."""
    one = refund(game, street, int(game.rules.sell_ratio))
    if game.rules.even_build != WHOLE_GROUP or (game.rules.ocnaru_quirks and game.level[street] == HOTEL):
        return one
    return one * int(GROUP_SIZE[GROUP_OF[street]])
