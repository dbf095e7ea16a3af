"""The folder of a run belongs to one process at a time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from monopoly_env.errors import ConfigurationError
from monopoly_env.kernels import cache_root
from training.experts import main
from training.run.folder import alone

HOLD = """
import sys
from pathlib import Path
from training.run.folder import alone
with alone(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Another process is at work in a folder, and is killed."""
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield
    finally:
        holder.kill()
        holder.communicate()


def test_a_folder_that_another_process_is_at_work_in_is_refused_until_that_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with held(folder), pytest.raises(ConfigurationError, match="Another process is at work in"), alone(folder):
        pass
    with alone(folder), alone(folder):
        pass
    assert not folder.exists()


def test_what_another_process_writes_is_not_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_without_a_place_for_locks_runs_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MONOPOLY_ENV_CACHE", str(tmp_path / "file"))
    assert cache_root() == tmp_path / "file"
    with alone(tmp_path / "run"):
        entered = True
    assert entered
