"""The command itself: killed in the middle of a move it goes on; many clients at once lose nothing."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import websockets

import monopoly_env as me
from monopoly_env import replays
from monopoly_env.serve.__main__ import main

GAMES = 24


def start(data: Path) -> tuple[subprocess.Popen[str], str, str]:
    """A server of its own: its process, its address and the host's token."""
    command = [sys.executable, "-m", "monopoly_env.serve", "--no-browser", "--port", "0", "--data", str(data)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout is not None
    printed = server.stdout.readline()
    found = re.search(r"http://(\S+)/#token=(\S+)", printed)
    assert found, printed
    return server, found[1], found[2]


def post(address: str, token: str, path: str, body: Any) -> Any:
    request = urllib.request.Request(
        f"http://{address}{path}", json.dumps(body).encode(), {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


class Client:
    """Somebody who plays the first or the last legal action."""

    def __init__(self, address: str, token: str, game: str) -> None:
        self.url, self.token, self.game = f"ws://{address}/api/games/{game}/socket", token, game
        self.view: dict[str, Any] = {}
        self.moves: list[int] = []

    async def connect(self) -> None:
        self.socket = await websockets.connect(self.url, max_size=None)
        hello = {"type": "hello", "token": self.token, "version": self.view.get("version"), "digest": self.view.get("digest")}
        await self.socket.send(json.dumps(hello))
        self.take(await self.next())

    async def next(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(await asyncio.wait_for(self.socket.recv(), 60))
        return told

    def take(self, message: dict[str, Any]) -> None:
        assert message["type"] != "refused", message
        if message["type"] == "events":
            assert message["from"] == self.view["version"], "a step is missing"
            self.moves += [step["action"] for step in message["steps"]]
        if message["type"] in ("events", "state"):
            self.view = message["view"]

    async def send(self) -> None:
        legal = self.view["actions"]
        action = legal[-1 if self.view["question"]["decision"] == "buy" else 0]["action"]
        move = {"type": "act", "id": 1, "version": self.view["version"], "digest": self.view["digest"], "action": action}
        await self.socket.send(json.dumps(move))

    async def play(self, decisions: int) -> None:
        while self.view["version"] < decisions and not self.view["over"]:
            await self.send()
            while (message := await self.next())["type"] != "done":
                self.take(message)


def test_killed_in_the_middle_of_a_move_the_game_goes_on(tmp_path: Path) -> None:
    server, address, token = start(tmp_path)
    new = {"seats": [{"kind": "person"}, {"kind": "person"}], "seed": 5}
    game = post(address, token, "/api/games", new)["game"]

    async def until_killed() -> Client:
        client = Client(address, token, game)
        await client.connect()
        await client.play(15)
        await client.send()  # and nobody waits for the answer
        server.send_signal(signal.SIGKILL)
        server.communicate()
        return client

    client = asyncio.run(until_killed())
    again, address, same = start(tmp_path)
    try:
        assert same == token

        async def go_on() -> None:
            client.url = f"ws://{address}/api/games/{game}/socket"
            before = client.view["version"]
            await client.connect()
            assert client.view["version"] in (before, before + 1)
            await client.play(before + 10)
            await client.socket.close()

        asyncio.run(go_on())
    finally:
        again.terminate()
        again.communicate(timeout=30)
    record = me.new_game(2, seed=5)
    for action in client.moves:
        me.step(record, action)
    assert replays.digest(record) == client.view["digest"]
    assert len(client.moves) == client.view["version"]


def test_many_clients_some_cut_off_lose_nothing(tmp_path: Path) -> None:
    server, address, token = start(tmp_path)

    async def one(number: int) -> Client:
        new = {"seats": [{"kind": "person"}, {"kind": "person"}], "seed": number}
        game = (await asyncio.to_thread(post, address, token, "/api/games", new))["game"]
        client = Client(address, token, game)
        await client.connect()
        await client.play(8)
        if number % 4 == 0:
            client.socket.transport.abort()  # as a lost network does
            await client.connect()
        await client.play(16)
        await client.socket.close()
        return client

    async def everybody() -> list[Client]:
        return await asyncio.gather(*(one(number) for number in range(GAMES)))

    try:
        clients = asyncio.run(everybody())
    finally:
        server.terminate()
        server.communicate(timeout=30)
    for number, client in enumerate(clients):
        record = me.new_game(2, seed=number)
        for action in client.moves:
            me.step(record, action)
        assert (replays.digest(record), len(client.moves)) == (client.view["digest"], client.view["version"])


def test_a_port_in_use_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["--port", port, "--no-browser", "--data", str(tmp_path)]) == 2
    assert f"Port {port} is in use" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "reason"), [
    (["--port", "99999"], "from 0 to 65535"),
    (["--host", "no.such.host.invalid"], "no address of this machine"),
    (["--port", "0", "--agents", "/no/such/folder"], "is no folder"),
    (["--port", "0", "--data", "/dev/null/x"], "can't be used"),
])  # fmt: skip
def test_a_wrong_option_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], reason: str) -> None:
    assert main(["--no-browser", *(["--data", str(tmp_path)] if "--data" not in words else []), *words]) == 2
    assert reason in capsys.readouterr().err
