"""Compiled code on disk: a checked file for each function and its argument types.

Numba's own cache trusts its files: a cut one raises errors of `pickle`, and a changed byte aborts
the process in LLVM. It also looks at the file of the function alone, so it would miss an edit in
another file of the rulebook; here the folder stands for all sources (`sources.cache_folder`).
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final

from numba.core.caching import CompileResultCacheImpl, NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from monopoly_env.errors import FormatError, MonopolyError
from monopoly_env.files import read_file, write_atomically

_DIGEST_BYTES: Final = hashlib.sha256().digest_size


class CodeCache(NullCache):  # type: ignore[misc]  # Numba's, untyped
    """The compiled code of one function. Without usable files, it is compiled in memory.

    Attributes:
        warned: Whether this process has told that files cannot be used.
    """

    warned: ClassVar[bool] = False

    def __init__(self, function: Callable[..., Any], folder: Path, module: str) -> None:
        """Prepare the cache. Nothing is written yet.

        Args:
            function: The function in Python, defined in a file.
            folder: For the code of these sources; it is made when the first file is written.
            module: Tells functions of one folder apart: the module's name, which clones of the
                library share, or the path of a file that is not ours.
        """
        self._function, self._folder = function, folder
        source = Path(function.__code__.co_filename).absolute()
        python = (sys.implementation.cache_tag, getattr(sys, "abiflags", ""))
        place = (module, function.__qualname__, function.__code__.co_firstlineno)
        self._key = (
            type(self).__name__,
            *python,
            *place,
            _digest(source, source.stat().st_mtime_ns),
        )

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """The code for these argument types, or None if it must be compiled."""
        target_context.refresh()
        file = self._file(sig, target_context.codegen())
        try:
            if file.is_file():
                return self.rebuild(target_context, pickle.loads(_checked(file)))  # noqa: S301 - our own file
        except ImportError:  # of a module that only the process that wrote the file had
            pass
        except (MonopolyError, OSError) as error:
            self._warn(error)
        _say_compiling()
        return None

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        """Keep the code for these argument types, if the disk takes it."""
        # Python's, or addresses of this process
        if data.lifted or data.library.has_dynamic_globals:
            return
        code = dumps(CompileResultCacheImpl.reduce(self, data))
        try:
            write_atomically(self._file(sig, data.codegen), hashlib.sha256(code).digest() + code)
        except MonopolyError as error:
            self._warn(error)

    def rebuild(self, target_context: Any, reduced: tuple[Any, ...]) -> CompileResult:
        """Make what a file holds callable."""
        return CompileResultCacheImpl.rebuild(self, target_context, reduced)  # uses no self

    def _file(self, sig: Any, codegen: Any) -> Path:
        """The file of the code for these argument types and this kind of processor."""
        code, cells = self._function.__code__, self._function.__closure__ or ()
        closure = dumps(tuple(cell.cell_contents for cell in cells)) if cells else b""
        key = repr((self._key, str(sig), str(codegen.magic_tuple()), code.co_code, closure))
        digest = hashlib.sha256(key.encode()).hexdigest()[:32]
        return self._folder / f"{code.co_name.strip('<>')}-{digest}"

    def _warn(self, error: Exception) -> None:
        if not CodeCache.warned:
            CodeCache.warned = True
            text = f"The cache of compiled code cannot be used: {error} Code is compiled in memory."
            warnings.warn(f"{text} MONOPOLY_ENV_CACHE names another folder.", stacklevel=3)


def _checked(file: Path) -> bytes:
    """The content of a file without its digest, which it must match.

    Raises:
        ConfigurationError: The file cannot be read. FormatError: It is damaged.
    """
    data = read_file(file)
    digest, code = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    if hashlib.sha256(code).digest() != digest:
        raise FormatError(f"{str(file)!r} is damaged.")
    return code


@cache
def _digest(source: Path, changed: int) -> str:
    """A hash of a source file that was changed at this time: a module may be loaded again."""
    del changed
    return hashlib.sha256(read_file(source)).hexdigest()


@cache
def _say_compiling() -> None:
    """Tell once why nothing happens for a while."""
    text = "monopoly_env: compiling. A first start takes up to a minute, later ones load the code."
    print(text, file=sys.stderr, flush=True)
