"""Saved networks of values.

Each is one safetensors file with the weights, and a line of JSON that says what they were taught
from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save as packed

from agents.networks.layout import zeros
from agents.values.features import DIGEST, MOST_PLAYERS
from agents.values.network import ARCHITECTURE, by_network
from monopoly_env.analyse.values import Value
from monopoly_env.errors import ConfigurationError, FormatError, nearest, shortened
from monopoly_env.files import write_atomically
from monopoly_env.policy import files
from monopoly_env.policy.protocol import array_differences
from monopoly_env.rules import RULES_VERSION

FORMAT: Final = "monopoly-value"
FORMAT_VERSION: Final = 1
SHIPPED: Final = {"best": Path(__file__).with_name("best.safetensors")}
_KEY: Final = "value"


def _versions() -> dict[str, Any]:
    """What a file must match. If it differs, the weights mean something else."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "rules_version": RULES_VERSION,
        "features": DIGEST,
    }


def names() -> tuple[str, ...]:
    """The names of the networks that come with the library."""
    return tuple(SHIPPED)


def make(name: str | Path = "best") -> Value:
    """A value by name.

    Args:
        name: One of `names()`, or a saved network (.safetensors).

    Raises:
        ConfigurationError: The name is unknown.
        FormatError: The file can't be read, or does not match this version.
    """
    if isinstance(name, str) and name in SHIPPED:
        return load(SHIPPED[name], name)
    if not isinstance(name, (str, Path)) or Path(name).suffix != files.SUFFIX:
        raise ConfigurationError(
            f"Unknown value {shortened(name)}: give a {files.SUFFIX} file, or a name."
            f" {nearest(name, names())}"
        )
    return load(name)


def save(path: str | Path, arrays: Mapping[str, NDArray[Any]], taught: Mapping[str, Any]) -> None:
    """Write a network. The file is never half written.

    Args:
        path: The file, .safetensors.
        arrays: Weights and biases, named as `ARCHITECTURE.shapes()` says.
        taught: What it was taught from, as JSON values: rules, players, policies, games.

    Raises:
        ConfigurationError: The suffix is not `.safetensors`, or the file cannot be written.
        FormatError: Other arrays than those of the architecture, or a number that is not finite.
    """
    target = Path(path)
    if target.suffix != files.SUFFIX:
        raise ConfigurationError(
            f"A value must be saved to a {files.SUFFIX} file, not to {str(path)!r}."
        )
    _check(path, arrays)
    written = {name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()}
    write_atomically(
        target, packed(written, {_KEY: json.dumps(_versions() | {"taught": dict(taught)})})
    )


def load(path: str | Path, name: str | None = None) -> Value:
    """Read a network.

    Args:
        path: The file.
        name: What messages call it; by default its path.

    Raises:
        FormatError: The file is missing, corrupt, of another kind or of another version. The
            message says what differs.
    """
    about, arrays = read(path)
    return Value(
        name or str(path), by_network, ARCHITECTURE.pack(arrays), MOST_PLAYERS, about["taught"]
    )


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, NDArray[np.float32]]]:
    """Read the JSON and the arrays of a file; raises as `load` does."""
    about, arrays = files.open_file(path, _KEY, "a saved network of values")
    wanted = _versions() | {
        "taught": about.get("taught") if isinstance(about.get("taught"), dict) else {}
    }
    differences = [
        f"{key} is {shortened(about.get(key))}, expected {value!r}"
        for key, value in wanted.items()
        if about.get(key) != value
    ]
    if differences:
        raise FormatError(
            f"{str(path)!r} does not match this version: {'; '.join(differences)}. `python -m"
            " training.values` trains another."
        )
    _check(path, arrays)
    return about, arrays


def _check(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Check names, shapes, types and numbers of the arrays."""
    expected = zeros({"": ARCHITECTURE})
    problem = array_differences(expected, arrays)
    if not problem and not all(np.isfinite(array).all() for array in arrays.values()):
        problem = "an array holds a number that is not finite"
    if problem:
        raise FormatError(f"{str(path)!r}: {problem}.")
