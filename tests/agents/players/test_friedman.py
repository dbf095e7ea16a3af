"""`friedman`: the reserve that it keeps, what it never does, and whole games."""

from __future__ import annotations

from typing import Any

import pytest

import agents
import monopoly_env as me
from tests.agents.players.trading import asked_of, landed, trades
from tests.play import act, asked, offer

PLAYER = agents.make("friedman")
ORANGE = ["St. James Place", "Tennessee Avenue", "New York Avenue"]
BUILT: dict[str, Any] = {"buildings": dict.fromkeys(ORANGE, 2)}  # rents of 200, 200 and 220 dollars


@pytest.mark.parametrize(("contents", "least"), [({}, 440), (BUILT, 460)])
def test_it_buys_above_the_highest_rent_and_200_dollars(
    contents: dict[str, Any], least: int
) -> None:
    owned = {1: ORANGE}
    assert asked_of(PLAYER, landed(24, owned, {0: least}, **contents)) == "buy"
    assert asked_of(PLAYER, landed(24, owned, {0: least - 1}, **contents)) == "decline"
    assert (
        asked_of(agents.make("friedman", rents=2.0), landed(24, owned, {0: least}, **BUILT))
        == "decline"
    )


def test_it_builds_and_lifts_mortgages_within_that() -> None:
    houses = {"lots": {0: ORANGE, 1: ["Baltic Avenue"]}}
    assert asked_of(PLAYER, me.position(2, cash=[300, 0], **houses)) == "build New York Avenue"
    assert asked_of(PLAYER, me.position(2, cash=[299, 0], **houses)) == "go on"
    lots = {
        "lots": {0: ["Boardwalk", "Oriental Avenue"]},
        "mortgaged": ["Boardwalk", "Oriental Avenue"],
    }
    assert asked_of(PLAYER, me.position(2, cash=[255, 0], **lots)) == "unmortgage Oriental Avenue"
    assert asked_of(PLAYER, me.position(2, cash=[254, 0], **lots)) == "go on"


def test_it_never_bids() -> None:
    game = act(landed(24, {}, {0: 1500, 1: 1500}), "decline")
    assert asked(game) == ("bid", 1)
    assert asked_of(PLAYER, game) == "fold"
    sealed = act(landed(24, {}, {0: 1500, 1: 1500}, rules="mukhar"), "decline")
    assert asked_of(PLAYER, sealed) == "done"


def test_it_never_trades() -> None:
    owned = {0: ["Boardwalk", "Oriental Avenue"], 1: ["Park Place"]}
    assert asked_of(PLAYER, me.position(2, lots=owned)) == "go on"
    assert asked_of(PLAYER, offer(me.position(2, lots=owned), 1, give=["Boardwalk"])) == "reject"
    assert trades(["friedman", "friedman"], 3)[0] == [0, 0, 0]


def test_it_leaves_jail_when_it_must() -> None:
    contents: dict[str, Any] = {
        "positions": {0: 10},
        "jail_cards": {0: ("chance",)},
        "lots": {0: ["Baltic Avenue"]},
    }
    assert asked_of(PLAYER, me.position(2, jail={0: 0}, **contents)) == "go on"
    game = me.position(2, jail={0: 2}, throws=[(1, 2)], **contents)
    while asked(game) != ("jail", 0):
        act(game, "go on")
    assert asked_of(PLAYER, game) == "use a jail card"
