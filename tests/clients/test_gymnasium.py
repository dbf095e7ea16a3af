"""The environments at the Gymnasium of this installation.

The oldest that pyproject.toml permits, or what RLlib pins.
"""

from __future__ import annotations

from importlib.metadata import version

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from pettingzoo.test import api_test

from monopoly_env import monopoly_v0

ID = "monopoly_env/Monopoly-v0"
STEPS = 1000


def test_it_is_an_old_gymnasium() -> None:
    assert version("gymnasium").startswith("1.2.")


@pytest.mark.parametrize("players", [2, 4])
def test_checkers(players: int, capsys: pytest.CaptureFixture[str]) -> None:
    check_env(gymnasium.make(ID, opponents=["random"] * (players - 1)).unwrapped)
    api_test(monopoly_v0.env(players), num_cycles=STEPS)
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize("players", [2, 4])
def test_vector_environments_play_the_games_of_single_ones(
    players: int, mode: AutoresetMode
) -> None:
    options = {"opponents": ["random"] * (players - 1), "turn_limit": 10}
    native = gymnasium.make_vec(
        ID, num_envs=3, vectorization_mode="vector_entry_point", autoreset_mode=mode, **options
    )
    single = gymnasium.make_vec(
        ID, num_envs=3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **options
    )
    infos, _ = native.reset(seed=4)[1], single.reset(seed=4)
    ended = 0
    for _ in range(STEPS):
        actions = infos["action_mask"].argmax(axis=1)
        observations, *results, infos = native.step(actions)
        same, *expected, _ = single.step(actions)
        assert (observations == same).all()
        assert all(
            (result == wanted).all() for result, wanted in zip(results, expected, strict=True)
        )
        ended += np.logical_or(*results[1:]).sum()
    assert ended > 3


def test_infos_become_tensors() -> None:
    env = gymnasium.wrappers.NumpyToTorch(gymnasium.make(ID, opponents=["random"]))
    _, info = env.reset(seed=0)
    for _ in range(50):
        *_, terminated, truncated, info = env.step(info["action_mask"].argmax())
        assert {key: tuple(value.shape) for key, value in info.items()} == {
            "action_mask": (205,), "decision": (), "heads": (14,), "seat": (),
        }  # fmt: skip
        if terminated or truncated:
            _, info = env.reset()
