"""Positions by hand: what they hold, and why others are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env.facts import board, cards
from monopoly_env.positions import lot_number
from tests.play import act, asked, land, levels, mortgaged, owner, table
from tests.programs import python

LIGHT_BLUE = ["Oriental Avenue", "Vermont Avenue", "Connecticut Avenue"]
OFFICIAL = me.Rules()
UNLIMITED = me.Rules(building_limit="unlimited")


@pytest.mark.parametrize(
    "first",
    [
        "me.force",
        "monopoly_env.render.narrate",
        "monopoly_env.validate.fuzz",
        "monopoly_env.positions",
    ],
)
def test_position_is_a_function_whatever_was_used_before(first: str) -> None:
    """The module of the same name must not take its place in the package."""
    use = first if first.startswith("me.") else f"import {first}"
    show = "print(callable(me.position), me.position.__name__)"
    done = python("-c", f"import monopoly_env as me\n{use}\n{show}")
    assert (done.stdout.split(), done.stderr) == (["True", "position"], "")


def test_an_empty_position_is_a_new_game_without_a_throw() -> None:
    game = me.position(3, seed=6)
    assert game.cash[:3].tolist() == [1500] * 3
    assert not game.lots.any()
    assert (game.houses, game.hotels, game.turn, game.first) == (32, 12, 0, 0)
    assert sorted(game.deck[0].tolist()) == sorted(game.deck[1].tolist()) == list(range(16))


def test_a_position_holds_what_it_was_given() -> None:
    game = table(
        4, seed=1, turn=2, cash={1: 7, 3: 900},
        lots={0: [*LIGHT_BLUE, "Boardwalk"], 2: [25, "Water Works"]}, mortgaged=["Boardwalk", 25],
        buildings={"Oriental Avenue": 4, "Vermont Avenue": 5, 4: 4}, positions=[39, 20, 0, 5],
        jail={1: 2}, pot=35, streak=1,
        jail_cards={0: ["chance"], 2: "community_chest"},
    )  # fmt: skip
    assert asked(game) == ("turn", 2)
    assert game.cash[:4].tolist() == [1500, 7, 1500, 900]
    assert [
        owner(game, name)
        for name in (*LIGHT_BLUE, "Boardwalk", "Short Line", "Water Works", "Park Place")
    ] == [0] * 4 + [2, 2, None]
    assert mortgaged(game, "Boardwalk")
    assert mortgaged(game, "Short Line")
    assert levels(game, *LIGHT_BLUE) == [4, 5, 4]
    assert (game.houses, game.hotels) == (24, 11)
    assert game.position[:4].tolist() == [39, 10, 0, 5]
    assert game.jail[:4].tolist() == [0, 3, 0, 0]
    assert game.jail_cards[:4].tolist() == [1, 0, 2, 0]
    assert game.deck_size.tolist() == [15, 15]
    assert (game.pot, game.streak, game.turn) == (35, 1, 2)
    me.check(game)


def test_unlimited_buildings_are_not_counted() -> None:
    game = table(
        2,
        rules=UNLIMITED,
        lots={0: board.LOT_NAME[0][:22]},
        buildings=dict.fromkeys(range(22), 4),
        anchored=(),
    )
    assert (game.houses, game.hotels) == (32, 12)


def test_a_position_waits_for_the_first_real_choice() -> None:
    assert asked(table(2)) == ("turn", 0)
    # nothing to sell, build or trade: the throw is made
    bare = me.position(2, positions=[2, 0], throws=[(1, 2)])
    assert asked(bare) == ("buy", 0)
    assert bare.position[0] == 5


def test_throws_and_cards_come_as_they_are_given() -> None:
    game = table(
        2,
        positions=[4, 0],
        throws=[(1, 2), (6, 5)],
        chance=["chairman", "dividend"],
        community_chest=["inherit"],
    )
    deck = [cards.CARD_ID[0][0][card] for card in game.deck[0]]
    assert deck[:2] == ["chairman", "dividend"]
    assert len(set(deck)) == 16
    assert cards.CARD_ID[0][1][game.deck[1, 0]] == "inherit"
    act(game, "go on")
    assert (game.dice.tolist(), game.num_forced, game.cash[:2].tolist()) == (
        [1, 2],
        1,
        [1450, 1550],
    )
    act(game, "go on", "go on")
    assert (game.dice.tolist(), game.num_forced, game.position[1]) == ([6, 5], 0, 11)


def test_bankrupt_seats_hold_the_last_places() -> None:
    game = table(5, bankrupt=[3, 0], turn=2)
    assert game.place[:5].tolist() == [4, 0, 0, 5, 0]
    assert game.cash[:5].tolist() == [0, 1500, 1500, 0, 1500]
    act(game, "go on", "go on")
    assert game.turn != 3
    me.check(game)


def test_the_seed_decides_what_is_not_forced() -> None:
    same = [me.position(3, seed=seed, lots={0: [1]}) for seed in (4, 4, 5)]
    assert same[0].tobytes() == same[1].tobytes() != same[2].tobytes()


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("Boardwalk", 21),
        ("boardWALK", 21),
        ("Mayfair", 21),
        ("Short Line", 25),
        (27, 27),
        (np.int16(3), 3),
    ],
)
def test_lots_by_name_and_number(name: str | int, number: int) -> None:
    assert lot_number(name) == number


def test_arguments_are_not_changed() -> None:
    lots, throws = {0: ["Boardwalk"]}, [(1, 2)]
    me.position(2, lots=lots, throws=throws, cash=(cash := [5, 6]))
    assert (lots, throws, cash) == ({0: ["Boardwalk"]}, [(1, 2)], [5, 6])


def built(level: Any, streets: Any = LIGHT_BLUE, **more: Any) -> dict[str, Any]:
    """Seat 0 owns streets with this level."""
    return {"lots": {0: list(streets)}, "buildings": dict.fromkeys(streets, level), **more}


REFUSED: list[tuple[dict[str, Any], str]] = [
    # Lots and buildings.
    ({"lots": {0: ["Bordwalk"]}}, "Unknown lot 'Bordwalk'. Did you mean 'Boardwalk'"),
    ({"lots": {0: [28]}}, "Unknown lot 28"),
    ({"lots": {0: [-1]}}, "Unknown lot -1"),
    ({"lots": {0: [True]}}, "Unknown lot True"),
    ({"lots": {0: [None]}}, "Unknown lot None"),
    ({"lots": {0: ["Boardwalk"], 1: [21]}}, "Boardwalk has two owners: seats 0 and 1"),
    ({"lots": {3: ["Boardwalk"]}}, "lots: seat 3 must be a whole number from 0 to 2"),
    ({"lots": {-1: ["Boardwalk"]}}, "lots: seat -1"),
    ({"lots": {"0": ["Boardwalk"]}}, "lots: seat '0'"),
    ({"mortgaged": ["Boardwalk"]}, "Boardwalk is mortgaged but belongs to the bank"),
    ({"mortgaged": ["Broadway"]}, "Unknown lot 'Broadway'"),
    ({"buildings": {"Boardwalk": 1}}, "Boardwalk has a building but belongs to the bank"),
    (built(1, ["Reading Railroad"]), "Reading Railroad is not a street"),
    (built(1, ["Boardwalk"]), "a building stands on a group that nobody owns whole"),
    ({"lots": {0: LIGHT_BLUE}, "buildings": {"Oriental Avenue": 2}}, "a group is built unevenly"),
    (built(6), "Oriental Avenue 6 must be a whole number from 0 to 5"),
    (built(-1), "Oriental Avenue -1"),
    (built(1.0), "Oriental Avenue 1.0"),
    (built(1, mortgaged=[2]), "a group is mortgaged and built at once"),
    (built(2, range(22)), "More buildings than the bank has: -12 houses and 12 hotels"),
    (built(5, range(22)), "32 houses and -10 hotels"),
    (built(4, rules=me.Rules(hotel_after=3)), "a group is built unevenly"),
    (
        {"rules": "ocnaru", "num_players": 2, "lots": {0: LIGHT_BLUE}, "buildings": {2: 1, 3: 1}},
        "a group is built unevenly",
    ),
    # Money, squares, jail.
    ({"cash": [1, 2]}, "cash has 2 values for 3 players"),
    ({"cash": [1, 2, 3, 4]}, "cash has 4 values for 3 players"),
    ({"cash": {0: -1}}, "cash=-1 must be a whole number"),
    ({"cash": {0: 2**31}}, "cash=2147483648"),
    ({"cash": {0: 1.5}}, "cash=1.5"),
    ({"cash": {0: True}}, "cash=True"),
    ({"cash": {0: "1500"}}, "cash='1500'"),
    ({"cash": {3: 1}}, "cash: seat 3"),
    ({"pot": -1}, "pot=-1"),
    ({"positions": {0: 40}}, "positions=40 must be a whole number from 0 to 39"),
    ({"positions": {0: -1}}, "positions=-1"),
    ({"positions": [0, 1]}, "positions has 2 values for 3 players"),
    ({"jail": {0: 3}}, "jail: failed throws 3 must be a whole number from 0 to 2"),
    ({"jail": {0: -1}}, "jail: failed throws -1"),
    ({"jail": {3: 0}}, "jail: seat 3"),
    ({"rules": me.Rules(jail_turns=1), "jail": {0: 1}}, "from 0 to 0"),
    ({"jail_cards": {0: ["chanse"]}}, "unknown deck 'chanse'. Did you mean 'chance'"),
    ({"jail_cards": {0: ["chance"], 1: ["chance"]}}, "card of the chance deck is held twice"),
    ({"jail_cards": {0: ["chance", "chance"]}}, "The jail card of the chance deck is held twice"),
    ({"jail_cards": {5: ["chance"]}}, "jail_cards: seat 5"),
    # Who plays.
    ({"turn": 3}, "turn: seat 3 must be a whole number from 0 to 2"),
    ({"turn": None}, "turn: seat None"),
    ({"turn": 1, "bankrupt": [1]}, "Seat 1 is on turn but has left the game"),
    ({"bankrupt": [1, 2]}, "Fewer than two players are left"),
    ({"bankrupt": [1, 1]}, "Seat 1 is listed twice as bankrupt"),
    ({"bankrupt": [3]}, "bankrupt: seat 3"),
    ({"bankrupt": [1], "lots": {1: ["Boardwalk"]}}, "Seat 1 has left the game but owns something"),
    ({"bankrupt": [1], "jail_cards": {1: ["chance"]}}, "has left the game but owns something"),
    ({"streak": 3}, "streak=3 must be a whole number from 0 to 2"),
    ({"streak": -1}, "streak=-1"),
    # What comes next.
    ({"throws": [(0, 1)]}, "throw: die 0 must be a whole number from 1 to 6"),
    ({"throws": [(1, 7)]}, "throw: die 7"),
    ({"throws": [(1, 2, 3)]}, "A throw is two dice, not (1, 2, 3)"),
    ({"throws": [5]}, "A throw is two dice, not 5"),
    ({"throws": [(1, 2)] * 17}, "17 throws are forced; a record holds at most 16"),
    ({"chance": ["inherit"]}, "The chance deck has no card 'inherit'"),
    ({"chance": ["dividnd"]}, "Did you mean 'dividend'"),
    ({"community_chest": ["chairman"]}, "The community_chest deck has no card 'chairman'"),
    ({"chance": ["dividend", "dividend"]}, "The card 'dividend' is forced twice or held by a"),
    ({"chance": ["goojf"], "jail_cards": {0: ["chance"]}}, "'goojf' is forced twice or held by"),
    (
        {"rules": me.Rules(deck="reshuffle_each_draw"), "chance": ["dividend"]},
        "Cards cannot be forced with deck='reshuffle_each_draw'",
    ),
]


@pytest.mark.parametrize(("contents", "reason"), REFUSED, ids=[reason for _, reason in REFUSED])
def test_inconsistent_positions_are_refused_with_the_reason(
    contents: dict[str, Any], reason: str
) -> None:
    with pytest.raises(me.PositionError) as refused:
        me.position(**({"num_players": 3} | contents))
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("contents", "error", "message"),
    [
        ({"num_players": 1}, me.ConfigurationError, "2 to 8"),
        ({"num_players": 9}, me.ConfigurationError, "2 to 8"),
        ({"num_players": "3"}, me.ConfigurationError, "num_players='3'"),
        ({"seed": -1}, me.ConfigurationError, "seed=-1"),
        ({"rules": "oficial"}, me.RulesError, "Did you mean 'official'"),
        ({"rules": None}, me.RulesError, "not None"),
    ],
)
def test_wrong_tables_are_refused(
    contents: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        me.position(**contents)


# --- other futures


def test_force_gives_a_copy_another_future() -> None:
    game = land(20, (2, 3), seed=3)
    before = game.tobytes()
    forced = me.force(
        game, throws=[(1, 1), (6, 6)], chance=["chairman"], community_chest=["doctor"]
    )
    assert game.tobytes() == before
    assert forced.forced_throws[:3].tolist() == [11, 66, 0]
    assert forced.num_forced == 2
    assert cards.CARD_ID[0][0][forced.deck[0, forced.deck_next[0]]] == "chairman"
    assert cards.CARD_ID[0][1][forced.deck[1, forced.deck_next[1]]] == "doctor"
    me.check(forced)


def test_forced_cards_come_next_in_the_middle_of_a_deck() -> None:
    game = land(7, chance=["dividend", "building_loan"])
    assert game.deck_next[0] == 1
    forced = me.force(game, chance=["speeding", "dividend"])
    upcoming = [cards.CARD_ID[0][0][card] for card in forced.deck[0]]
    assert upcoming[:3] == ["speeding", "dividend", "building_loan"]
    assert len(set(upcoming)) == 16


def test_force_replaces_the_throws_that_were_forced() -> None:
    game = table(throws=[(1, 2), (3, 4)])
    assert me.force(game, throws=[(5, 6)]).num_forced == 1
    assert me.force(game, throws=[(5, 6)]).forced_throws.tolist() == [56] + [0] * 15
    assert me.force(game).tobytes() == game.tobytes()


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ({"throws": [(0, 0)]}, "die 0"),
        ({"throws": [(1, 1)] * 17}, "17 throws"),
        ({"chance": ["nothing"]}, "has no card 'nothing'"),
        ({"community_chest": ["doctor", "doctor"]}, "forced twice"),
    ],
)
def test_impossible_futures_are_refused_without_a_trace(what: dict[str, Any], reason: str) -> None:
    game = table()
    before = game.tobytes()
    with pytest.raises(me.PositionError, match=reason):
        me.force(game, **what)
    assert game.tobytes() == before
