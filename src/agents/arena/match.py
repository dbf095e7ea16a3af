"""A match: tables of one field that play the same seeds.

Their games are laid out as one batch for all cores.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import monopoly_env
from agents.arena import luck
from agents.arena.batch import GameBatch
from agents.arena.played import ARRAYS
from agents.arena.progress import Progress, reported
from agents.arena.results import Results
from agents.arena.seating import arrangements, orders_of
from agents.arena.table import Table
from monopoly_env.analyse.values import Value
from monopoly_env.core import enough_memory
from monopoly_env.errors import ConfigurationError, whole_number
from monopoly_env.kernels import clock
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import PRESETS, RULES_VERSION, Rules

# Game seeds are 64 bits: the seed above, a number below
_MAX_SEED: Final = (1 << 32) - 1
_MAX_GAMES: Final = 1 << 31
_FIRST_BLOCK: Final = 64  # seeds, before the first look at the intervals
_GROWTH: Final = (1.25, 4.0)  # least and most that the games grow by from one look to the next
_ADJUSTED: Final = ("adjusted_rate", "adjusted_low", "adjusted_high")
_SPARE: Final = 1.05  # games beyond those that the last interval makes expect


@dataclass
class Match:
    """The tables, what is played at them, and how; `play` begins."""

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
        check_numbers(self.games, self.seed, self.turn_limit, self.threads)
        self.title = title_of(self.given_rules)
        self.names = tuple(unique_names(self.field))
        self.tables = [np.array(table, np.int16) for table in self.seated]
        self.recorded = _recorded(self.record, self.games, len(self.tables))
        self.value = luck.resolve(self.adjust, len(self.tables[0]))
        self.spent = [dict(policy.costs) for policy in self.field]
        self.table = self.table_type(
            self.field, self.rules, self.turn_limit, self.threads, self.value
        )

    def play(self) -> Results:
        """Play all games."""
        began = clock()
        with enough_memory(f"games={self.games}"):
            batch = self._batch(0, self.games)
            with reported(self.progress, len(batch.seeds)) as done:
                self.table.play(batch, done)
            return self._results([batch], self.games, clock() - began)

    def play_until(self, half_width: float) -> Results:
        """Play in growing blocks until the intervals are narrow enough; for a single table."""
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
                self.table.play(batches[-1], done)
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
            rules=self.title,
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
        """What each policy has spent in this match."""
        return [
            {what: amount - before.get(what, 0) for what, amount in policy.costs.items()}
            for policy, before in zip(self.field, self.spent, strict=True)
        ]

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
    """The numbers of the games to record: given, or the first ones of each table."""
    if isinstance(record, (int, np.integer)):
        whole_number("record", record, 0, games)
        return [table * games + number for table in range(tables) for number in range(record)]
    numbers = list(record)
    for number in numbers:
        whole_number("number of a recorded game:", number, 0, games * tables - 1)
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
