"""`landlord/*`: four temperaments of a player that keeps a reserve and prices groups by rent.

It buys and builds while a reserve is left, which grows with the worst rent that could fall due. It
pays more for a lot that completes or blocks a group, and trades where both sides gain. The numbers
are those of landlord-sim's profiles; the others are marked "ours".

- *Reserve* R: a base and a share of the worst rent that could fall due. It buys, builds and lifts
  mortgages as long as R is left.
- *Weight* w of a lot for sale: 1 for a plain lot; more for a railroad or utility, for a lot that an
  opponent needs, and for one after which a single street of its group is missing; most for one that
  completes a group. The higher the weight, the less cash it must leave and the more is bid.
- *Worth* of a seat's part of a group: list prices, and base rents over some turns of the opponents.
  A complete group counts the rents of three houses minus half their cost, as far as there is cash
  for them.
- *Score* of a trade: the gain in worth minus a share of the partner's gain. The policy asks for the
  streets that a group lacks, all from one owner, for cash or for the streets that complete a group
  of that owner. The price is the middle of the range of agreement. It answers offers by the same
  score and never makes a counter-offer.

It asks only for streets that complete a group. The owner of a complete group lacks nothing of it,
so lots do not go around in circles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.players.vocabulary import groups, habits, offers, reading
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.parameters import Parameters, named, parameter, switch
from agents.players.vocabulary.reading import NO_LOT, asked_lot, price
from agents.players.vocabulary.skeleton import decide
from monopoly_env.actions import A_BUY, A_MORTGAGE, A_TURN
from monopoly_env.engine import building, players, rent, trade
from monopoly_env.engine.sets import each, lowest, size
from monopoly_env.facts import board
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel


@dataclass(frozen=True)
class Landlord(Parameters):
    """Parameters of the policy; the defaults are those of `landlord/balanced`."""

    reserve: float = parameter(200, 0, 5000, "dollars")
    """base of the reserve R: one pass of GO"""
    worst: float = parameter(0.5, 0, 5, "share")
    """share of the worst rent that R includes: that rent is rare, and lots can be mortgaged"""
    bid: float = parameter(1.1, 0, 10, "ratio")
    """highest bid for a lot of weight 1, in list prices"""
    unwanted: float = parameter(0.8, 0, 10, "ratio")
    """highest bid for a lot that is not wanted, in list prices: it can be mortgaged for half"""
    utilities: bool = switch(True)
    """utilities are wanted; otherwise they are left to auctions"""
    kept: float = parameter(0.5, 0, 5, "share")
    """share of R that is left when bidding and trading: such chances do not come again"""
    rails: float = parameter(1.2, 0.1, 10, "ratio")
    """weight of a railroad or utility: it earns at once, without houses"""
    blocks: float = parameter(1.5, 0.1, 10, "ratio")
    """weight of a lot that an opponent needs for a group"""
    nears: float = parameter(1.7, 0.1, 10, "ratio")
    """weight of a street after which its group of three lacks one: a trade may bring it"""
    completes: float = parameter(2, 0.1, 10, "ratio")
    """weight of a lot that completes a group"""
    jail: float = parameter(0.25, 0, 1e9, "share")
    """leaves jail while the worst rent is below this share of its cash; at 0 it stays, at a huge
    value it leaves"""
    target: float = parameter(5, 0, board.HOTEL, "count")
    """level of a street up to which building leaves R (ours; 5 is a hotel)"""
    past_target: float = parameter(2, 0, 10, "ratio")
    """reserves that building leaves beyond the target"""
    lifts: float = parameter(1.5, 0, 10, "ratio")
    """reserves that lifting a mortgage leaves: an unused lot earns less than a house"""
    leverage: bool = switch(True)
    """mortgage lots for lots of high weight and for houses"""
    heavy: float = parameter(1.5, 0, 10, "ratio")
    """least weight of a lot for sale for which other lots are mortgaged"""
    dearer: float = parameter(1.5, 0.1, 100, "ratio")
    """how many times more a dollar in a house must earn than a dollar of mortgages loses"""
    horizon: float = parameter(25, 0, 500, "rounds")
    """turns of each opponent whose rents count: most of a game is decided by then"""
    squares: float = parameter(1.2, 0, 10, "ratio")
    """squares that a player lands on in one turn, doubles included"""
    houses: int = parameter(3, 1, 4, "count")
    """houses on each street that the worth of a complete group assumes: the third pays best"""
    houses_cost: float = parameter(0.5, 0, 1, "share")
    """of the price of these houses, set against their rents: a sale returns half"""
    funded: float = parameter(0.2, 0, 1, "share")
    """of the worth of these houses that counts at least, however little cash there is for them"""
    margin: float = parameter(50, 0, 5000, "dollars")
    """least score of a good trade"""
    rival: float = parameter(0.5, 0, 5, "share")
    """weight of all opponents' gains together: at 1, trades of two would be zero-sum games"""
    offers: float = parameter(3, 0, 10, "count")
    """offers in one turn: any further ones would be worse"""
    pause: float = parameter(4, 0, 1000, "rounds")
    """between two offers about a group: the answer would be the same"""
    scarce: float = parameter(1.5, 0, 10, "ratio")
    """highest bid for a scarce building, in list prices (ours)"""


AT: Final = Landlord.columns()

SLOT: Final = memory_slots(
    "nothing_found",  # the turn in which it found nothing to offer
    next_offer=board.RAILROADS,  # for each colour, the first turn of another offer about it
)
_NO_DEAL: Final = 1 << 30
_ROUND_TO: Final = 10  # dollars


@kernel
def _reserve(game: Game, seat: int, params: Row) -> float:
    """R, in dollars."""
    return params[AT.reserve] + params[AT.worst] * reading.worst_rent(game, seat)


# --- lots for sale --------------------------------------------------------------------------------


@kernel
def _wanted(lot: int, params: Row) -> bool:
    return board.GROUP_OF[lot] != board.UTILITIES or params[AT.utilities] != 0


@kernel
def _weight(game: Game, seat: int, lot: int, params: Row) -> float:
    """The weight of a lot for sale, 1 for a plain one."""
    if groups.completes(game, seat, lot):
        return params[AT.completes]
    group = board.GROUP_OF[lot]
    owned = int(game.lots[seat]) & board.GROUP_LOTS[group]
    if group < board.RAILROADS and board.GROUP_SIZE[group] == 3 and owned:
        return params[AT.nears]
    if groups.blocks(game, seat, lot):
        return params[AT.blocks]
    return params[AT.rails] if group >= board.RAILROADS else 1.0


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot = asked_lot(game)
    if not _wanted(lot, params):
        return A_BUY
    weight = _weight(game, seat, lot, params)
    missing = price(game, lot) + _reserve(game, seat, params) / weight - int(game.cash[seat])
    if missing <= 0:
        return A_BUY + 1
    if params[AT.leverage] and weight >= params[AT.heavy]:
        spare = habits.spare_lots(game, seat) & ~board.GROUP_LOTS[board.GROUP_OF[lot]]
        if spare and players.mortgage_values(game, spare) >= missing:
            return A_MORTGAGE + habits.least_wanted(game, seat, spare)
    return A_BUY


@kernel
def _bid(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Bid up to list price times weight, while a part of the reserve is kept."""
    lot, reserve = int(game.auction_lot), _reserve(game, seat, params)
    cash = int(game.cash[seat])
    if lot >= building.HOUSE_LOT:
        dearest = params[AT.scarce] * groups.dearest_house(game, seat)
        return habits.bid(game, min(dearest, cash - reserve))
    times = params[AT.unwanted]
    if _wanted(lot, params):
        times = params[AT.bid] * _weight(game, seat, lot, params)
    return habits.bid(game, min(times * price(game, lot), cash - params[AT.kept] * reserve))


# --- windows of the turn, jail --------------------------------------------------------------------


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    if groups.complete(int(game.lots[seat])) & groups.STREETS:
        action = _build(game, seat, _reserve(game, seat, params), params)
        if action != A_TURN:
            return action
    # A mortgage that paid for a house stays.
    mortgaged = reading.liftable(game) & ~int(game.fresh_mortgages)
    if mortgaged:
        kept = params[AT.lifts] * _reserve(game, seat, params)
        action = habits.lift(game, seat, mortgaged, kept, kept)
        if action != A_TURN:
            return action
    searches = memory[SLOT.nothing_found] != game.turns and game.offers[seat] < params[AT.offers]
    if searches and reading.may_trade(game):
        return _offer(game, seat, params, memory)
    return A_TURN


@kernel
def _leaves(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Leave by a card, or by a fine that leaves the reserve, while rents are low."""
    worst = reading.worst_rent(game, seat)
    if worst >= params[AT.jail] * max(1, int(game.cash[seat])):
        return False
    reserve = params[AT.reserve] + params[AT.worst] * worst
    return reading.has_card(game) or int(game.cash[seat]) - int(game.rules.jail_fine) >= reserve


@kernel
def _below(game: Game, streets: int, level: float) -> int:
    """The streets of a set that are below a level."""
    found = 0
    for street in each(streets):
        if game.level[street] < level:
            found |= 1 << street
    return found


@kernel
def _build(game: Game, seat: int, reserve: float, params: Row) -> int:
    """The next building that leaves the reserve, or a mortgage to pay for one; else A_TURN."""
    streets = reading.buildable(game)
    if streets:
        cash = int(game.cash[seat])
        low = _below(game, streets, params[AT.target])
        action = habits.build_best(game, low, cash - reserve)
        if action == A_TURN:
            action = habits.build_best(game, streets, cash - params[AT.past_target] * reserve)
        if action != A_TURN:
            return action
    lot = _mortgage_for_house(game, seat, reserve, params) if params[AT.leverage] else NO_LOT
    return A_TURN if lot == NO_LOT else A_MORTGAGE + lot


@kernel
def _mortgage_for_house(game: Game, seat: int, reserve: float, params: Row) -> int:
    """The lot to mortgage for the best building, if lots that earn much less pay it; or NO_LOT."""
    spare = habits.spare_lots(game, seat)
    if spare == 0:
        return NO_LOT
    low = _below(game, building.improvable(game, seat), params[AT.target])
    street = habits.best_building(game, low, np.inf)
    if street == NO_LOT or building.in_bank(game, building.piece_for(game, street)) == 0:
        return NO_LOT
    missing = building.building_cost(game, street) + reserve - int(game.cash[seat])
    worth, best, least = 0, NO_LOT, habits.rent_gain(game, street) / params[AT.dearer]
    limit = least
    for lot in each(spare):
        value = board.MORTGAGE[game.rules.board, lot]
        lost = rent.ordinary_rent(game, seat, lot, reading.AVERAGE_THROW) / value
        if lost < limit:
            worth += value
        if lost < least:
            best, least = lot, lost
    return best if 0 < missing <= worth else NO_LOT


# --- the worth of trades --------------------------------------------------------------------------


@kernel
def _landings(game: Game, params: Row) -> float:
    """Expected landings of opponents on one square within the horizon."""
    opponents = size(players.solvent_seats(game)) - 1
    return opponents * params[AT.squares] * params[AT.horizon] / board.NUM_SQUARES


@kernel
def _rents(game: Game, lots: int, group: int, level: int) -> int:
    """The rents of one seat's lots in a group: streets at a level, utilities at a throw of 7."""
    edition, count, total = int(game.rules.board), size(lots), 0
    if group == board.RAILROADS:
        return count * board.RENT[edition, lowest(lots), count - 1]
    if group == board.UTILITIES:
        return count * board.RENT[edition, lowest(lots), count - 1] * reading.AVERAGE_THROW
    for lot in each(lots):
        total += board.RENT[edition, lot, level]
    return total


@kernel
def _worth(game: Game, lots: int, group: int, cash: int, landings: float, params: Row) -> float:
    """The worth of a group's lots to a seat that owns `lots` and this much cash (dollars)."""
    mine = lots & board.GROUP_LOTS[group]
    if mine == 0:
        return 0.0
    worth = float(reading.total_price(game, mine) - reading.lifting_costs(game, mine))
    if group >= board.RAILROADS or mine != board.GROUP_LOTS[group]:
        return worth + _rents(game, mine, group, 0) * landings
    houses = int(params[AT.houses])
    house = board.HOUSE_PRICE[game.rules.board, board.GROUP_START[group]]
    cost = float(houses * house * board.GROUP_SIZE[group])
    funded = min(1.0, max(params[AT.funded], cash / cost))
    earned = _rents(game, mine, group, houses) * landings - params[AT.houses_cost] * cost
    return worth + funded * max(0.0, earned)


@kernel
def worth_gained(game: Game, seat: int, received: int, given: int, params: Row) -> float:
    """The rise of a seat's worth by an exchange, in dollars; a jail card counts as a fine."""
    cards = size(received & ~board.ALL_LOTS) - size(given & ~board.ALL_LOTS)
    gain = float(cards * int(game.rules.jail_fine))
    now, cash, landings = int(game.lots[seat]), int(game.cash[seat]), _landings(game, params)
    then = (now & ~given) | (received & board.ALL_LOTS)
    for group in range(len(board.GROUP_LOTS)):
        if (received | given) & board.GROUP_LOTS[group]:
            before = _worth(game, now, group, cash, landings, params)
            gain += _worth(game, then, group, cash, landings, params) - before
    return gain


@kernel
def _share(game: Game, params: Row) -> float:
    """The weight of one opponent's gain."""
    return params[AT.rival] / max(1, size(players.solvent_seats(game)) - 1)


@kernel
def _fair_cash(game: Game, seat: int, partner: int, mine: float, theirs: float, params: Row) -> int:
    """The price with these gains: the middle of the range of agreement; or _NO_DEAL."""
    share, margin = _share(game, params), params[AT.margin]
    most = min(
        (mine - share * theirs - margin) / (1 + share),
        max(0.0, int(game.cash[seat]) - params[AT.kept] * _reserve(game, seat, params)),
    )
    least = (margin + share * mine - theirs) / (1 + share)
    if least > most:
        return _NO_DEAL
    spare = int(game.cash[partner]) - params[AT.kept] * _reserve(game, partner, params)
    least = max(least, -max(0.0, spare))
    high = int(np.floor(most / _ROUND_TO)) * _ROUND_TO
    low = int(np.ceil(least / _ROUND_TO)) * _ROUND_TO
    if low > high:
        return _NO_DEAL
    if game.rules.trade == offers.ONE_FOR_ONE:
        return 0 if low <= 0 <= high else _NO_DEAL
    return min(high, max(low, int(np.round((mine - theirs) / 2 / _ROUND_TO)) * _ROUND_TO))


# --- offers ---------------------------------------------------------------------------------------


@kernel
def _offer(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Begin the offer of the highest score, or go on."""
    mine, best = trade.tradable(game, seat), 0.0
    partner, ask, give, cash, about = -1, 0, 0, 0, 0
    for group in range(board.RAILROADS):
        missing = _lacks(game, seat, group)
        if missing == 0 or game.turns < memory[SLOT.next_offer + group]:
            continue
        owner = players.owner_of(game, lowest(missing))
        if owner < 0 or not offers.may_offer_to(game, seat, owner):
            continue
        if missing & ~trade.tradable(game, owner):
            continue
        for other in range(board.RAILROADS):  # the group itself stands for an offer of cash alone
            swap = 0 if other == group else _lacks(game, owner, other)
            single = size(missing) == 1 and size(swap) == 1
            allowed = game.rules.trade == offers.OFFICIAL or single
            if (other != group and swap == 0) or swap & ~mine or not allowed:
                continue
            gain = worth_gained(game, seat, missing, swap, params)
            theirs = worth_gained(game, owner, swap, missing, params)
            dollars = _fair_cash(game, seat, owner, gain, theirs, params)
            score = gain - dollars - _share(game, params) * (theirs + dollars)
            if dollars != _NO_DEAL and (partner < 0 or score > best):
                best, partner, ask, give, cash, about = score, owner, missing, swap, dollars, group
    if partner < 0:
        memory[SLOT.nothing_found] = game.turns
        return A_TURN
    memory[SLOT.next_offer + about] = game.turns + params[AT.pause] * game.num_players
    return offers.begin(game, partner, ask, give, cash, memory)


@kernel
def _lacks(game: Game, seat: int, group: int) -> int:
    """The missing lots of a group that a seat owns a part of, else none."""
    missing = board.GROUP_LOTS[group] & ~int(game.lots[seat])
    return 0 if missing == board.GROUP_LOTS[group] else missing


@kernel
def _accepts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Whether an offer brings the margin and leaves a part of the reserve in cash."""
    proposer, cash = int(game.offer_from), int(game.offer_cash)
    received, given = int(game.offer_give), int(game.offer_ask)
    if cash < 0 and int(game.cash[seat]) + cash < params[AT.kept] * _reserve(game, seat, params):
        return False
    mine = worth_gained(game, seat, received, given, params) + cash
    theirs = worth_gained(game, proposer, given, received, params) - cash
    score = mine - _share(game, params) * theirs
    return score >= params[AT.margin] and mine > 0


@kernel
def _lifts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    reserve = _reserve(game, seat, params)
    return habits.lifts_at_once(game, reserve, params[AT.lifts] * reserve)


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    return decide(game, params, memory, _window, _buy, _bid, _leaves, _accepts, lifts=_lifts)


_STAYS, _LEAVES = 0.0, 1e9
POLICIES: Final = named(
    _play,
    Landlord,
    {
        "landlord/balanced": {},
        "landlord/aggressive": {
            "reserve": 50, "worst": 0.15, "bid": 1.5, "jail": _LEAVES, "margin": 0, "rival": 0.3,
        },
        "landlord/cautious": {
            "reserve": 400, "worst": 1.0, "bid": 0.8, "jail": _STAYS, "margin": 150, "rival": 0.8,
            "leverage": False,
        },
        "landlord/darling": {"utilities": False, "target": 3},
    },
)  # fmt: skip
