"""The file of games: a full disk, and a disk that changes what was written."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from monopoly_env.errors import MonopolyError
from monopoly_table.app import create
from monopoly_table.server import Server, ServerSettings
from monopoly_table.storage import FILE
from tests.monopoly_table.clients import ann, begin, host

FLIPS = 80


def made(folder: Path) -> TestClient:
    return TestClient(create(ServerSettings(folder, hosts=("testserver",), rate=1e6, burst=10**6)))


def test_on_a_full_disk_nothing_is_done(tmp_path: Path) -> None:
    with made(tmp_path) as client:
        game = begin(client, "person", "person")
        database: Any = client.app.state.server.storage.database
        with ann(client, game) as player:
            before = player.view
            pages = database.execute("PRAGMA page_count").fetchone()[0]
            database.execute(f"PRAGMA max_page_count = {pages}")
            new = {"seats": [{"kind": "person", "name": "x" * 40}] * 8}
            answers = [client.post("/api/games", json=new, headers=host(client)) for _ in range(9)]
            assert answers[-1].status_code == 503
            assert "disk full" in answers[-1].json()["error"]
            while (answer := player.act(player.view["actions"][0]["action"]))["type"] == "done":
                before = player.view
            assert "disk full" in answer["error"]
            assert player.view == before
            database.execute("PRAGMA max_page_count = 1000000")
            assert player.act(player.view["actions"][0]["action"])["type"] == "done"
        assert client.post("/api/games", json=new, headers=host(client)).status_code == 201


def played(client: TestClient, decisions: int = 12) -> str:
    game = begin(client, "person", "person", seed=None)
    with ann(client, game) as player:
        while player.view["version"] < decisions:
            player.act(player.view["actions"][0]["action"])
    return str(game["game"])


def shown(server: Server, game: str) -> Any:
    """What the server tells of a game."""
    row, storage = server.row(game), server.storage
    table = server.sessions.load(game)
    kept = storage.snapshot(game, 11), storage.actions(row), storage.steps(game, 50)
    return row, table.digest, list(table.log), kept


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    with made(tmp_path / "first") as client:
        games = [played(client) for _ in range(2)]
        right = {game: shown(client.app.state.server, game) for game in games}
    written = bytearray((tmp_path / "first" / FILE).read_bytes())
    draw, refused = random.Random(1), 0
    (tmp_path / FILE).touch()
    for _ in range(FLIPS):
        place, bit = draw.randrange(len(written)), 1 << draw.randrange(8)
        written[place] ^= bit
        (tmp_path / FILE).write_bytes(written)
        written[place] ^= bit
        try:
            server = Server(ServerSettings(tmp_path))
        except MonopolyError:
            refused += 1
            continue
        for game in games:
            try:
                assert shown(server, game) == right[game]
                assert {row["game"] for row in server.games()} <= set(games)
            except MonopolyError:
                refused += 1
        server.close()
    assert refused > 0
