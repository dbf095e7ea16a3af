"""The programs of examples/ run, on a small budget."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.programs import python

ROOT = Path(__file__).parents[1]


def run(*words: str) -> str:
    """What a program of examples/ prints; its networks run on one thread, as in `one_thread`."""
    return python("-W", "ignore", *words, folder=ROOT, OMP_NUM_THREADS=1).stdout


@pytest.mark.slow
def test_maskable_ppo_imitates_learns_and_plays() -> None:
    small = ["--steps", "512", "--parallel-games", "32", "--rollout", "8"]
    words = ["examples/maskable_ppo.py", *small, "--expert", "strategic", "--expert-games", "8"]
    told = run(*words)
    assert " decisions of strategic: " in told
    assert re.search(r"total_timesteps\s*\|\s*512", told)
    assert told.count("maskable-ppo") >= 2


@pytest.mark.slow
def test_one_file_of_ppo() -> None:
    small = ["--steps", "1024", "--parallel-games", "32", "--rollout", "16", "--epochs", "1"]
    told = run("examples/ppo.py", *small)
    assert re.findall(r"([\d,]+) steps", told) == ["512", "1,024"]
    assert "one-file-ppo" in told
