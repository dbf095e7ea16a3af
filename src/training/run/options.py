"""The settings of a run: numbers in their ranges, and what of them shapes the result."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError
from monopoly_env.rules import RULES_VERSION

FREE: Final = ("out", "resume", "overwrite", "json")  # where a run lies and how it is told: nothing of the result


def check_ranges(options: Any, ranges: Mapping[str, tuple[float, float]]) -> None:
    """Check numbers of a dataclass of options.

    Args:
        options: Its fields are numbers, tuples of numbers, or None, which stands for a default.
        ranges: From and to by the name of a field; both are allowed.

    Raises:
        ConfigurationError: A number out of its range.
    """
    for name, (low, high) in ranges.items():
        given = getattr(options, name)
        numbers = given if isinstance(given, tuple) else () if given is None else (given,)
        if not all(low <= value <= high for value in numbers):
            wanted = f"{low:,} or more" if high == math.inf else f"from {low:,} to {high:,}"
            raise ConfigurationError(f"--{name.replace('_', '-')} must be {wanted}, not {given}.")


def digest(numbers: NDArray[Any]) -> str:
    """What stands for an array among the settings: 16 hexadecimal digits."""
    return hashlib.sha256(np.ascontiguousarray(numbers).tobytes()).hexdigest()[:16]


def shaping(options: Any, free: Sequence[str] = FREE, **more: Any) -> dict[str, Any]:
    """The settings that shape the result, as JSON has them, and the version of the rules: a resumed run must have the same.

    Args:
        options: A dataclass.
        free: Its fields that do not shape the result.
        **more: What else does.
    """
    values = {name: value for name, value in dataclasses.asdict(options).items() if name not in free}
    return dict(json.loads(json.dumps(values | {"rules_version": RULES_VERSION} | more)))
