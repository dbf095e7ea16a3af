"""Threads are shared out by who asks."""

from __future__ import annotations

import asyncio
import threading

from monopoly_table.sockets import FairThreads


def test_many_wishes_of_one_delay_nobody_else() -> None:
    done: list[str] = []

    async def play() -> None:
        run, go = FairThreads(1), threading.Event()
        first = asyncio.create_task(run(go.wait, "many"))
        await asyncio.sleep(0)
        others = [
            asyncio.create_task(run(lambda who=who: done.append(who), who)) for who in "aaaaaabbc"
        ]
        left = asyncio.create_task(run(lambda: done.append("left"), "a"))
        await asyncio.sleep(0)
        left.cancel()
        go.set()
        await asyncio.gather(first, *others)
        await run(lambda: done.append("later"), "a")

    asyncio.run(play())
    assert done == [*"abcabaaaa", "later"]


def test_a_failure_gives_the_thread_back() -> None:
    async def play() -> None:
        run = FairThreads(1)
        failed = await asyncio.gather(
            *(run(lambda: 1 // 0, "a") for _ in range(3)), return_exceptions=True
        )
        assert [type(error) for error in failed] == [ZeroDivisionError] * 3
        assert await run(lambda: 5, "b") == 5

    asyncio.run(play())
