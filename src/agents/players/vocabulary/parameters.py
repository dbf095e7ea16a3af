"""Parameters of a family of policies: a frozen dataclass of numbers, each with its unit and range.

The string under a field is its meaning. The row that a kernel reads holds the fields in their
order, switches as 0 or 1. `columns()` gives the position of each by name: after `AT =
Friedman.columns()`, a kernel reads `params[AT.reserve]`. A population of tuned policies is an array
with a row for each.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections import namedtuple
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.policy.protocol import CompiledPolicy, PolicyKernel

Unit = Literal["share", "ratio", "dollars", "rounds", "count", "groups"]


def parameter(default: float, low: float, high: float, unit: Unit) -> Any:
    """A field that holds a number from `low` to `high`."""
    return field(default=default, metadata={"range": (low, high), "unit": unit})


def switch(default: bool) -> Any:
    """A field that is True or False."""
    return field(default=default, metadata={"unit": "switch"})


@dataclass(frozen=True)
class Parameters:
    """Base class for the parameters of a family.

    Attributes:
        MODES: Fields whose numbers name a mode and are not quantities.

    Raises:
        ConfigurationError: A value is not a number, or is out of its range.
    """

    MODES: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            unit = option.metadata["unit"]
            if unit == "switch":
                if not isinstance(value, (bool, np.bool_)):
                    raise ConfigurationError(
                        f"Parameter {option.name}={value!r} must be True or False."
                    )
                continue
            low, high = option.metadata["range"]
            number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(
                value, bool
            )
            if not number or not math.isfinite(value) or not low <= value <= high:
                raise ConfigurationError(
                    f"Parameter {option.name}={value!r} must be a number from {low:g} to {high:g}"
                    f" ({unit})."
                )

    @classmethod
    def checked(cls, **values: Any) -> Self:
        """Parameters with these values.

        Raises:
            ConfigurationError: A name is unknown (the message gives the nearest one), or a value is
                wrong.
        """
        known = [option.name for option in fields(cls)]
        for name in values:
            if name not in known:
                raise ConfigurationError(
                    f"{cls.__name__} has no parameter {name!r}. {nearest(name, known)}"
                )
        return cls(**values)

    @classmethod
    def of_numbers(cls, **numbers: float) -> Self:
        """As `checked`, but the numbers 0 and 1 turn a switch off and on."""
        switches = {option.name for option in fields(cls) if option.metadata["unit"] == "switch"}
        return cls.checked(
            **{
                name: bool(number) if name in switches and number in (0, 1) else number
                for name, number in numbers.items()
            }
        )

    @classmethod
    def columns(cls) -> Any:
        """The position of each field in the row: a namedtuple of compile-time constants."""
        names = [option.name for option in fields(cls)]
        return cast(Any, namedtuple)(f"{cls.__name__}Columns", names)(*range(len(names)))

    @classmethod
    def meanings(cls) -> dict[str, str]:
        """The string under each field by name, read from the source."""
        found = {}
        for kind in (kind for kind in reversed(cls.__mro__) if issubclass(kind, Parameters)):
            source: Any = ast.parse(inspect.cleandoc(inspect.getsource(kind))).body[0]
            for above, below in pairwise(source.body):
                if isinstance(above, ast.AnnAssign) and isinstance(below, ast.Expr):
                    found[ast.unparse(above.target)] = " ".join(
                        ast.literal_eval(below.value).split()
                    )
        return found

    @classmethod
    def quantities(cls) -> dict[str, int]:
        """The fields that can be tuned, neither switches nor modes, with their positions."""
        return {
            option.name: place
            for place, option in enumerate(fields(cls))
            if "range" in option.metadata and option.name not in cls.MODES
        }

    @classmethod
    def fault_of(cls, row: NDArray[np.float64]) -> str:
        """The first fault of a row of these parameters; empty: there is none."""
        names = [option.name for option in fields(cls)]
        try:
            cls.of_numbers(**dict(zip(names, row.tolist(), strict=True)))
        except ConfigurationError as error:
            return str(error).removesuffix(".")
        return ""

    def row(self) -> NDArray[np.float64]:
        """The float64 numbers that the kernel reads, in the order of the fields."""
        return np.array([float(getattr(self, option.name)) for option in fields(self)])


class ScriptedPolicy(CompiledPolicy):
    """A policy of a family: its row holds its parameters, whose class is `family`."""

    def __init__(self, name: str, kernel: PolicyKernel, parameters: Parameters) -> None:
        """Make the policy of a name that plays by these parameters."""
        super().__init__(name, kernel, parameters.row(), reads_mask=False)
        self.family = type(parameters)

    def shown(self) -> Mapping[str, Any]:
        """The parameters that differ from the defaults of the family."""
        known = zip(fields(self.family), self.params.tolist(), strict=True)
        return {
            option.name: value == 1
            if option.metadata["unit"] == "switch"
            else int(value)
            if value.is_integer()
            else value
            for option, value in known
            if value != option.default
        }

    def fault_of(self, row: NDArray[np.float64]) -> str:
        """The first parameter of a row from a file that is out of its range."""
        return self.family.fault_of(row)

    def varied(self, deviation: float, generator: np.random.Generator) -> ScriptedPolicy:
        """A variant: each quantity times exp(deviation z), z standard normal, within its range."""
        other = copy(self)
        other.params = self.params.copy()
        for place in self.family.quantities().values():
            low, high = fields(self.family)[place].metadata["range"]
            other.params[place] = np.clip(
                self.params[place] * np.exp(deviation * generator.standard_normal()), low, high
            )
        return other


def named(
    kernel: PolicyKernel, kind: type[Parameters], presets: Mapping[str, Mapping[str, Any]]
) -> dict[str, partial[ScriptedPolicy]]:
    """The factories of policies by name; they take parameters that differ from the preset.

    Args:
        kernel: Plays by a row of parameters.
        kind: The parameters of the family.
        presets: By name, what differs from the defaults of the family.
    """
    return {name: partial(_make, name, kernel, kind, preset) for name, preset in presets.items()}


def _make(
    name: str,
    kernel: PolicyKernel,
    kind: type[Parameters],
    preset: Mapping[str, Any],
    /,
    **changes: Any,
) -> ScriptedPolicy:
    return ScriptedPolicy(name, kernel, kind.checked(**{**preset, **changes}))
