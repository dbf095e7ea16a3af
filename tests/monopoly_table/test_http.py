"""Routes: rules, games, frames, replays, positions; and what they refuse."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import monopoly_env as me
from monopoly_env import events, replays
from monopoly_env.positions import position
from monopoly_env.replays.messages import Message
from monopoly_table import public
from monopoly_table.messages import PositionSetup
from tests.monopoly_table.clients import ann, bearer, begin, host, state
from tests.monopoly_table.views import view_of


@pytest.fixture(scope="module")
def played(client: TestClient) -> str:
    """A game that is over."""
    game = begin(
        client,
        "expert",
        "random/no_trades",
        "person",
        rules={"options": {"trade": "none"}},
        turn_limit=6,
    )
    with ann(client, game) as player:
        while not player.view["over"]:
            player.wait()
            if player.my_turn():
                player.act(player.view["actions"][0]["action"])
    return str(game["game"])


def test_the_page_comes_with_a_strict_policy(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert "<title>" in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_about_tells_rules_boards_and_policies(client: TestClient) -> None:
    told = client.get("/api/about", headers=host(client)).json()
    assert set(told["rules"]["presets"]) == set(me.Rules.presets())
    assert told["host"]
    assert "expert" in [policy["name"] for policy in told["policies"]]
    assert [square["name"] for square in told["boards"]["uk"]][39] == "Mayfair"
    assert not client.get("/api/about").json()["host"]


def test_a_game_has_links_and_is_listed(client: TestClient) -> None:
    game = begin(client, "person", "guest", "expert")
    assert [seat["seat"] for seat in game["seats"]] == [1]
    told = state(client, game["game"])
    players = told["frame"]["players"]
    assert [player["kind"] for player in players] == ["person", "guest", "policy"]
    assert told["links"]["watch"] == game["watch"]
    assert game["game"] in [
        row["game"] for row in client.get("/api/games", headers=host(client)).json()["games"]
    ]
    seen = client.get(f"/api/games/{game['game']}", headers=bearer(game["watch"])).json()
    assert seen["links"] is None
    assert seen["frame"]["you"] == []


def test_a_removed_game_is_gone(client: TestClient) -> None:
    game = begin(client, "person", "expert")["game"]
    assert client.delete(f"/api/games/{game}", headers=host(client)).json() == {}
    answer = client.get(f"/api/games/{game}", headers=host(client))
    assert answer.status_code == 404
    assert "removed" in answer.json()["error"]


def test_frames_are_the_game_as_it_was(client: TestClient, played: str) -> None:
    game = played
    version = state(client, game)["frame"]["version"]
    index = client.get(f"/api/games/{game}/index", headers=host(client)).json()
    assert index["version"] == version
    assert len(index["turns"]) == version + 1
    assert index["actions"] == replays_of(client, game)[0].actions.tolist()
    assert index["events"][-1][-1][0] == events.OVER
    replay = replays_of(client, game)[0]
    wanted = [replays.start(replay), *replays.games(replay)]
    for number in (0, 1, version // 2, version):
        answer = state(client, game, number)
        frame = answer["frame"]
        assert frame["record"] == public.unnamed(wanted[number])["record"]
        assert frame["record"]["turns"] == index["turns"][number]
        assert (answer["step"] is None) == (number == 0)
        assert (frame["chosen"] is None) == (number == version)
    assert (
        client.get(f"/api/games/{game}/frames/{version + 1}", headers=host(client)).status_code
        == 404
    )


def replays_of(client: TestClient, game: str) -> list[replays.Replay]:
    """The games of the file that the server gives."""
    import tempfile
    from pathlib import Path

    answer = client.get(f"/api/games/{game}/replay", headers=host(client))
    assert answer.status_code == 200
    assert "attachment" in answer.headers["content-disposition"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.replay"
        path.write_bytes(answer.content)
        return replays.load(path)


def test_a_file_goes_out_and_comes_back(client: TestClient, played: str) -> None:
    data = client.get(f"/api/games/{played}/replay", headers=host(client)).content
    answer = client.post("/api/replays", content=data, headers=host(client))
    assert answer.status_code == 201
    uploaded = answer.json()["games"][0]
    again = state(client, uploaded["game"])["frame"]
    assert uploaded["kind"] == "replay"
    frame = state(client, played, again["version"])["frame"]
    assert again["record"]["decision"] == 0
    assert again["record"] == frame["record"]


def test_what_players_said_comes_along(client: TestClient, played: str, tmp_path: Path) -> None:
    silent = replays_of(client, played)[0]
    replay = dataclasses.replace(
        silent, talk=((2, Message("<script>Hello", "no bid on red for 1 round")),)
    )
    data = replays.save(tmp_path / "one.replay", [replay]).read_bytes()
    game = client.post("/api/replays", content=data, headers=host(client)).json()["games"][0][
        "game"
    ]
    said = {"text": "<script>Hello", "promise": "no bid on red for 1 round"}
    assert state(client, game, 3)["step"]["said"] == said
    assert "said" not in state(client, game, 2)["step"]
    assert replays_of(client, game)[0].talk == replay.talk


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: b"\x00" * 1000,
        lambda data: data[:-20],
        lambda data: data + b"x",
        lambda data: data.replace(b'"rules_version": ', b'"rules_version": 9'),
    ],
)
def test_a_damaged_file_is_refused_with_a_sentence(
    client: TestClient, played: str, spoil: Any
) -> None:
    data = client.get(f"/api/games/{played}/replay", headers=host(client)).content
    answer = client.post("/api/replays", content=spoil(data), headers=host(client))
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("The file")


def test_positions_go_there_and_back(client: TestClient) -> None:
    setup = {
        "players": [
            {"cash": 700, "square": 5, "lots": [0, 1], "jail_cards": ["chance"]},
            {"jail": 1, "lots": [5, 27]},
            {"bankrupt": True},
        ],
        "buildings": [{"lot": 0, "level": 3}, {"lot": 1, "level": 2}],
        "mortgaged": [5],
        "turn": 1,
    }
    answer = client.post("/api/positions", json=setup)
    assert answer.status_code == 200
    view = view_of(answer.json()["frame"])
    assert view["players"][0]["cash"] == 700
    assert view["players"][1]["jail"] == 1
    assert view["players"][2]["out"]
    assert view["lots"][0]["level"] == 3
    assert view["lots"][5]["mortgaged"]
    built = PositionSetup.model_validate(setup).build()
    again = PositionSetup.model_validate(public.setup_of(built)).build()
    assert public.setup_of(again) == public.setup_of(built)


@pytest.mark.parametrize(("setup", "reason"), [
    ({"players": [{"lots": [0]}, {"lots": [0]}]}, "two owners"),
    ({"players": [{}, {}], "mortgaged": [3]}, "belongs to the bank"),
    ({"players": [{}, {"bankrupt": True}]}, "Fewer than two players"),
    ({"players": [{"lots": [0]}, {}], "buildings": [{"lot": 0, "level": 1}]}, "Inconsistent"),
    ({"players": [{"lots": [99]}, {}]}, "players.0.lots"),
    ({"players": [{}]}, "players"),
    ({"players": [{}, {}], "rules": {"options": {"start_cash": -1}}}, "start_cash"),
    ({"players": [{}, {}], "rules": {"options": {"cls": True}}}, "cls"),
    ({"players": [{}, {}], "file": "/etc/passwd"}, "file"),
])  # fmt: skip
def test_a_position_that_cannot_be_is_refused_with_the_reason(
    client: TestClient, setup: Any, reason: str
) -> None:
    answer = client.post("/api/positions", json=setup)
    assert answer.status_code == 422
    assert reason in answer.json()["error"]


def test_a_file_holds_whole_games_that_are_over(client: TestClient) -> None:
    short = begin(client, "expert", "expert", position={"players": [{}, {}]}, turn_limit=1)
    for game, reason in ((begin(client, "person", "person"), "not over"), (short, "position")):
        with ann(client, game) as player:
            player.wait()
        answer = client.get(f"/api/games/{game['game']}/replay", headers=host(client))
        assert answer.status_code == 409
        assert reason in answer.json()["error"]


def test_a_game_may_begin_at_a_position_or_at_a_frame(client: TestClient) -> None:
    setup = {"players": [{"lots": [20, 21]}, {"lots": [0]}]}
    game = begin(client, "person", "expert", position=setup)["game"]
    assert state(client, game)["view"]["players"][0]["lots"] == [20, 21]
    branch = begin(client, "person", "person", **{"from": {"game": game, "version": 0}})["game"]
    assert state(client, branch)["view"]["players"][0]["lots"] == [20, 21]
    wrong = client.post(
        "/api/games",
        json={"seats": [{"kind": "person"}] * 3, "position": setup},
        headers=host(client),
    )
    assert wrong.status_code == 409
    assert "2 players" in wrong.json()["error"]


@pytest.mark.parametrize(("new", "reason"), [
    ({"seats": [{"kind": "policy", "policy": "experto"}, {"kind": "person"}]},
     "Did you mean 'expert'"),
    ({"seats": [{"kind": "policy", "policy": "../../agent.safetensors"}, {"kind": "person"}]},
     "Unknown policy"),
    ({"seats": [{"kind": "policy", "policy": "ppo/best/ocnaru"}, *[{"kind": "person"}] * 2]},
     "plays at tables of 2, not of 3"),
    ({"seats": [{"kind": "policy", "policy": "human"}, {"kind": "person"}]}, "Unknown policy"),
    ({"seats": [{"kind": "person"}]}, "seats"),
    ({"seats": [{"kind": "person"}] * 9}, "seats"),
    ({"seats": [{"kind": "person"}] * 2, "rules": {"preset": "offical"}},
     "Did you mean 'official'"),
    ({"seats": [{"kind": "person", "name": "a\x00b"}] * 2}, "name"),
    ({"seats": [{"kind": "person"}] * 2, "speed": 1e9}, "speed"),
])  # fmt: skip
def test_a_game_that_cannot_be_is_refused_with_the_reason(
    client: TestClient, new: Any, reason: str
) -> None:
    answer = client.post("/api/games", json=new, headers=host(client))
    assert answer.status_code in (400, 422)
    assert reason in answer.json()["error"]


def test_every_preset_and_number_of_players_has_a_view() -> None:
    for preset in me.Rules.presets():
        for players in (2, 8):
            game = me.new_game(players, preset, seed=3)
            view = view_of(public.unnamed(game))
            assert [action["action"] for action in view["actions"]] == me.legal_actions(
                game
            ).tolist()
            assert len(view["players"]) == players


def test_rents_and_prices_are_those_of_the_deeds() -> None:
    game = position(
        2,
        lots={0: ["Boardwalk", "Park Place", "Reading Railroad"], 1: ["Electric Company"]},
        buildings={"Boardwalk": 1},
    )
    view = view_of(public.unnamed(game))
    owed = {lot["name"]: lot["rent"] for lot in view["lots"]}
    assert (
        owed["Boardwalk"],
        owed["Park Place"],
        owed["Reading Railroad"],
        owed["Electric Company"],
    ) == (200, 70, 25, 4)
    assert owed["Baltic Avenue"] is None
    dollars = {action["text"]: action["dollars"] for action in view["actions"]}
    assert dollars["build Park Place"] == 200
    assert dollars["sell Boardwalk"] == 100
    assert dollars["mortgage Reading Railroad"] == 100
