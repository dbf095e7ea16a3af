"""`gcp`: the standard player of the gamescomputersplay simulator.

Before a throw, or after it where the rules build only then, it trades until no trade is left, lifts
mortgages, and builds the cheapest houses evenly, always keeping 200 dollars. It buys whatever
leaves 200, except in groups that it ignores. In jail it uses a card at once and never pays before
it must.

It trades only in groups of which no lot is for sale: its single lot of a group goes to the player
that has all the others, for lots that do the same for it. Groups of two lots of which each player
owns one are left out, because a trade completes both or neither. Cheap lots are dropped from the
side that gives more until the list prices differ by at most 200 dollars and a factor of 2. The
difference is paid in cash.

Where its program plays by other rules:

- Its declined lots stay with the bank. Here it bids up to the list price while it keeps its 200;
  with `bid=0` it never bids.
- Its trades take place as soon as both players want the same. Here they are offered, and accepted
  by the same test, with the whole difference paid, where the rules allow cash in trades. A player
  gets no second offer for a while.
- It counts 60% of the list price for lifting a mortgage, has 36 houses and another birthday card;
  here the game's rules hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agents.players.vocabulary import groups, habits, offers, reading
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.parameters import Parameters, named, parameter
from agents.players.vocabulary.reading import NO_LOT, asked_lot, cheapest, price
from agents.players.vocabulary.skeleton import decide
from monopoly_env.actions import A_BUILD, A_BUY, A_MORTGAGE, A_SELL, A_TURN, A_UNMORTGAGE
from monopoly_env.engine import agenda, building, mortgage, trade, turn
from monopoly_env.engine.sets import each, has, lowest, size
from monopoly_env.facts import board
from monopoly_env.game import MAX_PLAYERS, Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel

_ALL_GROUPS: Final = (1 << board.NUM_GROUPS) - 1


@dataclass(frozen=True)
class Gcp(Parameters):
    """Parameters of the policy."""

    kept: float = parameter(200, 0, 2000, "dollars")
    """kept when buying, building, lifting mortgages and paying in a trade: one pass of GO"""
    ignored: float = parameter(0, 0, _ALL_GROUPS, "groups")
    """groups that it neither buys nor bids for, a bit each in board order"""
    bid: float = parameter(1, 0, 10, "ratio")
    """highest bid in list prices: what it would pay on landing; 0 never bids, as without
    auctions"""
    difference: float = parameter(200, 0, 5000, "dollars")
    """most by which the list prices of a trade's sides may differ: more is not fair"""
    ratio: float = parameter(2, 1, 100, "ratio")
    """most that the dearer side's list price may be, as a multiple of the other's"""
    pause: float = parameter(10, 0, 1000, "rounds")
    """between offers to the same player: others refuse by rules of their own and would do so
    again"""


AT: Final = Gcp.columns()

SLOT: Final = memory_slots(next_offer=MAX_PLAYERS)  # by partner, a turn
_PAIRS: Final = sum(
    board.GROUP_LOTS[group] for group in range(board.NUM_GROUPS) if board.GROUP_SIZE[group] == 2
)


@kernel
def _ignores(lot: int, params: Row) -> bool:
    return has(int(params[AT.ignored]), board.GROUP_OF[lot])


# --- lots for sale, windows, debts ----------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot = asked_lot(game)
    left = int(game.cash[seat]) - price(game, lot)
    wanted = reading.may_buy(game) and left >= params[AT.kept] and not _ignores(lot, params)
    return A_BUY + 1 if wanted else A_BUY


@kernel
def _bid(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot, worth = int(game.auction_lot), 0
    if lot >= building.HOUSE_LOT:
        worth = groups.dearest_house(game, seat)
    elif not _ignores(lot, params):
        worth = price(game, lot)
    return habits.bid(game, min(int(game.cash[seat]) - params[AT.kept], params[AT.bid] * worth))


@kernel
def _leaves(game: Game, seat: int, params: Row, memory: Row) -> bool:
    return reading.has_card(game)


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    only_window = game.rules.build_window == turn.AFTER_SETTLEMENT
    if reading.window_kind(game) != agenda.BEFORE_THROW and not only_window:
        return A_TURN
    if reading.may_trade(game):
        action = _offer(game, seat, params, memory)
        if action != A_TURN:
            return action
    funds = int(game.cash[seat]) - params[AT.kept]
    lots = reading.liftable(game)
    for lot in each(lots):
        if mortgage.lifting_cost(game, lot) <= funds:
            return A_UNMORTGAGE + lot
    streets = reading.buildable(game)
    if streets and funds > 0:
        street = _cheapest_building(game, streets)
        if building.building_cost(game, street) <= funds:
            return A_BUILD + street
    return A_TURN


@kernel
def _cheapest_building(game: Game, streets: int) -> int:
    """The street whose next building costs the least; of several, the lowest."""
    best, least = NO_LOT, 0
    for street in each(streets):
        rank = building.building_cost(game, street) * (board.HOTEL + 1) + int(game.level[street])
        if best == NO_LOT or rank < least:
            best, least = street, rank
    return best


@kernel
def _debt(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Sell houses, then hotels (the cheapest that is enough, else the dearest), then mortgage."""
    streets = reading.sellable(game)
    if streets:
        houses = 0
        for street in each(streets):
            if game.level[street] < board.HOTEL:
                houses |= 1 << street
        missing = reading.amount_due(game) - int(game.cash[seat])
        return A_SELL + _sale(game, houses or streets, missing)
    lots = reading.mortgageable(game)
    return A_MORTGAGE + cheapest(game, lots) if lots else A_TURN


@kernel
def _sale(game: Game, streets: int, missing: int) -> int:
    """The street whose building brings the least that is enough, or the most if none is."""
    best, best_sum, whole = NO_LOT, 0, game.rules.even_build == building.WHOLE_GROUP
    for street in each(streets):
        count = board.GROUP_SIZE[board.GROUP_OF[street]] if whole else 1
        brings = building.refund(game, street, int(game.rules.sell_ratio)) * count
        nearer = brings < best_sum if best_sum >= missing else brings > best_sum
        if best == NO_LOT or (nearer and (brings >= missing or best_sum < missing)):
            best, best_sum = street, brings
    return best


# --- trades ---------------------------------------------------------------------------------------


@kernel
def _singles(game: Game, seat: int, other: int) -> int:
    """Single lots of a seat in groups of which the other player has the rest."""
    mine, theirs, found = int(game.lots[seat]), int(game.lots[other]), 0
    for group in range(board.NUM_GROUPS):
        members = board.GROUP_LOTS[group]
        single = mine & members
        if single != 0 and single & (single - 1) == 0 and theirs & members == members & ~single:
            found |= single
    return found & trade.tradable(game, seat)


@kernel
def _without_pairs(give: int, take: int) -> int:
    """The lots left without pairs (groups of two) on the longer side, or on both."""
    if (give | take) & ~_PAIRS == 0:
        return 0
    for group in range(board.NUM_GROUPS):
        members = board.GROUP_LOTS[group]
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
    for lot in each(lots):
        if best == 0 or price(game, lot) > price(game, lowest(best)):
            best = 1 << lot
    return best


@kernel
def _trade_with(game: Game, seat: int, partner: int, params: Row) -> int:
    """The lots of both players in a fair trade, or 0: cheap ones are dropped from the dear side."""
    give = _singles(game, seat, partner)
    take = _singles(game, partner, seat) if give else 0
    if take == 0:
        return 0
    kept = _without_pairs(give, take)
    give, take = give & kept, take & kept
    if game.rules.trade == offers.ONE_FOR_ONE or game.rules.trade == offers.ONE_FOR_ONE_CASH:
        give, take = _dearest(game, give), _dearest(game, take)
    while give and take:
        given, taken = reading.total_price(game, give), reading.total_price(game, take)
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
        due = game.turns >= memory[SLOT.next_offer + partner]
        if not due or not offers.may_offer_to(game, seat, partner):
            continue
        lots = _trade_with(game, seat, partner, params)
        if lots == 0:
            continue
        give, take = lots & int(game.lots[seat]), lots & int(game.lots[partner])
        cash = reading.total_price(game, take) - reading.total_price(game, give)
        if game.rules.trade == offers.ONE_FOR_ONE:
            cash = 0
        payer = seat if cash > 0 else partner
        fees = mortgage.transfer_fees(game, take if payer == seat else give)
        if cash == 0 or int(game.cash[payer]) - abs(cash) - fees >= params[AT.kept]:
            memory[SLOT.next_offer + partner] = game.turns + params[AT.pause] * game.num_players
            return offers.begin(game, partner, take, give, cash, memory)
    return A_TURN


@kernel
def _accepts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Accept an exchange that it would have offered itself, at a fair price."""
    proposer, received, given = int(game.offer_from), int(game.offer_give), int(game.offer_ask)
    lots = received & board.ALL_LOTS
    theirs, mine = _singles(game, proposer, seat), _singles(game, seat, proposer)
    if lots == 0 or given == 0 or lots & ~theirs or given & ~mine:
        return False
    if (_without_pairs(given, lots) & (given | lots)) != given | lots:
        return False
    give, take = reading.total_price(game, given), reading.total_price(game, lots)
    cash = int(game.offer_cash)
    if not _is_fair(give, take, params) or not _is_fair(take, give, params):
        return False
    paid = game.rules.trade == offers.ONE_FOR_ONE or cash >= give - take
    kept = int(game.cash[seat]) + cash - mortgage.transfer_fees(game, lots)
    return paid and (cash >= 0 or kept >= params[AT.kept])


@kernel
def _lifts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    return habits.lifts_at_once(game, params[AT.kept], params[AT.kept])


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    if game.decision == agenda.PLACE:
        return A_BUILD + _cheapest_building(game, reading.buildable(game))
    return decide(game, params, memory, _window, _buy, _bid, _leaves, _accepts, _debt, _lifts)


POLICIES: Final = named(_play, Gcp, {"gcp": {}})
