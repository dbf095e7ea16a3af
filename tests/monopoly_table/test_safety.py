"""Strangers: foreign hosts and origins, missing tokens, large and strange requests, floods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from monopoly_env.errors import ConfigurationError
from monopoly_env.policy.names import make
from monopoly_table.app import create
from monopoly_table.safety import MOST_BODY
from monopoly_table.server import Catalogue, ServerSettings
from monopoly_table.storage import Storage
from tests.monopoly_table.clients import Player, analysing, ann, bearer, begin, host


@pytest.mark.parametrize(("headers", "allowed"), [
    ({"host": "127.0.0.1:8000"}, True), ({"host": "[::1]:8000"}, True),
    ({"host": "localhost"}, True), ({"host": "192.168.1.7:80"}, True),
    ({"host": "evil.example"}, False), ({"host": "localhost.evil.example"}, False),
    ({"host": ""}, False), ({"host": "[::1"}, False),
    ({"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"}, True),
    ({"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:9000"}, False),
    ({"host": "127.0.0.1:8000", "origin": "http://["}, False),
    ({"host": "127.0.0.1:8000", "origin": "//[x"}, False),
    ({"host": "127.0.0.1:8000", "origin": "https://evil.example"}, False),
    ({"host": "127.0.0.1:8000", "origin": "null"}, False),
])  # fmt: skip
def test_only_our_own_page_gets_in(
    client: TestClient, headers: dict[str, str], allowed: bool
) -> None:
    answer = client.get("/api/about", headers=headers)
    assert answer.status_code == (200 if allowed else 403)
    assert "content-security-policy" in answer.headers
    if not allowed:
        with (
            pytest.raises(WebSocketDisconnect),
            client.websocket_connect("/api/analyse", headers=headers),
        ):
            pass


@pytest.mark.parametrize(("method", "path"), [
    ("GET", "/api/games"), ("POST", "/api/games"), ("POST", "/api/replays"),
    ("GET", "/api/games/{game}"), ("DELETE", "/api/games/{game}"),
    ("GET", "/api/games/{game}/frames/0"), ("GET", "/api/games/{game}/replay"),
    ("GET", "/api/games/{game}/index"),
    ("POST", "/api/games/{game}/join"),
])  # fmt: skip
@pytest.mark.parametrize(
    "headers",
    [{}, bearer("wrong"), bearer("wröng".encode().decode("latin-1")), {"Authorization": "Basic x"}],
)
def test_without_the_right_token_nothing_is_done(
    client: TestClient, method: str, path: str, headers: dict[str, str]
) -> None:
    game = begin(client, "person", "person")["game"]
    body = {"seats": [{"kind": "person"}] * 2} if path == "/api/games" else {"seat": 0}
    sent = {name: value.encode("utf-8") for name, value in headers.items()}
    answer = client.request(
        method, path.format(game=game), json=body if method == "POST" else None, headers=sent
    )
    assert answer.status_code == 401
    assert answer.json()["error"].endswith((".", "link."))


def test_the_token_of_another_game_does_not_fit(client: TestClient) -> None:
    one, other = begin(client, "person", "guest"), begin(client, "person", "guest")
    assert (
        client.get(f"/api/games/{one['game']}", headers=bearer(other["watch"])).status_code == 401
    )
    with (
        pytest.raises(WebSocketDisconnect),
        Player(client, one["game"], other["seats"][0]["token"]),
    ):
        pass
    assert client.get("/api/games", headers=bearer(one["watch"])).status_code == 401


def test_what_is_too_large_is_refused(client: TestClient) -> None:
    assert client.get("/api/about", headers={"content-length": "9" * 5000}).status_code == 413
    long = client.post("/api/positions", content=b"x" * (MOST_BODY + 1))
    assert long.status_code == 413
    assert "256 KiB" in long.json()["error"]
    pieces = client.post("/api/positions", content=(b"x" * 1000 for _ in range(400)))
    assert pieces.status_code == 413


@pytest.mark.parametrize(
    "path", ["/../pyproject.toml", "/%2e%2e/app.py", "/..%2fapp.py", "/__init__.py", "/api/nothing"]
)
def test_no_file_of_the_machine_is_served(client: TestClient, path: str) -> None:
    answer = client.get(path, headers=host(client))
    assert answer.status_code in (404, 405)
    assert "import" not in answer.text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"type": "act"}',
        '{"type": "act", "version": -1, "digest": "", "action": 0}',
        '{"type": "act", "version": 0, "digest": "", "action": 205}',
        '{"type": "eval", "id": 1}',
        '{"type": "act", "version": 1e400, "digest": "", "action": 0}',
        '{"a":' * 5000,
    ],
)
def test_a_strange_message_is_answered_with_a_sentence(client: TestClient, text: str) -> None:
    game = begin(client, "person", "person")
    with ann(client, game) as player:
        player.socket.send_text(text)
        answer = player.receive()
        assert answer["type"] == "refused"
        assert answer["error"].endswith(".")
        assert answer["id"] == (1 if '"id": 1' in text else 0)
        assert player.say("ping")["type"] == "pong"


@pytest.mark.parametrize(
    "hello", ['{"type": "hello"}', "x", '{"type": "act"}', '{"type": "hello", "token": "x"}']
)
def test_a_strange_hello_ends_the_connection(client: TestClient, hello: str) -> None:
    game = begin(client, "person", "person")["game"]
    for path in (f"/api/games/{game}/socket", "/api/games/none/socket", "/api/analyse"):
        with client.websocket_connect(path) as socket:
            socket.send_text(hello)
            with pytest.raises(WebSocketDisconnect) as closed:
                socket.receive_json()
            assert closed.value.code in (1008, 4401, 4404)


def test_a_message_of_a_wrong_shape_is_refused_by_its_number(client: TestClient) -> None:
    with analysing(client) as socket:
        for number, text in (
            (7, '{"type": "curve", "id": 7}'),
            (0, '{"type": "curve", "id": "7"}'),
            (0, "[7]"),
        ):
            socket.send_text(text)
            answer = socket.receive_json()
            assert (answer["type"], answer["id"]) == ("refused", number)


def test_one_socket_too_many_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with TestClient(create(ServerSettings(tmp_path, hosts=("testserver",), sockets=1))) as client:
        for _ in range(2):  # and it is counted no more when it has left
            with (
                client.websocket_connect("/api/analyse"),
                client.websocket_connect("/api/analyse") as late,
            ):
                with pytest.raises(WebSocketDisconnect) as closed:
                    late.receive_json()
                assert (closed.value.code, "1 connections at once" in closed.value.reason) == (
                    4429,
                    True,
                )
    assert not caplog.records


def test_floods_are_stopped(tmp_path: Path) -> None:
    with TestClient(
        create(ServerSettings(tmp_path, hosts=("testserver",), rate=0.001, burst=5))
    ) as client:
        answers = [client.get("/api/puzzles").status_code for _ in range(8)]
    assert answers == [200] * 5 + [429] * 3


def test_saved_policies_come_from_one_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    make("expert").save(tmp_path / "in" / "mine.safetensors")
    make("expert").save(tmp_path / "out.safetensors")
    (tmp_path / "in" / "broken.safetensors").write_bytes(b"x")
    (tmp_path / "in" / "link.safetensors").symlink_to(tmp_path / "out.safetensors")
    catalogue = Catalogue(tmp_path / "in")
    saved = [name for name in catalogue.names() if name.startswith("file:")]
    assert {name: catalogue.plays_on(name) for name in saved} == {
        "file:mine.safetensors": True,
        "file:broken.safetensors": False,
    }
    for name in (
        "file:../out.safetensors",
        "file:link.safetensors",
        str(tmp_path / "out.safetensors"),
    ):
        with pytest.raises(ConfigurationError, match="Unknown policy"):
            catalogue.make(name)
    with pytest.raises(ConfigurationError, match="is no folder"):
        Catalogue(tmp_path / "none")


def test_a_folder_has_one_server(tmp_path: Path) -> None:
    storage: Any = Storage(tmp_path)
    with pytest.raises(ConfigurationError, match="Another server uses the folder"):
        Storage(tmp_path)
    secret = storage.secret("host")
    storage.close()
    again = Storage(tmp_path)
    assert again.secret("host") == secret
    assert (tmp_path / "table.sqlite").stat().st_mode & 0o077 == 0
    again.close()
