"""`ocnaru_quirks` (S15): the defects of Ocnaru's program that change play.

Each with the switch on and off. Every test states both sides, so that a quirk can neither leak into
the rules nor get lost.
"""

from __future__ import annotations

from typing import Any

import pytest

import monopoly_env as me
from tests.play import act, asked, cash, legal, levels, table, texts

OFF = me.Rules.preset("ocnaru")
ON = me.Rules.preset("ocnaru", ocnaru_quirks=True)
# a window before the throw, to look at a position before anything happens
ANY_TIME = {"build_window": "own_turn"}
LIGHT_BLUE = ["Oriental Avenue", "Vermont Avenue", "Connecticut Avenue"]
BROWN = ["Mediterranean Avenue", "Baltic Avenue"]

both = pytest.mark.parametrize("quirks", [False, True], ids=["off", "on"])


def play(quirks: bool, square: int, *throws: tuple[int, int], **contents: Any) -> Any:
    """Seat 0 stands so that the first throw brings it to a square; settled up to the first choice.

    Seat 1 waits at Just Visiting.
    """
    rules = (ON if quirks else OFF).changed() | contents.pop("options", {})
    positions = {0: (square - sum(throws[0])) % 40, 1: 10}
    return table(2, rules=me.Rules(**rules), positions=positions, throws=throws, **contents)


def test_the_switch_is_off_in_every_preset() -> None:
    assert not any(me.Rules.preset(name).ocnaru_quirks for name in me.Rules.presets())
    assert ON.changed() == OFF.changed() | {"ocnaru_quirks": True}


# --- (a) 3: a hotel costs and brings its price once for the whole group


@pytest.mark.parametrize(
    ("group", "price"), [(BROWN, 50), (LIGHT_BLUE, 50)], ids=["two lots", "three lots"]
)
@both
def test_a_hotel_is_paid_once_for_the_group(quirks: bool, group: list[str], price: int) -> None:
    game = play(quirks, 20, (1, 2), lots={0: group}, buildings=dict.fromkeys(group, 4))
    act(game, f"build {group[0]}")
    assert levels(game, *group) == [5] * len(group)
    assert game.cash[0] == 1500 - (price if quirks else price * len(group))


@pytest.mark.parametrize("level", range(4))
@both
def test_houses_are_paid_for_every_lot(quirks: bool, level: int) -> None:
    game = play(
        quirks, 20, (1, 2), lots={0: LIGHT_BLUE}, buildings=dict.fromkeys(LIGHT_BLUE, level)
    )
    act(game, "build Oriental Avenue")
    assert levels(game, *LIGHT_BLUE) == [level + 1] * 3
    assert game.cash[0] == 1500 - 150


@pytest.mark.parametrize(
    ("have", "on", "off"),
    [(49, False, False), (50, True, False), (149, True, False), (150, True, True)],
)
@both
def test_what_a_hotel_costs_is_what_must_be_there(
    quirks: bool, have: int, on: bool, off: bool
) -> None:
    game = play(
        quirks,
        20,
        (1, 2),
        cash=[have, 1500],
        lots={0: LIGHT_BLUE},
        buildings=dict.fromkeys(LIGHT_BLUE, 4),
    )
    assert ("Oriental Avenue" in legal(game, "build")) is (on if quirks else off)


@both
def test_a_hotel_is_sold_for_half_of_one(quirks: bool) -> None:
    game = play(
        quirks,
        20,
        (1, 2),
        cash=[0, 1500],
        lots={0: LIGHT_BLUE},
        buildings=dict.fromkeys(LIGHT_BLUE, 5),
    )
    act(game, "sell Oriental Avenue")
    assert levels(game, *LIGHT_BLUE) == [4] * 3
    assert game.cash[0] == (25 if quirks else 75)
    act(game, "sell Oriental Avenue")
    assert levels(game, *LIGHT_BLUE) == [3] * 3
    assert game.cash[0] == (25 if quirks else 75) + 75  # houses bring half of each


@both
def test_the_estate_of_a_bankrupt_counts_hotels_alike(quirks: bool) -> None:
    """Giving a debt up hands half the price of the buildings to the owner of the lot."""
    game = play(
        quirks,
        6,
        (1, 2),
        cash=[0, 0],
        lots={0: BROWN, 1: LIGHT_BLUE},
        buildings=dict.fromkeys(BROWN, 5),
        options={"max_turns": 0},
    )
    assert asked(game) == ("debt", 0)
    act(game, "go on")
    assert me.winner(game) == 1
    assert game.cash[1] == 2 * 4 * 25 + (25 if quirks else 50)


# --- (a) 4: the insolvency test looks at the doubled base rent; the rest is taken below zero


def rent_of_houses(quirks: bool, have: int, **contents: Any) -> Any:
    """Seat 0 owes 270 on Oriental Avenue with three houses; its doubled base rent is 12.

    Seat 0 has nothing else.
    """
    return play(
        quirks, 6, (1, 2), (1, 3), *contents.pop("more", []), cash=[have, 100], anchored=[1],
        lots={1: LIGHT_BLUE},
        buildings=dict.fromkeys(LIGHT_BLUE, 3), **contents,
    )  # fmt: skip


def test_a_rent_beyond_the_doubled_base_rent_is_taken_below_zero() -> None:
    game = rent_of_houses(True, 100)
    assert cash(game) == [100 - 270, 100 + 270]
    assert asked(game) == ("turn", 0)
    assert game.place[:2].tolist() == [0, 0]


def test_without_the_quirk_it_ruins_at_once() -> None:
    game = rent_of_houses(False, 100)
    assert me.winner(game) == 1
    assert cash(game) == [0, 200]
    assert game.turns == 1


def test_who_cannot_pay_the_doubled_base_rent_is_ruined_at_once() -> None:
    assert cash(rent_of_houses(True, 12)) == [12 - 270, 370]
    game = rent_of_houses(True, 11)
    assert me.winner(game) == 1
    assert game.turns == 1
    assert cash(game) == [0, 111]


@both
def test_who_can_pay_all_of_it_pays_all_of_it(quirks: bool) -> None:
    game = rent_of_houses(quirks, 270)
    assert cash(game) == [0, 370]
    assert asked(game) == ("turn", 0)


def test_without_the_quirk_the_debtor_is_asked() -> None:
    lots = {0: ["Boardwalk", "Reading Railroad"], 1: LIGHT_BLUE}
    options: dict[str, Any] = {
        "cash": [100, 100],
        "anchored": [1],
        "lots": lots,
        "buildings": dict.fromkeys(LIGHT_BLUE, 3),
    }
    assert asked(play(False, 6, (1, 2), (1, 3), **options)) == ("debt", 0)
    game = play(True, 6, (1, 2), (1, 3), **options)
    assert (asked(game), cash(game)) == (("turn", 0), [-170, 370])  # his window after the throw


def test_cash_below_zero_is_bankruptcy_when_the_next_turn_begins() -> None:
    game = rent_of_houses(True, 100, more=[(1, 2)])
    while not me.is_over(game) and game.turns < 4:
        act(game, "go on" if "go on" in texts(game) else "decline")
    assert me.winner(game) == 1
    assert game.turns == 3
    assert game.throws[0] == 1  # he did not throw again


def test_who_is_back_above_zero_by_then_plays_on() -> None:
    lots = {0: ["Boardwalk"], 1: LIGHT_BLUE}
    game = play(
        True,
        6,
        (1, 2),
        (1, 3),
        (1, 3),
        (1, 2),
        cash=[100, 100],
        anchored=[1],
        lots=lots,
        buildings=dict.fromkeys(LIGHT_BLUE, 3),
    )
    assert cash(game) == [-170, 370]
    act(game, "mortgage Boardwalk")
    assert game.cash[0] == 30
    turns = int(game.turns)
    while game.turns < turns + 2:
        act(game, "go on" if "go on" in texts(game) else "decline")
    assert (game.turn, me.is_over(game)) == (0, False)


@pytest.mark.parametrize(
    ("lots", "rent"),
    [(["Oriental Avenue"], 6), (["Reading Railroad"], 25)],
    ids=["street", "railroad"],
)
@both
def test_other_rents_are_tested_whole(quirks: bool, lots: list[str], rent: int) -> None:
    square = 6 if rent == 6 else 5
    assert cash(
        play(quirks, square, (1, 2), (1, 3), cash=[rent, 0], anchored=[1], lots={1: lots})
    ) == [0, rent]
    ruined = play(quirks, square, (1, 2), (1, 3), cash=[rent - 1, 0], anchored=[1], lots={1: lots})
    assert me.winner(ruined) == 1


# --- (a) 6: paying rent throws the dice again


@both
def test_the_throw_of_a_rent_decides_whether_the_turn_goes_on(quirks: bool) -> None:
    """No double brings him to the rent; the throw of the rent is one."""
    game = play(quirks, 6, (1, 2), (3, 3), (1, 3), anchored=[0, 1], lots={1: ["Oriental Avenue"]})
    assert cash(game) == [1494, 1506]
    assert game.num_forced == (1 if quirks else 2)
    assert game.dice.tolist() == ([3, 3] if quirks else [1, 2])
    act(game, "go on")
    if quirks:  # he throws again
        assert (game.turn, game.throws[0]) == (0, 2)
        assert game.position[0] == 10
    else:  # the other player throws
        assert game.turn == 1
        assert game.throws[:2].tolist() == [1, 1]


@both
def test_a_double_is_lost_to_the_throw_of_a_rent(quirks: bool) -> None:
    game = play(quirks, 6, (2, 2), (1, 3), (1, 2), anchored=[0, 1], lots={1: ["Oriental Avenue"]})
    assert game.dice.tolist() == ([1, 3] if quirks else [2, 2])
    act(game, "go on")
    assert (game.turn, game.throws[0]) == ((1, 1) if quirks else (0, 2))


@both
def test_the_throw_of_a_rent_gives_the_utility_rent(quirks: bool) -> None:
    game = play(quirks, 12, (1, 2), (6, 3), anchored=[0, 1], lots={1: ["Electric Company"]})
    assert cash(game) == ([1500 - 36, 1536] if quirks else [1500 - 12, 1512])


@both
def test_nothing_is_thrown_where_no_rent_is_due(quirks: bool) -> None:
    game = play(
        quirks,
        6,
        (1, 2),
        (3, 3),
        anchored=[0, 1],
        lots={1: ["Oriental Avenue"]},
        mortgaged=["Oriental Avenue"],
    )
    assert game.num_forced == 1
    assert cash(game) == [1500, 1500]


# --- (a) 7: a Chance card that leaves the token on Chance is followed by a second draw

STAYING = {
    "dividend": 50,
    "building_loan": 150,
    "speeding": -15,
    "chairman": -50,
    "goojf": 0,
    "general_repairs": 0,
}


@pytest.mark.parametrize("card", STAYING)
@both
def test_a_card_that_stays_on_chance_is_followed_by_another(quirks: bool, card: str) -> None:
    second = "dividend" if card != "dividend" else "building_loan"
    game = play(quirks, 7, (1, 2), (1, 3), anchored=[0, 1], chance=[card, second])
    assert game.cash[0] == 1500 + STAYING[card] + (STAYING[second] if quirks else 0)
    assert game.jail_cards[0] == (card == "goojf")
    drawn = (1 if card == "goojf" else 2) if quirks else (0 if card == "goojf" else 1)
    assert game.deck_next[0] == drawn
    assert asked(game) == ("turn", 0)


@both
def test_the_second_card_is_the_last(quirks: bool) -> None:
    game = play(
        quirks, 7, (1, 2), (1, 3), anchored=[0, 1], chance=["dividend", "speeding", "building_loan"]
    )
    assert game.cash[0] == (1535 if quirks else 1550)


@pytest.mark.parametrize("second", ["advance_go", "go_to_jail"])
@both
def test_the_second_card_may_move(quirks: bool, second: str) -> None:
    game = play(quirks, 7, (1, 2), (1, 3), anchored=[0, 1], chance=["dividend", second])
    place = {"advance_go": 0, "go_to_jail": 10}[second]
    assert game.position[0] == (place if quirks else 7)
    assert game.jail[0] == (quirks and second == "go_to_jail")


@both
def test_a_card_that_moves_is_not_followed(quirks: bool) -> None:
    game = play(quirks, 7, (1, 2), (1, 3), anchored=[0, 1], chance=["advance_go", "dividend"])
    assert (game.position[0], game.cash[0], game.deck_next[0]) == (0, 1700, 1)


@both
def test_community_chest_is_drawn_once(quirks: bool) -> None:
    game = play(quirks, 2, (1, 2), (1, 3), anchored=[0, 1], community_chest=["inherit", "doctor"])
    assert game.cash[0] == 1500 + 200 + 100  # 200: he passed GO
    assert game.deck_next[1] == 1


@both
def test_the_second_draw_throws_the_dice_again(quirks: bool) -> None:
    """(a) 6 says of the throw of a rent: "so does item 7"."""
    game = play(
        quirks, 7, (1, 2), (3, 3), (1, 2), anchored=[0, 1], chance=["dividend", "building_loan"]
    )
    assert game.dice.tolist() == ([3, 3] if quirks else [1, 2])
    act(game, "go on")
    assert (game.turn, game.throws[0]) == ((0, 2) if quirks else (1, 1))


# --- (a) 9: everybody's worth counts all buildings of the board


@both
def test_all_buildings_count_for_everybody(quirks: bool) -> None:
    game = play(
        quirks, 20, (1, 2), cash=[10, 20], lots={0: BROWN, 1: LIGHT_BLUE},
        buildings=dict.fromkeys(BROWN, 5) | dict.fromkeys(LIGHT_BLUE, 2),
        options=ANY_TIME, anchored=(),
    )  # fmt: skip
    brown, blue = 2 * 5 * 50, 3 * 2 * 50
    mine, his = 10 + 120, 20 + 320
    assert me.worth(game).tolist() == (
        [mine + brown + blue, his + brown + blue] if quirks else [mine + brown, his + blue]
    )


@both
def test_the_difference_of_worths_is_what_it_was_without(quirks: bool) -> None:
    """With two players who own no building it cancels; it cannot where one owns more."""
    game = play(
        quirks,
        20,
        (1, 2),
        cash=[10, 20],
        lots={0: BROWN, 1: LIGHT_BLUE},
        options=ANY_TIME,
        anchored=(),
    )
    assert me.worth(game).tolist() == [130, 340]


@both
def test_a_tenth_of_the_worth_counts_them_too(quirks: bool) -> None:
    options = {"income_tax": "pct10"}
    game = play(
        quirks,
        4,
        (1, 2),
        lots={0: [], 1: LIGHT_BLUE},
        buildings=dict.fromkeys(LIGHT_BLUE, 2),
        options=options,
        anchored=[0],
    )
    # cash, Pacific Avenue, six houses of another
    assert game.cash[0] == 1500 - (1500 + 300 + (300 if quirks else 0)) // 10


# --- section 8: the rent of a card's destination is paid twice


@pytest.mark.parametrize(
    ("card", "lot", "rent"),
    [
        ("advance_illinois", "Illinois Avenue", 20),
        ("advance_st_charles", "St. Charles Place", 10),
        ("trip_reading", "Reading Railroad", 25),
    ],
)
@both
def test_the_rent_of_a_destination_is_paid_twice(
    quirks: bool, card: str, lot: str, rent: int
) -> None:
    game = play(
        quirks, 7, (1, 2), (1, 3), (1, 4), (1, 5), anchored=[0, 1], lots={1: [lot]}, chance=[card]
    )
    salary = 200 if card == "trip_reading" else 0
    paid = rent * (2 if quirks else 1)
    assert cash(game) == [1500 + salary - paid, 1500 + paid]


@both
def test_going_back_pays_twice_too(quirks: bool) -> None:
    game = play(
        quirks,
        22,
        (1, 2),
        (1, 3),
        (1, 4),
        anchored=[0, 1],
        lots={1: ["New York Avenue"]},
        chance=["back_3"],
    )
    paid = 16 * (2 if quirks else 1)
    assert (game.position[0], cash(game)) == (19, [1500 - paid, 1500 + paid])


@pytest.mark.parametrize("square", [6, 5])
@both
def test_the_rent_of_a_throw_is_paid_once(quirks: bool, square: int) -> None:
    rent = {6: 6, 5: 25}[square]
    game = play(
        quirks,
        square,
        (1, 2),
        (1, 3),
        anchored=[0, 1],
        lots={1: ["Oriental Avenue", "Reading Railroad"]},
    )
    assert cash(game) == [1500 - rent, 1500 + rent]


@both
def test_a_free_destination_is_offered_once(quirks: bool) -> None:
    game = play(quirks, 7, (1, 2), (1, 3), anchored=[0, 1], chance=["advance_illinois"])
    assert asked(game) == ("buy", 0)
    act(game, "decline")
    assert asked(game) == ("turn", 0)


@both
def test_what_was_bought_there_costs_no_rent(quirks: bool) -> None:
    game = act(play(quirks, 7, (1, 2), (1, 3), anchored=[0, 1], chance=["advance_illinois"]), "buy")
    assert cash(game) == [1500 - 240, 1500]
    assert asked(game) == ("turn", 0)


@both
def test_a_tax_at_a_destination_is_paid_once(quirks: bool) -> None:
    """Only rents are paid twice."""
    game = play(quirks, 7, (1, 2), (1, 3), anchored=[0, 1], chance=["back_3"])
    assert (game.position[0], game.cash[0]) == (4, 1300)


@both
def test_a_chest_card_at_a_destination_is_drawn_once(quirks: bool) -> None:
    game = play(
        quirks,
        36,
        (1, 2),
        (1, 3),
        anchored=[0, 1],
        chance=["back_3"],
        community_chest=["inherit", "doctor"],
    )
    assert (game.position[0], game.cash[0], game.deck_next[1]) == (33, 1600, 1)


# --- section 8: an unpaid 'collect 10' ruins the collector


def birthday(quirks: bool, have: int, **contents: Any) -> Any:
    """Seat 0 draws 'It is your birthday': 10 from seat 1."""
    return play(
        quirks, 33, (1, 2), (1, 3), cash=[500, have], community_chest=["players_pay"], **contents
    )


def test_an_unpaid_birthday_ruins_the_collector() -> None:
    game = birthday(True, 9, anchored=[0])
    assert me.winner(game) == 1
    assert game.place[:2].tolist() == [2, 1]


def test_without_the_quirk_it_ruins_the_one_who_cannot_pay() -> None:
    game = birthday(False, 9, anchored=[0])
    assert me.winner(game) == 0
    assert cash(game)[0] == 509


def test_without_the_quirk_the_debtor_is_asked_for_a_birthday() -> None:
    lots = {1: ["Boardwalk", "Reading Railroad"]}
    assert asked(birthday(False, 9, anchored=[0], lots=lots)) == ("debt", 1)
    assert me.winner(birthday(True, 9, anchored=[0], lots=lots)) == 1


@both
def test_a_birthday_that_can_be_paid_is_paid(quirks: bool) -> None:
    assert cash(birthday(quirks, 10, anchored=[0])) == [510, 0]


# --- whole games


@pytest.mark.parametrize("seed", range(8))
def test_games_with_quirks_come_to_an_end(seed: int) -> None:
    game = me.new_game(2, ON, seed)
    number = 0
    while not me.is_over(game):
        legal = me.legal_actions(game)
        me.step(game, int(legal[(seed + number) * 7919 % len(legal)]))
        me.check(game)
        number += 1
    assert game.turns <= 1000
    assert sorted(game.place[:2].tolist()) in ([1, 1], [1, 2])
