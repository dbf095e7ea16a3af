"""A progress bar on stderr, with games per second and the time left."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeAlias

from monopoly_env.kernels import clock

Progress: TypeAlias = bool | Callable[[int], None]


@contextlib.contextmanager
def games_bar(games: int, finished: int = 0) -> Iterator[Callable[[int], None]]:
    """Show a progress bar while games are played.

    Args:
        games: The number of games in all.
        finished: The number of games that were played before, in an earlier run.

    Yields:
        A function to call with the number of games that have just ended.
    """
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("games"), progress.BarColumn(), progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[speed]}"),
        progress.TimeRemainingColumn(),
    )  # fmt: skip
    with progress.Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("games", total=games, completed=finished, speed="")
        began, played = clock(), 0

        def done(count: int) -> None:
            nonlocal played
            played += count
            bar.update(task, advance=count, speed=f"{played / max(clock() - began, 1e-9):,.0f}/s")

        yield done


@contextlib.contextmanager
def reported(progress: Progress, games: int) -> Iterator[Callable[[int], None]]:
    """A function for the games that have just ended: none, a bar on stderr, or the caller's."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda count: None
    else:
        with games_bar(games) as done:
            yield done
