"""Threads on which parts of a batch run."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")


def parts_of(total: int, longest: int, threads: int | None) -> list[range]:
    """Consecutive parts of a batch, short enough that no thread is idle for long."""
    length = max(1, min(longest, -(-total // (4 * number_of(threads)))))
    return [range(start, min(start + length, total)) for start in range(0, total, length)]


def in_order(
    function: Callable[[Part], Result], parts: Iterable[Part], threads: int | None, name: str
) -> Iterator[Result]:
    """The results of a function on each part, in the order of the parts.

    Threads work ahead. Closing the iterator cancels the parts that have not begun.
    """
    pool = ThreadPoolExecutor(number_of(threads), name)
    try:
        waiting = deque(pool.submit(function, part) for part in parts)
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def number_of(threads: int | None) -> int:
    """The number of threads that was chosen; by default one per core."""
    return threads or os.cpu_count() or 1


class Threads:
    """Threads that start when they are first needed, and again in a forked process."""

    def __init__(self, count: int, name: str) -> None:
        """Start none yet.

        Args:
            count: How many at most.
            name: With which their own names begin.
        """
        self.count, self.name = count, name
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0  # where the threads are

    def map(self, function: Callable[..., Result], parts: Iterable[Iterable[Any]]) -> list[Result]:
        """Call a function with the arguments of each part, all at once; results in their order."""
        if self._pool is None or self._process != os.getpid():
            self._pool, self._process = ThreadPoolExecutor(self.count, self.name), os.getpid()
        jobs = [self._pool.submit(function, *part) for part in parts]
        return [job.result() for job in jobs]

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown()
        self._pool = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.count, self.name)
