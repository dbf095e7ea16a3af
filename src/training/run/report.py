"""The report of a run while it goes: a progress bar, curves for TensorBoard, and a clock."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from monopoly_env.kernels import clock


class Clock:
    """Adds up the time of named parts of a run; the time of an inner part counts for it alone."""

    def __init__(self) -> None:
        """Start the clock."""
        self.spent: dict[str, float] = defaultdict(float)
        self._inside: list[str] = []
        self._since = clock()

    @contextlib.contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        """Count what happens inside the `with` block as `part`."""
        self._turn()
        self._inside.append(part)
        try:
            yield
        finally:
            self._turn()
            self._inside.pop()

    def shares(self) -> dict[str, float]:
        """The share of each part in the total time so far."""
        total = sum(self.spent.values()) or 1.0
        return {part: spent / total for part, spent in self.spent.items()}

    def _turn(self) -> None:
        now = clock()
        self.spent[self._inside[-1] if self._inside else "other"] += now - self._since
        self._since = now


class Report:
    """Progress bar (from `begin` on), learning curves and clock of a run; a context manager."""

    def __init__(self, folder: Path, console: Console) -> None:
        """Write curves into a folder, for TensorBoard, and draw the bar on a console."""
        self.clock = Clock()
        self._folder = folder
        self._console = console
        self._stage, self._unit, self._total, self.done = "", "steps", 0, 0
        self._keep: int | None = None
        self._writer: Any = None
        words, count = TextColumn("{task.description}"), TextColumn("{task.fields[count]}")
        self._bar = Progress(words, BarColumn(), count, TimeRemainingColumn(), console=console)
        self._task: TaskID | None = None
        self._overall: TaskID | None = None
        self._means: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._began = self._written = (clock(), 0.0, 0.0)  # when, and the units and games done then

    def __enter__(self) -> Report:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()
        self._close()

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def begin(
        self,
        total: int,
        done: int = 0,
        unit: str = "steps",
        *,
        stage: str = "",
        step: int | None = None,
    ) -> None:
        """Start the bar and the curves: of the whole run, or of its next stage.

        Args:
            total: Units of the run or stage.
            done: Units that a resumed run has already done.
            unit: The unit of `total`.
            stage: Name of the stage, and of the folder of its curves.
            step: The last point of the curves that a resumed run keeps; by default `done`.
        """
        self._close()
        self._stage, self._unit, self._total, self.done = stage, unit, total, done
        self._keep = done if step is None else step
        if self._task is None:
            self._task = self._bar.add_task(stage, total=total, completed=done, count="")
        else:
            self._bar.reset(self._task, total=total, completed=done, description=stage, count="")
        self._means.clear()
        self._began = self._written = (clock(), float(done), 0.0)

    def advance(self, done: int, doing: str | None = None) -> None:
        """Move the bar to the units done so far; `doing` is written to the left of it."""
        assert self._task is not None
        self.done = done
        speed = (done - self._began[1]) / max(clock() - self._began[0], 1e-9)
        count = f"{done:,}/{self._total:,} {self._unit}, {speed:,.0f}/s"
        self._bar.update(
            self._task, completed=min(done, self._total), count=count, description=doing
        )

    def overall(self, done: float, total: float) -> None:
        """Move a second bar, that of all stages, in any unit proportional to time."""
        if self._overall is None:
            self._overall = self._bar.add_task("all", total=total, count="")
        self._bar.update(
            self._overall, completed=done, total=total, count=f"{done / max(total, 1e-9):.0%}"
        )

    def log(self, metrics: Mapping[str, float]) -> None:
        """Add metrics to the means that `curves` writes next."""
        for name, value in metrics.items():
            total = self._means[name]
            total[0] += value
            total[1] += 1.0

    def curves(
        self, step: int, metrics: Mapping[str, float] | None = None, games: int | None = None
    ) -> None:
        """Write a point of every curve: means of what was logged since the last one, speeds, times.

        Args:
            step: Where on the curves.
            metrics: Other values, written as they are.
            games: Games finished so far, if the unit is not games.
        """
        now, (then, steps, finished) = clock(), self._written
        seconds = max(now - then, 1e-9)
        speeds = {f"speed/{self._unit} per second": (step - steps) / seconds}
        if games is not None:
            speeds["speed/games per second"] = (games - finished) / seconds
        means = {name: total / count for name, (total, count) in self._means.items()}
        shares = {f"time/{part}": share for part, share in self.clock.shares().items()}
        self.scalars(step, means | speeds | dict(metrics or {}) | shares)
        self._means.clear()
        self._written = (now, step, games or 0)

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """Write values to their curves, as they are."""
        if self._writer is None:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(
                str(self._folder / self._stage), purge_step=self._keep + 1 if self._keep else None
            )
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def evaluated(self, step: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write win rates with their intervals (rows of `measure`) to curves, and print them."""
        shown = ("win_rate", "low", "high")
        self.scalars(step, {f"{key}/{row['opponent']}": row[key] for row in rows for key in shown})
        rates = ", ".join(f"{row['win_rate']:.1%} against {row['opponent']}" for row in rows)
        self._console.print(
            f"{self._stage and f'{self._stage}, '}{step:,} {self._unit}: wins {rates}"
        )
