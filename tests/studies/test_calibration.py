"""`python -m studies.calibration`: the intervals of analyses hold as often as they say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from studies import calibration


def test_intervals_hold_as_often_as_they_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    assert (
        calibration.main(["--positions", "30", "--playouts", "100", "--out", str(page), "--json"])
        == 0
    )
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["confidence"] for row in rows] == list(calibration.CONFIDENCES)
    assert all(row["agrees"] for row in rows)
    text = page.read_text("utf-8")
    assert "30 positions, 100 playouts" in text
    assert text.count("| yes |") == 3


def test_intervals_that_are_too_narrow_are_told() -> None:
    rng, truth = np.random.default_rng(1), 0.4
    pairs = rng.binomial(100, truth, (400, 2)) / 100
    assert all(row["agrees"] for row in calibration.count(pairs, 100))
    # as if there had been more playouts
    assert not any(row["agrees"] for row in calibration.count(pairs, 400))
    # nor may they agree too well
    assert not calibration.count(np.full((100, 2), truth), 100)[0]["agrees"]


def test_equal_shares_agree_and_far_ones_do_not() -> None:
    assert calibration.agree(0.3, 0.3, 50, 0.95)
    assert calibration.agree(0.0, 0.0, 50, 0.5)
    assert not calibration.agree(0.3, 0.4, 5000, 0.95)
