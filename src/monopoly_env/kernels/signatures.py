"""Argument types of compiled functions, as their annotations state them.

    @entry
    def play(games: Games, memory: Array3[np.float64], limit: int) -> int: ...

Integers are 64 bits wide, floats are float64. A named tuple is the tuple of its fields. An alias of
records says which they are: `Games = Annotated[NDArray[Any], Records(GAME)]`.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)
Array1: TypeAlias = Annotated[NDArray[Scalar], 1]
Array2: TypeAlias = Annotated[NDArray[Scalar], 2]
Array3: TypeAlias = Annotated[NDArray[Scalar], 3]

_NUMBERS: dict[Any, str] = {int: "i8", float: "f8", bool: "b1"}


class Records(NamedTuple):
    """The metadata of an annotated array of records; with `ndim` 0, of one record."""

    dtype: np.dtype[Any]
    ndim: int = 1


class ArgumentType(NamedTuple):
    """The type of an argument.

    Attributes:
        dtype: Of a number, of the elements of an array, or of a record; None for a tuple, and for
            the result of a function that returns nothing.
        ndim: Dimensions of an array; 0: a number or a record.
        parts: The types of a tuple's items.
        tuple_type: The class of a named tuple, or `tuple`.
    """

    dtype: np.dtype[Any] | None
    ndim: int = 0
    parts: tuple[ArgumentType, ...] = ()
    tuple_type: type | None = None


class Signature(NamedTuple):
    """The types of a function's arguments and of its result."""

    arguments: tuple[ArgumentType, ...]
    result: ArgumentType


def signature(function: Callable[..., Any]) -> Signature:
    """Read the types of a function's arguments and result from its annotations.

    Raises:
        TypeError: An annotation does not say what machine code needs to know.
    """
    try:
        hints = typing.get_type_hints(function, include_extras=True)
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        result = hints.get("return", type(None))
        return Signature(
            tuple(_type_of(hints[name]) for name in names),
            ArgumentType(None) if result is type(None) else _type_of(result),
        )
    except (TypeError, NameError, KeyError) as error:
        where = f"{function.__module__}.{function.__qualname__}"
        raise TypeError(f"{where}: its annotations do not state its types: {error}.") from error


def _type_of(hint: Any) -> ArgumentType:
    if hint in _NUMBERS:
        return ArgumentType(np.dtype(_NUMBERS[hint]))
    if get_origin(hint) is Annotated:
        array, about = get_args(hint)
        if isinstance(about, Records):
            return ArgumentType(about.dtype, about.ndim)
        if isinstance(about, int):
            given = get_args(array)[
                -1
            ]  # of ndarray[shape, dtype[scalar]]; of NumPy 2.5 NDArray[scalar]
            return ArgumentType(np.dtype((*get_args(given), given)[0]), about)
    if get_origin(hint) is tuple:
        return ArgumentType(None, parts=tuple(map(_type_of, get_args(hint))), tuple_type=tuple)
    if isinstance(hint, type) and issubclass(hint, tuple):
        if columns := getattr(hint, "TYPES", None):  # of rows; kernels know no float16
            kinds = (
                ArgumentType(_without_halves(dtype), 1 + len(shape)) for dtype, *shape in columns
            )
            return ArgumentType(None, parts=tuple(kinds), tuple_type=hint)
        fields = typing.get_type_hints(hint, include_extras=True)
        return ArgumentType(None, parts=tuple(map(_type_of, fields.values())), tuple_type=hint)
    raise TypeError(f"{hint!r} is no number, record, array of known dimensions, or tuple of those")


def _without_halves(dtype: Any) -> np.dtype[Any]:
    return np.dtype(np.uint16) if np.dtype(dtype) == np.float16 else np.dtype(dtype)
