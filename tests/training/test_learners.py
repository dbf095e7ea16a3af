"""Learning libraries on the environments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import DummyVecEnv

import monopoly_env  # noqa: F401 - registers the environment

ID = "monopoly_env/Monopoly-v0"


def make(turn_limit: int = 20) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(
        ID, opponents=["random"], rules="ocnaru", reward="net_worth_shaped", turn_limit=turn_limit
    )


def test_maskable_ppo() -> None:
    """A few thousand steps: every action is legal, or the environment would raise.

    The policy moves; a saved one plays alike.
    """
    envs = DummyVecEnv([make, make])
    model = MaskablePPO(
        "MlpPolicy", envs, n_steps=256, batch_size=256, n_epochs=2, seed=0, device="cpu"
    )
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.learn(2_500)
    assert model.num_timesteps >= 2_500
    assert len(model.ep_info_buffer) == 0 or all(
        np.isfinite(info["r"]) for info in model.ep_info_buffer
    )
    assert any(
        (now != then).any() for now, then in zip(model.policy.parameters(), before, strict=True)
    )
    mean, spread = evaluate_policy(model, make(), n_eval_episodes=2, warn=False)
    assert -2.0 <= mean <= 2.0
    assert np.isfinite(spread)


def test_a_saved_model_plays_alike(tmp_path: Path) -> None:
    env = make()
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=1, seed=0, device="cpu"
    )
    model.learn(64)
    model.save(tmp_path / "model")
    loaded = MaskablePPO.load(tmp_path / "model", device="cpu")
    observation, _ = env.reset(seed=1)
    for _ in range(100):
        mask = get_action_masks(env)
        action, _ = model.predict(observation, action_masks=mask, deterministic=True)
        again, _ = loaded.predict(observation, action_masks=mask, deterministic=True)
        assert mask[action]
        assert action == again
        observation, reward, terminated, truncated, _ = env.step(action)
        assert reward == pytest.approx(reward)
        if terminated or truncated:
            observation, _ = env.reset()
