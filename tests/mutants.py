"""The mutation score of the rulebook: how many small errors in `engine/` the tests notice.

    NUMBA_DISABLE_JIT=1 python -m tests.mutants --count 300 --seed 0 --out mutants.jsonl

A mutant changes one comparison, constant, `and` or `or`, or deletes one statement, in a function of
the rulebook. All of it runs in plain Python: one process imports the rulebook and its tests once,
and a fork of it replaces the code of the function. The golden games and tests that call it run in
the fork, the fastest first. The checks of records (`invariants.py`) are not the rulebook: fuzzers
and forged files try them.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import json
import os
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

import monopoly_env as me
from monopoly_env.rules import PRESETS
from tests import golden

ENGINE = Path(me.__file__).parent / "engine"
LEFT_OUT = {"__init__.py", "invariants.py"}
TESTS = ("tests/monopoly_env/engine", "tests/monopoly_env/test_quirks.py")
OTHER = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
TOO_LONG = "too long"
SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Return, ast.Break, ast.Continue)


@dataclass
class Mutant:
    """A change of a function.

    Attributes:
        module: The chapter.
        function: The name of the function.
        line: In the chapter.
        was: The code before.
        now: The code after; empty if it is deleted.
        code: The function, compiled.
    """

    module: str
    function: str
    line: int
    was: str
    now: str
    code: CodeType = field(repr=False)

    def __str__(self) -> str:
        return (
            f"{self.module}.py:{self.line} {self.function}: {self.was} -> {self.now or 'deleted'}"
        )


# --- mutants


def mutants(path: Path) -> Iterator[Mutant]:
    """All mutants of a chapter, in the order of its lines."""
    tree = ast.parse(path.read_text())
    for number, function in enumerate(tree.body):
        if isinstance(function, ast.FunctionDef):
            for at, node in enumerate(ast.walk(function)):
                for change in _changes(node):
                    yield _mutant(path, tree, (number, at), change)


Change = Callable[[Any], tuple[str, str]]  # changes a node in place: what it was, what it is


def _changes(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            if type(operator) in OTHER:
                yield lambda copied, place=place: _compare(copied, place)
    elif isinstance(node, ast.BoolOp):
        yield _connect
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield lambda copied: _set(copied, not copied.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield lambda copied: _set(copied, copied.value + 1)
        yield lambda copied: _set(copied, copied.value - 1)
    for name in ("body", "orelse"):
        for place, statement in enumerate(getattr(node, name, []) if _has_block(node) else []):
            text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if isinstance(statement, SIMPLE) and not text:
                yield lambda copied, name=name, place=place: _delete(getattr(copied, name), place)


def _has_block(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.If, ast.For, ast.While))


def _compare(node: ast.Compare, place: int) -> tuple[str, str]:
    was = ast.unparse(node)
    node.ops[place] = OTHER[type(node.ops[place])]()
    return was, ast.unparse(node)


def _connect(node: ast.BoolOp) -> tuple[str, str]:
    was = ast.unparse(node)
    node.op = OTHER[type(node.op)]()
    return was, ast.unparse(node)


def _set(node: ast.Constant, value: int) -> tuple[str, str]:
    was, node.value = node.value, value
    return str(was), str(value)


def _delete(block: list[ast.stmt], place: int) -> tuple[str, str]:
    was = ast.unparse(block[place])
    block[place] = ast.copy_location(ast.Pass(), block[place])
    return was, ""


def _mutant(path: Path, tree: ast.Module, at: tuple[int, int], change: Change) -> Mutant:
    changed = copy.deepcopy(tree.body[at[0]])
    assert isinstance(changed, ast.FunctionDef)
    node = list(ast.walk(changed))[at[1]]
    line = getattr(node, "lineno", changed.lineno)
    was, now = change(node)
    changed.decorator_list = []
    module = ast.fix_missing_locations(ast.Module([*tree.body[:1], changed], []))
    # annotations stay text: the chapter begins with `from __future__ import annotations`
    module.body.insert(1, ast.parse("from __future__ import annotations").body[0])
    whole = compile(module, str(path), "exec")
    code = next(c for c in whole.co_consts if isinstance(c, CodeType))
    return Mutant(path.stem, changed.name, line, was, now, code)


# --- killers


def differs(preset: str) -> bool:
    """Whether a golden game of a preset leads to another record."""
    recorded = golden.load(preset)
    game = me.new_game(recorded["num_players"], preset, recorded["seed"])
    return any(
        me.digest(me.step(game, action))[:8] != digest
        for action, digest in zip(recorded["actions"], recorded["digests"], strict=True)
    )


def fails(item: pytest.Item) -> bool:
    """Whether a test fails."""
    return any(report.failed for report in runtestprotocol(item, nextitem=None, log=False))


@dataclass
class Killer:
    """A golden game or a test: its name, its run, the functions that it calls, its CPU seconds."""

    name: str
    run: Callable[[], bool]
    calls: set[tuple[str, str]] = field(default_factory=set)  # chapter and function
    seconds: float = 0.0

    def measure(self, limit: int) -> bool:
        """Run it on the unchanged rulebook, in a fork; False if it is too slow or fails there."""
        told = in_fork(self._measured, limit)
        if not told.startswith("[false"):
            print(f"left out: {self.name}")
            return False
        _, self.seconds, calls = json.loads(told)
        self.calls = {(Path(file).stem, name) for file, name in calls}
        return True

    def _measured(self) -> str:
        calls = set()

        def note(frame: Any, event: str, _: Any) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(str(ENGINE)):
                calls.add((frame.f_code.co_filename, frame.f_code.co_name))

        began = time.process_time()
        sys.setprofile(note)
        failed = self.run()
        sys.setprofile(None)
        return json.dumps([failed, time.process_time() - began, sorted(calls)])


def in_fork(work: Callable[[], str], seconds: int) -> str:
    """What a function returns in a fork of this process, or TOO_LONG after so many CPU seconds."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        try:
            answer = work()
        except BaseException as error:  # an error is noticed
            answer = type(error).__name__
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as lines:
        answer = lines.read()
    _, status = os.waitpid(child, 0)
    return answer if os.WIFEXITED(status) else TOO_LONG


class Hunt:
    """A plugin of pytest that hunts mutants with the tests that it collected."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.results = list[dict[str, Any]]()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Measure the killers, then try each mutant."""
        killers = [Killer(f"golden {name}", lambda name=name: differs(name)) for name in PRESETS]
        killers += [Killer(item.nodeid, lambda item=item: fails(item)) for item in session.items]
        killers = [killer for killer in killers if killer.measure(self.options.slowest)]
        print(
            f"{len(killers)} of {len(PRESETS) + len(session.items)} golden games and tests take"
            f" {self.options.slowest} s or less: {sum(k.seconds for k in killers):.0f} s in all",
            flush=True,
        )
        drawn = draw(self.options.count, self.options.seed)
        for number, mutant in enumerate(drawn):
            if number >= self.options.first:
                self._try(number, mutant, killers)
        return True

    def _try(self, number: int, mutant: Mutant, killers: list[Killer]) -> None:
        module = importlib.import_module(f"monopoly_env.engine.{mutant.module}")
        function = getattr(module, mutant.function)
        old = function.__code__
        where = mutant.module, mutant.function
        able = [killer for killer in killers if where in killer.calls]
        able.sort(key=lambda killer: killer.seconds)

        def work() -> str:
            for killer in able:
                if killer.run():
                    return killer.name
            return "survived"

        began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        function.__code__ = mutant.code
        try:
            fate = in_fork(work, 60 + int(3 * sum(killer.seconds for killer in able)))
        finally:
            function.__code__ = old
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began
        result = {"number": number, "mutant": str(mutant), "fate": fate, "able": len(able)}
        self.results.append(result | {"seconds": round(seconds, 2)})
        if self.options.out:
            with Path(self.options.out).open("a") as lines:
                lines.write(json.dumps(self.results[-1]) + "\n")
        print(f"{number} {mutant}: {fate} ({seconds:.1f} s)", flush=True)


def draw(count: int, seed: int) -> list[Mutant]:
    """Mutants drawn from all of the rulebook, without replacement."""
    paths = sorted(path for path in ENGINE.glob("*.py") if path.name not in LEFT_OUT)
    found = [mutant for path in paths for mutant in mutants(path)]
    print(f"{len(found):,} mutants of {len(paths)} chapters, {count} drawn", flush=True)
    return random.Random(seed).sample(found, count)


def main() -> int:
    """Draw mutants, try them, and print the score."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="mutants drawn")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--first", type=int, default=0, help="the first of them that is tried")
    parser.add_argument("--slowest", type=int, default=3, help="CPU seconds of a test that is used")
    parser.add_argument("--out", help="add a line of JSON for each mutant to this file")
    options = parser.parse_args()
    if os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0"):
        parser.error("set NUMBA_DISABLE_JIT=1: mutants run in plain Python")
    hunt = Hunt(options)
    pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", *TESTS], plugins=[hunt])
    fates = Counter(result["fate"] == "survived" for result in hunt.results)
    if hunt.results:
        score = fates[False] / len(hunt.results)
        print(f"killed {fates[False]} of {len(hunt.results)}: {score:.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
