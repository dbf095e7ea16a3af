"""Experiences on disk: a folder of shards, `_dataset.json` that describes them, and a card.

    >>> import tempfile
    >>> from rich.console import Console
    >>> from training.experience.datasets import describe, load
    >>> from training.experts import ExpertOptions, execute
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = ExpertOptions(games=32, format="npz", out=Path(folder, "experts"))
    ...     _ = execute(options, Console(quiet=True))
    ...     print(describe(options.out)["num_players"])
    ...     for experiences in load(options.out):  # a shard at a time
    ...         print(experiences.observation.shape, experiences.outcome.shape)
    2
    (11779, 602) (11779,)

A shard holds whole games. It exists whole or not at all, and so does its entry in `_dataset.json`.
Arrow reads the folder as it is, since it ignores names with a leading `_`. `python -m
training.experts` writes such a folder; docs/datasets.md shows how to read one without this library.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import zipfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

import monopoly_env
from agents.networks.policy import features_digest
from monopoly_env import encoding as encodings
from monopoly_env.actions import DECISION_NAMES, HEADS, NUM_ACTIONS
from monopoly_env.cli.extras import extra
from monopoly_env.errors import (
    ConfigurationError,
    FormatError,
    MonopolyError,
    nearest,
    shortened,
    whole_number,
)
from monopoly_env.files import (
    differing,
    read_file,
    read_json,
    read_saved,
    understood,
    write_atomically,
)
from monopoly_env.files.arrays import MOST_ARRAYS, arrays_of
from monopoly_env.rules import RULES_VERSION
from training.experience.masks import PACKED
from training.experience.recording import Experiences

if TYPE_CHECKING:
    import pyarrow

FORMAT: Final = "monopoly-experiences"
FORMAT_VERSION: Final = 1
ABOUT: Final = "_dataset.json"
MOST_ABOUT: Final = 1 << 26  # bytes of it
CARD: Final = "_README.md"
CONFIG: Final = "_config.json"
# What a data set has in its folder.
FILES: Final = {
    "shard-*": "the experiences",
    ABOUT: "schema, versions, seats, and the list of shards",
    CARD: "a card for readers",
    CONFIG: "the options, for --resume",
}
FEATURES: Final = "features"  # in a shape: the length of an observation

_ROW_GROUP: Final = 1 << 13  # rows of a parquet file that are compressed together
_ENCODERS: Final = 4  # shards that are compressed at the same time
# of npz compression: the columns are mostly zeros, and higher levels cost more time than they save
_LEVEL: Final = 1


@dataclass(frozen=True)
class Column:
    """A column of a data set, a field of `Experiences`; `shape` is that of one row."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]
    unit: str
    meaning: str


COLUMNS: Final = (
    Column("observation", "float16", (FEATURES,), "see docs/observation.md",
           "what the deciding player saw"),
    Column("choices", "uint8", (PACKED,), "bits",
           f"the legal actions: `numpy.unpackbits(choices, axis=1, count={NUM_ACTIONS})`"),
    Column("action", "int16", (), f"index, 0 to {NUM_ACTIONS - 1}",
           "the action taken; `heads` says what it means, docs/actions.md in words"),
    Column("decision", "int8", (), "index", "the kind of decision, an index into `decisions`"),
    Column("player", "int8", (), "index", "seat of the deciding player"),
    Column("game", "int32", (), "index", "the number of the game"),
    Column("outcome", "float32", (), "-1 to 1",
           "how the game ended for the player: 1 for the winner, -1/(players - 1) for each other"),
    Column("worth", "float32", (2,), "dollars",
           "when deciding: net worth (cash, prices of own lots and buildings), and cash"),
    Column("final_worth", "float32", (), "dollars",
           "net worth at the end; of a bankrupt player, cash less the debt that could not be paid"),
)  # fmt: skip


def schema_rows(columns: Iterable[Column] = COLUMNS) -> list[str]:
    """The columns as lines of a Markdown table."""
    rows = ["| column | type | shape | unit | meaning |", "|---|---|---|---|---|"]
    for column in columns:
        shape = ", ".join(map(str, ("N", *column.shape)))
        rows.append(
            f"| `{column.name}` | {column.dtype} | ({shape}) | {column.unit} | {column.meaning} |"
        )
    return rows


Shapes: TypeAlias = Mapping[str, tuple[int, ...]]  # of the columns of a shard, by name


# --- shards


def _to_npz(experiences: Experiences, about: Mapping[str, Any]) -> bytes:
    """An npz file as of np.savez_compressed, but without timestamps: the same for the same rows."""
    del about
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, column in experiences._asdict().items():
            array = io.BytesIO()
            np.lib.format.write_array(array, np.ascontiguousarray(column), allow_pickle=False)
            archive.writestr(
                zipfile.ZipInfo(f"{name}.npy"), array.getvalue(), zipfile.ZIP_DEFLATED, _LEVEL
            )
    return buffer.getvalue()


def _from_npz(data: bytes, shapes: Shapes) -> Mapping[str, NDArray[Any]]:
    del shapes
    return arrays_of(io.BytesIO(data))


def _schema(shapes: Shapes, about: Mapping[str, Any]) -> pyarrow.Schema:
    """Arrow's schema: columns with several numbers per row are lists of fixed size."""
    import pyarrow

    fields = []
    for column in COLUMNS:
        kind = pyarrow.from_numpy_dtype(column.dtype)
        if len(shapes[column.name]) > 1:
            kind = pyarrow.list_(
                pyarrow.field("element", kind, nullable=False), shapes[column.name][1]
            )
        about_column = {"unit": column.unit, "meaning": column.meaning}
        fields.append(pyarrow.field(column.name, kind, nullable=False, metadata=about_column))
    return pyarrow.schema(fields, {FORMAT: json.dumps(dict(about))})


def _to_parquet(experiences: Experiences, about: Mapping[str, Any]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    columns = experiences._asdict()
    schema = _schema({name: column.shape for name, column in columns.items()}, about)
    arrays = []
    for field in schema:
        numbers = pyarrow.array(np.ascontiguousarray(columns[field.name]).ravel())
        arrays.append(
            numbers
            if columns[field.name].ndim == 1
            else pyarrow.FixedSizeListArray.from_arrays(numbers, type=field.type)
        )
    buffer = io.BytesIO()
    parquet.write_table(
        pyarrow.table(arrays, schema=schema), buffer,
        compression="zstd", use_dictionary=False, row_group_size=_ROW_GROUP,
    )  # fmt: skip
    return buffer.getvalue()


def _from_parquet(data: bytes, shapes: Shapes) -> Mapping[str, NDArray[Any]]:
    with extra("results"):
        from pyarrow import parquet

    file = parquet.ParquetFile(io.BytesIO(data))
    if not file.schema_arrow.equals(_schema(shapes, {})):
        raise ValueError("its columns are not those of a data set")
    rows = shapes["action"][0]
    if file.metadata.num_rows != rows:
        raise ValueError(f"it has {file.metadata.num_rows} rows, expected {rows}")
    table = file.read()
    arrays = {}
    for name, shape in shapes.items():
        column = table[name].combine_chunks()
        arrays[name] = (column.flatten() if len(shape) > 1 else column).to_numpy().reshape(shape)
    return arrays


class Format(NamedTuple):
    """Functions that write and read a shard, given what it is part of, or its columns' shapes."""

    encode: Callable[[Experiences, Mapping[str, Any]], bytes]
    decode: Callable[[bytes, Shapes], Mapping[str, NDArray[Any]]]


FORMATS: Final = {"parquet": Format(_to_parquet, _from_parquet), "npz": Format(_to_npz, _from_npz)}


def check_format(name: str) -> None:
    """Raise ConfigurationError if there is no such format, or if the library for it is missing."""
    if name not in FORMATS:
        raise ConfigurationError(f"Unknown format {name!r}. {nearest(name, FORMATS)}")
    if name == "parquet":
        with extra("results", "choose --format npz"):
            import pyarrow  # noqa: F401 - only whether it is there


class Shard(NamedTuple):
    """The bytes of a shard's file, and how many experiences and games it holds."""

    data: bytes
    experiences: int
    games: int


def gather(
    batches: Iterable[tuple[Experiences, int]], limit: int
) -> Iterator[tuple[Experiences, int]]:
    """Join batches (experiences, games) into shards of `limit` bytes in memory at most, or one.

    They depend on the batches alone: a run that continues at the beginning of a shard makes the
    same shards.
    """
    parts: list[Experiences] = []
    games = weight = 0
    for batch, count in batches:
        bytes_of_batch = sum(column.nbytes for column in batch)
        if parts and weight + bytes_of_batch > limit:
            yield Experiences.joined(parts), games
            parts, games, weight = [], 0, 0
        parts.append(batch)
        games += count
        weight += bytes_of_batch
    if parts:
        yield Experiences.joined(parts), games


def encode(
    games: Iterable[tuple[Experiences, int]], form: str, about: Mapping[str, Any], threads: int
) -> Iterator[Shard]:
    """Turn experiences and numbers of games into shards, in order, several at a time on threads.

    Compressing them takes longer than playing the games. Four threads are used at most, since each
    needs its own memory.
    """
    threads = min(threads, _ENCODERS)
    pool = ThreadPoolExecutor(threads, "encode")
    waiting: deque[tuple[Future[bytes], int, int]] = deque()
    try:
        for experiences, count in games:
            waiting.append(
                (pool.submit(FORMATS[form].encode, experiences, about), experiences.size, count)
            )
            if len(waiting) > threads:
                data, *counts = waiting.popleft()
                yield Shard(data.result(), *counts)
        for data, *counts in waiting:
            yield Shard(data.result(), *counts)
    finally:
        pool.shutdown(cancel_futures=True)


# --- a folder


def versions(encoding: encodings.Encoding) -> dict[str, Any]:
    """The versions and columns that a data set must have to be read here."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "rules_version": RULES_VERSION,
        "features": features_digest(encoding),
        "columns": [asdict(column) | {"shape": list(column.shape)} for column in COLUMNS],
    }


class Writer:
    """A data set in writing: what it is `about`, and the entries of finished `shards`."""

    def __init__(
        self, folder: Path, about: Mapping[str, Any], encoding: encodings.Encoding, form: str
    ) -> None:
        """Start, or continue after the intact shards in an existing folder.

        Raises:
            ConfigurationError: The folder can't be written.
        """
        self.folder = folder
        self._suffix = form
        self.about = {
            **versions(encoding),
            "monopoly_env": monopoly_env.__version__,
            **about,
            "shard_format": form,
            "decisions": list(DECISION_NAMES),
            "heads": {name: [head.start, head.stop] for name, head in HEADS.items()},
            "feature_names": list(encoding.names),
        }
        self.shards = self._intact()
        self._clean()
        self._list(finished=False)

    def total(self, what: str) -> int:
        """The sum of `games`, `experiences` or `bytes` over the finished shards."""
        return sum(shard[what] for shard in self.shards)

    def add(self, shard: Shard) -> None:
        """Write the next shard; raises ConfigurationError if that fails."""
        name = f"shard-{len(self.shards):05d}.{self._suffix}"
        self._write(name, shard.data)
        self.shards.append({
            "file": name, "first_game": self.total("games"), "games": shard.games,
            "experiences": shard.experiences, "bytes": len(shard.data),
            "sha256": hashlib.sha256(shard.data).hexdigest(),
        })  # fmt: skip
        self._list(finished=False)

    def finish(self, card: str) -> None:
        """Write the card and mark the data set as complete."""
        self._write(CARD, card.encode())
        self._list(finished=True)

    def _list(self, *, finished: bool) -> None:
        games, experiences = self.total("games"), self.total("experiences")
        totals = {"finished": finished, "games_written": games, "experiences": experiences}
        about = {**self.about, **totals, "shards": self.shards}
        self._write(ABOUT, (json.dumps(about, indent=1) + "\n").encode())

    def _write(self, name: str, data: bytes) -> None:
        try:
            write_atomically(self.folder / name, data)
        except ConfigurationError as error:
            raise ConfigurationError(
                f"{error} Fix that and continue with --resume: the finished shards are kept."
            ) from error

    def _intact(self) -> list[dict[str, Any]]:
        """The shards of the folder, up to the first one that is missing or damaged."""
        intact: list[dict[str, Any]] = []
        with contextlib.suppress(MonopolyError), understood(self.folder / ABOUT):
            for shard in read_json(read_file(self.folder / ABOUT, MOST_ABOUT))["shards"]:
                _shard(self.folder, shard)
                intact.append(shard)
        return intact

    def _clean(self) -> None:
        """Remove files that are not listed, of a run that was killed while writing them."""
        listed = {shard["file"] for shard in self.shards} | set(FILES)
        for pattern in (pattern for name in FILES for pattern in (name, f".{name}.*")):
            for path in self.folder.glob(pattern):
                if path.name not in listed and not path.is_dir():
                    path.unlink()


def _shard(folder: Path, shard: Mapping[str, Any]) -> tuple[Path, bytes]:
    """The path and bytes of a shard that `_dataset.json` lists; FormatError if it is damaged."""
    with understood(folder / ABOUT):
        name, expected = shard["file"], shard["sha256"]
        if Path(name).name != name:
            raise ValueError(f"the shard {shortened(name)} is not a file of this folder")
        for count in ("games", "experiences", "bytes"):
            whole_number(f"{folder / ABOUT}: {count}:", shard[count], 0, error=FormatError)
    path = folder / name
    data = read_saved(path, MOST_ARRAYS)
    if hashlib.sha256(data).hexdigest() != expected:
        raise FormatError(f"Shard {str(path)!r} is damaged: it is not the file that {ABOUT} lists.")
    return path, data


# --- reading


def describe(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of `_dataset.json`, checked against this version.

    Raises:
        FormatError: There is no data set, it is not finished, damaged, or of another version; the
            message says what differs.
    """
    path = Path(folder) / ABOUT
    try:
        about = read_json(read_file(path, MOST_ABOUT))
    except ConfigurationError as error:
        raise FormatError(
            f"{os.fspath(folder)!r} holds no data set: {ABOUT} can't be read ({error})"
        ) from error
    if about is None:
        raise FormatError(f"{os.fspath(folder)!r} holds no data set: {ABOUT} is no JSON.")
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise FormatError(
            f"{os.fspath(folder)!r} holds no data set: the format of {ABOUT} is not {FORMAT!r}."
        )
    with understood(path):
        differences = _differences(about)
        if differences:
            raise FormatError(
                f"{os.fspath(folder)!r} does not match this version: {'; '.join(differences)}."
            )
        if not about.get("finished"):
            raise FormatError(
                f"{os.fspath(folder)!r} is not finished: it has {about['games_written']:,} of"
                f" {about['games']:,} games. Write the rest: python -m training.experts with the"
                " same options and --resume."
            )
        if not isinstance(about["shards"], list) or not isinstance(about["feature_names"], list):
            raise TypeError("shards and feature_names must be lists")
    return about


def _differences(about: Mapping[str, Any]) -> list[str]:
    """How a data set differs from what this version writes."""
    try:
        expected = versions(encodings.make(about["encoding"], about["num_players"]))
    except (KeyError, MonopolyError) as error:
        return [f"its encoding is unknown here ({error})"]
    facts = {name: value for name, value in expected.items() if name != "columns"}
    differences = [text] if (text := differing(about, facts)) else []
    given = {column.get("name"): column for column in about.get("columns", ())}
    for column in expected["columns"]:
        for fact in ("dtype", "shape"):
            there = given.get(column["name"], {}).get(fact)
            if there != column[fact]:
                differences.append(
                    f"{fact} of column {column['name']!r} is {there!r}, expected {column[fact]!r}"
                )
    if about.get("shard_format") not in FORMATS:
        differences.append(
            f"shard_format is {about.get('shard_format')!r}, expected one of {', '.join(FORMATS)}"
        )
    return differences


def load(folder: str | os.PathLike[str]) -> Iterator[Experiences]:
    """Read the data set in a folder; yields the experiences of a shard at a time.

    Raises:
        FormatError: There is no data set, it is not finished, of another version, or a shard is
            missing or damaged.
        ConfigurationError: The library that reads its format is missing.
    """
    about = describe(folder)
    check_format(about["shard_format"])
    return (_read(Path(folder), about, shard) for shard in about["shards"])


def _read(folder: Path, about: Mapping[str, Any], shard: Mapping[str, Any]) -> Experiences:
    path, data = _shard(folder, shard)
    with understood(path):
        rows, features = shard["experiences"], len(about["feature_names"])
        shapes = {
            column.name: (
                rows,
                *(features if length == FEATURES else int(length) for length in column.shape),
            )
            for column in COLUMNS
        }
        bytes_of_shard = sum(
            math.prod(shapes[column.name]) * np.dtype(column.dtype).itemsize for column in COLUMNS
        )
        if bytes_of_shard > MOST_ARRAYS:
            raise ValueError(f"it claims {bytes_of_shard:,} bytes; {MOST_ARRAYS:,} are the most")
        arrays = FORMATS[about["shard_format"]].decode(data, shapes)
        for column in COLUMNS:
            array, shape = arrays[column.name], shapes[column.name]
            if array.dtype != column.dtype or array.shape != shape:
                raise ValueError(
                    f"column {column.name!r} is {array.dtype} {array.shape}, expected"
                    f" {column.dtype} {shape}"
                )
        return Experiences(**{column.name: arrays[column.name] for column in COLUMNS})
