"""The examples of docs/clients.md run, those of libraries that are installed here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "clients.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
LIBRARIES = (
    "gymnasium", "stable_baselines3", "sb3_contrib", "torch", "torchrl", "ray", "tianshou",
    "agilerl", "supersuit", "pettingzoo", "pyspiel",
    "textarena",    "datasets", "minari", "d3rlpy",
)  # fmt: skip


def libraries(example: str) -> list[str]:
    """The other libraries that an example imports, directly or by our adapter."""
    return [
        name
        for name in LIBRARIES
        if re.search(rf"^(from|import) (monopoly_env\.adapters\.)?{name}\b", example, re.MULTILINE)
    ]


def test_every_library_has_an_example() -> None:
    shown = {name for example in EXAMPLES for name in libraries(example)}
    assert set(LIBRARIES) - shown == set()
    assert "monopoly_v0" in "".join(EXAMPLES)


@pytest.mark.parametrize(
    "number",
    range(len(EXAMPLES)),
    ids=["-".join(libraries(example)) or "plain" for example in EXAMPLES],
)
def test_examples_run(number: int, tmp_path: Path) -> None:
    missing = [name for name in libraries(EXAMPLES[number]) if find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed here: {', '.join(missing)}")
    (tmp_path / "example.py").write_text(EXAMPLES[number], encoding="utf-8")
    command = [sys.executable, "-W", "ignore", "example.py"]
    own = {"MINARI_DATASETS_PATH": str(tmp_path), "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
