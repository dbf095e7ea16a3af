"""`python -m studies.schrum`: runs that are there are not played again, and the page says what was found."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from studies.schrum import CELLS, Finished, Options, finished, main, meant, settings_of

from studies import schrum
from training.evolution.schrum import NETWORKS


def test_the_command_runs_a_cell_and_writes_its_section(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, cell = tmp_path / "page.md", "better/fixed/feed_forward"
    words = ["--out", str(tmp_path / "runs"), "--page", str(page), "--threads", "1", "--only", cell]
    assert main([*words, "--runs", "1", "--generations", "2"]) == 0
    (run,) = finished(tmp_path / "runs", cell)
    assert run.generations == len(run.champions) == 2
    evaluation = (run.folder / "evaluation.json").stat().st_mtime_ns
    text = page.read_text()
    assert f"| `{cell}` | 1 | 2 | {run.rates['better-better']:.1%} |" in text
    assert text.count("<!-- begin") == 1  # sections without a run are not there
    assert (tmp_path / "page" / "better.png").is_file()
    page.write_text(text.replace("## 5.3", "My words.\n\n## 5.3"))
    assert main([*words, "--runs", "1", "--generations", "1"]) == 0  # longer than that already
    assert (run.folder / "evaluation.json").stat().st_mtime_ns == evaluation
    assert "My words." in page.read_text()
    assert main([*words, "--runs", "1", "--generations", "3"]) == 0
    assert Finished(run.folder).generations == 3
    (run.folder / "evaluation.json").write_text("{")
    assert main([*words, "--runs", "0"]) == 2
    assert "evaluation.json" in capsys.readouterr().err


def test_cells_are_settings_that_can_be_played() -> None:
    for cell in CELLS:
        settings = settings_of(cell, 3, Options())
        settings.check()
        assert (settings.seed, settings.out) == (3, Path("runs/schrum") / cell / "3")
        assert settings.length == {"two": 2000, "pairs": 900, "better": 2000, "hall": 2000}.get(settings.experiment, 300)
    assert len({dataclasses.replace(settings_of(cell, 0, Options()), out=Path()) for cell in CELLS}) == len(CELLS)
    assert meant(Options(only=("better/fixed",))) == [f"better/fixed/{network}" for network in NETWORKS]
    assert meant(Options()) == list(CELLS)


def test_a_share_has_an_interval_if_there_are_several_runs() -> None:
    assert schrum._share(np.array([0.5])) == "50.0%"
    assert schrum._share(np.array([0.4, 0.6])) == "40.0% and 60.0%"
    assert schrum._share(np.array([0.4, 0.5, 0.6])) == "50.0% ± 24.8"
    assert schrum._share(np.array([0.4, np.nan])) == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [(["--only", "bettr"], "Did you mean 'better'"), (["--runs", "-1"], "--runs -1"), (["--only", "bet"], "Unknown cell")],
)
def test_wrong_options_are_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert message in capsys.readouterr().err
