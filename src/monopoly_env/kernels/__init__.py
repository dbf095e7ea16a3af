"""How rules are compiled.

`kernel` for internal functions, `entry` for functions called from Python.

Every rule is a plain Python function on one record. Numba compiles it on first use, and
`code_cache` keeps the code on disk, in a folder named by a hash of the function's module and of
every module of the library that it imports, directly or not.

With `NUMBA_DISABLE_JIT=1` the decorators return the function unchanged.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import numba
import numpy as np
import platformdirs
from numba import types
from numba.core.caching import NullCache
from numba.core.cgutils import alloca_once, unpack_tuple
from numba.core.event import TimingListener
from numba.core.event import register as register_listener
from numba.core.typeinfer import register_dispatcher
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array

from monopoly_env.facts import editions
from monopoly_env.kernels.code_cache import CodeCache
from monopoly_env.kernels.linking import Compiling, LinkedCache, linked

Function = TypeVar("Function", bound=Callable[..., Any])
Arrays = TypeVar("Arrays")

# nogil: slices of a batch run on a thread pool. numpy error model: no hidden branch for division by
# zero.
_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy"}
_STALE_AFTER_DAYS: Final = 30
_PACKAGES: Final = ("monopoly_env", "pente_env", "agents", "training")
_OURS: Final = re.compile("[0-9a-f]{16}")
_DATA_SUFFIXES: Final = (".json", ".safetensors")
# up to the next line that is not indented
_IMPORT: Final = re.compile(r"^(?:from [\w.]+ import|import)\b.*(?:\n(?:[ \t)].*)?)*", re.MULTILINE)


def kernel(function: Function) -> Function:
    """Compile an internal function on first use, and only once.

    All integer arguments become 64 bits wide.

    Its compiled callers take it in as code (`linking`). Only if Python calls it too, it gets
    machine code of its own.
    """
    if numba.config.DISABLE_JIT:
        return function
    dispatcher: Any = entry()(function)

    @cache
    def inner() -> Any:
        """Made when the first caller is compiled, which most programs load from disk instead."""
        code = linked(function, _cache_of(function, LinkedCache), **_OPTIONS)
        # so that Numba notices a kernel that calls itself
        code._compiling_counter = dispatcher._compiling_counter
        return code

    def resolve_widened(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return inner().get_call_template(
            tuple(map(_widened, args)), {name: _widened(kind) for name, kind in kws.items()}
        )

    # Otherwise Numba would compile a kernel again for each mix of integer widths and literals,
    # which takes half as long again.
    dispatcher.get_call_template = resolve_widened
    dispatcher.get_overload = lambda signature: inner().get_overload(signature)
    dispatcher.linked = inner
    return dispatcher  # type: ignore[no-any-return]


def inlined(function: Function) -> Function:
    """Compile a function into each kernel that calls it.

    For a short function in a hot loop that takes arrays.

    A call counts the references to each array that it passes, even to one that is `borrowed`. For
    the ten arrays of a game loop that costs as much as half a random decision.
    """
    return njit(inline="always")(function)


def _widened(kind: Any) -> Any:
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) else kind


def borrowed(arrays: Arrays) -> Arrays:
    """The same array, or tuple of arrays and numbers, without reference counting.

    For compiled loops that slice it or pass it on.

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
    """An array of numbers that no one has written yet, on the stack of a kernel.

    For scratch in a hot loop.

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
        array, size = (
            make_array(kind)(context, builder),
            context.get_constant(types.intp, context.get_abi_sizeof(number)),
        )
        place = alloca_once(builder, number, size=count.literal_value)
        shape = [context.get_constant(types.intp, count.literal_value)]
        populate_array(array, data=place, shape=shape, strides=[size], itemsize=size, meminfo=None)
        return array._getvalue()

    return kind(count, dtype), generate


_compiling: Final = TimingListener()
register_listener("numba:compiler_lock", _compiling)


def clock() -> float:
    """Seconds as by `time.perf_counter`, but without those in which code was compiled or loaded.

    Speeds are measured by them.
    """
    return time.perf_counter() - (_compiling.duration if _compiling.done else 0.0)


def njit(*signature: Any, **options: Any) -> Callable[[Function], Function]:
    """Numba's `njit` with the options of this library."""
    return numba.njit(*signature, pipeline_class=Compiling, **_OPTIONS, **options)  # type: ignore[no-any-return]


def is_ours(module: str) -> bool:
    """Whether a module belongs to this library."""
    return module.split(".", maxsplit=1)[0] in _PACKAGES


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
        dispatcher: Any = njit(**options)(function)
        dispatcher._cache = _cache_of(function, CodeCache)
        for arguments in signature:
            with register_dispatcher(dispatcher):  # it may call itself
                dispatcher.compile(arguments)
            dispatcher.disable_compile()
        return dispatcher  # type: ignore[no-any-return]

    return decorate


def _cache_of(function: Callable[..., Any], kind: type[CodeCache]) -> NullCache:
    """Where a function's code is kept; nowhere if the function was typed at a prompt."""
    file, module = Path(function.__code__.co_filename).absolute(), function.__module__
    if not file.is_file():
        return NullCache()
    return kind(function, cache_folder(module), module if is_ours(module) else str(file))


def cache_root() -> Path:
    """The folder for files that can be regenerated.

    `MONOPOLY_ENV_CACHE` if set, otherwise one in the user's cache folder.
    """
    return Path(os.environ.get("MONOPOLY_ENV_CACHE") or platformdirs.user_cache_dir("monopoly_env"))


@cache
def cache_folder(module: str) -> Path:
    """The folder inside `cache_root()` for the compiled code of a module.

    It depends on the module's current source and on that of its imports.
    """
    root = cache_root()
    folder = root / source_hash(module)
    with suppress(OSError):  # of another user, or no folder
        if folder.exists():
            os.utime(folder)  # marks the folder as in use
        _drop_stale(root)
    return folder


def source_hash(module: str) -> str:
    """A hash of a module's source, of the source of its imports, and of the data files.

    The imports are all library modules that it imports, directly or not. The data files are the
    board's, and those beside the modules: their numbers are constants of the compiled code. Code
    that checks its indices (`NUMBA_BOUNDSCHECK=1`) has another hash.
    """
    digest = hashlib.sha256(f"{numba.__version__} {bool(numba.config.BOUNDSCHECK)}".encode())
    modules = _closure(module)
    for name in sorted(modules):
        digest.update(name.encode() + _own_hash(name))
    for path in sorted(
        {*editions.files(), *(file for name in modules for file in _data_beside(name))}
    ):
        digest.update(_file_hash(path))
    return digest.hexdigest()[:16]


def _closure(module: str) -> set[str]:
    """A module and all library modules that it depends on."""
    found, open_ends = set(), [module]
    while open_ends:
        name = open_ends.pop()
        if name not in found:
            found.add(name)
            open_ends += _imports(name)
    return found


@cache
def _imports(module: str) -> tuple[str, ...]:
    path = _path(module)
    if path is None:
        return ()
    # of another encoding, only comments and texts suffer
    source = path.read_text(encoding="utf-8", errors="replace")
    return tuple(dict.fromkeys(_imported_names(_import_statements(source))))


def _import_statements(source: str) -> ast.Module:
    """The statements at a module's top level that import, and perhaps others.

    Parsing all of every module took a third of a second.
    """
    try:
        return ast.parse("\n".join(_IMPORT.findall(source)))
    except SyntaxError:  # a sentence that begins like a statement, or a statement in two lines
        return ast.parse(source)


def _imported_names(tree: ast.Module) -> Iterator[str]:
    """The library modules imported at the top level of a module.

    `from package import module` does not depend on the package itself.
    """
    for node in tree.body:
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.split(".")[0] in _PACKAGES
        ):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if _path(name) else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in _PACKAGES)


@cache
def _path(module: str) -> Path | None:
    """The source file of a module.

    A library module is located without importing it, a user's as it was loaded.
    """
    if is_ours(module):
        source = Path(__file__).parents[2].joinpath(*module.split("."))
        return next(
            (
                path
                for path in (source.with_suffix(".py"), source / "__init__.py")
                if path.is_file()
            ),
            None,
        )
    loaded = getattr(sys.modules.get(module), "__file__", None)
    return Path(loaded) if loaded and Path(loaded).is_file() else None


@cache
def _data_beside(module: str) -> tuple[Path, ...]:
    """The data files in the folder of a library module."""
    path = _path(module) if is_ours(module) else None
    return (
        ()
        if path is None
        else tuple(file for file in path.parent.iterdir() if file.suffix in _DATA_SUFFIXES)
    )


@cache
def _own_hash(module: str) -> bytes:
    path = _path(module)
    return b"" if path is None else _file_hash(path)


@cache
def _file_hash(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


@cache
def _drop_stale(root: Path) -> None:
    """Remove cache folders that have not been used for a long time; called once per process."""
    oldest = time.time() - _STALE_AFTER_DAYS * 86_400
    for folder in root.iterdir():
        if _OURS.fullmatch(folder.name) and folder.is_dir() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)
