"""One server for all tests that need none of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="the extra web is not installed")

from starlette.testclient import TestClient

from monopoly_table.app import create
from monopoly_table.server import ServerSettings


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    settings = ServerSettings(
        tmp_path_factory.mktemp("table"), hosts=("testserver",), rate=1e6, burst=10**6
    )
    with TestClient(create(settings)) as made:
        yield made
