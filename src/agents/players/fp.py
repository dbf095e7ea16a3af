"""`fp/a`, `fp/b`, `fp/c`: the fixed policies of Bonjour et al. (IEEE TETCI 2022).

A has no preferences. B wants railroads and the dark blue streets and refuses utilities. C wants
railroads, orange and light blue and builds at most three houses. All keep a GO salary when buying,
build without a reserve, and trade for complete groups. As published they accept one dollar for a
lot; `guarded` players do not.

Their rule for accepting an offer has a hole: with a salary in cash, a policy accepts anything that
loses no group, so one dollar buys a lot, and a lot that two policies want goes back and forth
between them, often dozens of times in a game with several C. It is played as published unless
`guarded` is set. In a trade that brings it no group, a guarded policy demands at least the list
price of its lots, and gives none that it wants itself or that completes a group of the partner. It
keeps half a salary in cash in every trade, and makes no plain sales. A refused offer is made again
in the next turn, as published.

Their programs play by other rules; each decision is mapped to the nearest legal one:

- Players act between turns: they build and lift mortgages before another player's throw, and make
  offers before their own. Where windows open only in the own turn, offers come before the throw and
  building after the last throw.
- The bank does not buy lots back: a debtor mortgages where their programs sell, and sells buildings
  where they do.
- Bids are whole dollars and go up by the raises that exist; a sealed bid is the amount at which
  their programs would stop. In auctions of scarce buildings, which they lack, a policy bids the
  list price of a building that it would build.
- Offers go to one player after another, and each gets one per turn. Groups gained and lost are
  counted after the whole exchange. A jail card, which their programs do not trade, counts as much
  as the fine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.players.vocabulary import groups, habits, offers, reading
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.parameters import Parameters, named, parameter, switch
from agents.players.vocabulary.reading import NO_LOT, asked_lot, cheapest, price
from agents.players.vocabulary.skeleton import decide
from monopoly_env.actions import A_BID, A_BUILD, A_BUY, A_MORTGAGE, A_SELL, A_TURN, A_UNMORTGAGE
from monopoly_env.engine import agenda, auction, building, mortgage, players, trade, turn
from monopoly_env.engine.sets import each, has, lowest, size
from monopoly_env.facts import board
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel


@dataclass(frozen=True)
class FixedPolicy(Parameters):
    """Parameters of the policies; the defaults are those of `fp/a`."""

    salary: float = parameter(200, 0, 2000, "dollars")
    """kept when buying and lifting mortgages; needed to leave jail and to ask for lots: one pass of
    GO"""
    floor: float = parameter(100, 0, 2000, "dollars")
    """kept in a trade that brings no group: half a pass of GO"""
    markup: float = parameter(1.5, 0, 10, "ratio")
    """asked, in list prices, for a lot that completes the buyer's group: the buyer gains more"""
    purse: float = parameter(0.5, 0, 1, "share")
    """of the buyer's cash, asked for such a lot if that is more: what the buyer can still pay"""
    discount: float = parameter(0.75, 0, 10, "ratio")
    """paid for a lot, in list prices, if the owner gets a group as well"""
    premium: float = parameter(1.5, 0, 10, "ratio")
    """times the discount, paid if the owner gets only cash: above the list price"""
    bid_step: float = parameter(0.5, 0, 1, "share")
    """of the way to the list price that a bid goes: it may win below the price"""
    completing_step: float = parameter(0.25, 0, 1, "share")
    """of the cash left, added to a bid above list price for a group's last lot"""
    wanted_step: float = parameter(1 / 6, 0, 1, "share")
    """of the cash left, added to each bid for a wanted lot, without a limit"""
    most_houses: float = parameter(5, 0, 5, "count")
    """houses up to which it builds, 5 is the hotel; the third house earns most per dollar"""
    wants_light_blue: bool = switch(False)
    """buy, bid for and request these streets as wanted lots"""
    wants_orange: bool = switch(False)
    """buy, bid for and request these streets as wanted lots"""
    wants_dark_blue: bool = switch(False)
    """buy, bid for and request these streets as wanted lots"""
    wants_railroads: bool = switch(False)
    """buy, bid for and request railroads as wanted lots"""
    wants_groups: bool = switch(False)
    """request wanted lots while a wanted colour group is incomplete, not only while owning a
    railroad"""
    refuses_utilities: bool = switch(False)
    """neither buy utilities nor bid for them nor accept an offer of one"""
    aggressive: bool = switch(False)
    """ask a rich buyer for more, pay a rich owner less than the list price (an earlier version)"""
    guarded: bool = switch(False)
    """close the hole in the rule for accepting offers, see above"""


AT: Final = FixedPolicy.columns()

SLOT: Final = memory_slots(
    "batch",  # the turn of the last offers, counted from 1
    "asked",  # the partners that got an offer in it, a bit each; -1: no more offers in this turn
)


def _lots_of(group: str) -> int:
    return int(board.GROUP_LOTS[board.GROUPS.index(group)])


_UTILITY_LOTS: Final = _lots_of("utility")
_RAILROAD_LOTS: Final = _lots_of("railroad")
# The groups that may be wanted: the switch of each in the row of parameters, and its lots.
_FAVOURITES: Final = (
    (AT.wants_light_blue, _lots_of("light_blue")),
    (AT.wants_orange, _lots_of("orange")),
    (AT.wants_dark_blue, _lots_of("dark_blue")),
    (AT.wants_railroads, _RAILROAD_LOTS),
)
_PURSES: Final = (0.7, 0.6)  # of a buyer's cash, asked by `aggressive` if the rest exceeds a salary
# [edition, place] -> lot: mortgages are lifted in alphabetical order
_ALPHABET: Final = np.array(
    [sorted(range(board.NUM_LOTS), key=names.__getitem__) for names in board.LOT_NAME]
)
_ANY_PRICE: Final = 1 << 30  # dollars


@kernel
def _wanted(params: Row) -> int:
    """The wanted lots, a bit each."""
    wanted = 0
    for column, lots in _FAVOURITES:
        if params[column]:
            wanted |= lots
    return wanted


# --- lots for sale --------------------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot, cash = asked_lot(game), int(game.cash[seat])
    cost, needed = price(game, lot), groups.completes(game, seat, lot)
    if params[AT.refuses_utilities] and has(_UTILITY_LOTS, lot):
        return A_BUY
    if reading.may_buy(game):
        if needed or has(_wanted(params), lot) or cash - cost >= params[AT.salary]:
            return A_BUY + 1
        return A_BUY
    if needed:  # one lot must bring the whole price: their programs hardly ever find one
        lots, pays = reading.mortgageable(game), 0
        for other in each(lots):
            if board.MORTGAGE[game.rules.board, other] >= cost:
                pays |= 1 << other
        return A_MORTGAGE + cheapest(game, pays) if pays else A_BUY
    return A_BUY


@kernel
def _bid(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Bid a share of the way to the list price, or a share of the cash that is left."""
    cash, lot = int(game.cash[seat]), int(game.auction_lot)
    if game.decision == agenda.SEALED_BID or lot >= building.HOUSE_LOT:
        return habits.bid_up_to(game, _highest_bid(game, seat, lot, params), 1.0)
    bid = auction.raise_base(game, seat)
    if params[AT.refuses_utilities] and has(_UTILITY_LOTS, lot):
        return A_BID
    if has(_wanted(params), lot):
        return habits.raise_by(game, params[AT.wanted_step] * (cash - bid), cash - bid)
    room = price(game, lot) - bid
    if room > 0:
        step = params[AT.bid_step] * room
        return habits.raise_by(game, step, min(room, cash - bid)) if bid + step < cash else A_BID
    if groups.completes(game, seat, lot):
        return habits.raise_by(game, params[AT.completing_step] * (cash - bid), cash - bid)
    return A_BID


@kernel
def _highest_bid(game: Game, seat: int, lot: int, params: Row) -> float:
    """The amount at which their programs stop: the list price, or all cash for wanted lots."""
    cash = float(game.cash[seat])
    if lot >= building.HOUSE_LOT:
        street = _building(game, building.placeable(game, seat, lot, _ANY_PRICE), params)
        return 0.0 if street == NO_LOT else min(cash, float(building.building_cost(game, street)))
    if params[AT.refuses_utilities] and has(_UTILITY_LOTS, lot):
        return 0.0
    if has(_wanted(params), lot) or groups.completes(game, seat, lot):
        return cash
    return min(cash, float(price(game, lot)))


# --- windows and debts ----------------------------------------------------------------------------


@kernel
def _leaves(game: Game, seat: int, params: Row, memory: Row) -> bool:
    return bool(game.cash[seat] >= params[AT.salary])


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    when = reading.window_kind(game)
    only_window = game.rules.build_window == turn.AFTER_SETTLEMENT
    if when == agenda.BEFORE_THROW or only_window:
        action = _propose(game, seat, params, memory)
        if action != A_TURN:
            return action
    if when == agenda.BEFORE_THROW:
        return A_TURN
    streets = reading.buildable(game)
    if streets:
        street = _building(game, streets, params)
        if street != NO_LOT:
            return A_BUILD + street
    return _lift(game, seat, params)


@kernel
def _building(game: Game, streets: int, params: Row) -> int:
    """The street where added rent minus house price is highest, or NO_LOT; no cash is kept."""
    best, most = NO_LOT, 0
    edition = int(game.rules.board)
    for street in each(streets):
        level, following = int(game.level[street]), building.next_level(game, street)
        if following > params[AT.most_houses]:
            continue
        # A complete group doubles the base rent
        now = board.RENT[edition, street, level] * (2 if level == 0 else 1)
        gain = board.RENT[edition, street, following] - now - board.HOUSE_PRICE[edition, street]
        if best == NO_LOT or gain > most:
            best, most = street, gain
    return best


@kernel
def _lift(game: Game, seat: int, params: Row) -> int:
    """Lift the first mortgage, in alphabetical order, that leaves a salary."""
    lots = reading.liftable(game)
    if lots and game.cash[seat] > params[AT.salary]:
        for lot in _ALPHABET[game.rules.board]:
            left = int(game.cash[seat]) - mortgage.lifting_cost(game, lot)
            if has(lots, lot) and left >= params[AT.salary]:
                return A_UNMORTGAGE + lot
    return A_TURN


@kernel
def _debt(game: Game, seat: int, params: Row, memory: Row) -> int:
    """The cheapest lot if mortgages suffice; else lots outside complete groups; else groups."""
    lots, streets = reading.mortgageable(game), reading.sellable(game)
    raised = int(game.cash[seat]) + players.mortgage_values(game, lots)
    first = lots if raised >= reading.amount_due(game) else habits.spare_lots(game, seat)
    if first:
        return A_MORTGAGE + cheapest(game, first)
    if lots | streets == 0:
        return A_TURN
    lot = cheapest(game, lots | streets)
    return A_SELL + lot if has(streets, lot) else A_MORTGAGE + lot


# --- offers ---------------------------------------------------------------------------------------


@kernel
def _propose(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Begin the next offer of this turn, one to each player, or go on."""
    if not reading.may_trade(game):
        return A_TURN
    if memory[SLOT.batch] != game.turns + 1:
        memory[SLOT.batch] = game.turns + 1
        memory[SLOT.asked] = 0
    asked = int(memory[SLOT.asked])
    if asked == -1:
        return A_TURN
    sells, requests, exchanges = _kinds_of_offer(game, seat, params)
    for offset in range(1, int(game.num_players)):
        partner = (seat + offset) % int(game.num_players)
        if has(asked, partner) or not offers.may_offer_to(game, seat, partner):
            continue
        ask, give = NO_LOT, NO_LOT
        if requests:
            ask = _request(game, seat, partner, params)
        if exchanges or (sells and not requests):
            give = _sale(game, seat, partner, ask, params)
        if exchanges and (ask == NO_LOT or give == NO_LOT):
            continue
        cash = _cash(game, seat, partner, ask, give, params)
        if (ask != NO_LOT or give != NO_LOT) and _is_possible(game, seat, ask, give, cash, params):
            memory[SLOT.asked] = asked | 1 << partner
            cash = 0 if game.rules.trade == offers.ONE_FOR_ONE else cash
            asks, gives = 0 if ask == NO_LOT else 1 << ask, 0 if give == NO_LOT else 1 << give
            return offers.begin(game, partner, asks, gives, cash, memory)
    memory[SLOT.asked] = -1
    return A_TURN


@kernel
def _kinds_of_offer(game: Game, seat: int, params: Row) -> tuple[bool, bool, bool]:
    """Whether any player offers a lot to sell, one to request, and an exchange of both."""
    sells, requests, exchanges = False, False, False
    for partner in range(game.num_players):
        if partner != seat and game.place[partner] == 0:
            ask = _request(game, seat, partner, params)
            sells = sells or _sale(game, seat, partner, NO_LOT, params) != NO_LOT
            requests = requests or ask != NO_LOT
            if ask != NO_LOT and not exchanges:
                exchanges = _sale(game, seat, partner, ask, params) != NO_LOT
    return sells, requests, exchanges


@kernel
def _sale(game: Game, seat: int, partner: int, ask: int, params: Row) -> int:
    """The dearest lot that completes a colour of the partner, who can pay for it; or NO_LOT."""
    if params[AT.guarded] and (ask == NO_LOT or not groups.completes(game, seat, ask)):
        return NO_LOT
    mine, theirs = trade.tradable(game, seat) & ~int(game.mortgaged), int(game.lots[partner])
    best, most = NO_LOT, 0
    for group in range(building.COLOURS):
        members = board.GROUP_LOTS[group]
        missing = members & ~theirs
        if size(missing) != 1 or missing & mine == 0 or (ask != NO_LOT and has(members, ask)):
            continue
        lot = lowest(missing)
        free = game.rules.trade == offers.ONE_FOR_ONE
        affordable = free or params[AT.markup] * price(game, lot) <= game.cash[partner]
        if affordable and price(game, lot) > most:
            best, most = lot, price(game, lot)
    return best


@kernel
def _request(game: Game, seat: int, partner: int, params: Row) -> int:
    """The cheapest of the partner's lots that is wanted or completes a colour; or NO_LOT."""
    cash = int(game.cash[seat])
    if cash < params[AT.salary]:
        return NO_LOT
    mine, lots = int(game.lots[seat]), 0
    theirs = trade.tradable(game, partner) & board.ALL_LOTS & ~int(game.mortgaged)
    for group in range(building.COLOURS):
        missing = board.GROUP_LOTS[group] & ~mine
        if size(missing) == 1:
            lots |= missing & theirs
    if _requests_wanted(mine, params):
        lots |= _wanted(params) & theirs & ~groups.complete(int(game.lots[partner]))
    if lots == 0:
        return NO_LOT
    lot = cheapest(game, lots)
    return lot if params[AT.discount] * price(game, lot) <= cash else NO_LOT


@kernel
def _requests_wanted(mine: int, params: Row) -> bool:
    """Whether wanted lots are requested even if they complete nothing."""
    wanted = _wanted(params)
    streets = wanted & ~_RAILROAD_LOTS
    incomplete = params[AT.wants_groups] != 0 and mine & streets != streets
    return wanted != 0 and (mine & _RAILROAD_LOTS != 0 or incomplete)


@kernel
def _cash(game: Game, seat: int, partner: int, ask: int, give: int, params: Row) -> int:
    """Dollars that go with an offer; negative: asked for."""
    purse = float(game.cash[partner])
    paid, asked = 0.0, 0.0
    if ask != NO_LOT:
        paid = params[AT.discount] * price(game, ask)
        if give == NO_LOT and not (params[AT.aggressive] and purse >= params[AT.salary]):
            paid *= params[AT.premium]
    if give != NO_LOT:
        asked = max(params[AT.markup] * price(game, give), params[AT.purse] * purse)
        if params[AT.aggressive]:
            for share in _PURSES:
                if asked < share * purse and (1 - share) * purse > params[AT.salary]:
                    asked = share * purse
                    break
    return int(paid - asked)


@kernel
def _is_possible(game: Game, seat: int, ask: int, give: int, cash: int, params: Row) -> bool:
    """Whether rules and cash allow an offer: a request alone must leave half a salary."""
    if game.rules.trade != offers.OFFICIAL and (ask == NO_LOT or give == NO_LOT):
        return False
    left = int(game.cash[seat]) - cash
    if give == NO_LOT:
        return left > params[AT.floor]
    return left >= (params[AT.floor] if params[AT.guarded] and cash > 0 else 0)


@kernel
def _accepts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    received, given = int(game.offer_give), int(game.offer_ask)
    cash = int(game.offer_cash)
    left = int(game.cash[seat]) + cash
    if cash <= 0 and received == 0:
        return False
    if (received | given) & board.ALL_LOTS & int(game.mortgaged) or left < 0:
        return False
    if params[AT.refuses_utilities] and received & _UTILITY_LOTS:
        return False
    gain = _groups_gained(int(game.lots[seat]), received, given)
    if gain < 0:
        return False
    worth = _list_worth(game, received) - _list_worth(game, given) + cash
    if params[AT.guarded] and not _passes_guard(game, gain, worth, left, params):
        return False
    if gain > 0:
        return True
    return left >= params[AT.salary] or (left >= params[AT.floor] and worth > 0)


@kernel
def _passes_guard(game: Game, gain: int, worth: int, left: int, params: Row) -> bool:
    """Whether an offer passes the additional tests of a guarded policy."""
    if left < params[AT.floor]:
        return False
    if gain > 0:
        return True
    given, theirs = int(game.offer_ask), int(game.lots[game.offer_from])
    completed = _groups_gained(theirs, given, int(game.offer_give))
    return worth >= 0 and completed <= 0 and given & _wanted(params) == 0


@kernel
def _groups_gained(lots: int, received: int, given: int) -> int:
    """How many more complete groups the owner of some lots has after an exchange of goods."""
    after = lots & ~given | received & board.ALL_LOTS
    return groups.count_complete(after) - groups.count_complete(lots)


@kernel
def _list_worth(game: Game, goods: int) -> int:
    """Printed prices of lots; a jail card counts as the fine."""
    cards = int(game.rules.jail_fine) * size(goods & ~board.ALL_LOTS)
    return cards + reading.total_price(game, goods & board.ALL_LOTS)


@kernel
def _lifts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    return habits.lifts_at_once(game, params[AT.salary], params[AT.salary])


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    if game.decision == agenda.PLACE:
        street = _building(game, reading.buildable(game), params)
        if street != NO_LOT:
            return A_BUILD + street
    return decide(game, params, memory, _window, _buy, _bid, _leaves, _accepts, _debt, _lifts)


_TASTES: Final[dict[str, dict[str, bool | int]]] = {
    "fp/a": {},
    "fp/b": {"wants_dark_blue": True, "wants_railroads": True, "refuses_utilities": True},
    "fp/c": {
        "wants_light_blue": True, "wants_orange": True, "wants_railroads": True,
        "wants_groups": True, "most_houses": 3,
    },
}  # fmt: skip
_GUARDED: Final = {f"{name}/guarded": taste | {"guarded": True} for name, taste in _TASTES.items()}
POLICIES: Final = named(_play, FixedPolicy, _TASTES | _GUARDED)
