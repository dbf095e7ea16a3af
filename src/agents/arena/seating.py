"""Which policy sits where: each seed is played in every order of seats.

So it is at tables of 2 to 4 players; at tables of 5 to 8, it is played in all rotations of a random
order.
"""

from __future__ import annotations

import itertools
from typing import Final

import numpy as np
from numpy.typing import NDArray

_ALL_ORDERS_UP_TO: Final = 4  # players: 24 orders; 5 players would have 120


def arrangements(
    sitting: NDArray[np.int16], games: int, seed: int
) -> tuple[NDArray[np.int16], NDArray[np.uint64]]:
    """The policy in each seat of each game, and the seed of each game.

    Args:
        sitting: (P,) the policies at the table, as indices.
        games: The number of games, G.
        seed: Decides the seeds of games, and the random orders of large tables.

    Returns:
        (G, P) int16, the policy in each seat, and (G,) uint64, the seeds: `seed << 32`, then one
        more for each set of orders. A smaller number of games gives the beginning of the same
        arrays.
    """
    if len(sitting) <= _ALL_ORDERS_UP_TO:
        orders = _different(np.array(sorted(itertools.permutations(sitting), key=_rotation_class)))
        numbers = np.arange(games)
        seats = orders[numbers % len(orders)].astype(np.int16)
        return seats, _game_seeds(seed, numbers // len(orders))
    generator = np.random.Generator(np.random.Philox(seed))
    rows: list[NDArray[np.int16]] = []
    set_of: list[int] = []
    for number in itertools.count():
        order = generator.permutation(sitting)
        rotations = _different(np.array([np.roll(order, shift) for shift in range(len(order))]))
        rows.extend(rotations)
        set_of.extend([number] * len(rotations))
        if len(rows) >= games:
            break
    return np.array(rows[:games], np.int16), _game_seeds(seed, np.array(set_of[:games]))


def orders_of(sitting: NDArray[np.int16]) -> int:
    """The number of games per seed."""
    return int((arrangements(sitting, 100, 0)[1] == 0).sum())


def _game_seeds(seed: int, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    return (np.uint64(seed) << np.uint64(32)) + numbers.astype(np.uint64)


def _different(orders: NDArray[np.int16]) -> NDArray[np.int16]:
    """The orders without duplicates.

    A policy that sits twice would play the same game again with its seats swapped.
    """
    return np.array(list(dict.fromkeys(map(tuple, orders.tolist()))), np.int16)


def _rotation_class(order: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """A sort key that puts the rotations of an order side by side.

    So a set that is cut short is still balanced.
    """
    rotations = [order[shift:] + order[:shift] for shift in range(len(order))]
    return min(rotations), rotations.index(min(rotations))
