"""The structure of the packages, and the picture of it.

Tests what import-linter (`make lint`) cannot say of imports.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = [
    path
    for folder in ("src", "studies", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*.py"))
]


NAMED_TUPLE = {"_asdict", "_fields", "_make", "_replace"}  # public in spite of their names


def private(name: str) -> bool:
    """Whether a name is for its own module alone."""
    return name.startswith("_") and not name.startswith("__") and name not in NAMED_TUPLE


def private_uses(tree: ast.Module) -> Iterator[str]:
    """Private names of other modules that a module imports or reads.

    It reads them from a module or class that it imports.
    """
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imported |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
            names = [part for alias in node.names for part in alias.name.split(".")]
            yield from (name for name in names if private(name))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in imported
            and private(node.attr)
        ):
            yield f"{node.value.id}.{node.attr}"


def test_private_names_stay_in_their_module() -> None:
    used = {
        str(path.relative_to(ROOT)): list(private_uses(ast.parse(path.read_bytes())))
        for path in SOURCES
    }
    assert {path: names for path, names in used.items() if names} == {}


# Files that come with the package, or that another program of ours has just written.
OWN_FILES = {
    "monopoly_env/kernels/sources.py", "monopoly_env/sources.py", "monopoly_env/reference.py",
    "monopoly_env/render/page.py",
    "agents/players/evolved.py", "agents/players/expert/bargainer.py",
    "agents/players/genetic/shipped.py",
    "monopoly_table/recordings.py", "monopoly_bench/tasks/code.py",
}  # fmt: skip
READS = {
    "read_text",
    "read_bytes",
    "safe_open",
    "load_file",
    "fromfile",
    "memmap",
    "loadtxt",
    "genfromtxt",
}


def reads(tree: ast.Module) -> Iterator[str]:
    """The calls of a module that open a file by its path for reading."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        plain = isinstance(node.func, ast.Name)
        name = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        words = [*node.args, *(word.value for word in node.keywords)]
        binary = any(isinstance(word, ast.Constant) and word.value == "rb" for word in words)
        if name in READS or (name == "open" and (plain or binary)):
            yield name


def test_files_of_users_are_opened_in_one_place() -> None:
    source = ROOT / "src"
    names = {path.relative_to(source).as_posix() for path in SOURCES if path.is_relative_to(source)}
    found = {
        name: list(reads(ast.parse((source / name).read_bytes()))) for name in names - OWN_FILES
    }
    opened = {name: calls for name, calls in found.items() if calls}
    assert opened == {"monopoly_env/files.py": ["open"]}


def test_the_picture_of_the_packages_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "docs/packages.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_files_that_the_design_names_exist() -> None:
    named = re.findall(
        r"`((?:monopoly_env|pente_env|agents|training|studies|tests)/[\w./]*)`",
        (ROOT / "docs" / "design.md").read_text(),
    )
    assert len(named) > 20
    assert [
        name for name in named if not (ROOT / name).exists() and not (ROOT / "src" / name).exists()
    ] == []
