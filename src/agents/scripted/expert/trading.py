"""Offers: which lots against which, at what price, and the answers to offers of others.

A trade is judged by strengths: by how much the own share of all strength rises, where a partner's gain counts as his share of
what others have. For two players that is the ratio of their strengths; at larger tables two can gain at the others' expense.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.policy import Row
from agents.scripted.expert.money import estate, risk, row_of, spare_lots
from agents.scripted.expert.parameters import BOLDER, CONTRAST, DOUBT, GREED, LEAST, MARGIN, MILDER, PAUSE, SPLIT
from agents.scripted.expert.values import (
    complete_groups,
    fill_strengths,
    group_worth,
    others_lots,
    strength,
    to_build,
    turns_left,
)
from agents.scripted.offers import begin_offer, plan
from agents.scripted.reading import may_offer_to
from monopoly_env.actions import A_REPLY, A_TURN
from monopoly_env.board import ALL_LOTS, GROUP_LOTS, NUM_GROUPS, RAILROADS
from monopoly_env.engine.mortgage import transfer_fees
from monopoly_env.engine.players import mortgage_values
from monopoly_env.engine.sets import size
from monopoly_env.engine.trade import tradable
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

# Its memory.
BOLDNESS: Final = 0  # 8 numbers by seat: what acceptances and refusals have added to the parameter `greed`
NEXT_SEARCH: Final = 8  # the turn from which on it searches again though no lot has changed hands
SEEN: Final = 9  # who owned what at the last search, as a number
PENDING: Final = 10  # the partner of the last offer plus one, while its outcome is unknown
PENDING_ASK: Final = 11
PENDING_GIVE: Final = 12
TABLE: Final = 13  # 8 numbers by seat: strengths
_BEST: Final = 21  # the best offer found: score, goods asked, goods given, dollars
_GAINS: Final = 25  # three gains and a set of lots for each side, see `_list_parts`

_OFFICIAL = number("trade", "official")
_ONE_FOR_ONE = number("trade", "one_for_one")
_ROUND_TO: Final = 5  # dollars
_MOST_LOTS: Final = 3
_NONE: Final = NUM_GROUPS  # in place of a group: nothing
_BOUNDS: Final = (-1.5, 1.5)  # of what is learned of a partner


@kernel
def _weight(seat: int, total: float, params: Row, memory: Row) -> float:
    """A seat's share of all strength."""
    return memory[TABLE + seat] ** params[CONTRAST] / total


@kernel
def judge(
    game: Game, seat: int, partner: int, get: int, give: int, paid: float, total: float, turns: float, params: Row, memory: Row
) -> float:
    """By how much a trade raises a seat's share of all strength, relative; the present strengths are in memory."""
    lots, theirs = int(game.lots[seat]), int(game.lots[partner])
    cards = size(get & ~ALL_LOTS) - size(give & ~ALL_LOTS)
    get &= ALL_LOTS
    give &= ALL_LOTS
    others = others_lots(game, seat) & ~theirs
    lots, theirs = (lots & ~give) | get, (theirs & ~get) | give
    paid -= cards * int(game.rules.jail_fine)
    cash = float(game.cash[seat]) - paid - transfer_fees(game, get)
    their_cash = float(game.cash[partner]) + paid - transfer_fees(game, give)
    after = strength(game, seat, lots, cash, others | theirs, turns, params)
    their_after = strength(game, partner, theirs, their_cash, others | lots, turns, params)
    before, their_before = memory[TABLE + seat], memory[TABLE + partner]
    if cash < game.cash[seat]:
        spare, rest, row = float(mortgage_values(game, spare_lots(game, seat))), float(estate(game, seat)), row_of(game, seat)
        after -= risk(game, seat, row, cash, spare, rest, before, params)
        after += risk(game, seat, row, float(game.cash[seat]), spare, rest, before, params)
    own = (1 - _weight(seat, total, params, memory)) * np.log(max(1.0, after) / before)
    return own - _weight(partner, total, params, memory) * np.log(their_after / their_before)


@kernel
def _seen(game: Game) -> float:
    """A number that changes when a lot changes hands."""
    mark = 0
    for seat in range(game.num_players):
        mark = (mark * 1_000_003 + int(game.lots[seat])) & 0xFFFFFFFFFF
    return float(mark)


@kernel
def search(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Begin the best offer, or A_TURN; looks again when a lot has changed hands, or after a pause."""
    _learn(game, seat, params, memory)
    mark = _seen(game)
    if mark == memory[SEEN] and game.turns < memory[NEXT_SEARCH]:
        return A_TURN
    turns = turns_left(game, params)
    total = fill_strengths(game, turns, params, memory[TABLE:])
    memory[_BEST] = 0.0
    best = -1
    for partner in range(game.num_players):
        if partner != seat and game.place[partner] == 0 and may_offer_to(game, seat, partner):
            before = memory[_BEST]
            _search_partner(game, seat, partner, total, turns, params, memory)
            if memory[_BEST] > before:
                best = partner
    ask, give, cash = int(memory[_BEST + 1]), int(memory[_BEST + 2]), int(memory[_BEST + 3])
    if best < 0 or judge(game, seat, best, ask, give, float(cash), total, turns, params, memory) < params[MARGIN] / 2:
        memory[SEEN] = mark
        memory[NEXT_SEARCH] = game.turns + params[PAUSE] * game.num_players
        for partner in range(game.num_players):
            memory[BOLDNESS + partner] += max(0.0, -memory[BOLDNESS + partner]) / 4  # refusals are forgotten in time
        return A_TURN
    memory[PENDING], memory[PENDING_ASK], memory[PENDING_GIVE] = best + 1, ask, give
    return begin_offer(game, best, ask, give, cash, memory)


@kernel
def _learn(game: Game, seat: int, params: Row, memory: Row) -> None:
    """Note how the last offer went: the next to this partner asks for more, or for less."""
    partner = int(memory[PENDING]) - 1
    if partner < 0:
        return
    memory[PENDING] = 0
    ask, give = int(memory[PENDING_ASK]) & ALL_LOTS, int(memory[PENDING_GIVE]) & ALL_LOTS
    taken = int(game.lots[seat]) & ask == ask and int(game.lots[partner]) & give == give
    learned = memory[BOLDNESS + partner] + (params[BOLDER] if taken else -params[MILDER])
    memory[BOLDNESS + partner] = min(_BOUNDS[1], max(_BOUNDS[0], learned))


# --- packages -----------------------------------------------------------------------------------------------------------


@kernel
def _part(lots: int, group: int, taker: int, single: bool) -> int:
    """What of a group changes hands together: all of it; one railroad or utility that does not complete them; one lot if so ruled."""
    members = int(GROUP_LOTS[group])
    found = lots & members
    if single or (group >= RAILROADS and (taker | found) & members != members):
        return found & -found
    return found


@kernel
def _moved(game: Game, group: int, part: int, before: int, after: int, elsewhere: int, funds: float, turns: float, params: Row) -> float:
    """What a player's lots of a group gain in worth when a part changes hands; the receiver pays the fees of mortgages."""
    now = group_worth(game, group, before, elsewhere & ~before, funds, turns, params)
    then = group_worth(game, group, after, elsewhere & ~after, funds, turns, params)
    return then - now - (transfer_fees(game, part) if after & part else 0)


@kernel
def _list_parts(game: Game, giver: int, taker: int, single: bool, turns: float, params: Row, gains: Row) -> None:
    """For each group what a giver may part with: the lots, the taker's gain, the giver's (a loss); nothing at place 10."""
    theirs, mine, all_lots = int(game.lots[giver]), int(game.lots[taker]), 0
    for seat in range(game.num_players):
        all_lots |= int(game.lots[seat])
    funds = to_build(float(game.cash[taker]), complete_groups(mine) + 1, params)
    their_funds = to_build(float(game.cash[giver]), max(1, complete_groups(theirs)), params)
    free = tradable(game, giver) & ALL_LOTS
    for group in range(NUM_GROUPS):
        part = _part(free, group, mine, single)
        gains[3 * group] = part
        if part:
            gains[3 * group + 1] = _moved(game, group, part, mine, mine | part, all_lots, funds, turns, params)
            gains[3 * group + 2] = _moved(game, group, part, theirs, theirs & ~part, all_lots, their_funds, turns, params)
    gains[3 * _NONE] = 0
    gains[3 * _NONE + 1] = 0
    gains[3 * _NONE + 2] = 0


@kernel
def _search_partner(game: Game, seat: int, partner: int, total: float, turns: float, params: Row, memory: Row) -> None:
    """Rate the packages of one or two groups on each side; the best offer goes to memory."""
    official = game.rules.trade == _OFFICIAL
    asks, gives = np.empty(3 * NUM_GROUPS + 3), np.empty(3 * NUM_GROUPS + 3)
    _list_parts(game, partner, seat, not official, turns, params, asks)
    _list_parts(game, seat, partner, not official, turns, params, gives)
    own_weight, their_weight = _weight(seat, total, params, memory), _weight(partner, total, params, memory)
    for a1 in range(NUM_GROUPS + 1):
        if asks[3 * a1] == 0 and a1 != _NONE:
            continue
        for a2 in range(a1 if a1 == _NONE else a1 + 1, NUM_GROUPS + 1):
            if a2 != _NONE and (asks[3 * a2] == 0 or not official):
                continue
            ask = int(asks[3 * a1]) | int(asks[3 * a2])
            if size(ask) > _MOST_LOTS:
                continue
            mine, theirs = asks[3 * a1 + 1] + asks[3 * a2 + 1], asks[3 * a1 + 2] + asks[3 * a2 + 2]
            for g1 in range(NUM_GROUPS + 1):
                if g1 != _NONE and (gives[3 * g1] == 0 or g1 == a1 or g1 == a2):
                    continue
                for g2 in range(g1 if g1 == _NONE else g1 + 1, NUM_GROUPS + 1):
                    if g2 != _NONE and (gives[3 * g2] == 0 or g2 == a1 or g2 == a2 or not official):
                        continue
                    give = int(gives[3 * g1]) | int(gives[3 * g2])
                    if size(give) > _MOST_LOTS or ask | give == 0 or (not official and (ask == 0 or give == 0)):
                        continue
                    gain, their_gain = mine + gives[3 * g1 + 2] + gives[3 * g2 + 2], theirs + gives[3 * g1 + 1] + gives[3 * g2 + 1]
                    _rate(game, seat, partner, ask, give, gain, their_gain, own_weight, their_weight, params, memory)


@kernel
def _rate(
    game: Game, seat: int, partner: int, ask: int, give: int, gain: float, their_gain: float, weight: float, their_weight: float,
    params: Row, memory: Row,
) -> None:  # fmt: skip
    """Price a package below the partner's estimated limit and keep it if its expected gain is the highest so far."""
    worth, their_worth = memory[TABLE + seat], memory[TABLE + partner]
    own, their = worth + max(gain, -worth) / 2, their_worth + max(their_gain, -their_worth) / 2  # logarithms to second order
    a, b = (1 - weight) / own, their_weight / their
    c, d = (1 - their_weight) / their, weight / own
    most = (a * gain - b * their_gain) / (a + b)
    stake = (abs(gain) + abs(their_gain)) / 2
    if most * (a + b) + (0.0 if give == 0 else stake * (a + b)) <= memory[_BEST]:
        return
    limit = (d * gain - c * their_gain + params[MARGIN]) / (c + d) - (params[GREED] + memory[BOLDNESS + partner]) * stake
    highest = min(most - params[MARGIN] / (a + b), float(game.cash[seat]) - transfer_fees(game, ask & ALL_LOTS))
    lowest = -float(game.cash[partner]) + transfer_fees(game, give & ALL_LOTS)
    if give == 0:
        lowest = max(lowest, 1.0)
    if ask == 0:
        highest = min(highest, -1.0)
    price = max(lowest, min(limit, highest))
    if price > _ROUND_TO or price < -_ROUND_TO:
        price = np.floor(price / _ROUND_TO) * _ROUND_TO
    if game.rules.trade == _ONE_FOR_ONE:
        price = 0.0
    if price > highest or price < lowest:
        return
    odds = 1 / (1 + np.exp((limit - price) / (params[DOUBT] * stake + 1)))
    score = (a + b) * (most - price) * odds
    if odds >= params[LEAST] and score > memory[_BEST]:
        memory[_BEST], memory[_BEST + 1], memory[_BEST + 2], memory[_BEST + 3] = score, ask, give, price


# --- answers ------------------------------------------------------------------------------------------------------------


@kernel
def reply(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Accept what raises the own share; else ask for the price that would, if that is near; else refuse."""
    proposer, cash = int(game.offer_from), float(game.offer_cash)
    get, give = int(game.offer_give), int(game.offer_ask)
    turns = turns_left(game, params)
    total = fill_strengths(game, turns, params, memory[TABLE:])
    gain = judge(game, seat, proposer, get, give, -cash, total, turns, params, memory)
    if gain >= params[MARGIN]:
        return A_REPLY + 1
    return A_REPLY


_unused = (SPLIT, plan, _GAINS)
