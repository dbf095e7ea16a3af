"""Sets of rows, as named tuples of columns: kernels read and write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self

import numpy as np


class Rows(tuple[Any, ...]):
    """Base class of named tuples of arrays whose first axes have the same length.

    Attributes:
        TYPES: For each column its type, followed by the shape of a row: numbers, or the names of
            lengths that `empty` is given.
    """

    __slots__ = ()
    TYPES: ClassVar[tuple[tuple[Any, ...], ...]]

    @classmethod
    def empty(cls, count: int, make: Callable[..., Any] = np.empty, /, **lengths: int) -> Self:
        """Room for so many rows, made by `numpy.empty` or `numpy.zeros`."""
        return cls._of(
            make((count, *(lengths.get(n, n) for n in shape)), dtype) for dtype, *shape in cls.TYPES
        )

    @classmethod
    def joined(cls, parts: Iterable[Self]) -> Self:
        """Several sets, one after the other."""
        return cls._of(np.concatenate(columns) for columns in zip(*parts, strict=True))

    @classmethod
    def written(cls, write: Callable[[Self], int], room: int, **lengths: int) -> list[Self]:
        """The rows of a kernel that returns whenever its room is full.

        `write` fills a set of rows, float16 as uint16, and returns their number; `lengths` as for
        `empty`.
        """
        parts, count = [], room
        while count == room:
            rows = cls.empty(room, **lengths)
            count = write(rows.bits())
            parts.append(rows.take(slice(count)))
        return parts

    @classmethod
    def _of(cls, columns: Iterable[Any]) -> Self:
        return cls(*columns)

    def take(self, rows: Any) -> Self:
        """Some of the rows."""
        return self._of(column[rows] for column in self)

    def bits(self) -> Self:
        """The same rows for a kernel: columns of float16 as uint16."""
        return self._of(
            column.view(np.uint16) if column.dtype == np.float16 else column for column in self
        )

    @property
    def size(self) -> int:
        """The number of rows; `len` counts the columns."""
        return len(self[0])
