"""Played games as data: seats, ranks and counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from monopoly_env.replays import Replay

# The arrays of `PlayedGames` and of `agents.arena.batch.GameBatch` with a row per game
ARRAYS: Final = ("seeds", "seats", "first", "place", "capped", "seat_counts", "game_counts")


@dataclass(frozen=True, kw_only=True, eq=False)
class PlayedGames:
    """G games between policies, at tables of P seats.

    Attributes:
        names: The names of the policies; arrays refer to them by index.
        rules: The preset, or the options that differ from the default, as text.
        seed: The seed from which the seeds of all games were derived.
        turn_limit: Turns per player after which the score decided the game.
        setup: The arguments for `agents.arena.play_again`, as JSON values.
        seeds: (G,) uint64, the seed of each game. Games of one seed differ only in the seats.
        seats: (G, P) int16, the policy in each seat.
        first: (G,) int16, the seat that moved first.
        place: (G, P) int16, final ranks. 1 is the winner; if several seats have rank 1, the game
            was a draw and they share the win.
        capped: (G,) bool, whether the turn limit ended the game.
        replays: The games that were recorded.
        seat_counts: (G, P) records, one field for each of `agents.arena.counting.STATISTICS`.
        game_counts: (G,) records, one field for each of `agents.arena.counting.GAME_STATISTICS`.
        costs: The costs of each policy in these games (`Policy.costs`); empty for most.
        seconds: Wall time without compiling; 0 for results from a file, since equal games make
            equal files.
        luck: (G, P) float64, the luck of each seat (`agents.arena.luck`); None if not measured.
        value: The name of the value by which luck was measured.
    """

    names: tuple[str, ...]
    rules: str
    seed: int
    turn_limit: int
    setup: dict[str, Any] = field(default_factory=dict)

    seeds: NDArray[np.uint64]
    seats: NDArray[np.int16]
    first: NDArray[np.int16]
    place: NDArray[np.int16]
    capped: NDArray[np.bool_]
    replays: list[Replay] = field(default_factory=list)

    seat_counts: NDArray[Any]
    game_counts: NDArray[Any]
    costs: list[dict[str, float]] = field(default_factory=list)
    seconds: float = 0.0

    luck: NDArray[np.float64] | None = None
    value: str = ""

    @property
    def games(self) -> int:
        """The number of games."""
        return len(self.place)

    @property
    def turns(self) -> NDArray[np.int32]:
        """(G,) int32, turns of each game, counted over all players."""
        return self.game_counts["turns"]

    @property
    def decisions(self) -> int:
        """The number of decisions in all games."""
        return int(self.game_counts["choices"].sum(dtype=np.int64))

    @property
    def wins(self) -> NDArray[np.float64]:
        """(G, P) float64, the share of the win of each seat: 1, 0, or a fraction after a draw."""
        winners = self.place == 1
        return winners / winners.sum(axis=1, keepdims=True)
