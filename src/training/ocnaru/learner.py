"""The learner of one network of the thesis (network, target network, optimizer) and its replay."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from agents.networks.ocnaru.table import ARCHITECTURES
from monopoly_env.encoding import ocnaru
from training import losses
from training.networks import (
    Network,
    arrays_of,
    optimizer_arrays,
    set_arrays_of,
    set_optimizer_arrays,
)


class HeadLearner:
    """The learner of one network: `online` plays and learns, `target` values the next state."""

    def __init__(
        self, head: str, device: torch.device, learning_rate: float, discount: float
    ) -> None:
        """Begin with random weights, drawn by torch's generator."""
        self.head = head
        self.device = device
        self.online = Network(ARCHITECTURES[head]).to(device)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self._discount = discount
        self._optimizer = torch.optim.Adam(self.online.parameters(), lr=learning_rate, fused=True)

    def regress(self, observation: Tensor, choice: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Take a gradient step towards known returns (phase 1).

        Args: (N, 100) float32 observations, (N,) int64 choices, (N,) float32 targets.

        Returns the Huber loss and the mean value of the chosen outputs, both scalars.
        """
        value = self.online(observation).gather(1, choice[:, None])[:, 0]
        return self._descend(functional.huber_loss(value, target)), value.detach().mean()

    def update(self, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Take a gradient step of Q-learning (phase 2) on a batch from `Memory.sample`.

        Returns what `regress` does.
        """
        with torch.no_grad():
            q = self.target(batch["next"]).masked_fill_(batch["closed"], -torch.inf)
            target = losses.q_learning_target(batch["reward"], batch["last"], q, self._discount)
        return self.regress(batch["observation"], batch["choice"], target)

    def _descend(self, loss: Tensor) -> Tensor:
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        return loss.detach()

    def copy_to_target(self) -> None:
        """Copy the online network to the target network."""
        self.target.load_state_dict(self.online.state_dict())

    def numbers(self) -> dict[str, NDArray[np.float32]]:
        """Weights and biases of the online network, as `OcnaruNetworks` names them; copies."""
        return {f"{self.head}.{name}": array for name, array in arrays_of(self.online).items()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that a learner resumes from, by name."""
        parts = {
            "online": arrays_of(self.online),
            "target": arrays_of(self.target),
            "adam": optimizer_arrays(self._optimizer),
        }
        return {f"{part}.{name}": a for part, arrays in parts.items() for name, a in arrays.items()}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `arrays` returned."""
        parts: dict[str, dict[str, NDArray[Any]]] = {"online": {}, "target": {}, "adam": {}}
        for key, array in arrays.items():
            part, _, name = key.partition(".")
            parts[part][name] = array
        set_arrays_of(self.online, parts["online"])
        set_arrays_of(self.target, parts["target"])
        set_optimizer_arrays(self._optimizer, parts["adam"])


class Memory:
    """A replay buffer of the last transitions of a network, in a ring."""

    def __init__(self, capacity: int, outputs: int, device: torch.device) -> None:
        """Create an empty buffer for so many transitions of a network of so many outputs."""
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
        """Add one row of the columns; it replaces the oldest if the buffer is full."""
        place = self.added % self.capacity
        for name, column in self._columns.items():
            column[place] = columns[name][row]
        self.added += 1

    def sample(self, generator: np.random.Generator, count: int) -> dict[str, Tensor]:
        """Draw `count` rows with replacement."""
        rows = torch.from_numpy(generator.integers(min(self.added, self.capacity), size=count)).to(
            self._columns["choice"].device
        )
        return {name: column[rows] for name, column in self._columns.items()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The content, by name."""
        filled = min(self.added, self.capacity)
        return {name: column[:filled].cpu().numpy() for name, column in self._columns.items()} | {
            "added": np.array(self.added)
        }

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `arrays` returned."""
        self.added = int(arrays["added"])
        for name, column in self._columns.items():
            column[: len(arrays[name])] = torch.from_numpy(arrays[name])
