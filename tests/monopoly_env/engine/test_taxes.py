"""Rules 51 to 54: taxes, Free Parking and repairs."""

from __future__ import annotations

from typing import Any

import pytest

import monopoly_env as me
from tests.play import act, asked, cash, debt, end_turn, land, table, texts, throw

BROWN = ["Mediterranean Avenue", "Baltic Avenue"]
DARK_BLUE = ["Park Place", "Boardwalk"]


def taxed(dollars: int = 1500, **contents: Any) -> Any:
    """Seat 0 comes to Income Tax with four lots, one of them mortgaged, and two hotels."""
    return land(
        4, (1, 3), lots={0: [*BROWN, "Boardwalk", "Reading Railroad"]},
        buildings=dict.fromkeys(BROWN, 5), mortgaged=["Boardwalk"], cash={0: dollars},
        anchored=(1, 2), **contents,
    )  # fmt: skip


WORTH = 60 + 60 + 400 + 200 + 10 * 50  # printed prices, and ten purchases of 50


@pytest.mark.parametrize(
    ("income_tax", "dollars", "tax"),
    [
        ("flat200", 1500, 200),
        ("flat200", 200, 200),
        ("min", 1500, 200),
        ("min", 200, (WORTH + 200) // 10),
        ("pct10", 1509, (WORTH + 1509) // 10),  # rounded down
        ("pct10", 3000, (WORTH + 3000) // 10),
    ],
)
def test_rule_51_a24_income_tax(income_tax: str, dollars: int, tax: int) -> None:
    game = taxed(dollars, rules=me.Rules(income_tax=income_tax))
    assert asked(game) == ("turn", 0)
    assert cash(game) == [dollars - tax, 1500, 1500]


@pytest.mark.parametrize(
    ("answer", "tax"), [("pay $200", 200), ("pay 10% of total worth", (WORTH + 1505) // 10)]
)
@pytest.mark.parametrize("rules", ["classic", me.Rules(income_tax="choice")])
def test_rule_51_a24_the_choice_before_counting(rules: Any, answer: str, tax: int) -> None:
    game = taxed(1505, rules=rules)
    assert asked(game) == ("tax", 0)
    assert texts(game) == {"pay $200", "pay 10% of total worth"}
    act(game, answer)
    assert cash(game) == [1505 - tax, 1500, 1500]


@pytest.mark.parametrize(
    ("rules", "tax"),
    [("official", 100), ("classic", 75), ("uk", 100), (me.Rules(luxury_tax=30), 30)],
)
def test_rule_52_luxury_tax(rules: Any, tax: int) -> None:
    assert cash(land(38, rules=rules)) == [1500 - tax, 1500, 1500]


def test_rule_53_free_parking_gives_nothing() -> None:
    game = table(positions={0: 35, 1: 10}, throws=[(1, 2), (4, 6)])
    end_turn(throw(game))
    throw(game)
    assert game.position[1] == 20
    assert cash(game) == [1400, 1500, 1500]
    assert game.pot == 0


@pytest.mark.parametrize(("pot", "start"), [("fines", 0), ("fines_plus_500", 500)])
def test_rule_53_a25_the_pot_takes_taxes_and_fines(pot: str, start: int) -> None:
    rules = me.Rules(free_parking_pot=pot)
    game = table(positions={0: 35, 1: 10}, throws=[(1, 2), (4, 6)], rules=rules)
    assert game.pot == start
    end_turn(throw(game))
    assert game.pot == start + 100
    throw(game)
    assert cash(game) == [1400, 1600 + start, 1500]
    assert game.pot == start


@pytest.mark.parametrize(
    ("square", "contents", "paid"),
    [
        (4, {}, 200),
        (38, {}, 100),
        (7, {"chance": ["speeding"]}, 15),
        (17, {"community_chest": ["hospital"]}, 100),
    ],
)
def test_rule_53_a25_what_goes_into_the_pot(
    square: int, contents: dict[str, Any], paid: int
) -> None:
    game = land(square, (1, 2), rules=me.Rules(free_parking_pot="fines"), **contents)
    assert game.pot == paid
    assert game.cash[0] == 1500 - paid


@pytest.mark.parametrize(
    ("square", "contents", "rules", "house", "hotel"),
    [
        (7, {"chance": ["general_repairs"]}, "official", 25, 100),
        (17, {"community_chest": ["street_repairs"]}, "official", 40, 115),
        (7, {"chance": ["street_repairs"]}, "uk", 40, 115),
        (22, {"chance": ["general_repairs"]}, "uk", 25, 100),
    ],
)
def test_rule_54_repairs(
    square: int, contents: dict[str, Any], rules: str, house: int, hotel: int
) -> None:
    game = land(
        square,
        lots={0: [0, 1, 20, 21], 1: [2, 3, 4]},
        buildings={0: 3, 1: 2, 20: 5, 21: 4, 2: 4, 3: 4, 4: 4},
        rules=rules,
        **contents,
    )
    assert cash(game) == [1500 - 9 * house - hotel, 1500, 1500]  # a hotel counts once


def test_rule_54_nothing_to_repair() -> None:
    assert (
        cash(
            land(
                7,
                chance=["general_repairs"],
                lots={1: DARK_BLUE},
                buildings=dict.fromkeys(DARK_BLUE, 1),
            )
        )
        == [1500] * 3
    )


@pytest.mark.parametrize(
    ("answer", "money"), [("pay the fine", 1490), ("draw a Chance card", 1650)]
)
def test_s10_fine_or_chance(answer: str, money: int) -> None:
    game = land(17, rules="uk", community_chest=["fine_or_chance"], chance=["building_loan"])
    assert asked(game) == ("fine_or_chance", 0)
    assert texts(game) == {"pay the fine", "draw a Chance card"}
    act(game, answer)
    assert game.cash[0] == money
    assert asked(game) == ("turn", 0)


def test_s10_the_fine_may_be_raised() -> None:
    game = land(
        17,
        rules="uk",
        community_chest=["fine_or_chance"],
        chance=["dividend"],
        cash={0: 3},
        lots={0: [22, 23]},
        anchored=(1, 2),
    )
    assert texts(game) == {"pay the fine", "draw a Chance card"}
    act(game, "pay the fine")
    assert (asked(game), debt(game)) == (("debt", 0), 10)


def test_s10_who_can_neither_pay_nor_raise_the_fine_draws() -> None:
    game = land(
        17,
        rules="uk",
        community_chest=["fine_or_chance"],
        chance=["dividend"],
        cash={0: 3},
        anchored=(1, 2),
    )
    assert game.cash[0] == 53
