"""Server state: settings, games, policies, puzzles, and the rights of tokens."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from monopoly_bench import puzzles
from monopoly_env import core
from monopoly_env.errors import ConfigurationError, MonopolyError, nearest
from monopoly_env.game import Game
from monopoly_env.policy import files, names
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import Rules
from monopoly_table import analysis, games, messages, public, recordings, safety
from monopoly_table.games import GUEST, POLICY, Seat
from monopoly_table.recordings import StoredGame
from monopoly_table.safety import NO_TOKEN, TOO_MANY, UNKNOWN, RefusedError, Rights
from monopoly_table.sessions import Sessions
from monopoly_table.storage import Storage, Stored

_MOST_FROM_A_FILE: Final = 50  # games of an uploaded file
_MOST_LISTED: Final = 200
_STORED: Final = 8  # stored games in memory
_SAVED: Final = "file:"  # before the name of a saved policy
_AT_THE_TERMINAL: Final = "human"


class Catalogue:
    """The policies that clients may name: those of `agents`, and saved ones of a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        """Read the names of a folder of saved policies, if one is given.

        Raises:
            ConfigurationError: There is no such folder.
        """
        if folder is not None and not folder.is_dir():
            raise ConfigurationError(f"--agents {str(folder)!r} is no folder.")
        self._folder = folder
        self._plays_on: dict[str, bool] = {}

    def _saved(self) -> dict[str, Path]:
        """The saved policies of the folder by name."""
        if self._folder is None:
            return {}
        return {
            _SAVED + path.name: path
            for path in sorted(self._folder.glob(f"*{files.SUFFIX}"))
            if path.is_file() and not path.is_symlink()
        }

    def names(self) -> list[str]:
        """All names."""
        ours = (name for name in names.names() if name != _AT_THE_TERMINAL)
        return [*ours, *self._saved()]

    def make(self, name: str) -> Policy:
        """A policy by name.

        Raises:
            ConfigurationError: The name is unknown.
            FormatError: The saved file does not match this version.
        """
        known = self.names()
        if name not in known:
            raise ConfigurationError(f"Unknown policy {name!r}. {nearest(name, known)}")
        return names.load(self._saved()[name]) if name.startswith(_SAVED) else names.make(name)

    def plays_on(self, name: str) -> bool:
        """Whether a policy can run in playouts: compiled policies can."""
        if name not in self._plays_on:
            try:
                self._plays_on[name] = isinstance(self.make(name), CompiledPolicy)
            except Exception:
                self._plays_on[name] = False
        return self._plays_on[name]


@dataclass(frozen=True)
class ServerSettings:
    """Settings of a server.

    Attributes:
        data: The folder of the games.
        agents: A folder of saved policies, or None.
        hosts: Names of the server besides its addresses.
        rate: Requests a second per address.
        burst: Requests at once per address.
        sockets: Maximum of open sockets.
        games: Maximum of saved games.
        origin: The address at which other machines reach the server; None: they don't.
    """

    data: Path
    agents: Path | None = None
    hosts: tuple[str, ...] = ()
    rate: float = 50.0
    burst: int = 300
    sockets: int = 256
    games: int = 10_000
    origin: str | None = None


class Server:
    """The state shared by all routes and sockets. Only `sessions` belongs to the event loop."""

    def __init__(self, settings: ServerSettings) -> None:
        """Open the database of games.

        Raises:
            ConfigurationError: A folder can't be used.
        """
        self.settings = settings
        self.catalogue = Catalogue(settings.agents)
        self.storage = Storage(settings.data)
        self.token = self.storage.secret("host")
        self.sessions = Sessions(self.storage, self.catalogue.make)
        self.ready = False
        self.sockets = 0
        self._stored: OrderedDict[tuple[str, int, float], StoredGame] = OrderedDict()

    def close(self) -> None:
        """Close the file."""
        self.sessions.close()
        self.storage.close()

    def warm_up(self) -> None:
        """Compile the engine before the first game and the first analysis."""
        game = core.new_game(2)
        public.unnamed(game)
        policy = self.catalogue.make("expert")
        next(analysis.analyse(game, [policy, policy], True, 100))
        for name in self.catalogue.names():
            self.catalogue.plays_on(name)
        self.ready = True

    def about(self, host: bool) -> dict[str, Any]:
        """Constants and policies; saved policies for the host only."""
        known = [name for name in self.catalogue.names() if host or not name.startswith(_SAVED)]
        plays_on = self.catalogue.plays_on if self.ready else "expert".__eq__  # not known yet
        policies = [{"name": name, "plays_on": plays_on(name)} for name in known]
        return {
            "ready": self.ready,
            "host": host,
            "origin": self.settings.origin,
            "policies": policies,
            **public.constants(),
        }

    # --- rights

    def is_host(self, token: str) -> bool:
        """Whether a token is the host's."""
        return safety.same(token, self.token)

    def check_host(self, token: str) -> None:
        """Raise unless a token is the host's."""
        if not self.is_host(token):
            raise RefusedError(
                "Only the host may do this: open the link that the server printed.", NO_TOKEN
            )

    def row(self, game: str) -> Stored:
        """A stored game.

        Raises:
            RefusedError: There is none.
        """
        row = self.storage.find(game)
        if row is None:
            raise RefusedError(
                f"There is no game {game!r}: it was removed, or the link is wrong.", UNKNOWN
            )
        return row

    def open(self, game: str, token: str) -> tuple[Stored, Rights]:
        """A stored game, and the rights of a token in it.

        Raises:
            RefusedError: There is no such game, or the token is of another game.
        """
        row = self.row(game)
        return row, safety.rights(token, self.token, row.about)

    # --- new games

    def begin(self, new: messages.NewGame) -> Stored:
        """Begin a game.

        Raises:
            MonopolyError: The rules, a policy or the position are invalid.
        """
        self._check_space(1)
        seats = [self._seat(choice, len(new.seats)) for choice in new.seats]
        seed = public.new_seed() if new.seed is None else new.seed
        start = self._start(new, seed)
        if int(start.num_players) != len(seats):
            raise RefusedError(
                f"The position has {start.num_players} players, and {len(seats)} seats are given."
            )
        if core.is_over(start):
            raise RefusedError("The game is over at this position: there is nothing to play.")
        about = {
            "rules": Rules.from_record(start.rules).changed(),
            "seed": seed,
            "turn_limit": new.turn_limit,
            "speed": new.speed,
            "paused": new.paused,
            "title": "",
        }
        from_position = new.position is not None or new.start is not None
        row = games.opened(seats, start, about, from_position)
        self.storage.add([row])
        return row

    def _seat(self, choice: messages.SeatChoice, players: int) -> Seat:
        if choice.kind == POLICY:
            self.catalogue.make(choice.policy or "").check_table(players)
        elif choice.policy is not None:
            raise RefusedError(f"A seat of kind {choice.kind!r} has no policy.")
        token = secrets.token_urlsafe(16) if choice.kind == GUEST else None
        return Seat(choice.kind, choice.name, choice.policy, token)

    def _start(self, new: messages.NewGame, seed: int) -> Game:
        if new.position is not None:
            return new.position.model_copy(update={"seed": seed}).build()
        if new.start is not None:
            frame = self.stored(self.row(new.start.game)).game(new.start.version)
            return core.reseed(frame, seed, shuffle=True)
        return core.new_game(len(new.seats), new.rules.make(), seed)

    def _check_space(self, more: int) -> None:
        if self.storage.count() + more > self.settings.games:
            raise RefusedError(
                f"The server holds {self.settings.games:,} games at most: remove some.", TOO_MANY
            )

    def upload(self, data: bytes) -> dict[str, Any]:
        """Save the games of a file.

        Raises:
            FormatError: It is not a file of recorded games.
        """
        found, left_out = recordings.read_file(data, _MOST_FROM_A_FILE)
        self._check_space(len(found))
        rows = [recordings.row_of(replay, "r" + secrets.token_hex(6)) for replay in found]
        self.storage.add(rows)
        return {"games": [_listed(row) for row in rows], "left_out": left_out}

    def games(self) -> list[dict[str, Any]]:
        """The games that changed last."""
        return [_listed(row) for row in self.storage.newest(_MOST_LISTED)]

    # --- frames

    def stored(self, row: Stored) -> StoredGame:
        """A stored game, frame by frame."""
        key = (row.id, row.version, row.updated)
        if key not in self._stored:
            self._stored[key] = StoredGame(row, self.storage)
            while len(self._stored) > _STORED:
                self._stored.popitem(last=False)
        return self._stored[key]


def _listed(row: Stored) -> dict[str, Any]:
    """A game in the list of games."""
    updated = datetime.fromtimestamp(row.updated, UTC).isoformat(timespec="seconds")
    answer = {
        "game": row.id,
        "kind": row.kind,
        "version": row.version,
        "updated": updated,
        "title": row.about["title"],
    }
    return answer | {name: row.status[name] for name in ("names", "turns", "over", "winners")}


# --- puzzles


@cache
def _puzzles() -> tuple[puzzles.Puzzle, ...]:
    """The puzzles that come with the library."""
    try:
        return puzzles.load()
    except MonopolyError:
        return ()


def _title(one: puzzles.Puzzle) -> str:
    return puzzles.KINDS[one.kind].capitalize()


def puzzle_list() -> list[dict[str, Any]]:
    """The list of all puzzles in JSON."""
    return [
        {
            "puzzle": number,
            "title": _title(one),
            "players": one.replay.num_players,
            "decision": one.kind,
            "gap": -max(each.difference for each in one.candidates if each is not one.best),
        }
        for number, one in enumerate(_puzzles())
    ]


def puzzle(number: int) -> puzzles.Puzzle:
    """A puzzle.

    Raises:
        RefusedError: There is no such puzzle.
    """
    known = _puzzles()
    if not 0 <= number < len(known):
        raise RefusedError(f"There is no puzzle {number}: there are {len(known)}, from 0.", UNKNOWN)
    return known[number]


def asked(number: int) -> dict[str, Any]:
    """A puzzle without its solution."""
    one = puzzle(number)
    players = [public.player(name) for name in one.replay.names]
    return {
        "puzzle": number,
        "title": _title(one),
        "frame": public.frame(one.game, players, len(one.replay.actions)),
        "candidates": sorted(candidate.action for candidate in one.candidates),
    }


def guessed(number: int, action: int) -> dict[str, Any]:
    """Whether an answer is right, and the solution."""
    one = puzzle(number)
    one.of(action)
    return {
        "right": action == one.best.action,
        "best": one.best.action,
        "candidates": [analysis.as_json(candidate) for candidate in one.candidates],
    }
