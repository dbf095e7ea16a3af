"""How the networks of a learned policy learn from pairs of rollouts, and by which margins they may then choose.

A network values the state and, beside it, each action; the value of an action is the sum of both. It minimizes two losses: the error in
how much better one of two actions did that were tried in the same state, and the error in how often games were won from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.arena.statistics import per_unit, standard_error
from agents.networks.learned.networks import ARCHITECTURES, NAMES, OUTPUT, turned
from agents.networks.learned.policy import NEVER
from monopoly_env.actions import NUM_ACTIONS
from training.networks import Networks, arrays_of
from training.rollouts.pairs import Pairs
from training.run.session import DivergenceError

MARGINS: Final = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12)  # those that are tried
_FEWEST: Final = 200  # pairs that a network needs to learn
_ROWS: Final = 8192  # pairs in a batch where nothing is learned


class Settings(NamedTuple):
    """How networks learn; see `training.rollouts.learner.Options`."""

    epochs: int
    batch: int
    learning_rate: float
    weight_decay: float
    state_weight: float
    seed: int
    threads: int


class DuelingNetworks(Networks):
    """All networks of a policy. Each outputs the value of the state, then what each action adds to it."""

    def __init__(self) -> None:
        """Initialize by torch's generator; no action is better than another at first."""
        super().__init__(ARCHITECTURES)
        for name in NAMES:
            nn.init.zeros_(self[name].last.weight)
            nn.init.zeros_(self[name].last.bias)

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Weights and biases as a policy saves them (`agents.networks.learned.networks.SHAPES`); copies."""
        return turned(arrays_of(self))


class Examples(NamedTuple):
    """N pairs of one network.

    Attributes:
        seen: (N, FEATURES) float16, the observations.
        base: (N,) the output of the parent's answer.
        other: (N,) the output of the other action.
        open: (N, outputs), the outputs of all actions that could be chosen.
        base_won: (N,) share of the win after the parent's answer.
        other_won: (N,) share of the win after the other action.
        game: (N,) the number of the game: pairs of one game are not independent.
    """

    seen: Tensor
    base: Tensor
    other: Tensor
    open: Tensor
    base_won: Tensor
    other_won: Tensor
    game: Tensor

    @classmethod
    def of(cls, network: int, chunks: Sequence[Pairs], rows: Sequence[NDArray[np.bool_]], device: torch.device) -> Examples:
        """Take the pairs of a network from some rows of each chunk."""
        mine = [chosen & (chunk.pairs["network"] == network) for chunk, chosen in zip(chunks, rows, strict=True)]
        pairs = np.concatenate([chunk.pairs[at] for chunk, at in zip(chunks, mine, strict=True)])
        seen = np.concatenate([chunk.seen[at] for chunk, at in zip(chunks, mine, strict=True)])
        legal = np.unpackbits(pairs["open"], axis=1, count=NUM_ACTIONS)[:, OUTPUT[network] >= 0].astype(np.bool_)
        open_ = np.concatenate([np.zeros((len(pairs), 1), np.bool_), legal], axis=1)  # the value of the state is not an action
        numbered = [chunk.pairs["game"][at] + np.int64(number << 32) for number, (chunk, at) in enumerate(zip(chunks, mine, strict=True))]
        game = np.concatenate(numbered)
        columns = OUTPUT[network][pairs["base"]], OUTPUT[network][pairs["other"]], open_, pairs["base_won"], pairs["other_won"], game
        return cls(*(torch.from_numpy(column.copy()).to(device) for column in (seen, *columns)))

    def take(self, rows: Tensor) -> Examples:
        """Some of the rows."""
        return Examples(*(column[rows] for column in self))


def values(network: nn.Module, examples: Examples) -> tuple[Tensor, Tensor]:
    """The chances to win by the parent's answer (N,), and by the other action (N,)."""
    outputs = network(examples.seen.float())
    state = outputs[:, 0]
    return state + outputs.gather(1, examples.base[:, None])[:, 0], state + outputs.gather(1, examples.other[:, None])[:, 0]


def losses(network: nn.Module, examples: Examples) -> tuple[Tensor, Tensor]:
    """The mean squared errors of the difference between the two actions, and of the two values."""
    base, other = values(network, examples)
    difference = (other - base) - (examples.other_won - examples.base_won)
    return (difference**2).mean(), ((base - examples.base_won) ** 2 + (other - examples.other_won) ** 2).mean() / 2


def learn(
    chunks: Sequence[Pairs],
    rows: Sequence[NDArray[np.bool_]],
    settings: Settings,
    device: torch.device,
    log: Callable[[Mapping[str, float]], None],
) -> DuelingNetworks:
    """Train new networks on pairs.

    Args:
        chunks: The pairs.
        rows: Which pairs of each chunk to learn from.
        settings: How to learn.
        device: Where the networks are trained.
        log: Called with the mean losses of each network, `difference/<network>` and `value/<network>`.

    Raises:
        DivergenceError: A loss is not finite.
    """
    torch.manual_seed(settings.seed)
    networks = DuelingNetworks().to(device)
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # one network per thread: results repeat to the bit
    try:
        with ThreadPoolExecutor(settings.threads) as pool:
            tasks = [
                pool.submit(_learn, name, networks[name], Examples.of(number, chunks, rows, device), settings)
                for number, name in enumerate(NAMES)
            ]
            for task in tasks:
                log(task.result())
    finally:
        torch.set_num_threads(before)
    return networks


def _learn(name: str, network: nn.Module, examples: Examples, settings: Settings) -> dict[str, float]:
    count = len(examples.base)
    if count < _FEWEST:
        return {}
    generator = torch.Generator().manual_seed(settings.seed)
    steps = max(1, settings.epochs * count // settings.batch)
    optimizer = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings.learning_rate, total_steps=steps + 1)
    sums = torch.zeros(2)
    for _ in range(steps):
        rows = torch.randint(count, (min(settings.batch, count),), generator=generator)
        difference, value = losses(network, examples.take(rows.to(examples.base.device)))
        loss = difference + settings.state_weight * value
        if not torch.isfinite(loss):
            raise DivergenceError(f"The loss of the network {name!r} is {loss.item()}. Try a lower learning rate.")
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        sums += torch.stack([difference.detach(), value.detach()]).cpu()
    return {f"difference/{name}": float(sums[0]) / steps, f"value/{name}": float(sums[1]) / steps}


def _favourites(network: nn.Module, examples: Examples) -> tuple[Tensor, Tensor]:
    """Whether the other action is the best beside the parent's (N,), and by how much it looks better than the parent's (N,)."""
    outputs = network(examples.seen.float())
    others = outputs.masked_fill(~examples.open, -torch.inf).scatter(1, examples.base[:, None], -torch.inf)
    better = outputs.gather(1, examples.other[:, None]) - outputs.gather(1, examples.base[:, None])
    return others.argmax(1) == examples.other, better[:, 0]


@torch.no_grad()
def choose_margins(
    networks: Networks, chunks: Sequence[Pairs], rows: Sequence[NDArray[np.bool_]], confidence: float, device: torch.device
) -> tuple[NDArray[np.float64], dict[str, float]]:
    """Choose for each network by how much an action must look better than the parent's to be taken.

    Only pairs count that the networks have not learned from, and in which the other action is the one that they would choose: the action
    that looks best of many is overrated, so the results of the others say nothing about it. The gain of a margin is the mean of what the
    action brought where it looked better than the parent's by more than the margin, and 0 elsewhere. The margin with the highest gain,
    less `confidence` standard errors, is chosen. A network whose gains are all below 0 never chooses. Pairs of one game share its result,
    so the errors come from the spread between games.

    Args:
        networks: What has learned.
        chunks: Pairs that it has not learned from.
        rows: Which pairs of each chunk count.
        confidence: Standard errors that are taken off a gain.
        device: Where the networks are.

    Returns:
        Margins (networks,); and by name the mean gain per pair (chance to win) of each network that may choose.
    """
    margins, gains = np.full(len(NAMES), NEVER), {}
    for number, name in enumerate(NAMES):
        examples = Examples.of(number, chunks, rows, device)
        if len(examples.base) < _FEWEST:
            continue
        parts = [_favourites(networks[name], examples.take(part)) for part in torch.split(torch.arange(len(examples.base)), _ROWS)]
        chosen, better = (torch.cat(column) for column in zip(*parts, strict=True))
        departures = examples.take(torch.nonzero(chosen)[:, 0])
        brought = (departures.other_won - departures.base_won).cpu().numpy()
        game, gap = departures.game.cpu().numpy(), better[chosen].cpu().numpy()
        if len(brought) < _FEWEST:
            continue
        best = 0.0
        for margin in MARGINS:
            gain = np.where(gap > margin, brought, 0.0)
            bound = float(gain.mean()) - confidence * standard_error(per_unit(gain - gain.mean(), game)[0] / len(gain))
            if bound > best:
                best, margins[number], gains[name] = bound, margin, float(gain.mean())
    return margins, gains
