"""Records for readers without NumPy: where each field of a dtype lies, as plain data."""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np


class Field(TypedDict):
    """A field of a record.

    Attributes:
        name: Its name; a field of a nested record follows a dot: `rules.board`.
        offset: Bytes from the start of the record.
        type: A letter and the bytes of one number: `i2`, `i4`, `i8`, `f8`, `b1`.
        shape: Dimensions; empty for a single number.
    """

    name: str
    offset: int
    type: str
    shape: list[int]


def layout(dtype: np.dtype[Any], prefix: str = "", start: int = 0) -> list[Field]:
    """The fields of a dtype in order, nested records taken apart. Numbers are little-endian."""
    found: list[Field] = []
    for name, (kind, offset, *_) in (dtype.fields or {}).items():
        if kind.fields:
            found += layout(kind, f"{prefix}{name}.", start + offset)
        else:
            of_one = kind.base.str.lstrip("<|")
            found.append(
                {
                    "name": prefix + name,
                    "offset": start + offset,
                    "type": of_one,
                    "shape": list(kind.shape),
                }
            )
    return found
