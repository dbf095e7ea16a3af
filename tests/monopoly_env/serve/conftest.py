"""One server for all tests that need none of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="the extra web is not installed")

from starlette.testclient import TestClient  # noqa: E402 - only if it is there

from monopoly_env.serve.app import create  # noqa: E402
from monopoly_env.serve.house import Settings  # noqa: E402


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    settings = Settings(tmp_path_factory.mktemp("table"), hosts=("testserver",), rate=1e6, burst=10**6)
    with TestClient(create(settings)) as made:
        yield made
