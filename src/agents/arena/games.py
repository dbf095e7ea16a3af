"""Games as data: who sits where with which seed, and what came of it.

Each seed is played in every order of seats at tables of 2 to 4 players, and in all rotations of a
random order at tables of 5 to 8.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.arena.counting import GAME_COUNTS, SEAT_COUNTS

if TYPE_CHECKING:
    from monopoly_env.replays import Replay

_ALL_ORDERS_UP_TO: Final = 4  # players: 24 orders; 5 players would have 120
# The arrays of `GameBatch` and `PlayedGames` with a row per game
ARRAYS: Final = ("seeds", "seats", "first", "place", "capped", "seat_counts", "game_counts")


@dataclass
class GameBatch:
    """G games of P seats. `Runner.play` writes the results: the fields after `recorded`.

    Attributes:
        seeds: (G,) uint64, the seeds of the games.
        seats: (G, P) int16, the number of the policy in each seat.
        recorded: The numbers of the games whose actions are recorded.
        place: (G, P), the final ranks: 1 is the winner, several 1s are a draw.
        first: (G,), the seat that began.
        capped: (G,), whether the turn limit or a cap of the rules ended the game.
        seat_counts: (G, P) SEAT_COUNTS.
        game_counts: (G,) GAME_COUNTS.
        owned: (G, P) int32, the lots of each seat at the end, as bits.
        score: (G, P) int32, the final score that decides a capped game under the rules (dollars).
        luck: (G, P) float64, the luck of each seat (`agents.arena.luck`); zeros if not measured.
        actions: By number of a recorded game: its actions, and a hash of its final record.
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


def arrangements(
    sitting: NDArray[np.int16], games: int, seed: int
) -> tuple[NDArray[np.int16], NDArray[np.uint64]]:
    """The policy in each seat of each game, and the seed of each game.

    Args:
        sitting: (P,) the policies at the table, as indices.
        games: The number of games, G.
        seed: Determines the seeds of games, and the random orders of large tables.

    Returns:
        (G, P) int16, the policy in each seat, and (G,) uint64, the seeds: `seed << 32`, plus one
        for each set of orders. Fewer games give a prefix of the same arrays.
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
    """The orders without duplicates, which arise if a policy sits twice."""
    return np.array(list(dict.fromkeys(map(tuple, orders.tolist()))), np.int16)


def _rotation_class(order: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """A sort key that makes the rotations of an order adjacent, so that a prefix is balanced."""
    rotations = [order[shift:] + order[:shift] for shift in range(len(order))]
    return min(rotations), rotations.index(min(rotations))
