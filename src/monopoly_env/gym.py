"""Monopoly for Gymnasium: one learner, policies in the other seats.

    import gymnasium, monopoly_env

    env = gymnasium.make("monopoly_env/Monopoly-v0", opponents=["algorithmic", "random"], seat="random")
    observation, info = env.reset(seed=0)
    terminated = truncated = False
    while not (terminated or truncated):
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)

    envs = gymnasium.make_vec("monopoly_env/Monopoly-v0", num_envs=1024, vectorization_mode="vector_entry_point")

- Observation: (D,) float32 in [-1, 1], the table as the learner sees it. The argument `encoding` says which features.
- Action: one of 205 (`monopoly_env.actions`). An illegal action raises `IllegalActionError` and changes nothing.
  `action_space.sample()` without a mask draws from the legal actions.
- Reward: everything that the learner has earned since its last action. If the game ends on another player's move, that counts too.
- End: terminated when the game is over or the learner is bankrupt; truncated after `turn_limit` turns per player.
- `info`: `action_mask` (205,) int8, a copy; `decision`, the name of the open decision; `heads`, the names of the heads with legal
  actions; `seat`, the learner's seat. sb3-contrib reads the mask from `env.unwrapped.action_masks()`.

Both environments are thin wrappers over `monopoly_env.vector`. A process that makes environments by name must import
`monopoly_env` first, or name the module in the id: "monopoly_env:monopoly_env/Monopoly-v0".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from monopoly_env.actions import DECISION_NAMES, NUM_ACTIONS
from monopoly_env.encoding import Encoding
from monopoly_env.errors import ConfigurationError, GameOverError
from monopoly_env.game import Game
from monopoly_env.policy.resolve import PolicyLike
from monopoly_env.registration import register
from monopoly_env.rewards import Reward
from monopoly_env.rules import Rules
from monopoly_env.spaces import MaskedDiscrete, MaskedMultiDiscrete, check_render_mode, observation_space, open_heads, render
from monopoly_env.vector import VectorMonopoly

__all__ = ["DEFAULT_OPPONENTS", "MonopolyEnv", "MonopolyVectorEnv", "register"]

Observation: TypeAlias = NDArray[np.float32]

DEFAULT_OPPONENTS: Final = ("algorithmic", "algorithmic", "algorithmic")
_DECISIONS: Final = np.array(DECISION_NAMES, object)


class MonopolyEnv(gymnasium.Env[Observation, int]):
    """One learner against policies. The module docstring lists observation, action, reward and info."""

    metadata: dict[str, Any] = {"render_modes": ["ansi", "human"], "render_fps": 2}  # noqa: RUF012 - as Gymnasium has it

    def __init__(  # noqa: PLR0917 - the options of a table
        self,
        opponents: Sequence[PolicyLike] = DEFAULT_OPPONENTS,
        seat: int | Literal["random"] = "random",
        rules: Rules | str = "official",
        encoding: str | Encoding = "standard",
        reward: str | Reward = "win",
        turn_limit: int = 1000,
        render_mode: str | None = None,
    ) -> None:
        """Set up a table; `reset` starts the game.

        Args:
            opponents: 1 to 7 policies, as objects, names or saved files. They sit clockwise from the learner.
            seat: The learner's seat, counted from 0, or "random" for a new one every game.
            rules: Rules, or the name of a preset.
            encoding: The name of an encoding, or an `Encoding`.
            reward: The name of a reward, or a `Reward`.
            turn_limit: Turns per player after which a game is truncated.
            render_mode: `ansi` (`render()` returns text), `human` (it prints the text) or None.

        Raises:
            ConfigurationError: An argument is invalid. The message names what was given and what is valid.
            RulesError: The rules are unknown.
        """
        self.render_mode = check_render_mode(render_mode)
        self.table = _table(
            1, opponents, rules=rules, encoding=encoding, reward=reward, turn_limit=turn_limit, seat=seat, autoreset=False, threads=1
        )  # fmt: skip
        self.observation_space = observation_space(self.table.encoding.size)
        self.action_space: MaskedDiscrete = MaskedDiscrete(self.table.batch)
        self._over = True

    @property
    def game(self) -> Game:
        """The record of the game. Changing it changes the game."""
        return self.table.games[0]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Start a game and let the opponents play until the learner has a decision.

        Args:
            seed: Seeds this game and the following ones that are started without a seed.
            options: There are none; the argument is ignored.
        """
        super().reset(seed=seed)
        self.table.reset(int(self.np_random.integers(1 << 63)))
        self.action_space.begin_game()
        self._over = False
        return self._observation(), self._info()

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action and let the opponents play until the learner has its next decision.

        Raises:
            IllegalActionError: The action is not legal. The message lists the legal ones; nothing has changed.
            ConfigurationError: The action is not an integer.
            GameOverError: The game has ended, or `reset` was never called.
        """
        if self._over:
            raise GameOverError("No game is running: call reset().")
        batch = self.table.step(np.asarray(self.action_space.in_this_game(action)).reshape(-1))
        terminated, truncated = bool(batch.terminated[0]), bool(batch.truncated[0])
        self._over = terminated or truncated
        return self._observation(), float(batch.reward[0, batch.actor[0]]), terminated, truncated, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions: (205,) bool, a copy."""
        return np.array(self.table.batch.action_mask[0])

    def render(self) -> str | None:
        """The game as text: `ansi` returns it, `human` prints it."""
        return render(self.game, self.render_mode)

    def _observation(self) -> Observation:
        return np.array(self.table.batch.observation[0])

    def _info(self) -> dict[str, Any]:
        batch = self.table.batch
        mask = batch.action_mask[0].astype(np.int8)
        decision = DECISION_NAMES[batch.decision[0]]
        return {"action_mask": mask, "decision": decision, "heads": open_heads(mask), "seat": int(batch.player[0])}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.action_space.source = self.table.batch


class MonopolyVectorEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """Many games with one learner each, stepped in one compiled call: Gymnasium's interface to `VectorMonopoly`.

    When a game ends, the next one starts in the same step (`AutoresetMode.SAME_STEP`). `info["final_obs"]` and `info["final_info"]`
    then hold the last observation and info of the finished game. `info` has `action_mask` (B, 205) int8, `decision` (B,) names and
    `seat` (B,), each with a mask (`_action_mask` and so on), as Gymnasium defines it. `action_masks()` is (B, 205) bool.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - as Gymnasium has it

    def __init__(  # noqa: PLR0913 - the options of a table
        self,
        num_envs: int = 1,
        opponents: Sequence[PolicyLike] = DEFAULT_OPPONENTS,
        seat: int | Literal["random"] = "random",
        rules: Rules | str = "official",
        encoding: str | Encoding = "standard",
        *,
        reward: str | Reward = "win",
        turn_limit: int = 1000,
        threads: int | None = None,
        copy: bool = True,
        render_mode: str | None = None,
    ) -> None:
        """Set up the tables; `reset` starts the games.

        Args:
            num_envs: Number of games.
            opponents: As in `MonopolyEnv`.
            seat: As in `MonopolyEnv`.
            rules: As in `MonopolyEnv`.
            encoding: As in `MonopolyEnv`.
            reward: As in `MonopolyEnv`.
            turn_limit: As in `MonopolyEnv`.
            threads: Threads to use; by default one per core.
            copy: If False, the next step overwrites the returned arrays.
            render_mode: Must be None. To see a game, pass one of `table.games` to `monopoly_env.to_text`.

        Raises:
            ConfigurationError: An argument is invalid. The message names what was given and what is valid.
            RulesError: The rules are unknown.
        """
        if render_mode is not None:
            raise ConfigurationError(f"render_mode={render_mode!r} must be None: pass one of table.games to monopoly_env.to_text.")
        self.table = _table(
            num_envs, opponents, rules=rules, encoding=encoding, reward=reward, turn_limit=turn_limit, seat=seat, threads=threads
        )  # fmt: skip
        self.num_envs = self.table.num_games
        self._copy = copy
        self.single_observation_space = observation_space(self.table.encoding.size)
        self.single_action_space = MaskedDiscrete()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space: MaskedMultiDiscrete = MaskedMultiDiscrete(self.num_envs, self.table.batch)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Start all games.

        Args:
            seed: One number from which each game gets its own seed.
            options: There are none; the argument is ignored.
        """
        super().reset(seed=seed)
        self.table.reset(int(self.np_random.integers(1 << 63)))
        return self._give(self.table.batch.observation), self._infos()

    def step(self, actions: ArrayLike) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Carry out the learners' actions, one per game.

        Raises:
            IllegalActionError: An action is not legal. The message names the first such game and its legal actions; no game has changed.
            ConfigurationError: The actions are not `num_envs` integers.
        """
        batch = self.table.step(actions)
        rewards = batch.reward[np.arange(self.num_envs), batch.actor].astype(np.float64)
        infos = self._infos()
        if len(batch.finished):
            infos |= self._final_infos()
        return self._give(batch.observation), rewards, self._give(batch.terminated), self._give(batch.truncated), infos

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions of every game: (B, 205) bool, a copy."""
        return self.table.batch.action_mask.copy()

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the worker threads."""
        self.table.close()

    def _give(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.copy() if self._copy else array

    def _infos(self) -> dict[str, Any]:
        batch = self.table.batch
        about = {"action_mask": batch.action_mask.astype(np.int8), "decision": _DECISIONS[batch.decision], "seat": batch.player.copy()}
        return _with_masks(about, np.ones(self.num_envs, np.bool_))

    def _final_infos(self) -> dict[str, Any]:
        """The last infos of the games that ended, in Gymnasium's form: full arrays, with masks that say which entries are valid."""
        batch = self.table.batch
        ended = batch.terminated | batch.truncated
        observations = np.full(self.num_envs, None, object)
        decisions = np.full(self.num_envs, None, object)
        for number, observation in zip(batch.finished, batch.final_observation, strict=True):
            observations[number] = observation
        decisions[ended] = DECISION_NAMES[0]
        seats = np.where(ended, batch.actor, 0).astype(np.int16)
        last = {"action_mask": np.zeros((self.num_envs, NUM_ACTIONS), np.int8), "decision": decisions, "seat": seats}
        return _with_masks({"final_obs": observations, "final_info": _with_masks(last, ended)}, ended)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.action_space.source = self.table.batch


def _table(num_games: int, opponents: Sequence[PolicyLike], **options: Any) -> VectorMonopoly:
    if isinstance(opponents, str) or not len(opponents):
        raise ConfigurationError(f"opponents={opponents!r} must be a list of 1 to 7 policies, one per seat.")
    return VectorMonopoly(num_games, opponents=opponents, **options)


def _with_masks(about: dict[str, Any], which: NDArray[np.bool_]) -> dict[str, Any]:
    """An info dict with Gymnasium's masks: `_key` says for which games `key` is valid."""
    return about | {f"_{key}": which.copy() for key in about}
