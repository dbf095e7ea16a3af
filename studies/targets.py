"""Targets for the value network, outcomes or playouts: `python -m studies.targets --help`.

python -m studies.targets     # minutes; writes a section of docs/results/values.md

`training.values` trains the network on outcomes of games, which cost nothing but have a high
variance. Shares of playouts, cut off after some rounds and bootstrapped by the network, have a low
variance but are expensive. Both train the shipped network further on the same states; held-out
games compare the three.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from agents.values import saved
from monopoly_env.analyse import Value, rollout
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.reference import table as markdown
from studies.pages import Page, Row, measured
from training.networks import set_arrays_of
from training.run.options import check_ranges
from training.run.session import DivergenceError
from training.values.options import UNKNOWN, ValueOptions
from training.values.sampling import States, play
from training.values.tables import BATCH
from training.values.train import ValueLearner, by_place, losses, minibatches

PAGE: Final = Path(__file__).parents[1] / "docs" / "results" / "values.md"
# batch of games that the network was not trained on, and that are not used to measure it
FIRST: Final = UNKNOWN + (UNKNOWN >> 2)
TEMPLATE: Final = "# How good is the network of values?\n"
SECTION: Final = "targets"
_MINIBATCH: Final = 256
_POLICIES: Final = ("training", "held out")


@dataclass(frozen=True)
class Options:
    """Train the value network further, on outcomes and on shares of playouts, and compare."""

    states: int = 20_480
    """Training states, one of each game."""
    playouts: int = 16
    """Playouts of each state, by the policies of its game."""
    turns: int = 10
    """Rounds after which a playout is cut off and valued."""
    epochs: int = 3
    """Passes over the states."""
    learning_rates: tuple[float, ...] = (1e-4, 1e-3)
    """Learning rates of AdamW, constant; a row for each."""
    seed: int = 0
    """Seed of games, playouts and the order of states."""
    threads: int | None = None
    """Threads that play; default: one per core. The result does not depend on them."""
    out: Path = PAGE
    """The page."""
    json: bool = False
    """Print one JSON object instead of the table."""


def labelled(
    learner: ValueLearner, value: Value, options: Options, console: Console
) -> tuple[States, NDArray[np.float64]]:
    """States of new games, and their shares by playouts, (B, 1, 4), by seat."""
    batches = range(FIRST, FIRST + -(-options.states // BATCH))
    played = list(
        play(learner.mixture, batches, options.seed, kept=1, records=True, threads=options.threads)
    )
    shares = np.zeros((len(played), BATCH, 1, 4))
    for place, (batch, states) in enumerate(
        track(list(zip(batches, played, strict=True)), "playing out", console=console)
    ):
        players = int(states.players[0])
        seats = learner.mixture.seats(players, BATCH, options.seed, batch)
        for row in np.flatnonzero(states.kept):
            seated = [learner.mixture.policies[number] for number in seats[row]]
            # of this state alone
            luck = int(np.random.SeedSequence((options.seed, batch, int(row))).generate_state(1)[0])
            how: dict[str, Any] = {
                "turns": options.turns,
                "value": value,
                "seed": luck,
                "threads": options.threads,
            }
            shares[place, row, 0, :players] = rollout(
                states.games[row, 0], seated, options.playouts, **how
            ).share
    return States.joined(played), np.concatenate(shares)


def teach(
    learner: ValueLearner,
    states: States,
    target: NDArray[np.float64],
    rate: float,
    options: Options,
) -> dict[str, float]:
    """Train the network on shares by seat (B, 1, 4); returns its Brier scores."""
    there = states.there
    seen, seats = (
        torch.from_numpy(states.seen[there]).float(),
        torch.from_numpy(states.seats[there] >= 0),
    )
    wanted = torch.from_numpy(by_place(target, states.seats)[there].astype(np.float32))
    optimizer = torch.optim.AdamW(
        learner.network.parameters(), lr=rate, weight_decay=learner.options.weight_decay
    )
    draw = np.random.Generator(np.random.PCG64(options.seed))
    for _ in range(options.epochs):
        for rows in minibatches(draw, len(seen), _MINIBATCH):
            loss = losses(learner.network(seen[rows]), wanted[rows], seats[rows]).mean()
            if not math.isfinite(loss.item()):
                raise DivergenceError(
                    f"The loss is {loss.item()} at the learning rate {rate:g}. Leave it out of"
                    " --learning-rates."
                )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return learner.measure()


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Train, measure, and write the page."""
    check_ranges(options, {
        "states": (BATCH, 1 << 24), "playouts": (1, 1 << 16), "turns": (1, 1 << 16),
        "epochs": (1, 1 << 10),
        "learning_rates": (1e-9, 1), "seed": (0, 1 << 31), "threads": (1, 1 << 10),
    })  # fmt: skip
    page = Page(options.out, TEMPLATE)
    page.check(SECTION)
    learner, arrays = (
        ValueLearner(ValueOptions(threads=options.threads or os.cpu_count() or 1)),
        saved.read(saved.SHIPPED["best"])[1],
    )
    began = time.process_time()
    states, shares = labelled(learner, saved.make("best"), options, console)
    minutes = (time.process_time() - began) / 60
    set_arrays_of(learner.network, arrays)
    shipped: Row = {"targets": "as it ships", "learning_rate": None}
    rows = [shipped | learner.measure()]
    for rate in options.learning_rates:
        for name, target in (("outcomes", states.share[:, None]), ("playouts", shares)):
            set_arrays_of(learner.network, arrays)
            rows.append(
                {"targets": name, "learning_rate": rate}
                | teach(learner, states, target, rate, options)
            )
    given = {name: getattr(options, name) for name in ("playouts", "turns", "epochs", "seed")}
    given |= {"states": int(states.kept.sum()), "date": f"{date.today()}"}
    stored = page.add((row | given for row in rows), ("targets", "learning_rate"), SECTION)
    page.write(SECTION, section(stored))
    return {"rows": rows, "minutes": minutes}


def section(rows: Sequence[Row]) -> str:
    """The table in Markdown."""
    lines = [
        (row["targets"], row["learning_rate"] or "", *(f"{row[name]:.4f}" for name in _POLICIES))
        for row in rows
    ]
    about = (
        f"{measured(rows)} {rows[0]['states']:,} states, {rows[0]['playouts']} playouts of"
        f" {rows[0]['turns']} rounds each, {rows[0]['epochs']} passes."
    )
    return f"{about}\n\n{markdown(('targets', 'learning rate', *_POLICIES), lines)}"


def show(results: dict[str, Any]) -> None:
    """Print the rows."""
    for row in results["rows"]:
        print(
            f"{row['targets']:12} {row['learning_rate'] or '':6}: {row['training']:.4f} training,"
            f" {row['held out']:.4f} held out"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if everything was measured."""
    return command.main("studies.targets", Command(Options(), execute, show), arguments)


if __name__ == "__main__":
    sys.exit(main())
