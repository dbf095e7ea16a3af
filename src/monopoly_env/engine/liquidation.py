"""The cash that a seat could raise (55), and the fixed orders of some published programs."""

from __future__ import annotations

from monopoly_env.engine.building import (
    BREAKDOWN_NEEDS_FOUR,
    EVEN,
    UNLIMITED,
    houses_at,
    liquidation_of_buildings,
    raise_level,
    refund,
    sell,
    sellable,
    steps_of,
)
from monopoly_env.engine.mortgage import mortgage, mortgageable, unencumbered
from monopoly_env.engine.players import mortgage_values
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.facts.board import (
    GROUP_LOTS,
    GROUP_OF,
    HOTEL,
    LOT_SQUARE,
    NUM_STREETS,
    RAILROADS,
    UTILITIES,
)
from monopoly_env.game import NOBODY, Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

BY_AGENT = number("liquidation", "agent")
ONE_REQUEST = number("liquidation", "one_request")
_HOUSES_FIRST = number("liquidation", "houses_then_mortgages")


@kernel
def raisable(game: Game, seat: int) -> int:
    """Cash after full liquidation, in dollars: half of buildings, mortgage values (55, S3)."""
    buildings = liquidation_of_buildings(game, seat, int(game.rules.sell_ratio))
    total = int(game.cash[seat]) + buildings + mortgage_values(game, unencumbered(game, seat))
    if (
        game.rules.hotel_breakdown == BREAKDOWN_NEEDS_FOUR
        and game.rules.building_limit != UNLIMITED
    ):
        total -= _stranded_value(game, seat)
    return total


@kernel
def _stranded_value(game: Game, seat: int) -> int:
    """The cash out of reach because the bank lacks houses for breaking down hotels (32, option)."""
    stuck, bank = _stuck_streets(game, seat)
    # hotels that can still be sold for one step, most expensive first
    spare = bank // int(game.rules.hotel_after)
    value, groups = 0, 0
    for lot in range(NUM_STREETS - 1, -1, -1):  # house prices never decrease along the board
        if has(stuck, lot):
            groups |= int(GROUP_LOTS[GROUP_OF[lot]])
            steps = steps_of(game, int(game.level[lot]))
            if game.level[lot] == HOTEL and spare > 0:
                spare -= 1
                steps -= 1
            value += steps * refund(game, lot, int(game.rules.sell_ratio))
    return value + mortgage_values(game, unencumbered(game, seat) & groups)


@kernel
def _stuck_streets(game: Game, seat: int) -> tuple[int, int]:
    """The built streets that can never be cleared, and the bank's houses once all others are.

    A cleared group returns its houses, so clearing any group that can be cleared never hurts.
    """
    stuck, bank = 0, int(game.houses)
    for lot in range(NUM_STREETS):
        if game.level[lot] > 0 and has(game.lots[seat], lot):
            stuck |= 1 << lot
    progress = True
    while progress:
        progress = False
        for lot in range(NUM_STREETS):
            together = int(GROUP_LOTS[GROUP_OF[lot]]) if game.rules.even_build == EVEN else 1 << lot
            if has(stuck, lot) and _hotels_on(game, together) * int(game.rules.hotel_after) <= bank:
                bank += _houses_on(game, together)
                stuck &= ~together
                progress = True
    return stuck, bank


@kernel
def _hotels_on(game: Game, lots: int) -> int:
    count = 0
    for lot in range(NUM_STREETS):
        if has(lots, lot) and game.level[lot] == HOTEL:
            count += 1
    return count


@kernel
def _houses_on(game: Game, lots: int) -> int:
    count = 0
    for lot in range(NUM_STREETS):
        if has(lots, lot):
            count += houses_at(game, int(game.level[lot]))
    return count


@kernel
def safe_sales(game: Game, seat: int, debt: int) -> int:
    """The buildings that a debtor may sell (32, 55).

    A debtor who can pay may not sell a hotel so that another one can no longer be sold.
    """
    lots = sellable(game, seat)
    if (
        game.rules.hotel_breakdown != BREAKDOWN_NEEDS_FOUR
        or game.rules.building_limit == UNLIMITED
        or raisable(game, seat) < debt
    ):
        return lots
    for lot in range(NUM_STREETS):
        if (
            has(lots, lot)
            and game.level[lot] == HOTEL
            and _raisable_without(game, seat, lot) < debt
        ):
            lots &= ~(1 << lot)
    return lots


@kernel
def _raisable_without(game: Game, seat: int, lot: int) -> int:
    """The cash that a seat could raise after selling a street's hotel, by a trial sale."""
    cash, fresh = int(game.cash[seat]), int(game.fresh_sales)
    sell(game, seat, lot)
    left = raisable(game, seat)
    raise_level(game, lot)
    game.cash[seat] = cash
    game.fresh_sales = fresh
    return left


@kernel
def debtor_chooses(game: Game) -> bool:
    """Whether debtors choose what to sell."""
    return game.rules.liquidation == BY_AGENT or game.rules.liquidation == ONE_REQUEST


@kernel
def liquidate(game: Game, seat: int, debt: int) -> None:
    """Raise cash in the fixed order of the rules until a debt can be paid or nothing is left."""
    while game.cash[seat] < debt:
        if game.rules.liquidation == _HOUSES_FIRST:
            progress = _sell_first(game, seat, 0) or _mortgage_first(game, seat, False)
        else:
            progress = (
                _mortgage_first(game, seat, True)
                or _sell_first(game, seat, HOTEL)
                or _sell_first(game, seat, 0)
            )
            progress = progress or _mortgage_first(game, seat, False)
        if not progress:
            return


@kernel
def _sell_first(game: Game, seat: int, level: int) -> bool:
    """Sell one building on the first street of at least this level; False if there is none."""
    lots = sellable(game, seat)
    for lot in range(NUM_STREETS):
        if has(lots, lot) and game.level[lot] >= level:
            sell(game, seat, lot)
            return True
    return False


@kernel
def _mortgage_first(game: Game, seat: int, only_spare: bool) -> bool:
    """Mortgage the first lot in board order; False if there is none.

    With `only_spare`: only single streets, a single utility, then railroads and utilities (the
    order of Mukhar's program).
    """
    lots = mortgageable(game, seat)
    best, best_rank = NOBODY, 1 << 30
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        rank = spare_rank(game, seat, lot) if only_spare else int(LOT_SQUARE[game.rules.board, lot])
        if rank < best_rank:
            best, best_rank = lot, rank
    if best == NOBODY:
        return False
    mortgage(game, seat, best)
    return True


@kernel
def spare_rank(game: Game, seat: int, lot: int) -> int:
    """The place of a lot in Mukhar's order; last if the seat owns another street of its group."""
    group, square = int(GROUP_OF[lot]), int(LOT_SQUARE[game.rules.board, lot])
    if group == RAILROADS:  # 5, 35, 15, 25
        return 200 + (1 if square == 35 else 0 if square == 5 else square)
    single = size(int(game.lots[seat]) & int(GROUP_LOTS[group])) == 1
    if group == UTILITIES:
        return 100 if single else 300 + square
    return square if single else 1 << 30
