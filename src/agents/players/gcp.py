"""`gcp`: the standard player of the gamescomputersplay simulator, which trades lots that complete a group for lots that do the same.

Before a throw, or after it where the rules build only then, it trades until no trade is left, lifts mortgages, and builds the cheapest
houses evenly, always keeping 200 dollars. It buys whatever leaves 200, except in groups that it ignores. In jail it uses a card at once
and never pays before it must.

It trades only in groups of which no lot is for sale: its single lot of a group goes to the player that has all the others, for lots
that do the same for it. Groups of two lots of which each player owns one are left out, because a trade completes both or neither.
Cheap lots are dropped from the side that gives more until the list prices differ by at most 200 dollars and a factor of 2. The
difference is paid in cash.

Where its program plays by other rules:

- It has no auctions; a declined lot stays with the bank. Here it bids up to the list price while it keeps its 200, that is, for
  what it would have bought on landing. With `bid=0` it never bids.
- Its trades take place as soon as both players want the same. Here they are offered, and accepted by the same test, with the whole
  difference paid. A player gets no second offer for a while. Where the rules allow no cash in trades, none is asked for.
- It counts 60% of the list price for lifting a mortgage, has 36 houses and another birthday card; here the game's rules hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agents.players.vocabulary import groups, habits, offers
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.parameters import DOLLARS, RATIO, ROUNDS, Parameters, family, parameter
from agents.players.vocabulary.reading import NO_LOT, amount_due, asked_lot, cheapest, legal, price, total_price, window_kind
from monopoly_env.actions import A_BUILD, A_BUY, A_JAIL, A_MORTGAGE, A_REPLY, A_SELL, A_TRADE, A_TURN, A_UNMORTGAGE
from monopoly_env.board import ALL_LOTS, GROUP_LOTS, GROUP_OF, GROUP_SIZE, HOTEL, NUM_GROUPS, NUM_LOTS, NUM_STREETS
from monopoly_env.engine import agenda, building, mortgage, trade, turn
from monopoly_env.engine.sets import each, has, lowest, size
from monopoly_env.game import MAX_PLAYERS, Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel

_ALL_GROUPS: Final = (1 << NUM_GROUPS) - 1


@dataclass(frozen=True)
class Gcp(Parameters):
    """Parameters of the policy, with the reason for each value."""

    kept: float = parameter(200, 0, 2000, DOLLARS)
    """kept when buying, building, lifting mortgages and paying in a trade: one pass of GO"""
    ignored: float = parameter(0, 0, _ALL_GROUPS, "groups")
    """groups that it neither buys nor bids for, a bit each in board order"""
    bid: float = parameter(1, 0, 10, RATIO)
    """highest bid in list prices: what it would pay on landing; 0 never bids, as without
    auctions"""
    difference: float = parameter(200, 0, 5000, DOLLARS)
    """most by which the list prices of a trade's sides may differ: more is not fair"""
    ratio: float = parameter(2, 1, 100, RATIO)
    """most that the dearer side's list price may be of the other's, for the same reason"""
    pause: float = parameter(10, 0, 1000, ROUNDS)
    """between offers to the same player: others refuse by rules of their own and would do so
    again"""


AT: Final = Gcp.columns()

SLOT: Final = memory_slots(next_offer=MAX_PLAYERS)  # for each partner, the first turn in which it may get another offer
_PAIRS: Final = sum(int(GROUP_LOTS[group]) for group in range(NUM_GROUPS) if GROUP_SIZE[group] == 2)


@kernel
def _ignores(lot: int, params: Row) -> bool:
    return has(int(params[AT.ignored]), int(GROUP_OF[lot]))


# --- lots for sale, windows, debts --------------------------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row) -> int:
    lot = asked_lot(game)
    affordable = legal(game, A_BUY + 1, 1) and int(game.cash[seat]) - price(game, lot) >= params[AT.kept]
    return A_BUY + 1 if affordable and not _ignores(lot, params) else A_BUY


@kernel
def _highest_bid(game: Game, seat: int, params: Row) -> float:
    lot, funds = int(game.auction_lot), int(game.cash[seat]) - params[AT.kept]
    if lot >= building.HOUSE_LOT:
        return min(funds, params[AT.bid] * groups.dearest_house(game, seat))
    return 0.0 if _ignores(lot, params) else min(funds, params[AT.bid] * price(game, lot))


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    if legal(game, A_JAIL + 1, 1):
        return A_JAIL + 1
    if window_kind(game) != agenda.BEFORE_THROW and game.rules.build_window != turn.AFTER_SETTLEMENT:
        return A_TURN
    if legal(game, A_TRADE, 7):
        action = _offer(game, seat, params, memory)
        if action != A_TURN:
            return action
    funds = int(game.cash[seat]) - params[AT.kept]
    lots = legal(game, A_UNMORTGAGE, NUM_LOTS)
    while lots and funds > 0:
        lot = lowest(lots)
        lots &= lots - 1
        if mortgage.lifting_cost(game, lot) <= funds:
            return A_UNMORTGAGE + lot
    streets = legal(game, A_BUILD, NUM_STREETS)
    if streets and funds > 0:
        street = _cheapest_building(game, streets)
        if building.building_cost(game, street) <= funds:
            return A_BUILD + street
    return A_TURN


@kernel
def _cheapest_building(game: Game, streets: int) -> int:
    """The street whose next building costs the least; of several, the one with the fewest houses."""
    best, least = NO_LOT, 0
    for street in each(streets):
        rank = building.building_cost(game, street) * (HOTEL + 1) + int(game.level[street])
        if best == NO_LOT or rank < least:
            best, least = street, rank
    return best


@kernel
def _debt(game: Game, seat: int) -> int:
    """Sell houses, then hotels, each time the cheapest that is enough or else the dearest; then mortgage the cheapest lots."""
    streets = legal(game, A_SELL, NUM_STREETS)
    if streets:
        houses = 0
        for street in range(NUM_STREETS):
            if has(streets, street) and game.level[street] < HOTEL:
                houses |= 1 << street
        return A_SELL + _sale(game, houses or streets, amount_due(game) - int(game.cash[seat]))
    lots = legal(game, A_MORTGAGE, NUM_LOTS)
    return A_MORTGAGE + cheapest(game, lots) if lots else A_TURN


@kernel
def _sale(game: Game, streets: int, missing: int) -> int:
    """The street whose building brings the least of those that bring enough, or the most if none does."""
    best, best_sum, whole = NO_LOT, 0, game.rules.even_build == building.WHOLE_GROUP
    for street in each(streets):
        brings = building.refund(game, street, int(game.rules.sell_ratio)) * (int(GROUP_SIZE[GROUP_OF[street]]) if whole else 1)
        nearer = brings < best_sum if best_sum >= missing else brings > best_sum
        if best == NO_LOT or (nearer and (brings >= missing or best_sum < missing)):
            best, best_sum = street, brings
    return best


# --- trades -------------------------------------------------------------------------------------------------------------


@kernel
def _singles(game: Game, seat: int, other: int) -> int:
    """The lots of groups in which a seat has one lot and the other player the rest: it would sell them, the other wants them."""
    mine, theirs, found = int(game.lots[seat]), int(game.lots[other]), 0
    for group in range(NUM_GROUPS):
        members = int(GROUP_LOTS[group])
        single = mine & members
        if single != 0 and single & (single - 1) == 0 and theirs & members == members & ~single:
            found |= single
    return found & trade.tradable(game, seat)


@kernel
def _without_pairs(give: int, take: int) -> int:
    """The lots that stay on either side when groups of two lots are left out of the longer side, or of both."""
    if (give | take) & ~_PAIRS == 0:
        return 0
    for group in range(NUM_GROUPS):
        members = int(GROUP_LOTS[group])
        if members & _PAIRS and members & give and members & take:
            more, fewer = size(take) > size(give), size(take) < size(give)
            if not fewer:
                take &= ~members
            if not more:
                give &= ~members
    return give | take


@kernel
def _is_fair(given: int, taken: int, params: Row) -> bool:
    """Whether the list price of one side does not exceed the other's by too much."""
    return given - taken <= params[AT.difference] and given <= params[AT.ratio] * taken


@kernel
def _dearest(game: Game, lots: int) -> int:
    """The dearest of a set of lots, as a set; empty if the set is."""
    best = 0
    while lots:
        lot = lots & -lots
        lots &= lots - 1
        if best == 0 or price(game, lowest(lot)) > price(game, lowest(best)):
            best = lot
    return best


@kernel
def _trade_with(game: Game, seat: int, partner: int, params: Row) -> int:
    """The lots of both players that a fair trade moves, or 0; cheap lots are dropped from the side that gives more."""
    give = _singles(game, seat, partner)
    take = _singles(game, partner, seat) if give else 0
    if take == 0:
        return 0
    kept = _without_pairs(give, take)
    give, take = give & kept, take & kept
    if game.rules.trade == offers.ONE_FOR_ONE or game.rules.trade == offers.ONE_FOR_ONE_CASH:
        give, take = _dearest(game, give), _dearest(game, take)
    while give and take:
        given, taken = total_price(game, give), total_price(game, take)
        if not _is_fair(given, taken, params):
            give &= ~(1 << cheapest(game, give))
        elif not _is_fair(taken, given, params):
            take &= ~(1 << cheapest(game, take))
        else:
            return give | take
    return 0


@kernel
def _offer(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Begin the next trade that both players would want, or go on."""
    for offset in range(1, int(game.num_players)):
        partner = (seat + offset) % int(game.num_players)
        if game.turns < memory[SLOT.next_offer + partner] or not offers.may_offer_to(game, seat, partner):
            continue
        lots = _trade_with(game, seat, partner, params)
        if lots == 0:
            continue
        give, take = lots & int(game.lots[seat]), lots & int(game.lots[partner])
        cash = 0 if game.rules.trade == offers.ONE_FOR_ONE else total_price(game, take) - total_price(game, give)
        payer = seat if cash > 0 else partner
        fees = mortgage.transfer_fees(game, take if payer == seat else give)
        if cash == 0 or int(game.cash[payer]) - abs(cash) - fees >= params[AT.kept]:
            memory[SLOT.next_offer + partner] = game.turns + params[AT.pause] * game.num_players
            return offers.begin(game, partner, take, give, cash, memory)
    return A_TURN


@kernel
def _reply(game: Game, seat: int, params: Row) -> int:
    """Accept what it would have offered itself: wanted lots for single ones, a fair difference in prices, and that difference paid."""
    proposer, received, given = int(game.offer_from), int(game.offer_give), int(game.offer_ask)
    lots = received & ALL_LOTS
    if lots == 0 or given == 0 or lots & ~_singles(game, proposer, seat) or given & ~_singles(game, seat, proposer):
        return A_REPLY
    if (_without_pairs(given, lots) & (given | lots)) != given | lots:
        return A_REPLY
    give, take, cash = total_price(game, given), total_price(game, lots), int(game.offer_cash)
    if not _is_fair(give, take, params) or not _is_fair(take, give, params):
        return A_REPLY
    paid = game.rules.trade == offers.ONE_FOR_ONE or cash >= give - take
    kept = int(game.cash[seat]) + cash - mortgage.transfer_fees(game, lots)
    return A_REPLY + 1 if paid and (cash >= 0 or kept >= params[AT.kept]) else A_REPLY


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW:
        return _window(game, seat, params, memory)
    if decision == agenda.BUY:
        return _buy(game, seat, params)
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return habits.bid(game, _highest_bid(game, seat, params))
    if decision == agenda.JAIL:
        return habits.answer_jail(game, legal(game, A_JAIL + 1, 1) != 0)
    if agenda.ASK <= decision <= agenda.CASH:
        return offers.compose(game, memory)
    if decision == agenda.REPLY:
        return _reply(game, seat, params)
    if decision == agenda.DEBT:
        return _debt(game, seat)
    if decision == agenda.TAKEOVER:
        return habits.take_over(game, params[AT.kept], params[AT.kept])
    if decision == agenda.PLACE:
        return A_BUILD + _cheapest_building(game, legal(game, A_BUILD, NUM_STREETS))
    return habits.routine(game)


POLICIES: Final = {"gcp": family("gcp", _play, Gcp)}
