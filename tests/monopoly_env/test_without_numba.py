"""The library compiled ahead of time, in a process that cannot import Numba."""

from __future__ import annotations

from pathlib import Path

import pytest

from monopoly_env.kernels import library
from tests.monopoly_env.test_editions import seaside
from tests.programs import python

BLOCKED = """
import sys

sys.modules["numba"] = None
"""
PLAY = f"""{BLOCKED}
import numpy as np
import agents, monopoly_env as me
from monopoly_env import monopoly_v0
from monopoly_env.envs.vector import VectorMonopoly
from pente_env.matches import play

print(agents.arena.play(["random", "ppo/best/two"], games=6, seed=7))
game = me.new_game(3, seed=1)
assert len(me.rollout(game, "expert", n=4).shares)
environment = monopoly_v0.env(num_players=3)
environment.reset(seed=1)
environment.step(int(np.flatnonzero(environment.last()[0]["action_mask"])[0]))
VectorMonopoly(4).reset(seed=1)
print(play(["better", "capturer"], games=4))
"""
OWN = f"""{BLOCKED}
from monopoly_env.policy.protocol import policy_kernel

def lazy(game, mask, params, memory):
    return 0

policy_kernel(lazy).handle
"""


@pytest.fixture
def _with_library() -> None:
    number = library.number("monopoly_env.core._apply")
    if number is None:
        pytest.skip("no compiled library of these sources: make compile")


@pytest.mark.usefixtures("_with_library")
def test_games_are_played() -> None:
    out = python("-c", PLAY, MONOPOLY_ENV_COMPILED="1").stdout
    assert "ppo/best/two" in out
    assert "capturer" in out


@pytest.mark.usefixtures("_with_library")
def test_a_policy_of_ones_own_needs_the_extra() -> None:
    error = python("-c", OWN, status=1, MONOPOLY_ENV_COMPILED="1").stderr.splitlines()[-1]
    assert "policy kernel lazy needs the extra 'jit': pip install 'monopoly-env[jit]'" in error


@pytest.mark.usefixtures("_with_library")
def test_an_edition_of_ones_own_needs_the_extra(tmp_path: Path) -> None:
    program = f"{BLOCKED}\nimport monopoly_env"
    editions = seaside(tmp_path / "editions")
    done = python(
        "-c", program, status=1, MONOPOLY_ENV_COMPILED="1", MONOPOLY_ENV_EDITIONS=editions
    )
    error = done.stderr.splitlines()[-1]
    assert "is not in the compiled library for these sources and boards" in error
    assert "pip install 'monopoly-env[jit]'" in error


def test_without_a_library_one_sentence_names_both_ways_out() -> None:
    done = python("-c", f"{BLOCKED}\nimport monopoly_env", status=1, MONOPOLY_ENV_COMPILED="0")
    error = done.stderr.splitlines()[-1]
    assert f"Without a compiled library for {library.system()}" in error
    assert "pip install 'monopoly-env[jit]'" in error
    assert "a wheel for this system" in error


def test_plain_python_needs_no_numba() -> None:
    program = f"{BLOCKED}\nimport monopoly_env as me\nprint(me.digest(me.new_game(2, seed=3)))"
    assert python("-c", program, NUMBA_DISABLE_JIT="1").stdout.strip()
