"""A player of one network, an actor: it plays the open action that the network scores highest, or draws one by its probabilities.

The numbers come from training (`python -m training.ppo`); playing them needs no torch. A saved one says what it was trained
for: encoding, number of players, rules, heads. `agents.load` refuses a file whose encoding is another one than this version's.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.networks.neural import NetworkPolicy, forward, transposed
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.errors import ConfigurationError
from monopoly_env.kernels import entry

_DROPPED: Final = np.uint64(11)  # bits of a key beyond the 53 that a float64 holds


class ActorPolicy(NetworkPolicy):
    """A network of linear layers with ReLU between them that scores all 205 actions: their log-probabilities, but for a constant.

    Attributes:
        sample: Whether actions are drawn by their probabilities, by the decision's key; else the likeliest is played.
    """

    _WITHOUT = "Without learning"

    def __init__(
        self,
        heads: Sequence[str],
        hidden: Sequence[int],
        *,
        encoding: str = "standard",
        num_players: int = 2,
        raise_freely: bool = False,
        parent: str | None = None,
        sample: bool = False,
        rules: Mapping[str, Any] | None = None,
        features: str | None = None,
        name: str | None = None,
    ) -> None:
        """A network of zeros; `sample` as above, all else as in `NetworkPolicy`."""
        self.sample = bool(sample)
        super().__init__(
            heads, hidden, encoding=encoding, num_players=num_players, raise_freely=raise_freely, parent=parent, rules=rules,
            features=features, name=name,
        )  # fmt: skip

    @property
    def kind(self) -> str:
        """`actor`."""
        return "actor"

    def options(self) -> dict[str, Any]:
        """What the network is and what it was trained for."""
        return super().options() | {"sample": self.sample}

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """`layer.weight` and `layer.bias`."""
        return layer_shapes(self._encoding.size, self._hidden)

    def _prepare(self) -> None:
        self._layers = transposed(self._arrays, "", len(self._hidden) + 1)

    def _choose(self, observation: NDArray[np.float32], choices: NDArray[np.bool_], key: NDArray[np.uint64]) -> NDArray[np.int64]:
        return self.choose(observation, choices, key)

    def choose(self, observation: NDArray[np.float32], choices: NDArray[np.bool_], key: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose among open actions.

        Args:
            observation: (B, D) float32.
            choices: (B, 205) bool, one action or more in each row.
            key: (B,) uint64, the chance of each decision.

        Returns:
            (B,) int64.
        """
        open_ = np.where(choices, self.scores(observation), np.float32(-np.inf))
        if not self.sample:
            return np.asarray(open_.argmax(1))
        actions = np.zeros(len(open_), np.int64)
        _draw(open_, (key >> _DROPPED).astype(np.float64) * 2.0**-53, actions)
        return actions

    def scores(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        """The scores (B, 205) of all actions for observations (B, D) float32.

        Raises:
            ConfigurationError: Observations of another length.
        """
        if observation.ndim != 2 or observation.shape[1] != self._encoding.size:
            raise ConfigurationError(f"Observations must be (B, {self._encoding.size}), not {observation.shape}.")
        return forward(self._layers, observation)


@entry()
def _draw(scores: NDArray[np.float32], share: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """The action at which a share in [0, 1) of the sum of all probabilities is reached; scores may be minus infinity.

    Sums run in one order, so that a decision does not depend on the batch it is in.
    """
    for row in range(len(scores)):
        best = float(scores[row].max())
        total = 0.0
        for score in scores[row]:
            total += math.exp(float(score) - best)
        reached = 0.0
        for action in range(scores.shape[1]):
            reached += math.exp(float(scores[row, action]) - best)
            if reached > share[row] * total:
                actions[row] = action
                break


def layer_shapes(features: int, hidden: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """The arrays of the network: names and shapes."""
    shapes: dict[str, tuple[int, ...]] = {}
    for layer, (before, after) in enumerate(itertools.pairwise((features, *hidden, NUM_ACTIONS))):
        shapes |= {f"{layer}.weight": (after, before), f"{layer}.bias": (after,)}
    return shapes
