"""A run of evolution, the same for every algorithm: its options, loop, checkpoints and folder.

All random numbers depend on the seed and the number of the generation, so a run that was killed and
resumed comes to the same result, bit for bit, as one that was not.
"""

from __future__ import annotations

import csv
import io
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from monopoly_env.cli.terminal import TextTable
from monopoly_env.files import write_atomically
from training import cluster
from training.cluster import HERE, Place
from training.run.checkpoints import Parts
from training.run.folder import CONFIG, Run
from training.run.options import FREE, ClusterName, RunOptions
from training.run.report import Report
from training.run.session import Session

CURVES: Final = "curves.csv"
MOST_CURVES: Final = 200  # numbers with a curve of their own; of longer genomes the first

_SHARE: Final = 10  # saving may take a tenth of the time
_LONGEST: Final = 60.0  # seconds that a killed run may lose, or a generation if that is longer
_QUANTILES: Final = {"min": 0.0, "quarter": 0.25, "median": 0.5, "three_quarters": 0.75, "max": 1.0}


@dataclass(frozen=True)
class EvolutionOptions(RunOptions, ABC):
    """The options of every run of evolution."""

    # fields that do not change the result
    free: ClassVar[tuple[str, ...]] = (*FREE, "threads", "cluster", "generations")

    out: Path = Path("runs/evolve")
    """Folder of the run."""
    seed: int = 0
    """Decides everything: genomes, tables, dice, cards. The same seed gives the same result, on any
    number of threads."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""
    cluster: ClusterName = None
    generations: int = 100
    """Length of the run; may be raised on --resume."""

    @property
    def length(self) -> int:
        """Generations of the run."""
        return self.generations

    @abstractmethod
    def check(self) -> None:
        """Check all that can be checked without playing; raises MonopolyError."""

    @abstractmethod
    def search(self, place: Place = HERE) -> Search:
        """The search before its first generation; `place` is where games are played."""


class Search(ABC):
    """State of a run of evolution: everything that changes.

    Attributes:
        files: Files in the folder of a run beside those of every run, each with its meaning.
        place: Where games are played: on this machine, or on a cluster.
        step: Generations that were played.
        rows: A point of every curve for each of them.
        measurements: What was found in between, as rows of JSON values.
        games_played: Games of the run so far, for its progress bar.
        seconds: Duration of the run up to the last checkpoint.
    """

    files: ClassVar[dict[str, str]] = {
        CURVES: "the learning curves as a table, a row for each generation"
    }
    report: Report
    console: Console

    def __init__(self, options: EvolutionOptions, place: Place = HERE) -> None:
        """Begin before the first generation."""
        self.options = options
        self.place = place
        self.step = 0
        self.rows: list[dict[str, float]] = []
        self.measurements: list[dict[str, Any]] = []
        self.games_played = 0
        self.seconds = 0.0

    def game_seed(self, purpose: int, *more: int) -> int:
        """Seed of the games of one purpose in this generation; no two share a game."""
        seed = np.random.SeedSequence((self.options.seed, purpose, self.step, *more))
        return int(seed.generate_state(1)[0])

    def played(self, games: int) -> None:
        """Move the bar by games that have just ended, or need not be played."""
        self.games_played += games
        self.report.advance(self.games_played)

    def doing(self, what: str) -> None:
        """Say what is going on, left of the bar."""
        self.report.advance(self.games_played, what)

    def add_row(
        self, fitness: NDArray[np.float64], before: Mapping[str, float], after: Mapping[str, float]
    ) -> None:
        """Add a point to every curve: of the (L,) fitness, and of others before and after it."""
        row = {"generation": float(self.step), **before}
        row |= {"fitness/mean": float(fitness.mean()), "fitness/deviation": float(fitness.std())}
        quantiles = np.quantile(fitness, list(_QUANTILES.values())).tolist()
        row |= {f"fitness/{name}": q for name, q in zip(_QUANTILES, quantiles, strict=True)}
        self.rows.append({**row, **after})

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The settings that decide the result, as JSON has them; the same in a resumed run."""

    @abstractmethod
    def about(self, length: int) -> str:
        """A run of so many generations, in a few words."""

    @abstractmethod
    def games(self, generations: int) -> int:
        """Games of so many generations and of the measurements in between."""

    @abstractmethod
    def final_games(self, length: int) -> int:
        """Games at the end of a run of so many generations."""

    def begin(self) -> None:  # noqa: B027 - most have nothing to measure
        """Measure what evolution begins with."""

    @abstractmethod
    def advance(self) -> None:
        """Play a generation."""

    def measure(self, run: Run) -> None:  # noqa: B027 - some have nothing to measure
        """Measure and keep what is due after this generation."""

    @abstractmethod
    def finish(self, run: Run) -> dict[str, Any]:
        """Save what came out and measure it; returns what evaluation.json holds."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of a checkpoint."""

    def values(self) -> dict[str, Any]:
        """JSON values of a checkpoint."""
        return {
            "generation": self.step, "rows": self.rows, "measurements": self.measurements,
            "seconds": self.seconds,
        }  # fmt: skip

    def state(self) -> tuple[Parts, dict[str, Any]]:
        """All that the run continues from."""
        return {"search": self.arrays()}, self.values()

    def set_state(self, parts: Parts, values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint.

        Raises:
            ValueError: Arrays of other shapes or types, or curves that have not come so far.
        """
        rows = [{name: float(value) for name, value in row.items()} for row in values["rows"]]
        if len(rows) != values["generation"] or any("fitness/mean" not in row for row in rows):
            raise ValueError(
                f"{len(rows)} points of curves for {values['generation']} generations, or not of"
                " these curves"
            )
        self.step, self.rows, self.measurements = len(rows), rows, list(values["measurements"])
        self.seconds = float(values["seconds"])
        self.restore(parts["search"], values)

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Continue from the arrays of a checkpoint and from what else `values` holds."""


class Saving:
    """Saves a search after each generation, or as often as costs little."""

    def __init__(self, search: Search, session: Session) -> None:
        """Nothing is saved yet."""
        self.search, self.session = search, session
        self.pending = False  # a generation has been played, and not been measured yet
        self._began, self._earlier = time.perf_counter(), search.seconds
        self._saved = self._at = -math.inf
        self._cost = 0.0

    def save_if_due(self) -> None:
        """Save if saving takes a tenth of the time at most, or after a minute."""
        if time.perf_counter() - self._at >= min(_SHARE * self._cost, _LONGEST):
            self.save()

    def save(self) -> None:
        """Write a checkpoint and the curves, unless this generation has one."""
        search, began = self.search, time.perf_counter()
        # what was lost when a run was killed is not counted
        search.seconds = self._earlier + began - self._began
        whole = search.rows and len(search.rows) == search.step and not self.pending
        if whole and self._saved != search.step:
            self.session.save(search, search.step)
            write_csv(self.session.run.folder / CURVES, search.rows)
            self._saved, self._at = search.step, time.perf_counter()
            self._cost = self._at - began


def evolve(search: Search, saving: Saving) -> None:
    """The loop: generations, and what is measured between them."""
    length = search.options.length
    try:
        if not search.step:
            search.begin()
        while search.step < length:
            text = f"generation {search.step + 1:,}/{length:,}"
            if search.rows:
                row = search.rows[-1]
                text += f", fitness {row['fitness/mean']:.3g}, best {row['fitness/max']:.3g}"
            search.doing(text)
            search.advance()
            saving.pending = True  # saved now, it would go on without its measurement
            points = {name: x for name, x in search.rows[-1].items() if name != "generation"}
            search.report.scalars(search.step, points)
            search.measure(saving.session.run)
            saving.pending = False
            saving.save_if_due()
    finally:  # also when it was stopped, or a cluster failed
        saving.save()


def execute(options: EvolutionOptions, console: Console) -> dict[str, Any]:
    """Evolve from the beginning or from a checkpoint, then measure; returns evaluation.json.

    Raises:
        MonopolyError: Wrong options, a folder in the way, a checkpoint that is missing or damaged,
            a cluster that fails.
    """
    options.check()
    with cluster.joined(options.cluster, options.threads) as place:
        search = options.search(place)
        games = search.games(options.length) + search.final_games(options.length)
        budget, settings = f"{search.about(options.length)}, {games:,} games,", search.settings()
        with Session.open(options, settings, console, budget, files=search.files) as session:
            if options.resume:
                session.restore(search)
            search.report, search.console = session.report, console
            search.games_played = search.games(search.step)
            length = max(options.length, search.step)
            if search.step > options.length:
                console.print(
                    f"The run has come to generation {search.step:,} already, beyond"
                    f" {options.length:,}: it is only measured."
                )
            games = search.games(length) + search.final_games(length)
            session.report.begin(games, search.games_played, "games", step=search.step)
            evolve(search, Saving(search, session))
            results = search.finish(session.run)
            session.run.write_json("evaluation.json", results)
    return results


def carry_on(options: EvolutionOptions, console: Console) -> dict[str, Any]:
    """Carry out a run, or the rest of one that was begun in its folder; errors as by `execute`."""
    begun = (options.out / CONFIG).is_file()
    return execute(replace(options, resume=begun, overwrite=False), console)


def write_csv(path: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """Write rows of the same names; the file is there whole or not at all."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue().encode())


def result_table(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str | None = None, *,
    texts: int = 1,
) -> TextTable:  # fmt: skip
    """A table for the terminal: the first columns are texts, the others are numbers."""
    shown = TextTable(*heads[:texts], title=title, caption=caption)
    for head in heads[texts:]:
        shown.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        shown.add_row(*row)
    return shown
