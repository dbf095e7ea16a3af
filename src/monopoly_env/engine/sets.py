"""Sets of lots, goods, seats and actions as bits of non-negative integers."""

from __future__ import annotations

from collections.abc import Iterator

from monopoly_env.kernels import generator, kernel


@kernel
def size(bits: int) -> int:
    """The number of members of a set, up to 63; compiles to one instruction."""
    x = int(bits)
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((x * 0x0101010101010101) >> 56) & 0x7F


@kernel
def lowest(bits: int) -> int:
    """The smallest member of a non-empty set."""
    x = int(bits)
    return size((x & -x) - 1)


@kernel
def has(bits: int, member: int) -> bool:
    """Whether a member is in a set."""
    return (int(bits) >> member) & 1 == 1


@generator
def each(bits: int) -> Iterator[int]:
    """Go through the members of a set in rising order."""
    rest = int(bits)
    while rest:
        yield lowest(rest)
        rest &= rest - 1
