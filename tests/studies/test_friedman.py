"""`python -m studies.friedman`: games that do not end, as often as published."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from studies import friedman


def test_games_go_on_as_long_as_published() -> None:
    """The published shares lie within four standard errors of 1,000 games.

    One false alarm in 3,000.
    """
    found = friedman.measure(friedman.Options(games=1000), Console(quiet=True))
    assert [comparison.theirs.value for comparison in found] == list(friedman.PUBLISHED.values())
    for comparison in found:
        share = comparison.theirs.value
        assert comparison.ours.value == pytest.approx(
            share, abs=4 * (share * (1 - share) / 1000) ** 0.5
        ), comparison.what


def test_the_command_prints_a_table_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert friedman.main(["--games", "40", "--threads", "1"]) == 0
    printed = capsys.readouterr().out
    assert "after 1,000 rounds" in printed
    assert "0.124" in printed
    assert friedman.main(["--games", "40", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["what"] for row in rows] == [
        f"after {rounds:,} rounds" for rounds in friedman.PUBLISHED
    ]
    shares = [row["ours"]["value"] for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert friedman.main(["--games", "0"]) == 2
