"""Game sessions: games in memory with their clients, whose messages are handled in sequence."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from typing import Any, Final, TypeAlias
from weakref import WeakValueDictionary

from starlette.concurrency import run_in_threadpool

from monopoly_env.errors import MonopolyError
from monopoly_env.policy.protocol import Policy
from monopoly_table import games, messages, public
from monopoly_table.games import GUEST, PERSON, LiveGame
from monopoly_table.safety import NOT_YOURS, TOO_MANY, UNKNOWN, RefusedError, Rights
from monopoly_table.storage import Step, Storage, Stored

MOST_SESSIONS: Final = 256  # games in memory
_MOST_WAITING: Final = 100  # queued messages of a slow client
_AT_ONCE: Final = 0.05  # seconds of uninterrupted play by policies between messages
_FOR_THE_HOST: Final[dict[type, str]] = {
    messages.Undo: "takes decisions back",
    messages.Pace: "sets the speed",
    messages.NewSeat: "gives seats away",
}
# The frame of those who may not see the running sealed bid, and of the player who writes it.
_Frames: TypeAlias = tuple[dict[str, Any], dict[str, Any]]

_log = logging.getLogger(__name__)


class Client:
    """A client of a session.

    Attributes:
        rights: Its rights.
        waiting: The queue of messages to send; None ends the connection.
        known: The last frame that it was sent.
    """

    def __init__(self, rights: Rights) -> None:
        self.rights = rights
        self.waiting: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(_MOST_WAITING)
        self.known: dict[str, Any] = {}

    def send(self, message: dict[str, Any]) -> None:
        """Queue a message. A client that is too far behind is disconnected."""
        try:
            self.waiting.put_nowait(message)
        except asyncio.QueueFull:
            self.let_go()

    def let_go(self) -> None:
        """End the connection."""
        while not self.waiting.empty():
            self.waiting.get_nowait()
        self.waiting.put_nowait(None)


class GameSession:
    """One game and its clients."""

    def __init__(self, game: LiveGame) -> None:
        self.game = game
        self.clients: set[Client] = set()
        self.lock = asyncio.Lock()  # protects the game
        self._wake = asyncio.Event()
        self._driver = asyncio.create_task(self._drive())

    @property
    def is_idle(self) -> bool:
        """Whether it may be closed."""
        return not self.clients and not self.lock.locked()

    def close(self) -> None:
        """Disconnect all clients and stop the policies."""
        for client in self.clients:
            client.let_go()
        self._driver.cancel()

    # --- coming and going

    async def enter(self, client: Client, version: int | None, digest: str | None) -> None:
        """Add a client, and send it the steps since its last known position, or the state."""
        async with self.lock:
            known = version is not None and digest is not None
            missed = self.game.since(version or 0, digest or "") if known else None
            self.clients.add(client)
            await run_in_threadpool(self._take_seats, client.rights)
            frames = await run_in_threadpool(self._frames)
            self._send({client}, frames, version, missed)
            self._send(self.clients - {client}, frames, self.game.row.version, [])
        self._wake.set()

    def _take_seats(self, rights: Rights) -> None:
        """Mark the seats of a guest who joins by their link as taken."""
        mine = [] if rights.host else [self.game.seats[seat] for seat in rights.seats]
        if any(not seat.taken for seat in mine):
            for seat in mine:
                seat.taken = True
            self.game.save()

    async def leave(self, client: Client) -> None:
        """Remove a client."""
        self.clients.discard(client)
        if self.clients:
            async with self.lock:
                await self._announce(self.game.row.version)

    async def join(self, seat: int, name: str) -> str:
        """Seat a guest; returns the token of the seat.

        Raises:
            RefusedError: The seat is taken, or not for guests.
        """
        async with self.lock:
            token = await run_in_threadpool(self.game.take, seat, name)
            await self._announce(self.game.row.version)
        return token

    # --- messages of clients

    async def handle(self, client: Client, message: Any) -> None:
        """Carry out a client's message and answer it, or refuse it."""
        try:
            answer = await self._answer(client.rights, message)
        except MonopolyError as error:
            version = self.game.row.version
            answer = {"type": "refused", "error": str(error), "version": version}
        client.send(answer | {"id": message.id})
        self._wake.set()

    async def _answer(self, rights: Rights, message: Any) -> dict[str, Any]:
        if isinstance(message, messages.Ping):
            return {"type": "pong"}
        if isinstance(message, messages.Phrase):
            return _talk(self.clients, rights, message)
        game = self.game
        async with self.lock:
            version = game.row.version
            if isinstance(message, messages.Preview):
                preview = await run_in_threadpool(games.preview, game.game, message)
                return {"type": "preview", **preview}
            steps = await run_in_threadpool(perform, game, rights, message)
            if isinstance(message, messages.NewSeat):
                self._renew_rights()
            undone = isinstance(message, messages.Undo)
            await self._announce(None if undone else version, steps)
        return {"type": "done"}

    def _renew_rights(self) -> None:
        """Give the host the seats of all persons; guests who lost their seats watch."""
        kinds = [seat.kind for seat in self.game.seats]
        for client in self.clients:
            host, seats = client.rights
            client.rights = Rights(
                host,
                tuple(
                    seat
                    for seat, kind in enumerate(kinds)
                    if (kind == PERSON if host else kind == GUEST and seat in seats)
                ),
            )

    # --- policies

    async def _drive(self) -> None:
        """Let policies play while there are clients."""
        while True:
            self._wake.clear()
            while self._policies_play:
                seconds = float(self.game.row.about["speed"]) if await self._let_play() else 0.0
                with suppress(TimeoutError):  # a change of pace ends the wait
                    async with asyncio.timeout(seconds):
                        await self._wake.wait()
                    self._wake.clear()
            await self._wake.wait()

    @property
    def _policies_play(self) -> bool:
        paused = self.game.row.about["paused"]
        return bool(self.clients) and self.game.waits_for_policy and not paused

    async def _let_play(self) -> bool:
        """Let policies play; returns whether an event was sent to clients."""
        game = self.game
        async with self.lock:
            if not self._policies_play:  # paused while this waited
                return False
            version, until_event = game.row.version, float(game.row.about["speed"]) > 0
            try:
                steps = await run_in_threadpool(game.play, _AT_ONCE, until_event)
            except Exception as error:
                _log.exception("the policies of game %s stopped", game.row.id)
                game.stall(error)
                steps = []
            if steps or game.stalled:
                await self._announce(version, steps)
        return any(step.events for step in steps)

    # --- messages to clients

    async def state(self, rights: Rights) -> dict[str, Any]:
        """The whole state for a client without a socket."""
        async with self.lock:
            frames = await run_in_threadpool(self._frames)
            return {"frame": self._frame_for(rights, frames), "log": self._log(rights)}

    def _frames(self) -> _Frames:
        frame = self.game.frame()
        if public.sealed_lot(self.game.game) is None:
            return frame, frame
        return frame, self.game.frame(int(self.game.game.player))

    async def _announce(self, version: int | None, steps: Sequence[Step] = ()) -> None:
        """Send all clients the steps since a version, or the whole state if it is None."""
        frames = await run_in_threadpool(self._frames)
        self._send(self.clients, frames, version, None if version is None else steps)

    def _send(
        self,
        clients: Iterable[Client],
        frames: _Frames,
        version: int | None,
        steps: Sequence[Step] | None,
    ) -> None:
        """Send clients the steps since a version, or the whole state if they are None."""
        for client in list(clients):
            frame = self._frame_for(client.rights, frames)
            if steps is None:
                log = self._log(client.rights)
                client.send({"type": "state", "frame": frame, "log": log})
            else:
                told = self._steps(client.rights, steps)
                changed = public.changes(client.known, frame)
                client.send({"type": "events", "from": version, "steps": told, "frame": changed})
            client.known = frame

    def _log(self, rights: Rights) -> list[dict[str, Any]]:
        """The last steps that have events; with the first throw, if none is left out."""
        told = self._steps(rights, [step for step in self.game.log if step.events])
        rows = self.game.opening if len(self.game.log) == self.game.row.version else []
        return [public.opening_step(rows), *told] if rows else told

    def _steps(self, rights: Rights, steps: Sequence[Step]) -> list[dict[str, Any]]:
        return public.steps_for(steps, list(self.game.log), self.game.game, rights)

    def _frame_for(self, rights: Rights, frames: _Frames) -> dict[str, Any]:
        """The frame of a client."""
        game = self.game
        frame = frames[int(game.game.player) in rights.seats]
        here = {seat for client in self.clients for seat in client.rights.seats}
        players = [
            player | {"connected": player["kind"] == "policy" or seat in here}
            for seat, player in enumerate(frame["players"])
        ]
        return frame | {
            "players": players,
            "you": list(rights.seats),
            "undo": rights.host and frame["undo"],
            "stalled": public.stalled_for(game.stalled, game.game, rights),
        }


def _talk(clients: Iterable[Client], rights: Rights, message: messages.Phrase) -> dict[str, Any]:
    """Pass a phrase on to all clients; it is not kept."""
    if message.seat not in rights.seats:
        raise RefusedError("You can speak only for a seat of your own.", NOT_YOURS)
    said = {"type": "talk", "seat": message.seat, "phrase": message.phrase}
    for client in list(clients):
        client.send(said)
    return {"type": "done"}


def perform(game: LiveGame, rights: Rights, message: Any) -> list[Step]:
    """Carry out a message; returns its steps.

    Raises:
        MonopolyError: The message is refused.
    """
    if type(message) in _FOR_THE_HOST and not rights.host:
        raise RefusedError(f"Only the host {_FOR_THE_HOST[type(message)]}.", NOT_YOURS)
    match message:
        case messages.Undo():
            game.check(message.version, message.digest)
            game.undo()
            return []
        case messages.Pace(speed=speed, paused=paused):
            wanted = {"speed": speed, "paused": paused}
            about = {name: value for name, value in wanted.items() if value is not None}
            game.save(about=about)
            return []
        case messages.NewSeat():
            game.give(message.seat, message.kind, message.policy)
            return []
        case messages.NewName():
            if message.seat not in rights.seats:
                raise RefusedError("You can name only a seat of your own.", NOT_YOURS)
            game.seats[message.seat].name = message.name
            game.save()
            return []
    game.check(message.version, message.digest, rights.seats)
    match message:
        case messages.OfferMove():
            chosen = games.picks(game.game, message, game.names)
        case messages.Bid():
            chosen = games.bids(game.game, message.dollars)
        case messages.Act(action=int(action)):
            chosen = [action]
        case _:
            chosen = [games.typed(game.game, message.text or "")]
    return game.carry_out(chosen)


class Sessions:
    """All sessions."""

    def __init__(self, storage: Storage, make: Callable[[str], Policy]) -> None:
        self.storage, self.make = storage, make
        self._sessions: OrderedDict[str, GameSession] = OrderedDict()
        # Locks of games that are being read or removed
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._sessions)

    async def open(self, row: Stored) -> GameSession:
        """The session of a game, read from the database if it is not in memory.

        Raises:
            RefusedError: There is no such live game, or there are too many sessions.
        """
        if row.id not in self._sessions:
            async with self._lock(row.id):
                if row.id not in self._sessions:
                    game = await run_in_threadpool(self.load, row.id)
                    self._make_place()
                    self._sessions[row.id] = GameSession(game)
        self._sessions.move_to_end(row.id)
        return self._sessions[row.id]

    def _lock(self, game: str) -> asyncio.Lock:
        """The lock of one game, so that several games can be opened at once."""
        return self._locks.setdefault(game, asyncio.Lock())

    def load(self, game: str) -> LiveGame:
        """A live game from the database.

        Raises:
            RefusedError: There is none.
        """
        row = self.storage.find(game)
        if row is None or row.kind != "live":
            raise RefusedError(f"There is no game {game!r} to play.", UNKNOWN)
        return LiveGame(row, self.storage, self.make)

    def _make_place(self) -> None:
        idle = [game for game, session in self._sessions.items() if session.is_idle]
        if len(self._sessions) >= MOST_SESSIONS and not idle:
            raise RefusedError(
                f"{MOST_SESSIONS} games are open, the most of this server: close one.",
                TOO_MANY,
            )
        while len(self._sessions) >= MOST_SESSIONS and idle:
            self._sessions.pop(idle.pop(0)).close()

    async def remove(self, game: str) -> None:
        """Remove a game for good."""
        async with self._lock(game):
            session = self._sessions.pop(game, None)
            if session is not None:
                session.close()
            async with session.lock if session is not None else nullcontext():
                await run_in_threadpool(self.storage.remove, game)

    def close(self) -> None:
        """Close all sessions."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
