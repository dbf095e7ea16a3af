"""The strategic agent's play: the order of its turn, and its answer to every decision."""

from __future__ import annotations

from typing import Final

from agents.players.strategic import money
from agents.players.strategic.parameters import AT, DYNAMIC, NUM_PARAMETERS
from agents.players.strategic.proposals import next_offer, plan_offers
from agents.players.strategic.trading import accepts
from agents.players.strategic.values import SLOT, danger, factor, look, seen_value
from agents.players.vocabulary import groups, habits, reading
from agents.players.vocabulary.reading import NO_LOT, asked_lot, legal, price
from agents.players.vocabulary.skeleton import decide
from monopoly_env.actions import A_BUILD, A_BUY, A_JAIL, A_MORTGAGE, A_SELL, A_TURN, A_UNMORTGAGE
from monopoly_env.engine import agenda, building, liquidation, mortgage, players, turn
from monopoly_env.engine.sets import each, lowest
from monopoly_env.facts.board import NUM_LOTS, NUM_STREETS
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel

# The phases of a window, in order.
_IDLE, _TRADING, _SELLING, _MORTGAGING, _LIFTING, _BUILDING = range(6)
_START: Final = (0, 0, A_SELL, A_MORTGAGE, A_UNMORTGAGE, A_BUILD)  # their first actions
# List prices that a late lot must be worth with at most three reserves in cash
_EVEN_LATER: Final = 1.3


@kernel
def _as_published(game: Game) -> bool:
    """Whether turns have the program's order: then the agent does nothing beyond the program."""
    return game.rules.build_window == turn.AFTER_SETTLEMENT


# --- the turn -------------------------------------------------------------------------------------


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Go once through the phases, each planned when its turn comes; then go on."""
    if memory[SLOT.mortgage_left] + memory[SLOT.sale_left] != 0:
        action = _rest_of_rescue(game, memory)
        if action != NO_LOT:
            return action
    when = reading.window_kind(game)
    if memory[SLOT.phase] != _IDLE:
        if memory[SLOT.stamp] == _stamp(game, when):
            return _go_through(game, seat, params, memory)
        memory[SLOT.phase] = _IDLE  # the window closed by itself
    if game.jail[seat] > 0:
        if reading.may_leave(game):
            action = _leave(game, seat, params)
            if action != A_TURN:
                return action
        if game.jail[seat] == 1 and _as_published(game):
            return A_TURN  # as in the thesis's program
    if game.jail[seat] == 0 or when != agenda.AFTER_THROW:
        look(game, seat, params, memory)
    if not _has_business(game, seat, when, params, memory):
        return A_TURN
    memory[SLOT.stamp], memory[SLOT.phase] = _stamp(game, when), _TRADING
    memory[SLOT.todo] = memory[SLOT.offers] = 0
    if _may_trade(game, seat, when):
        plan_offers(game, seat, params, memory)
    return _go_through(game, seat, params, memory)


@kernel
def _stamp(game: Game, when: int) -> int:
    """A number that identifies a window of the game: by turn, throw and kind."""
    return int(game.turns) * 1024 + (int(game.throws[game.turn]) & 255) * 4 + when


@kernel
def _may_trade(game: Game, seat: int, when: int) -> bool:
    """Whether to trade: in its own turn, and not after a throw that has left it in jail."""
    free = game.jail[seat] == 0 or when == agenda.BEFORE_THROW
    return free and when != agenda.OUT_OF_TURN and reading.may_trade(game)


@kernel
def _has_business(game: Game, seat: int, when: int, params: Row, memory: Row) -> bool:
    """Whether any phase may have something to do, at a quick look: most windows end here."""
    cash = int(game.cash[seat])
    if money.is_short(game, seat, params) and game.lots[seat] != 0:
        return True
    if cash >= params[AT.min_cash_for_houses] and reading.buildable(game):
        return True
    if cash >= params[AT.unmortgage_threshold] and reading.liftable(game):
        return True
    new = reading.of_opponents(game, seat) & ~int(memory[SLOT.others_seen])
    if params[AT.complete] == 0 and new == 0:
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
            start = _START[phase]
            count = NUM_LOTS if start >= A_MORTGAGE else NUM_STREETS
            lots = int(memory[SLOT.todo]) & legal(game, start, count)
            if lots:
                memory[SLOT.todo] = lots & (lots - 1)
                memory[SLOT.phase] = phase
                return start + lowest(lots)
        phase += 1
        if phase == _SELLING:
            memory[SLOT.todo] = money.to_sell(game, seat, params)
        elif phase == _MORTGAGING:
            memory[SLOT.todo] = money.to_mortgage(game, seat, params, memory)
        elif phase == _LIFTING:
            memory[SLOT.todo] = money.to_lift(game, seat, params, memory)
        elif phase == _BUILDING:
            memory[SLOT.todo] = money.to_build(game, seat, params)
        else:
            memory[SLOT.phase] = _IDLE
            return A_TURN


# --- jail -----------------------------------------------------------------------------------------


@kernel
def _leave(game: Game, seat: int, params: Row) -> int:
    """Leave by a card, else by the fine, if the squares ahead are safe enough; or stay."""
    feared = danger(game, seat, params)
    if reading.has_card(game) and feared < params[AT.use_jail_card_threshold]:
        return A_JAIL + 1
    cash = int(game.cash[seat])
    affordable = cash >= game.rules.jail_fine and cash >= 1.5 * params[AT.min_cash_reserve]
    if legal(game, A_JAIL, 1) and affordable and feared < params[AT.jail_stay_threshold]:
        return A_JAIL
    return A_TURN


@kernel
def _jail(game: Game, seat: int, params: Row) -> int:
    if reading.may_go_on(game):
        return _leave(game, seat, params)
    # The thesis's program pays even if it has a card.
    return A_JAIL if legal(game, A_JAIL, 1) else habits.leave_jail(game)


# --- lots for sale --------------------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot, cash = asked_lot(game), int(game.cash[seat])
    if reading.may_buy(game):
        raised = memory[SLOT.raising] == lot + 1
        memory[SLOT.raising] = 0
        if raised or _wants(game, seat, lot, cash - price(game, lot), params, memory):
            return A_BUY + 1
        return A_BUY
    if groups.completes(game, seat, lot) and not _as_published(game):  # worth mortgages
        lots = reading.mortgageable(game) & ~groups.complete(int(game.lots[seat]))
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
    """Buy if the reserve is left, and after the early game only if the lot is worth it."""
    look(game, seat, params, memory)
    if left < money.kept(game, seat, params):
        return False
    if memory[SLOT.round] <= params[AT.early_game_turns]:
        return True
    worth, cost = seen_value(game, lot, params, memory), price(game, lot)
    rich = game.cash[seat] > 3 * params[AT.min_cash_reserve]
    pays = worth >= params[AT.property_value_multiplier] * cost
    return pays and (rich or worth > _EVEN_LATER * cost)


@kernel
def _bid(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Bid up to the printed price times the factor by which the parameters raise the lot's value.

    The value itself is no guide here: with ten rents of the complete group, it is about five
    printed prices.
    """
    look(game, seat, params, memory)
    lot, funds = int(game.auction_lot), int(game.cash[seat]) - money.kept(game, seat, params)
    if lot >= building.HOUSE_LOT:
        worth = params[AT.property_value_multiplier] * groups.dearest_house(game, seat)
        return habits.bid(game, min(worth, funds))
    own, others = int(memory[SLOT.own_seen]), int(memory[SLOT.others_seen])
    raised = factor(game, lot, own, others, params, memory)
    return habits.bid(game, min(raised * price(game, lot), funds))


@kernel
def _lifts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Whether to lift the mortgage of a received lot at once, by the same rules as later."""
    lot, cash = asked_lot(game), int(game.cash[seat])
    look(game, seat, params, memory)
    if cash < params[AT.unmortgage_threshold]:
        return False
    if cash - mortgage.principal(game, lot) < money.kept(game, seat, params):
        return False
    return money.lifting_score(game, lot, params, memory) >= params[AT.unmortgage_roi_threshold]


# --- debts ----------------------------------------------------------------------------------------


@kernel
def _debt(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Carry out the plan for a debt; without one, give up or raise cash."""
    if params[AT.legacy_debts] != 0 and reading.may_go_on(game):
        return A_TURN
    action = _next_of_rescue(game, memory)
    if action == NO_LOT:
        money.plan_rescue(game, seat, reading.amount_due(game), params, memory)
        action = _next_of_rescue(game, memory)
    if action != NO_LOT:
        return action
    return A_TURN if reading.may_go_on(game) else habits.raise_cash(game)


@kernel
def _next_of_rescue(game: Game, memory: Row) -> int:
    """The next step of the plan that is still possible, or NO_LOT."""
    lots = int(memory[SLOT.mortgage_left]) & reading.mortgageable(game)
    memory[SLOT.mortgage_left] = lots & (lots - 1)
    if lots:
        return A_MORTGAGE + lowest(lots)
    streets = int(memory[SLOT.sale_left]) & reading.sellable(game)
    memory[SLOT.sale_left] = streets & (streets - 1)
    return A_SELL + lowest(streets) if streets else NO_LOT


@kernel
def _rest_of_rescue(game: Game, memory: Row) -> int:
    """The next step after the debt is paid: plans for a single request go to the end."""
    if game.rules.liquidation == liquidation.ONE_REQUEST:
        return _next_of_rescue(game, memory)
    memory[SLOT.mortgage_left] = 0
    memory[SLOT.sale_left] = 0
    return NO_LOT


# --- all decisions --------------------------------------------------------------------------------


@kernel
def _decide(game: Game, params: Row, memory: Row) -> int:
    if game.decision == agenda.JAIL:
        return _jail(game, int(game.player), params)
    return decide(game, params, memory, _window, _buy, _bid, None, accepts, _debt, _lifts)


@kernel
def _is_quiet(game: Game, seen: float, others: float, house_cash: float, lift_cash: float) -> bool:
    """Whether a window has no new lot, nothing to build and no mortgage to lift.

    It takes numbers because passing rows on is slow.
    """
    cash, theirs = int(game.cash[game.player]), reading.of_opponents(game, int(game.player))
    if theirs | int(game.lots[game.player]) != seen or theirs & ~int(others):
        return False
    may_build = cash >= house_cash and reading.buildable(game) != 0
    return not may_build and not (cash >= lift_cash and reading.liftable(game) != 0)


@policy_kernel
def play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Choose an action; an agent that adapts plays by its own copy of the parameters."""
    adapts, cash = params[AT.adaptation] != 0, int(game.cash[game.player])
    if adapts and memory[SLOT.copied] == 0:
        memory[SLOT.copied] = 1
        memory[SLOT.parameters : SLOT.parameters + NUM_PARAMETERS] = params
    if (  # A shortcut: going all the way through `_window` ends the same.
        game.decision == agenda.WINDOW
        and memory[SLOT.phase] == _IDLE
        and memory[SLOT.round] != 0
        and params[AT.complete] == 0
        and params[AT.adaptation] != DYNAMIC
        and memory[SLOT.mortgage_left] + memory[SLOT.sale_left] == 0
        and game.jail[game.player] == 0
        and cash >= params[AT.mortgage_emergency_threshold]
        and cash > params[AT.min_cash_reserve]
    ):
        house_cash, lift_cash = params[AT.min_cash_for_houses], params[AT.unmortgage_threshold]
        if adapts:  # of these limits, late_game changes one
            house_cash = memory[SLOT.parameters + AT.min_cash_for_houses]
        if _is_quiet(game, memory[SLOT.all_seen], memory[SLOT.others_seen], house_cash, lift_cash):
            return A_TURN
    return _decide(game, memory[SLOT.parameters :] if adapts else params, memory)
