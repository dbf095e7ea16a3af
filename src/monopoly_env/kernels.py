"""How rules are compiled: `kernel` for the pieces, `entry` for what Python calls.

Every rule is a plain Python function on one record. `kernel` hands it to Numba, which compiles it on first use, into
whatever calls it. `entry` also keeps the machine code on disk. Numba's own disk cache looks only at the file of the function
itself, so an edit in another chapter of the rulebook would go unseen: ours lies in a folder named by a hash of all sources.

With `NUMBA_DISABLE_JIT=1` both return the function as it is.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import platformdirs

Function = TypeVar("Function", bound=Callable[..., Any])

# nogil: slices of a batch run on a thread pool. numpy error model: no hidden branch for division by zero.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_STALE_AFTER_DAYS = 30


def kernel(function: Function) -> Function:
    """Compile a piece of the rulebook on first use."""
    return numba.njit(**_OPTIONS)(function)  # type: ignore[no-any-return]


def entry(*signature: Any, sources: tuple[Path, ...] = ()) -> Callable[[Function], Function]:
    """Compile a function that Python calls, and keep its machine code on disk.

    Args:
        signature: A Numba signature; only policy kernels need one, since they are called through a pointer.
        sources: Files outside the library that the function's code depends on.
    """

    def decorate(function: Function) -> Function:
        if numba.config.DISABLE_JIT:
            return function
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(cache_folder(sources))  # read by Numba while it decorates
        try:
            return numba.njit(*signature, cache=True, **_OPTIONS)(function)  # type: ignore[no-any-return]
        finally:
            numba.config.CACHE_DIR = before

    return decorate


@cache
def cache_folder(sources: tuple[Path, ...] = ()) -> Path:
    """The folder of the compiled code that belongs to exactly these sources.

    `MONOPOLY_ENV_CACHE` moves the parent folder; the default is the user's cache folder.
    """
    root = Path(os.environ.get("MONOPOLY_ENV_CACHE") or platformdirs.user_cache_dir("monopoly_env"))
    folder = root / source_hash(sources)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _drop_stale(root, keep=folder)
    except OSError:  # a read-only home: Numba falls back to its own folders
        return root
    return folder


def source_hash(sources: tuple[Path, ...] = ()) -> str:
    """A hash of all sources that kernels are made of: the rulebook, the compiled policies and the data files."""
    package = Path(__file__).parent
    ours = [path for root in (package, package.parent / "agents") for path in sorted(root.rglob("*.py"))]
    ours += sorted((package / "data").glob("*.*"))
    digest = hashlib.sha256(numba.__version__.encode())
    for path in (*ours, *sources):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _drop_stale(root: Path, keep: Path) -> None:
    oldest = time.time() - _STALE_AFTER_DAYS * 86_400
    os.utime(keep)
    for folder in root.iterdir():
        if folder != keep and folder.is_dir() and len(folder.name) == 16 and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)
