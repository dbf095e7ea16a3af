"""The structure of the packages, and the picture of it.

Tests what import-linter (`make lint`) cannot say of imports.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.programs import python

ROOT = Path(__file__).parents[1]
SOURCES = [
    path
    for folder in ("src", "studies", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*.py"))
]


# of the system, named tuples and notebooks, public in spite of their names
PUBLIC = {"_asdict", "_exit", "_fields", "_make", "_replace", "_repr_html_", "_repr_svg_"}


# Tests of what no public name shows: imports that are hashed and references that Numba counts,
# messages to nodes, places in a policy's memory.
NEED_PRIVATE_NAMES = {
    "tests/agents/players/test_vocabulary.py",
    "tests/monopoly_env/test_kernels.py",
    "tests/training/test_cluster.py",
}


@cache
def tree_of(path: Path) -> ast.Module:
    """A module's code."""
    return ast.parse(path.read_bytes())


def private(name: str) -> bool:
    """Whether a name is for its own module alone."""
    return name.startswith("_") and not name.startswith("__") and name not in PUBLIC


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
        str(path.relative_to(ROOT)): list(private_uses(tree_of(path)))
        for path in (*SOURCES, *(ROOT / "tests").rglob("*.py"))
    }
    assert {path for path, names in used.items() if names} <= NEED_PRIVATE_NAMES


# The number of actions, and the sizes of heads with few of them, typed in.
TYPED_IN = re.compile(r"\b20[45]\b|legal\(game, (?:actions\.)?A_\w+, [2-9]")


def test_only_one_file_knows_how_many_actions_there_are() -> None:
    typed = {
        str(path.relative_to(ROOT)): found
        for path in (ROOT / "src").rglob("*.py")
        if path.parts[-2:] != ("monopoly_env", "actions.py")
        if (found := TYPED_IN.findall(path.read_text()))
    }
    assert not typed, f"NUM_ACTIONS or HEADS[...].size instead: {typed}"


# Files that come with the package, or that another program of ours has just written.
OWN_FILES = {
    "monopoly_env/kernels/sources.py", "monopoly_env/files/sources.py", "monopoly_env/reference.py",
    "monopoly_env/kernels/library.py", "monopoly_env/compiled.py", "monopoly_env/browser/bundle.py",
    "monopoly_env/render/page.py",
    "agents/players/evolved.py", "agents/players/expert/bargainer.py",
    "agents/players/genetic/shipped.py",
    "monopoly_table/recordings.py", "monopoly_table/static.py", "monopoly_bench/tasks/code.py",
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
    found = {name: list(reads(tree_of(source / name))) for name in names - OWN_FILES}
    opened = {name: calls for name, calls in found.items() if calls}
    assert opened == {"monopoly_env/files/__init__.py": ["open"]}


# From the ground up: a package imports only those before it.
PACKAGES = (
    "monopoly_env", "pente_env", "agents", "training", "monopoly_bench", "monopoly_table",
    "studies",
)  # fmt: skip


def texts(tree: ast.Module) -> Iterator[str]:
    """The strings of a module that are no docstrings."""
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in statements:
            yield from [node.value] if isinstance(node.value, str) else []


def test_no_module_names_a_package_above_it() -> None:
    """An import by a string, such as "agents.registry:POLICIES", points upward, too."""
    found = []
    for number, package in enumerate(PACKAGES[:-1]):
        above = re.compile(rf"({'|'.join(PACKAGES[number + 1 :])})(\.\w+)*(:\w+)?")
        for path in sorted((ROOT / "src" / package).rglob("*.py")):
            named = filter(above.fullmatch, texts(tree_of(path)))
            found += [f"{path.relative_to(ROOT)}: {text}" for text in named]
    assert found == []


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
HEAVY = re.compile(r"(torch|tensorboard|stable_baselines3|sb3_contrib|torchrl|ray|pyspiel)\b")


def imports(tree: ast.Module) -> Iterator[str]:
    """The modules that a module imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_nothing_below_training_imports_torch() -> None:
    """Each adapter imports the library that it is for."""
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for package in PACKAGES[: PACKAGES.index("training")]
        for path in sorted((ROOT / "src" / package).rglob("*.py"))
        if path.parent.name != "adapters"
        for name in filter(HEAVY.match, imports(tree_of(path)))
    ]
    assert found == []


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LONGEST_FUNCTION = 60  # lines without its docstring
MOST_METHODS = 20
# Each game has its own `Rules`: with `import monopoly_env as me, pente_env as pe`, me.Rules and
# pe.Rules, as me.new_game and pe.new_game.
NAMED_TWICE = {"Rules"}


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without its docstring."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    first = function.body[0]
    documented = ast.get_docstring(function) is not None
    return lines - ((first.end_lineno or 0) - first.lineno + 1 if documented else 0)


def test_functions_fit_a_screen_and_classes_a_page_and_a_class_has_a_name_of_its_own() -> None:
    long, large, classes = set(), set(), Counter[str]()
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, (ast.Module, ast.ClassDef)):
                continue
            functions = [item for item in node.body if isinstance(item, FUNCTIONS)]
            of = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
            long |= {of + item.name for item in functions if length(item) > LONGEST_FUNCTION}
            if isinstance(node, ast.ClassDef):
                large |= {node.name} if len(functions) > MOST_METHODS else set()
                classes[node.name] += not node.name.startswith("_")
    twice = {name for name, count in classes.items() if count > 1}
    assert (long, large, twice - NAMED_TWICE) == (set(), set(), set())


def test_the_picture_of_the_packages_is_up_to_date() -> None:
    python("docs/packages.py", "--check", folder=ROOT)


def test_the_files_that_the_design_names_exist() -> None:
    named = re.findall(
        r"`((?:monopoly_env|pente_env|agents|training|studies|tests)/[\w./]*)`",
        (ROOT / "docs" / "design.md").read_text(),
    )
    assert len(named) > 20
    assert [
        name for name in named if not (ROOT / name).exists() and not (ROOT / "src" / name).exists()
    ] == []
