"""Where policies meet: one table (`play`), two policies (`duel`, `compare`), or every table of a field (`round_robin`).

Comparisons are fair by construction: every seed is played in every order of seats (2 to 4 players) or in all rotations of a random
order (5 to 8), and a seat's dice depend on seed and seat alone. All tables play the same seeds. The seed is the unit of statistics.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

import monopoly_env
from agents.arena.batch import GameBatch
from agents.arena.progress import games_bar
from agents.arena.results import Results
from agents.arena.seating import arrangements, orders_of
from agents.arena.statistics import Difference
from agents.arena.table import Table
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
        until: Stop as soon as the interval of every policy's win rate, taken between seeds, reaches no further than this to either
            side; `games` is then the most that are played.
        record: The first so many games, or the games of these numbers, are kept in `Results.replays`.

    Returns:
        The results. With compiled policies they are a function of the arguments; a network's last bits may differ by batch size.

    Raises:
        ConfigurationError: A wrong number, name or file; RulesError: wrong rules; FormatError: a file that does not match.
        IllegalActionError: A policy broke the rules; the message says which, where, and what was legal.
    """
    players = resolve_all(policies)
    _check_number("policies at a table", len(players), MIN_PLAYERS, MAX_PLAYERS)
    field = list(dict.fromkeys(players))
    match = _Match(field, [[field.index(policy) for policy in players]], games, rules, seed, threads, turn_limit, progress, record)
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
    return _Match(field, tables, games, rules, seed, threads, turn_limit, progress, record).play()


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
    return _Match(field, tables, games, rules, seed, threads, turn_limit, progress, record).play()


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
        field, setup["tables"], setup["games"], Rules.from_dict(setup["rules"]), setup["seed"], threads, setup["turn_limit"], progress
    )
    match.title = results.rules
    return match.play()


# --- a match: tables that play the same seeds -----------------------------------------------------------------------------


class _Match:
    """Tables of a field, their games laid out as one line of work for all cores."""

    def __init__(
        self,
        field: list[Policy],
        tables: list[list[int]],
        games: int,
        rules: Rules | str,
        seed: int,
        threads: int | None,
        turn_limit: int,
        progress: Progress,
        record: int | Sequence[int] = 0,
    ) -> None:
        self.rules = Rules.coerce(rules)
        _check_number("games", games, 1, _MAX_GAMES)
        _check_number("seed", seed, 0, _MAX_SEED)
        _check_number("turn_limit", turn_limit, 1, 1 << 24)
        if threads is not None:
            _check_number("threads", threads, 1, 1024)
        self.field = field
        self.names = tuple(unique_names(field))
        self.tables = [np.array(table, np.int16) for table in tables]
        self.games = games
        self.title = _title(rules)
        self.seed = seed
        self.turn_limit = turn_limit
        self.progress = progress
        self.recorded = _recorded(record, games, len(tables))
        self.table = Table(field, self.rules, turn_limit, threads)

    def play(self) -> Results:
        """Play all games."""
        began = time.perf_counter()
        unit, line = self._line(0, self.games)
        with _progress(self.progress, len(unit)) as done:
            self.table.play(line, done)
        return self._results([line], unit, self.games, time.perf_counter() - began)

    def play_until(self, half_width: float) -> Results:
        """Play in growing blocks until the intervals are narrow enough; for a single table."""
        if isinstance(half_width, bool) or not isinstance(half_width, (int, float)) or not 0 < half_width < 1:
            raise ConfigurationError(f"until must be a number between 0 and 1, not {half_width!r}.")
        orders = orders_of(self.tables[0])
        began = time.perf_counter()
        lines: list[GameBatch] = []
        units: list[NDArray[np.int32]] = []
        played, total = 0, min(self.games, _FIRST_BLOCK * orders)
        with _progress(self.progress, self.games) as done:
            while True:
                unit, line = self._line(played, total)
                self.table.play(line, done)
                lines.append(line)
                units.append(unit)
                played = total
                results = self._results(lines, np.concatenate(units), played, time.perf_counter() - began)
                widest = max(max(row["win_rate"] - row["paired_low"], row["paired_high"] - row["win_rate"]) for row in results.rows())
                if widest <= half_width or played == self.games:
                    return results
                growth = np.clip(_SPARE * (widest / half_width) ** 2, *_GROWTH)
                total = min(self.games, int(np.ceil(played * growth / orders)) * orders)

    def _line(self, start: int, stop: int) -> tuple[NDArray[np.int32], GameBatch]:
        """Units and games of this range of each table's games, table by table."""
        parts = [arrangements(table, stop, self.seed) for table in self.tables]
        seats = np.concatenate([seats[start:] for seats, _ in parts])
        unit = np.concatenate([unit[start:] for _, unit in parts])
        recorded = frozenset(number - start for number in self.recorded if start <= number < start + len(unit))
        return unit, GameBatch((np.uint64(self.seed) << np.uint64(32)) + unit.astype(np.uint64), seats, recorded)

    def _results(self, lines: list[GameBatch], unit: NDArray[np.int32], games: int, seconds: float) -> Results:
        def joined(name: str) -> NDArray[Any]:
            arrays = [getattr(line, name) for line in lines]
            return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

        return Results(
            self.names, self.title, self.seed, self.turn_limit, joined("seats"), joined("place"), unit, joined("first"), joined("capped"),
            joined("seat_counts"), joined("game_counts"), seconds, self._setup(games),
            [replay for line in lines for replay in self._replays(line)],
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
            "versions": {"monopoly_env": monopoly_env.__version__, "rules": RULES_VERSION, "numpy": np.__version__},
        }

    def _replays(self, line: GameBatch) -> list[Any]:
        if not line.actions:
            return []
        from monopoly_env.replays import Replay

        return [
            Replay(
                self.rules, int(line.seeds[number]), line.seats.shape[1], tuple(self.names[policy] for policy in line.seats[number]),
                actions, self.turn_limit, digest,
            )
            for number, (actions, digest) in sorted(line.actions.items())
        ]  # fmt: skip


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
