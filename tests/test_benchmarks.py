"""The benchmarks run and report what they measured. How fast it is, no test asserts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import pente, playouts, run
from benchmarks.run import Figure, Sample, Target

from monopoly_env.errors import ConfigurationError
from monopoly_env.kernels.sources import cache_folder


@pytest.mark.parametrize(
    "parts",
    [("random", "scripted"), ("vector", "aec", "gym"), ("encode", "record"), ("evolution",)],
    ids=" ".join,
)
def test_parts_are_measured_and_reported(
    parts: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.main(["--quick", "--only", *parts, "--out", str(tmp_path), "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert results == json.loads((tmp_path / "speed.json").read_text(encoding="utf-8"))
    assert {row["name"].split("/")[0] for row in results["figures"]} == set(parts)
    for row in results["figures"]:
        assert row["samples"]
        assert any(value and value > 0 for value in (row["cpu_one_thread"], row["wall_all_cores"]))
    page = (tmp_path / "speed.md").read_text(encoding="utf-8")
    assert all(row["what"] in page for row in results["figures"])
    assert results["machine"] in page


@pytest.mark.parametrize("program", run.FIRST_GAMES)
def test_first_games_run(program: str) -> None:
    run.run_program(run.FIRST_GAMES[program], str(cache_folder("monopoly_env.core").parent))


@pytest.mark.slow
def test_playouts_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert playouts.main(["--quick", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert len(figures) == 10
    assert all(min(figure["two"], figure["four"]) > 0 for figure in figures)
    assert playouts.main(["--repeats", "0"]) == 2


def test_pente_is_measured() -> None:
    figures = list(pente.measure(pente.Options(quick=True)))
    assert len(figures) == 16
    assert all(figure.best_games >= figure.games > 0 for figure in figures)


def test_every_part_has_figures() -> None:
    assert {name.split("/")[0] for name in run.FIGURES} == set(run.SUITES)


def test_targets() -> None:
    rate = Figure("", "games/s", Target(100.0), Target(200.0, "wall"))
    assert rate.reaches(Target(100.0), Sample(cpu=100.0, wall=1.0))
    assert not rate.reaches(Target(200.0, "wall"), Sample(cpu=300.0, wall=199.0))
    assert not rate.reaches(Target(200.0, "wall"), Sample(cpu=300.0))
    delay = Figure("", "s")
    assert delay.reaches(Target(3.0, "wall"), Sample(wall=3.0))
    assert not delay.reaches(Target(3.0, "wall"), Sample(wall=3.1))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (1_472.0, "1,472"),
        (6_182_345.6, "6,180,000"),
        (35.149, "35.1"),
        (0.7404, "0.740"),
        (7.06, "7.06"),
    ],
)
def test_numbers_have_three_digits_that_count(value: float | None, text: str) -> None:
    assert run.number(value) == text


def test_the_median_counts() -> None:
    row = run.report({"aec": [Sample(9.0), Sample(70.0), Sample(7.0)]}, {})["figures"][0]
    assert row["cpu_one_thread"] == 9.0
    assert (row["accepted_met"], row["aimed_met"]) == (True, True)
    assert row["wall_all_cores"] is None


@pytest.mark.parametrize(
    ("option", "value", "hint"), [("--only", "vectr", "vector"), ("--repeats", "0", "1 or more")]
)
def test_wrong_options(
    option: str, value: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run.main([option, value])
    assert hint in capsys.readouterr().err


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert run.main(["--quick", "--only", "record", "--out", str(tmp_path / "file")]) == 2
    assert "Cannot write" in capsys.readouterr().err


def test_the_report_goes_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- speed -->\nold\n<!-- /speed -->\nafter\n", encoding="utf-8")
    run.put_into(page, "new\n")
    assert (
        page.read_text(encoding="utf-8") == "before\n<!-- speed -->\nnew\n<!-- /speed -->\nafter\n"
    )
    page.write_text("no marks", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="speed"):
        run.put_into(page, "new\n")
