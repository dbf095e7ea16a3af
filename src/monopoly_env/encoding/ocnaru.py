"""The encodings `ocnaru100` and `ocnaru100+`: the state vector of Ocnaru's thesis (Bucharest, 2025), for two players.

`ocnaru100` is what his published program computes (July 2025), defects included, so that his networks can be compared; each
defect is named at its feature. `ocnaru100+` fills the last 26 features, which his program leaves at zero, with what the
thesis says is there: mortgages and the opponent's buildings. How they are laid out is our choice.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from monopoly_env.board import (
    GROUP_LOTS,
    GROUP_OF,
    GROUP_SIZE,
    GROUP_START,
    HOTEL,
    HOUSE_PRICE,
    JAIL_SQUARE,
    LOT_SQUARE,
    MORTGAGE,
    NUM_LOTS,
    NUM_STREETS,
    PRICE,
    RAILROADS,
    RENT,
    SQUARE_LOT,
    UTILITIES,
)
from monopoly_env.encoding.table import COLOURS, Block, offsets, total
from monopoly_env.engine import agenda
from monopoly_env.engine.building import lowest_level
from monopoly_env.engine.sets import has, size
from monopoly_env.game import Game
from monopoly_env.kernels import array_kernel

NUM_PLAYERS: Final = 2
_BOTH: Final = ("me", "opponent")
_GROUP_FACTS: Final = (
    "own share", "opponent's share", "complete", "level by 5", "return on the next level", "cash by its cost",
)  # fmt: skip

BLOCKS: Final = (
    Block("square", _BOTH, "share", "by 40"),
    Block("cash", _BOTH, "signed", "by 5000 dollars, at most 1; not cut off below"),
    Block("in jail", _BOTH, "flag", ""),
    Block("jail cards", _BOTH, "count", "by 2"),
    Block("liquidity", ("",), "signed", "cash by net worth (at least 1). Defect: in his net worth all buildings on the board count, "
          "and a hotel as one house"),
    Block("group", tuple(f"{colour} {fact}" for colour in COLOURS for fact in _GROUP_FACTS), "signed",
          "the last three are 0 without the complete group. Level: houses, 5 for a hotel (the lowest of the group). Return: rent gained "
          "by the next level / its cost, x 1.2 for orange and red, x 1.1 for green and dark blue, by 0.5, at most 1; defects: 0 at one "
          "to three houses, at a hotel that of the first house, and the first gain is counted from the plain base rent. Cash by the "
          "cost of the next level, at most 3, by 3"),
    Block("railroads", _BOTH, "share", "by 4"),
    Block("utilities", _BOTH, "share", "by 2"),
    Block("lots sold", ("",), "share", "by 28"),
    Block("developed groups", ("built", "with hotels"), "count", "own groups (defect: groups, not pieces) by 32 and by 12"),
    Block("for sale", ("square", "price", "street", "railroad", "utility", "value", "cash"), "signed",
          "only when the owner is asked to buy: square by 40; price by 400; kind; his program's value by price by 2, at most 1; cash by "
          "price, at most 5, by 5"),
    Block("danger beyond jail", ("",), "share",
          "of the throws from jail: sum of probability x min(1, rent to pay / cash); defect: of mortgaged lots too"),
    Block("fine", ("",), "signed", "cash by the jail fine, at most 5, by 5"),
    Block("failed throws", ("",), "count", "in jail, by 3"),
)  # fmt: skip

# The last 26: his program has zeros.
ZEROS: Final = (Block("unused", tuple(str(index) for index in range(total(BLOCKS), 100)), "flag", "always 0"),)
PLUS: Final = (
    Block("opponent's level", COLOURS, "count", "by 5: the lowest level of the group if the opponent owns all of it"),
    Block("own mortgaged", COLOURS, "share", "own mortgaged lots by the size of the group"),
    Block("opponent's mortgaged", COLOURS, "share", "the same of the opponent"),
    Block("mortgaged railroads and utilities", _BOTH, "share", "by 6"),
)

SIZE: Final = 100
_AT: Final = offsets(BLOCKS)
_SQUARE, _CASH, _IN_JAIL, _CARDS, _LIQUIDITY = _AT["square"], _AT["cash"], _AT["in jail"], _AT["jail cards"], _AT["liquidity"]
_GROUP, _RAILROADS, _UTILITIES, _SOLD = _AT["group"], _AT["railroads"], _AT["utilities"], _AT["lots sold"]
_DEVELOPED, _SALE, _DANGER = _AT["developed groups"], _AT["for sale"], _AT["danger beyond jail"]
_FINE, _FAILED = _AT["fine"], _AT["failed throws"]
_OPPONENT_LEVEL, _MORTGAGED, _MORTGAGED_OTHER, _MORTGAGED_REST = (total(BLOCKS) + at for at in offsets(PLUS).values())

_COLOURS: Final = RAILROADS  # the groups of streets come first
_EYED: Final = np.array([1.0, 1.0, 1.0, 1.2, 1.2, 1.0, 1.1, 1.1])  # his factor for orange and red, green and dark blue
# His factors for owning lots of the group, for railroads and for utilities.
_COMPLETION, _RAILROAD_FACTOR, _UTILITY_FACTOR = 0.4, 1.3, 1.1
_REST_LOTS: Final = int(GROUP_LOTS[RAILROADS] | GROUP_LOTS[UTILITIES])


def names(plus: bool) -> tuple[str, ...]:
    """A name for each feature."""
    return tuple(name for block in (*BLOCKS, *(PLUS if plus else ZEROS)) for name in block.names)


@array_kernel
def write(game: Game, seat: int, out: Any) -> None:
    """Write `ocnaru100`: float32 row of at least 100; what is beyond becomes 0."""
    out[:] = 0.0
    me = int(seat)
    other = 1 - me
    _write_both(game, me, 0, out)
    _write_both(game, other, 1, out)
    cash = int(game.cash[me])
    out[_LIQUIDITY] = cash / max(_net_worth(game, me), 1)
    for group in range(_COLOURS):
        _write_group(game, me, other, group, out)
    out[_SOLD] = size(int(game.lots[me]) | int(game.lots[other])) / NUM_LOTS
    if game.decision == agenda.BUY and game.player == me:
        _write_sale(game, me, int(game.agenda[game.depth - 1, 2]), out)
    out[_DANGER] = _danger_beyond_jail(game, other, cash)
    out[_FINE] = min(cash / max(int(game.rules.jail_fine), 1), 5.0) / 5.0
    out[_FAILED] = min(max(int(game.jail[me]) - 1, 0) / 3.0, 1.0)


@array_kernel
def write_plus(game: Game, seat: int, out: Any) -> None:
    """Write `ocnaru100+`: the same, and the last 26 features."""
    write(game, seat, out)
    me = int(seat)
    other = 1 - me
    mine = int(game.lots[me]) & int(game.mortgaged)
    theirs = int(game.lots[other]) & int(game.mortgaged)
    for group in range(_COLOURS):
        lots, count = int(GROUP_LOTS[group]), int(GROUP_SIZE[group])
        if int(game.lots[other]) & lots == lots:
            out[_OPPONENT_LEVEL + group] = lowest_level(game, group) / HOTEL
        out[_MORTGAGED + group] = size(mine & lots) / count
        out[_MORTGAGED_OTHER + group] = size(theirs & lots) / count
    out[_MORTGAGED_REST] = size(mine & _REST_LOTS) / 6.0
    out[_MORTGAGED_REST + 1] = size(theirs & _REST_LOTS) / 6.0


@array_kernel
def _write_both(game: Game, player: int, side: int, out: Any) -> None:
    lots = int(game.lots[player])
    out[_SQUARE + side] = int(game.position[player]) / 40.0
    out[_CASH + side] = min(int(game.cash[player]) / 5000.0, 1.0)
    out[_IN_JAIL + side] = 1.0 if game.jail[player] > 0 else 0.0
    out[_CARDS + side] = size(int(game.jail_cards[player])) / 2.0
    out[_RAILROADS + side] = size(lots & int(GROUP_LOTS[RAILROADS])) / 4.0
    out[_UTILITIES + side] = size(lots & int(GROUP_LOTS[UTILITIES])) / 2.0


@array_kernel
def _net_worth(game: Game, player: int) -> int:
    """His program's: cash, lots (the mortgaged ones at their mortgage value), and every building on the board."""
    board = int(game.rules.board)
    worth = int(game.cash[player])
    for lot in range(NUM_LOTS):
        if has(game.lots[player], lot):
            worth += int(MORTGAGE[board, lot]) if has(game.mortgaged, lot) else int(PRICE[board, lot])
    for lot in range(NUM_STREETS):
        level = int(game.level[lot])
        worth += (1 if level == HOTEL else level) * int(HOUSE_PRICE[board, lot])
    return worth


@array_kernel
def _write_group(game: Game, me: int, other: int, group: int, out: Any) -> None:
    at, lots, count = _GROUP + len(_GROUP_FACTS) * group, int(GROUP_LOTS[group]), int(GROUP_SIZE[group])
    out[at] = size(int(game.lots[me]) & lots) / count
    out[at + 1] = size(int(game.lots[other]) & lots) / count
    if int(game.lots[me]) & lots != lots:
        return
    level = lowest_level(game, group)
    cost = int(HOUSE_PRICE[game.rules.board, GROUP_START[group]]) * count
    out[at + 2] = 1.0
    out[at + 3] = level / HOTEL
    out[at + 4] = min(_rent_gained(game, group, level) / max(cost, 1) * _EYED[group] / 0.5, 1.0)
    out[at + 5] = min(int(game.cash[me]) / max(cost, 1), 3.0) / 3.0
    if level > 0:
        out[_DEVELOPED] += 1.0 / 32.0
    if level == HOTEL:
        out[_DEVELOPED + 1] += 1.0 / 12.0


@array_kernel
def _rent_gained(game: Game, group: int, level: int) -> int:
    """What his program takes for the rent that the next level of a group adds, in dollars."""
    board, start = int(game.rules.board), int(GROUP_START[group])
    gain = 0
    for lot in range(start, start + int(GROUP_SIZE[group])):
        if level in (0, HOTEL):  # he forgets the four houses once the hotel stands
            gain += int(RENT[board, lot, 1]) - int(RENT[board, lot, 0])
        elif level == 4:
            gain += int(RENT[board, lot, HOTEL]) - int(RENT[board, lot, 4])
    return gain


@array_kernel
def _write_sale(game: Game, me: int, lot: int, out: Any) -> None:
    board, group = int(game.rules.board), int(GROUP_OF[lot])
    price = int(PRICE[board, lot])
    out[_SALE] = int(LOT_SQUARE[board, lot]) / 40.0
    out[_SALE + 1] = min(price / 400.0, 1.0)
    out[_SALE + (3 if group == RAILROADS else 4 if group == UTILITIES else 2)] = 1.0
    out[_SALE + 5] = min(_value(game, me, lot) / price / 2.0, 1.0)
    out[_SALE + 6] = min(int(game.cash[me]) / price, 5.0) / 5.0


@array_kernel
def _value(game: Game, me: int, lot: int) -> float:
    """His program's value of a lot for sale, in dollars (a plainer one than that of his strategic player)."""
    board, group = int(game.rules.board), int(GROUP_OF[lot])
    price, owned = float(PRICE[board, lot]), size(int(game.lots[me]) & int(GROUP_LOTS[group]))
    if group == RAILROADS:
        return (price + 10.0 * int(RENT[board, lot, min(owned, 3)])) * _RAILROAD_FACTOR
    if group == UTILITIES:
        return (price + 56.0 * int(RENT[board, lot, min(owned, 1)])) * _UTILITY_FACTOR  # eight throws of seven
    houses = int(RENT[board, lot, 1]) + int(RENT[board, lot, 2]) + int(RENT[board, lot, 3]) + int(RENT[board, lot, 4])
    value = price + 20.0 * int(RENT[board, lot, 0]) + houses / 4.0 + int(RENT[board, lot, HOTEL]) / 5.0
    return value * (1.0 + _COMPLETION * owned / int(GROUP_SIZE[group])) * float(_EYED[group])


@array_kernel
def _danger_beyond_jail(game: Game, other: int, cash: int) -> float:
    """Rents that a throw from jail may cost, as shares of the cash, each at most 1."""
    danger = 0.0
    for steps in range(2, 13):
        lot = int(SQUARE_LOT[game.rules.board, JAIL_SQUARE + steps])
        if lot >= 0 and has(game.lots[other], lot):
            danger += (6 - abs(7 - steps)) / 36.0 * min(_rent(game, other, lot) / max(cash, 1), 1.0)
    return danger


@array_kernel
def _rent(game: Game, owner: int, lot: int) -> int:
    """The rent he expects, mortgaged or not, a utility's at a throw of seven (dollars)."""
    board, group, level = int(game.rules.board), int(GROUP_OF[lot]), 0
    lots = int(GROUP_LOTS[group])
    owned = size(int(game.lots[owner]) & lots)
    if group == RAILROADS:
        return int(RENT[board, lot, owned - 1])
    if group == UTILITIES:
        return 7 * int(RENT[board, lot, owned - 1])
    level = int(game.level[lot])
    if level > 0:
        return int(RENT[board, lot, level])
    return int(RENT[board, lot, 0]) * (2 if owned == GROUP_SIZE[group] else 1)
