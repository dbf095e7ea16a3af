"""Every rule, every ambiguity and every settled point has a test that bears its number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_SOURCES = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")]
_NAMES = " ".join(re.findall(r"def (test_\w+)", "".join(_SOURCES)))
_NUMBERS = [
    *(f"rule_{rule:02}" for rule in range(1, 65)),
    *(f"_a{point:02}" for point in range(1, 30)),
    *(f"_s{point:02}" for point in range(1, 15)),
]


@pytest.mark.parametrize("number", _NUMBERS)
def test_index(number: str) -> None:
    assert re.search(rf"{number}(?!\d)", _NAMES)
