"""Compile the library ahead of time: `python -m monopoly_env.compiled --help`."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pkgutil
import shutil
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
from monopoly_env.cli.extras import ExtraError
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.files import write_atomically
from monopoly_env.kernels import ENTRIES, library
from monopoly_env.kernels.callbacks import CALLBACKS
from monopoly_env.kernels.signatures import signature
from monopoly_env.kernels.sources import cache_root, file_hash, sources_of

_C_FILES: Final = ("caller.c", "runtime.c")


@dataclass(frozen=True)
class CompileOptions:
    """Compile all functions that Python calls, with the kernels in them, to one library.

    From the next start on it takes the place of Numba, as far as the sources stay as they are: no
    compilation at the first game. It takes two minutes.
    """

    target: str = library.system()
    """The system to compile for: linux-x86_64, linux-aarch64, darwin-aarch64, darwin-x86_64 or
    win32-x86_64. For another than this one, the package ziglang is needed."""
    out: Path = library.FILE.parent
    """The folder of the library and its manifest."""
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
    compiler(options.target)  # before the work of minutes, if it lacks one
    if library.loaded() is not None:  # Numba has to know all functions: begin again without it
        os.environ["MONOPOLY_ENV_COMPILED"] = "0"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    console.print("Compiling the library takes two minutes ...")
    began = time.perf_counter()
    exports = collect()
    with console.status("compiling ...") as status:
        code = code_of(exports, lambda name: status.update(f"compiling {name}"))
        status.update("optimizing")
        data = export.optimized(code, export.TARGETS[options.target])
        status.update("linking")
        binary = link(data, options.target)
    about = describe(binary, options.target, [one.name for one in exports])
    # the manifest last: a library is not used with another manifest than its own
    write_atomically(options.out / library.FILE.name, binary)
    write_atomically(options.out / library.ABOUT.name, json.dumps(about).encode())
    return {
        "target": options.target,
        "exports": len(exports),
        "bytes": len(binary),
        "seconds": round(time.perf_counter() - began, 1),
        "file": str(options.out / library.FILE.name),
    }


def is_current(folder: Path, target: str) -> bool:
    """Whether this folder has the library, and all files that it was made of and with are the same.

    A new export in a module of its own is not noticed: Numba compiles it.
    """
    try:
        about = json.loads((folder / library.ABOUT.name).read_bytes())
        files = [(folder / library.FILE.name, about["digest"])]
        files += [(library.ROOT / path, digest) for path, digest in about["sources"]]
        same = all(file_hash(path).hex() == digest for path, digest in files)
        return bool(same and about["system"] == target)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def collect() -> list[Any]:
    """All exports, with their modules imported."""
    from monopoly_env.kernels.export import Export

    for package in packages():
        for name in _modules(package):
            try:
                importlib.import_module(name)
            except ExtraError:
                continue  # an interface to another library, which has no kernels
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
    made_of = "\n".join([*words, *(file_hash(path).hex() for path in paths)])
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


def _modules(package: str) -> Iterator[str]:
    path = importlib.import_module(package).__path__
    for module in pkgutil.walk_packages(path, f"{package}.", onerror=lambda name: None):
        if not module.name.endswith("__main__"):
            yield module.name


def link(code: bytes, target: str) -> bytes:
    """An object file as a library, with what Python and the runtime of Numba need.

    Raises:
        ConfigurationError: There is no compiler of C for this target, or it fails.
    """
    flags = ["-O2", "-shared", "-fPIC", "-s", f"-I{sysconfig.get_path('include')}"]
    sources = [str(Path(library.__file__).with_name(name)) for name in _C_FILES]
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "exports.o"), Path(folder, "exports")
        given.write_bytes(code)
        line = [*compiler(target), *flags, *sources, str(given), "-o", str(made), "-lm"]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ConfigurationError(f"The library cannot be linked: {done.stderr.strip()}")
        return made.read_bytes()


def compiler(target: str) -> list[str]:
    """The command of a C compiler for a target: zig's, or for this system `cc`."""
    from monopoly_env.kernels.export import TARGETS

    if find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc", "-target", TARGETS[target].linker]
    if target == library.system() and shutil.which("cc"):
        return ["cc"]
    raise ConfigurationError(f"A compiler of C for {target} is needed: pip install ziglang.")


def describe(data: bytes, target: str, names: Sequence[str]) -> dict[str, Any]:
    """The manifest of a library."""
    used = {name: sources_of(name) for name in names}
    kernels = Path(library.__file__).parent
    tools = {Path(__file__), *kernels.glob("*.py"), *kernels.glob("*.c")}
    paths = sorted(tools.union(*used.values()))
    return {
        "format": library.FORMAT,
        "system": target,
        "digest": hashlib.sha256(data).hexdigest(),
        "sources": [
            (path.relative_to(library.ROOT).as_posix(), file_hash(path).hex()) for path in paths
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
