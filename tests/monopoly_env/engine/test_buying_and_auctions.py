"""Rules 13 to 16: buying and auctions."""

from __future__ import annotations

from typing import Any

import pytest

import monopoly_env as me
from monopoly_env.engine.auction import forget_sealed_bids
from monopoly_env.engine.step import settle
from tests.play import (
    act,
    asked,
    auction,
    cash,
    debt,
    end_turn,
    land,
    legal,
    mortgaged,
    owner,
    table,
    texts,
    throw,
)

SEALED = me.Rules(auction="sealed_second_price")


def on_sale(**contents: Any) -> Any:
    """Seat 0 stands on Baltic Avenue (60 dollars), which nobody owns."""
    return land(3, **contents)


def declined(**contents: Any) -> Any:
    """The same, and it has been declined."""
    return act(on_sale(**contents), "decline")


def sealed(maxima: dict[int, int], **contents: Any) -> Any:
    """A sealed auction of Baltic Avenue with these maxima."""
    game = declined(**contents)
    while asked(game)[0] == "sealed_bid":
        seat = int(game.player)
        rest = maxima.get(seat, 0) - int(game.sealed[seat])
        fitting = [note for note in (500, 100, 50, 20, 10, 5, 1) if note <= rest]
        act(game, f"bid +{fitting[0]}" if fitting else "done")
    return game


@pytest.mark.parametrize(
    ("contents", "name", "price"),
    [
        ({"square": 39}, "Boardwalk", 400),
        ({"square": 5}, "Reading Railroad", 200),
        ({"square": 12}, "Electric Company", 150),
        ({"square": 7, "chance": ["advance_boardwalk"]}, "Boardwalk", 400),
        ({"square": 7, "chance": ["nearest_railroad_b"]}, "Pennsylvania Railroad", 200),
        ({"square": 22, "chance": ["nearest_utility"]}, "Water Works", 150),
    ],
)
def test_rule_13_buying_at_the_printed_price(
    contents: dict[str, Any], name: str, price: int
) -> None:
    game = land(**contents)
    assert asked(game) == ("buy", 0)
    assert {"buy", "decline"} <= texts(game)
    act(game, "buy")
    assert owner(game, name) == 0
    assert cash(game) == [1500 - price, 1500, 1500]


def test_rule_13_s11_cash_may_be_raised_first() -> None:
    game = land(5, lots={0: ["Short Line"], 1: []}, cash={0: 150}, anchored=(1, 2))
    assert asked(game) == ("buy", 0)
    assert texts(game) == {"decline", "mortgage Short Line"}
    act(game, "mortgage Short Line")
    assert texts(game) == {"decline", "buy"}
    act(game, "buy")
    assert owner(game, "Reading Railroad") == 0
    assert game.cash[0] == 50


def test_rule_13_s11_raising_is_open_beside_a_payable_price() -> None:
    game = land(5, lots={0: ["Short Line"]}, cash={0: 300}, anchored=(1, 2))
    assert texts(game) == {"decline", "buy", "mortgage Short Line"}


def test_rule_13_selling_buildings_for_a_purchase() -> None:
    game = land(
        5,
        lots={0: ["Boardwalk", "Park Place"]},
        buildings={"Boardwalk": 1, "Park Place": 1},
        cash={0: 150},
        anchored=(1, 2),
    )
    act(game, "sell Boardwalk")
    assert game.cash[0] == 250
    act(game, "buy")
    assert game.cash[0] == 50


@pytest.mark.parametrize(("money", "decision"), [(150, ("bid", 1)), (300, ("buy", 0))])
def test_rule_13_buying_from_cash_only(money: int, decision: tuple[str, int]) -> None:
    game = land(
        5,
        lots={0: ["Short Line"]},
        cash={0: money},
        anchored=(1, 2),
        rules=me.Rules(buy_with_raised_cash=False),
    )
    assert asked(game) == decision
    assert not legal(game, "mortgage")


def test_rule_14_declining_starts_an_auction_with_the_decliner() -> None:
    game = declined()
    assert asked(game) == ("bid", 1)
    assert auction(game, {0: 20}) == [1, 2, 0]
    assert owner(game, "Baltic Avenue") == 0
    assert cash(game) == [1499, 1500, 1500]


def test_rule_14_not_being_able_to_pay_starts_it_at_once() -> None:
    game = on_sale(cash={0: 59}, anchored=(1, 2))
    assert asked(game) == ("bid", 1)


def test_rule_14_jailed_players_bid() -> None:
    game = declined(jail={1: 0})
    act(game, "bid +5", "fold", "fold")
    assert owner(game, "Baltic Avenue") == 1


def test_rule_14_bankrupt_players_do_not_bid() -> None:
    game = declined(num_players=4, bankrupt=(1,))
    assert auction(game, {}) == [2, 3, 0]


def test_rule_14_a03_no_auction() -> None:
    game = declined(rules=me.Rules(auction="none"))
    assert owner(game, "Baltic Avenue") is None
    assert asked(game) == ("turn", 0)


def test_rule_14_a03_others_only() -> None:
    game = declined(rules=me.Rules(auction="others_only"))
    assert auction(game, {}) == [1, 2]
    assert owner(game, "Baltic Avenue") is None


@pytest.mark.parametrize(
    ("maxima", "increment", "winner", "price"),
    [
        ({1: 80, 2: 30}, 0, 1, 30),
        ({1: 30, 2: 80}, 5, 2, 35),
        ({0: 100, 1: 30, 2: 80}, 0, 0, 80),
        ({1: 80, 2: 78}, 5, 1, 80),  # never more than the own maximum
        ({1: 50, 2: 50}, 5, 1, 50),  # a tie goes to turn order from the player on turn
        ({0: 50, 2: 50}, 0, 0, 50),
    ],
)
def test_rule_14_a03_s02_sealed_second_price(
    maxima: dict[int, int], increment: int, winner: int, price: int
) -> None:
    game = sealed(maxima, rules=me.Rules(auction="sealed_second_price", sealed_increment=increment))
    assert owner(game, "Baltic Avenue") == winner
    expected = [1500] * 3
    expected[winner] -= price
    assert cash(game) == expected


def test_rule_14_a03_sealed_without_a_bid() -> None:
    game = sealed({}, rules=SEALED)
    assert owner(game, "Baltic Avenue") is None
    assert cash(game) == [1500] * 3


def test_rule_14_preset_mukhar_adds_five() -> None:
    game = sealed({1: 90, 2: 40}, rules="mukhar")
    assert (owner(game, "Baltic Avenue"), game.cash[1]) == (1, 1455)


@pytest.mark.parametrize(
    ("rules", "answer", "bid"),
    [("official", "+1", 1), ("official", "+20", 20), ("modern", "+1", 10), ("modern", "+20", 29)],
)
def test_rule_15_a04_opening_bid(rules: str, answer: str, bid: int) -> None:
    # counted from a dollar below the lowest bid
    assert act(declined(rules=rules), f"bid {answer}").auction_bid == bid


@pytest.mark.parametrize("start", [1, 10, 60, 101, 250, 499, 500])
@pytest.mark.parametrize("step", [1, 7, 120, 500])
def test_rule_15_a04_every_opening_and_every_raise_can_be_made(start: int, step: int) -> None:
    rules = me.Rules(auction_start=start, auction_step=step)
    game = declined(rules=rules, cash={1: start, 2: start + step}, anchored=(0,))
    assert legal(game, "bid") == {"+1"}
    act(game, "bid +1")
    assert game.auction_bid == start
    assert legal(game, "bid") == {"+1"}
    act(game, "bid +1", "fold")
    assert (owner(game, "Baltic Avenue"), cash(game)[1:]) == (2, [start, 0])


@pytest.mark.parametrize(("money", "asked_first"), [(249, 2), (250, 1)])
def test_rule_15_who_cannot_open_is_not_asked(money: int, asked_first: int) -> None:
    game = declined(rules=me.Rules(auction_start=250), cash={1: money}, anchored=(0, 2))
    assert asked(game) == ("bid", asked_first)


def test_rule_16_no_bid_leaves_the_lot_unowned() -> None:
    game = declined()
    act(game, "fold", "fold", "fold")
    assert owner(game, "Baltic Avenue") is None
    assert asked(game) == ("turn", 0)
    assert cash(game) == [1500] * 3


@pytest.mark.parametrize(
    ("limit", "raises"),
    [("raisable", {"+1", "+5", "+10", "+20", "+50", "+100"}), ("cash", {"+1", "+5", "+10", "+20"})],
)
def test_rule_16_a05_highest_bid(limit: str, raises: set[str]) -> None:
    game = declined(
        lots={1: ["Short Line"]}, cash={1: 30}, anchored=(0, 2), rules=me.Rules(auction_limit=limit)
    )
    assert asked(game) == ("bid", 1)
    assert legal(game, "bid") == raises


def test_rule_16_s03_a_winner_short_of_cash_raises_it_without_the_lot_won() -> None:
    game = declined(lots={1: ["Short Line", "B. & O. Railroad"]}, cash={1: 30}, anchored=(0, 2))
    act(game, "bid +100", "fold", "fold")
    assert asked(game) == ("debt", 1)
    assert debt(game) == 100
    assert texts(game) == {"mortgage Short Line", "mortgage B. & O. Railroad"}
    assert owner(game, "Baltic Avenue") is None
    act(game, "mortgage Short Line")
    assert owner(game, "Baltic Avenue") == 1
    assert not mortgaged(game, "Baltic Avenue")
    assert game.cash[1] == 30


def test_rule_16_s04_a_winner_who_gives_up_does_not_get_the_lot() -> None:
    game = declined(lots={1: ["Short Line"]}, cash={1: 30}, anchored=(0, 2),
                    rules=me.Rules(liquidation="one_request"))  # fmt: skip
    act(game, "bid +100", "fold", "fold", "go on")
    assert game.place[1] == 3
    assert auction(game, {}) == [2, 0]  # for Short Line
    assert owner(game, "Baltic Avenue") is None
    assert not mortgaged(game, "Baltic Avenue")


def test_rule_16_raisable_counts_buildings_and_unmortgaged_lots() -> None:
    game = declined(
        lots={1: ["Boardwalk", "Park Place", "Short Line"]},
        buildings={"Boardwalk": 1, "Park Place": 1}, mortgaged=["Short Line"],
        cash={1: 0}, anchored=(0, 2),
    )  # fmt: skip
    act(game, "bid +500")  # 2 x 100 + 200 + 175 = 575
    act(game, "bid +50")
    act(game, "fold")
    assert legal(game, "bid") == {"+1", "+5", "+10", "+20"}


def test_rule_16_a_bid_never_counts_hotels_that_cannot_be_sold() -> None:
    pink = ["St. Charles Place", "States Avenue", "Virginia Avenue"]
    rules = me.Rules(houses=0, hotel_breakdown="needs_four")
    game = declined(
        lots={1: pink}, buildings=dict.fromkeys(pink, 5), cash={1: 7}, anchored=(0, 2), rules=rules
    )
    assert asked(game) == ("bid", 1)
    assert legal(game, "bid") == {"+1", "+5"}


def test_s02_folding_is_final() -> None:
    game = declined(num_players=4)
    act(game, "fold", "bid +1", "fold", "bid +1", "bid +5")
    assert asked(game) == ("bid", 0)
    act(game, "fold")
    assert owner(game, "Baltic Avenue") == 2
    assert game.cash[2] == 1493


def test_s02_sealed_bids_add_up_until_done() -> None:
    game = declined(rules=SEALED)
    seat = int(game.player)
    act(game, "bid +50", "bid +5")
    assert asked(game) == ("sealed_bid", seat)
    assert game.sealed[seat] == 55
    act(game, "done")
    assert game.player != seat


def test_s02_sealed_maximum_is_limited() -> None:
    game = declined(rules=SEALED, cash={1: 30}, lots={1: ["Short Line"]}, anchored=(0, 2))
    while game.player != 1:
        act(game, "done")
    act(game, "bid +100")
    assert legal(game, "bid") == {"+1", "+5", "+10", "+20"}


def test_s03_the_turn_goes_on_after_an_auction() -> None:
    game = declined(more=[(4, 6)])
    act(game, "bid +1", "fold", "fold")
    assert asked(game) == ("turn", 0)
    assert end_turn(game).turn == 1
    throw(game)
    assert game.position[1] == 10


def test_rule_13_an_unowned_lot_is_asked_for_in_every_edition() -> None:
    for rules in ("official", "classic", "uk"):
        game = table(rules=rules, positions={0: 36}, throws=[(1, 2)])
        assert asked(throw(game)) == ("buy", 0)


def test_sealed_bids_that_are_forgotten_are_written_again_in_turn_order() -> None:
    game = act(declined(rules=SEALED), "bid +50", "done", "bid +20")
    assert asked(game) == ("sealed_bid", 1)
    forget_sealed_bids(game)
    settle(game)
    assert asked(game) == ("sealed_bid", 0)
    assert game.sealed.tolist()[:2] == [0, 20]
