"""The strategic agent's play: the order of its turn, and its answer to every decision."""

from __future__ import annotations

from typing import Final

from agents.players.strategic.money import is_short, kept, lifting_score, plan_rescue, to_build, to_lift, to_mortgage, to_sell
from agents.players.strategic.parameters import AT, DYNAMIC, NUM_PARAMETERS
from agents.players.strategic.proposals import next_offer, plan_offers
from agents.players.strategic.trading import reply
from agents.players.strategic.values import SLOT, danger, factor, look, seen_value
from agents.players.vocabulary import groups, habits, offers
from agents.players.vocabulary.reading import NO_LOT, amount_due, asked_lot, legal, of_opponents, price, window_kind
from monopoly_env.actions import A_BUILD, A_BUY, A_CHOICE, A_JAIL, A_MORTGAGE, A_SELL, A_TRADE, A_TURN, A_UNMORTGAGE
from monopoly_env.board import NUM_LOTS, NUM_STREETS
from monopoly_env.engine import agenda, building, liquidation, mortgage, players, turn
from monopoly_env.engine.sets import each, lowest
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel

# The phases of a window, in order.
_IDLE, _TRADING, _SELLING, _MORTGAGING, _LIFTING, _BUILDING = range(6)
_EVEN_LATER: Final = 1.3  # list prices that a lot must be worth after the early game while cash is at most three reserves


@kernel
def _as_published(game: Game) -> bool:
    """Whether a turn has the order of the thesis's program: then the agent does nothing that the program does not do."""
    return game.rules.build_window == turn.AFTER_SETTLEMENT


# --- the turn -----------------------------------------------------------------------------------------------------------


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Go once through the phases, each planned when its turn comes and then carried out lot by lot; then go on."""
    if memory[SLOT.mortgage_left] + memory[SLOT.sale_left] != 0:
        action = _rest_of_rescue(game, memory)
        if action != NO_LOT:
            return action
    when = window_kind(game)
    if memory[SLOT.phase] != _IDLE:
        if memory[SLOT.stamp] == _stamp(game, when):
            return _go_through(game, seat, params, memory)
        memory[SLOT.phase] = _IDLE  # the window closed by itself, because nothing was left to choose
    if game.jail[seat] > 0:
        if legal(game, A_JAIL, 2):
            action = _leave(game, seat, params)
            if action != A_TURN:
                return action
        if game.jail[seat] == 1 and _as_published(game):
            return A_TURN  # the thesis's program ends the turn of a player that is sent to jail
    if game.jail[seat] == 0 or when != agenda.AFTER_THROW:
        look(game, seat, params, memory)
    if not _has_business(game, seat, when, params, memory):
        return A_TURN
    memory[SLOT.stamp] = _stamp(game, when)
    memory[SLOT.phase] = _TRADING
    memory[SLOT.todo] = 0
    memory[SLOT.offers] = 0
    if _may_trade(game, seat, when):
        plan_offers(game, seat, params, memory)
    return _go_through(game, seat, params, memory)


@kernel
def _stamp(game: Game, when: int) -> int:
    """A number that identifies a window of the game: by turn, throw and kind."""
    return int(game.turns) * 1024 + (int(game.throws[game.turn]) & 255) * 4 + when


@kernel
def _may_trade(game: Game, seat: int, when: int) -> bool:
    """Whether to trade: only in the agent's own turn, and not after a throw that has left it in jail."""
    return when != agenda.OUT_OF_TURN and (game.jail[seat] == 0 or when == agenda.BEFORE_THROW) and legal(game, A_TRADE, 7) != 0


@kernel
def _has_business(game: Game, seat: int, when: int, params: Row, memory: Row) -> bool:
    """Whether any phase may have something to do, at a quick look: most windows end here."""
    cash = int(game.cash[seat])
    if is_short(game, seat, params) and game.lots[seat] != 0:
        return True
    if cash >= params[AT.min_cash_for_houses] and legal(game, A_BUILD, NUM_STREETS):
        return True
    if cash >= params[AT.unmortgage_threshold] and legal(game, A_UNMORTGAGE, NUM_LOTS):
        return True
    if params[AT.complete] == 0 and of_opponents(game, seat) & ~int(memory[SLOT.others_seen]) == 0:
        return False  # nothing to make an offer for
    return _may_trade(game, seat, when)


@kernel
def _go_through(game: Game, seat: int, params: Row, memory: Row) -> int:
    """The next action of the current pass through the phases."""
    phase = int(memory[SLOT.phase])
    if phase == _TRADING:
        action = next_offer(game, seat, memory)
        if action != NO_LOT:
            return action
    while True:
        if phase != _TRADING:
            start = _first_action(phase)
            lots = int(memory[SLOT.todo]) & legal(game, start, NUM_LOTS if start >= A_MORTGAGE else NUM_STREETS)
            if lots:
                memory[SLOT.todo] = lots & (lots - 1)
                memory[SLOT.phase] = phase
                return start + lowest(lots)
        phase += 1
        if phase == _SELLING:
            memory[SLOT.todo] = to_sell(game, seat, params)
        elif phase == _MORTGAGING:
            memory[SLOT.todo] = to_mortgage(game, seat, params, memory)
        elif phase == _LIFTING:
            memory[SLOT.todo] = to_lift(game, seat, params, memory)
        elif phase == _BUILDING:
            memory[SLOT.todo] = to_build(game, seat, params)
        else:
            memory[SLOT.phase] = _IDLE
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
    """Leave jail by a card, else by the fine, each only if the squares ahead are safe enough; A_TURN: stay."""
    feared = danger(game, seat, params)
    if legal(game, A_JAIL + 1, 1) and feared < params[AT.use_jail_card_threshold]:
        return A_JAIL + 1
    cash = int(game.cash[seat])
    affordable = cash >= game.rules.jail_fine and cash >= 1.5 * params[AT.min_cash_reserve]
    if legal(game, A_JAIL, 1) and affordable and feared < params[AT.jail_stay_threshold]:
        return A_JAIL
    return A_TURN


@kernel
def _jail(game: Game, seat: int, params: Row) -> int:
    if legal(game, A_TURN, 1):
        return _leave(game, seat, params)
    return A_JAIL if legal(game, A_JAIL, 1) else habits.leave_jail(game)  # the thesis's program pays even if it has a card


# --- lots for sale ------------------------------------------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot, cash = asked_lot(game), int(game.cash[seat])
    if legal(game, A_BUY + 1, 1):
        raised = memory[SLOT.raising] == lot + 1
        memory[SLOT.raising] = 0
        return A_BUY + 1 if raised or _wants(game, seat, lot, cash - price(game, lot), params, memory) else A_BUY
    if groups.completes(game, seat, lot) and not _as_published(game):  # mortgage lots outside complete groups, if that raises enough
        lots = legal(game, A_MORTGAGE, NUM_LOTS) & ~groups.complete(int(game.lots[seat]))
        if cash + players.mortgage_values(game, lots) >= price(game, lot):
            memory[SLOT.raising] = lot + 1
            return A_MORTGAGE + _least_valued(game, lots, params, memory)
    return A_BUY


@kernel
def _least_valued(game: Game, lots: int, params: Row, memory: Row) -> int:
    best = lowest(lots)
    for lot in each(lots):
        if seen_value(game, lot, params, memory) < seen_value(game, best, params, memory):
            best = lot
    return best


@kernel
def _wants(game: Game, seat: int, lot: int, left: int, params: Row, memory: Row) -> bool:
    """Whether to buy at the printed price: if the reserve is left, and after the early game only if the lot is worth it."""
    look(game, seat, params, memory)
    if left < kept(game, seat, params):
        return False
    if memory[SLOT.round] <= params[AT.early_game_turns]:
        return True
    worth, cost = seen_value(game, lot, params, memory), price(game, lot)
    rich = game.cash[seat] > 3 * params[AT.min_cash_reserve]
    return worth >= params[AT.property_value_multiplier] * cost and (rich or worth > _EVEN_LATER * cost)


@kernel
def _bid_limit(game: Game, seat: int, params: Row, memory: Row) -> float:
    """The highest bid: the printed price times the factor by which the parameters raise the lot's value, or what leaves the reserve.

    The value itself is no guide here: with ten rents of the complete group, it is about five printed prices.
    """
    look(game, seat, params, memory)
    lot, funds = int(game.auction_lot), int(game.cash[seat]) - kept(game, seat, params)
    if lot >= building.HOUSE_LOT:
        return min(params[AT.property_value_multiplier] * groups.dearest_house(game, seat), funds)
    raised = factor(game, lot, int(memory[SLOT.own_seen]), int(memory[SLOT.others_seen]), params, memory)
    return min(raised * price(game, lot), funds)


@kernel
def _take_over(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Lift the mortgage of a received lot by the same rules as others."""
    lot, cash = asked_lot(game), int(game.cash[seat])
    look(game, seat, params, memory)
    lifts = (
        legal(game, A_CHOICE + 1, 1)
        and cash >= params[AT.unmortgage_threshold]
        and cash - mortgage.principal(game, lot) >= kept(game, seat, params)
        and lifting_score(game, lot, params, memory) >= params[AT.unmortgage_roi_threshold]
    )
    return A_CHOICE + 1 if lifts else A_CHOICE


# --- debts --------------------------------------------------------------------------------------------------------------


@kernel
def _debt(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Carry out the plan that pays the debt; without one, give up, or raise cash if the rules do not allow that."""
    if params[AT.legacy_debts] != 0 and legal(game, A_TURN, 1):
        return A_TURN
    action = _next_of_rescue(game, memory)
    if action == NO_LOT:
        plan_rescue(game, seat, amount_due(game), params, memory)
        action = _next_of_rescue(game, memory)
    if action != NO_LOT:
        return action
    return A_TURN if legal(game, A_TURN, 1) else habits.raise_cash(game)


@kernel
def _next_of_rescue(game: Game, memory: Row) -> int:
    """The next step of the plan that is still possible, or NO_LOT."""
    lots = int(memory[SLOT.mortgage_left]) & legal(game, A_MORTGAGE, NUM_LOTS)
    memory[SLOT.mortgage_left] = lots & (lots - 1)
    if lots:
        return A_MORTGAGE + lowest(lots)
    streets = int(memory[SLOT.sale_left]) & legal(game, A_SELL, NUM_STREETS)
    memory[SLOT.sale_left] = streets & (streets - 1)
    return A_SELL + lowest(streets) if streets else NO_LOT


@kernel
def _rest_of_rescue(game: Game, memory: Row) -> int:
    """The next step of a plan when the debt is paid: if the rules know only one request, it is carried out to the end."""
    if game.rules.liquidation == liquidation.ONE_REQUEST:
        return _next_of_rescue(game, memory)
    memory[SLOT.mortgage_left] = 0
    memory[SLOT.sale_left] = 0
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
        return offers.compose(game, memory)
    if decision == agenda.DEBT:
        return _debt(game, seat, params, memory)
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return habits.bid(game, _bid_limit(game, seat, params, memory))
    if decision == agenda.TAKEOVER:
        return _take_over(game, seat, params, memory)
    return habits.routine(game)


@kernel
def _is_quiet(game: Game, seen: float, others: float, reserve: float, emergency: float, house_cash: float, lift_cash: float) -> bool:
    """Whether a window has nothing for the agent, as most have: enough cash, no new lot, nothing to build or to lift.

    This is a shortcut: going all the way through `_window` ends the same. It takes numbers because passing rows on is slow.
    """
    seat = int(game.player)
    cash = int(game.cash[seat])
    if cash < emergency or cash <= reserve or game.jail[seat] != 0:
        return False
    theirs = of_opponents(game, seat)
    if theirs | int(game.lots[seat]) != seen or theirs & ~int(others):
        return False
    may_build = cash >= house_cash and legal(game, A_BUILD, NUM_STREETS) != 0
    return not may_build and not (cash >= lift_cash and legal(game, A_UNMORTGAGE, NUM_LOTS) != 0)


@policy_kernel
def play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Choose an action; an agent that adapts plays by its own copy of the parameters."""
    adapts = params[AT.adaptation] != 0
    if adapts and memory[SLOT.copied] == 0:
        memory[SLOT.copied] = 1
        memory[SLOT.parameters : SLOT.parameters + NUM_PARAMETERS] = params
    if (
        game.decision == agenda.WINDOW
        and memory[SLOT.phase] == _IDLE
        and memory[SLOT.round] != 0
        and params[AT.complete] == 0
        and params[AT.adaptation] != DYNAMIC
        and memory[SLOT.mortgage_left] + memory[SLOT.sale_left] == 0
    ):
        reserve, emergency = params[AT.min_cash_reserve], params[AT.mortgage_emergency_threshold]
        house_cash, lift_cash = params[AT.min_cash_for_houses], params[AT.unmortgage_threshold]
        if adapts:  # of these four, late_game changes one
            house_cash = memory[SLOT.parameters + AT.min_cash_for_houses]
        if _is_quiet(game, memory[SLOT.all_seen], memory[SLOT.others_seen], reserve, emergency, house_cash, lift_cash):
            return A_TURN
    return _decide(game, memory[SLOT.parameters :] if adapts else params, memory)
