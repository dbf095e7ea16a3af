"""What a trade is worth, what a partner may agree to, and the answers to offers of others.

A trade is judged by strengths: by how much the own share of all strength rises, where a partner's gain counts as his share of
what others have. For two players that is the ratio of their strengths; at larger tables two can gain at the others' expense.

A partner either judges as we do, or goes by list prices. Which of the two, and how far below his limit he can be pressed, is
learned from what he accepts and refuses, so that a partner who sells cheaply is found out and bought up.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.policy import Row
from agents.scripted.expert.money import estate, risk, row_of, spare_lots
from agents.scripted.expert.parameters import (
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
from agents.scripted.expert.values import fill_strengths, others_lots, strength, turns_left
from agents.scripted.offers import plan
from agents.scripted.reading import in_whole_groups, price
from monopoly_env.actions import A_REPLY
from monopoly_env.board import ALL_LOTS
from monopoly_env.engine.mortgage import transfer_fees
from monopoly_env.engine.players import mortgage_values
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.engine.trade import COUNTER
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
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
    ask, give = int(memory[PENDING + 1]) & ALL_LOTS, int(memory[PENDING + 2]) & ALL_LOTS
    taken = int(game.lots[seat]) & ask == ask and int(game.lots[partner]) & give == give
    lists = naivety(partner, params, memory)
    step = params[BOLDER] if taken else -params[MILDER]
    memory[BOLDNESS + partner] = _within(memory[BOLDNESS + partner] + lists * step, _MOST_BOLD)
    memory[REFUSALS + partner] = 0 if taken else memory[REFUSALS + partner] + 1
    if taken:
        memory[NEXT + partner] = 0  # who sells may sell more
    evidence = memory[PENDING + 3] if taken else memory[PENDING + 4]
    memory[LEANING + partner] = _within(memory[LEANING + partner] + evidence, _SUREST)


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
def _chance(price_paid: float, limit: float, scale: float) -> float:
    """The chance that a partner with this limit accepts: half at the limit itself."""
    return 1 / (1 + np.exp(min(30.0, max(-30.0, (limit - price_paid) / scale))))


@kernel
def rate(
    game: Game, seat: int, partner: int, ask: int, give: int, fees: float, their_fees: float, gain: float, theirs: float,
    wanted: float, paid: float, own_weight: float, their_weight: float, naive: float, params: Row, memory: Row,
) -> None:  # fmt: skip
    """Price a package and keep it if its expected gain is the highest so far.

    Args:
        game: Whose turn it is.
        seat: Who offers.
        partner: To whom.
        ask: Goods asked for.
        give: Goods given.
        fees: What their mortgages cost the receiver at once (dollars).
        their_fees: The same of the goods given.
        gain: Own gain of strength but for the price (dollars).
        theirs: The partner's.
        wanted: What he wants for his lots if he goes by list prices.
        paid: What he pays for ours, likewise.
        own_weight: The own share of all strength.
        their_weight: The partner's.
        naive: The probability that he goes by list prices.
        params: Of the policy.
        memory: Holds the strengths, and the best offer.
    """
    worth, their_worth = memory[TABLE + seat], memory[TABLE + partner]
    own, other = worth + max(gain, -worth) / 2, their_worth + max(theirs, -their_worth) / 2  # logarithms to second order
    a, b = (1 - own_weight) / own, their_weight / other
    value = a * gain - b * theirs  # what the package gains at no price; each dollar paid costs a + b
    low = 1.0 if give == 0 else -float(game.cash[partner]) + their_fees
    if value - (a + b) * low <= memory[BEST]:
        return
    high = min((value - params[MARGIN]) / (a + b), params[PURSE] * game.cash[seat] - fees)
    if ask == 0:
        high = min(high, -1.0)
    if game.rules.trade == _ONE_FOR_ONE:
        high, low = min(0.0, high), max(0.0, low)
    if high < low:
        return
    c, d = (1 - their_weight) / other, own_weight / own
    modest = (d * gain - c * theirs + params[MARGIN]) / (c + d)
    listed = wanted + paid
    simple = wanted - paid - (params[GREED] + memory[BOLDNESS + partner]) * listed / 2
    sure, unsure = params[DOUBT] * (abs(gain) + abs(theirs)) / 2 + 1, params[UNSURE] * listed + 1
    if value - (a + b) * max(low, min(modest - _SLIM * sure, simple - _SLIM * unsure)) <= memory[BEST]:
        return
    for attempt in range(2):
        aimed = modest + params[HASTE] * sure if attempt == 0 else simple + params[HASTE] * unsure
        offered = _rounded(max(low, min(aimed, high)), low, high)
        if value - (a + b) * offered <= memory[BEST]:
            continue
        judged, counted = _chance(offered, modest, sure), _chance(offered, simple, unsure)
        odds = (1 - naive) * judged + naive * counted
        score = (value - (a + b) * offered) * odds
        if odds >= params[LEAST] and score > memory[BEST] and not _was_refused(game, seat, partner, ask, give, offered):
            memory[BEST], memory[BEST + 1], memory[BEST + 2], memory[BEST + 3] = score, ask, give, offered
            memory[BEST + 4] = np.log((counted + 0.01) / (judged + 0.01))
            memory[BEST + 5] = np.log((1.01 - counted) / (1.01 - judged))


@kernel
def _was_refused(game: Game, seat: int, partner: int, ask: int, give: int, offered: float) -> bool:
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
def reply(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Accept what raises the own share enough; else ask for a better price for the same goods, if that has a chance; else refuse."""
    proposer, cash = int(game.offer_from), float(game.offer_cash)
    get, give = int(game.offer_give), int(game.offer_ask)
    turns = turns_left(game, params)
    total = fill_strengths(game, turns, params, memory[TABLE:])
    if judge(game, seat, proposer, get, give, -cash, total, turns, params, memory) >= params[MARGIN]:
        return A_REPLY + 1
    if (int(game.legal[A_REPLY >> 5]) >> ((A_REPLY + COUNTER) & 31)) & 1 == 0 or game.rules.trade != OFFICIAL:
        return A_REPLY
    gain = _after(game, seat, proposer, get, give, 0.0, turns, params) - memory[TABLE + seat]
    theirs = _after(game, proposer, seat, give, get, 0.0, turns, params) - memory[TABLE + proposer]
    fees, their_fees = float(transfer_fees(game, get & ALL_LOTS)), float(transfer_fees(game, give & ALL_LOTS))
    wanted = list_value(game, proposer, seat, get & ALL_LOTS, params)[1]
    paid = list_value(game, seat, proposer, give & ALL_LOTS, params)[0]
    memory[BEST] = 0.0
    mine, his, naive = weight(seat, total, params, memory), weight(proposer, total, params, memory), naivety(proposer, params, memory)
    rate(game, seat, proposer, get, give, fees, their_fees, gain, theirs, wanted, paid, mine, his, naive, params, memory)
    dollars = memory[BEST + 3]
    if memory[BEST] <= 0 or judge(game, seat, proposer, get, give, dollars, total, turns, params, memory) < params[MARGIN]:
        return A_REPLY
    plan(get, give, int(dollars), memory)
    return A_REPLY + COUNTER
