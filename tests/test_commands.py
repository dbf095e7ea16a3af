"""All commands: their help without the libraries of extras, and what a missing library is told."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from rich.console import Console

import agents
import monopoly_env as me
from agents.arena.ratings import Ladder
from agents.arena.results import Results
from monopoly_env import __main__ as script
from monopoly_env import replays
from monopoly_env.cli.extras import ExtraError
from monopoly_env.validate.__main__ import main as validate
from tests.programs import python
from tests.results import results_of

ROOT: Final = Path(__file__).parents[1]
GUARD: Final = '\nif __name__ == "__main__":'
COMMANDS: Final = sorted(
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__main__")
    for path in (ROOT / "src").rglob("*.py")
    if GUARD in path.read_text(encoding="utf-8")
)
# that a command starts, or that another name stands for
CHILDREN: Final = {"monopoly_bench.tasks.code", "monopoly_env"}
WORDS: Final = {  # what chooses one of several helps of a command
    "training.dqn": ("", "--preset ocnaru", "--preset thesis"),
    "training.exploit": ("", "--learner ppo", "--learner dqn"),
    "training.evolve": ("", "--preset mukhar2012", "--preset pring", "--preset esp/monopoly"),
    "monopoly_bench": ("", "make", "talk", "code"),
    "monopoly_bench.puzzles": ("", "prompts", "score"),
    "monopoly_env.play": ("", "replay"),
    "monopoly_env.validate": ("landing", "fuzz"),
}

# Runs programs, each a list of words, where no library of an extra can be imported; prints the exit
# status and the output of each.
BARE: Final = """
import contextlib, io, json, runpy, sys

extras = set((
    "torch tensorboard cma ray stable_baselines3 sb3_contrib pandas pyarrow matplotlib openskill fastapi starlette uvicorn"
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
"""  # noqa: E501


EVERYTHING: Final = BARE.replace("sys.meta_path[:]", "unused")  # with the libraries of extras


def run_bare(
    programs: list[list[str]], folder: Path, code: str = BARE
) -> list[tuple[int | str, str]]:
    path = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    variables = {"COLUMNS": 120, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
    done = python("-c", code, json.dumps(programs), folder=folder, **variables)
    return [(status, text) for status, text in json.loads(done.stdout)]


@pytest.fixture(scope="module")
def helps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """By command line, its help, printed where no extra is installed."""
    lines = [
        f"{name} {words}".strip()
        for name in COMMANDS
        if name not in CHILDREN
        for words in WORDS.get(name, ("",))
    ]
    told = run_bare([[*line.split(), "--help"] for line in lines], tmp_path_factory.mktemp("bare"))
    assert [
        (line, status) for line, (status, _) in zip(lines, told, strict=True) if status != 0
    ] == []
    return {line: text for line, (_, text) in zip(lines, told, strict=True)}


def test_every_command_explains_itself_without_the_libraries_of_extras(
    helps: dict[str, str],
) -> None:
    assert len(helps) > 30
    for line, text in helps.items():
        assert f"usage: python -m {line.split()[0]}" in text, line


def test_the_script_lists_all_commands_and_runs_them(
    helps: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of this checkout, whatever is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    entries = project["entry-points"][script.GROUP]
    pages = {name for name in COMMANDS if name.endswith(".reference")}
    assert set(entries.values()) == set(COMMANDS) - CHILDREN - pages
    monkeypatch.setattr(script, "commands", lambda: entries)
    assert script.main([]) == script.main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in entries:
        assert re.search(rf"^  {name} +[A-Z]", shown, re.MULTILINE), name
    assert max(map(len, shown.splitlines())) <= 120
    assert script.main(["plya"]) == 2
    assert "Unknown command 'plya'. Did you mean 'play'?" in capsys.readouterr().err
    # a process of the script has not imported the command's module
    monkeypatch.delitem(sys.modules, "pente_env.play", raising=False)
    with pytest.raises(SystemExit) as ended:
        script.main(["pente", "--help"])
    assert ended.value.code == 0
    assert "usage: monopoly pente" in capsys.readouterr().out


def test_a_command_of_subcommands_alone_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert (validate([]), validate(["--help"]), validate(["published"])) == (2, 0, 2)
    usage = "usage: python -m monopoly_env.validate {landing,fuzz} [-h] [OPTIONS]"
    assert capsys.readouterr().out.splitlines() == [usage] * 3


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
        "training.exploit random --out run": "evolve",
        "training.exploit random --learner ppo --out run": "train",
        "training.evolve --preset mukhar2012 --out run": "train",
        "training.experts --out data": "results",
        "monopoly_table": "web",
        "monopoly_bench.mcp": "mcp",
    }
    told = run_bare([line.split() for line in lines], tmp_path)
    for (line, name), (status, text) in zip(lines.items(), told, strict=True):
        assert status == 2, (line, status, text)
        assert text.startswith(
            f"error: This needs the extra '{name}': pip install 'monopoly-env[{name}]'"
        ), (line, text)
    assert list(tmp_path.iterdir()) == []


STUDIES: Final = sorted(
    f"studies.{path.parent.name if path.stem == '__main__' else path.stem}"
    for path in (ROOT / "studies").rglob("*.py")
    if GUARD in path.read_text(encoding="utf-8")
)
KINDS: Final = {"INT": "a number", "FLOAT": "a number", "STR": "names", "PATH": "a path"}


def flags_of(text: str) -> dict[str, tuple[str, str]]:
    """The flags of a help: what each takes, as tests/data/flags.md says it, and its text."""
    found = {}
    for flag, told in re.findall(
        r"^  (--[a-z][a-z-]*)(.*?)(?=^ {0,2}\S|\Z)", text, re.MULTILINE | re.DOTALL
    ):
        words = " ".join(told.split())
        takes, _, about = (
            words.partition(" ") if f"--no-{flag[2:]}" not in words else ("", "", words)
        )
        named = [kind for word, kind in KINDS.items() if word in takes] or (
            ["names"] if "{" in takes else [""]
        )
        found[flag] = named[0], re.sub(r"\((default|required).*", "", about).casefold()
    return found


def test_a_flag_means_the_same_in_all_commands(helps: dict[str, str], tmp_path: Path) -> None:
    studies = run_bare([[name, "--help"] for name in STUDIES], tmp_path, EVERYTHING)
    assert [name for name, (status, _) in zip(STUDIES, studies, strict=True) if status != 0] == []
    uses: dict[str, dict[str, tuple[str, str]]] = {}
    for line, text in [*helps.items(), *zip(STUDIES, (text for _, text in studies), strict=True)]:
        for flag, use in flags_of(text).items():
            uses.setdefault(flag, {})[line] = use
    shared = {
        flag
        for flag, lines in uses.items()
        if len({line.split()[0] for line in lines}) > 1 and len(set(lines.values())) > 1
    }
    rows = re.findall(
        r"^\| `(--[a-z-]+)` \| (.*?) ?\| (.*) \|$",
        (ROOT / "tests" / "data" / "flags.md").read_text(),
        re.MULTILINE,
    )
    listed = [flag for flag, _, _ in rows]
    assert (shared - set(listed), set(listed) - shared) == (set(), set())
    assert listed == sorted(listed)
    other = [
        (line, flag, given, about)
        for flag, takes, meaning in rows
        for line, (given, about) in uses[flag].items()
        if given != takes
        or not all(word.casefold() in about for word in re.findall(r"\*\*(.*?)\*\*", meaning))
    ]
    assert other == []


# What a line needs beside the flag that is tried: positional arguments, and other flags without
# which it is not read.
NEEDED: Final = {
    "monopoly_env.analyse": "saved.game",
    "monopoly_bench": "random",
    "monopoly_bench make": "--out x --secret y",
    "monopoly_bench talk": "random random",
    "monopoly_bench code": "kernel.py --run-code",
    "monopoly_bench.puzzles": "--out x.json",
    "monopoly_env.play": "--players random random --max-turns 1",
    "monopoly_env.play replay": "games.replay",
    "training.experts": "--format npz --out run",
    "training.exploit": "random",
    "training.sprt": "random random",
    "training.tournament": "--players random random --games 2",
}
LATE: Final = (  # they say first that they need an extra
    "training.dqn",
    "training.ppo",
    "training.values",
    "training.exploit --learner",
    "monopoly_table",
)
VALID: Final = {"--new-weight", "--factor", "--opponents"}  # flags that may be -1


def test_a_wrong_number_is_told_by_its_flag(helps: dict[str, str], tmp_path: Path) -> None:
    me.save(me.new_game(2), tmp_path / "saved.game")
    game = me.new_game(2)
    action = int(me.legal_actions(game)[0])
    replays.save(
        tmp_path / "games.replay",
        [replays.Replay(me.Rules(), 0, 2, ("a", "b"), np.array([action], np.uint8))],
    )
    (tmp_path / "kernel.py").touch()
    lines, flags = [], []
    for line, text in helps.items():
        numbers = re.findall(
            r"^. (--[a-z-]+)(?: \S+)* (?:\{None\}\|)?(?:INT|FLOAT)", text, re.MULTILINE
        )
        if not line.startswith(LATE):
            tried = [flag for flag in dict.fromkeys(numbers) if flag not in VALID]
            lines += [[*line.split(), *NEEDED.get(line, "").split(), flag, "-1"] for flag in tried]
            flags += tried
    assert len(lines) > 100
    wrong = []
    for line, flag, (status, text) in zip(lines, flags, run_bare(lines, tmp_path), strict=True):
        told = next(
            (sentence for sentence in text.splitlines() if sentence.startswith("error: ")), text
        )
        if status != 2 or f"{flag} " not in told:
            wrong.append((" ".join(line), status, told))
    assert wrong == []


def won_by_first(*names: str) -> Results:
    """Two games of one seed between two policies, in which the seats are changed."""
    return results_of(names, [[0, 1], [1, 0]], [[1, 2], [2, 1]], [0, 0])


def test_result_tables_fit_80_columns_with_whole_names() -> None:
    names = max(agents.names(), key=len), "my_module:" + "a_long_name" * 3
    results = won_by_first(*names)
    out = io.StringIO()
    console = Console(file=out, width=80)
    console.print(Ladder(results).table())
    lucky = replace(results, luck=np.zeros((2, 2)))
    for text in (str(results), str(lucky), out.getvalue()):
        lines = text.splitlines()
        assert max(map(len, lines)) <= 80
        # a long name goes on in the next line
        policies = "".join(line.lstrip("12 ").split(" ")[0] for line in lines)
        assert all(name in policies for name in names)
    assert f"1  {names[0]} " in out.getvalue()
    assert f"\n{names[0]} " in str(results)


def test_the_interval_of_a_table_is_that_between_seeds() -> None:
    # games of one seed say nothing of others, however many they are
    assert "0.0% to 100.0%" in str(won_by_first("a", "b"))


def test_a_policy_shows_its_parameters() -> None:
    assert (
        repr(agents.make("strategic", min_cash_reserve=300))
        == "ScriptedPolicy('strategic', min_cash_reserve=300)"
    )
    assert (
        repr(agents.make("one_ply", draws=3))
        == "OnePlyPolicy('one_ply/best', value='best', draws=3, base='expert')"
    )


def test_functions_that_need_an_extra_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    results = won_by_first("a", "b")
    for library in ("pandas", "matplotlib"):
        monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    for call in (results.to_pandas, results.plot):
        with pytest.raises(ExtraError, match=r"pip install 'monopoly-env\[results\]'"):
            call()
