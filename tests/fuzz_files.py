"""Damaged and forged files for every reader: each is read, or refused with one of our errors, soon.

    # all readers in turn
    python -m tests.fuzz_files --minutes 10
    # one case again: its files are left in the folder that is named
    python -m tests.fuzz_files --reader game --case 17

A case depends on the reader and its number alone. `READERS` is the list: whatever reads a file of
users has a row there.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import io
import itertools
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, redirect_stderr, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console

import agents
import monopoly_env as me
from agents import arena
from agents.arena.ratings import Ratings
from agents.networks import pente
from agents.values import saved as values
from monopoly_bench import puzzles, suite
from monopoly_bench.puzzles import prompts
from monopoly_bench.tasks import code
from monopoly_env import facts, replays
from monopoly_env.core import digest
from monopoly_env.facts import editions
from monopoly_env.files.arrays import write_arrays
from monopoly_env.game import GAME
from monopoly_env.policy import names as policy_names
from monopoly_table import games
from monopoly_table.storage import Storage
from studies import pente_esp
from training import experts, sprt
from training.evolution import populations
from training.evolution.generations import Generational
from training.experience import datasets
from training.learner import Learner
from training.options import DQNOptions, Setup
from training.run import checkpoints
from training.run.folder import Run
from training.run.options import replaced
from training.run.report import Report
from training.run.session import Saved, Session

SECONDS: Final = 60  # a reader that takes longer hangs
Files = dict[str, bytes]  # by their path in a folder
Draw: Final = random.Random


@dataclass(frozen=True)
class Reader:
    """A reader of files.

    Attributes:
        write: Fills an empty folder with sound files.
        read: Reads them.
        forge: Adapts hashes in the files to what was changed, so that the change gets beyond them.
    """

    write: Callable[[Path], object]
    read: Callable[[Path], object]
    forge: Callable[[Files], None] = lambda files: None


# --- what is done to a file

STRANGE: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, -1, 7, 255, 65_536, 2**31, 2**63, -(2**63), 10**30, 0.5, -1e308, 1e308,
    float("nan"), float("inf"),
    "", "x", "\ud800", "\0", "../x", "/dev/zero", ".", "9" * 300, [], [[]], [None], {}, {"": {}},
    [0] * 1000, [[[[[[[[1]]]]]]]],
)  # fmt: skip
DTYPES: Final = (
    "int8", "int64", "float16", "float64", "bool", "complex64", "U3", "S2", "M8[s]", "V4", "V0",
    ">i4",
)  # fmt: skip


def damaged(data: bytes, draw: Draw) -> bytes:
    """The bytes with a bit, a byte or a stretch changed, cut, or doubled."""
    spot, end = sorted((draw.randrange(len(data) + 1), draw.randrange(len(data) + 1)))
    match draw.randrange(7):
        case 0:
            return data[:spot]
        case 1:
            return data[:spot] + data[end:]
        case 2:
            return data[:end] + data[spot:]
        case 3:
            return data[:spot] + bytes(min(end - spot, 64)) + data[spot + min(end - spot, 64) :]
        case 4:
            return data[:spot] + draw.randbytes(draw.randrange(16)) + data[spot:]
        case _:
            changed = bytearray(data)
            for _ in range(draw.choice((1, 1, 1, 8))):
                if changed:
                    changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
            return bytes(changed)


def strange(value: Any, draw: Draw) -> Any:
    """A JSON value with one of its parts replaced, removed or doubled."""
    if isinstance(value, (dict, list)) and value and draw.random() < 0.9:
        copy: Any = value.copy()
        key = draw.choice(list(copy)) if isinstance(copy, dict) else draw.randrange(len(copy))
        what = draw.random()
        if what < 0.1:
            del copy[key]
        elif what < 0.15 and isinstance(copy, list):
            copy.append(copy[key])
        else:
            copy[key] = strange(copy[key], draw)
        return copy
    if isinstance(value, int) and draw.random() < 0.5:
        return value + draw.choice((-1, 1, 2, 1000, -(2**40)))
    return draw.choice(STRANGE)


def strange_array(array: Any, draw: Draw) -> Any:
    """An array of another shape, type or content."""
    array = np.array(array)
    match draw.randrange(6):
        case 0:
            return array[..., None]
        case 1:
            return array.ravel()[: array.size // 2]
        case 2:
            return np.zeros(array.shape, draw.choice(DTYPES))
        case 3:
            return np.zeros(
                draw.choice(((), (0,), (1,), (3, 0), (2, 2, 2))),
                draw.choice((array.dtype, np.float64)),
            )
        case _:
            if array.size and array.dtype.kind in "iufb":
                highest = (
                    np.finfo(array.dtype).max
                    if array.dtype.kind == "f"
                    else 1
                    if array.dtype.kind == "b"
                    else np.iinfo(array.dtype).max
                )
                with np.errstate(all="ignore"):
                    array.flat[draw.randrange(array.size)] = draw.choice(
                        (0, 1, highest, *((np.nan, -np.inf) if array.dtype.kind == "f" else ()))
                    )
            return array


def json_changed(data: bytes, draw: Draw) -> bytes:
    value = json.loads(data)
    for _ in range(draw.choice((1, 1, 2))):
        value = strange(value, draw)
    return json.dumps(value).encode()


def lines_changed(data: bytes, draw: Draw) -> bytes:
    """A first line of JSON, and anything below; or a file with JSON in each line."""
    line, end, body = data.partition(b"\n")
    if draw.random() < 0.5:
        return json_changed(line, draw) + end + body
    try:
        block = zlib.decompress(body)
    except zlib.error:
        return line + end + damaged(body, draw)
    about, _, actions = block.partition(b"\n")
    block = (
        (json_changed(about, draw) if draw.random() < 0.7 else about)
        + b"\n"
        + (damaged(actions, draw) if draw.random() < 0.3 else actions)
    )
    return (
        json.dumps(json.loads(line) | {"bytes": len(block)}).encode() + b"\n" + zlib.compress(block)
    )


def tensors_changed(data: bytes, draw: Draw) -> bytes:
    """A safetensors file: its header, the JSON within it, or a number."""
    length = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    inner = header.get("__metadata__")
    what = draw.random()
    if what < 0.5 and inner:
        key = draw.choice(list(inner))
        inner[key] = json_changed(inner[key].encode(), draw).decode()
    elif what < 0.8:
        header = strange(header, draw)
    else:
        at = draw.randrange(max(1, len(body) // 4)) * 4
        body = (
            body[:at]
            + np.float32(draw.choice((np.nan, np.inf, -1e30, 1e9))).tobytes()
            + body[at + 4 :]
        )
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def arrays_changed(data: bytes, draw: Draw) -> bytes:
    """An npz file: an array of another kind, missing, or with other bytes within the zip."""
    with np.load(io.BytesIO(data)) as file:
        arrays = dict(file)
    if not arrays:
        return damaged(data, draw)
    name = draw.choice(list(arrays))
    what = draw.random()
    if what < 0.1:
        del arrays[name]
    elif what < 0.7:
        arrays[name] = strange_array(arrays[name], draw)
    buffer = io.BytesIO()
    with zipfile.ZipFile(
        buffer, "w", draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    ) as archive:
        for entry, array in arrays.items():
            part = io.BytesIO()
            np.lib.format.write_array(part, array, allow_pickle=False)
            content = part.getvalue()
            archive.writestr(
                f"{entry}.npy", damaged(content, draw) if what >= 0.7 and entry == name else content
            )
    return buffer.getvalue()


def parquet_changed(data: bytes, draw: Draw) -> bytes:
    """A parquet file with a column of another type or content, or without it."""
    import pyarrow
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(data))
    at = draw.randrange(table.num_columns)
    name = table.column_names[at]
    other = draw.choice((None, "x", 2**40, -1, 0.5, float("nan"), True, b"x", [1], {"x": 1}))
    match draw.randrange(4):
        case 0:
            table = table.drop_columns([name])
        case 1:
            table = table.slice(draw.randrange(table.num_rows + 1))
        case _:
            table = table.set_column(at, name, pyarrow.array([other] * table.num_rows))
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()


def table_changed(data: bytes, draw: Draw) -> bytes:
    """A database with other content in a cell."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "database"
        path.write_bytes(data)
        database = sqlite3.connect(path)
        try:
            names = [
                row[0]
                for row in database.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
                )
            ]
            name = draw.choice(names)
            column = draw.choice([row[1] for row in database.execute(f"PRAGMA table_info({name})")])
            (cell,) = database.execute(f"SELECT {column} FROM {name} LIMIT 1").fetchone() or (None,)
            changed: Any = draw.choice(
                (None, 0, -1, 2**62, 0.5, "", "x", "{}", "[]", "null", b"", b"x")
            )
            if isinstance(cell, str) and cell[:1] in ("{", "[") and draw.random() < 0.8:
                changed = json_changed(cell.encode(), draw).decode()
            elif isinstance(cell, bytes) and draw.random() < 0.8:
                changed = damaged(cell, draw)
            database.execute(f"UPDATE OR IGNORE {name} SET {column} = ?", (changed,))
            database.commit()
        except sqlite3.IntegrityError:
            database.rollback()
        finally:
            database.close()
        return path.read_bytes()


# By the beginning of the content: bytes that are of the format still, and hold something else.
FORMATS: Final[tuple[tuple[Callable[[str, bytes], bool], Callable[[bytes, Draw], bytes]], ...]] = (
    (lambda name, data: name.endswith(".safetensors"), tensors_changed),
    (lambda name, data: data[:2] == b"PK", arrays_changed),
    (lambda name, data: data[:4] == b"PAR1", parquet_changed),
    (lambda name, data: data[:6] == b"SQLite", table_changed),
    (lambda name, data: name.endswith(".json"), json_changed),
    (lambda name, data: data[:1] == b"{", lines_changed),
)  # fmt: skip


def changed(reader: Reader, files: Files, draw: Draw) -> Files:
    """The files of a folder with one of them damaged or forged."""
    name = draw.choice(sorted(files))
    data = files[name]
    same_format = next((change for fits, change in FORMATS if fits(name, data)), damaged)
    result = files | {name: (same_format if draw.random() < 0.7 else damaged)(data, draw)}
    if draw.random() < 0.8:
        # nothing is left to be forged
        with suppress(ValueError, LookupError, TypeError, AttributeError):
            reader.forge(result)
    return result


NODES: Final = ("pipe", "device", "folder", "nothing", "empty", "locked")


def as_node(path: Path, kind: str) -> None:
    """Something else in place of a file."""
    path.unlink()
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case "empty":
            path.touch()
        case "locked":
            path.symlink_to("/proc/self/mem")


def laid(files: Files, folder: Path) -> None:
    """Write files into an empty folder."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


# --- readers

SHORT: Final = me.Rules(max_turns=6)
QUIET: Final = Console(file=io.StringIO())


def played(count: int = 2) -> arena.Results:
    return arena.play(
        ["random", "algorithmic"], games=count, rules=SHORT, record=count, turn_limit=6
    )


def write_series(folder: Path) -> None:
    """The log of submitted programs, as `monopoly_bench code` keeps it."""
    (folder / "01.py").write_bytes(b"PARAMS = []")
    entry = {
        "submission": 1,
        "file": "01.py",
        "sha256": hashlib.sha256(b"PARAMS = []").hexdigest(),
        "quick": True,
        "score": 0.5,
    }
    (folder / "log.jsonl").write_text(json.dumps(entry) + "\n")


def write_position(path: Path) -> None:
    replay = played(1).replays[0]
    replay = replace(replay, actions=replay.actions[: len(replay.actions) // 2], digest="")
    legal = me.legal_actions(replays.final(replay))
    suite.save_positions(
        path, [suite.Position(replay, 3, {int(action): (0.5, 0.5) for action in legal})]
    )


def write_data_set(folder: Path, form: Any, *, resume: bool = False) -> None:
    options = experts.ExpertOptions(
        players=("strategic",),
        games=8,
        encoding="ocnaru100",
        heads=("buy",),
        format=form,
        threads=1,
    )
    experts.execute(replace(options, out=folder, resume=resume), QUIET)


def forge_data_set(files: Files) -> None:
    about = json.loads(files[datasets.ABOUT])
    for shard in about["shards"]:
        shard["sha256"] = hashlib.sha256(files[shard["file"]]).hexdigest()
    files[datasets.ABOUT] = json.dumps(about).encode()


def forge_results(files: Files) -> None:
    for name in [name for name in files if name.endswith(".parquet")]:
        about = name.removesuffix("parquet") + "json"
        files[about] = json.dumps(
            json.loads(files[about]) | {"games_sha256": hashlib.sha256(files[name]).hexdigest()}
        ).encode()


def forge_game(files: Files) -> None:
    line, _, body = files["game"].partition(b"\n")
    record = np.frombuffer(body, GAME).copy()[0]
    files["game"] = (
        json.dumps(json.loads(line) | {"digest": digest(record)}).encode() + b"\n" + body
    )


SMALL: Final = Generational(
    genome="strategic",
    population=16,
    matches=1,
    generations=1,
    turn_limit=6,
    against=(),
    final_games=4,
    threads=1,
)
PENTE: Final = replace(
    pente_esp.SCHRUM,
    experiment="better",
    network="attentive",
    hidden=3,
    neurons=8,
    trials=2,
    matches=1,
    threads=1,
)


def checkpoint(begun: Callable[[], Saved]) -> Reader:
    """The checkpoint of a run that has just begun."""

    def write(folder: Path) -> None:
        parts, state = begun().state()
        checkpoints.write(folder / "checkpoints", 1, parts, state | {"best": 0.0})

    def read(folder: Path) -> None:
        Session(Run(folder), Report(folder / "curves", QUIET)).restore(begun())

    return Reader(write, read)


def learner() -> Learner:
    options = replaced(
        DQNOptions(), rollout_games=2, hidden=(4,), opponents=("self",), against=("random",)
    )
    return Learner(options, Setup.of(options))


def write_evolved(folder: Path) -> None:
    search = SMALL.search()
    assert isinstance(search, populations.Population)
    write_arrays(folder / "population.npz", search.genomes())


def write_network(folder: Path) -> None:
    kept = {"hidden": 3, "size": 7, "window": 0, "captures": False}
    kept |= {"recurrent": True, "observes": True}
    weights = PENTE.neurons_of.pack(np.zeros((1, 3 * PENTE.neurons_of.genes)))[0]
    write_arrays(
        folder / "network.npz",
        {"weights": weights} | {name: np.array(value) for name, value in kept.items()},
    )


def write_town(folder: Path) -> None:
    (folder / "editions.toml").write_text(
        '[seaside]\ntitle = "Seaside"\nboard = "board.csv"\ndeck = "us"\n'
    )
    shutil.copy(editions.DATA / "board_us.csv", folder / "board.csv")
    shutil.copy(editions.DATA / "cards.csv", folder)


def read_town(folder: Path) -> None:
    """Import the tables anew, since they are read then, and put the modules back."""
    names = ("editions", "board", "cards")
    before = {name: sys.modules.pop(f"monopoly_env.facts.{name}") for name in names}
    os.environ[editions.VARIABLE] = str(folder)
    try:
        for name in names:
            importlib.import_module(f"monopoly_env.facts.{name}")
    finally:
        del os.environ[editions.VARIABLE]
        for name, module in before.items():
            sys.modules[f"monopoly_env.facts.{name}"] = module
            setattr(facts, name, module)


def of_file(
    name: str,
    write: Callable[[Path], object],
    read: Callable[[Path], object],
    forge: Callable[[Files], None] = lambda files: None,
) -> Reader:
    """A reader of one file."""
    return Reader(lambda folder: write(folder / name), lambda folder: read(folder / name), forge)


def policy(name: str) -> Reader:
    """A policy by name, saved and loaded."""
    return of_file("x.safetensors", lambda path: agents.make(name).save(path), agents.load)


def write_ratings(path: Path) -> None:
    ratings = Ratings()
    ratings.update(played())
    ratings.save(path)


def try_players(path: Path, resume: bool = False) -> None:
    options = sprt.SprtOptions(
        "expert", "random", games=1, block=2, threads=1, progress=False, out=path, resume=resume
    )
    sprt.execute(options, Console(quiet=True))


def write_table(folder: Path) -> None:
    """The database of the table's server, with a game under way."""
    with closing(Storage(folder)) as storage:
        storage.secret("host")
        game, seats = (
            me.new_game(2, SHORT),
            [games.Seat("person", "Ann"), games.Seat("policy", policy="random")],
        )
        row = games.opened(
            seats,
            game,
            {"rules": SHORT.changed(), "seed": 0, "turn_limit": 100},
            from_position=True,
        )
        row.id = "game"
        storage.add([row])
        games.LiveGame(row, storage, policy_names.make).carry_out([int(me.legal_actions(game)[0])])


def read_table(folder: Path) -> None:
    with closing(Storage(folder)) as storage:
        storage.secret("host")
        storage.newest(10)
        row = storage.find("game")
        if row is not None:
            storage.snapshot("game", 0)
            games.LiveGame(row, storage, policy_names.make)


READERS: Final[Mapping[str, Reader]] = {
    "game": of_file(
        "game", lambda path: me.save(me.new_game(3, seed=1), path), me.load, forge_game
    ),
    "replays": of_file(
        "x.replay",
        lambda path: replays.save(path, played().replays),
        lambda path: [replays.final(replay) for replay in replays.load(path)],
    ),
    "scripted policy": policy("algorithmic"),
    "genes": policy("genetic/sga/best"),
    "network of cells": policy("genetic/esp/attentive"),
    "learned agent": policy("ppo/best/two"),
    "value": of_file(
        "x.safetensors", lambda path: shutil.copy(values.SHIPPED["best"], path), values.make
    ),
    "results": of_file(
        "x.parquet", lambda path: played().save(path), agents.Results.load, forge_results
    ),
    "ratings": of_file("x.json", write_ratings, Ratings.load),
    "test of two players": of_file("x.json", try_players, partial(try_players, resume=True)),
    "puzzles": of_file("x.json", lambda path: puzzles.save(path, puzzles.load()[:2]), puzzles.load),
    "answers": of_file(
        "x.jsonl",
        lambda path: path.write_text(
            '{"id": 1, "answer": "ACTION: buy"}\n{"id": 2, "answer": ""}\n'
        ),
        prompts.read,
    ),
    "suite": Reader(lambda folder: suite.write(folder, "secret", [], []), suite.load),
    "positions": of_file("x.json", write_position, suite.load_positions),
    "submissions": Reader(write_series, code.read_log),
    **{
        f"data set, {form}": Reader(
            partial(write_data_set, form=form),
            lambda folder: list(datasets.load(folder)),
            forge_data_set,
        )
        for form in datasets.FORMATS
    },
    "data set that goes on": Reader(
        partial(write_data_set, form="npz"),
        partial(write_data_set, form="npz", resume=True),
        forge_data_set,
    ),
    "checkpoint of a population": checkpoint(SMALL.search),
    "checkpoint of networks for Pente": checkpoint(PENTE.search),
    "checkpoint of a learner": checkpoint(learner),
    "population": Reader(
        write_evolved,
        lambda folder: replace(
            SMALL, start_population=str(folder / "population.npz"), out=folder / "run"
        ).search(),
    ),
    "network for Pente": Reader(write_network, lambda folder: pente.load(folder / "network.npz")),
    "folder of a run": Reader(
        lambda folder: Run.open(
            folder,
            {"a": [1], "b": {"c": 2}},
            resume=False,
            overwrite=False,
            files={"x": "a file"},
            kind="k",
        ),
        lambda folder: Run.open(folder, {"a": [1], "b": {"c": 2}}, resume=True, overwrite=False),
    ),
    "folder of a run that is replaced": Reader(
        lambda folder: Run.open(
            folder, {"a": [1]}, resume=False, overwrite=False, files={"x": "a file"}, kind="k"
        ),
        lambda folder: Run.open(folder, {"a": [1]}, resume=False, overwrite=True, kind="k"),
    ),
    "edition": Reader(write_town, read_town),
    "database of the table": Reader(write_table, read_table),
}


# --- cases


@contextmanager
def soon() -> Iterator[None]:
    """Raise TimeoutError where a reader hangs."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"It reads for more than {SECONDS} seconds.")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Fuzzer:
    """The cases of one reader.

    Attributes:
        files: The sound files.
        nodes: The number of the first cases, in which a file is none: one of `NODES`.
        here: The folder of the last case.
    """

    def __init__(self, name: str, folder: Path) -> None:
        """Write sound files below a folder; they must be read."""
        self.name, self.reader, self.here = name, READERS[name], folder / "case"
        self.here.mkdir()
        self.reader.write(self.here)
        self.files = {
            path.relative_to(self.here).as_posix(): path.read_bytes()
            for path in self.here.rglob("*")
            if path.is_file()
        }
        self.nodes = len(NODES) * len(self.files)
        self.reader.read(self.here)

    def case(self, number: int) -> str:
        """Read the files of a case: the trace of a foreign error, or nothing."""
        shutil.rmtree(self.here, ignore_errors=True)
        self.here.mkdir()
        draw = Draw(f"{self.name} {number}")
        laid(
            changed(self.reader, self.files, draw) if number >= self.nodes else self.files,
            self.here,
        )
        if number < self.nodes:
            as_node(
                self.here / sorted(self.files)[number // len(NODES)], NODES[number % len(NODES)]
            )
        try:
            with soon(), redirect_stderr(io.StringIO()), warnings.catch_warnings():
                # a number that is cut is an error too
                warnings.simplefilter("error", RuntimeWarning)
                self.reader.read(self.here)
        except me.MonopolyError:
            return ""
        except Exception:
            return traceback.format_exc()
        return ""


def main() -> int:
    """Run cases of all readers in turn until the time is up.

    The exit status is 0 only if no error was foreign.
    """
    parser = argparse.ArgumentParser(
        "python -m tests.fuzz_files", description="Damaged files for every reader."
    )
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--reader", choices=sorted(READERS))
    parser.add_argument("--case", type=int, help="only this one, and keep its files")
    asked = parser.parse_args()
    names = [asked.reader] if asked.reader else list(READERS)
    folder = Path(tempfile.mkdtemp(prefix="fuzz-files-"))
    fuzzers = []
    for name in names:
        (folder / str(len(fuzzers))).mkdir()
        fuzzers.append(Fuzzer(name, folder / str(len(fuzzers))))
    cases = itertools.count() if asked.case is None else [asked.case]
    found: dict[str, str] = {}  # the first case of each error
    end, done = time.monotonic() + 60 * asked.minutes, 0
    for number, fuzzer in ((number, fuzzer) for number in cases for fuzzer in fuzzers):
        if time.monotonic() > end:
            break
        trace = fuzzer.case(number)
        done += 1
        where = "\n".join(trace.strip().splitlines()[-3:])
        if trace and where not in found:
            found[where] = f"--reader {fuzzer.name!r} --case {number}"
            print(f"{found[where]}\n{trace}", flush=True)
    print(f"{done:,} cases of {len(fuzzers)} readers: {len(found)} foreign errors")
    if asked.case is None:
        shutil.rmtree(folder)
    else:
        print(f"The files are in {fuzzers[0].here}.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
