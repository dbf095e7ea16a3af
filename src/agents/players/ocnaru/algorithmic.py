"""`ocnaru/algorithmic`: thresholds on cash, and values of lots as they were at the first look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.players.ocnaru import stages
from agents.players.ocnaru.stages import NO_ACTION, SLOT
from agents.players.vocabulary import groups, habits, offers, reading
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.parameters import Parameters, named, parameter, switch
from agents.players.vocabulary.reading import amount_due, asked_lot, legal, price
from agents.players.vocabulary.skeleton import decide
from monopoly_env.actions import A_BUY, A_JAIL, A_MORTGAGE, A_SELL, A_TURN
from monopoly_env.engine import agenda, building, mortgage, trade
from monopoly_env.engine.sets import each, has, size
from monopoly_env.facts import board
from monopoly_env.facts.board import NUM_LOTS
from monopoly_env.game import Game
from monopoly_env.kernels import kernel, on_stack
from monopoly_env.policy.protocol import Mask, Row, policy_kernel


@dataclass(frozen=True)
class OcnaruAlgorithmic(Parameters):
    """The constants of the published program, and two of ours for decisions that it lacks."""

    reserve: float = parameter(200, 0, 2000, "dollars")
    """kept when buying, building, lifting a mortgage and offering cash"""
    emergency: float = parameter(100, 0, 2000, "dollars")
    """at or below this much cash, buildings are sold and lots mortgaged"""
    bargain: float = parameter(1.1, 0, 10, "ratio")
    """a lot is bought, and counts as valuable, if its value is above this many list prices"""
    house_return: float = parameter(0.12, 0, 10, "ratio")
    """rent that the next house must add for each dollar of its price"""
    hotel_return: float = parameter(0.15, 0, 10, "ratio")
    """rent that a hotel must add for each dollar of its price"""
    sell_below: float = parameter(0.7, 0, 10, "ratio")
    """in an emergency, a building is sold if its return is below this share of these two"""
    at_once: float = parameter(2, 0, 28, "count")
    """most lots mortgaged or lifted in one window"""
    railroads: float = parameter(1.2, 0, 10, "ratio")
    """a railroad's value is multiplied by this for each railroad owned"""
    utilities: float = parameter(1.5, 0, 10, "ratio")
    """a utility's value is multiplied by this if one is owned"""
    completes: float = parameter(1.5, 0, 10, "ratio")
    """the same for a street that completes a group, and for what a trade gains or loses so"""
    landing_6: float = parameter(1.3, 0, 10, "ratio")
    """the same for the street on square 6: the program's guess at how often it is visited"""
    landing_16: float = parameter(1.2, 0, 10, "ratio")
    """the same for the streets on squares 16 and 26"""
    landing_9: float = parameter(1.1, 0, 10, "ratio")
    """the same for the street on square 9 (the program's squares 4 and 10 have no lot)"""
    fines: float = parameter(2, 0, 100, "count")
    """the fine is paid to leave jail with at least this many fines in cash"""
    leaving_streets: float = parameter(2, 0, 22, "count")
    """and with more valuable streets than this"""
    jail_card: float = parameter(50, 0, 1000, "dollars")
    """worth of a jail card in a trade: the fine that it saves"""
    accepts: float = parameter(1.1, 0, 10, "ratio")
    """a trade is accepted if it brings more than this for each dollar given"""
    danger: float = parameter(1.5, 0, 10, "ratio")
    """what is given counts this many times if less cash than the emergency's would be left"""
    far_behind: float = parameter(1.5, 0, 10, "ratio")
    """a proposer that owns more than this many times the seat's lots is far ahead"""
    catching_up: float = parameter(1.2, 0, 10, "ratio")
    """what such a proposer offers counts this many times"""
    buildings_first: bool = switch(True)
    """for a debt, buildings are sold before lots are mortgaged"""
    legacy_debts: bool = switch(False)
    """gives up every debt above the cash in hand if the rules let it: the program of May 2025,
    which produced the thesis's figures, never raises cash for a debt"""
    highest_bid: float = parameter(1.5, 0, 10, "ratio")
    """highest bid in list prices (ours): the value counts hotels that are not built yet"""
    scarce: float = parameter(1.5, 0, 10, "ratio")
    """highest bid for a scarce building, in list prices (ours)"""


AT: Final = OcnaruAlgorithmic.columns()
OWN: Final = memory_slots(value=board.NUM_LOTS, start=SLOT.end)


# --- the value of a lot ---------------------------------------------------------------------------


@kernel
def _value(game: Game, seat: int, lot: int, params: Row, memory: Row) -> float:
    """A lot's value as it was at the first look, in dollars: it is kept for the whole game."""
    if memory[OWN.value + lot] == 0.0:
        group = board.GROUP_OF[lot]
        owned = size(int(game.lots[seat]) & board.GROUP_LOTS[group])
        value = float(price(game, lot))
        if group == board.RAILROADS:
            value *= params[AT.railroads] ** owned
        elif group == board.UTILITIES:
            value *= params[AT.utilities] if owned == 1 else 1.0
        else:
            value += board.RENT[game.rules.board, lot, board.HOTEL]
            last = owned == board.GROUP_SIZE[group] - 1
            value *= _landing(game, lot, params) * (params[AT.completes] if last else 1.0)
        memory[OWN.value + lot] = value
    return memory[OWN.value + lot]


@kernel
def _landing(game: Game, lot: int, params: Row) -> float:
    square = board.LOT_SQUARE[game.rules.board, lot]
    if square == 6:
        return params[AT.landing_6]
    if square == 16 or square == 26:
        return params[AT.landing_16]
    return params[AT.landing_9] if square == 9 else 1.0


@kernel
def _values(game: Game, seat: int, lots: int, params: Row, memory: Row) -> float:
    total = 0.0
    for lot in each(lots):
        total += _value(game, seat, lot, params, memory)
    return total


@kernel
def _return(game: Game, street: int, hotel: bool) -> float:
    """Rent per dollar of the next level of a street, or of its group if built at once.

    Defects of the program, kept here: bare streets count their single rent; a hotel is compared
    with the bare street; the house after the fourth is missing in its table and counts as a bare
    street.
    """
    edition, level = int(game.rules.board), int(game.level[street]) % board.HOTEL
    whole = game.rules.even_build == building.WHOLE_GROUP
    count = board.GROUP_SIZE[board.GROUP_OF[street]] if whole else 1
    following = board.HOTEL if hotel else (level + 1 if level < board.HOTEL - 1 else 0)
    gain = 0
    for lot in range(street, street + count):
        gain += board.RENT[edition, lot, following] - board.RENT[edition, lot, level]
    cost = board.HOUSE_PRICE[edition, street] * count
    if hotel:
        cost = building.building_cost(game, street)
    return gain / cost


# --- windows of the turn --------------------------------------------------------------------------


@kernel
def _chosen(game: Game, seat: int, stage: int, params: Row, memory: Row) -> int:
    """The things to do in a stage, a bit each."""
    cash = int(game.cash[seat])
    if stage == stages.LEAVE:
        return _way_out(game, seat, params, memory) if reading.may_leave(game) else 0
    if stage == stages.TRADE:
        return stages.partners(game, seat) if game.rules.trade == offers.OFFICIAL else 0
    if stage == stages.LOWER:
        return _weakly_built(game, params) if cash <= params[AT.emergency] else 0
    if stage == stages.MORTGAGES:
        lots = reading.mortgageable(game) if cash <= params[AT.emergency] else 0
        return _first(game, seat, lots, False, params, memory)
    if stage == stages.LIFT:
        return _first(game, seat, _payable(game, cash - params[AT.reserve]), True, params, memory)
    return _worth_building(game, cash - params[AT.reserve], params)


@kernel
def _way_out(game: Game, seat: int, params: Row, memory: Row) -> int:
    """The way out of jail as a bit: 2 the card once anything is built, 1 the fine, 0 stay."""
    if reading.has_card(game):
        for street in range(board.NUM_STREETS):
            if game.level[street] > 0 and has(game.lots[seat], street):
                return 2
    if not legal(game, A_JAIL, 1) or game.cash[seat] < params[AT.fines] * game.rules.jail_fine:
        return 0
    valuable, streets = 0, int(game.lots[seat]) & groups.STREETS
    for street in each(streets):
        if _value(game, seat, street, params, memory) > params[AT.bargain] * price(game, street):
            valuable += 1
    return 1 if valuable > params[AT.leaving_streets] else 0


@kernel
def _weakly_built(game: Game, params: Row) -> int:
    """The streets whose top building may be sold and whose next level would bring too little."""
    weak, streets = 0, reading.sellable(game)
    for street in each(streets):
        hotel = game.level[street] == board.HOTEL
        wanted = params[AT.hotel_return if hotel else AT.house_return]
        if _return(game, street, hotel) < params[AT.sell_below] * wanted:
            weak |= 1 << street
    return weak


@kernel
def _payable(game: Game, funds: float) -> int:
    """The mortgages that cost at most the funds, each on its own."""
    payable, lots = 0, reading.liftable(game)
    for lot in each(lots):
        if mortgage.lifting_cost(game, lot) <= funds:
            payable |= 1 << lot
    return payable


@kernel
def _first(game: Game, seat: int, lots: int, lifting: bool, params: Row, memory: Row) -> int:
    """The few lots to lift (highest value per dollar) or to mortgage (lowest)."""
    chosen, losses = 0, on_stack(NUM_LOTS, np.float64)
    for lot in each(lots):
        if lifting:
            losses[lot] = -_lifting_rank(game, seat, lot, params, memory)
        else:
            losses[lot] = _mortgage_rank(game, seat, lot, params, memory)
    while lots and size(chosen) < params[AT.at_once]:
        best = 1 << reading.least(lots, losses)
        lots &= ~best
        chosen |= best
    return chosen


@kernel
def _mortgage_rank(game: Game, seat: int, lot: int, params: Row, memory: Row) -> float:
    return _value(game, seat, lot, params, memory) / board.MORTGAGE[game.rules.board, lot]


@kernel
def _lifting_rank(game: Game, seat: int, lot: int, params: Row, memory: Row) -> float:
    rank = _value(game, seat, lot, params, memory) / mortgage.lifting_cost(game, lot)
    group = board.GROUP_OF[lot]
    working = size(int(game.lots[seat]) & board.GROUP_LOTS[group] & ~int(game.mortgaged))
    last = group < building.COLOURS and working == board.GROUP_SIZE[group] - 1
    return rank * params[AT.completes] if last else rank


@kernel
def _worth_building(game: Game, funds: float, params: Row) -> int:
    """The streets with enough return to raise by one level, in board order, within the funds."""
    chosen, streets = 0, reading.buildable(game)
    for street in each(streets):
        hotel = building.next_level(game, street) == board.HOTEL
        cost = building.building_cost(game, street)
        wanted = params[AT.hotel_return if hotel else AT.house_return]
        if cost <= funds and _return(game, street, hotel) > wanted:
            chosen |= 1 << street
            funds -= cost
    return chosen


# --- purchases, trades, debts ---------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot = asked_lot(game)
    cost = price(game, lot)
    if not reading.may_buy(game) or int(game.cash[seat]) - cost < params[AT.reserve]:
        return A_BUY
    return A_BUY + (_value(game, seat, lot, params, memory) > params[AT.bargain] * cost)


@kernel
def _bid(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Bid while the lot is still a bargain, within the cash above the reserve."""
    lot, spare = int(game.auction_lot), int(game.cash[seat]) - params[AT.reserve]
    if lot >= building.HOUSE_LOT:
        return habits.bid(game, min(params[AT.scarce] * groups.dearest_house(game, seat), spare))
    worth = _value(game, seat, lot, params, memory) / params[AT.bargain]
    return habits.bid(game, min(worth, params[AT.highest_bid] * price(game, lot), spare))


@kernel
def _offer(game: Game, seat: int, partner: int, params: Row, memory: Row) -> int:
    """Offer cash for all of a partner's streets in the groups of which this seat owns some."""
    if not offers.may_offer_to(game, seat, partner) or game.cash[partner] < params[AT.emergency]:
        return NO_ACTION
    wanted, mine = 0, int(game.lots[seat])
    for group in range(building.COLOURS):
        if mine & board.GROUP_LOTS[group]:
            wanted |= board.GROUP_LOTS[group] & int(game.lots[partner])
    wanted &= trade.tradable(game, partner)
    spare = int(game.cash[seat]) - params[AT.reserve]
    cash = int(min(_values(game, seat, wanted, params, memory), spare))
    if wanted and cash > 0:
        return offers.begin(game, partner, wanted, 0, cash, memory)
    return NO_ACTION


@kernel
def _accepts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Whether an offer brings enough for each dollar given, by the kept values."""
    cash, mine, proposer = int(game.offer_cash), int(game.lots[seat]), int(game.offer_from)
    come, go = int(game.offer_give), int(game.offer_ask)
    cards, cards_given = size(come & ~board.ALL_LOTS), size(go & ~board.ALL_LOTS)
    received = max(cash, 0) + params[AT.jail_card] * cards
    received += _values(game, seat, come & board.ALL_LOTS, params, memory)
    given = max(-cash, 0) + params[AT.jail_card] * cards_given
    given += _values(game, seat, go & board.ALL_LOTS, params, memory)
    come &= groups.STREETS
    for lot in each(come):
        group = board.GROUP_OF[lot]
        if size(mine & board.GROUP_LOTS[group]) == board.GROUP_SIZE[group] - 1:
            received *= params[AT.completes]
    for _ in range(size(go & groups.complete(mine) & groups.STREETS)):
        given *= params[AT.completes]
    if int(game.cash[seat]) - max(-cash, 0) < params[AT.emergency]:
        given *= params[AT.danger]
    if size(int(game.lots[proposer])) > params[AT.far_behind] * size(mine):
        received *= params[AT.catching_up]
    return received > params[AT.accepts] * given


@kernel
def _debt(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Carry out the plan for this debt; give up if no plan meets it and the rules allow that."""
    debt = stages.debt_at_hand(game)
    is_planned = int(memory[SLOT.to_sell]) | int(memory[SLOT.to_mortgage]) != 0
    if memory[SLOT.debt] != debt or not is_planned:
        may_give_up = reading.may_go_on(game)
        memory[SLOT.debt] = debt
        met = _plan(game, seat, amount_due(game) - int(game.cash[seat]), params, memory)
        if may_give_up and (not met or params[AT.legacy_debts]):
            return A_TURN
    first = bool(params[AT.buildings_first])
    for selling in (first, not first):
        slot = SLOT.to_sell if selling else SLOT.to_mortgage
        planned = int(memory[slot]) & _at_hand(game, selling)
        if planned:
            member = _next_to_go(game, seat, planned, selling, params, memory)
            memory[slot] = int(memory[slot]) & ~(1 << member)
            return (A_SELL if selling else A_MORTGAGE) + member
    memory[SLOT.to_sell], memory[SLOT.to_mortgage] = 0, 0
    return habits.raise_cash(game)


@kernel
def _at_hand(game: Game, selling: bool) -> int:
    return reading.sellable(game) if selling else reading.mortgageable(game)


@kernel
def _plan(game: Game, seat: int, needed: int, params: Row, memory: Row) -> bool:
    """Plan sales and mortgages for a debt, at most one level of a group; False: not enough."""
    memory[SLOT.to_sell], memory[SLOT.to_mortgage] = 0, 0
    first, edition = bool(params[AT.buildings_first]), int(game.rules.board)
    for selling in (first, not first):
        slot, left = SLOT.to_sell if selling else SLOT.to_mortgage, _at_hand(game, selling)
        while left and needed > 0:
            member = _next_to_go(game, seat, left, selling, params, memory)
            left &= ~(1 << member)
            memory[slot] = int(memory[slot]) | 1 << member
            needed -= stages.proceeds(game, member) if selling else board.MORTGAGE[edition, member]
    return needed <= 0


@kernel
def _next_to_go(
    game: Game, seat: int, members: int, selling: bool, params: Row, memory: Row
) -> int:
    """The street of the least group value per house, or the lot of the least value per dollar."""
    ranks = on_stack(NUM_LOTS, np.float64)
    for member in each(members):
        if selling:
            level = int(game.level[member])
            value = _values(game, seat, board.GROUP_LOTS[board.GROUP_OF[member]], params, memory)
            ranks[member] = value / (1 if level == board.HOTEL else level)
        else:
            ranks[member] = _mortgage_rank(game, seat, member, params, memory)
    return reading.least(members, ranks)


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    return stages.go_through(game, seat, params, memory, _chosen, _offer)


@kernel
def _lifts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    return habits.lifts_at_once(game, params[AT.reserve], params[AT.reserve])


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    if game.decision == agenda.JAIL:
        return stages.stay_or_leave(game, _way_out(game, int(game.player), params, memory))
    return decide(
        game, params, memory, _window, _buy, _bid, accepts=_accepts, debt=_debt, lifts=_lifts
    )


POLICIES: Final = named(_play, OcnaruAlgorithmic, {"ocnaru/algorithmic": {}})
