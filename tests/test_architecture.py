"""The structure of the packages: what import-linter (`make lint`) cannot say of imports, and the picture of them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = [path for folder in ("src", "studies", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))]


NAMED_TUPLE = {"_asdict", "_fields", "_make", "_replace"}  # public in spite of their names


def private(name: str) -> bool:
    """Whether a name is for its own module alone."""
    return name.startswith("_") and not name.startswith("__") and name not in NAMED_TUPLE


def private_uses(tree: ast.Module) -> Iterator[str]:
    """Private names of other modules that a module imports, or reads from a module or class that it imports."""
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imported |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
            names = [part for alias in node.names for part in alias.name.split(".")]
            yield from (name for name in names if private(name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported and private(node.attr):
            yield f"{node.value.id}.{node.attr}"


def test_private_names_stay_in_their_module() -> None:
    used = {str(path.relative_to(ROOT)): list(private_uses(ast.parse(path.read_bytes()))) for path in SOURCES}
    assert {path: names for path, names in used.items() if names} == {}


def test_the_picture_of_the_packages_is_up_to_date() -> None:
    done = subprocess.run([sys.executable, "docs/packages.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_files_that_the_design_names_exist() -> None:
    named = re.findall(r"`((?:monopoly_env|pente_env|agents|training|studies|tests)/[\w./]*)`", (ROOT / "docs" / "design.md").read_text())
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists() and not (ROOT / "src" / name).exists()] == []
