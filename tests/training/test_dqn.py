"""The command `python -m training.dqn`.

Its presets, their help, and how it ends when something goes wrong.
"""

from __future__ import annotations

import ast
import dataclasses
import errno
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from monopoly_env import encoding
from monopoly_env.cli.command import chosen
from monopoly_env.errors import ConfigurationError
from monopoly_env.rules import PRESETS as PRESETS_OF_RULES
from training import dqn, experts
from training.dqn import DEFAULT, PRESETS, main
from training.run.options import settings_of


@pytest.mark.parametrize(
    ("line", "name", "rest"),
    [
        ("", DEFAULT, ""),
        ("--pairs 5 --json", DEFAULT, "--pairs 5 --json"),
        ("--preset dqn", "dqn", ""),
        ("--preset=dqn --steps 5", "dqn", "--steps 5"),
        ("--out runs/a --preset ocnaru --seed 1", "ocnaru", "--out runs/a --seed 1"),
        ("--resume --preset=ocnaru", "ocnaru", "--resume"),
    ],
)
def test_a_preset_is_chosen_by_name_anywhere_in_the_line(line: str, name: str, rest: str) -> None:
    assert chosen(line.split(), PRESETS, DEFAULT) == (name, rest.split())


@pytest.mark.parametrize(
    "line",
    ["--preset ocnarru", "--preset=ocnarru", "--preset", "--preset=", "--pairs 5 --preset --json"],
)
def test_an_unknown_preset_is_refused(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigurationError, match="Unknown preset"):
        chosen(line.split(), PRESETS, DEFAULT)
    assert main(line.split()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: Unknown preset")
    assert ("Did you mean 'ocnaru'" in shown.err) == ("ocnarru" in line)
    assert all(name in shown.err for name in PRESETS)


def explained(options: type) -> dict[str, str]:
    """The fields of a dataclass of options, and the help of each.

    The string under it, or that of its type.
    """
    texts = {}
    for kind in reversed(options.__mro__[:-1]):
        tree = ast.parse(inspect.getsource(kind)).body[0]
        assert isinstance(tree, ast.ClassDef)
        for field, below in zip(tree.body, [*tree.body[1:], None], strict=True):
            if isinstance(field, ast.AnnAssign) and "ClassVar" not in ast.unparse(field):
                assert isinstance(field.target, ast.Name)
                if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                    texts[field.target.id] = str(below.value.value)
    for name, kind in get_type_hints(options, include_extras=True).items():
        if dataclasses.is_dataclass(kind):
            texts |= explained(kind)
        for argument in getattr(kind, "__metadata__", ()):
            texts[name] = argument.help
    return texts


@pytest.mark.parametrize("preset", PRESETS)
def test_help_explains_each_setting(
    preset: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit) as ended:
        main(["--preset", preset, "--help"])
    assert ended.value.code == 0
    said = re.sub(r"[\s│╭╮╰╯─]+", " ", capsys.readouterr().out)
    assert f"Below: the settings of --preset {preset}." in said
    for name, other in PRESETS.items():
        assert f"--preset {name}: {other.about}." in said
    command = PRESETS[preset].load()
    texts = explained(command.kind)
    assert set(texts) == set(settings_of(command.options))
    assert set(texts) > {"out", "seed", "resume", "overwrite", "json"}
    for name, text in texts.items():
        assert f"--{name.replace('_', '-')}" in said
        assert " ".join(text.split()) in said, name


def test_help_lists_what_the_tables_hold(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit):
        experts.main(["--help"])
    said = re.sub(r"[\s│╭╮╰╯─]+", " ", capsys.readouterr().out)
    for table in (PRESETS_OF_RULES, encoding.NAMES):
        assert ", ".join(table) in said


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_refuses_wrong_settings_before_anything_is_written(
    preset: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--preset", preset, "--out", str(tmp_path / "run"), "--seed", "-1"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error: --seed must be ")
    assert not (tmp_path / "run").exists()


# --- how it ends


def no_space(*_: object) -> dict[str, Any]:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupted(*_: object) -> dict[str, Any]:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("execute", "status", "said"),
    [
        (no_space, 2, "No space left on device. Fix that and continue with --resume."),
        (interrupted, 130, "with the same command and --resume"),
    ],
)
def test_what_stops_it_is_printed_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    execute: Callable[..., Any],
    status: int,
    said: str,
) -> None:
    monkeypatch.setattr(dqn, "execute", execute)
    assert main([]) == status
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert shown.err.count("\n") == 1


def test_who_reads_the_help_may_go() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [sys.executable, "-m", "training.dqn", "--help"],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (1, b"")


def test_results_are_a_table_or_one_json_object(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {
        "opponent": "expert",
        "games": 10,
        "wins": 4.0,
        "win_rate": 0.4,
        "low": 0.2,
        "high": 0.7,
        "turns": 80.0,
        "seconds": 1.0,
    }
    stages = [{"stage": 0, "title": "untrained", "decisions": 1234, "opponents": [row]}]
    results = {
        "agent": "a.safetensors",
        "steps": 1234,
        "unit": "decisions",
        "opponents": [row],
        "stages": stages,
    }
    monkeypatch.setattr(dqn, "execute", lambda options, console: results)
    assert main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out) == results
    assert main([]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "untrained" in shown
    assert "1,234" in shown
    assert "expert" in shown


def test_the_presets_are_what_the_command_says() -> None:
    assert DEFAULT in PRESETS
    assert dqn.__doc__ is not None
    for name, preset in PRESETS.items():
        assert callable(preset.load().execute)
        assert name == DEFAULT or f"--preset {name}" in dqn.__doc__
        assert not preset.about.endswith(".")
