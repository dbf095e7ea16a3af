"""`gcp`: the standard player of the gamescomputersplay simulator, who trades what completes a group for what completes one.

Before a throw (after it, where that is when one builds) it trades until no trade is left, lifts mortgages, and builds the cheapest
houses evenly; all with 200 dollars kept. It buys what leaves 200, except the groups that it ignores. In jail it uses a card at once
and never pays before it must.

It trades only in groups of which no lot is for sale: its single lot of a group goes to the player who has all others, for lots that
do the same for it. Groups of two lots, of which each owns one, complete both or neither and are left out. Cheap lots are dropped
from the side that gives more until the list prices differ by at most 200 dollars and a factor of 2; the difference is paid in cash.

Where its program knows other rules:

- It has no auctions; there a declined lot stays with the bank. Here it bids up to the list price while it keeps its 200: what it
  would have bought on a landing. `bid=0` makes it never bid.
- Its trades take place as soon as both want the same; here they are offered, and accepted by the same test, with the whole
  difference paid. A player gets no second offer for a while. Where the rules know no cash in trades, none is asked for.
- It counts 60% of the list price for lifting a mortgage, has 36 houses and another birthday card; here our rules hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agents.players.vocabulary.habits import answer_jail, bid_up_to, routine, take_over
from agents.players.vocabulary.offers import begin_offer, compose
from agents.players.vocabulary.parameters import DOLLARS, RATIO, ROUNDS, Parameters, family, parameter
from agents.players.vocabulary.reading import NO_LOT, amount_due, asked_lot, cheapest, dearest_house, legal, may_offer_to, price
from monopoly_env.actions import A_BUILD, A_BUY, A_JAIL, A_MORTGAGE, A_REPLY, A_SELL, A_TRADE, A_TURN, A_UNMORTGAGE
from monopoly_env.board import ALL_LOTS, GROUP_LOTS, GROUP_OF, GROUP_SIZE, HOTEL, NUM_GROUPS, NUM_LOTS, NUM_STREETS
from monopoly_env.engine import agenda
from monopoly_env.engine.building import HOUSE_LOT, WHOLE_GROUP, building_cost, refund
from monopoly_env.engine.mortgage import lifting_cost, transfer_fees
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.engine.trade import tradable
from monopoly_env.engine.turn import AFTER_SETTLEMENT
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel
from monopoly_env.rules import number

_ALL_GROUPS: Final = (1 << NUM_GROUPS) - 1


@dataclass(frozen=True)
class Gcp(Parameters):
    """What the policy goes by, with the reason for each value."""

    kept: float = parameter(200, 0, 2000, DOLLARS, "kept when buying, building, lifting mortgages and paying in a trade: one pass of GO")
    ignored: float = parameter(0, 0, _ALL_GROUPS, "groups", "groups that it neither buys nor bids for, a bit each in board order")
    bid: float = parameter(1, 0, 10, RATIO, "highest bid in list prices: what it would pay on landing; 0 never bids, as without auctions")
    difference: float = parameter(200, 0, 5000, DOLLARS, "by which the list prices of a trade's sides may differ: more is no fair exchange")
    ratio: float = parameter(2, 1, 100, RATIO, "of the dearer side's list price to the other's, at most, for the same reason")
    pause: float = parameter(
        10, 0, 1000, ROUNDS, "between offers to the same player: others refuse by rules of their own, and would do so again"
    )


_KEPT, _IGNORED, _BID, _DIFFERENCE, _RATIO, _PAUSE = range(6)

_NEXT_OFFER = 0  # its memory: from here on, for each partner, the turn from which on he may get another offer
_PAIRS: Final = sum(int(GROUP_LOTS[group]) for group in range(NUM_GROUPS) if GROUP_SIZE[group] == 2)
_ONE_FOR_ONE = number("trade", "one_for_one")
_ONE_FOR_ONE_CASH = number("trade", "one_for_one_cash")


@kernel
def _ignores(lot: int, params: Row) -> bool:
    return has(int(params[_IGNORED]), int(GROUP_OF[lot]))


# --- lots for sale, windows, debts --------------------------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row) -> int:
    lot = asked_lot(game)
    affordable = legal(game, A_BUY + 1, 1) and int(game.cash[seat]) - price(game, lot) >= params[_KEPT]
    return A_BUY + 1 if affordable and not _ignores(lot, params) else A_BUY


@kernel
def _highest_bid(game: Game, seat: int, params: Row) -> float:
    lot, funds = int(game.auction_lot), int(game.cash[seat]) - params[_KEPT]
    if lot >= HOUSE_LOT:
        return min(funds, params[_BID] * dearest_house(game, seat))
    return 0.0 if _ignores(lot, params) else min(funds, params[_BID] * price(game, lot))


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    if legal(game, A_JAIL + 1, 1):
        return A_JAIL + 1
    when = int(game.agenda[game.depth - 1, 2])
    if when != agenda.BEFORE_THROW and game.rules.build_window != AFTER_SETTLEMENT:
        return A_TURN
    if legal(game, A_TRADE, 7):
        action = _offer(game, seat, params, memory)
        if action != A_TURN:
            return action
    funds = int(game.cash[seat]) - params[_KEPT]
    lots = legal(game, A_UNMORTGAGE, NUM_LOTS)
    while lots and funds > 0:
        lot = lowest(lots)
        lots &= lots - 1
        if lifting_cost(game, lot) <= funds:
            return A_UNMORTGAGE + lot
    streets = legal(game, A_BUILD, NUM_STREETS)
    if streets and funds > 0:
        street = _cheapest_building(game, streets)
        if building_cost(game, street) <= funds:
            return A_BUILD + street
    return A_TURN


@kernel
def _cheapest_building(game: Game, streets: int) -> int:
    """The street whose next building costs least; of several the one with the fewest houses."""
    best, least = NO_LOT, 0
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        rank = building_cost(game, street) * (HOTEL + 1) + int(game.level[street])
        if best == NO_LOT or rank < least:
            best, least = street, rank
    return best


@kernel
def _debt(game: Game, seat: int) -> int:
    """Sell houses, then hotels, each time the cheapest that suffices or else the dearest; then mortgage the cheapest lots."""
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
    """The street whose building brings the least of those that suffice, or the most if none does."""
    best, best_sum, whole = NO_LOT, 0, game.rules.even_build == WHOLE_GROUP
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        brings = refund(game, street, int(game.rules.sell_ratio)) * (int(GROUP_SIZE[GROUP_OF[street]]) if whole else 1)
        nearer = brings < best_sum if best_sum >= missing else brings > best_sum
        if best == NO_LOT or (nearer and (brings >= missing or best_sum < missing)):
            best, best_sum = street, brings
    return best


# --- trades -------------------------------------------------------------------------------------------------------------


@kernel
def _singles(game: Game, seat: int, other: int) -> int:
    """The lots of which a seat has one of the group and the other player the rest: it would sell them, the other wants them."""
    mine, theirs, found = int(game.lots[seat]), int(game.lots[other]), 0
    for group in range(NUM_GROUPS):
        members = int(GROUP_LOTS[group])
        single = mine & members
        if single != 0 and single & (single - 1) == 0 and theirs & members == members & ~single:
            found |= single
    return found & tradable(game, seat)


@kernel
def _worth(game: Game, lots: int) -> int:
    """Printed prices of a set of lots (dollars)."""
    worth = 0
    while lots:
        worth += price(game, lowest(lots))
        lots &= lots - 1
    return worth


@kernel
def _without_pairs(give: int, take: int) -> int:
    """Leave groups of two lots out of the longer side, or of both: the lots that stay, of either side."""
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
    """Whether the list price of one side exceeds the other's by not too much."""
    return given - taken <= params[_DIFFERENCE] and given <= params[_RATIO] * taken


@kernel
def _dearest(game: Game, lots: int) -> int:
    """A set of the dearest of some lots; empty if there is none."""
    best = 0
    while lots:
        lot = lots & -lots
        lots &= lots - 1
        if best == 0 or price(game, lowest(lot)) > price(game, lowest(best)):
            best = lot
    return best


@kernel
def _trade_with(game: Game, seat: int, partner: int, params: Row) -> int:
    """The lots of both players that a fair trade moves, or 0: cheap ones are dropped from the side that gives more."""
    give = _singles(game, seat, partner)
    take = _singles(game, partner, seat) if give else 0
    if take == 0:
        return 0
    kept = _without_pairs(give, take)
    give, take = give & kept, take & kept
    if game.rules.trade == _ONE_FOR_ONE or game.rules.trade == _ONE_FOR_ONE_CASH:
        give, take = _dearest(game, give), _dearest(game, take)
    while give and take:
        given, taken = _worth(game, give), _worth(game, take)
        if not _is_fair(given, taken, params):
            give &= ~(1 << cheapest(game, give))
        elif not _is_fair(taken, given, params):
            take &= ~(1 << cheapest(game, take))
        else:
            return give | take
    return 0


@kernel
def _offer(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Begin the next trade that both would want, or go on."""
    for offset in range(1, int(game.num_players)):
        partner = (seat + offset) % int(game.num_players)
        if game.turns < memory[_NEXT_OFFER + partner] or not may_offer_to(game, seat, partner):
            continue
        lots = _trade_with(game, seat, partner, params)
        if lots == 0:
            continue
        give, take = lots & int(game.lots[seat]), lots & int(game.lots[partner])
        cash = 0 if game.rules.trade == _ONE_FOR_ONE else _worth(game, take) - _worth(game, give)
        payer = seat if cash > 0 else partner
        fees = transfer_fees(game, take if payer == seat else give)
        if cash == 0 or int(game.cash[payer]) - abs(cash) - fees >= params[_KEPT]:
            memory[_NEXT_OFFER + partner] = game.turns + params[_PAUSE] * game.num_players
            return begin_offer(game, partner, take, give, cash, memory)
    return A_TURN


@kernel
def _reply(game: Game, seat: int, params: Row) -> int:
    """Accept what it would have offered itself: wanted lots for singles, a fair difference, and that paid."""
    proposer, received, given = int(game.offer_from), int(game.offer_give), int(game.offer_ask)
    lots = received & ALL_LOTS
    if lots == 0 or given == 0 or lots & ~_singles(game, proposer, seat) or given & ~_singles(game, seat, proposer):
        return A_REPLY
    if (_without_pairs(given, lots) & (given | lots)) != given | lots:
        return A_REPLY
    give, take, cash = _worth(game, given), _worth(game, lots), int(game.offer_cash)
    if not _is_fair(give, take, params) or not _is_fair(take, give, params):
        return A_REPLY
    paid = game.rules.trade == _ONE_FOR_ONE or cash >= give - take
    kept = int(game.cash[seat]) + cash - transfer_fees(game, lots)
    return A_REPLY + 1 if paid and (cash >= 0 or kept >= params[_KEPT]) else A_REPLY


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW:
        return _window(game, seat, params, memory)
    if decision == agenda.BUY:
        return _buy(game, seat, params)
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return bid_up_to(game, _highest_bid(game, seat, params), 0.5 if decision == agenda.BID else 1.0)
    if decision == agenda.JAIL:
        return answer_jail(game, legal(game, A_JAIL + 1, 1) != 0)
    if agenda.ASK <= decision <= agenda.CASH:
        return compose(game, memory)
    if decision == agenda.REPLY:
        return _reply(game, seat, params)
    if decision == agenda.DEBT:
        return _debt(game, seat)
    if decision == agenda.TAKEOVER:
        return take_over(game, params[_KEPT], params[_KEPT])
    if decision == agenda.PLACE:
        return A_BUILD + _cheapest_building(game, legal(game, A_BUILD, NUM_STREETS))
    return routine(game)


POLICIES: Final = {"gcp": family("gcp", _play, Gcp)}
