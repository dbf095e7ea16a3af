"""Measure the table with a server of its own: `python benchmarks/table.py --help`.

# 200 games at once, 50 of them cut off and resumed: moves a second, memory
python benchmarks/table.py crowd
# how soon an analysis answers, how sure it is after two seconds, who waits meanwhile
python benchmarks/table.py analysis
# how soon a long game has its first report, and its last
python benchmarks/table.py report

The clients run beside the server on the same cores. Figures are in docs/table.md.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Final, Self

import tyro
import websockets

import monopoly_env as me
from monopoly_env.engine import agenda
from monopoly_table import public

_PATIENCE: Final = 300  # seconds until a client gives up


@dataclass(frozen=True)
class Server:
    """A server in a process of its own.

    Attributes:
        process: The process.
        address: Host and port.
        token: The host's token.
    """

    process: subprocess.Popen[str]
    address: str
    token: str

    @classmethod
    def start(cls, data: Path, python: str = sys.executable) -> Self:
        """Start a server that keeps its games in a folder."""
        options = ["--no-browser", "--port", "0", "--data", str(data)]
        command = [python, "-m", "monopoly_table", *options]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert process.stdout is not None
        printed = process.stdout.readline()
        found = re.search(r"http://(\S+)/#token=(\S+)", printed)
        assert found, printed
        return cls(process, found[1], found[2])

    def stop(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.communicate(timeout=30)

    def ask(self, path: str, body: Any = None) -> Any:
        """Send a GET request, or POST a body."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(
            urllib.request.Request(f"http://{self.address}{path}", data, headers), timeout=_PATIENCE
        ) as answer:
            return json.load(answer)

    def begin(self, seats: list[dict[str, str]], seed: int, **more: Any) -> str:
        """Begin a game; its id."""
        return str(self.ask("/api/games", {"seats": seats, "seed": seed, **more})["game"])

    def wait(self) -> None:
        """Wait until everything is compiled."""
        while not self.ask("/api/about")["ready"]:
            time.sleep(0.5)

    def memory(self) -> tuple[float, float]:
        """MiB in memory: now and at the most; 0 where the system does not say."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        except OSError:
            return 0.0, 0.0
        now, most = (
            int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1024 for name in ("VmRSS", "VmHWM")
        )  # type: ignore[index]
        return now, most


PEOPLE: Final = [{"kind": "person"}, {"kind": "person"}]


class Client:
    """A player of the first legal action, or of the last one if a lot is for sale.

    It keeps the messages it has received.
    """

    def __init__(self, server: Server, game: str) -> None:
        self.server, self.game = server, game
        self.frame: dict[str, Any] = {}
        self.bytes: list[int] = []  # of the messages with events
        self.moves: list[int] = []
        self.waits: list[float] = []  # seconds from a move to its answer

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.frame["record"]["decision"] == agenda.OVER  # type: ignore[no-any-return]

    async def connect(self) -> None:
        """Come, or come back."""
        self.socket = await websockets.connect(
            f"ws://{self.server.address}/api/games/{self.game}/socket", max_size=None
        )
        hello = {
            "type": "hello",
            "token": self.server.token,
            "version": self.frame.get("version"),
            "digest": self.frame.get("digest"),
        }
        await self.socket.send(json.dumps(hello))
        self.take(await self.next())

    async def next(self) -> dict[str, Any]:
        """The next message."""
        text = await asyncio.wait_for(self.socket.recv(), _PATIENCE)
        message: dict[str, Any] = json.loads(text)
        if message["type"] == "events":
            self.bytes.append(len(text))
        return message

    def take(self, message: dict[str, Any]) -> None:
        """Keep a message."""
        assert message["type"] != "refused", message
        if message["type"] == "events":
            assert message["from"] == self.frame["version"], "a step is missing"
            self.moves += [step["action"] for step in message["steps"]]
        if message["type"] in ("events", "state"):
            parts = {
                part: self.frame.get(part, {}) | message["frame"].get(part, {})
                for part in ("record", "derived")
            }
            self.frame |= message["frame"] | parts

    async def send(self) -> None:
        """Send a move."""
        words, bits = self.frame["record"]["legal"], range(32)
        legal = [32 * n + bit for n, word in enumerate(words) for bit in bits if word >> bit & 1]
        action = legal[-1 if self.frame["record"]["decision"] == agenda.BUY else 0]
        move = {
            "type": "act",
            "id": 1,
            "version": self.frame["version"],
            "digest": self.frame["digest"],
            "action": action,
        }
        await self.socket.send(json.dumps(move))

    async def play(self, decisions: int, seconds: float = math.inf) -> None:
        """Play until the game has so many decisions, or the time is over."""
        end = time.monotonic() + seconds
        while (
            self.frame["version"] < decisions
            and not self.over
            and (began := time.monotonic()) < end
        ):
            await self.send()
            while (message := await self.next())["type"] != "done":
                self.take(message)
            self.waits.append(time.monotonic() - began)

    async def drop(self) -> None:
        """Break the connection as a lost network does, then come back."""
        self.socket.transport.abort()
        await self.connect()

    def lost_nothing(self, seed: int) -> bool:
        """Whether the messages received add up to the whole game."""
        record = me.new_game(len(PEOPLE), seed=seed)
        for action in self.moves:
            me.step(record, action)
        shown = public.unnamed(record)
        return all(self.frame[part] == shown[part] for part in ("record", "derived"))


async def play_all(server: Server, seeds: range, decisions: int) -> list[Client]:
    """A game for each seed, all at once; every fourth is cut off in the middle and resumed."""

    async def one(seed: int) -> Client:
        client = Client(server, await asyncio.to_thread(server.begin, PEOPLE, seed))
        await client.connect()
        await client.play(decisions // 2)
        if seed % 4 == 0:
            await client.drop()
        await client.play(decisions)
        await client.socket.close()
        return client

    return await asyncio.gather(*(one(seed) for seed in seeds))


# --- the command


@dataclass(frozen=True)
class Crowd:
    """Play many games at once with scripted clients, wave after wave."""

    games: int = 200
    """Games at once; every fourth is cut off and resumed."""
    decisions: int = 40
    """Decisions of a game."""
    waves: int = 3
    """How many times."""


@dataclass(frozen=True)
class Analysis:
    """Analyse a position of four experts repeatedly while other games go on."""

    decision: int = 120
    """The decision that is analysed."""
    times: int = 5
    """How many times."""
    seconds: float = 2.0
    """How long each."""


@dataclass(frozen=True)
class Report:
    """Let four experts play a game, and report on it."""

    seed: int = 7
    """The seed of the game."""


Part = (
    Annotated[Report, tyro.conf.subcommand("report")]
    | Annotated[Crowd, tyro.conf.subcommand("crowd")]
    | Annotated[Analysis, tyro.conf.subcommand("analysis")]
)


def main() -> int:
    """Run the command and return its exit status."""
    part = tyro.cli(Part, prog="python benchmarks/table.py")  # type: ignore[arg-type]
    with serving() as server:
        server.wait()
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        if isinstance(part, Crowd):
            crowd(server, part)
        elif isinstance(part, Report):
            asyncio.run(report(server, part))
        else:
            asyncio.run(analysis(server, part))
    return 0


@contextmanager
def serving() -> Iterator[Server]:
    """A server with a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server.start(Path(folder))
        try:
            yield server
        finally:
            server.stop()


def crowd(server: Server, part: Crowd) -> None:
    """Play wave after wave, and measure the server's memory after each."""
    print(f"memory at first {server.memory()[0]:.0f} MiB")
    for wave in range(part.waves):
        seeds, began = range(wave * part.games, (wave + 1) * part.games), time.monotonic()
        clients = asyncio.run(play_all(server, seeds, part.decisions))
        seconds, moves = time.monotonic() - began, sum(len(client.moves) for client in clients)
        whole = sum(client.lost_nothing(seed) for seed, client in zip(seeds, clients, strict=True))
        now, most = server.memory()
        waits = sorted(wait for client in clients for wait in client.waits)
        sizes = [size for client in clients for size in client.bytes]
        print(
            f"wave {wave + 1}: {whole} of {part.games} games whole, {moves:,} moves, "
            f"{moves / seconds:.0f} moves/s, an answer after {median(waits):.2f} s, "
            f"99% within {waits[len(waits) * 99 // 100]:.2f} s; "
            f"an update {median(sizes):,.0f} bytes, at most {max(sizes):,}; "
            f"memory {now:.0f} MiB, at most {most:.0f}"
        )


async def analysis(server: Server, part: Analysis) -> None:
    """First answer and standard error of an analysis.

    A move of another game alone and beside it.
    """
    game, _ = await _game_of_experts(server, part.decision)
    other = Client(server, server.begin(PEOPLE, 1))
    await other.connect()
    await other.play(60)
    print(f"a move of another game: {_spread(other.waits)}")
    message = {"type": "analyse", "id": 1, "target": {"game": game, "version": part.decision}}
    for _ in range(part.times):
        other.waits.clear()
        async with _analysing(server) as socket:
            began, first = time.monotonic(), math.inf
            playing = asyncio.create_task(other.play(10**6, part.seconds))
            await socket.send(json.dumps(message))
            while time.monotonic() - began < part.seconds:
                message = json.loads(await asyncio.wait_for(socket.recv(), _PATIENCE))
                assert message["type"] == "analysis", message
                first = min(first, time.monotonic() - began)
            await playing
        error = max(
            math.sqrt(row["share"] * (1 - row["share"]) / message["playouts"])
            for row in message["shares"]
        )
        print(
            f"first answer after {first:.2f} s; after {part.seconds:.0f} s "
            f"{message['playouts']:,} playouts of the position, "
            f"{sum(one['playouts'] for one in message['candidates']):,} of "
            f"{len(message['candidates'])} actions, standard error {100 * error:.2f} points; "
            f"meanwhile a move of another game: {_spread(other.waits)}"
        )


async def report(server: Server, part: Report) -> None:
    """How soon the versions of a report come."""
    game, decisions = await _game_of_experts(server, sys.maxsize, part.seed)
    async with _analysing(server) as socket:
        began, message = time.monotonic(), {"done": False}
        await socket.send(json.dumps({"type": "report", "id": 1, "game": game}))
        while not message["done"]:
            message = json.loads(await asyncio.wait_for(socket.recv(), _PATIENCE))
            if "players" in message:
                print(
                    f"{decisions:,} decisions, {message['playouts']} playouts of each:"
                    f" {time.monotonic() - began:.1f} s"
                )


@asynccontextmanager
async def _analysing(server: Server) -> AsyncIterator[Any]:
    """A socket for analyses."""
    async with websockets.connect(f"ws://{server.address}/api/analyse", max_size=None) as socket:
        await socket.send(json.dumps({"type": "hello", "token": server.token}))
        await socket.recv()
        yield socket


async def _game_of_experts(server: Server, decisions: int, seed: int = 7) -> tuple[str, int]:
    """A game of four experts with so many decisions or more, or to its end; and how many it has."""
    game = server.begin([{"kind": "policy", "policy": "expert"}] * 4, seed, speed=0)
    client = Client(server, game)
    await client.connect()
    while client.frame["version"] < decisions and not client.over:
        client.take(await client.next())
    await client.socket.close()
    return game, int(client.frame["version"])


def _spread(waits: list[float]) -> str:
    return f"{1000 * median(waits):.0f} ms, at most {1000 * max(waits):.0f} ms"


if __name__ == "__main__":
    sys.exit(main())
