"""Which of the other libraries are here.

Tests of those that are not are left out, and the header says so.

CLIENTS names the modules that must be there; `make test-clients` sets it for each of its
environments.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

MODULES = {
    "test_openspiel.py": "pyspiel",
    "test_rllib.py": "ray",
    "test_textarena.py": "textarena",
    "test_tianshou.py": "tianshou",
    "test_torchrl.py": "torchrl",
}
collect_ignore = [file for file, module in MODULES.items() if find_spec(module) is None]


def pytest_report_header() -> list[str]:
    return [
        f"NOT INSTALLED HERE: {MODULES[file]}, so {file} is left out" for file in collect_ignore
    ]


def pytest_configure() -> None:
    missing = [
        module for module in os.environ.get("CLIENTS", "").split() if find_spec(module) is None
    ]
    if missing:
        raise pytest.UsageError(f"CLIENTS says that these must be installed: {', '.join(missing)}")
