"""Rules 17 to 24: rent."""

from __future__ import annotations

from typing import Any

import pytest

import monopoly_env as me
from tests.play import act, asked, cash, debt, land, levels, owner

LIGHT_BLUE = ["Oriental Avenue", "Vermont Avenue", "Connecticut Avenue"]
DARK_BLUE = ["Park Place", "Boardwalk"]
RAILROADS = ["Reading Railroad", "Pennsylvania Railroad", "B. & O. Railroad", "Short Line"]
UTILITIES = ["Electric Company", "Water Works"]


def paid(square: int, lots: list[str], *args: Any, salary: int = 0, **contents: Any) -> int:
    """Rent that seat 0 pays to seat 1, the owner of these lots.

    It comes on top of what else the throw brings.
    """
    game = land(square, *args, lots={1: lots}, cash=[3000] * 3, **contents)
    assert asked(game) == ("turn", 0)
    assert cash(game)[2] == 3000
    rent = cash(game)[1] - 3000
    assert cash(game)[0] == 3000 + salary - rent
    return rent


@pytest.mark.parametrize(
    ("lots", "contents", "rent"),
    [
        (["Oriental Avenue"], {}, 6),
        (["Oriental Avenue", "Vermont Avenue"], {}, 6),
        (LIGHT_BLUE, {}, 12),
        (LIGHT_BLUE, {"buildings": {"Vermont Avenue": 1}}, 12),
        (LIGHT_BLUE, {"mortgaged": ["Vermont Avenue"]}, 12),
        (LIGHT_BLUE, {"mortgaged": ["Oriental Avenue"]}, 0),
        (["Oriental Avenue"], {"mortgaged": ["Oriental Avenue"]}, 0),
    ],
)
def test_rule_17_street(lots: list[str], contents: dict[str, Any], rent: int) -> None:
    assert paid(6, lots, **contents) == rent


@pytest.mark.parametrize(
    ("level", "rent"), [(0, 100), (1, 200), (2, 600), (3, 1400), (4, 1700), (5, 2000)]
)
def test_rule_17_buildings(level: int, rent: int) -> None:
    assert paid(39, DARK_BLUE, buildings=dict.fromkeys(DARK_BLUE, level)) == rent


@pytest.mark.parametrize(
    ("rules", "rent"),
    [("official", 12), ("uk", 6), (me.Rules(double_rent_if_group_mortgaged=False), 6)],
)
def test_rule_17_a06_group_with_a_mortgaged_lot(rules: Any, rent: int) -> None:
    lots = ["The Angel Islington", "Euston Road", "Pentonville Road"]
    assert paid(6, lots, mortgaged=[lots[2]], rules=rules) == rent


@pytest.mark.parametrize("mortgage_counts", [True, False])
def test_rule_17_a06_group_without_a_mortgage(mortgage_counts: bool) -> None:
    lots = ["Oriental Avenue", "Vermont Avenue", "Connecticut Avenue"]
    rules = me.Rules(double_rent_if_group_mortgaged=mortgage_counts)
    assert paid(6, lots, rules=rules) == 12


@pytest.mark.parametrize(("count", "rent"), [(1, 25), (2, 50), (3, 100), (4, 200)])
def test_rule_18_railroads(count: int, rent: int) -> None:
    assert paid(5, RAILROADS[:count]) == rent


@pytest.mark.parametrize(("counted", "rent"), [(True, 100), (False, 50)])
def test_rule_18_a07_mortgaged_railroads(counted: bool, rent: int) -> None:
    rules = me.Rules(count_mortgaged_rr_ut=counted)
    assert paid(5, RAILROADS[:3], mortgaged=[RAILROADS[2]], rules=rules) == rent


@pytest.mark.parametrize(
    ("lots", "contents", "rent"),
    [
        (UTILITIES[:1], {}, 28),
        (UTILITIES, {}, 70),
        (UTILITIES, {"mortgaged": UTILITIES[1:]}, 70),
        (
            UTILITIES,
            {"mortgaged": UTILITIES[1:], "rules": me.Rules(count_mortgaged_rr_ut=False)},
            28,
        ),
        (UTILITIES, {"mortgaged": UTILITIES[:1]}, 0),
    ],
)
def test_rule_19_utilities(lots: list[str], contents: dict[str, Any], rent: int) -> None:
    assert paid(12, lots, (3, 4), **contents) == rent


def test_rule_19_a08_fresh_throw() -> None:
    assert (
        paid(12, UTILITIES[:1], (3, 4), more=[(6, 5)], rules=me.Rules(utility_dice="fresh")) == 44
    )


def test_rule_19_card_that_is_not_nearest_uses_the_landing_throw() -> None:
    assert paid(28, UTILITIES[1:], (3, 4), more=[(6, 5)]) == 28


@pytest.mark.parametrize(
    ("square", "card", "lots", "contents", "rent", "salary"),
    [
        (7, "nearest_railroad_a", ["Pennsylvania Railroad"], {}, 50, 0),
        (7, "nearest_railroad_b", RAILROADS, {}, 400, 0),
        (22, "nearest_railroad_a", ["B. & O. Railroad"], {}, 50, 0),
        (36, "nearest_railroad_a", ["Reading Railroad"], {}, 50, 200),
        (7, "nearest_utility", ["Electric Company"], {"more": [(6, 5)]}, 110, 0),
        (7, "nearest_utility", UTILITIES, {"more": [(6, 5)]}, 110, 0),
        (22, "nearest_utility", ["Water Works"], {"more": [(1, 1)]}, 20, 0),
        (36, "nearest_utility", ["Electric Company"], {"more": [(2, 1)]}, 30, 200),
        (36, "trip_reading", ["Reading Railroad"], {}, 25, 200),  # an ordinary visit
    ],
)
def test_rule_20_nearest(
    square: int, card: str, lots: list[str], contents: dict[str, Any], rent: int, salary: int
) -> None:
    assert paid(square, lots, chance=[card], salary=salary, **contents) == rent


@pytest.mark.parametrize(
    ("card", "square", "name"),
    [("nearest_railroad_a", 25, "B. & O. Railroad"), ("nearest_utility", 28, "Water Works")],
)
def test_rule_20_nearest_unowned(card: str, square: int, name: str) -> None:
    game = land(22, chance=[card])
    assert game.position[0] == square
    assert asked(game) == ("buy", 0)
    act(game, "decline", "bid +1", "fold", "fold")
    assert owner(game, name) == 1


@pytest.mark.parametrize(
    ("card", "lots", "pays", "rent"),
    [
        ("nearest_railroad_a", ["Pennsylvania Railroad"], False, 0),
        ("nearest_railroad_a", ["Pennsylvania Railroad"], True, 0),
        ("nearest_utility", ["Electric Company"], False, 0),
        ("nearest_utility", ["Electric Company"], True, 110),
    ],
)
def test_rule_21_a09_card_to_a_mortgaged_lot(
    card: str, lots: list[str], pays: bool, rent: int
) -> None:
    rules = me.Rules(card_utility_pays_when_mortgaged=pays)
    assert paid(7, lots, mortgaged=lots, chance=[card], more=[(6, 5)], rules=rules) == rent


@pytest.mark.parametrize(
    ("rules", "rent"), [("official", 50), ("pring", 0), (me.Rules(rent_in_jail=False), 0)]
)
def test_rule_22_a10_owner_in_jail(rules: Any, rent: int) -> None:
    assert (
        paid(39, ["Boardwalk"] if rules != "pring" else ["Mayfair"], rules=rules, jail={1: 0})
        == rent
    )


def test_rule_23_rent_is_collected_without_asking() -> None:
    with pytest.raises(me.RulesError, match="auto"):
        me.Rules(rent_claim="ask")
    game = land(39, lots={1: ["Boardwalk"]})
    assert asked(game) == ("turn", 0)
    assert cash(game) == [1450, 1550, 1500]


def test_rule_24_sales_do_not_change_the_bill() -> None:
    brown = ["Mediterranean Avenue", "Baltic Avenue"]
    game = land(
        17,
        lots={0: brown},
        buildings=dict.fromkeys(brown, 4),
        cash={0: 220},
        community_chest=["street_repairs"],
        anchored=(1, 2),
    )
    assert asked(game) == ("debt", 0)
    assert debt(game) == 320  # eight houses of 40
    # evenness then leaves only Mediterranean Avenue, which is not asked
    act(game, "sell Baltic Avenue")
    assert levels(game, *brown) == [3, 3]
    assert debt(game) == 320
    act(game, "sell Mediterranean Avenue")
    assert asked(game) == ("turn", 0)
    assert levels(game, *brown) == [2, 2]
    assert cash(game) == [0, 1500, 1500]
