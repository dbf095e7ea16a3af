"""Pring's players: the row of numbers is a preference K for each of the 28 lots (see `genetic`)."""

from __future__ import annotations

from typing import Final

from agents.players.vocabulary import groups, habits, offers, reading
from agents.players.vocabulary.reading import NO_LOT, asked_lot, price, window_kind
from agents.players.vocabulary.skeleton import decide
from monopoly_env.actions import A_BUILD, A_BUY, A_MORTGAGE, A_SELL, A_TURN, A_UNMORTGAGE
from monopoly_env.engine import agenda, building, mortgage, randomness, trade, turn
from monopoly_env.engine.sets import each, size
from monopoly_env.facts.board import ALL_LOTS, GROUP_LOTS, GROUP_OF
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel

_LOTS_LEFT: Final = 8.0  # leaving jail early is worth the fine while this many lots are unowned
_RESERVE: Final = 200.0  # dollars that leaving jail early takes


@kernel
def _affords(game: Game, seat: int, lot: int, cost: int, params: Row) -> bool:
    """The paper's test of a purchase: cash x K > cost."""
    return int(game.cash[seat]) * params[lot] > cost


@kernel
def _worth(game: Game, lot: int, holding: int, params: Row) -> float:
    """K x price in dollars, doubled if the holding, with the lot, has its whole group."""
    members = GROUP_LOTS[GROUP_OF[lot]]
    return params[lot] * price(game, lot) * (2 if holding & members == members else 1)


@kernel
def _keenest(game: Game, seat: int, lots: int, start: int, params: Row) -> int:
    """The lot of the highest K whose action (build or lift) passes the test, or NO_LOT."""
    best = NO_LOT
    for lot in each(lots):
        builds = start == A_BUILD
        cost = building.building_cost(game, lot) if builds else mortgage.lifting_cost(game, lot)
        better = best == NO_LOT or params[lot] > params[best]
        if better and _affords(game, seat, lot, cost, params):
            best = lot
    return best


@kernel
def _leaves(game: Game, seat: int, params: Row, memory: Row) -> bool:
    return habits.leaves_early(game, _LOTS_LEFT, _RESERVE)


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot = _keenest(game, seat, reading.liftable(game), A_UNMORTGAGE, params)
    if lot != NO_LOT:
        return A_UNMORTGAGE + lot
    moved = window_kind(game) == agenda.AFTER_THROW or game.rules.build_window == turn.EVERY_PLAYER
    if moved and game.offers[seat] == 0 and reading.may_trade(game):
        action = _offer(game, seat, params, memory)
        if action != A_TURN:
            return action
    street = _keenest(game, seat, reading.buildable(game), A_BUILD, params)
    return A_TURN if street == NO_LOT else A_BUILD + street


@kernel
def _better(game: Game, seat: int, own: int, theirs: int, params: Row) -> int:
    """The lots of a set that are each worth more to a seat than one of its own."""
    mine, found = int(game.lots[seat]), 0
    given = _worth(game, own, mine, params)
    for lot in each(theirs):
        if _worth(game, lot, (mine & ~(1 << own)) | (1 << lot), params) > given:
            found |= 1 << lot
    return found


@kernel
def _offer(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Offer one of the exchanges that it gains by, all equally likely, or go on."""
    chosen, goods = -1, trade.tradable(game, seat) & ALL_LOTS
    for attempt in range(2):  # count, then find the one that was drawn
        seen = 0
        for other in range(game.num_players):
            if other == seat or not offers.may_offer_to(game, seat, other):
                continue
            own, theirs = goods, trade.tradable(game, other) & ALL_LOTS
            for lot in each(own):
                better = _better(game, seat, lot, theirs, params)
                if attempt == 1 and seen <= chosen < seen + size(better):
                    for _ in range(chosen - seen):
                        better &= better - 1
                    return offers.begin(game, other, better & -better, 1 << lot, 0, memory)
                seen += size(better)
        if seen == 0:
            return A_TURN
        chosen = randomness.policy_draw(game, seat, seen)
    return A_TURN


@kernel
def _accepts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Accept a gain; cash counts at its face value and a jail card as the fine."""
    mine, fine = int(game.lots[seat]), int(game.rules.jail_fine)
    came, went = int(game.offer_give), int(game.offer_ask)
    after = (mine & ~went & ALL_LOTS) | (came & ALL_LOTS)
    gain = float(int(game.offer_cash) + fine * (size(came & ~ALL_LOTS) - size(went & ~ALL_LOTS)))
    for lot in each(came & ALL_LOTS):
        gain += _worth(game, lot, after, params)
    for lot in each(went & ALL_LOTS):
        gain -= _worth(game, lot, mine, params)
    return gain > 0


@kernel
def _raise_cash(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Sell buildings by the rent they bring, then mortgage, the least preferred lot first."""
    streets = reading.sellable(game)
    if streets:
        return A_SELL + habits.least_built(game, streets)
    lots = reading.mortgageable(game)
    return A_MORTGAGE + reading.least(lots, params) if lots else A_TURN


@kernel
def _bid(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Bid up to the list price and the limit of the test of a purchase."""
    lot, limit = int(game.auction_lot), float(game.cash[seat])
    if lot >= building.HOUSE_LOT:
        return habits.bid_up_to(game, min(groups.dearest_house(game, seat), limit), 1.0)
    return habits.bid_up_to(game, min(limit * params[lot], price(game, lot)), 1.0)


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot = asked_lot(game)
    affordable = _affords(game, seat, lot, price(game, lot), params)
    return A_BUY + 1 if affordable and reading.may_buy(game) else A_BUY


@kernel
def _lifts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    lot = asked_lot(game)
    return _affords(game, seat, lot, mortgage.principal(game, lot), params)


@policy_kernel
def play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Play by 28 preferences."""
    return decide(game, params, memory, _window, _buy, _bid, _leaves, _accepts, _raise_cash, _lifts)
