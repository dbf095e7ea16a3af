"""Fitness: how often each of many players wins at the same tables, with the same dice, in one call of the compiled loop."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents.arena.batch import GameBatch
from agents.arena.seating import arrangements, orders_of
from agents.arena.statistics import Difference, clustered, paired_difference
from agents.arena.table import Table
from monopoly_env.errors import ConfigurationError
from monopoly_env.policy.protocol import Policy
from monopoly_env.policy.resolve import PolicyLike, resolve_all
from monopoly_env.rules import Rules

_SHORT: Final = 120  # turns of each player: partners who never trade their groups drag games on, and the score then tells as much
MINE: Final = 0  # the number of the candidate while seats are given out


@dataclass(frozen=True)
class Setting:
    """One kind of game that a candidate plays.

    Attributes:
        opponents: Who sits with the candidate.
        weight: Share of the candidate's games that are of this kind, and so its weight in the fitness.
        rules: A preset of rules.
        turn_limit: Turns of each player after which the score decides a game.
    """

    opponents: tuple[PolicyLike, ...]
    weight: float = 1.0
    rules: str = "official"
    turn_limit: int = 500

    def __str__(self) -> str:
        names = [opponent.name if isinstance(opponent, Policy) else str(opponent) for opponent in self.opponents]
        counts = {name: names.count(name) for name in names}
        return ", ".join(name if count == 1 else f"{count} x {name}" for name, count in counts.items())

    @property
    def orders(self) -> int:
        """Games that a seed takes: one for each order of seats."""
        others = list(dict.fromkeys(self.opponents))
        return orders_of(np.array([MINE, *(1 + others.index(other) for other in self.opponents)], np.int16))


def duels(weights: dict[str, float], rules: str) -> tuple[Setting, ...]:
    """Games of two against each of these."""
    return tuple(Setting((name,), weight, rules, turn_limit=200) for name, weight in weights.items())


# What is optimized. `HELD_OUT` policies never sit here: they are what the result is measured by.
FITNESSES: Final[dict[str, tuple[Setting, ...]]] = {
    "four": (
        Setting(("expert", "expert", "expert"), 0.4, turn_limit=_SHORT),
        Setting(("expert", "strategic", "algorithmic"), 0.2, turn_limit=_SHORT),
        Setting(("expert", "gcp", "friedman"), 0.2, turn_limit=_SHORT),
        Setting(("algorithmic", "gcp", "friedman"), 0.2, turn_limit=_SHORT),
    ),
    "three": (
        Setting(("expert", "expert"), 0.4, turn_limit=_SHORT),
        Setting(("strategic", "algorithmic"), 0.3, turn_limit=_SHORT),
        Setting(("gcp", "friedman"), 0.3, turn_limit=_SHORT),
    ),
    "two": duels({"expert": 0.8, "algorithmic": 0.1, "gcp": 0.1}, "official"),
    "ocnaru": duels(
        {"expert": 0.3, "strategic": 0.1, "strategic/late_game": 0.1, "algorithmic": 0.2, "gcp": 0.15, "friedman": 0.15}, "ocnaru"
    ),
    **{rules: tuple(Setting((name,) * 3, 0.5, rules) for name in ("algorithmic", "gcp")) for rules in ("mukhar", "pring")},
}  # fmt: skip

# By seats at the table.
HELD_OUT: Final[dict[int, tuple[tuple[str, ...], ...]]] = {
    2: (("fp/a/guarded",), ("yasumura",), ("landlord/balanced",)),
    3: (("fp/a/guarded", "fp/b/guarded"), ("yasumura", "yasumura"), ("landlord/aggressive", "landlord/balanced")),
    4: (
        ("fp/a/guarded", "fp/b/guarded", "fp/c/guarded"),
        ("yasumura", "yasumura", "yasumura"),
        ("landlord/aggressive", "landlord/balanced", "landlord/darling"),
    ),
}


def held_out(settings: Sequence[Setting]) -> tuple[Setting, ...]:
    """Games against players that are strangers to a fitness, at tables of its size by its rules."""
    like = settings[0]
    return tuple(Setting(opponents, 1.0, like.rules, 1000) for opponents in HELD_OUT[1 + len(like.opponents)])


def split(settings: Sequence[Setting], games: int) -> list[int]:
    """How many of the games are of each kind: by weight, and in every order of seats equally often.

    Raises:
        ConfigurationError: So many do not split evenly; the message says how many do.
    """
    shares = [Fraction(str(setting.weight)) for setting in settings]
    step = math.lcm(*((share / setting.orders).denominator for share, setting in zip(shares, settings, strict=True)))
    if games < 1 or games % step:
        least = max(1, games // step) * step
        raise ConfigurationError(
            f"{games:,} games do not split evenly over the tables and all orders of seats: use a multiple of {step}, "
            f"such as {least:,} or {least + step:,}."
        )
    return [int(games * share) for share in shares]


@dataclass(frozen=True)
class Played:
    """What L candidates won in U units; games of a unit share a seed and a kind of table.

    Attributes:
        won: (L, U) float64, games won; a draw counts its share.
        games: (U,) int64, games played by each candidate.
    """

    won: NDArray[np.float64]
    games: NDArray[np.int64]

    @property
    def rates(self) -> NDArray[np.float64]:
        """(L,) float64, the share of its games that each candidate won: weighted as the games were dealt."""
        return np.asarray(self.won.sum(axis=1) / self.games.sum())

    def interval(self, candidate: int) -> tuple[float, float]:
        """Of the rate of a candidate, from the spread between seeds, 95%."""
        unit = np.repeat(np.arange(len(self.games)), self.games)
        return clustered((self.won[candidate] / self.games)[unit], unit)

    def difference(self, first: int, second: int) -> Difference:
        """How much more one candidate won than another, paired by seed."""
        names = (f"candidate {first}", f"candidate {second}")
        return paired_difference(*names, (self.won[first], self.won[second]), (self.games, self.games))


def play(
    candidates: Sequence[Policy],
    settings: Sequence[Setting],
    games: int,
    seed: int,
    threads: int | None = None,
    done: Callable[[int], None] = lambda games: None,
    *,
    table_type: type[Table] = Table,
) -> Played:
    """All candidates play the same seats and seeds against the same opponents.

    Kinds of games that agree in seats, rules and limit are one line of work for all cores.

    Args:
        candidates: L policies.
        settings: What they play.
        games: Of each candidate.
        seed: 0 to 2**32 - 1; the games of unit u have the seed `(seed << 32) + u`, and no two kinds of games share a unit.
        threads: Cores to play on, all by default; the result is the same.
        done: Called with the number of games that have just ended.
        table_type: Where they are played: on this machine, or `cluster.ClusterTable`.

    Raises:
        ConfigurationError: The games do not split evenly; an unknown opponent.
    """
    counts = split(settings, games)
    opponents = resolve_all([opponent for setting in settings for opponent in setting.opponents])
    others = list(dict.fromkeys(opponents))
    waiting, units = iter(opponents), 0
    alike: dict[tuple[int, str, int], list[tuple[NDArray[np.int16], NDArray[np.int32]]]] = defaultdict(list)
    sizes = []
    for setting, count in zip(settings, counts, strict=True):
        table = [MINE, *(len(candidates) + others.index(next(waiting)) for _ in setting.opponents)]
        seats, unit = arrangements(np.array(table, np.int16), count, seed)
        for candidate in range(len(candidates)):
            mine = np.where(seats == MINE, np.int16(candidate), seats)
            alike[len(table), setting.rules, setting.turn_limit].append((mine, units + unit))
        sizes.append(np.bincount(unit))
        units += len(sizes[-1])
    won = np.zeros(len(candidates) * units)
    for (_, rules, turn_limit), parts in alike.items():
        seats, unit = np.concatenate([seats for seats, _ in parts]), np.concatenate([unit for _, unit in parts])
        line = GameBatch((np.uint64(seed) << np.uint64(32)) + unit.astype(np.uint64), seats)
        table_type([*candidates, *others], Rules.preset(rules), turn_limit, threads).play(line, done)
        winners = line.place == 1
        wins = (winners & (seats < len(candidates))).sum(axis=1) / winners.sum(axis=1)
        candidate = seats.min(axis=1).astype(np.int64)  # the least number at his table
        won += np.bincount(candidate * units + unit, wins, len(won))
    return Played(won.reshape(len(candidates), units), np.concatenate(sizes))
