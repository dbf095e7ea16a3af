"""Whole games of every family: how strong it is, and that its trades come to an end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import agents
from tests.agents.players.trading import trades


# The bounds lie five standard errors from shares measured in 2,000 games or more.
@pytest.mark.parametrize(
    ("player", "others", "games", "low", "high"),
    [
        ("fp/a", ["random"], 400, 0.9, 1.0),
        ("fp/c", ["algorithmic"], 800, 0.5, 1.0),
        ("friedman", ["random"], 400, 0.95, 1.0),
        ("friedman", ["algorithmic"], 400, 0.0, 0.25),
        ("gcp", ["random"], 400, 0.95, 1.0),
        ("gcp", ["algorithmic"], 400, 0.31, 0.57),
        ("landlord/aggressive", ["algorithmic"], 2000, 0.52, 1.0),
        ("landlord/balanced", ["random"], 200, 0.95, 1.0),
        ("strategic", ["random"], 400, 0.9, 1.0),
        ("yasumura", ["landlord/cautious"], 800, 0.54, 1.0),
        ("yasumura", ["random"], 200, 0.95, 1.0),
        ("expert", ["algorithmic"], 720, 0.6, 1.0),
        ("expert", ["landlord/balanced"], 720, 0.6, 1.0),
        ("expert", ["gcp"], 720, 0.6, 1.0),
        ("expert", ["algorithmic"] * 3, 720, 0.35, 1.0),
        ("expert", ["landlord/balanced"] * 3, 720, 0.35, 1.0),
        ("expert", ["gcp"] * 3, 720, 0.3, 1.0),
        ("expert/evolved", ["expert"] * 3, 1200, 0.2625, 1.0),
        ("expert/evolved/two", ["expert"], 400, 0.525, 1.0),
    ],
)
def test_strength(player: str, others: list[str], games: int, low: float, high: float) -> None:
    rows = agents.arena.play([player, *others], games, seed=3).rows()
    assert low <= next(row["win_rate"] for row in rows if row["name"] == player) <= high


@pytest.mark.parametrize(
    ("players", "games", "fewest", "most", "returns"),
    [
        (["expert"] * 4, 24, 2, 10, 3),
        (["fp/a", "fp/b"], 30, 1, 5, 100),
        (["fp/a/guarded", "fp/b/guarded", "fp/c/guarded"], 12, 2, 10, 4),
        (["gcp", "gcp"], 30, 1, 4, 2),
        (
            ["landlord/balanced", "landlord/aggressive", "landlord/cautious", "landlord/darling"],
            40,
            2,
            10,
            3,
        ),
        (["yasumura"] * 4, 40, 2, 10, 3),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_trades_are_sane(
    players: Sequence[str], games: int, fewest: int, most: int, returns: int
) -> None:
    """A game has a few trades, and in most games no lot changes hands again and again."""
    concluded, moves = trades(players, games, seed=3)
    assert fewest <= np.mean(concluded) <= most
    assert np.mean(np.array(moves) <= returns) >= (0.5 if "expert" in players else 1.0)
