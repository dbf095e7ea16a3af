"""The command `python -m monopoly_env.play`."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

import monopoly_env as me
from monopoly_env import play
from tests.play import land


def answer(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """What the person types."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_policies_are_watched(capsys: pytest.CaptureFixture[str]) -> None:
    assert play.main(["--delay", "0", "--max-turns", "20", "--boards", "5"]) == 0
    shown = capsys.readouterr().out
    assert "A (algorithmic) throws" in shown
    assert "Turn 20: " in shown
    assert shown.count("|FreePa|") >= 4


def test_a_whole_game_ends_with_its_winner(capsys: pytest.CaptureFixture[str]) -> None:
    assert play.main(["--players", "algorithmic", "random", "random", "--delay", "0", "--seed", "2"]) == 0
    assert "A (algorithmic) wins." in capsys.readouterr().out


def test_the_same_seed_tells_the_same_story(capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for _ in range(2):
        play.main(["--delay", "0", "--max-turns", "30", "--seed", "4"])
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]


def test_a_person_plays_by_number_and_by_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    me.save(land(39, num_players=2), tmp_path / "on_boardwalk.game")
    answer(monkeypatch, "?", "b", "99", "buy Boardwalk", "accept", "BUY", "1", "q")
    assert play.main(["--players", "human", "human", "--delay", "0", "--load", str(tmp_path / "on_boardwalk.game")]) == 0
    shown = capsys.readouterr().out
    assert "Answer with the number of an action" in shown
    assert "99 is not in the list: 1 to" in shown
    assert "No action is called 'buy Boardwalk'" in shown
    assert "'accept' is not legal now" in shown
    assert "(Boardwalk, $400)" in shown
    assert "A (human) gets Boardwalk and pays $400." in shown
    assert "You left the table." in shown


def test_the_end_of_input_ends_the_game(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answer(monkeypatch)
    assert play.main(["--players", "human", "human"]) == 1
    assert "No more input: the game is left unfinished." in capsys.readouterr().out


def test_a_game_is_saved_and_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    middle, end = tmp_path / "middle.game", tmp_path / "end.game"
    answer(monkeypatch, f"s {middle}", "q")
    assert play.main(["--players", "human", "random", "--delay", "0", "--seed", "1"]) == 0
    assert f"Saved to {middle}." in capsys.readouterr().out.replace("\n", "")
    arguments = ["--players", "random", "random", "--delay", "0", "--load", str(middle), "--save", str(end), "--max-turns", "9"]
    assert play.main(arguments) == 0
    assert me.load(end).turns == 10
    assert play.main(["--players", "random", "random", "random", "--load", str(middle)]) == 2
    assert "The saved game has 2 players" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--players", "algorithmic", "randon"], "Did you mean 'random'"),
        (["--players", "random"], "num_players=1"),
        (["--rules", "oficial"], "Did you mean 'official'"),
        (["--delay", "-1"], "must not be negative"),
        (["--load", "missing.game"], "missing.game"),
    ],
)
def test_errors_go_to_stderr_with_status_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert play.main(arguments) == 2
    assert message in capsys.readouterr().err


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        play.main(["--help"])
    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    assert all(option in shown for option in ("--players", "--rules", "--delay", "--max-turns", "--load", "human"))
    assert all(preset in shown for preset in me.Rules.presets())
