"""The PettingZoo environment. The docstring of `monopoly_v0` is its user documentation."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from monopoly_env import actions, core, rewards
from monopoly_env import encoding as encodings
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.encoding import Encoding
from monopoly_env.engine import agenda
from monopoly_env.engine.agenda import FAULTS
from monopoly_env.engine.step import write_mask
from monopoly_env.envs.spaces import (
    INSTALLED_MODES,
    NUM_HEADS,
    check_render_mode,
    observation_space,
    render,
    write_heads,
)
from monopoly_env.envs.stepping import following_seed, replace_illegal, write_observations
from monopoly_env.envs.vector import check_count
from monopoly_env.errors import (
    ConfigurationError,
    EngineError,
    GameOverError,
    check_illegal,
    nearest,
    whole_number,
)
from monopoly_env.game import MAX_PLAYERS, Game, Games, empty_games
from monopoly_env.kernels import entry
from monopoly_env.kernels.philox import MAX_SEED
from monopoly_env.rewards import Reward, Terms, staying, write_reward
from monopoly_env.rules import Rules

Observation: TypeAlias = dict[str, NDArray[Any]]


@entry()
def _look(  # noqa: PLR0917 - compiled
    games: Games, terms: Terms, memory: Any, reward: Any, mask: Any, heads: Any, facts: Any
) -> None:
    """Write the results of a step: rewards, mask, heads, and facts.

    The facts: player, decision, turns, seats that have not left, fault.
    """
    game = games[0]
    facts[0] = game.player
    facts[1] = game.decision
    facts[2] = game.turns
    now = staying(game)
    write_reward(terms, game, facts[3], now, memory, reward)
    facts[3] = now
    facts[4] = game.fault
    write_mask(game, mask)
    write_heads(mask, heads)


class MonopolyAEC(AECEnv[str, Observation, int]):  # type: ignore[misc]  # PettingZoo ships no types
    """A PettingZoo environment.

    `monopoly_v0` documents observations, actions, rewards and arguments.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "name": "monopoly_v0",
        "render_modes": list(INSTALLED_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        num_players: int = 4,
        rules: Rules | str = "official",
        encoding: str | Encoding = "standard",
        reward: str | Reward = "win",
        turn_limit: int = 1000,
        render_mode: str | None = None,
        *,
        illegal: Literal["raise", "penalize", "random"] = "raise",
    ) -> None:
        """Set up a table; `reset` starts the game. The arguments are those of `monopoly_v0.env`."""
        super().__init__()
        players = core.check_players(num_players)
        self.rules = Rules.coerce(rules)
        self.turn_limit = check_count("turn_limit", turn_limit)
        self.render_mode = check_render_mode(render_mode)
        self.illegal = check_illegal(illegal)
        self.encoding = encodings.fitting(encoding, players)
        self.reward = rewards.resolve(reward)
        self._terms = self.reward.terms

        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self.agents: list[str] = []
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.action_spaces = {agent: spaces.Discrete(NUM_ACTIONS) for agent in self.possible_agents}
        self.observation_spaces = {
            agent: _observation_space(self.encoding.size) for agent in self.possible_agents
        }
        self.state_space = observation_space(self.encoding.size)
        self._seed: int | None = None  # of the game from which the next ones follow
        self._games_begun = 0  # since then
        self._games: Games = empty_games(0)  # none before the first reset
        self._nobody = np.zeros(NUM_ACTIONS, np.int8)

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

        As in PettingZoo.

        Raises:
            GameOverError: All agents are out.
            ConfigurationError: `reset` was never called.
        """
        _ = self.game, self._to_move()
        return super().last(observe)  # type: ignore[no-any-return]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game.

        Args:
            seed: 0 to 2**64 - 1: the game's seed, as in `new_game`. Later games that are started
                without a seed follow from it.
            options: There are none; the argument is ignored, as PettingZoo's own test of
                environments demands.

        Raises:
            ConfigurationError: The seed is out of range.
        """
        if seed is not None or self._seed is None:
            first = int(np.random.default_rng().integers(1 << 63)) if seed is None else seed
            whole_number("seed", first, 0, MAX_SEED)
            self._seed, self._games_begun = int(first), 0
        players = len(self.possible_agents)
        self._games = core.new_games(
            [following_seed(self._seed, self._games_begun)], players, self.rules
        )
        self._games_begun += 1
        self._reward_memory = np.zeros(MAX_PLAYERS)
        self._paid = np.zeros(players, np.float32)
        self._mask = np.zeros(NUM_ACTIONS, np.int8)
        self._heads = np.zeros(NUM_HEADS, np.int8)
        self._alive = (1 << players) - 1
        self._facts = np.array([0, 0, 0, self._alive, 0])

        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: _not_asked() for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self.agent_selection = self.agents[0]
        handle, discount, _ = self._terms
        self._settle((handle, discount, False))  # nothing was earned before the first step

    def step(self, action: int | None) -> None:
        """Carry out the action of `agent_selection`.

        None removes an agent that is terminated or truncated.

        Raises:
            IllegalActionError: The action is not legal (with `illegal="raise"`). The message lists
                the legal ones; nothing has changed.
            ConfigurationError: The action is not an integer below NUM_ACTIONS, or is not None for
                an agent that is out.
            GameOverError: All agents are out, or `reset` was never called.
        """
        agent = self._to_move()
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise ConfigurationError(
                    f"{agent} is out: its action must be None, not {action!r}."
                )
            self._was_dead_step(None)
            return
        number = actions.check(action)
        if not self._mask[number]:
            if self.illegal == "raise":
                raise core.illegal(self.game, number)
            if self.illegal == "penalize":
                self._forfeit(agent)
                return
            number = self._random_legal(number)
        core.apply(self._games, number)
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = _not_asked()
        self._settle(self._terms)

    def _to_move(self) -> str:
        if not self.agents:
            raise GameOverError("No agent is left in the game: call reset().")
        return str(self.agent_selection)

    def _random_legal(self, illegal: int) -> int:
        chosen = np.array([illegal])
        replace_illegal(self._games, chosen, np.zeros(1, np.bool_), True)
        return int(chosen[0])

    def _forfeit(self, agent: str) -> None:
        """End the game for all: -1 for the agent, 0 for the others."""
        self._mask.fill(0)
        for other in self.agents:
            self.rewards[other] = 0.0
            self.terminations[other] = True
            self.infos[other] = _not_asked()
        self.rewards[agent] = self._cumulative_rewards[agent] = -1.0
        self._deads_step_first()

    def _settle(self, terms: Terms) -> None:
        """Update the environment's attributes from the game after a step."""
        before = self._alive
        _look(
            self._games,
            terms,
            self._reward_memory,
            self._paid,
            self._mask,
            self._heads,
            self._facts,
        )
        player, decision, turns, self._alive, fault = self._facts.tolist()
        if fault:
            raise EngineError(
                f"The engine stopped: {FAULTS[fault]}. Please report this bug with"
                " monopoly_env.save(env.game, path)."
            )
        self.agent_selection = self.possible_agents[player]
        if self.reward.each_step or self._alive != before:
            self._hand_out(before)
        else:
            for agent in self.agents:
                self.rewards[agent] = 0.0
        if decision == agenda.OVER:
            self._deads_step_first()
        elif turns > self.turn_limit * len(self.possible_agents):
            self._truncate()
        else:
            self.infos[self.agent_selection] = {"decision": decision, "heads": self._heads.copy()}
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
                    self.infos[agent] = _not_asked()

    def _truncate(self) -> None:
        self._mask.fill(0)
        for agent in self.agents:
            self.truncations[agent] = True
            self.infos[agent] = _not_asked()
        self._deads_step_first()

    def observe(self, agent: str) -> Observation:
        """The observation of an agent, in new arrays.

        Only the agent to move has legal actions in its mask.
        """
        if agent not in self._seat_of:
            raise ConfigurationError(
                f"There is no agent {agent!r}. {nearest(agent, self._seat_of)}"
            )
        _ = self.game
        seat = self._seat_of[agent]
        to_move = seat == self._facts[0]
        return {
            "observation": self._see(seat),
            "action_mask": (self._mask if to_move else self._nobody).copy(),
        }

    def state(self) -> NDArray[np.float32]:
        """The table as seat 0 sees it, regardless of who is to move.

        (D,) float32, for a centralized critic.
        """
        _ = self.game
        return self._see(0)

    def _see(self, seat: int) -> NDArray[np.float32]:
        out = np.empty(self.encoding.size, np.float32)
        write_observations(self.encoding.handle, self._games, np.array([[seat]]), out[None, None])
        return out

    def render(self) -> str | NDArray[np.uint8] | None:
        """The game as `render_mode` says.

        Text (`ansi`), a drawing (`svg`) or its pixels (`rgb_array`); `human` prints the text.
        """
        return render(self.game, self.render_mode)

    def close(self) -> None:
        """Do nothing: no resources are held."""


def _observation_space(size: int) -> spaces.Dict:
    return spaces.Dict(
        {
            "observation": observation_space(size),
            "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
        }
    )


def _not_asked() -> dict[str, Any]:
    """The info of an agent that is not to move or is out."""
    return {"decision": agenda.OVER, "heads": np.zeros(NUM_HEADS, np.int8)}
