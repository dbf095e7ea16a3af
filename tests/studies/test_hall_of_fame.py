"""A hall of fame: who is drawn from it, and who enters."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from studies.pente_esp import INITIAL_MEMBERS, SCHRUM

from training.evolution.run import execute
from training.run import checkpoints

SMALL = dataclasses.replace(
    SCHRUM,
    experiment="hall",
    hidden=3,
    neurons=8,
    trials=2,
    matches=2,
    generations=6,
    threads=1,
    seed=3,
)


def test_members_are_drawn_by_the_seed_and_all_of_them_sometimes() -> None:
    search = SMALL.search()
    hall = search.hall
    assert hall is not None
    drawn = [hall.tests(search.experiment, seed) for seed in (1, 1, 2)]
    names = [[player.name for (player,) in experiment.tests] for experiment in drawn]
    assert names[0] == names[1] != names[2]
    assert drawn[0].games == search.experiment.games == 20
    assert (
        len(
            {
                player.name
                for seed in range(20)
                for (player,) in hall.tests(search.experiment, seed).tests
            }
        )
        == INITIAL_MEMBERS
    )


def test_every_network_that_was_best_enters_once(tmp_path: Path) -> None:
    options = dataclasses.replace(SMALL, out=tmp_path, final_matches=1)
    execute(options, Console(file=io.StringIO()))
    arrays = checkpoints.read_last(tmp_path / "checkpoints")[0]["search"]
    hall, search = arrays["hall"], options.search()
    assert len(hall) > INITIAL_MEMBERS + 1
    assert (hall[1:] != hall[:-1]).any(axis=1).all()
    assert np.array_equal(hall[-1], arrays["best"].ravel())
    assert not np.array_equal(hall[0], search.stage.population[:, 0].ravel())


def test_members_play_as_they_did_when_they_were_best() -> None:
    search = dataclasses.replace(SMALL, network="attentive").search()
    assert search.hall is not None
    assert all(player.observes for (player,) in search.hall.tests(search.experiment, 1).tests)


@pytest.mark.parametrize(
    "shape",
    [(0, 588), (INITIAL_MEMBERS - 1, 588), (INITIAL_MEMBERS, 587), (INITIAL_MEMBERS, 3, 196)],
)
def test_members_of_another_form_are_refused(shape: tuple[int, ...]) -> None:
    hall = SMALL.search().hall
    assert hall is not None
    assert hall.members.shape == (INITIAL_MEMBERS, 588)
    with pytest.raises(ValueError, match="members of the hall of the shape"):
        hall.of(np.zeros(shape))
