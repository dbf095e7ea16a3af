"""Tianshou: its wrapper of PettingZoo, and its vectors of Gymnasium environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from tianshou.data import Batch
from tianshou.env import DummyVectorEnv, PettingZooEnv

import monopoly_env as me
from monopoly_env import encoding, monopoly_v0

STEPS = 1000


def legal(seen: Any, number: int) -> int:
    actions = np.flatnonzero(seen["mask"])
    return int(actions[number * 7919 % len(actions)])


@pytest.mark.parametrize("players", [2, 4])
def test_its_wrapper_of_pettingzoo(players: int) -> None:
    """An episode ends with the first bankruptcy: the wrapper can't go on after it."""
    env = PettingZooEnv(monopoly_v0.env(players, me.Rules(start_cash=200), turn_limit=20))
    seen, info = env.reset(seed=0)
    ended = 0
    for number in range(STEPS):
        seen, rewards, terminated, truncated, info = env.step(legal(seen, number))
        batch = Batch(seen, info=info)
        assert batch.obs.shape == (encoding.size("standard", players),)
        assert batch.info.heads.shape == (14,)
        assert len(rewards) == players
        if terminated or truncated:
            ended += 1
            seen, info = env.reset()
    assert ended > 0


@pytest.mark.parametrize("players", [2, 4])
def test_its_vectors_of_environments(players: int) -> None:
    options = {"opponents": ["random"] * (players - 1), "turn_limit": 10}
    envs = DummyVectorEnv([lambda: gymnasium.make("monopoly_env/Monopoly-v0", **options)] * 3)
    envs.seed([1, 2, 3])
    _, infos = envs.reset()
    ended = 0
    for number in range(STEPS):
        actions = [legal({"mask": info["action_mask"]}, number) for info in infos]
        observations, _, terminated, truncated, infos = envs.step(np.array(actions))
        assert observations.shape == (3, encoding.size("standard", players))
        assert Batch.stack([Batch(info) for info in infos]).heads.shape == (3, 14)
        over = np.flatnonzero(terminated | truncated)
        if len(over):
            ended += len(over)
            for index, info in zip(over, envs.reset(over)[1], strict=True):
                infos[index] = info
    assert ended > 3
