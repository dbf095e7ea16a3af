"""The library of functions compiled ahead of time, if it is here and fits.

Its manifest names the exports, and for each of them the source files that it was made of. An export
is used if the code of these files is the same: an edit of a rule gives all that depends on it to
Numba, and the rest stays.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any, Final, NamedTuple

from monopoly_env.kernels.signatures import ArgumentType, Signature
from monopoly_env.kernels.sources import checks_indices, code_hash, file_hash

FORMAT: Final = 2
ROOT: Final = Path(__file__).parents[2]  # the folder of all packages


def system() -> str:
    """The operating system and kind of processor, as in the names of `export.TARGETS`."""
    names = {"AMD64": "x86_64", "arm64": "aarch64"}
    machine = platform.machine()
    return f"{sys.platform}-{names.get(machine, machine)}"


def file_name(target: str) -> str:
    """The name of the library of a system."""
    return "exports.pyd" if target.startswith("win32") else "exports.abi3.so"


FILE: Final = Path(__file__).with_name(file_name(system()))
ABOUT: Final = FILE.with_name("exports.manifest")
_CHANGED: Final[set[str]] = set()  # source files, by their path from ROOT


class Library(NamedTuple):
    """A library that is loaded.

    Attributes:
        module: The extension module.
        numbers: Of the exports, by name.
        files: The numbers of the source files of each export.
        sources: The paths of the source files, their hashes, and those of their code.
    """

    module: Any
    numbers: dict[str, int]
    files: list[list[int]]
    sources: list[tuple[str, str, str]]


@cache
def loaded() -> Library | None:
    """The library, or None: there is none, it does not fit, or it shall not be used.

    `MONOPOLY_ENV_COMPILED=0` leaves it aside; so does `NUMBA_BOUNDSCHECK=1`, for it has no checks.
    """
    unwanted = os.environ.get("MONOPOLY_ENV_COMPILED") == "0" or checks_indices()
    if unwanted or not FILE.is_file():
        return None
    try:
        about = json.loads(ABOUT.read_bytes())
        if about["format"] != FORMAT:
            raise ValueError(f"its manifest has the format {about['format']!r}, not {FORMAT}")
        if about["system"] != system():
            raise ValueError(f"it is made for {about['system']!r}, this is {system()!r}")
        if file_hash(FILE).hex() != about["digest"]:
            raise ValueError("it is damaged, or of another version than its manifest")
        loader = ExtensionFileLoader("exports", str(FILE))
        module = module_from_spec(spec_from_loader("exports", loader))  # type: ignore[arg-type]
        loader.exec_module(module)
        numbers = {name: number for number, (name, _) in enumerate(about["exports"])}
        files = [files for _, files in about["exports"]]
        return Library(module, numbers, files, about["sources"])
    except (OSError, ImportError, ValueError, KeyError, TypeError) as error:
        warnings.warn(
            f"The compiled library {str(FILE)!r} is not used: {error}. Numba compiles instead.",
            stacklevel=2,
        )
        return None


def number(name: str) -> int | None:
    """The number of an export whose sources have not changed, or None."""
    library = loaded()
    if library is None or name not in library.numbers:
        return None
    found = library.numbers[name]
    return found if all(map(is_unchanged, library.files[found])) else None


def is_unchanged(file: int) -> bool:
    """Whether a source file is the one that the library was made of."""
    library = loaded()
    assert library is not None
    source = library.sources[file]
    return source[0] not in _CHANGED and is_same(source)


def is_same(source: Sequence[str]) -> bool:
    """Whether a source file has the code whose hashes the manifest holds."""
    path, digest, code = ROOT / source[0], *source[1:]
    try:
        return file_hash(path).hex() == digest or code_hash(path).hex() == code
    except (OSError, SyntaxError):
        return False


def changed(file: Path) -> None:
    """Leave what depends on a source file to Numba in this process: its tables differ."""
    _CHANGED.add(file.relative_to(ROOT).as_posix())


def function(number: int, signature: Signature) -> Callable[..., Any]:
    """An export as a function of Python. It checks its arguments, and releases the GIL."""
    library = loaded()
    assert library is not None
    layouts = tuple(map(layout, signature.arguments))
    made: Callable[..., Any] = library.module.function(number, letter(signature.result), layouts)
    return made


def address(number: int) -> int:
    """The address of an export, for compiled callers."""
    library = loaded()
    assert library is not None
    return int(library.module.address(number))


def layout(kind: ArgumentType) -> tuple[Any, ...]:
    """A type as the extension module takes it."""
    if kind.parts:
        return ("t", *map(layout, kind.parts))
    if kind.ndim and kind.dtype:
        return ("a", kind.dtype, kind.ndim, kind.dtype.itemsize)
    return (letter(kind),)


def letter(kind: ArgumentType) -> str:
    """The letter of a number's type, or of no result."""
    return "n" if kind.dtype is None else {"i": "i", "f": "f", "b": "b"}[kind.dtype.kind]
