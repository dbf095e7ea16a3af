"""Programs whose disk fails end as if nothing had happened; `tests.faults` tells how.

More: `python -m tests.faults --seeds 1000`.
"""

from __future__ import annotations

import pytest

from tests import faults

SEEDS = {"table": 10, "training": 3, "tournament": 3}  # those of a few seconds


@pytest.mark.parametrize(
    ("name", "seed"), [(name, seed) for name, count in SEEDS.items() for seed in range(count)]
)
def test_faults_lose_nothing(name: str, seed: int) -> None:
    assert faults.run(name, seed) > 0
