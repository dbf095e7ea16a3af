"""The library compiled ahead of time: its exports, its calls, and libraries that do not fit."""

from __future__ import annotations

import importlib.util
import json
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from monopoly_env import compiled
from monopoly_env.kernels import library
from monopoly_env.kernels.signatures import Signature, signature
from monopoly_env.kernels.sources import code_hash, file_hash
from tests.data.exports import FUNCTIONS, Scaled, Square
from tests.programs import python

ROOT = Path(__file__).parents[2]
COLLECT = """
from monopoly_env import compiled
print(*[export.name for export in compiled.collect()])
"""
BUILD = """
import sys
from pathlib import Path
from monopoly_env import compiled
from monopoly_env.kernels import export, library, name_of
from monopoly_env.kernels.signatures import signature
from tests.data.exports import FUNCTIONS
exports = [export.Export(name_of(f), f, signature(f)) for f in FUNCTIONS]
made = []
code = compiled.code_of(exports, made.append)
assert len(made) == len(exports)
assert compiled.code_of(exports, made.append) == code
assert len(made) == len(exports), "compiled again for another target"
target = library.system()
if "x86_64" in target:
    levels = {level: f"x86-64-{level}" for level in ("v4", "v3", "v2")}
    export.TARGETS[target] = export.TARGETS[target]._replace(levels=levels)
Path(sys.argv[1]).write_bytes(compiled.make(code, target, lambda text: None))
"""
LOAD = """
import sys
import numpy as np
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from monopoly_env.kernels import library
from monopoly_env.kernels.signatures import signature
from tests.data.exports import Scaled, total

loader = ExtensionFileLoader("exports", sys.argv[1])
try:
    module = module_from_spec(spec_from_loader("exports", loader))
except ImportError as error:
    print(error)
    sys.exit()
types = signature(total)
layouts = tuple(map(library.layout, types.arguments))
compiled = module.function(0, library.letter(types.result), layouts)
print(module.level, compiled(Scaled(np.random.default_rng(1).random(999), 1 / 3, True), 7).hex())
"""
WITHOUT_EXTRAS = """
import sys

sys.modules |= dict.fromkeys(("torch", "fastapi", "uvicorn", "ray", "cma", "pandas", "PIL"))
"""


@pytest.mark.slow
def test_every_function_that_python_calls_states_its_types() -> None:
    names = python("-c", COLLECT, NUMBA_DISABLE_JIT="1").stdout.split()
    assert len(names) > 100
    assert {"monopoly_env.core._apply", "agents.players.expert.play._play"} <= set(names)
    bare = python("-c", WITHOUT_EXTRAS + COLLECT, NUMBA_DISABLE_JIT="1").stdout.split()
    assert bare == names, "a wheel is built where no extra is installed"


def test_the_library_is_no_module_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = tmp_path / "shop" / "kernels"
    kernels.mkdir(parents=True)
    for name in ("__init__.py", "rent.py", library.FILE.name):
        (kernels / name).touch()
    for name in ("__init__.py", "__main__.py"):
        (kernels.parent / name).touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert list(compiled.modules("shop")) == ["shop.kernels", "shop.kernels.rent"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the functions of tests/data/exports.py."""
    return build(tmp_path_factory.mktemp("library"), seed=1)


def build(folder: Path, seed: int) -> Path:
    """Compile it in a process that hashes texts by a seed."""
    file = folder / library.FILE.name
    variables = {"MONOPOLY_ENV_COMPILED": 0, "MONOPOLY_ENV_CACHE": folder, "PYTHONHASHSEED": seed}
    python("-c", BUILD, file, folder=ROOT, **variables)
    return file


@pytest.mark.slow
def test_the_same_sources_give_the_same_bytes(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    assert build(tmp_path, seed=2).read_bytes() == data
    assert str(ROOT).encode() not in data, "a path of this machine"
    assert b"site-packages" not in data


@pytest.fixture(scope="module")
def made(file: Path) -> dict[str, Any]:
    """The functions of tests/data/exports.py, compiled ahead of time."""
    loader = ExtensionFileLoader("exports", str(file))
    spec = importlib.util.spec_from_loader("exports", loader)
    assert spec is not None
    with pytest.MonkeyPatch.context() as environment:  # 0 would mean no code in it
        environment.delenv("MONOPOLY_ENV_COMPILED", raising=False)
        module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)

    def function(number: int, types: Signature) -> Any:
        layouts = tuple(map(library.layout, types.arguments))
        return module.function(number, library.letter(types.result), layouts)

    return {f.__name__: function(n, signature(f)) for n, f in enumerate(FUNCTIONS)}


@pytest.mark.slow
@pytest.mark.skipif("x86_64" not in library.system(), reason="one kind of processor")
def test_the_code_of_each_kind_of_processor_gives_the_same_bits(file: Path) -> None:
    found = {}
    for level in ("v4", "v3", "v2"):
        told = python("-c", LOAD, file, folder=ROOT, MONOPOLY_ENV_COMPILED=level).stdout.strip()
        if told != f"it has no code {level} that this processor runs":
            name, found[level] = told.split()
            assert name == level
    assert len(set(found.values())) == 1
    assert "v2" in found


@pytest.mark.slow
def test_a_kind_of_processor_that_is_not_in_the_library_is_refused(file: Path) -> None:
    told = python("-c", LOAD, file, folder=ROOT, MONOPOLY_ENV_COMPILED="v7").stdout
    assert "it has no code v7 that this processor runs" in told


@pytest.mark.slow
def test_arguments_and_results_of_all_kinds(made: dict[str, Any]) -> None:
    values, squares = np.arange(4.0), np.zeros((3, 2), np.int64)
    assert made["total"](Scaled(values, 0.5, True), 7) == 10.0
    assert made["total"](Scaled(values, 0.5, False), 7) == -4.0
    assert made["fill"](squares, Square(2, 1)) is None
    assert squares.tolist() == [[0, 1], [0, 1], [4, 5]]
    assert made["is_odd"](3) is True
    assert made["is_odd"](np.int16(4)) is False
    assert made["eighth"](41) == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(4), 1), "argument 1 must be a tuple"),
        ((Scaled(np.zeros(4, np.float32), 1.0, True), 1), "array of dtype"),
        ((Scaled(np.zeros((2, 2)), 1.0, True), 1), "must have 1 dimensions, not 2"),
        ((Scaled(np.zeros(8)[::2], 1.0, True), 1), "contiguous"),
        ((Scaled(np.frombuffer(bytes(32)), 1.0, True), 1), "writable"),
        ((Scaled([1.0], 1.0, True), 1), "must be an array"),
        ((Scaled(np.zeros(4), "1", True), 1), "real number"),
        ((Scaled(np.zeros(4), 1.0, True), 1.5), "integer"),
        ((Scaled(np.zeros(4), 1.0, True),), "expected 2 arguments, not 1"),
    ],
)
def test_wrong_arguments_are_refused(
    made: dict[str, Any], arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        made["total"](*arguments)


@pytest.mark.slow
def test_errors_of_compiled_code_reach_python(made: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no negative numbers"):
        made["is_odd"](-1)


@pytest.mark.parametrize("damage", ["manifest", "format", "system", "digest", "cut"])
def test_a_library_that_does_not_fit_is_told_and_left_aside(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, about = tmp_path / "exports.abi3.so", tmp_path / "exports.manifest"
    file.write_bytes(b"no library")
    manifest = {"format": library.FORMAT, "system": library.system(), "digest": "", "exports": []}
    match damage:
        case "manifest":
            about.write_text("{")
        case "format":
            about.write_text(json.dumps(manifest | {"format": 0}))
        case "system":
            about.write_text(json.dumps(manifest | {"system": "amiga-m68k"}))
        case "digest":
            about.write_text(json.dumps(manifest))
        case "cut":
            digest = file_hash(file).hex()
            about.write_text(json.dumps(manifest | {"digest": digest, "sources": []}))
    monkeypatch.setattr(library, "FILE", file)
    monkeypatch.setattr(library, "ABOUT", about)
    monkeypatch.delenv("MONOPOLY_ENV_COMPILED", raising=False)
    with pytest.warns(UserWarning, match="is not used"):
        assert library.loaded.__wrapped__() is None


def forget_hashes() -> None:
    file_hash.cache_clear()
    code_hash.cache_clear()


def test_an_export_is_used_until_the_code_of_one_of_its_sources_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / name for name in ("rent.py", "jail.py")]
    for file in files:
        file.write_text(f'"""Of the {file.stem}."""\nFEE = 50\n')
    sources = [(one.name, file_hash(one).hex(), code_hash(one).hex()) for one in files]
    both = library.Library(None, {"pay": 0, "leave": 1}, [[0], [0, 1]], sources)
    monkeypatch.setattr(library, "ROOT", tmp_path)
    monkeypatch.setattr(library, "loaded", lambda: both)
    assert (library.number("pay"), library.number("leave"), library.number("bid")) == (0, 1, None)
    for text, leave in (
        ("# the fee of the booklet\nFEE = (50)  # or a card\n", 1),
        ("FEE = 60\n", None),
        ("FEE = \n", None),
    ):
        files[1].write_text(text)
        forget_hashes()
        assert (library.number("pay"), library.number("leave")) == (0, leave)


def test_a_library_is_current_until_a_file_that_it_was_made_of_or_with_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library_file, caller = tmp_path / library.FILE.name, tmp_path / "caller.c"
    for file in (library_file, caller):
        file.write_text(file.name)
    monkeypatch.setattr(library, "ROOT", tmp_path)
    assert not compiled.is_current(tmp_path, "amiga-m68k")
    manifest = {
        "system": "amiga-m68k",
        "digest": file_hash(library_file).hex(),
        "sources": [("caller.c", *2 * [file_hash(caller).hex()])],
    }
    (tmp_path / library.ABOUT.name).write_text(json.dumps(manifest))
    assert compiled.is_current(tmp_path, "amiga-m68k")
    assert not compiled.is_current(tmp_path, "linux-x86_64")
    for file in (caller, library_file):
        file.write_text("edited")
        forget_hashes()
        assert not compiled.is_current(tmp_path, "amiga-m68k")
        file.write_text(file.name)
        forget_hashes()
    caller.unlink()
    forget_hashes()
    assert not compiled.is_current(tmp_path, "amiga-m68k")
