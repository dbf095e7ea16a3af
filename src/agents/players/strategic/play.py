"""The strategic agent at the table: the order of its turn, and every decision that the rules can ask."""

from __future__ import annotations

from typing import Final

from agents.players.strategic.money import is_short, kept, lifting_score, plan_rescue, to_build, to_lift, to_mortgage, to_sell
from agents.players.strategic.parameters import (
    ADAPTATION,
    COMPLETE,
    DYNAMIC,
    EARLY,
    EMERGENCY,
    HOUSE_CASH,
    JAIL_CARD,
    JAIL_STAY,
    LEGACY_DEBTS,
    LIFT_CASH,
    LIFT_ROI,
    NUM_PARAMETERS,
    RESERVE,
    VALUE_MULTIPLIER,
)
from agents.players.strategic.trading import next_offer, plan_offers, reply
from agents.players.strategic.values import (
    COPIED,
    DEEDS_SEEN,
    MORTGAGE_LEFT,
    OFFERS,
    OTHERS_SEEN,
    OWN_SEEN,
    PHASE,
    RAISING,
    ROUND,
    SALE_LEFT,
    STAMP,
    TODO,
    danger,
    factor,
    look,
    seen_value,
)
from agents.players.vocabulary.habits import bid_up_to, leave_jail, raise_cash, routine
from agents.players.vocabulary.offers import compose
from agents.players.vocabulary.reading import (
    NO_LOT,
    amount_due,
    asked_lot,
    completes,
    dearest_house,
    in_whole_groups,
    legal,
    of_opponents,
    price,
)
from monopoly_env.actions import (
    A_BUILD,
    A_BUY,
    A_CHOICE,
    A_JAIL,
    A_MORTGAGE,
    A_SELL,
    A_TRADE,
    A_TURN,
    A_UNMORTGAGE,
)
from monopoly_env.board import NUM_LOTS, NUM_STREETS
from monopoly_env.engine import agenda
from monopoly_env.engine.building import HOUSE_LOT
from monopoly_env.engine.liquidation import ONE_REQUEST
from monopoly_env.engine.mortgage import principal
from monopoly_env.engine.players import mortgage_values
from monopoly_env.engine.sets import lowest
from monopoly_env.engine.turn import AFTER_SETTLEMENT
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel

# The phases of a window, in order.
_IDLE, _TRADING, _SELLING, _MORTGAGING, _LIFTING, _BUILDING = range(6)
_PATIENT, _AT_ONCE = 0.5, 1.0  # the share of the room below its limit that a bid takes
_EVEN_LATER: Final = 1.3  # list prices that a lot must be worth after the early game while cash is below three reserves


@kernel
def _as_published(game: Game) -> bool:
    """Whether the turn has the order of the thesis's program: what that program does not have is not done there either."""
    return game.rules.build_window == AFTER_SETTLEMENT


# --- the turn -----------------------------------------------------------------------------------------------------------


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    """One pass through the phases, each planned when its turn comes and then carried out lot by lot; then go on."""
    if memory[MORTGAGE_LEFT] + memory[SALE_LEFT] != 0:
        action = _rest_of_rescue(game, memory)
        if action != NO_LOT:
            return action
    when = int(game.agenda[game.depth - 1, 2])
    if memory[PHASE] != _IDLE:
        if memory[STAMP] == _stamp(game, when):
            return _go_through(game, seat, params, memory)
        memory[PHASE] = _IDLE  # the window closed by itself, because nothing was left to choose
    if game.jail[seat] > 0:
        if legal(game, A_JAIL, 2):
            action = _leave(game, seat, params)
            if action != A_TURN:
                return action
        if game.jail[seat] == 1 and _as_published(game):
            return A_TURN  # his program ends the turn of who is sent to jail
    if game.jail[seat] == 0 or when != agenda.AFTER_THROW:
        look(game, seat, params, memory)
    if not _has_business(game, seat, when, params, memory):
        return A_TURN
    memory[STAMP] = _stamp(game, when)
    memory[PHASE] = _TRADING
    memory[TODO] = 0
    memory[OFFERS] = 0
    if _may_trade(game, seat, when):
        plan_offers(game, seat, params, memory)
    return _go_through(game, seat, params, memory)


@kernel
def _stamp(game: Game, when: int) -> int:
    """Tells the windows of a game apart: by turn, throw and kind."""
    return int(game.turns) * 1024 + (int(game.throws[game.turn]) & 255) * 4 + when


@kernel
def _may_trade(game: Game, seat: int, when: int) -> bool:
    """Only on its own turn, and not after a throw that has left it in jail."""
    return when != agenda.OUT_OF_TURN and (game.jail[seat] == 0 or when == agenda.BEFORE_THROW) and legal(game, A_TRADE, 7) != 0


@kernel
def _has_business(game: Game, seat: int, when: int, params: Row, memory: Row) -> bool:
    """A quick look at whether any phase may have something to do: most windows end here."""
    cash = int(game.cash[seat])
    if is_short(game, seat, params) and game.lots[seat] != 0:
        return True
    if cash >= params[HOUSE_CASH] and legal(game, A_BUILD, NUM_STREETS):
        return True
    if cash >= params[LIFT_CASH] and legal(game, A_UNMORTGAGE, NUM_LOTS):
        return True
    if params[COMPLETE] == 0 and of_opponents(game, seat) & ~int(memory[OTHERS_SEEN]) == 0:
        return False  # nothing to offer for
    return _may_trade(game, seat, when)


@kernel
def _go_through(game: Game, seat: int, params: Row, memory: Row) -> int:
    """The next action of the pass."""
    phase = int(memory[PHASE])
    if phase == _TRADING:
        action = next_offer(game, seat, memory)
        if action != NO_LOT:
            return action
    while True:
        if phase != _TRADING:
            start = _first_action(phase)
            lots = int(memory[TODO]) & legal(game, start, NUM_LOTS if start >= A_MORTGAGE else NUM_STREETS)
            if lots:
                memory[TODO] = lots & (lots - 1)
                memory[PHASE] = phase
                return start + lowest(lots)
        phase += 1
        if phase == _SELLING:
            memory[TODO] = to_sell(game, seat, params)
        elif phase == _MORTGAGING:
            memory[TODO] = to_mortgage(game, seat, params, memory)
        elif phase == _LIFTING:
            memory[TODO] = to_lift(game, seat, params, memory)
        elif phase == _BUILDING:
            memory[TODO] = to_build(game, seat, params)
        else:
            memory[PHASE] = _IDLE
            return A_TURN


@kernel
def _first_action(phase: int) -> int:
    if phase == _SELLING:
        return A_SELL
    if phase == _MORTGAGING:
        return A_MORTGAGE
    return A_UNMORTGAGE if phase == _LIFTING else A_BUILD


# --- jail ---------------------------------------------------------------------------------------------------------------


@kernel
def _leave(game: Game, seat: int, params: Row) -> int:
    """A card first, then the fine, each if the squares ahead are safe enough; A_TURN: stay."""
    feared = danger(game, seat, params)
    if legal(game, A_JAIL + 1, 1) and feared < params[JAIL_CARD]:
        return A_JAIL + 1
    cash = int(game.cash[seat])
    if legal(game, A_JAIL, 1) and cash >= game.rules.jail_fine and feared < params[JAIL_STAY] and cash >= 1.5 * params[RESERVE]:
        return A_JAIL
    return A_TURN


@kernel
def _jail(game: Game, seat: int, params: Row) -> int:
    if legal(game, A_TURN, 1):
        return _leave(game, seat, params)
    return A_JAIL if legal(game, A_JAIL, 1) else leave_jail(game)  # his program forces the fine though there is a card


# --- lots for sale ------------------------------------------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot, cash = asked_lot(game), int(game.cash[seat])
    if legal(game, A_BUY + 1, 1):
        raised = memory[RAISING] == lot + 1
        memory[RAISING] = 0
        return A_BUY + 1 if raised or _wants(game, seat, lot, cash - price(game, lot), params, memory) else A_BUY
    if completes(game, seat, lot) and not _as_published(game):  # raise the cash by lots of which there is no group, if they suffice
        lots = legal(game, A_MORTGAGE, NUM_LOTS) & ~in_whole_groups(int(game.lots[seat]))
        if cash + mortgage_values(game, lots) >= price(game, lot):
            memory[RAISING] = lot + 1
            return A_MORTGAGE + _least_valued(game, lots, params, memory)
    return A_BUY


@kernel
def _least_valued(game: Game, lots: int, params: Row, memory: Row) -> int:
    best = lowest(lots)
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        if seen_value(game, lot, params, memory) < seen_value(game, best, params, memory):
            best = lot
    return best


@kernel
def _wants(game: Game, seat: int, lot: int, left: int, params: Row, memory: Row) -> bool:
    """Whether to buy at the printed price: what leaves the reserve, and after the early game only at a good value."""
    look(game, seat, params, memory)
    if left < kept(game, seat, params):
        return False
    if memory[ROUND] <= params[EARLY]:
        return True
    worth, cost = seen_value(game, lot, params, memory), price(game, lot)
    return worth >= params[VALUE_MULTIPLIER] * cost and (game.cash[seat] > 3 * params[RESERVE] or worth > _EVEN_LATER * cost)


@kernel
def _bid_limit(game: Game, seat: int, params: Row, memory: Row) -> float:
    """The highest bid: the printed price times what the parameters raise the lot's value by, or what leaves the reserve.

    The value itself is of no use here: with ten rents of the full group it is about five printed prices.
    """
    look(game, seat, params, memory)
    lot, funds = int(game.auction_lot), int(game.cash[seat]) - kept(game, seat, params)
    if lot >= HOUSE_LOT:
        return min(params[VALUE_MULTIPLIER] * dearest_house(game, seat), funds)
    return min(factor(game, lot, int(memory[OWN_SEEN]), int(memory[OTHERS_SEEN]), params, memory) * price(game, lot), funds)


@kernel
def _take_over(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Lift the mortgage of a received lot by the rules for lifting one's own."""
    lot, cash = asked_lot(game), int(game.cash[seat])
    look(game, seat, params, memory)
    lifts = (
        legal(game, A_CHOICE + 1, 1)
        and cash >= params[LIFT_CASH]
        and cash - principal(game, lot) >= kept(game, seat, params)
        and lifting_score(game, lot, params, memory) >= params[LIFT_ROI]
    )
    return A_CHOICE + 1 if lifts else A_CHOICE


# --- debts --------------------------------------------------------------------------------------------------------------


@kernel
def _debt(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Carry out the plan that meets the debt; without one, give up, or raise cash as long as the rules insist."""
    if params[LEGACY_DEBTS] != 0 and legal(game, A_TURN, 1):
        return A_TURN
    action = _next_of_rescue(game, memory)
    if action == NO_LOT:
        plan_rescue(game, seat, amount_due(game), params, memory)
        action = _next_of_rescue(game, memory)
    if action != NO_LOT:
        return action
    return A_TURN if legal(game, A_TURN, 1) else raise_cash(game)


@kernel
def _next_of_rescue(game: Game, memory: Row) -> int:
    """The next step of the plan that is still possible, or NO_LOT."""
    lots = int(memory[MORTGAGE_LEFT]) & legal(game, A_MORTGAGE, NUM_LOTS)
    memory[MORTGAGE_LEFT] = lots & (lots - 1)
    if lots:
        return A_MORTGAGE + lowest(lots)
    streets = int(memory[SALE_LEFT]) & legal(game, A_SELL, NUM_STREETS)
    memory[SALE_LEFT] = streets & (streets - 1)
    return A_SELL + lowest(streets) if streets else NO_LOT


@kernel
def _rest_of_rescue(game: Game, memory: Row) -> int:
    """What is left of a plan when the debt is paid: where one request is all there is, it is carried out to the end."""
    if game.rules.liquidation == ONE_REQUEST:
        return _next_of_rescue(game, memory)
    memory[MORTGAGE_LEFT] = 0
    memory[SALE_LEFT] = 0
    return NO_LOT


# --- all decisions ------------------------------------------------------------------------------------------------------


@kernel
def _decide(game: Game, params: Row, memory: Row) -> int:
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW:
        return _window(game, seat, params, memory)
    if decision == agenda.BUY:
        return _buy(game, seat, params, memory)
    if decision == agenda.JAIL:
        return _jail(game, seat, params)
    if decision == agenda.REPLY:
        return reply(game, seat, params, memory)
    if agenda.ASK <= decision <= agenda.CASH:
        return compose(game, memory)
    if decision == agenda.DEBT:
        return _debt(game, seat, params, memory)
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return bid_up_to(game, _bid_limit(game, seat, params, memory), _PATIENT if decision == agenda.BID else _AT_ONCE)
    if decision == agenda.TAKEOVER:
        return _take_over(game, seat, params, memory)
    return routine(game)


@kernel
def _is_quiet(game: Game, deeds: float, others: float, reserve: float, emergency: float, house_cash: float, lift_cash: float) -> bool:
    """Whether a window has nothing for the agent, as most have: enough cash, and nothing new, to build or to lift.

    A shortcut: the whole way through `_window` ends the same. It takes numbers instead of rows, which are dear to hand on.
    """
    seat = int(game.player)
    cash = int(game.cash[seat])
    if cash < emergency or cash <= reserve or game.jail[seat] != 0:
        return False
    theirs = of_opponents(game, seat)
    if theirs | int(game.lots[seat]) != deeds or theirs & ~int(others):
        return False
    may_build = cash >= house_cash and legal(game, A_BUILD, NUM_STREETS) != 0
    return not may_build and not (cash >= lift_cash and legal(game, A_UNMORTGAGE, NUM_LOTS) != 0)


@policy_kernel
def play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Choose; an agent that adapts plays by its own copy of the parameters."""
    adapts = params[ADAPTATION] != 0
    if adapts and memory[COPIED] == 0:
        memory[COPIED] = 1
        memory[:NUM_PARAMETERS] = params
    if (
        game.decision == agenda.WINDOW
        and memory[PHASE] == _IDLE
        and memory[ROUND] != 0
        and params[COMPLETE] == 0
        and params[ADAPTATION] != DYNAMIC
        and memory[MORTGAGE_LEFT] + memory[SALE_LEFT] == 0
    ):
        house_cash = memory[HOUSE_CASH] if adapts else params[HOUSE_CASH]  # of the four, what late_game changes
        if _is_quiet(game, memory[DEEDS_SEEN], memory[OTHERS_SEEN], params[RESERVE], params[EMERGENCY], house_cash, params[LIFT_CASH]):
            return A_TURN
    return _decide(game, memory if adapts else params, memory)
