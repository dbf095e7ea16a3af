"""The PettingZoo environment. The docstring of `pente_v0` is its user documentation."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from monopoly_env.errors import ConfigurationError, GameOverError, check_illegal, nearest, shortened
from monopoly_env.kernels import entry
from pente_env import core
from pente_env.game import NOBODY, Game, Games, empty_games
from pente_env.lines import LEGAL, write_points
from pente_env.loop import FORFEIT, chosen_point
from pente_env.observation import check_encoding, length_of, observe_known
from pente_env.render import INSTALLED_MODES, check_render_mode, render
from pente_env.rules import Rules

Observation: TypeAlias = dict[str, NDArray[Any]]


@entry()
def _write_mask(games: Games, mask: Any) -> None:
    write_points(games[0], games[0].player, LEGAL, mask)


class PenteAEC(AECEnv[str, Observation, int]):  # type: ignore[misc]  # PettingZoo ships no types
    """A PettingZoo environment.

    `pente_v0` documents observations, actions, rewards and arguments.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "name": "pente_v0",
        "render_modes": list(INSTALLED_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        num_players: int = 2,
        rules: Rules | str = "schrum",
        encoding: str = "standard",
        render_mode: str | None = None,
        *,
        illegal: Literal["raise", "penalize", "random"] = "raise",
    ) -> None:
        """Set up a table; `reset` starts the game. The arguments are those of `pente_v0.env`."""
        super().__init__()
        players = core.check_players(num_players)
        self.rules = Rules.coerce(rules)
        self.encoding = check_encoding(encoding)
        self.render_mode = check_render_mode(render_mode)
        self.illegal = check_illegal(illegal)
        points = self.rules.size**2
        seen = spaces.Box(0.0, 1.0, (length_of(encoding, self.rules.size),), np.float32)
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self.agents: list[str] = []
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.action_spaces = {agent: spaces.Discrete(points) for agent in self.possible_agents}
        mask = spaces.Box(0, 1, (points,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": seen, "action_mask": mask})
            for agent in self.possible_agents
        }
        self.state_space = seen
        self._games: Games = empty_games(0)  # none before the first reset

    def observation_space(self, agent: str) -> Any:
        """The observation space of an agent: the same object on every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The action space of an agent: the same object on every call."""
        return self.action_spaces[agent]

    @property
    def game(self) -> Game:
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

        They are as in PettingZoo.

        Raises:
            GameOverError: All agents are out.
            ConfigurationError: `reset` was never called.
        """
        _ = self.game, self._to_move()
        return super().last(observe)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game.

        Args:
            seed: 0 to 2**64 - 1, of the game: for players that draw random numbers from it. The
                rules leave nothing to chance.
            options: There are none; the argument is ignored, as PettingZoo's own test of
                environments demands.

        Raises:
            ConfigurationError: The seed is out of range.
        """
        given = int(np.random.default_rng().integers(1 << 63)) if seed is None else seed
        self._games = core.new_games([given], len(self.possible_agents), self.rules)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self.agent_selection = self.agents[0]

    def step(self, action: int | None) -> None:
        """Put a stone of `agent_selection`. None removes an agent that is terminated.

        Raises:
            IllegalActionError: The point is not legal (with `illegal="raise"`), or not on the
                board. The message lists those that are; nothing has changed.
            ConfigurationError: The action is not a whole number, or is not None for an agent that
                is out.
            GameOverError: All agents are out, or `reset` was never called.
        """
        agent = self._to_move()
        if self.terminations[agent]:
            if action is not None:
                raise ConfigurationError(
                    f"{agent} is out: its action must be None, not {shortened(action)}."
                )
            self._was_dead_step(None)
            return
        game, point = self.game, chosen_point(self._games, action, self.illegal)
        if point == FORFEIT:
            self._forfeit(agent)
            return
        core.step(game, point)
        self._cumulative_rewards[agent] = 0.0
        if core.is_over(game):
            self._end(int(game.winner))
        else:
            self.agent_selection = self.possible_agents[game.player]

    def _to_move(self) -> str:
        if not self.agents:
            raise GameOverError("No agent is left in the game: call reset().")
        return str(self.agent_selection)

    def _forfeit(self, agent: str) -> None:
        """End the game for all: -1 for the agent, 0 for the others."""
        self.rewards[agent] = self._cumulative_rewards[agent] = -1.0
        self.terminations = dict.fromkeys(self.agents, True)
        self._deads_step_first()

    def _end(self, winner: int) -> None:
        """Pay the agents and end the game for all."""
        for agent, seat in self._seat_of.items():
            if winner != NOBODY:
                self.rewards[agent] = (
                    1.0 if seat == winner else -1.0 / (len(self.possible_agents) - 1)
                )
            self._cumulative_rewards[agent] += self.rewards[agent]
            self.terminations[agent] = True
        self._deads_step_first()

    def observe(self, agent: str) -> Observation:
        """The observation of an agent, in new arrays.

        Only the agent to move has legal actions in its mask.
        """
        if agent not in self._seat_of:
            raise ConfigurationError(
                f"There is no agent {shortened(agent)}. {nearest(agent, self._seat_of)}"
            )
        game, seat = self.game, self._seat_of[agent]
        mask = np.zeros(self.rules.size**2, np.int8)
        if seat == game.player and not self.terminations.get(agent, True):
            _write_mask(self._games, mask)
        return {"observation": self._see(seat), "action_mask": mask}

    def state(self) -> NDArray[np.float32]:
        """The board as seat 0 sees it, whoever is to move."""
        _ = self.game
        return self._see(0)

    def _see(self, seat: int) -> NDArray[np.float32]:
        return observe_known(self._games, np.array([seat]), self.encoding)[0]

    def render(self) -> Any:
        """The game as `render_mode` says: text (`ansi`), a drawing (`svg`) or its pixels.

        The pixels are `rgb_array`; `human` prints the text.
        """
        return render(self.game, self.render_mode)

    def close(self) -> None:
        """Do nothing: no resources are held."""
