"""What the strategic agent sells, mortgages, lifts and builds, and how it avoids bankruptcy.

Each function makes a plan: a set of lots to act on, one after another. A group is built up or sold by one level at a time. The plan names
the streets with the fewest (or most) buildings of their group; where groups are built at once, the first street stands for the group.
"""

from __future__ import annotations

from agents.players.strategic.parameters import AT
from agents.players.strategic.values import SLOT, group_return, look, seen_value
from agents.players.vocabulary.reading import NO_LOT, legal, worst_rent
from monopoly_env import board
from monopoly_env.actions import A_BUILD, A_MORTGAGE, A_SELL, A_UNMORTGAGE
from monopoly_env.engine import building, mortgage, players
from monopoly_env.engine.sets import each, has, lowest, size
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row

_NO_SCORE = 1e30


@kernel
def kept(game: Game, seat: int, params: Row) -> float:
    """The cash that the agent keeps when it spends by its own choice: its reserve; a complete agent also fears the worst rent."""
    reserve = params[AT.min_cash_reserve]
    if params[AT.complete] != 0:
        reserve = max(reserve, (1.0 - params[AT.risk_tolerance]) * worst_rent(game, seat))
    return reserve


@kernel
def is_short(game: Game, seat: int, params: Row) -> bool:
    """Whether cash is low enough to sell or mortgage anything."""
    cash = int(game.cash[seat])
    return cash < params[AT.mortgage_emergency_threshold] or cash <= params[AT.min_cash_reserve]


# --- buildings ----------------------------------------------------------------------------------------------------------


@kernel
def streets_at(game: Game, group: int, level: int) -> int:
    """The streets of a group that are at a level; where groups are built at once, only the first street."""
    start = int(board.GROUP_START[group])
    if game.rules.even_build == building.WHOLE_GROUP:
        return 1 << start
    streets = 0
    for street in range(start, start + int(board.GROUP_SIZE[group])):
        if game.level[street] == level:
            streets |= 1 << street
    return streets


@kernel
def _return_of(game: Game, group: int) -> float:
    """Rent that the next level of a group adds for each dollar of its price; 0 for hotels."""
    level = building.lowest_level(game, group)
    if level == board.HOTEL:
        return 0.0
    return group_return(game, group, level, building.next_level(game, _lowest_street(game, group, level)))


@kernel
def _lowest_street(game: Game, group: int, level: int) -> int:
    street = int(board.GROUP_START[group])
    while game.level[street] != level:
        street += 1
    return street


@kernel
def to_build(game: Game, seat: int, params: Row) -> int:
    """The streets that get a building: groups by falling return while the budget lasts, each by one level."""
    buildable = legal(game, A_BUILD, board.NUM_STREETS)
    cash = int(game.cash[seat])
    if buildable == 0 or cash < params[AT.min_cash_for_houses]:
        return 0
    edition, budget, plan, tried = int(game.rules.board), cash - kept(game, seat, params), 0, 0
    while True:
        group, gain = _best_group(game, buildable, tried)
        if group == NO_LOT:
            return plan
        tried |= int(board.GROUP_LOTS[group])
        start = int(board.GROUP_START[group])
        level = building.lowest_level(game, group)
        streets = streets_at(game, group, level)
        hotel = building.next_level(game, _lowest_street(game, group, level)) == board.HOTEL
        count = int(board.GROUP_SIZE[group]) if game.rules.even_build == building.WHOLE_GROUP else size(streets)
        cost = int(board.HOUSE_PRICE[edition, start]) * count  # of a hotel as well, although some rules charge it once for a group
        pays = not hotel or gain >= params[AT.hotel_roi_threshold]
        if pays and cost <= budget and _complete_builds(game, seat, group, cost, hotel, params):
            plan |= streets & buildable
            budget -= cost


@kernel
def _best_group(game: Game, buildable: int, tried: int) -> tuple[int, float]:
    """The group with the highest return that can be built on and has not been tried, or NO_LOT."""
    best, most = NO_LOT, 0.0
    streets = buildable & ~tried
    while streets:
        group = int(board.GROUP_OF[lowest(streets)])
        streets &= ~int(board.GROUP_LOTS[group])
        gain = _return_of(game, group)
        if gain > most:
            best, most = group, gain
    return best, most


@kernel
def _complete_builds(game: Game, seat: int, group: int, cost: int, hotel: bool, params: Row) -> bool:
    """The two tests of a complete agent: the cost of a level against its total worth, and houses elsewhere before a hotel."""
    if params[AT.complete] == 0:
        return True
    if cost > params[AT.house_build_threshold] * players.total_worth(game, seat):
        return False
    least = params[AT.min_houses_before_hotel]
    for other in range(building.COLOURS):
        if hotel and other != group and players.owns_group(game, seat, other) and building.lowest_level(game, other) < least:
            return False
    return True


@kernel
def to_sell(game: Game, seat: int, params: Row) -> int:
    """The streets that lose a building: groups by rising return, outside an emergency only poor ones, until one sale would be enough."""
    sellable = legal(game, A_SELL, board.NUM_STREETS)
    if sellable == 0 or not is_short(game, seat, params):
        return 0
    edition, cash = int(game.rules.board), int(game.cash[seat])
    limit = _NO_SCORE
    if cash >= params[AT.mortgage_emergency_threshold]:
        limit = params[AT.mortgage_property_threshold] * _mean_return(game, sellable)
    plan, left = 0, sellable
    while left:
        group, least = _worst_group(game, left)
        if least > limit:
            break
        left &= ~int(board.GROUP_LOTS[group])
        plan |= streets_at(game, group, building.highest_level(game, group)) & sellable
        brought = int(board.HOUSE_PRICE[edition, int(board.GROUP_START[group])]) // 2  # as if it were one house, and the first
        if cash + brought >= params[AT.min_cash_reserve]:
            break
    return plan


@kernel
def _worst_group(game: Game, streets: int) -> tuple[int, float]:
    """The group with the lowest return among those of some streets."""
    worst, least = NO_LOT, 0.0
    while streets:
        group = int(board.GROUP_OF[lowest(streets)])
        streets &= ~int(board.GROUP_LOTS[group])
        gain = _standing_return(game, group)
        if worst == NO_LOT or gain < least:
            worst, least = group, gain
    return worst, least


@kernel
def _standing_return(game: Game, group: int) -> float:
    """The return by which built groups are compared; 0 for hotels, and with a mortgage in the group."""
    return 0.0 if int(game.mortgaged) & int(board.GROUP_LOTS[group]) else _return_of(game, group)


@kernel
def _mean_return(game: Game, streets: int) -> float:
    total, count = 0.0, 0
    while streets:
        group = int(board.GROUP_OF[lowest(streets)])
        streets &= ~int(board.GROUP_LOTS[group])
        total += _standing_return(game, group)
        count += 1
    return total / count


# --- mortgages ----------------------------------------------------------------------------------------------------------


@kernel
def _mortgage_score(game: Game, seat: int, lot: int, params: Row, memory: Row) -> float:
    """How much a lot would be missed: a street by its value in list prices, others by how many of their group are owned."""
    group = int(board.GROUP_OF[lot])
    owned = size(int(game.lots[seat]) & int(board.GROUP_LOTS[group]))
    if group == board.RAILROADS:
        return 0.5 + 0.25 * owned
    if group == board.UTILITIES:
        return 0.5 + 0.5 * owned
    score = seen_value(game, lot, params, memory) / int(board.PRICE[game.rules.board, lot])
    return 1.5 * score if _seen_whole(group, memory) else score


@kernel
def _seen_whole(group: int, memory: Row) -> bool:
    """Whether the agent owned a whole group when it last looked."""
    members = int(board.GROUP_LOTS[group])
    return int(memory[SLOT.own_seen]) & members == members


@kernel
def to_mortgage(game: Game, seat: int, params: Row, memory: Row) -> int:
    """The lots to mortgage: by rising score, outside an emergency only those with a low one, until the reserve is reached."""
    lots = legal(game, A_MORTGAGE, board.NUM_LOTS)
    if lots == 0 or not is_short(game, seat, params):
        return 0
    limit, cash, plan = _NO_SCORE, int(game.cash[seat]), 0
    if cash >= params[AT.mortgage_emergency_threshold]:
        limit = params[AT.mortgage_property_threshold] * _mean_score(game, seat, lots, params, memory)
    while lots:
        lot, score = _least_missed(game, seat, lots, params, memory)
        if score > limit:
            break
        lots &= ~(1 << lot)
        plan |= 1 << lot
        cash += int(board.MORTGAGE[game.rules.board, lot])
        if cash >= params[AT.min_cash_reserve]:
            break
    return plan


@kernel
def _least_missed(game: Game, seat: int, lots: int, params: Row, memory: Row) -> tuple[int, float]:
    best, least = NO_LOT, 0.0
    for lot in each(lots):
        score = _mortgage_score(game, seat, lot, params, memory)
        if best == NO_LOT or score < least:
            best, least = lot, score
    return best, least


@kernel
def _mean_score(game: Game, seat: int, lots: int, params: Row, memory: Row) -> float:
    total, count = 0.0, size(lots)
    for lot in each(lots):
        total += _mortgage_score(game, seat, lot, params, memory)
    return total / count


@kernel
def lifting_score(game: Game, lot: int, params: Row, memory: Row) -> float:
    """Value of a mortgaged lot for each dollar that lifting costs, times 1.5 for a street of whose group one is missing."""
    group = int(board.GROUP_OF[lot])
    score = seen_value(game, lot, params, memory) / mortgage.lifting_cost(game, lot)
    owned = size(int(memory[SLOT.own_seen]) & int(board.GROUP_LOTS[group]))
    almost = group < building.COLOURS and owned == board.GROUP_SIZE[group] - 1
    return 1.5 * score if almost else score


@kernel
def to_lift(game: Game, seat: int, params: Row, memory: Row) -> int:
    """The lots whose mortgage to lift: by falling score while the budget lasts."""
    lots = legal(game, A_UNMORTGAGE, board.NUM_LOTS)
    if lots == 0 or game.cash[seat] < params[AT.unmortgage_threshold]:
        return 0
    look(game, seat, params, memory)
    budget, plan = int(game.cash[seat]) - kept(game, seat, params), 0
    while lots:
        best, most = NO_LOT, -1.0
        for lot in range(board.NUM_LOTS):
            if has(lots, lot):
                score = lifting_score(game, lot, params, memory)
                if score > most:
                    best, most = lot, score
        lots &= ~(1 << best)
        cost = mortgage.lifting_cost(game, best)
        if most >= params[AT.unmortgage_roi_threshold] and cost <= budget:
            plan |= 1 << best
            budget -= cost
    return plan


# --- bankruptcy ---------------------------------------------------------------------------------------------------------


@kernel
def plan_rescue(game: Game, seat: int, due: int, params: Row, memory: Row) -> None:
    """Plan how to pay a debt, by mortgages and by selling at most one level of each group; an empty plan if that is not enough.

    If the first kind is not enough, the second kind aims at the whole sum again, so that it may raise more than needed.
    """
    look(game, seat, params, memory)
    need = due - int(game.cash[seat])
    memory[SLOT.mortgage_left] = 0
    memory[SLOT.sale_left] = 0
    if params[AT.bankruptcy_mortgage_first] != 0:
        raised = _rescue_by_mortgages(game, need, params, memory)
        if raised < need:
            raised += _rescue_by_sales(game, need, params, memory)
    else:
        raised = _rescue_by_sales(game, need, params, memory)
        if raised < need:
            raised += _rescue_by_mortgages(game, need, params, memory)
    if raised < need:
        memory[SLOT.mortgage_left] = 0
        memory[SLOT.sale_left] = 0


@kernel
def _rescue_by_mortgages(game: Game, need: int, params: Row, memory: Row) -> int:
    """Plan mortgages by rising value for each dollar that they bring; returns the dollars in total."""
    lots, plan, raised = legal(game, A_MORTGAGE, board.NUM_LOTS), 0, 0
    while lots and raised < need:
        best, least, left = NO_LOT, 0.0, lots
        for lot in each(left):
            score = _rescue_value(game, lot, params, memory) / int(board.MORTGAGE[game.rules.board, lot])
            if best == NO_LOT or score < least:
                best, least = lot, score
        lots &= ~(1 << best)
        plan |= 1 << best
        raised += int(board.MORTGAGE[game.rules.board, best])
    memory[SLOT.mortgage_left] = plan
    return raised


@kernel
def _rescue_value(game: Game, lot: int, params: Row, memory: Row) -> float:
    worth = seen_value(game, lot, params, memory)
    if params[AT.complete] != 0:
        worth = worth ** params[AT.bankruptcy_property_value_weight]
    group = int(board.GROUP_OF[lot])
    return worth * params[AT.bankruptcy_group_completion_weight] if group < building.COLOURS and _seen_whole(group, memory) else worth


@kernel
def _rescue_by_sales(game: Game, need: int, params: Row, memory: Row) -> int:
    """Plan to sell one level of groups, by rising value for each dollar that it brings; returns the dollars in total."""
    sellable = legal(game, A_SELL, board.NUM_STREETS)
    streets, plan, raised = sellable, 0, 0
    while streets and raised < need:
        best, least, left = NO_LOT, 0.0, streets
        while left:
            group = int(board.GROUP_OF[lowest(left)])
            left &= ~int(board.GROUP_LOTS[group])
            worth = 0.0
            for street in range(int(board.GROUP_START[group]), int(board.GROUP_START[group]) + int(board.GROUP_SIZE[group])):
                worth += seen_value(game, street, params, memory)
            score = worth / max(1, _brought(game, group))
            if best == NO_LOT or score < least:
                best, least = group, score
        streets &= ~int(board.GROUP_LOTS[best])
        plan |= streets_at(game, best, building.highest_level(game, best)) & sellable
        raised += _brought(game, best)
    memory[SLOT.sale_left] = plan
    return raised


@kernel
def _brought(game: Game, group: int) -> int:
    """What selling the top level of a group brings (dollars)."""
    start, level = int(board.GROUP_START[group]), building.highest_level(game, group)
    one = building.refund(game, start, int(game.rules.sell_ratio))
    if game.rules.even_build != building.WHOLE_GROUP:
        return one * size(streets_at(game, group, level))
    return one if game.rules.ocnaru_quirks and level == board.HOTEL else one * int(board.GROUP_SIZE[group])
