"""`gcp`: each decision of the simulator's standard player, its trades, and whole games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from monopoly_env.facts import board
from monopoly_env.facts.editions import EDITION_NAMES
from tests.agents.players.trading import asked_of, landed, proposed
from tests.play import act, asked, offer

PLAYER = agents.make("gcp")
ORANGE = ["St. James Place", "Tennessee Avenue", "New York Avenue"]
LIGHT_BLUE = ["Oriental Avenue", "Vermont Avenue", "Connecticut Avenue"]
GREEN = ["Pacific Avenue", "North Carolina Avenue", "Pennsylvania Avenue"]
RAILROADS = ["Reading Railroad", "Pennsylvania Railroad", "B. & O. Railroad", "Short Line"]
SWAP = {0: [*ORANGE[:2], LIGHT_BLUE[2]], 1: [*LIGHT_BLUE[:2], ORANGE[2]]}  # lists 200 and 120
UK_LOTS = board.LOT_NAME[EDITION_NAMES.index("uk")]
SWAP_UK = {
    seat: [UK_LOTS[board.LOT_NAME[0].index(name)] for name in names] for seat, names in SWAP.items()
}


def test_it_buys_while_200_dollars_remain() -> None:
    assert asked_of(PLAYER, landed(24, {}, {0: 440})) == "buy"
    assert asked_of(PLAYER, landed(24, {}, {0: 439})) == "decline"
    # a group does not matter
    assert asked_of(PLAYER, landed(39, {0: ["Park Place"]}, {0: 599})) == "decline"
    ignores = agents.make("gcp", ignored=1 << board.GROUPS.index("red"))
    assert asked_of(ignores, landed(24, {}, {0: 1500})) == "decline"
    assert asked_of(ignores, landed(26, {}, {0: 1500})) == "buy"


@pytest.mark.parametrize(
    ("cash", "options", "limit"),
    [(1500, {}, 240), (300, {}, 100), (1500, {"bid": 0.0}, 0), (1500, {"ignored": 16}, 0)],
)
def test_it_bids_up_to_the_list_price(cash: int, options: dict[str, Any], limit: int) -> None:
    player = agents.make("gcp", **options)
    game = act(landed(24, {}, {0: 1500, 1: cash}), "decline")
    highest = 0
    while asked(game) == ("bid", 1):
        action = asked_of(player, game)
        act(game, action)
        if action != "fold":
            highest = int(game.auction_bid)
            act(game, "bid +1")
    assert max(0, limit - 1) <= highest <= limit


def test_it_lifts_mortgages_then_builds_the_cheapest_houses_evenly_before_the_throw() -> None:
    lots = {0: [*ORANGE, *LIGHT_BLUE, "Boardwalk"]}
    game = me.position(2, lots=lots, cash=[555, 0], mortgaged=["Boardwalk"], throws=[(1, 2)])
    told = []
    while "go on" not in told:
        told.append(asked_of(PLAYER, game))
        act(game, told[-1])
    assert told == [
        "unmortgage Boardwalk",
        *(f"build {street}" for street in LIGHT_BLUE[:2]),
        "go on",
    ]
    assert int(game.cash[0]) >= 200
    built = me.position(2, lots=lots, cash=[300, 0], buildings=dict.fromkeys(LIGHT_BLUE, 5))
    assert asked_of(PLAYER, built) == "build St. James Place"
    assert (
        asked_of(
            PLAYER, me.position(2, lots=lots, cash=[299, 0], buildings=dict.fromkeys(LIGHT_BLUE, 5))
        )
        == "go on"
    )


def test_it_does_nothing_after_the_throw() -> None:
    game = me.position(2, lots={0: ORANGE}, cash=[1500, 0], positions={0: 17}, throws=[(1, 2)])
    while int(game.num_forced):
        act(game, "go on")
    assert asked(game) == ("turn", 0)
    assert asked_of(PLAYER, game) == "go on"


def test_in_jail_it_uses_a_card_and_pays_when_it_must() -> None:
    contents: dict[str, Any] = {"positions": {0: 10}, "lots": {0: ["Baltic Avenue"]}}
    assert (
        asked_of(PLAYER, me.position(2, jail={0: 0}, jail_cards={0: ("chance",)}, **contents))
        == "use a jail card"
    )
    assert asked_of(PLAYER, me.position(2, jail={0: 0}, **contents)) == "go on"


@pytest.mark.parametrize(
    ("levels", "cash", "first"),
    [
        # 90 missing: 100 suffice, 50 do not
        ({**dict.fromkeys(ORANGE, 1), **dict.fromkeys(GREEN, 1)}, 110, "sell Pacific Avenue"),
        # 40 missing
        ({**dict.fromkeys(ORANGE, 1), **dict.fromkeys(GREEN, 1)}, 160, "sell St. James Place"),
        # neither suffices
        ({**dict.fromkeys(ORANGE, 1), **dict.fromkeys(GREEN, 1)}, 0, "sell Pacific Avenue"),
        # houses before hotels
        ({**dict.fromkeys(ORANGE, 5), **dict.fromkeys(GREEN, 1)}, 160, "sell Pacific Avenue"),
        ({}, 0, "mortgage St. James Place"),  # the cheapest, also of complete groups
    ],
)
def test_debts(levels: dict[str, int], cash: int, first: str) -> None:
    """200 dollars of income tax are due."""
    game = landed(4, {0: [*ORANGE, *GREEN, "Boardwalk"]}, {0: cash}, buildings=levels)
    assert asked_of(PLAYER, game) == first


# --- trades


def test_it_exchanges_singles_and_the_difference_is_paid() -> None:
    game = me.position(2, lots=SWAP, cash=[280, 0])
    assert proposed(PLAYER, game) == {
        "to": 1,
        "ask": ORANGE[2:],
        "give": LIGHT_BLUE[2:],
        "cash": 80,
    }
    assert asked_of(PLAYER, game) == "accept"
    assert proposed(PLAYER, me.position(2, lots=SWAP, cash=[279, 0])) is None  # the payer keeps 200


def test_it_trades_only_in_groups_that_are_fully_owned_by_both() -> None:
    assert proposed(PLAYER, me.position(2, lots={**SWAP, 1: SWAP[1][:1] + SWAP[1][2:]})) is None
    # nothing in return
    assert proposed(PLAYER, me.position(2, lots={0: ORANGE[:2], 1: ORANGE[2:]})) is None
    three = {0: [*ORANGE[:2], LIGHT_BLUE[2]], 1: [ORANGE[2], LIGHT_BLUE[0]], 2: [LIGHT_BLUE[1]]}
    assert proposed(PLAYER, me.position(3, lots=three)) is None


def test_cheap_lots_are_dropped_from_the_side_that_gives_more() -> None:
    owned = {
        0: [*LIGHT_BLUE[:2], GREEN[0], RAILROADS[0]],
        1: [LIGHT_BLUE[2], *GREEN[1:], *RAILROADS[1:]],
    }
    # 300 and 200 against 120: the railroad goes first, then 300 is still more than twice 120.
    assert proposed(PLAYER, me.position(2, lots=owned)) is None
    owned = {0: [*ORANGE[:2], GREEN[0], RAILROADS[0]], 1: [ORANGE[2], *GREEN[1:], *RAILROADS[1:]]}
    assert proposed(PLAYER, me.position(2, lots=owned)) == {
        "to": 1,
        "ask": ORANGE[2:],
        "give": GREEN[:1],
        "cash": -100,
    }


def test_groups_of_two_cancel() -> None:
    pairs = {0: ["Boardwalk", "Baltic Avenue"], 1: ["Park Place", "Mediterranean Avenue"]}
    assert proposed(PLAYER, me.position(2, lots=pairs)) is None
    both = {seat: [*SWAP[seat], pairs[seat][0]] for seat in range(2)}
    assert proposed(PLAYER, me.position(2, lots=both)) == {
        "to": 1,
        "ask": ORANGE[2:],
        "give": LIGHT_BLUE[2:],
        "cash": 80,
    }
    # The one who would get more lots gives up the lot of the pair.
    more = {
        0: [*ORANGE[:2], *GREEN[:2], LIGHT_BLUE[2], "Boardwalk"],
        1: [ORANGE[2], GREEN[2], *LIGHT_BLUE[:2], "Park Place"],
    }
    made = proposed(agents.make("gcp", ratio=10, difference=1000), me.position(2, lots=more))
    assert made == {
        "to": 1,
        "ask": [ORANGE[2], GREEN[2]],
        "give": [LIGHT_BLUE[2], "Boardwalk"],
        "cash": 0,
    }


@pytest.mark.parametrize(
    ("ask", "give", "cash", "answer"),
    [
        (ORANGE[2:], LIGHT_BLUE[2:], 80, "accept"),
        (ORANGE[2:], LIGHT_BLUE[2:], 79, "reject"),  # the difference is not paid
        (ORANGE[2:], LIGHT_BLUE[2:], 500, "accept"),
        (ORANGE[2:], [], 1500, "reject"),  # no lot in return
        (ORANGE[2:], ORANGE[:1], 200, "reject"),  # completes nothing
        ([ORANGE[2], LIGHT_BLUE[0]], LIGHT_BLUE[2:], 500, "reject"),  # one of these is no single
    ],
)
def test_answers(ask: list[str], give: list[str], cash: int, answer: str) -> None:
    assert (
        asked_of(PLAYER, offer(me.position(2, lots=SWAP), 1, ask=ask, give=give, cash=cash))
        == answer
    )


def test_the_answer_of_a_payer_who_would_not_keep_200_dollars() -> None:
    other = {0: SWAP[1], 1: SWAP[0]}
    for cash, answer in ((280, "accept"), (279, "reject")):
        game = offer(
            me.position(2, lots=other, cash=[0, cash]),
            1,
            ask=LIGHT_BLUE[2:],
            give=ORANGE[2:],
            cash=-80,
        )
        assert asked_of(PLAYER, game) == answer


def test_without_cash_in_trades_lots_go_one_for_one() -> None:
    game = me.position(
        2,
        "pring",
        lots={
            seat: [board.LOT_NAME[0].index(name) for name in names] for seat, names in SWAP.items()
        },
    )
    assert proposed(PLAYER, game) == {
        "to": 1,
        "ask": ["Vine Street"],
        "give": ["Pentonville Road"],
        "cash": 0,
    }
    assert asked_of(PLAYER, game) == "accept"


def test_a_player_gets_no_second_offer_for_a_while() -> None:
    game = me.position(2, lots=SWAP)
    memory = np.zeros((1, agents.MEMORY))
    assert proposed(PLAYER, game, memory) is not None
    act(game, "reject")
    game.turns += 19
    game.num_refused = 0
    assert proposed(PLAYER, game, memory) is None
    game.turns += 1
    assert proposed(PLAYER, game, memory) is not None


# --- whole games


def test_only_who_pays_must_keep_200() -> None:
    for cash in ([1500, 199], [199, 1500]):
        made = proposed(PLAYER, me.position(2, "pring", lots=SWAP_UK, cash=dict(enumerate(cash))))
        assert made is not None
        assert made["cash"] == 0
