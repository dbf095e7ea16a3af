"""Monopoly for Gymnasium: one learner, policies in the other seats.

    >>> import gymnasium, monopoly_env
    >>> env = gymnasium.make(
    ...     "monopoly_env/Monopoly-v0", opponents=["algorithmic", "random"], seat="random"
    ... )
    >>> observation, info = env.reset(seed=0)
    >>> terminated = truncated = False
    >>> while not (terminated or truncated):
    ...     action = env.action_space.sample(info["action_mask"])
    ...     observation, reward, terminated, truncated, info = env.step(action)

    >>> envs = gymnasium.make_vec(
    ...     "monopoly_env/Monopoly-v0", num_envs=64, vectorization_mode="vector_entry_point"
    ... )
    >>> observations, infos = envs.reset(seed=0)
    >>> observations.shape
    (64, 810)

- Observation: (D,) float32 in [-1, 1], the table as the learner sees it. The argument `encoding`
  says which features.
- Action: a number below NUM_ACTIONS (`monopoly_env.actions`). An illegal action raises
  `IllegalActionError` and changes nothing, unless the argument `illegal` says otherwise.
  `action_space.sample()` without a mask draws from the legal actions.
- Reward: everything that the learner has earned since its last action. If the game ends on another
  player's move, that counts too.
- End: terminated when the game is over or the learner is bankrupt; truncated after `turn_limit`
  turns per player.
- `info`: `action_mask` (NUM_ACTIONS,) int8, a copy; `decision`, the open decision as an index into
  `actions.DECISION_NAMES`, 0 once the game has ended; `heads` (14,) int8, 1 for each head of
  `actions.HEAD_NAMES` with legal actions; `seat`, the learner's seat. sb3-contrib reads the mask
  from `env.unwrapped.action_masks()`.
- Seeds: `reset(seed=7)` begins the game of seed 7, the same as `monopoly_env.new_game(seed=7)` and
  PettingZoo's. Later games that are begun without a seed follow from it.

Both environments are thin wrappers over `monopoly_env.envs.vector`. A process that makes
environments by name must import `monopoly_env` first, or name the module in the id:
"monopoly_env:monopoly_env/Monopoly-v0".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.actions import check as check_action
from monopoly_env.encoding import Encoding
from monopoly_env.envs.options import check_count
from monopoly_env.envs.registration import register
from monopoly_env.envs.spaces import (
    NUM_HEADS,
    MaskedDiscrete,
    MaskedMultiDiscrete,
    check_options,
    observation_space,
    open_heads,
    render,
)
from monopoly_env.envs.vector import VectorMonopoly
from monopoly_env.errors import (
    ConfigurationError,
    GameOverError,
    RenderModeError,
    nearest,
    whole_number,
)
from monopoly_env.game import Game
from monopoly_env.kernels.philox import MAX_SEED
from monopoly_env.policy.names import PolicyLike
from monopoly_env.render.drawing import INSTALLED_MODES, check_render_mode
from monopoly_env.rewards import Reward
from monopoly_env.rules import Rules

__all__ = ["DEFAULT_OPPONENTS", "MonopolyEnv", "MonopolyVectorEnv", "register"]

Observation: TypeAlias = NDArray[np.float32]

DEFAULT_OPPONENTS: Final = ("algorithmic", "algorithmic", "algorithmic")
_AUTORESET: Final[dict[AutoresetMode, bool | Literal["next_step"]]] = {
    AutoresetMode.SAME_STEP: True,
    AutoresetMode.NEXT_STEP: "next_step",
    AutoresetMode.DISABLED: False,
}


class MonopolyEnv(gymnasium.Env[Observation, np.int64]):
    """One learner against policies; the module's docstring lists observation, action and reward."""

    metadata: dict[str, Any] = {  # noqa: RUF012 - as Gymnasium has it
        "render_modes": list(INSTALLED_MODES),
        "render_fps": 2,
    }

    def __init__(  # noqa: PLR0917 - the options of a table
        self,
        opponents: Sequence[PolicyLike] = DEFAULT_OPPONENTS,
        seat: int | Literal["random"] = "random",
        rules: Rules | str | Mapping[str, Any] = "official",
        encoding: str | Encoding = "standard",
        reward: str | Reward = "win",
        turn_limit: int = 1000,
        render_mode: str | None = None,
        *,
        illegal: Literal["raise", "penalize", "random"] = "raise",
    ) -> None:
        """Set up a table; `reset` starts the game.

        Args:
            opponents: 1 to 7 policies, names or saved files, clockwise from the learner.
            seat: The learner's seat, counted from 0, or "random" for a new one every game.
            rules: Rules, the name of a preset, or a dictionary of options.
            encoding: A name, or an `Encoding`.
            reward: A name, or a `Reward`.
            turn_limit: Turns per player after which a game is truncated.
            render_mode: As in `monopoly_v0`.
            illegal: What an illegal action does. "raise": an error. "penalize": the game ends for
                the learner, with a reward of -1. "random": a legal action is drawn instead.

        Raises:
            ConfigurationError: An argument is invalid.
            RulesError: The rules are unknown.
        """
        self.render_mode = check_render_mode(render_mode)
        self.table = _table(
            1, opponents, rules=rules, encoding=encoding, reward=reward, turn_limit=turn_limit,
            seat=seat, autoreset=False, threads=1, illegal=illegal,
        )  # fmt: skip
        self.observation_space = observation_space(self.table.encoding.size)
        self.action_space: MaskedDiscrete = MaskedDiscrete(self.table.batch)
        self._over = True
        self._begun = False

    @property
    def game(self) -> Game:
        """The record of the game. Changing it changes the game."""
        return self.table.games[0]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a game and let the opponents play until the learner has a decision.

        Args:
            seed: 0 to 2**64 - 1, as in `new_game`; later games without a seed follow from it.
            options: There are none.

        Raises:
            ConfigurationError: A seed out of range, or an option.
        """
        check_options(options)
        if seed is not None:
            seed = whole_number("seed", seed, 0, MAX_SEED)
        super().reset(seed=seed)
        if seed is None and not self._begun:
            seed = int(self.np_random.integers(1 << 63))
        self.table.begin(seeds=[seed])
        self.action_space.begin_game()
        self._begun, self._over = True, False
        return self._observation(), self._info()

    def step(self, action: int | np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action and let the opponents play until its next decision.

        Raises:
            IllegalActionError: The action is not legal. The message lists the legal ones; nothing
                has changed.
            ConfigurationError: The action is not an integer below NUM_ACTIONS, or an array of one.
            GameOverError: The game has ended, or `reset` was never called.
        """
        if self._over:
            raise GameOverError("No game is running: call reset().")
        batch = self.table.step([check_action(self.action_space.in_this_game(action))])
        terminated, truncated = bool(batch.terminated[0]), bool(batch.truncated[0])
        self._over = terminated or truncated
        reward = float(batch.reward[0, batch.actor[0]])
        return self._observation(), reward, terminated, truncated, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions: (NUM_ACTIONS,) bool, a copy."""
        return np.array(self.table.batch.action_mask[0])

    def render(self) -> str | NDArray[np.uint8] | None:
        """The game as `render_mode` says: text, a drawing or pixels; `human` prints the text."""
        return render(self.game, self.render_mode)

    def _observation(self) -> Observation:
        return np.array(self.table.batch.observation[0])

    def _info(self) -> dict[str, Any]:
        batch = self.table.batch
        return {
            "action_mask": batch.action_mask[0].astype(np.int8),
            "decision": int(batch.decision[0]),
            "heads": open_heads(batch.action_mask)[0],
            "seat": int(batch.player[0]),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.action_space.source = self.table.batch


class MonopolyVectorEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """Many games with one learner each, stepped in one compiled call.

    By default, when a game ends, the next one starts in the same step (`AutoresetMode.SAME_STEP`),
    and `info["final_obs"]` and `info["final_info"]` hold the last observation and info. `info` has
    `action_mask` (B, NUM_ACTIONS) int8, `decision` (B,), `heads` (B, 14) int8 and `seat` (B,), each
    with a mask (`_action_mask` and so on), as Gymnasium defines it. With the same seeds, the games
    are those of single environments.

    Attributes:
        autoreset_mode: When the next game begins.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": [],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(  # noqa: PLR0913 - the options of a table
        self,
        num_envs: int = 1,
        opponents: Sequence[PolicyLike] = DEFAULT_OPPONENTS,
        seat: int | Literal["random"] = "random",
        rules: Rules | str | Mapping[str, Any] = "official",
        encoding: str | Encoding = "standard",
        *,
        reward: str | Reward = "win",
        turn_limit: int = 1000,
        threads: int | None = None,
        copy: bool = True,
        render_mode: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        max_episode_steps: int | None = None,
        illegal: Literal["raise", "penalize", "random"] = "raise",
    ) -> None:
        """Set up the tables; `reset` starts the games.

        Arguments and errors are those of `MonopolyEnv`, and:

        - `num_envs`: number of games.
        - `threads`: by default one per core.
        - `copy`: if False, the next step overwrites the returned arrays: copy what you keep.
        - `render_mode`: must be None; pass one of `table.games` to `monopoly_env.to_text`.
        - `autoreset_mode`: `SAME_STEP`; `NEXT_STEP`: the next game begins in the step after, whose
          action for it is ignored; or `DISABLED`: `reset(options={"reset_mask": ended})` begins it.
        - `max_episode_steps`: the learner's decisions after which a game is truncated; None: never.
        """
        if render_mode is not None:
            advice = "pass one of table.games to monopoly_env.to_text"
            raise RenderModeError(f"render_mode={render_mode!r} must be None: {advice}.")
        self.autoreset_mode = _check_mode(autoreset_mode)
        if (steps := max_episode_steps) is not None:
            check_count("max_episode_steps", steps)
        self.metadata = self.metadata | {"autoreset_mode": self.autoreset_mode}
        self.table = _table(
            num_envs, opponents, rules=rules, encoding=encoding, reward=reward,
            turn_limit=turn_limit, seat=seat, threads=threads,
            autoreset=_AUTORESET[self.autoreset_mode], illegal=illegal, max_steps=steps,
        )  # fmt: skip
        self.num_envs = self.table.num_games
        self._copy = copy
        self._begun = False
        self.single_observation_space = observation_space(self.table.encoding.size)
        self.single_action_space = MaskedDiscrete()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space: MaskedMultiDiscrete = MaskedMultiDiscrete(
            self.num_envs, self.table.batch
        )

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Start new games, in all environments or in some.

        Args:
            seed: s for the games of seeds s, s + 1, ...; or a seed for each game, None where the
                next game shall begin. Later games without a seed follow from it.
            options: `reset_mask`: (B,) bool, the games to start; the others go on.

        Raises:
            ConfigurationError: A wrong number of seeds, one out of range, an unknown option or a
                mask of a wrong shape.
        """
        mask = check_options(options, ["reset_mask"]).get("reset_mask")
        single = isinstance(seed, (int, np.integer))
        super().reset(seed=whole_number("seed", seed, 0, MAX_SEED) if single else None)
        self.table.begin(mask, self._seeds(seed))
        self._begun = True
        return self._give(self.table.batch.observation), self._infos()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        """A seed for each game, or None where the next game shall begin."""
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + i for i in range(self.num_envs)]
        seeds = [None] * self.num_envs if seed is None else list(seed)
        if self._begun:
            return seeds
        drawn = self.np_random.integers(1 << 63, size=len(seeds)).tolist()
        return [drawn[i] if seed is None else seed for i, seed in enumerate(seeds)]

    def step(
        self, actions: ArrayLike
    ) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Carry out the learners' actions, one per game.

        Raises:
            IllegalActionError: An action is not legal. The message names the first such game and
                its legal actions; no game has changed.
            ConfigurationError: The actions are not `num_envs` integers.
            GameOverError: A game has ended, and `autoreset_mode` is `DISABLED`.
        """
        batch = self.table.step(actions)
        rewards = batch.reward[np.arange(self.num_envs), batch.actor].astype(np.float64)
        infos = self._infos()
        if len(batch.finished) and self.table.autoreset is True:
            infos |= self._final_infos()
        ends = self._give(batch.terminated), self._give(batch.truncated)
        return self._give(batch.observation), rewards, *ends, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions of every game: (B, NUM_ACTIONS) bool, a copy."""
        return self.table.batch.action_mask.copy()

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the worker threads."""
        self.table.close()

    def _give(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.copy() if self._copy else array

    def _infos(self) -> dict[str, Any]:
        batch = self.table.batch
        about = {
            "action_mask": batch.action_mask.astype(np.int8),
            "decision": batch.decision.astype(np.int64),
            "heads": open_heads(batch.action_mask),
            "seat": batch.player.astype(np.int64),
        }
        return _with_masks(about, np.ones(self.num_envs, np.bool_))

    def _final_infos(self) -> dict[str, Any]:
        """The last infos of the games that ended: full arrays, with masks of valid entries."""
        batch = self.table.batch
        ended = batch.terminated | batch.truncated
        observations = np.full(self.num_envs, None, object)
        for number, observation in zip(batch.finished, batch.final_observation, strict=True):
            observations[number] = observation
        last = {
            "action_mask": np.zeros((self.num_envs, NUM_ACTIONS), np.int8),
            "decision": np.zeros(self.num_envs, np.int64),
            "heads": np.zeros((self.num_envs, NUM_HEADS), np.int8),
            "seat": np.where(ended, batch.actor, 0).astype(np.int64),
        }
        final = {"final_obs": observations, "final_info": _with_masks(last, ended)}
        return _with_masks(final, ended)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.action_space.source = self.table.batch


def _table(num_games: int, opponents: Sequence[PolicyLike], **options: Any) -> VectorMonopoly:
    if isinstance(opponents, str) or not len(opponents):
        raise ConfigurationError(
            f"opponents={opponents!r} must be a list of 1 to 7 policies, one per seat."
        )
    return VectorMonopoly(num_games, opponents=opponents, **options)


def _check_mode(mode: str | AutoresetMode) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        raise ConfigurationError(
            f"Unknown autoreset_mode {mode!r}. {nearest(mode, [m.value for m in AutoresetMode])}"
        ) from None


def _with_masks(about: dict[str, Any], which: NDArray[np.bool_]) -> dict[str, Any]:
    """An info dict with Gymnasium's masks: `_key` says for which games `key` is valid."""
    return about | {f"_{key}": which.copy() for key in about}
