"""A run of evolution on disk, the same for every algorithm: its settings, its loop, its checkpoints.

All random numbers depend on the seed and the number of the generation, so a run that was killed and resumed comes to the same result, bit
for bit, as one that was not.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from agents.arena.table import Table
from monopoly_env.errors import MonopolyError
from training.evolution import cluster
from training.evolution.folder import FILES
from training.evolution.reporting import Reporter, write_csv
from training.run import checkpoints
from training.run.folder import Run, alone
from training.run.options import FREE

POPULATION: Final = "population.npz"  # what a run of a population ends with: `population`, `fitness`, `kind`
MEAN: Final = "mean.safetensors"  # and its mean genome
CURVES: Final = "curves.csv"

_SHARE: Final = 10  # saving may take a tenth of the time
_LONGEST: Final = 60.0  # seconds that a killed run may lose, or a generation if that is longer
_QUANTILES: Final = {"min": 0.0, "quarter": 0.25, "median": 0.5, "three_quarters": 0.75, "max": 1.0}


@dataclass(frozen=True)
class RunOptions:
    """The options of every run of evolution."""

    free: ClassVar[tuple[str, ...]] = (*FREE, "threads", "cluster")  # fields that do not change the result

    out: Path = Path("runs/evolve")
    """Folder of the run."""
    seed: int = 0
    """Decides everything: genomes, tables, dice, cards. The same seed gives the same result, on any number of threads."""
    resume: bool = False
    """Go on from the last checkpoint of the run in --out. All settings that shape the result must be the same."""
    overwrite: bool = False
    """Remove the run that is in --out and begin anew."""
    threads: int | None = None
    """Cores to play on; default: all. The results are the same."""
    cluster: str | None = None
    """Play on a Ray cluster: local (one is started here), auto (the one that runs here), host:port or ray://host:port. The results
    are the same."""
    json: bool = False
    """Print one JSON object at the end instead of the tables."""

    @property
    def length(self) -> int:
        """Generations of the run."""
        raise NotImplementedError

    def check(self) -> None:
        """Check all that can be checked without playing.

        Raises:
            MonopolyError: Wrong settings.
        """
        raise NotImplementedError

    def search(self, table_type: type[Table] = Table) -> Search:
        """What evolves, before its first generation; games are played at tables of this type."""
        raise NotImplementedError


class Search(ABC):
    """What evolves: all that changes during a run.

    Attributes:
        unit: What a generation is called.
        options: The settings.
        table_type: Where games are played: on this machine, or `cluster.ClusterTable`.
        generation: Generations that were played.
        rows: A point of every curve for each of them.
        measurements: What was found in between, as rows of JSON values.
    """

    unit: ClassVar[str] = "generation"

    def __init__(self, options: RunOptions, table_type: type[Table] = Table) -> None:
        """Begin before the first generation."""
        self.options = options
        self.table_type = table_type
        self.generation = 0
        self.rows: list[dict[str, float]] = []
        self.measurements: list[dict[str, Any]] = []

    def game_seed(self, purpose: int, *more: int) -> int:
        """The seed of the games of this generation: games of one purpose never meet those of another again."""
        return int(np.random.SeedSequence((self.options.seed, purpose, self.generation, *more)).generate_state(1)[0])

    def add_row(self, fitness: NDArray[np.float64], before: Mapping[str, float], after: Mapping[str, float]) -> None:
        """Add a point to every curve: of the (L,) fitness of a generation, and what comes before and after it."""
        row = {"generation": float(self.generation), **before}
        row |= {"fitness/mean": float(fitness.mean()), "fitness/deviation": float(fitness.std())}
        row |= {f"fitness/{name}": float(np.quantile(fitness, share)) for name, share in _QUANTILES.items()}
        self.rows.append({**row, **after})

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The settings that shape the result, as JSON has them: a resumed run must have the same."""

    @abstractmethod
    def about(self, length: int) -> str:
        """A run of so many generations, in a few words."""

    @abstractmethod
    def games(self, generations: int) -> int:
        """Games of so many generations and of the measurements in between."""

    @abstractmethod
    def final_games(self, length: int) -> int:
        """Games at the end of a run of so many generations."""

    def begin(self, report: Reporter) -> None:
        """Measure what evolution begins with, if that is of interest."""
        del report

    @abstractmethod
    def advance(self, report: Reporter) -> None:
        """Play a generation."""

    @abstractmethod
    def measure(self, run: Run, report: Reporter) -> None:
        """Measure and keep what is due after this generation."""

    @abstractmethod
    def finish(self, run: Run, report: Reporter, seconds: float) -> dict[str, Any]:
        """Save what came out and measure it.

        Args:
            run: Its folder.
            report: Shows what goes on.
            seconds: That the run took.

        Returns:
            What evaluation.json holds.
        """

    def state(self) -> dict[str, Any]:
        """What a checkpoint holds as JSON."""
        return {"generation": self.generation, "rows": self.rows, "measurements": self.measurements}

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a checkpoint holds as arrays."""

    def restore(self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint.

        Raises:
            ValueError: Arrays of other shapes or types, or curves that have not come so far.
        """
        del arrays
        rows = [{name: float(value) for name, value in row.items()} for row in state["rows"]]
        if len(rows) != state["generation"] or any("fitness/mean" not in row for row in rows):
            raise ValueError(f"{len(rows)} points of curves for {state['generation']} generations, or not of these curves")
        self.generation, self.rows, self.measurements = len(rows), rows, list(state["measurements"])


class Keeper:
    """Saves a search every generation, or as often as costs little: what is lost to a power cut is a minute at most."""

    def __init__(self, search: Search, run: Run) -> None:
        """Nothing is saved yet."""
        self.search, self.run = search, run
        self.pending = False  # a generation has been played, and not been measured yet
        self.earlier = 0.0  # seconds that earlier processes spent on this run
        self._began = time.perf_counter()
        self._saved = self._at = -math.inf
        self._cost = 0.0

    @property
    def spent(self) -> float:
        """Seconds that the run has taken so far; what was lost when it was killed is not among them."""
        return self.earlier + time.perf_counter() - self._began

    def restore(self) -> None:
        """Go on from the last checkpoint.

        Raises:
            MonopolyError: There is none, or it is damaged.
        """
        parts, state = checkpoints.read_last(self.run.checkpoints)
        with checkpoints.understood(checkpoints.paths(self.run.checkpoints)[-1]):
            self.search.restore(parts["search"], state)
            self.earlier = float(state["seconds"])

    def keep(self) -> None:
        """Save if it is time to."""
        passed = time.perf_counter() - self._at
        if passed >= min(_SHARE * self._cost, _LONGEST):
            self.save()

    def save(self) -> None:
        """Write a checkpoint and the curves, unless this generation has one."""
        search = self.search
        if self.pending or self._saved == search.generation or len(search.rows) != search.generation or not search.rows:
            return
        began = time.perf_counter()
        checkpoints.write(self.run.checkpoints, search.generation, {"search": search.arrays()}, search.state() | {"seconds": self.spent})
        write_csv(self.run.folder / CURVES, search.rows)
        self._saved, self._at = search.generation, time.perf_counter()
        self._cost = self._at - began


def evolve(search: Search, keeper: Keeper, report: Reporter) -> None:
    """The loop: generations, and what is measured between them."""
    length = search.options.length
    try:
        if not search.generation:
            search.begin(report)
        while search.generation < length:
            fitness = f", fitness {search.rows[-1]['fitness/mean']:.3g}, best {search.rows[-1]['fitness/max']:.3g}" if search.rows else ""
            report.doing(f"{search.unit} {search.generation + 1:,}/{length:,}{fitness}")
            search.advance(report)
            keeper.pending = True  # saved now, it would go on without its measurement
            report.row(search.rows[-1])
            search.measure(keeper.run, report)
            keeper.pending = False
            keeper.keep()
    except (KeyboardInterrupt, MonopolyError):  # a cluster that failed, for instance
        keeper.save()
        raise
    keeper.save()


def execute(options: RunOptions, console: Console) -> dict[str, Any]:
    """Evolve from the beginning or from a checkpoint, then measure; returns what evaluation.json holds.

    Raises:
        MonopolyError: Wrong settings, a folder in the way, a checkpoint that is missing or damaged, a cluster that fails.
    """
    options.check()
    with alone(options.out), cluster.joined(options.cluster, options.threads) as table_type:
        search = options.search(table_type)
        run = Run.open(options.out, search.settings(), resume=options.resume, overwrite=options.overwrite, files=FILES)
        keeper = Keeper(search, run)
        if options.resume:
            keeper.restore()
        length = max(options.length, search.generation)
        games = search.games(length) + search.final_games(length)
        console.print(f"{search.about(length)}, {games:,} games, into {run.folder}")
        with Reporter(run.curves, console, games, search.games(search.generation), search.generation) as report:
            evolve(search, keeper, report)
            results = search.finish(run, report, keeper.spent)
        run.write_json("evaluation.json", results)
        return results
