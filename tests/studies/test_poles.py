"""The command `python -m studies.poles`.

Networks are counted until one balances, and the page has the figures.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studies.cart import architecture

from studies import poles
from training.evolution.esp import Fitness, Neurons

NEURONS = Neurons(architecture(poles.HIDDEN), bias=True)


def counted(*lasting: list[bool]) -> poles.Counted:
    """What has seen generations of networks.

    Those that lean one way at once, and those that last for two steps.
    """
    found = poles.Counted(NEURONS, steps=2)
    # no number: no step is counted after the first
    falls = np.full(poles.HIDDEN * NEURONS.genes, np.nan)
    stands = np.zeros(poles.HIDDEN * NEURONS.genes)
    for generation in lasting:
        found(np.array([stands if lasts else falls for lasts in generation]), 0)
    return found


def test_the_first_network_that_balances_is_counted() -> None:
    assert (counted([False, False]).first, counted([False, False]).evaluated) == (0, 2)
    found = counted([False, False, False], [False, True, True], [True])
    assert (found.first, found.evaluated) == (5, 7)


def test_a_run_ends_with_the_first_solution_or_after_the_most() -> None:
    def search(fitness: Fitness, neurons: Neurons, seed: int) -> Iterator[Any]:
        while True:
            yield fitness(
                np.full((10, neurons.sub_populations * neurons.genes), np.nan if seed else 0.0),
                seed,
            )

    assert poles.needed(search, 0, 100, 2) == 1
    assert poles.needed(search, 1, 100, 2) == 0


def test_the_table_says_how_many_networks_it_took() -> None:
    rows = poles.section({"a": [1200, 0, 400, 800], "b": [0, 0, 7], "c": [0]}, 2000).splitlines()[
        2:
    ]
    assert rows == [
        "| `a` | 3 of 4 | 1,000 | 400 to 1,200 |",
        "| `b` | 1 of 3 | over 2,000 | 7 to 7 |",
        "| `c` | 0 of 1 | over 2,000 |  |",
    ]


def test_the_command_writes_the_page_if_all_searches_are_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "esp.md"
    words = ["--page", str(page), "--runs", "1", "--max-networks", "10", "--pushes", "1"]
    assert poles.main([*words, "--only", "random", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"random": [1]}  # nothing falls in one step
    assert not page.exists()
    assert poles.main(words) == 0
    assert page.read_text().count("| 1 of 1 | 1 | 1 to 1 |") == len(poles.SEARCHES)
