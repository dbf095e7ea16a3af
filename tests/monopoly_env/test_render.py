"""The board as text, and games told in words."""

from __future__ import annotations

import re
from typing import Any

import pytest

import monopoly_env as me
from monopoly_env import actions
from monopoly_env.facts.board import LOT_NAME, SQUARE_NAME
from monopoly_env.render import narrate, text
from tests.play import act, land

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def tell(game: Any, *chosen: str) -> list[str]:
    """Take actions, named as `describe` names them, and listen."""
    lines = []
    for choice in chosen:
        named = {actions.describe(action, game): action for action in me.legal_actions(game)}
        lines += narrate.step(game, named[choice])
    return lines


# --- the board


def square(picture: str, name: str) -> tuple[str, str]:
    """The two lines of the square whose name begins so."""
    lines = picture.splitlines()
    row = next(i for i, line in enumerate(lines) if f"|{name}" in line)
    column = lines[row].index(f"|{name}") + 1
    return lines[row][column : column + 6], lines[row + 1][column : column + 6]


@pytest.mark.parametrize("num_players", range(2, 9))
@pytest.mark.parametrize("rules", ["official", "uk"])
def test_a_picture_fits_a_terminal(num_players: int, rules: str) -> None:
    game = me.new_game(num_players, rules)
    lines = text.board(game, colour=False).splitlines()
    assert len(lines) == 34
    assert {len(line) for line in lines} == {78}
    assert ESCAPES.sub("", text.board(game)).splitlines() == lines
    names = [text.short_name(name) for name in SQUARE_NAME[int(game.rules.board)]]
    assert all(any(name in line for line in lines) for name in names)


def test_squares_show_owner_buildings_mortgage_price_and_tokens() -> None:
    game = me.position(
        3,
        lots={0: ["Park Place", "Boardwalk"], 1: ["Reading Railroad", "Baltic Avenue"]},
        buildings={"Park Place": 4, "Boardwalk": 5},
        mortgaged=["Reading Railroad"],
        positions={0: 5, 1: 39, 2: 1},
    )
    picture = text.board(game, colour=False)
    assert square(picture, "Boardw") == ("Boardw", "AH   B")
    assert square(picture, "ParkPl") == ("ParkPl", "A4    ")
    assert square(picture, "Readin") == ("Readin", "Bm   A")
    assert square(picture, "Baltic") == ("Baltic", "B     ")
    assert square(picture, "Medite") == ("Medite", "$60  C")
    assert square(picture, "Orient") == ("Orient", "$100  ")


def test_a_crowd_and_the_bankrupt() -> None:
    crowd = text.board(me.position(8, lots={0: ["Baltic Avenue"]}), colour=False)
    assert square(crowd, "GO") == ("GO    ", "ABCDE+")
    assert all(f"  {letter}  $1,500" in crowd for letter in "ABCDEFGH")
    left = text.board(
        me.position(3, lots={0: ["Boardwalk"]}, bankrupt=(1,), positions={0: 3, 2: 3}), colour=False
    )
    assert "B  bankrupt, place 3" in left
    assert square(left, "Baltic") == ("Baltic", "$60 AC")


# --- the story


def test_an_illegal_action_is_refused_without_a_trace() -> None:
    game = me.new_game(2)
    before = me.digest(game)
    with pytest.raises(me.IllegalActionError):
        narrate.step(game, actions.parse("accept"))
    assert me.digest(game) == before


def test_rent_is_told() -> None:
    lots = {0: ["Baltic Avenue"], 1: ["Oriental Avenue"]}
    game = me.position(2, lots=lots, positions={0: 3}, throws=[(1, 2)], streak=0)
    lines = tell(game, "go on")
    assert lines[:2] == ["A throws 1 + 2 and moves to Oriental Avenue.", "A pays B $6."]


def test_a_purchase_and_an_auction_are_told() -> None:
    game = land(39, num_players=2)
    assert tell(game, "buy")[:1] == ["A gets Boardwalk and pays $400."]
    game = land(39, num_players=2)
    lines = tell(game, "decline", "bid +50", "bid +10", "fold")
    assert lines[:7] == [
        "A: decline.",
        "Auction: Boardwalk.",
        "B bids $50.",
        "A bids $60.",
        "B: fold.",
        "The auction is closed.",
        "A pays $60.",
    ]
    assert "A gets Boardwalk." in lines


def test_cards_jail_and_buildings_are_told() -> None:
    game = me.position(
        2,
        lots={0: ["Park Place", "Boardwalk"], 1: ["Baltic Avenue"]},
        positions={0: 4},
        throws=[(1, 2)],
        chance=["go_to_jail"],
    )
    assert tell(game, "build Boardwalk") == ["A builds: Boardwalk now has 1 house and pays $200."]
    lines = tell(game, "go on")
    assert lines[:2] == [
        "A throws 1 + 2 and moves to Chance.",
        'A draws from Chance "Go to Jail" and goes to jail.',
    ]
    game = me.position(
        2,
        lots={0: ["Park Place"], 1: ["Baltic Avenue"]},
        positions={0: 4},
        throws=[(1, 2)],
        chance=["goojf"],
    )
    assert 'A draws from Chance "Get Out of Jail Free" and gets the Chance jail card.' in tell(
        game, "go on"
    )


def test_mortgages_and_offers_are_told() -> None:
    game = me.position(2, lots={0: ["Park Place"], 1: ["Boardwalk"]})
    assert tell(game, "mortgage Park Place") == ["A mortgages Park Place and gets $175."]
    assert tell(game, "unmortgage Park Place") == [
        "A lifts the mortgage on Park Place and pays $193."
    ]
    act(
        game,
        "trade with player +1",
        "ask for Boardwalk",
        "ask: done",
        "give Park Place",
        "give: done",
        "give $100",
    )
    assert tell(game, "cash: done") == ["A offers B Park Place and $100 for Boardwalk."]
    lines = tell(game, "accept")
    assert lines[:1] == ["B: accept."]
    assert any("A gets Boardwalk" in line for line in lines)
    assert any("A pays B $100" in line for line in lines)


def test_debt_and_ruin_are_told() -> None:
    owned = {0: ["Baltic Avenue"], 1: ["Park Place", "Boardwalk"]}
    game = me.position(2, lots=owned, cash={0: 80}, positions={0: 36}, throws=[(1, 2)])
    lines = tell(game, "go on")
    assert lines[1:] == [
        "A owes B $100 and must raise cash, mortgages Baltic Avenue and gets $30.",
        "A pays B $100.",
    ]
    game = me.position(
        2,
        lots=owned,
        cash={0: 10},
        buildings={"Boardwalk": 5, "Park Place": 5},
        positions={0: 36},
        throws=[(1, 2)],
    )
    lines = tell(game, "go on")
    assert lines[-2:] == ["The game is over.", "B wins."]
    assert LOT_NAME[0][1] == "Baltic Avenue"
    assert any(line.startswith("B gets Baltic Avenue") for line in lines)
