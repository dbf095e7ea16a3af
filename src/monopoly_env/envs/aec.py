"""The PettingZoo environment. The docstring of `monopoly_v0` is its user documentation."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from monopoly_env import actions, core
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.encoding import Encoding
from monopoly_env.engine import agenda
from monopoly_env.engine.agenda import FAULTS
from monopoly_env.engine.step import write_mask
from monopoly_env.envs.options import check_table
from monopoly_env.envs.spaces import NUM_HEADS, observation_space, render, write_heads
from monopoly_env.envs.stepping import following_seed, replace_illegal, write_observations
from monopoly_env.envs.turns import TurnEnv
from monopoly_env.errors import EngineError, whole_number
from monopoly_env.game import MAX_PLAYERS, Games
from monopoly_env.kernels import entry
from monopoly_env.kernels.philox import MAX_SEED
from monopoly_env.kernels.signatures import Array1
from monopoly_env.render.drawing import check_render_mode
from monopoly_env.rewards import Reward, Terms, staying, write_reward
from monopoly_env.rules import Rules


@entry
def _look(  # noqa: PLR0917 - compiled
    games: Games,
    terms: Terms,
    memory: Array1[np.float64],
    reward: Array1[np.float32],
    mask: Array1[np.int8],
    heads: Array1[np.int8],
    facts: Array1[np.int64],
) -> None:
    """Write rewards, mask, heads and facts (player, decision, turns, seats in the game, fault)."""
    game = games[0]
    facts[0], facts[1], facts[2] = game.player, game.decision, game.turns
    now = staying(game)
    write_reward(terms, game, facts[3], now, memory, reward)
    facts[3] = now
    facts[4] = game.fault
    write_mask(game, mask)
    write_heads(mask, heads)


class MonopolyAEC(TurnEnv):
    """The PettingZoo environment; `monopoly_v0` documents it."""

    metadata = TurnEnv.metadata | {"name": "monopoly_v0"}

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
        """Set up a table; `reset` starts the game. `monopoly_v0` describes the arguments.

        Raises:
            ConfigurationError: An argument is invalid.
            RulesError: The rules are unknown.
        """
        super().__init__()
        setup = check_table(num_players, rules, encoding, reward, turn_limit, illegal)
        players, self.rules, self.encoding, self.reward, self.turn_limit, self.illegal = setup
        self.render_mode = check_render_mode(render_mode)
        self._terms = self.reward.terms

        self._seat(players, NUM_ACTIONS, observation_space(self.encoding.size))
        self._seed: int | None = None  # of the game from which the next ones follow
        self._games_begun = 0  # since then
        self._nobody = np.zeros(NUM_ACTIONS, np.int8)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game.

        Args:
            seed: 0 to 2**64 - 1, as in `new_game`; later games without a seed follow from it.
            options: Ignored, as PettingZoo's own test of environments demands.

        Raises:
            ConfigurationError: The seed is out of range.
        """
        if seed is not None or self._seed is None:
            first = int(np.random.default_rng().integers(1 << 63)) if seed is None else seed
            whole_number("seed", first, 0, MAX_SEED)
            self._seed, self._games_begun = int(first), 0
        players = len(self.possible_agents)
        game_seed = following_seed(self._seed, self._games_begun)
        self._games = core.new_games([game_seed], players, self.rules)
        self._games_begun += 1
        self._reward_memory = np.zeros(MAX_PLAYERS)
        self._paid = np.zeros(players, np.float32)
        self._mask = np.zeros(NUM_ACTIONS, np.int8)
        self._heads = np.zeros(NUM_HEADS, np.int8)
        self._alive = (1 << players) - 1
        self._facts = np.array([0, 0, 0, self._alive, 0])

        self._begin()
        handle, discount, _ = self._terms
        self._settle((handle, discount, False))  # nothing was earned before the first step

    def _no_info(self) -> dict[str, Any]:
        return {"decision": agenda.OVER, "heads": np.zeros(NUM_HEADS, np.int8)}

    def _act(self, agent: str, action: int | None) -> None:
        number = actions.check(action)
        if not self._mask[number]:
            if self.illegal == "raise":
                raise core.illegal(self.game, number)
            if self.illegal == "penalize":
                self._mask.fill(0)
                self._forfeit(agent)
                return
            number = self._random_legal(number)
        core.apply(self._games, number)
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = self._no_info()
        self._settle(self._terms)

    def _random_legal(self, illegal: int) -> int:
        chosen = np.array([illegal])
        replace_illegal(self._games, chosen, np.zeros(1, np.bool_), True)
        return int(chosen[0])

    def _settle(self, terms: Terms) -> None:
        """Update the environment's attributes from the game after a step."""
        before = self._alive
        written = self._reward_memory, self._paid, self._mask, self._heads, self._facts
        _look(self._games, terms, *written)
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
                    self.infos[agent] = self._no_info()

    def _truncate(self) -> None:
        self._mask.fill(0)
        for agent in self.agents:
            self.truncations[agent] = True
            self.infos[agent] = self._no_info()
        self._deads_step_first()

    def _mask_of(self, seat: int) -> NDArray[np.int8]:
        return (self._mask if seat == self._facts[0] else self._nobody).copy()

    def _see(self, seat: int) -> NDArray[np.float32]:
        out = np.empty(self.encoding.size, np.float32)
        write_observations(self.encoding.handle, self._games, np.array([[seat]]), out[None, None])
        return out

    def render(self) -> str | NDArray[np.uint8] | None:
        """The game as `render_mode` says; `human` prints the text."""
        return render(self.game, self.render_mode)
