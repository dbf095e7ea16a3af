"""Sockets: connections, hello, limits of messages, and the socket of a game (docs/protocol.md).

`jobs` has the socket of analyses.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import wraps
from typing import Any, Final, TypeAlias

from fastapi import WebSocket
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocketDisconnect, WebSocketState

from monopoly_env.errors import MonopolyError
from monopoly_table import messages
from monopoly_table.safety import (
    IMPOSSIBLE,
    MOST_MESSAGE,
    NO_TOKEN,
    TOO_MANY,
    UNKNOWN,
    Bucket,
    RefusedError,
)
from monopoly_table.server import Server
from monopoly_table.sessions import Client, GameSession

BY_TOKEN, BY_GAME, BY_RATE, BY_FAULT = 4401, 4404, 4429, 1011  # close codes
_CODES: Final = {NO_TOKEN: BY_TOKEN, UNKNOWN: BY_GAME, TOO_MANY: BY_RATE}
_HELLO_SECONDS: Final = 10.0  # limit for the first message
_RATE, _BURST = 30.0, 100  # messages of a client, a second and at once
_MISSHAPEN: Final = 20  # invalid messages until a client is disconnected

_Serve: TypeAlias = Callable[..., Awaitable[None]]

_log = logging.getLogger(__name__)


def served(serve: _Serve) -> _Serve:
    """Accept and count a connection, and close it with a reason."""

    @wraps(serve)
    async def counted(socket: WebSocket, server: Server, *about: Any) -> None:
        await socket.accept()
        server.sockets += 1
        try:
            most = server.settings.sockets
            if server.sockets > most:
                raise RefusedError(
                    f"The server takes {most} connections at once: close some tabs.", TOO_MANY
                )
            await serve(socket, server, *about)
        except WebSocketDisconnect:
            pass
        except RefusedError as refusal:
            await _close(socket, _CODES.get(refusal.status, 1008), str(refusal))
        except MonopolyError as error:
            await _close(socket, 1008, str(error))
        except Exception:
            _log.exception("a connection failed")
            await _close(socket, BY_FAULT, "The server failed; the game is saved. Open it again.")
        finally:
            server.sockets -= 1

    return counted


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    if socket.application_state is WebSocketState.CONNECTED:
        with suppress(RuntimeError, WebSocketDisconnect):
            # The protocol limits the bytes of a reason
            await socket.close(code, reason.encode()[:120].decode(errors="ignore"))


async def hello(socket: WebSocket) -> messages.Hello:
    """The first message.

    Raises:
        RefusedError: It is late or invalid.
    """
    try:
        text = await asyncio.wait_for(_text(socket), _HELLO_SECONDS)
    except TimeoutError as error:
        raise RefusedError("No hello came in time.", NO_TOKEN) from error
    said: messages.Hello | messages.Misshapen = messages.read(messages.HELLO, text)
    if isinstance(said, messages.Misshapen):
        raise RefusedError(said.error, IMPOSSIBLE)
    return said


async def incoming(socket: WebSocket, shape: Any) -> AsyncIterator[Any]:
    """The messages of a client; `Misshapen` for invalid ones.

    Raises:
        RefusedError: There are too many messages.
    """
    bucket, misshapen = Bucket(_RATE, _BURST), 0
    while True:
        text = await _text(socket)
        if not bucket.take():
            raise RefusedError("Too many messages: wait a second, then come back.", TOO_MANY)
        message = messages.read(shape, text)
        misshapen += isinstance(message, messages.Misshapen)
        if misshapen > _MISSHAPEN:
            raise RefusedError(message.error, IMPOSSIBLE)
        yield message


async def _text(socket: WebSocket) -> str:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    text = message.get("text")
    if text is None:
        raise RefusedError("Messages are text.", IMPOSSIBLE)
    if len(text) > MOST_MESSAGE:
        raise RefusedError(f"A message has {MOST_MESSAGE >> 10} KiB at most.", TOO_MANY)
    return str(text)


async def send(socket: WebSocket, message: dict[str, Any]) -> None:
    """Send a message."""
    await socket.send_text(json.dumps(message, separators=(",", ":")))


# --- the socket of a game


@served
async def play(socket: WebSocket, server: Server, game: str) -> None:
    """Serve a player or observer until it leaves."""
    said = await hello(socket)
    row, rights = await run_in_threadpool(server.open, game, said.token)
    client, session = Client(rights), await server.sessions.open(row)
    writer = asyncio.create_task(_write(socket, client))
    try:
        await session.enter(client, said.version, said.digest)
        await _until_done(writer, asyncio.create_task(_read(socket, session, client)))
    finally:
        writer.cancel()
        await session.leave(client)


async def _read(socket: WebSocket, session: GameSession, client: Client) -> None:
    """Handle the messages of a client, in order."""
    async for message in incoming(socket, messages.GAME_MESSAGE):
        if isinstance(message, messages.Misshapen):
            version = session.game.row.version
            client.send({"type": "refused", **message._asdict(), "version": version})
        else:
            await session.handle(client, message)


async def _write(socket: WebSocket, client: Client) -> None:
    """Send a client its messages, in order."""
    while (message := await client.waiting.get()) is not None:
        await send(socket, message)
    raise RefusedError(
        "The game was removed, or your connection is too slow: open it again.", UNKNOWN
    )


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
