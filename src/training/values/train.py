"""Train the network that gives the shares of the win of all players: targets, learner, loop.

python -m training.values                                      # half an hour on one core
python -m training.values --games 4000 --out runs/short        # a minute
python -m training.values --resume                             # continue a run that was stopped

The algorithm is `train`. Games of many scripted policies are played (`training.values.tables`); of
each a few states are kept (`training.values.sampling`). The network learns by cross-entropy which
player won, a chunk of games after the other, at a learning rate that falls to zero. What it learns
are lambda-returns: the value that it gives to the next state kept counts a little, as well as the
outcome (Sutton, "Learning to predict by the methods of temporal differences", Machine Learning 3,
1988).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from torch import Tensor

from agents.values.network import ARCHITECTURE
from agents.values.saved import save
from monopoly_env.cli.terminal import TextTable
from training.networks import (
    Network,
    arrays_of,
    optimizer_arrays,
    set_arrays_of,
    set_optimizer_arrays,
)
from training.run.checkpoints import Parts
from training.run.options import result_settings
from training.run.session import DivergenceError, Session
from training.values.options import FREE_HERE, UNKNOWN, ValueOptions, check
from training.values.sampling import States, play
from training.values.tables import BATCH, Mixture, training_games

# in the folder of a run, beside what every run has
FILES: Final = {"value.safetensors": "the network: `agents.values.make` reads it"}
_MEASURED: Final = 64  # batches of them
_ROWS: Final = 1 << 14  # states that go through the network at a time, where there is no gradient


# --- targets


def by_seat(places: NDArray[np.float64], seats: NDArray[np.int64]) -> NDArray[np.float64]:
    """(..., 4) shares by seat, from shares by place and its seat; seat -1 has no share."""
    # the last one takes what belongs to nobody
    out = np.zeros((*places.shape[:-1], places.shape[-1] + 1))
    np.put_along_axis(out, seats, np.where(seats >= 0, places, 0.0), -1)
    return out[..., :-1]


def by_place(shares: NDArray[np.float64], seats: NDArray[np.int64]) -> NDArray[np.float64]:
    """(..., 4) shares by place, from shares by seat; 0 for places without a player."""
    return np.where(seats >= 0, np.take_along_axis(shares, np.maximum(seats, 0), -1), 0.0)


def returns(
    values: NDArray[np.float64], share: NDArray[np.float64], count: NDArray[np.int64], trace: float
) -> NDArray[np.float64]:
    """(B, K, 4) the lambda-returns G of the states of games.

    G_t = (1 - lambda) V_(t+1) + lambda G_(t+1), and the outcome after the last state.

    Args:
        values: (B, K, 4) V, the shares by seat that the network gives to each state.
        share: (B, 4) the outcomes.
        count: (B,) how many of the K states are there.
        trace: Lambda.
    """
    target = np.repeat(share[:, None], values.shape[1], 1)
    for t in range(values.shape[1] - 2, -1, -1):
        goes_on = (t + 1 < count)[:, None]
        target[:, t] = np.where(
            goes_on, (1 - trace) * values[:, t + 1] + trace * target[:, t + 1], share
        )
    return target


def losses(logits: Tensor, target: Tensor, there: Tensor) -> Tensor:
    """(N,) cross-entropy of (N, 4) shares by place, given (N, 4) which places have a player."""
    logs = logits.masked_fill(~there, -torch.inf).log_softmax(1)
    return -(target * logs.masked_fill(~there, 0.0)).sum(1)


def brier(shares: NDArray[np.float64], outcome: NDArray[np.float64]) -> NDArray[np.float64]:
    """(...) the Brier score of (..., P) shares: squared distances from the outcome, summed."""
    return np.asarray(((shares - outcome) ** 2).sum(-1))


# --- learner


class ValueLearner:
    """Everything that changes during a run.

    Attributes:
        options: Its options.
        games: Games learned from so far.
        curve: `games`, and the Brier scores on `training` and `held out` policies.
    """

    def __init__(self, options: ValueOptions) -> None:
        """Start with a new network."""
        torch.set_num_threads(1)  # results repeat to the bit
        torch.manual_seed(options.seed)
        self.options = options
        self.games = 0
        self.curve: list[dict[str, float]] = []
        self.mixture = Mixture.training()
        self.network = Network(ARCHITECTURE)
        with torch.no_grad():
            self.network.last.weight.zero_()  # everybody's share is the same at first
            self.network.last.bias.zero_()
        rate, decay = options.learning_rate, options.weight_decay
        self._optimizer = torch.optim.AdamW(
            self.network.parameters(), lr=rate, weight_decay=decay, fused=True
        )
        self._measured = {"training": self.mixture, "held out": Mixture.held_out()}
        self._states: dict[str, States] = {}

    def play(self) -> States:
        """Play the next chunk of games."""
        options, first = self.options, self.games // BATCH
        batches = range(first, min(first + options.chunk // BATCH, options.games // BATCH))
        kept, threads = options.kept, options.threads
        return States.joined(play(self.mixture, batches, options.seed, kept=kept, threads=threads))

    def learn(self, states: States) -> dict[str, float]:
        """Learn from a chunk of games; returns `loss`, and `brier` before it was learned from.

        Raises:
            DivergenceError: The loss is not finite.
        """
        options, there = self.options, states.there
        values = self.shares(states)
        targets = returns(values, states.share, states.kept, options.trace)
        target = by_place(targets, states.seats)[there]
        seen = torch.from_numpy(states.seen[there])
        seats = torch.from_numpy(states.seats[there] >= 0)
        wanted = torch.from_numpy(target.astype(np.float32))
        draw = np.random.Generator(np.random.PCG64((options.seed, self.games)))
        epochs = [minibatches(draw, len(target), options.batch) for _ in range(options.epochs)]
        steps, total = [rows for epoch in epochs for rows in epoch], 0.0
        for number, rows in enumerate(steps):
            done = (self.games + len(states.kept) * number / len(steps)) / options.games
            for group in self._optimizer.param_groups:
                group["lr"] = options.learning_rate * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
            loss = losses(self.network(seen[rows].float()), wanted[rows], seats[rows]).mean()
            self._optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self._optimizer.step()
            total += loss.item()
        if not math.isfinite(total):
            raise DivergenceError(
                f"The loss is {total} after {self.games:,} games. Try a lower --learning-rate."
            )
        self.games += len(states.kept)
        outcome = np.repeat(states.share[:, None], states.when.shape[1], 1)
        return {"loss": total / len(steps), "brier": float(brier(values, outcome)[there].mean())}

    @torch.no_grad()
    def shares(self, states: States) -> NDArray[np.float64]:
        """(B, K, 4) the shares by seat that the network gives to states."""
        seen = states.seen.reshape(-1, states.seen.shape[-1])
        seats = states.seats.reshape(len(seen), -1)
        parts = [
            self.network(torch.from_numpy(seen[at : at + _ROWS]).float())
            for at in range(0, len(seen), _ROWS)
        ]
        logits = torch.cat(parts).double().masked_fill(torch.from_numpy(seats < 0), -torch.inf)
        places = logits.softmax(1).nan_to_num(0.0).numpy()  # rows without a state have no player
        return by_seat(places, seats).reshape(*states.when.shape, -1)

    def measure(self) -> dict[str, float]:
        """The Brier scores on games that no run learns from."""
        scores = {}
        batches = range(UNKNOWN, UNKNOWN + _MEASURED)
        for name, mixture in self._measured.items():
            if name not in self._states:
                played = play(mixture, batches, 0, threads=self.options.threads)
                self._states[name] = States.joined(played)
            states = self._states[name]
            outcome = np.repeat(states.share[:, None], states.when.shape[1], 1)
            scores[name] = float(brier(self.shares(states), outcome)[states.there].mean())
        self.curve.append({"games": self.games} | scores)
        return scores

    def state(self) -> tuple[Parts, dict[str, Any]]:
        """The content of a checkpoint."""
        parts = {"network": arrays_of(self.network), "optimizer": optimizer_arrays(self._optimizer)}
        return parts, {"games": self.games, "curve": self.curve}

    def set_state(self, parts: Parts, values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        set_arrays_of(self.network, parts["network"])
        set_optimizer_arrays(self._optimizer, parts["optimizer"])
        self.games, self.curve = values["games"], values["curve"]


def minibatches(draw: np.random.Generator, rows: int, size: int) -> Sequence[NDArray[np.int64]]:
    """The rows in a new order, cut into minibatches."""
    return np.array_split(draw.permutation(rows), max(1, round(rows / size)))


# --- training


def training_of(options: ValueOptions) -> dict[str, Any]:
    """The training of a network, as JSON values of its file."""
    settings = {"games": options.games, "states": options.kept, "seed": options.seed}
    return training_games() | settings | {"options": result_settings(options, FREE_HERE)}


def train(learner: ValueLearner, session: Session) -> None:
    """The training loop."""
    options, report = learner.options, session.report
    while learner.games < options.games:
        with report.clock("games"):
            states = learner.play()
        with report.clock("learning"):
            report.log(learner.learn(states))
        with report.clock("measuring"):
            scores = learner.measure()
        report.advance(learner.games, "playing and learning")
        report.curves(learner.games, {f"brier/{name}": score for name, score in scores.items()})
        session.save(learner, learner.games)


def execute(options: ValueOptions, console: Console) -> dict[str, Any]:
    """Train from the beginning or from a checkpoint, and write the network.

    Raises:
        MonopolyError: Wrong options, a folder that can't be used, a checkpoint that is missing or
            damaged, a loss that is not finite.
    """
    check(options)
    settings = result_settings(options, FREE_HERE, preset="values", training=training_games())
    with Session.open(
        options, settings, console, f"{options.games:,} games", files=FILES
    ) as session:
        learner = ValueLearner(options)
        if options.resume:
            session.restore(learner)
        session.report.begin(options.games, learner.games, "games")
        train(learner, session)
        file = session.run.folder / "value.safetensors"
        save(file, arrays_of(learner.network), training_of(options))
        results = {"value": str(file), "games": learner.games, "curve": learner.curve}
        session.run.write_json("evaluation.json", results)
        return results | {"time": session.report.clock.shares()}


def show(results: dict[str, Any]) -> None:
    """Print the Brier scores of a run."""
    title = f"Brier score of {results['value']} on games it was not trained on"
    table = TextTable("games", "training policies", "held-out policies", title=title)
    for row in results["curve"][-10:]:
        table.add_row(f"{row['games']:,}", f"{row['training']:.4f}", f"{row['held out']:.4f}")
    Console().print(table)
