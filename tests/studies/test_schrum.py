"""The command `python -m studies.schrum`.

Runs that are there are not played again, and the page says what was found.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from studies.pente_esp import NETWORKS
from studies.schrum import CELLS, SHORT, Finished, Options, SavedRuns, main, meant, settings_of

from studies import schrum


def test_the_command_runs_a_cell_and_writes_its_section(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, kept, cell = tmp_path / "page.md", tmp_path / "kept.jsonl", "better/fixed/feed_forward"
    words = (
        f"--out {tmp_path / 'runs'} --page {page} --finished {kept} --threads 1 --only {cell}"
    ).split()
    assert main([*words, "--runs", "1", "--generations", "2"]) == 0
    (run,) = SavedRuns(kept).finished(cell)
    assert run.generations == len(run.champions) == 2
    assert run.middles.tolist() == [1, 2]
    text = page.read_text()
    assert f"| `{cell}` | 1 | 2 | {run.rates['better-better']:.1%} |" in text
    assert text.count("<!-- begin") == 1  # sections without a run are not there
    assert (tmp_path / "page" / "better.png").is_file()
    (chance,) = run.by_chance.values()
    assert (
        f"| `{cell}` | 1 | better-better | {run.rates['better-better']:.1%} | {chance:.1%} |"
        in text
    )
    assert text.count("From each seat") == 1
    page.write_text(text.replace("## 5.3", "My words.\n\n## 5.3"))
    shutil.rmtree(tmp_path / "runs")
    # longer than that already, though its folder is gone
    assert main([*words, "--runs", "1", "--generations", "1"]) == 0
    assert not (tmp_path / "runs").exists()
    assert "My words." in page.read_text()
    assert main([*words, "--runs", "1", "--generations", "3"]) == 0
    assert [run.generations for run in SavedRuns(kept).finished(cell)] == [3]
    assert main([*words, "--runs", "2", "--generations", "2"]) == 0
    assert [run.generations for run in SavedRuns(kept).finished(cell)] == [3, 2]  # runs add up
    kept.write_text(kept.read_text().replace(run.settings, "of other settings"))
    assert [run.generations for run in SavedRuns(kept).finished(cell)] == [2]
    kept.write_text("{")
    assert main([*words, "--runs", "0"]) == 2
    assert "kept.jsonl" in capsys.readouterr().err


def test_saved_runs_have_todays_settings() -> None:
    """Others are ignored: after a change of names alone, their digests must be written anew."""
    saved, seeds = SavedRuns(schrum.FINISHED), dict[str, int]()
    for line in schrum.FINISHED.read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        seeds.setdefault(run["cell"], run["seed"])
    assert len(seeds) > 50
    assert [cell for cell, seed in seeds.items() if saved.find(cell, seed) is None] == []


def test_a_long_run_is_kept_in_a_hundred_parts(tmp_path: Path) -> None:
    settings = settings_of("better/fixed/recurrent", 0, Options())
    test = {"opponents": "two", "games": 30, "win_rate": 0.5, "wins_by_seat": [10, 4, 1]}
    (tmp_path / "evaluation.json").write_text(json.dumps({"generations": 250, "tests": [test]}))
    lines = [
        "generation,champion/two-1,champion/two-2",
        *(f"{number},{number / 250},0.5" for number in range(1, 251)),
    ]
    (tmp_path / "curves.csv").write_text("\n".join(lines))
    run = Finished.of_folder(tmp_path, settings)
    # of three generations each, and one of the last
    assert len(run.champions) == len(run.middles) == 84
    assert run.middles[[0, 1, -1]].tolist() == [2, 5, 250]
    assert run.champions == pytest.approx((run.middles / 250 + 0.5) / 2, abs=1e-4)
    assert run.settings != schrum.digest(settings_of("better/fixed/recurrent", 1, Options()))
    assert run.all_won == {"two-1": 250, "two-2": 0}
    # of the last 63 generations
    assert run.least == {"two-1": pytest.approx(188 / 250), "two-2": 0.5}
    assert run.seats == {"two": [1.0, 0.4, 0.1]}


def test_the_page_says_when_champions_first_won_all_games() -> None:
    runs = [
        Finished(9, {}, [], "", {"a": first, "b": 0}, {"a": least, "b": 0.5})
        for first, least in ((3, 1.0), (8, 0.9), (0, 0.9))
    ]
    # the last was kept without
    _, rows = schrum.perfection({"cell": [*runs, Finished(9, {}, [], "")]})
    assert rows.splitlines()[2:] == ["| `cell` | a | 2 of 3 | 6 (3 to 8) | 1 |"]
    assert schrum.perfection({"cell": runs[1:2]})[1].splitlines()[2:] == [
        "| `cell` | a | 1 of 1 | 8 | 0 |"
    ]
    assert schrum.perfection({"cell": runs[2:]}) == []


def test_the_page_compares_builders_by_chance_where_a_run_met_others() -> None:
    runs = [Finished(9, {"a": rate}, [], "", by_chance={"a": 0.25}) for rate in (0.5, 1.0)]
    (text,) = schrum.against_chance({"cell": [*runs, Finished(9, {"a": 0.0}, [], "")]})
    assert text.splitlines()[-1] == "| `cell` | 2 | a | 50.0% and 100.0% | 25.0% and 25.0% |"
    assert schrum.against_chance({"old": [Finished(9, {"a": 0.0}, [], "")]}) == []


def test_the_page_says_what_was_won_from_each_seat() -> None:
    runs = [Finished(9, {}, [], "", seats={"a": [first, 0.5]}) for first in (0.5, 1.0)]
    _, rows = schrum.won_by_seat(
        {"cell": [*runs, Finished(9, {}, [], "")], "old": [Finished(9, {}, [], "")]}, ["a", "b"]
    )
    assert rows.splitlines()[2:] == ["| `cell` | 2 | 75% / 50% |  |"]
    assert schrum.won_by_seat({"old": [Finished(9, {}, [], "")]}, ["a"]) == []


def test_cells_are_settings_that_can_be_played() -> None:
    for cell in CELLS:
        settings = settings_of(cell, 3, Options())
        settings.check()
        assert (settings.seed, settings.out) == (3, Path("runs/schrum") / cell / "3")
        section, short = cell.split("/")[0], "/short/" in cell
        lengths = SHORT if short else {"two": 2000, "pairs": 900, "better": 2000, "memory": 60}
        assert settings.length == lengths.get(section, 100)
        assert settings_of(cell, 3, Options(generations=7)).length == 7
    assert len(
        {dataclasses.replace(settings_of(cell, 0, Options()), out=Path()) for cell in CELLS}
    ) == len(CELLS)
    assert meant(Options(only=("better/fixed",))) == [
        f"better/fixed/{network}" for network in NETWORKS
    ]
    assert meant(Options()) == list(CELLS)


def test_a_share_has_an_interval_if_there_are_several_runs() -> None:
    assert schrum.share_of_runs(np.array([0.5])) == "50.0%"
    assert schrum.share_of_runs(np.array([0.4, 0.6])) == "40.0% and 60.0%"
    assert schrum.share_of_runs(np.array([0.4, 0.5, 0.6])) == "50.0% ± 24.8"
    assert schrum.share_of_runs(np.array([0.4, np.nan])) == ""
