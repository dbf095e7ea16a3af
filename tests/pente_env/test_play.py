"""The command to watch and to play."""

from __future__ import annotations

import builtins
import json
from pathlib import Path

import pytest
from rich.console import Console

import pente_env as pe
from monopoly_env.cli.terminal import QuitError
from pente_env import core
from pente_env.loop import Table, play_games
from pente_env.play import PenteOptions, main, play
from pente_env.player import Player
from tests.pente_env.test_matches import observing


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the person types, in this order."""
    given: list[str] = []

    def read(*_: object) -> str:
        if not given:
            raise EOFError
        return given.pop(0)

    monkeypatch.setattr(builtins, "input", read)
    return given


def test_watch(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--players", "better", "random", "blocker", "--seed", "5"]) == 0
    first = capsys.readouterr().out
    assert "1 X (better): D4" in first
    assert "Move 0." not in first
    assert main(["--players", "better", "random", "blocker", "--seed", "5"]) == 0
    assert capsys.readouterr().out == first


def test_play(answers: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    answers += ["?", "p", "b", "z9", "a1", "d4", "d4", "q"]
    picture = tmp_path / "end.svg"
    assert main(["--players", "human", "capturer", "--seed", "1", "--picture", str(picture)]) == 0
    out = capsys.readouterr().out
    for words in (
        "five captured pairs",
        "captures: none",
        "A1 to G7",
        "'centre' does not allow it",
        "1 X (human): D4",
        "a stone is there",
    ):
        assert words in out
    assert out.count("You left the game.") == 1
    assert picture.read_text(encoding="utf-8").startswith("<svg")


def test_the_input_ends(answers: list[str]) -> None:
    answers += ["d4"]
    assert main(["--players", "human", "capturer"]) == 1


def test_a_person_may_win(answers: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    # points that are taken are asked for again
    answers += ["D4", *(pe.name_of(point, 7) for point in range(49))] * 2
    assert main(["--players", "human", "random", "--seed", "2"]) == 0
    assert " wins by " in capsys.readouterr().out.rstrip().splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "words"),
    [("away.npz", "There is no file 'away.npz'"), ("bettr", "Did you mean 'better'")],
)
def test_players_that_are_not_there(
    name: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in ([], ["--games", "2"]):
        assert main(["--players", name, "better", *more]) == 2
        assert words in capsys.readouterr().err


def test_a_player_that_watches_plays_as_in_a_match(
    answers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its stones depend on how many stones it has seen, those of a person too."""
    seated, options = (
        [Player("observing", observing, observes=True), pe.make("capturer")],
        PenteOptions(players=("observing", "capturer")),
    )
    for seed in range(5):
        games = core.new_games([seed])
        play(games, seated, Console(), options)
        (result,) = play_games(Table.of(seated), [[0, 1]], [seed])
        assert (games[0].winner, games[0].moves, games[0].ending) == (
            result["winner"],
            result["moves"],
            result["ending"],
        )
    answers.extend(["A1", "A3", "q"])
    with pytest.raises(QuitError):
        play(
            core.new_games([0]),
            [seated[0], None],
            Console(),
            PenteOptions(players=("observing", "human")),
        )
    # the third point: it has seen three boards
    assert "3 X (observing): D7" in capsys.readouterr().out


def test_match(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--players", "better", "capturer", "--games", "100", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["games"] == 100
    assert [row["name"] for row in told["players"]] == ["better", "capturer"]
    assert main(["--players", "better", "capturer", "--games", "100", "--rules", "box"]) == 0
    assert "95% interval" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--players", "beter", "random"], "Did you mean 'better'?"),
        (["--players", "random"], "has 2 or 3 players, not 1"),
        (["--players", "human", "better", "simple", "random"], "has 2 or 3 players, not 4"),
        (["--players", "random", "--games", "2"], "has 2 or 3 players, not 1"),
        (["--picture", "end.gif"], "'end.gif'"),
        (["--players", "human", "random", "--games", "10"], "nobody can be human"),
        (["--rules", "chess"], "'chess'"),
        (["--size", "4"], "--size 4"),
        (["--opening", "centr"], "'centre'"),
        (["--delay", "-1"], "--delay"),
        (["--json"], "--games"),
        (["--games", "-1", "--players", "random", "random"], "--games -1"),
        (["--seed", "-1"], "--seed -1"),
    ],
)
def test_wrong_options(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert message in capsys.readouterr().err
