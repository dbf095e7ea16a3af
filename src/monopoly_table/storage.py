"""The database of all games (SQLite), written before clients are notified of a change.

A game is a row of `games` with its position, and a row of `moves` for each decision. An uploaded
game has its actions in one block. Every row ends in a digest of its values, which detects damage.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.events import Row
from monopoly_table.safety import BUSY, RefusedError

FILE: Final = "table.sqlite"
_VERSION: Final = 3  # of the tables below
_WORDED: Final = 2  # moves had sentences where they have events
_NEWEST: Final = 1 << 62  # above all versions
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS games (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,             -- live, or replay: uploaded
    about TEXT NOT NULL,            -- JSON: rules, seed, seats, tokens, pace
    status TEXT NOT NULL,           -- JSON: turns, over, winners
    version INTEGER NOT NULL,       -- decisions so far
    start BLOB,                     -- the record of a game that began at a position
    record BLOB NOT NULL,           -- the record now
    memory BLOB NOT NULL,           -- memory of compiled policies
    actions BLOB,                   -- actions of an uploaded game
    updated REAL NOT NULL,
    digest_of_row TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS newest ON games (updated);
CREATE TABLE IF NOT EXISTS moves (
    game TEXT NOT NULL REFERENCES games ON DELETE CASCADE,
    version INTEGER NOT NULL,       -- version after the move
    seat INTEGER NOT NULL,
    action INTEGER NOT NULL,
    events TEXT NOT NULL,           -- JSON: rows of monopoly_env.events
    digest TEXT NOT NULL,
    turn INTEGER NOT NULL,
    first INTEGER NOT NULL,         -- version before the message that the move belongs to
    record BLOB,                    -- record before a person's message, for undo
    memory BLOB,
    digest_of_row TEXT NOT NULL,
    PRIMARY KEY (game, version)
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Step:
    """A past decision.

    Attributes:
        version: The number of decisions, this one included.
        seat: The deciding seat.
        action: The action.
        events: What happened: rows of `monopoly_env.events`.
        digest: The digest of the next position.
        turn: The turn.
        first: The version before the message that it belongs to; its own version if it is final.
    """

    version: int
    seat: int
    action: int
    events: list[Row]
    digest: str
    turn: int
    first: int

    @property
    def is_final(self) -> bool:
        """Whether it can't be undone."""
        return self.first == self.version

    def as_json(self) -> dict[str, Any]:
        """The step in JSON."""
        step = asdict(self)
        del step["first"]
        return step


@dataclass
class Stored:
    """A row of `games`."""

    id: str
    kind: str
    about: dict[str, Any]
    status: dict[str, Any]
    version: int
    start: bytes | None
    record: bytes
    memory: bytes
    actions: bytes | None = None
    updated: float = field(default_factory=time.time)


@dataclass(frozen=True)
class Snapshot:
    """A position for undo: the record and the policies' memory."""

    record: bytes
    memory: bytes


class Storage:
    """The database. Its methods may be called from any thread.

    Attributes:
        database: The connection.
    """

    def __init__(self, folder: Path) -> None:
        """Open the database of a folder, created if missing.

        Raises:
            ConfigurationError: The folder can't be written, or is in use.
            FormatError: The file is no database of this version.
        """
        self.path = folder / FILE
        self._lock = threading.RLock()
        # The system releases it if the server is killed; a server may be closed by another thread
        self._owner = FileLock(folder / "table.lock", timeout=0, thread_local=False)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._owner.acquire()
            self.path.touch(mode=0o600)  # it holds tokens
            self.database = sqlite3.connect(
                self.path, check_same_thread=False, isolation_level=None
            )
        except Timeout as error:
            message = (
                f"Another server uses the folder {str(folder)!r}. Open its link, or give this one a"
                " folder of its own by --data."
            )
            raise ConfigurationError(message) from error
        except (OSError, sqlite3.OperationalError) as error:
            raise ConfigurationError(
                f"The folder {str(folder)!r} can't be used for games ({error}). Name another one by"
                " --data."
            ) from error
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self.close()
            raise FormatError(
                f"{str(self.path)!r} holds no games: {error}. Name another folder by --data."
            ) from error

    def _prepare(self) -> None:
        self.database.executescript(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
            " PRAGMA foreign_keys=ON; PRAGMA busy_timeout=5000;"
        )
        version = self.database.execute("PRAGMA user_version").fetchone()[0]
        if version == _WORDED:
            self.database.execute("ALTER TABLE moves RENAME COLUMN words TO events")
        elif version not in (0, _VERSION):
            raise sqlite3.DatabaseError(f"it is of version {version}, expected {_VERSION}")
        self.database.executescript(_SCHEMA)
        self.database.execute(f"PRAGMA user_version={_VERSION}")
        os.chmod(self.path, 0o600)  # noqa: PTH101 - a file that was there before

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self.database.close()
            self._owner.release()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction.

        Raises:
            RefusedError: It failed; nothing was written.
        """
        with self._lock:
            try:
                self.database.execute("BEGIN IMMEDIATE")
                yield self.database
                self.database.execute("COMMIT")
            except sqlite3.Error as error:
                message = f"The game can't be saved ({error}): nothing was done. Is the disk full?"
                raise RefusedError(message, BUSY) from error
            finally:
                if self.database.in_transaction:
                    self.database.rollback()

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query.

        Raises:
            RefusedError: The database can't be read.
        """
        with self._lock:
            try:
                return self.database.execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise RefusedError(f"The file of games can't be read ({error}).", BUSY) from error

    def _intact(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Checked rows, without their digests.

        Raises:
            FormatError: A row is damaged.
        """
        rows = self._rows(query, *values)
        if any(digest != _digest(row) for *row, digest in rows):
            raise FormatError("The file of games is damaged: this game is not what was played.")
        return [row[:-1] for row in rows]

    def secret(self, name: str) -> str:
        """A persistent secret of this folder, created on first use."""
        with self._writing() as database:
            database.execute(
                "INSERT OR IGNORE INTO settings VALUES (?, ?)", (name, secrets.token_urlsafe(16))
            )
        return str(self._rows("SELECT value FROM settings WHERE name = ?", name)[0][0])

    # --- games

    def add(self, games: Sequence[Stored]) -> None:
        """Save new games, all or none."""
        with self._writing() as database:
            for game in games:
                _insert(database, "games", _row(game))

    def find(self, game: str) -> Stored | None:
        """A game by its id, or None."""
        rows = self._intact("SELECT * FROM games WHERE id = ?", game)
        for id_, kind, about, status, *rest in rows:
            return Stored(id_, kind, json.loads(about), json.loads(status), *rest)
        return None

    def newest(self, count: int) -> list[Stored]:
        """The games changed last, without damaged ones."""
        found = []
        for (game,) in self._rows("SELECT id FROM games ORDER BY updated DESC LIMIT ?", count):
            with suppress(FormatError, RefusedError):
                found.append(self.find(game))
        return [game for game in found if game is not None]

    def count(self) -> int:
        """The number of games."""
        return int(self._rows("SELECT count(*) FROM games")[0][0])

    def remove(self, game: str) -> None:
        """Remove a game."""
        with self._writing() as database:
            database.execute("DELETE FROM games WHERE id = ?", (game,))

    # --- decisions

    def save(
        self, game: Stored, steps: Sequence[Step] = (), before: Snapshot | None = None
    ) -> None:
        """Save the changes of a game.

        Args:
            game: The current game.
            steps: The decisions since it was last saved.
            before: The position before the first of them, if they may be undone.
        """
        game.updated = _later(game)
        with self._writing() as database:
            for step in steps:
                rows = json.dumps(step.events, separators=(",", ":"))
                made = game.id, step.version, step.seat, step.action, rows
                undo = (before.record, before.memory) if before else (None, None)
                _insert(database, "moves", (*made, step.digest, step.turn, step.first, *undo))
                before = None
            _update(database, game)

    def take_back(self, game: Stored) -> None:
        """Save a game that was reset to an earlier version, and delete later decisions."""
        game.updated = _later(game)
        with self._writing() as database:
            database.execute(
                "DELETE FROM moves WHERE game = ? AND version > ?", (game.id, game.version)
            )
            _update(database, game)

    def snapshot(self, game: str, version: int) -> Snapshot | None:
        """The position at a version, if it can be restored."""
        query = "SELECT * FROM moves WHERE game = ? AND version = ? AND record IS NOT NULL"
        rows = self._intact(query, game, version + 1)
        return Snapshot(*rows[0][-2:]) if rows else None

    def steps(self, game: str, last: int, version: int = _NEWEST) -> list[Step]:
        """The last decisions of a game, up to a version."""
        query = "SELECT * FROM moves WHERE game = ? AND version <= ? ORDER BY version DESC LIMIT ?"
        rows = self._intact(query, game, version, last)
        return [_step(row) for row in reversed(rows)]

    def actions(self, game: Stored) -> bytes:
        """All actions of a live game.

        Raises:
            FormatError: Some are missing.
        """
        query = "SELECT * FROM moves WHERE game = ? AND version <= ? ORDER BY version"
        rows = self._intact(query, game.id, game.version)
        if len(rows) != game.version:
            raise FormatError(
                f"The file of games is damaged: it holds {len(rows):,} of {game.version:,}"
                " decisions."
            )
        return bytes(_step(row).action for row in rows)


def _later(game: Stored) -> float:
    """The time of a change: later than the last one, even where the clock stands still."""
    return max(time.time(), game.updated + 1e-6)


def _row(game: Stored) -> tuple[Any, ...]:
    head = game.id, game.kind, json.dumps(game.about), json.dumps(game.status)
    state = game.version, game.start, game.record, game.memory
    return (*head, *state, game.actions, game.updated)


def _step(row: tuple[Any, ...]) -> Step:
    _, version, seat, action, told, digest, turn, first, *_ = row
    rows = [event for event in json.loads(told) if isinstance(event, list)]  # else a sentence
    return Step(version, seat, action, rows, digest, turn, first)


def _insert(database: sqlite3.Connection, table: str, row: tuple[Any, ...]) -> None:
    """Add a row and its digest."""
    marks = ", ".join("?" * (len(row) + 1))
    database.execute(f"INSERT INTO {table} VALUES ({marks})", (*row, _digest(row)))


def _update(database: sqlite3.Connection, game: Stored) -> None:
    id_, _, about, status, version, _, record, memory, _, updated = row = _row(game)
    names = "about, status, version, record, memory, updated, digest_of_row"
    changed = about, status, version, record, memory, updated, _digest(row)
    query = f"UPDATE games SET ({names}) = (?, ?, ?, ?, ?, ?, ?) WHERE id = ?"
    database.execute(query, (*changed, id_))


def _digest(row: Iterable[Any]) -> str:
    return hashlib.blake2b(repr(tuple(row)).encode(), digest_size=8).hexdigest()
