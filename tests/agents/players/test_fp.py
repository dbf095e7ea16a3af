"""`fp/*`: each published decision at a position, what `guarded` refuses, and whole games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from tests.agents.players.trading import asked_of, landed, proposed, trades
from tests.play import act, asked, offer

A, B, C = (agents.make(f"fp/{letter}") for letter in "abc")
GUARDED_A, GUARDED_B = agents.make("fp/a/guarded"), agents.make("fp/b/guarded")
ORANGE = ["St. James Place", "Tennessee Avenue", "New York Avenue"]
LIGHT_BLUE = ["Oriental Avenue", "Vermont Avenue", "Connecticut Avenue"]
RAILROADS = ["Reading Railroad", "Pennsylvania Railroad", "B. & O. Railroad", "Short Line"]


# --- lots for sale


@pytest.mark.parametrize(
    ("square", "owned", "cash", "answers"),
    [
        (24, [], 440, ("buy", "buy", "buy")),
        (24, [], 439, ("decline", "decline", "decline")),
        (39, [], 400, ("decline", "buy", "decline")),  # B wants dark blue
        (5, [], 200, ("decline", "buy", "buy")),  # B and C want railroads
        (16, [], 180, ("decline", "decline", "buy")),  # C wants orange
        (6, [], 100, ("decline", "decline", "buy")),  # and light blue
        (12, [], 1500, ("buy", "decline", "buy")),  # B refuses utilities,
        (12, ["Water Works"], 1500, ("buy", "decline", "buy")),  # the second one too
        (24, ["Kentucky Avenue", "Indiana Avenue"], 240, ("buy", "buy", "buy")),  # completes
        (5, RAILROADS[1:], 200, ("buy", "buy", "buy")),
    ],
)
def test_buying(square: int, owned: list[str], cash: int, answers: tuple[str, str, str]) -> None:
    game = landed(square, {0: owned, 1: ["Baltic Avenue"]}, {0: cash})
    assert tuple(asked_of(policy, game) for policy in (A, B, C)) == answers


def test_one_deed_must_bring_the_whole_price() -> None:
    owned = ["Mediterranean Avenue", "Oriental Avenue", "Virginia Avenue"]
    assert asked_of(A, landed(3, {0: owned}, {0: 30})) == "mortgage Virginia Avenue"
    assert asked_of(A, landed(3, {0: owned[:2]}, {0: 30})) == "decline"


@pytest.mark.parametrize(
    ("square", "owned", "bid", "cash", "answers"),
    [
        (24, [], 40, 1500, ("bid +100", "bid +100", "bid +100")),  # halfway from 40 to 240
        (24, [], 200, 1500, ("bid +20", "bid +20", "bid +20")),
        (24, [], 239, 1500, ("bid +1", "bid +1", "bid +1")),
        (24, [], 240, 1500, ("fold", "fold", "fold")),
        (24, [], 40, 140, ("fold", "fold", "fold")),  # halfway is all its cash
        # a quarter of the rest
        (24, ["Kentucky Avenue", "Indiana Avenue"], 240, 640, ("bid +100", "bid +100", "bid +100")),
        (39, [], 420, 1500, ("fold", "bid +100", "fold")),  # a sixth of the rest
        (5, [], 600, 1500, ("fold", "bid +100", "bid +100")),
        (5, [], 1499, 1500, ("fold", "bid +1", "bid +1")),  # no limit but the cash
        (12, [], 10, 1500, ("bid +50", "fold", "bid +50")),
    ],
)
def test_bidding(
    square: int, owned: list[str], bid: int, cash: int, answers: tuple[str, str, str]
) -> None:
    """Seat 1 is asked after seat 0 has declined and seat 2 has bid."""
    game = act(
        landed(square, {1: owned}, {0: 1500, 1: cash, 2: 5000}, num_players=3), "decline", "bid +1"
    )
    game.auction_bid = bid - 1
    act(game, "bid +1", "fold")
    assert asked(game) == ("bid", 1)
    assert tuple(asked_of(policy, game) for policy in (A, B, C)) == answers


def test_a_sealed_bid_is_where_they_would_stop() -> None:
    rules = me.Rules.preset("mukhar")
    assert _sealed(A, landed(24, {}, {0: 1000, 1: 1000}, rules=rules)) == 240
    assert _sealed(C, landed(16, {}, {0: 1000, 1: 1000}, rules=rules)) == 1000
    assert _sealed(B, landed(12, {}, {0: 1000, 1: 1000}, rules=rules)) == 0


def _sealed(policy: agents.Policy, game: Any) -> int:
    act(game, "decline")
    while asked(game) == ("sealed_bid", 0):
        action = asked_of(policy, game)
        act(game, action)
        if action == "done":
            break
    return int(game.sealed[0])


# --- jail, building, mortgages, debts


@pytest.mark.parametrize("policy", [A, B, C])
def test_jail_is_left_with_a_salary(policy: agents.Policy) -> None:
    contents: dict[str, Any] = {"jail": {0: 0}, "lots": {0: ["Baltic Avenue"]}}
    assert asked_of(policy, me.position(2, cash=[200, 0], **contents)) == "pay the fine"
    assert (
        asked_of(policy, me.position(2, cash=[200, 0], jail_cards={0: ("chance",)}, **contents))
        == "use a jail card"
    )
    assert (
        asked_of(policy, me.position(2, cash=[199, 0], jail_cards={0: ("chance",)}, **contents))
        == "go on"
    )


def _after_throw(**contents: Any) -> Any:
    """The last window of seat 0's turn; it has come to Free Parking."""
    game = me.position(2, positions={0: 17}, throws=[(1, 2)], **contents)
    while int(game.num_forced):
        act(game, "go on")
    assert asked(game) == ("turn", 0)
    return game


def test_they_build_after_the_throw_without_a_reserve() -> None:
    contents: dict[str, Any] = {
        "lots": {0: [*ORANGE, "Mediterranean Avenue", "Baltic Avenue"]},
        "cash": [100, 0],
    }
    assert asked_of(A, me.position(2, **contents)) == "go on"  # between the turns
    # 12 - 50 is more than 48 - 100
    assert asked_of(A, _after_throw(**contents)) == "build Baltic Avenue"
    raised = _after_throw(buildings=dict.fromkeys(ORANGE, 1), **contents)
    assert asked_of(A, raised) == "build New York Avenue"  # 140 - 100
    assert asked_of(A, _after_throw(lots=contents["lots"], cash=[49, 0])) == "go on"


def test_c_builds_three_houses() -> None:
    contents: dict[str, Any] = {
        "lots": {0: ORANGE},
        "buildings": dict.fromkeys(ORANGE, 3),
        "cash": [1000, 0],
    }
    assert asked_of(C, _after_throw(**contents)) == "go on"
    assert asked_of(B, _after_throw(**contents)).startswith("build")


def test_they_build_between_the_turns_where_the_rules_allow_it() -> None:
    game = act(me.position(2, "any_time", lots={1: ORANGE}, cash=[0, 100]), "go on")
    assert asked(game) == ("turn", 1)
    assert asked_of(A, game).startswith("build")


def test_mortgages_are_lifted_in_alphabetical_order() -> None:
    owned = ["Kentucky Avenue", "Oriental Avenue", "Water Works"]
    contents: dict[str, Any] = {"lots": {0: [*owned, "Boardwalk"]}, "mortgaged": owned}
    assert asked_of(A, _after_throw(cash=[321, 0], **contents)) == "unmortgage Kentucky Avenue"
    assert asked_of(A, _after_throw(cash=[320, 0], **contents)) == "unmortgage Oriental Avenue"
    assert asked_of(A, _after_throw(cash=[254, 0], **contents)) == "go on"


@pytest.mark.parametrize(
    ("owned", "houses", "cash", "told"),
    [
        # 200 dollars are due. Mortgages suffice, the cheapest first, complete groups not spared
        # (the last one goes unasked);
        (
            ["Mediterranean Avenue", "Baltic Avenue", "Boardwalk"],
            0,
            0,
            ["Mediterranean Avenue", "Baltic Avenue"],
        ),
        # else what is in no group, and then the buildings.
        (
            ["Kentucky Avenue", "Oriental Avenue", *ORANGE],
            2,
            0,
            ["Oriental Avenue", "Kentucky Avenue", "St. James Place"],
        ),
    ],
)
def test_debts(owned: list[str], houses: int, cash: int, told: list[str]) -> None:
    game = landed(
        4, {0: owned}, {0: cash}, buildings=dict.fromkeys(ORANGE if houses else [], houses)
    )
    answers = []
    while asked(game) == ("debt", 0):
        answers.append(asked_of(A, game))
        act(game, answers[-1])
    assert [answer.split(" ", 1)[1] for answer in answers] == told


# --- offers


def test_a_sale_asks_for_half_of_the_buyers_cash_or_one_and_a_half_list_prices() -> None:
    owned = {0: [ORANGE[2]], 1: ORANGE[:2]}
    assert proposed(A, me.position(2, lots=owned, cash=[500, 1000])) == {
        "to": 1,
        "ask": [],
        "give": ORANGE[2:],
        "cash": -500,
    }
    assert proposed(A, me.position(2, lots=owned, cash=[500, 400])) == {
        "to": 1,
        "ask": [],
        "give": ORANGE[2:],
        "cash": -300,
    }
    assert proposed(A, me.position(2, lots=owned, cash=[500, 299])) is None
    assert proposed(GUARDED_A, me.position(2, lots=owned, cash=[500, 1000])) is None


def test_a_request_alone_pays_an_eighth_above_list_and_leaves_half_a_salary() -> None:
    owned = {0: ORANGE[:2], 1: ORANGE[2:]}
    for policy in (A, GUARDED_A):
        assert proposed(policy, me.position(2, lots=owned, cash=[326, 0])) == {
            "to": 1,
            "ask": ORANGE[2:],
            "give": [],
            "cash": 225,
        }
        assert proposed(policy, me.position(2, lots=owned, cash=[325, 0])) is None


@pytest.mark.parametrize("policy", [A, GUARDED_A])
def test_an_exchange_nets_both_prices(policy: agents.Policy) -> None:
    owned = {0: [*ORANGE[:2], LIGHT_BLUE[2]], 1: [*LIGHT_BLUE[:2], ORANGE[2]]}
    game = me.position(2, lots=owned, cash=[500, 300])
    assert proposed(policy, game) == {
        "to": 1,
        "ask": ORANGE[2:],
        "give": LIGHT_BLUE[2:],
        "cash": 150 - 180,
    }
    assert asked_of(policy, game) == "accept"


def test_without_a_salary_they_only_sell() -> None:
    owned = {0: [*ORANGE[:2], LIGHT_BLUE[2]], 1: [*LIGHT_BLUE[:2], ORANGE[2]]}
    made = proposed(A, me.position(2, lots=owned, cash=[199, 400]))
    assert made == {"to": 1, "ask": [], "give": LIGHT_BLUE[2:], "cash": -200}


def test_mortgaged_streets_and_swaps_within_a_pair_are_not_offered() -> None:
    owned = {0: [ORANGE[2], "Baltic Avenue"], 1: ORANGE[:2]}
    assert proposed(A, me.position(2, lots=owned, mortgaged=[ORANGE[2]])) is None
    pair = {0: ["Park Place"], 1: ["Boardwalk"]}
    assert proposed(A, me.position(2, lots=pair)) == {
        "to": 1,
        "ask": ["Boardwalk"],
        "give": [],
        "cash": 450,
    }


def test_wanted_deeds_are_requested_without_a_group() -> None:
    owned = {0: ["Reading Railroad"], 1: ["Boardwalk", "Short Line", "Oriental Avenue"]}
    assert proposed(A, me.position(2, lots=owned)) is None
    assert proposed(B, me.position(2, lots=owned)) == {
        "to": 1,
        "ask": ["Short Line"],
        "give": [],
        "cash": 225,
    }
    assert proposed(C, me.position(2, lots=owned)) == {
        "to": 1,
        "ask": ["Oriental Avenue"],
        "give": [],
        "cash": 112,
    }
    owned[0] = ["Baltic Avenue"]
    assert proposed(B, me.position(2, lots=owned)) is None  # B holds no railroad
    assert proposed(C, me.position(2, lots=owned)) is not None  # C lacks orange and light blue


def test_each_player_gets_one_offer_in_a_turn() -> None:
    game = me.position(
        3, lots={0: [*ORANGE[:2], *LIGHT_BLUE[:2]], 1: ORANGE[2:], 2: LIGHT_BLUE[2:]}
    )
    memory = np.zeros((1, agents.MEMORY))
    partners = []
    while (made := proposed(A, game, memory)) is not None:
        partners.append(made["to"])
        act(game, "reject")
    assert partners == [1, 2]
    game.turns += 3
    game.num_refused = 0
    assert proposed(A, game, memory) is not None


def test_the_aggressive_version_asks_more_and_pays_a_rich_owner_less() -> None:
    bold = agents.make("fp/b", aggressive=True)
    sale = {0: [ORANGE[2]], 1: ORANGE[:2]}
    for cash, asked_for in ((1000, 700), (600, 360), (400, 300)):
        made = proposed(bold, me.position(2, lots=sale, cash=[500, cash]))
        assert made is not None
        assert made["cash"] == -asked_for
    request = {0: ORANGE[:2], 1: ORANGE[2:]}
    for cash, paid in ((200, 150), (199, 225)):
        made = proposed(bold, me.position(2, lots=request, cash=[500, cash]))
        assert made is not None
        assert made["cash"] == paid


# --- answers

HOLDINGS = {0: ["Oriental Avenue", "Electric Company"], 1: ["Boardwalk", "Baltic Avenue"]}


@pytest.mark.parametrize(
    ("owned", "ask", "give", "dollars", "cash", "published", "guarded"),
    [
        # one dollar buys Boardwalk from who has 200 then
        (HOLDINGS, ["Boardwalk"], [], 1, 199, "accept", "reject"),
        (HOLDINGS, ["Boardwalk"], [], 1, 198, "reject", "reject"),
        (HOLDINGS, ["Boardwalk"], [], 401, 0, "accept", "accept"),
        (HOLDINGS, ["Boardwalk"], [], 400, 200, "accept", "accept"),
        (HOLDINGS, ["Boardwalk"], [], 0, 1500, "reject", "reject"),  # nothing for something
        # a card counts, but no more than the fine
        (HOLDINGS, [], ["the Chance jail card"], -100, 1500, "accept", "reject"),
        (HOLDINGS, [], ["the Chance jail card"], -50, 1500, "accept", "accept"),
        (HOLDINGS, ["Baltic Avenue"], ["Oriental Avenue"], 0, 100, "accept", "accept"),
        # below half a salary
        (HOLDINGS, ["Baltic Avenue"], ["Oriental Avenue"], 0, 99, "reject", "reject"),
        # no net gain: 100 - 60 - 50
        (HOLDINGS, ["Baltic Avenue"], ["Oriental Avenue"], -50, 199, "reject", "reject"),
        (HOLDINGS, ["Baltic Avenue"], ["Oriental Avenue"], -50, 250, "accept", "reject"),
        # A group for all cash; nothing of it for a group.
        ({0: ORANGE[2:], 1: ORANGE[:2]}, [], ORANGE[2:], -499, 500, "accept", "reject"),
        ({0: ORANGE[2:], 1: ORANGE[:2]}, [], ORANGE[2:], -400, 500, "accept", "accept"),
        ({0: ORANGE[2:], 1: ORANGE[:2]}, [], ORANGE[2:], -500, 500, "accept", "reject"),
        ({0: [], 1: ORANGE}, ORANGE[2:], [], 1000, 500, "reject", "reject"),
        # it completes the other's group
        ({0: ORANGE[:2], 1: ORANGE[2:]}, ORANGE[2:], [], 1000, 500, "accept", "reject"),
        (
            {0: [*ORANGE[:2], LIGHT_BLUE[0]], 1: [*LIGHT_BLUE[1:], ORANGE[2]]},
            ORANGE[2:],
            LIGHT_BLUE[:1],
            0,
            500,
            "accept",
            "accept",
        ),
    ],
)
def test_answers(
    owned: dict[int, list[str]],
    ask: list[str],
    give: list[str],
    dollars: int,
    cash: int,
    published: str,
    guarded: str,
) -> None:
    game = me.position(2, lots=owned, cash=[1500, cash], jail_cards={0: ("chance",)})
    offer(game, 1, ask=ask, give=give, cash=dollars)
    assert (asked_of(A, game), asked_of(GUARDED_A, game)) == (published, guarded)


def test_mortgaged_deeds_and_utilities_are_refused() -> None:
    game = me.position(2, lots=HOLDINGS, mortgaged=["Oriental Avenue"])
    assert (
        asked_of(A, offer(game, 1, ask=["Baltic Avenue"], give=["Oriental Avenue"], cash=500))
        == "reject"
    )
    game = offer(
        me.position(2, lots=HOLDINGS), 1, ask=["Baltic Avenue"], give=["Electric Company"], cash=500
    )
    assert [asked_of(policy, game) for policy in (A, B, C)] == ["accept", "reject", "accept"]


def test_a_guarded_policy_keeps_what_it_wants() -> None:
    game = offer(me.position(2, lots=HOLDINGS), 1, ask=["Boardwalk"], cash=450)
    assert [asked_of(policy, game) for policy in (B, GUARDED_A, GUARDED_B)] == [
        "accept",
        "accept",
        "reject",
    ]


# --- whole games


def scarce_house(lots: dict[int, list[str]], buildings: dict[str, int]) -> Any:
    """Seat 1 opens the auction of the last house; seat 0 is to bid."""
    rules = me.Rules(houses=1 + sum(buildings.values()))
    game = me.position(2, rules, turn=1, lots=lots, buildings=buildings, cash={0: 1500, 1: 1500})
    act(game, "build Mediterranean Avenue")
    assert asked(game) == ("bid", 0)
    return game


GREEN = ["Pacific Avenue", "North Carolina Avenue", "Pennsylvania Avenue"]
BROWN = ["Mediterranean Avenue", "Baltic Avenue"]


def test_a_scarce_house_is_bid_for_up_to_its_list_price() -> None:
    game = scarce_house({0: GREEN, 1: BROWN}, {})
    while asked(game)[1] == 0 and asked(game)[0] == "bid":
        action = asked_of(A, game)
        act(game, action)
        assert int(game.auction_bid) <= 200
        if asked(game) == ("bid", 1):
            act(game, "bid +1")
    assert asked(game)[0] != "bid"


def test_c_bids_for_no_fourth_house() -> None:
    lots, three = {0: ORANGE, 1: BROWN}, dict.fromkeys(ORANGE, 3)
    assert asked_of(C, scarce_house(lots, three)) == "fold"
    assert asked_of(A, scarce_house(lots, three)) != "fold"


def test_the_groups_of_a_debtor_go_by_their_deeds_cheapest_first() -> None:
    blue = ["Park Place", "Boardwalk"]
    buildings = dict.fromkeys(GREEN, 2) | dict.fromkeys(blue, 1)
    game = landed(39, {0: [*BROWN, *GREEN], 1: blue}, {0: 10, 1: 1500}, buildings=buildings)
    assert asked(game)[0] == "debt"  # 200 dollars, more than all mortgages bring
    assert asked_of(A, game) == "mortgage Mediterranean Avenue"


def test_guarded_offers_keep_to_the_guard() -> None:
    completes_his = {0: ["Reading Railroad", ORANGE[2]], 1: [*ORANGE[:2], "Short Line"]}
    made = proposed(agents.make("fp/b/guarded"), me.position(2, lots=completes_his))
    assert made is None or made["give"] == []
    wanted = {0: [LIGHT_BLUE[0], ORANGE[2]], 1: [*ORANGE[:2], LIGHT_BLUE[1]]}
    made = proposed(agents.make("fp/c/guarded"), me.position(2, lots=wanted))
    assert made is None or made["give"] == []


def test_a_wanted_deed_goes_to_and_fro_unless_guarded() -> None:
    assert max(trades(["fp/c", "fp/c"], 6)[1]) > 10
    assert max(trades(["fp/c/guarded", "fp/c/guarded"], 6)[1]) <= 4
