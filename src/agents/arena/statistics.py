"""How sure a result is: intervals of shares, and differences between two policies.

Games that share a seed share its dice, so the unit is the seed: what counts is the spread between seeds. Wilson's interval takes games
as independent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import special  # its statistics take half a second to import

if TYPE_CHECKING:
    from agents.arena.results import Results

CONFIDENCE: Final = 0.95
_NOTHING: Final = 1e-12  # a standard error that is rounding


def wilson(wins: float, games: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval (JASA 22, 1927) of a share; wins may be fractions, from draws."""
    z = float(special.ndtri((1 + confidence) / 2))
    rate = wins / games
    centre = (rate + z * z / (2 * games)) / (1 + z * z / games)
    half = z * np.sqrt(rate * (1 - rate) / games + z * z / (4 * games * games)) / (1 + z * z / games)
    return (0.0 if wins == 0 else float(centre - half)), (1.0 if wins == games else float(centre + half))


def clustered(won: NDArray[Any], unit: NDArray[Any], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Interval of a mean whose games come in units that share a seed: the ratio estimator of cluster sampling, with Student's t.

    A single unit says nothing of the spread: the interval is then (0, 1). Nor do units that were all won or all lost: the interval is
    then Wilson's of as many games as there are units.
    """
    sums, sizes = per_unit(won, unit)
    units, rate = len(sums), float(won.mean())
    if units < 2:
        return 0.0, 1.0
    if rate in (0.0, 1.0):
        return wilson(rate * units, units, confidence)
    half = half_width((sums - rate * sizes) / sizes.sum(), confidence)
    return max(0.0, rate - half), min(1.0, rate + half)


def per_unit(values: NDArray[Any], unit: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of values, and how many there are, by unit."""
    _, number = np.unique(unit, return_inverse=True)
    return np.bincount(number, values).astype(np.float64), np.bincount(number).astype(np.float64)


def half_width(residuals: NDArray[np.float64], confidence: float) -> float:
    """Half the width of an interval whose estimate deviates by the sum of these, one a unit."""
    units = len(residuals)
    return float(special.stdtrit(units - 1, (1 + confidence) / 2)) * standard_error(residuals)


def standard_error(residuals: NDArray[np.float64]) -> float:
    """Of an estimate that deviates by the sum of these, one an independent unit."""
    units = len(residuals)
    return float(np.sqrt(units / (units - 1) * (residuals**2).sum()))


@dataclass(frozen=True)
class Difference:
    """How much more one policy wins than another, over the same seeds.

    Attributes:
        first: A policy.
        second: The one that it is compared with.
        rates: The share of the win that a seat of each got.
        difference: The first rate less the second.
        low: Of its interval.
        high: Of its interval.
        p_value: Of the hypothesis that there is none, two-sided.
        units: Seeds.
        confidence: Of the interval.
        results: The games.
    """

    first: str
    second: str
    rates: tuple[float, float]
    difference: float
    low: float
    high: float
    p_value: float
    units: int
    confidence: float = CONFIDENCE
    results: Results | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        """One line."""
        rates = f"{self.first} {self.rates[0]:.1%}, {self.second} {self.rates[1]:.1%} a seat"
        interval = f"{self.confidence:.0%} interval {self.low:+.1%} to {self.high:+.1%}"
        return f"{rates}: difference {self.difference:+.1%}, {interval}, p = {self.p_value:.2g} ({self.units:,} seeds)"


def paired_difference(
    first: str,
    second: str,
    won: tuple[NDArray[Any], NDArray[Any]],
    seats: tuple[NDArray[Any], NDArray[Any]],
    confidence: float = CONFIDENCE,
) -> Difference:
    """The difference of two rates over the same units, with Student's t of its spread between them.

    Args:
        first: A policy.
        second: Another.
        won: (U,) for each, wins in a unit.
        seats: (U,) for each, seats taken in a unit.
        confidence: Of the interval.

    Returns:
        The difference. Units that all say the same leave no spread: the interval then allows for as many that say the opposite as
        Wilson's interval of as many won games does. The p-value is never below that of a test by signs, 2 ** (1 - U). One unit alone
        says nothing.
    """
    units = len(won[0])
    rates = (float(won[0].sum() / seats[0].sum()), float(won[1].sum() / seats[1].sum()))
    difference = rates[0] - rates[1]
    if units < 2:
        return Difference(first, second, rates, difference, -1.0, 1.0, 1.0, units, confidence)
    residuals = [(w - rate * s) / s.sum() for w, s, rate in zip(won, seats, rates, strict=True)]
    error = standard_error(residuals[0] - residuals[1])
    if difference != 0 and error < _NOTHING:
        least = difference * (2 * wilson(units, units, confidence)[0] - 1)
        low, high = min(least, difference), max(least, difference)
    else:
        half = half_width(residuals[0] - residuals[1], confidence)
        low, high = max(-1.0, difference - half), min(1.0, difference + half)
    if difference == 0:
        p_value = 1.0
    else:
        by_spread = 2 * float(special.stdtr(units - 1, -abs(difference) / error)) if error >= _NOTHING else 0.0
        p_value = max(by_spread, 2.0 ** (1 - units))
    return Difference(first, second, rates, difference, low, high, p_value, units, confidence)
