"""The page of players that search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from studies.search import Options

from monopoly_env.errors import ConfigurationError
from studies import search


def test_a_section_says_who_played_and_what_it_won(tmp_path: Path) -> None:
    page = tmp_path / "search.md"
    options = Options(
        base="algorithmic",
        advisers=("random",),
        playouts=(0, 2),
        offers=0,
        others=None,
        sizes=(2,),
        against=("random",),
        games=4,
        turns=1,
        value="worth",
        time=1.0,
        section="look",
        out=page,
        threads=1,
    )
    none, some = search.execute(options, Console(quiet=True))["rows"]
    assert (none["lead"], none["searched"]) == (0.0, 0.0)  # without playouts it is its base policy
    assert some["searched"] > 0
    written = page.read_text()
    assert "`search` on `algorithmic` with the advice of `random`" in written
    assert "margin 1.5, 1 s a decision at most" in written
    assert "| `random` | 2 | 2 | 4 |" in written


def test_another_player_is_told_by_its_name(tmp_path: Path) -> None:
    page = tmp_path / "search.md"
    search.execute(
        Options(
            player="algorithmic",
            base="algorithmic",
            sizes=(2,),
            against=("random",),
            games=2,
            out=page,
        ),
        Console(quiet=True),
    )
    assert "`algorithmic`, rules `official`, seed 11." in page.read_text()
    assert "| - | - |" in page.read_text()


def test_it_may_be_compared_with_another_policy_than_its_base(tmp_path: Path) -> None:
    seated: Any = {
        "sizes": (2,),
        "against": ("random",),
        "games": 20,
        "out": tmp_path / "search.md",
    }
    (row,) = search.execute(
        Options(player="algorithmic", base="algorithmic", beside="random", **seated),
        Console(quiet=True),
    )["rows"]
    assert row["lead"] > 0.2  # random wins half of these games
    assert "| more than `random` |" in (tmp_path / "search.md").read_text()


def test_a_run_that_is_ended_keeps_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Options(
        player="algorithmic",
        base="algorithmic",
        sizes=(2,),
        games=2,
        against=("random", "strategic"),
        out=tmp_path / "search.md",
    )
    rows, first = search.measure(options, Console(quiet=True)), []

    def ended(*_: object) -> Iterator[dict[str, object]]:
        first.append(next(rows))
        yield first[0]
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "measure", ended)
    with pytest.raises(KeyboardInterrupt):
        search.execute(options, Console(quiet=True))
    assert first[0]["opponent"] == "random"
    assert "| `random` | 2 |" in options.out.read_text()


def test_the_strongest_player_is_called_by_its_name() -> None:
    assert search.section([], Options()).startswith("`search/best`, rules `official`")
    assert not search.section([], Options(offers=0)).startswith("`search/best`")


def test_an_unknown_opponent_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'random'"):
        search.execute(Options(against=("randm",), out=tmp_path / "search.md"), Console(quiet=True))
