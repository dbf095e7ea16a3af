"""`fp/a`, `fp/b`, `fp/c`: the fixed policies of Bonjour et al. (IEEE TETCI 2022), decision by decision as their programs play.

A has no preferences, B wants railroads and the dark blue streets and refuses utilities, C wants railroads, orange and light blue
and builds three houses at most. All keep a GO salary when buying, build without a reserve, and trade for complete groups.

Their rule for accepting an offer has a hole: with a salary in cash anything is accepted that loses no group, so that one dollar
buys a deed. It is played as published unless `guarded`. Guarded, a policy demands at equal groups at least the list price of what
it gives, keeps half a salary in cash in every trade, and gives neither a deed that completes a group of the partner nor one that
it wants itself unless the trade brings it a group; so it makes no plain sales either. By the published rule a deed that two of them
want goes to and fro between them, often dozens of times in a game of several C; guarded, it does not. A refused offer is made again
in the next turn, as published.

Their program knows other rules; each decision is mapped to the nearest legal one:

- Players act between the turns: they build and lift mortgages before another's throw, and the player on turn makes his offers
  before his own. Where the rules open windows in the own turn only, offers come before the throw, building after the last one.
- The bank buys no deeds here: a debtor mortgages where they sell, and strips buildings where they strip them.
- Bids and prices are whole dollars, bids go up by the raises there are; a sealed bid is the amount at which they would stop. They
  know no auction of scarce buildings: here the list price is bid for one that they would build.
- Offers go to one player after the other, not to all at once, and each player gets one in a turn. Groups gained and lost are
  counted as they stand after the whole exchange; a jail card, which they do not trade, counts as much as the fine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.players.vocabulary.habits import answer_jail, bid_up_to, leave_jail, routine, spare_lots, take_over
from agents.players.vocabulary.offers import begin_offer, compose
from agents.players.vocabulary.parameters import COUNT, DOLLARS, RATIO, SHARE, Parameters, family, parameter, switch
from agents.players.vocabulary.reading import (
    NO_LOT,
    amount_due,
    asked_lot,
    cheapest,
    completes,
    in_whole_groups,
    legal,
    may_offer_to,
    price,
)
from monopoly_env.actions import A_BID, A_BUILD, A_BUY, A_JAIL, A_MORTGAGE, A_REPLY, A_SELL, A_TRADE, A_TURN, A_UNMORTGAGE, RAISES
from monopoly_env.board import (
    ALL_LOTS,
    EDITIONS,
    GROUP_LOTS,
    GROUPS,
    HOUSE_PRICE,
    LOT_NAME,
    MORTGAGE,
    NUM_LOTS,
    NUM_STREETS,
    RAILROADS,
    RENT,
    UTILITIES,
)
from monopoly_env.engine import agenda
from monopoly_env.engine.building import COLOURS, HOUSE_LOT, building_cost, next_level, placeable
from monopoly_env.engine.mortgage import lifting_cost
from monopoly_env.engine.players import mortgage_values
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.engine.trade import tradable
from monopoly_env.engine.turn import AFTER_SETTLEMENT
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel
from monopoly_env.rules import number


@dataclass(frozen=True)
class FixedPolicy(Parameters):
    """What the policies go by, with the reason for each value; the defaults are those of `fp/a`."""

    salary: float = parameter(
        200, 0, 2000, DOLLARS, "kept when buying and lifting mortgages; needed to leave jail and to ask for deeds: one pass of GO"
    )
    floor: float = parameter(100, 0, 2000, DOLLARS, "kept in a trade that brings no group: half a pass of GO")
    markup: float = parameter(1.5, 0, 10, RATIO, "asked for a deed that completes the buyer's group, in list prices: he gains more by it")
    purse: float = parameter(0.5, 0, 1, SHARE, "of the buyer's cash, asked for such a deed if that is more: what he can still pay")
    discount: float = parameter(0.75, 0, 10, RATIO, "paid for a deed, in list prices, where the owner gets a group as well")
    premium: float = parameter(1.5, 0, 10, RATIO, "times the discount, paid where the owner gets cash alone: above the list price")
    bid_step: float = parameter(0.5, 0, 1, SHARE, "of the way to the list price that a bid goes: it may win below the price")
    completing_step: float = parameter(0.25, 0, 1, SHARE, "of the cash left, put on a bid above list for the last deed of a group")
    wanted_step: float = parameter(1 / 6, 0, 1, SHARE, "of the cash left, put on each bid for a wanted deed, without a limit")
    most_houses: float = parameter(5, 0, 5, COUNT, "houses up to which it builds, 5 is the hotel; the third house brings most a dollar")
    wants_light_blue: bool = switch(False, "buy, bid for and request these streets as wanted deeds")
    wants_orange: bool = switch(False, "buy, bid for and request these streets as wanted deeds")
    wants_dark_blue: bool = switch(False, "buy, bid for and request these streets as wanted deeds")
    wants_railroads: bool = switch(False, "buy, bid for and request railroads as wanted deeds")
    wants_groups: bool = switch(False, "request wanted deeds while a wanted colour group is incomplete, not only while owning a railroad")
    refuses_utilities: bool = switch(False, "neither buy utilities nor bid for them nor accept an offer of one")
    aggressive: bool = switch(False, "prices of an earlier version: asks a rich buyer for more, pays a rich owner less than list")
    guarded: bool = switch(False, "close the hole in the rule of accepting offers, see the module's first lines")


(
    _SALARY, _FLOOR, _MARKUP, _PURSE, _DISCOUNT, _PREMIUM, _BID_STEP, _COMPLETING_STEP, _WANTED_STEP, _MOST_HOUSES,
    _LIGHT_BLUE, _, _, _, _WANTS_GROUPS, _NO_UTILITIES, _AGGRESSIVE, _GUARDED,
) = range(18)  # fmt: skip

_BATCH, _ASKED = range(2)  # its memory: the turn of the last offers (counted from 1), the partners that got one in it, a bit each
# The lots of the groups that may be wanted, in the order of their parameters.
_FAVOURITES: Final = tuple(int(GROUP_LOTS[GROUPS.index(name)]) for name in ("light_blue", "orange", "dark_blue", "railroad"))
_UTILITY_LOTS: Final = int(GROUP_LOTS[UTILITIES])
_RAILROAD_LOTS: Final = int(GROUP_LOTS[RAILROADS])
_PURSES: Final = (0.7, 0.6)  # of a buyer's cash, asked by the aggressive version where the rest is more than a salary
# [edition, place] -> lot: mortgages are lifted in alphabetical order
_ALPHABET: Final = np.array([sorted(range(NUM_LOTS), key=LOT_NAME[edition].__getitem__) for edition in range(len(EDITIONS))])
_ANY_PRICE: Final = 1 << 30  # dollars
_OFFICIAL = number("trade", "official")
_ONE_FOR_ONE = number("trade", "one_for_one")


@kernel
def _wanted(params: Row) -> int:
    """The wanted deeds, a bit each."""
    lots = 0
    for i in range(len(_FAVOURITES)):
        if params[_LIGHT_BLUE + i]:
            lots |= _FAVOURITES[i]
    return lots


# --- lots for sale ------------------------------------------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row) -> int:
    lot, cash = asked_lot(game), int(game.cash[seat])
    cost, needed = price(game, lot), completes(game, seat, lot)
    if params[_NO_UTILITIES] and has(_UTILITY_LOTS, lot):
        return A_BUY
    if legal(game, A_BUY + 1, 1):
        return A_BUY + 1 if needed or has(_wanted(params), lot) or cash - cost >= params[_SALARY] else A_BUY
    if needed:  # one deed must bring the whole price: they hardly ever find one
        lots = legal(game, A_MORTGAGE, NUM_LOTS)
        while lots:
            other = cheapest(game, lots)
            if int(MORTGAGE[game.rules.board, other]) >= cost:
                return A_MORTGAGE + other
            lots &= ~(1 << other)
    return A_BUY


@kernel
def _bid(game: Game, seat: int, params: Row) -> int:
    """Each bid goes a share of the way to the list price, or takes a share of the cash that is left."""
    bid, cash, lot = int(game.auction_bid), int(game.cash[seat]), int(game.auction_lot)
    if game.decision == agenda.SEALED_BID or lot >= HOUSE_LOT:
        return bid_up_to(game, _highest_bid(game, seat, lot, params), 1.0)
    if params[_NO_UTILITIES] and has(_UTILITY_LOTS, lot):
        return A_BID
    if has(_wanted(params), lot):
        return _raise(game, params[_WANTED_STEP] * (cash - bid), cash - bid)
    room = price(game, lot) - bid
    if room > 0:
        step = params[_BID_STEP] * room
        return _raise(game, step, min(room, cash - bid)) if bid + step < cash else A_BID
    if completes(game, seat, lot):
        return _raise(game, params[_COMPLETING_STEP] * (cash - bid), cash - bid)
    return A_BID


@kernel
def _highest_bid(game: Game, seat: int, lot: int, params: Row) -> float:
    """The amount at which they would stop: the list price, or all cash for what they want."""
    cash = float(game.cash[seat])
    if lot >= HOUSE_LOT:
        street = _building(game, placeable(game, seat, lot, _ANY_PRICE), params)
        return 0.0 if street == NO_LOT else min(cash, float(building_cost(game, street)))
    if params[_NO_UTILITIES] and has(_UTILITY_LOTS, lot):
        return 0.0
    if has(_wanted(params), lot) or completes(game, seat, lot):
        return cash
    return min(cash, float(price(game, lot)))


@kernel
def _raise(game: Game, step: float, room: int) -> int:
    """The largest raise within a step, else the smallest within the room; fold if there is none."""
    for i in range(len(RAISES) - 1, -1, -1):
        if RAISES[i] <= step and RAISES[i] <= room and legal(game, A_BID + 1 + i, 1):
            return A_BID + 1 + i
    for i in range(len(RAISES)):
        if RAISES[i] <= room and legal(game, A_BID + 1 + i, 1):
            return A_BID + 1 + i
    return A_BID


# --- windows and debts --------------------------------------------------------------------------------------------------


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    when = int(game.agenda[game.depth - 1, 2])
    if legal(game, A_JAIL, 2) and game.cash[seat] >= params[_SALARY]:
        return leave_jail(game)
    only_window = game.rules.build_window == AFTER_SETTLEMENT
    if when == agenda.BEFORE_THROW or only_window:
        action = _propose(game, seat, params, memory)
        if action != A_TURN:
            return action
    if when == agenda.BEFORE_THROW:
        return A_TURN
    streets = legal(game, A_BUILD, NUM_STREETS)
    if streets:
        street = _building(game, streets, params)
        if street != NO_LOT:
            return A_BUILD + street
    return _lift(game, seat, params)


@kernel
def _building(game: Game, streets: int, params: Row) -> int:
    """The street where the rent added less the price of a house is highest, or NO_LOT; no cash is kept."""
    best, most = NO_LOT, 0
    board = int(game.rules.board)
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        level, following = int(game.level[street]), next_level(game, street)
        if following > params[_MOST_HOUSES]:
            continue
        now = int(RENT[board, street, level]) * (2 if level == 0 else 1)  # a complete group doubles the base rent
        gain = int(RENT[board, street, following]) - now - int(HOUSE_PRICE[board, street])
        if best == NO_LOT or gain > most:
            best, most = street, gain
    return best


@kernel
def _lift(game: Game, seat: int, params: Row) -> int:
    """Lift the first mortgage in alphabetical order that leaves a salary."""
    lots = legal(game, A_UNMORTGAGE, NUM_LOTS)
    if lots and game.cash[seat] > params[_SALARY]:
        for place in range(NUM_LOTS):
            lot = int(_ALPHABET[game.rules.board, place])
            if has(lots, lot) and int(game.cash[seat]) - lifting_cost(game, lot) >= params[_SALARY]:
                return A_UNMORTGAGE + lot
    return A_TURN


@kernel
def _debt(game: Game, seat: int) -> int:
    """Mortgage the cheapest if mortgages suffice; else first what belongs to no group, then strip the groups of cheap deeds."""
    lots = legal(game, A_MORTGAGE, NUM_LOTS)
    singles = spare_lots(game, seat)
    if lots and int(game.cash[seat]) + mortgage_values(game, lots) >= amount_due(game):
        return A_MORTGAGE + cheapest(game, lots)
    if singles:
        return A_MORTGAGE + cheapest(game, singles)
    streets = legal(game, A_SELL, NUM_STREETS)
    if lots | streets == 0:
        return A_TURN
    lot = cheapest(game, lots | streets)
    return A_SELL + lot if has(streets, lot) else A_MORTGAGE + lot


# --- offers -------------------------------------------------------------------------------------------------------------


@kernel
def _propose(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Begin the next offer of this turn, or go on: one to each player, before the throw."""
    if legal(game, A_TRADE, 7) == 0:
        return A_TURN
    if memory[_BATCH] != game.turns + 1:
        memory[_BATCH] = game.turns + 1
        memory[_ASKED] = 0
    asked = int(memory[_ASKED])
    if asked == -1:
        return A_TURN
    sells, requests, exchanges = _kinds_of_offer(game, seat, params)
    for offset in range(1, int(game.num_players)):
        partner = (seat + offset) % int(game.num_players)
        if has(asked, partner) or not may_offer_to(game, seat, partner):
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
            memory[_ASKED] = asked | 1 << partner
            cash = 0 if game.rules.trade == _ONE_FOR_ONE else cash
            return begin_offer(game, partner, 0 if ask == NO_LOT else 1 << ask, 0 if give == NO_LOT else 1 << give, cash, memory)
    memory[_ASKED] = -1
    return A_TURN


@kernel
def _kinds_of_offer(game: Game, seat: int, params: Row) -> tuple[bool, bool, bool]:
    """Whether there is a deed to sell, one to request, and a player with whom both can be exchanged."""
    sells, requests, exchanges = False, False, False
    for partner in range(game.num_players):
        if partner != seat and game.place[partner] == 0:
            ask = _request(game, seat, partner, params)
            sells = sells or _sale(game, seat, partner, NO_LOT, params) != NO_LOT
            requests = requests or ask != NO_LOT
            exchanges = exchanges or (ask != NO_LOT and _sale(game, seat, partner, ask, params) != NO_LOT)
    return sells, requests, exchanges


@kernel
def _sale(game: Game, seat: int, partner: int, ask: int, params: Row) -> int:
    """The seat's only deed of a colour of which the partner has the rest and can pay the last, the dearest of these; or NO_LOT."""
    if params[_GUARDED] and (ask == NO_LOT or not completes(game, seat, ask)):
        return NO_LOT
    mine, theirs = tradable(game, seat) & ~int(game.mortgaged), int(game.lots[partner])
    best, most = NO_LOT, 0
    for group in range(COLOURS):
        members = int(GROUP_LOTS[group])
        missing = members & ~theirs
        if size(missing) != 1 or missing & mine == 0 or (ask != NO_LOT and has(members, ask)):
            continue
        lot = lowest(missing)
        affordable = game.rules.trade == _ONE_FOR_ONE or params[_MARKUP] * price(game, lot) <= game.cash[partner]
        if affordable and price(game, lot) > most:
            best, most = lot, price(game, lot)
    return best


@kernel
def _request(game: Game, seat: int, partner: int, params: Row) -> int:
    """The partner's only deed of a colour of which this seat has the rest, or a wanted deed, the cheapest of these; or NO_LOT."""
    cash = int(game.cash[seat])
    if cash < params[_SALARY]:
        return NO_LOT
    mine, lots = int(game.lots[seat]), 0
    theirs = tradable(game, partner) & ALL_LOTS & ~int(game.mortgaged)
    for group in range(COLOURS):
        missing = int(GROUP_LOTS[group]) & ~mine
        if size(missing) == 1:
            lots |= missing & theirs
    if _requests_wanted(mine, params):
        lots |= _wanted(params) & theirs & ~in_whole_groups(int(game.lots[partner]))
    if lots == 0:
        return NO_LOT
    lot = cheapest(game, lots)
    return lot if params[_DISCOUNT] * price(game, lot) <= cash else NO_LOT


@kernel
def _requests_wanted(mine: int, params: Row) -> bool:
    """Whether wanted deeds are requested also where they complete nothing."""
    wanted = _wanted(params)
    if wanted == 0:
        return False
    streets = wanted & ~_RAILROAD_LOTS
    return mine & _RAILROAD_LOTS != 0 or (params[_WANTS_GROUPS] != 0 and mine & streets != streets)


@kernel
def _cash(game: Game, seat: int, partner: int, ask: int, give: int, params: Row) -> int:
    """Dollars that go with an offer; negative: asked for."""
    purse = float(game.cash[partner])
    paid, asked = 0.0, 0.0
    if ask != NO_LOT:
        paid = params[_DISCOUNT] * price(game, ask)
        if give == NO_LOT and not (params[_AGGRESSIVE] and purse >= params[_SALARY]):
            paid *= params[_PREMIUM]
    if give != NO_LOT:
        asked = max(params[_MARKUP] * price(game, give), params[_PURSE] * purse)
        if params[_AGGRESSIVE]:
            for share in _PURSES:
                if asked < share * purse and (1 - share) * purse > params[_SALARY]:
                    asked = share * purse
                    break
    return int(paid - asked)


@kernel
def _is_possible(game: Game, seat: int, ask: int, give: int, cash: int, params: Row) -> bool:
    """Whether the rules and the purse allow an offer: a request alone must leave more than half a salary."""
    if game.rules.trade != _OFFICIAL and (ask == NO_LOT or give == NO_LOT):
        return False
    if give == NO_LOT:
        return int(game.cash[seat]) - cash > params[_FLOOR]
    return int(game.cash[seat]) - cash >= (params[_FLOOR] if params[_GUARDED] and cash > 0 else 0)


@kernel
def _reply(game: Game, seat: int, params: Row) -> int:
    received, given = int(game.offer_give), int(game.offer_ask)
    cash = int(game.offer_cash)
    left = int(game.cash[seat]) + cash
    if cash <= 0 and received == 0:
        return A_REPLY
    if (received | given) & ALL_LOTS & int(game.mortgaged) or left < 0:
        return A_REPLY
    if params[_NO_UTILITIES] and received & _UTILITY_LOTS:
        return A_REPLY
    lots = int(game.lots[seat])
    gain = _groups(lots & ~given | received & ALL_LOTS) - _groups(lots)
    if gain < 0:
        return A_REPLY
    worth = _list_worth(game, received) - _list_worth(game, given) + cash
    if params[_GUARDED] and not _passes_guard(game, gain, worth, left, params):
        return A_REPLY
    if gain > 0:
        return A_REPLY + 1
    return A_REPLY + 1 if left >= params[_SALARY] or (left >= params[_FLOOR] and worth > 0) else A_REPLY


@kernel
def _passes_guard(game: Game, gain: int, worth: int, left: int, params: Row) -> bool:
    """Whether an offer passes the additional tests of a guarded policy."""
    if left < params[_FLOOR]:
        return False
    if gain > 0:
        return True
    given = int(game.offer_ask) & ALL_LOTS
    theirs = int(game.lots[game.offer_from])
    completed = _groups(theirs & ~int(game.offer_give) | given) - _groups(theirs)
    return worth >= 0 and completed <= 0 and given & _wanted(params) == 0


@kernel
def _groups(lots: int) -> int:
    """How many complete groups lie in a set of lots, railroads and utilities included."""
    count = 0
    for group in range(len(GROUP_LOTS)):
        members = int(GROUP_LOTS[group])
        if lots & members == members:
            count += 1
    return count


@kernel
def _list_worth(game: Game, goods: int) -> int:
    """Printed prices of lots; a jail card counts as the fine."""
    worth = int(game.rules.jail_fine) * size(goods & ~ALL_LOTS)
    lots = goods & ALL_LOTS
    while lots:
        worth += price(game, lowest(lots))
        lots &= lots - 1
    return worth


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW:
        return _window(game, seat, params, memory)
    if decision == agenda.BUY:
        return _buy(game, seat, params)
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return _bid(game, seat, params)
    if decision == agenda.JAIL:
        return answer_jail(game, game.cash[seat] >= params[_SALARY])
    if agenda.ASK <= decision <= agenda.CASH:
        return compose(game, memory)
    if decision == agenda.REPLY:
        return _reply(game, seat, params)
    if decision == agenda.DEBT:
        return _debt(game, seat)
    if decision == agenda.TAKEOVER:
        return take_over(game, params[_SALARY], params[_SALARY])
    if decision == agenda.PLACE:
        street = _building(game, legal(game, A_BUILD, NUM_STREETS), params)
        if street != NO_LOT:
            return A_BUILD + street
    return routine(game)


_TASTES: Final[dict[str, dict[str, bool | int]]] = {
    "fp/a": {},
    "fp/b": {"wants_dark_blue": True, "wants_railroads": True, "refuses_utilities": True},
    "fp/c": {"wants_light_blue": True, "wants_orange": True, "wants_railroads": True, "wants_groups": True, "most_houses": 3},
}
POLICIES: Final = {name: family(name, _play, FixedPolicy, **taste) for name, taste in _TASTES.items()} | {
    f"{name}/guarded": family(f"{name}/guarded", _play, FixedPolicy, guarded=True, **taste) for name, taste in _TASTES.items()
}
