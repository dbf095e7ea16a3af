"""The files of saved results: `x.parquet`, a row per seat and game, and `x.json`, the summary.

The JSON is written last and holds a hash of the parquet file, to detect files that do not belong
together.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.arena.counting import GAME_STATISTICS, STATISTICS
from agents.arena.games import ARRAYS, GameBatch
from monopoly_env.cli.extras import extra
from monopoly_env.errors import ConfigurationError, FormatError, shortened
from monopoly_env.files import differing, read_json, read_saved, understood, write_atomically
from monopoly_env.game import MAX_PLAYERS, MIN_PLAYERS
from monopoly_env.rules import RULES_VERSION

if TYPE_CHECKING:
    import pyarrow

FORMAT: Final = "monopoly-results"
FORMAT_VERSION: Final = 3
_GAMES: Final = ".parquet"
_ABOUT: Final = ".json"
_ROW_GROUP: Final = 1 << 14  # games written at a time

# The arrays of `agents.arena.games.PlayedGames`, by the name of their field
Arrays: TypeAlias = Mapping[str, NDArray[Any]]

# Columns besides the statistics, by field: per seat, and per game (repeated for its seats). Luck is
# optional.
_SEAT_COLUMNS: Final = {"seats": "policy", "place": "place", "luck": "luck"}
_GAME_COLUMNS: Final = {"seeds": "seed", "first": "first", "capped": "capped"}
_SAVED: Final[dict[str, Any]] = {"rules": str, "seed": int, "turn_limit": int, "setup": dict}
_MOST_ABOUT: Final = 1 << 25  # bytes of the JSON file
_MOST_GAMES: Final = 1 << 31  # bytes of the parquet file


def _versions() -> dict[str, Any]:
    """The versions that a pair of files must have."""
    return {"format": FORMAT, "format_version": FORMAT_VERSION, "rules_version": RULES_VERSION}


def _pair(path: str | Path) -> tuple[Path, Path]:
    """The parquet file and the JSON file of a path."""
    target = Path(path)
    if not target.name or target.suffix not in ("", _GAMES, _ABOUT):
        raise ConfigurationError(
            "Results are saved to .parquet (with a .json beside it), .json or .csv, not to"
            f" {str(path)!r}."
        )
    return target.with_suffix(_GAMES), target.with_suffix(_ABOUT)


def write(path: str | Path, names: Sequence[str], about: Mapping[str, Any], arrays: Arrays) -> None:
    """Write both files.

    Args:
        path: The path of either file, or the path without a suffix.
        names: The names of the policies.
        about: The summary and the setup, for the JSON file.
        arrays: The games.

    Raises:
        ConfigurationError: The suffix is unknown, or a file cannot be written.
    """
    games, about_path = _pair(path)
    data = _parquet(names, arrays)
    header = _versions() | {"games_sha256": hashlib.sha256(data).hexdigest(), "names": list(names)}
    write_atomically(games, data)
    write_atomically(about_path, (json.dumps({**header, **about}, indent=2) + "\n").encode())


def read(path: str | Path) -> dict[str, Any]:
    """The fields of the `Results` that were saved, by name.

    Raises:
        FormatError: A file is missing, corrupt, of another kind or version, or the two do not
            belong together.
    """
    games, about_path = _pair(path)
    about = _about(about_path)
    data = read_saved(games, _MOST_GAMES)
    if about["games_sha256"] != hashlib.sha256(data).hexdigest():
        raise FormatError(
            f"{str(games)!r} and {str(about_path)!r} do not belong together: one of them has"
            " changed since they were saved."
        )
    with understood(path, "holds no results"):
        wrong = [key for key, kind in _SAVED.items() if not isinstance(about[key], kind)]
        if wrong:
            raise ValueError(f"{wrong[0]} is {shortened(about[wrong[0]])}")
        names = tuple(str(name) for name in about["names"])
        costs = [
            {what: float(amount) for what, amount in about.get("costs", {}).get(name, {}).items()}
            for name in names
        ]
        return {
            **{key: about[key] for key in _SAVED},
            "names": names,
            "value": str(about.get("adjusted_by", "")),
            "costs": costs,
            **_read_games(data, names),
        }


def _about(path: Path) -> dict[str, Any]:
    """The content of the JSON file, with its versions checked."""
    about = read_json(read_saved(path, _MOST_ABOUT))
    if not isinstance(about, dict):
        raise FormatError(f"{str(path)!r} holds no results: it is not an object in JSON.")
    if "games_sha256" not in about:
        raise FormatError(
            f"{str(path)!r} has no games: it holds something else, or a summary that was saved"
            " alone."
        )
    if differences := differing(about, _versions()):
        raise FormatError(f"{str(path)!r} does not match this version: {differences}.")
    return about


# --- parquet


def _columns(arrays: Arrays) -> list[tuple[str, NDArray[Any], int]]:
    """The columns: name, numbers (a view of an array), and how many rows share one: 1 or P."""
    players = arrays["place"].shape[1]
    found = [
        (column, arrays[name].reshape(-1), 1)
        for name, column in _SEAT_COLUMNS.items()
        if name in arrays
    ]
    found += [(column, arrays[name], players) for name, column in _GAME_COLUMNS.items()]
    for statistics, records, prefix, every in (
        (GAME_STATISTICS, arrays["game_counts"], "game_", players),
        (STATISTICS, arrays["seat_counts"].reshape(-1), "", 1),
    ):
        for statistic in statistics:
            parts = records[statistic.name].reshape(len(records), -1).T
            names = [prefix + column for column in statistic.columns]
            found += [(name, part, every) for name, part in zip(names, parts, strict=True)]
    return found


def _parquet(names: Sequence[str], arrays: Arrays) -> bytes:
    """The games as the bytes of a parquet file, built in parts to save memory."""
    with extra("results"):
        from pyarrow import parquet

    buffer = io.BytesIO()
    first = _table(names, arrays, 0)
    with parquet.ParquetWriter(buffer, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for start in range(_ROW_GROUP, len(arrays["place"]), _ROW_GROUP):
            writer.write_table(_table(names, arrays, start))
    return buffer.getvalue()


def _table(names: Sequence[str], arrays: Arrays, start: int) -> pyarrow.Table:
    """One part of the games, from game `start` on."""
    import pyarrow

    part = {name: array[start : start + _ROW_GROUP] for name, array in arrays.items()}
    count, players = part["place"].shape
    made = {
        "game": pyarrow.array(np.repeat(np.arange(start, start + count, dtype=np.int32), players)),
        "seat": pyarrow.array(np.tile(np.arange(players, dtype=np.int8), count)),
    }
    for name, values, every in _columns(part):
        made[name] = pyarrow.array(np.repeat(values, every))
    made["policy"] = pyarrow.DictionaryArray.from_arrays(
        made["policy"], pyarrow.array(names, pyarrow.string())
    )
    return pyarrow.table(made)


def _read_games(data: bytes, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """The arrays of `Results` from the bytes of a parquet file, read in parts.

    Raises:
        ValueError: The bytes are no parquet file, or its columns differ from ours.
    """
    with extra("results"):
        import pyarrow.compute
        from pyarrow import parquet

    file = parquet.ParquetFile(io.BytesIO(data))  # raises a ValueError
    given, groups = set(file.schema_arrow.names), range(file.num_row_groups)
    rows = file.metadata.num_rows
    parts = [file.metadata.row_group(number).num_rows for number in groups]
    # A row takes a byte or more
    if not 0 < rows <= len(data) or sum(parts) != rows or max(parts) > _ROW_GROUP * MAX_PLAYERS:
        raise ValueError(f"it claims {rows} rows")
    players = int(file.read_row_group(0, ["seat"])["seat"].to_numpy().max()) + 1
    if not MIN_PLAYERS <= players <= MAX_PLAYERS or rows % players:
        raise ValueError(f"it claims {rows} rows of {players} players")
    arrays = _empty(rows // players, players, luck="luck" in given)
    columns = _columns(arrays)
    expected = {"game", "seat", *(name for name, _, _ in columns)}
    if given != expected:
        missing, unknown = sorted(expected - given), sorted(given - expected)
        raise ValueError(f"missing columns {missing}, unknown columns {unknown}")
    start = 0
    for number in groups:
        group = file.read_row_group(number)
        numbers = pyarrow.compute.index_in(
            group["policy"].cast(pyarrow.string()), pyarrow.array(names)
        )
        if numbers.null_count:
            raise ValueError("a policy is missing from the names in the JSON")
        read = {name: group[name].to_numpy() for name in expected - {"policy"}}
        read["policy"] = numbers.to_numpy()
        stop = start + group.num_rows
        for name, values, every in columns:
            target = values[start // every : stop // every]
            np.copyto(target, read[name][::every], casting="same_kind")
        start = stop
    _check_numbers(arrays)
    return arrays


def _empty(games: int, players: int, *, luck: bool) -> dict[str, NDArray[Any]]:
    """Empty arrays for so many games."""
    batch = GameBatch(np.zeros(games, np.uint64), np.zeros((games, players), np.int16))
    return {name: getattr(batch, name) for name in (*ARRAYS, *(["luck"] if luck else []))}


def _check_numbers(arrays: Arrays) -> None:
    """Raise ValueError on impossible numbers."""
    players = arrays["place"].shape[1]
    for name, low, high in (("place", 1, players), ("first", 0, players - 1)):
        if not low <= arrays[name].min() <= arrays[name].max() <= high:
            raise ValueError(f"a number in the column {name!r} is out of range: {low} to {high}")
    if not np.isfinite(arrays.get("luck", 0.0)).all():
        raise ValueError("a number in the column 'luck' is not finite")
