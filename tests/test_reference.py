"""The API reference: its names exist and have docstrings, whose examples run."""

from __future__ import annotations

import inspect
import pkgutil
import re
from pathlib import Path

import pytest

from tests import forked

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
EXAMPLES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if re.search(r"^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
)
SHOWN = [
    (target, member)
    for page in sorted((ROOT / "docs" / "reference").glob("*.md"))
    for target, members in re.findall(
        r"^::: ([\w.]+)$(?:\n +options: \{members: \[(.*?)\])?",
        page.read_text("utf-8"),
        re.MULTILINE,
    )
    for member in members.split(", ")
    if not target.startswith("monopoly_env.adapters")  # they import other libraries: tests/clients
]


@pytest.mark.parametrize(("target", "member"), SHOWN)
def test_names_of_the_reference_have_docstrings(target: str, member: str) -> None:
    shown = pkgutil.resolve_name(target)
    assert inspect.getdoc(getattr(shown, member) if member else shown)


def test_examples_of_the_main_entry_points_are_found() -> None:
    assert len(SHOWN) > 100
    modules = (
        "core monopoly_v0 envs.gym envs.vector policy.match policy.names rules encoding rewards"
    )
    assert {f"monopoly_env.{name}" for name in modules.split()} < set(EXAMPLES)


@pytest.mark.parametrize("module", EXAMPLES)
def test_examples_of_docstrings_run(module: str, tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(
        f"import doctest, importlib\n"
        f"failed, tried = doctest.testmod(importlib.import_module({module!r}))\n"
        f"assert tried and not failed\n",
        encoding="utf-8",
    )
    forked.run(tmp_path / "example.py")
