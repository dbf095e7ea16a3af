"""The boards: the 40 squares of each edition, read once from the data files into tables that kernels can index.

A lot is a square that can be owned. Lots are numbered 0 to 27: the 22 streets in board order, then the four railroads, then the two
utilities. A street's number is thus also its index in the heads `build` and `sell`, and the lots of a group are adjacent. A set of
lots is an integer with bit i set for lot i.
"""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

DATA: Final = Path(__file__).parent / "data"

NUM_SQUARES: Final = 40
NUM_LOTS: Final = 28
NUM_STREETS: Final = 22
NUM_GROUPS: Final = 10  # eight colours, railroads, utilities

KINDS: Final = (
    "go", "street", "railroad", "utility", "community_chest", "chance",
    "income_tax", "luxury_tax", "jail", "go_to_jail", "free_parking",
)  # fmt: skip
GO, STREET, RAILROAD, UTILITY, CHEST, CHANCE, INCOME_TAX, LUXURY_TAX, JAIL, GO_TO_JAIL, FREE_PARKING = range(11)

GROUPS: Final = (
    "brown", "light_blue", "pink", "orange", "red", "yellow", "green", "dark_blue", "railroad", "utility",
)  # fmt: skip
RAILROADS: Final = 8
UTILITIES: Final = 9
GROUP_SIZE: Final = np.array([2, 3, 3, 3, 3, 3, 3, 2, 4, 2])
GROUP_START: Final = np.array([0, 2, 5, 8, 11, 14, 17, 20, 22, 26])
GROUP_OF: Final = np.repeat(np.arange(NUM_GROUPS), GROUP_SIZE)
GROUP_LOTS: Final = ((1 << GROUP_SIZE) - 1) << GROUP_START
ALL_LOTS: Final = (1 << NUM_LOTS) - 1
HOTEL: Final = 5  # a level of 1 to 4 is that many houses


@dataclass(frozen=True)
class Edition:
    """One edition: its board file, its decks, and the card columns with its amounts and labels (see data/editions.toml)."""

    name: str
    title: str
    board: str
    deck: str
    amount: str
    label: str


def _editions() -> tuple[Edition, ...]:
    with (DATA / "editions.toml").open("rb") as file:
        return tuple(Edition(name, **table) for name, table in tomllib.load(file).items())


def read_table(name: str) -> list[dict[str, str]]:
    """The rows of a CSV file of the data folder."""
    with (DATA / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


EDITIONS: Final = _editions()
_BOARDS: Final = [read_table(edition.board) for edition in EDITIONS]
_SHAPE: Final = (len(EDITIONS), NUM_LOTS)

# Tables indexed by [edition, square] or [edition, lot]; money in dollars.
SQUARE_NAME: Final = [[row["name"] for row in rows] for rows in _BOARDS]
SQUARE_KIND: Final = np.array([[KINDS.index(row["kind"]) for row in rows] for rows in _BOARDS])
LOT_SQUARE: Final = np.zeros(_SHAPE, np.int64)
SQUARE_LOT: Final = np.full((len(EDITIONS), NUM_SQUARES), -1)
PRICE: Final = np.zeros(_SHAPE, np.int64)
MORTGAGE: Final = np.zeros(_SHAPE, np.int64)
HOUSE_PRICE: Final = np.zeros(_SHAPE, np.int64)
# Streets: base rent, 1 to 4 houses, hotel. Railroads: by the number owned, less one. Utilities: the same, as a multiple of the dice.
RENT: Final = np.zeros((*_SHAPE, 6), np.int64)
_RENT_COLUMNS: Final = {
    STREET: ("rent_base", "rent_1h", "rent_2h", "rent_3h", "rent_4h", "rent_hotel"),
    RAILROAD: ("rent_1rr", "rent_2rr", "rent_3rr", "rent_4rr"),
    UTILITY: ("dice_mult_1ut", "dice_mult_2ut"),
}


def _fill(edition: int, rows: list[dict[str, str]]) -> None:
    kinds = SQUARE_KIND[edition]
    squares = [square for kind in (STREET, RAILROAD, UTILITY) for square in np.flatnonzero(kinds == kind)]
    groups = [GROUPS.index(rows[square]["group"]) for square in squares]
    if groups != GROUP_OF.tolist():
        raise ValueError(f"board {EDITIONS[edition].board}: the groups must be {GROUPS} of sizes {GROUP_SIZE}")
    for lot, square in enumerate(squares):
        row = rows[square]
        LOT_SQUARE[edition, lot] = square
        SQUARE_LOT[edition, square] = lot
        PRICE[edition, lot] = int(row["price"])
        MORTGAGE[edition, lot] = int(row["mortgage"])
        HOUSE_PRICE[edition, lot] = int(row["house_cost"] or 0)
        for level, column in enumerate(_RENT_COLUMNS[int(kinds[square])]):
            RENT[edition, lot, level] = int(row[column])


for _edition, _rows in enumerate(_BOARDS):
    _fill(_edition, _rows)

JAIL_SQUARE: Final = int(np.flatnonzero(SQUARE_KIND[0] == JAIL)[0])
LOT_NAME: Final = [[SQUARE_NAME[e][square] for square in LOT_SQUARE[e]] for e in range(len(EDITIONS))]
# Lots in the order of their squares: the lots of an estate are auctioned and taken over "in board order" (rules 37 and 57).
BOARD_ORDER: Final = np.argsort(LOT_SQUARE, axis=1)


def lots_of(bits: int) -> list[int]:
    """The lots in a set, in ascending order."""
    return [lot for lot in range(NUM_LOTS) if int(bits) >> lot & 1]
