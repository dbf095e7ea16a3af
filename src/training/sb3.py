"""Monopoly for Stable-Baselines3.

It has a `VecEnv` over vectors of games, and a rollout buffer that skips decisions without a choice.

    opponents = ("algorithmic", "strategic")
    tables = [VectorMonopoly(128, 2, "ocnaru", opponents=[name]) for name in opponents]
    model = MaskablePPO("MlpPolicy", MonopolyVecEnv(tables))

One seat of every game is the learner's; the others are played inside the same compiled call. So
each step is one decision of the learner, and its reward covers everything until the next one,
including a bankruptcy on somebody else's move.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from agents.networks.repertoire import Repertoire, share_out
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.envs.spaces import observation_space
from monopoly_env.envs.vector import Batch, VectorMonopoly
from monopoly_env.errors import ConfigurationError, shortened
from monopoly_env.policy.protocol import MEMORY, Decisions, Policy


class MonopolyVecEnv(VecEnv):
    """Games of one learner against opponents, for Stable-Baselines3.

    Observations are (N, D) float32, actions (N,) integers below 205, and
    `env_method("action_masks")` returns the legal ones. A game that ends is followed by the next
    one; its info holds `terminal_observation`, `TimeLimit.truncated` (it was cut off at the turn
    limit), `is_success` (the learner came first) and, as from `Monitor`, `episode` with return `r`
    and length `l`.

    With a repertoire, the learner chooses among its actions only. All other decisions are answered
    for it: their mask has one action.

    Attributes:
        tables: The vectors of games, one after the other.
        finished: Games that have ended.
    """

    render_mode: str | None = None

    def __init__(
        self,
        tables: Sequence[VectorMonopoly],
        repertoire: Repertoire | None = None,
        parent: Policy | None = None,
    ) -> None:
        """Take vectors of games; `reset` starts them.

        Args:
            tables: Vectors with opponents, with the same encoding and number of players.
            repertoire: The actions that the learner chooses among; None: all.
            parent: Policy that plays the rest; None: no policy does (see `share_out`).

        Raises:
            ConfigurationError: No list of vectors, one without opponents, vectors of different
                kinds, or a parent without a repertoire.
        """
        if (
            not isinstance(tables, Sequence)
            or not tables
            or not all(isinstance(v, VectorMonopoly) and v.opponents for v in tables)
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
        if parent is not None and repertoire is None:
            raise ConfigurationError(
                f"With the parent {parent.name!r}, a repertoire must say what the parent does not"
                " play."
            )
        self.tables = tuple(tables)
        self.finished = 0
        self._repertoire = repertoire
        self._parent = parent
        count = sum(vec.num_games for vec in tables)
        super().__init__(
            count, observation_space(tables[0].encoding.size), spaces.Discrete(NUM_ACTIONS)
        )
        starts = np.cumsum([0, *(vec.num_games for vec in tables)]).tolist()
        # of each vector's games
        self._places = [slice(*pair) for pair in itertools.pairwise(starts)]
        self._masks = np.zeros((count, NUM_ACTIONS), np.bool_)
        self._memory = np.zeros((count, tables[0].num_players, MEMORY))  # of the parent
        self._returns = np.zeros(count)
        self._lengths = np.zeros(count, np.int64)
        self._actions = np.zeros(count, np.int64)

    def reset(self) -> NDArray[np.float32]:
        """Start all games again; after `seed`, those of that seed."""
        seed = self._seeds[0]
        for number, vec in enumerate(self.tables):
            vec.reset(None if seed is None else seed * len(self.tables) + number)
        self._reset_seeds()
        for array in (self._memory, self._returns, self._lengths):
            array.fill(0)
        self._write_masks()
        return self.observations()

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
        for array in (self._memory, self._returns, self._lengths):
            array[done] = 0
        self.finished += int(done.sum())
        self._write_masks()
        return self.observations(), reward, done, infos

    def observations(self) -> NDArray[np.float32]:
        """What the learner sees now: (N, D) float32, a copy."""
        return self._joined(lambda batch: batch.observation)

    def action_masks(self) -> NDArray[np.bool_]:
        """The actions that the learner may choose now, (N, 205) bool."""
        return self._masks

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

    def _write_masks(self) -> None:
        for vec, place in zip(self.tables, self._places, strict=True):
            self._masks[place] = (
                vec.batch.action_mask
                if self._repertoire is None
                else self._shared(vec, place, self._repertoire)
            )

    def _shared(
        self, vec: VectorMonopoly, place: slice, repertoire: Repertoire
    ) -> NDArray[np.bool_]:
        batch: Batch = vec.batch
        by_parent = None
        if self._parent is not None:
            at = np.arange(vec.num_games), batch.player
            decisions = Decisions(vec.games, self._memory[place][at])
            by_parent = self._parent.act(decisions)
            self._memory[place][at] = decisions.memory
        choices, answers = share_out(repertoire, batch.action_mask, batch.decision, by_parent)
        settled = np.flatnonzero(~choices.any(1))
        choices[settled, answers[settled]] = True
        return choices

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that the games under way are, by name."""
        games = {
            f"{number}.{name}": array
            for number, vec in enumerate(self.tables)
            for name, array in vec.state().items()
        }
        return games | self._own() | {"finished": np.array(self.finished)}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue where `arrays` was called."""
        for number, vec in enumerate(self.tables):
            vec.set_state({name: arrays[f"{number}.{name}"] for name in vec.state()})
        for name, array in self._own().items():
            array[...] = arrays[name]
        self.finished = int(arrays["finished"])

    def _own(self) -> dict[str, NDArray[Any]]:
        return {
            "masks": self._masks,
            "memory": self._memory,
            "returns": self._returns,
            "lengths": self._lengths,
        }

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


class ChoiceBuffer(MaskableRolloutBuffer):
    """A rollout buffer whose samples are the decisions with two or more legal actions.

    There is nothing to learn from the others.

    Returns and advantages are computed over all decisions.
    """

    def get(  # type: ignore[override]  # as in the library
        self, batch_size: int | None = None
    ) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """Each sample once, in an order drawn by torch, in minibatches of nearly the same size.

        Args:
            batch_size: Most samples in a minibatch; None: all.
        """
        if not self.generator_ready:
            for name in (
                "observations",
                "actions",
                "values",
                "log_probs",
                "advantages",
                "returns",
                "action_masks",
            ):
                setattr(self, name, self.swap_and_flatten(getattr(self, name)))
            self.generator_ready = True
        real = np.flatnonzero(self.action_masks.sum(1) > 1)
        if not len(real):
            real = np.arange(len(self.action_masks))
        order = real[torch.randperm(len(real)).numpy()]
        for rows in np.array_split(order, -(-len(order) // (batch_size or len(order)))):
            yield self._get_samples(rows)
