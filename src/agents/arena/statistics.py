"""Paired differences between two policies, and how much of what they won was luck.

Games that share a seed share its dice, so they are not independent: all that is here uses the
spread between seeds ("units").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import special  # its statistics take half a second to import

from monopoly_env.intervals import CONFIDENCE, half_width, per_unit, standard_error, wilson

_NOTHING: Final = 1e-12  # a standard error that is rounding
# A value that moves half as much as it should is the worst that is believed; few games fit anything
_MOST_LUCK: Final = 2.0


def spread(won: NDArray[Any], unit: NDArray[Any]) -> float:
    """The standard error of a win rate over games in units, see `clustered`.

    0 if there is a single unit.
    """
    sums, sizes = per_unit(won, unit)
    return standard_error((sums - won.mean() * sizes) / sizes.sum()) if len(sums) > 1 else 0.0


def control_coefficient(won: NDArray[np.float64], luck: NDArray[np.float64]) -> float:
    """How much of the luck to subtract from what was won, so that the rest varies least.

    It is between 0 and `_MOST_LUCK`.

    Args:
        won: (K, U), what each of K policies won in each unit.
        luck: (K, U), their luck; its mean is zero.
    """
    if won.shape[1] < 2:
        return 0.0
    known = float((luck**2).sum())
    together = float(((won - won.mean(axis=1, keepdims=True)) * luck).sum())
    return min(max(together / known, 0.0), _MOST_LUCK) if known > 0 else 0.0


@dataclass(frozen=True)
class Difference:
    """How much more often one policy wins than another, over the same seeds.

    Attributes:
        first: The name of a policy.
        second: The name of the policy that it is compared with.
        rates: The mean share of the win per seat, of each of the two.
        difference: The first rate minus the second.
        low: Lower bound of its confidence interval.
        high: Upper bound of its confidence interval.
        p_value: Two-sided p-value of the hypothesis that there is no difference.
        units: The number of seeds.
        confidence: The confidence level of the interval.
        results: The games, an `agents.arena.results.Results`; None if they were not kept.
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
    results: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        """All numbers in one line."""
        rates = f"{self.first} {self.rates[0]:.1%}, {self.second} {self.rates[1]:.1%} a seat"
        interval = f"{self.confidence:.0%} interval {self.low:+.1%} to {self.high:+.1%}"
        return (
            f"{rates}: difference {self.difference:+.1%}, {interval}, p = {self.p_value:.2g}"
            f" ({self.units:,} seeds)"
        )


def paired_difference(
    first: str,
    second: str,
    won: tuple[NDArray[Any], NDArray[Any]],
    seats: tuple[NDArray[Any], NDArray[Any]],
    confidence: float = CONFIDENCE,
) -> Difference:
    """The difference of two win rates over the same U units, with an interval.

    The interval comes from the spread of the difference between units (Student's t).

    Args:
        first: The name of a policy.
        second: The name of another policy.
        won: For each of the two, (U,) wins in each unit.
        seats: For each of the two, (U,) seats taken in each unit.
        confidence: The confidence level.

    Returns:
        The difference. If all units give the same difference there is no spread; the interval is
        then widened as Wilson's interval of U won games is. The p-value is never below that of a
        sign test, 2 ** (1 - U). With one unit, nothing is known.
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
        by_spread = (
            2 * float(special.stdtr(units - 1, -abs(difference) / error))
            if error >= _NOTHING
            else 0.0
        )
        p_value = max(by_spread, 2.0 ** (1 - units))
    return Difference(first, second, rates, difference, low, high, p_value, units, confidence)
