"""Action values by one network a head, in torch: what is trained. `agents.networks.neural` plays the same numbers in NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from monopoly_env.actions import HEAD_NAMES, HEAD_OF, HEADS, NUM_ACTIONS


class HeadNetworks(nn.Module):
    """A network of linear layers with ReLU between them for each head; together they value the actions of a decision."""

    def __init__(self, features: int, heads: Sequence[str], hidden: Sequence[int]) -> None:
        """Initialize by torch's generator.

        Args:
            features: Length of an observation.
            heads: Names of the heads.
            hidden: Units of the hidden layers.
        """
        super().__init__()
        self.heads = tuple(heads)
        self.layers = nn.ModuleDict({head: _Layers((features, *hidden, HEADS[head].size)) for head in heads})

    def values(self, observation: Tensor, choices: Tensor) -> Tensor:
        """Values of the actions of all open heads, on one scale.

        Args:
            observation: (B, D) float32.
            choices: (B, 205) bool, the actions to value.

        Returns:
            (B, 205) float32; minus infinity for the others.
        """
        values = observation.new_zeros((len(observation), NUM_ACTIONS))
        for head in self.heads:
            part = HEADS[head].slice
            rows = choices[:, part].any(1).nonzero()[:, 0]
            if len(rows):
                values[rows, part] = self.of_head(head, observation[rows])
        return values.masked_fill(~choices, -torch.inf)

    def chosen(self, observation: Tensor, action: Tensor) -> Tensor:
        """Values (B,) of the action of each row."""
        values = observation.new_zeros(len(observation))
        head_of = torch.as_tensor(HEAD_OF, device=action.device)[action]
        for head in self.heads:
            rows = (head_of == HEAD_NAMES.index(head)).nonzero()[:, 0]
            if len(rows):
                index = action[rows] - HEADS[head].start
                values[rows] = self.of_head(head, observation[rows]).gather(1, index[:, None])[:, 0]
        return values

    def of_head(self, head: str, observation: Tensor) -> Tensor:
        """Values (B, size of the head), by the network of a head."""
        values: Tensor = self.layers[head](observation)
        return values

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Weights and biases, named as `agents.networks.neural` has them; copies."""
        return {name.removeprefix("layers."): tensor.detach().cpu().numpy().copy() for name, tensor in self.state_dict().items()}

    def set_arrays(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Take over what `arrays` returned."""
        self.load_state_dict({f"layers.{name}": torch.as_tensor(array) for name, array in arrays.items()})


class _Layers(nn.ModuleList):
    """Linear layers, numbered from 0, with ReLU between them."""

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__(nn.Linear(before, after) for before, after in itertools.pairwise(sizes))

    def forward(self, signal: Tensor) -> Tensor:
        for number, layer in enumerate(self):
            signal = layer(signal.relu() if number else signal)
        return signal
