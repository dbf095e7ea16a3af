"""All commands: their help without the libraries of extras, and what a missing library is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from agents.arena.counting import GAME_COUNTS, SEAT_COUNTS
from agents.arena.results import Results
from monopoly_env.extras import ExtraError

ROOT: Final = Path(__file__).parents[1]
GUARD: Final = '\nif __name__ == "__main__":'
COMMANDS: Final = sorted(
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__main__")
    for path in (ROOT / "src").rglob("*.py")
    if GUARD in path.read_text(encoding="utf-8")
)
CHILDREN: Final = {"training.bench", "training.bench.kernel"}  # that a command starts, or that another name stands for
WORDS: Final = {  # what chooses one of several helps of a command
    "training.dqn": ("", "--preset ocnaru", "--preset thesis"),
    "training.exploit": ("", "--learner ppo", "--learner dqn"),
    "training.evolve": ("", "--preset mukhar2012", "--preset pring", "--preset schrum", "--preset esp/monopoly"),
    "monopoly_env.bench": ("", "make", "talk", "code"),
    "monopoly_env.puzzles": ("", "prompts", "score"),
    "monopoly_env.play": ("", "replay"),
    "monopoly_env.validate": ("landing", "fuzz"),
}

# Runs programs, each a list of words, where no library of an extra can be imported; prints the exit status and the output of each.
BARE: Final = """
import contextlib, io, json, runpy, sys

extras = set((
    "torch tensorboard cma ray stable_baselines3 sb3_contrib pandas pyarrow matplotlib openskill choix fastapi starlette uvicorn"
    " websockets mcp resvg_py font_lato PIL torchrl tensordict pyspiel textarena"
).split())


class Without:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, *where):
        return None if name.partition(".")[0] in extras else self.finder.find_spec(name, *where)


sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
told = []
for words in json.loads(sys.argv[1]):
    sys.argv, out, status = words, io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        except SystemExit as ended:
            status = ended.code or 0
        except BaseException as error:
            status = repr(error)
    told.append((status, out.getvalue()))
print(json.dumps(told))
"""


def run_bare(programs: list[list[str]], folder: Path) -> list[tuple[int | str, str]]:
    variables = os.environ | {"COLUMNS": "2000", "PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "ignore"}
    words = [sys.executable, "-c", BARE, json.dumps(programs)]
    done = subprocess.run(words, env=variables, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [(status, text) for status, text in json.loads(done.stdout)]


@pytest.fixture(scope="module")
def helps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """By command line, its help, printed where no extra is installed."""
    lines = [f"{name} {words}".strip() for name in COMMANDS if name not in CHILDREN for words in WORDS.get(name, ("",))]
    told = run_bare([[*line.split(), "--help"] for line in lines], tmp_path_factory.mktemp("bare"))
    assert [(line, status) for line, (status, _) in zip(lines, told, strict=True) if status != 0] == []
    return {line: text for line, (_, text) in zip(lines, told, strict=True)}


def test_every_command_explains_itself_without_the_libraries_of_extras(helps: dict[str, str]) -> None:
    assert len(helps) > 30
    for line, text in helps.items():
        assert f"usage: python -m {line.split()[0]}" in text, line


def test_what_needs_an_extra_names_it_before_anything_is_played_or_written(tmp_path: Path) -> None:
    players = "training.tournament --players random random --games 2"
    lines = {
        f"{players} --out folder": "results",
        f"{players} --out table.csv": "results",
        f"{players} --ratings ratings.json": "results",
        "training.dqn --out run": "train",
        "training.dqn --preset ocnaru --out run": "train",
        "training.ppo --out run": "train",
        "training.values --out run": "train",
        "training.maskable_ppo --out run": "sb3",
        "training.exploit random --out run": "evolve",
        "training.exploit random --learner ppo --out run": "train",
        "training.evolve --preset mukhar2012 --out run": "train",
        "training.evolve --preset schrum --out run": "train",
        "training.experts --out data": "results",
        "monopoly_env.serve": "web",
        "monopoly_env.mcp": "mcp",
    }
    told = run_bare([line.split() for line in lines], tmp_path)
    for (line, name), (status, text) in zip(lines.items(), told, strict=True):
        assert status == 2, (line, status, text)
        assert text.startswith(f"error: This needs the extra '{name}': pip install 'monopoly-env[{name}]'"), (line, text)
    assert list(tmp_path.iterdir()) == []


def test_functions_that_need_an_extra_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, nothing = np.zeros(2, np.int16), {"seat_counts": np.zeros((2, 2), SEAT_COUNTS), "game_counts": np.zeros(2, GAME_COUNTS)}
    seats = np.array([[0, 1], [1, 0]], np.int16)
    results = Results(("a", "b"), "official", 0, 9, seats, seats + np.int16(1), whole, whole, whole == 1, **nothing)
    for library in ("pandas", "matplotlib"):
        monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    for call in (results.to_pandas, results.plot):
        with pytest.raises(ExtraError, match=r"pip install 'monopoly-env\[results\]'"):
            call()
