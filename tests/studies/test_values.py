"""`python -m studies.values`: scores by hand, and the page that is written from them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from studies.pages import Page

from studies import values
from training.values import tables


def test_scores_and_their_paired_difference_by_hand() -> None:
    outcome = np.array([[1.0, 0.0], [0.0, 1.0]])
    by = {
        "network": np.array([[0.8, 0.2], [0.3, 0.7]]),
        "playouts": np.array([[0.9, 0.1], [0.5, 0.5]]),
        "worth": np.full((2, 2), 0.5),
    }
    row = values.compared("all", by, outcome, np.ones(2, bool))
    assert {name: row[name] for name in by} == pytest.approx(
        {"network": (0.08 + 0.18) / 2, "playouts": (0.02 + 0.5) / 2, "worth": 0.5}
    )
    assert row["difference"] == pytest.approx((0.06 - 0.32) / 2)
    assert row["distance"] == pytest.approx(np.sqrt((0.02 + 0.08) / 2))
    assert row["low"] < row["difference"] < row["high"]


def test_the_page_is_written_from_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tables, "TRAINING", {"algorithmic": 1.0})
    monkeypatch.setattr(tables, "VARIED", {})
    monkeypatch.setattr(tables, "HELD_OUT", {"random/no_trades": 1.0})
    run = tmp_path / "run"
    run.mkdir()
    (run / "evaluation.json").write_text(
        json.dumps({"curve": [{"games": 4096, "training": 0.4, "held out": 0.5}]})
    )
    page = tmp_path / "page" / "values.md"
    line = f"--positions 24 --playouts 2 --actual 10 --out {page} --run {run}".split()
    assert values.main(line) == 0
    text = page.read_text()
    assert text.count("| algorithmic | 24 |") == 3
    assert text.count("| the policies of the game | 10 |") == 3
    assert "56,292 weights" in text
    assert Page(page, "").rows("curve") == [{"games": 4096, "training": 0.4, "held out": 0.5}]
    assert "Held-out policies" in capsys.readouterr().out
    assert values.main(["--run", str(tmp_path)]) == 2
    assert values.main(["--positions", "1"]) == 2
