"""Options with named values, as fields of a frozen dataclass.

The first value is the default, kernels read its number.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from monopoly_env.errors import MonopolyError, nearest, shortened


def choice(doc: str, *choices: str) -> Any:
    """A field with named values; the first is the default."""
    return dataclasses.field(default=choices[0], metadata={"doc": doc, "choices": choices})


def choices_of(kind: type, option: str) -> tuple[str, ...]:
    """The values of an option; the index of a value is its number."""
    fields: Any = dataclasses.fields(kind)
    return tuple(next(field.metadata["choices"] for field in fields if field.name == option))


def check_names(kind: Any, given: Any, error: type[MonopolyError]) -> None:
    """Raise unless all these names are options of a dataclass."""
    known = [option.name for option in dataclasses.fields(kind)]
    for name in given:
        if name not in known:
            hint = nearest(name, known) if known else "There are none."
            raise error(f"Unknown option {shortened(name)} of {kind.__name__}. {hint}")


def check_choices(options: Any, error: type[MonopolyError]) -> None:
    """Raise unless every option with named values has one of them."""
    for option in dataclasses.fields(options):
        value, choices = getattr(options, option.name), option.metadata.get("choices")
        if choices and (not isinstance(value, str) or value not in choices):
            raise error(
                f"Option {option.name}={shortened(value)} is unknown."
                f" {nearest(shortened(value), choices)}"
            )


def numbers(options: Any) -> list[int]:
    """The numbers of all named values, in the order of the fields."""
    named = [option for option in dataclasses.fields(options) if "choices" in option.metadata]
    return [option.metadata["choices"].index(getattr(options, option.name)) for option in named]
