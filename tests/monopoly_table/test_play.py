"""Playing over the socket.

Clicks that come late or twice, several people, offers, auctions, undo, policies that fail.
"""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

import agents
import monopoly_env as me
from monopoly_env.actions import A_BID
from monopoly_env.offers import REFUSALS
from monopoly_env.policy import names
from monopoly_table import public
from tests.monopoly_table.clients import Player, ann, bearer, begin, seated, state
from tests.policies import Historian

NO_AUCTION = {"options": {"auction": "none"}}
REASONS = list(REFUSALS)


def test_a_whole_game_against_a_policy(client: TestClient) -> None:
    game = begin(
        client, "person", "expert", rules={"preset": "official", "options": {"max_turns": 30}}
    )
    with ann(client, game) as player:
        while not player.view["over"]:
            player.wait()
            if player.my_turn():
                kinds = (
                    ("buy",)
                    if player.view["question"]["decision"] == "buy"
                    else ("turn", "bid", "reply", "choice", "jail", "mortgage")
                )
                chosen = [a["action"] for a in player.view["actions"] if a["kind"] in kinds]
                assert player.act(chosen[-1] if kinds == ("buy",) else chosen[0])["type"] == "done"
        assert player.view["winners"]
        assert player.view["actions"] == []
        assert player.view["question"] is None
        late = player.act(0)
        assert late["type"] == "refused"
        assert "over" in late["error"]
    assert player.events[-1] == "over"
    frame = state(client, game["game"], player.view["version"])["frame"]
    assert frame["digest"] == player.view["digest"]
    assert frame["record"] == player.frame["record"]


def test_a_double_click_does_nothing_more(client: TestClient) -> None:
    with ann(client, begin(client, "person", "person")) as player:
        seen = player.view
        click = {
            "type": "act",
            "version": seen["version"],
            "digest": seen["digest"],
            "action": seen["actions"][0]["action"],
        }
        player.socket.send_json(click | {"id": 1001})
        player.socket.send_json(click | {"id": 1002})
        answers = []
        while len(answers) < 2:
            message = player.receive()
            answers += [message] if "id" in message else []
        assert [answer["type"] for answer in answers] == ["done", "refused"]
        assert "moved on" in answers[1]["error"]
        assert player.view["version"] == seen["version"] + 1


def test_two_tabs_agree(client: TestClient) -> None:
    game = begin(client, "person", "person")
    with ann(client, game) as one, ann(client, game) as two:
        one.act(one.view["actions"][0]["action"])
        while two.view["version"] < one.view["version"]:
            two.receive()
        assert two.view["digest"] == one.view["digest"]
        assert two.frame["record"] == one.frame["record"]
        two.act(two.view["actions"][0]["action"])
        while one.view["version"] < two.view["version"]:
            one.receive()
        assert two.view["digest"] == one.view["digest"]


def test_who_comes_back_gets_what_was_missed(client: TestClient) -> None:
    game = begin(client, "person", "guest")
    guest = seated(client, game)
    with ann(client, game) as player:
        with guest:
            assert guest.first["type"] == "state"
        missed = 0
        while player.my_turn() and missed < 2:
            player.act(player.view["actions"][0]["action"])
            missed += 1
        with Player(client, game["game"], guest.token, guest.view) as back:
            assert back.first["type"] == "events"
            assert len(back.first["steps"]) == missed
            assert back.view["digest"] == player.view["digest"]
        with Player(client, game["game"], guest.token, guest.view | {"digest": "0" * 16}) as lost:
            assert lost.first["type"] == "state"


def test_each_plays_only_the_own_seats(client: TestClient) -> None:
    game = begin(client, "person", "guest")
    with ann(client, game) as player, seated(client, game) as bob:
        assert player.view["you"] == [0]
        assert bob.view["you"] == [1]
        while player.my_turn() or bob.my_turn():
            mine, other = (player, bob) if player.my_turn() else (bob, player)
            while other.view["version"] < mine.view["version"]:
                other.receive()
            refused = other.act(other.view["actions"][0]["action"])
            assert refused["type"] == "refused"
            assert "not yours" in refused["error"]
            mine.act(mine.view["actions"][0]["action"])
            if mine.view["version"] > 3:
                break
        assert bob.say("speed", speed=1.0)["type"] == "refused"
        assert bob.say("seat", seat=0, kind="policy", policy="expert")["type"] == "refused"
    with Player(client, game["game"], game["watch"]) as watching:
        assert watching.view["you"] == []
        assert "not yours" in watching.act(watching.view["actions"][0]["action"])["error"]


def test_a_seat_is_taken_once(client: TestClient) -> None:
    game = begin(client, "person", "guest", "guest")
    path, headers = f"/api/games/{game['game']}/join", bearer(game["watch"])
    answer = client.post(path, json={"seat": 1, "name": "Bob"}, headers=headers)
    assert answer.status_code == 200
    again = client.post(path, json={"seat": 1, "name": "Eve"}, headers=headers)
    assert again.status_code == 409
    assert "Free: C" in again.json()["error"]
    with Player(client, game["game"], answer.json()["token"]) as bob:
        assert bob.view["you"] == [1]
        assert bob.view["players"][1]["name"] == "Bob"
    with seated(client, game, 1):
        pass
    full = client.post(path, json={"seat": 2}, headers=headers)
    assert full.status_code == 409
    assert "No seat is free" in full.json()["error"]
    with pytest.raises(WebSocketDisconnect) as closed, seated(client, game):
        pass
    assert closed.value.code == 4401


def test_phrases_reach_all_at_the_table(client: TestClient) -> None:
    game = begin(client, "person", "guest")
    with ann(client, game) as host, seated(client, game) as guest:
        assert guest.say("talk", seat=1, phrase=2)["type"] == "done"
        while (heard := host.receive())["type"] != "talk":
            pass
        assert heard == {"type": "talk", "seat": 1, "phrase": 2}
        assert "a seat of your own" in guest.say("talk", seat=0, phrase=2)["error"]
        assert guest.say("talk", seat=1, phrase=8)["type"] == "refused"


def test_undo_goes_back_against_policies_only(client: TestClient) -> None:
    historian = Historian("random/no_trades")
    names.register("test/told", lambda: historian)
    game = begin(client, "person", "test/told", rules=NO_AUCTION)
    with ann(client, game) as player:
        assert player.move("undo")["type"] == "refused"
        player.wait()
        before = player.view
        player.act(before["actions"][0]["action"])
        player.wait()
        assert player.view["undo"]
        assert player.view["version"] > before["version"]
        after = player.view
        assert player.move("undo")["type"] == "done"
        assert (player.view["version"], player.view["actions"]) == (
            before["version"],
            before["actions"],
        )
        stale = player.say(
            "act",
            version=after["version"],
            digest=after["digest"],
            action=after["actions"][0]["action"],
        )
        assert stale["type"] == "refused"
        assert historian.longest > 0
        assert historian.wrong == historian.untold == 0
        while historian.untold == 0:  # actions alone no longer lead to the position
            player.act(player.view["actions"][0]["action"])
            player.wait()
        assert historian.wrong == 0
    shared = begin(client, "person", "guest")
    with ann(client, shared) as player, seated(client, shared) as bob:
        for each in (player, bob):
            other = bob if each is player else player
            while each.my_turn():
                each.act(each.view["actions"][0]["action"])
            while other.view["version"] < each.view["version"]:
                other.receive()
        assert player.view["undo"]
        assert not bob.view["undo"]


def trading(client: TestClient, *seats: str) -> dict[str, Any]:
    """A game in which Boardwalk and Park Place are in different hands; seat 0 is to move."""
    return begin(
        client,
        *seats,
        position={
            "players": [
                {"lots": [21, 1], "jail_cards": ["chance"]},
                {"lots": [20, 5]},
                {"lots": [0]},
            ],
            "mortgaged": [5],
        },
    )


def test_an_offer_a_counter_offer_and_a_deal(client: TestClient) -> None:
    with ann(client, trading(client, "person", "person", "expert")) as player:
        give, ask = {"lots": [1], "cards": ["chance"], "dollars": 37}, {"lots": [20]}
        seen = player.say("preview", to=1, give=give, ask=ask)
        assert seen["reason"] == 0
        assert seen["record"]["lots"][:2] == [1 << 20 | 1 << 21, 1 << 1 | 1 << 5]
        assert seen["record"]["cash"][:2] == [1463, 1537]
        assert seen["derived"]["rent"][20] == 70
        assert player.view["may_offer"] == [1, 2]
        assert player.move("offer", to=1, give=give, ask=ask)["type"] == "done"
        offer = player.view["offer"]
        assert (offer["from"], offer["to"], offer["give"], offer["ask"]["lots"]) == (
            0,
            1,
            give,
            [20],
        )
        assert player.view["may_offer"] == [0]
        assert (
            player.move("offer", to=0, give={"lots": [20]}, ask={"lots": [1], "dollars": 400})[
                "type"
            ]
            == "done"
        )
        assert player.view["offer"]["counter"]
        assert player.view["question"]["seat"] == 0
        assert player.move("act", text="accept")["type"] == "done"
        owners = {lot["lot"]: lot["owner"] for lot in player.view["lots"]}
        assert owners[20] == 0
        assert owners[1] == 1
        assert player.view["players"][1]["cash"] == 1900
        build = next(
            action for action in player.view["actions"] if action["text"] == "build Boardwalk"
        )
        assert build["square"] == 39
        assert build["dollars"] == 200


@pytest.mark.parametrize(("to", "give", "ask", "code", "reason"), [
    (1, {"lots": [20]}, {}, "not_owned", "does not own Park Place"),
    (1, {"dollars": 5000}, {"lots": [20]}, "cash", "has $1,500"),
    (1, {}, {"lots": [20], "dollars": 1600}, "cash", "has $1,500"),
    (1, {"dollars": 5}, {}, "empty", "needs a lot or a card"),
    (1, {"cards": ["community_chest"]}, {"lots": [20]}, "not_owned", "Community Chest jail card"),
    (0, {"lots": [21]}, {}, "partner", "another player"),
    (7, {"lots": [21]}, {}, "partner", "another player"),
])  # fmt: skip
def test_an_impossible_offer_is_refused_with_the_reason(
    client: TestClient, to: int, give: Any, ask: Any, code: str, reason: str
) -> None:
    with ann(client, trading(client, "person", "person", "expert")) as player:
        before = player.view
        answer = player.move("offer", to=to, give=give, ask=ask)
        assert answer["type"] == "refused"
        assert reason in answer["error"]
        assert player.say("preview", to=to, give=give, ask=ask)["reason"] == REASONS.index(code)
        assert player.view["digest"] == before["digest"]


def test_an_offer_is_taken_back_whole(client: TestClient) -> None:
    with ann(client, trading(client, "person", "random/no_trades", "random/no_trades")) as player:
        before = player.view
        player.move("offer", to=1, give={"lots": [1], "dollars": 123}, ask={"lots": [20]})
        player.wait()
        player.move("undo")
        assert (player.view["version"], player.view["players"]) == (
            before["version"],
            before["players"],
        )


def test_bids_are_typed_as_totals(client: TestClient) -> None:
    with ann(client, begin(client, "person", "person")) as player:
        assert "no auction" in player.move("bid", dollars=10)["error"]
        player.act(player.first_of("buy"))  # decline
        auction = player.view["auction"]
        assert auction["bid"] == 0
        assert auction["most"] == 1500
        assert not auction["sealed"]
        assert [action["dollars"] for action in player.view["actions"]] == [
            None,
            1,
            5,
            10,
            20,
            50,
            100,
            500,
        ]
        refused = player.move("bid", dollars=30)
        assert refused["type"] == "refused"
        assert "nearest are $20 and $50" in refused["error"]
        assert "$1, $5, $10, $20" in refused["error"]
        assert "nearest is $500" in player.move("bid", dollars=777)["error"]
        assert player.move("bid", dollars=50)["type"] == "done"
        assert player.view["auction"]["bid"] == 50
        assert player.move("bid", dollars=150)["type"] == "done"
        player.move("act", text="fold")
        assert player.view["auction"] is None
        assert sum(len(each["lots"]) for each in player.view["players"]) == 1


def test_a_sealed_bid_is_one_message(client: TestClient) -> None:
    rules = {"options": {"auction": "sealed_second_price"}}
    with ann(client, begin(client, "person", "person", rules=rules)) as player:
        player.act(player.first_of("buy"))
        assert player.view["auction"]["sealed"]
        assert player.move("bid", dollars=9999)["type"] == "refused"
        player.move("bid", dollars=137)
        player.move("bid", dollars=88)
        assert sorted(each["cash"] for each in player.view["players"]) == [1412, 1500]


def test_a_sealed_bid_is_for_its_player_alone_until_all_are_opened(client: TestClient) -> None:
    game = begin(client, "guest", "guest", rules={"options": {"auction": "sealed_second_price"}})
    first, second = (seat["token"] for seat in game["seats"])
    sockets = [Player(client, game["game"], holder) for holder in (first, second, game["watch"])]
    with sockets[0] as bidder, sockets[1] as rival, sockets[2] as stranger:
        bidder.act(bidder.first_of("buy"))
        start = bidder.view["version"]
        for _ in range(2):  # and not done yet
            bidder.act(
                next(each["action"] for each in bidder.view["actions"] if each["text"] == "bid +20")
            )
        assert bidder.frame["record"]["sealed"][bidder.view["question"]["seat"]] == 40
        with Player(client, game["game"], game["watch"]) as late:  # comes in the middle
            for other in (rival, stranger, late):
                while other.view["version"] < start + 2:
                    message = other.receive()
                    assert [
                        step["action"] for step in message["steps"] if step["version"] > start
                    ] in ([], [None])
                assert other.view["actions"] == []
                assert not any(other.frame["record"]["sealed"])
                assert not any(other.frame["derived"]["cost"][A_BID : A_BID + 8])
                assert other.frame["derived"]["bid_base"] == 0
            assert [step["action"] for step in late.first["log"]][-2:] != [A_BID + 4] * 2
        watching = bearer(game["watch"])
        for path in (f"frames/{start + 1}", f"frames/{start + 1}/position"):
            answer = client.get(f"/api/games/{game['game']}/{path}", headers=watching)
            assert answer.status_code == 404
            assert "sealed until all of them are opened" in answer.json()["error"]
        assert (
            client.get(f"/api/games/{game['game']}/index", headers=watching).json()["version"]
            == start
        )
        bidder.move("bid", dollars=137)
        while not rival.my_turn():
            rival.receive()
        rival.move("bid", dollars=88)
        end = rival.view["version"]
        assert rival.view["auction"] is None
        told = [
            client.get(f"/api/games/{game['game']}/frames/{frame}", headers=watching).json()[
                "step"
            ]["action"]
            for frame in range(start + 1, end + 1)
        ]
        assert told.count(A_BID + 4) >= 2


def test_a_bankruptcy_ends_the_game(client: TestClient) -> None:
    poor = {
        "players": [
            {"cash": 1, "square": 31, "lots": [0]},
            {"cash": 5000, "lots": [17, 18, 19, 20, 21]},
        ],
        "buildings": [{"lot": lot, "level": 5} for lot in range(17, 22)],
        "throws": [[1, 2]],
    }
    with ann(client, begin(client, "person", "person", position=poor)) as player:
        while not player.view["over"]:
            player.act(player.first_of("turn"))
        assert player.view["winners"] == [1]
        assert player.view["ending"] == "one player is left"
        assert player.events[-2:] == ["bankrupt", "over"]
        player.move("undo")
        assert not player.view["over"]


class Fails(agents.BatchedPolicy):
    """Raises an error when it is asked."""

    name = "fails"

    def act(self, decisions: Any) -> Any:
        raise ZeroDivisionError("I do not know")


class Cheats(agents.BatchedPolicy):
    """Chooses what is not legal."""

    name = "cheats"

    def act(self, decisions: Any) -> Any:
        return decisions.mask.argmin(axis=1)


@pytest.mark.parametrize(("policy", "reason"), [(Fails, "I do not know"), (Cheats, "illegal")])
def test_a_policy_that_fails_stalls_the_game_and_loses_the_seat(
    client: TestClient, policy: type[Any], reason: str
) -> None:
    names.register(policy.name, policy)
    with ann(client, begin(client, policy.name, "person")) as player:
        while not player.view["stalled"]:
            (
                player.receive()
                if not player.my_turn()
                else player.act(player.first_of("turn", "buy", "bid"))
            )
        assert reason in player.view["stalled"]["error"]
        assert player.view["stalled"]["seat"] == 0
        version = player.view["version"]
        assert player.say("seat", seat=0, kind="policy", policy="nobody")["type"] == "refused"
        assert player.say("seat", seat=0, kind="policy", policy="expert")["type"] == "done"
        while player.view["version"] == version and not player.my_turn():
            player.receive()
        assert player.view["stalled"] is None
        assert player.view["players"][0]["policy"] == "expert"


def test_a_seat_may_become_a_persons(client: TestClient) -> None:
    with ann(client, begin(client, "expert", "expert", paused=True)) as player:
        assert player.view["you"] == []
        assert player.view["paused"]
        for seat in (0, 1):
            player.say("seat", seat=seat, kind="person")
        assert player.view["you"] == [0, 1]
        assert player.my_turn()


def test_the_pace_is_the_hosts(client: TestClient) -> None:
    with ann(client, begin(client, "expert", "random/no_trades", "person", speed=10)) as player:
        player.say("speed", paused=True)
        version = player.view["version"]
        assert player.say("ping")["type"] == "pong"
        assert player.view["version"] == version
        player.say("speed", speed=0.0, paused=False)
        player.wait()
        assert player.my_turn()


def test_typed_commands(client: TestClient) -> None:
    with ann(client, begin(client, "person", "person")) as player:
        refused = player.move("act", text="by")
        assert refused["type"] == "refused"
        assert "Did you mean 'buy'" in refused["error"]
        assert player.move("act", text=" BUY ")["type"] == "done"
        assert "illegal" in player.move("act", text="build Boardwalk")["error"]
        assert player.move("act")["type"] == "refused"


def test_what_happens_is_what_the_engine_does(client: TestClient) -> None:
    game = begin(client, "person", "person", seed=11)
    with ann(client, game) as player:
        record = me.new_game(2, seed=11)
        for number in range(25):
            action = player.view["actions"][number % len(player.view["actions"])]["action"]
            player.act(action)
            me.step(record, action)
            assert (
                player.view["actions"] == []
                or [a["action"] for a in player.view["actions"]]
                == me.legal_actions(record).tolist()
            )
        shown = public.unnamed(record)
        assert player.frame["record"] == shown["record"]
        assert player.frame["derived"] == shown["derived"]
