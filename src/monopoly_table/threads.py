"""Threads in which the server works, so that it answers others meanwhile."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import TypeVar

import anyio
from anyio import CapacityLimiter

Result = TypeVar("Result")


class Runner:
    """Runs functions in threads, in the order in which they come."""

    def __init__(self, threads: int) -> None:
        self._limit = threads
        self._limiter: CapacityLimiter | None = None

    async def __call__(self, function: Callable[[], Result]) -> Result:
        """Run a function to its end, even if nobody waits for it any more: it may be writing."""
        self._limiter = self._limiter or CapacityLimiter(self._limit)
        return await anyio.to_thread.run_sync(function, limiter=self._limiter)


class FairRunner:
    """Runs functions in threads, for those who ask in turn: many wishes of one delay its own."""

    def __init__(self, threads: int) -> None:
        self._run, self._free = Runner(threads), threads
        # By who asks, in the order in which they have their next turn.
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    async def __call__(self, function: Callable[[], Result], who: str = "") -> Result:
        """Run a function to its end.

        Args:
            function: The function.
            who: Who asks, such as a token.
        """
        await self._turn(who)
        try:
            return await self._run(function)
        finally:
            self._pass_on()

    async def _turn(self, who: str) -> None:
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(who, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it came at the same moment
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Give a thread to whoever is next."""
        while self._waiting:
            who, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._waiting[who] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
