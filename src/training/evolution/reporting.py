"""What a run of evolution shows while it goes on: a progress bar, and curves for TensorBoard."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from torch.utils.tensorboard import SummaryWriter

from monopoly_env.core import write_atomically

MOST_CURVES: Final = 200  # numbers with a curve of their own; of longer genomes the first


class Reporter:
    """Curves and a progress bar; a context manager."""

    def __init__(self, folder: Path, console: Console, games: int, done: int, generation: int) -> None:
        """Open the curves.

        Args:
            folder: Where TensorBoard reads.
            console: Where the bar is drawn.
            games: Of the whole run.
            done: Games that a resumed run has behind it.
            generation: Generations that it has behind it; what its curves had beyond is dropped.
        """
        self.console = console
        self._writer = SummaryWriter(str(folder), purge_step=generation + 1 if generation else None)
        columns = (
            TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[speed]}"), TimeRemainingColumn(),
        )  # fmt: skip
        self._bar = Progress(*columns, console=console)
        self._task = self._bar.add_task("", total=games, completed=done, speed="")
        self._began, self._played = time.perf_counter(), 0

    def __enter__(self) -> Reporter:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()
        self._writer.close()

    def doing(self, what: str) -> None:
        """Say what is going on, left of the bar."""
        self._bar.update(self._task, description=what)

    def played(self, games: int) -> None:
        """Move the bar by games that have just ended."""
        self._played += games
        speed = self._played / max(time.perf_counter() - self._began, 1e-9)
        self._bar.update(self._task, advance=games, speed=f"{speed:,.0f} games/s")

    def skipped(self, games: int) -> None:
        """Move the bar by games that need not be played."""
        self._bar.update(self._task, advance=games)

    def row(self, row: Mapping[str, float]) -> None:
        """Write a point of every curve of a row of `curves.csv`."""
        self.points(int(row["generation"]), {name: value for name, value in row.items() if name != "generation"})

    def points(self, generation: int, values: Mapping[str, float]) -> None:
        """Write a point of each of these curves."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, generation)


def write_csv(path: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """Write rows of the same names; the file is there whole or not at all."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue().encode())
