"""The examples of docs/clients.md run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "clients.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_every_library_has_an_example() -> None:
    text = "".join(EXAMPLES)
    libraries = "gymnasium stable_baselines3 sb3_contrib monopoly_v0 adapters.torchrl adapters.rllib tianshou"
    assert [name for name in libraries.split() if name not in text] == []


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_run(number: int, tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(EXAMPLES[number], encoding="utf-8")
    done = subprocess.run([sys.executable, "-W", "ignore", "example.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
