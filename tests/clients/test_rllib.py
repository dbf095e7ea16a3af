"""RLlib: our multi-agent environment, played by its runner with its own masked network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

import monopoly_env as me
from monopoly_env.adapters.rllib import MonopolyMultiAgentEnv

STEPS = 1000


def choose(seen: Any, number: int) -> int:
    legal = np.flatnonzero(seen["action_mask"])
    return int(legal[number * 7919 % len(legal)])


@pytest.mark.parametrize("players", [2, 4])
def test_games_are_played_to_their_end(players: int) -> None:
    env = MonopolyMultiAgentEnv({"num_players": players, "rules": me.Rules(max_turns=150)})
    steps, games = 0, 0
    while steps < STEPS or games < 3:
        seen, infos = env.reset(seed=games)
        assert list(seen) == list(infos) == [env.env.agent_selection]
        earned, out = dict.fromkeys(env.possible_agents, 0.0), []
        over = False
        while not over:
            (agent,) = [agent for agent in seen if agent not in out]
            assert seen[agent] in env.observation_spaces[agent]
            seen, rewards, terminated, truncated, infos = env.step(
                {agent: choose(seen[agent], steps)}
            )
            for other, reward in rewards.items():
                earned[other] += reward
            out += [other for other, ended in terminated.items() if ended and other != "__all__"]
            assert not any(truncated.values())
            over = terminated["__all__"]
            steps += 1
        assert sorted(out) == env.possible_agents, "each agent ends once, and the others play on"
        assert me.is_over(env.env.game)
        assert sum(earned.values()) == pytest.approx(0.0, abs=1e-6)
        games += 1


def test_games_are_cut_off_at_the_turn_limit() -> None:
    env = MonopolyMultiAgentEnv({"num_players": 4, "turn_limit": 2})
    seen, _ = env.reset(seed=0)
    terminated, truncated, number = {"__all__": False}, {"__all__": False}, 0
    while not (terminated["__all__"] or truncated["__all__"]):
        (agent,) = seen
        seen, _, terminated, truncated, _ = env.step({agent: choose(seen[agent], number)})
        number += 1
    assert all(truncated.values())
    assert not any(terminated.values())
    assert sorted(seen) == env.possible_agents


@pytest.mark.parametrize("players", [2, 4])
def test_its_runner_and_masked_network_play(players: int) -> None:
    spec = RLModuleSpec(
        ActionMaskingTorchRLModule, model_config={"fcnet_hiddens": [16], "head_fcnet_hiddens": [16]}
    )
    config = (
        PPOConfig()
        .environment(MonopolyMultiAgentEnv, env_config={"num_players": players, "turn_limit": 10})
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **_: "shared")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"shared": spec}))
        .env_runners(num_envs_per_env_runner=1)
        .debugging(seed=0)
    )
    runner = MultiAgentEnvRunner(config=config)
    episodes = runner.sample(num_timesteps=STEPS, random_actions=False)
    assert sum(episode.env_steps() for episode in episodes) >= STEPS
    # how many steps a game takes depends on the untrained network
    (whole,) = runner.sample(num_episodes=1, random_actions=False)
    assert whole.is_done
