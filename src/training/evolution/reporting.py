"""What a run of evolution tells: a progress bar, curves, and the tables at its end."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from torch.utils.tensorboard import SummaryWriter

from monopoly_env.core import write_atomically

CURVES: Final = 200  # numbers with a curve of their own; of longer genomes the first
_MANY, _LISTED = 60, 30  # numbers from which on a table lists some, and how many


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

    def curves(self, row: Mapping[str, float]) -> None:
        """Write a point of every curve."""
        for name, value in row.items():
            if name != "generation":
                self._writer.add_scalar(name, value, int(row["generation"]))

    def measured(self, row: Mapping[str, Any]) -> None:
        """Note a comparison with the best so far, and print it above the bar."""
        for name in ("rate", "best", "difference", "low", "high"):
            self._writer.add_scalar(f"measured/{name}", row[name], row["generation"])
        told = f"wins {row['rate']:.1%}, the best so far {row['best']:.1%}; difference {row['low']:+.1%} to {row['high']:+.1%}"
        self.console.print(f"generation {row['generation']:,}: {told}{', kept' if row['kept'] else ''}")

    def watched(self, row: Mapping[str, Any]) -> None:
        """Note how often the best so far wins at a table."""
        for name in ("win_rate", "low", "high"):
            self._writer.add_scalar(f"{name}/{row['opponent']}", row[name], row["generation"])


def write_csv(path: Path, rows: Sequence[Mapping[str, float]]) -> None:
    """Write rows of the same names; the file is there whole or not at all."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue().encode())


def result_table(rows: Sequence[Mapping[str, Any]], title: str) -> Table:
    """How often the best player and the start won, for a terminal."""
    shown = Table(title=title, caption="The same seeds, from each seat. Intervals from the spread between seeds, 95%. *: never met before.")
    shown.add_column("against")
    for heading in ("start", "evolved", "interval", "gain", "interval"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        shown.add_row(
            f"{row['opponents']}{' *' if row['held_out'] else ''}", f"{row['start']:.1%}", f"{row['rate']:.1%}",
            f"{100 * row['low']:.1f} to {100 * row['high']:.1f}", f"{row['difference']:+.1%}",
            f"{100 * row['difference_low']:+.1f} to {100 * row['difference_high']:+.1f}",
        )  # fmt: skip
    return shown


def genome_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """What became of the numbers, for a terminal: of many those that moved most, whether or not it made a difference."""
    told = sorted(rows, key=lambda row: -abs(row["after"] - row["before"]))[:_LISTED] if len(rows) > _MANY else rows
    shown = Table(title="The genome" if len(told) == len(rows) else f"The {_LISTED} of {len(rows):,} numbers that moved most")
    shown.add_column("parameter")
    for heading in ("before", "after", "unit", "range"):
        shown.add_column(heading, justify="right")
    for row in told:
        low, high = row["range"]
        shown.add_row(row["name"], f"{row['before']:.4g}", f"{row['after']:.4g}", row["unit"], f"{low:g} to {high:g}")
    return shown
