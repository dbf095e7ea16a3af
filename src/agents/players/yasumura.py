"""`yasumura`: negotiation by Yasumura, Oguchi and Nitta (2001), as in Mukhar's program of 2013.

It values groups by the rents of the next throw, the next lap and the rest of the game, and swaps
one lot for one, with a payment that gives both players the same gain. Rules for purchases,
auctions and buildings are ours.

The valuation. g is a colour group, the railroads or the utilities; a seat owns s of its lots,
others own o, and M is the seat's cash.

- n(g, M) = min(5, floor(floor(M / house price) / size)): the houses on each lot that M pays for.
- R(l, n, d): the printed rent with n houses (n = 0: the doubled base rent); 200 for a railroad; 10
  d for a utility.
- p(i, l): the chance that two dice lead from square i to lot l.
- STG(g, M), the next throw: the sum over opponents and lots of g of p(square of the opponent, l)
  R(l, n(g, M), distance).
- MTG(g, M), the next lap: the sum over opponents of q_g R(first lot of g, n(g, M), 7); q_g is the
  chance to hit g on one lap.
- LTG(g) = MTG(g, 1000), the rest of the game.
- A1(l) = floor(price / 2) + LTG; A2 = 2 A1 + MTG; A3 = A2 + STG; A4 = 3 A1 + alpha (MTG + STG).
- f(g) sums one of A1 to A4, chosen by (s, o), over the seat's own lots; U = w1 (M + the
  sum of all f(g)).
- dU of a swap = the change of U + w2 (the rent risk of the lot received, which the seat no longer
  pays), w2 = 1 - w1.

The negotiation is about swaps of one lot for one, with a side payment that gives both players the
same gain. A seat agrees if its gain reaches T and its cash stays above a minimum; both lots are in
different groups; it owns something in the group of the lot that it gets; the lot that it gives is
its only one of the group, unless the swap completes a group for it; and the swap completes no group
for the other player without completing one for itself. A proposer also gives no lot of a complete
group and pays less than half its cash. It tests the partner's side as well, because it knows what
the partner would answer.

The program has eight defects; it is not known which of them are in the paper's program too. Here:

1. f(g) is the sum over the seat's own lots. The program overwrites it in the loop over the lots of
   g: only the last lot counts, whoever owns it (`legacy=True`). Then A4 - A3 = A1 for a group of
   three: a swap that completes two such groups gives one seat what it costs the other, and such
   players hardly trade.
2. Of railroads (3, 0) is A2 and (3, 1) is A3; in the program they fall through to A4.
3. The house prices in n are those of the board; in the program, red and orange are swapped.
4. Every distance from 2 to 12 has its chance of a throw, not only steps of 1, 2, 3, ... squares.
5. The rent risk of the lot received is added, since its owner pays no rent there, not subtracted.
6. Only players in jail are left out of STG and MTG, not visitors.
7. A payment of c dollars is w1 c units of utility: c = (dU of the proposer - dU of the partner) /
   (2 w1), and T is in units of utility. The program adds utility to cash.
8. The partner counts the payment once, not in its cash and beside dU.

Values are not rounded to whole numbers on the way. T and w1 are the program's defaults; its evolved
players have w1 = 0.725 and T = 400.

The rest is ours. Offers that are not swaps of one for one are answered by the same rules, lot by
lot; a mortgage counts as the cost of lifting it, and a jail card as the fine. After an offer for a
lot, the policy asks for it again only after a pause. It buys while it keeps the minimum cash, which
it gives up for a lot that completes or blocks a group; it bids up to a multiple of the list price,
builds where a dollar adds the most rent while it keeps half the minimum, and leaves jail while
there are lots to buy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.players.vocabulary import groups, habits, offers, reading
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.parameters import Parameters, named, parameter, switch
from agents.players.vocabulary.reading import asked_lot, price
from agents.players.vocabulary.skeleton import decide
from monopoly_env.actions import A_BUY, A_TURN
from monopoly_env.engine import building, players, trade
from monopoly_env.engine.sets import each, lowest, size
from monopoly_env.facts import board
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel


@dataclass(frozen=True)
class Yasumura(Parameters):
    """Parameters of the policy."""

    w1: float = parameter(0.5, 0.01, 1, "share")
    """weight of what the seat owns; the rest is w2, the weight of the rent risk (evolved: 0.725)"""
    threshold: float = parameter(200, -10_000, 10_000, "count")
    """least gain T of a good trade, in units of utility (evolved: 400)"""
    alpha: float = parameter(1, 0, 10, "ratio")
    """weight of the nearer rents of a complete group: houses are built at once"""
    legacy: bool = switch(False)
    """f(g) is the value of the last lot of g, whoever owns it, as in the program"""
    base: float = parameter(200, 0, 5000, "dollars")
    """minimum cash, whatever the others own: one pass of GO"""
    of_total: float = parameter(0.01, 0, 1, "share")
    """of the worth of all opponents, added to the minimum cash"""
    of_average: float = parameter(0.01, 0, 1, "share")
    """of the average worth of the opponents, added to the minimum cash"""
    of_buildings: float = parameter(0.1, 0, 1, "share")
    """of the price of the opponents' buildings, added to the minimum cash (in 2012: 0.05)"""
    pause: float = parameter(10, 0, 1000, "rounds")
    """between two offers for a lot: the answer would be the same (ours)"""
    rich: float = parameter(2, 0, 20, "ratio")
    """times the minimum cash, left when lifting a mortgage: an unused lot earns less than a house
    (ours)"""
    kept: float = parameter(0.5, 0, 5, "share")
    """of the minimum cash, left when bidding: a lot can be mortgaged for half its price (ours)"""
    built: float = parameter(0.5, 0, 5, "share")
    """of the minimum cash, left when building: houses win games (ours; in the program: 1)"""
    starts: float = parameter(1.2, 0, 10, "ratio")
    """highest bid, in list prices, for a lot of whose group one is already owned (ours)"""
    blocks: float = parameter(1.5, 0, 10, "ratio")
    """the same for a lot that an opponent needs to complete a group (ours)"""
    completes: float = parameter(2.5, 0, 20, "ratio")
    """the same for a lot that completes a group: houses soon earn its price back (ours)"""
    lots_left: float = parameter(8, 0, 29, "count")
    """leaving jail early is worth the fine while this many lots are unowned (ours)"""
    scarce: float = parameter(1.5, 0, 10, "ratio")
    """highest bid for a scarce building, in list prices (ours)"""


AT: Final = Yasumura.columns()

SLOT: Final = memory_slots(
    "nothing_found",  # the turn in which it found nothing to offer
    next_offer=board.NUM_LOTS,  # for each lot, the first turn in which it may be asked for again
)
_RAILROAD_RENT: Final = 200
_UTILITY_TIMES: Final = 10
_REST_CASH: Final = 1000  # M of LTG
_HITS: Final = {
    "brown": 0.24, "light_blue": 0.39, "pink": 0.43, "orange": 0.50, "red": 0.49, "yellow": 0.45,
    "green": 0.44, "dark_blue": 0.27, "railroad": 0.64, "utility": 0.32,
}  # fmt: skip
_HIT: Final = np.array([_HITS[name] for name in board.GROUPS])  # q_g
_CHANCE: Final = np.array([0, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]) / 36  # of each sum of two dice

# Which of A1 to A4 f(g) sums, by (s, o); 0: s = 0.
_CASES: Final[dict[int, dict[tuple[int, int], int]]] = {
    2: {(1, 0): 1, (1, 1): 3, (2, 0): 4},
    3: {(1, 0): 1, (1, 1): 1, (1, 2): 1, (2, 0): 2, (2, 1): 3, (3, 0): 4},
    4: {
        (1, 0): 1, (1, 1): 1, (1, 2): 1, (1, 3): 1, (2, 0): 2, (2, 1): 2, (2, 2): 3, (3, 0): 2,
        (3, 1): 3, (4, 0): 4,
    },
}  # fmt: skip
_CASE: Final = np.zeros((5, 5, 5), np.int64)  # [size, s, o]
for _size, _table in _CASES.items():
    for (_s, _o), _number in _table.items():
        _CASE[_size, _s, _o] = _number


# --- the valuation --------------------------------------------------------------------------------


@kernel
def houses_paid(game: Game, group: int, cash: int) -> int:
    """n(g, M)."""
    if group >= board.RAILROADS:
        return 0
    house_price = board.HOUSE_PRICE[game.rules.board, board.GROUP_START[group]]
    return min(board.HOTEL, max(0, cash) // house_price // board.GROUP_SIZE[group])


@kernel
def _rent(game: Game, lot: int, houses: int, distance: int) -> int:
    """R(l, n, d), in dollars."""
    group = board.GROUP_OF[lot]
    if group == board.RAILROADS:
        return _RAILROAD_RENT
    if group == board.UTILITIES:
        return _UTILITY_TIMES * distance
    return board.RENT[game.rules.board, lot, houses] * (2 if houses == 0 else 1)


@kernel
def _hit_rent(game: Game, square: int, lot: int, houses: int) -> float:
    """p(i, l) R(l, n, d): the expected rent of a token's next throw on a lot (dollars)."""
    distance = (board.LOT_SQUARE[game.rules.board, lot] - square) % board.NUM_SQUARES
    if distance >= len(_CHANCE):
        return 0.0
    return _CHANCE[distance] * _rent(game, lot, houses, distance)


@kernel
def _pays(game: Game, seat: int, other: int) -> bool:
    """Whether a seat counts on rents from another player: an opponent that is not in jail."""
    return other != seat and game.place[other] == 0 and game.jail[other] == 0


@kernel
def _next_throw(game: Game, seat: int, group: int, cash: int) -> float:
    """STG(g, M), in dollars."""
    total, houses, start = 0.0, houses_paid(game, group, cash), board.GROUP_START[group]
    for other in range(game.num_players):
        if _pays(game, seat, other):
            for lot in range(start, start + board.GROUP_SIZE[group]):
                total += _hit_rent(game, int(game.position[other]), lot, houses)
    return total


@kernel
def _next_lap(game: Game, seat: int, group: int, cash: int) -> float:
    """MTG(g, M), in dollars."""
    payers, houses = 0, houses_paid(game, group, cash)
    for other in range(game.num_players):
        payers += _pays(game, seat, other)
    rent = _rent(game, board.GROUP_START[group], houses, reading.AVERAGE_THROW)
    return payers * _HIT[group] * rent


@kernel
def group_value(game: Game, seat: int, group: int, mine: int, others: int, params: Row) -> float:
    """f(g) of a seat that owns the lots `mine` while others own `others`, in dollars."""
    members = board.GROUP_LOTS[group]
    own = mine & members
    case = int(_CASE[board.GROUP_SIZE[group], size(own), size(others & members)])
    if case == 0:
        return 0.0
    last = board.GROUP_START[group] + board.GROUP_SIZE[group] - 1
    counted = 1 << last if params[AT.legacy] else own
    count, cash = size(counted), int(game.cash[seat])
    value = count * _next_lap(game, seat, group, _REST_CASH)
    for lot in each(counted):
        value += price(game, lot) // 2
    if case == 1:
        return value
    near = _next_lap(game, seat, group, cash)
    if case == 2:
        return 2 * value + count * near
    nearest = _next_throw(game, seat, group, cash)
    if case == 3:
        return 2 * value + count * (near + nearest)
    return 3 * value + params[AT.alpha] * count * (near + nearest)


@kernel
def utility_gain(game: Game, seat: int, received: int, given: int, params: Row) -> float:
    """The gain dU of an exchange of goods without cash, in units of utility."""
    mine, others = int(game.lots[seat]), reading.of_opponents(game, seat)
    came, went = received & board.ALL_LOTS, given & board.ALL_LOTS
    dollars = 0.0
    for group in range(board.NUM_GROUPS):
        if (came | went) & board.GROUP_LOTS[group]:
            after = (mine & ~went) | came, (others & ~came) | went
            dollars += group_value(game, seat, group, after[0], after[1], params)
            dollars -= group_value(game, seat, group, mine, others, params)
    cards = size(received & ~board.ALL_LOTS) - size(given & ~board.ALL_LOTS)
    dollars += int(game.rules.jail_fine) * cards
    dollars += reading.lifting_costs(game, went) - reading.lifting_costs(game, came)
    return params[AT.w1] * dollars + (1 - params[AT.w1]) * _risk(game, seat, came)


@kernel
def _risk(game: Game, seat: int, lots: int) -> float:
    """STL + MTL: the rents without buildings on lots that a seat does not own, in dollars."""
    total, square = 0.0, int(game.position[seat])
    for lot in each(lots):
        lap = _HIT[board.GROUP_OF[lot]] * _rent(game, lot, 0, reading.AVERAGE_THROW)
        total += _hit_rent(game, square, lot, 0) + lap
    return total


@kernel
def minimum_cash(game: Game, seat: int, params: Row) -> float:
    """The cash that a seat keeps, by the possessions of its opponents (dollars)."""
    worth, buildings, opponents = 0, 0, 0
    for other in range(game.num_players):
        if other != seat and game.place[other] == 0:
            houses = players.buildings_worth(game, other)
            worth += int(game.cash[other]) + players.lots_worth(game, other, 50) + houses
            buildings += houses
            opponents += 1
    return (
        params[AT.base]
        + (params[AT.of_total] + params[AT.of_average] / max(1, opponents)) * worth
        + params[AT.of_buildings] * buildings
    )


# --- the negotiation ------------------------------------------------------------------------------


@kernel
def _completed(lots: int, came: int, went: int) -> int:
    """The lots of the groups that an exchange completes."""
    return groups.complete((lots & ~went) | came) & ~groups.complete(lots)


@kernel
def _agrees(game: Game, seat: int, other: int, received: int, given: int) -> bool:
    """Whether a seat agrees to an exchange of lots, gain and cash apart."""
    mine, came, went = int(game.lots[seat]), received & board.ALL_LOTS, given & board.ALL_LOTS
    completing = _completed(mine, came, went) != 0
    if not completing and _completed(int(game.lots[other]), went, came):
        return False
    for group in range(board.NUM_GROUPS):
        members = board.GROUP_LOTS[group]
        if came & members and (went & members or mine & members == 0):
            return False
        if went & members and not completing and size(mine & members) > 1:
            return False
    return True


@kernel
def offer(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Begin the swap with the largest gain after its side payment, or go on."""
    best, partner, ask, give, cash = 0.0, -1, 0, 0, 0
    mine = trade.tradable(game, seat) & board.ALL_LOTS & ~groups.complete(int(game.lots[seat]))
    for other in range(game.num_players):
        if mine == 0 or other == seat or not offers.may_offer_to(game, seat, other):
            continue
        wanted = trade.tradable(game, other) & _in_groups_of(int(game.lots[seat])) & board.ALL_LOTS
        offered = mine & _in_groups_of(int(game.lots[other]))
        for lot in each(wanted):
            x, left = 1 << lot, offered if memory[SLOT.next_offer + lot] <= game.turns else 0
            for given in each(left):
                y = 1 << given
                if _agrees(game, seat, other, x, y) and _agrees(game, other, seat, y, x):
                    gain = utility_gain(game, seat, x, y, params)
                    theirs = utility_gain(game, other, y, x, params)
                    dollars = side_payment(game, gain, theirs, params)
                    net = gain - params[AT.w1] * dollars
                    if net > best and _settles(game, seat, other, gain, theirs, dollars, params):
                        best, partner, ask, give, cash = net, other, x, y, dollars
    if partner < 0:
        memory[SLOT.nothing_found] = game.turns
        return A_TURN
    memory[SLOT.next_offer + lowest(ask)] = game.turns + params[AT.pause] * game.num_players
    return offers.begin(game, partner, ask, give, cash, memory)


@kernel
def _in_groups_of(lots: int) -> int:
    """All lots of the groups in which a set of lots has a member."""
    touched = 0
    for group in range(board.NUM_GROUPS):
        if lots & board.GROUP_LOTS[group]:
            touched |= board.GROUP_LOTS[group]
    return touched


@kernel
def side_payment(game: Game, mine: float, theirs: float, params: Row) -> int:
    """c: the dollars from proposer to partner that give both the same gain."""
    if game.rules.trade == offers.ONE_FOR_ONE:
        return 0
    return int(np.round((mine - theirs) / (2 * params[AT.w1])))


@kernel
def _settles(
    game: Game, seat: int, other: int, gain: float, theirs: float, cash: int, params: Row
) -> bool:
    """Whether a swap with this payment leaves both players enough gain and cash."""
    paid, mine = params[AT.w1] * cash, int(game.cash[seat])
    if gain - paid < params[AT.threshold] or theirs + paid < params[AT.threshold]:
        return False
    if mine <= 2 * cash or mine - cash < minimum_cash(game, seat, params):
        return False
    return int(game.cash[other]) + cash >= minimum_cash(game, other, params)


@kernel
def accepts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Whether an offer gains T and meets the rules of agreement."""
    proposer, cash = int(game.offer_from), int(game.offer_cash)
    received, given = int(game.offer_give), int(game.offer_ask)
    if int(game.cash[seat]) + cash < minimum_cash(game, seat, params):
        return False
    if not _agrees(game, seat, proposer, received, given):
        return False
    gain = utility_gain(game, seat, received, given, params)
    return gain + params[AT.w1] * cash >= params[AT.threshold]


# --- everything but trades: ours ------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot = asked_lot(game)
    cost, needed = price(game, lot), groups.completes(game, seat, lot)
    if reading.may_buy(game):
        left = int(game.cash[seat]) - cost
        wanted = needed or groups.blocks(game, seat, lot)
        wanted = wanted or left >= minimum_cash(game, seat, params)
        return A_BUY + 1 if wanted else A_BUY
    if needed:  # worth mortgaging other lots for
        spare = habits.spare_lots(game, seat) & ~board.GROUP_LOTS[board.GROUP_OF[lot]]
        return habits.pawn_cheapest(game, seat, spare, cost)
    return A_BUY


@kernel
def piece_limit(game: Game, seat: int, params: Row) -> float:
    """The highest bid for a scarce building, from the cash above the minimum."""
    return min(
        params[AT.scarce] * groups.dearest_house(game, seat),
        int(game.cash[seat]) - minimum_cash(game, seat, params),
    )


@kernel
def _bid(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Bid up to a multiple of the list price, from the cash above a part of the minimum."""
    lot = int(game.auction_lot)
    if lot >= building.HOUSE_LOT:
        return habits.bid(game, piece_limit(game, seat, params))
    funds = int(game.cash[seat]) - params[AT.kept] * minimum_cash(game, seat, params)
    times = groups.weight(
        game, seat, lot, params[AT.completes], params[AT.blocks], params[AT.starts]
    )
    return habits.bid(game, min(times * price(game, lot), funds))


@kernel
def _leaves(game: Game, seat: int, params: Row, memory: Row) -> bool:
    return habits.leaves_early(game, params[AT.lots_left], params[AT.base])


@kernel
def manage(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Build, lift a mortgage, offer a swap, or go on."""
    streets, mortgaged = reading.buildable(game), reading.liftable(game)
    if streets or mortgaged:
        least, cash = minimum_cash(game, seat, params), int(game.cash[seat])
        action = habits.build_best(game, streets, cash - params[AT.built] * least)
        if mortgaged and action == A_TURN:
            action = habits.lift(game, seat, mortgaged, least, least * params[AT.rich])
        if action != A_TURN:
            return action
    if reading.may_trade(game) and memory[SLOT.nothing_found] != game.turns:
        return offer(game, seat, params, memory)
    return A_TURN


@kernel
def lifts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Whether to lift the mortgage of a received lot at once."""
    least = minimum_cash(game, seat, params)
    return habits.lifts_at_once(game, least, params[AT.rich] * least)


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    return decide(game, params, memory, manage, _buy, _bid, _leaves, accepts, lifts=lifts)


POLICIES: Final = named(_play, Yasumura, {"yasumura": {}})
