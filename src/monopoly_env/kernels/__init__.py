"""How rules are compiled: `kernel` for internal functions, `entry` for those that Python calls.

Every rule is a plain Python function on one record. Who runs it:

- the library that came with the package, compiled ahead of time (`library`), where the sources are
  those that it was built from;
- else Numba, which the extra `jit` installs: it compiles a function when it is first called and
  keeps the code on disk, in a folder named by a hash of its sources (`jit`);
- with `NUMBA_DISABLE_JIT=1`, Python.

All give the same bits. `MONOPOLY_ENV_COMPILED=0` leaves the library aside.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any, Final, TypeVar

import numpy as np

from monopoly_env.cli.extras import extra
from monopoly_env.kernels import library
from monopoly_env.kernels.signatures import signature
from monopoly_env.kernels.sources import register_package

__all__ = [
    "PLAIN", "borrowed", "clock", "entry", "generator", "inlined", "kernel", "on_stack",
    "register_package",
]  # fmt: skip

Function = TypeVar("Function", bound=Callable[..., Any])
Arrays = TypeVar("Arrays")

PLAIN: Final = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

_MISSING: Final = "{} is not in the compiled library for these sources and boards. Compiling it"
# what `export` compiles ahead of time: the functions that Python calls, by name
ENTRIES: Final[dict[str, Callable[..., Any]]] = {}


def name_of(function: Callable[..., Any]) -> str:
    """The name under which a function stands in the library."""
    return f"{function.__module__}.{function.__qualname__}"


class Kernel:
    """A function in the library that compiled code calls; called from Python, it runs in Python.

    Numba, if it compiles a function that calls this one, gets the dispatcher that it needs.
    """

    def __init__(self, function: Callable[..., Any], form: str) -> None:
        self.py_func, self._form = function, form
        self.__name__, self.__module__ = function.__name__, function.__module__
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the function in Python."""
        return self.py_func(*arguments, **named)

    @cached_property
    def _numba_type_(self) -> Any:
        jit = compiler()
        self._compiled = getattr(jit, self._form)(self.py_func)  # its type does not keep it
        return jit.type_of(self._compiled)


def kernel(function: Function) -> Function:
    """Compile an internal function into those that call it. All integers become 64 bits wide."""
    return _in_compiled_code(function, "kernel")


def inlined(function: Function) -> Function:
    """Compile a function into each kernel that calls it.

    For a short function in a hot loop that takes arrays. A call counts the references to each array
    that it passes, even to one that is `borrowed`. For the ten arrays of a game loop that costs as
    much as half a random decision.
    """
    return _in_compiled_code(function, "inlined")


def generator(function: Function) -> Function:
    """Compile a generator into each kernel with such a loop: Numba keeps no generators on disk."""
    return _in_compiled_code(function, "generator")


def _in_compiled_code(function: Function, form: str) -> Function:
    if PLAIN:
        return function
    if library.loaded():
        return Kernel(function, form)  # type: ignore[return-value]
    return getattr(compiler(), form)(function)  # type: ignore[no-any-return]


def entry(function: Function) -> Function:
    """Compile a function that Python calls. Its annotations state its types (`signatures`)."""
    ENTRIES[name_of(function)] = function
    if PLAIN:
        return function
    found = library.number(name_of(function))
    if found is not None:
        return library.function(found, signature(function))  # type: ignore[return-value]
    return compiler(_MISSING.format(name_of(function))).entry(function)  # type: ignore[no-any-return]


def compiler(what: str = "This") -> Any:
    """The module `jit`, which compiles with Numba.

    Args:
        what: Needs it, for the message.

    Raises:
        ExtraError: There is no Numba.
    """
    otherwise = ""
    if library.loaded() is None:
        what = f"Without a compiled library for {library.system()}, monopoly_env"
        otherwise = "a wheel for this system, or NUMBA_DISABLE_JIT=1 for slow games in Python"
    with extra("jit", otherwise, what):
        from monopoly_env.kernels import jit
    return jit


def borrowed(arrays: Arrays) -> Arrays:
    """The same array, or tuple of arrays and numbers, without reference counting.

    For compiled loops that slice it or pass it on.

    Numba counts references to an array's owner with atomic operations, which take a third of the
    time of a game on one thread and half of it on two. Use this on arguments only, since the caller
    keeps them alive. A local array is freed after its last use, even if it is still borrowed.
    """
    return arrays


def on_stack(count: int, dtype: Any) -> Any:
    """An array of numbers that no one has written yet, on the stack of a kernel.

    For scratch in a hot loop.

    An array from `np.empty` costs as much as a hundred additions. This one is gone when the kernel
    returns: it must not be returned.

    Args:
        count: How many numbers; a constant, of a few thousand bytes at the most.
        dtype: Their type.
    """
    return np.empty(count, dtype)


def clock() -> float:
    """Seconds like `time.perf_counter`, without those in which code was compiled or loaded."""
    jit = sys.modules.get("monopoly_env.kernels.jit")
    return time.perf_counter() - (jit.seconds() if jit else 0.0)
