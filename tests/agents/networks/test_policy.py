"""What a saved network must match."""

from __future__ import annotations

import numpy as np
import pytest

from agents.networks.policy import check_arrays, features_digest
from monopoly_env import encoding as encodings
from monopoly_env.errors import FormatError


def test_the_digest_tells_encodings_apart() -> None:
    digests = {features_digest(encodings.make(name, 2)) for name in encodings.NAMES}
    assert len(digests) == len(encodings.NAMES)
    assert features_digest(encodings.make("standard", 3)) not in digests


def test_other_arrays_are_refused() -> None:
    expected = {"a.weight": np.zeros((2, 3), np.float32)}
    check_arrays("Policy 'mine'", expected, {"a.weight": np.ones((2, 3), np.float32)})
    for given, reason in (
        ({}, "array 'a.weight' is missing"),
        (
            {"a.weight": np.zeros((3, 2), np.float32)},
            r"is float32 \(3, 2\), expected float32 \(2, 3\)",
        ),
        ({"a.weight": np.full((2, 3), np.inf, np.float32)}, "holds a number that is not finite"),
    ):
        with pytest.raises(FormatError, match=f"Policy 'mine': .*{reason}"):
            check_arrays("Policy 'mine'", expected, given)


def test_an_error_names_the_first_differences() -> None:
    expected = {f"{name}.bias": np.zeros(2, np.float32) for name in "abcdefgh"}
    with pytest.raises(
        FormatError, match=r"'a.bias' is missing; .*'c.bias' is missing; and 5 more\.$"
    ):
        check_arrays("Policy 'mine'", expected, {})
