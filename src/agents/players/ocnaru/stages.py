"""The stages of a window, the way out of jail and the proceeds of sales of both agents.

In each window an agent goes once through the same stages, as the published program does: leaving
jail, trades, selling buildings, mortgaging, lifting mortgages, building. On entering a stage it
decides what to do there and keeps the rest in memory, a bit for each partner, street or lot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from agents.players.vocabulary import habits, offers, reading
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.reading import amount_due, legal
from monopoly_env.actions import A_BUILD, A_JAIL, A_MORTGAGE, A_SELL, A_TURN, A_UNMORTGAGE
from monopoly_env.engine import building, turn
from monopoly_env.engine.sets import lowest
from monopoly_env.facts.board import GROUP_OF, GROUP_SIZE, HOTEL
from monopoly_env.game import Game
from monopoly_env.kernels import inlined, kernel
from monopoly_env.policy.protocol import Row

SLOT: Final = memory_slots(
    # Which window is open, the stage, what is left to do in it (a bit each) or NOT_ENTERED.
    "window", "stage", "left",
    # Which debt was planned for; streets to sell from and lots to mortgage, a bit each.
    "debt", "to_sell", "to_mortgage",
)  # fmt: skip
LEAVE, TRADE, LOWER, MORTGAGES, LIFT, BUILD, DONE = range(7)
NOT_ENTERED: Final = -1
NO_ACTION: Final = -1
# [stage] -> the action of its bit 0
FIRST_ACTION: Final = np.array([A_JAIL, NO_ACTION, A_SELL, A_MORTGAGE, A_UNMORTGAGE, A_BUILD])


@inlined
def go_through(
    game: Game,
    seat: int,
    params: Row,
    memory: Row,
    plan: Callable[..., int],
    offer: Callable[..., int],
    raise_first: Callable[..., int] | None = None,
) -> int:
    """The next action of a window.

    Args:
        game: It waits for an action in a window.
        seat: The agent's seat.
        params: Its parameters.
        memory: Its memory.
        plan: `(game, seat, stage, params, memory)`, the things to do in a stage, a bit each.
        offer: `(game, seat, partner, params, memory)`, the action that begins an offer.
        raise_first: `(game, seat, stage, params, memory)`, an action that must come first.
    """
    window = (int(game.turns) * 64 + int(game.throws[seat]) % 64) * 4 + reading.window_kind(game)
    if memory[SLOT.window] != window:
        memory[SLOT.window], memory[SLOT.stage], memory[SLOT.left] = window, LEAVE, NOT_ENTERED
    if game.rules.build_window == turn.AFTER_SETTLEMENT and game.jail[seat] == 1:
        return A_TURN  # the thesis's program ends the turn of a player that its throw sent to jail
    while memory[SLOT.stage] < DONE:
        stage = int(memory[SLOT.stage])
        if memory[SLOT.left] == NOT_ENTERED:
            memory[SLOT.left] = plan(game, seat, stage, params, memory)
        while memory[SLOT.left] > 0:
            if raise_first is not None:
                action = raise_first(game, seat, stage, params, memory)
                if action != NO_ACTION:
                    return action
            left = int(memory[SLOT.left])
            memory[SLOT.left] = left & (left - 1)
            if stage == TRADE:
                action = offer(game, seat, lowest(left), params, memory)
            else:
                action = int(FIRST_ACTION[stage]) + lowest(left)
            if action != NO_ACTION and legal(game, action, 1):
                return action
        memory[SLOT.stage] += 1
        memory[SLOT.left] = NOT_ENTERED
    return A_TURN


@kernel
def partners(game: Game, seat: int) -> int:
    """The other players, a bit each; none for a player in jail, as in the thesis's program."""
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
    if not reading.may_go_on(game):
        return A_JAIL if legal(game, A_JAIL, 1) else habits.leave_jail(game)
    return A_JAIL + lowest(way_out) if way_out else A_TURN


@kernel
def proceeds(game: Game, street: int) -> int:
    """The proceeds of a level of a street, or of its group if groups are sold at once (dollars)."""
    one = building.refund(game, street, int(game.rules.sell_ratio))
    if game.rules.even_build != building.WHOLE_GROUP or (
        game.rules.ocnaru_quirks and game.level[street] == HOTEL
    ):
        return one
    return one * GROUP_SIZE[GROUP_OF[street]]
