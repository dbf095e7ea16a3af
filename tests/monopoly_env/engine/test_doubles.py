"""Rules 7 to 9: doubles."""

from __future__ import annotations

from typing import Any

import pytest

import monopoly_env as me
from tests.play import asked, cash, end_turn, land, table, throw


def test_rule_07_third_double_goes_to_jail() -> None:
    game = table(lots={0: ["Water Works"]}, positions={0: 16}, throws=[(2, 2), (4, 4), (6, 6)])
    throw(game)
    assert game.position[0] == 20
    throw(game)
    assert game.position[0] == 28
    throw(game)
    assert (game.position[0], game.jail[0]) == (10, 1)
    assert cash(game) == [1500] * 3  # GO, twelve squares on, was neither reached nor paid
    end_turn(game)
    assert game.turn == 1
    assert game.throws[0] == 3


def test_rule_07_the_square_of_the_third_double_is_not_settled() -> None:
    game = table(lots={1: ["Boardwalk"]}, positions={0: 33}, streak=2, throws=[(3, 3)])
    throw(game)
    assert (game.position[0], game.jail[0]) == (10, 1)
    assert cash(game) == [1500] * 3


def test_rule_07_a_double_throws_again_and_the_next_throw_may_end_it() -> None:
    game = land(10, (2, 2), more=[(4, 6)])
    assert asked(game) == ("turn", 0)
    throw(game)
    assert game.position[0] == 20
    assert end_turn(game).turn == 1


@pytest.mark.parametrize(
    "contents",
    [
        {"square": 30},
        {"square": 7, "chance": ["go_to_jail"]},
        {"square": 17, "community_chest": ["go_to_jail"]},
    ],
)
def test_rule_08_being_sent_to_jail_ends_the_turn(contents: dict[str, Any]) -> None:
    game = land(dice=(2, 2), more=[(1, 2)], **contents)
    assert (game.position[0], game.jail[0]) == (10, 1)
    end_turn(game)
    assert (game.turn, game.throws[0], game.num_forced) == (1, 1, 1)


@pytest.mark.parametrize(("doubles_again", "positions"), [(True, [22, 0]), (False, [12, 10])])
def test_rule_09_doubles_again(doubles_again: bool, positions: list[int]) -> None:
    game = land(
        12,
        (2, 2),
        more=[(4, 6)],
        lots={0: ["Electric Company"]},
        chance=["dividend"],
        rules=me.Rules(doubles_again=doubles_again),
    )
    throw(game)
    assert game.position[:2].tolist() == positions


def test_rule_09_the_streak_starts_anew_each_turn() -> None:
    game = table(positions={0: 16, 1: 6}, throws=[(2, 2), (4, 6), (2, 2)])
    throw(game)
    assert game.streak == 1
    throw(game)
    end_turn(game)
    assert (game.turn, game.streak) == (1, 0)
    throw(game)
    assert (game.position[1], game.streak) == (10, 1)


def test_rule_09_a_card_move_does_not_count() -> None:
    game = land(7, (2, 2), chance=["advance_go"])
    assert (game.position[0], game.streak) == (0, 1)


def test_rule_09_a_utility_throw_does_not_count() -> None:
    game = land(
        7, (1, 2), more=[(3, 3)], lots={1: ["Electric Company"]}, chance=["nearest_utility"]
    )
    assert cash(game) == [1440, 1560, 1500]
    assert game.streak == 0
    assert end_turn(game).turn == 1
    assert game.throws[0] == 1
