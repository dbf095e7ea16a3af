"""`python -m studies.ladder`: the points, results and purchases of scripted agents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from studies.pages import Page

from monopoly_env.facts.board import GROUPS
from studies import ladder


def test_the_page_and_its_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ladder.md"
    assert ladder.main(["--games", "4", "--out", str(path), "--json"]) == 0
    page = Page(path, "")
    rows = page.rows("ladder")
    assert rows == json.loads(capsys.readouterr().out)
    assert {row["name"] for row in rows} == set(ladder.FIELD)
    points = [row["points"] for row in rows]
    assert points == sorted(points, reverse=True)
    assert ": 684 games." in page.text(ladder.SECTION)
    bought = page.rows("purchases")
    assert [row["name"] for row in bought] == [row["name"] for row in rows]
    assert all(0 <= row[group] <= 4 for row in bought for group in GROUPS)
    share = {(row["name"], row["against"]): row["share"] for row in page.rows("pairs")}
    assert len(share) == 19 * 18
    assert all(share[name, other] + share[other, name] == 1 for name, other in share)
