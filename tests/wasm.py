"""The library for browsers, built once for these sources, and programs in node."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from filelock import FileLock

from monopoly_env.kernels.sources import cache_root
from tests.programs import python

SOURCES: Final = Path(__file__).parents[1] / "src"
PROGRAMS: Final = Path(__file__).parent / "data"
NODE: Final = shutil.which("node")
NEEDED: Final = [
    pytest.mark.skipif(not NODE, reason="NOT TESTED: the library for browsers needs node"),
    pytest.mark.skipif(
        not importlib.util.find_spec("ziglang"),
        reason="NOT TESTED: the library for browsers needs ziglang",
    ),
    pytest.mark.slow,  # the library is linked first
]


def folder() -> Path:
    """The folder of its files; one process builds it, in a minute or two, and the others wait."""
    made_of = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*")):
        has_kernels = "monopoly_table" not in path.parts
        if has_kernels and path.suffix in {".py", ".c", ".js", ".json", ".toml", ".safetensors"}:
            made_of.update(path.read_bytes())
    made = cache_root() / made_of.hexdigest()[:16] / "browser"
    made.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(made.with_suffix(".lock")):
        if not (made / "monopoly.wasm").is_file():
            python("-m", "monopoly_env.compiled", "--target", "wasm32", "--out", made)
    return made


def done(program: str, folder: Path, *jobs: tuple[str, dict[str, Any]]) -> list[Any]:
    """The results of jobs for one of the programs, with the folder that it loads."""
    found = subprocess.run(
        [str(NODE), str(PROGRAMS / program), str(folder)],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    results: list[Any] = json.loads(found.stdout)
    return results
