"""The programs of examples/ run, on a small budget."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_one_file_of_ppo() -> None:
    small = ["--steps", "1024", "--parallel-games", "32", "--rollout", "16", "--epochs", "1"]
    command = [sys.executable, "-W", "ignore", "examples/ppo.py", *small]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"([\d,]+) steps", done.stdout) == ["512", "1,024"]
    assert "one-file-ppo" in done.stdout
