"""Games from Python: start, set up, step, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pente_env as pe
from monopoly_env.errors import (
    ConfigurationError,
    GameOverError,
    IllegalActionError,
    MonopolyError,
    PositionError,
    RulesError,
)
from pente_env import core
from pente_env.rules import PRESETS
from tests.programs import python

EMPTY = ["......."] * 7


def test_a_game() -> None:
    game = pe.new_game(2)
    for point in (24, 0, 25, 1, 26, 2, 27, 4, 23):
        assert not pe.is_over(game)
        pe.step(game, point)
    assert (pe.winner(game), pe.ending(game), int(game.moves)) == (0, "five", 9)
    assert pe.legal_actions(game).tolist() == []
    with pytest.raises(GameOverError, match="five"):
        pe.step(game, 40)


@pytest.mark.parametrize(
    ("point", "words"), [(24, "stone is there"), (49, "points 0 to 48"), (-1, "word for none")]
)
def test_an_illegal_point_changes_nothing(point: int, words: str) -> None:
    game = pe.step(pe.new_game(3), 24)
    before = pe.digest(game)
    with pytest.raises(IllegalActionError, match=words):
        pe.step(game, point)
    assert pe.digest(game) == before


def test_the_opening_rule_is_named() -> None:
    with pytest.raises(IllegalActionError, match=r"'centre' does not allow it yet\. Legal: D4\."):
        pe.step(pe.new_game(), 0)


@pytest.mark.parametrize("action", [1.5, "D4", None, True, np.array([3, 4])])
def test_an_action_is_a_whole_number(action: Any) -> None:
    with pytest.raises(ConfigurationError, match="whole number"):
        pe.step(pe.new_game(), action)


@pytest.mark.parametrize("players", [1, 4, 8, 2.0, True, None, "2"])
def test_a_table_of_four(players: Any) -> None:
    with pytest.raises(ConfigurationError, match="whole number from 2 to 3"):
        pe.new_game(players)


@pytest.mark.parametrize("seed", [-1, 1 << 64, 0.5, "x", True])
def test_seeds(seed: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"0 to 2\*\*64 - 1"):
        pe.new_game(seed=seed)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"size": 4}, ["size=4", "5 to 19"]),
        ({"size": 20}, ["size=20", "5 to 19"]),
        ({"size": 7.0}, ["size=7.0", "5 to 19"]),
        ({"sise": 7}, ["'sise'", "'size'"]),
        ({"opening": "center"}, ["'center'", "'centre'"]),
        ({"overlines": True}, ["True", "win, nothing"]),
        ({"size": 6, "opening": "g_pente"}, ["'g_pente'", "size=7"]),
    ],
)
def test_wrong_rules(options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(RulesError) as raised:
        pe.Rules(**options)
    assert [word for word in words if word not in str(raised.value)] == []


@pytest.mark.parametrize("name", PRESETS)
def test_presets(name: str) -> None:
    rules = pe.Rules.preset(name)
    game = pe.new_game(2, name)
    assert pe.Rules.from_record(game.rules) == rules
    assert rules.changed() == PRESETS[name]
    assert pe.stones(game).shape == (rules.size, rules.size)


def test_unknown_presets() -> None:
    with pytest.raises(RulesError, match="'keryo'"):
        pe.new_game(2, "kerio")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"board": EMPTY[:6]}, "no stone|lines of"),
        ({"board": [*EMPTY[:6], "......"]}, "7 lines of 7 points"),
        ({"board": [*EMPTY[:6], "...3..."]}, "Row 6, column 3: '3' is no stone"),
        ({"board": None}, "must be lines of text, .* not None"),
        ({"board": [None] * 7}, "must be lines of text"),
        ({"board": EMPTY, "captured": 2}, "captured must be whole numbers, .* not 2"),
        ({"board": EMPTY, "player": 2}, "player=2 must be a whole number from 0 to 1"),
        ({"board": EMPTY, "captured": [10, 0]}, "0 to 9"),
        ({"board": EMPTY, "captured": [3, 0]}, "pairs: 3 is odd"),
        ({"board": EMPTY, "captured": [0, 0, 0]}, "3 numbers for 2 seats"),
        ({"board": ["1111122", *EMPTY[1:]]}, "five in a row"),
        ({"board": ["1212121", "1212121", "2121212"] * 2 + ["1212121"]}, "no point is empty"),
    ],
)
def test_wrong_positions(given: dict[str, Any], words: str) -> None:
    given = {"rules": "schrum"} | given
    with pytest.raises(PositionError, match=words):
        pe.position(**given)


@pytest.mark.parametrize("seeds", [5, None, np.array(5)], ids=repr)
def test_seeds_are_a_sequence(seeds: Any) -> None:
    with pytest.raises(
        ConfigurationError, match="Seeds must be a sequence with one whole number per game"
    ):
        core.new_games(seeds)


def test_five_is_not_won_where_six_is_asked_not_to_be() -> None:
    rules = pe.Rules(overlines="nothing", opening="free")
    game = pe.position(["111.11.", *EMPTY[1:]], rules=rules)
    assert pe.points(game, 0, "fives").tolist() == []
    assert pe.ending(pe.step(game, 3)) == "none"


def test_keryo_takes_three() -> None:
    game = pe.position(["1222...", *EMPTY[1:]], rules=pe.Rules(captures="keryo"))
    assert pe.takes(game, 0, 4) == 3
    assert pe.stones(pe.step(game, 4))[0].tolist() == [1, 0, 0, 0, 1, 0, 0]
    assert pe.ending(game) == "none"
    game = pe.position(["1222...", *EMPTY[1:]], captured=[12, 0], rules=pe.Rules(captures="keryo"))
    assert pe.ending(pe.step(game, 4)) == "pairs"


@pytest.mark.parametrize("size", [5, 7, 19])
def test_names_of_points(size: int) -> None:
    names = [pe.name_of(point, size) for point in range(size * size)]
    assert len(set(names)) == size * size
    assert [pe.parse(name.lower(), size) for name in names] == list(range(size * size))
    assert names[0] == f"A{size}"
    assert not any("I" in name for name in names)


@pytest.mark.parametrize("text", ["", "D", "H4", "D8", "D0", "4D", "I3", None])
def test_what_is_no_point(text: Any) -> None:
    with pytest.raises(ConfigurationError, match="A1 to G7"):
        pe.parse(text, 7)


def test_what_is_no_game() -> None:
    for wrong in (None, np.zeros(1), core.new_games([1, 2])):
        with pytest.raises(ConfigurationError, match=r"pente_env\.GAME"):
            pe.step(wrong, 24)
    with pytest.raises(ConfigurationError, match="'captures'"):
        pe.points(pe.new_game(), 0, "capture")
    with pytest.raises(ConfigurationError, match="from 0 to 1"):
        pe.points(pe.new_game(), 2, "captures")
    for seat, point in ((2, 24), (-1, 24), (0, 49), (0, -1), (0, 10**12), (0, 2.0)):
        with pytest.raises(ConfigurationError, match=f"={seat or point}"):
            pe.takes(pe.new_game(), seat, point)  # type: ignore[arg-type]


def test_errors_are_those_of_the_project() -> None:
    exported = {name for name in pe.__all__ if name.endswith("Error")}
    assert exported >= {
        error.__name__
        for error in (
            ConfigurationError,
            GameOverError,
            IllegalActionError,
            PositionError,
            RulesError,
        )
    }
    assert all(issubclass(getattr(pe, name), MonopolyError) for name in exported)


PROGRAM = """
import hashlib
import numpy as np
import pente_env as pe
from pente_env import loop

told = hashlib.sha256()
for size, players, captures in ((7, 2, "pairs"), (8, 3, "keryo"), (5, 3, "pairs")):
    made = [pe.make("capturer", ties="random"), pe.make("blocker"), pe.make("better"), pe.make("simple"), pe.make("random")]
    seats = [[(game + seat * (1 + game // 5)) % 5 for seat in range(players)] for game in range(5)]
    told.update(loop.play_games(loop.Table.of(made), seats, range(5), pe.Rules(size=size, captures=captures), threads=1).tobytes())
print(told.hexdigest())
"""  # noqa: E501


@pytest.mark.slow
def test_plain_python_plays_the_same_games(tmp_path: Path) -> None:
    digests = set()
    for plain in ("0", "1"):
        variables = {
            **os.environ,
            "NUMBA_DISABLE_JIT": plain,
            "PYTHONPATH": str(Path(pe.__file__).parents[1]),
        }
        # an overflow in plain Python is one
        command = [sys.executable, "-W", "error::RuntimeWarning", "-c", PROGRAM]
        done = subprocess.run(
            command, env=variables, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        digests.add(done.stdout)
    assert len(digests) == 1


def test_importing_compiles_nothing() -> None:
    program = (
        "import sys, pente_env; from pente_env import core; print(core._put.signatures, 'torch' in"
        " sys.modules)"
    )
    done = python("-c", program, MONOPOLY_ENV_COMPILED=0)  # Numba knows what it has compiled
    assert done.stdout.split() == ["[]", "False"]


@pytest.mark.parametrize("extreme", [min, max])
@pytest.mark.parametrize("field", [name for name in pe.GAME.names or () if name != "spare"])
def test_every_field_has_a_range(field: str, extreme: Callable[..., Any]) -> None:
    game = pe.position(["......."] * 5 + ["..12...", "......."])
    numbers = core.batch_of(game)[field]
    numbers = numbers.view(np.int16) if field == "rules" else numbers
    limits = np.iinfo(numbers.dtype)
    numbers[...] = extreme(limits.min, limits.max)
    before = game.tobytes()
    with pytest.raises(PositionError, match="Invalid record"):
        core.step(game, 0)
    assert game.tobytes() == before
