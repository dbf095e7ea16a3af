"""What an encoding's table is made of: blocks of neighbouring features. Offsets in code, names and docs all come from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from monopoly_env.board import GROUPS, LOT_NAME, SQUARE_NAME
from monopoly_env.game import MAX_PLAYERS

# Labels that several blocks use: names of the US board; other editions have their lots in the same order.
LOTS: Final = tuple(LOT_NAME[0])
STREETS: Final = LOTS[:22]
SQUARES: Final = tuple(f"{index} {name}" for index, name in enumerate(SQUARE_NAME[0]))
GOODS: Final = (*LOTS, "Chance jail card", "Community Chest jail card")
COLOURS: Final = GROUPS[:8]
MONEY: Final = ("by 5000", "saturating")  # see `SCALES`


@dataclass(frozen=True)
class Block:
    """Neighbouring features that say the same of different things.

    Attributes:
        name: What is said; unique in its table.
        labels: Of what, a label a feature; a single empty label for a block of one.
        scale: A key of `SCALES`.
        doc: The feature in words.
    """

    name: str
    labels: tuple[str, ...]
    scale: str
    doc: str

    @property
    def size(self) -> int:
        """How many features it has."""
        return len(self.labels)

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each feature."""
        return tuple(f"{self.name}: {label}" if label else self.name for label in self.labels)


# How a feature is scaled: [range], then how.
SCALES: Final = {
    "flag": "0 or 1",
    "one-hot": "0 or 1, at most one of the block is 1",
    "dollars": "[-1, 1]: dollars / 5000, cut off at 1 and -1; then dollars / (|dollars| + 1000), exact to the dollar up to 100,000",
    "share": "[0, 1]",
    "count": "[0, 1]: divided by the most there can be, as the text says",
    "growing": "[0, 1): n / (n + a), with a as the text says",
    "packed": f"[-1, 1]: bits as a binary fraction, exact in float32; seats as (seats on + 1) / {MAX_PLAYERS}",
    "signed": "[0, 1] while cash is not below zero, as a defect of Ocnaru's program allows",
}


def offsets(blocks: Iterable[Block]) -> dict[str, int]:
    """Where each block begins."""
    places: dict[str, int] = {}
    at = 0
    for block in blocks:
        if block.name in places:
            raise ValueError(f"two blocks are called {block.name}")
        if block.scale not in SCALES:
            raise ValueError(f"block {block.name} has the unknown scale {block.scale}")
        places[block.name] = at
        at += block.size
    return places


def total(blocks: Iterable[Block]) -> int:
    """How many features the blocks have together."""
    return sum(block.size for block in blocks)


def seat_names(count: int) -> tuple[str, ...]:
    """The owner of an observation and the others in turn order, as names of features call them."""
    return ("me", *(f"player +{offset}" for offset in range(1, count)))
