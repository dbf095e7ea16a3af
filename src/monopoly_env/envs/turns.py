"""The part of a PettingZoo environment that is of no game: agents, whose turn it is, and ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from monopoly_env.errors import ConfigurationError, GameOverError, nearest, shortened
from monopoly_env.render.drawing import INSTALLED_MODES

Observation: TypeAlias = dict[str, NDArray[Any]]


class TurnEnv(AECEnv[str, Observation, int], ABC):  # type: ignore[misc]  # PettingZoo ships no types
    """Base class of environments in which the players of one game move in turn.

    A subclass calls `_seat` in `__init__` and `_begin` in `reset`, and puts the record of a game
    into `_games`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": list(INSTALLED_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }
    _games: Any = ()  # of one record; none before the first reset

    def _seat(self, players: int, actions: int, seen: spaces.Box) -> None:
        """Name the agents, and set their spaces."""
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self.agents: list[str] = []
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        mask = spaces.Box(0, 1, (actions,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": seen, "action_mask": mask})
            for agent in self.possible_agents
        }
        self.state_space = seen

    def _begin(self) -> None:
        """Put all agents into the game, the first one to move."""
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: self._no_info() for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self.agent_selection = self.agents[0]

    def _no_info(self) -> dict[str, Any]:
        """The info of an agent that is not to move or is out."""
        return {}

    def observation_space(self, agent: str) -> Any:
        """The observation space of an agent, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The action space of an agent, always the same object."""
        return self.action_spaces[agent]

    @property
    def game(self) -> Any:
        """The record of the game. Changing it changes the game.

        Raises:
            ConfigurationError: `reset` was never called.
        """
        if not len(self._games):
            raise ConfigurationError("No game has begun: call reset() first.")
        return self._games[0]

    def last(
        self, observe: bool = True
    ) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward, termination, truncation and info of the agent to move.

        Raises:
            GameOverError: All agents are out.
            ConfigurationError: `reset` was never called.
        """
        if not self.agents:
            _ = self.game
        agent = self._to_move()
        seen = self.observe(agent) if observe else None
        reward, info = self._cumulative_rewards[agent], self.infos[agent]
        return seen, reward, self.terminations[agent], self.truncations[agent], info

    def step(self, action: int | None) -> None:
        """Carry out the action of `agent_selection`; None removes an agent that is out.

        Raises:
            IllegalActionError: The action is not legal (with `illegal="raise"`), or none of the
                action space. The message lists the legal ones; nothing has changed.
            ConfigurationError: It is no whole number, or not None for an agent that is out.
            GameOverError: All agents are out, or `reset` was never called.
        """
        agent = self._to_move()
        if not (self.terminations[agent] or self.truncations[agent]):
            self._act(agent, action)
        elif action is None:
            self._was_dead_step(None)
        else:
            raise ConfigurationError(
                f"{agent} is out: its action must be None, not {shortened(action)}."
            )

    def _to_move(self) -> str:
        if not self.agents:
            raise GameOverError("No agent is left in the game: call reset().")
        return str(self.agent_selection)

    @abstractmethod
    def _act(self, agent: str, action: int | None) -> None:
        """Carry out an action."""

    def _forfeit(self, agent: str) -> None:
        """End the game for all: -1 for the agent, 0 for the others."""
        for other in self.agents:
            self.rewards[other] = 0.0
            self.terminations[other] = True
            self.infos[other] = self._no_info()
        self.rewards[agent] = self._cumulative_rewards[agent] = -1.0
        self._deads_step_first()

    def observe(self, agent: str) -> Observation:
        """The observation of an agent, in new arrays; the mask is 0 unless the agent is to move."""
        if agent not in self._seat_of:
            raise ConfigurationError(
                f"There is no agent {shortened(agent)}. {nearest(agent, self._seat_of)}"
            )
        _, seat = self.game, self._seat_of[agent]
        return {"observation": self._see(seat), "action_mask": self._mask_of(seat)}

    def state(self) -> NDArray[np.float32]:
        """(D,) float32, the table as seat 0 sees it, for a central critic."""
        _ = self.game
        return self._see(0)

    @abstractmethod
    def _see(self, seat: int) -> NDArray[np.float32]:
        """The observation of a seat."""

    @abstractmethod
    def _mask_of(self, seat: int) -> NDArray[np.int8]:
        """The legal actions of a seat; zeros if it is not to move."""

    def close(self) -> None:
        """Do nothing: no resources are held."""
