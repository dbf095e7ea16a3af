"""The examples of docs/clients.md run, those of libraries that are installed here."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.programs import python

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
    own = {"MINARI_DATASETS_PATH": tmp_path, "HF_HOME": tmp_path, "HF_HUB_OFFLINE": 1}
    python("-W", "ignore", "example.py", folder=tmp_path, **own)
