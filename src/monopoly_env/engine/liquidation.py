"""What a seat could raise, and the fixed orders in which some published programs raise it (55)."""

from __future__ import annotations

from monopoly_env.board import GROUP_OF, HOTEL, LOT_SQUARE, NUM_LOTS, NUM_STREETS, RAILROADS, UTILITIES
from monopoly_env.engine.building import liquidation_of_buildings, sell, sellable
from monopoly_env.engine.mortgage import mortgage, mortgageable
from monopoly_env.engine.players import mortgage_values
from monopoly_env.engine.sets import has, lowest
from monopoly_env.game import NOBODY, Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

BY_AGENT = number("liquidation", "agent")
ONE_REQUEST = number("liquidation", "one_request")
_HOUSES_FIRST = number("liquidation", "houses_then_mortgages")


@kernel
def raisable(game: Game, seat: int) -> int:
    """Cash, half of all buildings, and the mortgage values of unmortgaged lots (55), in dollars."""
    buildings = liquidation_of_buildings(game, seat, int(game.rules.sell_ratio))
    return int(game.cash[seat]) + buildings + mortgage_values(game, int(game.lots[seat]) & ~int(game.mortgaged))


@kernel
def debtor_chooses(game: Game) -> bool:
    """Whether the debtor decides what to sell."""
    return game.rules.liquidation == BY_AGENT or game.rules.liquidation == ONE_REQUEST


@kernel
def liquidate(game: Game, seat: int, debt: int) -> None:
    """Raise cash by the fixed order of the rules until a debt can be paid or nothing is left."""
    while game.cash[seat] < debt:
        if game.rules.liquidation == _HOUSES_FIRST:
            progress = _sell_first(game, seat, 0) or _mortgage_first(game, seat, False)
        else:
            progress = _mortgage_first(game, seat, True) or _sell_first(game, seat, HOTEL) or _sell_first(game, seat, 0)
            progress = progress or _mortgage_first(game, seat, False)
        if not progress:
            return


@kernel
def _sell_first(game: Game, seat: int, level: int) -> bool:
    """Sell one building on the first street that has at least this level."""
    lots = sellable(game, seat)
    for lot in range(NUM_STREETS):
        if has(lots, lot) and game.level[lot] >= level:
            sell(game, seat, lot)
            return True
    return False


@kernel
def _mortgage_first(game: Game, seat: int, only_spare: bool) -> bool:
    """Mortgage the first lot in board order; `only_spare`: first single streets, a single utility, then railroads and
    utilities (the order of Mukhar's program)."""
    lots = mortgageable(game, seat)
    best, best_rank = NOBODY, 1 << 30
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        rank = _spare_rank(game, seat, lot) if only_spare else int(LOT_SQUARE[game.rules.board, lot])
        if rank < best_rank:
            best, best_rank = lot, rank
    if best == NOBODY:
        return False
    mortgage(game, seat, best)
    return True


@kernel
def _spare_rank(game: Game, seat: int, lot: int) -> int:
    """The place of a lot in Mukhar's order; beyond all for streets with a neighbour of the group."""
    group, square = int(GROUP_OF[lot]), int(LOT_SQUARE[game.rules.board, lot])
    if group == RAILROADS:  # 5, 35, 15, 25
        return 200 + (1 if square == 35 else 0 if square == 5 else square)
    single = counted_lots(game, seat, lot) == 1
    if group == UTILITIES:
        return 100 if single else 300 + square
    return square if single else 1 << 30


@kernel
def counted_lots(game: Game, seat: int, lot: int) -> int:
    """Lots that a seat owns in a lot's group."""
    count = 0
    for other in range(NUM_LOTS):
        if GROUP_OF[other] == GROUP_OF[lot] and has(game.lots[seat], other):
            count += 1
    return count


