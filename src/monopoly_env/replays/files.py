"""Files of recorded games: a line of JSON with the versions, then one compressed block.

The block is a JSON list that describes the games, followed by all actions, one byte each.
"""

from __future__ import annotations

import base64
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from monopoly_env.actions import HEADS
from monopoly_env.errors import ConfigurationError, FormatError, MonopolyError, shortened
from monopoly_env.files import differing, read_file, read_json, write_atomically
from monopoly_env.game import FORMAT_VERSION
from monopoly_env.replays.messages import MOST_MESSAGES, Message
from monopoly_env.replays.replay import Replay, digest, final
from monopoly_env.rules import RULES_VERSION, Rules
from monopoly_env.saves import table_hash

SUFFIX: Final = ".replay"
FORMAT: Final = "monopoly-replays"
REPLAYS_VERSION: Final = 1  # of the file format: raised whenever its layout changes
# Limits of a file; a larger one is refused.
_MOST_BYTES: Final = 1 << 28  # of the file, and of its uncompressed block
_MOST_GAMES: Final = 100_000
_MOST_ABOUT: Final = 1 << 14  # bytes of the description of a game, without messages
# bytes of the messages of a game: 500 times the maximum that 200 characters take in JSON
_MOST_TALK: Final = 1 << 21
# compression ratio: short games with many options in common reach half of it
_MOST_RATIO: Final = 256
# bytes of the first line; also the allowance of a block beyond _MOST_RATIO
_MOST_HEADER: Final = 1 << 16
_DECODER: Final = json.JSONDecoder()
_BETWEEN: Final = re.compile(r"[\s,]*")  # separators of a JSON list


def save(path: str | os.PathLike[str], replays: Sequence[Replay]) -> Path:
    """Write replays to a file, atomically. A replay without a digest is played back first.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import agents
        >>> from monopoly_env import replays
        >>> results = agents.arena.play(["expert", "random"], games=1, seed=0, record=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = replays.save(Path(folder, "games.replay"), results.replays)
        ...     replays.load(path) == results.replays
        True

    Args:
        path: The file, by convention with the suffix `.replay`.
        replays: The games.

    Raises:
        FormatError: A replay cannot be played back.
        ConfigurationError: An argument is not a list of replays, or the file cannot be written or
            would be too large.
    """
    listed = isinstance(replays, Sequence)
    if not listed or not all(isinstance(replay, Replay) for replay in replays):
        raise ConfigurationError(
            f"replays must be a list of recorded games, not {shortened(replays)}: save(path,"
            " replays)."
        )
    about = [json.dumps(_about(replay), separators=(",", ":")) for replay in replays]
    actions = b"".join(replay.actions.tobytes() for replay in replays)
    block = f"[{','.join(about)}]\n".encode() + actions
    packed, longest = zlib.compress(block, 9), max(map(len, about), default=0)
    too_large = len(block) > _most(len(packed)) or longest > _MOST_ABOUT + _MOST_TALK
    if too_large or len(replays) > _MOST_GAMES:
        raise ConfigurationError(
            f"{len(replays):,} games of {len(block):,} bytes are too much for a file: write"
            " several."
        )
    header = versions() | {"games": len(replays), "bytes": len(block)}
    return write_atomically(path, json.dumps(header).encode() + b"\n" + packed)


def load(path: str | os.PathLike[str]) -> list[Replay]:
    """Load the replays of a file. They are not played back here.

    Raises:
        ConfigurationError: The file does not exist.
        FormatError: The file holds no replays, is corrupt, or has other versions; the message says
            what differs.
    """
    name = os.fspath(path)
    line, _, block = read_file(path, _MOST_BYTES).partition(b"\n")
    header = read_json(line) if len(line) <= _MOST_HEADER else None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FormatError(f"{name!r} holds no recorded games.")
    differences = differing(header, versions())
    if differences:
        raise FormatError(f"{name!r} was recorded by another version: {differences}.")
    try:
        return _unpacked(header, block)
    except Exception as error:  # any error that damaged content causes
        reason = f" {error}" if isinstance(error, MonopolyError) else ""
        raise FormatError(f"{name!r} is truncated or corrupt.{reason}") from error


def to_dict(replay: Replay) -> dict[str, Any]:
    """A replay as plain data, for JSON: a description of the game, and the actions in base 64.

    Examples:
        >>> import agents
        >>> from monopoly_env import replays
        >>> (replay,) = agents.arena.play(["expert", "random"], games=1, record=1).replays
        >>> replays.from_dict(replays.to_dict(replay)) == replay
        True

    Raises:
        FormatError: It has no digest and can't be played back.
    """
    about = _about(replay)
    return about | {"actions": base64.b64encode(replay.actions.tobytes()).decode()}


def from_dict(data: Mapping[str, Any]) -> Replay:
    """The inverse of `to_dict`. The game is not played back here.

    Raises:
        FormatError: The data are invalid, or were recorded with another board.
    """
    try:
        actions = base64.b64decode(data["actions"], validate=True)
        if len(actions) != data["decisions"]:
            raise FormatError(
                f"It claims {shortened(data['decisions'])} decisions and has {len(actions)}."
            )
        return _replay(data, actions)
    except Exception as error:  # any error that damaged content causes
        reason = f" {error}" if isinstance(error, MonopolyError) else ""
        raise FormatError(f"This is no recorded game.{reason}") from error


def versions() -> dict[str, Any]:
    """The versions that a file must have: under others, its actions give other games."""
    return {
        "format": FORMAT,
        "format_version": REPLAYS_VERSION,
        "rules_version": RULES_VERSION,
        "record_version": FORMAT_VERSION,
        "heads": {name: head.size for name, head in HEADS.items()},
    }


def _about(replay: Replay) -> dict[str, Any]:
    """The description of a replay: all but the actions."""
    return {
        "names": list(replay.names),
        "seed": replay.seed,
        "rules": replay.rules.changed(),
        "tables": table_hash(replay.rules.board),
        "turn_limit": replay.turn_limit,
        "decisions": len(replay.actions),
        **({"talk": talk_data(replay.talk)} if replay.talk else {}),
        **({"reseeds": replay.reseeds} if replay.reseeds else {}),
        "digest": replay.digest or digest(final(replay)),
    }


def _most(packed: int) -> int:
    """The maximum size of a block by its compressed size, in bytes."""
    return min(_MOST_BYTES, _MOST_RATIO * packed + _MOST_HEADER)


def _unpacked(header: dict[str, Any], packed: bytes) -> list[Replay]:
    """The replays of a file's block."""
    size, count = header["bytes"], header["games"]
    if not 0 < size <= _most(len(packed)) or not 0 <= count <= _MOST_GAMES:
        raise FormatError(f"It claims {size} bytes and {count} games.")
    engine = zlib.decompressobj()
    text, _, actions = engine.decompress(packed, size + 1).partition(b"\n")
    replays: list[Replay] = []
    end = 0
    for about in _descriptions(text.decode()):
        start, end = end, end + about["decisions"]
        if not start <= end <= len(actions) or len(replays) == count:
            break
        replays.append(_replay(about, actions[start:end]))
    if not engine.eof or engine.unused_data or len(replays) != count or end != len(actions):
        raise FormatError("Its content does not match its header.")
    return replays


def _descriptions(text: str) -> Iterator[Any]:
    """The items of a JSON list, one at a time, so that invalid data can't fill the memory."""
    if not (text.startswith("[") and text.endswith("]")):
        raise FormatError("It describes no games.")
    at = 1
    while at < len(text) - 1:
        about, length = _description(text, at)
        yield about
        at = _BETWEEN.match(text, at + length).end()  # type: ignore[union-attr]


def _description(text: str, at: int) -> tuple[Any, int]:
    """The item at a position, and its length; the window grows for long conversations."""
    window = _MOST_ABOUT
    while True:
        try:
            return _DECODER.raw_decode(text[at : at + window])
        except json.JSONDecodeError:
            if window > _MOST_TALK:
                raise
            window *= 4


@lru_cache(maxsize=1024)
def _rules(options: str) -> Rules:
    """Rules from JSON; cached, since the games of a file share a few."""
    return Rules.from_dict(json.loads(options))


def _replay(about: Mapping[str, Any], actions: bytes) -> Replay:
    """One replay from its description and its actions."""
    rules = _rules(json.dumps(about["rules"]))
    if about["tables"] != table_hash(rules.board):
        raise FormatError(f"It was recorded with another version of the board {rules.board!r}.")
    if not all(isinstance(name, str) for name in [*about["names"], about["digest"]]):
        raise FormatError("A name is not a string.")
    return Replay(
        rules, about["seed"], len(about["names"]), tuple(about["names"]),
        np.frombuffer(actions, np.uint8), about["turn_limit"], about["digest"],
        talk=talk_of(about.get("talk", ())),
        reseeds=tuple((at, seed) for at, seed in about.get("reseeds", ())),
    )  # fmt: skip


def talk_data(talk: Sequence[tuple[int, Message]]) -> list[dict[str, Any]]:
    """The messages of a game, as JSON values."""
    return [{"at": at, **message.data()} for at, message in talk]


def talk_of(data: Sequence[Mapping[str, Any]]) -> tuple[tuple[int, Message], ...]:
    """The inverse of `talk_data`.

    Raises:
        FormatError: A message is too long, not clean, or of another form.
    """
    return tuple((_place(one["at"]), Message.from_data(one)) for one in data[: MOST_MESSAGES + 1])


def _place(at: object) -> int:
    if not isinstance(at, int) or isinstance(at, bool):
        raise FormatError(
            f"A message stands with action {shortened(at)}, which is no whole number."
        )
    return at
