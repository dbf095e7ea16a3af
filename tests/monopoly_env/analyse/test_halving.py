"""Sequential halving of positions: its schedule, and when it stops."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env.actions import A_BUY
from monopoly_env.analyse import halving
from monopoly_env.analyse.halving import halve


def alike(count: int) -> tuple[Any, list[int]]:
    """The same position several times, and the same first action."""
    return np.repeat(me.core.batch_of(me.position(2)), count), [A_BUY] * count


def counts(shares: dict[int, Any]) -> list[int]:
    return [len(rows) for rows in shares.values()]


def test_the_worse_half_is_dropped_and_ties_keep_their_order() -> None:
    found = halve(*alike(5), 0, "random", 40, turns=2)
    assert list(found) == [0, 1, 2, 3, 4]
    assert counts(found) == [40, 40, 20, 10, 10]
    assert found[0][:10].tolist() == found[4].tolist()  # over the same luck


def test_one_position_may_be_kept_to_the_end() -> None:
    found = halve(*alike(5), 0, "random", 40, turns=2, kept=4)
    assert list(found) == [0, 1, 4, 2, 3]
    assert counts(found) == [40, 40, 40, 20, 10]


def test_limits_that_are_not_reached_change_nothing() -> None:
    games = np.concatenate(
        [me.core.batch_of(me.position(2, cash={0: dollars})) for dollars in (500, 900, 1500, 700)]
    )
    plain = halve(games, [A_BUY] * 4, 0, "random", 60, turns=4)
    limited = halve(games, [A_BUY] * 4, 0, "random", 60, turns=4, until=0.0, seconds=1e9)
    assert list(plain) == list(limited)
    assert next(iter(plain)) == 2
    assert all(plain[number].tolist() == limited[number].tolist() for number in plain)


def test_equal_first_playouts_are_not_taken_for_certain() -> None:
    """No lead was ever seen between the two.

    Yet 54 playouts are needed to know that to 5 points.
    """
    assert counts(halve(*alike(2), 0, "random", 400, turns=2, until=0.05)) == [62, 62]
    assert counts(halve(*alike(2), 0, "random", 400, turns=2, until=0.5)) == [8, 8]


def test_time_stops_between_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that moves on by a second whenever it is looked at."""
    ticks = itertools.count()
    monkeypatch.setattr(halving, "monotonic", lambda: float(next(ticks)))
    assert counts(halve(*alike(2), 0, "random", 30_000, turns=2, seconds=1e-9)) == [8, 8]
    assert counts(halve(*alike(2), 0, "random", 30_000, turns=2, seconds=3.5)) == [32, 32]
    assert counts(halve(*alike(2), 0, "random", 20, turns=2, seconds=3.5)) == [20, 20]
