"""Checkpoints: the state of a run at a step, in a folder that exists whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError
from monopoly_env.files import open_file, read_file, read_json, understood
from monopoly_env.files.arrays import arrays_of, savez

KEPT: Final = 3  # checkpoints; older ones are deleted
_MOST_PART: Final = 1 << 36  # bytes of its arrays: it may hold a whole replay buffer
_STATE: Final = "state.json"
_ASIDE: Final = ".old-"

Parts = Mapping[str, Mapping[str, NDArray[Any]]]


def write(folder: Path, step: int, parts: Parts, state: Mapping[str, Any]) -> Path:
    """Write the checkpoint of a step, a file of arrays a part, and delete the oldest beyond KEPT.

    Raises:
        ConfigurationError: It can't be written: no permission, or the disk is full.
    """
    target, temporary = folder / f"step-{step:012d}", folder / f".step-{step:012d}"
    try:
        for left in folder.glob(".step-*"):  # by a run that was killed while writing
            shutil.rmtree(left)
        temporary.mkdir(parents=True)
        for name, arrays in parts.items():
            savez(temporary / f"{name}.npz", arrays)
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
    # left by a run that was killed while it wrote the same step anew
    for aside in folder.glob(f"{_ASIDE}*"):
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
