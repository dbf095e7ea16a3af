"""Networks in training: from recorded decisions to tensors, and gradient steps on minibatches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.learned.architectures import STATE
from agents.networks.policy import NetworkPolicy
from training import losses
from training.experience.choices import Choices
from training.networks import (
    Network,
    Networks,
    arrays_of,
    optimizer_arrays,
    set_arrays_of,
    set_optimizer_arrays,
)
from training.options import AgentSpec, Hardware, OptimizerOptions
from training.run.checkpoints import Parts
from training.run.session import DivergenceError

_CHUNK: Final = 16_384  # decisions in a forward pass without gradients
_SURE: Final = math.log(0.99)
_MAX_NORM: Final = 1.0  # gradients are clipped to it


class Minibatch(NamedTuple):
    """Decisions that one network answers, as tensors: of a whole rollout, or a minibatch.

    Attributes:
        observation: (n, inputs) float16 or, by --precision, bfloat16.
        legal: (n, outputs) bool.
        action: (n,) int64, the output that was chosen.
        target: (n,) float32, of the value of the state.
        advantage: (n,) float32, the return less the value of the state.
        old_log_pi: (n,) float32, the log-probability of the action before the update.
    """

    observation: Tensor
    legal: Tensor
    action: Tensor
    target: Tensor
    advantage: Tensor
    old_log_pi: Tensor

    def take(self, rows: slice | Tensor) -> Minibatch:
        """Some of the rows: a slice, or (m,) their numbers."""
        if isinstance(rows, slice):
            return Minibatch(*(column[rows] for column in self))
        return Minibatch(*(column.index_select(0, rows) for column in self))


Result = TypeVar("Result")
# (minibatch, scores) -> losses (m,), and what to report of each decision
Loss = Callable[[Minibatch, Tensor], tuple[Tensor, Mapping[str, Tensor]]]


class Model:
    """The networks of an agent and their optimizers: one a kind of decision, and one of states.

    Attributes:
        networks: By name.
        learned: Decisions learned from so far.
        pool: Runs tasks beside the gradient steps.
    """

    learned = 0

    def __init__(
        self, spec: AgentSpec, options: OptimizerOptions, hardware: Hardware, device: torch.device
    ) -> None:
        """Initialize by torch's generator."""
        self.spec = spec
        self.device = device
        self.networks = Networks(spec.architectures).to(self.device)
        self._options = options
        self._precise = hardware.precision == "float32"
        self.pool = ThreadPoolExecutor(2, "learner")
        self._alone = hardware.threads == 1
        deciding = [
            weights for name in spec.deciding for weights in self.networks[name].parameters()
        ]
        self._optimizers = {
            name: torch.optim.Adam(weights, lr=options.learning_rate, fused=True)
            for name, weights in (
                ("actions", deciding), ("values", self.networks[STATE].parameters()),
            )
        }  # fmt: skip

    def agent(self, temperature: float = 0.0, name: str | None = None) -> NetworkPolicy:
        """The networks as a policy that draws its actions, or plays the best."""
        agent = self.spec.blank.drawing(temperature, name)
        agent.set_arrays(self.spec.weights(arrays_of(self.networks)))
        return agent

    @torch.no_grad()
    def start_from(self, agent: Any, temperature: float) -> None:
        """Take over an agent's networks; at another temperature they draw the same actions."""
        set_arrays_of(self.networks, agent.arrays())
        if agent.training_temperature not in (None, temperature):
            for name in self.spec.deciding:
                for weights in (self.networks[name].last.weight, self.networks[name].last.bias):
                    weights[1:] *= temperature / agent.training_temperature

    @torch.no_grad()
    def initialise_unseen(self, seen: NDArray[np.int64]) -> None:
        """Initialise unseen actions from a similar action's weights.

        `seen` counts how often each action was imitated.
        """
        similar = self.spec.similar
        for name, actions in zip(self.spec.deciding, self.spec.actions, strict=True):
            places = {int(action): 1 + place for place, action in enumerate(actions)}
            for action in similar.keys() & places.keys():
                if not seen[action]:
                    for weights in (self.networks[name].last.weight, self.networks[name].last.bias):
                        weights[places[action]] = weights[places[similar[action]]]

    def in_background(self, task: Callable[[], Result]) -> Callable[[], Result]:
        """Begin a task, or with --threads 1 put it off; call what is returned for its result."""
        return task if self._alone else self.pool.submit(task).result

    # From recorded decisions to tensors.

    def batches(self, decisions: Choices, target: NDArray[np.float32]) -> dict[str, Minibatch]:
        """The decisions of each network, with targets of values; nothing else is computed."""
        blank = np.zeros(decisions.size, np.float32)
        return {
            name: self._batch(name, decisions, rows, target, blank)
            for name, rows in self._rows(decisions).items()
        }

    @torch.no_grad()
    def compared(
        self,
        decisions: Choices,
        target: NDArray[np.float32],
        advantage: NDArray[np.float32],
        old: Networks,
        temperature: float,
    ) -> dict[str, Minibatch]:
        """The decisions of each network, with advantages and the log-probabilities of old networks.

        Most of those that the old networks were sure of are left out.
        """
        batches = {}
        for name, rows in self._rows(decisions).items():
            batch = self._batch(name, decisions, rows, target, advantage)
            chunks = [batch.take(rows) for rows in _slices(len(rows), _CHUNK)]
            log_pi = torch.cat([
                losses.log_probability(self.outputs(old[name], chunk)[1], chunk.action, temperature)
                for chunk in chunks
            ])  # fmt: skip
            drawn = torch.rand(len(rows)).to(self.device) < self._options.sure_share
            left = torch.nonzero((log_pi < _SURE) | drawn)[:, 0]
            batches[name] = batch._replace(old_log_pi=log_pi).take(left)
        return batches

    def _rows(self, decisions: Choices) -> dict[str, NDArray[np.int64]]:
        found = (
            (name, np.flatnonzero(decisions.network == number))
            for number, name in enumerate(self.spec.deciding)
        )
        return {name: rows for name, rows in found if len(rows)}

    def _batch(
        self,
        name: str,
        decisions: Choices,
        rows: NDArray[np.int64],
        target: NDArray[np.float32],
        advantage: NDArray[np.float32],
    ) -> Minibatch:
        actions = self.spec.actions[self.spec.deciding.index(name)]
        output = np.zeros(self.spec.num_actions, np.int64)
        output[actions] = np.arange(len(actions))
        legal = np.unpackbits(decisions.open[rows], axis=1, count=len(output))[:, actions]
        return Minibatch(
            observation=self._seen(name, decisions.observation[rows]),
            legal=self._tensor(legal.astype(np.bool_)),
            action=self._tensor(output[decisions.choice[rows]]),
            target=self._tensor(target[rows]),
            advantage=self._tensor(advantage[rows]),
            old_log_pi=torch.zeros(len(rows), device=self.device),
        )

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def _seen(self, name: str, observation: NDArray[np.float16]) -> Tensor:
        """(n, inputs) the features that a network sees: the first, or all."""
        kind = torch.float16 if self._precise else torch.bfloat16
        inputs = self.spec.architectures[name].inputs
        return self._tensor(observation)[:, :inputs].to(kind).contiguous()

    # Passes.

    def outputs(self, network: Network, batch: Minibatch) -> tuple[Tensor, Tensor]:
        """(M,) values of the states, and (M, outputs) scores of the actions."""
        outputs = self._forward(network, batch.observation)
        return outputs[:, 0], outputs[:, 1:].masked_fill(~batch.legal, losses.ILLEGAL)

    @torch.no_grad()
    def values(self, observation: NDArray[np.float16]) -> NDArray[np.float32]:
        """(N,) V(s), the chance to win of the players who see this."""
        chunks = (
            self._seen(STATE, observation[rows]) for rows in _slices(len(observation), _CHUNK)
        )
        return np.concatenate(
            [self._forward(self.networks[STATE], chunk)[:, 0].cpu().numpy() for chunk in chunks]
        )

    def _forward(self, network: Network, seen: Tensor) -> Tensor:
        """(M, outputs) of a network. Its last layer is of float32 at any precision."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=not self._precise):
            hidden = network.body(seen.float() if self._precise else seen)
        outputs: Tensor = network.last(hidden.float())
        return outputs

    # Gradient steps.

    def fit(
        self,
        batches: Mapping[str, Minibatch],
        loss: Loss,
        observation: NDArray[np.float16],
        target: NDArray[np.float32],
        *,
        size: int,
        learning_rate: float,
    ) -> dict[str, float]:
        """Gradient steps on minibatches of about `size` decisions; returns means of the reports.

        The deciding networks make `epochs` passes; each step takes a share of every network's
        decisions, so that one step of the optimizer serves them all. The network of states, which
        shares nothing with them, makes one pass over a share of all decisions, in the background.
        All random numbers are drawn first.

        Raises:
            DivergenceError: The loss is not finite.
        """
        for optimizer in self._optimizers.values():
            for group in optimizer.param_groups:
                group["lr"] = learning_rate
        steps = max(1, round(sum(len(batch.action) for batch in batches.values()) / size))
        orders = [
            {
                name: torch.randperm(len(batch.action)).to(self.device).tensor_split(steps)
                for name, batch in batches.items()
            }
            for _ in range(self._options.epochs)
        ]
        share = max(1, round(len(target) * self._options.value_share))
        rows = torch.randperm(len(target))[:share].numpy()
        seen, wanted = observation[rows], target[rows]
        values = self.in_background(partial(self._fit_values, seen, wanted, size))
        for order in orders:
            metrics = self._fit_actions(batches, order, loss)
        metrics |= values()
        self.learned += len(target)
        return metrics

    def _fit_actions(
        self, batches: Mapping[str, Minibatch], order: Mapping[str, Sequence[Tensor]], loss: Loss
    ) -> dict[str, float]:
        """One pass of the deciding networks."""
        sums: dict[str, Tensor] = {}
        for shares in zip(*order.values(), strict=True):
            total, count = torch.zeros((), device=self.device), 0
            for name, rows in zip(order, shares, strict=True):
                if len(rows):
                    batch = batches[name].take(rows)
                    values, scores = self.outputs(self.networks[name], batch)
                    action_loss, report = loss(batch, scores)
                    value_loss = losses.squared_error(values, batch.target)
                    weighted = action_loss + self._options.value_weight * value_loss
                    total, count = total + weighted.sum(), count + len(rows)
                    for key, reported in report.items():
                        zero = torch.zeros((), device=self.device)
                        sums[key] = sums.get(key, zero) + reported.detach().sum()
            if count:  # small rollouts have steps without any decision
                self._step(total / count, self._optimizers["actions"])
        decisions = sum(len(batch.action) for batch in batches.values())
        return {key: float(value) / decisions for key, value in sums.items()}

    def _fit_values(
        self, observation: NDArray[np.float16], target: NDArray[np.float32], size: int
    ) -> dict[str, float]:
        """One pass of the network of states."""
        seen, wanted, total = self._seen(STATE, observation), self._tensor(target), 0.0
        for part in _slices(len(target), size):
            values = self._forward(self.networks[STATE], seen[part])[:, 0]
            error = losses.squared_error(values, wanted[part])
            total += float(error.detach().sum())
            self._step(error.mean(), self._optimizers["values"])
        return {"loss/value": total / len(target)}

    def _step(self, loss: Tensor, optimizer: torch.optim.Optimizer) -> None:
        if not torch.isfinite(loss):
            raise DivergenceError(
                f"The loss is {loss.item()} after {self.learned:,} decisions. Try a lower"
                " --learning-rate."
            )
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], _MAX_NORM)
        optimizer.step()

    # Checkpoints.

    def parts(self) -> Parts:
        """The networks and the state of the optimizers."""
        return {"networks": arrays_of(self.networks)} | {
            f"optimizer_of_{name}": optimizer_arrays(optimizer)
            for name, optimizer in self._optimizers.items()
        }

    def set_parts(self, parts: Parts) -> None:
        """Continue from a checkpoint."""
        set_arrays_of(self.networks, parts["networks"])
        for name, optimizer in self._optimizers.items():
            set_optimizer_arrays(optimizer, parts[f"optimizer_of_{name}"])


def _slices(total: int, size: int) -> list[slice]:
    return [slice(start, start + size) for start in range(0, total, size)]
