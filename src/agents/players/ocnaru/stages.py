"""What the two agents share: the stages of a window, the way out of jail, what a sale brings.

In each window an agent goes once through the same stages, as the published program does: leaving jail, trades, selling buildings,
mortgaging, lifting mortgages, building. On entering a stage it decides what to do there and keeps the rest in memory, a bit for each
partner, street or lot.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.players.vocabulary import habits, offers
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.reading import amount_due, legal, window_kind
from monopoly_env.actions import A_BUILD, A_JAIL, A_MORTGAGE, A_SELL, A_TURN, A_UNMORTGAGE
from monopoly_env.board import GROUP_OF, GROUP_SIZE, HOTEL
from monopoly_env.engine import building, turn
from monopoly_env.engine.sets import lowest
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row

SLOT: Final = memory_slots(
    "window",  # which window is open
    "stage",
    "left",  # what is left to do in the stage, a bit each, or NOT_ENTERED
    "debt",  # which debt was planned for
    "to_sell",  # streets, a bit each
    "to_mortgage",  # lots, a bit each
)
LEAVE, TRADE, LOWER, MORTGAGES, LIFT, BUILD, DONE = range(7)
NOT_ENTERED: Final = -1
NO_ACTION: Final = -1
FIRST_ACTION: Final = np.array([A_JAIL, NO_ACTION, A_SELL, A_MORTGAGE, A_UNMORTGAGE, A_BUILD])  # [stage] -> the action of its bit 0


@kernel
def open_window(game: Game, seat: int, memory: Row) -> bool:
    """Begin with the first stage if this window is a new one; False if the agent may not act in it."""
    window = (int(game.turns) * 64 + int(game.throws[seat]) % 64) * 4 + window_kind(game)
    if memory[SLOT.window] != window:
        memory[SLOT.window], memory[SLOT.stage], memory[SLOT.left] = window, LEAVE, NOT_ENTERED
    # A player that this very throw has sent to jail: the thesis's program ends its turn there.
    return game.rules.build_window != turn.AFTER_SETTLEMENT or game.jail[seat] != 1


@kernel
def take_next(memory: Row) -> int:
    """Take the lowest bit of what is left to do in the stage."""
    left = int(memory[SLOT.left])
    memory[SLOT.left] = left & (left - 1)
    return lowest(left)


@kernel
def close_stage(memory: Row) -> None:
    """Go on to the next stage."""
    memory[SLOT.stage] += 1
    memory[SLOT.left] = NOT_ENTERED


@kernel
def partners(game: Game, seat: int) -> int:
    """The other players, a bit each; none for a player in jail: there the thesis's program asks for no trades."""
    if game.jail[seat] > 0 or game.rules.trade == offers.NO_TRADES:
        return 0
    return ((1 << int(game.num_players)) - 1) & ~(1 << seat)


@kernel
def debt_at_hand(game: Game) -> int:
    """A number that identifies the debt at hand: its turn and its dollars."""
    return int(game.turns) * 1_000_000 + amount_due(game)


@kernel
def stay_or_leave(game: Game, way_out: int) -> int:
    """Stay or leave as chosen; a player that must leave pays the fine, with or without a card."""
    if not legal(game, A_TURN, 1):
        return A_JAIL if legal(game, A_JAIL, 1) else habits.leave_jail(game)
    return A_JAIL + lowest(way_out) if way_out else A_TURN


@kernel
def proceeds(game: Game, street: int) -> int:
    """What selling a level of a street brings, or of its whole group if groups are sold at once (dollars)."""
    one = building.refund(game, street, int(game.rules.sell_ratio))
    if game.rules.even_build != building.WHOLE_GROUP or (game.rules.ocnaru_quirks and game.level[street] == HOTEL):
        return one
    return one * int(GROUP_SIZE[GROUP_OF[street]])
