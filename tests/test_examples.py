"""The programs of examples/ run, on a small budget."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*words: str) -> str:
    """What a program of examples/ prints."""
    command = [sys.executable, "-W", "ignore", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_maskable_ppo_imitates_learns_and_plays() -> None:
    small = ["--steps", "512", "--parallel-games", "32", "--rollout", "8"]
    words = ["examples/maskable_ppo.py", *small, "--expert", "strategic", "--expert-games", "8"]
    told = run(*words)
    assert " decisions of strategic: " in told
    assert re.search(r"total_timesteps\s*\|\s*512", told)
    assert told.count("maskable-ppo") >= 2


def test_one_file_of_ppo() -> None:
    small = ["--steps", "1024", "--parallel-games", "32", "--rollout", "16", "--epochs", "1"]
    told = run("examples/ppo.py", *small)
    assert re.findall(r"([\d,]+) steps", told) == ["512", "1,024"]
    assert "one-file-ppo" in told
