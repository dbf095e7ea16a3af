"""How Pring's players play: the row of numbers is a preference K for each of the 28 lots.

From the paper: a lot is bought iff cash x K > price. Its value is K x price, twice that if an exchange would gain or lose its group. Once
a turn, after moving, a player offers one lot for one. Debts sell buildings first, then mortgage. A turn lifts mortgages, trades, builds.
"""

from __future__ import annotations

from typing import Final

from agents.players.vocabulary import groups, habits, offers
from agents.players.vocabulary.reading import NO_LOT, asked_lot, legal, price, window_kind
from monopoly_env.actions import A_BUILD, A_BUY, A_CHOICE, A_JAIL, A_MORTGAGE, A_REPLY, A_SELL, A_TRADE, A_TURN, A_UNMORTGAGE
from monopoly_env.board import ALL_LOTS, GROUP_LOTS, GROUP_OF, NUM_LOTS, NUM_STREETS
from monopoly_env.engine import agenda, building, mortgage, randomness, trade, turn
from monopoly_env.engine.sets import each, lowest, size
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
    """K x price in dollars, doubled if the holding, of which the lot is a part, has its whole group."""
    members = int(GROUP_LOTS[GROUP_OF[lot]])
    return params[lot] * price(game, lot) * (2 if holding & members == members else 1)


@kernel
def _keenest(game: Game, seat: int, lots: int, start: int, params: Row) -> int:
    """Of the lots whose action (build or lift) passes the test of a purchase, the one with the highest K; or NO_LOT."""
    best = NO_LOT
    for lot in each(lots):
        cost = building.building_cost(game, lot) if start == A_BUILD else mortgage.lifting_cost(game, lot)
        if _affords(game, seat, lot, cost, params) and (best == NO_LOT or params[lot] > params[best]):
            best = lot
    return best


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    if legal(game, A_JAIL, 2) and habits.leaves_early(game, _LOTS_LEFT, _RESERVE):
        return habits.leave_jail(game)
    lot = _keenest(game, seat, legal(game, A_UNMORTGAGE, NUM_LOTS), A_UNMORTGAGE, params)
    if lot != NO_LOT:
        return A_UNMORTGAGE + lot
    moved = window_kind(game) == agenda.AFTER_THROW or game.rules.build_window == turn.EVERY_PLAYER
    if moved and game.offers[seat] == 0 and legal(game, A_TRADE, 7):
        action = _offer(game, seat, params, memory)
        if action != A_TURN:
            return action
    street = _keenest(game, seat, legal(game, A_BUILD, NUM_STREETS), A_BUILD, params)
    return A_TURN if street == NO_LOT else A_BUILD + street


@kernel
def _better(game: Game, seat: int, own: int, theirs: int, params: Row) -> int:
    """The lots of a set that are worth more to a seat than one of its own, each exchanged for it."""
    mine, found = int(game.lots[seat]), 0
    given = _worth(game, own, mine, params)
    for lot in each(theirs):
        if _worth(game, lot, (mine & ~(1 << own)) | (1 << lot), params) > given:
            found |= 1 << lot
    return found


@kernel
def _offer(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Offer one of the exchanges that it gains by, all equally likely, or go on."""
    count, chosen, goods = 0, -1, trade.tradable(game, seat) & ALL_LOTS
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
        count = seen
        if count == 0:
            return A_TURN
        chosen = randomness.policy_draw(game, seat, count)
    return A_TURN


@kernel
def _reply(game: Game, seat: int, params: Row) -> int:
    """Accept what is worth more than what is given; cash counts at its face value and a jail card as the fine."""
    mine, fine = int(game.lots[seat]), int(game.rules.jail_fine)
    came, went = int(game.offer_give), int(game.offer_ask)
    after = (mine & ~went & ALL_LOTS) | (came & ALL_LOTS)
    gain = float(int(game.offer_cash) + fine * (size(came & ~ALL_LOTS) - size(went & ~ALL_LOTS)))
    lots = came & ALL_LOTS
    for lot in each(lots):
        gain += _worth(game, lot, after, params)
    lots = went & ALL_LOTS
    for lot in each(lots):
        gain -= _worth(game, lot, mine, params)
    return A_REPLY + 1 if gain > 0 else A_REPLY


@kernel
def _raise_cash(game: Game, params: Row) -> int:
    """Sell buildings by the rent they bring, then mortgage, the least preferred lot first."""
    streets = legal(game, A_SELL, NUM_STREETS)
    if streets:
        return A_SELL + habits.least_built(game, streets)
    lots = legal(game, A_MORTGAGE, NUM_LOTS)
    if lots == 0:
        return A_TURN
    best = lowest(lots)
    for lot in each(lots):
        if params[lot] < params[best]:
            best = lot
    return A_MORTGAGE + best


@kernel
def _bid_limit(game: Game, seat: int, params: Row) -> float:
    """What the test of a purchase lets a lot cost, up to its list price (dollars)."""
    lot = int(game.auction_lot)
    if lot >= building.HOUSE_LOT:
        return min(float(groups.dearest_house(game, seat)), float(game.cash[seat]))
    return min(int(game.cash[seat]) * params[lot], float(price(game, lot)))


@policy_kernel
def play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Play by 28 preferences."""
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW:
        return _window(game, seat, params, memory)
    if decision == agenda.BUY:
        lot = asked_lot(game)
        return A_BUY + 1 if legal(game, A_BUY + 1, 1) and _affords(game, seat, lot, price(game, lot), params) else A_BUY
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return habits.bid_up_to(game, _bid_limit(game, seat, params), 1.0)
    if decision == agenda.JAIL:
        return habits.answer_jail(game, habits.leaves_early(game, _LOTS_LEFT, _RESERVE))
    if agenda.ASK <= decision <= agenda.CASH:
        return offers.compose(game, memory)
    if decision == agenda.REPLY:
        return _reply(game, seat, params)
    if decision == agenda.DEBT:
        return _raise_cash(game, params)
    if decision == agenda.TAKEOVER:
        lot = asked_lot(game)
        lifts = legal(game, A_CHOICE + 1, 1) and _affords(game, seat, lot, mortgage.principal(game, lot), params)
        return A_CHOICE + 1 if lifts else A_CHOICE
    return habits.routine(game)
