"""What learns: one network of the thesis, its target copy and its optimizer, and the memory that it learns from in its own games."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from agents.networks.ocnaru import HIDDEN, NETWORKS
from monopoly_env.encoding import ocnaru


def network(head: str) -> nn.Sequential:
    """Layers of 128, 64 and 32 units with ReLU, initialized by torch's generator."""
    sizes = (ocnaru.SIZE, *HIDDEN, NETWORKS[head].size)
    layers = [part for before, after in itertools.pairwise(sizes) for part in (nn.Linear(before, after), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


class HeadLearner:
    """One of the networks, learning.

    Attributes:
        head: Which.
        online: What plays and learns.
        target: The copy that values what comes next.
    """

    def __init__(self, head: str, device: torch.device, learning_rate: float, discount: float) -> None:
        """Begin with random numbers."""
        self.head = head
        self.device = device
        self.online = network(head).to(device)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self._discount = discount
        self._optimizer = torch.optim.Adam(self.online.parameters(), lr=learning_rate, fused=True)

    def regress(self, observation: Tensor, choice: Tensor, goal: Tensor) -> tuple[Tensor, Tensor]:
        """A gradient step towards known returns (phase 1).

        Args:
            observation: (N, 100) float32.
            choice: (N,) int64.
            goal: (N,) float32.

        Returns:
            The Huber loss and the mean value of what was chosen, both scalars.
        """
        value = self.online(observation).gather(1, choice[:, None])[:, 0]
        return self._descend(functional.huber_loss(value, goal)), value.detach().mean()

    def update(self, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """A gradient step of Q-learning (phase 2) on what `Memory.sample` drew; returns as `regress` does."""
        with torch.no_grad():
            following = self.target(batch["next"]).masked_fill_(batch["closed"], -torch.inf).max(1).values
            goal = batch["reward"] + torch.where(batch["last"], 0.0, self._discount * following)
        return self.regress(batch["observation"], batch["choice"], goal)

    def _descend(self, loss: Tensor) -> Tensor:
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        return loss.detach()

    def copy_to_target(self) -> None:
        """Let the target network become what the online network is."""
        self.target.load_state_dict(self.online.state_dict())

    def numbers(self) -> dict[str, NDArray[np.float32]]:
        """Weights and biases, named as `agents.networks.ocnaru` has them; copies."""
        return _named(self.head, self.online)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that learning goes on from, by name."""
        moments = self._optimizer.state_dict()["state"]
        optimizer = {f"adam.{number}.{name}": value.cpu().numpy() for number, state in moments.items() for name, value in state.items()}
        target = {f"target.{name}": array for name, array in _named(self.head, self.target).items()}
        return self.numbers() | target | optimizer

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `arrays` returned."""
        _fill(self.head, self.online, arrays)
        _fill(self.head, self.target, {name.removeprefix("target."): array for name, array in arrays.items() if name.startswith("target.")})
        state: dict[int, dict[str, Tensor]] = {}
        for key, array in arrays.items():
            if key.startswith("adam."):
                _, number, name = key.split(".")
                state.setdefault(int(number), {})[name] = torch.as_tensor(array)
        groups = self._optimizer.state_dict()["param_groups"]
        self._optimizer.load_state_dict({"state": state, "param_groups": groups})


def _named(head: str, layers: nn.Sequential) -> dict[str, NDArray[np.float32]]:
    """`head.layer.weight` and `head.layer.bias`; in the sequence every other part is a ReLU."""
    arrays = {}
    for name, tensor in layers.state_dict().items():
        place, kind = name.split(".")
        arrays[f"{head}.{int(place) // 2}.{kind}"] = tensor.detach().cpu().numpy().copy()
    return arrays


def _fill(head: str, layers: nn.Sequential, arrays: Mapping[str, NDArray[Any]]) -> None:
    state = {}
    for name in layers.state_dict():
        place, kind = name.split(".")
        state[name] = torch.as_tensor(arrays[f"{head}.{int(place) // 2}.{kind}"])
    layers.load_state_dict(state)


class Memory:
    """The last transitions of a network, in a ring: what it saw and chose, what that brought, and what it saw next."""

    def __init__(self, capacity: int, outputs: int, device: torch.device) -> None:
        """Nothing is in it yet."""
        self.capacity = capacity
        self.added = 0
        columns = {
            "observation": torch.zeros(capacity, ocnaru.SIZE),
            "choice": torch.zeros(capacity, dtype=torch.int64),
            "reward": torch.zeros(capacity),
            "last": torch.zeros(capacity, dtype=torch.bool),
            "next": torch.zeros(capacity, ocnaru.SIZE),
            "closed": torch.zeros(capacity, outputs, dtype=torch.bool),
        }
        self._columns = {name: column.to(device) for name, column in columns.items()}

    def add(self, columns: Mapping[str, Tensor], row: int) -> None:
        """Put one row of some columns into the ring; the oldest gives way."""
        place = self.added % self.capacity
        for name, column in self._columns.items():
            column[place] = columns[name][row]
        self.added += 1

    def sample(self, generator: np.random.Generator, count: int) -> dict[str, Tensor]:
        """Draw `count` rows with replacement."""
        rows = torch.from_numpy(generator.integers(min(self.added, self.capacity), size=count)).to(self._columns["choice"].device)
        return {name: column[rows] for name, column in self._columns.items()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that is kept, by name."""
        filled = min(self.added, self.capacity)
        return {name: column[:filled].cpu().numpy() for name, column in self._columns.items()} | {"added": np.array(self.added)}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `arrays` returned."""
        self.added = int(arrays["added"])
        for name, column in self._columns.items():
            column[: len(arrays[name])] = torch.from_numpy(arrays[name])
