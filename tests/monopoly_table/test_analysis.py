"""Analyses: honest shares, intervals that hold, exact ends, jobs that can be stopped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from monopoly_env import core
from monopoly_env.actions import describe
from monopoly_env.analyse import rollout
from monopoly_env.policy.names import make
from monopoly_env.positions import position
from monopoly_table import analysis, public, reports
from tests.monopoly_env.endgames import LEADER_WINS, last_throw
from tests.monopoly_table.clients import analysing, ann, begin
from tests.monopoly_table.views import view_of

EDITED = {"players": [{"lots": [20, 21], "cash": 900}, {"lots": [0, 5], "cash": 700}]}


def jobs(client: TestClient, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    """The last answer to each of several jobs, one after another."""
    answers = []
    with analysing(client) as socket:
        for number, message in enumerate(messages):
            socket.send_json(message | {"id": number})
            while not (answer := socket.receive_json()).get("done") and answer["type"] != "refused":
                assert answer["id"] == number
            answers.append(answer)
    return answers


def test_shares_are_those_of_the_playouts() -> None:
    game, policies = position(3, lots={0: ["Boardwalk", "Park Place"]}), [make("expert")] * 3
    *_, last = analysis.analyse(game, policies, False, 300)
    played = rollout(game, policies, 300)
    assert [row["share"] for row in last["shares"]] == pytest.approx(played.share.tolist())
    assert [row["low"] for row in last["shares"]] == pytest.approx(played.interval[0].tolist())
    assert sum(row["share"] for row in last["shares"]) == pytest.approx(1)


def test_the_better_action_is_found() -> None:
    """Decline a lot that completes a group, in a game without auctions, or buy it."""
    game = position(
        2,
        core.Rules.preset("official", auction="none", trade="none"),
        lots={0: ["Boardwalk"], 1: [0]},
        cash=[1200, 1200],
        positions=[34, 0],
        throws=[(1, 2)],
    )
    while core.actions.DECISION_NAMES[game.decision] != "buy":
        core.step(game, core.actions.A_TURN)
    *_, last = analysis.analyse(game, [make("expert")] * 2, True, 200)
    best, *others = last["candidates"]
    assert describe(best["action"], game) == "buy"
    assert best["difference"] == 0
    assert describe(others[-1]["action"], game) in ("decline", "mortgage Boardwalk")


def test_half_an_offer_is_not_compared() -> None:
    """A playout from its middle would forget what it is for."""
    game, policies = (
        position(2, lots={0: ["Boardwalk"], 1: ["Park Place"]}),
        [make("algorithmic")] * 2,
    )
    *_, last = analysis.analyse(game, policies, True, 40)
    texts = [describe(one["action"], game) for one in last["candidates"]]
    assert texts == ["go on", "mortgage Boardwalk"]
    core.step(game, core.actions.parse("trade with player +1"))
    *_, last = analysis.analyse(game, policies, True, 40)
    assert (last["candidates"], last["done"], last["playouts"]) == ([], True, 40)


def test_the_end_is_exact() -> None:
    game = position(
        2,
        lots={0: [17, 18, 19, 20, 21], 1: [0]},
        buildings=dict.fromkeys(range(17, 22), 5),
        turn=1,
        cash=[5000, 1],
        positions=[0, 31],
        throws=[(1, 2)],
    )
    *_, last = analysis.analyse(game, [make("expert")] * 2, False, 100)
    assert [row["share"] for row in last["shares"]] == [1, 0]
    while not core.is_over(game):
        core.step(game, int(core.legal_actions(game)[0]))
    (ended,) = analysis.analyse(game, [make("expert")] * 2, True, 100)
    assert ended["done"]
    assert [row["share"] for row in ended["shares"]] == [1, 0]
    assert ended["candidates"] == []


def test_shares_over_the_socket_are_the_ones_worked_out_by_hand(client: TestClient) -> None:
    target, exact = {"position": public.setup_of(last_throw())}, float(LEADER_WINS)
    (told,) = jobs(
        client, {"type": "analyse", "target": target, "policies": "friedman", "most": 20_000}
    )
    assert told["playouts"] == 20_000
    error = np.sqrt(exact * (1 - exact) / 20_000)
    (throw,) = (one for one in told["candidates"] if one["action"] == core.actions.A_TURN)
    for row, truth in zip((*told["shares"], throw), (exact, 1 - exact, exact), strict=True):
        assert abs(row["share"] - truth) < 5 * error
        assert (row["high"] - row["low"]) / 2 == pytest.approx(1.96 * error, rel=0.05)


def test_a_position_stands_before_its_throw(client: TestClient) -> None:
    """A player just ahead of two hotels too dear to pay: four throws of 36 end the game."""
    lots = list(range(2, 20))
    poor = {"cash": 1499, "square": 35, "lots": lots}
    hotels = [{"lot": lot, "level": 5} for lot in (20, 21)]
    players = [poor, {"lots": [20, 21], "cash": 100}]
    position = {"players": players, "buildings": hotels, "mortgaged": lots}
    frame = client.post("/api/positions", json=position).json()["frame"]
    assert frame["record"]["position"][:2] == [35, 0]
    assert frame["record"]["ending"] == 0
    (told,) = jobs(client, {"type": "analyse", "target": {"position": position}, "most": 144})
    mine, other = told["shares"]
    assert told["playouts"] == 144
    assert 4 / 36 <= other["share"] < 1
    assert mine["share"] + other["share"] == pytest.approx(1)
    forced = position | {"throws": [[1, 1]]}
    (lost,) = jobs(client, {"type": "analyse", "target": {"position": forced}, "most": 144})
    assert lost["shares"][1]["share"] == 1


def test_accuracy_is_the_published_formula() -> None:
    assert reports.accuracy(0) == pytest.approx(100, abs=0.01)
    assert reports.accuracy(0.1) == pytest.approx(103.1668 * np.exp(-0.4354) - 3.1669, abs=0.01)
    assert reports.accuracy(1) == 0


def test_positions_offers_and_refusals_over_the_socket(client: TestClient) -> None:
    target = {"position": EDITED}
    looked, weighed, none, wrong, two, unknown = jobs(
        client,
        {
            "type": "analyse",
            "target": target,
            "most": 100,
            "policies": ["expert", "random/no_trades"],
        },
        {
            "type": "offer",
            "target": target,
            "to": 1,
            "give": {"dollars": 100},
            "ask": {"lots": [0]},
            "most": 100,
        },
        {"type": "analyse", "target": {}, "most": 100},
        {"type": "offer", "target": target, "to": 1, "give": {"lots": [9]}, "most": 100},
        {"type": "analyse", "target": target, "policies": ["expert"] * 3},
        {"type": "curve", "game": "none"},
    )
    assert looked["policies"] == ["expert", "random/no_trades"]
    assert looked["playouts"] == 100
    assert looked["candidates"]
    assert sum(seat["difference"] for seat in weighed["seats"]) == pytest.approx(0)
    assert "one of" in none["error"]
    assert "does not own" in wrong["error"]
    assert "3 policies" in two["error"]
    assert "no game" in unknown["error"]


def test_a_game_has_a_curve_and_a_report(client: TestClient) -> None:
    game = begin(client, "person", "person")
    with ann(client, game) as player:
        for _ in range(6):
            player.act(player.view["actions"][0]["action"])
    curve, report = jobs(
        client,
        {"type": "curve", "game": game["game"], "points": 4, "playouts": 10},
        {"type": "report", "game": game["game"], "playouts": 10},
    )
    assert [point["version"] for point in curve["points"]] == [0, 2, 4, 6]
    assert all(sum(point["shares"]) == pytest.approx(1) for point in curve["points"])
    for row in report["players"]:
        assert row["first"] + row["luck"] + row["skill"] + row["others"] == pytest.approx(
            row["final"]
        )
        for name, (low, high) in row["intervals"].items():
            assert low <= row[name] + 1e-6, name
            assert row[name] <= high + 1e-6, name
        assert set(row["intervals"]) == {"accuracy", "luck", "skill", "others"}
        assert np.diff(row["intervals"]["skill"]) > 0
    assert sum(row["decisions"] for row in report["players"]) == 6 == len(report["curve"])


def test_a_mistake_is_told_by_facts(client: TestClient) -> None:
    """Both blue streets and nearly all cash for Mediterranean Avenue, accepted."""
    game = begin(client, "person", "person", position=EDITED | {"throws": [[1, 2], [1, 2]]})
    with ann(client, game) as player:
        give, ask = {"lots": [20, 21], "dollars": 800}, {"lots": [0]}
        assert player.move("offer", to=1, give=give, ask=ask)["type"] == "done"
        player.act(core.actions.A_REPLY + 1)
    (report,) = jobs(client, {"type": "report", "game": game["game"], "playouts": 20})
    (mistake,) = report["mistakes"]
    assert mistake["offer"] == [1, 1 << 20 | 1 << 21, 1, 800]
    assert (mistake["version"], mistake["seat"], mistake["clear"]) == (0, 0, True)
    assert mistake["frame"]["record"]["lots"][0] == 1 << 20 | 1 << 21
    legal = [each["action"] for each in view_of(mistake["frame"])["actions"]]
    assert mistake["best"]["action"] in legal
    assert "text" not in mistake["best"]


def test_a_curve_comes_in_short_steps() -> None:
    game, policies = position(2, lots={0: ["Boardwalk"], 1: [0]}), [make("friedman")] * 2
    messages = list(analysis.curve(lambda _: game, 1, 2, 200, policies))
    # the first step has 32 playouts, a later one four times as many at most
    assert len(messages) > 3
    assert [message["done"] for message in messages] == [False] * (len(messages) - 1) + [True]
    for point in messages[-1]["points"]:
        assert point["shares"] == pytest.approx(rollout(game, policies, 200).share.tolist())


def test_a_new_job_replaces_the_old_one(client: TestClient) -> None:
    with analysing(client) as socket:
        socket.send_json(
            {"type": "analyse", "id": 1, "target": {"position": EDITED}, "most": 1_000_000}
        )
        assert socket.receive_json()["id"] == 1
        socket.send_json({"type": "analyse", "id": 2, "target": {"position": EDITED}, "most": 100})
        while (answer := socket.receive_json())["id"] == 1:
            assert not answer["done"]
        while not answer["done"]:
            answer = socket.receive_json()
            assert answer["id"] == 2
        socket.send_json({"type": "stop"})
        socket.send_json({"type": "ping", "id": 3})
        assert socket.receive_json() == {"type": "pong", "id": 3}


def test_puzzles_are_asked_then_told(client: TestClient) -> None:
    rows = client.get("/api/puzzles").json()["puzzles"]
    if not rows:
        assert client.get("/api/puzzles/0").status_code == 404
        return
    puzzle = client.get("/api/puzzles/0").json()
    assert "best" not in puzzle
    assert set(puzzle["candidates"]) <= {
        each["action"] for each in view_of(puzzle["frame"])["actions"]
    }
    answers = [
        client.post("/api/puzzles/0/guess", json={"action": each}).json()
        for each in puzzle["candidates"]
    ]
    assert sum(answer["right"] for answer in answers) == 1
    assert len({answer["best"] for answer in answers}) == 1
    assert client.post("/api/puzzles/0/guess", json={"action": 204}).status_code == 400


def test_a_report_is_there_soon_and_gets_better(client: TestClient) -> None:
    new = begin(client, "algorithmic", "algorithmic", rules={"options": {"max_turns": 60}})
    with ann(client, new) as player:
        while not player.view["over"]:
            player.receive()
        decisions = player.view["version"]
    messages = []
    with analysing(client) as socket:
        socket.send_json(
            {"type": "report", "game": new["game"], "playouts": 30, "policies": "algorithmic"}
        )
        while not messages or not messages[-1]["done"]:
            messages.append(socket.receive_json())
    progress = [message["progress"] for message in messages]
    assert progress == sorted(progress)
    assert progress[-1] == 1
    versions = [message for message in messages if "players" in message]
    assert len(versions) > 1
    counts = [version["playouts"] for version in versions]
    assert counts == sorted(counts)
    assert counts[-1] == 30
    for version in versions:
        for row in version["players"]:
            assert row["first"] + row["luck"] + row["skill"] + row["others"] == pytest.approx(
                row["final"]
            )
        assert version["curve"][0]["version"] == 0
        # the picks of an offer are one
        assert 0 < sum(row["decisions"] for row in version["players"]) <= decisions
    # they played as the policy that plays on
    assert all(row["accuracy"] > 95 for row in versions[-1]["players"])


def test_versions_of_a_report_grow() -> None:
    assert reports.playouts_by_version(450, 60) == [4, 12, 36, 60]
    assert reports.playouts_by_version(20, 60) == [60]
    assert reports.playouts_by_version(5000, 4) == [4]
