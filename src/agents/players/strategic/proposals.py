"""The offers that the strategic agent makes, by the three sets of rules of `trading`.

By both published sets, the agent asks for lots of groups in which no opponent owned a lot when it
last looked, so it makes an offer only for a lot that an opponent has acquired since. The later set
also puts the money on the wrong side: the agent asks for the lot and for money. Such offers rank
below zero, which leaves exchanges of one lot for another.
"""

from __future__ import annotations

import numpy as np

from agents.players.strategic.parameters import AT
from agents.players.strategic.trading import missing, pack_value, wanted_in_may, whole_of_one
from agents.players.strategic.values import MOST_PLANS, SLOT, seen_value
from agents.players.vocabulary import groups, offers
from agents.players.vocabulary.reading import NO_LOT, of_opponents, price
from monopoly_env.engine import building, players, trade
from monopoly_env.engine.sets import each, has, size
from monopoly_env.facts.board import ALL_LOTS, GROUP_LOTS, GROUP_OF, GROUP_SIZE, NUM_LOTS
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row

_POOR_PARTNER = 100  # dollars below which a player is made no offer
_MOST_PLANS_IN_MAY = 2  # offers in a window, by the rules of May
_PAUSE = 10  # rounds after which a complete agent searches again although no lot has changed hands
_NO_OFFER = -1e30


@kernel
def plan_offers(game: Game, seat: int, params: Row, memory: Row) -> None:
    """Plan the best offers for this window, as things stand now."""
    memory[SLOT.offers] = 0
    if params[AT.complete] != 0:
        rich = game.cash[seat] >= 1.5 * params[AT.min_cash_reserve]
        if rich and _search_is_due(game, seat, memory):
            _plan_complete(game, seat, params, memory)
        return
    lots = _taken_since(game, seat, memory)
    legacy = params[AT.legacy_trades] != 0
    if lots == 0 or game.cash[seat] < (1.0 if legacy else 1.5) * params[AT.min_cash_reserve]:
        return
    ranks = np.full(_MOST_PLANS_IN_MAY if legacy else MOST_PLANS, _NO_OFFER)
    for ask in each(lots):
        partner = players.owner_of(game, ask)
        if not offers.may_offer_to(game, seat, partner) or game.cash[partner] < _POOR_PARTNER:
            continue
        if not has(trade.tradable(game, partner), ask):
            continue
        if legacy:
            _plan_in_may(game, seat, partner, ask, params, memory, ranks)
        else:
            _plan_later(game, seat, partner, ask, params, memory, ranks)


@kernel
def _taken_since(game: Game, seat: int, memory: Row) -> int:
    """Streets that opponents acquired since the last look in groups that looked open."""
    lots = of_opponents(game, seat) & ~int(memory[SLOT.others_seen]) & ~int(memory[SLOT.own_seen])
    open_lots = 0
    for lot in each(lots):
        group = GROUP_OF[lot]
        if group < building.COLOURS and int(memory[SLOT.others_seen]) & GROUP_LOTS[group] == 0:
            open_lots |= 1 << lot
    return open_lots


@kernel
def _keep(
    partner: int, ask: int, give: int, cash: float, rank: float, memory: Row, ranks: Row
) -> None:
    """Put an offer among the best ones, by falling rank; of equals, the earlier one stays ahead."""
    place = most = len(ranks)
    while place > 0 and rank > ranks[place - 1]:
        place -= 1
    if place == most:
        return
    for i in range(most - 1, place, -1):
        ranks[i] = ranks[i - 1]
        memory[SLOT.plans + i] = memory[SLOT.plans + i - 1]
    ranks[place] = rank
    # As one number: partner, lot asked for, lot given or -1, dollars given
    goods = (partner * 32 + ask) * 32 + give + 1
    memory[SLOT.plans + place] = float((goods << 24) + int(cash) + (1 << 23))
    memory[SLOT.offers] = min(float(most), memory[SLOT.offers] + 1)


@kernel
def next_offer(game: Game, seat: int, memory: Row) -> int:
    """The action that begins the next planned offer that can still be made, or NO_LOT."""
    while memory[SLOT.offers] > 0:
        code = int(memory[SLOT.plans])
        for i in range(MOST_PLANS - 1):
            memory[SLOT.plans + i] = memory[SLOT.plans + i + 1]
        memory[SLOT.offers] -= 1
        cash, goods = (code & ((1 << 24) - 1)) - (1 << 23), code >> 24
        partner, ask, give = goods >> 10, 1 << ((goods >> 5) & 31), (1 << (goods & 31)) >> 1
        if ask & ~trade.tradable(game, partner) or give & ~trade.tradable(game, seat):
            continue
        may_begin = offers.may_offer_to(game, seat, partner)
        if may_begin and _allowed(game, seat, partner, ask, give, cash):
            return offers.begin(game, partner, ask, give, cash, memory)
    return NO_LOT


@kernel
def _allowed(game: Game, seat: int, partner: int, ask: int, give: int, cash: int) -> bool:
    """Whether the rules and both purses allow an exchange that was not refused in this turn."""
    if game.rules.trade != offers.OFFICIAL and give == 0:
        return False
    if game.rules.trade == offers.ONE_FOR_ONE and cash != 0:
        return False
    if cash > game.cash[seat] or -cash > game.cash[partner]:
        return False
    return not offers.was_refused(game, seat, partner, ask, give, cash, cash)


@kernel
def _plan_later(
    game: Game, seat: int, partner: int, ask: int, params: Row, memory: Row, ranks: Row
) -> None:
    """Plan an exchange for the only street that was missing in a group.

    The published program also plans plain requests for a lot and money: for such a street, to break
    up a group, or for a valuable lot. All of these rank below zero. Its plain sales are never
    valid.
    """
    group = GROUP_OF[ask]
    if missing(group, int(memory[SLOT.own_seen])) != 1:
        return
    cost, mine, theirs = price(game, ask), int(game.cash[seat]), int(game.cash[partner])
    worth = seen_value(game, ask, params, memory)
    limit = min(2.5 * worth, float(theirs // 2), float(mine // 3))
    if limit < cost or min(1.3 * cost, limit) <= theirs // 3:  # it ranks below zero
        return
    give = _cheapest_spare(game, seat, 1.2 * cost, memory)
    if give == NO_LOT:
        return
    difference = max(0, cost - price(game, give))
    group = GROUP_OF[give]
    owned, count = size(int(memory[SLOT.own_seen]) & GROUP_LOTS[group]), GROUP_SIZE[group]
    # The lot that it gives is ranked as if it received it.
    rank = 150.0 if owned == count - 1 else 20.0 * owned / count
    rank -= difference / 50.0
    if rank > 0:
        _keep(partner, ask, give, -difference, rank, memory, ranks)


@kernel
def _cheapest_spare(game: Game, seat: int, limit: float, memory: Row) -> int:
    """The cheapest street up to a limit that may be given and was in no complete group."""
    lots = trade.tradable(game, seat) & ALL_LOTS & ~groups.complete(int(memory[SLOT.own_seen]))
    best = NO_LOT
    for lot in each(lots):
        cost = price(game, lot)
        better = best == NO_LOT or cost < price(game, best)
        if better and GROUP_OF[lot] < building.COLOURS and cost <= limit:
            best = lot
    return best


@kernel
def _plan_in_may(
    game: Game, seat: int, partner: int, ask: int, params: Row, memory: Row, ranks: Row
) -> None:
    """Plan an exchange for the lot nearest in value; if that is too far off, a purchase."""
    wanted = wanted_in_may(game, ask, params, memory)
    match, distance = _nearest_lot(game, seat, wanted, params, memory)
    mine, theirs, cash, given = int(game.cash[seat]), int(game.cash[partner]), 0.0, 0.0
    if match != NO_LOT and distance <= 0.3 * wanted:
        given = seen_value(game, match, params, memory)
        difference = wanted - given
        if difference > 0 and mine >= difference + params[AT.min_cash_reserve]:
            cash = min(difference, float(theirs))
    elif mine >= wanted + params[AT.min_cash_reserve]:
        match, cash = NO_LOT, min(wanted, float(theirs))
    else:
        return
    _keep(partner, ask, match, cash, wanted - given - cash, memory, ranks)


@kernel
def _nearest_lot(
    game: Game, seat: int, wanted: float, params: Row, memory: Row
) -> tuple[int, float]:
    """The lot to give whose value is nearest to a sum, of groups lacking two or more; distance."""
    lots, best, least = trade.tradable(game, seat) & ALL_LOTS, NO_LOT, 0.0
    own, others = int(memory[SLOT.own_seen]), int(memory[SLOT.others_seen])
    for lot in each(lots):
        group = GROUP_OF[lot]
        open_group = group < building.COLOURS and others & GROUP_LOTS[group] == 0
        if open_group and missing(group, own) <= 1:
            continue
        distance = abs(seen_value(game, lot, params, memory) - wanted)
        if best == NO_LOT or distance < least:
            best, least = lot, distance
    return best, least


# --- offers of a complete agent -------------------------------------------------------------------


@kernel
def _search_is_due(game: Game, seat: int, memory: Row) -> bool:
    """Whether a lot has changed hands since the last search, or a pause is over."""
    own, others = int(game.lots[seat]), of_opponents(game, seat)
    same = own == memory[SLOT.scanned_own] and others == memory[SLOT.scanned_others]
    if same and game.turns < memory[SLOT.next_offer]:
        return False
    memory[SLOT.scanned_own] = own
    memory[SLOT.scanned_others] = others
    memory[SLOT.next_offer] = game.turns + _PAUSE * int(game.num_players)
    return True


@kernel
def _plan_complete(game: Game, seat: int, params: Row, memory: Row) -> None:
    """Plan the best offers for streets of groups that the agent or a partner has a hold on."""
    ranks = np.full(MOST_PLANS, _NO_OFFER)
    own = int(game.lots[seat])
    for group in range(building.COLOURS):
        lots = GROUP_LOTS[group] & ~own
        for ask in each(lots):
            partner = players.owner_of(game, ask)
            if partner < 0 or (own & GROUP_LOTS[group] == 0 and not whole_of_one(game, group)):
                continue
            if offers.may_offer_to(game, seat, partner) and has(trade.tradable(game, partner), ask):
                _plan_best(game, seat, partner, ask, params, memory, ranks)


@kernel
def _plan_best(
    game: Game, seat: int, partner: int, ask: int, params: Row, memory: Row, ranks: Row
) -> None:
    """Plan the best offer for one street: at most a spare lot, and a price even for the partner.

    The partner is assumed to go by the same values and to want a tenth more than it gives.
    """
    own, theirs = int(game.lots[seat]), int(game.lots[partner])
    gain = pack_value(game, 1 << ask, own, of_opponents(game, seat), params, memory)
    their_price = pack_value(game, 1 << ask, theirs, of_opponents(game, partner), params, memory)
    spare = (
        trade.tradable(game, seat) & ALL_LOTS & ~groups.complete(own) & ~GROUP_LOTS[GROUP_OF[ask]]
    )
    best, best_give, best_cash = 0.0, NO_LOT, 0
    funds = min(int(game.cash[seat]) - params[AT.min_cash_reserve], 0.7 * int(game.cash[seat]))
    for give in range(NO_LOT, NUM_LOTS):
        if give != NO_LOT and not has(spare, give):
            continue
        loss, worth = 0.0, 0.0
        if give != NO_LOT:
            loss = pack_value(game, 1 << give, own, of_opponents(game, seat), params, memory)
            worth = pack_value(game, 1 << give, theirs, of_opponents(game, partner), params, memory)
        cash = np.ceil(1.11 * their_price - worth)
        if cash < 0:  # ask for what the partner can spare, and never for so much that it refuses
            cash = -min(-cash / 1.11, 0.5 * int(game.cash[partner]), 1.0 * price(game, ask))
        cost = params[AT.trade_profit_threshold] * (loss + max(0.0, cash))
        profit = gain + max(0.0, -cash) - cost
        if cash <= funds and profit > best:
            best, best_give, best_cash = profit, give, int(cash)
    if best > 0:
        _keep(partner, ask, best_give, best_cash, best, memory, ranks)
