"""A state machine of the table: people come, play, lie and leave, and the server is restarted.

Nothing that was acknowledged is lost, nothing hidden is told, and versions move as
docs/protocol.md says. More examples: `pytest --hypothesis-profile search`.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from monopoly_env import core, replays
from monopoly_table import public
from monopoly_table.app import create
from monopoly_table.games import record
from monopoly_table.server import Server, ServerSettings
from monopoly_table.sockets import BY_TOKEN
from tests.monopoly_table.clients import Player, bearer, begin, host, state, token

AUCTIONS: Final = ("english", "sealed_second_price")
KEYS = st.integers(0, 2**16)
SEATS = st.lists(st.sampled_from(["person", "guest"]), min_size=2, max_size=3)
MOVES: Final = ("act", "undo")


class Guest(Player):
    """A client, and all that it was told."""

    heard = ""

    def receive(self) -> dict[str, Any]:
        message = super().receive()
        self.heard += json.dumps(message)
        return message

    def listen(self) -> None:
        """Hear what others have done."""
        assert self.say("ping")["type"] == "pong"


class Table(RuleBasedStateMachine):
    """The server, and what it has acknowledged."""

    def __init__(self) -> None:
        super().__init__()
        self.exits = ExitStack()
        patch = self.exits.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(Server, "warm_up", lambda self: None)
        self.folder = Path(self.exits.enter_context(tempfile.TemporaryDirectory()))
        self.told: dict[str, Any] = {}  # by game: the last frame, as the host sees it
        self.taken: dict[str, set[int]] = {}
        self.links: dict[str, Any] = {}
        self.here: dict[Guest, ExitStack] = {}  # those who are connected
        self.gone: list[Guest] = []

    @initialize(auction=st.sampled_from(AUCTIONS), seed=st.integers(0, 99))
    def open(self, auction: str, seed: int) -> None:
        self.start()
        self.begin(["person", "guest"], auction, seed)
        self.enter(0, None)
        self.enter(0, 1)

    def start(self) -> None:
        made = ServerSettings(self.folder, hosts=("testserver",), rate=1e6, burst=10**6)
        self.running = ExitStack()
        self.client = self.running.enter_context(TestClient(create(made)))

    def teardown(self) -> None:
        self.stop()
        self.exits.close()

    def stop(self) -> None:
        for guest in list(self.here):
            self.leave(guest)
        self.running.close()

    def game(self, key: int) -> str:
        return list(self.told)[key % len(self.told)]

    def guest(self, key: int) -> Guest:
        """Somebody who is connected, and has heard all."""
        guest = list(self.here)[key % len(self.here)]
        guest.listen()
        return guest

    def seen(self, game: str) -> Any:
        """The game as the host sees it, but for who is connected."""
        frame = state(self.client, game)["frame"]
        return frame | {"players": [one | {"connected": None} for one in frame["players"]]}

    # --- games

    @rule(seats=SEATS, auction=st.sampled_from(AUCTIONS), seed=st.integers(0, 99))
    def begin(self, seats: list[str], auction: str, seed: int) -> None:
        rules = {"options": {"auction": auction}}
        made = begin(self.client, *seats, rules=rules, seed=10**15 + seed)
        game = str(made["game"])
        self.told[game], self.links[game] = self.seen(game), made
        self.taken[game] = {seat for seat, kind in enumerate(seats) if kind == "person"}
        assert self.told[game]["version"] == 0

    @precondition(lambda self: len(self.told) > 1)
    @rule(key=KEYS)
    def remove(self, key: int) -> None:
        game = self.game(key)
        assert self.client.delete(f"/api/games/{game}").status_code == 401
        assert (
            self.client.delete(f"/api/games/{game}", headers=host(self.client)).status_code == 200
        )
        for guest in [guest for guest in self.here if guest.game == game]:
            self.leave(guest)
        self.gone = [guest for guest in self.gone if guest.game != game]
        del self.told[game]
        assert self.client.get(f"/api/games/{game}", headers=host(self.client)).status_code == 404

    @rule()
    def restart(self) -> None:
        self.stop()
        self.start()

    # --- people

    @rule(key=KEYS, seat=st.none() | st.integers(0, 2))
    def enter(self, key: int, seat: int | None) -> None:
        """Come with the host's link, or take a seat."""
        game = self.game(key)
        if seat is None:
            self.connect(Guest(self.client, game, token(self.client)))
            return
        links = self.links[game]
        answer = self.client.post(
            f"/api/games/{game}/join", json={"seat": seat, "name": "Bob"},
            headers=bearer(links["watch"]),
        )  # fmt: skip
        free = seat not in self.taken[game] and seat < len(self.told[game]["players"])
        assert answer.status_code == (200 if free else 409)
        if not free:
            self.connect(Guest(self.client, game, links["watch"]))
            return
        self.taken[game].add(seat)
        self.told[game] = self.seen(game)
        assert self.told[game]["players"][seat]["name"] == "Bob"
        self.connect(Guest(self.client, game, answer.json()["token"]))

    def connect(self, guest: Guest) -> None:
        self.here[guest] = ExitStack()
        self.here[guest].enter_context(guest)
        self.told[guest.game] = self.seen(guest.game)  # a seat may be taken by a link

    def leave(self, guest: Guest) -> None:
        self.here.pop(guest).close()
        self.gone.append(guest)

    @precondition(lambda self: self.here)
    @rule(key=KEYS)
    def drop(self, key: int) -> None:
        self.leave(list(self.here)[key % len(self.here)])

    @precondition(lambda self: self.gone)
    @rule(key=KEYS)
    def come_back(self, key: int) -> None:
        """With the frame that was seen last."""
        guest = self.gone.pop(key % len(self.gone))
        back = Guest(self.client, guest.game, guest.token, guest.view)
        back.frame = guest.frame
        self.connect(back)

    # --- moves

    @precondition(lambda self: self.here)
    @rule(key=KEYS, count=st.integers(1, 8))
    def act(self, key: int, count: int) -> None:
        for number in range(key, key + count):
            guest = self.guest(number)
            legal = [one["action"] for one in guest.view["actions"]] or [0]
            before, mine = self.told[guest.game], guest.my_turn()
            answer = guest.act(legal[number % 97 % len(legal)])
            assert answer["type"] == ("done" if mine else "refused")
            self.told[guest.game] = self.seen(guest.game)
            assert self.told[guest.game]["version"] == before["version"] + mine

    @precondition(lambda self: self.here)
    @rule(key=KEYS)
    def undo(self, key: int) -> None:
        guest = self.guest(key)
        before, may = self.told[guest.game], guest.view["undo"]
        assert guest.move("undo")["type"] == ("done" if may else "refused")
        self.told[guest.game] = self.seen(guest.game)
        assert self.told[guest.game]["version"] == before["version"] - may

    # --- lies; the invariant sees that nothing has changed

    @precondition(lambda self: self.here)
    @rule(key=KEYS, kind=st.sampled_from(MOVES), back=st.integers(0, 3))
    def speak_of_another_position(self, key: int, kind: str, back: int) -> None:
        guest = self.guest(key)
        version, digest = guest.view["version"], guest.view["digest"]
        about = {"version": version - back, "digest": digest if back else "0" * 16}
        more = {"action": 0} if kind == "act" else {}
        assert guest.say(kind, **about, **more)["type"] == "refused"

    @precondition(lambda self: self.here)
    @rule(key=KEYS, action=st.integers(0, 204))
    def act_illegally(self, key: int, action: int) -> None:
        guest = self.guest(key)
        if action not in [one["action"] for one in guest.view["actions"]]:
            assert guest.act(action)["type"] == "refused"

    @rule(key=KEYS, wrong=st.sampled_from(["", "x", "watch of another"]))
    def come_with_a_wrong_token(self, key: int, wrong: str) -> None:
        game = self.game(key)
        others = [links["watch"] for other, links in self.links.items() if other != game]
        given = (others or ["y"])[0] if wrong.startswith("watch") else wrong
        path = f"/api/games/{game}"
        assert self.client.get(path, headers=bearer(given)).status_code == 401
        with pytest.raises(WebSocketDisconnect) as refused, Guest(self.client, game, given):
            pass
        assert refused.value.code in (BY_TOKEN, 1008)

    # --- at all times

    @invariant()
    def nothing_is_lost(self) -> None:
        for game, told in self.told.items():
            assert self.seen(game) == told

    @invariant()
    def nothing_hidden_is_told(self) -> None:
        for guest in self.here:
            guest.listen()
            assert guest.frame["digest"] == self.told[guest.game]["digest"]
            row: Any = self.client.app.state.server.storage.find(guest.game)  # type: ignore[attr-defined]
            now = record(row.record)
            hidden = [
                str(row.about["seed"]),
                row.about["key"],
                core.digest(now),
                replays.digest(now),
            ]
            hidden += [seat["token"] for seat in row.about["seats"] if seat["token"]]
            assert not [one for one in hidden if str(one) in guest.heard]
            assert guest.frame["record"].keys() == {*public.PUBLIC}
            if guest.view["auction"] and guest.view["auction"]["sealed"] and not guest.my_turn():
                assert guest.frame["record"]["legal"] == [0] * 7
                assert not any(guest.frame["record"]["sealed"])


Table.TestCase.settings = settings(
    max_examples=max(1, settings().max_examples // 12), stateful_step_count=25
)
TestTable = Table.TestCase
