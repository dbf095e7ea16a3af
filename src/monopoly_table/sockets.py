"""The two sockets: one plays at a table, the other analyses.

docs/protocol.md lists their messages.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from functools import wraps
from typing import Any, Final, TypeAlias

from fastapi import WebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from monopoly_env.errors import MonopolyError
from monopoly_table import messages
from monopoly_table.house import House
from monopoly_table.refusals import IMPOSSIBLE, NO_TOKEN, TOO_MANY, UNKNOWN, RefusedError
from monopoly_table.rooms import Client, Room
from monopoly_table.safety import MOST_MESSAGE, Bucket

BY_TOKEN, BY_GAME, BY_RATE, BY_FAULT = 4401, 4404, 4429, 1011  # codes of closing
_CODES: Final = {NO_TOKEN: BY_TOKEN, UNKNOWN: BY_GAME, TOO_MANY: BY_RATE}
_PATIENCE: Final = 10.0  # seconds until the first message must have come
_RATE, _BURST = 30.0, 100  # messages of a client, a second and at once
_MISSHAPEN: Final = 20  # messages of a wrong shape until a client is let go

_Serve: TypeAlias = Callable[..., Awaitable[None]]

_log = logging.getLogger(__name__)


def _counted(serve: _Serve) -> _Serve:
    """A connection that is counted, and closed with the reason for which it ended."""

    @wraps(serve)
    async def served(socket: WebSocket, house: House, *about: str) -> None:
        await socket.accept()
        house.sockets += 1
        try:
            if house.sockets > house.settings.sockets:
                most = house.settings.sockets
                raise RefusedError(
                    TOO_MANY, f"The server takes {most} connections at once: close some tabs."
                )
            await serve(socket, house, *about)
        except WebSocketDisconnect:
            pass
        except RefusedError as refusal:
            await _close(socket, _CODES.get(refusal.status, 1008), str(refusal))
        except MonopolyError as error:
            await _close(socket, 1008, str(error))
        except Exception:
            _log.exception("a connection failed")
            await _close(socket, BY_FAULT, "The server failed; the game is kept. Open it again.")
        finally:
            house.sockets -= 1

    return served


@_counted
async def table(socket: WebSocket, house: House, game: str) -> None:
    """Serve a client of a table until it leaves."""
    hello = await _hello(socket)
    row = await house.run(lambda: house.row(game))
    client = Client(house.rights(hello.token, row))
    room = await house.rooms.open(row)
    writer = asyncio.create_task(_write(socket, client))
    try:
        await room.enter(client, hello.version, hello.digest)
        await _until_done(writer, asyncio.create_task(_play(socket, room, client)))
    finally:
        writer.cancel()
        await room.leave(client)


async def _play(socket: WebSocket, room: Room, client: Client) -> None:
    async for message in _incoming(socket, messages.TABLE):
        if isinstance(message, messages.Misshapen):
            client.send(message.refusal | {"version": room.table.version})
        else:
            await room.handle(client, message)


async def _write(socket: WebSocket, client: Client) -> None:
    """Send what a client is told, in order."""
    while (message := await client.waiting.get()) is not None:
        await socket.send_text(json.dumps(message))
    raise RefusedError(
        UNKNOWN, "The game was removed, or your connection is too slow: open it again."
    )


@_counted
async def analyses(socket: WebSocket, house: House) -> None:
    """Serve a client that analyses: one job at a time, until it leaves."""
    hello = await _hello(socket)
    if not house.is_host(hello.token):
        row = await house.run(lambda: house.row(hello.game or ""))
        house.rights(hello.token, row)
    await socket.send_text(json.dumps({"type": "ready"}))
    job: asyncio.Task[None] | None = None
    try:
        async for message in _incoming(socket, messages.ANALYSIS):
            if isinstance(message, messages.Misshapen):
                await socket.send_text(json.dumps(message.refusal))
            elif isinstance(message, messages.Ping):
                await socket.send_text(json.dumps({"type": "pong", "id": message.id}))
            else:
                await _stop(job)
                job = None
                if not isinstance(message, messages.Stop):
                    job = asyncio.create_task(_analyse(socket, house, hello.token, message))
    finally:
        await _stop(job)


async def _analyse(socket: WebSocket, house: House, token: str, message: Any) -> None:
    """Send the steps of a job until it is done or cancelled."""
    steps: Iterator[dict[str, Any]] = house.job(token, message)
    try:
        while (step := await house.think(lambda: next(steps, None), token)) is not None:
            await socket.send_text(json.dumps(step | {"id": message.id}))
    except MonopolyError as error:
        await socket.send_text(
            json.dumps({"type": "refused", "id": message.id, "error": str(error)})
        )
    except (WebSocketDisconnect, RuntimeError):
        return  # nobody listens any more


async def _stop(job: asyncio.Task[None] | None) -> None:
    if job is not None:
        job.cancel()
        with suppress(asyncio.CancelledError):
            await job


# --- what both have in common


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    if socket.application_state is WebSocketState.CONNECTED:
        with suppress(RuntimeError, WebSocketDisconnect):
            # As many bytes as the protocol has
            await socket.close(code, reason.encode()[:120].decode(errors="ignore"))


async def _hello(socket: WebSocket) -> Any:
    try:
        text = await asyncio.wait_for(_text(socket), _PATIENCE)
    except TimeoutError as error:
        raise RefusedError(NO_TOKEN, "No hello came in time.") from error
    hello = messages.read(messages.HELLO, text)
    if isinstance(hello, messages.Misshapen):
        raise RefusedError(IMPOSSIBLE, hello.error)
    return hello


async def _text(socket: WebSocket) -> str:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    text = message.get("text")
    if text is None:
        raise RefusedError(IMPOSSIBLE, "Messages are text.")
    if len(text) > MOST_MESSAGE:
        raise RefusedError(TOO_MANY, f"A message has {MOST_MESSAGE >> 10} KiB at most.")
    return str(text)


async def _incoming(socket: WebSocket, shape: Any) -> AsyncIterator[Any]:
    """The messages of a client."""
    bucket, misshapen = Bucket(_RATE, _BURST), 0
    while True:
        text = await _text(socket)
        if not bucket.take():
            raise RefusedError(TOO_MANY, "Too many messages: wait a second, then come back.")
        message = messages.read(shape, text)
        misshapen += isinstance(message, messages.Misshapen)
        if misshapen > _MISSHAPEN:
            raise RefusedError(IMPOSSIBLE, message.error)
        yield message


async def _until_done(*tasks: asyncio.Task[None]) -> None:
    """Wait until one of several tasks ends, stop the others, and raise its error."""
    done, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in others:
        task.cancel()
    for task in others:
        with suppress(asyncio.CancelledError):
            await task
    for task in done:
        task.result()
