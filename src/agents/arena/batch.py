"""A batch of games: the games to play and, once they are played, their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena.counting import GAME_COUNTS, SEAT_COUNTS


@dataclass
class GameBatch:
    """G games of P seats. `Runner.play` writes the results: everything after `recorded`.

    Attributes:
        seeds: (G,) uint64, the seeds of the games.
        seats: (G, P) int16, the number of the policy in each seat.
        recorded: The numbers of the games whose actions are recorded.
        place: (G, P), the final ranks: 1 won, and several 1s are a draw.
        first: (G,), the seat that began.
        capped: (G,), whether the turn limit or a cap of the rules ended the game.
        seat_counts: (G, P) SEAT_COUNTS.
        game_counts: (G,) GAME_COUNTS.
        owned: (G, P) int32, the lots of each seat at the end, as bits.
        score: (G, P) int32, what decides a capped game, counted at the end as the rules say
            (dollars).
        luck: (G, P) float64, by how much the dice raised each seat's share of the win, by the value
            of the table; zeros without one.
        actions: For each recorded game, by number: its actions, and a hash of its final record.
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
    luck: NDArray[np.float64] = field(init=False)
    actions: dict[int, tuple[NDArray[np.uint8], str]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Allocate the results."""
        games, players = self.seats.shape
        self.place = np.zeros((games, players), np.int16)
        self.first = np.zeros(games, np.int16)
        self.capped = np.zeros(games, np.bool_)
        self.seat_counts = np.zeros((games, players), SEAT_COUNTS)
        self.game_counts = np.zeros(games, GAME_COUNTS)
        self.owned = np.zeros((games, players), np.int32)
        self.score = np.zeros((games, players), np.int32)
        self.luck = np.zeros((games, players))
