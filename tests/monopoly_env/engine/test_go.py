"""Rules 10 to 12: GO."""

from __future__ import annotations

from typing import Any

import pytest

import monopoly_env as me
from tests.play import asked, cash, land

BROWN = {0: ["Mediterranean Avenue", "Baltic Avenue", "Reading Railroad"]}


@pytest.mark.parametrize(
    ("square", "contents", "salary"),
    [
        (0, {}, 200),  # landing by dice
        (1, {}, 200),  # passing by dice
        (20, {}, 0),
        (7, {"chance": ["advance_go"]}, 200),  # landing by card
        (36, {"chance": ["trip_reading"]}, 200),  # passing by card
        (36, {"chance": ["nearest_railroad_a"]}, 200),
        (7, {"chance": ["trip_reading"]}, 200),
        (7, {"dice": (5, 4), "chance": ["advance_go"]}, 400),  # by dice, then by card
        (2, {"community_chest": ["advance_go"]}, 400),
        (17, {"community_chest": ["advance_go"]}, 200),
    ],
)
def test_rule_10_salary(square: int, contents: dict[str, Any], salary: int) -> None:
    game = land(square, lots=BROWN, **contents)
    assert cash(game) == [1500 + salary, 1500, 1500]


def test_rule_10_salary_comes_before_the_destination_is_settled() -> None:
    game = land(4, (2, 4), cash={0: 0}, anchored=(1, 2))
    assert game.place[0] == 0
    assert game.cash[0] == 0  # 200 in, 200 income tax out


@pytest.mark.parametrize(
    "contents",
    [
        {"square": 30},
        {"square": 36, "chance": ["go_to_jail"]},
        {"square": 33, "community_chest": ["go_to_jail"]},
    ],
)
def test_rule_11_no_salary_on_the_way_to_jail(contents: dict[str, Any]) -> None:
    assert cash(land(**contents)) == [1500] * 3


def test_rule_11_no_salary_backwards() -> None:
    game = land(7, chance=["back_3"])
    assert game.position[0] == 4
    assert cash(game) == [1300, 1500, 1500]  # the income tax of square 4


@pytest.mark.parametrize("square", [17, 33])
def test_rule_11_back_to_old_kent_road(square: int) -> None:
    game = land(square, rules="uk", lots={1: ["Old Kent Road"]}, community_chest=["back_old_kent"])
    assert game.position[0] == 1
    assert cash(game) == [1498, 1502, 1500]


@pytest.mark.parametrize(
    ("options", "square", "contents", "salary"),
    [
        ({"go_salary": 400}, 1, {}, 400),
        ({"go_salary": 0}, 0, {}, 0),
        ({"double_go": True}, 0, {}, 400),
        ({"double_go": True}, 1, {}, 200),
        ({"double_go": True}, 7, {"chance": ["advance_go"]}, 400),
        ({"double_go": True, "go_salary": 300}, 0, {}, 600),
    ],
)
def test_rule_12_a02_salary_options(
    options: dict[str, Any], square: int, contents: dict[str, Any], salary: int
) -> None:
    game = land(square, lots=BROWN, rules=me.Rules(**options), **contents)
    assert asked(game) == ("turn", 0)
    assert cash(game) == [1500 + salary, 1500, 1500]
