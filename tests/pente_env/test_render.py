"""Text and pictures of a game."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import pente_env as pe
from monopoly_env.errors import ConfigurationError
from monopoly_env.render import raster

BOARD = ["1......", ".......", "..2....", "...13..", ".......", ".......", "......2"]
TEXT = """ 7 X . . . . . .
 6 . . . . . . .
 5 . . O . . . .
 4 . . . X # . .
 3 . . . . . . .
 2 . . . . . . .
 1 . . . . . . O
   A B C D E F G
Taken: X 4, O 0, # 2. Move 11. # to move."""


def test_text() -> None:
    game = pe.position(BOARD, 2, [4, 0, 2], 3)
    assert pe.to_text(game) == TEXT
    pe.step(game, 47)
    assert " 1 . . . . .(#)O" in pe.to_text(game)
    pe.step(game, 6)
    assert " 7 X . . . . .(X)\n" in pe.to_text(game)


@pytest.mark.parametrize(
    ("board", "moves", "words"),
    [
        (["1111...", *["......."] * 6], [4], "X wins by five."),
        (["122....", *["......."] * 6], [3], "X wins by pairs."),
        (["122.111", "....1..", "...1...", "..1....", *["......."] * 3], [3], "X wins by pairs."),
        (
            ["1122112", "2211221", "1122112", "2211221", "1122112", "2211221", "112211."],
            [48],
            "nobody wins",
        ),
    ],
)
def test_how_it_ended(board: list[str], moves: list[int], words: str) -> None:
    game = pe.position(board, 0, [8, 0], 2)
    for point in moves:
        pe.step(game, point)
    assert words in pe.to_text(game).splitlines()[-1]


def test_picture(tmp_path: Path) -> None:
    game = pe.position(BOARD, 2, [4, 0, 2], 3)
    pe.step(game, 47)
    root = ET.fromstring(str(pe.draw(game)))
    space = "{http://www.w3.org/2000/svg}"
    titles = {group.get("id"): group.findtext(f"{space}title") for group in root.iter(f"{space}g")}
    assert titles == {
        "point-0": "A7: X", "point-16": "C5: O", "point-24": "D4: X", "point-25": "E4: #",
        "point-47": "F1: #", "point-48": "G1: O",
    }  # fmt: skip
    assert len(list(root.iter(f"{space}circle"))) == 7  # the last one is marked
    assert root.findtext(f"{space}desc") == "Taken: X 4, O 0, # 2. Move 12. X to move."
    pe.draw(game).save(tmp_path / "game.svg")
    assert (tmp_path / "game.svg").read_text(encoding="utf-8") == str(pe.draw(game))
    with pytest.raises(ConfigurationError, match=r"\.svg or \.png"):
        pe.draw(game).save(tmp_path / "game.gif")
    pe.draw(game).save(tmp_path / "new" / "game.svg")
    assert (tmp_path / "new" / "game.svg").exists()
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(ConfigurationError, match="Cannot write"):
        pe.draw(game).save(tmp_path / "folder.svg")


@pytest.mark.skipif(not raster.installed(), reason="needs the extra pictures")
def test_pixels(tmp_path: Path) -> None:
    pe.draw(pe.new_game(3, "box")).save(tmp_path / "game.png")
    assert (tmp_path / "game.png").read_bytes().startswith(b"\x89PNG")
