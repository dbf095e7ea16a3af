"""A progress bar on stderr, with games per second and the time left."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def games_bar(games: int, finished: int = 0) -> Iterator[Callable[[int], None]]:
    """Show a progress bar while games are played.

    Args:
        games: The number of games in all.
        finished: The number of games that were played before, in an earlier run.

    Yields:
        A function to call with the number of games that have just ended.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[speed]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("games", total=games, completed=finished, speed="")
        began, played = time.perf_counter(), 0

        def done(count: int) -> None:
            nonlocal played
            played += count
            bar.update(task, advance=count, speed=f"{played / max(time.perf_counter() - began, 1e-9):,.0f}/s")

        yield done
