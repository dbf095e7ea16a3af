"""The fitness of a generation of players.

Every row of numbers plays the same games against the same opponents.

    >>> from pente_env.fitness import Experiment, evaluate
    >>> from pente_env.scripted import make
    >>> experiment = Experiment.preset("two", matches=10)
    >>> better = make("better")
    >>> scores = evaluate(np.array([better.params] * 2), better, experiment, seed=0)
    >>> scores.fitness.shape  # two equal players
    (2,)

It is Schrum's fitness: a game that is won in few moves pays most, then one that is lost late. A
match is one game from each seat against the same opponents; the one that is named first moves next
after the player.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError, nearest, shortened, whole_number
from pente_env.core import check_players
from pente_env.loop import RESULT, Table, play_games
from pente_env.matches import PlayerLike, coerce
from pente_env.options import check_choices, choice
from pente_env.player import Player
from pente_env.rules import Rules
from pente_env.scripted import SCRIPTED, make

# Stones that a player may have taken while the game goes on
TAKEN: Final = {"pairs": 8, "keryo": 14, "none": 0}


@dataclass(frozen=True)
class Fitness:
    """The fitness of a game: `moves_max` - moves if won, else `factor` * moves.

    Raises:
        ConfigurationError: An unknown value, or a factor that is no number.
    """

    moves_max: str = choice(
        "what the moves of a won game are subtracted from (P28): the most that a game may have; "
        "or the number of points",
        "moves",
        "points",
    )
    counted: str = choice(
        "what counts as a move (P9): every stone, or those of the player", "every", "own"
    )
    factor: float = field(
        default=0.5, metadata={"doc": "what a move of a game pays that is not won"}
    )
    wins_alone: bool = field(
        default=False, metadata={"doc": "a won game pays 1, any other nothing"}
    )

    def __post_init__(self) -> None:
        check_choices(self, ConfigurationError)
        if (
            isinstance(self.factor, bool)
            or not isinstance(self.factor, (int, float))
            or not np.isfinite(self.factor)
        ):
            raise ConfigurationError(f"Option factor={shortened(self.factor)} must be a number.")

    def limit(self, rules: Rules, players: int) -> int:
        """`moves_max` as a number.

        Before the last move nobody has taken all that it takes to win.
        """
        return rules.size**2 + (TAKEN[rules.captures] * players if self.moves_max == "moves" else 0)

    def points(
        self, results: NDArray[Any], seat: NDArray[Any], rules: Rules, players: int
    ) -> NDArray[np.float64]:
        """(G,) what each game pays the player.

        Args:
            results: (G,) RESULT of `pente_env.loop`.
            seat: (G,) where the player sat.
            rules: The rules of the games.
            players: How many sat there.
        """
        won = results["winner"] == seat
        if self.wins_alone:
            return won.astype(np.float64)
        moves = (
            results["moves"]
            if self.counted == "every"
            else (results["moves"] - seat + players - 1) // players
        )
        return np.where(won, self.limit(rules, players) - moves, self.factor * moves)


@dataclass(frozen=True)
class Experiment:
    """The tests that a player has to pass.

    Attributes:
        tests: The opponents of each test: one name or player in a game of two, two in a game of
            three.
        matches: Matches a test: each is a game from every seat.
        rules: The rules of the games.
        fitness: What a game pays.
        seats: From which the player plays, 0 for the first; by default from every one. A match is a
            game from each of them.

    Examples:
        >>> from pente_env.fitness import Experiment
        >>> experiment = Experiment((("blocker",), ("better",)), matches=5)
        >>> experiment.games  # two tests of five matches, each from both seats
        20

    Raises:
        MonopolyError: A number out of its range, no such opponent, or one that plays on boards of
            another size.
    """

    tests: tuple[tuple[PlayerLike, ...], ...]
    matches: int = 10
    rules: Rules = field(default_factory=Rules)
    fitness: Fitness = field(default_factory=Fitness)
    seats: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.tests or len({len(test) for test in self.tests}) > 1:
            raise ConfigurationError(
                "The tests of an experiment must be one or more, with equally many opponents, not"
                f" {self.tests!r}."
            )
        check_players(self.players)
        if not set(self.seats) <= set(range(self.players)) or len(set(self.seats)) < len(
            self.seats
        ):
            raise ConfigurationError(
                f"seats={shortened(self.seats)} must be different numbers from 0 to"
                f" {self.players - 1}."
            )
        whole_number("matches", self.matches, 1)
        for player in self.opponents.values():
            player.check_board(self.rules.size)

    @cached_property
    def opponents(self) -> dict[PlayerLike, Player]:
        """The opponents of all tests, each made or loaded once."""
        return {player: coerce(player) for test in self.tests for player in test}

    @property
    def players(self) -> int:
        """How many sit at a table."""
        return 1 + len(self.tests[0])

    @property
    def played_from(self) -> tuple[int, ...]:
        """The seats of a match."""
        return self.seats or tuple(range(self.players))

    @property
    def games(self) -> int:
        """Games of an evaluation."""
        return len(self.tests) * self.matches * len(self.played_from)

    @property
    def best(self) -> float:
        """The pay of an evaluation if every game is won as quickly as possible.

        That is by the fifth own stone.
        """
        seat = np.tile(self.played_from, len(self.tests) * self.matches)
        quickest = np.zeros(self.games, RESULT)
        quickest["winner"], quickest["moves"] = seat, 4 * self.players + seat + 1
        return float(self.fitness.points(quickest, seat, self.rules, self.players).sum())

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Experiment:
        """One of Schrum's experiments.

        Args:
            name: `two`: one test for each of the five scripted players (5.1). `pairs`: for each of
                the ten pairs of them (5.2). `better`: against two Better (5.3). `colluders`:
                against two Better that block the player and spare each other. `lot`: each of these
                two blocks either of the others, in four tests.
            **changes: Fields to change.

        Raises:
            ConfigurationError: There is no such experiment.
        """
        if name not in EXPERIMENTS:
            raise ConfigurationError(
                f"Unknown experiment {shortened(name)}. {nearest(shortened(name), EXPERIMENTS)}"
            )
        return cls(**({"tests": opponents_of(name)} | changes))


# Tests by the names of the opponents; what follows a slash is whom a builder blocks. The last two
# are ours: two Better that block the player and spare each other, and all four ways in which two
# Better block one other seat each.
EXPERIMENTS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "two": tuple((name,) for name in SCRIPTED),
    "pairs": tuple(itertools.combinations(SCRIPTED, 2)),
    "better": (("better", "better"),),
    "colluders": (("better/after", "better/next"),),
    "lot": tuple(itertools.product(("better/next", "better/after"), repeat=2)),
}


def opponents_of(
    name: str, options: Mapping[str, Mapping[str, str]] | None = None
) -> tuple[tuple[Player, ...], ...]:
    """The opponents of one of `EXPERIMENTS`, with options by the names of scripted players.

    Equal ones are one player.

    Examples:
        >>> from pente_env.fitness import opponents_of
        >>> [player.name for (player,) in opponents_of("two", {"blocker": {"ties": "random"}})]
        ['random', 'blocker', 'capturer', 'simple', 'better']

    Raises:
        KeyError: There is no such experiment.
        ConfigurationError: There is no such option, or no such value of it.
    """
    made: dict[str, Player] = {}
    for opponent in itertools.chain.from_iterable(EXPERIMENTS[name]):
        kind, _, blocks = opponent.partition("/")
        more = {"blocks": blocks} if blocks else {}
        made.setdefault(opponent, make(kind, **(options or {}).get(kind, {}), **more))
    return tuple(tuple(made[opponent] for opponent in test) for test in EXPERIMENTS[name])


@dataclass(frozen=True)
class Scores:
    """The evaluation of N players by T tests.

    Attributes:
        fitness: (N,) the sum of what all games pay.
        won: (N, T, M, P) bool, which games were won: by test, match and seat (those of the
            experiment).
        moves: (N, T) mean length of the games of each test.
    """

    fitness: NDArray[np.float64]
    won: NDArray[np.bool_]
    moves: NDArray[np.float64]

    @property
    def wins(self) -> NDArray[np.int64]:
        """(N, T, P) games won in each test, by seat."""
        return self.won.sum(axis=2)


def evaluate(
    rows: NDArray[np.float64],
    like: Player,
    experiment: Experiment,
    seed: int = 0,
    *,
    paired: bool = True,
    first: int = 0,
    threads: int | None = None,
) -> Scores:
    """Let every row of numbers play all tests.

    Args:
        rows: (N, L) float64, what the kernel of the player reads.
        like: A player with that kernel.
        experiment: The tests.
        seed: 0 to 2**63 - 1. Evaluations of different seeds share no game.
        paired: All rows play games of the same seeds; otherwise each has its own (E12).
        first: The number of the first row, where these are a part of all: rows of unlike numbers
            have games of their own.
        threads: Number of threads; by default one per core. The scores do not depend on it.

    Raises:
        ConfigurationError: The rows are not (N, L), the seed is out of range, or the player plays
            on boards of another size.
        IllegalActionError: A row chose a point that is not legal: it holds no network for this
            board, perhaps.
    """
    rows = np.asarray(rows, np.float64)
    if rows.ndim != 2 or not len(rows):
        raise ConfigurationError(
            f"Rows must be (N, L) for one player or more, not of shape {rows.shape}."
        )
    if not isinstance(like, Player) or len(like.params) not in (0, rows.shape[1]):
        wanted = f"{len(like.params)} numbers" if isinstance(like, Player) else "a pente_env.Player"
        raise ConfigurationError(
            f"Rows of {rows.shape[1]} numbers are not those of {shortened(like)}: expected"
            f" {wanted}."
        )
    for name, number in (("seed", seed), ("first", first)):
        whole_number(name, number, 0, (1 << 63) - 1)
    players, count = experiment.players, len(rows)
    like.check_board(experiment.rules.size)
    numbers = {player: count + number for number, player in enumerate(experiment.opponents)}
    seats, seat = _seating(
        [[numbers[player] for player in test] for test in experiment.tests], experiment
    )
    # Rows come first: game g of row n is number n * games + g.
    all_seats = np.where(seats >= 0, seats, np.arange(count)[:, None, None]).reshape(-1, players)
    seeds = _seeds(experiment.games, 1 if paired else first + count, seed)[0 if paired else first :]
    all_seeds = np.broadcast_to(seeds, (count, experiment.games)).ravel()
    table = Table.of_rows(rows, like, list(experiment.opponents.values()))
    results = play_games(table, all_seats, all_seeds, experiment.rules, threads)
    points = experiment.fitness.points(results, np.tile(seat, count), experiment.rules, players)
    shape = (count, len(experiment.tests), experiment.matches, len(experiment.played_from))
    won = (results["winner"] == np.tile(seat, count)).reshape(shape)
    return Scores(
        points.reshape(count, -1).sum(axis=1),
        won,
        results["moves"].reshape(shape).mean(axis=(2, 3)),
    )


def _seating(
    tests: list[list[int]], experiment: Experiment
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(G, P) the numbers of the opponents, -1 for the player; and (G,) its seat."""
    players, own = experiment.players, experiment.played_from
    match = [np.roll([-1, *opponents], seat) for opponents in tests for seat in own]
    by_test = np.array(match).reshape(len(tests), 1, len(own), players)
    seats = np.broadcast_to(by_test, (len(tests), experiment.matches, len(own), players)).reshape(
        -1, players
    )
    return seats, np.tile(own, len(tests) * experiment.matches)


def _seeds(games: int, rows: int, seed: int) -> NDArray[np.uint64]:
    """(rows, games) uint64: different for every game, row and seed of an evaluation."""
    return np.random.Generator(np.random.Philox(seed)).integers(
        0, 1 << 64, (rows, games), np.uint64
    )
