"""Sets as bits against Python's own integers."""

from __future__ import annotations

import numpy as np
import pytest

from monopoly_env.engine import sets
from monopoly_env.kernels import entry

SETS = [0, (1 << 63) - 1, *(1 << member for member in range(63))]
SETS += np.random.default_rng(1).integers(0, (1 << 63) - 1, 10_000).tolist()


@pytest.mark.parametrize("compiled", [True, False])
def test_size_and_lowest_member_are_those_of_integers(compiled: bool) -> None:
    size, lowest = (
        function if compiled else getattr(function, "py_func", function)
        for function in (sets.size, sets.lowest)
    )
    assert [size(bits) for bits in SETS] == [bits.bit_count() for bits in SETS]
    some = [bits for bits in SETS if bits]
    assert [lowest(bits) for bits in some] == [(bits & -bits).bit_length() - 1 for bits in some]


@entry
def polynomial(bits: int) -> int:
    """Depends on the members of a set and on their order."""
    total = 0
    for member in sets.each(bits):
        total = total * 7 + member
    return total


def test_each_member_comes_once_in_rising_order() -> None:
    assert list(sets.each(0b101101)) == [0, 2, 3, 5]
    for bits in (0, 1, 0b101101, 1 << 62):
        assert list(sets.each(bits)) == [member for member in range(63) if bits >> member & 1]
        assert polynomial(bits) == getattr(polynomial, "py_func", polynomial)(bits)
