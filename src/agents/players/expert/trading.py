"""The worth of a trade, the price at which a partner may agree, and the answers to offers.

A trade is judged by strengths: by how much the player's share of all strength rises, where a
partner's gain counts by the partner's share of what the others have. For two players that is the
ratio of their strengths; at larger tables, two can gain at the others' expense.

A partner either judges by strengths too (as this policy does, unless the caller has another model
of the partner), or goes by list prices. Which of the two, and how far below its limit it can be
pressed, is learned from what it accepts and refuses, so that a partner that sells cheaply is found
out and bought up.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from agents.players.expert.money import RENTS, Means, means, risk, write_rents
from agents.players.expert.parameters import AT
from agents.players.expert.values import fill_strengths, power, strength, turns_left
from agents.players.vocabulary import groups, offers
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.reading import legal, of_opponents, price
from monopoly_env.actions import A_REPLY
from monopoly_env.engine import mortgage, trade
from monopoly_env.engine.sets import each, has, size
from monopoly_env.facts.board import ALL_LOTS
from monopoly_env.game import MAX_PLAYERS, Game
from monopoly_env.kernels import kernel, on_stack
from monopoly_env.policy.protocol import MEMORY, Row

SLOT: Final = memory_slots(
    # The last search: the groups that could be closed, as a number; turn; partners, a bit each.
    "closable", "searched", "partners",
    # The last offer while its outcome is unknown: the partner plus 1, the goods, the `evidence` of
    # acceptance and of refusal.
    "pending", "pending_ask", "pending_give", "if_taken", "if_refused",
    # The best offer found so far: expected gain, goods, dollars, evidence.
    "best", "best_ask", "best_give", "best_cash", "best_if_taken", "best_if_refused",
    # The auction that a limit was computed for, and the limit.
    "auction", "bid_limit",
    # The partners that have refused what the model accepts, a bit each: it is not their model.
    "failed",
    # The present strength of each seat, see `fill_strengths`.
    strengths=MAX_PLAYERS,
    # Of each partner: the change of the parameter `greed` by its answers.
    boldness=MAX_PLAYERS,
    # Of each partner: log odds that it goes by list prices, added to those of `naive`.
    leaning=MAX_PLAYERS,
    # Of each partner: the turn of the next search for a trade, and its refusals in a row.
    next_search=MAX_PLAYERS, refusals=MAX_PLAYERS,
)  # fmt: skip

_ROUND_TO: Final = 5  # dollars
_MOST_BOLD: Final = 1.5
_SLIM: Final = 3.0  # uncertainties below a limit at which the chance of acceptance is too slim
_SUREST: Final = 4.0  # bound of the log odds: opinions stay open to change


@kernel
def weight(seat: int, total: float, params: Row, memory: Row) -> float:
    """A seat's share of all strength."""
    return power(memory[SLOT.strengths + seat], params[AT.contrast]) / total


class Trade(NamedTuple):
    """The goods of a trade from one side, a bit each."""

    seat: int
    partner: int
    get: int
    give: int


@kernel
def from_partner(deal: Trade) -> Trade:
    """The same trade from the partner's side."""
    return Trade(deal.partner, deal.seat, deal.give, deal.get)


@kernel
def _after(game: Game, deal: Trade, paid: float, turns: float, params: Row) -> float:
    """A seat's strength after a trade."""
    cards = size(deal.get & ~ALL_LOTS) - size(deal.give & ~ALL_LOTS)
    get, give = deal.get & ALL_LOTS, deal.give & ALL_LOTS
    lots = (int(game.lots[deal.seat]) & ~give) | get
    elsewhere = (of_opponents(game, deal.seat) & ~get) | give
    cash = float(game.cash[deal.seat]) - paid - mortgage.transfer_fees(game, get)
    cash += cards * int(game.rules.jail_fine)
    return strength(game, lots, cash, elsewhere, turns, params)


@kernel
def judge(
    game: Game, deal: Trade, paid: float, total: float, turns: float, params: Row, memory: Row
) -> float:
    """The relative rise of a seat's share of all strength; present strengths are in memory."""
    seat, partner = deal.seat, deal.partner
    after = _after(game, deal, paid, turns, params)
    theirs = _after(game, from_partner(deal), -paid, turns, params)
    before = memory[SLOT.strengths + seat]
    cash = float(game.cash[seat])
    left = cash - paid - mortgage.transfer_fees(game, deal.get & ALL_LOTS)
    if left < cash:  # the price will be missing for the next rent
        now = means(game, seat, before)
        rents = on_stack(RENTS, np.float64)
        write_rents(game, seat, now.row, rents)
        after -= risk(game, rents, Means(now.row, left, now.spare, now.rest, before), params)
        after += risk(game, rents, now, params)
    own = (1 - weight(seat, total, params, memory)) * np.log(max(1.0, after) / before)
    change = np.log(theirs / memory[SLOT.strengths + partner])
    return own - weight(partner, total, params, memory) * change


# --- partners -------------------------------------------------------------------------------------


@kernel
def learn(game: Game, seat: int, params: Row, memory: Row) -> None:
    """Learn from the answer to the last offer."""
    partner = int(memory[SLOT.pending]) - 1
    if partner < 0:
        return
    memory[SLOT.pending] = 0
    ask, give = int(memory[SLOT.pending_ask]), int(memory[SLOT.pending_give])
    taken = was_taken(game, seat, partner, ask, give)
    lists = naivety(partner, params, memory)
    step = params[AT.bolder] if taken else -params[AT.milder]
    bold = memory[SLOT.boldness + partner] + lists * step
    memory[SLOT.boldness + partner] = _within(bold, _MOST_BOLD)
    memory[SLOT.refusals + partner] = 0 if taken else memory[SLOT.refusals + partner] + 1
    if taken:
        memory[SLOT.next_search + partner] = 0  # a partner that sells may sell more
    evidence = memory[SLOT.if_taken] if taken else memory[SLOT.if_refused]
    memory[SLOT.leaning + partner] = _within(memory[SLOT.leaning + partner] + evidence, _SUREST)


@kernel
def was_taken(game: Game, seat: int, partner: int, ask: int, give: int) -> bool:
    """Whether the lots of an offer have changed hands."""
    ask, give = ask & ALL_LOTS, give & ALL_LOTS
    return int(game.lots[seat]) & ask == ask and int(game.lots[partner]) & give == give


@kernel
def _within(value: float, bound: float) -> float:
    return min(bound, max(-bound, value))


@kernel
def naivety(partner: int, params: Row, memory: Row) -> float:
    """The probability that a partner goes by list prices."""
    odds = params[AT.naive] / (1 - params[AT.naive]) * np.exp(memory[SLOT.leaning + partner])
    return odds / (1 + odds)


@kernel
def list_value(game: Game, owner: int, taker: int, lots: int, params: Row) -> tuple[float, float]:
    """The prices of lots for taker and owner, by list prices (dollars)."""
    paid, wanted = 0.0, 0.0
    whole = groups.complete(int(game.lots[owner]))
    closed = groups.complete(int(game.lots[taker]) | lots)
    for lot in each(lots):
        worth = float(price(game, lot)) * (0.5 if has(game.mortgaged, lot) else 1.0)
        closes = has(closed, lot)
        paid += worth * (params[AT.closing] if closes else 1.0)
        wanted += worth * (params[AT.closing] if closes or has(whole, lot) else params[AT.markup])
    return paid, wanted


@kernel
def acceptance(price_paid: float, limit: float, scale: float) -> float:
    """The chance that a partner with this limit accepts; one half at the limit itself."""
    return 1 / (1 + np.exp(_scaled(price_paid, limit, scale)))


@kernel
def _at_least(price_paid: float, limit: float, scale: float) -> float:
    """A lower bound of 1 / `acceptance`: the exponential's series up to the third power."""
    x = _scaled(price_paid, limit, scale)
    return 1 + max(0.0, 1 + x * (1 + x * (0.5 + x / 6)))


@kernel
def _scaled(price_paid: float, limit: float, scale: float) -> float:
    """How far a price is below a limit, in uncertainties."""
    return min(30.0, max(-30.0, (limit - price_paid) / scale))


class Sides(NamedTuple):
    """Two players before a trade."""

    seat: int  # the player that makes the offer
    partner: int  # the player that gets it
    own_weight: float  # the player's share of all strength
    their_weight: float  # the partner's share
    naive: float  # chance that the partner goes by list prices; else by the model, as below
    judged: float  # the player's strength
    their_judged: float  # the partner's strength
    judged_weight: float  # the player's share of all strength
    their_judged_weight: float  # the partner's share
    margin: float  # the least gain at which the partner agrees


class Package(NamedTuple):
    """The goods of a trade, and their worth to both sides."""

    ask: int  # goods asked for, a bit each
    give: int  # goods given
    fees: float  # fees for the mortgages on the goods asked for (dollars)
    their_fees: float  # the same for the goods given
    value: float  # see `rise`
    cost: float
    judged: float  # the player's gain by the partner's model
    their_judged: float  # the partner's gain by its model
    wanted: float  # the partner's price for its lots by list prices (dollars)
    paid: float  # its price for the player's lots by list prices (dollars)


@kernel
def is_same(params: Row, model: Row) -> bool:
    """Whether the model is the policy's own row, so that nothing is computed twice."""
    return params.ctypes.data == model.ctypes.data


@kernel
def sides(
    game: Game, seat: int, partner: int, total: float, params: Row, model: Row, memory: Row
) -> Sides:
    """The part that all packages of two players share; present strengths are in memory."""
    table, judged = memory, total
    if not is_same(params, model):
        table = on_stack(MEMORY, np.float64)
        judged = fill_strengths(game, turns_left(game, model), model, table[SLOT.strengths :])
    return Sides(
        seat, partner, weight(seat, total, params, memory), weight(partner, total, params, memory),
        naivety(partner, params, memory),
        table[SLOT.strengths + seat], table[SLOT.strengths + partner],
        weight(seat, judged, model, table), weight(partner, judged, model, table),
        model[AT.margin],
    )  # fmt: skip


@kernel
def believed(partner: int, params: Row, model: Row, memory: Row) -> Row:
    """The model of a partner; the policy's own row if the partner did not follow the model."""
    return params if has(int(memory[SLOT.failed]), partner) else model


@kernel
def _middle(worth: float, gain: float) -> float:
    """The divisor of a gain in place of a difference of logarithms, to second order."""
    return worth + max(gain, -worth) / 2


@kernel
def rise(two: Sides, gain: float, theirs: float, memory: Row) -> tuple[float, float]:
    """The rise of the player's share of all strength by a free package, and its fall per dollar."""
    a = (1 - two.own_weight) / _middle(memory[SLOT.strengths + two.seat], gain)
    b = two.their_weight / _middle(memory[SLOT.strengths + two.partner], theirs)
    return a * gain - b * theirs, a + b


@kernel
def least_dollars(two: Sides, judged: float, their_judged: float) -> float:
    """The least dollars at which a partner that judges by the model agrees."""
    a = two.judged_weight / _middle(two.judged, judged)
    b = (1 - two.their_judged_weight) / _middle(two.their_judged, their_judged)
    return (a * judged - b * their_judged + two.margin) / (b + a)


@kernel
def simple_limit(
    wanted: float, paid: float, partner: int, params: Row, memory: Row
) -> tuple[float, float]:
    """The least dollars at which a partner that goes by list prices agrees, and the uncertainty."""
    listed = wanted + paid
    pressed = (params[AT.greed] + memory[SLOT.boldness + partner]) * listed / 2
    return wanted - paid - pressed, params[AT.unsure] * listed + 1


@kernel
def rate(game: Game, two: Sides, package: Package, params: Row, memory: Row) -> None:
    """Price a package and keep it in memory if its expected gain is the highest so far.

    It is the player's turn, and the present strengths are in memory.
    """
    seat, partner, ask, give = two.seat, two.partner, package.ask, package.give
    value, cost = package.value, package.cost
    deal = Trade(seat, partner, ask, give)
    low, high = price_range(game, deal, package.fees, package.their_fees, params)
    high = min((value - params[AT.margin]) / cost, high)
    if high < low:
        return
    modest = least_dollars(two, package.judged, package.their_judged)
    simple, unsure = simple_limit(package.wanted, package.paid, partner, params, memory)
    sure = params[AT.doubt] * (abs(package.judged) + abs(package.their_judged)) / 2 + 1
    lowest_price = max(low, min(modest - _SLIM * sure, simple - _SLIM * unsure))
    if value - cost * lowest_price <= memory[SLOT.best]:
        return
    before = np.inf
    for attempt in range(2):
        limit, margin = (modest, sure) if attempt == 0 else (simple, unsure)
        aimed = limit + params[AT.haste] * margin
        offered = _rounded(max(low, min(aimed, high)), low, high)
        gain = value - cost * offered
        if offered == before or gain <= memory[SLOT.best]:
            continue
        before = offered
        a, b = _at_least(offered, modest, sure), _at_least(offered, simple, unsure)
        most = ((1 - two.naive) * b + two.naive * a) / (a * b)  # not below `odds`
        if most < params[AT.least] or gain * most <= memory[SLOT.best]:
            continue
        judged = acceptance(offered, modest, sure)
        counted = acceptance(offered, simple, unsure)
        odds = (1 - two.naive) * judged + two.naive * counted
        if odds < params[AT.least] or gain * odds <= memory[SLOT.best]:
            continue
        if not offers.was_refused(game, seat, partner, ask, give, offered, np.inf):
            memory[SLOT.best], memory[SLOT.best_ask] = gain * odds, ask
            memory[SLOT.best_give], memory[SLOT.best_cash] = give, offered
            memory[SLOT.best_if_taken], memory[SLOT.best_if_refused] = evidence(judged, counted)


@kernel
def least_paid(their_cash: float, give: float, their_fees: float) -> float:
    """The least dollars to pay for a package: minus the partner's funds."""
    return 1.0 if give == 0 else -their_cash + their_fees


@kernel
def most_paid(game: Game, seat: int, ask: int, fees: float, params: Row) -> float:
    """The most dollars that a player pays for a package, where money may change hands."""
    high = params[AT.purse] * game.cash[seat] - fees
    return min(high, -1.0) if ask == 0 else high


@kernel
def price_range(
    game: Game, deal: Trade, fees: float, their_fees: float, params: Row
) -> tuple[float, float]:
    """The least and the most dollars of an offer; none is possible if the most is below."""
    low = least_paid(float(game.cash[deal.partner]), deal.give, their_fees)
    high = most_paid(game, deal.seat, deal.get, fees, params)
    if game.rules.trade == offers.ONE_FOR_ONE:
        high, low = min(0.0, high), max(0.0, low)
    return low, high


@kernel
def evidence(judged: float, counted: float) -> tuple[float, float]:
    """The evidence of acceptance and of refusal that a partner goes by list prices."""
    return np.log((counted + 0.01) / (judged + 0.01)), np.log((1.01 - counted) / (1.01 - judged))


@kernel
def _rounded(dollars: float, low: float, high: float) -> float:
    """Round up to the next multiple of five if that is allowed; to whole dollars in any case."""
    up = np.ceil(dollars / _ROUND_TO) * _ROUND_TO
    if low <= up <= high:
        return up
    return max(np.ceil(low), min(np.floor(high), np.ceil(dollars)))


# --- answers --------------------------------------------------------------------------------------


@kernel
def reply(game: Game, seat: int, params: Row, model: Row, memory: Row) -> int:
    """Accept a sufficient rise of the share, else ask for a better price, else refuse."""
    proposer, cash = int(game.offer_from), float(game.offer_cash)
    deal = Trade(seat, proposer, int(game.offer_give), int(game.offer_ask))
    turns = turns_left(game, params)
    total = fill_strengths(game, turns, params, memory[SLOT.strengths :])
    if judge(game, deal, -cash, total, turns, params, memory) >= params[AT.margin]:
        return A_REPLY + 1
    if not may_counter(game):
        return A_REPLY
    memory[SLOT.best] = 0.0
    theirs = believed(proposer, params, model, memory)
    two = sides(game, seat, proposer, total, params, theirs, memory)
    rate(game, two, _package(game, two, deal, turns, params, theirs, memory), params, memory)
    dollars = memory[SLOT.best_cash]
    if memory[SLOT.best] <= 0:
        return A_REPLY
    if judge(game, deal, dollars, total, turns, params, memory) < params[AT.margin]:
        return A_REPLY
    offers.plan(deal.get, deal.give, int(dollars), memory)
    return A_REPLY + trade.COUNTER


@kernel
def may_counter(game: Game) -> bool:
    """Whether an offer can be answered by a counter-offer."""
    return legal(game, A_REPLY + trade.COUNTER, 1) != 0 and game.rules.trade == offers.OFFICIAL


@kernel
def _package(
    game: Game, two: Sides, deal: Trade, turns: float, params: Row, model: Row, memory: Row
) -> Package:
    """The goods of the offer that a seat has received, from its own point of view."""
    theirs_of, get, give = from_partner(deal), deal.get & ALL_LOTS, deal.give & ALL_LOTS
    gain = _after(game, deal, 0.0, turns, params) - memory[SLOT.strengths + two.seat]
    theirs = _after(game, theirs_of, 0.0, turns, params) - memory[SLOT.strengths + two.partner]
    judged, their_judged = gain, theirs
    if not is_same(params, model):
        later = turns_left(game, model)
        judged = _after(game, deal, 0.0, later, model) - two.judged
        their_judged = _after(game, theirs_of, 0.0, later, model) - two.their_judged
    value, cost = rise(two, gain, theirs, memory)
    fees, their_fees = mortgage.transfer_fees(game, get), mortgage.transfer_fees(game, give)
    wanted = list_value(game, two.partner, two.seat, get, params)[1]
    paid = list_value(game, two.seat, two.partner, give, params)[0]
    return Package(
        deal.get, deal.give, float(fees), float(their_fees), value, cost, judged, their_judged,
        wanted, paid,
    )  # fmt: skip
