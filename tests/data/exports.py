"""Functions with arguments and results of all kinds, to be compiled ahead of time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monopoly_env.kernels import kernel
from monopoly_env.kernels.signatures import Array1, Array2


class Scaled(NamedTuple):
    """Numbers, and what to do with their sum."""

    values: Array1[np.float64]
    factor: float
    add: bool


class Square(NamedTuple):
    """A place in an array."""

    row: int
    column: int


def total(scaled: Scaled, number: int) -> float:
    """The scaled sum, and a number added or subtracted."""
    result = 0.0
    for value in scaled.values:
        result += value * scaled.factor
    return result + number if scaled.add else result - number


def fill(squares: Array2[np.int64], last: Square) -> None:
    """Number the columns, and all places from a square on."""
    for row in range(len(squares)):
        squares[row] = np.arange(squares.shape[1])
    squares[last.row, 0] = last.row * squares.shape[1]
    squares[last.row, last.column] = last.row * squares.shape[1] + last.column


def is_odd(number: int) -> bool:
    """Whether a number is odd."""
    if number < 0:
        raise ValueError("no negative numbers")
    return number % 2 == 1


@kernel
def _half(number: int) -> int:
    return number // 2


@kernel
def _quarter(number: int) -> int:
    return _half(_half(number))


_quarter(8)  # `_half` is now compiled for this call, too


def eighth(number: int) -> int:
    """An eighth, rounded down."""
    return _half(_quarter(number))


FUNCTIONS = (total, fill, is_odd, eighth)
