"""What the strategic agent sells, mortgages, lifts and builds, and how it saves itself from bankruptcy.

Each function makes a plan: a set of lots to act on, one after another. A group is built up or sold by one level at a time. For streets
the plan names those that stand lowest (or highest) in their group; where groups are built at once, its first street stands for all.
"""

from __future__ import annotations

from agents.players.strategic.parameters import (
    BUILD_SHARE,
    COMPLETE,
    EMERGENCY,
    GROUP_WEIGHT,
    HOTEL_ROI,
    HOUSE_CASH,
    HOUSES_FIRST,
    LIFT_CASH,
    LIFT_ROI,
    MORTGAGE_FIRST,
    RESERVE,
    RISK,
    SELL_BELOW,
    VALUE_WEIGHT,
)
from agents.players.strategic.values import MORTGAGE_LEFT, OWN_SEEN, SALE_LEFT, group_return, look, seen_value
from agents.players.vocabulary.reading import NO_LOT, legal, worst_rent
from monopoly_env.actions import A_BUILD, A_MORTGAGE, A_SELL, A_UNMORTGAGE
from monopoly_env.board import (
    GROUP_LOTS,
    GROUP_OF,
    GROUP_SIZE,
    GROUP_START,
    HOTEL,
    HOUSE_PRICE,
    MORTGAGE,
    NUM_LOTS,
    NUM_STREETS,
    PRICE,
    RAILROADS,
    UTILITIES,
)
from monopoly_env.engine.building import COLOURS, WHOLE_GROUP, highest_level, lowest_level, next_level, refund
from monopoly_env.engine.mortgage import lifting_cost
from monopoly_env.engine.players import total_worth
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row

_NO_SCORE = 1e30


@kernel
def kept(game: Game, seat: int, params: Row) -> float:
    """The cash that spending of the agent's own will leaves: its reserve; a complete agent also fears the worst rent."""
    reserve = params[RESERVE]
    if params[COMPLETE] != 0:
        reserve = max(reserve, (1.0 - params[RISK]) * worst_rent(game, seat))
    return reserve


@kernel
def is_short(game: Game, seat: int, params: Row) -> bool:
    """Whether cash is low enough to sell or mortgage anything."""
    cash = int(game.cash[seat])
    return cash < params[EMERGENCY] or cash <= params[RESERVE]


# --- buildings ----------------------------------------------------------------------------------------------------------


@kernel
def streets_at(game: Game, group: int, level: int) -> int:
    """The streets of a group that stand at a level; its first street alone where groups are built at once."""
    start = int(GROUP_START[group])
    if game.rules.even_build == WHOLE_GROUP:
        return 1 << start
    streets = 0
    for street in range(start, start + int(GROUP_SIZE[group])):
        if game.level[street] == level:
            streets |= 1 << street
    return streets


@kernel
def _return_of(game: Game, group: int) -> float:
    """Rent that the next level of a group adds for each dollar of its price; 0 with hotels."""
    level = lowest_level(game, group)
    return 0.0 if level == HOTEL else group_return(game, group, level, next_level(game, _lowest_street(game, group, level)))


@kernel
def _lowest_street(game: Game, group: int, level: int) -> int:
    street = int(GROUP_START[group])
    while game.level[street] != level:
        street += 1
    return street


@kernel
def to_build(game: Game, seat: int, params: Row) -> int:
    """The streets that get a building: groups by falling return while the budget lasts, one level each."""
    buildable = legal(game, A_BUILD, NUM_STREETS)
    cash = int(game.cash[seat])
    if buildable == 0 or cash < params[HOUSE_CASH]:
        return 0
    board, budget, plan, tried = int(game.rules.board), cash - kept(game, seat, params), 0, 0
    while True:
        group, gain = _best_group(game, buildable, tried)
        if group == NO_LOT:
            return plan
        tried |= int(GROUP_LOTS[group])
        start = int(GROUP_START[group])
        level = lowest_level(game, group)
        streets = streets_at(game, group, level)
        hotel = next_level(game, _lowest_street(game, group, level)) == HOTEL
        count = int(GROUP_SIZE[group]) if game.rules.even_build == WHOLE_GROUP else size(streets)
        cost = int(HOUSE_PRICE[board, start]) * count  # of a hotel as well, though some rules charge it once for a group
        if cost <= budget and (not hotel or gain >= params[HOTEL_ROI]) and _complete_builds(game, seat, group, cost, hotel, params):
            plan |= streets & buildable
            budget -= cost


@kernel
def _best_group(game: Game, buildable: int, tried: int) -> tuple[int, float]:
    """The group of the highest return that can be built on and has not been tried, or NO_LOT."""
    best, most = NO_LOT, 0.0
    streets = buildable & ~tried
    while streets:
        group = int(GROUP_OF[lowest(streets)])
        streets &= ~int(GROUP_LOTS[group])
        gain = _return_of(game, group)
        if gain > most:
            best, most = group, gain
    return best, most


@kernel
def _complete_builds(game: Game, seat: int, group: int, cost: int, hotel: bool, params: Row) -> bool:
    """The two tests of a complete agent: what a level costs beside all that it has, and houses elsewhere before hotels."""
    if params[COMPLETE] == 0:
        return True
    if cost > params[BUILD_SHARE] * total_worth(game, seat):
        return False
    owned = int(game.lots[seat])
    for other in range(COLOURS):
        members = int(GROUP_LOTS[other])
        if hotel and other != group and owned & members == members and lowest_level(game, other) < params[HOUSES_FIRST]:
            return False
    return True


@kernel
def to_sell(game: Game, seat: int, params: Row) -> int:
    """The streets that lose a building: groups by rising return, outside an emergency only poor ones, until one sale would do."""
    sellable = legal(game, A_SELL, NUM_STREETS)
    if sellable == 0 or not is_short(game, seat, params):
        return 0
    board, cash = int(game.rules.board), int(game.cash[seat])
    limit = _NO_SCORE if cash < params[EMERGENCY] else params[SELL_BELOW] * _mean_return(game, sellable)
    plan, left = 0, sellable
    while left:
        group, least = _worst_group(game, left)
        if least > limit:
            break
        left &= ~int(GROUP_LOTS[group])
        plan |= streets_at(game, group, highest_level(game, group)) & sellable
        if cash + int(HOUSE_PRICE[board, int(GROUP_START[group])]) // 2 >= params[RESERVE]:  # as if it were one house, and the first
            break
    return plan


@kernel
def _worst_group(game: Game, streets: int) -> tuple[int, float]:
    """The group of the lowest return among those of some streets."""
    worst, least = NO_LOT, 0.0
    while streets:
        group = int(GROUP_OF[lowest(streets)])
        streets &= ~int(GROUP_LOTS[group])
        gain = _standing_return(game, group)
        if worst == NO_LOT or gain < least:
            worst, least = group, gain
    return worst, least


@kernel
def _standing_return(game: Game, group: int) -> float:
    """The return by which built groups are compared; 0 with hotels or with a mortgage in the group."""
    return 0.0 if int(game.mortgaged) & int(GROUP_LOTS[group]) else _return_of(game, group)


@kernel
def _mean_return(game: Game, streets: int) -> float:
    total, count = 0.0, 0
    while streets:
        group = int(GROUP_OF[lowest(streets)])
        streets &= ~int(GROUP_LOTS[group])
        total += _standing_return(game, group)
        count += 1
    return total / count


# --- mortgages ----------------------------------------------------------------------------------------------------------


@kernel
def _mortgage_score(game: Game, seat: int, lot: int, params: Row, memory: Row) -> float:
    """How much a lot is missed: a street by its value in list prices, others by how many of their group are owned."""
    group = int(GROUP_OF[lot])
    owned = size(int(game.lots[seat]) & int(GROUP_LOTS[group]))
    if group == RAILROADS:
        return 0.5 + 0.25 * owned
    if group == UTILITIES:
        return 0.5 + 0.5 * owned
    score = seen_value(game, lot, params, memory) / int(PRICE[game.rules.board, lot])
    return 1.5 * score if _seen_whole(group, memory) else score


@kernel
def _seen_whole(group: int, memory: Row) -> bool:
    """Whether the agent owned the whole group when it last looked."""
    members = int(GROUP_LOTS[group])
    return int(memory[OWN_SEEN]) & members == members


@kernel
def to_mortgage(game: Game, seat: int, params: Row, memory: Row) -> int:
    """The lots that are mortgaged: by rising score, outside an emergency only those of a low one, until the reserve is reached."""
    lots = legal(game, A_MORTGAGE, NUM_LOTS)
    if lots == 0 or not is_short(game, seat, params):
        return 0
    limit, cash, plan = _NO_SCORE, int(game.cash[seat]), 0
    if cash >= params[EMERGENCY]:
        limit = params[SELL_BELOW] * _mean_score(game, seat, lots, params, memory)
    while lots:
        lot, score = _least_missed(game, seat, lots, params, memory)
        if score > limit:
            break
        lots &= ~(1 << lot)
        plan |= 1 << lot
        cash += int(MORTGAGE[game.rules.board, lot])
        if cash >= params[RESERVE]:
            break
    return plan


@kernel
def _least_missed(game: Game, seat: int, lots: int, params: Row, memory: Row) -> tuple[int, float]:
    best, least = NO_LOT, 0.0
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        score = _mortgage_score(game, seat, lot, params, memory)
        if best == NO_LOT or score < least:
            best, least = lot, score
    return best, least


@kernel
def _mean_score(game: Game, seat: int, lots: int, params: Row, memory: Row) -> float:
    total, count = 0.0, size(lots)
    while lots:
        total += _mortgage_score(game, seat, lowest(lots), params, memory)
        lots &= lots - 1
    return total / count


@kernel
def lifting_score(game: Game, lot: int, params: Row, memory: Row) -> float:
    """Value of a mortgaged lot for each dollar of the lifting; half as much again for a street of whose group one is missing."""
    group = int(GROUP_OF[lot])
    score = seen_value(game, lot, params, memory) / lifting_cost(game, lot)
    almost = group < COLOURS and size(int(memory[OWN_SEEN]) & int(GROUP_LOTS[group])) == GROUP_SIZE[group] - 1
    return 1.5 * score if almost else score


@kernel
def to_lift(game: Game, seat: int, params: Row, memory: Row) -> int:
    """The lots whose mortgage is lifted: by falling score while the budget lasts."""
    lots = legal(game, A_UNMORTGAGE, NUM_LOTS)
    if lots == 0 or game.cash[seat] < params[LIFT_CASH]:
        return 0
    look(game, seat, params, memory)
    budget, plan = int(game.cash[seat]) - kept(game, seat, params), 0
    while lots:
        best, most = NO_LOT, -1.0
        for lot in range(NUM_LOTS):
            if has(lots, lot):
                score = lifting_score(game, lot, params, memory)
                if score > most:
                    best, most = lot, score
        lots &= ~(1 << best)
        cost = lifting_cost(game, best)
        if most >= params[LIFT_ROI] and cost <= budget:
            plan |= 1 << best
            budget -= cost
    return plan


# --- bankruptcy ---------------------------------------------------------------------------------------------------------


@kernel
def plan_rescue(game: Game, seat: int, due: int, params: Row, memory: Row) -> None:
    """Plan how a debt is met, by mortgages and by one level of each group at most; an empty plan if that is not enough.

    The second kind, where the first does not suffice, aims at the whole sum again, so that it may raise more than needed.
    """
    look(game, seat, params, memory)
    need = due - int(game.cash[seat])
    memory[MORTGAGE_LEFT] = 0
    memory[SALE_LEFT] = 0
    if params[MORTGAGE_FIRST] != 0:
        raised = _rescue_by_mortgages(game, need, params, memory)
        if raised < need:
            raised += _rescue_by_sales(game, need, params, memory)
    else:
        raised = _rescue_by_sales(game, need, params, memory)
        if raised < need:
            raised += _rescue_by_mortgages(game, need, params, memory)
    if raised < need:
        memory[MORTGAGE_LEFT] = 0
        memory[SALE_LEFT] = 0


@kernel
def _rescue_by_mortgages(game: Game, need: int, params: Row, memory: Row) -> int:
    """Plan mortgages by rising value for each dollar that they bring; the dollars in all."""
    lots, plan, raised = legal(game, A_MORTGAGE, NUM_LOTS), 0, 0
    while lots and raised < need:
        best, least, left = NO_LOT, 0.0, lots
        while left:
            lot = lowest(left)
            left &= left - 1
            score = _rescue_value(game, lot, params, memory) / int(MORTGAGE[game.rules.board, lot])
            if best == NO_LOT or score < least:
                best, least = lot, score
        lots &= ~(1 << best)
        plan |= 1 << best
        raised += int(MORTGAGE[game.rules.board, best])
    memory[MORTGAGE_LEFT] = plan
    return raised


@kernel
def _rescue_value(game: Game, lot: int, params: Row, memory: Row) -> float:
    worth = seen_value(game, lot, params, memory)
    if params[COMPLETE] != 0:
        worth = worth ** params[VALUE_WEIGHT]
    group = int(GROUP_OF[lot])
    return worth * params[GROUP_WEIGHT] if group < COLOURS and _seen_whole(group, memory) else worth


@kernel
def _rescue_by_sales(game: Game, need: int, params: Row, memory: Row) -> int:
    """Plan to sell one level of groups by rising value for each dollar that it brings; the dollars in all."""
    sellable = legal(game, A_SELL, NUM_STREETS)
    streets, plan, raised = sellable, 0, 0
    while streets and raised < need:
        best, least, left = NO_LOT, 0.0, streets
        while left:
            group = int(GROUP_OF[lowest(left)])
            left &= ~int(GROUP_LOTS[group])
            worth = 0.0
            for street in range(int(GROUP_START[group]), int(GROUP_START[group]) + int(GROUP_SIZE[group])):
                worth += seen_value(game, street, params, memory)
            score = worth / max(1, _brought(game, group))
            if best == NO_LOT or score < least:
                best, least = group, score
        streets &= ~int(GROUP_LOTS[best])
        plan |= streets_at(game, best, highest_level(game, best)) & sellable
        raised += _brought(game, best)
    memory[SALE_LEFT] = plan
    return raised


@kernel
def _brought(game: Game, group: int) -> int:
    """What selling the top level of a group brings (dollars)."""
    start, level = int(GROUP_START[group]), highest_level(game, group)
    one = refund(game, start, int(game.rules.sell_ratio))
    if game.rules.even_build != WHOLE_GROUP:
        return one * size(streets_at(game, group, level))
    return one if game.rules.ocnaru_quirks and level == HOTEL else one * int(GROUP_SIZE[group])
