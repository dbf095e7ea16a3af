"""Saved games: a header of JSON and the record, never code."""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from monopoly_env.core import batch_of, check_steppable, digest, sound
from monopoly_env.errors import FormatError, PositionError, shortened
from monopoly_env.facts import board, cards
from monopoly_env.facts.editions import EDITION_NAMES
from monopoly_env.files import read_file, read_json, write_atomically
from monopoly_env.game import FORMAT_VERSION, GAME, Game
from monopoly_env.rules import RULES_VERSION

_MOST_HEADER: Final = 1 << 16  # bytes of JSON
_VERSIONS: Final[dict[str, Any]] = {
    "format": "monopoly_env game",
    "version": FORMAT_VERSION,
    "rules_version": RULES_VERSION,
}


@cache
def table_hash(edition: str) -> str:
    """A hash of the board and cards of an edition: a game saved under other tables is refused."""
    number = EDITION_NAMES.index(edition)
    tables: tuple[Any, ...] = (board.PRICE, board.MORTGAGE, board.HOUSE_PRICE, board.RENT)
    tables += (board.SQUARE_KIND, board.SQUARE_LOT, cards.CARD)
    digest_ = hashlib.sha256()
    for table in tables:
        digest_.update(np.ascontiguousarray(table[number], np.int64).tobytes())
    return digest_.hexdigest()[:16]


def save(game: Game, path: str | os.PathLike[str]) -> Path:
    """Save a game: data only, no code. The file is never half written.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import monopoly_env as me
        >>> game = me.new_game(seed=7)
        >>> path = me.save(game, Path(tempfile.mkdtemp()) / "game.monopoly")
        >>> me.digest(me.load(path)) == me.digest(game)
        True

    Returns:
        The path of the file.

    Raises:
        ConfigurationError: The folder cannot be written.
        PositionError: The record is invalid.
    """
    batch = sound(game)
    edition = EDITION_NAMES[game.rules.board]
    header = _VERSIONS | {"board": edition, "tables": table_hash(edition), "digest": digest(game)}
    return write_atomically(path, json.dumps(header).encode() + b"\n" + batch.tobytes())


def load(path: str | os.PathLike[str]) -> Game:
    """Load a saved game.

    Raises:
        ConfigurationError: The file does not exist or cannot be read.
        FormatError: The file is not a saved game, is corrupt, or has another version.
    """
    name = os.fspath(path)
    line, _, body = read_file(path, _MOST_HEADER + GAME.itemsize).partition(b"\n")
    header = read_json(line)
    if not isinstance(header, dict) or "format" not in header:
        raise FormatError(f"{name!r} is not a saved game.")
    for key, value in _VERSIONS.items():
        if header.get(key) != value:
            given, kind = shortened(header.get(key)), shortened(header["format"])
            raise FormatError(f"{name!r} ({kind}): {key} is {given}, this version reads {value!r}.")
    if len(body) != GAME.itemsize:
        size = f"{len(body)} bytes of record, expected {GAME.itemsize}"
        raise FormatError(f"{name!r} is truncated or corrupt: {size}.")
    game = np.frombuffer(body, GAME).copy()[0]
    if digest(game) != header.get("digest"):
        raise FormatError(f"{name!r} is corrupt: the record does not match its digest.")
    try:
        check_steppable(batch_of(game))
    except PositionError as error:
        raise FormatError(f"{name!r} holds an impossible record. {error}") from None
    edition = EDITION_NAMES[game.rules.board]
    if header.get("tables") != table_hash(edition):
        raise FormatError(f"{name!r} was saved with another version of the board {edition!r}.")
    return game
