"""Bargaining: the price at which a partner just agrees, where a model of the partner is known.

The parent finds out which goods should change hands and guesses a price. A partner of a kind that
was met in training can be modelled: asking the model finds the partner's limit. An offer is made
exactly at the limit, and an offer of the partner is answered by a counter-offer at it. A partner
that refuses what the model would accept is of another kind; from then on the parent sets the prices
for it, as it always does where two players are left (`bargainer`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from agents.players.expert import trading
from agents.players.expert.parameters import AT
from agents.players.expert.trading import SLOT, Trade
from agents.players.expert.values import fill_strengths, turns_left
from agents.players.vocabulary import offers
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.offers import plan, planned
from monopoly_env.actions import A_ASK, A_REPLY, A_TRADE
from monopoly_env.engine import agenda
from monopoly_env.engine.mortgage import transfer_fees
from monopoly_env.engine.sets import has
from monopoly_env.engine.trade import COUNTER
from monopoly_env.facts.board import ALL_LOTS
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row
from monopoly_env.rules import number

# Its memory after the parent's: an offer that the model accepts, while the answer is unknown (the
# partner plus 1, then the goods).
_SLOT: Final = memory_slots("partner", "ask", "give", start=SLOT.end)

_SURE: Final = 0.99  # chance that a partner of the modelled kind acts as the model says
_BARTER: Final = number("trade", "one_for_one")  # without money


@kernel
def bargain(game: Game, base: int, params: Row, model: Row, memory: Row) -> int:
    """The parent's answer, at the partner's limit by the model where that promises more.

    Args:
        game: It waits for a decision.
        base: The parent's answer.
        params: The parent's parameters.
        model: The partners'.
        memory: The parent's, after its answer; the price of a planned offer is replaced.
    """
    seat = int(game.player)
    _note_outcome(game, seat, memory)
    if game.rules.trade == _BARTER:
        return base
    failed, maker = int(memory[SLOT.failed]), int(game.offer_from)
    if A_TRADE <= base < A_ASK:
        partner = (seat + base - A_TRADE + 1) % int(game.num_players)
        if not has(failed, partner):
            _press(game, seat, partner, params, model, memory)
    elif game.decision == agenda.REPLY and trading.may_counter(game) and not has(failed, maker):
        return _counter(game, seat, base, params, model, memory)
    return base


@kernel
def _note_outcome(game: Game, seat: int, memory: Row) -> None:
    """Note a partner that refused an offer that the model accepts."""
    partner = int(memory[_SLOT.partner]) - 1
    if partner >= 0 and not agenda.ASK <= game.decision <= agenda.CASH:  # it has been answered
        ask, give = int(memory[_SLOT.ask]), int(memory[_SLOT.give])
        if not trading.was_taken(game, seat, partner, ask, give):
            memory[SLOT.failed] = int(memory[SLOT.failed]) | 1 << partner
        memory[_SLOT.partner] = 0


class _Terms(NamedTuple):
    """A trade that may be offered, and the prices that the partner wants for it."""

    deal: Trade  # from the side of the player that offers
    limit: float  # the fewest dollars that the partner accepts by the model, or infinite
    simple: float  # the fewest dollars that it accepts if it goes by list prices
    unsure: float  # the uncertainty of `simple`, in dollars
    turns: float  # see `turns_left`
    total: float  # sum of all strengths, which are in memory


@kernel
def _terms(game: Game, deal: Trade, params: Row, model: Row, memory: Row) -> _Terms:
    """The terms of a trade; the present strengths are written to memory."""
    turns = turns_left(game, params)
    total = fill_strengths(game, turns, params, memory[SLOT.strengths :])
    get, give = deal.get & ALL_LOTS, deal.give & ALL_LOTS
    fees, their_fees = float(transfer_fees(game, get)), float(transfer_fees(game, give))
    low, high = trading.price_range(game, deal, fees, their_fees, params)
    wanted = trading.list_value(game, deal.partner, deal.seat, get, params)[1]
    paid = trading.list_value(game, deal.seat, deal.partner, give, params)[0]
    simple, unsure = trading.simple_limit(wanted, paid, deal.partner, params, memory)
    limit = least_price(game, deal, np.ceil(low), np.floor(high), model)
    return _Terms(deal, limit, simple, unsure, turns, total)


@kernel
def _press(game: Game, seat: int, partner: int, params: Row, model: Row, memory: Row) -> None:
    """Replace the price of a planned offer by the partner's limit where that promises more."""
    ask, give, cash = planned(memory)
    terms = _terms(game, Trade(seat, partner, ask, give), params, model, memory)
    limit, price = terms.limit, float(cash)
    at_limit = _promise(game, terms, limit, params, memory)
    more = at_limit > _promise(game, terms, price, params, memory)
    if more and not offers.was_refused(game, seat, partner, ask, give, limit, np.inf):
        price = limit
        plan(ask, give, int(price), memory)
    _try(terms, price, memory)


@kernel
def _counter(game: Game, seat: int, base: int, params: Row, model: Row, memory: Row) -> int:
    """The parent's answer to an offer, or a counter-offer at the proposer's limit."""
    deal = Trade(seat, int(game.offer_from), int(game.offer_give), int(game.offer_ask))
    terms, promised = _terms(game, deal, params, model, memory), 0.0
    if base == A_REPLY + 1:
        paid = -float(game.offer_cash)
        promised = trading.judge(game, deal, paid, terms.total, terms.turns, params, memory)
    elif base == A_REPLY + COUNTER:
        promised = _promise(game, terms, float(planned(memory)[2]), params, memory)
    if _promise(game, terms, terms.limit, params, memory) <= promised:
        return base
    plan(deal.get, deal.give, int(terms.limit), memory)
    trading.learn(game, seat, params, memory)  # from the offer before
    _try(terms, terms.limit, memory)
    return A_REPLY + COUNTER


@kernel
def _try(terms: _Terms, price: float, memory: Row) -> None:
    """Note an offer, and the evidence that its outcome would be."""
    partner, ask, give = terms.deal.partner + 1, terms.deal.get, terms.deal.give
    memory[SLOT.pending], memory[SLOT.pending_ask], memory[SLOT.pending_give] = partner, ask, give
    memory[SLOT.if_taken], memory[SLOT.if_refused] = trading.evidence(
        _judged(price, terms.limit), trading.acceptance(price, terms.simple, terms.unsure)
    )
    if price >= terms.limit:
        memory[_SLOT.partner], memory[_SLOT.ask], memory[_SLOT.give] = partner, ask, give
        memory[SLOT.if_refused] = 0.0  # a refusal shows neither kind


@kernel
def least_price(game: Game, deal: Trade, low: float, high: float, model: Row) -> float:
    """The least dollars from low to high at which the model agrees; infinite: none."""
    table = np.empty(SLOT.strengths + len(game.place))
    turns, theirs, margin = turns_left(game, model), trading.from_partner(deal), model[AT.margin]
    total = fill_strengths(game, turns, model, table[SLOT.strengths :])
    if high < low or trading.judge(game, theirs, -high, total, turns, model, table) < margin:
        return np.inf
    while low < high:
        middle = np.floor((low + high) / 2)
        if trading.judge(game, theirs, -middle, total, turns, model, table) >= margin:
            high = middle
        else:
            low = middle + 1
    return high


@kernel
def _judged(price: float, limit: float) -> float:
    """The chance that a partner of the modelled kind agrees."""
    return _SURE if price >= limit else 1 - _SURE


@kernel
def _promise(game: Game, terms: _Terms, price: float, params: Row, memory: Row) -> float:
    """The expected gain of an offer; zero if it can't be made or gains too little."""
    if not np.isfinite(price):
        return 0.0
    gain = trading.judge(game, terms.deal, price, terms.total, terms.turns, params, memory)
    naive = trading.naivety(terms.deal.partner, params, memory)
    counted = trading.acceptance(price, terms.simple, terms.unsure)
    odds = (1 - naive) * _judged(price, terms.limit) + naive * counted
    return gain * odds if gain >= params[AT.margin] / 2 else 0.0
