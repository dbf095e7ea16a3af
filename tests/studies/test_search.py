"""The page of players that search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from studies.pages import Page
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
    stored = Page(page, "").rows()
    assert [row["playouts"] for row in stored] == [0, 2]
    assert {"--advisers random", "--offers 0", "--time 1.0"} <= {
        f"--{part.strip()}" for part in stored[0]["options"].split("--") if part
    }
    assert "| `search on algorithmic, 1 s` | `random`, 2 | 2 |" in page.read_text()


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
    assert "| `algorithmic` | `random`, 2 | - |" in page.read_text()


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
    assert row["beside"] == "random"


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
    assert "| `random`, 2 |" in options.out.read_text()


def test_the_page_has_the_rows_with_the_least_gain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_SHOWN", 1)
    gains: Any = {
        "player": "algorithmic",
        "base": "algorithmic",
        "beside": "random",
        "sizes": (2,),
        "games": 20,
        "out": tmp_path / "search.md",
    }
    for opponent in ("algorithmic", "random"):
        search.execute(Options(against=(opponent,), **gains), Console(quiet=True))
    rows, text = Page(gains["out"], "").rows(), gains["out"].read_text()
    least = min(rows, key=lambda row: row["lead"])
    assert len(rows) == 2
    assert "1 smallest gains of 2 rows" in text
    assert text.count("\n| `") == text.count(f"| `{least['opponent']}`, 2 |") == 1


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (Options(), "search/best"),
        (Options(base="expert/value", time=0.5), "search/best on expert/value, 0.5 s"),
        (Options(offers=0), "search"),
    ],
)
def test_the_strongest_player_is_called_by_its_name(options: Options, name: str) -> None:
    assert search.name_of(options) == name


def test_an_unknown_opponent_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'random'"):
        search.execute(Options(against=("randm",), out=tmp_path / "search.md"), Console(quiet=True))
