"""`algorithmic`: a plain player by thresholds on cash and the worth of lots to each player.

It buys and bids as long as it keeps a reserve, which it gives up for a lot that completes or blocks
a group. It builds where a dollar adds the most rent, gives up first what is missed least, and
leaves jail while there is something left to buy. It makes one kind of offer: for a lot that
completes one of its groups, it gives a lot that does the same for the partner, or cash, or both. It
makes at most one offer in a turn and then none for a while. It answers offers by the same values
and never makes a counter-offer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.players.vocabulary import groups, habits, offers, reading
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.parameters import Parameters, named, parameter
from agents.players.vocabulary.reading import NO_LOT, asked_lot, price
from agents.players.vocabulary.skeleton import decide
from monopoly_env.actions import A_BUY, A_TURN
from monopoly_env.engine import building, mortgage, players
from monopoly_env.engine.sets import each, has, lowest, size
from monopoly_env.facts.board import ALL_LOTS, GROUP_LOTS, RAILROADS
from monopoly_env.game import Game
from monopoly_env.kernels import inlined, kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel


@dataclass(frozen=True)
class Algorithmic(Parameters):
    """Parameters of the policy."""

    reserve: float = parameter(200, 0, 2000, "dollars")
    """kept when buying and building: one pass of GO, or the rent of a street with two houses"""
    rich: float = parameter(500, 0, 5000, "dollars")
    """kept when lifting a mortgage: an unused lot earns less than a house"""
    started: float = parameter(1.2, 0, 10, "ratio")
    """worth, in list prices, of a lot of whose group one is already owned: it is on the way to a
    group"""
    blocks: float = parameter(1.5, 0, 10, "ratio")
    """worth, in list prices, of a lot that an opponent needs to complete a group"""
    completes: float = parameter(3, 0, 20, "ratio")
    """worth, in list prices, of a lot that completes a group: three houses soon earn its price
    back"""
    denies: float = parameter(2, 0, 20, "ratio")
    """wanted, in list prices, for a lot that completes an opponent's group: less than its worth
    there, so trades happen"""
    margin: float = parameter(1.1, 0, 10, "ratio")
    """what a trade must bring for each dollar given: at 1, it would help the partner as much"""
    offer_pause: float = parameter(10, 0, 1000, "rounds")
    """between two offers: a refused offer would be refused again"""
    lots_left: float = parameter(8, 0, 29, "count")
    """leaving jail early is worth the fine while this many lots are unowned: there is still
    something to buy"""
    scarce: float = parameter(1.5, 0, 10, "ratio")
    """highest bid for a scarce building, in list prices"""


AT: Final = Algorithmic.columns()

SLOT: Final = memory_slots("next_offer")  # the first turn in which it may make another offer


@kernel
def worth_of(game: Game, seat: int, lot: int, params: Row) -> float:
    """The worth of a lot to its owner `seat` (dollars)."""
    value = float(price(game, lot)) * groups.weight(
        game, seat, lot, params[AT.completes], params[AT.blocks], params[AT.started]
    )
    if has(game.mortgaged, lot):
        value -= mortgage.lifting_cost(game, lot)
    return value


@kernel
def loss_of(game: Game, seat: int, other: int, lot: int, params: Row) -> float:
    """The cost of giving a lot: its worth, or the price of completing a group, in dollars."""
    value = worth_of(game, seat, lot, params)
    if groups.completes(game, other, lot):
        value = max(value, params[AT.denies] * price(game, lot))
    return value


# --- lots for sale --------------------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot = asked_lot(game)
    cost, cash = price(game, lot), int(game.cash[seat])
    needed = groups.completes(game, seat, lot)
    if reading.may_buy(game):
        wanted = cash - cost >= params[AT.reserve] or needed or groups.blocks(game, seat, lot)
        return A_BUY + 1 if wanted else A_BUY
    if needed:  # worth mortgaging lots outside complete groups for
        return habits.pawn_cheapest(game, seat, habits.spare_lots(game, seat), cost)
    return A_BUY


@kernel
def _bid(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Bid up to the lot's worth; keep half the reserve unless it completes a group."""
    cash, lot = float(game.cash[seat]), int(game.auction_lot)
    if lot >= building.HOUSE_LOT:
        limit = params[AT.scarce] * groups.dearest_house(game, seat)
        return habits.bid(game, min(limit, cash - params[AT.reserve]))
    kept = 0.0 if groups.completes(game, seat, lot) else params[AT.reserve] / 2
    return habits.bid(game, min(worth_of(game, seat, lot, params), cash - kept))


@kernel
def _leaves(game: Game, seat: int, params: Row, memory: Row) -> bool:
    return habits.leaves_early(game, params[AT.lots_left], params[AT.reserve])


@kernel
def _lifts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    return habits.lifts_at_once(game, params[AT.reserve], params[AT.rich])


# --- windows of the turn --------------------------------------------------------------------------


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    action, mortgaged, streets = A_TURN, reading.liftable(game), reading.buildable(game)
    if mortgaged:
        action = habits.lift(game, seat, mortgaged, params[AT.reserve], params[AT.rich])
    if streets and action == A_TURN:
        funds = int(game.cash[seat]) - params[AT.reserve]
        action = habits.build_best(game, streets, funds)
    if action == A_TURN and may_offer(game, seat, memory):
        return offer(game, seat, params, memory)
    return action


# --- offers ---------------------------------------------------------------------------------------


@inlined
def may_offer(game: Game, seat: int, memory: Row) -> bool:
    """Whether it looks for an offer again."""
    return (
        game.turns >= memory[SLOT.next_offer] and game.offers[seat] == 0 and reading.may_trade(game)
    )


@kernel
def offer(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Begin an offer that both sides gain by, or end the window; then pause."""
    memory[SLOT.next_offer] = game.turns + params[AT.offer_pause] * game.num_players
    owned = int(game.lots[seat])
    for group in range(RAILROADS):
        missing = GROUP_LOTS[group] & ~owned
        if size(missing) != 1:
            continue
        ask = lowest(missing)
        partner = players.owner_of(game, ask)
        if partner < 0 or not offers.may_offer_to(game, seat, partner):
            continue
        give = _swap(game, seat, partner, group)
        cash = _fair_cash(game, seat, partner, ask, give, params)
        if cash >= 0:
            return offers.begin(
                game, partner, missing, 0 if give == NO_LOT else 1 << give, cash, memory
            )
    return A_TURN


@kernel
def _swap(game: Game, seat: int, partner: int, but: int) -> int:
    """A street that completes a group of the partner, outside the group `but`; or NO_LOT."""
    streets = int(game.lots[seat]) & groups.STREETS & ~GROUP_LOTS[but]
    for street in each(streets):
        if groups.completes(game, partner, street):
            return street
    return NO_LOT


@kernel
def _fair_cash(game: Game, seat: int, partner: int, ask: int, give: int, params: Row) -> int:
    """The dollars that make the partner accept, in tens; -1 if too much or not allowed."""
    due = params[AT.margin] * loss_of(game, partner, seat, ask, params)
    loss = 0.0
    if give != NO_LOT:
        due -= worth_of(game, partner, give, params)
        loss = loss_of(game, seat, partner, give, params)
    cash = int(np.ceil(max(due, 0.0) / 10.0)) * 10
    if game.rules.trade != offers.OFFICIAL and give == NO_LOT:
        return -1
    if cash > 0 and game.rules.trade == offers.ONE_FOR_ONE:
        return -1
    gains = worth_of(game, seat, ask, params) >= params[AT.margin] * (loss + cash)
    return cash if gains and int(game.cash[seat]) - cash >= params[AT.reserve] else -1


@kernel
def _accepts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    proposer = int(game.offer_from)
    received, given = 0.0, 0.0
    for lot in each(int(game.offer_give) & ALL_LOTS):
        received += worth_of(game, seat, lot, params)
    for lot in each(int(game.offer_ask) & ALL_LOTS):
        given += loss_of(game, seat, proposer, lot, params)
    return suits(game, received, given, params)


@kernel
def suits(game: Game, received: float, given: float, params: Row) -> bool:
    """Whether an offer of lots of these worths (dollars) brings the margin and leaves cash."""
    seat, fine = int(game.player), int(game.rules.jail_fine)  # a jail card saves the fine
    received += fine * size(int(game.offer_give) & ~ALL_LOTS)
    given += fine * size(int(game.offer_ask) & ~ALL_LOTS)
    cash = int(game.offer_cash)
    if cash > 0:
        received += cash
    else:
        given -= cash
    affordable = cash >= 0 or int(game.cash[seat]) + cash >= params[AT.reserve] / 2
    return affordable and received > 0 and received >= params[AT.margin] * given


@inlined
def answer(game: Game, params: Row, memory: Row) -> int:
    """The action of the seat that decides; policies that build on this one call it too."""
    return decide(game, params, memory, _window, _buy, _bid, _leaves, _accepts, lifts=_lifts)


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    return answer(game, params, memory)


POLICIES: Final = named(_play, Algorithmic, {"algorithmic": {}})
