"""Matches: `play` one table, `duel` and `compare` two policies, `round_robin` all tables.

Comparisons are fair by construction: every seed is played in every order of seats (2 to 4 players)
or in all rotations of a random order (5 to 8), and a seat's dice depend only on seed and seat. All
tables play the same seeds. Statistics are clustered by seed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import monopoly_env
from agents.arena import luck
from agents.arena.games import ARRAYS, GameBatch, arrangements, orders_of
from agents.arena.results import Results
from agents.arena.runner import Progress, Runner, reported
from agents.arena.statistics import Difference
from monopoly_env.analyse.values import Value
from monopoly_env.core import enough_memory
from monopoly_env.errors import ConfigurationError, whole_number
from monopoly_env.game import MAX_PLAYERS, MIN_PLAYERS
from monopoly_env.kernels import clock
from monopoly_env.policy.names import PolicyLike, make, resolve_all
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import PRESETS, RULES_VERSION, Rules

# Game seeds have 64 bits: the seed in the upper half, a number in the lower
_MAX_SEED: Final = (1 << 32) - 1
_MAX_GAMES: Final = 1 << 31
_FIRST_BLOCK: Final = 64  # seeds before the intervals are first checked
_GROWTH: Final = (1.25, 4.0)  # minimal and maximal growth of the games between checks
_ADJUSTED: Final = ("adjusted_rate", "adjusted_low", "adjusted_high")
_SPARE: Final = 1.05  # safety factor on the games that the last interval predicts


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
    runner_type: type[Runner] = Runner,
) -> Results:
    """Play one table.

    Examples:
        >>> import agents
        >>> results = agents.arena.play(["expert", "algorithmic", "random"], games=60)
        >>> [row["name"] for row in results.rows()]
        ['expert', 'algorithmic', 'random']

    Args:
        policies: 2 to 8 names, saved files or policies, one a seat. A policy in several seats is
            one row of the results.
        games: Games to play. Each seed is played in all different orders of seats; the last one may
            be cut short.
        rules: A preset or `Rules`.
        seed: 0 to 2**32 - 1. Set u of orders is played with the game seed `(seed << 32) + u`.
        threads: Cores to play on, all by default. Results do not depend on it.
        turn_limit: Turns of each player after which the score decides a game.
        progress: True for a bar on stderr; or a function that is called with the number of games
            that have just ended.
        until: Stop when the interval of every policy's win rate (adjusted if `adjust` is given),
            from the variance between seeds, is at most this wide to either side; `games` is then
            the maximum.
        record: The number of games, or the numbers of the games, to save in `Results.replays`.
        adjust: Also measure the luck of the dice, and adjust the win rates for it, which keeps
            their means and reduces their variance (`Results.adjusted`). By "value", the best value
            function; "worth"; or a `monopoly_env.analyse.Value`. Games take longer.
        runner_type: A subclass of `Runner`, for example to play on other machines.

    Returns:
        The results. With compiled policies they are a function of the arguments; the last bits of a
        batched network may depend on the batch size.

    Raises:
        ConfigurationError: A wrong number, name or file; RulesError: wrong rules; FormatError: a
            file that does not match.
        IllegalActionError: A policy chose an illegal action; the message names the policy, the
            position and the legal actions.
    """
    players = resolve_all(policies)
    whole_number("policies at a table:", len(players), MIN_PLAYERS, MAX_PLAYERS)
    tables = _Tables(
        *_numbered([players]), games, rules, seed, threads, turn_limit, progress, record, adjust,
        runner_type,
    )  # fmt: skip
    return tables.play() if until is None else tables.play_until(until)


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
    """Play two policies against each other.

    At larger tables, one seat of each plays against seats of the other: two tables of `games` games
    each. Their games count in this order in `record`. Other arguments and errors are those of
    `play`; `table_size` is 2 to 8.

    Examples:
        >>> import agents
        >>> results = agents.arena.duel("expert", "algorithmic", games=40)
        >>> results.difference("expert", "algorithmic").low > 0
        True

    Returns:
        The results; `results.difference(*results.names)` compares a seat of the first policy with a
        seat of the second over all games, paired by seed.
    """
    whole_number("table_size", table_size, MIN_PLAYERS, MAX_PLAYERS)
    players = resolve_all([first, second])
    seated = [[0] + [1] * (table_size - 1)]
    if table_size > MIN_PLAYERS:
        seated.append([1] + [0] * (table_size - 1))
    return _Tables(
        players, seated, games, rules, seed, threads, turn_limit, progress, record, adjust
    ).play()


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
    """Compare two policies on the same seats and seeds against the same opponents.

    Every choice of `table_size - 1` opponents makes a table, at which each of the two plays `games`
    games; an opponent that is given repeatedly may sit several times. `first` or `second` as an
    opponent counts as another policy. Other arguments and errors are those of `play`.

    Examples:
        >>> import agents
        >>> lead = agents.arena.compare("expert", "algorithmic", against=["gcp"], games=40)
        >>> lead.low > 0  # `expert` wins significantly more
        True

    Returns:
        The difference of their shares of the win, paired by seed; its `results` hold the games.

    Raises:
        ConfigurationError: Too few opponents for a table; and what `play` raises.
    """
    whole_number("table_size", table_size, MIN_PLAYERS, MAX_PLAYERS)
    others = resolve_all(against)
    if len(others) < table_size - 1:
        raise ConfigurationError(
            f"A table of {table_size} needs {table_size - 1} opponents; {len(others)} were given."
        )
    distinct = list(dict.fromkeys(others))
    players = [*resolve_all([first, second]), *distinct]
    numbers = sorted(2 + distinct.index(policy) for policy in others)
    choices = dict.fromkeys(itertools.combinations(numbers, table_size - 1))
    seated = [[compared, *choice] for choice in choices for compared in (0, 1)]
    results = _Tables(players, seated, games, rules, seed, threads, turn_limit, progress).play()
    return dataclasses.replace(
        results.difference(results.names[0], results.names[1]), results=results
    )


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
    """Play every table of `table_size` of these policies, each with the same seeds.

    `games` is the number of games of each table. Other arguments are those of `play`.

    Examples:
        >>> import agents
        >>> names = ["expert", "algorithmic", "random"]
        >>> results = agents.arena.round_robin(names, games=40)  # three tables of two
        >>> results.games
        120

    Raises:
        ConfigurationError: Too few policies for a table; and what `play` raises.
    """
    whole_number("table_size", table_size, MIN_PLAYERS, MAX_PLAYERS)
    players = resolve_all(policies)
    if len(players) < table_size:
        raise ConfigurationError(
            f"A table of {table_size} needs as many policies; {len(players)} were given."
        )
    tables = list(itertools.combinations(players, table_size))
    return _Tables(
        *_numbered(tables), games, rules, seed, threads, turn_limit, progress, record, adjust
    ).play()


def play_again(results: Results, threads: int | None = None, progress: Progress = False) -> Results:
    """Play the games of results again, from the setup that was saved with them.

    Raises:
        ConfigurationError: A policy can't be made again (of a learned one, results hold only the
            hash), or the results have no setup.
    """
    setup = results.setup
    if not setup:
        raise ConfigurationError("These results do not say how they were made.")
    players = [_made_again(about) for about in setup["policies"]]
    for number in itertools.chain.from_iterable(setup["tables"]):
        whole_number("the number of a policy at a table,", number, 0, len(players) - 1)
    again = _Tables(
        players, setup["tables"], setup["games"], Rules.from_dict(setup["rules"]), setup["seed"],
        threads, setup["turn_limit"], progress, adjust=setup.get("adjust"),
    ).play()  # fmt: skip
    return dataclasses.replace(again, rules=results.rules)


def _made_again(about: dict[str, Any]) -> Policy:
    if "params" not in about:
        raise ConfigurationError(
            f"The policy {about['name']!r} is not scripted: play it from its own file."
        )
    policy = make(about["kind"], **about["options"])
    policy.set_arrays({"params": np.array(about["params"], np.float64)})
    policy.name = about["name"]
    return policy


# --- tables that are played as one batch


def _numbered(tables: Sequence[Sequence[Policy]]) -> tuple[list[Policy], list[list[int]]]:
    """The distinct policies of these tables, and the tables with policies as numbers."""
    players = list(dict.fromkeys(itertools.chain.from_iterable(tables)))
    numbers = {policy: number for number, policy in enumerate(players)}
    return players, [[numbers[policy] for policy in table] for table in tables]


@dataclass
class _Tables:
    """Tables with the same seeds and rules; their games are one batch for all cores."""

    players: list[Policy]
    seated: list[list[int]]
    games: int
    given_rules: Rules | str
    seed: int
    threads: int | None
    turn_limit: int
    progress: Progress
    record: int | Sequence[int] = 0
    adjust: str | Value | None = None
    runner_type: type[Runner] = Runner

    def __post_init__(self) -> None:
        self.rules = Rules.coerce(self.given_rules)
        check_numbers(self.games, self.seed, self.turn_limit, self.threads)
        self.names = tuple(unique_names(self.players))
        self.tables = [np.array(table, np.int16) for table in self.seated]
        self.recorded = _recorded(self.record, self.games, len(self.tables))
        self.value = luck.resolve(self.adjust, len(self.tables[0]))
        self.spent = [dict(policy.costs) for policy in self.players]
        self.runner = self.runner_type(
            self.players, self.rules, self.turn_limit, self.threads, self.value
        )

    def play(self) -> Results:
        """Play all games."""
        began = clock()
        with enough_memory(f"games={self.games}"):
            batch = self._batch(0, self.games)
            with reported(self.progress, len(batch.seeds)) as done:
                self.runner.play(batch, done)
            return self._results([batch], self.games, clock() - began)

    def play_until(self, half_width: float) -> Results:
        """Play growing blocks of games until the intervals are narrow enough; for one table."""
        if (
            isinstance(half_width, bool)
            or not isinstance(half_width, (int, float))
            or not 0 < half_width < 1
        ):
            raise ConfigurationError(f"until must be a number between 0 and 1, not {half_width!r}.")
        orders = orders_of(self.tables[0])
        began = clock()
        batches: list[GameBatch] = []
        played, total = 0, min(self.games, _FIRST_BLOCK * orders)
        with reported(self.progress, self.games) as done:
            while True:
                batches.append(self._batch(played, total))
                self.runner.play(batches[-1], done)
                played = total
                results = self._results(batches, played, clock() - began)
                rate, low, high = (
                    ("win_rate", "paired_low", "paired_high") if self.value is None else _ADJUSTED
                )
                widest = max(
                    max(row[rate] - row[low], row[high] - row[rate]) for row in results.rows()
                )
                if widest <= half_width or played == self.games:
                    return results
                growth = np.clip(_SPARE * (widest / half_width) ** 2, *_GROWTH)
                total = min(self.games, int(np.ceil(played * growth / orders)) * orders)

    def _batch(self, start: int, stop: int) -> GameBatch:
        """This range of each table's games, table by table."""
        parts = [arrangements(table, stop, self.seed) for table in self.tables]
        seats = np.concatenate([seats[start:] for seats, _ in parts])
        seeds = np.concatenate([seeds[start:] for _, seeds in parts])
        recorded = frozenset(
            number - start for number in self.recorded if start <= number < start + len(seeds)
        )
        return GameBatch(seeds, seats, recorded)

    def _results(self, batches: list[GameBatch], games: int, seconds: float) -> Results:
        def joined(name: str) -> NDArray[Any]:
            arrays = [getattr(batch, name) for batch in batches]
            return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

        arrays: dict[str, Any] = {name: joined(name) for name in ARRAYS}
        return Results(
            names=self.names,
            rules=title_of(self.given_rules),
            seed=self.seed,
            turn_limit=self.turn_limit,
            setup=self._setup(games),
            replays=[replay for batch in batches for replay in self._replays(batch)],
            costs=self._costs(),
            seconds=seconds,
            luck=None if self.value is None else joined("luck"),
            value="" if self.value is None else self.value.name,
            **arrays,
        )

    def _costs(self) -> list[dict[str, float]]:
        """The costs of each policy in this match."""
        return [
            {what: amount - before.get(what, 0) for what, amount in policy.costs.items()}
            for policy, before in zip(self.players, self.spent, strict=True)
        ]

    def _setup(self, games: int) -> dict[str, Any]:
        """The arguments for `play_again`, and the versions of the games."""
        return {
            "policies": [_described(policy) for policy in self.players],
            "tables": [table.tolist() for table in self.tables],
            "games": games,
            "rules": dataclasses.asdict(self.rules),
            "seed": self.seed,
            "turn_limit": self.turn_limit,
            **({} if self.value is None else {"adjust": self.value.name}),
            "versions": {
                "monopoly_env": monopoly_env.__version__,
                "rules": RULES_VERSION,
                "numpy": np.__version__,
            },
        }

    def _replays(self, batch: GameBatch) -> list[Any]:
        if not batch.actions:
            return []
        from monopoly_env.replays import Replay

        return [
            Replay(
                self.rules, int(batch.seeds[number]), batch.seats.shape[1],
                tuple(self.names[policy] for policy in batch.seats[number]),
                actions, self.turn_limit, digest,
            )
            for number, (actions, digest) in sorted(batch.actions.items())
        ]  # fmt: skip


def _recorded(record: int | Sequence[int], games: int, tables: int) -> list[int]:
    """The numbers of the games to record: as given, or the first ones of each table."""
    if isinstance(record, (int, np.integer)):
        whole_number("record", record, 0, games)
        return [table * games + number for table in range(tables) for number in range(record)]
    numbers = list(record)
    for number in numbers:
        whole_number("number of a recorded game:", number, 0, games * tables - 1)
    return [int(number) for number in numbers]


def _described(policy: Policy) -> dict[str, Any]:
    """A policy in JSON: a scripted one in full, another one by the hash of its numbers."""
    about: dict[str, Any] = {"name": policy.name, "kind": policy.kind, "options": policy.options()}
    if isinstance(policy, CompiledPolicy) and set(policy.arrays()) == {"params"}:
        return about | {"params": policy.params.tolist()}
    digest = hashlib.sha256()
    for name, array in sorted(policy.arrays().items()):
        digest.update(name.encode() + np.ascontiguousarray(array).tobytes())
    return about | {"sha256": digest.hexdigest()}


def unique_names(policies: Sequence[Policy]) -> list[str]:
    """The policies' names, with numbers for duplicates."""
    names: list[str] = []
    for policy in policies:
        name, number = policy.name, 1
        while name in names:
            number += 1
            name = f"{policy.name} ({number})"
        names.append(name)
    return names


def title_of(rules: Rules | str) -> str:
    """The preset that rules are, or their options that are not official."""
    if isinstance(rules, str):
        return rules
    for preset in PRESETS:
        if Rules.preset(preset) == rules:
            return preset
    official = Rules()
    return ", ".join(
        f"{name}={value}" for name, value in vars(rules).items() if value != getattr(official, name)
    )


def check_numbers(games: int, seed: int, turn_limit: int, threads: int | None) -> None:
    """Raise ConfigurationError unless a match can have these numbers."""
    whole_number("games", games, 1, _MAX_GAMES)
    whole_number("seed", seed, 0, _MAX_SEED)
    whole_number("turn_limit", turn_limit, 1, 1 << 24)
    if threads is not None:
        whole_number("threads", threads, 1, 1024)
