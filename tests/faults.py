"""Simulated faults: a seed decides which call to the file system fails, and how.

    # 1,000 seeds of each program
    python -m tests.faults --seeds 1000
    # one again
    python -m tests.faults table --first 17

A program runs until the fault, goes on after it as its message advises, and must end as if nothing
had happened. A killed process leaves its files as they are at that call. What a fault interrupts
fails in a sentence, or not at all.
"""

from __future__ import annotations

import argparse
import builtins
import errno
import io
import itertools
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from monopoly_env.errors import MonopolyError

ERROR, FULL, SHORT, KILLED = KINDS = ("error", "full", "short", "killed")
UNDISTURBED: Final = 10**9


class KilledError(BaseException):
    """The process was killed: nothing but its files is left."""


@dataclass
class Disk:
    """The files of a folder, of which a call fails.

    Attributes:
        folder: The folder; other files are as ever.
        fails_at: The number of the call that fails, from 0.
        kind: An error of the device, once; a full disk, from then on; a write that is cut short,
            once; or the process is killed.
        calls: The calls so far.
        left: The folder as it was when the process was killed.
    """

    folder: Path
    fails_at: int = UNDISTURBED
    kind: str = ERROR
    calls: list[str] = field(default_factory=list)
    left: Path | None = None

    @property
    def has_failed(self) -> bool:
        return len(self.calls) > self.fails_at

    def call(self, name: str, write: Callable[[], object] | None = None) -> None:
        """Count a call, and let it fail if it is its turn; `write` writes half of the data."""
        number = len(self.calls)
        self.calls.append(name)
        again = self.kind == FULL and name != "read"
        if number != self.fails_at and not (number > self.fails_at and again):
            return
        if self.kind == SHORT and write:
            write()
        if self.kind == KILLED and self.left is None:
            self.left = Path(tempfile.mkdtemp(prefix=self.folder.name, dir=self.folder.parent))
            shutil.copytree(self.folder, self.left, dirs_exist_ok=True)
            raise KilledError
        code = errno.EIO if self.kind == ERROR or name == "read" else errno.ENOSPC
        raise OSError(code, os.strerror(code))

    def has(self, path: Any) -> bool:
        """Whether a path is in the folder. Curves are written by another thread: not counted."""
        if not isinstance(path, (str, os.PathLike)):
            return False
        inside = os.path.abspath(os.fspath(path)).startswith(f"{self.folder}{os.sep}")  # noqa: PTH100
        return inside and "curves" not in os.fspath(path)

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Let all files be opened, written, read and renamed through this disk."""
        real, replace = io.open, os.replace

        def opened(file: Any, mode: str = "r", *more: Any, **options: Any) -> Any:
            if not self.has(file):
                return real(file, mode, *more, **options)
            self.call("open" if set(mode) & set("wxa+") else "read")
            return _File(self, real(file, mode, *more, **options))

        def replaced(source: Any, target: Any, **options: Any) -> None:
            if self.has(target):
                self.call("replace")
            replace(source, target, **options)

        io.open = builtins.open = opened
        os.replace = replaced
        try:
            yield
        finally:
            io.open = builtins.open = real
            os.replace = replace


class _File:
    """An open file of a disk."""

    def __init__(self, disk: Disk, file: Any) -> None:
        self._disk, self._file = disk, file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __iter__(self) -> Any:
        return iter(self._file)

    def write(self, data: Any) -> Any:
        self._disk.call("write", lambda: self._file.write(data[: len(data) // 2]))
        return self._file.write(data)

    def read(self, *size: Any) -> Any:
        self._disk.call("read")
        return self._file.read(*size)


# --- commands that go on by --resume

TRAINING: Final = (
    "--imitation-steps 200 --steps 400 --rollout-games 4 --hidden 8 --evaluation-games 2"
    " --final-games 2 --opponents self --against random --threads 1 --json"
)
TOURNAMENT: Final = "--players random algorithmic expert --games 2 --seed 5 --threads 1 --json"
# differ from run to run
TIMES: Final = ("time", "seconds", "agent")


def _training(words: list[str]) -> int:
    from training import dqn

    return dqn.main([*TRAINING.split(), *words])


def _tournament(words: list[str]) -> int:
    from training import tournament

    return tournament.main([*TOURNAMENT.split(), *words])


def _contents(folder: Path) -> dict[str, Any]:
    """What a command leaves, without times, curves and temporary files."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if (
            not path.is_file()
            or "curves" in name
            or any(part[0] == "." for part in name.split("/"))
        ):
            continue
        data: Any = path.read_bytes()
        if path.suffix == ".json":
            data = _timeless(json.loads(data))
        found[name] = data
    return found


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(one) for key, one in value.items() if key not in TIMES}
    return [_timeless(one) for one in value] if isinstance(value, list) else value


def _run(main: Callable[[list[str]], int], words: list[str], disk: Disk) -> int | None:
    """The exit status of a command, and None if it was killed; its errors are sentences."""
    told = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(told), disk.failing():
        try:
            status = main([*words, "--out", str(disk.folder)])
        except KilledError:
            return None
    assert status in (0, 2), (status, told.getvalue())
    assert status == 0 or "error: " in told.getvalue().splitlines()[-1], told.getvalue()
    return status


@cache
def _whole(main: Callable[[list[str]], int]) -> tuple[int, dict[str, Any]]:
    """The number of calls of a command that nothing disturbs, and what it leaves."""
    with tempfile.TemporaryDirectory() as folder:
        disk = Disk(Path(folder) / "run")
        assert _run(main, [], disk) == 0
        return len(disk.calls), _contents(disk.folder)


def resumed(main: Callable[[list[str]], int], draw: random.Random, folder: Path) -> int:
    """A command that fails, and fails again when it resumes, ends as if nothing had happened."""
    calls, expected = _whole(main)
    run, words, faults = folder / "run", list[str](), 0
    for _ in range(2):
        disk = Disk(run, draw.randrange(calls), draw.choice(KINDS))
        status = _run(main, words, disk)
        run, faults = disk.left or run, faults + disk.has_failed
        if status == 0:
            break
        words = ["--resume"] if (run / "config.json").exists() else []
    if status != 0:
        assert _run(main, words, Disk(run)) == 0
    assert _contents(run) == expected
    return faults


# --- the table


class _Database:
    """The table's database on a disk: the statements that it is given fail."""

    def __init__(self, disk: Disk, database: Any) -> None:
        self._disk, self._database = disk, database

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def execute(self, query: str, *values: Any) -> Any:
        name = "read" if query.startswith("SELECT") else query.split(maxsplit=1)[0]
        try:
            self._disk.call(name)
        except OSError as error:
            if self._disk.kind == SHORT:  # SQLite rolls back on its own after some errors
                self._database.rollback()
            text = "disk I/O error" if error.errno == errno.EIO else "database or disk is full"
            raise sqlite3.OperationalError(text) from error
        return self._database.execute(query, *values)


class _Clock:
    """A clock that stands still, goes on, or jumps."""

    monotonic = staticmethod(time.monotonic)

    def __init__(self, draw: random.Random) -> None:
        self._draw, self._now = draw, 1e9

    def time(self) -> float:
        self._now += self._draw.choice((0, 0, 1e-3, 3600, -3600))
        return self._now


class Table:
    """A table whose disk fails; after each wish, memory, file and answers must agree."""

    def __init__(self, draw: random.Random, folder: Path) -> None:
        self.draw, self.folder = draw, folder
        self.games: dict[str, Any] = {}  # in memory
        self.told: dict[str, Any] = {}  # what was acknowledged
        self.clock, self.wishes, self.faults = _Clock(draw), itertools.count(1), 0
        self.disk = Disk(folder)
        self.open()

    def open(self) -> None:
        """Start a server in the folder."""
        from monopoly_table.server import Server, ServerSettings

        self.server = Server(ServerSettings(self.disk.folder))
        self.real = self.server.storage.database
        self.games = {game: self.server.sessions.load(game) for game in self.told}
        self.server.storage.database = _Database(self.disk, self.real)  # type: ignore[assignment]

    def stop(self) -> None:
        self.server.storage.database = self.real
        self.server.close()

    # --- wishes

    def wish(self, game: str) -> None:
        """Carry out a wish of somebody at a game."""
        from monopoly_env import core
        from monopoly_table import messages
        from monopoly_table.safety import Rights
        from monopoly_table.sessions import perform

        live, draw = self.games[game], self.draw
        about = {"id": next(self.wishes), "version": live.row.version, "digest": live.digest}
        host = Rights(True, tuple(range(len(live.seats))))
        if live.waits_for_policy:
            live.play(0.0, True)
            return
        legal = core.legal_actions(live.game).tolist()
        match draw.randrange(12):
            case 0 | 1:
                message: Any = messages.Undo(type="undo", **about)
            case 2:
                message = messages.Pace(type="speed", id=1, speed=draw.randrange(5))
            case 3:
                seat, kind = draw.randrange(2), draw.choice(("person", "policy"))
                policy = "random" if kind == "policy" else None
                message = messages.NewSeat(type="seat", id=1, seat=seat, kind=kind, policy=policy)
            case 4:
                name = draw.choice(("Ann", "Bob", ""))
                message = messages.NewName(type="name", id=1, seat=draw.randrange(3), name=name)
            case 5:
                live.take(draw.randrange(3), "Guest")
                return
            case _ if not legal:
                return
            case _:
                message = messages.Act(type="act", action=draw.choice(legal), **about)
        perform(live, host, message)

    def begin(self) -> None:
        from monopoly_table import messages

        auction = self.draw.choice(("english", "sealed_second_price"))
        kinds = [{"kind": "person"}, {"kind": "policy", "policy": "random"}, {"kind": "guest"}]
        new = {
            "seats": kinds, "seed": self.draw.randrange(99), "speed": 0, "turn_limit": 5,
            "rules": {"options": {"auction": auction}},
        }  # fmt: skip
        game = self.server.begin(messages.NewGame.model_validate(new)).id
        self.told[game] = None

    def remove(self, game: str) -> None:
        self.server.storage.remove(game)
        del self.told[game], self.games[game]

    # --- what must hold

    def facts(self, live: Any) -> Any:
        """All that is known of a game."""
        log = [step.as_json() for step in live.log]
        return live.frame(), live.row.about, [vars(seat) for seat in live.seats], log

    def agree(self, game: str) -> Any:
        """What memory and file tell of a game, which is the same."""
        loaded = self.server.sessions.load(game)
        now = json.loads(json.dumps(self.facts(self.games.setdefault(game, loaded))))
        assert now == json.loads(json.dumps(self.facts(loaded))), "memory and file differ"
        row = self.server.row(game)
        seen = self.server.stored(row)
        if seen.version == row.version:  # all bids are open
            assert seen.frame(seen.version)["digest"] == now[0]["digest"]
        assert now[0]["version"] == row.version == len(self.server.storage.actions(row))
        return now

    def step(self, kind: str, fails_at: int) -> None:
        """One wish, during which a call may fail."""
        game = self.draw.choice(list(self.told)) if self.told else ""
        failed, disk = False, self.disk
        disk.calls, disk.fails_at, disk.kind = [], fails_at, kind
        try:
            if not game or self.draw.random() < 0.1:
                self.begin()
            elif self.draw.random() < 0.02:
                self.remove(game)
            else:
                self.wish(game)
        except MonopolyError:
            failed = True
        except KilledError:
            self.die()
        self.faults += disk.has_failed
        self.disk.fails_at = UNDISTURBED
        for each, told in self.told.items():
            now = self.agree(each)
            if told is not None and (failed or each != game):
                assert now == told, "nothing was done"
            self.told[each] = now

    def die(self) -> None:
        """The process is killed; another one finds what is left."""
        self.stop()
        left = self.disk.left
        assert left is not None
        self.disk = Disk(left)
        self.open()


def table(draw: random.Random, folder: Path) -> int:
    """A table whose disk fails now and then."""
    from monopoly_table import storage

    made = Table(draw, folder / "table")
    real, storage.time = storage.time, made.clock  # type: ignore[assignment]
    try:
        for _ in range(30):
            made.step(draw.choice(KINDS), draw.choice((UNDISTURBED, 0, 1, 2, 3, 4, 5, 6, 7, 8)))
    finally:
        storage.time = real
        made.stop()
    return made.faults


def training(draw: random.Random, folder: Path) -> int:
    """A learner that is resumed ends with the same agent."""
    return resumed(_training, draw, folder)


def tournament(draw: random.Random, folder: Path) -> int:
    """A tournament that is resumed ends with the same results."""
    return resumed(_tournament, draw, folder)


PROGRAMS: Final = {"table": table, "training": training, "tournament": tournament}


def run(name: str, seed: int) -> int:
    """Run a program with the faults of a seed; returns how many there were."""
    with tempfile.TemporaryDirectory() as folder:
        return PROGRAMS[name](random.Random(f"{name} {seed}"), Path(folder).resolve())


def main(arguments: list[str] | None = None) -> int:
    """Run programs with the faults of many seeds; print those that fail."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("programs", nargs="*", choices=[[], *PROGRAMS], help="by default all")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    options = parser.parse_args(arguments)
    failed = 0
    for name in options.programs or PROGRAMS:
        began = time.perf_counter()
        for seed in range(options.first, options.first + options.seeds):
            try:
                run(name, seed)
            except Exception:
                failed += 1
                print(f"--- python -m tests.faults {name} --first {seed}", flush=True)
                traceback.print_exc()
        seconds = time.perf_counter() - began
        print(f"{name}: {options.seeds:,} seeds, {seconds:.0f} s", flush=True)
    print(f"{failed:,} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
