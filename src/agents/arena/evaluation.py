"""Evaluation of players under test with common seats, seeds and opponents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena.games import ARRAYS, GameBatch, arrangements, orders_of
from agents.arena.matches import check_numbers, title_of, unique_names
from agents.arena.results import Results
from agents.arena.runner import Progress, Runner, reported
from agents.arena.statistics import Difference, paired_difference
from monopoly_env.errors import whole_number
from monopoly_env.game import MAX_PLAYERS, MIN_PLAYERS
from monopoly_env.intervals import clustered, per_seed
from monopoly_env.kernels import clock
from monopoly_env.policy.names import PolicyLike, resolve_all
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import Rules


@dataclass(frozen=True)
class Seating:
    """A table for a player under test.

    Attributes:
        opponents: One for each other seat: names, saved files or policies; may repeat.
        rules: A preset or `Rules`.
        turn_limit: Turns of each player after which the score decides a game.
    """

    opponents: tuple[PolicyLike, ...]
    rules: Rules | str = "official"
    turn_limit: int = 1000

    def __str__(self) -> str:
        """The names of the opponents, such as "3 x expert"."""
        names = [
            opponent.name if isinstance(opponent, Policy) else str(opponent)
            for opponent in self.opponents
        ]
        counts = {name: names.count(name) for name in names}
        return ", ".join(
            name if count == 1 else f"{count} x {name}" for name, count in counts.items()
        )

    @property
    def orders(self) -> int:
        """Games per seed: one for each order of seats."""
        return orders_of(_sitting(self.opponents))


@dataclass(frozen=True)
class Wins:
    """The wins of a player under test in G games.

    Attributes:
        name: The name of the player.
        won: (G,) float64, its share of the win in each game: 1, 0, or a fraction in a draw.
        seeds: (G,) int, the seeds of the games.
        results: The same games by seating; the player is policy 0.
    """

    name: str
    won: NDArray[np.float64]
    seeds: NDArray[Any]
    results: tuple[Results, ...] = ()

    @cached_property
    def by_seed(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(S,) wins and (S,) games with each seed."""
        return per_seed(self.won, self.seeds)

    @property
    def rate(self) -> float:
        """The win rate."""
        won, games = self.by_seed
        return float(won.sum() / games.sum())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the rate, from the variance between seeds."""
        return clustered(self.won, self.seeds)

    def difference(self, other: Wins) -> Difference:
        """The difference to another player's rate at the same tables, paired by seed."""
        (won, games), (other_won, other_games) = self.by_seed, other.by_seed
        return paired_difference(self.name, other.name, (won, other_won), (games, other_games))

    def rows(self) -> list[dict[str, Any]]:
        """Its row of `Results.rows()` for each seating."""
        return [
            next(row for row in results.rows() if row["name"] == results.names[0])
            for results in self.results
        ]


def against(
    players: Sequence[PolicyLike],
    seatings: Sequence[Seating],
    games: Sequence[int],
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = False,
    *,
    same_seeds: bool = True,
    runner_type: type[Runner] = Runner,
) -> list[Wins]:
    """Play each player on the same seats and seeds against the same opponents.

    `wins.rate` and `wins.interval` are a player's win rate, `first.difference(second)` compares two
    players, `wins.rows()` has the statistics of each table.

    Examples:
        >>> import agents
        >>> from agents.arena.evaluation import Seating, against
        >>> seatings = [Seating(("algorithmic",)), Seating(("gcp",) * 3)]
        >>> first, second = against(["expert", "random"], seatings, games=[40, 40])
        >>> first.rate > second.rate
        True

    Args:
        players: Names, saved files or policies. Each plays separately; an opponent of the same name
            counts as another policy.
        seatings: The tables. They may differ in size, rules and turn limit.
        games: Games of each player, a number for each seating.
        seed: As in `play`.
        threads: As in `play`.
        progress: As in `play`.
        same_seeds: Whether all seatings play the same seeds, as the tables of a `round_robin` do;
            otherwise no two share one.
        runner_type: A subclass of `Runner`, for example to play on other machines.

    Returns:
        The wins of each player. With compiled policies they are a function of the arguments; the
        last bits of a batched network may depend on the number of players.

    Raises:
        ConfigurationError: And the others that `play` raises.
    """
    for seating, count in zip(seatings, games, strict=True):
        whole_number("policies at a table:", 1 + len(seating.opponents), MIN_PLAYERS, MAX_PLAYERS)
        check_numbers(count, seed, seating.turn_limit, threads)
    tested = resolve_all(players)
    parts = _parts(seatings, games, seed, same_seeds)
    batches: dict[Any, list[_Part]] = defaultdict(list)  # seatings that are one batch for all cores
    for number, part in enumerate(parts):
        compiled = all(isinstance(policy, CompiledPolicy) for policy in (*tested, *part.opponents))
        # A seating with a batched policy is a separate batch: the last bits of a network depend on
        # the size of its batch.
        rules, separate = Rules.coerce(part.seating.rules), -1 if compiled else number
        batches[part.seats.shape[1], rules, part.seating.turn_limit, separate].append(part)
    with reported(progress, len(tested) * sum(games)) as done:
        for (_, rules, turn_limit, _), together in batches.items():
            others = list(dict.fromkeys(policy for part in together for policy in part.opponents))
            runner = runner_type([*tested, *others], rules, turn_limit, threads)
            _play(tested, together, runner, seed, done)
    return [
        _wins(policy, tuple(part.results[number] for part in parts))
        for number, policy in enumerate(tested)
    ]


@dataclass
class _Part:
    """The games of all players at a seating; in `seats`, 0 is the player, 1 the first opponent."""

    seating: Seating
    opponents: list[Policy]
    seats: NDArray[np.int16]
    seeds: NDArray[np.uint64]
    results: list[Results] = field(default_factory=list)


def _parts(
    seatings: Sequence[Seating], games: Sequence[int], seed: int, same_seeds: bool
) -> list[_Part]:
    opponents = iter(resolve_all([other for seating in seatings for other in seating.opponents]))
    parts = []
    first = np.uint64(0)
    for seating, count in zip(seatings, games, strict=True):
        seated = [next(opponents) for _ in seating.opponents]
        seats, seeds = arrangements(_sitting(seated), count, seed)
        parts.append(_Part(seating, list(dict.fromkeys(seated)), seats, seeds + first))
        first += np.uint64(0 if same_seeds else len(np.unique(seeds)))
    return parts


def _play(
    tested: list[Policy], parts: list[_Part], runner: Runner, seed: int, done: Callable[[int], None]
) -> None:
    """Play the parts, and add their results."""
    numbers = {id(policy): number for number, policy in enumerate(runner.policies)}
    seats = []
    for part in parts:
        others = [numbers[id(policy)] for policy in part.opponents]
        seats += [
            np.array([number, *others], np.int16)[part.seats] for number in range(len(tested))
        ]
    batch = GameBatch(
        np.concatenate([part.seeds for part in parts for _ in tested]), np.concatenate(seats)
    )
    began = clock()
    runner.play(batch, done)
    seconds = (clock() - began) / len(batch.seeds)
    stop = 0
    for part in parts:
        for player in tested:
            start, stop = stop, stop + len(part.seeds)
            arrays = {name: getattr(batch, name)[start:stop] for name in ARRAYS}
            part.results.append(
                Results(
                    names=tuple(unique_names([player, *part.opponents])),
                    rules=title_of(part.seating.rules),
                    seed=seed,
                    turn_limit=runner.turn_limit,
                    seconds=seconds * len(part.seeds),
                    **(arrays | {"seats": part.seats}),
                )
            )


def _wins(policy: Policy, results: tuple[Results, ...]) -> Wins:
    won = np.concatenate([part.wins[part.seats == 0] for part in results])
    return Wins(policy.name, won, np.concatenate([part.seeds for part in results]), results)


def _sitting(opponents: Sequence[PolicyLike]) -> NDArray[np.int16]:
    """(P,) the policy numbers of a table: 0, and those of the opponents."""
    distinct = list(dict.fromkeys(opponents))
    return np.array([0, *(1 + distinct.index(opponent) for opponent in opponents)], np.int16)
