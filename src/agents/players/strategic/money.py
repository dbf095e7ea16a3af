"""The strategic agent's sales, mortgages and buildings, and how it avoids bankruptcy.

Each function makes a plan: a set of lots to act on, one after another. A group is built up or sold
by one level at a time. The plan names the streets with the fewest (or most) buildings of their
group; where groups are built at once, the first street stands for the group.
"""

from __future__ import annotations

import numpy as np

from agents.players.strategic.parameters import AT
from agents.players.strategic.values import SLOT, group_return, look, seen_value
from agents.players.vocabulary import groups, reading
from agents.players.vocabulary.reading import worst_rent
from monopoly_env.engine import building, mortgage, players
from monopoly_env.engine.sets import each, size
from monopoly_env.facts import board
from monopoly_env.facts.board import NUM_LOTS
from monopoly_env.game import Game
from monopoly_env.kernels import kernel, on_stack
from monopoly_env.policy.protocol import Row


@kernel
def kept(game: Game, seat: int, params: Row) -> float:
    """The cash that the agent keeps; a complete agent also fears the worst rent."""
    reserve = params[AT.min_cash_reserve]
    if params[AT.complete] != 0:
        reserve = max(reserve, (1.0 - params[AT.risk_tolerance]) * worst_rent(game, seat))
    return reserve


@kernel
def is_short(game: Game, seat: int, params: Row) -> bool:
    """Whether cash is low enough to sell or mortgage anything."""
    cash = int(game.cash[seat])
    return cash < params[AT.mortgage_emergency_threshold] or cash <= params[AT.min_cash_reserve]


# --- buildings ------------------------------------------------------------------------------------


@kernel
def streets_at(game: Game, group: int, level: int) -> int:
    """The streets of a group at a level; the first one where groups are built at once."""
    start = board.GROUP_START[group]
    if game.rules.even_build == building.WHOLE_GROUP:
        return 1 << start
    streets = 0
    for street in range(start, start + board.GROUP_SIZE[group]):
        if game.level[street] == level:
            streets |= 1 << street
    return streets


@kernel
def _return_of(game: Game, group: int) -> float:
    """Rent that the next level of a group adds for each dollar of its price; 0 for hotels."""
    level = building.lowest_level(game, group)
    if level == board.HOTEL:
        return 0.0
    return group_return(game, group, level, _next_level(game, group, level))


@kernel
def _next_level(game: Game, group: int, lowest: int) -> int:
    """The next level of the streets of a group that are at its lowest one."""
    street = board.GROUP_START[group]
    while game.level[street] != lowest:
        street += 1
    return building.next_level(game, street)


@kernel
def to_build(game: Game, seat: int, params: Row) -> int:
    """The streets to build on, a level each: groups by falling return within the budget."""
    buildable = reading.buildable(game)
    cash = int(game.cash[seat])
    if buildable == 0 or cash < params[AT.min_cash_for_houses]:
        return 0
    edition, budget, plan = int(game.rules.board), cash - kept(game, seat, params), 0
    left, losses = groups.groups_of(buildable), on_stack(NUM_LOTS, np.float64)
    for group in each(left):
        losses[group] = -_return_of(game, group)
    while left:
        group = reading.least(left, losses)
        if losses[group] >= 0:
            break
        left &= ~(1 << group)
        level = building.lowest_level(game, group)
        streets, count = streets_at(game, group, level), board.GROUP_SIZE[group]
        hotel = _next_level(game, group, level) == board.HOTEL
        if game.rules.even_build != building.WHOLE_GROUP:
            count = size(streets)
        cost = board.HOUSE_PRICE[edition, board.GROUP_START[group]] * count  # also of a hotel
        pays = not hotel or -losses[group] >= params[AT.hotel_roi_threshold]
        if pays and cost <= budget and _complete_builds(game, seat, group, cost, hotel, params):
            plan |= streets & buildable
            budget -= cost
    return plan


@kernel
def _complete_builds(
    game: Game, seat: int, group: int, cost: int, hotel: bool, params: Row
) -> bool:
    """A complete agent's tests: cost against total worth, and houses elsewhere before a hotel."""
    if params[AT.complete] == 0:
        return True
    if cost > params[AT.house_build_threshold] * players.total_worth(game, seat):
        return False
    for other in range(building.COLOURS):
        lacks = building.lowest_level(game, other) < params[AT.min_houses_before_hotel]
        if hotel and lacks and other != group and players.owns_group(game, seat, other):
            return False
    return True


@kernel
def to_sell(game: Game, seat: int, params: Row) -> int:
    """The streets to sell from: groups by rising return; outside an emergency only poor ones."""
    sellable = reading.sellable(game)
    if sellable == 0 or not is_short(game, seat, params):
        return 0
    edition, cash, plan = int(game.rules.board), int(game.cash[seat]), 0
    left, returns = groups.groups_of(sellable), on_stack(NUM_LOTS, np.float64)
    for group in each(left):
        returns[group] = _standing_return(game, group)
    limit = _score_limit(cash, left, returns, params)
    while left:
        group = reading.least(left, returns)
        if returns[group] > limit:
            break
        left &= ~(1 << group)
        plan |= streets_at(game, group, building.highest_level(game, group)) & sellable
        brought = board.HOUSE_PRICE[edition, board.GROUP_START[group]] // 2  # as if of one house
        if cash + brought >= params[AT.min_cash_reserve]:
            break
    return plan


@kernel
def _standing_return(game: Game, group: int) -> float:
    """The return by which built groups are compared; 0 with hotels or a mortgage."""
    return 0.0 if int(game.mortgaged) & board.GROUP_LOTS[group] else _return_of(game, group)


@kernel
def _score_limit(cash: int, members: int, scores: Row, params: Row) -> float:
    """The highest score at which to sell or mortgage; infinite in an emergency."""
    if cash < params[AT.mortgage_emergency_threshold]:
        return np.inf
    total = 0.0
    for member in each(members):
        total += scores[member]
    return params[AT.mortgage_property_threshold] * (total / size(members))


# --- mortgages ------------------------------------------------------------------------------------


@kernel
def _mortgage_score(game: Game, seat: int, lot: int, params: Row, memory: Row) -> float:
    """The score by which lots are kept: streets by value in list prices, others by their number."""
    group = board.GROUP_OF[lot]
    owned = size(int(game.lots[seat]) & board.GROUP_LOTS[group])
    if group == board.RAILROADS:
        return 0.5 + 0.25 * owned
    if group == board.UTILITIES:
        return 0.5 + 0.5 * owned
    score = seen_value(game, lot, params, memory) / board.PRICE[game.rules.board, lot]
    return 1.5 * score if _seen_whole(group, memory) else score


@kernel
def _seen_whole(group: int, memory: Row) -> bool:
    """Whether the agent owned a whole group when it last looked."""
    members = board.GROUP_LOTS[group]
    return int(memory[SLOT.own_seen]) & members == members


@kernel
def to_mortgage(game: Game, seat: int, params: Row, memory: Row) -> int:
    """The lots to mortgage up to the reserve by rising score; only low ones if not in need."""
    lots = reading.mortgageable(game)
    if lots == 0 or not is_short(game, seat, params):
        return 0
    cash, plan, scores = int(game.cash[seat]), 0, on_stack(NUM_LOTS, np.float64)
    for lot in each(lots):
        scores[lot] = _mortgage_score(game, seat, lot, params, memory)
    limit = _score_limit(cash, lots, scores, params)
    while lots:
        lot = reading.least(lots, scores)
        if scores[lot] > limit:
            break
        lots &= ~(1 << lot)
        plan |= 1 << lot
        cash += board.MORTGAGE[game.rules.board, lot]
        if cash >= params[AT.min_cash_reserve]:
            break
    return plan


@kernel
def lifting_score(game: Game, lot: int, params: Row, memory: Row) -> float:
    """Value per dollar of lifting a mortgage, times 1.5 if one of its group is missing."""
    group = board.GROUP_OF[lot]
    score = seen_value(game, lot, params, memory) / mortgage.lifting_cost(game, lot)
    owned = size(int(memory[SLOT.own_seen]) & board.GROUP_LOTS[group])
    almost = group < building.COLOURS and owned == board.GROUP_SIZE[group] - 1
    return 1.5 * score if almost else score


@kernel
def to_lift(game: Game, seat: int, params: Row, memory: Row) -> int:
    """The lots whose mortgage to lift: by falling score while the budget lasts."""
    lots = reading.liftable(game)
    if lots == 0 or game.cash[seat] < params[AT.unmortgage_threshold]:
        return 0
    look(game, seat, params, memory)
    budget, plan = int(game.cash[seat]) - kept(game, seat, params), 0
    losses = on_stack(NUM_LOTS, np.float64)
    for lot in each(lots):
        losses[lot] = -lifting_score(game, lot, params, memory)
    while lots:
        lot = reading.least(lots, losses)
        lots &= ~(1 << lot)
        cost = mortgage.lifting_cost(game, lot)
        if -losses[lot] >= params[AT.unmortgage_roi_threshold] and cost <= budget:
            plan |= 1 << lot
            budget -= cost
    return plan


# --- bankruptcy -----------------------------------------------------------------------------------


@kernel
def plan_rescue(game: Game, seat: int, due: int, params: Row, memory: Row) -> None:
    """Plan mortgages and sales, at most one level of a group, for a debt; or an empty plan.

    If the first kind is not enough, the second kind aims at the whole sum again, so that it may
    raise more than needed.
    """
    look(game, seat, params, memory)
    need = due - int(game.cash[seat])
    memory[SLOT.mortgage_left] = 0
    memory[SLOT.sale_left] = 0
    mortgages, raised = params[AT.bankruptcy_mortgage_first] != 0, 0
    for by_mortgages in (mortgages, not mortgages):
        if raised < need and by_mortgages:
            raised += _rescue_by_mortgages(game, need, params, memory)
        elif raised < need:
            raised += _rescue_by_sales(game, need, params, memory)
    if raised < need:
        memory[SLOT.mortgage_left] = 0
        memory[SLOT.sale_left] = 0


@kernel
def _rescue_by_mortgages(game: Game, need: int, params: Row, memory: Row) -> int:
    """Plan mortgages by rising value per dollar; returns the dollars in total."""
    lots, plan, raised = reading.mortgageable(game), 0, 0
    scores = on_stack(NUM_LOTS, np.float64)
    for lot in each(lots):
        worth = _rescue_value(game, lot, params, memory)
        scores[lot] = worth / board.MORTGAGE[game.rules.board, lot]
    while lots and raised < need:
        lot = reading.least(lots, scores)
        lots &= ~(1 << lot)
        plan |= 1 << lot
        raised += board.MORTGAGE[game.rules.board, lot]
    memory[SLOT.mortgage_left] = plan
    return raised


@kernel
def _rescue_value(game: Game, lot: int, params: Row, memory: Row) -> float:
    worth = seen_value(game, lot, params, memory)
    if params[AT.complete] != 0:
        worth = worth ** params[AT.bankruptcy_property_value_weight]
    group = board.GROUP_OF[lot]
    if group < building.COLOURS and _seen_whole(group, memory):
        return worth * params[AT.bankruptcy_group_completion_weight]
    return worth


@kernel
def _rescue_by_sales(game: Game, need: int, params: Row, memory: Row) -> int:
    """Plan to sell a level of groups by rising value per dollar; returns the dollars in total."""
    sellable, plan, raised = reading.sellable(game), 0, 0
    left, scores = groups.groups_of(sellable), on_stack(NUM_LOTS, np.float64)
    for group in each(left):
        worth = 0.0
        for street in each(board.GROUP_LOTS[group]):
            worth += seen_value(game, street, params, memory)
        scores[group] = worth / max(1, _brought(game, group))
    while left and raised < need:
        group = reading.least(left, scores)
        left &= ~(1 << group)
        plan |= streets_at(game, group, building.highest_level(game, group)) & sellable
        raised += _brought(game, group)
    memory[SLOT.sale_left] = plan
    return raised


@kernel
def _brought(game: Game, group: int) -> int:
    """The proceeds of the top level of a group (dollars)."""
    start, level = board.GROUP_START[group], building.highest_level(game, group)
    one = building.refund(game, start, int(game.rules.sell_ratio))
    if game.rules.even_build != building.WHOLE_GROUP:
        return one * size(streets_at(game, group, level))
    if game.rules.ocnaru_quirks and level == board.HOTEL:
        return one
    return one * board.GROUP_SIZE[group]
