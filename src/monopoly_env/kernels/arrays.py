"""Arrays inside kernels: borrowed without reference counting, or on the stack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numba import types
from numba.core.cgutils import alloca_once, unpack_tuple
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array

Arrays = TypeVar("Arrays")


def borrowed(arrays: Arrays) -> Arrays:
    """The same array, or tuple of arrays and numbers, without reference counting.

    Numba counts references to an array's owner with atomic operations, which take a third of the
    time of a game on one thread and half of it on two. Use this on arguments only, since the caller
    keeps them alive. A local array is freed after its last use, even if it is still borrowed.
    """
    return arrays


@overload(borrowed, strict=False)  # type: ignore[untyped-decorator]  # Numba's; not strict: a lambda has no annotations
def _borrowed(arrays: Any) -> Callable[[Any], Any]:
    return lambda arrays: _without_owners(arrays)  # noqa: PLW0108 - Numba takes functions of Python only


@intrinsic  # type: ignore[untyped-decorator]  # Numba's
def _without_owners(_: Any, arrays: Any) -> tuple[Any, Callable[..., Any]]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _strip(context, builder, arrays, arguments[0])

    return arrays(arrays), generate


def _strip(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Machine code for a value of this type whose arrays have no owner."""
    if isinstance(kind, types.Array):
        view = context.make_helper(builder, kind, value)
        view.meminfo, view.parent = view.meminfo.type(None), view.parent.type(None)
        return view._getvalue()
    if isinstance(kind, types.BaseTuple):
        items = zip(kind, unpack_tuple(builder, value), strict=True)
        return context.make_tuple(
            builder, kind, [_strip(context, builder, part, item) for part, item in items]
        )
    # no effect on a number; otherwise one more reference, since the result will be released too
    context.nrt.incref(builder, kind, value)
    return value


def on_stack(count: int, dtype: Any) -> Any:
    """An array of unwritten numbers on the stack of a kernel: scratch in a hot loop.

    An array from `np.empty` costs as much as a hundred additions. This one is gone when the kernel
    returns: it must not be returned.

    Args:
        count: How many numbers; a constant, of a few thousand bytes at the most.
        dtype: Their type.
    """
    return np.empty(count, dtype)


# Part of the caller: the array of a function of its own would be gone when it returns.
@overload(on_stack, inline="always", prefer_literal=True, strict=False)  # type: ignore[untyped-decorator]  # Numba's
def _on_stack(count: Any, dtype: Any) -> Callable[..., Any]:
    del count, dtype
    return lambda count, dtype: _reserve(count, dtype)  # noqa: PLW0108 - Numba takes functions of Python only


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]  # Numba's
def _reserve(_: Any, count: Any, dtype: Any) -> tuple[Any, Callable[..., Any]]:
    if not isinstance(count, types.IntegerLiteral):
        raise numba.errors.RequireLiteralValue(
            "on_stack: the count must be a constant of the module, or a number."
        )
    kind = types.Array(dtype.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del signature, arguments
        number = context.get_data_type(kind.dtype)
        array = make_array(kind)(context, builder)
        size = context.get_constant(types.intp, context.get_abi_sizeof(number))
        place = alloca_once(builder, number, size=count.literal_value)
        shape = [context.get_constant(types.intp, count.literal_value)]
        populate_array(array, data=place, shape=shape, strides=[size], itemsize=size, meminfo=None)
        return array._getvalue()

    return kind(count, dtype), generate
