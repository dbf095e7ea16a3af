"""A run of evolution, from top to bottom: generations, comparisons with the best so far, and the figures at the end.

A run is counted in generations and all that is drawn depends on the seed and the number of the generation, so one that was killed and
resumed ends in the same player as one that was not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from agents.arena.table import Table
from monopoly_env.policy.protocol import Policy
from training.evolution import cluster
from training.evolution.evaluation import FITNESSES, HELD_OUT, Played, Setting, play
from training.evolution.folder import FILES
from training.evolution.optimizers import check_restored
from training.evolution.options import Options, check, final_settings, genome_of, optimizer_of, settings
from training.evolution.reporting import CURVES, Reporter, write_csv
from training.run import checkpoints
from training.run.folder import Run, alone

# What dice are for: games of one purpose never meet those of another again.
_SEARCH, _COMPARE, _FINAL, _CURVE = range(4)
_QUANTILES: Final = {"min": 0.0, "quarter": 0.25, "median": 0.5, "three_quarters": 0.75, "max": 1.0}


class Evolution:
    """A run under way: all that changes while it goes.

    Attributes:
        best: (D,) the vector of the best player so far; zeros, the start, at first.
        rows: A point of every curve for each generation.
        measurements: The comparisons so far.
        curve: How often the best so far won at each table of the end, by generation.
    """

    def __init__(self, options: Options, table_type: type[Table] = Table) -> None:
        """Begin before the first generation; games are played at tables of this type."""
        self.options = options
        self.table_type = table_type
        self.genome = genome_of(options)
        self.optimizer = optimizer_of(options, self.genome)
        self.settings = FITNESSES[options.fitness]
        self.best = self.genome.origin
        self.rows: list[dict[str, float]] = []
        self.measurements: list[dict[str, Any]] = []
        self.curve: list[dict[str, Any]] = []
        self._watched: NDArray[np.float64] | None = None  # the player of the last points of the curve

    @property
    def generation(self) -> int:
        """Generations that were played."""
        return len(self.optimizer.history)

    def policy(self, vector: NDArray[np.float64]) -> Policy:
        """The player of a vector."""
        return self.genome.policy(vector, f"{self.options.genome}/evolved")

    def seed(self, purpose: int) -> int:
        """Of the games of this generation."""
        return int(np.random.SeedSequence((self.options.seed, purpose, self.generation)).generate_state(1)[0])

    def measures(self, generation: int) -> bool:
        """Whether the population is compared with the best so far after this generation."""
        return generation % self.options.measure_every == 0 or generation == self.options.generations

    def play(self, players: list[Policy], settings: Sequence[Setting], games: int, seed: int, report: Reporter) -> Played:
        """Play games of each of the players."""
        return play(players, settings, games, seed, self.options.threads, report.played, table_type=self.table_type)

    def games(self, generations: int) -> int:
        """Games of so many generations and of the comparisons in between."""
        options = self.options
        compared = sum(self.measures(number) for number in range(1, generations + 1))
        watched = (1 + compared) * len(final_settings(options)) * options.curve_games
        return generations * options.population * options.games + 2 * compared * options.measure_games + watched

    def tell(self, fitness: NDArray[np.float64]) -> None:
        """Learn the (L,) fitness of the generation that the optimizer was asked for."""
        self.optimizer.tell(fitness)
        row = {"generation": float(self.generation), "fitness/mean": float(fitness.mean()), "fitness/deviation": float(fitness.std())}
        row |= {f"fitness/{name}": float(np.quantile(fitness, share)) for name, share in _QUANTILES.items()}
        row["spread"] = self.optimizer.spread
        means = self.genome.values(self.optimizer.mean)
        self.rows.append(row | {f"mean/{name}": float(value) for name, value in zip(self.genome.names[:CURVES], means, strict=False)})

    def advance(self, report: Reporter) -> None:
        """Play a generation."""
        candidates = [self.policy(vector) for vector in self.optimizer.ask()]
        self.tell(self.play(candidates, self.settings, self.options.games, self.seed(_SEARCH), report).rates)

    def measure(self, report: Reporter) -> None:
        """Compare the middle of the population with the best so far, in fresh games; keep it if it is surely better."""
        options, mean = self.options, self.optimizer.mean
        pair = [self.policy(mean), self.policy(self.best)]
        told = self.play(pair, self.settings, options.measure_games, self.seed(_COMPARE), report).difference(0, 1)
        kept = told.low > 0
        if kept:
            self.best = mean
        rates = {"rate": told.rates[0], "best": told.rates[1], "difference": told.difference, "low": told.low, "high": told.high}
        self.measurements.append({"generation": self.generation, "games": options.measure_games} | rates | {"kept": kept})
        report.measured(self.measurements[-1])

    def watch(self, report: Reporter) -> None:
        """Note how often the best so far wins at each table of the end: always the same games, which it has not learned from."""
        options = self.options
        seed = int(np.random.SeedSequence((options.seed, _CURVE)).generate_state(1)[0])
        tables = final_settings(options)
        if not options.curve_games:
            return
        if self._watched is not None and np.array_equal(self._watched, self.best):  # the same player would play the same games
            for row in self.curve[-len(tables) :]:
                self.curve.append(row | {"generation": self.generation})
                report.watched(self.curve[-1])
            report.skipped(len(tables) * options.curve_games)
            return
        self._watched = self.best
        for setting in tables:
            played = self.play([self.policy(self.best)], [setting], options.curve_games, seed, report)
            low, high = played.interval(0)
            row = {"generation": self.generation, "opponent": str(setting), "win_rate": float(played.rates[0]), "low": low, "high": high}
            self.curve.append(row)
            report.watched(row)

    def save(self, folder: Path) -> None:
        """Write a checkpoint: the history, from which the rest follows."""
        arrays = {"fitness": np.array(self.optimizer.history), "mean": self.optimizer.mean, "best": self.best}
        checkpoints.write(folder, self.generation, {"evolution": arrays}, {"measurements": self.measurements, "curve": self.curve})

    def restore(self, folder: Path) -> None:
        """Go on from the last checkpoint: the optimizer is told again what it was told before."""
        parts, state = checkpoints.read_last(folder)
        with checkpoints.understood(checkpoints.paths(folder)[-1]):
            arrays = parts["evolution"]
            if not np.isfinite(arrays["fitness"]).all():
                raise ValueError("a fitness is no number")
            for fitness in arrays["fitness"]:
                self.optimizer.ask()
                self.tell(fitness)
            check_restored(self.optimizer, arrays["mean"])
            if arrays["best"].shape != self.best.shape:
                raise ValueError(f"best has the shape {arrays['best'].shape}, not {self.best.shape}")
            self.best, self.measurements, self.curve = arrays["best"], list(state["measurements"]), list(state["curve"])


def evolve(evolution: Evolution, run: Run, report: Reporter) -> None:
    """The algorithm."""
    options = evolution.options
    if not evolution.generation:
        report.doing("measuring the start")
        evolution.watch(report)
    while evolution.generation < options.generations:
        mean = f", fitness {evolution.rows[-1]['fitness/mean']:.3f}" if evolution.rows else ""
        report.doing(f"generation {evolution.generation + 1:,}/{options.generations:,}{mean}")
        evolution.advance(report)
        if evolution.measures(evolution.generation):
            report.doing(f"measuring generation {evolution.generation:,}")
            evolution.measure(report)
            evolution.watch(report)
            evolution.policy(evolution.best).save(run.best)
        report.curves(evolution.rows[-1])
        write_csv(run.folder / "curves.csv", evolution.rows)
        evolution.save(run.checkpoints)


def finish(evolution: Evolution, run: Run, report: Reporter) -> dict[str, Any]:
    """Save the best player and measure it beside the start; returns what evaluation.json holds."""
    options = evolution.options
    policy, start = evolution.policy(evolution.best), evolution.policy(evolution.genome.origin)
    policy.save(run.best)
    policy.save(run.agent)
    tables = []
    for setting in final_settings(options):
        report.doing(f"against {setting}")
        played = evolution.play([policy, start], [setting], options.final_games, evolution.seed(_FINAL), report)
        told, (low, high) = played.difference(0, 1), played.interval(0)
        tables.append(
            {"opponents": str(setting), "rules": setting.rules, "held_out": setting.opponents in HELD_OUT[1 + len(setting.opponents)]}
            | {"games": options.final_games, "start": told.rates[1], "rate": told.rates[0], "low": low, "high": high}
            | {"difference": told.difference, "difference_low": told.low, "difference_high": told.high}
        )
    results = {
        "agent": str(run.agent), "fitness": options.fitness, "generations": evolution.generation, "tables": tables,
        "genome": evolution.genome.explain(evolution.best), "measurements": evolution.measurements, "curve": evolution.curve,
    }  # fmt: skip
    run.write_json("evaluation.json", results)
    return results


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Evolve from the beginning or from a checkpoint, then measure.

    Raises:
        MonopolyError: Wrong settings, a folder in the way, a checkpoint that is missing or damaged, a cluster that fails.
    """
    check(options)
    with alone(options.out), cluster.joined(options.cluster, options.threads) as table_type:
        return _execute(options, Evolution(options, table_type), console)


def _execute(options: Options, evolution: Evolution, console: Console) -> dict[str, Any]:
    shaping = settings(options, evolution.genome)
    run = Run.open(options.out, shaping, resume=options.resume, overwrite=options.overwrite, files=FILES)
    if options.resume:
        evolution.restore(run.checkpoints)
    generations = max(options.generations, evolution.generation)
    games = evolution.games(generations) + 2 * len(final_settings(options)) * options.final_games
    console.print(f"{generations:,} generations of {options.population} candidates, {games:,} games, into {run.folder}")
    with Reporter(run.curves, console, games, evolution.games(evolution.generation), evolution.generation) as report:
        evolve(evolution, run, report)
        return finish(evolution, run, report)
