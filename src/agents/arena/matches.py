"""Where policies meet: one table (`play`), two policies (`duel`, `compare`), a whole field (`round_robin`), candidates (`against`).

Comparisons are fair by construction: every seed is played in every order of seats (2 to 4 players) or in all rotations of a random
order (5 to 8), and a seat's dice depend on seed and seat alone. All tables play the same seeds. The seed is the unit of statistics.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

import monopoly_env
from agents.arena import luck
from agents.arena.batch import GameBatch
from agents.arena.progress import games_bar
from agents.arena.results import Results
from agents.arena.seating import arrangements, orders_of
from agents.arena.statistics import Difference, clustered, paired_difference, per_unit
from agents.arena.table import Table
from monopoly_env.analyse.values import Value
from monopoly_env.core import enough_memory
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import MAX_PLAYERS, MIN_PLAYERS
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.policy.resolve import PolicyLike, make, resolve_all
from monopoly_env.rules import PRESETS, RULES_VERSION, Rules

Progress: TypeAlias = bool | Callable[[int], None]

_MAX_SEED: Final = (1 << 32) - 1  # game seeds are 64 bits: the seed above, the number of the unit below
_MAX_GAMES: Final = 1 << 31
_FIRST_BLOCK: Final = 64  # seeds, before the first look at the intervals
_GROWTH: Final = (1.25, 4.0)  # least and most that the games grow by from one look to the next
_ADJUSTED: Final = ("adjusted_rate", "adjusted_low", "adjusted_high")
_SPARE: Final = 1.05  # games beyond those that the last interval makes expect


def play(
    policies: Sequence[PolicyLike],
    games: int = 1000,
    rules: Rules | str = "official",
    seed: int = 0,
    threads: int | None = None,
    turn_limit: int = 1000,
    progress: Progress = False,
    *,
    until: float | None = None,
    record: int | Sequence[int] = 0,
    adjust: str | Value | None = None,
    table_type: type[Table] = Table,
) -> Results:
    """Play one table.

    Args:
        policies: 2 to 8 names, saved files or policies, one a seat. One that is given twice sits twice and is one row of the results.
        games: Games to play. Each seed takes as many as there are different orders of seats; the last one may be cut short.
        rules: A preset or `Rules`.
        seed: 0 to 2**32 - 1. Unit u of the games is played with the game seed `(seed << 32) + u`.
        threads: Cores to play on, all by default. Results do not depend on it.
        turn_limit: Turns of each player after which the score decides a game.
        progress: True for a bar on stderr; or a function that is called with the number of games that have just ended.
        until: Stop as soon as the interval of every policy's win rate (the adjusted one if there is one), taken between seeds, reaches no
            further than this to either side; `games` is then the most that are played.
        record: The first so many games, or the games of these numbers, are kept in `Results.replays`.
        adjust: Also measure the luck of the dice, and adjust the win rates for it: they keep their means and lose variance
            (`Results.adjusted`). By "value", the best value of states; "worth"; or a `monopoly_env.analyse.Value`. Games take longer.
        table_type: Plays the games, which a subclass of `Table` may do on other machines.

    Returns:
        The results. With compiled policies they are a function of the arguments; a network's last bits may differ by batch size.

    Raises:
        ConfigurationError: A wrong number, name or file; RulesError: wrong rules; FormatError: a file that does not match.
        IllegalActionError: A policy broke the rules; the message says which, where, and what was legal.
    """
    players = resolve_all(policies)
    _check_number("policies at a table", len(players), MIN_PLAYERS, MAX_PLAYERS)
    field = list(dict.fromkeys(players))
    tables = [[field.index(policy) for policy in players]]
    match = _Match(field, tables, games, rules, seed, threads, turn_limit, progress, record, adjust, table_type)
    return match.play() if until is None else match.play_until(until)


def duel(
    first: PolicyLike,
    second: PolicyLike,
    games: int = 1000,
    table_size: int = 2,
    rules: Rules | str = "official",
    seed: int = 0,
    threads: int | None = None,
    turn_limit: int = 1000,
    progress: Progress = False,
    *,
    record: int | Sequence[int] = 0,
    adjust: str | Value | None = None,
) -> Results:
    """Two policies against each other; at larger tables, each of them alone among seats of the other.

    Whether one gains by joining a table of others, and whether it can be gained upon, are different questions: `difference` takes both
    together, a seat of the first against a seat of the second.

    Args:
        first: A name, saved file or policy.
        second: Another.
        games: Games of each table: one table of two, else two.
        table_size: Seats at a table, 2 to 8.
        rules: As in `play`.
        seed: As in `play`.
        threads: As in `play`.
        turn_limit: As in `play`.
        progress: As in `play`.
        record: The first so many games of each table, or the games of these numbers (the first table's come first).
        adjust: As in `play`.

    Returns:
        The results; `results.difference(*results.names)` is the paired difference.

    Raises:
        ConfigurationError: And the others that `play` raises.
    """
    _check_number("table_size", table_size, MIN_PLAYERS, MAX_PLAYERS)
    field = resolve_all([first, second])
    tables = [[0] + [1] * (table_size - 1)]
    if table_size > MIN_PLAYERS:
        tables.append([1] + [0] * (table_size - 1))
    return _Match(field, tables, games, rules, seed, threads, turn_limit, progress, record, adjust).play()


def compare(
    first: PolicyLike,
    second: PolicyLike,
    against: Sequence[PolicyLike],
    games: int = 1000,
    table_size: int = 2,
    rules: Rules | str = "official",
    seed: int = 0,
    threads: int | None = None,
    turn_limit: int = 1000,
    progress: Progress = False,
) -> Difference:
    """Which of two policies does better against others: both play the same seats and seeds against the same opponents.

    Args:
        first: A name, saved file or policy.
        second: What it is measured by.
        against: The opponents: every choice of `table_size - 1` of them makes a table. One that is given several times may sit several
            times. One that is itself `first` or `second` counts as another policy here.
        games: Games of each of the two at each table.
        table_size: Seats at a table, 2 to 8.
        rules: As in `play`.
        seed: As in `play`.
        threads: As in `play`.
        turn_limit: As in `play`.
        progress: As in `play`.

    Returns:
        The difference of their shares of the win, paired by seed; its `results` hold the games.

    Raises:
        ConfigurationError: Too few opponents for a table; and what `play` raises.
    """
    _check_number("table_size", table_size, MIN_PLAYERS, MAX_PLAYERS)
    others = resolve_all(against)
    if len(others) < table_size - 1:
        raise ConfigurationError(f"A table of {table_size} needs {table_size - 1} opponents; {len(others)} were given.")
    distinct = list(dict.fromkeys(others))
    field = [*resolve_all([first, second]), *distinct]
    numbers = sorted(2 + distinct.index(policy) for policy in others)
    choices = dict.fromkeys(itertools.combinations(numbers, table_size - 1))
    tables = [[compared, *choice] for choice in choices for compared in (0, 1)]
    results = _Match(field, tables, games, rules, seed, threads, turn_limit, progress).play()
    return dataclasses.replace(results.difference(results.names[0], results.names[1]), results=results)


def round_robin(
    policies: Sequence[PolicyLike],
    games: int = 1000,
    table_size: int = 2,
    rules: Rules | str = "official",
    seed: int = 0,
    threads: int | None = None,
    turn_limit: int = 1000,
    progress: Progress = False,
    *,
    record: int | Sequence[int] = 0,
    adjust: str | Value | None = None,
) -> Results:
    """Play every table of `table_size` different policies out of a field, each with the same seeds.

    Args:
        policies: At least `table_size` names, saved files or policies.
        games: Games of each table.
        table_size: Seats at a table, 2 to 8.
        rules: As in `play`.
        seed: As in `play`.
        threads: As in `play`.
        turn_limit: As in `play`.
        progress: As in `play`.
        record: The first so many games of each table, or the games of these numbers.
        adjust: As in `play`.

    Returns:
        The results of all tables together.

    Raises:
        ConfigurationError: Too few policies for a table; and what `play` raises.
    """
    _check_number("table_size", table_size, MIN_PLAYERS, MAX_PLAYERS)
    players = resolve_all(policies)
    if len(players) < table_size:
        raise ConfigurationError(f"A table of {table_size} needs as many policies; {len(players)} were given.")
    field = list(dict.fromkeys(players))
    tables = [[field.index(policy) for policy in table] for table in itertools.combinations(players, table_size)]
    return _Match(field, tables, games, rules, seed, threads, turn_limit, progress, record, adjust).play()


def play_again(results: Results, threads: int | None = None, progress: Progress = False) -> Results:
    """Play the games of results once more, from what was saved with them.

    Args:
        results: With scripted policies: of a learned one, the results hold only the hash.
        threads: As in `play`.
        progress: As in `play`.

    Raises:
        ConfigurationError: A policy can't be made again, or the results do not say how they were made.
    """
    setup = results.setup
    if not setup:
        raise ConfigurationError("These results do not say how they were made.")
    field = [_made_again(about) for about in setup["policies"]]
    match = _Match(
        field, setup["tables"], setup["games"], Rules.from_dict(setup["rules"]), setup["seed"], threads, setup["turn_limit"], progress,
        adjust=setup.get("adjust"),
    )  # fmt: skip
    match.title = results.rules
    return match.play()


# --- candidates at the same tables --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lineup:
    """The opponents of a candidate at a table, and how they play.

    Attributes:
        opponents: One for each other seat: names, saved files or policies. One that is given twice sits twice.
        rules: A preset or `Rules`.
        turn_limit: Turns of each player after which the score decides a game.
    """

    opponents: tuple[PolicyLike, ...]
    rules: Rules | str = "official"
    turn_limit: int = 1000

    def __str__(self) -> str:
        """The names of the opponents, such as "3 x expert"."""
        names = [opponent.name if isinstance(opponent, Policy) else str(opponent) for opponent in self.opponents]
        counts = {name: names.count(name) for name in names}
        return ", ".join(name if count == 1 else f"{count} x {name}" for name, count in counts.items())

    @property
    def orders(self) -> int:
        """Games that a seed takes: one for each order of seats."""
        return orders_of(_sitting(self.opponents))


@dataclass(frozen=True)
class Score:
    """What a candidate won in G games.

    Attributes:
        name: Of the candidate.
        won: (G,) float64, its share of the win in each game: 1, 0, or a fraction in a draw.
        unit: (G,) int, games of one unit share their seed.
        results: The same games by lineup; the candidate is policy 0 in each.
    """

    name: str
    won: NDArray[np.float64]
    unit: NDArray[Any]
    results: tuple[Results, ...] = ()

    @cached_property
    def by_unit(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(U,) wins and (U,) games in each unit."""
        return per_unit(self.won, self.unit)

    @property
    def rate(self) -> float:
        """The share of its games that it won."""
        won, games = self.by_unit
        return float(won.sum() / games.sum())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the rate, from the spread between seeds."""
        return clustered(self.won, self.unit)

    def less(self, other: Score) -> Difference:
        """How much more it won than another candidate at the same tables, paired by seed."""
        (won, games), (other_won, other_games) = self.by_unit, other.by_unit
        return paired_difference(self.name, other.name, (won, other_won), (games, other_games))

    def rows(self) -> list[dict[str, Any]]:
        """Its row of `Results.rows()` for each lineup."""
        return [next(row for row in results.rows() if row["name"] == results.names[0]) for results in self.results]


def against(
    candidates: Sequence[PolicyLike],
    lineups: Sequence[Lineup],
    games: Sequence[int],
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = False,
    *,
    same_seeds: bool = True,
    table_type: type[Table] = Table,
) -> list[Score]:
    """Let each candidate play the same seats and seeds against the same opponents.

    `score.rate` and `score.interval` say how much a candidate wins, `first.less(second)` how much more than another one, `score.rows()`
    what its games were like at each table.

    Args:
        candidates: Names, saved files or policies. Each sits alone at its tables; an opponent of the same name is another policy.
        lineups: The tables. They may differ in size, rules and turn limit.
        games: Games of each candidate, a number for each lineup.
        seed: As in `play`.
        threads: As in `play`.
        progress: As in `play`.
        same_seeds: Whether all lineups play the same seeds, as the tables of a `round_robin` do; otherwise no two share one.
        table_type: Plays the games, which a subclass of `Table` may do on other machines.

    Returns:
        A score for each candidate. With compiled policies they are a function of the arguments; the last bits of a network may depend on
        how many candidates there are.

    Raises:
        ConfigurationError: And the others that `play` raises.
    """
    for lineup, count in zip(lineups, games, strict=True):
        _check_number("policies at a table", 1 + len(lineup.opponents), MIN_PLAYERS, MAX_PLAYERS)
        _check_numbers(count, seed, lineup.turn_limit, threads)
    players = resolve_all(candidates)
    opponents = iter(resolve_all([opponent for lineup in lineups for opponent in lineup.opponents]))
    parts: list[_Part] = []
    batches: dict[Any, list[_Part]] = defaultdict(list)  # lineups that are one batch for all cores
    first = 0
    for lineup, count in zip(lineups, games, strict=True):
        seated = [next(opponents) for _ in lineup.opponents]
        seats, unit = arrangements(_sitting(seated), count, seed)
        parts.append(_Part(lineup, list(dict.fromkeys(seated)), seats, unit + np.int32(first)))
        first += 0 if same_seeds else int(unit[-1]) + 1
        compiled = all(isinstance(policy, CompiledPolicy) for policy in (*players, *seated))
        # The last bits of a network depend on how many decisions it is asked at once: with one, each lineup is a batch of its own.
        key = seats.shape[1], Rules.coerce(lineup.rules), lineup.turn_limit, 0 if compiled else len(parts)
        batches[key].append(parts[-1])
    with _progress(progress, len(players) * sum(games)) as done:
        for (_, rules, turn_limit, _), together in batches.items():
            others = list(dict.fromkeys(policy for part in together for policy in part.opponents))
            _play_parts(players, others, together, table_type([*players, *others], rules, turn_limit, threads), seed, done)
    return [_score(policy, tuple(part.results[number] for part in parts)) for number, policy in enumerate(players)]


@dataclass
class _Part:
    """The games of each candidate at a lineup.

    Attributes:
        lineup: What is played.
        opponents: Each once.
        seats: (G, P), 0 for the candidate, 1 for the first opponent.
        unit: (G,).
        results: Of each candidate.
    """

    lineup: Lineup
    opponents: list[Policy]
    seats: NDArray[np.int16]
    unit: NDArray[np.int32]
    results: list[Results] = field(default_factory=list)


def _play_parts(
    players: list[Policy], others: list[Policy], parts: list[_Part], table: Table, seed: int, done: Callable[[int], None]
) -> None:
    """Play parts at a table of the players and the others, and fill in their results."""
    seats = []
    for part in parts:
        numbers = [len(players) + others.index(policy) for policy in part.opponents]
        seats += [np.array([number, *numbers], np.int16)[part.seats] for number in range(len(players))]
    unit = np.concatenate([part.unit for part in parts for _ in players])
    batch = GameBatch(_game_seeds(seed, unit), np.concatenate(seats))
    began = time.perf_counter()
    table.play(batch, done)
    seconds = (time.perf_counter() - began) / len(unit)
    stop = 0
    for part in parts:
        for player in players:
            start, stop = stop, stop + len(part.unit)
            part.results.append(
                Results(
                    tuple(unique_names([player, *part.opponents])), _title(part.lineup.rules), seed, table.turn_limit, part.seats,
                    batch.place[start:stop], part.unit, batch.first[start:stop], batch.capped[start:stop], batch.seat_counts[start:stop],
                    batch.game_counts[start:stop], seconds * len(part.unit),
                )
            )  # fmt: skip


def _score(policy: Policy, results: tuple[Results, ...]) -> Score:
    won = np.concatenate([part.wins[part.seats == 0] for part in results])
    return Score(policy.name, won, np.concatenate([part.unit for part in results]), results)


def _sitting(opponents: Sequence[PolicyLike]) -> NDArray[np.int16]:
    """(P,) the numbers at a table: 0, and those of the opponents."""
    distinct = list(dict.fromkeys(opponents))
    return np.array([0, *(1 + distinct.index(opponent) for opponent in opponents)], np.int16)


# --- a match: tables that play the same seeds -----------------------------------------------------------------------------


@dataclass
class _Match:
    """Tables of a field, their games laid out as one batch for all cores."""

    field: list[Policy]
    seated: list[list[int]]
    games: int
    given_rules: Rules | str
    seed: int
    threads: int | None
    turn_limit: int
    progress: Progress
    record: int | Sequence[int] = 0
    adjust: str | Value | None = None
    table_type: type[Table] = Table

    def __post_init__(self) -> None:
        self.rules = Rules.coerce(self.given_rules)
        _check_numbers(self.games, self.seed, self.turn_limit, self.threads)
        self.title = _title(self.given_rules)
        self.names = tuple(unique_names(self.field))
        self.tables = [np.array(table, np.int16) for table in self.seated]
        self.recorded = _recorded(self.record, self.games, len(self.tables))
        self.value = luck.resolve(self.adjust, len(self.tables[0]))
        self.table = self.table_type(self.field, self.rules, self.turn_limit, self.threads, self.value)

    def play(self) -> Results:
        """Play all games."""
        began = time.perf_counter()
        with enough_memory(f"games={self.games}"):
            unit, batch = self._batch(0, self.games)
            with _progress(self.progress, len(unit)) as done:
                self.table.play(batch, done)
            return self._results([batch], unit, self.games, time.perf_counter() - began)

    def play_until(self, half_width: float) -> Results:
        """Play in growing blocks until the intervals are narrow enough; for a single table."""
        if isinstance(half_width, bool) or not isinstance(half_width, (int, float)) or not 0 < half_width < 1:
            raise ConfigurationError(f"until must be a number between 0 and 1, not {half_width!r}.")
        orders = orders_of(self.tables[0])
        began = time.perf_counter()
        batches: list[GameBatch] = []
        units: list[NDArray[np.int32]] = []
        played, total = 0, min(self.games, _FIRST_BLOCK * orders)
        with _progress(self.progress, self.games) as done:
            while True:
                unit, batch = self._batch(played, total)
                self.table.play(batch, done)
                batches.append(batch)
                units.append(unit)
                played = total
                results = self._results(batches, np.concatenate(units), played, time.perf_counter() - began)
                rate, low, high = ("win_rate", "paired_low", "paired_high") if self.value is None else _ADJUSTED
                widest = max(max(row[rate] - row[low], row[high] - row[rate]) for row in results.rows())
                if widest <= half_width or played == self.games:
                    return results
                growth = np.clip(_SPARE * (widest / half_width) ** 2, *_GROWTH)
                total = min(self.games, int(np.ceil(played * growth / orders)) * orders)

    def _batch(self, start: int, stop: int) -> tuple[NDArray[np.int32], GameBatch]:
        """Units and games of this range of each table's games, table by table."""
        parts = [arrangements(table, stop, self.seed) for table in self.tables]
        seats = np.concatenate([seats[start:] for seats, _ in parts])
        unit = np.concatenate([unit[start:] for _, unit in parts])
        recorded = frozenset(number - start for number in self.recorded if start <= number < start + len(unit))
        return unit, GameBatch(_game_seeds(self.seed, unit), seats, recorded)

    def _results(self, batches: list[GameBatch], unit: NDArray[np.int32], games: int, seconds: float) -> Results:
        def joined(name: str) -> NDArray[Any]:
            arrays = [getattr(batch, name) for batch in batches]
            return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

        return Results(
            self.names, self.title, self.seed, self.turn_limit, joined("seats"), joined("place"), unit, joined("first"), joined("capped"),
            joined("seat_counts"), joined("game_counts"), seconds, self._setup(games),
            [replay for batch in batches for replay in self._replays(batch)],
            *(() if self.value is None else (joined("luck"), self.value.name)),
        )  # fmt: skip

    def _setup(self, games: int) -> dict[str, Any]:
        """What `play_again` needs, and with which versions the games were played."""
        return {
            "policies": [_described(policy) for policy in self.field],
            "tables": [table.tolist() for table in self.tables],
            "games": games,
            "rules": dataclasses.asdict(self.rules),
            "seed": self.seed,
            "turn_limit": self.turn_limit,
            **({} if self.value is None else {"adjust": self.value.name}),
            "versions": {"monopoly_env": monopoly_env.__version__, "rules": RULES_VERSION, "numpy": np.__version__},
        }

    def _replays(self, batch: GameBatch) -> list[Any]:
        if not batch.actions:
            return []
        from monopoly_env.replays import Replay

        return [
            Replay(
                self.rules, int(batch.seeds[number]), batch.seats.shape[1], tuple(self.names[policy] for policy in batch.seats[number]),
                actions, self.turn_limit, digest,
            )
            for number, (actions, digest) in sorted(batch.actions.items())
        ]  # fmt: skip


def _game_seeds(seed: int, unit: NDArray[np.int32]) -> NDArray[np.uint64]:
    """(G,) the seeds of games of these units."""
    return (np.uint64(seed) << np.uint64(32)) + unit.astype(np.uint64)


def _recorded(record: int | Sequence[int], games: int, tables: int) -> list[int]:
    """The numbers of the games to record: given, or the first ones of each table."""
    if isinstance(record, (int, np.integer)):
        _check_number("record", record, 0, games)
        return [table * games + number for table in range(tables) for number in range(record)]
    numbers = list(record)
    for number in numbers:
        _check_number("the number of a recorded game", number, 0, games * tables - 1)
    return [int(number) for number in numbers]


def _described(policy: Policy) -> dict[str, Any]:
    """A policy in JSON: a scripted one whole, of another one the hash of its numbers."""
    about: dict[str, Any] = {"name": policy.name, "kind": policy.kind, "options": policy.options()}
    if isinstance(policy, CompiledPolicy) and set(policy.arrays()) == {"params"}:
        return about | {"params": policy.params.tolist()}
    digest = hashlib.sha256()
    for name, array in sorted(policy.arrays().items()):
        digest.update(name.encode() + np.ascontiguousarray(array).tobytes())
    return about | {"sha256": digest.hexdigest()}


def _made_again(about: dict[str, Any]) -> Policy:
    if "params" not in about:
        raise ConfigurationError(f"The policy {about['name']!r} is not scripted: play it from its own file.")
    policy = make(about["kind"], **about["options"])
    policy.set_arrays({"params": np.array(about["params"], np.float64)})
    policy.name = about["name"]
    return policy


def unique_names(policies: Sequence[Policy]) -> list[str]:
    """The policies' names; those of one name are numbered."""
    names: list[str] = []
    for policy in policies:
        name, number = policy.name, 1
        while name in names:
            number += 1
            name = f"{policy.name} ({number})"
        names.append(name)
    return names


def _title(rules: Rules | str) -> str:
    if isinstance(rules, str):
        return rules
    for preset in PRESETS:
        if Rules.preset(preset) == rules:
            return preset
    official = Rules()
    return ", ".join(f"{name}={value}" for name, value in vars(rules).items() if value != getattr(official, name))


def _check_numbers(games: int, seed: int, turn_limit: int, threads: int | None) -> None:
    _check_number("games", games, 1, _MAX_GAMES)
    _check_number("seed", seed, 0, _MAX_SEED)
    _check_number("turn_limit", turn_limit, 1, 1 << 24)
    if threads is not None:
        _check_number("threads", threads, 1, 1024)


def _check_number(what: str, given: object, low: int, high: int) -> None:
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or not low <= given <= high:
        raise ConfigurationError(f"{what} must be a whole number from {low} to {high}, not {given!r}.")


@contextlib.contextmanager
def _progress(progress: Progress, games: int) -> Iterator[Callable[[int], None]]:
    """What is called with the games that have just ended: nothing, a bar on stderr, or the caller's own function."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda count: None
    else:
        with games_bar(games) as done:
            yield done
