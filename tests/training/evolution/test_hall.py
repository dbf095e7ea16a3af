"""A hall of fame: who is drawn from it, and who enters."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import numpy as np
from rich.console import Console

from training.evolution.hall import FOUNDERS
from training.evolution.run import execute
from training.evolution.schrum import SCHRUM
from training.run import checkpoints

SMALL = dataclasses.replace(SCHRUM, experiment="hall", hidden=3, neurons=8, trials=2, matches=2, generations=6, threads=1, seed=3)


def test_members_are_drawn_by_the_seed_and_all_of_them_sometimes() -> None:
    search = SMALL.search()
    hall = search.hall
    assert hall is not None
    drawn = [hall.tests(search.experiment, seed) for seed in (1, 1, 2)]
    names = [[player.name for (player,) in experiment.tests] for experiment in drawn]
    assert names[0] == names[1] != names[2]
    assert drawn[0].games == search.experiment.games == 20
    assert (
        len({name for seed in range(20) for (player,) in hall.tests(search.experiment, seed).tests for name in [player.name]}) == FOUNDERS
    )


def test_every_network_that_was_best_enters_once(tmp_path: Path) -> None:
    options = dataclasses.replace(SMALL, out=tmp_path, final_matches=1)
    execute(options, Console(file=io.StringIO()))
    arrays = checkpoints.read_last(tmp_path / "checkpoints")[0]["search"]
    hall, search = arrays["hall"], options.search()
    assert len(hall) > FOUNDERS + 1
    assert (hall[1:] != hall[:-1]).any(axis=1).all()
    assert np.array_equal(hall[-1], search.packed(arrays["best"].reshape(1, -1))[0])
    assert not np.array_equal(hall[0], search.packed(search.stage.population[:, 0].reshape(1, -1))[0])
