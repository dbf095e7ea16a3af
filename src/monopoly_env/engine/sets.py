"""Sets of lots, goods, seats and actions as bits of non-negative integers."""

from __future__ import annotations

from collections.abc import Iterator

from monopoly_env.kernels import generator, kernel


@kernel
def size(bits: int) -> int:
    """The number of members of a set, up to 63; compiles to one instruction."""
    return int(bits).bit_count()


@kernel
def lowest(bits: int) -> int:
    """The smallest member of a non-empty set."""
    x = int(bits)
    return size((x & -x) - 1)


@kernel
def nth(bits: int, n: int) -> int:
    """The n-th member, counted from 0 in rising order, of a set with more than n."""
    rest = int(bits)
    for _ in range(n):
        rest &= rest - 1
    return lowest(rest)


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
