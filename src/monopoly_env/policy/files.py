"""Saved policies: one `.safetensors` file with numbers and, in its header, a line of JSON.

No code, no pickle.

The format is that of the safetensors library: a length, a JSON header, raw arrays. Reading a file
executes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from monopoly_env.errors import ConfigurationError, FormatError, shortened
from monopoly_env.files import read_file, read_json, understood, write_atomically
from monopoly_env.rules import RULES_VERSION

SUFFIX: Final = ".safetensors"
FORMAT: Final = "monopoly-policy"
FORMAT_VERSION: Final = 1
_KEY: Final = "policy"
_FIELDS: Final = {"kind": str, "name": str, "options": dict}
_LENGTH: Final = 8  # bytes at the beginning of a file that hold the length of its header
_MOST_ABOUT: Final = 1 << 20  # characters of its JSON


def _versions() -> dict[str, Any]:
    """The versions that a file must match. If one differs, its numbers mean something else."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "rules_version": RULES_VERSION,
    }


def write(path: str | Path, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a policy. The file is never half written.

    Args:
        path: The file.
        about: `kind`, `name`, `options` and `encoding` of the policy, as JSON values.
        arrays: Its numbers.

    Raises:
        ConfigurationError: The suffix is not `.safetensors`, or the file cannot be written.
    """
    target = Path(path)
    if target.suffix != SUFFIX:
        raise ConfigurationError(
            f"A policy must be saved to a {SUFFIX} file, not to {str(path)!r}."
        )
    written = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_atomically(target, save(written, {_KEY: json.dumps(_versions() | dict(about))}))


def open_file(
    path: str | Path, key: str, what: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the JSON and the arrays of a `.safetensors` file of any kind.

    Args:
        path: The file.
        key: Under which its header has the JSON.
        what: What messages say it should be.

    Raises:
        FormatError: The file is missing, corrupt, too large, or its header holds no object in JSON.
    """
    named = f"is not {what}, a {SUFFIX} file"
    try:
        data = read_file(path)
    except ConfigurationError as error:
        raise FormatError(f"{str(path)!r} {named}: {error}") from error
    with understood(path, named):
        arrays = load(data)
        header = read_json(data[_LENGTH : _LENGTH + int.from_bytes(data[:_LENGTH], "little")])
        text = header.get("__metadata__", {}).get(key, "{}")
        about = read_json(text) if len(text) <= _MOST_ABOUT else None
    if not isinstance(about, dict):
        raise FormatError(f"{str(path)!r} is not {what}: its header is not an object in JSON.")
    return about, arrays


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the JSON and the arrays of a saved policy.

    Raises:
        FormatError: The file is missing, corrupt, of another kind, or of another version. The
            message says what differs.
    """
    about, arrays = open_file(path, _KEY, "a saved policy")
    differences = [
        f"{name} is {shortened(about.get(name), 300)}, expected {expected!r}"
        for name, expected in _versions().items()
        if about.get(name) != expected
    ]
    differences += [f"{name} is missing" for name in _FIELDS if name not in about]
    differences += [
        f"{name} is {shortened(about[name])}, expected {kind.__name__}"
        for name, kind in _FIELDS.items()
        if name in about and not isinstance(about[name], kind)
    ]
    if differences:
        raise FormatError(f"{str(path)!r} does not match this version: {'; '.join(differences)}.")
    return about, arrays
