"""A batch of games: what is to be played, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena.counting import GAME_COUNTS, SEAT_COUNTS


@dataclass
class GameBatch:
    """G games of P seats. `Table.play` fills in the results.

    Attributes:
        seeds: (G,) uint64, seeds of the games.
        seats: (G, P) int16, the number of the policy in each seat.
        recorded: Numbers of the games whose actions are kept.
        place: (G, P) final ranks, 1 won; several 1: a draw.
        first: (G,) the seat that began.
        capped: (G,) whether the turn limit or a cap of the rules ended it.
        seat_counts: (G, P) SEAT_COUNTS.
        game_counts: (G,) GAME_COUNTS.
        owned: (G, P) int32, the lots of each seat at the end, as bits.
        score: (G, P) int32, dollars at the end as the rules count them to decide a capped game.
        actions: Of the recorded games, by number: the actions, and a hash of the last record.
    """

    seeds: NDArray[np.uint64]
    seats: NDArray[np.int16]
    recorded: frozenset[int] = frozenset()
    place: NDArray[np.int16] = field(init=False)
    first: NDArray[np.int16] = field(init=False)
    capped: NDArray[np.bool_] = field(init=False)
    seat_counts: NDArray[Any] = field(init=False)
    game_counts: NDArray[Any] = field(init=False)
    owned: NDArray[np.int32] = field(init=False)
    score: NDArray[np.int32] = field(init=False)
    actions: dict[int, tuple[NDArray[np.uint8], str]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Make room for the results."""
        games, players = self.seats.shape
        self.place = np.zeros((games, players), np.int16)
        self.first = np.zeros(games, np.int16)
        self.capped = np.zeros(games, np.bool_)
        self.seat_counts = np.zeros((games, players), SEAT_COUNTS)
        self.game_counts = np.zeros(games, GAME_COUNTS)
        self.owned = np.zeros((games, players), np.int32)
        self.score = np.zeros((games, players), np.int32)
