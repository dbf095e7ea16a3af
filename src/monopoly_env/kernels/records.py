"""Records in memory: checks before kernels get them, and how a record is pickled.

A kernel writes memory whatever NumPy says: in read-only memory it would change what others share,
or crash.
"""

from __future__ import annotations

import copyreg
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError, shortened

_PICKLED: Final[set[np.dtype[Any]]] = set()  # the dtypes of our records


def as_batch(record: Any, dtype: np.dtype[Any], package: str, write: bool) -> NDArray[Any]:
    """A record of the dtype `GAME` of a package as an array of length one.

    With `write` it shares the record's memory; otherwise that of a read-only record is copied.

    Raises:
        ConfigurationError: It is no record of this dtype, or it is to be written and is read-only.
    """
    if type(record) is not np.record or record.dtype != dtype:
        raise ConfigurationError(
            f"Expected a game (a record of the dtype {package}.GAME), not"
            f" {type(record).__name__}.{_hint(record, dtype, package)}"
        )
    batch = np.asarray(record).reshape(1)
    if record.base is None:  # it owns its memory, of which NumPy gives arrays copies alone
        batch.flags.writeable = False
    if batch.flags.writeable:
        return batch
    if write:
        raise _read_only("This game is", package)
    return batch.copy()


def check_games(games: Any, dtype: np.dtype[Any], package: str, write: bool = False) -> None:
    """Raise ConfigurationError unless these are (B,) records of the dtype `GAME` of a package.

    They must be writable and without gaps in memory if they will be written.
    """
    records = isinstance(games, np.ndarray) and games.dtype.type is np.record
    if not records or games.dtype != dtype or games.ndim != 1:
        expected = f"Expected an array of games (records of the dtype {package}.GAME)"
        raise ConfigurationError(
            f"{expected}, not {shortened(games)}.{_hint(games, dtype, package)}"
        )
    if write and not games.flags.writeable:
        raise _read_only("These games are", package)
    if write and not games.flags.c_contiguous:
        raise ConfigurationError(
            "These games have gaps between them: expected an array without steps. Copy first:"
            " games.copy()."
        )


def _read_only(what: str, package: str) -> ConfigurationError:
    return ConfigurationError(
        f"{what} read-only: expected memory that may be written. Copy first, a game by"
        f" {package}.clone."
    )


def _hint(given: Any, dtype: np.dtype[Any], package: str) -> str:
    """How to make records of structured data that lost the type, as `np.load` returns it."""
    same = getattr(given, "dtype", None) == dtype
    return f" Make it records first: array.view({package}.GAME)." if same else ""


def pickle_writable(dtype: np.dtype[Any]) -> None:
    """Have records of a dtype come back from a pickle writable, as NumPy's own do not."""
    _PICKLED.add(dtype)
    copyreg.pickle(np.record, _reduced)


def _reduced(record: Any) -> Any:
    return (
        (_restored, (record.tobytes(), record.dtype))
        if record.dtype in _PICKLED
        else record.__reduce__()
    )


def _restored(data: bytes, dtype: np.dtype[Any]) -> Any:
    return np.frombuffer(data, dtype).copy()[0]
