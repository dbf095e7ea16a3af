"""How rules are compiled: `kernel` for the pieces, `entry` for what Python calls.

Every rule is a plain Python function on one record, which Numba compiles on first use and keeps on disk. Numba's own disk cache
looks only at the file of the function itself, so an edit in another chapter of the rulebook would go unseen: ours lies in a
folder named by a hash of the function's module and of all that this module imports from the library.

With `NUMBA_DISABLE_JIT=1` the decorators return the function as it is.
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
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import numba
import platformdirs
from numba import types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic, overload

Function = TypeVar("Function", bound=Callable[..., Any])
Arrays = TypeVar("Arrays")

# nogil: slices of a batch run on a thread pool. numpy error model: no hidden branch for division by zero.
_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy"}
_STALE_AFTER_DAYS: Final = 30
_PACKAGES: Final = ("monopoly_env", "agents", "training")
_OURS: Final = re.compile("[0-9a-f]{16}")
_DATA: Final = Path(__file__).parent / "data"


def kernel(function: Function) -> Function:
    """Compile a piece of the rulebook on first use, once: all integer arguments are 64 bits wide."""
    return _compiled_once(function, vectorize=0)


def array_kernel(function: Function) -> Function:
    """The same for a piece that fills arrays: its loops are vectorized, which takes a third longer to compile."""
    return _compiled_once(function, vectorize=1)


def _compiled_once(function: Function, vectorize: int) -> Function:
    if numba.config.DISABLE_JIT:
        return function
    dispatcher: Any = entry()(function)
    resolve, translate = dispatcher.get_call_template, dispatcher.compile

    def resolve_widened(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return resolve(tuple(map(_widened, args)), {name: _widened(kind) for name, kind in kws.items()})

    def translate_as_told(signature: Any) -> Any:
        before = numba.config.LOOP_VECTORIZE
        numba.config.LOOP_VECTORIZE = vectorize
        try:
            return translate(signature)
        finally:
            numba.config.LOOP_VECTORIZE = before

    # Numba would compile a kernel anew for each mix of integer widths and literals: half as much again to compile.
    dispatcher.get_call_template = resolve_widened
    dispatcher.compile = translate_as_told
    return dispatcher  # type: ignore[no-any-return]


def _widened(kind: Any) -> Any:
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) else kind


def borrowed(arrays: Arrays) -> Arrays:
    """The same array, or the same tuple of arrays and numbers, for a compiled loop that takes many slices, or calls kernels with them.

    Numba counts the references to what owns an array, and each count is an atomic operation: without this they take a third of
    the time of a game on one thread, and half on two. Only for arguments, which the caller keeps alive: a local array is freed
    after its last use, whoever has borrowed it.
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
    """Machine code for a value of a kind with no owner in any array."""
    if isinstance(kind, types.Array):
        view = context.make_helper(builder, kind, value)
        view.meminfo, view.parent = view.meminfo.type(None), view.parent.type(None)
        return view._getvalue()
    if isinstance(kind, types.BaseTuple):
        items = zip(kind, unpack_tuple(builder, value), strict=True)
        return context.make_tuple(builder, kind, [_strip(context, builder, part, item) for part, item in items])
    context.nrt.incref(builder, kind, value)  # nothing for a number; of anything else one more, since what comes back is given up, too
    return value


def entry(*signature: Any) -> Callable[[Function], Function]:
    """Compile a function on first use and keep its machine code on disk.

    Args:
        signature: A Numba signature; only policy kernels need one, since they are called through a pointer.
    """

    def decorate(function: Function) -> Function:
        if numba.config.DISABLE_JIT:
            return function
        folder = cache_folder(function.__module__)
        on_disk = folder is not None and Path(function.__code__.co_filename).is_file()  # not what was typed at a prompt
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)  # read by Numba while it decorates
        try:
            return numba.njit(*signature, cache=on_disk, **_OPTIONS)(function)  # type: ignore[no-any-return]
        finally:
            numba.config.CACHE_DIR = before

    return decorate


def cache_root() -> Path:
    """Where the library keeps what can be made anew: the user's cache folder, or the one that `MONOPOLY_ENV_CACHE` names."""
    return Path(os.environ.get("MONOPOLY_ENV_CACHE") or platformdirs.user_cache_dir("monopoly_env"))


@cache
def cache_folder(module: str) -> Path | None:
    """The folder of the compiled code that belongs to a module as it and its imports stand now.

    It lies in `cache_root()`. None: it cannot be written, and nothing is kept.
    """
    root = cache_root()
    folder = root / source_hash(module)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)  # in use: stays for another while
        _drop_stale(root)
    except OSError:
        return None
    return folder


def source_hash(module: str) -> str:
    """A hash of a module's source, of all that it imports from the library, directly or not, and of the data files."""
    digest = hashlib.sha256(numba.__version__.encode())
    for name in sorted(_closure(module)):
        digest.update(name.encode() + _own_hash(name))
    for path in sorted(_DATA.iterdir()):
        digest.update(_file_hash(path))
    return digest.hexdigest()[:16]


def _closure(module: str) -> set[str]:
    """A module and all modules of the library that it depends on."""
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
    return () if path is None else tuple(dict.fromkeys(_imported_names(ast.parse(path.read_bytes()))))


def _imported_names(tree: ast.Module) -> Iterator[str]:
    """Modules of the library that the top level of a module imports: `from package import name` may mean a module."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in _PACKAGES:
            yield node.module
            yield from (name for alias in node.names if _path(name := f"{node.module}.{alias.name}"))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in _PACKAGES)


@cache
def _path(module: str) -> Path | None:
    """The source file of a module: of one of ours without importing it, of a user's as it was loaded."""
    if module.split(".", maxsplit=1)[0] in _PACKAGES:
        source = Path(__file__).parents[1].joinpath(*module.split("."))
        return next((path for path in (source.with_suffix(".py"), source / "__init__.py") if path.is_file()), None)
    loaded = getattr(sys.modules.get(module), "__file__", None)
    return Path(loaded) if loaded and Path(loaded).is_file() else None


@cache
def _own_hash(module: str) -> bytes:
    path = _path(module)
    return b"" if path is None else _file_hash(path)


@cache
def _file_hash(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


@cache
def _drop_stale(root: Path) -> None:
    """Remove folders of ours that nothing has used for long; once a process is enough."""
    oldest = time.time() - _STALE_AFTER_DAYS * 86_400
    for folder in root.iterdir():
        if _OURS.fullmatch(folder.name) and folder.is_dir() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)
