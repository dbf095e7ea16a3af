"""A release as a user gets it.

`make release` builds wheel and sdist in dist/, tries the wheel in an empty environment, uploads
nothing.

- The version is the same everywhere, and CHANGELOG.md says what it brings.
- The wheel, which is built from the sdist, has every file of the packages.
- With the core alone, every module imports, or lacks a library of an extra and nothing else.
- From an empty folder, a game is played, a shipped network chooses, data and the page of the table
  are there.

It takes minutes, so it is no test of the suite.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

import monopoly_env

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
INDIRECT = {"starlette", "pydantic", "anyio"}  # they come with fastapi
IMPORTED_AS = {"pillow": "PIL", "open-spiel": "pyspiel"}
IMPORT_ALL = """
import importlib, pkgutil, sys
known, lacking, count = set(sys.argv[1].split()), {}, 0
for package in ("monopoly_env", "pente_env", "agents", "training"):
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, package + ".", onerror=lambda name: None):
        if found.name.endswith("__main__"):
            continue
        count += 1
        try:
            importlib.import_module(found.name)
        except ModuleNotFoundError as error:
            assert error.name.split(".")[0].replace("_", "-") in known, f"{found.name} needs {error.name}, which no extra has"
            lacking.setdefault(error.name.split(".")[0], []).append(found.name)
print(f"{count} modules; those that need an extra:")
for library, modules in sorted(lacking.items()):
    print(f"  {library}: {len(modules)}, such as {modules[0]}")
"""  # noqa: E501
PLAY = """
import time
began = time.perf_counter()
import monopoly_env as me
print(f"import monopoly_env: {time.perf_counter() - began:.2f} s")
import agents
from pathlib import Path
game = me.new_game(2, seed=0)
for _ in range(300):  # who always takes the first action never ends a game
    me.step(game, int(me.legal_actions(game)[0]))
assert (Path(me.__file__).parents[1] / "monopoly_table" / "page" / "index.html").is_file()
print(agents.arena.play(["ppo/best/two", "random"], games=2))
print(f"first import to first game and first match, compiling: {time.perf_counter() - began:.0f} s")
"""


def main() -> int:
    check_version()
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", DIST, ROOT],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    print(
        f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {sdist.name}:"
        f" {sdist.stat().st_size / 1e6:.1f} MB",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        check_files(wheel)
        venv.create(here / "venv", with_pip=True)
        python = here / "venv" / "bin" / "python"
        before = weight(here)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel],
            check=True,
        )
        print(f"the core and what it pulls: {(weight(here) - before) / 1e6:.0f} MB", flush=True)
        subprocess.run([python, "-m", "pip", "list", "--format=freeze"], check=True)
        os.environ.pop("PYTHONPATH", None)
        # as on a machine that has never played
        os.environ["MONOPOLY_ENV_CACHE"] = str(here / "cache")
        os.chdir(here)  # nothing of the repository is found from here
        subprocess.run([python, "-c", IMPORT_ALL, " ".join(libraries_of_extras())], check=True)
        subprocess.run([python, "-c", PLAY], check=True)
    print(f"{wheel.name} and {sdist.name} are good.")
    return 0


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


def check_files(wheel: Path) -> None:
    """The wheel, which `build` makes from the sdist, has every file of the packages."""
    packed = set(zipfile.ZipFile(wheel).namelist())
    tracked = subprocess.run(
        ["git", "ls-files", "src"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    missing = {path.removeprefix("src/") for path in tracked} - packed
    assert not missing, f"the wheel lacks {sorted(missing)}"


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
