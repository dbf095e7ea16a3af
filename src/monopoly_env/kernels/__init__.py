"""How rules are compiled: `kernel` for internal functions, `entry` for those that Python calls.

Every rule is a plain Python function on one record. Numba compiles it on first use, and the code
is kept on disk, in a folder named by a hash of its sources (`sources`). `linking` compiles kernels
to code that its callers take in; with a Numba that it does not fit, `plain` takes its place.

With `NUMBA_DISABLE_JIT=1` the decorators return the function unchanged.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final, TypeVar

import numba
from numba.core.event import TimingListener
from numba.core.event import register as register_listener

from monopoly_env.kernels import plain
from monopoly_env.kernels.arrays import borrowed, on_stack
from monopoly_env.kernels.sources import register_package

__all__ = ["borrowed", "clock", "entry", "inlined", "kernel", "on_stack", "register_package"]

Function = TypeVar("Function", bound=Callable[..., Any])

# nogil: slices of a batch run on a thread pool. numpy error model: no hidden branch for division by
# zero.
_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy"}
_LINKING_FITS: Final = (0, 61), (0, 69)  # from this version of Numba up to, but without, that


def _compiler() -> ModuleType:
    """The module that compiles, for this version of Numba."""
    try:
        low, high = _LINKING_FITS
        if not low <= tuple(map(int, numba.__version__.split(".")[:2])) < high:
            raise ImportError("it was not tested with it")
        from monopoly_env.kernels import linking
    except (ImportError, AttributeError, ValueError) as error:
        warnings.warn(
            f"Numba {numba.__version__} has other internals than this version of monopoly_env"
            f" expects ({error}). Kernels compile more slowly.",
            stacklevel=2,
        )
        return plain
    return linking


_COMPILER: Final[Any] = _compiler()


def kernel(function: Function) -> Function:
    """Compile an internal function on first use, and only once.

    All integer arguments become 64 bits wide.

    Its compiled callers take it in as code (`linking`). Only if Python calls it too, it gets
    machine code of its own.
    """
    if numba.config.DISABLE_JIT:
        return function
    return _COMPILER.kernel(function, **_OPTIONS)  # type: ignore[no-any-return]


def inlined(function: Function) -> Function:
    """Compile a function into each kernel that calls it.

    For a short function in a hot loop that takes arrays.

    A call counts the references to each array that it passes, even to one that is `borrowed`. For
    the ten arrays of a game loop that costs as much as half a random decision.
    """
    return numba.njit(inline="always", **_OPTIONS)(function)  # type: ignore[no-any-return]


def entry(*signature: Any, **options: Any) -> Callable[[Function], Function]:
    """Compile a function on first use and keep its machine code on disk.

    Args:
        signature: A Numba signature. Only callbacks need one, because they are called through a
            pointer.
        **options: Further options of Numba.
    """

    def decorate(function: Function) -> Function:
        if numba.config.DISABLE_JIT:
            return function
        return _COMPILER.entry(function, signature, **_OPTIONS, **options)  # type: ignore[no-any-return]

    return decorate


_compiling: Final = TimingListener()
register_listener("numba:compiler_lock", _compiling)


def clock() -> float:
    """Seconds like `time.perf_counter`, without those in which code was compiled or loaded."""
    return time.perf_counter() - (_compiling.duration if _compiling.done else 0.0)
