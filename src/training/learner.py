"""Deep Q-learning with a network a head: what an action is worth, learned from transitions.

Q-learning with target networks and replay after Mnih et al., "Human-level control through deep reinforcement learning" (Nature
518, 2015); double as in van Hasselt, Guez and Silver (AAAI 2016); n-step returns come with the transitions; an expert's
decisions are learned with the large margin of Hester et al., "Deep Q-learning from demonstrations" (AAAI 2018).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from monopoly_env.actions import HEAD_NAMES, HEAD_OF
from monopoly_env.errors import MonopolyError
from training.experience.replay import Transitions, unpack
from training.networks import HeadNetworks


class DivergenceError(MonopolyError, ArithmeticError):
    """The loss is no longer a finite number: training can't go on."""


class Batch(NamedTuple):
    """Transitions as tensors; see `Transitions`. Masks are unpacked."""

    observation: Tensor
    choices: Tensor
    action: Tensor
    reward: Tensor
    discount: Tensor
    next_observation: Tensor
    next_choices: Tensor


def to_tensors(transitions: Transitions, device: torch.device) -> Batch:
    """Transitions as tensors on a device."""
    on = {name: torch.from_numpy(column).to(device) for name, column in transitions._asdict().items() if "choices" not in name}
    return Batch(
        observation=on["observation"].float(),
        choices=torch.from_numpy(unpack(transitions.choices)).to(device),
        action=on["action"].long(),
        reward=on["reward"],
        discount=on["discount"],
        next_observation=on["next_observation"].float(),
        next_choices=torch.from_numpy(unpack(transitions.next_choices)).to(device),
    )


@torch.no_grad()
def targets(online: HeadNetworks, target: HeadNetworks, batch: Batch) -> Tensor:
    """What the values of the actions taken should be.

    The reward on the way, and the discounted value of the best action that is open at the same player's later decision, in any
    head: chosen by the online networks, valued by the target networks. After the end of a game there is the reward alone.

    Returns:
        (N,) float32.
    """
    goal = batch.reward.clone()
    rows = (batch.discount > 0).nonzero()[:, 0]
    if len(rows):
        seen, choices = batch.next_observation[rows], batch.next_choices[rows]
        best = online.values(seen, choices).argmax(1)
        goal[rows] += batch.discount[rows] * target.chosen(seen, best)
    return goal


def margin_losses(values: Tensor, action: Tensor, margin: float) -> Tensor:
    """By how much other open actions come closer than `margin` to the expert's, or pass it: (N,), 0 where none does.

    Args:
        values: (N, 205) of all open actions, minus infinity for the others.
        action: (N,) the expert's.
        margin: In units of value.
    """
    raised = torch.full_like(values, margin).scatter_(1, action[:, None], 0.0) + values
    return raised.max(1).values - values.gather(1, action[:, None])[:, 0]


class Learner:
    """Online and target networks and the optimizer.

    Attributes:
        online: The networks that play and learn.
        target: The copy that values what comes next.
        updates: Gradient steps so far.
    """

    def __init__(
        self, networks: HeadNetworks, device: torch.device, learning_rate: float, target_every: int, margin: float, margin_weight: float
    ) -> None:
        """Begin with networks as they are initialized.

        Args:
            networks: What is trained.
            device: Where.
            learning_rate: Adam's.
            target_every: Gradient steps between two copies to the target networks.
            margin: See `margin_losses`.
            margin_weight: Weight of these losses beside the Huber loss.
        """
        self.online = networks.to(device)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.device = device
        self.updates = 0
        self._optimizer = torch.optim.Adam(self.online.parameters(), lr=learning_rate, fused=True)
        self._target_every = target_every
        self._margin = margin
        self._margin_weight = margin_weight

    @torch.no_grad()
    def best(self, observation: NDArray[np.float32], choices: NDArray[np.bool_]) -> NDArray[np.int64]:
        """(N,) the open action of the highest value, over all heads: a `Chooser`."""
        seen, open_ = torch.from_numpy(observation).to(self.device), torch.from_numpy(choices).to(self.device)
        return np.asarray(self.online.values(seen, open_).argmax(1).cpu().numpy())

    def update(self, own: Transitions | None, expert: Transitions | None) -> dict[str, float]:
        """A gradient step: each head's mean Huber loss counts alike.

        Args:
            own: Of the learner's games.
            expert: Of an expert's.

        Returns:
            `loss/<head>`, `q/<head>` (mean value of the actions taken), `loss/margin`, and `agreement` (share of the expert's
            decisions that the networks would take too).

        Raises:
            DivergenceError: The loss is not finite. The networks are left as they were.
        """
        told: dict[str, float] = {}
        losses = []
        if own is not None:
            batch = to_tensors(own, self.device)
            losses.append(self._huber(batch, self.online.chosen(batch.observation, batch.action), told))
        if expert is not None:
            batch = to_tensors(expert, self.device)
            values = self.online.values(batch.observation, batch.choices)
            losses.append(self._huber(batch, values.gather(1, batch.action[:, None])[:, 0], told))
            margin = margin_losses(values, batch.action, self._margin).mean()
            losses.append(self._margin_weight * margin)
            told |= {"loss/margin": margin.item(), "agreement": (values.argmax(1) == batch.action).float().mean().item()}
        self._descend(sum(losses, torch.zeros((), device=self.device)), told)
        return told

    def _huber(self, batch: Batch, value: Tensor, told: dict[str, float]) -> Tensor:
        """The sum over heads of the mean Huber loss."""
        loss = functional.huber_loss(value, targets(self.online, self.target, batch), reduction="none")
        head_of = torch.as_tensor(HEAD_OF, device=self.device)[batch.action]
        total = loss.new_zeros(())
        for head in self.online.heads:
            mine = head_of == HEAD_NAMES.index(head)
            if mine.any():
                mean = loss[mine].mean()
                total = total + mean
                told |= {f"loss/{head}": mean.item(), f"q/{head}": value[mine].mean().item()}
        return total

    def _descend(self, loss: Tensor, told: Mapping[str, float]) -> None:
        if not torch.isfinite(loss):
            parts = ", ".join(f"{name} {value:.3g}" for name, value in told.items())
            raise DivergenceError(f"The loss is {loss.item()} at update {self.updates + 1} ({parts}). Try a lower learning rate.")
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.online.parameters(), 10.0)
        self._optimizer.step()
        self.updates += 1
        if self.updates % self._target_every == 0:
            self.target.load_state_dict(self.online.state_dict())

    def arrays(self) -> dict[str, dict[str, NDArray[Any]]]:
        """Parts of a checkpoint: `online`, `target` and `optimizer` (Adam's moments, by number of the parameter)."""
        moments = self._optimizer.state_dict()["state"]
        optimizer = {f"{number}.{name}": value.cpu().numpy() for number, state in moments.items() for name, value in state.items()}
        return {"online": self.online.arrays(), "target": self.target.arrays(), "optimizer": optimizer}

    def set_arrays(self, parts: Mapping[str, Mapping[str, NDArray[Any]]], updates: int) -> None:
        """Go on where `arrays` was called, after `updates` gradient steps."""
        self.online.set_arrays(parts["online"])
        self.target.set_arrays(parts["target"])
        state: dict[int, dict[str, Tensor]] = {}
        for key, array in parts["optimizer"].items():
            number, name = key.split(".")
            state.setdefault(int(number), {})[name] = torch.as_tensor(array)
        groups = self._optimizer.state_dict()["param_groups"]
        self._optimizer.load_state_dict({"state": state, "param_groups": groups})
        self.updates = updates
