"""The PettingZoo environment. The docstring of `monopoly_v0` is its user documentation."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from monopoly_env import actions, core, rewards
from monopoly_env import encoding as encodings
from monopoly_env.actions import DECISION_NAMES, NUM_ACTIONS
from monopoly_env.encoding import Encoding
from monopoly_env.engine import agenda
from monopoly_env.engine.agenda import FAULTS
from monopoly_env.engine.step import write_mask
from monopoly_env.errors import ConfigurationError, EngineError, GameOverError, nearest
from monopoly_env.game import Game, Games
from monopoly_env.kernels import entry
from monopoly_env.rewards import Reward, Terms, staying, write_reward
from monopoly_env.rules import Rules
from monopoly_env.spaces import RENDER_MODES, check_render_mode, observation_space, open_heads, render
from monopoly_env.stepping import write_observations
from monopoly_env.vector import check_count

Observation: TypeAlias = dict[str, NDArray[Any]]


@entry()
def _look(games: Games, terms: Terms, potential: Any, reward: Any, mask: Any, facts: Any) -> None:
    """Write the results of a step: rewards, mask, and facts = (player, decision, turns, seats that have not left, fault)."""
    game = games[0]
    facts[0] = game.player
    facts[1] = game.decision
    facts[2] = game.turns
    now = staying(game)
    write_reward(terms, game, facts[3], now, potential, reward)
    facts[3] = now
    facts[4] = game.fault
    write_mask(game, mask)


class MonopolyAEC(AECEnv[str, Observation, int]):  # type: ignore[misc]  # PettingZoo ships no types
    """A PettingZoo environment; `monopoly_v0` documents observations, actions, rewards and arguments."""

    metadata: dict[str, Any] = {"name": "monopoly_v0", "render_modes": list(RENDER_MODES), "is_parallelizable": False, "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        num_players: int = 4,
        rules: Rules | str = "official",
        encoding: str | Encoding = "standard",
        reward: str | Reward = "win",
        turn_limit: int = 1000,
        render_mode: str | None = None,
    ) -> None:
        """Set up a table; `reset` starts the game. The arguments are those of `monopoly_v0.env`."""
        super().__init__()
        players = core.check_players(num_players)
        self.rules = Rules.coerce(rules)
        self.turn_limit = check_count("turn_limit", turn_limit)
        self.render_mode = check_render_mode(render_mode)
        self.encoding = encoding if isinstance(encoding, Encoding) else encodings.make(encoding, players)
        self.reward = reward if isinstance(reward, Reward) else rewards.make(reward)
        self._terms = self.reward.terms

        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self.agents: list[str] = []
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.action_spaces = {agent: spaces.Discrete(NUM_ACTIONS) for agent in self.possible_agents}
        self.observation_spaces = {agent: _observation_space(self.encoding.size) for agent in self.possible_agents}
        self._random: np.random.Generator | None = None
        self._nobody = np.zeros(NUM_ACTIONS, np.int8)

    def observation_space(self, agent: str) -> Any:
        """The observation space of an agent: the same object on every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The action space of an agent: the same object on every call."""
        return self.action_spaces[agent]

    @property
    def game(self) -> Game:
        """The record of the game. Changing it changes the game."""
        return self._games[0]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game.

        Args:
            seed: 0 to 2**64 - 1: the game's seed, as in `new_game`. Later games that are started without a seed follow from it.
            options: There are none; the argument is ignored.

        Raises:
            ConfigurationError: The seed is out of range.
        """
        if seed is not None or self._random is None:
            if seed is not None:
                core.split_seeds([seed])
            self._random = np.random.default_rng(seed)
        game_seed = int(self._random.integers(1 << 63)) if seed is None else seed
        players = len(self.possible_agents)
        self._games = core.new_games([game_seed], players, self.rules)
        self._potential = np.zeros(players)
        self._paid = np.zeros(players, np.float32)
        self._mask = np.zeros(NUM_ACTIONS, np.int8)
        self._alive = (1 << players) - 1
        self._facts = np.array([0, 0, 0, self._alive, 0])

        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self.agent_selection = self.agents[0]
        kind, _, discount = self._terms
        self._settle((kind, 0.0, discount))  # no shaping before the first step

    def step(self, action: int | None) -> None:
        """Carry out the action of `agent_selection`. None removes an agent that is terminated or truncated.

        Raises:
            IllegalActionError: The action is not legal. The message lists the legal ones; nothing has changed.
            ConfigurationError: The action is not an integer from 0 to 204, or is not None for an agent that is out.
            GameOverError: All agents are out, or `reset` was never called.
        """
        if not self.agents:
            raise GameOverError("No agent is left in the game: call reset().")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise ConfigurationError(f"{agent} is out: its action must be None, not {action!r}.")
            self._was_dead_step(None)
            return
        number = actions.check(action)
        if not self._mask[number]:
            raise core.illegal(self.game, number)
        core.apply_unchecked(self._games, number)
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = {}
        self._settle(self._terms)

    def _settle(self, terms: Terms) -> None:
        """Update the environment's attributes from the game after a step."""
        before = self._alive
        _look(self._games, terms, self._potential, self._paid, self._mask, self._facts)
        player, decision, turns, self._alive, fault = self._facts.tolist()
        if fault:
            raise EngineError(f"The engine stopped: {FAULTS[fault]}. Please report this bug with monopoly_env.save(env.game, path).")
        self.agent_selection = self.possible_agents[player]
        if self.reward.shaping or self._alive != before:
            self._hand_out(before)
        else:
            for agent in self.agents:
                self.rewards[agent] = 0.0
        if decision == agenda.OVER:
            self._deads_step_first()
        elif turns > self.turn_limit * len(self.possible_agents):
            self._truncate()
        else:
            self.infos[self.agent_selection] = {"decision": DECISION_NAMES[decision], "heads": open_heads(self._mask)}
            if self._alive != before:
                self._deads_step_first()

    def _hand_out(self, before: int) -> None:
        """Give the rewards of a step to the agents that were in the game before it."""
        for agent, reward in zip(self.possible_agents, self._paid.tolist(), strict=True):
            seat = self._seat_of[agent]
            if before >> seat & 1:
                self.rewards[agent] = reward
                self._cumulative_rewards[agent] += reward
                if not self._alive >> seat & 1:
                    self.terminations[agent] = True
                    self.infos[agent] = _out()

    def _truncate(self) -> None:
        self._mask.fill(0)
        for agent in self.agents:
            self.truncations[agent] = True
            self.infos[agent] = _out()
        self._deads_step_first()

    def observe(self, agent: str) -> Observation:
        """The observation of an agent, in new arrays. Only the agent to move has legal actions in its mask."""
        if agent not in self._seat_of:
            raise ConfigurationError(f"There is no agent {agent!r}. {nearest(agent, self._seat_of)}")
        seat = self._seat_of[agent]
        to_move = seat == self._facts[0]
        return {"observation": self._see(seat), "action_mask": (self._mask if to_move else self._nobody).copy()}

    def state(self) -> NDArray[np.float32]:
        """The table as seat 0 sees it, regardless of who is to move: (D,) float32, for a centralized critic."""
        return self._see(0)

    def _see(self, seat: int) -> NDArray[np.float32]:
        out = np.empty(self.encoding.size, np.float32)
        write_observations(self.encoding.code, self._games, np.array([[seat]]), out[None, None])
        return out

    def render(self) -> str | None:
        """The game as text: `ansi` returns it, `human` prints it."""
        return render(self.game, self.render_mode)

    def close(self) -> None:
        """Do nothing: no resources are held."""


def _observation_space(size: int) -> spaces.Dict:
    return spaces.Dict({"observation": observation_space(size), "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)})


def _out() -> dict[str, Any]:
    """The info of an agent that is terminated or truncated."""
    return {"decision": DECISION_NAMES[agenda.OVER], "heads": ()}
