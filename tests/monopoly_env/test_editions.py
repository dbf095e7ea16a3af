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
from pathlib import Path

import pytest

import monopoly_env as me
from monopoly_env import replays
from monopoly_env.facts.editions import DATA, EDITION_NAMES, VARIABLE

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


def run(program: str, folder: Path | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program in plain Python, with the editions of a folder."""
    variables = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        VARIABLE: "" if folder is None else str(folder),
    }
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


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
    done = run(PLAY, seaside(tmp_path / "town"), str(tmp_path / "game.json"))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["cash"], told["rent"]) == (1000, 60)
    assert "Ocean Drive is for sale at $500." in told["text"]
    with pytest.raises(me.MonopolyError, match="board='seaside' is unknown"):
        replays.load(tmp_path / "game.json")


def test_the_tutorial(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "tutorials" / "rules.md").read_text(
        encoding="utf-8"
    )
    (program,) = [
        block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "my_town" in block
    ]
    (commands,) = [
        block for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if "my_town" in block
    ]
    variables = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    done = subprocess.run(
        ["bash", "-ec", commands],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Ocean Drive" in done.stdout


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


# What is wrong, and what the error says.
WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "no folder": (
        lambda folder: [path.unlink() for path in folder.iterdir()] and folder.rmdir(),
        "must be a folder",
    ),
    "no list": (lambda folder: (folder / "editions.toml").unlink(), "Cannot read"),
    "no TOML": (replaced("editions.toml", "]", ""), "is no TOML"),
    "a name that is taken": (replaced("editions.toml", "seaside", "uk"), "'uk', is taken"),
    "a name with spaces": (
        replaced("editions.toml", "[seaside]", '["my town"]'),
        "must be small letters",
    ),
    "another key": (replaced("editions.toml", "board =", "bord ="), "Did you mean 'board'?"),
    "no title": (replaced("editions.toml", 'title = "Seaside"', ""), "seaside needs a title"),
    "a number": (replaced("editions.toml", '"Seaside"', "7"), "must be a table of texts"),
    "a path": (replaced("editions.toml", "board.csv", "../board.csv"), "must be a file beside it"),
    "no board": (lambda folder: (folder / "board.csv").unlink(), "Cannot read"),
    "no such deck": (
        replaced("editions.toml", "title", 'deck = "mine"\ntitle'),
        "no cards of the deck 'mine'",
    ),
    "a square less": (
        replaced("board.csv", "20,Free Parking,free_parking,,,,,,,,,,,,,,,,,,\n", ""),
        "there are 39 rows",
    ),
    "an unknown kind": (
        replaced("board.csv", "Chance,chance", "Chance,chanse"),
        "Did you mean 'chance'?",
    ),
    "jail elsewhere": (
        replaced("board.csv", "free_parking", "jail"),
        "square 10, and no other, must be of the kind 'jail'",
    ),
    "another group": (
        replaced("board.csv", "Ocean Drive,street,dark_blue", "Ocean Drive,street,green"),
        "the lots must be 2 brown",
    ),
    "a lot's name twice": (
        replaced("board.csv", "Park Place", "Ocean Drive"),
        "'Ocean Drive' is another lot's name",
    ),
    "a name of another lot": (
        replaced("board.csv", "Ocean Drive", "Oriental Avenue"),
        "'Oriental Avenue' is another lot's name",
    ),
    "no name": (replaced("board.csv", "Ocean Drive", ""), "'' is no name"),
    "a price of nothing": (
        replaced("board.csv", "dark_blue,500", "dark_blue,0"),
        "Ocean Drive, price: 0 must be a whole number from 1",
    ),
    "a price in words": (
        replaced("board.csv", "dark_blue,500", "dark_blue,much"),
        "Ocean Drive, price: 'much' must be",
    ),
    "a huge price": (
        replaced("board.csv", "dark_blue,500", "dark_blue,99999999999"),
        "must be a whole number from 1 to 100,000",
    ),
    "a mortgage above the price": (
        replaced("board.csv", "dark_blue,500,250", "dark_blue,500,501"),
        "from 0 to 500",
    ),
    "no rent": (
        replaced("board.csv", "500,250,200,60", "500,250,200,"),
        "Ocean Drive, rent_base: '' must be",
    ),
    "houses of two prices": (
        replaced("board.csv", "500,250,200", "500,250,100"),
        "must be the same for all streets of a group",
    ),
    "a card less": (
        replaced("cards.csv", "mine,chance,1,", "theirs,chance,1,"),
        "the chance deck has 15 cards",
    ),
    "an unknown effect": (
        replaced("cards.csv", "advance_go,move_to,", "advance_go,move_too,"),
        "Did you mean 'move_to'?",
    ),
    "a square that is none": (
        replaced("cards.csv", "advance_go,move_to,0", "advance_go,move_to,40"),
        "target_index: 40 must be",
    ),
    "two cards out of jail": (
        replaced("cards.csv", "advance_go,move_to", "advance_go,get_out_of_jail_free"),
        "one card out of jail",
    ),
    "a card twice": (
        replaced("cards.csv", "advance_illinois", "advance_go"),
        "needs different ids",
    ),
    "no end of moving": (all_cards_move, "two cards or more must move nobody"),
    "a column that is none": (
        replaced("editions.toml", "title", 'label = "label_2030"\ntitle'),
        "column 'label_2030'",
    ),
}

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
    assert (
        "The edition 'short' has the name of a preset" in run("import monopoly_env", folder).stderr
    )


def test_a_folder_with_a_fault_is_refused_with_the_reason(tmp_path: Path) -> None:
    folders = [seaside(tmp_path / str(number)) for number in range(len(WRONG) + 1)]
    for folder, (change, _) in zip(folders[1:], WRONG.values(), strict=True):
        change(folder)
    done = run(IMPORT, None, *map(str, folders))
    assert done.returncode == 0, done.stderr
    sound, *told = json.loads(done.stdout)
    assert sound == ""
    assert {
        what: said
        for (what, (_, expected)), said in zip(WRONG.items(), told, strict=True)
        if expected not in said
    } == {}


def test_without_a_folder_there_are_ours() -> None:
    assert EDITION_NAMES == ("us_2008", "us_pre2008", "uk")
