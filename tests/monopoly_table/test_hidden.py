"""What players must not know does not leave the server.

Games that differ in nothing else look alike to everybody.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from starlette.testclient import TestClient

import agents
from monopoly_env import core, replays
from monopoly_env.derived import DERIVED
from monopoly_env.engine import agenda
from monopoly_env.game import GAME
from monopoly_env.policy import names
from monopoly_env.policy.names import make
from monopoly_table import games, public
from monopoly_table.app import routes
from monopoly_table.server import Server, ServerSettings
from tests.monopoly_table.clients import Player, ann, bearer, begin, host, seated, state, token

SEALED: Final = {"options": {"auction": "sealed_second_price"}}
LOOKS: Final = [
    route.path
    for route in routes.routes
    if "GET" in getattr(route, "methods", ()) and "{game}" in route.path
]
WISHES: Final = (
    {"type": "act", "action": 0}, {"type": "act", "text": "bid +20"},
    {"type": "bid", "dollars": 30}, {"type": "undo"},
    {"type": "offer", "to": 1}, {"type": "preview", "to": 1, "give": {"dollars": 5}},
    {"type": "speed", "speed": 0},
    {"type": "seat", "seat": 0, "kind": "person"}, {"type": "ping"},
)  # fmt: skip
JOBS: Final = (
    {"type": "analyse", "target": {"game": "GAME", "version": 0}, "most": 100, "turns": 2},
    {
        "type": "offer",
        "target": {"game": "GAME", "version": 0},
        "to": 1,
        "give": {"dollars": 1},
        "ask": {"lots": [1]},
        "most": 100,
    },
    {"type": "curve", "game": "GAME", "points": 2, "playouts": 20},
    {"type": "report", "game": "GAME", "playouts": 10},
)
# drawn for each game, or measured
OWN: Final = re.compile(r'"(?:digest|watch|token)": ?"[^"]*"|"seconds": ?[\d.]+')


def record(client: TestClient, game: dict[str, Any]) -> Any:
    """The record inside the server."""
    return games.record(stored(client, game).record)


def stored(client: TestClient, game: dict[str, Any]) -> Any:
    return client.app.state.server.storage.find(game["game"])


def told(client: TestClient, game: dict[str, Any], tokens: list[str], jobs: Any) -> str:
    """Everything that the server tells of a game to the holders of some tokens."""
    found = []
    start = {"version": 0, "digest": stored(client, game).about["digest"]}
    for holder in tokens:
        with Player(client, game["game"], holder, start) as player:  # it has missed all steps
            found.append(player.first)
        with Player(client, game["game"], holder) as player:
            found.append(player.first)
            for wish in () if player.my_turn() else WISHES:
                about = wish["type"] in ("act", "bid", "undo", "offer")
                if not (wish["type"] == "undo" and player.view["undo"]):
                    found.append(
                        player.move(wish["type"], **rest(wish))
                        if about
                        else player.say(wish["type"], **rest(wish))
                    )
            version = player.view["version"]
        for path in LOOKS:
            for number in range(version + 2 if "{number}" in path else 1):
                answer = client.get(
                    path.format(game=game["game"], number=number), headers=bearer(holder)
                )
                found.append({"path": path, "status": answer.status_code, "body": answer.text})
    with client.websocket_connect("/api/analyse") as socket:
        socket.send_json({"type": "hello", "token": tokens[0], "game": game["game"]})
        found.append(socket.receive_json())
        for job in jobs:
            socket.send_text(json.dumps(job).replace("GAME", game["game"]))
            while (
                not (answer_ := socket.receive_json()).get("done") and answer_["type"] != "refused"
            ):
                pass
            found.append(answer_)
    return "\n".join(
        json.dumps({key: value for key, value in each.items() if key != "id"}) for each in found
    ).replace(game["game"], "GAME")


def rest(wish: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in wish.items() if key != "type"}


def assert_alike(
    client: TestClient, games: list[dict[str, Any]], tokens: list[tuple[str, ...]], jobs: Any = JOBS
) -> None:
    """Two games look alike, and none of them tells its seed or a hash of its record."""
    assert record(client, games[0]).tobytes() != record(client, games[1]).tobytes()
    texts = []
    for number, game in enumerate(games):
        text = told(client, game, [pair[number] for pair in tokens], jobs).replace('\\"', '"')
        seed = record(client, game).seed
        for secret in (
            str(int(seed[0]) | int(seed[1]) << 32),
            replays.digest(record(client, game)),
            core.digest(record(client, game)),
        ):
            assert secret not in text
        texts.append(OWN.sub("", text).splitlines())
    assert len(texts[0]) == len(texts[1])
    for line, twin in zip(*texts, strict=True):
        assert line == twin


# Fields that tell dice or cards to come, and those that nobody needs to see.
HIDDEN: Final = {
    "seed", "policy_draws", "throws", "utility_throws", "start_draws", "deck_draws", "deck",
    "deck_size", "deck_next", "forced_throws", "num_forced",
}  # fmt: skip
INTERNAL: Final = {
    "rules", "agenda", "depth", "fault", "first", "spare", "fresh_mortgages", "fresh_sales",
    "auction_asked", "offer_last", "num_refused", "refused_ask", "refused_give", "refused_cash",
    "refused_from", "refused_to",
}  # fmt: skip


def test_clients_get_listed_fields_of_a_record_and_no_other(client: TestClient) -> None:
    assert {*public.PUBLIC} | HIDDEN | INTERNAL == {*(GAME.names or ())}
    assert not {*public.PUBLIC} & (HIDDEN | INTERNAL)
    frame = state(client, begin(client, "person", "person")["game"])["frame"]
    assert frame["record"].keys() == {*public.PUBLIC}
    assert frame["derived"].keys() == {*(DERIVED.names or ())}


def test_dice_and_cards_to_come_are_told_to_nobody(client: TestClient) -> None:
    games = [
        begin(
            client,
            "person",
            "guest",
            seed=None,
            position={"players": [{"lots": [0]}, {"lots": [1]}], "throws": throws, "chance": cards},
        )
        for throws, cards in (([[1, 2]], ["advance_go"]), ([[3, 4]], ["back_3"]))
    ]
    tokens = [
        tuple(game["watch"] for game in games),
        tuple(game["seats"][0]["token"] for game in games),
    ]
    tokens.append((token(client),) * 2)
    assert_alike(client, games, tokens)


def test_sealed_bids_are_told_to_nobody_else(client: TestClient) -> None:
    base = begin(
        client,
        "person",
        "person",
        "person",
        position={"rules": SEALED, "players": [{}, {}, {}], "throws": [[1, 2]]},
    )
    games = [
        begin(
            client,
            "guest",
            "guest",
            "person",
            seed=None,
            **{"from": {"game": base["game"], "version": 0}},
        )
        for _ in range(2)
    ]
    tokens = [
        tuple(game["watch"] for game in games),
        tuple(game["seats"][1]["token"] for game in games),
        (token(client),) * 2,
    ]
    for move in (
        [(0, "act", {"text": "decline"})] * 2,
        [(0, "act", {"text": "bid +20"}), (0, "act", {"text": "bid +50"})],
        [(0, "bid", {"dollars": 137}), (0, "bid", {"dollars": 87})],  # as many notes
        [(1, "bid", {"dollars": 250}), (1, "bid", {"dollars": 151})],
    ):
        for game, (seat, kind, more) in zip(games, move, strict=True):
            with seated(client, game, seat) as player:
                assert player.move(kind, **more)["type"] == "done"
        if move[0][0] == 1:
            del tokens[1]  # this player knows its own bid
        assert_alike(client, games, tokens, JOBS if move[0][1] == "bid" else ())
    with ann(client, games[0]) as player:
        assert player.move("bid", dollars=1)["type"] == "done"
        assert player.view["auction"] is None
        assert not player.view["undo"]
        assert "have been opened" in player.move("undo")["error"]


def test_a_digest_cannot_be_compared_with_a_guess(client: TestClient) -> None:
    """Two games of the same record have different digests.

    Nobody can compute them from a guess at what is hidden.
    """
    frames = [state(client, begin(client, "person", "person")["game"])["frame"] for _ in range(2)]
    assert frames[0]["digest"] != frames[1]["digest"]
    assert frames[0] | {"game": "", "digest": ""} == frames[1] | {"game": "", "digest": ""}


def go_on(player: Player) -> None:
    """Buy, else go on."""
    wanted = [
        each for each in player.view["actions"] if each["text"] == "buy" or each["kind"] == "turn"
    ]
    player.act((wanted or player.view["actions"])[0]["action"])


def before_throw(player: Player) -> bool:
    window = player.view["record"]["decision"] == agenda.WINDOW
    return window and player.view["derived"]["question"][0] == agenda.BEFORE_THROW


def test_after_an_undo_the_dice_are_others_and_the_game_plays_back(client: TestClient) -> None:
    game = begin(client, "person", "person", rules={"options": {"auction": "none"}}, turn_limit=2)
    met = set()
    with ann(client, game) as player:
        while not before_throw(player):
            go_on(player)
        before = player.view
        for _ in range(8):
            go_on(player)
            met.add(tuple(player.view["dice"]))
            assert player.move("undo")["type"] == "done"
            assert (player.view["version"], player.view["actions"]) == (
                before["version"],
                before["actions"],
            )
        assert len(met) > 1
        while not player.view["over"]:
            go_on(player)
        player.move("undo")
        # it lives again
        assert (
            client.get(f"/api/games/{game['game']}/replay", headers=host(client)).status_code == 409
        )
        while not player.view["over"]:
            go_on(player)
        end = player.view
    frame = state(client, game["game"], end["version"])["frame"]
    assert frame["digest"] == end["digest"]
    data = client.get(f"/api/games/{game['game']}/replay", headers=host(client)).content
    again = client.post("/api/replays", content=data, headers=host(client)).json()["games"][0][
        "game"
    ]
    assert state(client, again)["frame"]["record"] == end["record"]


def test_among_guests_the_host_takes_decisions_back(client: TestClient) -> None:
    game = begin(client, "guest", "guest")
    with seated(client, game) as first, seated(client, game, 1) as second:
        mine = first if first.my_turn() else second
        mine.act(mine.first_of("buy", "turn"))
        version = mine.view["version"]
        assert not mine.view["undo"]
        assert "Only the host" in mine.move("undo")["error"]
        with ann(client, game) as player:
            assert player.view["undo"]
            assert player.move("undo")["type"] == "done"
            assert player.view["version"] == version - 1


class Talks(agents.BatchedPolicy):
    """Fails and says all that it knows."""

    name = "talks"

    def act(self, decisions: Any) -> Any:
        raise ZeroDivisionError(f"cash {decisions.games['cash'][0, 0]}")


def test_the_error_of_a_policy_tells_no_seed(client: TestClient) -> None:
    names.register("talks", Talks)
    seed = 4_611_686_018_427_387_904
    game = begin(client, "talks", "talks", seed=seed)
    with ann(client, game) as player, Player(client, game["game"], game["watch"]) as watching:
        for each in (player, watching):
            each.wait()
        assert "cash 1500" in player.view["stalled"]["error"]
        assert str(seed) not in player.view["stalled"]["error"]
        assert "cash" not in watching.view["stalled"]["error"]


def test_saved_policies_are_named_to_the_host_alone(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    make("expert").save(tmp_path / "in" / "mine.safetensors")
    server = Server(ServerSettings(tmp_path / "data", tmp_path / "in"))
    for ready in (False, True):
        server.ready = ready
        assert "file:mine.safetensors" in json.dumps(server.about(host=True))
        assert "file:" not in json.dumps(server.about(host=False))
    server.close()
