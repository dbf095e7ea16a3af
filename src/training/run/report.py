"""What a run tells while it goes: a progress bar, curves for TensorBoard, and how its time is spent."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from torch.utils.tensorboard import SummaryWriter

P = ParamSpec("P")
R = TypeVar("R")


class Clock:
    """Adds up the time that named parts take; a part inside another is not counted twice."""

    def __init__(self) -> None:
        """Nothing has taken any time."""
        self.spent: dict[str, float] = defaultdict(float)
        self._inside: list[str] = []
        self._since = time.perf_counter()

    @contextlib.contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        """Count what happens inside to `part`."""
        self._turn()
        self._inside.append(part)
        try:
            yield
        finally:
            self._turn()
            self._inside.pop()

    def timed(self, part: str, function: Callable[P, R]) -> Callable[P, R]:
        """The function, its time counted to `part`."""

        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            with self(part):
                return function(*args, **kwargs)

        return call

    def shares(self) -> dict[str, float]:
        """The share of each part in the time that all have taken."""
        total = sum(self.spent.values()) or 1.0
        return {part: spent / total for part, spent in self.spent.items()}

    def _turn(self) -> None:
        now = time.perf_counter()
        self.spent[self._inside[-1] if self._inside else "other"] += now - self._since
        self._since = now


class Reporter:
    """Curves and a progress bar; a context manager."""

    def __init__(self, folder: Path, console: Console, steps: int, done: int, unit: str = "steps") -> None:
        """Open the curves.

        Args:
            folder: Where TensorBoard reads.
            console: Where the bar is drawn.
            steps: Of the whole run.
            done: Steps that a resumed run has behind it; what its curves had beyond is dropped.
            unit: What a step is called.
        """
        self.clock = Clock()
        self._console = console
        self._steps, self._unit = steps, unit
        self._writer = SummaryWriter(str(folder), purge_step=done + 1 if done else None)
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[speed]}"), TimeRemainingColumn(),
        )  # fmt: skip
        self._bar = Progress(*columns, console=console)
        self._task = self._bar.add_task("training", total=steps, completed=done, speed="")
        self._began, self._first = time.perf_counter(), done
        self._sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._last = (time.perf_counter(), done, 0)

    def __enter__(self) -> Reporter:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()
        self._writer.close()

    def learned(self, told: Mapping[str, float]) -> None:
        """Note what a gradient step told."""
        for name, value in told.items():
            total = self._sums[name]
            total[0] += value
            total[1] += 1.0

    def advance(self, step: int, doing: str) -> None:
        """Move the bar, and say what is being done."""
        speed = (step - self._first) / max(time.perf_counter() - self._began, 1e-9)
        self._bar.update(self._task, completed=min(step, self._steps), speed=f"{speed:,.0f} {self._unit}/s", description=doing)

    def curves(self, step: int, games: int, told: Mapping[str, float]) -> None:
        """Write a point of every curve: means of what was learned since the last one, speeds, and what else is told.

        Args:
            step: Where on the curves.
            games: Finished since the beginning.
            told: Values by name.
        """
        now = time.perf_counter()
        for name, (total, count) in self._sums.items():
            self._writer.add_scalar(name, total / count, step)
        self._sums.clear()
        seconds, steps, finished = now - self._last[0], step - self._last[1], games - self._last[2]
        self._writer.add_scalar(f"speed/{self._unit} per second", steps / seconds, step)
        self._writer.add_scalar("speed/games per second", finished / seconds, step)
        for name, value in told.items():
            self._writer.add_scalar(name, value, step)
        for part, share in self.clock.shares().items():
            self._writer.add_scalar(f"time/{part}", share, step)
        self._last = (now, step, games)

    def evaluated(self, step: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Note win rates, with their intervals, and print them above the bar."""
        for row in rows:
            for key in ("win_rate", "low", "high"):
                self._writer.add_scalar(f"{key}/{row['opponent']}", row[key], step)
        told = ", ".join(f"{row['win_rate']:.1%} against {row['opponent']}" for row in rows)
        self._console.print(f"step {step:,}: wins {told}")
