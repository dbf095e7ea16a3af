"""Matchups that a player under test is to win, and points of games between members of a population.

The points of a game are the six measures of Mukhar & Kalita. All but the tournament are summed over
the matches of a generation. The paper (2012) reports them raw; the thesis (2013) scales them to 0
.. 100 by the largest sum that is possible, net worth by the largest of the generation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents import strangers
from agents.arena.evaluation import Seating, Wins, against
from agents.arena.games import GameBatch
from agents.arena.runner import Progress, Runner
from monopoly_env.errors import ConfigurationError
from monopoly_env.facts.board import GROUP_LOTS, NUM_GROUPS, NUM_LOTS
from monopoly_env.policy.protocol import Policy

# turns of each player: opponents that never trade their groups drag games on, and the score then
# says as much
_SHORT: Final = 120


# --- tables that are to be won


@dataclass(frozen=True)
class Matchup(Seating):
    """One kind of game that a candidate plays: a seating whose rules are a preset.

    Attributes:
        weight: Share of the candidate's games that are of this kind, and so its weight in the
            fitness.
    """

    rules: str = "official"
    turn_limit: int = 500
    weight: float = 1.0


def duels(weights: dict[str, float], rules: str) -> tuple[Matchup, ...]:
    """Games of two against each of these."""
    return tuple(Matchup((name,), rules, 200, weight) for name, weight in weights.items())


_STRANGERS: Final = tuple(f"{strangers.TRAIN}/{number}" for number in range(strangers.LISTED))

# What CMA-ES optimizes. `HELD_OUT` policies never sit here: they are what the result is measured
# by.
FITNESSES: Final[dict[str, tuple[Matchup, ...]]] = {
    "four": (
        Matchup(("expert", "expert", "expert"), "official", _SHORT, 0.4),
        Matchup(("expert", "strategic", "algorithmic"), "official", _SHORT, 0.2),
        Matchup(("expert", "gcp", "friedman"), "official", _SHORT, 0.2),
        Matchup(("algorithmic", "gcp", "friedman"), "official", _SHORT, 0.2),
    ),
    "three": (
        Matchup(("expert", "expert"), "official", _SHORT, 0.4),
        Matchup(("strategic", "algorithmic"), "official", _SHORT, 0.3),
        Matchup(("gcp", "friedman"), "official", _SHORT, 0.3),
    ),
    "two": duels({"expert": 0.8, "algorithmic": 0.1, "gcp": 0.1}, "official"),
    "strangers": duels(dict.fromkeys(_STRANGERS, 1 / len(_STRANGERS)), "official"),
    "strangers/four": tuple(
        Matchup((name,) * 3, "official", _SHORT, 1 / len(_STRANGERS)) for name in _STRANGERS
    ),
    "ocnaru": duels(
        {
            "expert": 0.3,
            "strategic": 0.1,
            "strategic/late_game": 0.1,
            "algorithmic": 0.2,
            "gcp": 0.15,
            "friedman": 0.15,
        },
        "ocnaru",
    ),
    **{
        rules: tuple(Matchup((name,) * 3, rules, weight=0.5) for name in ("algorithmic", "gcp"))
        for rules in ("mukhar", "pring")
    },
}

# By seats at the table.
HELD_OUT: Final[dict[int, tuple[tuple[str, ...], ...]]] = {
    2: (("fp/a/guarded",), ("yasumura",), ("landlord/balanced",)),
    3: (
        ("fp/a/guarded", "fp/b/guarded"),
        ("yasumura", "yasumura"),
        ("landlord/aggressive", "landlord/balanced"),
    ),
    4: (
        ("fp/a/guarded", "fp/b/guarded", "fp/c/guarded"),
        ("yasumura", "yasumura", "yasumura"),
        ("landlord/aggressive", "landlord/balanced", "landlord/darling"),
    ),
}


def held_out(settings: Sequence[Matchup]) -> tuple[Matchup, ...]:
    """Games against opponents that a fitness lacks, at tables of its size by its rules."""
    like = settings[0]
    return tuple(
        Matchup(opponents, like.rules, 1000) for opponents in HELD_OUT[1 + len(like.opponents)]
    )


def split(settings: Sequence[Matchup], games: int) -> list[int]:
    """How many of the games are of each kind: by weight, and in every order of seats equally often.

    Raises:
        ConfigurationError: So many do not split evenly; the message says how many do.
    """
    shares = [Fraction(str(setting.weight)) for setting in settings]
    orders = [setting.orders for setting in settings]
    step = math.lcm(*((x / y).denominator for x, y in zip(shares, orders, strict=True)))
    if games < 1 or games % step:
        least = max(1, games // step) * step
        raise ConfigurationError(
            f"{games:,} games do not split evenly over the tables and all orders of seats: use a"
            f" multiple of {step}, such as {least:,} or {least + step:,}."
        )
    return [int(games * share) for share in shares]


def play(
    candidates: Sequence[Policy],
    settings: Sequence[Matchup],
    games: int,
    seed: int,
    threads: int | None = None,
    progress: Progress = False,
    *,
    runner_type: type[Runner] = Runner,
) -> list[Wins]:
    """Play so many games of each candidate, split over the settings; see `agents.arena.against`."""
    counts = split(settings, games)
    return against(
        candidates,
        settings,
        counts,
        seed,
        threads,
        progress,
        same_seeds=False,
        runner_type=runner_type,
    )


# --- points of a game

Points = NDArray[np.float64]  # (G, P), of each seat in each game


def of_places(batch: GameBatch, prizes: tuple[float, ...]) -> Points:
    """Points by place.

    Players who share places share their prizes, so that each game gives out the same sum.

    Args:
        batch: Played.
        prizes: Of the first places; nothing for the others.
    """
    players = batch.place.shape[1]
    prize = np.zeros(players)
    prize[: len(prizes)] = prizes[:players]
    sums = np.concatenate([[0.0], prize.cumsum()])
    first = batch.place.astype(np.int64) - 1
    alike = (batch.place[:, :, None] == batch.place[:, None, :]).sum(axis=2)
    return np.asarray((sums[first + alike] - sums[first]) / alike)


def num_wins(batch: GameBatch) -> Points:
    """3 for the winner."""
    return of_places(batch, (3.0,))


def finish_order(batch: GameBatch) -> Points:
    """3, 2, 1, 0 by place: by the order of leaving, then by what decides a capped game."""
    return of_places(batch, (3.0, 2.0, 1.0))


def num_properties(batch: GameBatch) -> Points:
    """1 for each lot at the end."""
    return np.asarray(batch.seat_counts["lots"], np.float64)


def num_monopolies(batch: GameBatch) -> Points:
    """1 for each complete group at the end, railroads and utilities included."""
    groups = np.asarray(GROUP_LOTS, np.int32)
    return np.asarray(((batch.owned[:, :, None] & groups) == groups).sum(axis=2), np.float64)


def net_worth(batch: GameBatch) -> Points:
    """Worth at the end in hundreds of dollars, as it decides a capped game.

    Mortgaged lots count half (the paper's).
    """
    return np.asarray(batch.score / 100.0)


def net_worth_share(batch: GameBatch) -> Points:
    """Worth at the end in percent of that of all players of the game (the thesis's)."""
    worth = np.clip(batch.score, 0, None).astype(np.float64)
    return np.asarray(100.0 * worth / np.maximum(worth.sum(axis=1, keepdims=True), 1.0))


@dataclass(frozen=True)
class Measure:
    """A fitness of a population.

    Attributes:
        points: Of the seats of played games; None for the tournament, whose points are levels.
        most: The largest that a game can give, None where nothing bounds it.
    """

    points: Callable[[GameBatch], Points] | None
    most: float | None = None


MEASURES: Final = {
    "num_wins": Measure(num_wins, 3.0),
    "finish_order": Measure(finish_order, 3.0),
    "num_properties": Measure(num_properties, float(NUM_LOTS)),
    "num_monopolies": Measure(num_monopolies, float(NUM_GROUPS)),
    "num_monopolies_of_8": Measure(num_monopolies, 8.0),  # in percent of the colours, as the thesis
    "net_worth": Measure(net_worth),
    "net_worth_share": Measure(net_worth_share),
    "tournament": Measure(None),
}
SCALES: Final = ("raw", "percent")


def summed(points: Points, seats: NDArray[np.int16], population: int) -> NDArray[np.float64]:
    """(N,) the sum of the (G, P) points of each player, by (G, P) who sat where."""
    return np.asarray(np.bincount(seats.ravel(), points.ravel(), population), np.float64)


def scaled(
    scores: NDArray[np.float64], fitness: str, scale: str, matches: int
) -> NDArray[np.float64]:
    """(N,) fitness of (N,) summed points by a key of `MEASURES`.

    `raw` leaves points as they are (the paper); `percent` divides by the largest sum that is
    possible in so many matches, or the largest of the generation where nothing bounds it (the
    thesis). The levels of a tournament are never scaled.

    Raises:
        ConfigurationError: An unknown name.
    """
    if fitness not in MEASURES or scale not in SCALES:
        raise ConfigurationError(
            f"Unknown fitness {fitness!r} or scale {scale!r}. Valid:"
            f" {', '.join((*MEASURES, *SCALES))}."
        )
    measure = MEASURES[fitness]
    if scale == "raw" or measure.points is None:
        return scores
    largest = scores.max() if measure.most is None else measure.most * matches
    return 100.0 * scores / largest if largest > 0 else scores
