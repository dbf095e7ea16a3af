"""Networks in torch, for training; `agents.networks.forward` plays the same weights compiled.

    >>> from agents.networks.layout import Architecture
    >>> from monopoly_env.actions import NUM_ACTIONS
    >>> from training.networks import Network, arrays_of, set_arrays_of
    >>> network = Network(Architecture(602, (256, 128), (("actions", NUM_ACTIONS),)))
    >>> row = network.architecture.pack(arrays_of(network))  # for compiled policies
    >>> set_arrays_of(network, network.architecture.unpack(row))

The names and shapes of a network's arrays are those of `Architecture.shapes`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Final

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from agents.networks.layout import Architecture

_CELLS: Final[dict[str, type[nn.RNNCell | nn.GRUCell]]] = {"elman": nn.RNNCell, "gru": nn.GRUCell}
_ACTIVATIONS: Final = {"relu": torch.relu, "tanh": torch.tanh, "logistic": torch.sigmoid}


class Network(nn.ModuleDict):
    """The torch module of an architecture: linear layers by number, the last after a `cell`."""

    def __init__(self, architecture: Architecture) -> None:
        """Initialize by torch's generator."""
        *hidden, (before, after) = itertools.pairwise(architecture.sizes)
        parts: dict[str, nn.Module] = {
            str(number): nn.Linear(*pair) for number, pair in enumerate(hidden)
        }
        if architecture.units:
            parts["cell"] = _CELLS[architecture.cell](before, architecture.units)
        super().__init__(parts | {str(len(hidden)): nn.Linear(architecture.units or before, after)})
        self.architecture = architecture

    @property
    def last(self) -> nn.Linear:
        """The layer of the outputs."""
        layer = self[str(len(self.architecture.hidden))]
        assert isinstance(layer, nn.Linear)
        return layer

    def forward(self, signal: Tensor) -> Tensor:
        """(B, outputs) for (B, inputs). A cell begins with zeros."""
        return self.step(signal, None)[0]

    def step(self, signal: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """(B, outputs) of (B, inputs), and the next state of the cell, (B, units) or None.

        A state of None stands for zeros.
        """
        signal = self.body(signal)
        if self.architecture.units:
            signal = state = self._recur(signal, state)
        return self.last(signal), state

    def body(self, signal: Tensor) -> Tensor:
        """(B, units) what the hidden layers make of (B, inputs)."""
        for number in range(len(self.architecture.hidden)):
            signal = _ACTIVATIONS[self.architecture.activation](self[str(number)](signal))
        return signal

    def _recur(self, signal: Tensor, state: Tensor | None) -> Tensor:
        cell = self["cell"]
        assert isinstance(cell, (nn.RNNCell, nn.GRUCell))
        if (
            self.architecture.cell == "elman" and self.architecture.activation == "logistic"
        ):  # torch has no such cell
            before = signal.new_zeros(len(signal), cell.hidden_size) if state is None else state
            forward = functional.linear(signal, cell.weight_ih, cell.bias_ih)
            back = functional.linear(before, cell.weight_hh, cell.bias_hh)
            return torch.sigmoid(forward + back)
        return cell(signal, state)  # type: ignore[no-any-return]


class Networks(nn.ModuleDict):
    """Several networks by name."""

    def __init__(self, architectures: Mapping[str, Architecture]) -> None:
        """Initialize all, in their order."""
        super().__init__(
            {name: Network(architecture) for name, architecture in architectures.items()}
        )

    def __getitem__(self, name: str) -> Network:
        network = super().__getitem__(name)
        assert isinstance(network, Network)
        return network


def arrays_of(module: nn.Module) -> dict[str, NDArray[Any]]:
    """Weights and biases by name; copies."""
    return {
        name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()
    }


def set_arrays_of(module: nn.Module, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Take over what `arrays_of` returned."""
    module.load_state_dict({name: torch.as_tensor(array) for name, array in arrays.items()})


def optimizer_arrays(optimizer: torch.optim.Optimizer) -> dict[str, NDArray[Any]]:
    """Copies of Adam's moments and steps, as `<number of the parameter>.<name>`."""
    states = optimizer.state_dict()["state"]
    return {
        f"{number}.{name}": value.cpu().numpy().copy()
        for number, state in states.items()
        for name, value in state.items()
    }


def set_optimizer_arrays(
    optimizer: torch.optim.Optimizer, arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Take over what `optimizer_arrays` returned."""
    states: dict[int, dict[str, Tensor]] = {}
    for key, array in arrays.items():
        number, name = key.split(".")
        # a copy: Adam writes into it
        states.setdefault(int(number), {})[name] = torch.tensor(array)
    optimizer.load_state_dict(
        {"state": states, "param_groups": optimizer.state_dict()["param_groups"]}
    )
