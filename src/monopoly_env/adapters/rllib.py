"""Monopoly for RLlib: every seat is an agent, `pip install 'monopoly-env[rllib]'`.

    config = PPOConfig().environment(MonopolyMultiAgentEnv, env_config={"num_players": 4})

Only the agent to move observes and acts. Its observation is a dict: `observations`, (D,) float32,
and `action_mask`, float32, the keys of RLlib's `ActionMaskingTorchRLModule`. A bankrupt
agent terminates, with a last observation, and the others play on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from monopoly_env import monopoly_v0
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.cli.extras import extra
from monopoly_env.envs.spaces import MaskedDiscrete, observation_space

with extra("rllib"):
    from ray.rllib.env.multi_agent_env import MultiAgentEnv

__all__ = ["MonopolyMultiAgentEnv"]


class MonopolyMultiAgentEnv(MultiAgentEnv):  # type: ignore[misc]  # RLlib's types are not read
    """A game in which every seat is an agent; the module's docstring describes observations.

    Attributes:
        env: The PettingZoo environment that it plays.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        """Set up a table; `reset` starts the game.

        Args:
            config: Arguments of `monopoly_v0.env`.
        """
        self.env = monopoly_v0.env(**(config or {}))
        self.possible_agents = self.env.possible_agents[:]
        self.agents = self.possible_agents[:]
        mask = spaces.Box(0.0, 1.0, (NUM_ACTIONS,), np.float32)
        seen = spaces.Dict(
            {"action_mask": mask, "observations": observation_space(self.env.encoding.size)}
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, seen)
        # RLlib checks an environment with actions sampled from its spaces: these sample legal ones
        # of the agent to move.
        self.action_mask = np.ones((1, NUM_ACTIONS), np.bool_)
        self.action_spaces = {agent: MaskedDiscrete(self) for agent in self.possible_agents}
        super().__init__()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start a game; the agent to move observes it."""
        super().reset(seed=seed, options=options)
        self.env.reset(seed, options)
        self.agents = self.env.agents[:]
        agent = self.env.agent_selection
        return {agent: self._see_to_move(agent)}, {agent: self.env.infos[agent]}

    def step(self, action_dict: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Carry out the action of the agent to move.

        Returns:
            Observations, rewards, terminations, truncations and infos of the agent to move next and
            of those that are out.
        """
        env = self.env
        env.step(int(action_dict[env.agent_selection]))
        rewards = dict(env.rewards)
        terminated, truncated = dict(env.terminations), dict(env.truncations)
        infos = dict(env.infos)
        out = [agent for agent in env.agents if terminated[agent] or truncated[agent]]
        seen = {agent: self._see(agent) for agent in out}
        for _ in out:
            env.step(None)
        if env.agents:
            seen[env.agent_selection] = self._see_to_move(env.agent_selection)
        self.agents = env.agents[:]
        terminated["__all__"] = not env.agents and not any(truncated.values())
        truncated["__all__"] = any(truncated.values())  # all who are left, at once
        return seen, rewards, terminated, truncated, {agent: infos[agent] for agent in seen}

    def _see_to_move(self, agent: str) -> dict[str, Any]:
        seen = self._see(agent)
        self.action_mask = seen["action_mask"][None] > 0
        return seen

    def _see(self, agent: str) -> dict[str, Any]:
        seen = self.env.observe(agent)
        return {
            "action_mask": seen["action_mask"].astype(np.float32),
            "observations": seen["observation"],
        }

    def render(self) -> Any:
        """The game, as `render_mode` says."""
        return self.env.render()
