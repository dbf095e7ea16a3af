"""Bargaining: the price that a partner just agrees to, where it is known by which numbers he judges.

The parent finds out which goods should change hands and guesses a price. A partner of a kind that was met in training can be
modelled, and his limit is then found by asking the model: an offer goes exactly there, and an offer of his is answered by a
counter-offer at his limit. Who refuses once what the model would take is of another kind, and from then on the parent deals with him
alone. Of two players who are left neither gains what the other would agree to lose, so there the parent's price stays, too.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.policy import Row
from agents.scripted.expert.parameters import MARGIN
from agents.scripted.expert.trading import (
    FAILED,
    PENDING,
    TABLE,
    acceptance,
    evidence,
    judge,
    learn,
    list_value,
    may_counter,
    naivety,
    price_range,
    simple_limit,
    was_refused,
)
from agents.scripted.expert.values import fill_strengths, turns_left
from agents.scripted.offers import plan, planned
from monopoly_env.actions import A_ASK, A_REPLY, A_TRADE
from monopoly_env.board import ALL_LOTS
from monopoly_env.engine import agenda
from monopoly_env.engine.mortgage import transfer_fees
from monopoly_env.engine.players import solvent_seats
from monopoly_env.engine.sets import has, size
from monopoly_env.engine.trade import COUNTER
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

# Its memory, where the parent keeps nothing.
_TRIED: Final = 57  # the partner, plus one, to whom something is offered that the model takes, while the outcome is unknown; the goods

_SURE: Final = 0.99  # chance that a partner who judges by the model does what it says
_BARTER: Final = number("trade", "one_for_one")  # without money


@kernel
def bargain(game: Game, base: int, params: Row, model: Row, memory: Row) -> int:
    """The parent's answer, at the limit of a partner who judges by the model where that promises more.

    Args:
        game: It waits for a decision.
        base: The parent's answer.
        params: The parent's parameters.
        model: The partners'.
        memory: The parent's, after his answer; the price of an offer that he has planned is replaced.

    Returns:
        The parent's answer, or a counter-offer.
    """
    seat = int(game.player)
    _note_outcome(game, seat, memory)
    if game.rules.trade == _BARTER or size(solvent_seats(game)) == 2:
        return base
    if A_TRADE <= base < A_ASK:
        partner = (seat + base - A_TRADE + 1) % int(game.num_players)
        if not has(int(memory[FAILED]), partner):
            _press(game, seat, partner, params, model, memory)
    elif game.decision == agenda.REPLY and may_counter(game) and not has(int(memory[FAILED]), int(game.offer_from)):
        return _counter(game, seat, base, params, model, memory)
    return base


@kernel
def _note_outcome(game: Game, seat: int, memory: Row) -> None:
    """Note who refused what the model takes."""
    partner = int(memory[_TRIED]) - 1
    if partner >= 0 and not agenda.ASK <= game.decision <= agenda.CASH:  # it has been answered
        ask, give = int(memory[_TRIED + 1]) & ALL_LOTS, int(memory[_TRIED + 2]) & ALL_LOTS
        if int(game.lots[seat]) & ask != ask or int(game.lots[partner]) & give != give:
            memory[FAILED] = int(memory[FAILED]) | 1 << partner
        memory[_TRIED] = 0


@kernel
def _try(partner: int, ask: int, give: int, price: float, limit: float, simple: float, unsure: float, memory: Row) -> None:
    """Note an offer, and what its outcome would say."""
    if price >= limit:
        memory[_TRIED], memory[_TRIED + 1], memory[_TRIED + 2] = partner + 1, ask, give
    memory[PENDING], memory[PENDING + 1], memory[PENDING + 2] = partner + 1, ask, give
    memory[PENDING + 3], memory[PENDING + 4] = evidence(_judged(price, limit), acceptance(price, simple, unsure))


@kernel
def _press(game: Game, seat: int, partner: int, params: Row, model: Row, memory: Row) -> None:
    """Replace the price of a planned offer by the partner's limit where that promises more."""
    ask, give, cash = planned(memory)
    turns = turns_left(game, params)
    total = fill_strengths(game, turns, params, memory[TABLE:])
    limit, simple, unsure = _limits(game, seat, partner, ask, give, params, model, memory)
    stated = _promise(game, seat, partner, ask, give, float(cash), limit, simple, unsure, total, turns, params, memory)
    pressed = _promise(game, seat, partner, ask, give, limit, limit, simple, unsure, total, turns, params, memory)
    price = float(cash)
    if pressed > stated and not was_refused(game, seat, partner, ask, give, limit):
        price = limit
        plan(ask, give, int(limit), memory)
    _try(partner, ask, give, price, limit, simple, unsure, memory)


@kernel
def _counter(game: Game, seat: int, base: int, params: Row, model: Row, memory: Row) -> int:
    """The answer to an offer: the parent's, or a counter-offer at the maker's limit."""
    maker, get, give = int(game.offer_from), int(game.offer_give), int(game.offer_ask)
    turns = turns_left(game, params)
    total = fill_strengths(game, turns, params, memory[TABLE:])
    limit, simple, unsure = _limits(game, seat, maker, get, give, params, model, memory)
    promised = 0.0
    if base == A_REPLY + 1:
        promised = judge(game, seat, maker, get, give, -float(game.offer_cash), total, turns, params, memory)
    elif base == A_REPLY + COUNTER:
        price = float(planned(memory)[2])
        promised = _promise(game, seat, maker, get, give, price, limit, simple, unsure, total, turns, params, memory)
    if _promise(game, seat, maker, get, give, limit, limit, simple, unsure, total, turns, params, memory) <= promised:
        return base
    plan(get, give, int(limit), memory)
    learn(game, seat, params, memory)  # of the offer before, if its outcome was not noted yet
    _try(maker, get, give, limit, limit, simple, unsure, memory)
    return A_REPLY + COUNTER


@kernel
def _limits(game: Game, seat: int, partner: int, ask: int, give: int, params: Row, model: Row, memory: Row) -> tuple[float, float, float]:
    """The least dollars that a partner takes who judges by the model, and one who goes by list prices with his uncertainty.

    The first is infinite if no sum that may be offered is enough.
    """
    lots, theirs = ask & ALL_LOTS, give & ALL_LOTS
    low, high = price_range(game, seat, partner, ask, give, float(transfer_fees(game, lots)), float(transfer_fees(game, theirs)), params)
    wanted, paid = list_value(game, partner, seat, lots, params)[1], list_value(game, seat, partner, theirs, params)[0]
    simple, unsure = simple_limit(wanted, paid, partner, params, memory)
    return least_price(game, seat, partner, ask, give, np.ceil(low), np.floor(high), model), simple, unsure


@kernel
def least_price(game: Game, seat: int, partner: int, ask: int, give: int, low: float, high: float, model: Row) -> float:
    """The least whole dollars between low and high at which the model agrees to a trade; infinite if it does at none."""
    table = np.empty(TABLE + len(game.place))
    turns = turns_left(game, model)
    total = fill_strengths(game, turns, model, table[TABLE:])
    if high < low or judge(game, partner, seat, give, ask, -high, total, turns, model, table) < model[MARGIN]:
        return np.inf
    while low < high:
        middle = np.floor((low + high) / 2)
        if judge(game, partner, seat, give, ask, -middle, total, turns, model, table) >= model[MARGIN]:
            high = middle
        else:
            low = middle + 1
    return high


@kernel
def _judged(price: float, limit: float) -> float:
    """The chance that a partner who judges by the model agrees."""
    return _SURE if price >= limit else 1 - _SURE


@kernel
def _promise(
    game: Game, seat: int, partner: int, ask: int, give: int, price: float, limit: float, simple: float, unsure: float,
    total: float, turns: float, params: Row, memory: Row,
) -> float:  # fmt: skip
    """The expected gain of an offer; zero if it could not be made, or gains too little where it is accepted."""
    if not np.isfinite(price):
        return 0.0
    gain = judge(game, seat, partner, ask, give, price, total, turns, params, memory)
    naive = naivety(partner, params, memory)
    odds = (1 - naive) * _judged(price, limit) + naive * acceptance(price, simple, unsure)
    return gain * odds if gain >= params[MARGIN] / 2 else 0.0
