"""The folder of a run: what lies in it, and one process at a time that writes there."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from monopoly_env.errors import ConfigurationError, MonopolyError, shortened
from monopoly_env.files import read_file, read_json, understood, write_atomically
from monopoly_env.kernels.sources import cache_root

CONFIG: Final = "config.json"
CURVES: Final = "curves"
# Files of every run. A learner that writes others hands a list like this to `Run.open`.
FILES: Final = {
    CONFIG: "the settings that decide the result",
    "checkpoints": (
        "a folder for each of the last checkpoints; --resume continues from the last one"
    ),
    CURVES: "learning curves, for TensorBoard",
    "best.safetensors": "the best agent so far",
    "agent.safetensors": "the agent of the last checkpoint, in the end that of the run",
    "evaluation.json": "its win rates at the end",
}
_OTHER_FILES: Final = "files"  # in config.json: what this learner writes beside FILES
_KIND: Final = "kind"  # in config.json: whose run it is
MOST_CONFIG: Final = 1 << 24  # bytes of config.json
_LONGEST: Final = 200  # characters of a setting in a message


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes of this user and machine out of a folder, until this one ends.

    The lock file is in the cache folder of the library, not in the folder itself.

    Raises:
        ConfigurationError: Another process is using the folder.
    """
    lock = _lock_of(folder)
    try:
        yield
    finally:
        if lock:
            lock.release()


def _lock_of(folder: Path) -> FileLock | None:
    """The lock of a folder, acquired; None where there can be no lock files."""
    locks = cache_root() / "locks"
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    try:
        locks.mkdir(parents=True, exist_ok=True)
        # the same process may enter again
        lock = FileLock(locks / f"{name}.lock", blocking=False, is_singleton=True)
        lock.acquire()
    except Timeout as error:
        raise ConfigurationError(
            f"Another process is at work in {str(folder)!r}: wait for it, stop it, or choose"
            " another --out."
        ) from error
    except (OSError, NotImplementedError):
        return None
    return lock


class Run:
    """The folder of a run, and the paths in it that `FILES` explains."""

    def __init__(self, folder: Path, config: str = CONFIG) -> None:
        """Name the paths; `open` checks and prepares the folder."""
        self.folder = folder
        self.config = folder / config
        self.checkpoints = folder / "checkpoints"
        self.curves = folder / CURVES
        self.best = folder / "best.safetensors"
        self.agent = folder / "agent.safetensors"

    @classmethod
    def open(
        cls,
        folder: Path,
        settings: Mapping[str, Any],
        *,
        resume: bool,
        overwrite: bool,
        files: Mapping[str, str] | None = None,
        kind: str = "",
        config: str = CONFIG,
    ) -> Run:
        """Take a folder for a run; it is created if it does not exist.

        Args:
            folder: The folder.
            settings: JSON values; a resumed run must have the same.
            resume: Continue the run in the folder.
            overwrite: Delete the run in the folder.
            files: Files of this learner beside `FILES`: names or patterns, each with its meaning.
            kind: The command that writes it; the run of another command is not overwritten.
            config: The file of the settings.

        Raises:
            ConfigurationError: The folder can't be used this way; the message says why.
        """
        run = cls(folder, config)
        if resume and overwrite:
            raise ConfigurationError(
                "--resume continues a run, --overwrite deletes it: choose one."
            )
        if resume:
            run._compare(settings)
            return run
        try:
            for half in folder.glob(f".{config}.{'[0-9a-f]' * 16}"):  # killed while it began
                half.unlink()
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                run._clear(overwrite, tuple(files or ()), kind)
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(
                f"Cannot write to {str(folder)!r}: {error.strerror}."
            ) from error
        run.write_json(
            config, {**settings, _KIND: kind, **({_OTHER_FILES: list(files)} if files else {})}
        )
        return run

    def _clear(self, overwrite: bool, files: tuple[str, ...], kind: str) -> None:
        """Delete the run in the folder, if that was asked for, and nothing else."""
        if not self.config.is_file():
            raise ConfigurationError(
                f"{str(self.folder)!r} exists and is not a run: choose another folder with --out."
            )
        if not overwrite:
            raise ConfigurationError(
                f"{str(self.folder)!r} holds a run: continue it with --resume, replace it with"
                " --overwrite, or choose another --out."
            )
        try:
            settings = self._settings()
        except (MonopolyError, ValueError):
            settings = {}
        begun = settings.get(_KIND, "")
        if begun != kind:
            raise ConfigurationError(
                f"{str(self.folder)!r} holds another kind of run, {shortened(begun)} and not"
                f" {kind!r}: choose another --out."
            )
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise ConfigurationError(f"Cannot write to {str(self.folder)!r}: Permission denied.")
        with understood(self.config):
            # nothing outside the folder
            written = [
                name for name in settings.get(_OTHER_FILES, ()) if re.fullmatch(r"\w[\w.*-]*", name)
            ]
        for name in (*FILES, *files, *written):
            for path in (
                *self.folder.glob(name),
                *self.folder.glob(f".{name}.*"),
            ):  # and what was half written when it was killed
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()

    def _settings(self) -> dict[str, Any]:
        """The content of config.json."""
        settings = read_json(read_file(self.config, MOST_CONFIG))
        if not isinstance(settings, dict):
            raise ValueError("it holds no settings")
        return settings

    def _compare(self, settings: Mapping[str, Any]) -> None:
        """Raise unless the run in the folder was begun with the same settings."""
        try:
            begun = self._settings()
        except (MonopolyError, ValueError) as error:
            raise ConfigurationError(
                f"No run to resume in {str(self.folder)!r}: can't read its {self.config.name}."
                f" {str(error).removesuffix('.')}."
            ) from error
        for name in (_KIND, _OTHER_FILES):
            begun.pop(name, None)
        names = [*settings, *(name for name in begun if name not in settings)]
        differences = [
            f"{name} is {_short(settings.get(name))}, was {_short(begun.get(name))}"
            for name in names
            if settings.get(name) != begun.get(name)
        ]
        if differences:
            raise ConfigurationError(
                f"The run in {str(self.folder)!r} was begun with other settings:"
                f" {'; '.join(differences)}."
            )

    def write_json(self, name: str, value: Any) -> None:
        """Write a JSON file into the folder."""
        write_atomically(self.folder / name, json.dumps(value, indent=1).encode())


def _short(value: Any) -> str:
    """A setting in a message; a long one is cut."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
