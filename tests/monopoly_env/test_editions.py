"""Editions of one's own: a folder that `MONOPOLY_ENV_EDITIONS` names.

They are read at import, so each test imports in another process.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import monopoly_env as me
from monopoly_env import replays
from monopoly_env.facts.editions import DATA, EDITION_NAMES, VARIABLE
from tests.programs import python

DARK_BLUE = "39,Boardwalk,street,dark_blue,400,200,200,50,"
SEASIDE = '[seaside]\ntitle = "Seaside"\nboard = "board.csv"\n'


def seaside(folder: Path) -> Path:
    """The US board with one other lot: Ocean Drive, for 500 dollars."""
    folder.mkdir()
    text = (DATA / "board_us.csv").read_text(encoding="utf-8")
    assert DARK_BLUE in text
    (folder / "board.csv").write_text(
        text.replace(DARK_BLUE, "39,Ocean Drive,street,dark_blue,500,250,200,60,"), encoding="utf-8"
    )
    (folder / "editions.toml").write_text(SEASIDE)
    return folder


def run(program: str, folder: Path | None, *arguments: Path, status: int = 0) -> Any:
    """Run a program in plain Python, with the editions of a folder."""
    variables = {"NUMBA_DISABLE_JIT": 1, VARIABLE: folder or ""}
    return python("-c", program, *arguments, status=status, **variables)


PLAY = """
import json, sys
import numpy as np
import monopoly_env as me
from monopoly_env import actions, replays
from monopoly_env.testing import check_rules

rules = me.Rules(board="seaside")
assert me.Rules.preset("seaside") == rules
check_rules(rules, num_players=[3], games=1, decisions=150)
at_sea = {"positions": {0: 37}, "throws": [(1, 1)]}
game = me.position(2, rules, **at_sea)
me.step(game, actions.parse("buy", game))
visited = me.position(2, rules, lots={1: ["Ocean Drive"]}, **at_sea)
me.step(visited, actions.parse("go on", visited))
text = me.to_text(me.position(2, rules, **at_sea))
replays.save(sys.argv[1], [replays.Replay(rules, 0, 2, ("one", "two"), np.zeros(0, np.uint8))])
print(json.dumps({"cash": int(game.cash[0]), "rent": int(visited.cash[1]) - 1500, "text": text}))
"""


def test_a_game_on_a_board_of_ones_own(tmp_path: Path) -> None:
    done = run(PLAY, seaside(tmp_path / "town"), tmp_path / "game.json")
    told = json.loads(done.stdout)
    assert (told["cash"], told["rent"]) == (1000, 60)
    assert "Ocean Drive is for sale at $500." in told["text"]
    with pytest.raises(me.MonopolyError, match="board='seaside' is unknown"):
        replays.load(tmp_path / "game.json")


@pytest.mark.slow
def test_the_tutorial(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "tutorials" / "rules.md"
    blocks = re.findall(r"```(python|sh)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    (_, program), (_, commands) = (block for block in sorted(blocks) if "my_town" in block[1])
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    variables = os.environ | {"NUMBA_DISABLE_JIT": "1", "PATH": path}
    python("-c", program, folder=tmp_path)
    command = ["bash", "-ec", commands]
    assert "Ocean Drive" in subprocess.check_output(command, cwd=tmp_path, env=variables, text=True)


def test_compiled_code_of_another_folder_is_not_reused(tmp_path: Path) -> None:
    program = (
        "from monopoly_env.kernels.sources import source_hash\n"
        "print(source_hash('monopoly_env.core'))"
    )
    folder = seaside(tmp_path / "town")
    hashes = [run(program, where).stdout for where in (None, folder)]
    (folder / "board.csv").write_text(
        (folder / "board.csv").read_text().replace("Ocean Drive", "Sea Drive")
    )
    hashes.append(run(program, folder).stdout)
    assert all(hashes)
    assert len(set(hashes)) == 3


def replaced(file: str, old: str, new: str, count: int = 1) -> Callable[[Path], None]:
    """A change of a file; a file of cards is copied first."""

    def change(folder: Path) -> None:
        path = folder / file
        if file == "cards.csv":
            path.write_text(
                (DATA / file).read_text(encoding="utf-8").replace("us,", "mine,"), encoding="utf-8"
            )
            (folder / "editions.toml").write_text(SEASIDE + 'deck = "mine"\n')
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, count), encoding="utf-8")

    return change


def all_cards_move(folder: Path) -> None:
    """All cards of a deck but the one out of jail lead to a square where another is drawn."""
    replaced("cards.csv", "mine", "mine")(folder)
    path = folder / "cards.csv"
    rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
    moved = [
        [*row[:4], "move_to", "7", *row[6:]] if row[1] == "chance" and row[3] != "goojf" else row
        for row in rows
    ]
    path.write_text("\n".join(map(",".join, moved)), encoding="utf-8")


board, cards, listed = (
    partial(replaced, file) for file in ("board.csv", "cards.csv", "editions.toml")
)
# What the error says, and the change that causes it.
WRONG: list[tuple[str, Callable[[Path], object]]] = [
    (
        "must be a folder",
        lambda folder: [path.unlink() for path in folder.iterdir()] and folder.rmdir(),
    ),
    ("Cannot read", lambda folder: (folder / "editions.toml").unlink()),
    ("is no TOML", listed("]", "")),
    ("'uk', is taken", listed("seaside", "uk")),
    ("must be small letters", listed("[seaside]", '["my town"]')),
    ("Did you mean 'board'?", listed("board =", "bord =")),
    ("seaside needs a title", listed('title = "Seaside"', "")),
    ("must be a table of texts", listed('"Seaside"', "7")),
    ("must be a file beside it", listed("board.csv", "../board.csv")),
    ("Cannot read", lambda folder: (folder / "board.csv").unlink()),
    ("no cards of the deck 'mine'", listed("title", 'deck = "mine"\ntitle')),
    ("there are 39 rows", board("20,Free Parking,free_parking,,,,,,,,,,,,,,,,,,\n", "")),
    ("Did you mean 'chance'?", board("Chance,chance", "Chance,chanse")),
    ("square 10, and no other, must be of the kind 'jail'", board("free_parking", "jail")),
    ("the lots must be 2 brown", board("Ocean Drive,street,dark_blue", "Ocean Drive,street,green")),
    ("'Ocean Drive' is another lot's name", board("Park Place", "Ocean Drive")),
    ("'Oriental Avenue' is another lot's name", board("Ocean Drive", "Oriental Avenue")),
    ("'' is no name", board("Ocean Drive", "")),
    ("Ocean Drive, price: 0 must be a whole number from 1", board("dark_blue,500", "dark_blue,0")),
    ("Ocean Drive, price: 'much' must be", board("dark_blue,500", "dark_blue,much")),
    ("must be a whole number from 1 to 100,000", board("dark_blue,500", "dark_blue,99999999999")),
    ("from 0 to 500", board("dark_blue,500,250", "dark_blue,500,501")),
    ("Ocean Drive, rent_base: '' must be", board("500,250,200,60", "500,250,200,")),
    ("must be the same for all streets of a group", board("500,250,200", "500,250,100")),
    ("the chance deck has 15 cards", cards("mine,chance,1,", "theirs,chance,1,")),
    ("Did you mean 'move_to'?", cards("advance_go,move_to,", "advance_go,move_too,")),
    ("target_index: 40 must be", cards("advance_go,move_to,0", "advance_go,move_to,40")),
    ("one card out of jail", cards("advance_go,move_to", "advance_go,get_out_of_jail_free")),
    ("needs different ids", cards("advance_illinois", "advance_go")),
    ("two cards or more must move nobody", all_cards_move),
    ("column 'label_2030'", listed("title", 'label = "label_2030"\ntitle')),
]

# Import the tables anew for each folder, and tell what was wrong with it.
IMPORT = f"""
import importlib, json, os, sys
import monopoly_env as me

told = []
for folder in sys.argv[1:]:
    os.environ[{VARIABLE!r}] = folder
    for name in ("editions", "board", "cards"):
        sys.modules.pop("monopoly_env.facts." + name, None)
    try:
        for name in ("editions", "board", "cards"):
            importlib.import_module("monopoly_env.facts." + name)
        told.append("")
    except me.MonopolyError as error:
        told.append(str(error))
print(json.dumps(told))
"""


def test_an_edition_with_the_name_of_a_preset_is_refused(tmp_path: Path) -> None:
    folder = seaside(tmp_path / "town")
    replaced("editions.toml", "seaside", "short")(folder)
    refused = run("import monopoly_env", folder, status=1).stderr
    assert "The edition 'short' has the name of a preset" in refused


def test_a_folder_with_a_fault_is_refused_with_the_reason(tmp_path: Path) -> None:
    folders = [seaside(tmp_path / str(number)) for number in range(len(WRONG) + 1)]
    for folder, (_, change) in zip(folders[1:], WRONG, strict=True):
        change(folder)
    sound, *told = json.loads(run(IMPORT, None, *folders).stdout)
    assert sound == ""
    said = zip((expected for expected, _ in WRONG), told, strict=True)
    assert [pair for pair in said if pair[0] not in pair[1]] == []


def test_without_a_folder_there_are_ours() -> None:
    assert EDITION_NAMES == ("us_2008", "us_pre2008", "uk")
