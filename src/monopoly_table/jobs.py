"""The scheduler of analyses: jobs of clients, step by step, on a few threads in round-robin.

A client has one job at a time. A job is a generator of messages (`analysis`, `reports`); each step
takes a fraction of a second, so that a job can be stopped soon.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

import numpy as np
from fastapi import WebSocket
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocketDisconnect

from monopoly_env import core
from monopoly_env.errors import MonopolyError
from monopoly_env.game import Game
from monopoly_env.policy.protocol import Policy
from monopoly_table import analysis, messages, offers, public, reports, sockets
from monopoly_table.recordings import StoredGame
from monopoly_table.safety import RefusedError
from monopoly_table.server import Server, puzzle

_MOST_REPORTED: Final = 10_000  # decisions of a game in a report

Result = TypeVar("Result")


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


@sockets.served
async def serve(socket: WebSocket, server: Server, threads: FairThreads) -> None:
    """Serve the socket of analyses of a client, until it leaves."""
    hello = await sockets.hello(socket)
    if not server.is_host(hello.token):
        await run_in_threadpool(server.open, hello.game or "", hello.token)
    await sockets.send(socket, {"type": "ready"})
    job: asyncio.Task[None] | None = None
    try:
        async for message in sockets.incoming(socket, messages.ANALYSIS_MESSAGE):
            if isinstance(message, messages.Misshapen):
                await sockets.send(socket, {"type": "refused", **message._asdict()})
            elif isinstance(message, messages.Ping):
                await sockets.send(socket, {"type": "pong", "id": message.id})
            else:
                await _stop(job)
                job = None
                if not isinstance(message, messages.Stop):
                    steps = steps_of(server, hello.token, message)
                    job = asyncio.create_task(_run(socket, threads, hello.token, steps, message.id))
    finally:
        await _stop(job)


async def _run(
    socket: WebSocket, threads: FairThreads, token: str, steps: Iterator[Any], number: int
) -> None:
    """Send the steps of a job until it is done or cancelled."""
    try:
        while (step := await threads(lambda: next(steps, None), token)) is not None:
            await sockets.send(socket, step | {"id": number})
    except MonopolyError as error:
        await sockets.send(socket, {"type": "refused", "id": number, "error": str(error)})
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
            picks = offers.picks(game, message, public.default_names(game))
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
    yield from reports.report(games[:-1], chosen, games[-1], stored.names, playouts, policies)


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
