"""Compile the library ahead of time: `python -m monopoly_env.compiled --help`."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from monopoly_env.cli import command
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.facts.editions import OWN_NAMES, VARIABLE
from monopoly_env.files import write_atomically
from monopoly_env.kernels import ENTRIES, library
from monopoly_env.kernels.callbacks import CALLBACKS
from monopoly_env.kernels.signatures import signature
from monopoly_env.kernels.sources import cache_root, code_hash, file_hash, sources_of

BROWSER_FOLDER: Final = Path("build", "browser")
_C_FILES: Final = ("caller.c", "runtime.c")


@dataclass(frozen=True)
class CompileOptions:
    """Compile all functions that Python calls, with the kernels in them, to one library.

    From the next start on it takes the place of Numba, as far as the sources stay as they are: no
    compilation at the first game. It takes two minutes.
    """

    target: str = library.system()
    """The system to compile for: linux-x86_64, linux-aarch64, darwin-aarch64, darwin-x86_64,
    win32-x86_64, or wasm32 for browsers."""
    out: Path = library.FILE.parent
    """The folder of the library and its manifest; for browsers, by default build/browser."""
    if_needed: bool = False
    """Do nothing if the library is here and its sources have not changed since."""
    json: bool = False
    """Print one JSON object."""


def execute(options: CompileOptions, console: Console) -> dict[str, Any]:
    """Build a library."""
    if options.if_needed and is_current(options.out, options.target):
        return {}
    from monopoly_env.kernels import export

    if options.target not in export.TARGETS:
        raise ConfigurationError(
            f"Unknown target {options.target!r}. {nearest(options.target, export.TARGETS)}"
        )
    if OWN_NAMES:
        raise ConfigurationError(
            f"{VARIABLE} is set, but a library has only the built-in boards: unset it."
        )
    compiler(options.target)  # before the work of minutes, if it lacks one
    if library.loaded() is not None:  # Numba has to know all functions: begin again without it
        os.environ["MONOPOLY_ENV_COMPILED"] = "0"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    console.print("Compiling the library takes two minutes ...")
    if options.target == "wasm32":
        return _for_browsers(options, console)
    began = time.perf_counter()
    exports = collect()
    with console.status("compiling ...") as status:
        code = code_of(exports, lambda name: status.update(f"compiling {name}"))
        binary = make(code, options.target, status.update)
    about = describe(binary, options.target, [one.name for one in exports])
    # the manifest last: a library is not used with another manifest than its own
    write_atomically(options.out / library.file_name(options.target), binary)
    write_atomically(options.out / library.ABOUT.name, json.dumps(about).encode())
    return {
        "target": options.target,
        "exports": len(exports),
        "bytes": len(binary),
        "seconds": round(time.perf_counter() - began, 1),
        "file": str(options.out / library.file_name(options.target)),
    }


def is_current(folder: Path, target: str) -> bool:
    """Whether this folder has the library, and all files that it was made of and with are the same.

    A new export in a module of its own is not noticed: Numba compiles it.
    """
    try:
        about = json.loads((folder / library.ABOUT.name).read_bytes())
        whole = file_hash(folder / library.file_name(target)).hex() == about["digest"]
        same = whole and all(map(library.is_same, about["sources"]))
        return bool(same and about["system"] == target)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _for_browsers(options: CompileOptions, console: Console) -> dict[str, Any]:
    """Build the library for browsers."""
    from monopoly_env.browser import bundle

    began = time.perf_counter()
    exports = collect()
    with console.status("compiling ...") as status:
        code = code_of(exports, lambda name: status.update(f"compiling {name}"))
        status.update("optimizing")
        names = bundle.chosen(one.name for one in exports)
        wasm = bundle.compiled(code, names, compiler(options.target))
        signatures = {one.name: one.signature for one in exports}
        files = bundle.files(wasm, {name: signatures[name] for name in names})
    out = BROWSER_FOLDER if options.out == library.FILE.parent else options.out
    for name, data in files.items():
        write_atomically(out / name, data)
    return {
        "target": options.target,
        "exports": len(names),
        "bytes": len(wasm),
        "seconds": round(time.perf_counter() - began, 1),
        "file": str(out / "monopoly.wasm"),
    }


def collect() -> list[Any]:
    """All exports, with their modules imported."""
    from monopoly_env.kernels.export import Export

    for package in packages():
        for name in modules(package):
            try:
                importlib.import_module(name)
            except ImportError as error:  # of an extra: such a module has no kernels
                if (error.name or package).startswith(package):
                    raise
    entries = [Export(name, one, signature(one)) for name, one in ENTRIES.items()]
    callbacks = [Export(name, one.function, one.SIGNATURE) for name, one in CALLBACKS.items()]
    return sorted(entries + callbacks, key=lambda one: one.name)


def code_of(exports: Sequence[Any], done: Callable[[str], None]) -> Any:
    """The code of exports for no machine in particular; kept, since all targets are made of it.

    Args:
        exports: The functions.
        done: Called with the name of each export that is compiled.
    """
    from monopoly_env.kernels import export, jit, linking, signatures

    makers = {Path(str(module.__file__)) for module in (export, jit, linking, signatures)}
    paths = sorted(makers.union(*(sources_of(one.name) for one in exports)))
    words = [version("numba"), version("llvmlite"), *(one.name for one in exports)]
    made_of = "\n".join([*words, *(code_hash(path).hex() for path in paths)])
    folder = cache_root() / hashlib.sha256(made_of.encode()).hexdigest()[:16]
    file, types = folder / "exports.bc", folder / "exports.json"
    with suppress(OSError, ValueError):
        return export.Code(file.read_bytes(), json.loads(types.read_bytes()))
    code = export.compile_all(exports, done)
    with suppress(ConfigurationError):  # a full disk: it is made again next time
        write_atomically(file, code.bitcode)
        write_atomically(types, json.dumps(code.types).encode())  # last: it is read last
    return code


def packages() -> list[str]:
    """The packages beside this one whose kernels are the library's own."""
    beside = library.ROOT.glob("*/__init__.py")
    found = {path.parent.name for path in beside if b"register_package(" in path.read_bytes()}
    return sorted({__package__, *found})


def modules(package: str) -> Iterator[str]:
    """The names of all modules of a package, without programs and the library itself."""
    path = importlib.import_module(package).__path__
    for module in pkgutil.walk_packages(path, f"{package}.", onerror=lambda name: None):
        if not module.name.endswith((".__main__", ".kernels.exports")):
            yield module.name


def make(code: Any, target: str, say: Callable[[str], None]) -> bytes:
    """A library of code for a target, with a copy for each kind of processor.

    Args:
        code: For no machine in particular.
        target: A name of `export.TARGETS`.
        say: Called with what is done.
    """
    from monopoly_env.kernels import export

    objects = {}
    for level in export.TARGETS[target].levels:
        say(f"optimizing for {target}, processors {level}")
        objects[level] = export.optimized(code, export.TARGETS[target], level)
    say(f"linking for {target}")
    return link(objects, target)


def link(objects: dict[str, bytes], target: str) -> bytes:
    """Object files as one library, with what Python and the runtime of Numba need.

    Args:
        objects: By the kind of processor, the newest first.
        target: A name of `export.TARGETS`.

    Raises:
        ConfigurationError: There is no compiler of C for this target, or it fails.
    """
    levels = "".join(f"X({level})" for level in objects)
    flags = ["-O2", "-fPIC", f"-DLEVELS={levels}", f"-I{sysconfig.get_path('include')}"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if target.startswith("win32"):
            (folder / "sys").mkdir()
            (folder / "sys" / "select.h").touch()  # Python's headers here are of another system
            flags += [f"-I{folder}", "-DHAVE_DECLSPEC_DLL", "-DPy_ENABLE_SHARED"]
        parts = []
        for file in _C_FILES:
            parts.append(str((folder / file).with_suffix(".o")))
            source = str(Path(library.__file__).with_name(file))
            _run([*compiler(target), *flags, "-c", source, "-o", parts[-1]])
        for level, code in objects.items():
            parts.append(str(folder / f"{level}.o"))
            Path(parts[-1]).write_bytes(code)
        made = folder / library.file_name(target)
        libraries = _libraries(folder, target)
        _run([*compiler(target), "-shared", "-s", *parts, "-o", str(made), *libraries])
        data = bytearray(made.read_bytes())
    if target.startswith("win32"):  # the time of linking, in the header
        place = int.from_bytes(data[0x3C:0x40], "little") + 8
        data[place : place + 4] = bytes(4)
    return bytes(data)


def _libraries(folder: Path, target: str) -> list[str]:
    """What the linker is told of Python and of mathematical functions."""
    if target.startswith("darwin"):
        named = f"-Wl,-install_name,@rpath/{library.file_name(target)}"  # else its folder's
        return ["-undefined", "dynamic_lookup", named]
    if target.startswith("linux"):
        return ["-lm"]
    # Python's functions and data that the objects name: the linker takes what is undefined
    code = b"".join(path.read_bytes() for path in sorted(folder.glob("*.o")))
    names = {name.decode() for name in re.findall(rb"(?<!\w)(?:__imp_)?(_?Py\w+)\0", code)}
    exported = (
        f"{name} DATA" if re.match("PyExc_|_Py_.*Struct|Py.*_Type$", name) else name
        for name in sorted(names)
    )
    lines = ["LIBRARY python3.dll", "EXPORTS", *exported]
    wanted, made = folder / "python3.def", folder / "python3.lib"
    wanted.write_text("\n".join(lines) + "\n")
    tool = [sys.executable, "-m", "ziglang", "dlltool", "-m", "i386:x86-64"]
    _run([*tool, "-D", "python3.dll", "-d", str(wanted), "-l", str(made)])
    return [str(made)]


def _run(line: list[str]) -> None:
    """Run a program of the compiler."""
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConfigurationError(f"The library can't be linked: {done.stderr.strip()}")


def compiler(target: str) -> list[str]:
    """The command of a C compiler for a target: zig's, the same on every system."""
    from monopoly_env.kernels.export import TARGETS

    if find_spec("ziglang") is None:
        raise ConfigurationError("A compiler of C is needed: pip install ziglang.")
    return [sys.executable, "-m", "ziglang", "cc", "-target", TARGETS[target].linker]


def describe(data: bytes, target: str, names: Sequence[str]) -> dict[str, Any]:
    """The manifest of a library."""
    used = {name: sources_of(name) for name in names}
    kernels = Path(library.__file__).parent
    tools = {Path(__file__), *kernels.glob("*.py"), *kernels.glob("*.c")}
    paths = sorted(tools.union(*used.values()))
    hashes = file_hash, code_hash
    return {
        "format": library.FORMAT,
        "system": target,
        "digest": hashlib.sha256(data).hexdigest(),
        "sources": [
            (path.relative_to(library.ROOT).as_posix(), *(one(path).hex() for one in hashes))
            for path in paths
        ],
        "exports": [(name, sorted(map(paths.index, used[name]))) for name in names],
    }


def show(result: dict[str, Any]) -> None:
    """Print the result for people."""
    if result:
        print(
            f"{result['exports']} functions in {result['bytes'] / 1e6:.2f} MB,"
            f" {result['seconds']:.0f} s: {result['file']}"
        )


COMMAND: Final = command.Command(CompileOptions, execute, show)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    return command.main("monopoly_env.compiled", COMMAND, arguments)


if __name__ == "__main__":
    sys.exit(main())
