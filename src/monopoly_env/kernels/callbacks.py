"""Functions that compiled code calls by address: kernels of policies, encodings and rewards.

A callback has a fixed signature, so a loop that is compiled once calls any of them, also one that
is written later. A function from outside the library is compiled with checks of bounds: an index
beyond an array raises IndexError instead of writing into foreign memory.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, ClassVar

import numba
from numba import types
from numba.core.cgutils import if_unlikely, unpack_tuple
from numba.extending import intrinsic

from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.kernels import entry
from monopoly_env.kernels.sources import is_registered


class Callback:
    """A function of a fixed signature that is compiled on first use.

    Attributes:
        function: The function in Python.
    """

    WHAT: ClassVar[str] = "callback"
    ARGUMENTS: ClassVar[tuple[str, ...]]
    SIGNATURE: ClassVar[Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        """Store the function without compiling it.

        Raises:
            ConfigurationError: It is not a function, or it takes other arguments.
        """
        plain = getattr(function, "py_func", function)  # Numba's own decorators were already there
        if not inspect.isfunction(plain):
            raise ConfigurationError(f"A {self.WHAT} must be a function, not {function!r:.80}.")
        given = list(inspect.signature(plain).parameters)
        if len(given) != len(self.ARGUMENTS):
            raise ConfigurationError(
                f"A {self.WHAT} must take ({', '.join(self.ARGUMENTS)}); {plain.__name__} takes"
                f" ({', '.join(given)})."
            )
        self.function: Callable[..., Any] = plain
        self.__name__: str = str(plain.__name__)
        self.__module__ = plain.__module__
        self.__doc__ = plain.__doc__

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle by module and name, like any function: no code is sent to another process."""
        if getattr(sys.modules.get(self.__module__), self.__name__, None) is self:
            return str(self.__name__)
        return type(self), (self.function,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Callback:
        return self  # a function, which has no state

    @cached_property
    def compiled(self) -> Callable[..., Any]:
        """The compiled function. It is cached on disk if the function is defined in a file.

        Raises:
            ConfigurationError: The function does not compile. The message says why.
        """
        if numba.config.DISABLE_JIT:
            return self.function
        checks = {} if is_registered(self.__module__) else {"boundscheck": True}
        try:
            return entry(self.SIGNATURE, **checks)(self.function)
        # Numba lets errors of any kind through, KeyError for an unknown field of the record
        except Exception as error:
            reason = _unknown_field(error, self.SIGNATURE) or error
            raise ConfigurationError(
                f"The {self.WHAT} {self.__name__} does not compile: {reason}"
            ) from error

    @cached_property
    def handle(self) -> Any:
        """The address of the machine code while this object lives; in Python, the function."""
        if numba.config.DISABLE_JIT:
            return self.compiled
        result = self.compiled.get_compile_result(self.SIGNATURE)  # type: ignore[attr-defined]  # a dispatcher of Numba
        return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return self.compiled(*arguments)


def _unknown_field(error: Exception, signature: Any) -> str:
    """A sentence about a field that the records of a signature lack, if that is the error."""
    found = re.search(r"Field '(.*?)' was not found in record", str(error))  # game["csh"]
    name = found[1] if found else error.args[0] if isinstance(error, KeyError) else ""  # game.csh
    fields = [field for kind in signature.args for field in _fields(kind)]
    return f"A record has no field {name!r}. {nearest(name, fields)}" if name and fields else ""


def _fields(kind: Any) -> Iterator[str]:
    """The names of the fields of a type of Numba, and of the records in it."""
    if isinstance(kind, types.Array):
        kind = kind.dtype
    if isinstance(kind, types.Record):
        for name in kind.fields:
            yield name
            yield from _fields(kind.typeof(name))


def caller(signature: Any) -> Callable[..., Any]:
    """Make the function that kernels call a callback with: `call(handle, ...)`.

    Numba's typed lists of functions would do the same, but each lookup counts references to the
    list, and threads that share it then wait for each other.

    Args:
        signature: The signature of the callbacks.
    """
    if numba.config.DISABLE_JIT:
        return lambda handle, *arguments: handle(*arguments)

    @intrinsic  # type: ignore[untyped-decorator]  # Numba's
    def call(_: Any, address: Any, *arguments: Any) -> tuple[Any, Any]:
        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            convention, kinds = context.call_conv, signature.args
            function = convention.get_function_type(signature.return_type, kinds).as_pointer()
            pointer = builder.inttoptr(values[0], function)
            status, result = convention.call_function(
                builder, pointer, signature.return_type, kinds, unpack_tuple(builder, values[1])
            )
            with if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return result

        return (
            signature.return_type(numba.int64, types.StarArgTuple.from_types(signature.args)),
            generate,
        )

    return call  # type: ignore[no-any-return]
