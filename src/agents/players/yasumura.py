"""`yasumura`: negotiation by the valuation of Yasumura, Oguchi and Nitta (2001), as Mukhar's program of 2013 has it.

The valuation. g is a colour group, the railroads or the utilities; a seat owns s of its lots, others own o, M is its cash.

- n(g, M) = min(5, floor(floor(M / house price) / size)): the houses on each lot that M pays for.
- R(l, n, d): the printed rent with n houses (n = 0: the doubled base rent); 200 for a railroad; 10 d for a utility.
- p(i, l): the chance that two dice lead from square i to lot l.
- STG(g, M), the next throw: the sum over opponents and lots of g of p(square of the opponent, l) R(l, n(g, M), distance).
- MTG(g, M), the next lap: the sum over opponents of q_g R(first lot of g, n(g, M), 7); q_g is the chance to hit g on one lap.
- LTG(g) = MTG(g, 1000), the rest of the game.
- A1(l) = floor(price / 2) + LTG; A2 = 2 A1 + MTG; A3 = A2 + STG; A4 = 3 A1 + alpha (MTG + STG).
- f(g) sums one of A1 to A4, chosen by (s, o), over the own lots; U = w1 (the sum of all f(g) + M).
- dU of a swap = the change of U + w2 (the rent risk of the lot received, which is no longer paid), w2 = 1 - w1.

The negotiation is a swap of one lot for one, and a side payment that gives both the same gain. A seat agrees if its gain
reaches T, its cash stays above a minimum, both lots are of different groups, it owns something in the group it gets, it gives
the only lot that it owns of a group (unless it completes a group), and it completes no group of the other without completing
one itself. The proposer adds that it gives no lot of a complete group, and pays less than half its cash. It tests the
partner's side too, since it knows what the partner would say.

The program has eight defects. Nobody can say which of them are the paper's own; here each is decided by the likely intent:

1. Its f(g) is overwritten in the loop over the lots of g: only the last lot counts, whoever owns it. Here f(g) is the sum over the
   own lots; `legacy=True` takes the last lot's value. Then A4 - A3 = A1 for a group of three: a swap that completes two such
   groups gains one seat what it costs the other, and such players hardly trade.
2. Three railroads fall through to A4. Here (3, 0) is A2 and (3, 1) is A3.
3. The house prices of red and orange are swapped in n. Here they are those of the board.
4. The table of single throws steps by 1, 2, 3, ... squares. Here every distance from 2 to 12 has its chance.
5. The rent risk of the lot received is subtracted, though its comment speaks of the risk "if they do not trade for" it. Here it is
   added: the owner of a lot pays no rent there.
6. Visitors of the jail count as jailed. Here only those in jail are left out of STG and MTG.
7. dU is in units of utility, w1 a dollar, but is added to cash. Here a payment of c dollars is w1 c units of utility: the side
   payment is c = (dU of the proposer - dU of the partner) / (2 w1), and T is in units of utility.
8. The partner counts the payment twice, in its cash and beside dU. Here it counts once.

Values are not cut to whole numbers on the way, as the program's are. T and w1 are the program's defaults; its evolved players
have w1 = 0.725 and T = 400.

Ours is what the valuation leaves open. Offers that are no swaps of one for one are answered by the same rules, lot by lot, with mortgages
at what lifting them costs and jail cards at the fine. After an offer for a lot it asks for that lot again only after a pause. All
that is no trade is played plainly: it buys while it keeps the minimum cash (without it for a lot that completes or blocks a
group), bids up to a multiple of the list price, builds where a dollar brings most while it keeps half the minimum, leaves jail
while there are lots to buy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.players.vocabulary.habits import (
    answer_jail,
    best_building,
    bid_up_to,
    leave_jail,
    leaves_early,
    lift_first,
    raise_cash,
    routine,
    spare_lots,
    take_over,
)
from agents.players.vocabulary.offers import begin_offer, compose
from agents.players.vocabulary.parameters import COUNT, DOLLARS, RATIO, ROUNDS, SHARE, Parameters, family, parameter, switch
from agents.players.vocabulary.reading import (
    NO_LOT,
    asked_lot,
    blocks,
    cheapest,
    completes,
    dearest_house,
    in_whole_groups,
    legal,
    may_offer_to,
    of_opponents,
    price,
    started,
)
from monopoly_env.actions import A_BUILD, A_BUY, A_JAIL, A_MORTGAGE, A_REPLY, A_TRADE, A_TURN, A_UNMORTGAGE
from monopoly_env.board import (
    ALL_LOTS,
    GROUP_LOTS,
    GROUP_OF,
    GROUP_SIZE,
    GROUP_START,
    GROUPS,
    HOTEL,
    HOUSE_PRICE,
    LOT_SQUARE,
    NUM_GROUPS,
    NUM_LOTS,
    NUM_SQUARES,
    NUM_STREETS,
    RAILROADS,
    RENT,
    UTILITIES,
)
from monopoly_env.engine import agenda
from monopoly_env.engine.building import HOUSE_LOT
from monopoly_env.engine.mortgage import lifting_cost
from monopoly_env.engine.players import buildings_worth, lots_worth, mortgage_values
from monopoly_env.engine.sets import lowest, size
from monopoly_env.engine.trade import tradable
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel
from monopoly_env.rules import number


@dataclass(frozen=True)
class Yasumura(Parameters):
    """What the policy goes by, with the reason for each value."""

    w1: float = parameter(0.5, 0.01, 1, SHARE, "weight of the own holding; the rest is w2, the weight of the rent risk (evolved: 0.725)")
    threshold: float = parameter(200, -10_000, 10_000, COUNT, "T: the gain in units of utility from which a trade is good (evolved: 400)")
    alpha: float = parameter(1, 0, 10, RATIO, "weight of the nearer rents of a complete group: houses are built at once")
    legacy: bool = switch(False, "f(g) is the value of the last lot of g, whoever owns it, as the program has it")
    base: float = parameter(200, 0, 5000, DOLLARS, "minimum cash, whatever the others own: one pass of GO")
    of_total: float = parameter(0.01, 0, 1, SHARE, "of the worth of all opponents, added to the minimum cash")
    of_average: float = parameter(0.01, 0, 1, SHARE, "of the average worth of the opponents, added to the minimum cash")
    of_buildings: float = parameter(0.1, 0, 1, SHARE, "of the price of the opponents' buildings, added to the minimum cash (in 2012: 0.05)")
    pause: float = parameter(10, 0, 1000, ROUNDS, "between two offers for a lot: the answer would be the same (ours)")
    rich: float = parameter(2, 0, 20, RATIO, "minimum cashes that lifting a mortgage leaves: an idle lot earns less than a house (ours)")
    kept: float = parameter(0.5, 0, 5, SHARE, "of the minimum cash that is left when bidding: a lot can be mortgaged for half (ours)")
    built: float = parameter(0.5, 0, 5, SHARE, "of the minimum cash that is left when building: houses win games (ours; the program: 1)")
    starts: float = parameter(1.2, 0, 10, RATIO, "highest bid in list prices where one of the group is owned (ours)")
    blocks: float = parameter(1.5, 0, 10, RATIO, "the same for a lot that an opponent needs to complete a group (ours)")
    completes: float = parameter(2.5, 0, 20, RATIO, "the same for a lot that completes a group: houses bring its price back soon (ours)")
    lots_left: float = parameter(8, 0, 29, COUNT, "unowned lots from which on leaving jail early is worth the fine (ours)")
    scarce: float = parameter(1.5, 0, 10, RATIO, "highest bid for a scarce building, in list prices (ours)")


(
    _W1, _THRESHOLD, _ALPHA, _LEGACY, _BASE, _OF_TOTAL, _OF_AVERAGE, _OF_BUILDINGS, _PAUSE, _RICH, _KEPT, _BUILT, _STARTS, _BLOCKS,
    _COMPLETES, _LOTS_LEFT, _SCARCE,
) = range(17)  # fmt: skip

# Its memory: for each lot the turn from which on it may ask for it again; then the turn in which it found nothing to offer.
_NOTHING_FOUND: Final = NUM_LOTS

_OFFICIAL = number("trade", "official")
_ONE_FOR_ONE = number("trade", "one_for_one")
_PATIENT, _AT_ONCE = 0.5, 1.0  # the share of the room below its limit that a bid takes: rivals see an open bid, not a sealed one

_RAILROAD_RENT: Final = 200
_UTILITY_TIMES: Final = 10
_MEAN_THROW: Final = 7
_REST_CASH: Final = 1000  # M of LTG
_HITS: Final = {
    "brown": 0.24, "light_blue": 0.39, "pink": 0.43, "orange": 0.50, "red": 0.49, "yellow": 0.45, "green": 0.44, "dark_blue": 0.27,
    "railroad": 0.64, "utility": 0.32,
}  # fmt: skip
_HIT: Final = np.array([_HITS[name] for name in GROUPS])  # q_g
_CHANCE: Final = np.array([0, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]) / 36  # of each sum of two dice

# Which of A1 to A4 f(g) sums, by (s, o); 0: s = 0.
_CASES: Final[dict[int, dict[tuple[int, int], int]]] = {
    2: {(1, 0): 1, (1, 1): 3, (2, 0): 4},
    3: {(1, 0): 1, (1, 1): 1, (1, 2): 1, (2, 0): 2, (2, 1): 3, (3, 0): 4},
    4: {(1, 0): 1, (1, 1): 1, (1, 2): 1, (1, 3): 1, (2, 0): 2, (2, 1): 2, (2, 2): 3, (3, 0): 2, (3, 1): 3, (4, 0): 4},
}
_CASE: Final = np.zeros((5, 5, 5), np.int64)  # [size, s, o]
for _size, _table in _CASES.items():
    for (_s, _o), _number in _table.items():
        _CASE[_size, _s, _o] = _number


# --- the valuation ------------------------------------------------------------------------------------------------------


@kernel
def _planned(game: Game, group: int, cash: int) -> int:
    """n(g, M)."""
    if group >= RAILROADS:
        return 0
    return min(HOTEL, max(0, cash) // int(HOUSE_PRICE[game.rules.board, GROUP_START[group]]) // int(GROUP_SIZE[group]))


@kernel
def _rent(game: Game, lot: int, houses: int, distance: int) -> int:
    """R(l, n, d), in dollars."""
    group = int(GROUP_OF[lot])
    if group == RAILROADS:
        return _RAILROAD_RENT
    if group == UTILITIES:
        return _UTILITY_TIMES * distance
    return int(RENT[game.rules.board, lot, houses]) * (2 if houses == 0 else 1)


@kernel
def _hit_rent(game: Game, square: int, lot: int, houses: int) -> float:
    """p(i, l) R(l, n, d): what a token on a square is expected to pay on a lot by its next throw (dollars)."""
    distance = (int(LOT_SQUARE[game.rules.board, lot]) - square) % NUM_SQUARES
    return _CHANCE[distance] * _rent(game, lot, houses, distance) if distance < len(_CHANCE) else 0.0


@kernel
def _pays(game: Game, seat: int, other: int) -> bool:
    """Whether a player is one whose rents a seat counts on: an opponent who is not in jail."""
    return other != seat and game.place[other] == 0 and game.jail[other] == 0


@kernel
def _next_throw(game: Game, seat: int, group: int, cash: int) -> float:
    """STG(g, M), in dollars."""
    total, houses, start = 0.0, _planned(game, group, cash), int(GROUP_START[group])
    for other in range(game.num_players):
        if _pays(game, seat, other):
            for lot in range(start, start + int(GROUP_SIZE[group])):
                total += _hit_rent(game, int(game.position[other]), lot, houses)
    return total


@kernel
def _next_lap(game: Game, seat: int, group: int, cash: int) -> float:
    """MTG(g, M), in dollars."""
    payers = 0
    for other in range(game.num_players):
        if _pays(game, seat, other):
            payers += 1
    return payers * _HIT[group] * _rent(game, int(GROUP_START[group]), _planned(game, group, cash), _MEAN_THROW)


@kernel
def _value(game: Game, seat: int, group: int, mine: int, others: int, params: Row) -> float:
    """f(g) of a seat that owns the lots `mine` while others own `others`, in dollars."""
    members = int(GROUP_LOTS[group])
    own = mine & members
    case = int(_CASE[GROUP_SIZE[group], size(own), size(others & members)])
    if case == 0:
        return 0.0
    counted = 1 << (int(GROUP_START[group]) + int(GROUP_SIZE[group]) - 1) if params[_LEGACY] else own
    count, cash = size(counted), int(game.cash[seat])
    value = count * _next_lap(game, seat, group, _REST_CASH)
    while counted:
        value += price(game, lowest(counted)) // 2
        counted &= counted - 1
    if case == 1:
        return value
    near = _next_lap(game, seat, group, cash)
    if case == 2:
        return 2 * value + count * near
    nearest = _next_throw(game, seat, group, cash)
    if case == 3:
        return 2 * value + count * (near + nearest)
    return 3 * value + params[_ALPHA] * count * (near + nearest)


@kernel
def utility_gain(game: Game, seat: int, received: int, given: int, params: Row) -> float:
    """The gain dU of an exchange of goods, without cash, in units of utility."""
    mine, others = int(game.lots[seat]), of_opponents(game, seat)
    came, went = received & ALL_LOTS, given & ALL_LOTS
    dollars = 0.0
    for group in range(NUM_GROUPS):
        if (came | went) & int(GROUP_LOTS[group]):
            dollars += _value(game, seat, group, (mine & ~went) | came, (others & ~came) | went, params)
            dollars -= _value(game, seat, group, mine, others, params)
    dollars += int(game.rules.jail_fine) * (size(received & ~ALL_LOTS) - size(given & ~ALL_LOTS))
    dollars += _lifting(game, went) - _lifting(game, came)
    return params[_W1] * dollars + (1 - params[_W1]) * _risk(game, seat, came)


@kernel
def _lifting(game: Game, lots: int) -> int:
    """What lifting all mortgages of a set of lots costs (dollars)."""
    lots &= int(game.mortgaged)
    total = 0
    while lots:
        total += lifting_cost(game, lowest(lots))
        lots &= lots - 1
    return total


@kernel
def _risk(game: Game, seat: int, lots: int) -> float:
    """STL + MTL of lots that a seat does not own: the rents it would pay there bare, in dollars."""
    total, square = 0.0, int(game.position[seat])
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        total += _hit_rent(game, square, lot, 0) + _HIT[GROUP_OF[lot]] * _rent(game, lot, 0, _MEAN_THROW)
    return total


@kernel
def minimum_cash(game: Game, seat: int, params: Row) -> float:
    """What a seat keeps in cash, by what its opponents own, in dollars."""
    worth, buildings, opponents = 0, 0, 0
    for other in range(game.num_players):
        if other != seat and game.place[other] == 0:
            houses = buildings_worth(game, other)
            worth += int(game.cash[other]) + lots_worth(game, other, 50) + houses
            buildings += houses
            opponents += 1
    return params[_BASE] + (params[_OF_TOTAL] + params[_OF_AVERAGE] / max(1, opponents)) * worth + params[_OF_BUILDINGS] * buildings


# --- the negotiation ----------------------------------------------------------------------------------------------------


@kernel
def _completed(lots: int, came: int, went: int) -> int:
    """The lots of the groups that an exchange completes."""
    return in_whole_groups((lots & ~went) | came) & ~in_whole_groups(lots)


@kernel
def _agrees(game: Game, seat: int, other: int, received: int, given: int) -> bool:
    """Whether a seat may give and receive these lots: all rules of agreement but those about gain and cash."""
    mine, came, went = int(game.lots[seat]), received & ALL_LOTS, given & ALL_LOTS
    completing = _completed(mine, came, went) != 0
    if not completing and _completed(int(game.lots[other]), went, came):
        return False
    for group in range(NUM_GROUPS):
        members = int(GROUP_LOTS[group])
        if came & members and (went & members or mine & members == 0):
            return False
        if went & members and not completing and size(mine & members) > 1:
            return False
    return True


@kernel
def offer(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Begin the swap of the greatest gain after its side payment, or go on."""
    best, partner, ask, give, cash = 0.0, -1, 0, 0, 0
    mine = tradable(game, seat) & ALL_LOTS & ~in_whole_groups(int(game.lots[seat]))
    for other in range(game.num_players):
        if mine == 0 or other == seat or not may_offer_to(game, seat, other):
            continue
        wanted = tradable(game, other) & _in_groups_of(int(game.lots[seat])) & ALL_LOTS
        offered = mine & _in_groups_of(int(game.lots[other]))
        while wanted:
            x = wanted & -wanted
            wanted &= wanted - 1
            left = offered if memory[lowest(x)] <= game.turns else 0
            while left:
                y = left & -left
                left &= left - 1
                if _agrees(game, seat, other, x, y) and _agrees(game, other, seat, y, x):
                    gain, theirs = utility_gain(game, seat, x, y, params), utility_gain(game, other, y, x, params)
                    dollars = _side_payment(game, gain, theirs, params)
                    net = gain - params[_W1] * dollars
                    if net > best and _settles(game, seat, other, gain, theirs, dollars, params):
                        best, partner, ask, give, cash = net, other, x, y, dollars
    if partner < 0:
        memory[_NOTHING_FOUND] = game.turns
        return A_TURN
    memory[lowest(ask)] = game.turns + params[_PAUSE] * game.num_players
    return begin_offer(game, partner, ask, give, cash, memory)


@kernel
def _in_groups_of(lots: int) -> int:
    """All lots of the groups that a set of lots touches."""
    touched = 0
    for group in range(NUM_GROUPS):
        if lots & int(GROUP_LOTS[group]):
            touched |= int(GROUP_LOTS[group])
    return touched


@kernel
def _side_payment(game: Game, mine: float, theirs: float, params: Row) -> int:
    """c: the dollars from the proposer to the partner that give both the same gain; negative the other way."""
    return 0 if game.rules.trade == _ONE_FOR_ONE else int(np.round((mine - theirs) / (2 * params[_W1])))


@kernel
def _settles(game: Game, seat: int, other: int, gain: float, theirs: float, cash: int, params: Row) -> bool:
    """Whether a swap with a payment brings both their gain and leaves both their cash."""
    enough = gain - params[_W1] * cash >= params[_THRESHOLD] and theirs + params[_W1] * cash >= params[_THRESHOLD]
    if not enough or int(game.cash[seat]) <= 2 * cash or int(game.cash[seat]) - cash < minimum_cash(game, seat, params):
        return False
    return int(game.cash[other]) + cash >= minimum_cash(game, other, params)


@kernel
def reply(game: Game, seat: int, params: Row) -> int:
    """Accept what gains T and keeps to the rules of agreement."""
    proposer, cash = int(game.offer_from), int(game.offer_cash)
    received, given = int(game.offer_give), int(game.offer_ask)
    if int(game.cash[seat]) + cash < minimum_cash(game, seat, params) or not _agrees(game, seat, proposer, received, given):
        return A_REPLY
    return A_REPLY + 1 if utility_gain(game, seat, received, given, params) + params[_W1] * cash >= params[_THRESHOLD] else A_REPLY


# --- all that is no trade: ours -----------------------------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row) -> int:
    lot = asked_lot(game)
    cost, cash = price(game, lot), int(game.cash[seat])
    if legal(game, A_BUY + 1, 1):
        wanted = completes(game, seat, lot) or blocks(game, seat, lot) or cash - cost >= minimum_cash(game, seat, params)
        return A_BUY + 1 if wanted else A_BUY
    if completes(game, seat, lot):  # it is worth mortgaging lots of which there is no group, if they suffice
        spare = spare_lots(game, seat) & ~int(GROUP_LOTS[GROUP_OF[lot]])
        if spare and cash + mortgage_values(game, spare) >= cost:
            return A_MORTGAGE + cheapest(game, spare)
    return A_BUY


@kernel
def piece_limit(game: Game, seat: int, params: Row) -> float:
    """The highest bid for a scarce building, of the cash beyond the minimum."""
    return min(params[_SCARCE] * dearest_house(game, seat), int(game.cash[seat]) - minimum_cash(game, seat, params))


@kernel
def _bid_limit(game: Game, seat: int, params: Row) -> float:
    """The highest bid: a multiple of the list price, of the cash beyond a part of the minimum."""
    lot = int(game.auction_lot)
    if lot >= HOUSE_LOT:
        return piece_limit(game, seat, params)
    least = minimum_cash(game, seat, params)
    times = 1.0
    if completes(game, seat, lot):
        times = params[_COMPLETES]
    elif blocks(game, seat, lot):
        times = params[_BLOCKS]
    elif started(game, seat, lot):
        times = params[_STARTS]
    return min(times * price(game, lot), int(game.cash[seat]) - params[_KEPT] * least)


@kernel
def _turn(game: Game, seat: int, params: Row, memory: Row) -> int:
    if legal(game, A_JAIL, 2) and leaves_early(game, params[_LOTS_LEFT], params[_BASE]):
        return leave_jail(game)
    return manage(game, seat, params, memory)


@kernel
def manage(game: Game, seat: int, params: Row, memory: Row) -> int:
    """What it does in a window besides leaving jail: build, lift a mortgage, offer a swap, or go on."""
    streets, mortgaged = legal(game, A_BUILD, NUM_STREETS), legal(game, A_UNMORTGAGE, NUM_LOTS)
    if streets or mortgaged:
        least, cash = minimum_cash(game, seat, params), int(game.cash[seat])
        street = best_building(game, streets, cash - params[_BUILT] * least)
        if street != NO_LOT:
            return A_BUILD + street
        lot = lift_first(game, seat, mortgaged) if mortgaged else NO_LOT
        if lot != NO_LOT and cash - lifting_cost(game, lot) >= least * (1.0 if completes(game, seat, lot) else params[_RICH]):
            return A_UNMORTGAGE + lot
    if legal(game, A_TRADE, 7) and memory[_NOTHING_FOUND] != game.turns:
        return offer(game, seat, params, memory)
    return A_TURN


@kernel
def take_mortgaged(game: Game, seat: int, params: Row) -> int:
    """Lift the mortgage of a received lot, or keep it."""
    least = minimum_cash(game, seat, params)
    return take_over(game, least, params[_RICH] * least)


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW:
        return _turn(game, seat, params, memory)
    if decision == agenda.BUY:
        return _buy(game, seat, params)
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return bid_up_to(game, _bid_limit(game, seat, params), _PATIENT if decision == agenda.BID else _AT_ONCE)
    if decision == agenda.JAIL:
        return answer_jail(game, leaves_early(game, params[_LOTS_LEFT], params[_BASE]))
    if agenda.ASK <= decision <= agenda.CASH:
        return compose(game, memory)
    if decision == agenda.REPLY:
        return reply(game, seat, params)
    if decision == agenda.DEBT:
        return raise_cash(game)
    if decision == agenda.TAKEOVER:
        return take_mortgaged(game, seat, params)
    return routine(game)


POLICIES: Final = {"yasumura": family("yasumura", _play, Yasumura)}
