"""How Numba compiles rules, where the library is left aside.

Edits are seen, machine code is kept, importing compiles nothing, plain Python works.

Programs run in fresh interpreters on a copy of the sources with a cache folder of their own.
"""

from __future__ import annotations

import ast
import os
import re
import runpy
import shutil
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import pytest
from numba.core import event

import monopoly_env as me
from monopoly_env import kernels
from monopoly_env.kernels import jit, linking, sources
from monopoly_env.kernels.code_cache import CodeCache
from tests.programs import python

SOURCES = Path(me.__file__).parents[1]
NUMBA: dict[str, object] = {"MONOPOLY_ENV_COMPILED": 0}

# Prints the result of a small kernel, and how many compilations were fetched from disk and how many
# were made.
MEASURE = """
import numba
from monopoly_env.game import empty_games
from monopoly_env.engine import rent
from monopoly_env.kernels import entry
from monopoly_env.rules import Rules

games = empty_games(1)
games["rules"] = Rules().to_record()
games["num_players"] = 2
games["lots"][0, 0] = 3 | 15 << 22
due = [rent.ordinary_rent(games[0], 0, lot, 7) for lot in (0, 1, 22)]
stats = rent.ordinary_rent.stats
print(*due, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sources that a test may edit."""
    target = tmp_path / "src"
    shutil.copytree(SOURCES, target, ignore=shutil.ignore_patterns("__pycache__", "exports.*"))
    return target


def run(program: str, sources: Path, cache: Path, **environment: str) -> list[str]:
    """The words that a program prints on these sources, with this folder for machine code."""
    variables = NUMBA | {"PYTHONPATH": sources, "MONOPOLY_ENV_CACHE": cache}
    return python("-c", program, folder=cache.parent, **variables, **environment).stdout.split()


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text that occurs once."""
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {path}"
    path.write_text(text.replace(old, new))


# --- edits


@pytest.mark.slow
def test_an_edit_in_another_file_is_seen_by_the_next_run(copy: Path) -> None:
    """Numba's own cache looks at the file of the kernel alone; rent.py is never touched here."""
    engine, data, cache = (
        copy / "monopoly_env" / "engine",
        copy / "monopoly_env" / "facts" / "data",
        copy.parent / "cache",
    )
    assert run(MEASURE, copy, cache) == ["4", "8", "200", "0", "1"]  # compiled
    assert run(MEASURE, copy, cache) == ["4", "8", "200", "1", "0"]  # fetched
    clone = shutil.copytree(copy, copy.parent / "clone" / "src")
    assert run(MEASURE, clone, cache) == ["4", "8", "200", "1", "0"]  # fetched, too
    edit(engine / "players.py", "return int(game.lots[seat]) & lots == lots", "return False")
    assert run(MEASURE, copy, cache) == ["2", "4", "200", "0", "1"]
    # counts half of them: a file that only rent.py and players.py import
    edit(engine / "sets.py", ".bit_count()", ".bit_count() // 2")
    assert run(MEASURE, copy, cache)[2:] == ["50", "0", "1"]
    board = data / "board_us.csv"
    header, *rows = board.read_text().splitlines(keepends=True)
    column = header.rstrip().split(",").index("rent_base")
    fields = rows[1].split(",")
    assert fields[column] == "2"
    fields[column] = "77"
    board.write_text("".join([header, rows[0], ",".join(fields), *rows[2:]]))
    assert run(MEASURE, copy, cache) == ["77", "4", "50", "0", "1"]


def test_code_that_checks_its_indices_is_kept_apart(tmp_path: Path) -> None:
    program = (
        "from monopoly_env.kernels import sources; print(sources.source_hash('monopoly_env.core'))"
    )
    hashes = [
        run(program, SOURCES, tmp_path / "cache", NUMBA_BOUNDSCHECK=flag) for flag in ("0", "1")
    ]
    assert hashes[0] == [sources.source_hash("monopoly_env.core")] != hashes[1]


@pytest.mark.slow
def test_an_edit_is_seen_where_the_cache_folder_cannot_be_used(copy: Path) -> None:
    """Numba alone would fall back to folders of its own, which know nothing of other files."""
    occupied = copy.parent / "occupied"
    occupied.write_text("a file, no folder")
    assert run(MEASURE, copy, occupied)[:3] == ["4", "8", "200"]
    edit(
        copy / "monopoly_env" / "engine" / "players.py",
        "return int(game.lots[seat]) & lots == lots",
        "return False",
    )
    assert run(MEASURE, copy, occupied)[:3] == ["2", "4", "200"]


@pytest.mark.slow
def test_another_numba_compiles_without_its_internals(copy: Path) -> None:
    """Plain `njit` computes the same, keeps its code, and sees edits in other files."""
    newer = f"import numba\nnumba.__version__ = '99.0.0'\n{MEASURE}"
    cache = copy.parent / "cache"
    assert run(newer, copy, cache) == ["4", "8", "200", "0", "1"]
    assert run(newer, copy, cache) == ["4", "8", "200", "1", "0"]
    players = copy / "monopoly_env" / "engine" / "players.py"
    edit(players, "return int(game.lots[seat]) & lots == lots", "return False")
    assert run(newer, copy, cache) == ["2", "4", "200", "0", "1"]
    tell = f"import warnings; warnings.simplefilter('error')\n{newer}"
    with pytest.raises(AssertionError, match=r"Numba 99\.0\.0 has other internals"):
        run(tell, copy, cache)


# Appends a comment to every source file in turn and prints the files that change no hash although
# they should.
HASH_ALL = """
import sys
from pathlib import Path
import agents, pente_env
from monopoly_env.kernels import sources

def hashes(names):
    sources.file_hash.cache_clear()
    return {name: sources.source_hash(name) for name in names}

root = Path(sources.__file__).parents[2]
files = {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in root.rglob("*.py")}
entries = ["monopoly_env.core", "monopoly_env.envs.vector", "monopoly_env.validate.fuzz"]
entries += ["agents.players.algorithmic", "agents.arena.runner", "agents.learned.menus", "pente_env.loop"]
before = hashes(entries)
for module, path in sorted(files.items()):
    text = path.read_bytes()
    path.write_bytes(text + b"# edited\\n")
    changed = [name for name, value in hashes(entries).items() if value != before[name]]
    path.write_bytes(text)
    print(module, *changed, sep=",")
data = [*(root / "monopoly_env/facts/data").iterdir(), *(root / "agents").rglob("*.json"), *(root / "agents").rglob("*.safetensors")]
for path in sorted(data):
    content = path.read_bytes()
    path.write_bytes(content + b" ")
    print(path.name, *[name for name, value in hashes(entries).items() if value != before[name]], sep=",")
    path.write_bytes(content)
assert hashes(entries) == before
"""  # noqa: E501


@pytest.mark.slow
def test_an_edit_in_any_file_of_the_rulebook_changes_the_folder(copy: Path) -> None:
    seen = {
        line.split(",")[0]: set(line.split(",")[1:])
        for line in run(HASH_ALL, copy, copy.parent / "cache")
    }
    everybody = {
        "monopoly_env.core",
        "monopoly_env.envs.vector",
        "monopoly_env.validate.fuzz",
        "agents.players.algorithmic",
        "agents.arena.runner",
        "agents.learned.menus",
    }
    chapters = {
        f"monopoly_env.engine.{path.stem}"
        for path in (SOURCES / "monopoly_env" / "engine").glob("*.py")
        if path.stem != "__init__"
    }
    # a policy looks at the game; it does not carry the rules out
    playing = everybody - {"agents.players.algorithmic", "agents.learned.menus"}
    for module in sorted(chapters - {"monopoly_env.engine.invariants"}):
        assert playing <= seen[module], module
    for module in ("actions", "facts.board", "facts.cards", "game", "rules"):
        assert seen[f"monopoly_env.{module}"] == everybody, f"{module}: Pente knows nothing of it"
    assert seen["monopoly_env.kernels"] == everybody | {"pente_env.loop"}
    for name in ("board_us.csv", "board_uk.csv", "cards.csv", "editions.toml"):
        assert seen[name] == everybody, name
    # a network and numbers that are constants of compiled code
    for name in ("best.safetensors", "bargaining.json"):
        assert "agents.learned.menus" in seen[name], name
    assert {"monopoly_env.core", "monopoly_env.validate.fuzz"} <= seen[
        "monopoly_env.engine.invariants"
    ]
    assert seen["monopoly_env.validate.ledger"] == {"monopoly_env.validate.fuzz"}
    assert seen["training.dqn"] == set()  # nothing compiled hangs on it


# Walks over all kernels and prints those that use another module's kernel that their hash does not
# know.
FIND_UNKNOWN = """
import importlib
import numba
from monopoly_env.compiled import modules
from monopoly_env.kernels import sources

names = [*modules("monopoly_env"), *modules("agents")]
# An adapter has no kernels, and imports a library that may not be installed.
count = 0
for module in [importlib.import_module(name) for name in names if ".adapters." not in name]:
    for value in vars(module).values():
        if isinstance(value, numba.core.dispatcher.Dispatcher) and value.py_func.__module__ == module.__name__:
            code = value.py_func.__code__
            used = [value.py_func.__globals__.get(name) for name in code.co_names]
            count += 1
            for other in used:
                home = other.py_func.__module__ if isinstance(other, numba.core.dispatcher.Dispatcher) else getattr(other, "__name__", "")
                if home.split(".")[0] in sources._registered and home not in sources._closure(module.__name__):
                    print("unknown:", module.__name__, value.py_func.__name__, home)
print(count)
"""  # noqa: E501


def imported(module: ast.Module) -> set[str]:
    return set(sources._imported_names(module))


def test_only_import_statements_are_parsed_and_none_is_missed() -> None:
    """Of all modules of the library, and where a statement is hard to tell from a sentence."""
    texts = [path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py")]
    assert len(texts) > 200
    for source in texts:
        statements = sources._import_statements(source)
        assert imported(ast.parse(source)) <= imported(statements)
        assert all(
            isinstance(statement, (ast.Import, ast.ImportFrom)) for statement in statements.body
        )
    module = "monopoly_env.engine"
    for source in (
        f'"""Text\nfrom the bank\n"""\nfrom {module} import rent\n',
        f"from {module} import (  # (as it is)\n    setup,\n\n    rent,\n)  # fmt: skip\nx = 1\n",
        f"from {module} import \\\nrent\n",
        f"import os; from {module} import rent\n",
        f"import {module}.rent\nfrom a import b\n",
    ):
        assert f"{module}.rent" in imported(sources._import_statements(source)), source


@pytest.mark.slow
def test_every_kernel_that_a_kernel_calls_counts(tmp_path: Path) -> None:
    found = run(FIND_UNKNOWN, SOURCES, tmp_path / "cache")
    assert "unknown:" not in found
    assert int(found[-1]) > 150


# --- the cache folder


def test_the_folder_can_be_moved_and_is_named_by_the_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONOPOLY_ENV_CACHE", str(tmp_path / "here"))
    folder = sources.cache_folder.__wrapped__("monopoly_env.engine.sets")
    assert folder == tmp_path / "here" / sources.source_hash("monopoly_env.engine.sets")
    other = sources.cache_folder.__wrapped__("monopoly_env.engine.rent")
    assert other.parent == folder.parent
    assert other != folder


@pytest.fixture
def doubling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], tuple[int, bool]]:
    """Load a compiled function anew from its file, and call it.

    Returns the result, and whether its code came from disk.
    """
    source = tmp_path / "doubling.py"
    source.write_text("def double(x):\n    return 2 * x\n")
    monkeypatch.setattr(linking, "cache_folder", lambda module: tmp_path / "cache" / "code")

    def load() -> tuple[int, bool]:
        monkeypatch.setattr(CodeCache, "warned", False)
        double = jit.entry(runpy.run_path(str(source))["double"])
        return double(21), bool(double.stats.cache_hits)

    return load


Doubling = Callable[[], tuple[int, bool]]


@pytest.mark.parametrize(
    "damage",
    [
        lambda code: b"",
        lambda code: code[:-1],
        *(
            lambda code, i=i: code[: i * len(code) // 9] + b"!?" + code[i * len(code) // 9 + 2 :]
            for i in range(9)
        ),
    ],
)
def test_damaged_code_is_compiled_again_with_a_warning(
    doubling: Doubling, damage: Any, tmp_path: Path
) -> None:
    assert doubling() == (42, False)
    (file,) = (tmp_path / "cache" / "code").iterdir()
    code = file.read_bytes()
    assert doubling() == (42, True)
    file.write_bytes(damage(code))
    with pytest.warns(
        UserWarning, match=r"double-\w+' is damaged. Code is compiled in memory. MONOPOLY_ENV_CACHE"
    ):
        assert doubling() == (42, False)
    assert doubling() == (42, True), "it was written anew"


def test_a_cache_that_cannot_be_read_is_set_aside(doubling: Doubling, tmp_path: Path) -> None:
    assert doubling() == (42, False)
    (file,) = (tmp_path / "cache" / "code").iterdir()
    file.unlink()
    file.mkdir()
    with pytest.warns(UserWarning, match="Cannot write") as warned:
        assert doubling() == (42, False)
    assert len(warned) == 1


def test_a_folder_that_cannot_be_made_is_set_aside(doubling: Doubling, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, no folder")
    with pytest.warns(UserWarning, match="Cannot write .* Not a directory"):
        assert doubling() == (42, False)


def test_a_full_disk_is_told_once(tmp_path: Path) -> None:
    """No file may grow beyond 0 bytes.

    What the system then answers is an error like that of a full disk.
    """
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
    measure = textwrap.indent(MEASURE, "    ")
    program = (
        f"import warnings; {limit}\nwith warnings.catch_warnings(record=True) as"
        f" told:{measure}\nprint(len(told), told[0].message)"
    )
    assert run(program, SOURCES, tmp_path / "cache")[:6] == ["4", "8", "200", "0", "1", "1"]
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_old_folders_are_dropped_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = time.time() - 40 * 86_400
    names = {
        "0123456789abcdef": False,
        "fedcba9876543210": True,
        "my old documents": True,
        "photographs-2019": True,
        "short": True,
    }
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "content").write_text("mine")
        if name != "fedcba9876543210":
            os.utime(tmp_path / name, (old, old))
    (tmp_path / "a-file-of-mine-x").write_text("mine")
    os.utime(tmp_path / "a-file-of-mine-x", (old, old))
    monkeypatch.setenv("MONOPOLY_ENV_CACHE", str(tmp_path))
    folder = sources.cache_folder.__wrapped__("monopoly_env.engine.sets")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {name for name, kept in names.items() if kept} | {"a-file-of-mine-x"}
    assert not folder.exists(), "made when code is written"


def test_an_own_folder_is_never_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONOPOLY_ENV_CACHE", str(tmp_path))
    folder = sources.cache_folder.__wrapped__("monopoly_env.engine.sets")
    folder.mkdir()
    os.utime(folder, (1, 1))
    assert sources.cache_folder.__wrapped__("monopoly_env.engine.sets") == folder
    assert folder.is_dir()
    assert time.time() - folder.stat().st_mtime < 3600


def test_a_kernel_typed_at_a_prompt_compiles_too() -> None:
    names: dict[str, Any] = {"entry": jit.entry, "__name__": "__console__"}
    exec("@entry\ndef double(x):\n    return 2 * x\n", names)  # what a prompt does
    assert names["double"](21) == 42


def test_the_clock_of_speeds_stands_still_while_code_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(event, "timer", lambda: now)
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    began = kernels.clock()
    with event.trigger_event("numba:compiler_lock"):
        now += 30
        with event.trigger_event("numba:compiler_lock"):  # of what that calls
            now += 10
    now += 2
    assert kernels.clock() - began == 2


# --- what importing loads

IMPORT = """
import sys
import monopoly_env as me
import numba
heavy = "torch pandas matplotlib rich tyro stable_baselines3 sb3_contrib tensorboard hypothesis pytest agents training".split()
print(*[name for name in heavy if name in sys.modules], sep=",")
compiled = [
    f"{name}.{key}" for name, module in list(sys.modules.items()) if name.split(".")[0] in ("monopoly_env", "agents")
    for key, value in vars(module).items() if isinstance(value, numba.core.dispatcher.Dispatcher)
    if value.overloads or vars(value).get("linked", lambda: value)().overloads
]
print(len(compiled), *compiled)
"""  # noqa: E501


def test_importing_compiles_nothing_and_loads_nothing_heavy(tmp_path: Path) -> None:
    assert run(IMPORT, SOURCES, tmp_path / "cache") == ["0"]


PLAIN = """
import types, importlib, pkgutil
import monopoly_env as me
from monopoly_env import engine

assert not any(type(value).__module__.startswith("numba") for value in vars(me.core).values())
count = 0
for info in pkgutil.iter_modules(engine.__path__):
    module = importlib.import_module(f"monopoly_env.engine.{info.name}")
    for value in vars(module).values():
        if callable(value) and getattr(value, "__module__", "") == module.__name__:
            assert type(value) is types.FunctionType, value
            count += 1
game = me.new_game(3, seed=1)
for _ in range(50):
    me.step(game, int(me.legal_actions(game)[0]))
print(count, me.digest(game))
"""


def test_without_compilation_kernels_are_plain_functions(tmp_path: Path) -> None:
    count, digest = run(PLAIN, SOURCES, tmp_path / "cache", NUMBA_DISABLE_JIT="1")
    assert int(count) > 100
    assert not (tmp_path / "cache").exists()
    game = me.new_game(3, seed=1)
    for _ in range(50):
        me.step(game, int(me.legal_actions(game)[0]))
    assert me.digest(game) == digest


# --- widths


def test_a_kernel_is_compiled_once_for_all_integers() -> None:
    @jit.kernel
    def one_more(x: int) -> int:
        return x + 1

    @jit.entry
    def sums(a: Any, b: Any) -> int:
        return one_more(a[0]) + one_more(b[0]) + one_more(3)  # type: ignore[no-any-return]

    import numpy as np

    assert sums(np.array([1], np.int16), np.array([2], np.int32)) == 2 + 3 + 4
    assert len(one_more.linked().overloads) == 1
    assert not one_more.overloads, "machine code that nobody calls"


# --- linking

TALKATIVE = """
import sys
import numba
from monopoly_env.kernels import entry, kernel

@kernel
def tell(x):
    print("told", x)
    if x > 5:
        raise ValueError("too much", x)
    return x + 1

@entry
def ask(x):
    return tell(x)

@entry
def ask_again(x):
    return tell(x)

@numba.njit
def ask_from_outside(x):
    return tell(x)

try:
    globals()[sys.argv[1]](int(sys.argv[2]))
except ValueError as error:
    print(*error.args)
print(sum(tell.linked().stats.cache_misses.values()))
"""


@pytest.mark.slow
def test_a_linked_kernel_may_print_and_raise_compiled_and_from_disk(tmp_path: Path) -> None:
    """Compiling is told, in one line; loading is not."""
    (tmp_path / "talkative.py").write_text(TALKATIVE)
    variables = NUMBA | {"PYTHONPATH": SOURCES, "MONOPOLY_ENV_CACHE": tmp_path / "cache"}

    def told(name: str, x: int) -> tuple[str, str]:
        program = (
            f"import runpy, sys; sys.argv[1:] = [{name!r}, {str(x)!r}];"
            " runpy.run_path('talkative.py', run_name='talkative')"
        )
        done = python("-c", program, folder=tmp_path, **variables)
        return " ".join(done.stdout.split()), re.sub("compiling.*", "compiling", done.stderr)

    compiling = "monopoly_env: compiling\n"
    assert told("ask", 2) == ("told 2 1", compiling)
    assert told("ask", 7) == ("told 7 too much 7 0", "")
    assert told("ask_again", 7) == ("told 7 too much 7 0", compiling), "of old code"
    assert told("ask_from_outside", 7) == ("told 7 too much 7 0", "")
    assert told("tell", 3) == ("told 3 0", compiling)


def test_a_kernel_may_call_itself() -> None:
    @jit.kernel
    def factorial(n: int) -> int:
        return 1 if n <= 1 else n * factorial(n - 1)

    @jit.entry
    def of_five() -> int:
        return factorial(5)

    assert of_five() == factorial(5) == 120


def test_linked_functions_are_internal_to_the_function_that_python_calls() -> None:
    """So they are inlined and dropped: games run a fifth faster."""

    @jit.kernel
    def halves(n: int) -> int:
        return 0 if n == 0 else 1 + halves(n // 2)  # calls itself, so it stays a function

    @jit.entry
    def of_nine() -> int:
        return halves(9)

    assert of_nine() == 4
    (code,) = of_nine.inspect_llvm().values()
    (own,) = (
        function for function in llvm.parse_assembly(code).functions if "halves" in function.name
    )
    assert own.linkage == llvm.Linkage.internal


# --- arrays without owners


def test_a_borrowed_array_is_the_same_numbers_without_an_owner_to_count() -> None:
    import numpy as np

    @jit.entry
    def row(array: Any, number: int) -> Any:
        return kernels.borrowed(array)[number]  # type: ignore[no-any-return]

    array = np.arange(6.0).reshape(2, 3)
    references = sys.getrefcount(array)
    view = row(array, 1)
    assert sys.getrefcount(array) == references
    assert view.base is None  # else each slice counts up what owns the array, and down again
    assert not view.flags.owndata
    view[0] = 7.0

    @jit.entry
    def named(pair: Any) -> Any:
        return kernels.borrowed(pair).array[0]  # type: ignore[no-any-return]

    class Pair(NamedTuple):
        number: int
        array: Any

    first = named(Pair(3, array))
    assert first.base is None
    assert first.tolist() == [0.0, 1.0, 2.0]
    assert array.tolist() == [[0.0, 1.0, 2.0], [7.0, 4.0, 5.0]]
    assert kernels.borrowed(array) is array  # without compilation


@pytest.mark.slow
def test_only_a_kernel_that_makes_arrays_or_returns_them_counts_references() -> None:
    import numpy as np
    from numba.core.runtime import _nrt_python, rtsys

    @jit.kernel
    def last(array: Any) -> float:
        rest = array[1:]
        return rest[-1]  # type: ignore[no-any-return]

    @jit.kernel
    def rest(array: Any) -> Any:
        return array[1:]

    @jit.kernel
    def copy(array: Any) -> Any:
        copied = np.empty(len(array))
        copied[:] = array
        return copied

    @jit.kernel
    def second(array: Any) -> float:
        return rest(copy(array))[0]  # type: ignore[no-any-return]

    @jit.entry
    def ask(array: Any, times: int) -> float:
        total = 0.0
        for _ in range(times):
            total += last(array) + second(rest(copy(array)))
        return total

    array = np.arange(6.0)
    assert ask(array, 1) == 5.0 + 2.0
    _nrt_python.memsys_enable_stats()
    references, made = sys.getrefcount(array), rtsys.get_allocation_stats()
    assert ask(array, 1000) == 1000 * (5.0 + 2.0)
    after = rtsys.get_allocation_stats()
    assert sys.getrefcount(array) == references
    assert after.alloc - made.alloc == after.free - made.free == 2001, (
        "each copy and the view of the argument, freed once"
    )
    assert not _counts(last)
    assert _counts(rest)
    assert _counts(copy)
    assert _counts(second)


def _counts(function: Any) -> bool:
    (code,) = function.linked().inspect_llvm().values()
    return "NRT_incref" in code or "NRT_decref" in code


# --- arrays on the stack


def test_an_array_on_the_stack_belongs_to_one_call_and_is_given_back() -> None:
    import numpy as np

    @jit.kernel
    def filled(number: int) -> Any:
        mine = kernels.on_stack(4096, np.float64)  # 32 KiB: a thousand of them would not fit
        for i in range(len(mine)):
            mine[i] = number
        return mine[0] + mine[-1]

    @jit.entry
    def often(times: int) -> Any:
        mine, total = kernels.on_stack(2, np.float64), 0.0
        mine[0], mine[1] = -1.0, -1.0
        for number in range(times):
            total += filled(number)
        return total + mine[0] * mine[1]  # nobody else has written there

    assert often(10_000) == 9_999 * 10_000 + 1
    (code,) = filled.linked().inspect_llvm().values()
    (own,) = (
        function for function in llvm.parse_assembly(code).functions if "filled" in function.name
    )
    assert "alloca [4096 x double]" in str(own), (
        "the place of another function is gone when that returns"
    )
    assert kernels.on_stack(3, np.int16).shape == (3,)  # without compilation


def test_an_array_on_the_stack_has_a_constant_length() -> None:
    import numba
    import numpy as np

    @jit.entry
    def grown(count: int) -> Any:
        return kernels.on_stack(count, np.float64)[0]

    with pytest.raises(numba.TypingError, match="on_stack: the count must be a constant"):
        grown(3)
