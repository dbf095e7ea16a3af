"""Rooms: the tables that somebody looks at.

A room lets its clients act one after another, and tells all of them what happened.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final
from weakref import WeakValueDictionary

from monopoly_env import actions
from monopoly_env.errors import ConfigurationError, MonopolyError, nearest
from monopoly_env.render import words
from monopoly_env.render.text import PLAYERS
from monopoly_table import choices, hidden, messages, offers, views
from monopoly_table.players import Catalogue
from monopoly_table.refusals import MOVED_ON, NOT_YOURS, TOO_MANY, UNKNOWN, RefusedError
from monopoly_table.safety import Rights
from monopoly_table.storage import Step, Storage, Stored
from monopoly_table.tables import GUEST, Table
from monopoly_table.threads import Runner

MOST_ROOMS: Final = 256  # tables in memory
_MOST_WAITING: Final = 100  # messages that a slow client may be behind
_AT_ONCE: Final = 0.05  # seconds that policies play without pause before the clients hear of it

_log = logging.getLogger(__name__)


class Client:
    """Somebody who looks at a table.

    Attributes:
        rights: What it may do.
        waiting: Messages that are still to be sent; None ends the connection.
    """

    def __init__(self, rights: Rights) -> None:
        self.rights = rights
        self.waiting: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(_MOST_WAITING)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message, later. A client that is too far behind is let go.

        It comes back and gets the whole state.
        """
        try:
            self.waiting.put_nowait(message)
        except asyncio.QueueFull:
            self.let_go()

    def let_go(self) -> None:
        """End the connection."""
        while not self.waiting.empty():
            self.waiting.get_nowait()
        self.waiting.put_nowait(None)


class Room:
    """One table and its clients."""

    def __init__(self, table: Table, run: Runner) -> None:
        self.table, self.run = table, run
        self.clients: set[Client] = set()
        self.lock = asyncio.Lock()  # whoever holds it may change the table
        self._wake = asyncio.Event()
        self._driver = asyncio.create_task(self._drive())

    @property
    def is_idle(self) -> bool:
        """Whether nobody needs it."""
        return not self.clients and not self.lock.locked()

    def close(self) -> None:
        """Let all clients go and stop the policies."""
        for client in self.clients:
            client.let_go()
        self._driver.cancel()

    # --- coming and going

    async def enter(self, client: Client, version: int | None, digest: str | None) -> None:
        """A client comes, perhaps back: it gets what it missed."""
        async with self.lock:
            missed = (
                None if version is None or digest is None else self.table.since(version, digest)
            )
            self.clients.add(client)
            await self.run(lambda: self._take_places(client))
            view, board = await self.run(self._shown)
            if missed is None:
                client.send(self._state(client, view, board))
            else:
                client.send(self._events(client, version or 0, missed, view, board))
            self._tell(self.table.version, [], view, board, but=client)
        self._wake.set()

    def _take_places(self, client: Client) -> None:
        """A guest who comes by the link of a seat has it from now on."""
        mine = (
            [] if client.rights.host else [self.table.seats[seat] for seat in client.rights.seats]
        )
        if any(not seat.taken for seat in mine):
            for seat in mine:
                seat.taken = True
            self.table.keep_seats()

    async def leave(self, client: Client) -> None:
        """A client is gone."""
        self.clients.discard(client)
        if self.clients:
            async with self.lock:
                await self._announce(self.table.version, [])

    # --- messages

    async def handle(self, client: Client, message: Any) -> None:
        """Do what a client asks for, or tell it why not."""
        try:
            answer = await _HANDLERS[type(message)](self, client, message)
        except MonopolyError as error:
            client.send(
                {
                    "type": "refused",
                    "id": message.id,
                    "error": str(error),
                    "version": self.table.version,
                }
            )
        else:
            client.send(answer or {"type": "done", "id": message.id})
        self._wake.set()

    async def _act(self, client: Client, message: messages.Act) -> None:
        def chosen() -> list[int]:
            if message.action is not None:
                return [message.action]
            return [typed(self.table, message.text or "")]

        await self._move(client, message, chosen)

    async def _offer(self, client: Client, message: messages.Offer) -> None:
        table = self.table
        await self._move(
            client,
            message,
            lambda: offers.picks(table.game, message.to, message.give, message.ask, table.names),
        )

    async def _bid(self, client: Client, message: messages.Bid) -> None:
        await self._move(client, message, lambda: offers.bids(self.table.game, message.dollars))

    async def _move(self, client: Client, message: Any, chosen: Callable[[], list[int]]) -> None:
        def act() -> list[Step]:
            self.table.check(message.version, message.digest)
            self.table.check_turn(client.rights.seats)
            return self.table.carry_out(chosen())

        async with self.lock:
            steps = await self.run(act)
            await self._announce(message.version, steps)

    async def _preview(self, _: Client, message: messages.Preview) -> dict[str, Any]:
        table = self.table
        async with self.lock:
            told = await self.run(
                lambda: offers.preview(
                    table.game, message.to, message.give, message.ask, table.names
                )
            )
        return {"type": "preview", "id": message.id, **told}

    async def _undo(self, client: Client, message: messages.Undo) -> None:
        def undo() -> None:
            self.table.check(message.version, message.digest)
            self.table.undo()

        _check_host(client, "takes decisions back")
        async with self.lock:
            await self.run(undo)
            view, board = await self.run(self._shown)
            for each in self.clients:
                each.send(self._state(each, view, board))

    async def _pace(self, client: Client, message: messages.Pace) -> None:
        _check_host(client, "sets the speed")
        async with self.lock:
            await self.run(lambda: self.table.pace(message.speed, message.paused))
            await self._announce(self.table.version, [])

    async def _seat(self, client: Client, message: messages.NewSeat) -> None:
        _check_host(client, "gives seats away")
        async with self.lock:
            await self.run(lambda: self.table.give(message.seat, message.kind, message.policy))
            self._renew_rights()
            await self._announce(self.table.version, [])

    async def _ping(self, _: Client, message: messages.Ping) -> dict[str, Any]:
        return {"type": "pong", "id": message.id}

    async def join(self, seat: int, name: str) -> str:
        """A guest takes a free seat; the token of the seat.

        Raises:
            RefusedError: It is taken, or not for guests.
        """
        async with self.lock:
            token = await self.run(lambda: _take(self.table, seat, name))
            await self._announce(self.table.version, [])
        return token

    def _renew_rights(self) -> None:
        """Seats have changed hands.

        A host plays all persons, a guest who lost the seat looks on.
        """
        kinds = [seat.kind for seat in self.table.seats]
        for client in self.clients:
            own = (
                (seat for seat, kind in enumerate(kinds) if kind == "person")
                if client.rights.host
                else (seat for seat in client.rights.seats if kinds[seat] == GUEST)
            )
            client.rights = Rights(client.rights.host, tuple(own))

    # --- policies

    async def _drive(self) -> None:
        """Let policies play as long as somebody looks."""
        while True:
            self._wake.clear()
            while self._policies_play:
                seconds = float(self.table.row.about["speed"]) if await self._let_play() else 0.0
                await self._pause(seconds)
            await self._wake.wait()

    @property
    def _policies_play(self) -> bool:
        return (
            bool(self.clients)
            and self.table.waits_for_policy
            and not self.table.row.about["paused"]
        )

    async def _let_play(self) -> bool:
        """Let policies play; whether something was told."""
        table = self.table
        async with self.lock:
            if not self._policies_play:  # somebody paused while this waited
                return False
            version, until_event = table.version, float(table.row.about["speed"]) > 0
            try:
                steps = await self.run(lambda: table.play(_AT_ONCE, until_event))
            except Exception as error:
                _log.exception("the policies of game %s stopped", table.row.id)
                table.stall(error)
                steps = []
            if steps or table.stalled:
                await self._announce(version, steps)
        return any(step.sentences for step in steps)

    async def _pause(self, seconds: float) -> None:
        """Wait, but not longer than until the pace may have changed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
            self._wake.clear()

    # --- what clients see

    def _shown(self) -> tuple[dict[str, Any], str]:
        return self.table.view(), views.picture(hidden.seen(self.table.game))

    async def state(self, rights: Rights) -> dict[str, Any]:
        """The whole state for somebody who asks once."""
        async with self.lock:
            view, board = await self.run(self._shown)
            return self._state(Client(rights), view, board)

    async def _announce(self, version: int, steps: Sequence[Step]) -> None:
        view, board = await self.run(self._shown)
        self._tell(version, steps, view, board)

    def _tell(
        self,
        version: int,
        steps: Sequence[Step],
        view: dict[str, Any],
        board: str,
        but: Client | None = None,
    ) -> None:
        for client in list(self.clients):
            if client is not but:
                client.send(self._events(client, version, steps, view, board))

    def _events(
        self, client: Client, version: int, steps: Sequence[Step], view: dict[str, Any], board: str
    ) -> dict[str, Any]:
        told = self._told(client, steps)
        return {
            "type": "events",
            "from": version,
            "steps": told,
            "view": self._personal(client, view),
            "board": board,
            "undone": False,
        }

    def _state(self, client: Client, view: dict[str, Any], board: str) -> dict[str, Any]:
        log = self._told(client, [step for step in self.table.log if step.sentences])
        return {"type": "state", "view": self._personal(client, view), "board": board, "log": log}

    def _told(self, client: Client, steps: Sequence[Step]) -> list[dict[str, Any]]:
        """Steps as one client may see them."""
        secret, mine = self.table.secret, client.rights.seats
        return [
            (
                hidden.hidden_step(step.told())
                if step.version in secret and step.seat not in mine
                else step.told()
            )
            for step in steps
        ]

    def _personal(self, client: Client, view: dict[str, Any]) -> dict[str, Any]:
        """The view with what one client may do."""
        seats, here = (
            client.rights.seats,
            {seat for each in self.clients for seat in each.rights.seats},
        )
        players = [
            player | {"connected": player["kind"] == "policy" or player["seat"] in here}
            for player in view["players"]
        ]
        bidding = hidden.sealed_lot(self.table.game) is not None
        if bidding and int(self.table.game.player) not in seats:
            subject = words.subject(hidden.seen(self.table.game), self.table.names)
            view = hidden.hidden_view(view, subject)
        if view["stalled"] and (bidding or not client.rights.host):
            view = view | {"stalled": hidden.hidden_error(view["stalled"])}
        undo = client.rights.host and self.table.undo_to is not None
        return view | {"players": players, "you": list(seats), "undo": undo}


def _check_host(client: Client, what: str) -> None:
    if not client.rights.host:
        raise RefusedError(NOT_YOURS, f"Only the host {what}.")


def _take(table: Table, seat: int, name: str) -> str:
    """A guest sits down."""
    free = [
        number for number, each in enumerate(table.seats) if each.kind == GUEST and not each.taken
    ]
    if seat not in free:
        told = (
            f"Free: {', '.join(PLAYERS[number] for number in free)}."
            if free
            else "No seat is free: you can watch."
        )
        raise RefusedError(MOVED_ON, f"Seat {PLAYERS[seat]} is taken or not for guests. {told}")
    chosen = table.seats[seat]
    chosen.taken, chosen.name, chosen.token = True, name or chosen.name, secrets.token_urlsafe(16)
    table.keep_seats()
    return chosen.token


def typed(table: Table, text: str) -> int:
    """The action that somebody typed: a text of the page, or of `monopoly_env.actions`.

    Raises:
        ConfigurationError: There is none.
    """
    wanted = " ".join(text.split()).casefold()
    legal = choices.legal(table.game, table.names)
    for choice in legal:
        if wanted == choice["text"].casefold():
            return int(choice["action"])
    try:
        return actions.parse(text, table.game)
    except ConfigurationError as error:
        raise ConfigurationError(
            f"Unknown action {text!r}. {nearest(text, [choice['text'] for choice in legal])}"
        ) from error


_HANDLERS: Final[dict[type, Callable[[Room, Client, Any], Any]]] = {
    messages.Act: Room._act,
    messages.Offer: Room._offer,
    messages.Bid: Room._bid,
    messages.Preview: Room._preview,
    messages.Undo: Room._undo,
    messages.Pace: Room._pace,
    messages.NewSeat: Room._seat,
    messages.Ping: Room._ping,
}


class Rooms:
    """All rooms."""

    def __init__(self, storage: Storage, catalogue: Catalogue, run: Runner) -> None:
        self.storage, self.catalogue, self.run = storage, catalogue, run
        self._rooms: OrderedDict[str, Room] = OrderedDict()
        # While a game is read or removed, others wait
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._rooms)

    async def open(self, row: Stored) -> Room:
        """The room of a game; the table is read from the file if it is not in memory.

        Raises:
            RefusedError: There is no such live game, or there are too many rooms.
        """
        if row.id not in self._rooms:
            async with self._lock(row.id):
                if row.id not in self._rooms:
                    table = await self.run(lambda: self._table(row.id))
                    self._make_place()
                    self._rooms[row.id] = Room(table, self.run)
        self._rooms.move_to_end(row.id)
        return self._rooms[row.id]

    def _lock(self, game: str) -> asyncio.Lock:
        """The lock of one game: many games may be opened at once."""
        return self._opening.setdefault(game, asyncio.Lock())

    def _table(self, game: str) -> Table:
        row = self.storage.find(game)
        if row is None or row.kind != "live":
            raise RefusedError(UNKNOWN, f"There is no game {game!r} to play.")
        return Table(row, self.storage, self.catalogue)

    def _make_place(self) -> None:
        idle = [game for game, room in self._rooms.items() if room.is_idle]
        if len(self._rooms) >= MOST_ROOMS and not idle:
            raise RefusedError(
                TOO_MANY,
                f"{MOST_ROOMS} games are being looked at, more than this server takes: close one.",
            )
        while len(self._rooms) >= MOST_ROOMS and idle:
            self._rooms.pop(idle.pop(0)).close()

    async def remove(self, game: str) -> None:
        """Forget a game."""
        async with self._lock(game):
            room = self._rooms.pop(game, None)
            if room is None:
                await self.run(lambda: self.storage.remove(game))
                return
            room.close()
            async with room.lock:
                await self.run(lambda: self.storage.remove(game))

    def close(self) -> None:
        """Close all rooms."""
        for room in self._rooms.values():
            room.close()
        self._rooms.clear()
