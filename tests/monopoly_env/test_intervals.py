"""Intervals hold what they promise."""

from __future__ import annotations

import numpy as np
import pytest

from monopoly_env.intervals import lead_interval

TRIALS = 4000


@pytest.mark.parametrize("count", [2, 4, 8, 30, 100])
@pytest.mark.parametrize(("won", "lost"), [(0.02, 0.02), (0.05, 0.2), (0.3, 0.3), (0.1, 0.6)])
def test_a_lead_lies_in_its_interval(count: int, won: float, lost: float) -> None:
    """At 95% it lies outside in one case of twenty.

    Here one of eleven is allowed: in 4,000 trials that is 12 standard errors away.
    """
    drawn = np.random.default_rng(7).random((TRIALS, count))
    leads = (drawn < won).astype(float) - (drawn > 1 - lost)
    found = np.array([lead_interval(row) for row in leads])
    truth = won - lost
    assert ((found[:, 1] <= truth) & (truth <= found[:, 2])).mean() > 10 / 11
    assert ((found[:, 1] <= found[:, 0]) & (found[:, 0] <= found[:, 2])).all()
    assert found.min() >= -1
    assert found.max() <= 1


def test_playouts_that_end_alike_are_not_certain() -> None:
    mean, low, high = lead_interval(np.zeros(50))
    assert (mean, -low) == (0, high)
    assert 0.02 < high < 0.1
