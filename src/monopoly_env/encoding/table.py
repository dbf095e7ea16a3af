"""Tables of features, in blocks: the source of offsets in kernels, names and documentation."""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, cast

from monopoly_env.facts.board import GROUPS, LOT_NAME, SQUARE_NAME
from monopoly_env.game import MAX_PLAYERS

# Labels that several blocks use, with names of the US board. Other editions have their lots in the
# same order.
LOTS: Final = tuple(LOT_NAME[0])
STREETS: Final = LOTS[:22]
SQUARES: Final = tuple(f"{index} {name}" for index, name in enumerate(SQUARE_NAME[0]))
GOODS: Final = (*LOTS, "Chance jail card", "Community Chest jail card")
COLOURS: Final = GROUPS[:8]
MONEY: Final = ("by 5000", "saturating")  # see `SCALES`


@dataclass(frozen=True)
class Block:
    """Adjacent features that state the same fact about different things.

    Attributes:
        name: The fact; unique in its table.
        labels: The things, one label per feature. A block of one feature has a single empty label.
        scale: A key of `SCALES`.
        doc: The features in words.
    """

    name: str
    labels: tuple[str, ...]
    scale: str
    doc: str

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.labels)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each feature."""
        return tuple(f"{self.name}: {label}" if label else self.name for label in self.labels)


# How features are scaled: [range], then the formula.
SCALES: Final = {
    "flag": "0 or 1",
    "one-hot": "0 or 1; at most one feature of the block is 1",
    "dollars": (
        "[-1, 1]: dollars / 5000, clipped; then dollars / (|dollars| + 1000), exact to the dollar"
        " up to 100,000"
    ),
    "share": "[0, 1]",
    "count": "[0, 1]: divided by the largest possible value, as stated",
    "growing": "[0, 1): n / (n + a), with n and a as stated",
    "balance": "[-1, 1]: dollars / 2000, clipped",
    "rise": "(-1, 1): n / (|n| + a), with n and a as stated",
    "packed": (
        "[-1, 1]: bits as a binary fraction, exact in float32; seats as (distance from the"
        f" observing player + 1) / {MAX_PLAYERS}"
    ),
    "signed": "[0, 1], unless cash is below zero, which a defect of Ocnaru's program allows",
}


def places(sizes: Iterable[tuple[str, int]]) -> Any:
    """Block offsets for kernels: `places([("own maximum", 2)]).own_maximum`."""
    named = [(re.sub("[ -]", "_", name.replace("'", "")), size) for name, size in sizes]
    starts = accumulate((size for _, size in named), initial=0)
    return cast(Any, namedtuple)("Places", [name for name, _ in named])(*list(starts)[:-1])


def total(blocks: Iterable[Block]) -> int:
    """The total number of features in the blocks."""
    return sum(block.size for block in blocks)


def seat_names(count: int) -> tuple[str, ...]:
    """The seats as feature names call them: the observing player, then the others in turn order."""
    return ("me", *(f"player +{offset}" for offset in range(1, count)))
