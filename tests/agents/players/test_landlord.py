"""`landlord/*`: its decisions at positions, its prices counted a second time, and whole games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents.players import landlord
from monopoly_env.facts import board
from tests.agents.players.trading import asked_of, landed, proposed
from tests.play import act, asked, offer

PROFILES = tuple(landlord.POLICIES)
BALANCED, AGGRESSIVE, CAUTIOUS, DARLING = (agents.make(name) for name in PROFILES)
ORANGE = ["St. James Place", "Tennessee Avenue", "New York Avenue"]
LIGHT_BLUE = ["Oriental Avenue", "Vermont Avenue", "Connecticut Avenue"]
YELLOW = ["Atlantic Avenue", "Ventnor Avenue", "Marvin Gardens"]


# --- lots for sale


@pytest.mark.parametrize(
    ("square", "lots", "least"),
    [
        (39, {}, 600),  # Boardwalk for 400, R = 200, weight 1
        (5, {}, 367),  # a railroad for 200: R / 1.2
        (39, {1: ["Park Place"]}, 545),  # it blocks, R = 200 + half of 35 dollars: R / 1.5
        (19, {0: ORANGE[:1]}, 318),  # one street short of a group: R / 1.7
        (39, {0: ["Park Place"]}, 500),  # completes: R / 2
    ],
)
def test_it_buys_while_the_reserve_by_the_weight_remains(
    square: int, lots: dict[int, list[str]], least: int
) -> None:
    player = agents.make("landlord/balanced", leverage=False)
    assert asked_of(player, landed(square, lots, {0: least})) == "buy"
    assert asked_of(player, landed(square, lots, {0: least - 1})) == "decline"


def test_it_mortgages_for_a_heavy_lot_only() -> None:
    owned = {0: ["Park Place", "Reading Railroad", "Oriental Avenue", "Virginia Avenue"]}
    assert asked_of(BALANCED, landed(39, owned, {0: 400})) == "mortgage Oriental Avenue"
    assert asked_of(CAUTIOUS, landed(39, owned, {0: 400})) == "decline"
    assert asked_of(BALANCED, landed(39, {0: owned[0][1:]}, {0: 400})) == "decline"
    assert asked_of(BALANCED, landed(39, owned, {0: 200})) == "decline"  # all together would not do


def test_darling_leaves_utilities_to_auctions() -> None:
    assert asked_of(BALANCED, landed(12, {}, {0: 1500})) == "buy"
    game = landed(12, {}, {0: 1500})
    assert asked_of(DARLING, game) == "decline"
    assert _highest_bid(act(game, "decline"), DARLING) == pytest.approx(0.8 * 150, abs=1)


@pytest.mark.parametrize(
    ("name", "limit"), [("balanced", 1.1), ("aggressive", 1.5), ("cautious", 0.8)]
)
def test_bids_go_up_to_the_factor_of_the_profile(name: str, limit: float) -> None:
    game = act(landed(24, {}, {0: 1500, 1: 1500}), "decline")
    assert _highest_bid(game, agents.make(f"landlord/{name}")) == pytest.approx(limit * 240, abs=1)


def test_bids_keep_half_the_reserve() -> None:
    game = act(landed(24, {}, {0: 240, 1: 250}), "decline")
    assert _highest_bid(game, BALANCED) == pytest.approx(150, abs=1)


def _highest_bid(game: Any, player: agents.Policy) -> int:
    """How far a bidder goes against one who always raises by a dollar."""
    bidder = int(game.player)
    highest = 0
    while asked(game) == ("bid", bidder):
        action = asked_of(player, game)
        act(game, action)
        if action == "fold":
            break
        highest = int(game.auction_bid)
        act(game, "bid +1")
    return highest


# --- building, mortgages, jail


def test_it_builds_while_the_reserve_remains() -> None:
    owned = {0: [*ORANGE], 1: ["Baltic Avenue"]}
    least = 100 + 202  # R = 200 + half of 4 dollars
    assert asked_of(BALANCED, me.position(2, lots=owned, cash=[least, 0])).startswith("build")
    assert not asked_of(BALANCED, me.position(2, lots=owned, cash=[least - 1, 0])).startswith(
        "build"
    )


def test_darling_keeps_twice_the_reserve_beyond_three_houses() -> None:
    contents: dict[str, Any] = {"lots": {0: [*ORANGE]}, "buildings": dict.fromkeys(ORANGE, 3)}
    assert asked_of(DARLING, me.position(2, cash=[499, 0], **contents)) == "go on"
    assert asked_of(DARLING, me.position(2, cash=[500, 0], **contents)).startswith("build")
    assert asked_of(BALANCED, me.position(2, cash=[300, 0], **contents)).startswith("build")


def test_it_mortgages_idle_lots_for_houses_and_does_not_lift_them_at_once() -> None:
    game = me.position(2, lots={0: [*ORANGE, "Virginia Avenue", "Kentucky Avenue"]}, cash=[230, 0])
    assert asked_of(CAUTIOUS, game) == "go on"
    told = []
    while asked(game)[1] == 0 and "go on" not in told:
        told.append(asked_of(BALANCED, game))
        act(game, told[-1])
    # Virginia Avenue earns 12 dollars of 80: less than two thirds of the 44 that a first house of
    # 100 dollars adds.
    assert told[0] == "mortgage Virginia Avenue"
    assert told[1] == "build New York Avenue"
    assert not any(text.startswith("unmortgage") for text in told)


def test_it_lifts_mortgages_above_one_and_a_half_reserves() -> None:
    contents: dict[str, Any] = {
        "lots": {0: ["Baltic Avenue", "Virginia Avenue"]},
        "mortgaged": ["Virginia Avenue"],
    }
    assert (
        asked_of(BALANCED, me.position(2, cash=[388, 0], **contents))
        == "unmortgage Virginia Avenue"
    )
    assert asked_of(BALANCED, me.position(2, cash=[387, 0], **contents)) == "go on"


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("balanced", "pay the fine", "go on"),
        ("aggressive", "pay the fine", "pay the fine"),
        ("cautious", "go on", "go on"),
    ],
)
def test_jail_by_temperament(name: str, low: str, high: str) -> None:
    """The worst rent is 4, then 950 dollars, of 1,500 in cash."""
    player = agents.make(f"landlord/{name}")
    quiet = me.position(2, jail={0: 0}, positions={0: 10}, lots={1: ["Baltic Avenue"]})
    assert asked_of(player, quiet) == low
    dear = me.position(
        2, jail={0: 0}, positions={0: 10}, lots={1: [*ORANGE]}, buildings=dict.fromkeys(ORANGE, 5)
    )
    assert asked_of(player, dear) == high


# --- trades


def worth(lots: list[str], cash: int, opponents: int) -> float:
    """The worth of a seat's lots of one street group, counted a second time."""
    numbers = [board.LOT_NAME[0].index(name) for name in lots]
    landings = opponents * 1.2 / 40 * 25
    total = float(sum(board.PRICE[0, n] for n in numbers))
    if not numbers:
        return 0.0
    if len(numbers) < board.GROUP_SIZE[board.GROUP_OF[numbers[0]]]:
        return total + sum(board.RENT[0, n, 0] for n in numbers) * landings
    cost = 3 * sum(board.HOUSE_PRICE[0, n] for n in numbers)
    rents = sum(board.RENT[0, n, 3] for n in numbers)
    return total + min(1, max(0.2, cash / cost)) * max(0.0, rents * landings - cost / 2)


@pytest.mark.parametrize(("players", "cash"), [(2, 1500), (4, 1500), (3, 100), (2, 400)])
@pytest.mark.parametrize("group", [ORANGE, LIGHT_BLUE, YELLOW])
def test_gains_agree_with_a_second_counting(players: int, cash: int, group: list[str]) -> None:
    game = me.position(players, lots={0: group[:2], 1: group[2:]}, cash=[cash] * players)
    third = 1 << board.LOT_NAME[0].index(group[2])
    row = landlord.Landlord().row()
    mine = worth(group, cash, players - 1) - worth(group[:2], cash, players - 1)
    assert landlord.worth_gained(game, 0, third, 0, row) == pytest.approx(mine)
    assert landlord.worth_gained(game, 1, 0, third, row) == pytest.approx(
        -worth(group[2:], cash, players - 1)
    )


def test_railroads_utilities_mortgages_and_jail_cards_count() -> None:
    game = me.position(
        2,
        lots={0: ["Reading Railroad", "Electric Company"], 1: ["Short Line", "Water Works"]},
        mortgaged=["Water Works"],
    )
    row = landlord.Landlord().row()
    landings = 1.2 / 40 * 25
    short_line, water_works, card = (1 << 25), (1 << 27), (1 << 28)
    assert board.LOT_NAME[0][25] == "Short Line"
    assert landlord.worth_gained(game, 0, short_line, 0, row) == pytest.approx(
        200 + (2 * 50 - 25) * landings
    )
    assert landlord.worth_gained(game, 0, water_works, 0, row) == pytest.approx(
        150 - 83 + (2 * 70 - 28) * landings
    )
    assert landlord.worth_gained(game, 0, card, 0, row) == 50


def test_it_asks_for_the_missing_street_at_the_middle_of_what_both_may_agree_to() -> None:
    game = me.position(2, lots={0: ORANGE[:2], 1: ORANGE[2:]}, cash=[1500, 1500])
    gain, loss = worth(ORANGE, 1500, 1) - worth(ORANGE[:2], 1500, 1), worth(ORANGE[2:], 1500, 1)
    made = proposed(BALANCED, game)
    assert made == {"to": 1, "ask": ORANGE[2:], "give": [], "cash": round((gain + loss) / 20) * 10}
    assert asked_of(BALANCED, game) == "accept"
    assert asked_of(CAUTIOUS, game) == "reject"


def test_it_swaps_groups_where_both_are_completed() -> None:
    owned = {0: [*ORANGE[:2], LIGHT_BLUE[0]], 1: [*LIGHT_BLUE[1:], ORANGE[2]]}
    game = me.position(2, lots=owned, cash=[500, 500])
    made = proposed(BALANCED, game)
    assert made is not None
    # each gets one group
    assert {*made["ask"], *made["give"]} in (
        {ORANGE[2], LIGHT_BLUE[0]},
        {*ORANGE[:2], *LIGHT_BLUE[1:]},
    )
    assert -400 <= made["cash"] <= 400  # whoever pays keeps half a reserve
    assert asked_of(BALANCED, game) == "accept"


def test_it_neither_offers_nor_accepts_what_costs_half_the_reserve() -> None:
    owned = {0: ORANGE[:2], 1: ORANGE[2:]}
    assert proposed(BALANCED, me.position(2, lots=owned, cash=[150, 1500])) is None
    game = me.position(2, lots=owned, cash=[1500, 1000])
    act(game, "go on")
    while asked(game) != ("turn", 1):
        act(
            game,
            (
                "go on"
                if "go on" in _texts(game)
                else "decline"
                if "decline" in _texts(game)
                else "fold"
            ),
        )
    offer(game, 1, ask=[], give=["New York Avenue"], cash=-700)
    assert asked(game) == ("reply", 0)
    assert asked_of(BALANCED, game) == "accept"
    game.cash[0] = 799
    assert asked_of(BALANCED, game) == "reject"


def _texts(game: Any) -> set[str]:
    return {me.actions.describe(action, game) for action in me.legal_actions(game)}


@pytest.mark.parametrize(("cash", "answer"), [(200, "reject"), (420, "reject"), (520, "accept")])
def test_it_sells_a_street_that_completes_a_group_only_dearly(cash: int, answer: str) -> None:
    game = me.position(2, lots={0: ORANGE[:2], 1: ORANGE[2:]}, cash=[1500, 1500])
    assert asked_of(BALANCED, offer(game, 1, ask=ORANGE[2:], cash=cash)) == answer


def test_a_refused_offer_is_not_made_again_for_a_while() -> None:
    game = me.position(2, lots={0: ORANGE[:2], 1: ORANGE[2:]}, cash=[1500, 1500])
    memory = np.zeros((1, agents.MEMORY))
    assert proposed(BALANCED, game, memory) is not None
    act(game, "reject")
    assert asked(game) == ("turn", 0)
    assert proposed(BALANCED, game, memory) is None
    game.num_refused = 0  # the rules forget refusals with the turn
    game.turns += 7
    assert proposed(BALANCED, game, memory) is None
    game.turns += 1  # four rounds of two
    assert proposed(BALANCED, game, memory) is not None


# --- whole games


@pytest.mark.parametrize("player", [BALANCED, AGGRESSIVE], ids=lambda player: player.name)
def test_poor_players_swap_where_no_cash_flows(player: agents.Policy) -> None:
    green = ["Pacific Avenue", "North Carolina Avenue", "Pennsylvania Avenue"]
    rules = me.Rules(trade="one_for_one")
    game = me.position(
        2, rules, lots={0: [*YELLOW[:2], green[0]], 1: [*green[1:], YELLOW[2]]}, cash={0: 90, 1: 90}
    )
    assert proposed(player, game) == {"to": 1, "ask": YELLOW[2:], "give": green[:1], "cash": 0}


def test_who_always_leaves_jail_uses_a_card_without_cash() -> None:
    game = me.position(2, jail={0: 1}, jail_cards={0: ["chance"]}, cash={0: 0, 1: 100})
    assert asked_of(AGGRESSIVE, game) == "use a jail card"
