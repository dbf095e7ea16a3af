"""The file in which all games rest: one SQLite database. What a client was told is in it already, so a crash loses nothing.

A game is a row of `games` with its position, and a row of `moves` for each decision. An uploaded game keeps its actions in one block.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from monopoly_env.errors import ConfigurationError, FormatError

FILE: Final = "table.sqlite"
_VERSION: Final = 2  # of the tables below
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
    memory BLOB NOT NULL,           -- of its compiled policies
    actions BLOB,                   -- of an uploaded game
    updated REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS newest ON games (updated);
CREATE TABLE IF NOT EXISTS moves (
    game TEXT NOT NULL REFERENCES games ON DELETE CASCADE,
    version INTEGER NOT NULL,       -- the one that the move leads to
    seat INTEGER NOT NULL,
    action INTEGER NOT NULL,
    told TEXT NOT NULL,             -- JSON: text and sentences
    digest TEXT NOT NULL,
    turn INTEGER NOT NULL,
    first INTEGER NOT NULL,         -- the version before the message of which the move is a part
    record BLOB,                    -- before a person's message, so that it can be taken back
    memory BLOB,
    PRIMARY KEY (game, version)
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Step:
    """A decision that was made.

    Attributes:
        version: The number of decisions, this one included.
        seat: Who decided.
        action: The action.
        text: The action in words.
        sentences: What happened.
        digest: Of the position that it led to.
        turn: The turn in which it was made.
        first: The version before the message of which it is a part; its own if it is final.
    """

    version: int
    seat: int
    action: int
    text: str
    sentences: tuple[str, ...]
    digest: str
    turn: int
    first: int

    @property
    def is_final(self) -> bool:
        """Whether it can't be taken back."""
        return self.first == self.version

    def told(self) -> dict[str, Any]:
        """The step as clients read it."""
        told = asdict(self)
        del told["first"]
        return told


@dataclass
class Stored:
    """A row of `games`."""

    id: str
    kind: str
    about: dict[str, Any]
    status: dict[str, Any]
    version: int
    record: bytes
    memory: bytes = b""
    start: bytes | None = None
    actions: bytes | None = None
    updated: float = field(default_factory=time.time)


@dataclass(frozen=True)
class Snapshot:
    """A position to which a person may go back: the record and the policies' memory."""

    record: bytes
    memory: bytes


class Storage:
    """The database. Its methods may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        """Open the database of a folder; both are made if they do not exist.

        Raises:
            ConfigurationError: The folder can't be written.
            FormatError: The file is no database of this version.
        """
        self.path = folder / FILE
        self._lock = threading.RLock()
        self._owner = FileLock(folder / "table.lock", timeout=0)  # the system frees it if the server is killed
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._owner.acquire()
            self.path.touch(mode=0o600)  # it holds tokens
            self._database = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
        except Timeout as error:
            told = f"Another server uses the folder {str(folder)!r}. Open its link, or give this one a folder of its own by --data."
            raise ConfigurationError(told) from error
        except (OSError, sqlite3.OperationalError) as error:
            raise ConfigurationError(
                f"The folder {str(folder)!r} can't be used for games ({error}). Name another one by --data."
            ) from error
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self.close()
            raise FormatError(f"{str(self.path)!r} holds no games: {error}. Name another folder by --data.") from error

    def _prepare(self) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=5000"):
            self._database.execute(f"PRAGMA {pragma}")
        version = self._database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise sqlite3.DatabaseError(f"it is of version {version}, expected {_VERSION}")
        self._database.executescript(_SCHEMA)
        self._database.execute(f"PRAGMA user_version={_VERSION}")
        os.chmod(self.path, 0o600)  # noqa: PTH101 - a file that was there before

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._database.close()
            self._owner.release()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction."""
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._database.execute(query, values).fetchall()

    def secret(self, name: str) -> str:
        """A secret of this folder, made when it is asked for first: links stay valid after a restart."""
        with self._writing() as database:
            database.execute("INSERT OR IGNORE INTO settings VALUES (?, ?)", (name, secrets.token_urlsafe(16)))
        return str(self._rows("SELECT value FROM settings WHERE name = ?", name)[0][0])

    # --- games ----------------------------------------------------------------------------------------------------------

    def add(self, games: Sequence[Stored]) -> None:
        """Keep new games, all or none."""
        with self._writing() as database:
            for game in games:
                row = (game.id, game.kind, json.dumps(game.about), json.dumps(game.status), game.version, game.start, game.record,
                       game.memory, game.actions, game.updated)  # fmt: skip
                database.execute("INSERT INTO games VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def find(self, game: str) -> Stored | None:
        """A game, or None if there is none of this id."""
        columns = "id, kind, about, status, version, record, memory, start, actions, updated"
        rows = self._rows(f"SELECT {columns} FROM games WHERE id = ?", game)
        return self._stored(rows[0]) if rows else None

    @staticmethod
    def _stored(row: tuple[Any, ...]) -> Stored:
        return Stored(row[0], row[1], json.loads(row[2]), json.loads(row[3]), *row[4:])

    def newest(self, count: int) -> list[Stored]:
        """The games that changed last, without their positions."""
        rows = self._rows("SELECT id, kind, about, status, version, x'', x'', NULL, NULL, updated FROM games ORDER BY updated DESC LIMIT ?",
                          count)  # fmt: skip
        return [self._stored(row) for row in rows]

    def count(self) -> int:
        """How many games there are."""
        return int(self._rows("SELECT count(*) FROM games")[0][0])

    def remove(self, game: str) -> None:
        """Forget a game."""
        with self._writing() as database:
            database.execute("DELETE FROM games WHERE id = ?", (game,))

    # --- what happens in a game ---------------------------------------------------------------------------------------------

    def save(self, game: Stored, steps: Sequence[Step] = (), before: Snapshot | None = None) -> None:
        """Keep what has changed in a game.

        Args:
            game: The game as it is now.
            steps: The decisions since it was kept last.
            before: The position before the first of them, if it may be taken back.
        """
        game.updated = time.time()
        with self._writing() as database:
            for number, step in enumerate(steps):
                kept = (before.record, before.memory) if before and number == 0 else (None, None)
                told = json.dumps([step.text, *step.sentences])
                row = (game.id, step.version, step.seat, step.action, told, step.digest, step.turn, step.first, *kept)
                database.execute("INSERT INTO moves VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            self._update(database, game)

    @staticmethod
    def _update(database: sqlite3.Connection, game: Stored) -> None:
        row = (json.dumps(game.about), json.dumps(game.status), game.version, game.record, game.memory, game.updated, game.id)
        database.execute("UPDATE games SET about = ?, status = ?, version = ?, record = ?, memory = ?, updated = ? WHERE id = ?", row)

    def take_back(self, game: Stored) -> None:
        """Keep a game that went back to an earlier version, and forget the decisions after it."""
        game.updated = time.time()
        with self._writing() as database:
            database.execute("DELETE FROM moves WHERE game = ? AND version > ?", (game.id, game.version))
            self._update(database, game)

    def snapshot(self, game: str, version: int) -> Snapshot | None:
        """The position at a version, if it may be gone back to."""
        rows = self._rows("SELECT record, memory FROM moves WHERE game = ? AND version = ? AND record IS NOT NULL", game, version + 1)
        return Snapshot(*rows[0]) if rows else None

    def steps(self, game: str, last: int) -> list[Step]:
        """The last decisions of a game."""
        columns = "version, seat, action, told, digest, turn, first"
        rows = self._rows(f"SELECT {columns} FROM moves WHERE game = ? ORDER BY version DESC LIMIT ?", game, last)
        return [_step(row) for row in reversed(rows)]

    def actions(self, game: str) -> bytes:
        """All actions of a game that was played here."""
        return bytes(row[0] for row in self._rows("SELECT action FROM moves WHERE game = ? ORDER BY version", game))


def _step(row: tuple[Any, ...]) -> Step:
    version, seat, action, told, digest, turn, first = row
    text, *sentences = json.loads(told)
    return Step(version, seat, action, text, tuple(sentences), digest, turn, first)
