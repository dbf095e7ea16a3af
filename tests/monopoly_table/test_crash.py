"""The command itself: killed in the middle of a move it goes on.

Many clients at once lose nothing.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from pathlib import Path

import pytest
from benchmarks.table import PEOPLE, Client, Server, play_all

from monopoly_table.__main__ import main

GAMES = 24


def test_killed_in_the_middle_of_a_move_the_game_goes_on(tmp_path: Path) -> None:
    server = Server.start(tmp_path)
    client = Client(server, server.begin(PEOPLE, 5))

    async def until_killed() -> None:
        await client.connect()
        await client.play(15)
        await client.send()  # and nobody waits for the answer
        server.process.send_signal(signal.SIGKILL)
        server.process.communicate()

    async def go_on() -> None:
        before = client.frame["version"]
        await client.connect()
        assert client.frame["version"] in (before, before + 1)
        await client.play(before + 10)
        await client.socket.close()

    asyncio.run(until_killed())
    client.server = Server.start(tmp_path)
    try:
        assert client.server.token == server.token
        asyncio.run(go_on())
    finally:
        client.server.stop()
    assert client.lost_nothing(5)


def test_many_clients_some_cut_off_lose_nothing(tmp_path: Path) -> None:
    server = Server.start(tmp_path)
    try:
        clients = asyncio.run(play_all(server, range(GAMES), 16))
    finally:
        server.stop()
    for seed, client in enumerate(clients):
        assert client.frame["version"] == 16
        assert client.lost_nothing(seed)


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
def test_a_wrong_option_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], reason: str
) -> None:
    assert (
        main(
            ["--no-browser", *(["--data", str(tmp_path)] if "--data" not in words else []), *words]
        )
        == 2
    )
    assert reason in capsys.readouterr().err
