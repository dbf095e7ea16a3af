"""The command `python -m training.tournament`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents import arena
from agents.arena.games import ARRAYS
from agents.arena.ratings import Ratings, strengths
from agents.arena.results import Results, merge
from agents.registry import BUILT_IN
from monopoly_bench.language_model import LanguageModel
from monopoly_env import replays
from tests.chat import served
from training import tournament
from training.tournament import GAMES

FIELD = ("--players", "algorithmic", "random", "random/no_trades", "--rules", "ocnaru")
TABLES = 3


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tables were played, and after how many to stop as by Ctrl-C: [0, stop]."""
    counts = [0, 10**9]
    play = arena.play

    def counted(*args: Any, **options: Any) -> Results:
        if counts[0] == counts[1]:
            raise KeyboardInterrupt
        counts[0] += 1
        return play(*args, **options)

    monkeypatch.setattr(arena, "play", counted)
    return counts


def without_times(folder: Path) -> dict[str, Any]:
    """What a tournament wrote into its folder, but for its speed."""
    told: dict[str, Any] = json.loads((folder / "ladder.json").read_text())
    return {key: value for key, value in told.items() if "second" not in key}


def test_json_is_one_object_with_the_players(capsys: pytest.CaptureFixture[str]) -> None:
    status = tournament.main(
        [
            "--players",
            "algorithmic",
            "random",
            "--games",
            "20",
            "--rules",
            "ocnaru",
            "--seed",
            "3",
            "--json",
        ]
    )
    told = json.loads(capsys.readouterr().out)
    assert status == 0
    assert (told["rules"], told["seed"], told["games"]) == ("ocnaru", 3, 20)
    assert [row["name"] for row in told["players"]] == ["algorithmic", "random"]
    for row in told["players"]:
        assert row["games"] == 20
        assert row["low"] <= row["win_rate"] == row["wins"] / row["games"] <= row["high"]


def test_the_table_names_everybody(capsys: pytest.CaptureFixture[str]) -> None:
    assert tournament.main([*FIELD, "--games", "6"]) == 0
    shown = capsys.readouterr()
    assert all(name in shown.out for name in ("algorithmic", "random", "random/no_trades"))
    assert "18 games" in shown.out
    assert "18/18" in shown.err  # the bar stays out of the output
    assert "6 games a pair" in shown.out
    assert tournament.main([*FIELD, "--games", "6", "--no-progress"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("players", "size", "games"),
    [("algorithmic random random/no_trades", "3", 6), ("random random", None, 6)],
)
def test_table_sizes(
    players: str, size: str | None, games: int, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "--players",
        *players.split(),
        "--games",
        "6",
        "--json",
        *(["--table-size", size] if size else []),
    ]
    assert tournament.main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["games"] == games


def test_saved_agents_play_and_results_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agents.make("algorithmic", reserve=900.0).save(tmp_path / "mine.safetensors")
    arguments = [
        "--players",
        str(tmp_path / "mine.safetensors"),
        "algorithmic",
        "--games",
        "10",
        "--out",
        str(tmp_path / f"out{GAMES}"),
    ]
    assert tournament.main(arguments) == 0
    assert "algorithmic (2)" in capsys.readouterr().out
    assert Results.load(tmp_path / f"out{GAMES}").games == 10


def test_the_ladder_has_ranks_strengths_and_a_cross_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert tournament.main([*FIELD, "--games", "40", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["rank"] for row in told["players"]] == [1, 2, 3]
    assert told["players"][0]["name"] == "algorithmic"
    for row in told["players"]:
        assert row["points_low"] < row["points"] < row["points_high"]
    assert sum(row["points"] for row in told["players"]) == pytest.approx(0, abs=1e-6)
    crossed = told["cross_table"]
    assert crossed["names"] == [row["name"] for row in told["players"]]
    assert crossed["games"] == [[0, 40, 40], [40, 0, 40], [40, 40, 0]]
    rate = [sum(share for share in row if share is not None) / 2 for row in crossed["share"]]
    assert rate == pytest.approx([row["win_rate"] for row in told["players"]])


def test_the_interval_of_strengths_takes_a_seed_at_all_tables_together() -> None:
    """Tables of the same dice are not independent.

    Copies of one table tell no more than that table.
    """
    one = arena.play(["random", "random/no_trades"], 200, "ocnaru")
    width, width_of_copies = (
        float(np.ptp([fit.low[0], fit.high[0]]))
        for fit in map(strengths, (one, merge([one] * 4, one.names)))
    )
    assert width_of_copies == pytest.approx(width, rel=0.02)


def test_details_are_shown_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    for more, count in (([], 0), (["--details"], 1)):
        assert tournament.main([*FIELD, "--games", "2", *more]) == 0
        assert capsys.readouterr().out.count("mean of a game") == count


def test_a_large_field_has_no_cross_table_in_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tournament, "_WIDTH", 20)  # of a line
    assert tournament.main([*FIELD, "--games", "2"]) == 0
    assert "games a pair" not in capsys.readouterr().out


def test_decisions_of_a_fallback_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    field = [
        "--players",
        "test/model",
        "random",
        "random/no_trades",
        "--games",
        "2",
        "--turn-limit",
        "2",
        "--out",
        str(tmp_path),
    ]
    with served() as stub:
        stub.answers = ["ACTION: fly"] * 9000
        agents.register("test/model", lambda: LanguageModel("tiny", stub.url))
        assert tournament.main([*field, "--json"]) == 0
        shown = capsys.readouterr()
        costs = json.loads(shown.out)["costs"]
        assert list(costs) == ["tiny"]
        decisions = costs["tiny"]["decisions"]
        assert (
            2 * decisions
            == 2 * costs["tiny"]["fallbacks"]
            == costs["tiny"]["calls"]
            == len(stub.requests)
        )
        assert shown.err.count("decides in its place") == 1
    # the tables come from their files
    assert tournament.main([*field, "--resume", "--details"]) == 0
    told = f"tiny: {decisions:,.0f} decisions, {decisions:,.0f} of them by its fallback"
    assert capsys.readouterr().out.count(told) == 2
    loaded = Results.load(tmp_path / "results")
    assert told in str(loaded)
    assert loaded.summary()["costs"] == costs


def test_patterns_are_names(capsys: pytest.CaptureFixture[str]) -> None:
    everybody = tournament.expand(["all"])
    assert set(BUILT_IN) <= set(everybody)
    assert not {"search", "search/best", "one_ply"} & set(everybody)  # they are slow
    assert tournament.expand(["random*", "algorithmic"]) == [
        "random",
        "random/no_trades",
        "algorithmic",
    ]
    assert tournament.expand(["random", "random*", "random"]) == ["random", "random/no_trades"]
    assert tournament.expand(["random", "random"]) == ["random", "random"]  # sits twice
    assert tournament.expand(["*/no_trades"]) == ["random/no_trades"]
    assert tournament.main(["--players", "random*", "--games", "2", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["players"]) == 2


# --- a folder


def test_a_stopped_tournament_goes_on_to_the_same_results(
    played: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    arguments = [*FIELD, "--games", "30", "--seed", "5"]
    assert tournament.main([*arguments, "--out", str(whole)]) == 0
    played[:] = [0, 2]
    assert tournament.main([*arguments, "--out", str(stopped)]) == 130
    assert "go on by --resume" in capsys.readouterr().err
    assert not (stopped / "ladder.json").exists()
    assert len(list((stopped / "tables").glob(f"*{GAMES}"))) == 2
    played[:] = [0, 10**9]
    assert tournament.main([*arguments, "--out", str(stopped), "--resume", "--json"]) == 0
    shown = capsys.readouterr()
    assert played[0] == TABLES - 2
    assert "90/90" in shown.err
    assert without_times(stopped) == without_times(whole)
    told = json.loads(shown.out)
    assert {key: told[key] for key in without_times(whole)} == without_times(whole)
    one, other = (Results.load(folder / f"results{GAMES}") for folder in (whole, stopped))
    assert one.names == other.names
    for array in ARRAYS:
        assert np.array_equal(getattr(one, array), getattr(other, array))


def test_a_finished_tournament_is_shown_again(
    played: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*FIELD, "--games", "4", "--out", str(tmp_path / "run")]
    assert tournament.main(arguments) == 0
    before = without_times(tmp_path / "run")
    assert tournament.main([*arguments, "--resume"]) == 0
    assert played[0] == TABLES
    assert without_times(tmp_path / "run") == before
    assert "12 games" in capsys.readouterr().out


def test_a_broken_table_is_played_again(
    played: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    arguments = [*FIELD, "--games", "4", "--out", str(run)]
    assert tournament.main(arguments) == 0
    before = without_times(run)
    table = run / "tables" / f"0002{GAMES}"
    table.write_bytes(table.read_bytes()[:100])
    assert tournament.main([*arguments, "--resume"]) == 0
    assert played[0] == TABLES + 1
    assert without_times(run) == before
    assert "table 2 is played again" in capsys.readouterr().err


def test_other_settings_are_refused_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, run = tmp_path / "mine.safetensors", str(tmp_path / "run")
    agents.make("algorithmic").save(mine)
    arguments = [
        "--players",
        str(mine),
        "random",
        "--rules",
        "ocnaru",
        "--games",
        "4",
        "--out",
        run,
    ]
    assert tournament.main(arguments) == 0
    assert tournament.main(arguments) == 2
    assert "continue it with --resume, replace it with --overwrite" in capsys.readouterr().err
    assert tournament.main([*arguments, "--resume", "--seed", "3", "--turn-limit", "9"]) == 2
    assert "seed is 3, was 0; turn_limit is 9, was 1000" in capsys.readouterr().err
    assert tournament.main([*arguments, "--resume", "--threads", "1"]) == 0  # decides no result
    agents.make("algorithmic", reserve=900.0).save(mine)
    assert tournament.main([*arguments, "--resume"]) == 2
    assert re.search(r"tournament is \[.*mine.safetensors \w{16}.*was", capsys.readouterr().err)
    assert tournament.main([*arguments, "--overwrite", "--games", "6"]) == 0
    assert Results.load(tmp_path / "run" / "tables" / f"0001{GAMES}").games == 6
    for other in ('{"steps": 1000}', "[]", "{"):
        (tmp_path / "run" / "config.json").write_text(other)
        assert tournament.main([*arguments, "--overwrite"]) == 2
        assert "holds another kind of run" in capsys.readouterr().err


def test_what_is_replaced_leaves_nothing(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert tournament.main([*FIELD, "--games", "2", "--out", str(run)]) == 0
    files_of_three = {path.relative_to(run) for path in run.rglob("*")}
    assert tournament.main([*FIELD[:2], "--games", "2", "--out", str(run), "--overwrite"]) == 2
    # one alone is no field
    assert {path.relative_to(run) for path in run.rglob("*")} == files_of_three
    assert tournament.main([*FIELD[:3], "--games", "2", "--out", str(run), "--overwrite"]) == 0
    assert len({path.relative_to(run) for path in run.rglob("*")}) < len(files_of_three)
    assert [row["name"] for row in without_times(run)["players"]] == ["algorithmic", "random"]


def test_a_folder_of_something_else_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    for more in ([], ["--overwrite"], ["--resume"]):
        assert tournament.main([*FIELD, "--out", str(tmp_path), *more]) == 2
    assert "is not a run" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_the_cross_table_is_drawn(tmp_path: Path) -> None:
    assert tournament.main([*FIELD, "--games", "4", "--out", str(tmp_path / "run")]) == 0
    picture = (tmp_path / "run" / "cross_table.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    width, height = (int.from_bytes(picture[start : start + 4]) for start in (16, 20))
    assert width > 300 < height


def test_games_are_recorded(tmp_path: Path) -> None:
    run = tmp_path / "run"
    arguments = [
        "--players",
        "algorithmic",
        "random",
        "random/no_trades",
        "--games",
        "20",
        "--record",
        "3",
        "--turn-limit",
        "40",
    ]
    assert tournament.main([*arguments, "--out", str(run)]) == 0
    recorded = sorted((run / "replays").iterdir())
    assert [path.name for path in recorded] == [
        "0001_algorithmic_random.replay", "0002_algorithmic_random-no_trades.replay",
        "0003_random_random-no_trades.replay",
    ]  # fmt: skip
    for number, path in enumerate(recorded, 1):
        results = Results.load(run / "tables" / f"{number:04d}{GAMES}")
        loaded = replays.load(path)
        assert len(loaded) == 3
        for game, replay in enumerate(loaded):
            end = replays.final(replay)
            assert replay.names == tuple(results.names[policy] for policy in results.seats[game])
            assert end.place[:2].tolist() == results.place[game].tolist()
            counts = results.game_counts[game]
            assert (end.turns, len(replay.actions)) == (counts["turns"], counts["choices"])


def test_ratings_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ratings.json"
    arguments = [*FIELD, "--games", "10", "--ratings", str(path)]
    assert tournament.main(arguments) == 0
    first = Ratings.load(path)
    assert first.players["algorithmic"].games == 20
    assert first.rows()[0]["name"] == "algorithmic"
    assert tournament.main(arguments) == 0
    assert "has these games already" in capsys.readouterr().err
    assert Ratings.load(path) == first
    assert tournament.main([*arguments, "--seed", "1"]) == 0
    assert Ratings.load(path).players["algorithmic"].games == 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--players", "algorithmic", "randon"], "Did you mean 'random'"),
        (["--players", "algorithmic"], "A table of 2 needs as many policies; 1"),
        (
            ["--players", "algorithmic", "random", "--table-size", "9"],
            "--table-size 9 must be a whole number from 2 to 8",
        ),
        (["--players", "algorithmic", "random", "--rules", "oficial"], "Did you mean 'official'"),
        (["--players", "algorithmic", "random", "--games", "0"], "--games 0 must be"),
        (["--players", "algorithmic", "random", "--turn-limit", "0"], "--turn-limit 0 must be"),
        (["--players", "algorithmic", "random", "--threads", "0"], "--threads 0 must be"),
        (["--players", "algorithmic", "random", "--seed", "-1"], "--seed -1 must be"),
        (
            ["--players", "algorithmic", "random", "--out", "x.pkl"],
            f"--out writes .json, .csv, {GAMES} or a folder",
        ),
        (["--players", "algorithmic", "random", "--resume"], "--resume needs a folder"),
        (
            ["--players", "algorithmic", "random", "--record", "2", "--out", "x.json"],
            "--record needs a folder",
        ),
        (
            ["--players", "algorithmic", "random", "--record", "-1", "--out", "x"],
            "--record -1 must be",
        ),
        (
            ["--players", "algorithmic", "random", "--resume", "--out", "/nowhere/to/be/found"],
            "No run to resume",
        ),
        (["--players", "algorithmic", "missing.safetensors"], "is not a saved policy"),
        (["--players", "algorithmic", "strategik/*"], "No policy matches 'strategik/*'"),
        (["--players", "algorithmic", "random", "--ratings", __file__], "holds no ratings"),
    ],
)
def test_errors_go_to_stderr_with_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
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
    options = (
        "--players",
        "--table-size",
        "--games",
        "--json",
        "--out",
        "--resume",
        "--record",
        "--ratings",
        "agents.names()",
    )
    assert [option for option in options if option not in shown] == []
    assert all(preset in shown for preset in me.Rules.presets())


def test_equal_tournaments_make_equal_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = []
    for folder in ("one", "two"):
        assert (
            tournament.main(
                [*FIELD, "--games", "6", "--record", "1", "--out", str(tmp_path / folder), "--json"]
            )
            == 0
        )
        shown = capsys.readouterr()
        printed.append(shown.out)
        assert re.search(r"\d seconds, [\d,]+ games/s", shown.err)
    assert printed[0] == printed[1]
    first, second = (
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*.*")}
        for root in (tmp_path / "one", tmp_path / "two")
    )
    assert first == second
    assert {path.suffix for path in first} >= {".json", ".parquet", ".replay", ".png"}
