"""The library, Numba and plain Python play the same games and compute the same numbers.

`make test` compares a few games with plain Python, `make test-jit` all with the others.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import agents
from monopoly_env.kernels import library
from tests import executors
from tests.programs import python

OTHERS = {"plain": {"NUMBA_DISABLE_JIT": 1}}
GAMES = 1
NAMES = ["expert/bargaining", "genetic/esp/recurrent", "ppo/best/two", "strategic/evolved"]
if os.environ.get("MONOPOLY_ENV_COMPILED") == "0":
    GAMES, NAMES = 20, list(agents.names())
    if library.FILE.is_file():
        OTHERS["library"] = {"MONOPOLY_ENV_COMPILED": 1}


@pytest.mark.parametrize("other", OTHERS)
def test_games_and_numbers_do_not_depend_on_who_carries_out_the_rules(other: str) -> None:
    words = "-m", "tests.executors", GAMES, *NAMES
    done = python(*words, folder=Path(__file__).parents[1], **OTHERS[other])
    here, there = dict(executors.digests(GAMES, NAMES)), json.loads(done.stdout)
    assert len(here) > 50
    assert {
        name: (found, there[name]) for name, found in here.items() if found != there[name]
    } == {}
