"""Checkpoints: the complete state of a run at a step, in a folder that exists whole or not at all.

Arrays and JSON, no pickles.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError
from monopoly_env.files import open_file, read_file, read_json, understood

KEPT: Final = 3  # checkpoints; older ones are deleted
MOST_ARRAYS: Final = 1 << 32  # bytes of an npz file, uncompressed
_MOST_PART: Final = 1 << 36  # the same of a checkpoint, which may hold a whole replay buffer
_STATE: Final = "state.json"
_ASIDE: Final = ".old-"
# of compression: observations are mostly zeros, and a run should not wait for the disk
_LEVEL: Final = 1

Parts = Mapping[str, Mapping[str, NDArray[Any]]]


def write(folder: Path, step: int, parts: Parts, state: Mapping[str, Any]) -> Path:
    """Write a checkpoint and delete the oldest ones beyond KEPT.

    Args:
        folder: Of all checkpoints of the run.
        step: The step that it is named after.
        parts: Arrays by name, one file per part.
        state: JSON values.

    Raises:
        ConfigurationError: It can't be written: no permission, or the disk is full.
    """
    target, temporary = folder / f"step-{step:012d}", folder / f".step-{step:012d}"
    try:
        for left in folder.glob(".step-*"):  # by a run that was killed while writing
            shutil.rmtree(left)
        temporary.mkdir(parents=True)
        for name, arrays in parts.items():
            _write_arrays(temporary / f"{name}.npz", arrays)
        (temporary / _STATE).write_text(json.dumps(dict(state), indent=1))
        aside = _aside(target)
        shutil.rmtree(aside, ignore_errors=True)
        if target.exists():
            os.replace(target, aside)
        os.replace(temporary, target)
        shutil.rmtree(aside, ignore_errors=True)
        for old in paths(folder)[:-KEPT]:
            shutil.rmtree(old)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise ConfigurationError(
            f"Cannot write checkpoint {str(target)!r}: {error.strerror}. Fix that, then --resume."
        ) from error
    return target


def _aside(target: Path) -> Path:
    """Where a checkpoint waits until another one of the same step is in its place."""
    return target.with_name(_ASIDE + target.name)


def paths(folder: Path) -> list[Path]:
    """The checkpoints of a run, oldest first."""
    return sorted(folder.glob("step-*"))


def read_last(folder: Path) -> tuple[dict[str, dict[str, NDArray[Any]]], dict[str, Any]]:
    """The parts and the state of the last checkpoint; empty if there is none yet.

    Raises:
        FormatError: It is damaged.
    """
    for aside in folder.glob(
        f"{_ASIDE}*"
    ):  # left by a run that was killed while it wrote the same step anew
        target = folder / aside.name.removeprefix(_ASIDE)
        if target.exists():
            shutil.rmtree(aside)
        else:
            os.replace(aside, target)
    there = paths(folder)
    if not there:
        return {}, {}
    last = there[-1]
    with understood(last, advice="Remove it to resume from the one before."):
        state = read_json(read_file(last / _STATE))
        if not isinstance(state, dict):
            raise ValueError(f"{_STATE} is not an object in JSON")
        parts = {}
        for path in sorted(last.glob("*.npz")):
            with open_file(path) as stream:
                parts[path.stem] = arrays_of(stream, _MOST_PART)
    return parts, state


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to an npz file that exists whole or not at all; raises as `write` does."""
    temporary = path.with_name(f".{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_arrays(temporary, arrays)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ConfigurationError(
            f"Cannot write {str(path)!r}: {error.strerror}. Fix that, then --resume."
        ) from error


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an npz file.

    Raises:
        ConfigurationError: There is no such file.
        FormatError: It is damaged or too large.
    """
    with understood(path, "can't be read"), open_file(path) as stream:
        return arrays_of(stream)


def arrays_of(stream: IO[bytes], most: int = MOST_ARRAYS) -> dict[str, NDArray[Any]]:
    """The arrays of an open npz file of at most so many bytes, uncompressed.

    If it is damaged, an error of any kind is raised.
    """
    if not zipfile.is_zipfile(stream):  # NumPy would advise to load it unsafely
        raise ValueError("it is no npz file, or it is cut off")
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as file:
        claimed = sum(entry.file_size for entry in file.zip.infolist())
        if claimed > most:
            raise ValueError(f"it claims {claimed:,} bytes; {most:,} are the most")
        arrays = dict(file)
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise ValueError("it holds something else than arrays")
    return arrays


def _write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """An npz file, as np.savez_compressed writes it but four times as fast.

    Populations of float64 genes, which do not shrink, are written 15 times as fast.
    """
    with zipfile.ZipFile(path, "w", compresslevel=_LEVEL) as archive:
        for name, array in arrays.items():
            archive.compression = (
                zipfile.ZIP_STORED if array.dtype == np.float64 else zipfile.ZIP_DEFLATED
            )
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
