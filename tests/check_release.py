"""A release as a user gets it: `make release`.

It builds the wheels of all systems, a pure one and the sdist in dist/, tries that of this system in
an empty environment without Numba and without a compiler, and uploads nothing.

- The version is the same everywhere, and CHANGELOG.md says what it brings.
- The wheels, which are built from the sdist, have every file of the packages.
- A library is made for its system, exports PyInit_exports, and needs only what every such system
  has.
- With the core alone, every module imports, or lacks a library of an extra and nothing else.
- From an empty folder, the examples of README.md run, a tournament and a match of networks are
  played, the page of the table is served, and `training.dqn` trains.

It takes minutes, so it is no test of the suite.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import urllib.request
import venv
import zipfile
from pathlib import Path

import lief
from benchmarks import table

import monopoly_env
from monopoly_env.kernels import library

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
PURE = "pure"
INDIRECT = {"starlette", "pydantic", "anyio"}  # they come with fastapi
IMPORTED_AS = {"pillow": "PIL", "open-spiel": "pyspiel"}
MACHINES = {
    "linux-x86_64": ("ELF", "X86_64"),
    "linux-aarch64": ("ELF", "AARCH64"),
    "darwin-aarch64": ("MACHO", "ARM64"),
    "darwin-x86_64": ("MACHO", "X86_64"),
    "win32-x86_64": ("PE", "AMD64"),
}
NEEDED = re.compile(  # part of each such system, or of Python
    r"lib[cm]\.so\.6|ld-linux-.*|@rpath/exports\.abi3\.so|/usr/lib/libSystem\.B\.dylib"
    r"|python3\.dll|kernel32\.dll|ntdll\.dll|api-ms-win-crt-.*\.dll",
    re.IGNORECASE,
)
OLDEST_GLIBC = (2, 17)
IMPORT_ALL = """
import importlib, sys
from monopoly_env.cli.extras import ExtraError
from monopoly_env.compiled import modules
known, lacking, count = set(sys.argv[1].split()), {}, 0
for package in ("monopoly_env", "pente_env", "agents", "training"):
    for name in modules(package):
        count += 1
        try:
            importlib.import_module(name)
        except (ModuleNotFoundError, ExtraError) as error:
            assert error.name.split(".")[0].replace("_", "-") in known, f"{name} needs {error.name}, which no extra has"
            lacking.setdefault(error.name.split(".")[0], []).append(name)
print(f"{count} modules; those that need an extra:")
for library, names in sorted(lacking.items()):
    print(f"  {library}: {len(names)}, such as {names[0]}")
"""  # noqa: E501
README = (ROOT / "README.md").read_text("utf-8")
TOURNAMENT = "training.tournament --players expert random --games 20"
TRAINING = (
    "training.dqn --imitation-steps 300 --steps 400 --rollout-games 10 --final-games 4"
    " --evaluation-games 4 --out run"
)


def main() -> int:
    check_version()
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        wheels = build(here)
        for target, wheel in wheels.items():
            check_files(wheel, target)
        os.environ.pop("PYTHONPATH", None)
        # as on a machine that has never played
        os.environ["MONOPOLY_ENV_CACHE"] = str(here / "cache")
        os.chdir(here)  # nothing of the repository is found from here
        try_wheel(here, wheels[library.system()])
    print("The release is good.")
    return 0


def build(here: Path) -> dict[str, Path]:
    """The sdist, and the wheels that are built from it, by target."""
    _build("--sdist", ROOT)
    (sdist,) = DIST.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(here / "source", filter="data")
    (source,) = (here / "source").iterdir()
    wheels = {}
    for target in (*MACHINES, PURE):
        began, before = time.perf_counter(), set(DIST.iterdir())
        _build("--wheel", source, MONOPOLY_ENV_WHEEL=target)
        (wheels[target],) = set(DIST.iterdir()) - before
        size, seconds = wheels[target].stat().st_size / 1e6, time.perf_counter() - began
        print(f"{wheels[target].name}: {size:.1f} MB, {seconds:.0f} s", flush=True)
    return wheels


def _build(what: str, source: Path, **environment: str) -> None:
    line = [sys.executable, "-m", "build", "--no-isolation", what, "--outdir", DIST, source]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL, env=os.environ | environment)


def check_version() -> None:
    """The one version, of `monopoly_env.__version__`, is cited and has its release notes."""
    version = monopoly_env.__version__
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8"), (
        f"CITATION.cff cites another version than {version}"
    )
    notes = re.search(
        rf"^## .*\b{re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    assert notes, f"CHANGELOG.md has no section on {version}"


def check_files(wheel: Path, target: str) -> None:
    """A wheel has every file of the packages, and a library that fits its name."""
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
        name = f"monopoly_env/kernels/{library.file_name(target)}"
        if target == PURE:
            assert wheel.name.endswith("-py3-none-any.whl"), wheel
            assert name not in packed
        else:
            assert "-cp311-abi3-" in wheel.name, wheel
            check_library(archive.read(name), *MACHINES[target])
    tracked = subprocess.run(
        ["git", "ls-files", "src"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    missing = {path.removeprefix("src/") for path in tracked} - packed
    assert not missing, f"the wheel lacks {sorted(missing)}"


def check_library(data: bytes, system: str, machine: str) -> None:
    """The headers of a library, what it exports and what it needs."""
    found = lief.parse(data)
    assert found is not None
    assert found.format.name == system
    header = found.header
    kind = {"ELF": "machine_type", "MACHO": "cpu_type", "PE": "machine"}[system]
    assert getattr(header, kind).name == machine, getattr(header, kind)
    assert {"PyInit_exports", "_PyInit_exports"} & {one.name for one in found.exported_functions}
    needed = [getattr(one, "name", one) for one in found.libraries]
    assert all(map(NEEDED.fullmatch, needed)), needed
    for symbol in found.imported_symbols if system == "ELF" else ():
        version = re.search(r"GLIBC_([\d.]+)", str(symbol))
        assert not version or tuple(map(int, version[1].split("."))) <= OLDEST_GLIBC, symbol


def try_wheel(here: Path, wheel: Path) -> None:
    """Install a wheel into an empty environment and use it from an empty folder."""
    venv.create(here / "venv", with_pip=True)
    python = here / "venv" / "bin" / "python"
    before = weight(here)
    pip = [python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt"]
    subprocess.run([*pip, wheel], check=True)
    print(f"the core and what it pulls: {(weight(here) - before) / 1e6:.0f} MB", flush=True)
    os.environ["PATH"] = str(here)  # no compiler
    subprocess.run([python, "-P", ROOT / "tests" / "first_game.py"], check=True)
    subprocess.run([python, "-c", IMPORT_ALL, " ".join(libraries_of_extras())], check=True)
    for example in re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL):
        subprocess.run([python, "-c", example], check=True)
    subprocess.run([python, "-m", *TOURNAMENT.split()], check=True)
    torch = re.search(r"^torch==.*$", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    assert torch
    subprocess.run([*pip, torch[0]], check=True)  # with the rest, pip may fetch a larger build
    subprocess.run([*pip, f"{wheel}[web,train]"], check=True)
    serve(here, str(python))
    subprocess.run([python, "-m", *TRAINING.split()], check=True)
    listed = [python, "-m", "pip", "list", "--format=freeze"]
    names = subprocess.run(listed, check=True, capture_output=True, text=True).stdout
    assert "numba" not in names, names
    print(names)


def serve(here: Path, python: str) -> None:
    """Serve the table, fetch a module of its page, and play moves as a client."""
    server = table.Server.start(here / "games", python)
    try:
        with urllib.request.urlopen(f"http://{server.address}/modules/main.js", timeout=60) as page:
            assert page.status == 200
        client = asyncio.run(played(server))
    finally:
        server.stop()
    assert client.frame["version"] == 3


async def played(server: table.Server) -> table.Client:
    """A client that has played three moves."""
    client = table.Client(server, server.begin(table.PEOPLE, 1))
    await client.connect()
    await client.play(3)
    await client.socket.close()
    return client


def libraries_of_extras() -> set[str]:
    """The import names of the libraries that some extra installs."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    names = {
        re.split(r"[\[<>=;]", requirement)[0] for extra in extras.values() for requirement in extra
    }
    return INDIRECT | {IMPORTED_AS.get(name, name) for name in names}


def weight(here: Path) -> int:
    """Bytes of the files that are installed in the environment."""
    return sum(
        path.stat().st_size
        for path in (here / "venv").rglob("*")
        if path.is_file() and not path.is_symlink()
    )


if __name__ == "__main__":
    sys.exit(main())
