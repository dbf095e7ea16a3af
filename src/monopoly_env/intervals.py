"""Confidence intervals of shares of wins.

Games that share a seed share its chance, so they are not independent: `clustered` uses the variance
between seeds. Wilson's interval treats games as independent.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

CONFIDENCE: Final = 0.95


def wilson(wins: Any, games: Any, confidence: float = CONFIDENCE) -> tuple[Any, Any]:
    """Wilson's score interval (JASA 22, 1927) of a win rate.

    Args:
        wins: Games won, a number or an array; fractional because of draws.
        games: Games played, likewise.
        confidence: The confidence level.

    Returns:
        The bounds, of the shape of the arguments: 0 if nothing was won, 1 if everything was.
    """
    z, rate = NormalDist().inv_cdf((1 + confidence) / 2), np.asarray(wins) / games
    centre = (rate + z * z / (2 * games)) / (1 + z * z / games)
    half = (
        z * np.sqrt(rate * (1 - rate) / games + z * z / (4 * games * games)) / (1 + z * z / games)
    )
    low, high = np.where(rate <= 0, 0.0, centre - half), np.where(rate >= 1, 1.0, centre + half)
    return (low, high) if rate.ndim else (float(low), float(high))


def clustered(won: NDArray[Any], seeds: NDArray[Any]) -> tuple[float, float]:
    """The 95% interval of a win rate over games of which several share a seed.

    The ratio estimator of cluster sampling, with Student's t.

    Args:
        won: (G,), the share of the win in each game.
        seeds: (G,) int, the seed of each game.

    Returns:
        The bounds; (0, 1) with a single seed, as the variance is unknown. If all games were won or
        all were lost, they are those of Wilson's interval for as many games as seeds.
    """
    sums, sizes = per_seed(won, seeds)
    count, rate = len(sums), float(won.mean())
    if count < 2:
        return 0.0, 1.0
    if rate in (0.0, 1.0):
        return wilson(rate * count, count)
    half = half_width((sums - rate * sizes) / sizes.sum())
    return max(0.0, rate - half), min(1.0, rate + half)


def per_seed(
    values: NDArray[Any], seeds: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sum of the values and their number, by seed: two (S,) arrays."""
    _, number = np.unique(seeds, return_inverse=True)
    return np.bincount(number, values).astype(np.float64), np.bincount(number).astype(np.float64)


def half_width(residuals: NDArray[np.float64]) -> float:
    """Half the width of the 95% interval (Student's t), for an error that is a sum of residuals."""
    from scipy import special  # a sixth of a second, which most who import this module don't need

    count = len(residuals)
    return float(special.stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * standard_error(residuals)


def standard_error(residuals: NDArray[np.float64]) -> float:
    """The standard error of an estimate whose error is the sum of (S,) independent residuals."""
    count = len(residuals)
    return float(np.sqrt(count / (count - 1) * (residuals**2).sum()))


def lead_interval(leads: NDArray[Any]) -> tuple[float, float, float]:
    """The mean of paired differences of shares and its 95% interval.

    A lead to each side is added (Bonett and Price, "Adjusted Wald confidence interval for a
    difference of binomial proportions based on paired data", 2012): else a few playouts that happen
    to end alike would look certain.

    Args:
        leads: (N,) differences from -1 to 1, one or more.

    Returns:
        Mean, lower and upper bound; the bounds lie between -1 and 1, with the mean between them.
    """
    mean = float(leads.mean(dtype=np.float64))
    _, low, high = mean_interval(np.append(leads.astype(np.float64), (1.0, -1.0)))
    return mean, min(mean, max(-1.0, low)), max(mean, min(1.0, high))


def mean_interval(values: NDArray[Any]) -> tuple[float, float, float]:
    """The mean of (N,) independent values, and its 95% interval by the normal distribution.

    Without variance, or with one value, it is a point.
    """
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * error
    return mean, mean - half, mean + half
