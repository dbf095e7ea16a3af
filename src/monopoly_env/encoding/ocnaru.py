"""The encodings `ocnaru100` and `ocnaru100+`: the state vector of Ocnaru's thesis, two players.

`ocnaru100` is what the program published with the thesis (Bucharest, July 2025) computes, including
its defects, so that the thesis's networks can be compared. Each defect is named at its feature. The
program leaves the last 26 features at zero; `ocnaru100+` fills them with what the thesis says they
hold: mortgages and the opponent's buildings. Their layout is our choice.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from monopoly_env.encoding.table import COLOURS, Block, places, total
from monopoly_env.engine import agenda
from monopoly_env.engine.building import lowest_level
from monopoly_env.engine.sets import has, size
from monopoly_env.facts.board import (
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
from monopoly_env.game import Game
from monopoly_env.kernels import kernel

NUM_PLAYERS: Final = 2
_BOTH: Final = ("me", "opponent")
_GROUP_FACTS: Final = (
    "own share", "opponent's share", "complete", "level by 5", "return on the next level",
    "cash by its cost",
)  # fmt: skip

BLOCKS: Final = (
    Block("square", _BOTH, "share", "number of the square / 40"),
    Block("cash", _BOTH, "signed", "dollars / 5000, at most 1; not cut off below"),
    Block("in jail", _BOTH, "flag", ""),
    Block("jail cards", _BOTH, "count", "number / 2"),
    Block("liquidity", ("",), "signed", "cash / net worth (at least 1). Defect: net worth counts "
        "all buildings on the board, and a hotel as one house"),
    Block("group", tuple(f"{colour} {fact}" for colour in COLOURS for fact in _GROUP_FACTS),
        "signed", "the last three are 0 unless the group is complete. Level: houses, 5 for a "
        "hotel (the lowest of the group). Return: rent gained by the next level / its cost, x "
        "1.2 for orange and red, x 1.1 for green and dark blue, / 0.5, at most 1. Defects: 0 at "
        "one to three houses; at a hotel, the value of the first house; the first gain is "
        "measured from the undoubled base rent. Cash / the cost of the next level, at most 3, / "
        "3"),
    Block("railroads", _BOTH, "share", "number owned / 4"),
    Block("utilities", _BOTH, "share", "number owned / 2"),
    Block("lots sold", ("",), "share", "number / 28"),
    Block("developed groups", ("built", "with hotels"), "count",
        "own groups / 32 and / 12 (defect: groups instead of buildings)"),
    Block("for sale", ("square", "price", "street", "railroad", "utility", "value", "cash"),
        "signed", "only when the observing player is asked to buy: square / 40; price / 400; "
        "kind; the program's value / price / 2, at most 1; cash / price, at most 5, / 5"),
    Block("danger beyond jail", ("",), "share", "over the throws out of jail: sum of probability "
        "x min(1, rent to pay / cash). Defect: counts mortgaged lots too"),
    Block("fine", ("",), "signed", "cash / the jail fine, at most 5, / 5"),
    Block("failed throws", ("",), "count", "in jail, / 3"),
)  # fmt: skip

# The last 26, which the program leaves at zero.
ZEROS: Final = (
    Block("unused", tuple(str(index) for index in range(total(BLOCKS), 100)), "flag", "always 0"),
)
PLUS: Final = (
    Block("opponent's level", COLOURS, "count", "lowest level of the group / 5, if the opponent "
        "owns all of it"),
    Block("own mortgaged", COLOURS, "share", "own mortgaged lots / the size of the group"),
    Block("opponent's mortgaged", COLOURS, "share",
        "the opponent's mortgaged lots / the size of the group"),
    Block("mortgaged railroads and utilities", _BOTH, "share", "number / 6"),
)  # fmt: skip

SIZE: Final = 100
_AT: Final = places((block.name, block.size) for block in (*BLOCKS, *PLUS))

_COLOURS: Final = RAILROADS  # the groups of streets come first
# the program's factor for orange and red, green and dark blue
_EYED: Final = np.array([1.0, 1.0, 1.0, 1.2, 1.2, 1.0, 1.1, 1.1])
# The program's factors for owning lots of the group, for railroads and for utilities.
_COMPLETION, _RAILROAD_FACTOR, _UTILITY_FACTOR = 0.4, 1.3, 1.1
_REST_LOTS: Final = int(GROUP_LOTS[RAILROADS] | GROUP_LOTS[UTILITIES])


def names(plus: bool) -> tuple[str, ...]:
    """The name of each feature of `ocnaru100`, or of `ocnaru100+` if `plus`."""
    return tuple(name for block in (*BLOCKS, *(PLUS if plus else ZEROS)) for name in block.names)


@kernel
def write(game: Game, seat: int, out: Any) -> None:
    """Write `ocnaru100` into a float32 row of at least 100 numbers, with zeros after them."""
    out[:] = 0.0
    me = int(seat)
    other = 1 - me
    _write_both(game, me, 0, out)
    _write_both(game, other, 1, out)
    cash = int(game.cash[me])
    out[_AT.liquidity] = cash / max(_net_worth(game, me), 1)
    for group in range(_COLOURS):
        _write_group(game, me, other, group, out)
    out[_AT.lots_sold] = size(int(game.lots[me]) | int(game.lots[other])) / NUM_LOTS
    if game.decision == agenda.BUY and game.player == me:
        _write_sale(game, me, int(game.agenda[game.depth - 1, 2]), out)
    out[_AT.danger_beyond_jail] = _danger_beyond_jail(game, other, cash)
    out[_AT.fine] = min(cash / max(int(game.rules.jail_fine), 1), 5.0) / 5.0
    out[_AT.failed_throws] = min(max(int(game.jail[me]) - 1, 0) / 3.0, 1.0)


@kernel
def write_plus(game: Game, seat: int, out: Any) -> None:
    """Write `ocnaru100+`: `ocnaru100` and the last 26 features."""
    write(game, seat, out)
    me = int(seat)
    other = 1 - me
    mine = int(game.lots[me]) & int(game.mortgaged)
    theirs = int(game.lots[other]) & int(game.mortgaged)
    for group in range(_COLOURS):
        lots, count = int(GROUP_LOTS[group]), int(GROUP_SIZE[group])
        if int(game.lots[other]) & lots == lots:
            out[_AT.opponents_level + group] = lowest_level(game, group) / HOTEL
        out[_AT.own_mortgaged + group] = size(mine & lots) / count
        out[_AT.opponents_mortgaged + group] = size(theirs & lots) / count
    out[_AT.mortgaged_railroads_and_utilities] = size(mine & _REST_LOTS) / 6.0
    out[_AT.mortgaged_railroads_and_utilities + 1] = size(theirs & _REST_LOTS) / 6.0


@kernel
def _write_both(game: Game, player: int, side: int, out: Any) -> None:
    lots = int(game.lots[player])
    out[_AT.square + side] = int(game.position[player]) / 40.0
    out[_AT.cash + side] = min(int(game.cash[player]) / 5000.0, 1.0)
    out[_AT.in_jail + side] = 1.0 if game.jail[player] > 0 else 0.0
    out[_AT.jail_cards + side] = size(int(game.jail_cards[player])) / 2.0
    out[_AT.railroads + side] = size(lots & int(GROUP_LOTS[RAILROADS])) / 4.0
    out[_AT.utilities + side] = size(lots & int(GROUP_LOTS[UTILITIES])) / 2.0


@kernel
def _net_worth(game: Game, player: int) -> int:
    """Net worth of the program, in dollars: cash, lots, and every building on the board."""
    board = int(game.rules.board)
    worth = int(game.cash[player])
    for lot in range(NUM_LOTS):
        if has(game.lots[player], lot):
            mortgaged = has(game.mortgaged, lot)
            worth += int(MORTGAGE[board, lot]) if mortgaged else int(PRICE[board, lot])
    for lot in range(NUM_STREETS):
        level = int(game.level[lot])
        worth += (1 if level == HOTEL else level) * int(HOUSE_PRICE[board, lot])
    return worth


@kernel
def _write_group(game: Game, me: int, other: int, group: int, out: Any) -> None:
    lots, count = int(GROUP_LOTS[group]), int(GROUP_SIZE[group])
    at = _AT.group + len(_GROUP_FACTS) * group
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
        out[_AT.developed_groups] += 1.0 / 32.0
    if level == HOTEL:
        out[_AT.developed_groups + 1] += 1.0 / 12.0


@kernel
def _rent_gained(game: Game, group: int, level: int) -> int:
    """The rent that the next level of a group adds, as the program computes it, in dollars."""
    board, start = int(game.rules.board), int(GROUP_START[group])
    gain = 0
    for lot in range(start, start + int(GROUP_SIZE[group])):
        if level in (0, HOTEL):  # the program forgets the four houses once the hotel stands
            gain += int(RENT[board, lot, 1]) - int(RENT[board, lot, 0])
        elif level == 4:
            gain += int(RENT[board, lot, HOTEL]) - int(RENT[board, lot, 4])
    return gain


@kernel
def _write_sale(game: Game, me: int, lot: int, out: Any) -> None:
    board, group = int(game.rules.board), int(GROUP_OF[lot])
    price = int(PRICE[board, lot])
    out[_AT.for_sale] = int(LOT_SQUARE[board, lot]) / 40.0
    out[_AT.for_sale + 1] = min(price / 400.0, 1.0)
    out[_AT.for_sale + (3 if group == RAILROADS else 4 if group == UTILITIES else 2)] = 1.0
    out[_AT.for_sale + 5] = min(_value(game, me, lot) / price / 2.0, 1.0)
    out[_AT.for_sale + 6] = min(int(game.cash[me]) / price, 5.0) / 5.0


@kernel
def _value(game: Game, me: int, lot: int) -> float:
    """The program's value of a lot for sale, in dollars; its strategic player uses another."""
    board, group = int(game.rules.board), int(GROUP_OF[lot])
    price, owned = float(PRICE[board, lot]), size(int(game.lots[me]) & int(GROUP_LOTS[group]))
    if group == RAILROADS:
        return (price + 10.0 * int(RENT[board, lot, min(owned, 3)])) * _RAILROAD_FACTOR
    if group == UTILITIES:  # eight throws of 7
        return (price + 56.0 * int(RENT[board, lot, min(owned, 1)])) * _UTILITY_FACTOR
    houses = 0
    for level in range(1, HOTEL):
        houses += int(RENT[board, lot, level])
    base, hotel = int(RENT[board, lot, 0]), int(RENT[board, lot, HOTEL])
    value = price + 20.0 * base + houses / 4.0 + hotel / 5.0
    return value * (1.0 + _COMPLETION * owned / int(GROUP_SIZE[group])) * float(_EYED[group])


@kernel
def _danger_beyond_jail(game: Game, other: int, cash: int) -> float:
    """The expected rent after leaving jail, as a share of the cash; each rent counts at most 1."""
    danger = 0.0
    for steps in range(2, 13):
        lot = int(SQUARE_LOT[game.rules.board, JAIL_SQUARE + steps])
        if lot >= 0 and has(game.lots[other], lot):
            danger += (6 - abs(7 - steps)) / 36.0 * min(_rent(game, other, lot) / max(cash, 1), 1.0)
    return danger


@kernel
def _rent(game: Game, owner: int, lot: int) -> int:
    """The rent that the program expects, mortgaged or not; for utilities at a throw of 7."""
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
