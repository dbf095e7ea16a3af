"""The skeleton of scripted policies: a family fills it with a function for each decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.players.vocabulary import habits, offers, reading
from agents.players.vocabulary.reading import legal
from monopoly_env.actions import A_BID, A_BUY, A_CHOICE, A_REPLY, A_TURN
from monopoly_env.engine import agenda
from monopoly_env.game import Game
from monopoly_env.kernels import inlined
from monopoly_env.policy.protocol import Row

Answer = Callable[[Game, int, Any, Row], Any]  # (game, seat, params, memory)


@inlined
def decide(
    game: Game,
    params: Any,
    memory: Row,
    window: Answer | None = None,
    buy: Answer | None = None,
    bid: Answer | None = None,
    leaves: Answer | None = None,
    accepts: Answer | None = None,
    debt: Answer | None = None,
    lifts: Answer | None = None,
) -> int:
    """Answer a decision by the family's function for it; without one, decline.

    It is inlined: Numba's disk cache finds a kernel again that names the functions of its own
    module, but not a closure over them.

    Args:
        game: It waits for a decision.
        params: Passed to the functions.
        memory: The seat's memory.
        window: The action in a window of a turn.
        buy: The action for a lot for sale.
        bid: The action in an auction.
        leaves: Whether to leave jail, if it may leave or stay.
        accepts: Whether to accept an offer.
        debt: The action for a debt; by default `habits.raise_cash`.
        lifts: Whether to lift the mortgage of a received lot at once.
    """
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW:
        if leaves is not None and reading.may_leave(game) and leaves(game, seat, params, memory):
            return habits.leave_jail(game)
        return A_TURN if window is None else window(game, seat, params, memory)
    if decision == agenda.BUY:
        return A_BUY if buy is None else buy(game, seat, params, memory)
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return A_BID if bid is None else bid(game, seat, params, memory)
    if decision == agenda.JAIL:
        stays = reading.may_go_on(game) and (
            leaves is None or not leaves(game, seat, params, memory)
        )
        return A_TURN if stays else habits.leave_jail(game)
    if agenda.ASK <= decision <= agenda.CASH:
        return offers.compose(game, memory)
    if decision == agenda.REPLY:
        wanted = accepts is not None and accepts(game, seat, params, memory)
        return A_REPLY + 1 if wanted and legal(game, A_REPLY + 1, 1) else A_REPLY
    if decision == agenda.DEBT:
        return habits.raise_cash(game) if debt is None else debt(game, seat, params, memory)
    if decision == agenda.TAKEOVER:
        wanted = lifts is not None and lifts(game, seat, params, memory)
        return A_CHOICE + 1 if wanted and legal(game, A_CHOICE + 1, 1) else A_CHOICE
    return habits.routine(game)
