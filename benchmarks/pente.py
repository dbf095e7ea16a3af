"""Measure the speed of Pente: `python benchmarks/pente.py`.

CPU time on one thread: the median and the best of several repetitions, since other programs on the
machine only slow it down. Networks are 200 random rows of weights; each plays all its games before
the next one does, as in an evaluation.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from agents.networks import pente
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.errors import ConfigurationError
from pente_env import VectorPente, scripted
from pente_env.fitness import EXPERIMENTS
from pente_env.loop import Table, play_games

GAMES = 20_000  # per repetition
NETWORKS = 200


@dataclass(frozen=True)
class Options:
    """Measure the games and stones per CPU second."""

    repeats: int = 5
    """Repetitions of each figure."""
    quick: bool = False
    """Measure a hundredth, once: to see that it runs."""
    json: bool = False
    """Print JSON instead of lines."""


@dataclass(frozen=True)
class Figure:
    """Games and moves per CPU second on one thread: median and best of all repetitions."""

    what: str
    games: float
    moves: float
    best_games: float
    best_moves: float
    mean_moves: float


def weights(network: pente.Architecture) -> NDArray[np.float64]:
    """Rows of weights from U(-6, 6), the initial population of evolution (biases 0)."""
    generator = np.random.default_rng(0)
    packed = [
        network.pack(
            {
                name: generator.uniform(-6, 6, shape) * ("bias" not in name)
                for name, shape in network.shapes().items()
            }
        )
        for _ in range(NETWORKS)
    ]
    return pente.rows(np.stack(packed))


def tables(games: int) -> Iterator[tuple[str, Table, NDArray[np.int64]]]:
    """Each measurement: a name, the players, and the seats in each game."""
    names = scripted.names()
    everyone = Table.of([scripted.make(name) for name in names])
    yield (
        "scripted players, all 25 tables of two",
        everyone,
        np.stack([np.arange(games) % 5, np.arange(games) // 5 % 5], axis=1),
    )
    for name in names:
        yield f"two of {name}", everyone, np.full((games, 2), names.index(name))
    for kind, recurrent, observes in (
        ("feed-forward", False, False),
        ("recurrent", True, False),
        ("attentive", True, True),
    ):
        network = pente.architecture(10, recurrent=recurrent)
        table = Table.of_rows(
            weights(network),
            pente.like(network, observes=observes),
            [scripted.make(name) for name in names],
        )
        for experiment in ("two", "pairs", "better"):
            tests = EXPERIMENTS[experiment]
            opponents = np.array(
                [[NETWORKS + names.index(name) for name in test] for test in tests]
            )
            players = 1 + opponents.shape[1]
            networks = np.arange(games)[:, None] * NETWORKS // games
            seats = np.hstack([networks, opponents[np.arange(games) % len(tests)]])
            turned = (
                np.arange(players) - (np.arange(games) // len(tests) % players)[:, None]
            ) % players
            yield (
                f"{kind} network, 10 units, experiment {experiment}",
                table,
                np.take_along_axis(seats, turned, axis=1),
            )


def measure(options: Options) -> Iterator[Figure]:
    """All figures."""
    games, repeats = (GAMES // 100, 1) if options.quick else (GAMES, options.repeats)
    for what, table, seats in tables(games):
        results = play_games(table, seats, np.arange(games), threads=1)
        moves = float(results["moves"].sum())
        seconds = [
            timed(lambda t=table, s=seats: play_games(t, s, np.arange(games), threads=1))
            for _ in range(repeats)
        ]
        middle, least = median(seconds), min(seconds)
        yield Figure(
            what, games / middle, moves / middle, games / least, moves / least, moves / games
        )
    steps = 2 if options.quick else 100
    vec = VectorPente(1024, opponents=["better"], threads=1)
    batch = vec.reset()

    def run() -> None:
        for _ in range(steps):
            vec.step(batch.action_mask.argmax(axis=1))

    run()
    seconds = [timed(run) / (steps * vec.num_games) for _ in range(repeats)]
    yield Figure(
        "vector steps against better, choosing included",
        1 / median(seconds),
        0,
        1 / min(seconds),
        0,
        0,
    )


def timed(run: Callable[[], Any]) -> float:
    """The CPU seconds of a call."""
    began = time.process_time()
    run()
    return time.process_time() - began


def main() -> int:
    """Run the command."""
    return command.main("benchmarks/pente.py", Command(Options, execute))


def execute(options: Options, _: Console) -> int:
    """Print the figures."""
    if options.repeats < 1:
        raise ConfigurationError(f"--repeats {options.repeats} must be 1 or more.")
    figures = []
    for figure in measure(options):
        figures.append(figure)
        if not options.json:
            stones = (
                f"{figure.moves / 1e6:6.2f} M moves/s (best {figure.best_moves / 1e6:.2f})"
                if figure.moves
                else ""
            )
            print(
                f"{figure.what:56} {figure.games:10,.0f} games/s (best"
                f" {figure.best_games:,.0f}) {stones}",
                flush=True,
            )
    if options.json:
        print(json.dumps([vars(figure) for figure in figures]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
