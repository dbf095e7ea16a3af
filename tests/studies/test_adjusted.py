"""`python -m studies.adjusted`: the page of luck-adjusted results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studies import adjusted

CHEAP = (("algorithmic", "gcp"),)


@pytest.fixture(autouse=True)
def few_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adjusted, "TABLES", CHEAP)
    monkeypatch.setattr(adjusted, "CHEAP", CHEAP)


def test_the_page_has_both_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    arguments = ["--games", "48", "--mean-games", "240", "--values", "worth", "--out", str(page)]
    assert adjusted.main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (gain,), means = told["gain"], told["mean"]
    assert gain["adjusted_low"] < gain["adjusted"] < gain["adjusted_high"]
    assert [row["policy"] for row in means] == ["algorithmic", "gcp"]
    assert all(row["agrees"] for row in means)
    assert sum(row["adjusted"] for row in means) == pytest.approx(1)
    text = page.read_text("utf-8")
    assert text.count("| `algorithmic`, `gcp` |") == 1
    assert "2 win rates, 240 games each" in text
    assert "All agree." in text
    assert adjusted.main([*arguments, "--only", "mean"]) == 0
    assert "standard errors" in capsys.readouterr().out


def test_slow_games_gain_most() -> None:
    """Measuring takes 1 ms and leaves half of the variance.

    1 ms of a plain game is 0.5 games of 2 ms each.
    """
    assert adjusted.pays_from(0.5, 2.4, 2400) == pytest.approx(1.0)
    assert adjusted.pays_from(0.75, 2.4, 2400) == pytest.approx(3.0)
    assert adjusted.pays_from(1.0, 2.4, 2400) is None


def test_a_mean_that_is_changed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adjusted, "FALSE_ALARM", 0.0)
    (first, second) = adjusted.means(adjusted.Options(mean_games=240, values=("worth",)))
    assert not first["agrees"]
    assert "**2 do not agree.**" in adjusted.mean_section([first, second])
