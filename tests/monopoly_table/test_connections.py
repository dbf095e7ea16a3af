"""Half-sent requests end, and never keep others out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
import uvicorn
from starlette.middleware.exceptions import ExceptionMiddleware

from monopoly_table import safety
from monopoly_table.safety import Connection

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
BODY = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Read the whole body, then say so."""
    while (await receive()).get("more_body"):
        pass
    head = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    await send(head)
    await send({"type": "http.response.body", "body": b"ok"})


def serving(play: Callable[[uvicorn.Server, int], Awaitable[None]]) -> None:
    """Run a server on this machine, and clients that are given it and its port."""

    async def both() -> None:
        guard = safety.Guard(ExceptionMiddleware(app), (), rate=1e6, burst=10**6)
        config = uvicorn.Config(guard, http=Connection, port=0, lifespan="off", log_level="error")
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            await play(server, server.servers[0].sockets[0].getsockname()[1])
        finally:
            server.should_exit = True
            await task

    asyncio.run(both())


async def opened(port: int, sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    await writer.drain()
    return reader, writer


async def ended(reader: asyncio.StreamReader) -> None:
    """Wait until the server has closed a connection, over which nothing more came."""
    with suppress(ConnectionResetError):
        assert await reader.read() == b""


def test_half_sent_requests_never_keep_others_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safety, "MOST_CONNECTIONS", 5)

    async def play(server: uvicorn.Server, port: int) -> None:
        half = await asyncio.gather(*(opened(port, REQUEST[:-2]) for _ in range(40)))  # at once
        half += [await opened(port, REQUEST[:-2]) for _ in range(8)]
        reader, writer = await opened(port, REQUEST)
        assert b"200 OK" in await reader.readuntil(b"ok")
        assert len(server.server_state.connections) <= 5
        for waiting, _ in half[:-4]:  # the oldest were let go
            await ended(waiting)
        half[-1][1].write(REQUEST[-2:])  # the newest may still go on
        assert b"200 OK" in await half[-1][0].readuntil(b"ok")
        for _, each in (*half, (reader, writer)):
            each.close()

    serving(play)


def test_a_request_that_does_not_come_whole_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safety, "HEAD_SECONDS", 0.1)
    monkeypatch.setattr(safety, "BODY_SECONDS", 0.1)

    async def play(_: uvicorn.Server, port: int) -> None:
        for before in (b"", REQUEST):  # the first request of a connection, and a later one
            reader, writer = await opened(port, before)
            if before:
                assert b"200 OK" in await reader.readuntil(b"ok")
            writer.write(REQUEST[:-2])
            await ended(reader)
            writer.close()
        reader, writer = await opened(port, BODY)
        assert b"408" in await reader.readuntil(b"seconds.")
        writer.close()

    serving(play)
