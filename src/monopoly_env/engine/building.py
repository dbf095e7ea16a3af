"""Houses and hotels: buying, selling and shortages (25-32)."""

from __future__ import annotations

from monopoly_env.engine.sets import has
from monopoly_env.facts.board import (
    GROUP_LOTS,
    GROUP_OF,
    GROUP_SIZE,
    GROUP_START,
    HOTEL,
    HOUSE_PRICE,
    NUM_STREETS,
    RAILROADS,
)
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

HOUSE_LOT, HOTEL_LOT = 28, 29  # stand for a scarce house or hotel in the place of an auction's lot

_OWN_PRICE = number("shortage_floor", "own_price")
_ANY_PRICE = 1 << 30

EVEN = number("even_build", "even")
WHOLE_GROUP = number("even_build", "whole_group")
UNLIMITED = number("building_limit", "unlimited")
BREAKDOWN_NEEDS_FOUR = number("hotel_breakdown", "needs_four")
BREAKDOWN_UNLIMITED = number("hotel_breakdown", "unlimited")

COLOURS = RAILROADS  # the groups that can be built on come first


@kernel
def built_groups(game: Game) -> int:
    """The lots of all groups that have at least one building."""
    lots = 0
    for lot in range(NUM_STREETS):
        if game.level[lot] > 0:
            lots |= int(GROUP_LOTS[GROUP_OF[lot]])
    return lots


@kernel
def lowest_level(game: Game, group: int) -> int:
    """The lowest level of a lot in a group."""
    start = int(GROUP_START[group])
    level = int(game.level[start])
    for lot in range(start + 1, start + int(GROUP_SIZE[group])):
        level = min(level, int(game.level[lot]))
    return level


@kernel
def highest_level(game: Game, group: int) -> int:
    """The highest level of a lot in a group."""
    start = int(GROUP_START[group])
    level = int(game.level[start])
    for lot in range(start + 1, start + int(GROUP_SIZE[group])):
        level = max(level, int(game.level[lot]))
    return level


@kernel
def next_level(game: Game, lot: int) -> int:
    """The level after one more building: a hotel follows the last house (27, 62)."""
    level = int(game.level[lot])
    if level >= game.rules.hotel_after or _skips_house(game, level):
        return HOTEL
    return level + 1


@kernel
def _skips_house(game: Game, level: int) -> bool:
    """Whether house and hotel are bought in one step, as the bank has no house (option of 27)."""
    return (
        game.rules.hotel_direct
        and level + 1 == game.rules.hotel_after
        and game.houses <= 0
        and game.hotels > 0
    )


@kernel
def building_cost(game: Game, lot: int) -> int:
    """The list price of a street's next building, or of a group's where built at once (26, 27)."""
    price = int(HOUSE_PRICE[game.rules.board, lot])
    level = int(game.level[lot])
    if game.rules.even_build == WHOLE_GROUP:
        if game.rules.ocnaru_quirks and level >= game.rules.hotel_after:
            return price  # the program charges for a hotel once for the whole group
        return price * int(GROUP_SIZE[GROUP_OF[lot]])
    if level < game.rules.hotel_after and next_level(game, lot) == HOTEL:
        return 2 * price
    return price


@kernel
def improvable(game: Game, seat: int) -> int:
    """The streets whose next building the rules allow, whatever its cost and the supply (25-27)."""
    lots = 0
    owned = int(game.lots[seat])
    if _resale_pays(game):
        owned &= ~int(game.fresh_sales)
    for group in range(COLOURS):
        group_lots = int(GROUP_LOTS[group])
        if owned & group_lots == group_lots and int(game.mortgaged) & group_lots == 0:
            lots |= _improvable_in_group(game, group)
    return lots


@kernel
def complete_colours(game: Game, seat: int) -> int:
    """The streets of the colours that a seat owns whole."""
    lots = 0
    for group in range(COLOURS):
        group_lots = int(GROUP_LOTS[group])
        if int(game.lots[seat]) & group_lots == group_lots:
            lots |= group_lots
    return lots


@kernel
def _resale_pays(game: Game) -> bool:
    """Whether a building sells for its full cost: building and selling could alternate forever."""
    return game.rules.sell_ratio == 100 or game.rules.shortage_floor != _OWN_PRICE


@kernel
def _improvable_in_group(game: Game, group: int) -> int:
    start, rule = int(GROUP_START[group]), game.rules.even_build
    floor = lowest_level(game, group)
    if rule == WHOLE_GROUP:
        return 1 << start if floor < HOTEL else 0
    lots = 0
    for lot in range(start, start + int(GROUP_SIZE[group])):
        level = int(game.level[lot])
        even = rule != EVEN or level == floor
        if (
            level < HOTEL
            and even
            and (next_level(game, lot) < HOTEL or _neighbours_ready(game, lot, group))
        ):
            lots |= 1 << lot
    return lots


@kernel
def _neighbours_ready(game: Game, lot: int, group: int) -> bool:
    """Whether every other lot of the group has the houses that a hotel requires (27).

    A hotel requires them even if uneven building is allowed.
    """
    start = int(GROUP_START[group])
    for other in range(start, start + int(GROUP_SIZE[group])):
        if other != lot and game.level[other] < game.rules.hotel_after:
            return False
    return True


@kernel
def piece_for(game: Game, lot: int) -> int:
    """The kind of building that a street needs next: HOUSE_LOT or HOTEL_LOT."""
    return HOTEL_LOT if next_level(game, lot) == HOTEL else HOUSE_LOT


@kernel
def in_bank(game: Game, piece: int) -> int:
    """How many buildings of a kind the bank has."""
    if game.rules.building_limit == UNLIMITED:
        return NUM_STREETS * HOTEL
    return int(game.hotels) if piece == HOTEL_LOT else int(game.houses)


@kernel
def placeable(game: Game, seat: int, piece: int, most: int) -> int:
    """The streets that may get a building of this kind at a list price up to `most` dollars."""
    lots = 0
    candidates = improvable(game, seat)
    if candidates != 0:
        for lot in range(NUM_STREETS):
            if (
                has(candidates, lot)
                and piece_for(game, lot) == piece
                and building_cost(game, lot) <= most
            ):
                lots |= 1 << lot
    return lots


@kernel
def cheapest(game: Game, lots: int) -> int:
    """The street of a set whose next building has the lowest list price."""
    best, price = 0, _ANY_PRICE
    for lot in range(NUM_STREETS):
        if has(lots, lot) and building_cost(game, lot) < price:
            best, price = lot, building_cost(game, lot)
    return best


@kernel
def affordable(game: Game, seat: int, piece: int, funds: int, floor: int) -> int:
    """The number of buildings of a kind that a seat could place and pay for (29).

    The cheapest are bought first. A place costs its list price with the floor `own_price`,
    otherwise `floor` dollars.
    """
    count, lots = 0, placeable(game, seat, piece, _ANY_PRICE)
    if piece == HOUSE_LOT:  # a house makes room for others in its colour
        for lot in range(NUM_STREETS):
            if has(lots, lot):
                lots |= int(GROUP_LOTS[GROUP_OF[lot]])
    while lots:
        lot = cheapest(game, lots)
        lots &= ~(1 << lot)
        price = building_cost(game, lot) if game.rules.shortage_floor == _OWN_PRICE else floor
        room = int(game.rules.hotel_after) - int(game.level[lot]) if piece == HOUSE_LOT else 1
        placed = min(max(0, room), funds // price)
        count += placed
        funds -= placed * price
    return count


@kernel
def buildable(game: Game, seat: int) -> int:
    """The streets where a seat may build now, with a building of the bank and cash in hand."""
    lots = 0
    candidates = improvable(game, seat)
    if candidates != 0:
        for lot in range(NUM_STREETS):
            if (
                has(candidates, lot)
                and in_bank(game, piece_for(game, lot)) > 0
                and building_cost(game, lot) <= game.cash[seat]
            ):
                lots |= 1 << lot
    return lots


@kernel
def raise_level(game: Game, lot: int) -> None:
    """Put the next building on a street, or on each street of its group, without payment."""
    if game.rules.even_build == WHOLE_GROUP:
        start = int(GROUP_START[GROUP_OF[lot]])
        for other in range(start, start + int(GROUP_SIZE[GROUP_OF[lot]])):
            _set_level(game, other, next_level(game, other))
    else:
        _set_level(game, lot, next_level(game, lot))


@kernel
def houses_at(game: Game, level: int) -> int:
    """The number of houses that stand on a street of this level."""
    return 0 if level == HOTEL else level


@kernel
def _set_level(game: Game, lot: int, level: int) -> None:
    """Change a street's level, and move the houses and hotels to or from the bank."""
    before = int(game.level[lot])
    if game.rules.building_limit != UNLIMITED:
        game.houses += houses_at(game, before) - houses_at(game, level)
        game.hotels += (1 if before == HOTEL else 0) - (1 if level == HOTEL else 0)
    game.level[lot] = level


@kernel
def steps_of(game: Game, level: int) -> int:
    """How many building prices a level costs: a hotel is one more than the houses before it."""
    return int(game.rules.hotel_after) + 1 if level == HOTEL else level


@kernel
def level_of(game: Game, steps: int) -> int:
    """The level that a number of building prices buys: the inverse of `steps_of`."""
    return HOTEL if steps > game.rules.hotel_after else steps


@kernel
def sellable(game: Game, seat: int) -> int:
    """The streets whose top building a seat may sell (31, 32)."""
    lots = 0
    for lot in range(NUM_STREETS):
        if game.level[lot] > 0 and has(game.lots[seat], lot) and _may_sell(game, lot):
            lots |= 1 << lot
    return lots


@kernel
def _may_sell(game: Game, lot: int) -> bool:
    group = int(GROUP_OF[lot])
    if game.rules.even_build == WHOLE_GROUP:
        return lot == GROUP_START[group]
    if _collapses(game, group):
        return True
    if game.rules.even_build == EVEN and game.level[lot] != highest_level(game, group):
        return False
    breaks_hotel = game.level[lot] == HOTEL and game.rules.building_limit != UNLIMITED
    return not (
        breaks_hotel
        and game.rules.hotel_breakdown == BREAKDOWN_NEEDS_FOUR
        and game.houses < game.rules.hotel_after
    )


@kernel
def refund(game: Game, lot: int, ratio: int) -> int:
    """The bank's price for one building of a street, in dollars, at a ratio in percent."""
    return int(HOUSE_PRICE[game.rules.board, lot]) * ratio // 100


@kernel
def sell(game: Game, seat: int, lot: int) -> None:
    """Sell the top building of a street, or as much of its group as the rules require (31, 32)."""
    game.fresh_sales |= int(GROUP_LOTS[GROUP_OF[lot]])
    if game.rules.even_build == WHOLE_GROUP:
        _sell_group_level(game, seat, int(GROUP_OF[lot]))
    elif _collapses(game, int(GROUP_OF[lot])):
        _collapse(game, seat, lot)
    elif game.level[lot] < HOTEL or _can_break_down(game):
        _lower(game, seat, lot, steps_of(game, int(game.level[lot])) - 1)
    else:
        _lower(game, seat, lot, int(game.houses))  # fewer than a hotel takes


@kernel
def _can_break_down(game: Game) -> bool:
    """Whether the bank can return the houses of a hotel."""
    free = (
        game.rules.building_limit == UNLIMITED or game.rules.hotel_breakdown == BREAKDOWN_UNLIMITED
    )
    return free or game.houses >= game.rules.hotel_after


@kernel
def _collapses(game: Game, group: int) -> bool:
    """Whether a sale takes the whole group down, since the bank lacks houses for a hotel (32).

    Any street of the group may then be named.
    """
    if (
        _can_break_down(game)
        or game.rules.even_build != EVEN
        or game.rules.hotel_breakdown == BREAKDOWN_NEEDS_FOUR
    ):
        return False
    return highest_level(game, group) == HOTEL


@kernel
def _lower(game: Game, seat: int, lot: int, steps: int) -> None:
    sold = steps_of(game, int(game.level[lot])) - steps
    game.cash[seat] += sold * refund(game, lot, int(game.rules.sell_ratio))
    _set_level(game, lot, level_of(game, steps))


@kernel
def _sell_group_level(game: Game, seat: int, group: int) -> None:
    start = int(GROUP_START[group])
    hotel_once = game.rules.ocnaru_quirks and game.level[start] == HOTEL
    for lot in range(start, start + int(GROUP_SIZE[group])):
        _lower(game, seat, lot, steps_of(game, int(game.level[lot])) - 1)
    if hotel_once:  # the program pays for a hotel once for the whole group
        game.cash[seat] -= (int(GROUP_SIZE[group]) - 1) * refund(
            game, start, int(game.rules.sell_ratio)
        )


@kernel
def _collapse(game: Game, seat: int, lot: int) -> None:
    """Sell a hotel that the bank has no houses for: the group goes down to an even level (32)."""
    group = int(GROUP_OF[lot])
    start, count = int(GROUP_START[group]), int(GROUP_SIZE[group])
    supply, total = int(game.houses), -1
    for other in range(start, start + count):
        supply += houses_at(game, int(game.level[other]))
        total += steps_of(game, int(game.level[other]))
    while _houses_needed(game, total, count) > supply:
        total -= 1
    # The named lot gets the lowest level. If the levels differ, the next ones of the group keep one
    # more.
    extra = total % count
    for offset in range(1, count + 1):
        other = start + (lot - start + offset) % count
        steps = total // count
        if extra > 0 and other != lot and steps_of(game, int(game.level[other])) > steps:
            steps += 1
            extra -= 1
        _lower(game, seat, other, steps)


@kernel
def _houses_needed(game: Game, total: int, count: int) -> int:
    """The houses that an even group of `count` lots needs for `total` building prices in all."""
    needed = 0
    for i in range(count):
        needed += houses_at(game, level_of(game, (total + i) // count))
    return needed


@kernel
def liquidation_of_buildings(game: Game, seat: int, ratio: int) -> int:
    """The proceeds of all buildings of a seat at a ratio in percent, in dollars (31, 56)."""
    value = 0
    for lot in range(NUM_STREETS):
        if game.level[lot] > 0 and has(game.lots[seat], lot):
            value += steps_of(game, int(game.level[lot])) * refund(game, lot, ratio)
    if game.rules.ocnaru_quirks:
        value -= _hotels_counted_once(game, seat, ratio)
    return value


@kernel
def _hotels_counted_once(game: Game, seat: int, ratio: int) -> int:
    value = 0
    for group in range(COLOURS):
        start = int(GROUP_START[group])
        if game.level[start] == HOTEL and has(game.lots[seat], start):
            value += (int(GROUP_SIZE[group]) - 1) * refund(game, start, ratio)
    return value


@kernel
def clear_buildings(game: Game, seat: int) -> None:
    """Return all buildings of a seat to the bank (56)."""
    for lot in range(NUM_STREETS):
        if game.level[lot] > 0 and has(game.lots[seat], lot):
            _set_level(game, lot, 0)
