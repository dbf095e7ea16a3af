"""`landlord/*`: four temperaments of one player that keeps a reserve, prices groups by the rent they bring, and trades.

The constants are those of landlord-sim's profiles as far as they are known; what is said of them is silent on some, which are
ours and marked so. All play by one kernel: a profile is a row of numbers.

- *Reserve* R: a base and a share of the worst rent that could fall due. It buys, builds and lifts mortgages above R.
- *Weight* w of a lot for sale: 1 for a plain one, more for a railroad or utility, for one that an opponent needs, for one after
  which a single street is missing, most for one that completes a group. It asks for less cash, and bids more, by the weight.
- *Worth* of a seat's part of a group: list prices and base rents over some turns of the opponents; for a complete group the
  rents of three houses, less half the cost of the houses, as far as there is cash for them.
- *Score* of a trade: the own gain in worth less a share of the partner's. It asks for the streets that a group lacks, all of
  one owner, for cash or against the streets that complete a group of his; the price is the middle of what both may agree to.
  Offers of others are answered by the same score; it never counters.

It asks only for what completes a group, and nobody lacks a street of a complete one: lots do not go around in circles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.players.vocabulary.habits import (
    answer_jail,
    best_building,
    bid_up_to,
    least_wanted,
    leave_jail,
    lift_first,
    raise_cash,
    rent_gain,
    routine,
    spare_lots,
    take_over,
)
from agents.players.vocabulary.offers import begin_offer, compose
from agents.players.vocabulary.parameters import COUNT, DOLLARS, RATIO, ROUNDS, SHARE, Parameters, family, parameter, switch
from agents.players.vocabulary.reading import (
    AVERAGE_THROW,
    NO_LOT,
    STREETS,
    asked_lot,
    blocks,
    completes,
    dearest_house,
    in_whole_groups,
    legal,
    may_offer_to,
    price,
    worst_rent,
)
from monopoly_env.actions import A_BUILD, A_BUY, A_JAIL, A_MORTGAGE, A_REPLY, A_TRADE, A_TURN, A_UNMORTGAGE
from monopoly_env.board import (
    ALL_LOTS,
    GROUP_LOTS,
    GROUP_OF,
    GROUP_SIZE,
    GROUP_START,
    HOTEL,
    HOUSE_PRICE,
    MORTGAGE,
    NUM_LOTS,
    NUM_SQUARES,
    NUM_STREETS,
    RAILROADS,
    RENT,
    UTILITIES,
)
from monopoly_env.engine import agenda
from monopoly_env.engine.building import HOUSE_LOT, building_cost, improvable, in_bank, piece_for
from monopoly_env.engine.mortgage import lifting_cost
from monopoly_env.engine.players import mortgage_values, owner_of, solvent_seats
from monopoly_env.engine.rent import ordinary_rent
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.engine.trade import tradable
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel
from monopoly_env.rules import number


@dataclass(frozen=True)
class Landlord(Parameters):
    """What the policy goes by, with the reason for each value; the defaults are `landlord/balanced`."""

    reserve: float = parameter(200, 0, 5000, DOLLARS, "base of the reserve R: one pass of GO")
    worst: float = parameter(0.5, 0, 5, SHARE, "share of the worst rent that R holds: that rent comes seldom, and lots can be mortgaged")
    bid: float = parameter(1.1, 0, 10, RATIO, "highest bid for a lot of weight 1, in list prices")
    unwanted: float = parameter(0.8, 0, 10, RATIO, "highest bid for a lot that is not wanted, in list prices: it can be mortgaged for half")
    utilities: bool = switch(True, "utilities are wanted; otherwise they are left to auctions")
    kept: float = parameter(0.5, 0, 5, SHARE, "share of R that is left when bidding and trading: such chances do not come again")
    rails: float = parameter(1.2, 0.1, 10, RATIO, "weight of a railroad or utility: it earns at once, without houses")
    blocks: float = parameter(1.5, 0.1, 10, RATIO, "weight of a lot that an opponent needs for a group")
    nears: float = parameter(1.7, 0.1, 10, RATIO, "weight of a street after which its group of three lacks one: trades are about such")
    completes: float = parameter(2, 0.1, 10, RATIO, "weight of a lot that completes a group")
    jail: float = parameter(
        0.25, 0, 1e9, SHARE, "leaves jail while the worst rent is less than this share of its cash; 0 stays, a huge one always leaves"
    )
    target: float = parameter(5, 0, HOTEL, COUNT, "level of a street up to which building leaves R (ours; 5 is a hotel)")
    past_target: float = parameter(2, 0, 10, RATIO, "reserves that building leaves beyond the target")
    lifts: float = parameter(1.5, 0, 10, RATIO, "reserves that lifting a mortgage leaves: an idle lot earns less than a house")
    leverage: bool = switch(True, "mortgages lots for what is worth more: heavy lots for sale, and houses")
    heavy: float = parameter(1.5, 0, 10, RATIO, "weight of a lot for sale from which on others are mortgaged for it")
    dearer: float = parameter(1.5, 0.1, 100, RATIO, "times that a dollar in a house must earn what a dollar of mortgages loses")
    horizon: float = parameter(25, 0, 500, ROUNDS, "turns of each opponent whose rents count: most of a game is decided by then")
    squares: float = parameter(1.2, 0, 10, RATIO, "squares that a player comes to stand on in one turn, doubles included")
    houses: int = parameter(3, 1, 4, COUNT, "houses on each street of a complete group that its worth assumes: the third pays best")
    houses_cost: float = parameter(0.5, 0, 1, SHARE, "of the price of these houses that counts against their rents: half comes back")
    funded: float = parameter(0.2, 0, 1, SHARE, "least share of the worth of houses that counts, however little cash there is for them")
    margin: float = parameter(50, 0, 5000, DOLLARS, "score from which on a trade is good")
    rival: float = parameter(0.5, 0, 5, SHARE, "weight of all opponents' gains together: at 1 trades between two would be a zero-sum game")
    offers: float = parameter(3, 0, 10, COUNT, "offers in one turn: the rest of the allowed ones would be worse")
    pause: float = parameter(4, 0, 1000, ROUNDS, "after an offer about a group, until the next: the answer would be the same")
    scarce: float = parameter(1.5, 0, 10, RATIO, "highest bid for a scarce building, in list prices (ours)")


(
    _RESERVE, _WORST, _BID, _UNWANTED, _UTILITIES, _KEPT, _RAILS, _BLOCKS, _NEARS, _COMPLETES, _JAIL, _TARGET, _PAST_TARGET, _LIFTS,
    _LEVERAGE, _HEAVY, _DEARER, _HORIZON, _SQUARES, _HOUSES, _HOUSES_COST, _FUNDED, _MARGIN, _RIVAL, _OFFERS, _PAUSE, _SCARCE,
) = range(27)  # fmt: skip

# Its memory: for each colour the turn from which on it may offer about it again; then the turn in which it found nothing to offer.
_NOTHING_FOUND: Final = RAILROADS

_OFFICIAL = number("trade", "official")
_ONE_FOR_ONE = number("trade", "one_for_one")
_PATIENT, _AT_ONCE = 0.5, 1.0  # the share of the room below its limit that a bid takes: rivals see an open bid, not a sealed one
_NO_DEAL: Final = 1 << 30
_ROUND_TO: Final = 10  # dollars


@kernel
def _reserve(game: Game, seat: int, params: Row) -> float:
    """R, in dollars."""
    return params[_RESERVE] + params[_WORST] * worst_rent(game, seat)


# --- lots for sale ------------------------------------------------------------------------------------------------------


@kernel
def _wanted(lot: int, params: Row) -> bool:
    return GROUP_OF[lot] != UTILITIES or params[_UTILITIES] != 0


@kernel
def _weight(game: Game, seat: int, lot: int, params: Row) -> float:
    """How much more than a plain lot this one is wanted."""
    if completes(game, seat, lot):
        return params[_COMPLETES]
    group = int(GROUP_OF[lot])
    if group < RAILROADS and GROUP_SIZE[group] == 3 and int(game.lots[seat]) & int(GROUP_LOTS[group]) != 0:
        return params[_NEARS]
    if blocks(game, seat, lot):
        return params[_BLOCKS]
    return params[_RAILS] if group >= RAILROADS else 1.0


@kernel
def _buy(game: Game, seat: int, params: Row) -> int:
    lot = asked_lot(game)
    if not _wanted(lot, params):
        return A_BUY
    weight = _weight(game, seat, lot, params)
    missing = price(game, lot) + _reserve(game, seat, params) / weight - int(game.cash[seat])
    if missing <= 0:
        return A_BUY + 1
    if params[_LEVERAGE] and weight >= params[_HEAVY]:
        spare = spare_lots(game, seat) & ~int(GROUP_LOTS[GROUP_OF[lot]])
        if spare and mortgage_values(game, spare) >= missing:
            return A_MORTGAGE + least_wanted(game, seat, spare)
    return A_BUY


@kernel
def _bid_limit(game: Game, seat: int, params: Row) -> float:
    """The highest bid: list price times weight, of the cash beyond a part of the reserve."""
    lot, reserve = int(game.auction_lot), _reserve(game, seat, params)
    funds = int(game.cash[seat]) - params[_KEPT] * reserve
    if lot >= HOUSE_LOT:
        return min(params[_SCARCE] * dearest_house(game, seat), int(game.cash[seat]) - reserve)
    if not _wanted(lot, params):
        return min(params[_UNWANTED] * price(game, lot), funds)
    return min(params[_BID] * _weight(game, seat, lot, params) * price(game, lot), funds)


# --- windows of the turn, jail ------------------------------------------------------------------------------------------


@kernel
def _turn(game: Game, seat: int, params: Row, memory: Row) -> int:
    if legal(game, A_JAIL, 2) and _leaves(game, seat, params):
        return leave_jail(game)
    if in_whole_groups(int(game.lots[seat])) & STREETS:
        action = _build(game, seat, _reserve(game, seat, params), params)
        if action != A_TURN:
            return action
    mortgaged = legal(game, A_UNMORTGAGE, NUM_LOTS) & ~int(game.fresh_mortgages)  # what was mortgaged for a house stays so
    if mortgaged:
        lot = lift_first(game, seat, mortgaged)
        if int(game.cash[seat]) - lifting_cost(game, lot) >= params[_LIFTS] * _reserve(game, seat, params):
            return A_UNMORTGAGE + lot
    if legal(game, A_TRADE, 7) and memory[_NOTHING_FOUND] != game.turns and game.offers[seat] < params[_OFFERS]:
        return _offer(game, seat, params, memory)
    return A_TURN


@kernel
def _leaves(game: Game, seat: int, params: Row) -> bool:
    """Whether to leave jail of its own will: with a card, or with a fine that leaves the reserve."""
    worst = worst_rent(game, seat)
    if worst >= params[_JAIL] * max(1, int(game.cash[seat])):
        return False
    reserve = params[_RESERVE] + params[_WORST] * worst
    return legal(game, A_JAIL + 1, 1) != 0 or int(game.cash[seat]) - int(game.rules.jail_fine) >= reserve


@kernel
def _below(game: Game, streets: int, level: float) -> int:
    """Those of a set of streets that stand below a level."""
    found = 0
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        if game.level[street] < level:
            found |= 1 << street
    return found


@kernel
def _build(game: Game, seat: int, reserve: float, params: Row) -> int:
    """The next building that leaves the reserve, or a mortgage for one; A_TURN if there is none."""
    streets = legal(game, A_BUILD, NUM_STREETS)
    if streets:
        cash = int(game.cash[seat])
        street = best_building(game, _below(game, streets, params[_TARGET]), cash - reserve)
        if street == NO_LOT:
            street = best_building(game, streets, cash - params[_PAST_TARGET] * reserve)
        if street != NO_LOT:
            return A_BUILD + street
    lot = _mortgage_for_house(game, seat, reserve, params) if params[_LEVERAGE] else NO_LOT
    return A_TURN if lot == NO_LOT else A_MORTGAGE + lot


@kernel
def _mortgage_for_house(game: Game, seat: int, reserve: float, params: Row) -> int:
    """The lot to mortgage for the best building, or NO_LOT: all lots that earn much less than it must suffice."""
    spare = spare_lots(game, seat)
    if spare == 0:
        return NO_LOT
    street = best_building(game, _below(game, improvable(game, seat), params[_TARGET]), np.inf)
    if street == NO_LOT or in_bank(game, piece_for(game, street)) == 0:
        return NO_LOT
    missing = building_cost(game, street) + reserve - int(game.cash[seat])
    worth, best, least = 0, NO_LOT, rent_gain(game, street) / params[_DEARER]
    limit = least
    while spare:
        lot = lowest(spare)
        spare &= spare - 1
        value = int(MORTGAGE[game.rules.board, lot])
        lost = ordinary_rent(game, seat, lot, AVERAGE_THROW) / value
        if lost < limit:
            worth += value
        if lost < least:
            best, least = lot, lost
    return best if 0 < missing <= worth else NO_LOT


# --- what trades are worth ----------------------------------------------------------------------------------------------


@kernel
def _landings(game: Game, params: Row) -> float:
    """How often the opponents come to a square within the horizon."""
    return (size(solvent_seats(game)) - 1) * params[_SQUARES] * params[_HORIZON] / NUM_SQUARES


@kernel
def _rents(game: Game, lots: int, group: int, level: int) -> int:
    """The sum of the rents of lots of a group that one seat owns, streets at a level, utilities at an average throw (dollars)."""
    board, count, total = int(game.rules.board), size(lots), 0
    if group == RAILROADS:
        return count * int(RENT[board, lowest(lots), count - 1])
    if group == UTILITIES:
        return count * int(RENT[board, lowest(lots), count - 1]) * AVERAGE_THROW
    while lots:
        total += int(RENT[board, lowest(lots), level])
        lots &= lots - 1
    return total


@kernel
def _list_price(game: Game, lots: int) -> int:
    """Printed prices less what lifting the mortgages costs (dollars)."""
    total = 0
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        total += price(game, lot)
        if has(game.mortgaged, lot):
            total -= lifting_cost(game, lot)
    return total


@kernel
def _worth(game: Game, lots: int, group: int, cash: int, landings: float, params: Row) -> float:
    """What the lots of a group are worth to a seat that owns `lots` and has this cash, in dollars."""
    mine = lots & int(GROUP_LOTS[group])
    if mine == 0:
        return 0.0
    worth = float(_list_price(game, mine))
    if group >= RAILROADS or mine != GROUP_LOTS[group]:
        return worth + _rents(game, mine, group, 0) * landings
    houses = int(params[_HOUSES])
    cost = float(houses * int(HOUSE_PRICE[game.rules.board, GROUP_START[group]]) * int(GROUP_SIZE[group]))
    funded = min(1.0, max(params[_FUNDED], cash / cost))
    return worth + funded * max(0.0, _rents(game, mine, group, houses) * landings - params[_HOUSES_COST] * cost)


@kernel
def _gain(game: Game, seat: int, received: int, given: int, params: Row) -> float:
    """What a seat's lots are worth more once it has received and given goods, in dollars; jail cards count as a fine each."""
    cards = size(received & ~ALL_LOTS) - size(given & ~ALL_LOTS)
    gain = float(cards * int(game.rules.jail_fine))
    now, cash, landings = int(game.lots[seat]), int(game.cash[seat]), _landings(game, params)
    then = (now & ~given) | (received & ALL_LOTS)
    for group in range(len(GROUP_LOTS)):
        if (received | given) & int(GROUP_LOTS[group]):
            gain += _worth(game, then, group, cash, landings, params) - _worth(game, now, group, cash, landings, params)
    return gain


@kernel
def _share(game: Game, params: Row) -> float:
    """The weight of one opponent's gain."""
    return params[_RIVAL] / max(1, size(solvent_seats(game)) - 1)


@kernel
def _fair_cash(game: Game, seat: int, partner: int, mine: float, theirs: float, params: Row) -> int:
    """The dollars to pay for a trade that gains this much: the middle of what both may agree to, rounded; or _NO_DEAL."""
    share, margin = _share(game, params), params[_MARGIN]
    most = min(
        (mine - share * theirs - margin) / (1 + share), max(0.0, int(game.cash[seat]) - params[_KEPT] * _reserve(game, seat, params))
    )
    least = (margin + share * mine - theirs) / (1 + share)
    if least > most:
        return _NO_DEAL
    least = max(least, min(0.0, params[_KEPT] * _reserve(game, partner, params) - int(game.cash[partner])))  # the cap is the payer's
    high, low = int(np.floor(most / _ROUND_TO)) * _ROUND_TO, int(np.ceil(least / _ROUND_TO)) * _ROUND_TO
    if low > high:
        return _NO_DEAL
    if game.rules.trade == _ONE_FOR_ONE:
        return 0 if low <= 0 <= high else _NO_DEAL
    return min(high, max(low, int(np.round((mine - theirs) / 2 / _ROUND_TO)) * _ROUND_TO))


# --- offers -------------------------------------------------------------------------------------------------------------


@kernel
def _offer(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Begin the offer of the highest score, or go on."""
    mine, best = tradable(game, seat), 0.0
    partner, ask, give, cash, about = -1, 0, 0, 0, 0
    for group in range(RAILROADS):
        missing = _lacks(game, seat, group)
        if missing == 0 or game.turns < memory[group]:
            continue
        owner = owner_of(game, lowest(missing))
        if owner < 0 or not may_offer_to(game, seat, owner) or missing & ~tradable(game, owner):
            continue
        for other in range(RAILROADS):  # the group itself stands for cash alone
            swap = 0 if other == group else _lacks(game, owner, other)
            if (other != group and swap == 0) or swap & ~mine or not _allowed(game, missing, swap):
                continue
            gain, theirs = _gain(game, seat, missing, swap, params), _gain(game, owner, swap, missing, params)
            dollars = _fair_cash(game, seat, owner, gain, theirs, params)
            score = gain - dollars - _share(game, params) * (theirs + dollars)
            if dollars != _NO_DEAL and (partner < 0 or score > best):
                best, partner, ask, give, cash, about = score, owner, missing, swap, dollars, group
    if partner < 0:
        memory[_NOTHING_FOUND] = game.turns
        return A_TURN
    memory[about] = game.turns + params[_PAUSE] * game.num_players
    return begin_offer(game, partner, ask, give, cash, memory)


@kernel
def _lacks(game: Game, seat: int, group: int) -> int:
    """What a seat lacks of a group that it owns a part of; none of a group that it does not touch."""
    missing = int(GROUP_LOTS[group]) & ~int(game.lots[seat])
    return 0 if missing == GROUP_LOTS[group] else missing


@kernel
def _allowed(game: Game, ask: int, give: int) -> bool:
    """Whether the rules let these sets of lots change hands at once."""
    return game.rules.trade == _OFFICIAL or (size(ask) == 1 and size(give) == 1)


@kernel
def _reply(game: Game, seat: int, params: Row) -> int:
    """Accept what brings the margin and leaves a part of the reserve in cash."""
    proposer, cash = int(game.offer_from), int(game.offer_cash)
    received, given = int(game.offer_give), int(game.offer_ask)
    if cash < 0 and int(game.cash[seat]) + cash < params[_KEPT] * _reserve(game, seat, params):
        return A_REPLY
    mine = _gain(game, seat, received, given, params) + cash
    theirs = _gain(game, proposer, given, received, params) - cash
    score = mine - _share(game, params) * theirs
    return A_REPLY + 1 if score >= params[_MARGIN] and mine > 0 else A_REPLY


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
        return answer_jail(game, _leaves(game, seat, params))
    if agenda.ASK <= decision <= agenda.CASH:
        return compose(game, memory)
    if decision == agenda.REPLY:
        return _reply(game, seat, params)
    if decision == agenda.DEBT:
        return raise_cash(game)
    if decision == agenda.TAKEOVER:
        reserve = _reserve(game, seat, params)
        return take_over(game, reserve, params[_LIFTS] * reserve)
    return routine(game)


_STAYS: Final = 0.0
_LEAVES: Final = 1e9

POLICIES: Final = {
    "landlord/balanced": family("landlord/balanced", _play, Landlord),
    "landlord/aggressive": family(
        "landlord/aggressive", _play, Landlord, reserve=50, worst=0.15, bid=1.5, jail=_LEAVES, margin=0, rival=0.3
    ),
    "landlord/cautious": family(
        "landlord/cautious", _play, Landlord, reserve=400, worst=1.0, bid=0.8, jail=_STAYS, margin=150, rival=0.8, leverage=False
    ),
    "landlord/darling": family("landlord/darling", _play, Landlord, utilities=False, target=3),
}
