"""The command `python -m training.tournament`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import agents
import monopoly_env as me
from agents.results import Results
from training import tournament


def test_json_is_one_object_with_the_players(capsys: pytest.CaptureFixture[str]) -> None:
    status = tournament.main(["--players", "algorithmic", "random", "--games", "20", "--rules", "ocnaru", "--seed", "3", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert status == 0
    assert (told["rules"], told["seed"], told["games"]) == ("ocnaru", 3, 20)
    assert [row["name"] for row in told["players"]] == ["algorithmic", "random"]
    for row in told["players"]:
        assert row["games"] == 20
        assert row["low"] <= row["win_rate"] == row["wins"] / row["games"] <= row["high"]


def test_the_table_names_everybody(capsys: pytest.CaptureFixture[str]) -> None:
    assert tournament.main(["--players", "algorithmic", "random", "random/no_trades", "--games", "6"]) == 0
    shown = capsys.readouterr()
    assert all(name in shown.out for name in ("algorithmic", "random", "random/no_trades"))
    assert "18 games" in shown.out
    assert "18/18" in shown.err  # the bar stays out of the output


@pytest.mark.parametrize(("players", "size", "games"), [("algorithmic random random/no_trades", "3", 6), ("random random", None, 6)])
def test_table_sizes(players: str, size: str | None, games: int, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--players", *players.split(), "--games", "6", "--json", *(["--table-size", size] if size else [])]
    assert tournament.main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["games"] == games


def test_saved_agents_play_and_results_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agents.make("algorithmic", reserve=900.0).save(tmp_path / "mine.safetensors")
    arguments = ["--players", str(tmp_path / "mine.safetensors"), "algorithmic", "--games", "10", "--out", str(tmp_path / "out.npz")]
    assert tournament.main(arguments) == 0
    assert "algorithmic (2)" in capsys.readouterr().out
    assert Results.load(tmp_path / "out.npz").games == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--players", "algorithmic", "randon"], "Did you mean 'random'"),
        (["--players", "algorithmic"], "A table of 2 needs as many policies; 1"),
        (["--players", "algorithmic", "random", "--rules", "oficial"], "Did you mean 'official'"),
        (["--players", "algorithmic", "random", "--games", "0"], "games must be"),
        (["--players", "algorithmic", "random", "--out", "x.pkl"], "--out writes .json, .csv, .npz"),
        (["--players", "algorithmic", "missing.safetensors"], "is not a saved policy"),
    ],
)
def test_errors_go_to_stderr_with_status_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert tournament.main(arguments) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        tournament.main(["--help"])
    assert stopped.value.code == 0
    shown = capsys.readouterr().out
    assert all(option in shown for option in ("--players", "--table-size", "--games", "--json", "--out", "agents.names()"))
    assert all(preset in shown for preset in me.Rules.presets())
