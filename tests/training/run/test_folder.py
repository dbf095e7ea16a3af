"""The folder of a run: nothing else is ever replaced, and it belongs to one process at a time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from monopoly_env.errors import ConfigurationError
from monopoly_env.kernels.sources import cache_root
from training import dqn, evolve, exploit
from training.experts import ExpertOptions, main
from training.options import PPOOptions
from training.run.folder import CONFIG, Run, locked
from training.run.options import RunOptions
from training.run.session import Session
from training.values.options import ValueOptions

HOLD = """
import sys
from pathlib import Path
from training.run.folder import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Another process is at work in a folder, and is killed."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield
    finally:
        holder.kill()
        holder.communicate()


def test_a_folder_that_another_process_is_at_work_in_is_refused_until_that_is_killed(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    with (
        held(folder),
        pytest.raises(ConfigurationError, match="Another process is at work in"),
        locked(folder),
    ):
        pass
    with locked(folder), locked(folder):
        pass
    assert not folder.exists()


def test_what_another_process_writes_is_not_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data"
    words = ["--games", "2", "--format", "npz", "--out", str(folder)]
    assert main(words) == 0
    kept = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert kept
    with held(folder):
        assert main([*words, "--overwrite"]) == 2
    assert "Another process is at work" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == kept
    assert main([*words, "--overwrite"]) == 0


def test_without_a_place_for_locks_runs_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MONOPOLY_ENV_CACHE", str(tmp_path / "file"))
    assert cache_root() == tmp_path / "file"
    with locked(tmp_path / "run"):
        entered = True
    assert entered


def test_only_a_run_is_ever_replaced(tmp_path: Path) -> None:
    run = Run.open(tmp_path / "run", {"a": 1}, resume=False, overwrite=False)
    run.agent.write_text("weights")
    with pytest.raises(ConfigurationError, match="holds a run: continue it with --resume"):
        Run.open(run.folder, {"a": 1}, resume=False, overwrite=False)
    with pytest.raises(
        ConfigurationError, match=r"begun with other settings: a is 2, was 1; b is 3, was None"
    ):
        Run.open(run.folder, {"a": 2, "b": 3}, resume=True, overwrite=False)
    with pytest.raises(ConfigurationError, match="choose one"):
        Run.open(run.folder, {"a": 1}, resume=True, overwrite=True)
    with pytest.raises(ConfigurationError, match="No run to resume"):
        Run.open(tmp_path / "nowhere", {"a": 1}, resume=True, overwrite=False)
    assert run.agent.read_text() == "weights"
    Run.open(run.folder, {"a": 2}, resume=False, overwrite=True)
    assert not run.agent.exists()
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "one.jpg").write_text("precious")
    with pytest.raises(ConfigurationError, match="is not a run"):
        Run.open(photos, {}, resume=False, overwrite=True)
    assert (photos / "one.jpg").read_text() == "precious"
    with pytest.raises(ConfigurationError, match="Cannot write"):
        Run.open(photos / "one.jpg" / "run", {}, resume=False, overwrite=False)


def test_a_run_that_was_killed_while_it_began_begins_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / f".{CONFIG}.0123456789abcdef").write_text("half of")
    Run.open(folder, {"a": 1}, resume=False, overwrite=False)
    assert [path.name for path in folder.iterdir()] == [CONFIG]


def test_a_run_of_another_learner_is_replaced_with_all_its_files(tmp_path: Path) -> None:
    folder, files = tmp_path / "run", {"pairs": "of rollouts", "shard-*": "of data"}
    Run.open(folder, {"a": 1}, resume=False, overwrite=False, files=files)
    (folder / "pairs").mkdir()
    for name in (
        "pairs/0.npz",
        "shard-7.npz",
        ".shard-8.npz.0123",
        "agent.safetensors",
        "notes.txt",
    ):
        (folder / name).write_text("content")
    # what a learner writes is no setting
    Run.open(folder, {"a": 1}, resume=True, overwrite=False, files=files)
    with pytest.raises(ConfigurationError, match="holds another kind of run"):
        Run.open(folder, {"data": 1}, resume=False, overwrite=True, kind="data")
    assert (folder / "agent.safetensors").exists()
    Run.open(folder, {"b": 1}, resume=False, overwrite=True)
    assert sorted(path.name for path in folder.iterdir()) == [CONFIG, "notes.txt"]


def commands() -> Iterator[tuple[str, RunOptions]]:
    """Every command with a run, and its options: of each preset."""
    yield "ppo", PPOOptions()
    yield "experts", ExpertOptions()
    yield "values", ValueOptions()
    for name, table in (
        ("dqn", dqn.PRESETS),
        ("evolve", evolve.PRESETS),
        ("exploit", exploit.LEARNERS),
    ):
        yield from ((name, preset.load().options) for preset in table.values())


def test_each_command_has_a_folder_of_its_own(tmp_path: Path) -> None:
    owners: dict[Path, set[str]] = {}
    for name, options in commands():
        owners.setdefault(options.out, set()).add(name)
    assert {folder: names for folder, names in owners.items() if len(names) > 1} == {}
    ours, theirs = (replace(options(), out=tmp_path) for options in (PPOOptions, ExpertOptions))
    with Session.open(ours, {"a": 1}, Console(quiet=True), "") as session:
        session.run.agent.write_text("weights")
    refused = pytest.raises(
        ConfigurationError, match="holds another kind of run, 'ppo' and not 'experts'"
    )
    with refused, Session.open(replace(theirs, overwrite=True), {"a": 1}, Console(quiet=True), ""):
        pass
    assert session.run.agent.read_text() == "weights"
    with Session.open(replace(ours, overwrite=True), {"a": 1}, Console(quiet=True), ""):
        assert not session.run.agent.exists()


def test_a_config_that_was_tampered_with_removes_nothing_outside(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    Run.open(
        folder,
        {},
        resume=False,
        overwrite=False,
        files={"../precious": "not ours", "..": "neither"},
    )
    (tmp_path / "precious").write_text("content")
    Run.open(folder, {}, resume=False, overwrite=True)
    assert (tmp_path / "precious").read_text() == "content"
