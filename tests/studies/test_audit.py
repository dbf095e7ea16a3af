"""The audit: commands know their options and names, pages have the figures."""

from __future__ import annotations

import itertools
import re
import runpy
import sys
from pathlib import Path
from typing import Final

import pytest
from studies.evolution.__main__ import EXPERIMENTS

from agents.players.genetic import KINDS
from monopoly_env.rules import PRESETS
from studies import ocnaru_claims, published, schrum
from tests.test_readme import program_of
from training.evolution.fitness import MEASURES

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "studies" / "data" / "audit.md"
SUMMARY: Final = ROOT / "docs" / "results" / "audit.md"
# item, what is found, where, command
ROWS: Final = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| item |")
]
MEASURED: Final = [row for row in ROWS if not row[1].startswith("left: ")]
COMMANDS: Final = [row[3].strip("`") for row in MEASURED]
# By module and flag, the values that a command takes.
NAMES: Final = {
    ("studies.evolution", "--only"): EXPERIMENTS,
    ("studies.published", "--only"): published.EXPERIMENTS,
    ("studies.ocnaru_claims", "--only"): ocnaru_claims.SECTIONS,
    ("studies.schrum", "--only"): {
        "/".join(cell.split("/")[: end + 1]) for cell in schrum.CELLS for end in range(3)
    },
    ("training.evolve", "--fitness"): MEASURES,
    ("training.evolve", "--genome"): KINDS,
    ("monopoly_env.play", "--rules"): PRESETS,
}  # fmt: skip


@pytest.mark.parametrize("row", MEASURED, ids=[row[0] for row in MEASURED])
def test_figures_stand_on_the_page_that_is_named(row: list[str]) -> None:
    target = re.fullmatch(r"\[[^]]+\]\(([^)#]+)\)", row[2])
    assert target is not None, row[2]
    text = (PAGE.parent / target[1]).read_text(encoding="utf-8")
    figures = re.findall(r"[+-]?\d+\.\d+%?(?: ± \d+\.\d+)?", row[1])
    assert [figure for figure in figures if figure not in text] == []


def test_the_summary_counts_the_items_and_its_figures_stand_on_the_pages_that_it_names() -> None:
    text = SUMMARY.read_text(encoding="utf-8")
    assert f": {len(ROWS)} items," in text
    rows = [line for line in text.splitlines() if line.startswith("| ") and "](" in line]
    assert len(rows) == 5
    for row in rows:
        target = re.search(r"\]\(([^)#]+)", row)
        assert target is not None, row
        page = (SUMMARY.parent / target[1]).read_text(encoding="utf-8")
        figures = re.findall(r"[+-]?\d+\.\d+(?: ± \d+\.\d+)?", row)
        assert [figure for figure in figures if figure not in page] == []


def test_a_row_without_a_command_says_why_it_is_left() -> None:
    assert len(MEASURED) > 25
    assert all(command.startswith("python -m ") for command in COMMANDS)
    assert all(row[2:] == ["", ""] for row in ROWS if row not in MEASURED)


@pytest.mark.parametrize("command", sorted(set(COMMANDS)))
def test_names_are_those_that_the_command_knows(command: str) -> None:
    _, _, module, *words = command.split()
    for flag, value in itertools.pairwise(words):
        if (module, flag) in NAMES:
            assert value in NAMES[module, flag]


# another test imported it
@pytest.mark.filterwarnings("ignore:.* found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("program", sorted({" ".join(program_of(line)[:4]) for line in COMMANDS}))
def test_commands_know_their_options(
    program: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, module, *words = [word for word in program.split() if word != "AGENT"]
    monkeypatch.setattr(sys, "argv", [module, *words, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    assert not ended.value.code
    text = capsys.readouterr().out
    lines = [line for line in COMMANDS if " ".join(program_of(line)[:4]) == program]
    flags = {word for line in lines for word in line.split() if word.startswith("--")}
    assert [flag for flag in flags if flag not in text] == []
