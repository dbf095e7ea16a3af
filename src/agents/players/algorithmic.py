"""`algorithmic`: a plain scripted player, by thresholds on cash and on what a lot is worth to whom.

It buys and bids while it keeps a reserve (without one for a lot that completes or blocks a group), builds where a dollar
brings the most rent, raises cash by what hurts least, and leaves jail while there is something to buy. It makes one kind of
offer: for the lot that completes a group of its own, against a lot that does the same for the partner, or cash, or both; at
most one in a turn and then none for a while. Offers of others it answers by the same values; it never counters.
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
from agents.players.vocabulary.parameters import COUNT, DOLLARS, RATIO, ROUNDS, Parameters, family, parameter
from agents.players.vocabulary.reading import (
    NO_LOT,
    STREETS,
    asked_lot,
    blocks,
    cheapest,
    completes,
    dearest_house,
    legal,
    may_offer_to,
    price,
    started,
)
from monopoly_env.actions import A_BUILD, A_BUY, A_JAIL, A_MORTGAGE, A_REPLY, A_TRADE, A_TURN, A_UNMORTGAGE
from monopoly_env.board import ALL_LOTS, GROUP_LOTS, NUM_LOTS, NUM_STREETS, RAILROADS
from monopoly_env.engine import agenda
from monopoly_env.engine.building import HOUSE_LOT
from monopoly_env.engine.mortgage import lifting_cost
from monopoly_env.engine.players import mortgage_values, owner_of
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel
from monopoly_env.rules import number


@dataclass(frozen=True)
class Algorithmic(Parameters):
    """What the policy goes by, with the reason for each value."""

    reserve: float = parameter(
        200, 0, 2000, DOLLARS, "kept when buying and building: one pass of GO, or a visit to a street with two houses"
    )
    rich: float = parameter(500, 0, 5000, DOLLARS, "kept when lifting a mortgage: an idle lot earns less than a house")
    started: float = parameter(
        1.2, 0, 10, RATIO, "worth of a lot in list prices where one of its group is owned: it is on the way to a group"
    )
    blocks: float = parameter(1.5, 0, 10, RATIO, "worth in list prices of a lot that an opponent needs to complete a group")
    completes: float = parameter(
        3, 0, 20, RATIO, "worth in list prices of a lot that completes a group: three houses bring back its price soon"
    )
    denies: float = parameter(
        2,
        0,
        20,
        RATIO,
        "what giving an opponent such a lot must bring, in list prices: below what it is worth to him, so that trades happen",
    )
    margin: float = parameter(1.1, 0, 10, RATIO, "what an offer must bring for each dollar given: a trade at par helps the partner as much")
    offer_pause: float = parameter(10, 0, 1000, ROUNDS, "between two offers: a refused offer would be refused again")
    lots_left: float = parameter(
        8, 0, 29, COUNT, "unowned lots from which on leaving jail early is worth the fine: there is still something to buy"
    )
    scarce: float = parameter(1.5, 0, 10, RATIO, "highest bid for a scarce building, in list prices")


_RESERVE, _RICH, _STARTED, _BLOCKS, _COMPLETES, _DENIES, _MARGIN, _PAUSE, _LOTS_LEFT, _SCARCE = range(10)

_NEXT_OFFER = 0  # its memory: the turn from which on it may offer again
_ONE_FOR_ONE = number("trade", "one_for_one")
_OFFICIAL = number("trade", "official")
_PATIENT, _AT_ONCE = 0.5, 1.0  # the share of the room below its limit that a bid takes: rivals see an open bid, not a sealed one


@kernel
def _worth(game: Game, seat: int, lot: int, params: Row) -> float:
    """What a lot is worth in a seat's hands, in dollars."""
    value = float(price(game, lot))
    if completes(game, seat, lot):
        value *= params[_COMPLETES]
    elif blocks(game, seat, lot):
        value *= params[_BLOCKS]
    elif started(game, seat, lot):
        value *= params[_STARTED]
    if has(game.mortgaged, lot):
        value -= lifting_cost(game, lot)
    return value


@kernel
def _loss(game: Game, seat: int, other: int, lot: int, params: Row) -> float:
    """What giving a lot to another seat costs: its worth here, or what the other gains by it, in dollars."""
    value = _worth(game, seat, lot, params)
    if completes(game, other, lot):
        value = max(value, params[_DENIES] * price(game, lot))
    return value


# --- lots for sale ------------------------------------------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row) -> int:
    lot = asked_lot(game)
    cost, cash = price(game, lot), int(game.cash[seat])
    needed = completes(game, seat, lot)
    if legal(game, A_BUY + 1, 1):
        wanted = cash - cost >= params[_RESERVE] or needed or blocks(game, seat, lot)
        return A_BUY + 1 if wanted else A_BUY
    if needed:  # it is worth mortgaging lots of which there is no group, if they suffice
        lots = spare_lots(game, seat)
        if cash + mortgage_values(game, lots) >= cost:
            return A_MORTGAGE + cheapest(game, lots)
    return A_BUY


@kernel
def _bid_limit(game: Game, seat: int, params: Row) -> float:
    """The highest bid: what the lot is worth, of the cash beyond half the reserve (all of it for a lot that completes a group)."""
    cash, lot = float(game.cash[seat]), int(game.auction_lot)
    if lot >= HOUSE_LOT:
        return min(params[_SCARCE] * dearest_house(game, seat), cash - params[_RESERVE])
    if completes(game, seat, lot):
        return min(_worth(game, seat, lot, params), cash)
    return min(_worth(game, seat, lot, params), cash - params[_RESERVE] / 2)


# --- windows of the turn ------------------------------------------------------------------------------------------------


@kernel
def _turn(game: Game, seat: int, params: Row, memory: Row) -> int:
    if legal(game, A_JAIL, 2) and leaves_early(game, params[_LOTS_LEFT], params[_RESERVE]):
        return leave_jail(game)
    mortgaged = legal(game, A_UNMORTGAGE, NUM_LOTS)
    if mortgaged:
        lot = lift_first(game, seat, mortgaged)
        kept = params[_RESERVE] if completes(game, seat, lot) else params[_RICH]
        if int(game.cash[seat]) - lifting_cost(game, lot) >= kept:
            return A_UNMORTGAGE + lot
    streets = legal(game, A_BUILD, NUM_STREETS)
    if streets:
        street = best_building(game, streets, int(game.cash[seat]) - params[_RESERVE])
        if street != NO_LOT:
            return A_BUILD + street
    if game.turns >= memory[_NEXT_OFFER] and game.offers[seat] == 0 and legal(game, A_TRADE, 7):
        return _offer(game, seat, params, memory)
    return A_TURN


# --- offers -------------------------------------------------------------------------------------------------------------


@kernel
def _offer(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Begin an offer that both sides gain by, or go on; looks again only after a pause."""
    memory[_NEXT_OFFER] = game.turns + params[_PAUSE] * game.num_players
    owned = int(game.lots[seat])
    for group in range(RAILROADS):
        missing = int(GROUP_LOTS[group]) & ~owned
        if size(missing) != 1:
            continue
        ask = lowest(missing)
        partner = owner_of(game, ask)
        if partner < 0 or not may_offer_to(game, seat, partner):
            continue
        give = _swap(game, seat, partner, group)
        cash = _fair_cash(game, seat, partner, ask, give, params)
        if cash >= 0:
            return begin_offer(game, partner, missing, 0 if give == NO_LOT else 1 << give, cash, memory)
    return A_TURN


@kernel
def _swap(game: Game, seat: int, partner: int, but: int) -> int:
    """A street of this seat that completes a group of the partner, outside one group, or NO_LOT."""
    streets = int(game.lots[seat]) & STREETS & ~int(GROUP_LOTS[but])
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        if completes(game, partner, street):
            return street
    return NO_LOT


@kernel
def _fair_cash(game: Game, seat: int, partner: int, ask: int, give: int, params: Row) -> int:
    """The dollars that make the partner accept, rounded up to ten; -1 if that is too much, or not allowed."""
    due = params[_MARGIN] * _loss(game, partner, seat, ask, params)
    loss = 0.0
    if give != NO_LOT:
        due -= _worth(game, partner, give, params)
        loss = _loss(game, seat, partner, give, params)
    cash = int(np.ceil(max(due, 0.0) / 10.0)) * 10
    if game.rules.trade != _OFFICIAL and give == NO_LOT:
        return -1
    if cash > 0 and game.rules.trade == _ONE_FOR_ONE:
        return -1
    gains = _worth(game, seat, ask, params) >= params[_MARGIN] * (loss + cash)
    return cash if gains and int(game.cash[seat]) - cash >= params[_RESERVE] else -1


@kernel
def _reply(game: Game, seat: int, params: Row) -> int:
    """Accept what brings the margin and leaves half the reserve in cash."""
    proposer = int(game.offer_from)
    received, given = 0.0, 0.0
    lots = int(game.offer_give) & ALL_LOTS
    while lots:
        received += _worth(game, seat, lowest(lots), params)
        lots &= lots - 1
    lots = int(game.offer_ask) & ALL_LOTS
    while lots:
        given += _loss(game, seat, proposer, lowest(lots), params)
        lots &= lots - 1
    fine = int(game.rules.jail_fine)  # a jail card saves the fine
    received += fine * size(int(game.offer_give) & ~ALL_LOTS)
    given += fine * size(int(game.offer_ask) & ~ALL_LOTS)
    cash = int(game.offer_cash)
    if cash > 0:
        received += cash
    else:
        given -= cash
    affordable = cash >= 0 or int(game.cash[seat]) + cash >= params[_RESERVE] / 2
    if legal(game, A_REPLY + 1, 1) and affordable and received > 0 and received >= params[_MARGIN] * given:
        return A_REPLY + 1
    return A_REPLY


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
        return answer_jail(game, leaves_early(game, params[_LOTS_LEFT], params[_RESERVE]))
    if agenda.ASK <= decision <= agenda.CASH:
        return compose(game, memory)
    if decision == agenda.REPLY:
        return _reply(game, seat, params)
    if decision == agenda.DEBT:
        return raise_cash(game)
    if decision == agenda.TAKEOVER:
        return take_over(game, params[_RESERVE], params[_RICH])
    return routine(game)


POLICIES: Final = {"algorithmic": family("algorithmic", _play, Algorithmic)}
