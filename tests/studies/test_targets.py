"""The command `python -m studies.targets`.

The network is taught by both kinds of targets, from the same states.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from agents.values import saved
from studies import targets
from training.values import tables, train
from training.values.options import ValueOptions
from training.values.train import ValueLearner


@pytest.fixture(autouse=True)
def _few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "TRAINING", {"algorithmic": 1.0})
    monkeypatch.setattr(tables, "VARIED", {})
    monkeypatch.setattr(tables, "HELD_OUT", {"random/no_trades": 1.0})
    monkeypatch.setattr(train, "_MEASURED", 2)


def test_labels_are_shares_of_the_players_who_are_left() -> None:
    options = targets.Options(states=2 * tables.BATCH, playouts=3, turns=2, threads=1)
    states, shares = targets.labelled(
        ValueLearner(ValueOptions()), saved.make("best"), options, Console(quiet=True)
    )
    kept = states.kept > 0
    assert kept.sum() > tables.BATCH
    assert shares[kept].sum(-1) == pytest.approx(1.0)
    assert not shares[~kept].any()
    out = np.array(
        [
            [game["place"][0, seat] != 0 or seat >= game["num_players"][0] for seat in range(4)]
            for game in states.games[kept]
        ]
    )
    assert not shares[kept, 0][out].any()


def test_the_page_tells_every_rate_and_both_teachers(tmp_path: Path) -> None:
    page = tmp_path / "values.md"
    line = (
        f"--states {tables.BATCH} --playouts 2 --turns 2 --learning-rates 1e-3 --threads 1"
    ).split()
    assert targets.main([*line, "--out", str(page)]) == 0
    rows = [
        line.split("|")[1:-1] for line in page.read_text().splitlines() if line.startswith("| ")
    ]
    assert [row[0].strip() for row in rows] == ["targets", "as it ships", "outcomes", "playouts"]
    scores = [float(row[2]) for row in rows[1:]]
    assert len(set(scores)) == 3  # each taught the network something else
