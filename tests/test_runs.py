"""The folder of a run belongs to one process at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from monopoly_env.errors import ConfigurationError
from training.runs import CONFIG, Run

HOLD = """
import sys
from pathlib import Path
from training.runs import Run
Run.open(Path(sys.argv[1]), {"a": 1}, resume=False, overwrite=False)
print("held", flush=True)
sys.stdin.read()
"""


def test_a_folder_that_another_process_is_at_work_in_is_refused_until_that_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        for resume in (True, False):
            with pytest.raises(ConfigurationError, match="Another process is at work in"):
                Run.open(folder, {"a": 1}, resume=resume, overwrite=not resume)
        assert (folder / CONFIG).is_file()
    finally:
        holder.kill()
        holder.communicate()
    Run.open(folder, {"a": 1}, resume=True, overwrite=False)
    Run.open(folder, {"a": 2}, resume=False, overwrite=True)  # the same process again


def test_a_lock_alone_is_no_run(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    Run.open(tmp_path, {"a": 1}, resume=False, overwrite=False)
    assert (tmp_path / CONFIG).is_file()
