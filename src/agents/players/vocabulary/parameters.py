"""What a family of scripted policies can be tuned by: a frozen dataclass of numbers that knows unit, range and meaning of each.

The row of numbers that a kernel reads holds the fields in their order; switches are 0 or 1. So a family's kernel names them by
`A, B, C = range(3)`, and a population of tuned policies is an array with a row for each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.policy.protocol import CompiledPolicy, PolicyKernel

SHARE: Final = "share"
RATIO: Final = "ratio"
DOLLARS: Final = "dollars"
ROUNDS: Final = "rounds"
COUNT: Final = "count"


def parameter(default: float, low: float, high: float, unit: str, doc: str) -> Any:
    """A number from `low` to `high`."""
    return field(default=default, metadata={"range": (low, high), "unit": unit, "doc": doc})


def switch(default: bool, doc: str) -> Any:
    """A choice between True and False."""
    return field(default=default, metadata={"unit": "switch", "doc": doc})


@dataclass(frozen=True)
class Parameters:
    """Base of the parameters of a family.

    Attributes:
        MODES: Fields whose numbers are names of modes and no quantities.

    Raises:
        ConfigurationError: A value is no number, or out of its range.
    """

    MODES: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if option.metadata["unit"] == "switch":
                if not isinstance(value, (bool, np.bool_)):
                    raise ConfigurationError(f"Parameter {option.name}={value!r} must be True or False.")
                continue
            low, high = option.metadata["range"]
            number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
            if not number or not math.isfinite(value) or not low <= value <= high:
                unit = option.metadata["unit"]
                raise ConfigurationError(f"Parameter {option.name}={value!r} must be a number from {low:g} to {high:g} ({unit}).")

    @classmethod
    def checked(cls, **values: Any) -> Self:
        """Parameters of these values; an unknown name is an error of ours.

        Raises:
            ConfigurationError: An unknown name; the message says the nearest.
        """
        known = [option.name for option in fields(cls)]
        for name in values:
            if name not in known:
                raise ConfigurationError(f"{cls.__name__} has no parameter {name!r}. {nearest(name, known)}")
        return cls(**values)

    @classmethod
    def quantities(cls) -> dict[str, int]:
        """What may be tuned, neither switches nor modes: names, and their places in the row."""
        return {o.name: place for place, o in enumerate(fields(cls)) if "range" in o.metadata and o.name not in cls.MODES}

    def row(self) -> NDArray[np.float64]:
        """The numbers that the kernel reads."""
        return np.array([float(getattr(self, option.name)) for option in fields(self)])


def family(name: str, kernel: PolicyKernel, kind: type[Parameters], **preset: Any) -> partial[CompiledPolicy]:
    """The factory of a named policy of a family: called with parameters that differ from its preset.

    Args:
        name: What it is registered as.
        kernel: Plays by a row of parameters.
        kind: The family's parameters.
        **preset: Values that differ from the family's defaults.
    """
    return partial(_make, name, kernel, kind, preset)


def _make(name: str, kernel: PolicyKernel, kind: type[Parameters], preset: dict[str, Any], /, **changes: Any) -> CompiledPolicy:
    return CompiledPolicy(name, kernel, kind.checked(**(preset | changes)).row(), reads_mask=False)
