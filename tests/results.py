"""Results of games that nobody played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from agents.arena.counting import GAME_COUNTS, SEAT_COUNTS
from agents.arena.results import Results


def results_of(
    names: Sequence[str],
    seats: ArrayLike,
    place: ArrayLike,
    seeds: ArrayLike | None = None,
    **others: Any,
) -> Results:
    """Results with these ranks in which nothing was counted; by default each game has its seed."""
    seats_, place_ = np.asarray(seats, np.int16), np.asarray(place, np.int16)
    games = len(seats_)
    fields = {
        "rules": "official",
        "seed": 0,
        "turn_limit": 9,
        "first": np.zeros(games, np.int16),
        "capped": np.zeros(games, np.bool_),
        "seat_counts": np.zeros(seats_.shape, SEAT_COUNTS),
        "game_counts": np.zeros(games, GAME_COUNTS),
    }
    return Results(
        names=tuple(names),
        seats=seats_,
        place=place_,
        seeds=np.asarray(np.arange(games) if seeds is None else seeds, np.uint64),
        **(fields | others),
    )
