"""The library, Numba and plain Python play the same games and compute the same numbers.

`make test-slow` compares a few games with plain Python. `make test-jit` compares 20 of each preset
with plain Python and the library, and those of all agents with the library.
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

SOME = ["expert/bargaining", "genetic/esp/recurrent", "ppo/best/two", "strategic/evolved"]
GAMES = 1
OTHERS: dict[str, tuple[list[str], dict[str, int]]] = {"plain": (SOME, {"NUMBA_DISABLE_JIT": 1})}
if os.environ.get("MONOPOLY_ENV_COMPILED") == "0":
    GAMES = 20
    if library.FILE.is_file():
        OTHERS["library"] = list(agents.names()), {"MONOPOLY_ENV_COMPILED": 1}


@pytest.mark.slow
@pytest.mark.parametrize("other", OTHERS)
def test_games_and_numbers_do_not_depend_on_who_carries_out_the_rules(other: str) -> None:
    names, variables = OTHERS[other]
    words = "-m", "tests.executors", GAMES, *names
    done = python(*words, folder=Path(__file__).parents[1], **variables)
    here, there = dict(executors.digests(GAMES, names)), json.loads(done.stdout)
    assert len(here) > 50
    assert {
        name: (found, there[name]) for name, found in here.items() if found != there[name]
    } == {}
