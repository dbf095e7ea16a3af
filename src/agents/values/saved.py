"""Saved value networks: a safetensors file of weights, and JSON about the training games."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.networks.layout import zeros
from agents.networks.policy import check_arrays
from agents.values.features import DIGEST, MOST_PLAYERS
from agents.values.network import ARCHITECTURE, by_network
from monopoly_env.analyse.values import Value
from monopoly_env.errors import ConfigurationError, nearest, shortened
from monopoly_env.policy import files
from monopoly_env.rules import RULES_VERSION

SHIPPED: Final = {"best": Path(__file__).with_name("best.safetensors")}
# A file with other versions holds weights of another meaning
VERSIONS: Final[dict[str, Any]] = {
    "format": "monopoly-value",
    "format_version": 1,
    "rules_version": RULES_VERSION,
    "features": DIGEST,
}
_KEY: Final = "value"
_REMEDY: Final = " `python -m training.values` trains another."


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


def save(path: str | Path, arrays: Mapping[str, NDArray[Any]], games: Mapping[str, Any]) -> None:
    """Write a network. The file is never half written.

    Args:
        path: The file, .safetensors.
        arrays: Weights and biases, named as `ARCHITECTURE.shapes()` says.
        games: The training games, as JSON values: rules, players, policies, games.

    Raises:
        ConfigurationError: The suffix is not `.safetensors`, or the file cannot be written.
        FormatError: The arrays do not match the architecture, or a number is not finite.
    """
    check_arrays(repr(str(path)), zeros({"": ARCHITECTURE}), arrays)
    written = {name: np.asarray(array, np.float32) for name, array in arrays.items()}
    files.write_arrays(path, _KEY, "A value", VERSIONS | {"trained_on": dict(games)}, written)


def load(path: str | Path, name: str | None = None) -> Value:
    """Read a network.

    Args:
        path: The file.
        name: Its name in messages; by default its path.

    Raises:
        FormatError: The file is missing, corrupt, of another kind or of another version.
    """
    about, arrays = read(path)
    return Value(
        name or str(path), by_network, ARCHITECTURE.pack(arrays), MOST_PLAYERS, about["trained_on"]
    )


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, NDArray[np.float32]]]:
    """Read the JSON and the arrays of a file; raises as `load` does."""
    wanted = VERSIONS | {"trained_on": dict}
    about, arrays = files.read_arrays(path, _KEY, "a saved network of values", wanted, _REMEDY)
    check_arrays(repr(str(path)), zeros({"": ARCHITECTURE}), arrays)
    return about, arrays
