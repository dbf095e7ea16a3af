"""The folder of a run: what lies where in it, and who may write there."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from filelock import FileLock, Timeout

from monopoly_env.core import write_atomically
from monopoly_env.errors import ConfigurationError
from monopoly_env.kernels import cache_root

CONFIG: Final = "config.json"
_LONGEST: Final = 200  # characters of a setting in a message

Executed = TypeVar("Executed")


def exclusive(execute: Callable[[Any, Any], Executed]) -> Callable[[Any, Any], Executed]:
    """Decorate `execute(options, console)` of a command: it has `options.out` to itself."""

    @functools.wraps(execute)
    def guarded(options: Any, console: Any) -> Executed:
        with alone(options.out):
            return execute(options, console)

    return guarded


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other processes of this user and machine out of a folder; the system lets them in if this one is killed.

    The lock lies in the cache folder of the library, so that nothing of it is left where the work is.

    Raises:
        ConfigurationError: Another process is at work there.
    """
    lock = _locked(folder)
    try:
        yield
    finally:
        if lock:
            lock.release()


def _locked(folder: Path) -> FileLock | None:
    """The lock of a folder, taken; None where there is no place for locks, or none that knows them."""
    locks = cache_root() / "locks"
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    try:
        locks.mkdir(parents=True, exist_ok=True)
        lock = FileLock(locks / f"{name}.lock", blocking=False, is_singleton=True)  # the same process may come in again
        lock.acquire()
    except Timeout as error:
        raise ConfigurationError(
            f"Another process is at work in {str(folder)!r}: wait for it, stop it, or choose another --out."
        ) from error
    except (OSError, NotImplementedError):  # a cache folder that is read-only, a file system without locks: work goes on, unguarded
        return None
    return lock


@dataclass(frozen=True)
class Run:
    """Paths in the folder of a run."""

    folder: Path

    @property
    def checkpoints(self) -> Path:
        """Folder of the checkpoints."""
        return self.folder / "checkpoints"

    @property
    def curves(self) -> Path:
        """Folder of what TensorBoard reads."""
        return self.folder / "curves"

    @property
    def best(self) -> Path:
        """The best agent so far."""
        return self.folder / "best.safetensors"

    @property
    def agent(self) -> Path:
        """The agent that the run ends with."""
        return self.folder / "agent.safetensors"

    @property
    def pairs(self) -> Path:
        """Folder of pairs of rollouts."""
        return self.folder / "pairs"

    def chunk(self, number: int) -> Path:
        """The file of a chunk of pairs."""
        return self.pairs / f"{number:06d}.npz"

    @property
    def rounds(self) -> Path:
        """Folder of the agents of the rounds."""
        return self.folder / "rounds"

    def round(self, number: int) -> Path:
        """The agent that a round ended with."""
        return self.rounds / f"{number:02d}.safetensors"

    @property
    def gate(self) -> Path:
        """What was found of each head at the end of a run."""
        return self.folder / "gate.json"

    @property
    def hall(self) -> Path:
        """Folder of the champions of a population, one for each measurement."""
        return self.folder / "hall"

    def champion(self, generation: int) -> Path:
        """The file of the champion of a generation."""
        return self.hall / f"{generation:06d}.safetensors"

    @property
    def populations(self) -> Path:
        """Folder of populations that are kept."""
        return self.folder / "populations"

    def population(self, generation: int) -> Path:
        """The file of the population of a generation."""
        return self.populations / f"{generation:06d}.npz"

    @classmethod
    def open(cls, folder: Path, settings: Mapping[str, Any], *, resume: bool, overwrite: bool) -> Run:
        """Take a folder for a run.

        Args:
            folder: Where; made if it is not there.
            settings: JSON values that a resumed run must share.
            resume: Go on with the run that is there.
            overwrite: Remove the run that is there.

        Raises:
            ConfigurationError: There is a run and neither was asked for; there is none to resume, or one of other settings; the
                folder holds something else, or can't be written.
        """
        run = cls(folder)
        if resume and overwrite:
            raise ConfigurationError("--resume goes on with a run, --overwrite removes it: choose one.")
        if resume:
            run._compare(settings)
            return run
        config = folder / CONFIG
        try:
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                run._clear(overwrite)
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(f"Cannot write to {str(folder)!r}: {error.strerror}.") from error
        write_atomically(config, json.dumps(dict(settings), indent=1).encode())
        return run

    def _clear(self, overwrite: bool) -> None:
        """Remove the run that is here, if that was asked for; never anything else."""
        if not (self.folder / CONFIG).is_file():
            raise ConfigurationError(f"{str(self.folder)!r} is there and is no run: choose another folder with --out.")
        if not overwrite:
            raise ConfigurationError(
                f"{str(self.folder)!r} holds a run: go on with it by --resume, replace it by --overwrite, or choose another --out."
            )
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise ConfigurationError(f"Cannot write to {str(self.folder)!r}: Permission denied.")
        for path in (self.checkpoints, self.curves, self.pairs, self.rounds, self.hall, self.populations):
            if path.exists():
                shutil.rmtree(path)
        for name in ("experts.safetensors", "curves.csv", "evaluation.json", CONFIG):
            (self.folder / name).unlink(missing_ok=True)
        for path in (self.best, self.agent, self.gate):
            path.unlink(missing_ok=True)

    def _compare(self, settings: Mapping[str, Any]) -> None:
        """Raise unless the run that is here was begun with the same settings."""
        try:
            begun = json.loads((self.folder / CONFIG).read_text())
            if not isinstance(begun, dict):
                raise ValueError("it holds no settings")
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"No run to resume in {str(self.folder)!r}: its {CONFIG} can't be read ({error}).") from error
        names = [*settings, *(name for name in begun if name not in settings)]
        differences = [
            f"{name} is {_short(settings.get(name))}, was {_short(begun.get(name))}"
            for name in names
            if settings.get(name) != begun.get(name)
        ]
        if differences:
            raise ConfigurationError(f"The run in {str(self.folder)!r} was begun with other settings: {'; '.join(differences)}.")

    def write_json(self, name: str, value: Any) -> None:
        """Write a JSON file into the folder."""
        write_atomically(self.folder / name, json.dumps(value, indent=1).encode())


def _short(value: Any) -> str:
    """A setting in a message: of long ones the beginning."""
    told = repr(value)
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST]}..."
