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
from typing import Any, ClassVar, Final
from weakref import WeakValueDictionary

import numpy as np

from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.kernels import PLAIN, compiler, library, name_of
from monopoly_env.kernels.signatures import Signature, signature
from monopoly_env.kernels.sources import is_registered

# what `export` compiles ahead of time beside the entries, by name
CALLBACKS: Final[dict[str, Callback]] = {}
# by handle, for kernels that run in Python
_AT: Final[WeakValueDictionary[int, Callback]] = WeakValueDictionary()


class Callback:
    """A function of a fixed signature that is compiled on first use.

    Attributes:
        function: The function in Python.
    """

    WHAT: ClassVar[str] = "callback"
    _prototype: ClassVar[Callable[..., Any]]  # its parameters are named and typed as the function's
    SIGNATURE: ClassVar[Signature]

    def __init_subclass__(cls) -> None:
        """Read the types from the prototype."""
        cls.SIGNATURE = signature(cls._prototype)

    def __init__(self, function: Callable[..., Any]) -> None:
        """Store the function without compiling it.

        Raises:
            ConfigurationError: It is not a function, or it takes other arguments.
        """
        plain = getattr(function, "py_func", function)  # Numba's own decorators were already there
        if not inspect.isfunction(plain):
            raise ConfigurationError(f"A {self.WHAT} must be a function, not {function!r:.80}.")
        given, names = (list(inspect.signature(one).parameters) for one in (plain, self._prototype))
        if len(given) != len(names):
            raise ConfigurationError(
                f"A {self.WHAT} must take ({', '.join(names)}); {plain.__name__} takes"
                f" ({', '.join(given)})."
            )
        self.function: Callable[..., Any] = plain
        self.__name__: str = str(plain.__name__)
        self.__module__ = plain.__module__
        self.__doc__ = plain.__doc__
        if is_registered(self.__module__):
            CALLBACKS[name_of(plain)] = self

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle by module and name, like any function: no code is sent to another process."""
        if getattr(sys.modules.get(self.__module__), self.__name__, None) is self:
            return str(self.__name__)
        return type(self), (self.function,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Callback:
        return self  # a function, which has no state

    @cached_property
    def compiled(self) -> Any:
        """Numba's dispatcher. Its code is kept on disk if the function is defined in a file.

        Raises:
            ConfigurationError: The function does not compile. The message says why.
            ExtraError: There is no Numba.
        """
        jit = compiler(f"The {self.WHAT} {self.__name__}")
        try:
            return jit.callback(self.function, self.SIGNATURE, not is_registered(self.__module__))
        # Numba lets errors of any kind through, KeyError for an unknown field of the record
        except Exception as error:
            reason = _unknown_field(error, self.SIGNATURE) or error
            raise ConfigurationError(
                f"The {self.WHAT} {self.__name__} does not compile: {reason}"
            ) from error

    @cached_property
    def handle(self) -> int:
        """The address of the machine code while this object lives; in Python, its identity."""
        address = id(self) if PLAIN else self._address()
        _AT[address] = self
        return address

    def _address(self) -> int:
        found = library.number(name_of(self.function))
        if found is not None:
            return library.address(found)
        compiled = self.compiled
        return int(compiler().address(compiled, self.SIGNATURE))

    def __call__(self, *arguments: Any) -> Any:
        """Call the function: compiled by Numba, or in Python if it is in the library."""
        return self._called(*arguments)

    @cached_property
    def _called(self) -> Any:
        in_python = PLAIN or library.number(name_of(self.function)) is not None
        return self.function if in_python else self.compiled


def _unknown_field(error: Exception, signature: Any) -> str:
    """A sentence about a field that the records of a signature lack, if that is the error."""
    found = re.search(r"Field '(.*?)' was not found in record", str(error))  # game["csh"]
    name = found[1] if found else error.args[0] if isinstance(error, KeyError) else ""  # game.csh
    fields = [field for kind in signature.arguments if kind.dtype for field in _fields(kind.dtype)]
    return f"A record has no field {name!r}. {nearest(name, fields)}" if name and fields else ""


def _fields(dtype: np.dtype[Any]) -> Iterator[str]:
    """The names of the fields of a record, and of the records in it."""
    for name in dtype.names or ():
        yield name
        yield from _fields(dtype[name].base)


class Caller:
    """The function that kernels call a callback with: `call(handle, ...)`."""

    def __init__(self, kind: type[Callback]) -> None:
        self._signature = kind.SIGNATURE

    def __call__(self, handle: Any, *arguments: Any) -> Any:
        """Call a callback in Python."""
        return _AT[handle](*arguments)

    @cached_property
    def _numba_type_(self) -> Any:
        jit = compiler()
        self._compiled = jit.caller(self._signature)  # its type does not keep it
        return jit.type_of(self._compiled)
