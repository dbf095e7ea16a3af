"""The command `python -m monopoly_env.play`."""

from __future__ import annotations

import dataclasses
import io
import itertools
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import agents
import monopoly_env as me
from monopoly_env import play, replays
from monopoly_env.replays import Replay
from tests import golden
from tests.play import land
from tests.policies import Historian


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
    assert (
        play.main(["--players", "algorithmic", "random", "random", "--delay", "0", "--seed", "2"])
        == 0
    )
    assert "A (algorithmic) wins." in capsys.readouterr().out


def test_the_same_seed_tells_the_same_story(capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for _ in range(2):
        play.main(["--delay", "0", "--max-turns", "30", "--seed", "4"])
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]


@pytest.mark.parametrize("loaded", [False, True])
def test_policies_are_told_what_was_done(
    loaded: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    historian = Historian("algorithmic")
    agents.register("test/told", lambda: historian)
    me.save(me.new_game(2, seed=5), tmp_path / "a.game")
    more = ["--load", str(tmp_path / "a.game")] if loaded else []
    assert (
        play.main(["--players", "test/told", "random", "--delay", "0", "--max-turns", "20", *more])
        == 0
    )
    assert "Turn 20: " in capsys.readouterr().out
    assert not historian.wrong
    # what came before a saved position is not known
    assert (historian.longest > 20, historian.untold == 0) == (not loaded, not loaded)


def test_a_person_plays_by_number_and_by_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    me.save(land(39, num_players=2), tmp_path / "on_boardwalk.game")
    answer(monkeypatch, "?", "b", "99", "buy Boardwalk", "accept", "BUY", "1", "q")
    assert (
        play.main(
            f"--players human human --delay 0 --load {tmp_path / 'on_boardwalk.game'}".split()
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert "Answer with the number of an action" in shown
    assert "99 is not in the list: 1 to" in shown
    assert "Unknown action 'buy Boardwalk'" in shown
    assert "'accept' is not legal now" in shown
    assert "Boardwalk is for sale at $400." in shown
    assert "A (human) gets Boardwalk and pays $400." in shown
    assert "You left the table." in shown


def test_the_end_of_input_ends_the_game(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(monkeypatch)
    assert play.main(["--players", "human", "human"]) == 1
    # the last word, after the board
    assert capsys.readouterr().err.endswith("No more input: the game is left unfinished.\n")
    assert play.main(["--players", "human"]) == 2
    assert "--players must name 2 to 8 players, not 1" in capsys.readouterr().err


def test_a_game_is_saved_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    middle, end = tmp_path / "middle.game", tmp_path / "end.game"
    answer(monkeypatch, f"s {middle}", "q")
    assert play.main(["--players", "human", "random", "--delay", "0", "--seed", "1"]) == 0
    assert f"Saved to {middle}." in capsys.readouterr().out.replace("\n", "")
    arguments = (
        f"--players random random --delay 0 --load {middle} --save {end} --max-turns 9".split()
    )
    assert play.main(arguments) == 0
    assert me.load(end).turns == 10
    assert play.main(["--players", "random", "random", "random", "--load", str(middle)]) == 2
    assert "The saved game has 2 players" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--players", "algorithmic", "randon"], "Did you mean 'random'"),
        (["--players", "random"], "--players must name 2 to 8 players, not 1"),
        (["--rules", "oficial"], "Did you mean 'official'"),
        (["--delay", "-1"], "must not be negative"),
        (["--load", "missing.game"], "missing.game"),
    ],
)
def test_errors_go_to_stderr_with_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play.main(arguments) == 2
    assert message in capsys.readouterr().err


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        play.main(["--help"])
    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    assert all(
        option in shown
        for option in ("--players", "--rules", "--delay", "--max-turns", "--load", "human")
    )
    assert all(preset in shown for preset in me.Rules.presets())


# --- recorded games


@cache
def recorded() -> Replay:
    """A short recorded game of three who play at random."""
    rules = me.Rules.preset("official", trade="none", max_turns=60)
    actions = golden.played(me.new_game(3, rules, 5))
    return Replay(rules, 5, 3, ("ann", "bob [x]", "cem"), np.array(actions))


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Two recorded games: one cut short, one whole."""
    whole = recorded()
    return str(
        replays.save(
            tmp_path / "games.replay",
            [dataclasses.replace(whole, actions=whole.actions[:40]), whole],
        )
    )


class Terminal(io.StringIO):
    """Somebody at the keys."""

    def isatty(self) -> bool:
        return True


def at_the_keys(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # the console takes its output for a terminal
    monkeypatch.setattr(sys, "stdin", Terminal("".join(f"{line}\n" for line in lines)))


def test_a_recorded_game_is_told_to_its_end(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert play.main(["replay", file, "--game", "2"]) == 0
    shown = capsys.readouterr().out
    assert "Game 2 of 2: A (ann), B (bob [x]), C (cem)" in shown
    assert (
        f"rules official but trade=none, max_turns=60; seed 5; 60 turns, {len(recorded().actions)}"
        " decisions." in shown
    )
    turns = [
        int(line.split()[1].rstrip(":"))
        for line in shown.splitlines()
        if line.startswith("Turn ") and ": " in line
    ]
    assert sorted(set(turns) | {1}) == list(range(1, 61))  # nothing is asked before the first throw
    assert "The game is over." in shown
    winner = me.winner(replays.final(recorded()))
    assert winner is not None
    assert f"{'ABC'[winner]} ({recorded().names[winner]}) wins." in shown
    assert shown.count("|FreePa|") == 1


def test_a_recording_that_was_cut_short_says_so(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play.main(["replay", file]) == 0
    assert "The recording ends here; the game was not over." in capsys.readouterr().out


def test_the_end_by_the_arena_s_limit_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game, actions = replays.start(recorded()), []
    for action in itertools.takewhile(lambda _: game.turns <= 9, recorded().actions):
        actions.append(action)
        me.step(game, int(action))
    path = replays.save(
        tmp_path / "one.replay", [dataclasses.replace(recorded(), actions=actions, turn_limit=3)]
    )
    assert play.main(["replay", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "The game is over." in shown
    assert " wins." in shown


def test_a_turn_to_begin_at_boards_and_words(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        play.main(f"replay {file} --game 2 --from 58 --show-board --text --delay 0.001".split())
        == 0
    )
    shown = capsys.readouterr().out
    assert "Turn 58: " in shown
    assert "Turn 57: " not in shown
    assert shown.count("|FreePa|") >= 3
    assert "Decision of player" in shown
    assert "Bank: " in shown


def test_keys_step_on_back_and_away(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at_the_keys(monkeypatch, "", "30", "b", "t", "?", "0", "back", "10", "q", "never read")
    assert play.main(["replay", file, "--game", "2"]) == 0
    shown = capsys.readouterr().out
    assert shown.index("Turn 30: ") < shown.index("Turn 10: ")
    assert "Turn 29: " not in shown
    assert "Turn 60: " not in shown
    assert "Decision of player" in shown
    assert shown.count("q: quit.") == 3
    assert "Unknown key or turn 'back'; the turns are 1 to 60." in shown
    assert sys.stdin.readline() == "never read\n"


def test_the_rest_without_a_stop_and_no_more_input(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at_the_keys(monkeypatch, "", "a", "left over")
    assert play.main(["replay", file, "--game", "2"]) == 0
    assert "The game is over." in capsys.readouterr().out
    assert sys.stdin.readline() == "left over\n"
    at_the_keys(monkeypatch)
    assert play.main(["replay", file, "--game", "2"]) == 0
    assert "The game is over." not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--game", "3"], "holds 2 recorded games: --game 3"),
        (["--game", "0"], "holds 2 recorded games: --game 0"),
        (["--game", "2", "--from", "61"], "has 60 turns: --from 61"),
        (["--from", "0"], "--from 0"),
        (["--delay", "-1"], "must not be negative"),
    ],
)
def test_wrong_numbers_for_a_recorded_game(
    arguments: list[str], message: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play.main(["replay", file, *arguments]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""


def test_files_without_recorded_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "foreign").write_text("{}")
    for name, message in (("missing", "Cannot read"), ("foreign", "holds no recorded games")):
        assert play.main(["replay", str(tmp_path / name)]) == 2
        shown = capsys.readouterr()
        assert message in shown.err
        assert "Traceback" not in shown.err


def test_help_for_recorded_games_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    options = "FILE --game --from --delay --show-board --text --html --picture"
    for arguments, words in (
        (["replay", "--help"], [*options.split(" "), "Enter shows the"]),
        (["--help"], ["python -m monopoly_env.play replay FILE"]),
    ):
        with pytest.raises(SystemExit) as stopped:
            play.main(arguments)
        assert stopped.value.code == 0
        shown = capsys.readouterr().out
        assert [word for word in words if word not in shown] == []
