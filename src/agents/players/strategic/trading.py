"""Trades of the strategic agent: which offers it accepts, which it makes.

Three sets of rules. The later ones ("HEAD") are the default, `legacy_trades` has those of May 2025, `complete` the later ones as they
seem to be meant. In both published sets the agent asks for lots of groups in which no opponent owned a lot when it last looked, so it
makes an offer only for a lot that an opponent has got since. The later rules also put the money on the wrong side: the agent asks for
the lot and for money, and such offers rank below zero, which leaves the exchanges of one deed for another.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.players.strategic.parameters import COMPLETE, LEGACY, MONOPOLY_BONUS, RESERVE, TRADE_EAGERNESS, TRADE_PROFIT
from agents.players.strategic.values import (
    FIRST_PLAN,
    NEXT_OFFER,
    OFFERS,
    OTHERS_SEEN,
    OWN_SEEN,
    SCANNED_OTHERS,
    SCANNED_OWN,
    danger,
    look,
    value,
)
from agents.players.vocabulary.offers import begin_offer
from agents.players.vocabulary.reading import NO_LOT, in_whole_groups, may_offer_to, of_opponents, price
from monopoly_env.actions import A_REPLY
from monopoly_env.board import ALL_LOTS, GROUP_LOTS, GROUP_OF, GROUP_SIZE
from monopoly_env.engine.building import COLOURS
from monopoly_env.engine.players import owner_of
from monopoly_env.engine.randomness import policy_draw
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.engine.trade import tradable
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row
from monopoly_env.rules import number

_OFFICIAL: Final = number("trade", "official")
_ONE_FOR_ONE: Final = number("trade", "one_for_one")
_FRACTION: Final = 1 << 20  # steps of a uniform number

_CARD, _CARD_IN_MAY = 75, 50  # dollars that a jail card is worth
_POOR_PARTNER = 100  # dollars below which nobody is made an offer
_MOST_PLANS, _MOST_PLANS_IN_MAY = 3, 2  # offers in a window
_ACCEPTED, _NOISE = 0.1, 0.025  # the score above which an offer is accepted, and how far chance moves it either way
_PAUSE = 10  # rounds after which a complete agent looks for offers again though no deed has changed hands
_NO_OFFER = -1e30


# --- answers ------------------------------------------------------------------------------------------------------------


@kernel
def reply(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Accept or reject the offer at hand; the thesis has no counter-offers."""
    look(game, seat, params, memory)
    if params[LEGACY] != 0:
        accepts = _accepts_in_may(game, seat, params, memory)
    elif _refuses(game, seat, params, memory):
        accepts = False
    else:
        score = _score(game, seat, params, memory)
        if abs(score - _ACCEPTED) <= _NOISE:
            score += _NOISE * (2.0 * policy_draw(game, seat, _FRACTION) / _FRACTION - 1.0)
        accepts = score > _ACCEPTED
    return A_REPLY + 1 if accepts else A_REPLY


@kernel
def _seen(game: Game, seat: int, params: Row, memory: Row) -> tuple[int, int]:
    """The deeds of its own and of others that the agent goes by: as last seen; a complete agent looks at the board."""
    if params[COMPLETE] != 0:
        return int(game.lots[seat]), of_opponents(game, seat)
    return int(memory[OWN_SEEN]), int(memory[OTHERS_SEEN])


@kernel
def _missing(group: int, own: int) -> int:
    """How many lots of a group are not among one's own."""
    return int(GROUP_SIZE[group]) - size(own & int(GROUP_LOTS[group]))


@kernel
def _pack(game: Game, lots: int, own: int, others: int, params: Row, memory: Row) -> float:
    """What the lots of one side of an offer are worth (dollars)."""
    worth = 0.0
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        group = int(GROUP_OF[lot])
        weight, bonus = 1.0, 0.0
        if group < COLOURS:
            members = int(GROUP_LOTS[group])
            completes = _missing(group, own) == 1 and not has(own, lot)
            if params[COMPLETE] != 0:
                bonus = params[MONOPOLY_BONUS] if completes or own & members == members else 0.0
            elif _missing(group, own) == 1 and others & members == 0:
                weight = 2.5
            elif own & members == 0 and _whole_of_one(game, group):
                weight = 1.8
        worth += weight * value(game, lot, own, others, params, memory) + bonus
    return worth


@kernel
def _whole_of_one(game: Game, group: int) -> bool:
    """Whether one player owns a whole group."""
    members = int(GROUP_LOTS[group])
    for seat in range(game.num_players):
        if int(game.lots[seat]) & members == members:
            return True
    return False


@kernel
def _prices(game: Game, lots: int) -> int:
    total = 0
    while lots:
        total += price(game, lowest(lots))
        lots &= lots - 1
    return total


@kernel
def _refuses(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Whether an offer is out of the question whatever it is worth.

    Published, money received is compared with the deeds received and money paid with the deeds given, so that every plain sale or
    purchase is refused; a complete agent compares what it pays with what it gets.
    """
    cash, net = int(game.cash[seat]), int(game.offer_cash)
    received, given = int(game.offer_give) & ALL_LOTS, int(game.offer_ask) & ALL_LOTS
    if params[COMPLETE] != 0:
        if net < 0 and (cash + net < params[RESERVE] or -net > 2 * _prices(game, received)):
            return True
    elif cash + net < params[RESERVE] or net > 1.5 * _prices(game, received) or -net > 2 * _prices(game, given):
        return True
    if -net > 0.7 * cash:
        return True
    own, others = _seen(game, seat, params, memory)
    broken = given & in_whole_groups(own)
    while broken:
        street = lowest(broken)
        broken &= broken - 1
        if GROUP_OF[street] < COLOURS:
            worth = _pack(game, received, own, others, params, memory) + max(0, net)
            if worth < 3 * price(game, street):
                return True
    return False


@kernel
def _score(game: Game, seat: int, params: Row, memory: Row) -> float:
    """The score of an offer without its noise; it is accepted above 0.1."""
    own, others = _seen(game, seat, params, memory)
    net = int(game.offer_cash)
    give, ask = int(game.offer_give), int(game.offer_ask)
    received = _pack(game, give & ALL_LOTS, own, others, params, memory) + max(0, net) + _CARD * size(give & ~ALL_LOTS)
    given = _pack(game, ask & ALL_LOTS, own, others, params, memory) + max(0, -net) + _CARD * size(ask & ~ALL_LOTS)
    ratio = received / max(1.0, given)
    score = 0.3 if ratio > 1.3 else 0.15 if ratio > 1.1 else -0.2 if ratio <= 0.9 else 0.0
    # A complete agent counts every street that completes a group.
    score += _progress(give & ALL_LOTS, ask & ALL_LOTS, own, 0 if params[COMPLETE] != 0 else others)
    after = int(game.cash[seat]) + net
    score += -0.15 if after < 200 else 0.1 if after >= 400 else 0.0
    score += 0.1 if after > 800 else -0.1 if after <= 300 else 0.0
    if net < 0 and danger(game, seat, params) > 0.7:
        score -= 0.1
    return score + 0.1 * (params[TRADE_EAGERNESS] - 0.5)


@kernel
def _progress(received: int, given: int, own: int, others: int) -> float:
    """The part of a score that is about groups: 0.4 for a street that completes one, a share for others, -0.3 for breaking one's own.

    Published, a street completes a group only if no opponent owned a lot of it at the last look, as in the value of a pack.
    """
    score = 0.0
    while received:
        group = int(GROUP_OF[lowest(received)])
        received &= received - 1
        if group < COLOURS:
            count = int(GROUP_SIZE[group])
            owned = count - _missing(group, own)
            score += 0.4 if owned == count - 1 and others & int(GROUP_LOTS[group]) == 0 else 0.2 * (owned + 1) / count
    broken = given & in_whole_groups(own)
    while broken:
        if GROUP_OF[lowest(broken)] < COLOURS:
            score -= 0.3
        broken &= broken - 1
    return score


@kernel
def _accepts_in_may(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Accept what gains by the agent's values, and by chance what loses no more than 50 dollars."""
    give, ask = int(game.offer_give), int(game.offer_ask)
    own = int(memory[OWN_SEEN])
    gain = float(game.offer_cash) + _CARD_IN_MAY * (size(give & ~ALL_LOTS) - size(ask & ~ALL_LOTS))
    lots = give & ALL_LOTS
    while lots:
        gain += _wanted_in_may(game, lowest(lots), params, memory)
        lots &= lots - 1
    lots = ask & ALL_LOTS
    while lots:
        group = int(GROUP_OF[lowest(lots)])
        whole = group < COLOURS and _missing(group, own) == 0
        gain -= _value_in_may(game, lowest(lots), params, memory) + (params[MONOPOLY_BONUS] if whole else 0.0)
        lots &= lots - 1
    return gain > 0 or (gain >= -50 and policy_draw(game, seat, _FRACTION) < 0.9 * params[TRADE_EAGERNESS] * _FRACTION)


@kernel
def _value_in_may(game: Game, lot: int, params: Row, memory: Row) -> float:
    return value(game, lot, int(memory[OWN_SEEN]), int(memory[OTHERS_SEEN]), params, memory)


@kernel
def _wanted_in_may(game: Game, lot: int, params: Row, memory: Row) -> float:
    """The value of a lot that is to be received: with a bonus if one of its group was missing."""
    group = int(GROUP_OF[lot])
    completes = group < COLOURS and _missing(group, int(memory[OWN_SEEN])) == 1
    return _value_in_may(game, lot, params, memory) + (params[MONOPOLY_BONUS] if completes else 0.0)


# --- offers -------------------------------------------------------------------------------------------------------------


@kernel
def plan_offers(game: Game, seat: int, params: Row, memory: Row) -> None:
    """Keep the best offers of this window in memory, as of now."""
    memory[OFFERS] = 0
    if params[COMPLETE] != 0:
        if game.cash[seat] >= 1.5 * params[RESERVE] and _search_is_due(game, seat, memory):
            _plan_complete(game, seat, params, memory)
        return
    lots = _taken_since(game, seat, memory)
    if lots == 0 or game.cash[seat] < (params[RESERVE] if params[LEGACY] != 0 else 1.5 * params[RESERVE]):
        return
    ranks = np.full(_MOST_PLANS, _NO_OFFER)
    most = _MOST_PLANS_IN_MAY if params[LEGACY] != 0 else _MOST_PLANS
    while lots:
        ask = lowest(lots)
        lots &= lots - 1
        partner = owner_of(game, ask)
        if not may_offer_to(game, seat, partner) or game.cash[partner] < _POOR_PARTNER or not has(tradable(game, partner), ask):
            continue
        if params[LEGACY] != 0:
            _plan_in_may(game, seat, partner, ask, params, memory, ranks, most)
        else:
            _plan_later(game, seat, partner, ask, params, memory, ranks, most)


@kernel
def _taken_since(game: Game, seat: int, memory: Row) -> int:
    """The streets that opponents have got, since the agent last looked, in groups that it then thought it could complete."""
    lots, open_lots = of_opponents(game, seat) & ~int(memory[OTHERS_SEEN]) & ~int(memory[OWN_SEEN]), 0
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        group = int(GROUP_OF[lot])
        if group < COLOURS and int(memory[OTHERS_SEEN]) & int(GROUP_LOTS[group]) == 0:
            open_lots |= 1 << lot
    return open_lots


@kernel
def _keep(partner: int, ask: int, give: int, cash: float, rank: float, memory: Row, ranks: Row, most: int) -> None:
    """Put an offer among the best ones, by falling rank; the first of equals stays ahead."""
    place = most
    while place > 0 and rank > ranks[place - 1]:
        place -= 1
    if place == most:
        return
    for i in range(most - 1, place, -1):
        ranks[i] = ranks[i - 1]
        memory[FIRST_PLAN + i] = memory[FIRST_PLAN + i - 1]
    ranks[place] = rank
    memory[FIRST_PLAN + place] = _packed(partner, ask, give, int(cash))
    memory[OFFERS] = min(float(most), memory[OFFERS] + 1)


@kernel
def _packed(partner: int, ask: int, give: int, cash: int) -> float:
    """An offer as one number: who, lot asked for, lot given (-1: none), dollars given (negative: asked for)."""
    return float((((partner * 32 + ask) * 32 + give + 1) << 24) + cash + (1 << 23))


@kernel
def next_offer(game: Game, seat: int, memory: Row) -> int:
    """The action that begins the next planned offer that can still be made, or NO_LOT."""
    while memory[OFFERS] > 0:
        code = int(memory[FIRST_PLAN])
        for i in range(_MOST_PLANS - 1):
            memory[FIRST_PLAN + i] = memory[FIRST_PLAN + i + 1]
        memory[OFFERS] -= 1
        cash, goods = (code & ((1 << 24) - 1)) - (1 << 23), code >> 24
        partner, ask, give = goods >> 10, 1 << ((goods >> 5) & 31), (1 << (goods & 31)) >> 1
        possible = may_offer_to(game, seat, partner) and ask & ~tradable(game, partner) == 0 and give & ~tradable(game, seat) == 0
        if possible and _allowed(game, seat, partner, ask, give, cash):
            return begin_offer(game, partner, ask, give, cash, memory)
    return NO_LOT


@kernel
def _allowed(game: Game, seat: int, partner: int, ask: int, give: int, cash: int) -> bool:
    """Whether the rules have such an exchange, both sides hold the money, and it has not been refused in this turn."""
    if (game.rules.trade != _OFFICIAL and give == 0) or (game.rules.trade == _ONE_FOR_ONE and cash != 0):
        return False
    if cash > game.cash[seat] or -cash > game.cash[partner]:
        return False
    for i in range(game.num_refused):
        if (
            game.refused_from[i] == seat
            and game.refused_to[i] == partner
            and game.refused_ask[i] == ask
            and game.refused_give[i] == give
            and game.refused_cash[i] == cash
        ):
            return False
    return True


@kernel
def _plan_later(game: Game, seat: int, partner: int, ask: int, params: Row, memory: Row, ranks: Row, most: int) -> None:
    """Plan an exchange for a street that alone was missing.

    The published program also makes up plain requests for a deed and money, for such a street, to break a group, or for a deed of
    value; all of these rank below zero. Its sales are never valid.
    """
    group = int(GROUP_OF[ask])
    if _missing(group, int(memory[OWN_SEEN])) != 1:
        return
    cost, mine, theirs = price(game, ask), int(game.cash[seat]), int(game.cash[partner])
    worth = value(game, ask, int(memory[OWN_SEEN]), int(memory[OTHERS_SEEN]), params, memory)
    limit = min(2.5 * worth, float(theirs // 2), float(mine // 3))
    if limit < cost or min(1.3 * cost, limit) <= theirs // 3:  # it would take the money: a request that ranks below zero
        return
    give = _cheapest_spare(game, seat, 1.2 * cost, memory)
    if give == NO_LOT:
        return
    difference = max(0, cost - price(game, give))
    given_group = int(GROUP_OF[give])
    owned = size(int(memory[OWN_SEEN]) & int(GROUP_LOTS[given_group]))
    # What it gives is ranked as if it were received.
    rank = 150.0 if owned == GROUP_SIZE[given_group] - 1 else 20.0 * owned / GROUP_SIZE[given_group]
    rank -= difference / 50.0
    if rank > 0:
        _keep(partner, ask, give, -difference, rank, memory, ranks, most)


@kernel
def _cheapest_spare(game: Game, seat: int, limit: float, memory: Row) -> int:
    """The cheapest street up to a price that may be given and was of no complete group, or NO_LOT."""
    lots, best = tradable(game, seat) & ALL_LOTS & ~in_whole_groups(int(memory[OWN_SEEN])), NO_LOT
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        if GROUP_OF[lot] < COLOURS and price(game, lot) <= limit and (best == NO_LOT or price(game, lot) < price(game, best)):
            best = lot
    return best


@kernel
def _plan_in_may(game: Game, seat: int, partner: int, ask: int, params: Row, memory: Row, ranks: Row, most: int) -> None:
    """Plan an exchange against the deed that comes nearest in value, or, if that is too far off, a purchase at value."""
    wanted = _wanted_in_may(game, ask, params, memory)
    match, distance = _nearest_deed(game, seat, wanted, params, memory)
    mine, theirs, cash, given = int(game.cash[seat]), int(game.cash[partner]), 0.0, 0.0
    if match != NO_LOT and distance <= 0.3 * wanted:
        given = _value_in_may(game, match, params, memory)
        missing = wanted - given
        if missing > 0 and mine >= missing + params[RESERVE]:
            cash = min(missing, float(theirs))
    elif mine >= wanted + params[RESERVE]:
        match, cash = NO_LOT, min(wanted, float(theirs))
    else:
        return
    _keep(partner, ask, match, cash, wanted - given - cash, memory, ranks, most)


@kernel
def _nearest_deed(game: Game, seat: int, wanted: float, params: Row, memory: Row) -> tuple[int, float]:
    """The deed that may be given whose value comes nearest to a sum, and how near; none of a group that lacked one lot at most."""
    lots, best, least = tradable(game, seat) & ALL_LOTS, NO_LOT, 0.0
    own, others = int(memory[OWN_SEEN]), int(memory[OTHERS_SEEN])
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        group = int(GROUP_OF[lot])
        if group < COLOURS and others & int(GROUP_LOTS[group]) == 0 and _missing(group, own) <= 1:
            continue
        distance = abs(_value_in_may(game, lot, params, memory) - wanted)
        if best == NO_LOT or distance < least:
            best, least = lot, distance
    return best, least


# --- offers of a complete agent -----------------------------------------------------------------------------------------


@kernel
def _search_is_due(game: Game, seat: int, memory: Row) -> bool:
    """Whether a deed has changed hands since the last search, or a pause is over."""
    own, others = int(game.lots[seat]), of_opponents(game, seat)
    if own == memory[SCANNED_OWN] and others == memory[SCANNED_OTHERS] and game.turns < memory[NEXT_OFFER]:
        return False
    memory[SCANNED_OWN] = own
    memory[SCANNED_OTHERS] = others
    memory[NEXT_OFFER] = game.turns + _PAUSE * int(game.num_players)
    return True


@kernel
def _plan_complete(game: Game, seat: int, params: Row, memory: Row) -> None:
    """Plan for each street that completes or begins to complete a group, or that breaks a partner's, the offer of the highest gain."""
    ranks = np.full(_MOST_PLANS, _NO_OFFER)
    own = int(game.lots[seat])
    for group in range(COLOURS):
        lots = int(GROUP_LOTS[group]) & ~own
        while lots:
            ask = lowest(lots)
            lots &= lots - 1
            partner = owner_of(game, ask)
            if partner < 0 or (own & int(GROUP_LOTS[group]) == 0 and not _whole_of_one(game, group)):
                continue
            if may_offer_to(game, seat, partner) and has(tradable(game, partner), ask):
                _plan_best(game, seat, partner, ask, params, memory, ranks)


@kernel
def _plan_best(game: Game, seat: int, partner: int, ask: int, params: Row, memory: Row, ranks: Row) -> None:
    """Plan the best offer for one street: nothing or one spare lot, and the money that makes the partner's sides even.

    The partner is thought to go by the same values and to want a tenth more than he gives.
    """
    own, theirs = int(game.lots[seat]), int(game.lots[partner])
    gain = _pack(game, 1 << ask, own, of_opponents(game, seat), params, memory)
    price_to_him = _pack(game, 1 << ask, theirs, of_opponents(game, partner), params, memory)
    spare = tradable(game, seat) & ALL_LOTS & ~in_whole_groups(own) & ~int(GROUP_LOTS[GROUP_OF[ask]])
    best, best_give, best_cash = 0.0, NO_LOT, 0
    funds = min(int(game.cash[seat]) - params[RESERVE], 0.7 * int(game.cash[seat]))
    for give in range(NO_LOT, 28):
        if give != NO_LOT and not has(spare, give):
            continue
        loss, worth = 0.0, 0.0
        if give != NO_LOT:
            loss = _pack(game, 1 << give, own, of_opponents(game, seat), params, memory)
            worth = _pack(game, 1 << give, theirs, of_opponents(game, partner), params, memory)
        cash = np.ceil(1.11 * price_to_him - worth)
        if cash < 0:  # what the partner can spare is asked for, and never so much that he refuses
            cash = -min(-cash / 1.11, 0.5 * int(game.cash[partner]), 1.0 * price(game, ask))
        profit = gain + max(0.0, -cash) - params[TRADE_PROFIT] * (loss + max(0.0, cash))
        if cash <= funds and profit > best:
            best, best_give, best_cash = profit, give, int(cash)
    if best > 0:
        _keep(partner, ask, best_give, best_cash, best, memory, ranks, _MOST_PLANS)
