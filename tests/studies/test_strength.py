"""`python -m studies.strength`: one policy against many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console
from studies.pages import Page

from studies import strength


def test_a_table_of_two_and_one_of_four(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "strength.md"
    arguments = f"--player algorithmic --against random* --games 48 --out {page}".split()
    assert strength.main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(row["opponent"], row["players"]) for row in told["rows"]] == [
        (name, size) for name in ("random", "random/no_trades") for size in (2, 4)
    ]
    assert all(
        row["beats"] and row["low"] <= row["win_rate"] <= row["high"] for row in told["rows"]
    )
    assert page.read_text("utf-8").count("| `random/no_trades` |") == 2
    assert [row["players"] for row in Page(page, "").rows()] == [2, 4, 2, 4]
    assert strength.main(arguments) == 0
    assert "random/no_trades" in capsys.readouterr().out


def test_the_same_seed_gives_the_same_rows() -> None:
    options = strength.Options("algorithmic", ("random",), (2,), games=20)
    assert strength.measure(options, Console(stderr=True)) == strength.measure(
        options, Console(stderr=True)
    )
