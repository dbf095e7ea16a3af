"""A client of the table, as the page is one.

It remembers the last view, and says hello with it when it comes back.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from starlette.testclient import TestClient, WebSocketTestSession

from monopoly_env.events import KINDS
from tests.monopoly_table.views import merged, view_of

NUMBERS = itertools.count(1)


def token(client: TestClient) -> str:
    """The host's token."""
    return str(client.app.state.server.token)


def host(client: TestClient) -> dict[str, str]:
    """The headers of the host."""
    return bearer(token(client))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def begin(client: TestClient, *seats: str, **more: Any) -> dict[str, Any]:
    """Begin a game: `person`, `guest`, or the name of a policy for each seat."""
    chosen = [
        {"kind": seat} if seat in ("person", "guest") else {"kind": "policy", "policy": seat}
        for seat in seats
    ]
    answer = client.post(
        "/api/games", json={"seats": chosen, "speed": 0, "seed": 7} | more, headers=host(client)
    )
    assert answer.status_code == 201, answer.text
    told: dict[str, Any] = answer.json()
    return told


class Player:
    """Somebody at a table."""

    def __init__(
        self, client: TestClient, game: str, token: str, seen: dict[str, Any] | None = None
    ) -> None:
        self.client, self.game, self.token = client, game, token
        self.view: dict[str, Any] = seen or {}
        self.frame: dict[str, Any] = {}
        self.events: list[str] = []
        self.first: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._context = self.client.websocket_connect(f"/api/games/{self.game}/socket")
        self.socket: WebSocketTestSession = self._context.__enter__()
        hello = {
            "type": "hello",
            "token": self.token,
            "version": self.view.get("version"),
            "digest": self.view.get("digest"),
        }
        self.socket.send_json(hello)
        try:
            self.first = self.receive()
        except BaseException as error:
            self._context.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._context.__exit__(kind, error, trace)

    def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = self.socket.receive_json()
        if message["type"] in ("events", "state"):
            if message["type"] == "events" and self.frame:
                assert message["from"] == self.frame["version"]
            self.frame = merged(self.frame, message["frame"])
            self.view = view_of(self.frame)
            steps = message.get("steps", message.get("log"))
            self.events += [KINDS[row[0]] for step in steps for row in step["events"]]
        return message

    def say(self, kind: str, /, **more: Any) -> dict[str, Any]:
        """Send a message and wait for its answer."""
        number = next(NUMBERS)
        self.socket.send_json({"type": kind, "id": number, **more})
        while (message := self.receive()).get("id") != number:
            pass
        return message

    def move(self, kind: str, /, **more: Any) -> dict[str, Any]:
        """Send a message about the position that is shown."""
        return self.say(kind, version=self.view["version"], digest=self.view["digest"], **more)

    def act(self, action: int) -> dict[str, Any]:
        return self.move("act", action=action)

    def my_turn(self) -> bool:
        return bool(self.view["question"]) and self.view["question"]["seat"] in self.view["you"]

    def wait(self) -> None:
        """Wait until it is this player's decision, or the game is over."""
        while not self.my_turn() and not self.view["over"] and not self.view["stalled"]:
            self.receive()

    def first_of(self, *kinds: str) -> int:
        """The first legal action of these kinds."""
        return next(
            int(action["action"]) for action in self.view["actions"] if action["kind"] in kinds
        )


def ann(client: TestClient, game: dict[str, Any], seen: dict[str, Any] | None = None) -> Player:
    """The host at a table."""
    return Player(client, game["game"], token(client), seen)


def seated(client: TestClient, game: dict[str, Any], number: int = 0) -> Player:
    """The guest of a link."""
    return Player(client, game["game"], game["seats"][number]["token"])


def state(client: TestClient, game: str, frame: int | None = None) -> dict[str, Any]:
    """What the host is told of a game, or of one of its frames, with the view."""
    path = f"/api/games/{game}" + ("" if frame is None else f"/frames/{frame}")
    answer: dict[str, Any] = client.get(path, headers=host(client)).json()
    return answer | {"view": view_of(answer["frame"])}


@contextmanager
def analysing(client: TestClient) -> Iterator[WebSocketTestSession]:
    """The socket of analyses, opened by the host."""
    with client.websocket_connect("/api/analyse") as socket:
        socket.send_json({"type": "hello", "token": token(client)})
        assert socket.receive_json() == {"type": "ready"}
        yield socket
