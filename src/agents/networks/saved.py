"""What a saved network must match before it plays: the features that it was trained on, and the names and shapes of its arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monopoly_env.encoding import Encoding
from monopoly_env.errors import FormatError
from monopoly_env.policy.protocol import array_differences


def features_digest(encoding: Encoding) -> str:
    """A short hash of the names of an encoding's features, in their order."""
    return hashlib.sha256("\n".join(encoding.names).encode()).hexdigest()[:16]


def check_arrays(policy: str, expected: Mapping[str, NDArray[Any]], given: Mapping[str, NDArray[Any]]) -> None:
    """Check the arrays that a policy of this name is to take over.

    Raises:
        FormatError: Other names, shapes or types than expected, or a number that is not finite.
    """
    if differences := array_differences(expected, given):
        raise FormatError(f"Policy {policy!r}: {differences}.")
    for name, array in given.items():
        if not np.isfinite(array).all():
            raise FormatError(f"Policy {policy!r}: array {name!r} holds a number that is not finite.")
