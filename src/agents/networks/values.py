"""A policy of action values: a network for each head, and the legal action of the highest value over all heads that are open.

The weights come from training (`python -m training.dqn --preset plain`); playing needs no torch. A saved policy says what it was
trained for: encoding, number of players, rules, heads. `agents.load` refuses a file whose features are not those of this version.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents.networks.forward import evaluate
from agents.networks.layout import Architecture
from agents.networks.policy import NetworkPolicy
from monopoly_env.actions import HEADS
from monopoly_env.errors import ConfigurationError


def head_networks(features: int, heads: Sequence[str], hidden: Sequence[int]) -> dict[str, Architecture]:
    """A network for each head that values its actions by `features` numbers."""
    return {head: Architecture(features, tuple(hidden), ((head, HEADS[head].size),)) for head in heads}


class NeuralPolicy(NetworkPolicy):
    """A network with ReLU for each head, and the best of the open actions. Its arrays are named `head.layer.weight` and `.bias`."""

    @property
    def kind(self) -> str:
        """`neural`."""
        return "neural"

    def _networks(self) -> dict[str, Architecture]:
        return head_networks(self._encoding.size, self.repertoire.heads, self._hidden)

    def choose(self, observation: NDArray[np.float32], choices: NDArray[np.bool_], key: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose the open action of the highest value."""
        return np.asarray(self.values(observation, choices).argmax(1))

    def values(self, observation: NDArray[np.float32], choices: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Action values.

        Args:
            observation: (B, D) float32.
            choices: (B, 205) bool, the actions to value.

        Returns:
            (B, 205) float32, minus infinity for the others.

        Raises:
            ConfigurationError: Observations of another length.
        """
        if observation.shape != (len(choices), self._encoding.size):
            raise ConfigurationError(f"Observations must be ({len(choices)}, {self._encoding.size}), not {observation.shape}.")
        values = np.full(choices.shape, -np.inf, np.float32)
        for head in self.repertoire.heads:
            part = HEADS[head].slice
            rows = np.flatnonzero(choices[:, part].any(1))
            if len(rows):
                values[rows, part] = evaluate(self.rows[head], observation[rows])
        values[~choices] = -np.inf
        return values
