"""Rules 25 to 32: houses and hotels."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env import core, encoding
from monopoly_env.engine.auction import limit
from monopoly_env.engine.liquidation import raisable
from monopoly_env.validate import fuzz
from tests.monopoly_env import oracle
from tests.play import (
    act,
    asked,
    auction,
    cash,
    debt,
    land,
    legal,
    levels,
    lot,
    owner,
    table,
    texts,
    throw,
)

BROWN = ["Mediterranean Avenue", "Baltic Avenue"]
LIGHT_BLUE = ["Oriental Avenue", "Vermont Avenue", "Connecticut Avenue"]
ORANGE = ["St. James Place", "Tennessee Avenue", "New York Avenue"]
DARK_BLUE = ["Park Place", "Boardwalk"]


def built(*steps: int, streets: list[str] = ORANGE, **contents: Any) -> Any:
    """Seat 0 owns a group with these levels and is at its first window."""
    return table(lots={0: streets}, buildings=dict(zip(streets, steps, strict=True)), **contents)


def names(*indices: int) -> set[str]:
    return {ORANGE[index] for index in indices}


@pytest.mark.parametrize(
    ("contents", "streets"),
    [
        ({"lots": {0: ORANGE}}, {*ORANGE}),
        ({"lots": {0: ORANGE[:2]}}, set()),
        ({"lots": {0: ORANGE[:2], 1: ORANGE[2:]}}, set()),
        ({"lots": {0: ORANGE}, "mortgaged": ORANGE[2:]}, set()),
        ({"lots": {0: ORANGE}, "cash": {0: 99}}, set()),
        ({"lots": {0: [*ORANGE, *BROWN]}, "cash": {0: 99}}, {*BROWN}),
        ({"lots": {0: ["Electric Company", "Water Works"]}}, set()),
    ],
)
def test_rule_25_whole_unmortgaged_group(contents: dict[str, Any], streets: set[str]) -> None:
    assert legal(table(**contents), "build") == streets


def test_rule_25_building_resumes_when_no_lot_is_mortgaged() -> None:
    game = table(lots={0: ORANGE}, mortgaged=ORANGE[2:])
    act(game, "unmortgage New York Avenue")
    assert legal(game, "build") == {*ORANGE}


@pytest.mark.parametrize(
    ("even_build", "steps", "build", "sell"),
    [
        ("even", (0, 0, 0), names(0, 1, 2), set()),
        ("even", (1, 0, 0), names(1, 2), names(0)),
        ("even", (1, 1, 0), names(2), names(0, 1)),
        ("even", (4, 4, 3), names(2), names(0, 1)),
        ("even", (4, 4, 4), names(0, 1, 2), names(0, 1, 2)),
        ("even", (5, 4, 4), names(1, 2), names(0)),
        ("even", (5, 5, 5), set(), names(0, 1, 2)),
        ("free", (1, 0, 0), names(0, 1, 2), names(0)),
        ("free", (4, 3, 0), names(1, 2), names(0, 1)),
        ("free", (4, 4, 4), names(0, 1, 2), names(0, 1, 2)),
    ],
)
def test_rule_26_a11_even_building(
    even_build: str, steps: tuple[int, ...], build: set[str], sell: set[str]
) -> None:
    game = built(*steps, rules=me.Rules(even_build=even_build), cash={0: 2000})
    assert legal(game, "build") == build
    assert legal(game, "sell") == sell


def test_rule_26_a11_whole_group() -> None:
    rules = me.Rules(even_build="whole_group", building_limit="unlimited")
    game = built(0, 0, 0, rules=rules)
    assert legal(game, "build") == {ORANGE[0]}
    act(game, f"build {ORANGE[0]}")
    assert levels(game, *ORANGE) == [1, 1, 1]
    assert game.cash[0] == 1200
    act(game, f"sell {ORANGE[0]}")
    assert levels(game, *ORANGE) == [0, 0, 0]
    assert game.cash[0] == 1350
    assert legal(built(0, 0, 0, rules=rules, cash={0: 299}), "build") == set()


def test_rule_27_price_and_supply_of_houses() -> None:
    game = built(0, 0, 0)
    act(game, *(f"build {name}" for name in ORANGE))
    assert levels(game, *ORANGE) == [1, 1, 1]
    assert game.cash[0] == 1200
    assert (game.houses, game.hotels) == (29, 12)


def test_rule_27_a_hotel_takes_the_same_price_and_hands_four_houses_back() -> None:
    game = built(4, 4, 4)
    assert game.houses == 20
    act(game, f"build {ORANGE[0]}")
    assert levels(game, *ORANGE) == [5, 4, 4]
    assert game.cash[0] == 1400
    assert (game.houses, game.hotels) == (24, 11)


@pytest.mark.parametrize(("houses", "build"), [(11, set()), (12, names(2))])
def test_rule_27_the_four_houses_must_be_obtained(houses: int, build: set[str]) -> None:
    game = built(4, 4, 3, rules=me.Rules(houses=houses))
    assert legal(game, "build") == build


def test_rule_27_hotel_direct_is_for_a_bank_without_houses() -> None:
    game = built(4, 4, 3, rules=me.Rules(houses=12, hotel_direct=True))
    act(game, f"build {ORANGE[2]}")
    assert levels(game, *ORANGE) == [4, 4, 4]


def test_rule_27_hotel_direct() -> None:
    game = built(4, 4, 3, rules=me.Rules(houses=11, hotel_direct=True))
    assert legal(game, "build") == names(2)
    act(game, f"build {ORANGE[2]}")
    assert levels(game, *ORANGE) == [4, 4, 5]
    assert game.cash[0] == 1300
    assert (game.houses, game.hotels) == (3, 11)


@pytest.mark.parametrize(
    ("steps", "options", "build"),
    [
        ((0, 0, 0), {"houses": 0}, set()),
        ((4, 4, 4), {"hotels": 0}, set()),
        ((4, 4, 4), {"hotels": 1}, names(0, 1, 2)),
        ((4, 4, 4), {"houses": 12}, names(0, 1, 2)),  # a hotel needs no house of the bank
        ((0, 0, 0), {"houses": 0, "building_limit": "unlimited"}, names(0, 1, 2)),
        ((4, 4, 4), {"houses": 12, "hotels": 0, "building_limit": "unlimited"}, names(0, 1, 2)),
    ],
)
def test_rule_28_a12_supply(
    steps: tuple[int, ...], options: dict[str, Any], build: set[str]
) -> None:
    assert legal(built(*steps, rules=me.Rules(**options)), "build") == build


def contest(
    houses: int = 1,
    *,
    lots: dict[int, list[str]] | None = None,
    bankrupt: tuple[int, ...] = (),
    **options: Any,
) -> Any:
    """Two players have a group, the bank has this many houses; seat 0 asks for one."""
    lots = lots or {0: BROWN, 1: LIGHT_BLUE}
    game = table(lots=lots, bankrupt=bankrupt, rules=me.Rules(houses=houses, **options))
    return act(game, f"build {lots[0][0]}")


def test_rule_29_enough_for_all_is_sold_at_the_list_price() -> None:
    game = contest(houses=2)
    assert levels(game, *BROWN) == [1, 0]
    assert cash(game) == [1450, 1500, 1500]


def test_rule_29_a_scarce_house_goes_to_the_highest_bidder_who_names_the_street() -> None:
    game = contest()
    assert asked(game) == ("bid", 1)  # what seat 0 asked for is its bid at the list price
    assert auction(game, {1: 60}) == [1, 0]  # seat 2 can place none
    assert asked(game) == ("place", 1)
    assert legal(game, "build") == {*LIGHT_BLUE}
    act(game, "build Vermont Avenue")
    assert levels(game, *BROWN, *LIGHT_BLUE) == [0, 0, 0, 1, 0]
    assert cash(game) == [1500, 1449, 1500]
    assert game.houses == 0
    assert asked(game) == ("turn", 0)


def test_rule_29_without_another_bid_it_costs_the_list_price() -> None:
    game = contest()
    assert auction(game, {}) == [1]
    assert asked(game) == ("place", 0)
    act(game, "build Mediterranean Avenue")
    assert (game.houses, cash(game)) == (0, [1450, 1500, 1500])
    assert levels(game, *BROWN) == [1, 0]


def test_rule_29_a_scarce_hotel() -> None:
    game = table(
        lots={0: BROWN, 1: DARK_BLUE},
        buildings={**dict.fromkeys(BROWN, 4), "Park Place": 4, "Boardwalk": 5},
        rules=me.Rules(hotels=2),
    )
    act(game, "build Baltic Avenue")
    auction(game, {1: 600})
    # there is one place for it, so seat 1 was not asked where
    assert levels(game, *BROWN, *DARK_BLUE) == [4, 4, 5, 5]
    assert game.hotels == 0
    assert game.cash[0] == 1500


def test_rule_29_who_cannot_pay_or_place_is_no_rival() -> None:
    game = table(lots={0: BROWN, 1: LIGHT_BLUE}, cash={1: 49}, rules=me.Rules(houses=1))
    act(game, "build Baltic Avenue")
    assert levels(game, *BROWN) == [0, 1]


@pytest.mark.parametrize("option", ["auction", "first_come"])
def test_rule_29_a13_first_come(option: str) -> None:
    game = contest(building_shortage=option)
    assert levels(game, BROWN[0]) == [1 if option == "first_come" else 0]
    assert asked(game)[0] == ("turn" if option == "first_come" else "bid")


@pytest.mark.parametrize(
    ("floor", "opening", "reply"),
    [("own_price", 50, 100), ("cheapest_price", 50, 51), ("ten", 10, 11)],
)
def test_rule_29_a13_floor(floor: str, opening: int, reply: int) -> None:
    # houses cost 50 and 100 dollars
    game = contest(lots={0: BROWN, 1: ORANGE}, bankrupt=(2,), shortage_floor=floor)
    assert game.auction_bid == opening
    # counted from just under the bidder's own floor, where that is above the standing bid
    act(game, "bid +1")
    assert game.auction_bid == reply


def test_rule_29_the_next_seat_bids_first_for_a_piece() -> None:
    assert asked(contest(lots={0: BROWN, 1: ORANGE, 2: LIGHT_BLUE})) == ("bid", 1)


def test_rule_29_bids_for_pieces_are_limited_by_cash() -> None:
    game = table(
        lots={0: BROWN, 1: [*LIGHT_BLUE, "Boardwalk"]}, cash={1: 60}, rules=me.Rules(houses=1)
    )
    act(game, "build Baltic Avenue")
    assert asked(game) == ("bid", 1)
    assert legal(game, "bid") == {"+1", "+5", "+10"}


def pledged(steps: int = 0, *, dollars: int = 60, **options: Any) -> Any:
    """Seat 0 asks for the only piece.

    Seat 1 has a group too, a few dollars, and two other lots, to mortgage for 200 and 100 dollars.
    """
    lots = {0: BROWN, 1: [*ORANGE, "Boardwalk", "Short Line"]}
    pieces = {"hotels": 1} if steps == 4 else {"houses": 5 * steps + 1}
    rules = me.Rules(**{"piece_limit": "raisable", **pieces, **options})
    game = table(
        2,
        lots=lots,
        buildings=dict.fromkeys([*BROWN, *ORANGE], steps),
        cash={1: dollars},
        anchored=(0,),
        rules=rules,
    )
    return act(game, "build Baltic Avenue")


@pytest.mark.parametrize("dollars", [0, 60])
@pytest.mark.parametrize("steps", [0, 2, 4])
def test_rule_29_a13_s03_bids_by_what_mortgages_outside_the_bidders_colours_would_bring(
    steps: int, dollars: int
) -> None:
    game = pledged(steps, dollars=dollars)
    assert asked(game) == ("bid", 1)
    assert limit(game, 1) == dollars + 300
    # who can't pay in cash is no rival
    assert asked(pledged(steps, dollars=dollars, piece_limit="cash"))[0] == "turn"


def test_rule_29_s03_a_lot_that_cannot_be_mortgaged_again_backs_no_bid() -> None:
    game = pledged(unmortgage_price="ten_percent")
    game.fresh_mortgages |= 1 << lot("Boardwalk")
    assert limit(game, 1) == 160


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"liquidation": "one_request"},
        {"debt_trade": True},
        {"shortage_floor": "ten"},
        {"build_window": "before_each_throw"},
    ],
    ids=str,
)
@pytest.mark.parametrize("steps", [0, 2, 4])
def test_rule_29_a13_s03_the_winner_gives_up_nothing_that_the_piece_needs(
    steps: int, options: dict[str, Any]
) -> None:
    """Only the lots on which the bid rested may be mortgaged: no sale, no trade, no giving up."""
    game = act(
        pledged(steps, **options), "bid +100" if "shortage_floor" in options else "bid +50", "fold"
    )
    assert asked(game) == ("debt", 1)
    assert texts(game) == {"mortgage Boardwalk", "mortgage Short Line"}
    price = debt(game)
    assert 60 < price <= 160
    act(game, "mortgage Short Line")
    assert asked(game) == ("place", 1)
    assert legal(game, "build") == {*ORANGE}
    act(game, f"build {ORANGE[1]}")
    assert levels(game, *ORANGE) == [steps, steps + 1, steps]
    assert (game.cash[1], owner(game, "Short Line")) == (160 - price, 1)


@pytest.mark.parametrize(("steps", "piece"), [(0, "a house"), (4, "a hotel")])
def test_rule_29_s03_what_the_winner_owes_for_is_told_and_observed(steps: int, piece: str) -> None:
    game = act(pledged(steps), "bid +50", "fold")
    assert (
        f"debt (player 1): $149 to the bank; place (player 1): {piece}, won for $149"
        in me.to_text(game)
    )
    observed = dict(zip(encoding.names("standard", 2), encoding.observe(game), strict=True))
    assert (observed["decision: debt"], observed[f"at stake: {piece}"]) == (1, 1)


@pytest.mark.parametrize("shortage_floor", ["own_price", "cheapest_price", "ten"])
def test_rule_29_a13_s03_every_winner_pays_and_finds_a_place(shortage_floor: str) -> None:
    """Random play with few buildings: the engine would report a question without an answer."""
    options = {
        "window_passes": 2,
        "piece_limit": "raisable",
        "shortage_floor": shortage_floor,
        "hotel_after": 3,
        "debt_trade": True,
    }
    rules = me.Rules.preset("any_time", houses=9, hotels=2, **options)
    rng = np.random.default_rng(29)
    games = np.concatenate(
        [core.batch_of(fuzz.random_position(rng, rules, 4, number)) for number in range(200)]
    )
    _, failures = fuzz.play_checked(games, 300)
    assert not failures.any()


@pytest.mark.parametrize(
    ("preset", "houses", "question"),
    [("any_time", 17, "bid"), ("any_time", 18, "turn"), ("official", 2, "turn")],
)
def test_rule_29_a13_where_all_may_build_they_are_asked_before_pieces_run_short(
    preset: str, houses: int, question: str
) -> None:
    """Seat 0 could place 12 houses on its streets; seat 1 could place 12 and pay for six."""
    game = table(
        lots={0: ORANGE, 1: LIGHT_BLUE}, cash={1: 300}, rules=me.Rules.preset(preset, houses=houses)
    )
    act(game, f"build {ORANGE[0]}")
    assert asked(game)[0] == question
    assert levels(game, ORANGE[0]) == [0 if question == "bid" else 1]


@pytest.mark.parametrize(
    ("cash", "options", "question"),
    [
        (240, {}, "turn"),
        (249, {}, "turn"),
        (250, {}, "bid"),
        (110, {"shortage_floor": "ten"}, "bid"),
    ],
)
def test_rule_29_dearer_places_are_paid_for_at_their_own_price(
    cash: int, options: dict[str, str], question: str
) -> None:
    """Seat 0 has one place for a house at 50 dollars, the next ones cost 200.

    Seat 1 can pay for one.
    """
    lots = {
        0: [*LIGHT_BLUE, "Park Place", "Boardwalk"],
        1: ["Mediterranean Avenue", "Baltic Avenue"],
    }
    built = dict.fromkeys(LIGHT_BLUE[1:], 4) | {
        LIGHT_BLUE[0]: 3,
        "Mediterranean Avenue": 2,
        "Baltic Avenue": 3,
    }
    rules = me.Rules.preset("any_time", houses=18, **options)
    game = table(lots=lots, buildings=built, cash={0: cash, 1: 60}, rules=rules)
    assert game.houses == 2
    act(game, f"build {LIGHT_BLUE[0]}")
    assert asked(game)[0] == question


def test_rule_29_who_declares_nothing_leaves_the_piece_at_its_list_price() -> None:
    game = table(lots={0: ORANGE, 1: LIGHT_BLUE}, rules=me.Rules.preset("any_time", houses=8))
    for street in ORANGE[:2]:
        act(game, f"build {street}")
        assert asked(game) == ("bid", 1)
        act(game, "fold", f"build {street}")
    assert (levels(game, *ORANGE), game.cash[0]) == ([1, 1, 0], 1300)
    act(game, f"build {ORANGE[2]}", "bid +1", "fold", f"build {LIGHT_BLUE[0]}")
    assert (levels(game, *LIGHT_BLUE), game.cash[1]) == ([1, 0, 0], 1399)


@pytest.mark.parametrize(("hotels", "question"), [(5, "bid"), (6, "turn")])
def test_rule_29_a13_hotels_are_declared_too(hotels: int, question: str) -> None:
    streets = [*ORANGE, *LIGHT_BLUE]
    rules = me.Rules.preset("any_time", hotels=hotels)
    game = table(lots={0: ORANGE, 1: LIGHT_BLUE}, buildings=dict.fromkeys(streets, 4), rules=rules)
    assert asked(act(game, f"build {ORANGE[0]}"))[0] == question


def test_rule_29_a_player_without_rivals_buys_the_last_pieces_at_any_time() -> None:
    game = table(
        lots={0: ORANGE, 1: LIGHT_BLUE}, cash={1: 49}, rules=me.Rules.preset("any_time", houses=1)
    )
    act(game, f"build {ORANGE[0]}")
    assert levels(game, *ORANGE) == [1, 0, 0]


@pytest.mark.parametrize(
    ("window", "before", "after"),
    [
        ("own_turn", ("turn", 0), ("turn", 0)),
        ("before_each_throw", ("turn", 0), None),
        ("after_settlement", None, ("turn", 0)),
    ],
)
def test_rule_30_a14_s01_windows(window: str, before: Any, after: Any) -> None:
    game = table(
        lots={0: ORANGE}, positions={0: 10}, throws=[(4, 6)], rules=me.Rules(build_window=window)
    )
    if before:
        assert game.num_forced == 1
        assert asked(game) == before
        assert legal(game, "build") == {*ORANGE}
    throw(game, left=0)
    if after:
        assert asked(game) == after
        assert legal(game, "build") == {*ORANGE}


def test_rule_30_a14_s01_before_each_throw_asks_every_player_clockwise() -> None:
    game = table(
        4,
        turn=2,
        lots={0: ORANGE},
        positions={2: 10},
        throws=[(4, 6)],
        anchored=(1, 2),
        rules=me.Rules(build_window="before_each_throw", trade="none"),
    )
    order = []
    while game.num_forced:
        order.append(asked(game))
        if game.player == 0:
            assert legal(game, "build") == {*ORANGE}
        act(game, "go on")
    # seat 3 owns nothing, so it is not asked
    assert order == [("turn", 2), ("turn", 0), ("turn", 1)]


def passes(most: int, seats: int = 4, **contents: Any) -> Any:
    """Seat 2 is at its window before the throw.

    Seat 3 owns nothing; seat 0 has a group; the others have a lot.
    """
    rules = me.Rules(build_window="before_each_throw", window_passes=most, trade="none")
    return table(
        seats,
        turn=2,
        lots={0: ORANGE},
        positions={2: 10},
        throws=[(4, 6)],
        anchored=(1, 2),
        rules=rules,
        **contents,
    )


@pytest.mark.parametrize(
    ("most", "acts", "order"),
    [
        (1, {1: f"build {ORANGE[0]}"}, [2, 0, 0, 1]),
        (3, {}, [2, 0, 1]),  # nobody acts, so nobody has anything to answer
        (3, {1: f"build {ORANGE[0]}"}, [2, 0, 0, 1, 2, 0, 1]),
        (2, {1: f"build {ORANGE[0]}", 5: f"build {ORANGE[1]}"}, [2, 0, 0, 1, 2, 0, 0, 1]),
        (3, {1: f"build {ORANGE[0]}", 5: f"build {ORANGE[1]}"}, [2, 0, 0, 1, 2, 0, 0, 1, 2, 0, 1]),
        (8, {7 * i + 1: f"build {ORANGE[i]}" for i in range(2)}, [2, 0, 0, 1, 2, 0, 1]),
    ],
)
def test_rule_30_a14_s01_windows_go_round_again_while_somebody_acts(
    most: int, acts: dict[int, str], order: list[int]
) -> None:
    game, seats = passes(most), []
    while game.num_forced:
        seats.append(int(game.player))
        act(game, acts.get(len(seats) - 1, "go on"))
    assert seats == order


def test_rule_30_s01_a_player_may_answer_what_the_others_did() -> None:
    """Seat 0 has passed when seat 1 offers a lot; in the next pass it builds."""
    game = table(
        2,
        lots={0: [*ORANGE], 1: BROWN},
        positions={0: 10},
        throws=[(4, 6)],
        rules=me.Rules.preset("any_time", window_passes=2),
    )
    act(game, "go on", "build Baltic Avenue", "go on")
    assert asked(game) == ("turn", 0)
    assert legal(game, "build") == {*ORANGE}


@pytest.mark.parametrize("action", ["pay the fine", "trade with player +1"])
def test_rule_30_s01_every_action_counts(action: str) -> None:
    game = table(
        2,
        positions={0: 10},
        jail={0: 0},
        throws=[(4, 5)],
        rules=me.Rules.preset("any_time", window_passes=2),
    )
    act(game, action)
    if action.startswith("trade"):
        act(game, "ask: cancel")
    act(game, "go on", "go on")
    assert (asked(game), game.num_forced) == (("turn", 0), 1)
    act(game, "go on", "go on")
    assert game.num_forced == 0


def test_rule_30_s01_passes_leave_the_agenda_as_short_as_it_was() -> None:
    depths = []
    for most in (1, 8):
        game = table(8, lots={0: ORANGE}, rules=me.Rules.preset("any_time", window_passes=most))
        depths.append(int(game.depth))
    act(game, "build St. James Place", *["go on"] * 8)
    assert [*depths, game.depth] == [depths[0]] * 3


def test_rule_30_own_turn_asks_nobody_else() -> None:
    game = table(lots={1: ORANGE}, positions={0: 10}, throws=[(4, 6)])
    seats = set()
    turns = int(game.turns)
    while game.turns == turns:
        seats.add(int(game.player))
        act(game, "go on")
    assert seats == {0}


def test_rule_30_never_between_a_throw_and_its_settlement() -> None:
    game = land(3, lots={0: ORANGE})
    assert asked(game) == ("buy", 0)
    assert legal(game, "build") == set()


def test_s01_a_window_before_each_throw_and_one_after_the_last() -> None:
    game = table(positions={0: 6}, throws=[(2, 2), (4, 6)])
    asked_at = []
    while game.turn == 0:
        asked_at.append(int(game.throws[0]))
        act(game, "go on")
    assert asked_at == [0, 1, 2]


@pytest.mark.parametrize(("ratio", "refund"), [(0.5, 50), (1.0, 100), (0.25, 25)])
def test_rule_31_selling(ratio: float, refund: int) -> None:
    game = built(1, 1, 1, rules=me.Rules(sell_ratio=ratio))
    act(game, f"sell {ORANGE[1]}")
    assert levels(game, *ORANGE) == [1, 0, 1]
    assert game.cash[0] == 1500 + refund
    assert game.houses == 30


@pytest.mark.parametrize(("ratio", "build"), [(0.5, names(1)), (1.0, set())])
def test_rule_31_what_was_sold_for_its_full_price_is_not_built_again(
    ratio: float, build: set[str]
) -> None:
    """It could go on forever."""
    game = built(1, 1, 1, rules=me.Rules(sell_ratio=ratio))
    act(game, f"sell {ORANGE[1]}")
    assert legal(game, "build") == build


def test_rule_31_a_whole_group_may_go_at_once() -> None:
    game = built(2, 2, 2)
    act(game, *(f"sell {name}" for name in [*ORANGE, *ORANGE]))
    assert levels(game, *ORANGE) == [0, 0, 0]
    assert game.cash[0] == 1800
    assert game.houses == 32


def test_rule_32_a_hotel_goes_back_to_four_houses() -> None:
    game = built(5, 5, 5)
    act(game, f"sell {ORANGE[0]}")
    assert levels(game, *ORANGE) == [4, 5, 5]
    assert game.cash[0] == 1550
    assert (game.houses, game.hotels) == (28, 10)


@pytest.mark.parametrize(
    ("steps", "houses", "total"),
    [
        ((5, 5, 5), 0, 0),
        ((5, 5, 5), 3, 3),
        ((5, 5, 5), 2, 2),
        ((5, 5, 5), 4, 14),
        ((5, 5, 4), 6, 6),  # two houses in the bank and four standing
        ((5, 4, 4), 8, 8),
    ],
)
def test_rule_32_a15_as_far_down_as_the_bank_can_back(
    steps: tuple[int, ...], houses: int, total: int
) -> None:
    game = built(*steps, rules=me.Rules(houses=houses))
    act(game, f"sell {ORANGE[0]}")
    after = levels(game, *ORANGE)
    assert sum(after) == total
    assert max(after) - min(after) <= 1
    assert game.cash[0] == 1500 + 50 * (sum(steps) - total)
    assert game.houses + sum(level for level in after if level < 5) == houses


@pytest.mark.parametrize("streets", [BROWN, ORANGE])
@pytest.mark.parametrize("hotel_after", [3, 4])
def test_rule_32_every_permitted_result_can_be_chosen(streets: list[str], hotel_after: int) -> None:
    """For every group with a hotel and every supply that is too small.

    Naming one street after the other gives all highest even levels.
    """
    mixed = 0
    for old in itertools.product((hotel_after, 5), repeat=len(streets)):
        for bank in range(hotel_after if 5 in old else 0):
            standing = sum(level for level in old if level < 5)
            game = built(
                *old,
                streets=streets,
                rules=me.Rules(houses=bank + standing, hotel_after=hotel_after),
            )
            permitted = set(oracle.best_breakdowns(oracle.read(game), lot(streets[0]), named=False))
            assert legal(game, "sell") == {*streets}
            results = {
                tuple(levels(act(me.clone(game), f"sell {name}"), *streets)) for name in streets
            }
            assert results == permitted
            mixed += len(results) > 1
    assert mixed >= 5


@pytest.mark.parametrize(
    ("breakdown", "houses", "sell"),
    [("needs_four", 3, set()), ("needs_four", 4, names(0, 1, 2)), ("unlimited", 0, names(0, 1, 2))],
)
def test_rule_32_a15_other_breakdowns(breakdown: str, houses: int, sell: set[str]) -> None:
    game = built(5, 5, 5, rules=me.Rules(houses=houses, hotel_breakdown=breakdown))
    assert legal(game, "sell") == sell
    if sell:
        act(game, f"sell {ORANGE[0]}")
        assert levels(game, *ORANGE) == [4, 5, 5]
        assert game.cash[0] == 1550


def test_rule_32_a15_one_hotel_of_three_counts_if_the_bank_has_four_houses() -> None:
    none, one, every = (
        raisable(built(5, 5, 5, rules=me.Rules(houses=houses, hotel_breakdown="needs_four")), 0)
        for houses in (3, 4, 12)
    )
    assert one - none == 50
    values = sum(100 if name == ORANGE[2] else 90 for name in ORANGE)
    assert every - none == 15 * 50 + values


@pytest.mark.parametrize("houses", range(5))
def test_rule_32_a15_alone_if_building_is_free(houses: int) -> None:
    game = built(5, 5, 0, rules=me.Rules(houses=houses, even_build="free"))
    act(game, f"sell {ORANGE[0]}")
    assert levels(game, *ORANGE) == [houses, 5, 0]
    assert game.cash[0] == 1500 + 50 * (5 - houses)


def test_rule_32_all_hotels_at_once_with_an_empty_bank() -> None:
    game = built(5, 5, 5, rules=me.Rules(houses=0))
    act(game, f"sell {ORANGE[2]}")
    assert game.cash[0] == 1500 + 15 * 50
    assert game.hotels == 12
    assert "mortgage St. James Place" in texts(game)


def test_rule_31_what_was_sold_at_half_price_may_be_built_again_this_turn() -> None:
    game = table(lots={0: BROWN}, buildings=dict.fromkeys(BROWN, 1))
    act(game, f"sell {BROWN[0]}")
    assert legal(game, "build") == {BROWN[0]}
