"""The folders of compiled code, named by a hash of the sources that it was compiled from.

A package whose kernels are compiled as the library's own registers itself (`register_package`).
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

import platformdirs

_STALE_AFTER_DAYS: Final = 30
_FOLDER: Final = re.compile("[0-9a-f]{16}")
_DATA_SUFFIXES: Final = (".json", ".safetensors")
# not a sentence that begins with such a word; up to the next line that is not indented
_IMPORT: Final = re.compile(
    r"^(?:from [\w.]+ import\b|import [\w.]+ *(?=$|[,;#]|as\b)).*(?:\n(?:[ \t)].*)?)*", re.MULTILINE
)
_registered: Final = {"monopoly_env"}


def register_package(name: str) -> None:
    """Compile the kernels of a package like the library's own.

    An edit in any of its modules is seen wherever the module is imported, and its callbacks are
    compiled without checks of bounds. A package calls this before it imports its kernels.
    """
    _registered.add(name)


def is_registered(module: str) -> bool:
    """Whether a module belongs to a registered package."""
    return _package(module) in _registered


def cache_root() -> Path:
    """The folder of files that can be regenerated: `MONOPOLY_ENV_CACHE`, or the user's cache."""
    return Path(os.environ.get("MONOPOLY_ENV_CACHE") or platformdirs.user_cache_dir("monopoly_env"))


@cache
def cache_folder(module: str) -> Path:
    """The folder in `cache_root()` of the compiled code of a module."""
    root = cache_root()
    folder = root / source_hash(module)
    with suppress(OSError):  # of another user, or no folder
        if folder.exists():
            os.utime(folder)  # marks the folder as in use
        _drop_stale(root)
    return folder


def source_hash(module: str) -> str:
    """A hash of a module's source, of the modules that it imports, and of their data files.

    Counted are modules of its own package and of registered ones, imported directly or not. Data
    files lie beside a module, or it lists them as `DATA_FILES`: their numbers are constants of
    the compiled code. Code that checks its indices (`NUMBA_BOUNDSCHECK=1`) has another hash.
    """
    digest = hashlib.sha256(f"{version('numba')} {checks_indices()}".encode())
    modules = _closure(module)
    for name in sorted(modules):
        path = _path(name)
        digest.update(name.encode() + (file_hash(path) if path else b""))
    for path in sorted({file for name in modules for file in _data_files(name)}):
        digest.update(file_hash(path))
    return digest.hexdigest()[:16]


def checks_indices() -> bool:
    """Whether compiled code shall check its indices (`NUMBA_BOUNDSCHECK=1`)."""
    return os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0")


def sources_of(name: str) -> set[Path]:
    """The files that the compiled code of a function, `module.function`, depends on."""
    modules = _closure(name.rpartition(".")[0])
    files = {path for module in modules if (path := _path(module))}
    return files | {file for module in modules for file in _data_files(module)}


def _closure(module: str) -> set[str]:
    """A module and all modules that it depends on."""
    packages = _registered | {_package(module)}
    found, open_ends = set(), [module]
    while open_ends:
        name = open_ends.pop()
        if name not in found:
            found.add(name)
            open_ends += (used for used in _imports(name) if _package(used) in packages)
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
    """The import statements at a module's top level, and perhaps others.

    Parsing all of every module took a third of a second.
    """
    try:
        return ast.parse("\n".join(_IMPORT.findall(source)))
    except SyntaxError:  # a sentence that begins like a statement, or a statement in two lines
        return ast.parse(source)


def _imported_names(tree: ast.Module) -> Iterator[str]:
    """The modules imported at the top level; `from package import module` is the module alone."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if _path(name) else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _package(module: str) -> str:
    return module.split(".", maxsplit=1)[0]


@cache
def _path(module: str) -> Path | None:
    """The source file of a module whose package is loaded."""
    package, *inner = module.split(".")
    loaded = getattr(sys.modules.get(package), "__file__", None)
    if not loaded:
        return None
    if not inner:
        return Path(loaded) if Path(loaded).is_file() else None
    place = Path(loaded).parent.joinpath(*inner)
    return next(filter(Path.is_file, (place.with_suffix(".py"), place / "__init__.py")), None)


@cache
def _data_files(module: str) -> tuple[Path, ...]:
    """The data files of a module of a registered package."""
    path = _path(module) if is_registered(module) else None
    if path is None:
        return ()
    beside = (file for file in path.parent.iterdir() if file.suffix in _DATA_SUFFIXES)
    return (*beside, *getattr(sys.modules.get(module), "DATA_FILES", ()))


@cache
def file_hash(path: Path) -> bytes:
    """The hash of a source file, read once per process."""
    return hashlib.sha256(path.read_bytes()).digest()


@cache
def code_hash(path: Path) -> bytes:
    """The hash of what a source file does: comments, docstrings and layout of Python don't count.

    It parses the file: a start asks for it only where `file_hash` differs.
    """
    if path.suffix != ".py":
        return file_hash(path)
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = node.body[ast.get_docstring(node, clean=False) is not None :]
    return hashlib.sha256(ast.dump(tree).encode()).digest()


@cache
def _drop_stale(root: Path) -> None:
    """Remove cache folders that have not been used for a long time; called once per process."""
    oldest = time.time() - _STALE_AFTER_DAYS * 86_400
    for folder in root.iterdir():
        if _FOLDER.fullmatch(folder.name) and folder.is_dir() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)
