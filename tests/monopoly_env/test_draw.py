"""A game as a picture: every square, player and token is there, and says what it is.

The file is well formed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

import monopoly_env as me
from monopoly_env import monopoly_v0
from monopoly_env.facts.board import NUM_SQUARES, SQUARE_NAME
from monopoly_env.game import Game
from monopoly_env.render import raster
from monopoly_env.render.svg import PLAYER_COLOURS
from tests.play import offer

SVG = "{http://www.w3.org/2000/svg}"


def elements(game: Game) -> dict[str, ET.Element]:
    return {
        element.get("id", ""): element
        for element in ET.fromstring(str(me.draw(game))).iter()
        if element.get("id")
    }


def title(element: ET.Element) -> str:
    found = element.find(f"{SVG}title")
    assert found is not None
    return found.text or ""


def words(element: ET.Element) -> str:
    return " ".join(text.text or "" for text in element.iter(f"{SVG}text"))


@pytest.mark.parametrize("edition", me.Rules().presets())
@pytest.mark.parametrize("players", [2, 8])
def test_every_square_player_and_token_is_drawn(edition: str, players: int) -> None:
    game = me.new_game(players, edition, seed=3)
    drawn = elements(game)
    names = SQUARE_NAME[int(game.rules.board)]
    assert all(
        title(drawn[f"square-{square}"]).startswith(names[square]) for square in range(NUM_SQUARES)
    )
    assert all(
        f"player-{letter}" in drawn and f"token-{letter}" in drawn
        for letter in "ABCDEFGH"[:players]
    )
    assert "token-" + "ABCDEFGHI"[players] not in drawn


def test_owners_buildings_and_mortgages_are_told_in_words() -> None:
    lots = {0: ["Park Place", "Boardwalk"], 1: ["Electric Company"]}
    game = me.position(
        2,
        lots=lots,
        buildings={"Boardwalk": 5, "Park Place": 4},
        mortgaged=["Electric Company"],
        jail={1: 2},
    )
    drawn = elements(game)
    assert title(drawn["square-39"]) == "Boardwalk: owned by A, hotel"
    assert title(drawn["square-37"]) == "Park Place: owned by A, 4 houses"
    assert title(drawn["square-12"]) == "Electric Company: owned by B, mortgaged"
    assert title(drawn["square-1"]) == "Mediterranean Avenue: for sale at $60"
    assert "HOTEL" in words(drawn["square-39"])
    assert "B mortgaged" in words(drawn["square-12"])
    assert "in jail, 2 failed throws" in title(drawn["player-B"])


def test_an_offer_is_told() -> None:
    game = me.position(2, lots={0: ["Boardwalk"], 1: ["Park Place"]})
    offer(game, 1, ask=["Park Place"], give=["Boardwalk"], cash=25)
    assert "A offers B Boardwalk and $25 for Park Place." in words(elements(game)["question"])


def test_drawing_does_not_change_the_game_and_is_the_same_each_time() -> None:
    game = me.new_game(4, "official", seed=9)
    before = me.digest(game)
    assert str(me.draw(game)) == str(me.draw(game)) == me.draw(game)._repr_svg_()
    assert me.digest(game) == before


def test_whole_games_are_drawn_to_their_end() -> None:
    generator = np.random.default_rng(5)
    game = me.new_game(3, "short", seed=5)
    while not me.is_over(game):
        if generator.random() < 0.02:
            ET.fromstring(str(me.draw(game)))
        me.step(game, int(generator.choice(me.legal_actions(game))))
    assert "The game is over" in words(elements(game)["question"])


def test_saved_pictures(tmp_path: Path) -> None:
    drawing = me.draw(me.new_game(2))
    drawing.save(tmp_path / "game.svg")
    assert (tmp_path / "game.svg").read_text() == drawing.svg
    drawing.save(tmp_path / "game.png", width=366)
    with Image.open(tmp_path / "game.png") as image:
        assert image.size == (366, 366)
    with pytest.raises(
        me.ConfigurationError, match=r"saved to a \.svg or \.png file, not to .*game\.bmp"
    ):
        drawing.save(tmp_path / "game.bmp")
    with pytest.raises(me.ConfigurationError, match=r"width=50 must be .* from 64 to 4,096"):
        drawing.save(tmp_path / "small.png", width=50)
    assert not (tmp_path / "small.png").exists()


def test_pixels_show_colours_and_text() -> None:
    """Text is there on a machine without fonts too: the font comes with a library."""
    game = me.position(2, lots={0: ["Boardwalk"]}, positions={0: 39})
    seen = raster.pixels(str(me.draw(game)))
    assert seen.shape == (732, 732, 3)
    assert seen.dtype == np.uint8
    blue = list(bytes.fromhex(PLAYER_COLOURS[0][1:]))
    assert (seen[625, 640] == blue).all()  # the strip of player A, who owns Boardwalk
    turn = seen[125:150, 124:190]  # "Turn 1"
    assert 0.1 < (turn.mean(axis=2) < 128).mean() < 0.5


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    raster.libraries.cache_clear()
    try:
        with pytest.raises(
            me.ConfigurationError, match=r"pip install 'monopoly-env\[pictures\]' \(.*resvg_py"
        ):
            me.draw(me.new_game(2)).save("game.png")
        with pytest.raises(
            me.RenderModeError, match=r"rgb_array.*pip install .monopoly-env\[pictures\]"
        ):
            monopoly_v0.env(2, render_mode="rgb_array")
    finally:
        raster.libraries.cache_clear()


@pytest.mark.parametrize("given", [None, 3, "game", np.zeros(2)])
def test_what_is_no_game_is_refused(given: Any) -> None:
    with pytest.raises(me.MonopolyError):
        me.draw(given)
