"""`ocnaru/algorithmic`: thresholds on cash, and values that are kept from the first look at a lot on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agents.players.ocnaru.stages import (
    DEBT,
    DONE,
    FIRST_ACTION,
    LEAVE,
    LEFT,
    LEGACY_DEBTS,
    LIFT,
    LOWER,
    MORTGAGES,
    NO_ACTION,
    NOT_ENTERED,
    STAGE,
    TO_MORTGAGE,
    TO_SELL,
    TRADE,
    close_stage,
    debt_at_hand,
    open_window,
    partners,
    proceeds,
    stay_or_leave,
    take_member,
)
from agents.players.vocabulary.habits import bid_up_to, raise_cash, routine, take_over
from agents.players.vocabulary.offers import begin_offer, compose
from agents.players.vocabulary.parameters import COUNT, DOLLARS, RATIO, Parameters, family, parameter, switch
from agents.players.vocabulary.reading import (
    NO_LOT,
    STREETS,
    amount_due,
    asked_lot,
    dearest_house,
    in_whole_groups,
    legal,
    may_offer_to,
    price,
)
from monopoly_env.actions import A_BUILD, A_BUY, A_JAIL, A_MORTGAGE, A_REPLY, A_SELL, A_TURN, A_UNMORTGAGE
from monopoly_env.board import (
    ALL_LOTS,
    GROUP_LOTS,
    GROUP_OF,
    GROUP_SIZE,
    HOTEL,
    HOUSE_PRICE,
    LOT_SQUARE,
    MORTGAGE,
    NUM_LOTS,
    NUM_STREETS,
    RAILROADS,
    RENT,
    UTILITIES,
)
from monopoly_env.engine import agenda
from monopoly_env.engine.building import COLOURS, HOUSE_LOT, WHOLE_GROUP, building_cost, next_level
from monopoly_env.engine.mortgage import lifting_cost
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.engine.trade import tradable
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel
from monopoly_env.rules import number


@dataclass(frozen=True)
class Algorithmic(Parameters):
    """The constants of the published program, and two of ours for heads that it lacks."""

    reserve: float = parameter(200, 0, 2000, DOLLARS, "kept when buying, building, lifting a mortgage and offering cash")
    emergency: float = parameter(100, 0, 2000, DOLLARS, "at most this much cash: buildings are sold and lots mortgaged")
    bargain: float = parameter(1.1, 0, 10, RATIO, "a lot is bought, and counts as valuable, if its value is above this many list prices")
    house_return: float = parameter(0.12, 0, 10, RATIO, "rent that the next house must add for each dollar of its price")
    hotel_return: float = parameter(0.15, 0, 10, RATIO, "rent that a hotel must add for each dollar of its price")
    sell_below: float = parameter(0.7, 0, 10, RATIO, "in an emergency a group goes down whose next return is below this share of these two")
    at_once: float = parameter(2, 0, 28, COUNT, "most lots mortgaged or lifted in a window")
    railroads: float = parameter(1.2, 0, 10, RATIO, "a railroad's value is multiplied by this for each one owned")
    utilities: float = parameter(1.5, 0, 10, RATIO, "a utility's value is multiplied by this if one is owned")
    completes: float = parameter(1.5, 0, 10, RATIO, "a street that completes a group; likewise what comes in or goes in a trade")
    landing_6: float = parameter(1.3, 0, 10, RATIO, "value of the street on square 6: his guess that it is visited more often")
    landing_16: float = parameter(1.2, 0, 10, RATIO, "the same of the streets on squares 16 and 26")
    landing_9: float = parameter(1.1, 0, 10, RATIO, "the same of the street on square 9 (his squares 4 and 10 are no lots)")
    fines: float = parameter(2, 0, 100, COUNT, "jail is left by the fine with at least this many fines in cash")
    leaving_streets: float = parameter(2, 0, 22, COUNT, "and with more valuable streets than this")
    jail_card: float = parameter(50, 0, 1000, DOLLARS, "worth of a jail card in a trade: the fine that it saves")
    accepts: float = parameter(1.1, 0, 10, RATIO, "a trade is accepted if it brings more than this for each dollar given")
    danger: float = parameter(1.5, 0, 10, RATIO, "what is given counts this many times if less than the emergency's cash would be left")
    far_behind: float = parameter(1.5, 0, 10, RATIO, "a proposer with more than this many times the own lots is far ahead")
    catching_up: float = parameter(1.2, 0, 10, RATIO, "what he offers counts this many times")
    buildings_first: bool = switch(True, "for a debt, buildings are sold before lots are mortgaged")
    legacy_debts: bool = switch(False, LEGACY_DEBTS)
    highest_bid: float = parameter(1.5, 0, 10, RATIO, "most list prices bid (ours): the value counts hotels that nobody pays rent for yet")
    scarce: float = parameter(1.5, 0, 10, RATIO, "most list prices bid for a scarce building (ours)")


(
    _RESERVE, _EMERGENCY, _BARGAIN, _HOUSE_RETURN, _HOTEL_RETURN, _SELL_BELOW, _AT_ONCE, _OF_RAILROADS, _OF_UTILITIES, _COMPLETES,
    _LANDING_6, _LANDING_16, _LANDING_9, _FINES, _LEAVING, _JAIL_CARD, _ACCEPTS, _DANGER, _FAR_BEHIND, _CATCHING_UP,
    _BUILDINGS_FIRST, _SURRENDERS, _HIGHEST_BID, _SCARCE,
) = range(24)  # fmt: skip


_OFFICIAL = number("trade", "official")
_PATIENT, _AT_ONCE_BID = 0.5, 1.0  # the share of the room below its limit that an open and a sealed bid take


# --- what a lot is worth ------------------------------------------------------------------------------------------------


@kernel
def _value(game: Game, seat: int, lot: int, params: Row, memory: Row) -> float:
    """A lot's value as it was when first looked at, in dollars: it is kept for the whole game."""
    if memory[lot] == 0.0:
        group = int(GROUP_OF[lot])
        owned = size(int(game.lots[seat]) & int(GROUP_LOTS[group]))
        value = float(price(game, lot))
        if group == RAILROADS:
            value *= params[_OF_RAILROADS] ** owned
        elif group == UTILITIES:
            value *= params[_OF_UTILITIES] if owned == 1 else 1.0
        else:
            value += int(RENT[game.rules.board, lot, HOTEL])
            value *= _landing(game, lot, params) * (params[_COMPLETES] if owned == GROUP_SIZE[group] - 1 else 1.0)
        memory[lot] = value
    return memory[lot]


@kernel
def _landing(game: Game, lot: int, params: Row) -> float:
    square = int(LOT_SQUARE[game.rules.board, lot])
    if square == 6:
        return params[_LANDING_6]
    if square == 16 or square == 26:
        return params[_LANDING_16]
    return params[_LANDING_9] if square == 9 else 1.0


@kernel
def _values(game: Game, seat: int, lots: int, params: Row, memory: Row) -> float:
    total = 0.0
    while lots:
        total += _value(game, seat, lowest(lots), params, memory)
        lots &= lots - 1
    return total


@kernel
def _return(game: Game, street: int, hotel: bool) -> float:
    """Rent that the next level of a street adds for each dollar, or of its group where groups are built at once.

    His defects: bare streets count their single rent; a hotel is measured from the bare street; the house after the fourth is not in
    his table and counts as a bare street.
    """
    board, level = int(game.rules.board), int(game.level[street]) % HOTEL
    whole = game.rules.even_build == WHOLE_GROUP
    count = int(GROUP_SIZE[GROUP_OF[street]]) if whole else 1
    following = HOTEL if hotel else (level + 1 if level < HOTEL - 1 else 0)
    gain = 0
    for lot in range(street, street + count):
        gain += int(RENT[board, lot, following]) - int(RENT[board, lot, level])
    cost = building_cost(game, street) if hotel else int(HOUSE_PRICE[board, street]) * count
    return gain / cost


# --- windows of the turn -----------------------------------------------------------------------------------------------


@kernel
def _chosen(game: Game, seat: int, stage: int, params: Row, memory: Row) -> int:
    """What a stage is to do, a bit each."""
    cash = int(game.cash[seat])
    if stage == LEAVE:
        return _way_out(game, seat, params, memory) if legal(game, A_JAIL, 2) else 0
    if stage == TRADE:
        return partners(game, seat) if game.rules.trade == _OFFICIAL else 0
    if stage == LOWER:
        return _weakly_built(game, params) if cash <= params[_EMERGENCY] else 0
    if stage == MORTGAGES:
        lots = legal(game, A_MORTGAGE, NUM_LOTS) if cash <= params[_EMERGENCY] else 0
        return _first(game, seat, lots, False, params, memory)
    if stage == LIFT:
        return _first(game, seat, _payable(game, cash - params[_RESERVE]), True, params, memory)
    return _worth_building(game, cash - params[_RESERVE], params)


@kernel
def _way_out(game: Game, seat: int, params: Row, memory: Row) -> int:
    """The way out of jail as a bit: 2 the card once anything is built, 1 the fine, 0 stay."""
    if legal(game, A_JAIL + 1, 1):
        for street in range(NUM_STREETS):
            if game.level[street] > 0 and has(game.lots[seat], street):
                return 2
    if not legal(game, A_JAIL, 1) or game.cash[seat] < params[_FINES] * game.rules.jail_fine:
        return 0
    valuable, streets = 0, int(game.lots[seat]) & STREETS
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        if _value(game, seat, street, params, memory) > params[_BARGAIN] * price(game, street):
            valuable += 1
    return 1 if valuable > params[_LEAVING] else 0


@kernel
def _weakly_built(game: Game, params: Row) -> int:
    """The streets that may go down a level and whose next level would bring too little."""
    weak, streets = 0, legal(game, A_SELL, NUM_STREETS)
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        hotel = game.level[street] == HOTEL
        if _return(game, street, hotel) < params[_SELL_BELOW] * params[_HOTEL_RETURN if hotel else _HOUSE_RETURN]:
            weak |= 1 << street
    return weak


@kernel
def _payable(game: Game, funds: float) -> int:
    """The mortgages that cost at most the funds, each by itself."""
    payable, lots = 0, legal(game, A_UNMORTGAGE, NUM_LOTS)
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        if lifting_cost(game, lot) <= funds:
            payable |= 1 << lot
    return payable


@kernel
def _first(game: Game, seat: int, lots: int, lifting: bool, params: Row, memory: Row) -> int:
    """The few lots to lift (highest value a dollar) or to mortgage (lowest)."""
    chosen = 0
    while lots and size(chosen) < params[_AT_ONCE]:
        best, best_rank = 0, 0.0
        left = lots
        while left:
            lot = lowest(left)
            left &= left - 1
            rank = _lifting_rank(game, seat, lot, params, memory) if lifting else -_mortgage_rank(game, seat, lot, params, memory)
            if best == 0 or rank > best_rank:
                best, best_rank = 1 << lot, rank
        lots &= ~best
        chosen |= best
    return chosen


@kernel
def _mortgage_rank(game: Game, seat: int, lot: int, params: Row, memory: Row) -> float:
    return _value(game, seat, lot, params, memory) / int(MORTGAGE[game.rules.board, lot])


@kernel
def _lifting_rank(game: Game, seat: int, lot: int, params: Row, memory: Row) -> float:
    rank = _value(game, seat, lot, params, memory) / lifting_cost(game, lot)
    group = int(GROUP_OF[lot])
    working = size(int(game.lots[seat]) & int(GROUP_LOTS[group]) & ~int(game.mortgaged))
    return rank * (params[_COMPLETES] if group < COLOURS and working == GROUP_SIZE[group] - 1 else 1.0)


@kernel
def _worth_building(game: Game, funds: float, params: Row) -> int:
    """The streets to raise by one level: in board order, each while its price fits into the funds left and its return is enough."""
    chosen, streets = 0, legal(game, A_BUILD, NUM_STREETS)
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        hotel = next_level(game, street) == HOTEL
        cost = building_cost(game, street)
        if cost <= funds and _return(game, street, hotel) > params[_HOTEL_RETURN if hotel else _HOUSE_RETURN]:
            chosen |= 1 << street
            funds -= cost
    return chosen


# --- purchases, trades, debts ------------------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot = asked_lot(game)
    cost = price(game, lot)
    if not legal(game, A_BUY + 1, 1) or int(game.cash[seat]) - cost < params[_RESERVE]:
        return A_BUY
    return A_BUY + 1 if _value(game, seat, lot, params, memory) > params[_BARGAIN] * cost else A_BUY


@kernel
def _bid_limit(game: Game, seat: int, params: Row, memory: Row) -> float:
    """The highest bid at which the lot is still a bargain, within the cash beyond the reserve."""
    lot, spare = int(game.auction_lot), int(game.cash[seat]) - params[_RESERVE]
    if lot >= HOUSE_LOT:
        return min(params[_SCARCE] * dearest_house(game, seat), spare)
    return min(_value(game, seat, lot, params, memory) / params[_BARGAIN], params[_HIGHEST_BID] * price(game, lot), spare)


@kernel
def _offer(game: Game, seat: int, partner: int, params: Row, memory: Row) -> int:
    """Cash for all of a partner's streets in the groups of which this seat owns some."""
    if not may_offer_to(game, seat, partner) or game.cash[partner] < params[_EMERGENCY]:
        return NO_ACTION
    wanted, mine = 0, int(game.lots[seat])
    for group in range(COLOURS):
        if mine & int(GROUP_LOTS[group]):
            wanted |= int(GROUP_LOTS[group]) & int(game.lots[partner])
    wanted &= tradable(game, partner)
    cash = int(min(_values(game, seat, wanted, params, memory), int(game.cash[seat]) - params[_RESERVE]))
    return begin_offer(game, partner, wanted, 0, cash, memory) if wanted and cash > 0 else NO_ACTION


@kernel
def _reply(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Accept what brings enough for each dollar given, by the kept values."""
    cash, mine, proposer = int(game.offer_cash), int(game.lots[seat]), int(game.offer_from)
    come, go = int(game.offer_give), int(game.offer_ask)
    received = max(cash, 0) + params[_JAIL_CARD] * size(come & ~ALL_LOTS) + _values(game, seat, come & ALL_LOTS, params, memory)
    given = max(-cash, 0) + params[_JAIL_CARD] * size(go & ~ALL_LOTS) + _values(game, seat, go & ALL_LOTS, params, memory)
    come &= STREETS
    while come:
        group = int(GROUP_OF[lowest(come)])
        come &= come - 1
        if size(mine & int(GROUP_LOTS[group])) == GROUP_SIZE[group] - 1:
            received *= params[_COMPLETES]
    for _ in range(size(go & in_whole_groups(mine) & STREETS)):
        given *= params[_COMPLETES]
    if int(game.cash[seat]) - max(-cash, 0) < params[_EMERGENCY]:
        given *= params[_DANGER]
    if size(int(game.lots[proposer])) > params[_FAR_BEHIND] * size(mine):
        received *= params[_CATCHING_UP]
    return A_REPLY + 1 if received > params[_ACCEPTS] * given else A_REPLY


@kernel
def _debt(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Carry out the one plan for this debt; a debt that no plan meets is given up where the rules let it."""
    due = amount_due(game)
    debt = debt_at_hand(game)
    can_give_up = legal(game, A_TURN, 1) != 0
    if memory[DEBT] != debt or (int(memory[TO_SELL]) | int(memory[TO_MORTGAGE])) == 0:
        memory[DEBT] = debt
        met = _plan(game, seat, due - int(game.cash[seat]), params, memory)
        if can_give_up and (not met or params[_SURRENDERS]):
            return A_TURN
    for selling in (bool(params[_BUILDINGS_FIRST]), not params[_BUILDINGS_FIRST]):
        slot = TO_SELL if selling else TO_MORTGAGE
        planned = int(memory[slot]) & legal(game, A_SELL if selling else A_MORTGAGE, NUM_STREETS if selling else NUM_LOTS)
        if planned:
            member = _next_to_go(game, seat, planned, selling, params, memory)
            memory[slot] = int(memory[slot]) & ~(1 << member)
            return (A_SELL if selling else A_MORTGAGE) + member
    memory[TO_SELL], memory[TO_MORTGAGE] = 0, 0
    return raise_cash(game)


@kernel
def _plan(game: Game, seat: int, needed: int, params: Row, memory: Row) -> bool:
    """Note what is sold and mortgaged for a debt: at most one level of each group; False if that does not do."""
    memory[TO_SELL], memory[TO_MORTGAGE] = 0, 0
    streets, lots = legal(game, A_SELL, NUM_STREETS), legal(game, A_MORTGAGE, NUM_LOTS)
    for selling in (bool(params[_BUILDINGS_FIRST]), not params[_BUILDINGS_FIRST]):
        slot, left = (TO_SELL, streets) if selling else (TO_MORTGAGE, lots)
        while left and needed > 0:
            member = _next_to_go(game, seat, left, selling, params, memory)
            left &= ~(1 << member)
            memory[slot] = int(memory[slot]) | 1 << member
            needed -= proceeds(game, member) if selling else int(MORTGAGE[game.rules.board, member])
    return needed <= 0


@kernel
def _next_to_go(game: Game, seat: int, members: int, selling: bool, params: Row, memory: Row) -> int:
    """Of streets to sell from, the one of the lowest value of its group for each house; of lots to mortgage, the least for a dollar."""
    best, best_rank = NO_LOT, 0.0
    while members:
        member = lowest(members)
        members &= members - 1
        if selling:
            level = int(game.level[member])
            rank = _values(game, seat, int(GROUP_LOTS[GROUP_OF[member]]), params, memory) / (1 if level == HOTEL else level)
        else:
            rank = _mortgage_rank(game, seat, member, params, memory)
        if best == NO_LOT or rank < best_rank:
            best, best_rank = member, rank
    return best


@kernel
def _turn(game: Game, seat: int, params: Row, memory: Row) -> int:
    if not open_window(game, seat, memory):
        return A_TURN
    while memory[STAGE] < DONE:
        stage = int(memory[STAGE])
        if memory[LEFT] == NOT_ENTERED:
            memory[LEFT] = _chosen(game, seat, stage, params, memory)
        while memory[LEFT] > 0:
            member = take_member(memory)
            action = _offer(game, seat, member, params, memory) if stage == TRADE else int(FIRST_ACTION[stage]) + member
            if action != NO_ACTION and legal(game, action, 1):
                return action
        close_stage(memory)
    return A_TURN


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW:
        return _turn(game, seat, params, memory)
    if decision == agenda.BUY:
        return _buy(game, seat, params, memory)
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return bid_up_to(game, _bid_limit(game, seat, params, memory), _PATIENT if decision == agenda.BID else _AT_ONCE_BID)
    if decision == agenda.JAIL:
        return stay_or_leave(game, _way_out(game, seat, params, memory))
    if agenda.ASK <= decision <= agenda.CASH:
        return compose(game, memory)
    if decision == agenda.REPLY:
        return _reply(game, seat, params, memory)
    if decision == agenda.DEBT:
        return _debt(game, seat, params, memory)
    if decision == agenda.TAKEOVER:
        return take_over(game, params[_RESERVE], params[_RESERVE])
    return routine(game)


POLICIES: Final = {"ocnaru/algorithmic": family("ocnaru/algorithmic", _play, Algorithmic)}
