"""Every reader of files refuses damaged and forged ones with an error of ours."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.fuzz_files import READERS, Fuzzer

# of each reader, beside those of what is no regular file; more by hand: python -m tests.fuzz_files
# --minutes 10
CASES = 30
SOURCE = Path(__file__).parents[1] / "src"

# The modules with readers that `READERS` has a row for.
COVERED = {
    "agents/arena/ratings.py", "agents/arena/result_files.py", "monopoly_env/files/arrays.py",
    "monopoly_env/saves.py",
    "monopoly_env/facts/editions.py",
    "monopoly_env/policy/files.py", "monopoly_bench/puzzles/prompts.py",
    "monopoly_bench/puzzles/__init__.py",
    "monopoly_env/replays/files.py",
    "monopoly_bench/tasks/code.py", "monopoly_bench/suite.py",
    "training/experience/datasets.py",
    "training/run/checkpoints.py", "training/run/folder.py", "training/sprt.py",
}  # fmt: skip
# These only hash a file, or trust it: it is a program, or compiled code.
NOTHING_TO_PARSE = {
    "monopoly_env/kernels/code_cache.py", "monopoly_env/files/sources.py",
    "monopoly_env/__main__.py", "monopoly_bench/__main__.py",
    "training/run/options.py",
}  # fmt: skip


def opens(path: Path) -> bool:
    """Whether a module imports what opens files."""
    imports = (
        node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.ImportFrom)
    )
    return any(
        node.module == "monopoly_env.files"
        and {"read_file", "read_saved", "open_file"} & {name.name for name in node.names}
        for node in imports
    )


def test_every_reader_is_in_the_table() -> None:
    assert {
        path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if opens(path)
    } == COVERED | NOTHING_TO_PARSE


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_refused_with_an_error_of_ours(name: str, tmp_path: Path) -> None:
    fuzzer = Fuzzer(name, tmp_path)
    traces = [fuzzer.case(number) for number in range(fuzzer.nodes + CASES)]
    assert [trace for trace in traces if trace] == []
    assert len(traces) > CASES
