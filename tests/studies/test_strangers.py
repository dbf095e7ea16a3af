"""`python -m studies.strangers`: the headline against players that nobody has met."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from studies.pages import Page

from agents import arena, strangers
from agents.arena.evaluation import Wins
from studies import strangers as study


def test_the_headline_is_the_mean_and_the_minimum_of_the_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strangers, "LISTED", 4)
    page = tmp_path / "page.md"
    line = [
        "--agent",
        "expert",
        "--baseline",
        "random",
        "--games",
        "8",
        "--out",
        str(page),
        "--json",
    ]
    assert study.main(line) == 0
    told = json.loads(capsys.readouterr().out)
    rows = told["rows"]
    assert [row["stranger"] for row in rows] == [0, 1, 2, 3]
    assert all(row["more"] == pytest.approx(row["wins"] - row["beside"]) for row in rows)
    mean = told["mean"]
    assert mean["more"] == pytest.approx(sum(row["more"] for row in rows) / 4)
    assert mean["low"] < mean["more"] < mean["high"]
    assert mean["high"] - mean["low"] < max(row["high"] - row["low"] for row in rows)
    assert told["minimum"]["more"] == min(row["more"] for row in rows)
    text = page.read_text()
    assert f"| **{mean['more']:+.3f}** (" in text
    assert text.count("\n| `expert` |") == 1
    assert len(Page(page, "").rows("strangers")) == 4


def test_no_two_rows_share_a_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def recorded(players: Any, seatings: Any, games: Any, seed: int, *rest: Any) -> list[Wins]:
        seeds.append(seed)
        return against(players, seatings, games, seed, *rest)

    against = arena.against
    monkeypatch.setattr(arena, "against", recorded)
    monkeypatch.setattr(strangers, "LISTED", 3)
    for seed in ("0", "1"):
        line = ["--agent", "expert", "--baseline", "random", "--games", "2", "--seed", seed]
        assert study.main([*line, "--out", str(tmp_path / "page.md")]) == 0
    assert len(set(seeds)) == len(seeds) == 6
