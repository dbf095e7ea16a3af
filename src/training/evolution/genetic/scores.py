"""Fitness: what a game is worth to those who played it, by the six measures of Mukhar & Kalita.

All but the tournament are points of a game, summed over the matches of a generation. The paper (2012) reports them raw; the thesis
(2013) scales them to 0 .. 100 by the largest sum that is possible, net worth by the largest of the generation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents.arena.batch import GameBatch
from monopoly_env.board import GROUP_LOTS, NUM_GROUPS, NUM_LOTS
from monopoly_env.errors import ConfigurationError

Points = NDArray[np.float64]  # (G, P), of each seat in each game


def of_places(line: GameBatch, prizes: tuple[float, ...]) -> Points:
    """Points by place; players who share places share their prizes, so that each game gives out the same sum.

    Args:
        line: Played.
        prizes: Of the first places; nothing for the others.
    """
    players = line.place.shape[1]
    prize = np.zeros(players)
    prize[: len(prizes)] = prizes[:players]
    sums = np.concatenate([[0.0], prize.cumsum()])
    first = line.place.astype(np.int64) - 1
    alike = (line.place[:, :, None] == line.place[:, None, :]).sum(axis=2)
    return np.asarray((sums[first + alike] - sums[first]) / alike)


def num_wins(line: GameBatch) -> Points:
    """3 for the winner."""
    return of_places(line, (3.0,))


def finish_order(line: GameBatch) -> Points:
    """3, 2, 1, 0 by place: by the order of leaving, then by what decides a capped game."""
    return of_places(line, (3.0, 2.0, 1.0))


def num_properties(line: GameBatch) -> Points:
    """1 for each lot at the end."""
    return np.asarray(line.seat_counts["lots"], np.float64)


def num_monopolies(line: GameBatch) -> Points:
    """1 for each complete group at the end, railroads and utilities included."""
    groups = np.asarray(GROUP_LOTS, np.int32)
    return np.asarray(((line.owned[:, :, None] & groups) == groups).sum(axis=2), np.float64)


def net_worth(line: GameBatch) -> Points:
    """Worth at the end in hundreds of dollars, as it decides a capped game: mortgaged lots count half (the paper's)."""
    return np.asarray(line.score / 100.0)


def net_worth_share(line: GameBatch) -> Points:
    """Worth at the end in percent of that of all players of the game (the thesis's)."""
    worth = np.clip(line.score, 0, None).astype(np.float64)
    return np.asarray(100.0 * worth / np.maximum(worth.sum(axis=1, keepdims=True), 1.0))


@dataclass(frozen=True)
class Measure:
    """A fitness.

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
    "net_worth": Measure(net_worth),
    "net_worth_share": Measure(net_worth_share),
    "tournament": Measure(None),
}


def summed(points: Points, seats: NDArray[np.int16], population: int) -> NDArray[np.float64]:
    """(N,) the sum of the points of each player.

    Args:
        points: (G, P).
        seats: (G, P), who sat where.
        population: N.
    """
    return np.asarray(np.bincount(seats.ravel(), points.ravel(), population), np.float64)


def _raw(scores: NDArray[np.float64], measure: Measure, matches: int) -> NDArray[np.float64]:
    """As they are: the paper's."""
    del measure, matches
    return scores


def _percent(scores: NDArray[np.float64], measure: Measure, matches: int) -> NDArray[np.float64]:
    """0 .. 100 by the largest possible sum, or by the largest of the generation where nothing bounds it: the thesis's."""
    if measure.points is None:
        return scores
    largest = scores.max() if measure.most is None else measure.most * matches
    return 100.0 * scores / largest if largest > 0 else scores


SCALES: Final[dict[str, Callable[[NDArray[np.float64], Measure, int], NDArray[np.float64]]]] = {"raw": _raw, "percent": _percent}


def scaled(scores: NDArray[np.float64], fitness: str, scale: str, matches: int) -> NDArray[np.float64]:
    """(N,) fitness of summed points.

    Args:
        scores: (N,).
        fitness: A key of `MEASURES`.
        scale: A key of `SCALES`.
        matches: Games of each player.

    Raises:
        ConfigurationError: An unknown name.
    """
    if fitness not in MEASURES or scale not in SCALES:
        raise ConfigurationError(f"Unknown fitness {fitness!r} or scale {scale!r}. Valid: {', '.join((*MEASURES, *SCALES))}.")
    return SCALES[scale](scores, MEASURES[fitness], matches)
