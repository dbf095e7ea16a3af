"""Saved policies: one `.safetensors` file with numbers and, in its header, a line of JSON.

No code, no pickle.

The format is that of the safetensors library: a length, a JSON header, raw arrays. Reading a file
executes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from monopoly_env.errors import ConfigurationError, FormatError, shortened
from monopoly_env.files import read_json, read_saved, understood, write_atomically
from monopoly_env.rules import RULES_VERSION

SUFFIX: Final = ".safetensors"
# A file must match these; if one differs, its numbers mean something else
VERSIONS: Final[dict[str, Any]] = {
    "format": "monopoly-policy",
    "format_version": 1,
    "rules_version": RULES_VERSION,
}
_KEY: Final = "policy"
_FIELDS: Final = {"kind": str, "name": str, "options": dict}
_LENGTH: Final = 8  # bytes at the beginning of a file that hold the length of its header
_MOST_ABOUT: Final = 1 << 20  # characters of its JSON


def write(path: str | Path, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a policy. The file is never half written.

    Args:
        path: The file.
        about: `kind`, `name`, `options` and `encoding` of the policy, as JSON values.
        arrays: Its numbers.

    Raises:
        ConfigurationError: The suffix is not `.safetensors`, or the file cannot be written.
    """
    write_arrays(path, _KEY, "A policy", VERSIONS | dict(about), arrays)


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the JSON and the arrays of a saved policy.

    Raises:
        FormatError: The file is missing, corrupt, of another kind, or of another version. The
            message says what differs.
    """
    return read_arrays(path, _KEY, "a saved policy", VERSIONS | _FIELDS)


def write_arrays(
    path: str | Path, key: str, what: str, about: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write arrays and JSON to a `.safetensors` file of any kind; `what` begins an error."""
    target = Path(path)
    if target.suffix != SUFFIX:
        raise ConfigurationError(f"{what} must be saved to a {SUFFIX} file, not to {str(path)!r}.")
    written = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_atomically(target, save(written, {key: json.dumps(dict(about))}))


def read_arrays(
    path: str | Path, key: str, what: str, wanted: Mapping[str, Any], remedy: str = ""
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the JSON and the arrays of a `.safetensors` file of any kind.

    Args:
        path: The file.
        key: The key of the JSON in its header.
        what: The kind of file, for messages.
        wanted: Values that the JSON must have, or their types.
        remedy: A sentence for files of another version.

    Raises:
        FormatError: The file is missing, corrupt or too large, its header holds no object in JSON,
            or the object is not as wanted.
    """
    named = f"is not {what}, a {SUFFIX} file"
    data = read_saved(path, what=named)
    with understood(path, named):
        arrays = load(data)
        header = read_json(data[_LENGTH : _LENGTH + int.from_bytes(data[:_LENGTH], "little")])
        text = header.get("__metadata__", {}).get(key, "{}")
        about = read_json(text) if len(text) <= _MOST_ABOUT else None
    if not isinstance(about, dict):
        raise FormatError(f"{str(path)!r} is not {what}: its header is not an object in JSON.")
    if differences := list(_differences(about, wanted)):
        raise FormatError(
            f"{str(path)!r} does not match this version: {'; '.join(differences)}.{remedy}"
        )
    return about, arrays


def _differences(about: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    for name, expected in wanted.items():
        given = about.get(name)
        if not isinstance(expected, type):
            if given != expected:
                yield f"{name} is {shortened(given, 300)}, expected {expected!r}"
        elif name not in about:
            yield f"{name} is missing"
        elif not isinstance(given, expected):
            yield f"{name} is {shortened(given)}, expected {expected.__name__}"
