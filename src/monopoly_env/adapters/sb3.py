"""Monopoly for Stable-Baselines3: a `VecEnv` over vectors of games.

    opponents = ("algorithmic", "strategic")
    tables = [VectorMonopoly(128, 2, "ocnaru", opponents=[name]) for name in opponents]
    model = MaskablePPO("MlpPolicy", MonopolyVecEnv(tables))

One seat of every game is the learner's; the others are played inside the same compiled call. A
step is one decision of the learner, and its reward includes all events until the next one, such as
a bankruptcy on another player's move. `examples/maskable_ppo.py` is a complete program.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.envs.spaces import observation_space
from monopoly_env.envs.vector import VectorMonopoly
from monopoly_env.errors import ConfigurationError, shortened


class MonopolyVecEnv(VecEnv):
    """Games of one learner against opponents, for Stable-Baselines3.

    Observations are (N, D) float32, actions (N,) integers below NUM_ACTIONS, and
    `env_method("action_masks")` returns the legal ones. A game that ends is followed by the next
    one; its info holds `terminal_observation`, `TimeLimit.truncated` (it was cut off at the turn
    limit), `is_success` (the learner came first) and, as from `Monitor`, `episode` with return `r`
    and length `l`.

    Attributes:
        tables: The vectors of games, one after the other.
    """

    render_mode: str | None = None

    def __init__(self, tables: Sequence[VectorMonopoly]) -> None:
        """Take vectors of games; `reset` starts them.

        Args:
            tables: Vectors with opponents, with the same encoding and number of players.

        Raises:
            ConfigurationError: Not a list of vectors, a vector without opponents, or vectors of
                different kinds.
        """
        if (
            not isinstance(tables, Sequence)
            or not tables
            or not all(isinstance(vec, VectorMonopoly) and vec.opponents for vec in tables)
        ):
            raise ConfigurationError(
                "MonopolyVecEnv needs a list of VectorMonopoly with opponents, as in [vec]: one"
                f" seat of each game is the learner's. It got {shortened(tables)}."
            )
        kinds = {(vec.encoding.name, vec.encoding.size, vec.num_players) for vec in tables}
        if len(kinds) > 1:
            raise ConfigurationError(
                f"The vectors must share encoding and number of players, not have {sorted(kinds)}."
            )
        self.tables = tuple(tables)
        count = sum(vec.num_games for vec in tables)
        super().__init__(
            count, observation_space(tables[0].encoding.size), spaces.Discrete(NUM_ACTIONS)
        )
        starts = np.cumsum([0, *(vec.num_games for vec in tables)]).tolist()
        self._places = [slice(*pair) for pair in itertools.pairwise(starts)]  # of each vector
        self._returns = np.zeros(count)
        self._lengths = np.zeros(count, np.int64)
        self._actions = np.zeros(count, np.int64)

    def reset(self) -> NDArray[np.float32]:
        """Restart all games; after `seed`, with that seed."""
        seed = self._seeds[0]
        for number, vec in enumerate(self.tables):
            vec.reset(None if seed is None else seed * len(self.tables) + number)
        self._reset_seeds()
        self._returns.fill(0)
        self._lengths.fill(0)
        return self._observations()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Store the actions for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Carry out the actions.

        Raises:
            IllegalActionError: An action is not legal.
        """
        for vec, place in zip(self.tables, self._places, strict=True):
            vec.step(self._actions[place])
        # the learner's
        reward = self._joined(lambda batch: batch.reward[np.arange(len(batch.reward)), batch.actor])
        done = self._joined(lambda batch: batch.terminated | batch.truncated)
        self._returns += reward
        self._lengths += 1
        infos = self._infos()
        self._returns[done] = 0
        self._lengths[done] = 0
        return self._observations(), reward, done, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions of each game, (N, NUM_ACTIONS) bool."""
        return self._joined(lambda batch: batch.action_mask)

    def _observations(self) -> NDArray[np.float32]:
        return self._joined(lambda batch: batch.observation)

    def _joined(self, part: Any) -> NDArray[Any]:
        return np.concatenate([part(vec.batch) for vec in self.tables])

    def _infos(self) -> list[dict[str, Any]]:
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for vec, place in zip(self.tables, self._places, strict=True):
            batch = vec.batch
            for row, number in enumerate(batch.finished.tolist()):
                at = place.start + number
                infos[at] = {
                    "terminal_observation": batch.final_observation[row],
                    "TimeLimit.truncated": bool(batch.truncated[number]),
                    "is_success": bool(batch.final_games["place"][row, batch.actor[number]] == 1),
                    "episode": {"r": float(self._returns[at]), "l": int(self._lengths[at])},
                }
        return infos

    def close(self) -> None:
        """Stop the threads of the games."""
        for vec in self.tables:
            vec.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute, which all games share, once per game."""
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Not possible: games have no attributes of their own.

        Raises:
            ConfigurationError: Always.
        """
        raise ConfigurationError(
            f"Games have no attributes of their own: {attr_name!r} can't be set."
        )

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """The rows of a method that returns one row per game: `action_masks`."""
        rows = getattr(self, method_name)(*method_args, **method_kwargs)
        return [rows[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: VecEnvIndices = None) -> list[bool]:
        """No game is wrapped."""
        return [False for _ in self._get_indices(indices)]
