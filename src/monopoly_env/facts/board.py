"""The boards: the 40 squares of each edition, as tables that kernels can index.

A lot is a square that can be owned. Lots are numbered 0 to 27: the 22 streets in board order, then
the four railroads, then the two utilities. A street's number is thus also its index in the heads
`build` and `sell`, and the lots of a group are adjacent. A set of lots is an integer with bit i set
for lot i.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from monopoly_env.errors import ConfigurationError, nearest, shortened
from monopoly_env.facts.editions import EDITIONS, Edition, Row, cell

NUM_SQUARES: Final = 40
NUM_LOTS: Final = 28
NUM_STREETS: Final = 22
NUM_GROUPS: Final = 10  # eight colours, railroads, utilities

KINDS: Final = (
    "go", "street", "railroad", "utility", "community_chest", "chance",
    "income_tax", "luxury_tax", "jail", "go_to_jail", "free_parking",
)  # fmt: skip
(
    GO, STREET, RAILROAD, UTILITY, CHEST, CHANCE, INCOME_TAX, LUXURY_TAX, JAIL, GO_TO_JAIL,
    FREE_PARKING,
) = range(len(KINDS))  # fmt: skip

GROUPS: Final = (
    "brown", "light_blue", "pink", "orange", "red", "yellow", "green", "dark_blue", "railroad",
    "utility",
)  # fmt: skip
RAILROADS: Final = 8
UTILITIES: Final = 9
GROUP_SIZE: Final = np.array([2, 3, 3, 3, 3, 3, 3, 2, 4, 2])
GROUP_START: Final = np.array([0, 2, 5, 8, 11, 14, 17, 20, 22, 26])
GROUP_OF: Final = np.repeat(np.arange(NUM_GROUPS), GROUP_SIZE)
GROUP_LOTS: Final = ((1 << GROUP_SIZE) - 1) << GROUP_START
ALL_LOTS: Final = (1 << NUM_LOTS) - 1
HOTEL: Final = 5  # a level of 1 to 4 is that many houses
JAIL_SQUARE: Final = 10

_LOT_KINDS: Final = (STREET, RAILROAD, UTILITY)  # in the order of the lots

NUM_EDITIONS: Final = len(EDITIONS)
_BOARDS: Final = [edition.squares for edition in EDITIONS]
_SHAPE: Final = (NUM_EDITIONS, NUM_LOTS)

_MOST_DOLLARS: Final = 100_000  # of a price or rent
_MOST_DICE: Final = 1000  # times the dice
_LONGEST_NAME: Final = 40


def _check_squares(edition: Edition, rows: list[Row], lots_by_name: dict[str, int]) -> None:
    """Raise ConfigurationError unless rows are a board; a name is the same lot in all editions."""
    where = edition.folder / edition.board
    if [row.get("index") for row in rows] != [str(square) for square in range(NUM_SQUARES)]:
        count = f"the squares from 0 to {NUM_SQUARES - 1}; there are {len(rows)} rows"
        raise ConfigurationError(f"{where}: the index must count {count}.")
    for row in rows:
        at, kind, name = f"{where}, square {row['index']}", row["kind"], row["name"]
        if kind not in KINDS:
            raise ConfigurationError(f"{at}: unknown kind {kind!r}. {nearest(kind, KINDS)}")
        if not (name.isprintable() and 0 < len(name.strip()) <= _LONGEST_NAME):
            wanted = f"name of 1 to {_LONGEST_NAME} letters"
            raise ConfigurationError(f"{at}: {shortened(name)} is no {wanted}.")
    for kind, square in ((KINDS[GO], 0), (KINDS[JAIL], JAIL_SQUARE)):
        if [row["index"] for row in rows if row["kind"] == kind] != [str(square)]:
            which = f"square {square}, and no other, must be of the kind {kind!r}"
            raise ConfigurationError(f"{where}: {which}.")
    lots = [row for kind in _LOT_KINDS for row in rows if row["kind"] == KINDS[kind]]
    if [row["group"] for row in lots] != [GROUPS[group] for group in GROUP_OF]:
        sizes = ", ".join(f"{size} {group}" for group, size in zip(GROUPS, GROUP_SIZE, strict=True))
        raise ConfigurationError(f"{where}: the lots must be {sizes}, streets in this order.")
    for lot, row in enumerate(lots):
        at, leader = f"{where}, square {row['index']}", lots[GROUP_START[GROUP_OF[lot]]]
        if row["kind"] == "street" and row["house_cost"] != leader["house_cost"]:
            what = "the house_cost must be the same for all streets of a group"
            raise ConfigurationError(f"{at}: {what}.")
        if lots_by_name.setdefault(row["name"].casefold(), lot) != lot:
            what = "is another lot's name, here or in another edition"
            raise ConfigurationError(f"{at}: {row['name']!r} {what}.")


# Tables indexed by [edition, square] or [edition, lot]; money in dollars.
SQUARE_NAME: Final = [[row["name"] for row in rows] for rows in _BOARDS]
SQUARE_KIND: Final = np.zeros((NUM_EDITIONS, NUM_SQUARES), np.int64)
LOT_SQUARE: Final = np.zeros(_SHAPE, np.int64)
SQUARE_LOT: Final = np.full((len(EDITIONS), NUM_SQUARES), -1)
PRICE: Final = np.zeros(_SHAPE, np.int64)
MORTGAGE: Final = np.zeros(_SHAPE, np.int64)
HOUSE_PRICE: Final = np.zeros(_SHAPE, np.int64)
# Streets: base rent, 1 to 4 houses, hotel. Railroads: by the number owned, less one. Utilities: the
# same, as a multiple of the dice.
RENT: Final = np.zeros((*_SHAPE, 6), np.int64)
_RENT_COLUMNS: Final = {
    STREET: ("rent_base", "rent_1h", "rent_2h", "rent_3h", "rent_4h", "rent_hotel"),
    RAILROAD: ("rent_1rr", "rent_2rr", "rent_3rr", "rent_4rr"),
    UTILITY: ("dice_mult_1ut", "dice_mult_2ut"),
}


def _fill(number: int, rows: list[Row]) -> None:
    edition, kinds = EDITIONS[number], SQUARE_KIND[number]
    kinds[:] = [KINDS.index(row["kind"]) for row in rows]
    squares = [square for kind in _LOT_KINDS for square in np.flatnonzero(kinds == kind)]
    for lot, square in enumerate(squares):
        row, kind = rows[square], int(kinds[square])
        place = f"{edition.folder / edition.board}, {row['name']}"
        LOT_SQUARE[number, lot] = square
        SQUARE_LOT[number, square] = lot
        PRICE[number, lot] = cell(row, "price", 1, _MOST_DOLLARS, place)
        MORTGAGE[number, lot] = cell(row, "mortgage", 0, int(PRICE[number, lot]), place)
        if kind == STREET:
            HOUSE_PRICE[number, lot] = cell(row, "house_cost", 1, _MOST_DOLLARS, place)
        most = _MOST_DICE if kind == UTILITY else _MOST_DOLLARS
        for level, column in enumerate(_RENT_COLUMNS[kind]):
            RENT[number, lot, level] = cell(row, column, 0, most, place)


_lots_by_name: dict[str, int] = {}
for _number, _rows in enumerate(_BOARDS):
    _check_squares(EDITIONS[_number], _rows, _lots_by_name)
    _fill(_number, _rows)

LOT_NAME: Final = [
    [SQUARE_NAME[e][square] for square in LOT_SQUARE[e]] for e in range(NUM_EDITIONS)
]
# Lots in the order of their squares: the lots of an estate are auctioned and taken over "in board
# order" (rules 37 and 57).
BOARD_ORDER: Final = np.argsort(LOT_SQUARE, axis=1)


def lots_of(bits: int) -> list[int]:
    """The lots in a set, in ascending order."""
    return [lot for lot in range(NUM_LOTS) if int(bits) >> lot & 1]
