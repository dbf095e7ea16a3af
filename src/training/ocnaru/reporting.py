"""What a run tells while it goes: a progress bar, curves for TensorBoard, and how its time is spent."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from torch.utils.tensorboard import SummaryWriter

from training.run.report import Clock


class Reporter:
    """Curves and a progress bar; a context manager. Every stage of a run has curves of its own, over its games."""

    def __init__(self, folder: Path, console: Console, work: float) -> None:
        """Begin.

        Args:
            folder: Where TensorBoard reads; a folder in it for each stage.
            console: Where the bars are drawn.
            work: Of the whole run, in any unit that is proportional to time.
        """
        self.clock = Clock()
        self.console = console
        self._folder = folder
        self._writer: SummaryWriter | None = None
        shown = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*shown, console=console)
        self._all = self._bar.add_task("all", total=work, speed="")
        self._stage = self._bar.add_task("", total=1, speed="", visible=False)
        self._sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._last = (time.perf_counter(), 0)

    def __enter__(self) -> Reporter:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()
        self._close()

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def begin(self, stage: str, games: int, done: int, work: float) -> None:
        """Begin a stage.

        Args:
            stage: Its name.
            games: Of the whole stage.
            done: Games that a resumed run has behind it; what its curves had beyond is dropped.
            work: Of the whole run, behind it.
        """
        self._close()
        self._writer = SummaryWriter(str(self._folder / stage), purge_step=done + 1 if done else None)
        self._bar.reset(self._stage, total=games, completed=done, description=stage, visible=True, speed="")
        self._bar.update(self._all, completed=work)
        self._sums.clear()
        self._last = (time.perf_counter(), done)

    def note(self, values: Mapping[str, float]) -> None:
        """Note values of which curves show the mean."""
        for name, value in values.items():
            total = self._sums[name]
            total[0] += value
            total[1] += 1.0

    def advance(self, done: int, work: float) -> None:
        """Move the bars."""
        seconds = max(time.perf_counter() - self._last[0], 1e-9)
        self._bar.update(self._stage, completed=done, speed=f"{(done - self._last[1]) / seconds:,.0f} games/s")
        self._bar.update(self._all, completed=work)

    def curves(self, done: int, values: Mapping[str, float]) -> None:
        """Write a point of every curve: means since the last one, and some values as they are."""
        assert self._writer is not None
        now = time.perf_counter()
        means = {name: total / count for name, (total, count) in self._sums.items()}
        speed = {"speed/games per second": (done - self._last[1]) / max(now - self._last[0], 1e-9)}
        shares = {f"time/{part}": share for part, share in self.clock.shares().items()}
        for name, value in (means | speed | shares | dict(values)).items():
            self._writer.add_scalar(name, value, done)
        self._sums.clear()
        self._last = (now, done)

    def evaluated(self, done: int, stage: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Note win rates, with their intervals, and print them above the bars."""
        assert self._writer is not None
        for row in rows:
            for key in ("win_rate", "low", "high"):
                self._writer.add_scalar(f"{key}/{row['opponent']}", row[key], done)
        told = ", ".join(f"{row['win_rate']:.1%} against {row['opponent']}" for row in rows)
        self.console.print(f"{stage}, {done:,} games: wins {told}")
