"""A policy of one network, an actor.

It plays the open action of the highest score, or draws one by the probabilities.

The weights come from training (`python -m training.maskable_ppo`); playing needs no torch. A saved
policy says what it was trained for: encoding, number of players, rules, heads. `agents.load`
refuses a file whose features are not those of this version.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.networks.forward import evaluate
from agents.networks.layout import Architecture
from agents.networks.policy import NetworkPolicy
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.kernels import entry

_DROPPED: Final = np.uint64(11)  # bits of a key beyond the 53 that a float64 holds
_ACTOR: Final = ""  # the network has no name: its arrays are `layer.weight` and `layer.bias`


class ActorPolicy(NetworkPolicy):
    """A network with ReLU that scores all 205 actions: their log-probabilities, up to a constant.

    Attributes:
        sample: Whether to draw actions by their probabilities, with the decision's key; else the
            likeliest one is played.
    """

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
        """Create a network of zeros; `sample` as above, all else as in `NetworkPolicy`."""
        self.sample = bool(sample)
        super().__init__(
            heads, hidden, encoding=encoding, num_players=num_players, raise_freely=raise_freely,
            parent=parent, rules=rules,
            features=features, name=name,
        )  # fmt: skip

    @property
    def kind(self) -> str:
        """`actor`."""
        return "actor"

    def options(self) -> dict[str, Any]:
        """What the network is and what it was trained for."""
        return super().options() | {"sample": self.sample}

    def _networks(self) -> dict[str, Architecture]:
        return {
            _ACTOR: Architecture(self._encoding.size, self._hidden, (("actions", NUM_ACTIONS),))
        }

    def choose(
        self, observation: NDArray[np.float32], choices: NDArray[np.bool_], key: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose the action of the highest score, or draw one."""
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
        return evaluate(self.rows[_ACTOR], observation)


@entry()
def _draw(
    scores: NDArray[np.float32], share: NDArray[np.float64], actions: NDArray[np.int64]
) -> None:
    """Find the action at which a share in [0, 1) of the sum of all probabilities is reached.

    Scores may be minus infinity.

    Sums run in one order, so that a decision does not depend on its batch.
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
