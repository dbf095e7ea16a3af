"""Sockets (docs/protocol.md): connections and their limits, a game's socket, and that of analyses.

A client has one analysis at a time: a generator of messages (`analysis`). Each step takes a
fraction of a second, so that it can be stopped soon, and runs on one of a few threads.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from fastapi import WebSocket
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocketDisconnect, WebSocketState

from monopoly_env import core
from monopoly_env.errors import MonopolyError
from monopoly_env.game import Game
from monopoly_env.policy.protocol import Policy
from monopoly_table import analysis, games, messages, public, reports
from monopoly_table.recordings import StoredGame
from monopoly_table.safety import (
    IMPOSSIBLE,
    MOST_MESSAGE,
    NO_TOKEN,
    TOO_MANY,
    UNKNOWN,
    Bucket,
    RefusedError,
)
from monopoly_table.server import Server, puzzle
from monopoly_table.sessions import Client, GameSession

BY_TOKEN, BY_GAME, BY_RATE, BY_FAULT = 4401, 4404, 4429, 1011  # close codes
_CODES: Final = {NO_TOKEN: BY_TOKEN, UNKNOWN: BY_GAME, TOO_MANY: BY_RATE}
_HELLO_SECONDS: Final = 10.0  # limit for the first message
_RATE, _BURST = 30.0, 100  # messages of a client, a second and at once
_MISSHAPEN: Final = 20  # invalid messages until a client is disconnected
_MOST_REPORTED: Final = 10_000  # decisions of a game in a report

Result = TypeVar("Result")

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


# --- the socket of analyses


class FairThreads:
    """Threads for long work, in round-robin: a client with many jobs delays only its own."""

    def __init__(self, threads: int) -> None:
        self._free = threads
        # By client, in the order of turns
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    async def __call__(self, function: Callable[[], Result], who: str = "") -> Result:
        """Run a function to its end.

        Args:
            function: The function.
            who: The client, such as its token.
        """
        await self._turn(who)
        try:
            return await run_in_threadpool(function)
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
            if not turn.cancelled():  # unless cancelled at the same moment
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Give a thread to the next client."""
        while self._waiting:
            who, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._waiting[who] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


@served
async def analyse(socket: WebSocket, server: Server, threads: FairThreads) -> None:
    """Serve the socket of analyses of a client, until it leaves."""
    said = await hello(socket)
    if not server.is_host(said.token):
        await run_in_threadpool(server.open, said.game or "", said.token)
    await send(socket, {"type": "ready"})
    job: asyncio.Task[None] | None = None
    try:
        async for message in incoming(socket, messages.ANALYSIS_MESSAGE):
            if isinstance(message, messages.Misshapen):
                await send(socket, {"type": "refused", **message._asdict()})
            elif isinstance(message, messages.Ping):
                await send(socket, {"type": "pong", "id": message.id})
            else:
                await _stop(job)
                job = None
                if not isinstance(message, messages.Stop):
                    steps = steps_of(server, said.token, message)
                    job = asyncio.create_task(
                        _send_steps(socket, threads, said.token, steps, message.id)
                    )
    finally:
        await _stop(job)


async def _send_steps(
    socket: WebSocket, threads: FairThreads, token: str, steps: Iterator[Any], number: int
) -> None:
    """Send the steps of a job until it is done or cancelled."""
    try:
        while (step := await threads(lambda: next(steps, None), token)) is not None:
            await send(socket, step | {"id": number})
    except MonopolyError as error:
        await send(socket, {"type": "refused", "id": number, "error": str(error)})
    except (WebSocketDisconnect, RuntimeError):
        return  # the client has left


async def _stop(job: asyncio.Task[None] | None) -> None:
    if job is not None:
        job.cancel()
        with suppress(asyncio.CancelledError):
            await job


def steps_of(server: Server, token: str, message: Any) -> Iterator[dict[str, Any]]:
    """The steps of a job. The first one may take longer, since it finds the position.

    Raises:
        MonopolyError: The job is invalid.
    """
    match message:
        case messages.AnalyseJob(target=messages.Target(position=setup)) if (
            setup is not None and setup.is_before_throw
        ):
            policies = _policies(server, message, setup.build())
            yield from analysis.analyse_throw(
                setup.all_throws, policies, message.most, message.turns
            )
        case messages.AnalyseJob():
            game = _target(server, token, message.target)
            policies = _policies(server, message, game)
            yield from analysis.analyse(
                game, policies, message.actions, message.most, message.turns
            )
        case messages.OfferJob():
            game = _target(server, token, message.target)
            picks = games.picks(game, message, public.default_names(game))
            yield from analysis.weigh(game, picks, _policies(server, message, game), message.most)
        case messages.CurveJob(points=points, playouts=playouts):
            stored = server.stored(server.open(message.game, token)[0])
            policies = _policies(server, message, stored.game(0))
            yield from analysis.curve(stored.game, stored.version, points, playouts, policies)
        case _:
            stored = server.stored(server.open(message.game, token)[0])
            policies = _policies(server, message, stored.game(0))
            yield from _report(stored, message.playouts, policies)


def _report(
    stored: StoredGame, playouts: int, policies: Sequence[Policy]
) -> Iterator[dict[str, Any]]:
    if not 0 < stored.version <= _MOST_REPORTED:
        raise RefusedError(
            f"A report needs a game of 1 to {_MOST_REPORTED:,} decisions; this one has"
            f" {stored.version:,}."
        )
    games = np.concatenate([core.batch_of(game) for game in stored.frames()])
    chosen = stored.replay.actions.astype(np.int64)
    names = stored.names
    for message in reports.report(games[:-1], chosen, games[-1], names, playouts, policies):
        for mistake in message.get("mistakes", ()):
            mistake["frame"] = stored.frame(mistake["version"])
        yield message


def _target(server: Server, token: str, target: messages.Target) -> Game:
    """The position to analyse."""
    if sum(given is not None for given in (target.game, target.position, target.puzzle)) != 1:
        raise RefusedError("A target is one of: a game, a position, a puzzle.")
    if target.position is not None:
        return target.position.build()
    if target.puzzle is not None:
        return puzzle(target.puzzle).game
    return server.stored(server.open(target.game or "", token)[0]).game(target.version)


def _policies(server: Server, message: Any, game: Game) -> list[Policy]:
    """The policies of playouts, one a seat."""
    players, chosen = int(game.num_players), message.policies
    named = [chosen] * players if isinstance(chosen, str) else chosen
    if len(named) != players:
        raise RefusedError(
            f"{len(named)} policies are given for {players} seats: give one for all, or one a seat."
        )
    made = {name: server.catalogue.make(name) for name in named}  # one object a name
    return [made[name] for name in named]
