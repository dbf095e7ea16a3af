"""Saved results: `x.parquet` with a row for every seat of every game, and `x.json` with all that is to be said about them.

The JSON is written last and holds a hash of the other file, so that the two are read together or not at all.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.arena.counting import GAME_COUNTS, GAME_STATISTICS, SEAT_COUNTS, STATISTICS, Statistic
from monopoly_env.core import write_atomically
from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.rules import RULES_VERSION

if TYPE_CHECKING:
    import pyarrow

    from agents.arena.results import Results

FORMAT: Final = "monopoly-results"
FORMAT_VERSION: Final = 2
_GAMES: Final = ".parquet"
_ABOUT: Final = ".json"
_ROW_GROUP: Final = 1 << 14  # games written at a time

# Columns beside the statistics: of each seat, and of each game (repeated for its seats).
_SEAT_COLUMNS: Final = {"seats": "policy", "place": "place"}
_GAME_COLUMNS: Final = {"unit": "unit", "first": "first", "capped": "capped"}
_KEPT: Final = ("rules", "seed", "turn_limit", "seconds", "setup")


def _versions() -> dict[str, Any]:
    """What a pair of files must agree with."""
    return {"format": FORMAT, "format_version": FORMAT_VERSION, "rules_version": RULES_VERSION}


def _pair(path: str | Path) -> tuple[Path, Path]:
    """The two files that a path stands for."""
    target = Path(path)
    if target.suffix not in ("", _GAMES, _ABOUT):
        raise ConfigurationError(f"Results are saved to .parquet (with a .json beside it), .json or .csv, not to {str(path)!r}.")
    return target.with_suffix(_GAMES), target.with_suffix(_ABOUT)


def write(path: str | Path, results: Results) -> None:
    """Write both files.

    Raises:
        ConfigurationError: Another suffix, or a file can't be written.
    """
    games, about = _pair(path)
    data = _parquet(results)
    header = _versions() | {"games_sha256": hashlib.sha256(data).hexdigest(), "names": list(results.names)}
    text = json.dumps(header | results.summary() | {"setup": results.setup}, indent=2) + "\n"
    write_atomically(games, data)
    write_atomically(about, text.encode())


def read(path: str | Path) -> Results:
    """Results from both files.

    Raises:
        FormatError: One is missing, corrupt, foreign, of another version, or they do not belong together.
    """
    from agents.arena.results import Results

    games, about_path = _pair(path)
    about = _about(about_path)
    data = _bytes(games)
    if about["games_sha256"] != hashlib.sha256(data).hexdigest():
        raise FormatError(f"{str(games)!r} and {str(about_path)!r} do not belong together: one of them has changed since they were saved.")
    try:
        names = tuple(str(name) for name in about["names"])
        values: dict[str, Any] = {key: about[key] for key in _KEPT}
        return Results(names=names, **(values | _arrays(data, names)))
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise FormatError(f"{str(path)!r} holds no results: {error}.") from error


def _about(path: Path) -> dict[str, Any]:
    """What the JSON says, checked for its versions."""
    data = _bytes(path)
    try:
        about = json.loads(data)
    except ValueError as error:
        raise FormatError(f"{str(path)!r} holds no results: {error}.") from error
    if not isinstance(about, dict):
        raise FormatError(f"{str(path)!r} holds no results: it is {type(about).__name__}, not an object.")
    if "games_sha256" not in about:
        raise FormatError(f"{str(path)!r} has no games: it is no results, or a summary that was saved alone.")
    differences = [f"{key} is {about.get(key)!r}, expected {value!r}" for key, value in _versions().items() if about.get(key) != value]
    if differences:
        raise FormatError(f"{str(path)!r} does not match this version: {'; '.join(differences)}.")
    return about


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FormatError(f"{str(path)!r} can't be read: {error.strerror}.") from error


# --- parquet ------------------------------------------------------------------------------------------------------------


def _parquet(results: Results) -> bytes:
    """The games as the bytes of a parquet file, made a part at a time to save memory."""
    from pyarrow import parquet

    buffer = io.BytesIO()
    first = _table(results, slice(0, _ROW_GROUP))
    with parquet.ParquetWriter(buffer, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for start in range(_ROW_GROUP, results.games, _ROW_GROUP):
            writer.write_table(_table(results, slice(start, start + _ROW_GROUP)))
    return buffer.getvalue()


def _table(results: Results, part: slice) -> pyarrow.Table:
    import pyarrow

    count, players = results.place[part].shape
    games = np.arange(*part.indices(results.games), dtype=np.int32)
    columns = {"game": np.repeat(games, players), "seat": np.tile(np.arange(players, dtype=np.int8), count)}
    columns |= {column: getattr(results, name)[part].ravel() for name, column in _SEAT_COLUMNS.items()}
    columns |= {column: np.repeat(getattr(results, name)[part], players) for name, column in _GAME_COLUMNS.items()}
    for column, values in _columns(GAME_STATISTICS, results.game_counts[part], "game_"):
        columns[column] = np.repeat(values, players)
    for column, values in _columns(STATISTICS, results.seat_counts[part].ravel(), ""):
        columns[column] = np.ascontiguousarray(values)
    arrays = {name: pyarrow.array(values) for name, values in columns.items()}
    names = pyarrow.array(results.names, pyarrow.string())
    arrays["policy"] = pyarrow.DictionaryArray.from_arrays(arrays["policy"], names)
    return pyarrow.table(arrays)


def _columns(statistics: tuple[Statistic, ...], records: NDArray[Any], prefix: str) -> list[tuple[str, NDArray[Any]]]:
    """Name and numbers of each column of statistics; the numbers are views."""
    found = []
    for statistic in statistics:
        parts = records[statistic.name].reshape(len(records), -1)
        found += [(prefix + column, parts[:, number]) for number, column in enumerate(statistic.columns)]
    return found


def _arrays(data: bytes, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """The arrays of `Results` from the bytes of a parquet file, read a part at a time.

    Raises:
        ValueError: It is none, or its columns are others.
    """
    import pyarrow.compute
    from pyarrow import parquet

    file = parquet.ParquetFile(io.BytesIO(data))  # what it raises is a ValueError
    _check_columns(set(file.schema_arrow.names))
    rows = file.metadata.num_rows
    players = int(file.read_row_group(0, ["seat"])["seat"].to_numpy().max()) + 1
    arrays: dict[str, NDArray[Any]] = {
        "policy": np.zeros(rows, np.int16), "place": np.zeros(rows, np.int16), "unit": np.zeros(rows, np.int32),
        "first": np.zeros(rows, np.int16), "capped": np.zeros(rows, np.bool_),
    }  # fmt: skip
    seat_counts, game_counts = np.zeros(rows, SEAT_COUNTS), np.zeros(rows // players, GAME_COUNTS)
    targets = dict(_columns(STATISTICS, seat_counts, ""))
    game_targets = dict(_columns(GAME_STATISTICS, game_counts, "game_"))
    start = 0
    for number in range(file.num_row_groups):
        group = file.read_row_group(number)
        stop = start + group.num_rows
        numbers = pyarrow.compute.index_in(group["policy"].cast(pyarrow.string()), pyarrow.array(names))
        if numbers.null_count:
            raise ValueError("a policy has another name in the JSON")
        arrays["policy"][start:stop] = numbers.to_numpy()
        for name in ("place", "unit", "first", "capped"):
            arrays[name][start:stop] = group[name].to_numpy()
        for name, target in targets.items():
            target[start:stop] = group[name].to_numpy()
        for name, target in game_targets.items():
            target[start // players : stop // players] = group[name].to_numpy()[::players]
        start = stop
    return {
        "seats": arrays["policy"].reshape(-1, players), "place": arrays["place"].reshape(-1, players),
        "unit": arrays["unit"][::players].copy(), "first": arrays["first"][::players].copy(), "capped": arrays["capped"][::players].copy(),
        "seat_counts": seat_counts.reshape(-1, players), "game_counts": game_counts,
    }  # fmt: skip


def _check_columns(given: set[str]) -> None:
    expected = {"game", "seat", *_SEAT_COLUMNS.values(), *_GAME_COLUMNS.values()}
    expected |= {column for s in STATISTICS for column in s.columns} | {f"game_{column}" for s in GAME_STATISTICS for column in s.columns}
    if given != expected:
        missing, unknown = sorted(expected - given), sorted(given - expected)
        raise ValueError(f"missing columns {missing}, unknown columns {unknown}")
