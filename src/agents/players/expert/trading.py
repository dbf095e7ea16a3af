"""What a trade is worth, what a partner may agree to, and the answers to offers of others.

A trade is judged by strengths: by how much the own share of all strength rises, where a partner's gain counts as his share of
what others have. For two players that is the ratio of their strengths; at larger tables two can gain at the others' expense.

A partner either judges by strengths, too (as we do, unless the policy has another model of him), or goes by list prices. Which of
the two, and how far below his limit he can be pressed, is learned from what he accepts and refuses, so that a partner who sells
cheaply is found out and bought up.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from agents.players.expert.money import estate, risk, row_of, spare_lots
from agents.players.expert.parameters import (
    BOLDER,
    CLOSING,
    CONTRAST,
    DOUBT,
    GREED,
    HASTE,
    LEAST,
    MARGIN,
    MARKUP,
    MILDER,
    NAIVE,
    PURSE,
    UNSURE,
)
from agents.players.expert.values import fill_strengths, others_lots, strength, turns_left
from agents.players.vocabulary.offers import plan
from agents.players.vocabulary.reading import in_whole_groups, price
from monopoly_env.actions import A_REPLY
from monopoly_env.board import ALL_LOTS
from monopoly_env.engine.mortgage import transfer_fees
from monopoly_env.engine.players import mortgage_values
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.engine.trade import COUNTER
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row
from monopoly_env.rules import number

# Its memory: five rows of 8 numbers by seat, then single ones.
BOLDNESS: Final = 0  # what answers have added to the parameter `greed`
LEANING: Final = 8  # evidence that a partner goes by list prices: the logarithm of the odds, less the parameter
NEXT: Final = 16  # the turn from which on trades with a partner are searched again
REFUSALS: Final = 24  # offers in a row that a partner has refused
TABLE: Final = 32  # strengths
SEEN: Final = 40  # the groups that could be closed with anybody at the last search, as a number
SEARCHED: Final = 41  # the turn of the last search, and the partners searched in it, a bit each
PARTNERS: Final = 42
PENDING: Final = 43  # the partner of the last offer plus one, while its outcome is unknown; then its goods, and what answers would say
BEST: Final = 48  # the best offer found: expected gain, goods asked, goods given, dollars, evidence of acceptance, of refusal
BID: Final = 54  # the auction that a limit was found for, and the limit
FAILED: Final = 56  # the partners who refused what the model takes, a bit each: it is not theirs

OFFICIAL: Final = number("trade", "official")
_ONE_FOR_ONE = number("trade", "one_for_one")
_ROUND_TO: Final = 5  # dollars
_MOST_BOLD: Final = 1.5
_SLIM: Final = 3.0  # uncertainties below a limit where the chance of acceptance is too slim
_SUREST: Final = 4.0  # of the logarithm of odds: opinions stay open to change


@kernel
def weight(seat: int, total: float, params: Row, memory: Row) -> float:
    """A seat's share of all strength."""
    return memory[TABLE + seat] ** params[CONTRAST] / total


@kernel
def _after(game: Game, seat: int, partner: int, get: int, give: int, paid: float, turns: float, params: Row) -> float:
    """A seat's strength after a trade with a partner."""
    cards = size(get & ~ALL_LOTS) - size(give & ~ALL_LOTS)
    get &= ALL_LOTS
    give &= ALL_LOTS
    lots = (int(game.lots[seat]) & ~give) | get
    elsewhere = (others_lots(game, seat) & ~get) | give
    cash = float(game.cash[seat]) - paid - transfer_fees(game, get) + cards * int(game.rules.jail_fine)
    return strength(game, lots, cash, elsewhere, turns, params)


@kernel
def judge(
    game: Game, seat: int, partner: int, get: int, give: int, paid: float, total: float, turns: float, params: Row, memory: Row
) -> float:
    """By how much a trade raises a seat's share of all strength, relative; the present strengths are in memory."""
    after = _after(game, seat, partner, get, give, paid, turns, params)
    theirs = _after(game, partner, seat, give, get, -paid, turns, params)
    before = memory[TABLE + seat]
    cash = float(game.cash[seat])
    left = cash - paid - transfer_fees(game, get & ALL_LOTS)
    if left < cash:  # what is paid lacks at the next rent
        spare, rest, row = float(mortgage_values(game, spare_lots(game, seat))), float(estate(game, seat)), row_of(game, seat)
        after -= risk(game, seat, row, left, spare, rest, before, params)
        after += risk(game, seat, row, cash, spare, rest, before, params)
    own = (1 - weight(seat, total, params, memory)) * np.log(max(1.0, after) / before)
    return own - weight(partner, total, params, memory) * np.log(theirs / memory[TABLE + partner])


# --- partners -----------------------------------------------------------------------------------------------------------


@kernel
def learn(game: Game, seat: int, params: Row, memory: Row) -> None:
    """Note how the last offer went."""
    partner = int(memory[PENDING]) - 1
    if partner < 0:
        return
    memory[PENDING] = 0
    taken = was_taken(game, seat, partner, int(memory[PENDING + 1]), int(memory[PENDING + 2]))
    lists = naivety(partner, params, memory)
    step = params[BOLDER] if taken else -params[MILDER]
    memory[BOLDNESS + partner] = _within(memory[BOLDNESS + partner] + lists * step, _MOST_BOLD)
    memory[REFUSALS + partner] = 0 if taken else memory[REFUSALS + partner] + 1
    if taken:
        memory[NEXT + partner] = 0  # who sells may sell more
    evidence = memory[PENDING + 3] if taken else memory[PENDING + 4]
    memory[LEANING + partner] = _within(memory[LEANING + partner] + evidence, _SUREST)


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
    odds = params[NAIVE] / (1 - params[NAIVE]) * np.exp(memory[LEANING + partner])
    return odds / (1 + odds)


@kernel
def list_value(game: Game, owner: int, taker: int, lots: int, params: Row) -> tuple[float, float]:
    """What lots are to one who goes by list prices: what he pays as the taker, what he wants as the owner (dollars)."""
    paid, wanted = 0.0, 0.0
    whole = in_whole_groups(int(game.lots[owner]))
    closed = in_whole_groups(int(game.lots[taker]) | lots)
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        worth = float(price(game, lot)) * (0.5 if has(game.mortgaged, lot) else 1.0)
        closes = has(closed, lot)
        paid += worth * (params[CLOSING] if closes else 1.0)
        wanted += worth * (params[CLOSING] if closes or has(whole, lot) else params[MARKUP])
    return paid, wanted


@kernel
def acceptance(price_paid: float, limit: float, scale: float) -> float:
    """The chance that a partner with this limit accepts: half at the limit itself."""
    return 1 / (1 + np.exp(min(30.0, max(-30.0, (limit - price_paid) / scale))))


class Sides(NamedTuple):
    """Two players before a trade.

    Attributes:
        seat: Who offers.
        partner: To whom.
        own_weight: The own share of all strength.
        their_weight: The partner's.
        naive: The probability that he goes by list prices; else he judges by the model, by which all below is.
        judged: Own strength as the model has it.
        their_judged: The partner's.
        judged_weight: The own share.
        their_judged_weight: The partner's.
        margin: From which gain on he agrees.
    """

    seat: int
    partner: int
    own_weight: float
    their_weight: float
    naive: float
    judged: float
    their_judged: float
    judged_weight: float
    their_judged_weight: float
    margin: float


class Package(NamedTuple):
    """What changes hands, but for the price.

    Attributes:
        ask: Goods asked for, a bit each.
        give: Goods given.
        fees: What the mortgages of those asked for cost the receiver at once (dollars).
        their_fees: The same of the goods given.
        gain: Own gain of strength.
        theirs: The partner's.
        judged: Own gain as the model has it.
        their_judged: The partner's.
        wanted: What he wants for his lots if he goes by list prices.
        paid: What he pays for ours, likewise.
    """

    ask: int
    give: int
    fees: float
    their_fees: float
    gain: float
    theirs: float
    judged: float
    their_judged: float
    wanted: float
    paid: float


@kernel
def is_same(params: Row, model: Row) -> bool:
    """Whether partners are thought to judge by our own numbers: the very same row, so that nothing need be counted twice."""
    return params.ctypes.data == model.ctypes.data


@kernel
def sides(game: Game, seat: int, partner: int, total: float, params: Row, model: Row, memory: Row) -> Sides:
    """What is the same for all packages of two players; the present strengths, and their total, are in memory."""
    table, judged = memory, total
    if not is_same(params, model):
        table = np.empty(len(memory))
        judged = fill_strengths(game, turns_left(game, model), model, table[TABLE:])
    return Sides(
        seat, partner, weight(seat, total, params, memory), weight(partner, total, params, memory), naivety(partner, params, memory),
        table[TABLE + seat], table[TABLE + partner], weight(seat, judged, model, table), weight(partner, judged, model, table),
        model[MARGIN],
    )  # fmt: skip


@kernel
def believed(partner: int, params: Row, model: Row, memory: Row) -> Row:
    """The model of a partner; our own numbers if he was seen to go by another."""
    return params if has(int(memory[FAILED]), partner) else model


@kernel
def _middle(worth: float, gain: float) -> float:
    """The strength that a gain is divided by in place of the difference of logarithms: to second order the same."""
    return worth + max(gain, -worth) / 2


@kernel
def _modest(two: Sides, package: Package) -> float:
    """The dollars from which on a partner agrees who judges by the model."""
    a = two.judged_weight / _middle(two.judged, package.judged)
    b = (1 - two.their_judged_weight) / _middle(two.their_judged, package.their_judged)
    return (a * package.judged - b * package.their_judged + two.margin) / (b + a)


@kernel
def simple_limit(wanted: float, paid: float, partner: int, params: Row, memory: Row) -> tuple[float, float]:
    """The dollars from which on a partner agrees who goes by list prices, and the uncertainty."""
    listed = wanted + paid
    return wanted - paid - (params[GREED] + memory[BOLDNESS + partner]) * listed / 2, params[UNSURE] * listed + 1


@kernel
def could_be_best(game: Game, two: Sides, give: int, their_fees: float, gain: float, theirs: float, memory: Row) -> bool:
    """Whether a package would gain more than the best so far if the partner took the lowest price: few do, and no more is counted."""
    a = (1 - two.own_weight) / _middle(memory[TABLE + two.seat], gain)
    b = two.their_weight / _middle(memory[TABLE + two.partner], theirs)
    low = 1.0 if give == 0 else -float(game.cash[two.partner]) + their_fees
    return a * gain - b * theirs - (a + b) * low > memory[BEST]


@kernel
def rate(game: Game, two: Sides, package: Package, params: Row, memory: Row) -> None:
    """Price a package and keep it if its expected gain is the highest so far.

    Args:
        game: Whose turn it is.
        two: The players.
        package: The goods.
        params: Of the policy.
        memory: Holds the strengths, and the best offer.
    """
    seat, partner, ask, give = two.seat, two.partner, package.ask, package.give
    a = (1 - two.own_weight) / _middle(memory[TABLE + seat], package.gain)
    b = two.their_weight / _middle(memory[TABLE + partner], package.theirs)
    value = a * package.gain - b * package.theirs  # what the package gains at no price; each dollar paid costs a + b
    low, high = price_range(game, seat, partner, ask, give, package.fees, package.their_fees, params)
    if value - (a + b) * low <= memory[BEST]:
        return
    high = min((value - params[MARGIN]) / (a + b), high)
    if high < low:
        return
    modest = _modest(two, package)
    simple, unsure = simple_limit(package.wanted, package.paid, partner, params, memory)
    sure = params[DOUBT] * (abs(package.judged) + abs(package.their_judged)) / 2 + 1
    if value - (a + b) * max(low, min(modest - _SLIM * sure, simple - _SLIM * unsure)) <= memory[BEST]:
        return
    for attempt in range(2):
        aimed = modest + params[HASTE] * sure if attempt == 0 else simple + params[HASTE] * unsure
        offered = _rounded(max(low, min(aimed, high)), low, high)
        if value - (a + b) * offered <= memory[BEST]:
            continue
        judged, counted = acceptance(offered, modest, sure), acceptance(offered, simple, unsure)
        odds = (1 - two.naive) * judged + two.naive * counted
        score = (value - (a + b) * offered) * odds
        if odds >= params[LEAST] and score > memory[BEST] and not was_refused(game, seat, partner, ask, give, offered):
            memory[BEST], memory[BEST + 1], memory[BEST + 2], memory[BEST + 3] = score, ask, give, offered
            memory[BEST + 4], memory[BEST + 5] = evidence(judged, counted)


@kernel
def price_range(
    game: Game, seat: int, partner: int, ask: int, give: int, fees: float, their_fees: float, params: Row
) -> tuple[float, float]:
    """The least and the most dollars that can be offered for a package; the most is below the least where none can."""
    low = 1.0 if give == 0 else -float(game.cash[partner]) + their_fees
    high = params[PURSE] * game.cash[seat] - fees
    if ask == 0:
        high = min(high, -1.0)
    if game.rules.trade == _ONE_FOR_ONE:
        high, low = min(0.0, high), max(0.0, low)
    return low, high


@kernel
def evidence(judged: float, counted: float) -> tuple[float, float]:
    """What acceptance and refusal say for a partner who goes by list prices, where either kind accepts with these chances."""
    return np.log((counted + 0.01) / (judged + 0.01)), np.log((1.01 - counted) / (1.01 - judged))


@kernel
def was_refused(game: Game, seat: int, partner: int, ask: int, give: int, offered: float) -> bool:
    """Whether the partner has refused these goods in this turn, at this price or a better one."""
    for i in range(game.num_refused):
        if (
            game.refused_from[i] == seat
            and game.refused_to[i] == partner
            and game.refused_ask[i] == ask
            and game.refused_give[i] == give
            and game.refused_cash[i] >= offered
        ):
            return True
    return False


@kernel
def _rounded(dollars: float, low: float, high: float) -> float:
    """Up to the next multiple of five where that is allowed; whole dollars in any case."""
    up = np.ceil(dollars / _ROUND_TO) * _ROUND_TO
    if low <= up <= high:
        return up
    return max(np.ceil(low), min(np.floor(high), np.ceil(dollars)))


# --- answers ------------------------------------------------------------------------------------------------------------


@kernel
def reply(game: Game, seat: int, params: Row, model: Row, memory: Row) -> int:
    """Accept what raises the own share enough; else ask for a better price for the same goods, if that has a chance; else refuse."""
    proposer, cash = int(game.offer_from), float(game.offer_cash)
    get, give = int(game.offer_give), int(game.offer_ask)
    turns = turns_left(game, params)
    total = fill_strengths(game, turns, params, memory[TABLE:])
    if judge(game, seat, proposer, get, give, -cash, total, turns, params, memory) >= params[MARGIN]:
        return A_REPLY + 1
    if not may_counter(game):
        return A_REPLY
    memory[BEST] = 0.0
    his = believed(proposer, params, model, memory)
    two = sides(game, seat, proposer, total, params, his, memory)
    rate(game, two, _offered_package(game, two, turns, params, his, memory), params, memory)
    dollars = memory[BEST + 3]
    if memory[BEST] <= 0 or judge(game, seat, proposer, get, give, dollars, total, turns, params, memory) < params[MARGIN]:
        return A_REPLY
    plan(get, give, int(dollars), memory)
    return A_REPLY + COUNTER


@kernel
def may_counter(game: Game) -> bool:
    """Whether an offer can be answered by another one."""
    return has(int(game.legal[A_REPLY >> 5]), (A_REPLY + COUNTER) & 31) and game.rules.trade == OFFICIAL


@kernel
def _offered_package(game: Game, two: Sides, turns: float, params: Row, model: Row, memory: Row) -> Package:
    """The goods of the offer that a seat has been made, from its own side."""
    seat, proposer, get, give = two.seat, two.partner, int(game.offer_give), int(game.offer_ask)
    gain = _after(game, seat, proposer, get, give, 0.0, turns, params) - memory[TABLE + seat]
    theirs = _after(game, proposer, seat, give, get, 0.0, turns, params) - memory[TABLE + proposer]
    judged, their_judged = gain, theirs
    if not is_same(params, model):
        later = turns_left(game, model)
        judged = _after(game, seat, proposer, get, give, 0.0, later, model) - two.judged
        their_judged = _after(game, proposer, seat, give, get, 0.0, later, model) - two.their_judged
    return Package(
        get, give, float(transfer_fees(game, get & ALL_LOTS)), float(transfer_fees(game, give & ALL_LOTS)),
        gain, theirs, judged, their_judged,
        list_value(game, proposer, seat, get & ALL_LOTS, params)[1], list_value(game, seat, proposer, give & ALL_LOTS, params)[0],
    )  # fmt: skip
