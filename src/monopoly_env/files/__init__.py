"""The only way to files: regular ones of limited size, written whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from monopoly_env.errors import ConfigurationError, FormatError, MonopolyError, shortened

MOST_BYTES: Final = 1 << 30  # of a file that is read into memory
_PIECE: Final = 1 << 20  # bytes of a file that are read at a time
_MOST_NESTED: Final = 16  # levels of JSON within each other; our files have half of them
_AT_ONCE: Final[int] = getattr(os, "O_NONBLOCK", 0)  # opening a pipe must not wait for its writer


def open_file(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a regular file for reading. A pipe or a device is refused: reading it may never end.

    Raises:
        ConfigurationError: The file does not exist, is not a regular file, or cannot be read.
    """
    try:
        file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | _AT_ONCE))  # noqa: SIM115
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise OSError(errno.EINVAL, "It is not a regular file")
    except (OSError, ValueError) as error:  # a ValueError: the path has a null byte
        raise ConfigurationError(
            f"Cannot read {os.fspath(path)!r}: {getattr(error, 'strerror', error)}."
        ) from error
    return file


def read_file(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """Read a regular file of `most` bytes or less.

    Raises:
        ConfigurationError: The file does not exist, is not a regular file, or cannot be read.
        FormatError: The file is larger.
    """
    pieces: list[bytes] = []
    with open_file(path) as file:
        try:
            while sum(map(len, pieces)) <= most and (piece := file.read(_PIECE)):
                pieces.append(piece)
        except OSError as error:
            what = f"Cannot read {os.fspath(path)!r}: {error.strerror}."
            raise ConfigurationError(what) from error
    data = b"".join(pieces)
    if len(data) > most:
        large = f"{os.fspath(path)!r} is larger than {most:,} bytes"
        raise FormatError(f"{large}: it is not one of our files.")
    return data


def read_json(text: bytes | str) -> Any:
    """The value of a JSON text; None if it is not JSON or is nested deeper than our files are."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    level = [value]
    for _ in range(_MOST_NESTED):
        nested = [item for item in level if isinstance(item, (dict, list))]
        level = [x for one in nested for x in (one.values() if isinstance(one, dict) else one)]
    return value if not level else None


def read_saved(
    path: str | os.PathLike[str], most: int = MOST_BYTES, what: str = "can't be read"
) -> bytes:
    """The bytes of a file as `read_file` gives them; FormatError: it `what`, and why."""
    try:
        return read_file(path, most)
    except ConfigurationError as error:
        raise FormatError(f"{os.fspath(path)!r} {what}: {error}") from error


def differing(header: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """The differences of a file's header from the expected one, as text; empty if none."""
    given = {key: header.get(key) for key in expected}
    wrong = {key: shortened(one, 400) for key, one in given.items() if one != expected[key]}
    return "; ".join(f"{key} is {one}, expected {expected[key]!r}" for key, one in wrong.items())


@contextmanager
def understood(
    path: str | os.PathLike[str], what: str = "is damaged", advice: str = ""
) -> Iterator[None]:
    """Raise FormatError for any error in the use of a file's content: it "is damaged", or `what`.

    Errors of this library pass. `advice` is a sentence at the end of the message.
    """
    try:
        yield
    except MonopolyError:
        raise
    # zipfile, zlib, NumPy, Arrow, safetensors and torch raise dozens of kinds
    except Exception as error:
        raise FormatError(
            f"{os.fspath(path)!r} {what} ({type(error).__name__}: {error}). {advice}".rstrip()
        ) from error


def write_atomically(path: str | os.PathLike[str], data: bytes) -> Path:
    """Write a file under a temporary name, then rename it, so that it is never half written.

    Raises:
        ConfigurationError: The folder cannot be written to.
    """
    try:
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        try:
            with temporary.open("xb") as file:
                file.write(data)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except (OSError, ValueError) as error:  # a ValueError: the path has a null byte
        raise ConfigurationError(
            f"Cannot write {os.fspath(path)!r}: {getattr(error, 'strerror', error)}."
        ) from error
    return target
