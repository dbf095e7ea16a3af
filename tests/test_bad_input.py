"""Bad input: every error is one of ours and helps.

It says what was given, what is valid, and the nearest match.

Saved games are in test_core, positions in test_position, command lines beside their modules.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import agents
import monopoly_env as me
from agents import arena
from agents.arena.ratings import Ratings
from monopoly_env import actions, core, encoding, errors, monopoly_v0, replays, rewards
from monopoly_env.envs import vector
from monopoly_env.files import read_file
from tests.programs import python


@pytest.mark.parametrize(
    "error",
    [
        value
        for value in vars(errors).values()
        if inspect.isclass(value) and issubclass(value, Exception)
    ],
)
def test_every_error_is_a_monopoly_error(error: type[Exception]) -> None:
    assert issubclass(error, me.MonopolyError)
    assert getattr(me, error.__name__) is error
    usual = RuntimeError if error in (me.EngineError, me.PolicyError) else ValueError
    # so that whoever does not know ours catches it too
    assert error is me.MonopolyError or issubclass(error, usual)


@pytest.mark.parametrize(
    ("name", "valid", "expected"),
    [
        ("oficial", ["official", "uk"], "Did you mean 'official'? Valid: official, uk."),
        ("zzz", ["official", "uk"], "Valid: official, uk."),
        (None, [1, 2], "Valid: 1, 2."),
        (12, [1, 123], "Did you mean '123'? Valid: 1, 123."),
        ("x", [], "Valid: ."),
    ],
)
def test_hints_name_the_nearest_and_all_that_is_valid(
    name: object, valid: list[object], expected: str
) -> None:
    assert errors.nearest(name, valid) == expected


@pytest.mark.parametrize("value", [0, 5, np.int8(3), np.uint64(4)])
def test_whole_numbers_come_back_as_ints(value: object) -> None:
    number = errors.whole_number("n", value, 0, 5)
    assert type(number) is int
    assert number == value


@pytest.mark.parametrize(
    ("name", "value", "low", "high", "expected"),
    [
        ("n", -1, 0, 5, "n=-1 must be a whole number from 0 to 5."),
        ("n", 6, 0, 5, "n=6 must be a whole number from 0 to 5."),
        ("n", 0, 1, None, "n=0 must be a whole number from 1 on."),
        ("n", 3.0, 0, 5000, "n=3.0 must be a whole number from 0 to 5,000."),
        ("n", True, 0, 5, "n=True must be"),
        ("n", np.True_, 0, 5, "must be a whole number"),
        ("n", np.float64(3), 0, 5, "must be a whole number"),
        ("n", math.nan, 0, 5, "n=nan must be"),
        ("n", None, 0, None, "n=None must be"),
        ("n", "3", 0, 5, "n='3' must be"),
        ("seed", 1 << 64, 0, (1 << 64) - 1, "must be a whole number from 0 to 2**64 - 1."),
        ("throw: die", 7, 1, 6, "throw: die 7 must be a whole number from 1 to 6."),
    ],
)
def test_what_is_no_whole_number_in_range_is_refused(
    name: str, value: object, low: int, high: int | None, expected: str
) -> None:
    with pytest.raises(me.RulesError, match=re.escape(expected)):
        errors.whole_number(name, value, low, high, me.RulesError)


# --- names


def learner(**options: Any) -> Any:
    """The environment of Gymnasium."""
    return gymnasium.make("monopoly_env/Monopoly-v0", **options)


PAIR = ["random", "random"]
# Error, valid names that it tells, and what is called, the name given and the nearest valid one.
MISSPELT: list[tuple[type[me.MonopolyError], tuple[str, ...], dict[str, Any]]] = [
    (
        me.RulesError,
        me.Rules.presets(),
        {
            "preset": (me.Rules.preset, "oficial", "official"),
            "rules of a game": (lambda name: me.new_game(2, name), "ocnaro", "ocnaru"),
            "rules of a vector": (lambda name: me.VectorMonopoly(2, 2, name), "clasic", "classic"),
            "rules in PettingZoo": (lambda name: monopoly_v0.env(2, name), "anytime", "any_time"),
            "rules of an arena": (lambda name: arena.play(PAIR, 2, name), "mukahr", "mukhar"),
        },
    ),
    (
        me.RulesError,
        ("start_cash", "auction"),
        {
            "option": (lambda name: me.Rules.preset("uk", **{name: 1}), "start_csh", "start_cash"),
            "option of from_dict": (
                lambda name: me.Rules.from_dict({name: 1}),
                "actions",
                "auction",
            ),
        },
    ),
    (
        me.RulesError,
        ("sealed_second_price", "none"),
        {"value of an option": (lambda name: me.Rules(auction=name), "englisch", "english")},
    ),
    (
        me.ConfigurationError,
        ("`agents.names()`",),
        {
            "policy": (agents.make, "algoritmic", "algorithmic"),
            "policy of an arena": (lambda name: arena.play([name, "random"], 2), "randm", "random"),
            "opponent": (
                lambda name: me.VectorMonopoly(2, 2, opponents=[name]),
                "random/no_trade",
                "random/no_trades",
            ),
            "opponent in Gymnasium": (
                lambda name: learner(opponents=[name]),
                "algorithm",
                "algorithmic",
            ),
        },
    ),
    (
        me.ConfigurationError,
        encoding.NAMES,
        {
            "encoding": (encoding.make, "standart", "standard"),
            "encoding of names": (encoding.names, "ocnaru10", "ocnaru100"),
            "encoding of a vector": (
                lambda name: me.VectorMonopoly(2, 2, encoding=name),
                "stndard",
                "standard",
            ),
            "encoding in PettingZoo": (lambda name: monopoly_v0.env(encoding=name), "std", ""),
        },
    ),
    (
        me.ConfigurationError,
        rewards.names(),
        {
            "reward": (rewards.make, "networth", "net_worth"),
            "reward of a vector": (
                lambda name: me.VectorMonopoly(2, 2, reward=name),
                "wins",
                "win",
            ),
            "reward in PettingZoo": (lambda name: monopoly_v0.env(reward=name), "ranks", "rank"),
        },
    ),
    (
        me.ConfigurationError,
        actions.HEAD_NAMES,
        {"head": (lambda name: actions.HEADS[name], "bulid", "build")},
    ),
    (
        me.ConfigurationError,
        (),
        {
            "action, from afar": (actions.parse, "raise", ""),
            "action": (actions.parse, "build Bordwalk", "build boardwalk"),
        },
    ),
    (
        me.PositionError,
        ("chance", "community_chest"),
        {"deck": (lambda name: me.position(jail_cards={0: [name]}), "chanse", "chance")},
    ),
    (
        me.PositionError,
        ("Park Place", "Water Works"),
        {"lot": (lambda name: me.position(lots={0: [name]}), "Bordwalk", "Boardwalk")},
    ),
    (
        me.PositionError,
        ("chairman",),
        {"card": (lambda name: me.position(chance=[name]), "dividnd", "dividend")},
    ),
]
CALLS = {what: (e, v, *row) for e, v, rows in MISSPELT for what, row in rows.items()}


@pytest.mark.parametrize("what", CALLS)
def test_unknown_names_are_refused_with_the_nearest(what: str) -> None:
    error, valid, call, given, nearest = CALLS[what]
    with pytest.raises(error) as raised:
        call(given)
    said = str(raised.value)
    assert repr(given) in said
    assert f"Did you mean {nearest!r}" in said if nearest else "Did you mean" not in said
    assert all(name in said for name in valid)


# --- numbers

WRONG_PLAYERS = [0, 1, 9, -2, 2.0, "4", None, True, [4]]
TABLES: dict[str, Callable[[Any], Any]] = {
    "new_game": me.new_game,
    "new_games": lambda players: me.new_games([1], players),
    "position": lambda players: me.position(num_players=players),
    # None: as many as there are opponents
    "VectorMonopoly": lambda players: me.VectorMonopoly(2, 1 if players is None else players),
    "monopoly_v0.env": monopoly_v0.env,
    "encoding.make": lambda players: encoding.make("standard", players),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("players", WRONG_PLAYERS, ids=repr)
def test_wrong_numbers_of_players(table: str, players: Any) -> None:
    with pytest.raises(me.ConfigurationError, match="from 2 to 8"):
        TABLES[table](players)


@pytest.mark.parametrize("seats", [0, 1, 9])
def test_wrong_numbers_of_seats_at_a_table(seats: int) -> None:
    with pytest.raises(me.ConfigurationError, match=f"{seats} must be a whole number from 2 to 8"):
        arena.play(["random"] * seats, 4)
    with pytest.raises(me.ConfigurationError, match=f"{seats} must be a whole number from 2 to 8"):
        arena.round_robin(["random"] * 9, 4, table_size=seats)


def test_opponents_must_fill_the_table() -> None:
    with pytest.raises(me.ConfigurationError, match="2 opponents"):
        me.VectorMonopoly(2, 4, opponents=["random", "random"])
    with pytest.raises(me.ConfigurationError, match="2 to 8"):
        learner(opponents=["random"] * 8)
    with pytest.raises(me.ConfigurationError, match=r"must be a list.*\['random'\]"):
        me.VectorMonopoly(2, 2, opponents="random")


@pytest.mark.parametrize("seat", [-1, 2, 0.0, "first", None, True])
def test_a_learner_sits_at_the_table(seat: Any) -> None:
    with pytest.raises(me.ConfigurationError, match="'random' or a seat from 0 to 1"):
        learner(opponents=["random"], seat=seat)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"start_cash": -1}, "start_cash=-1 must be a whole number from 0 to 1000000"),
        ({"start_cash": 1500.0}, "start_cash=1500.0 must be a whole number"),
        ({"start_cash": True}, "start_cash=True must be a whole number"),
        ({"jail_turns": 0}, "jail_turns=0 must be a whole number from 1 to 10"),
        ({"hotel_after": 5}, "hotel_after=5 must be a whole number from 3 to 4"),
        ({"sell_ratio": 1.5}, "sell_ratio=1.5 must be a number from 0.0 to 1.0"),
        ({"sell_ratio": 0.333}, "sell_ratio=0.333 must be a whole number of percent"),
        ({"sell_ratio": "half"}, "sell_ratio='half' must be a number"),
        ({"sell_ratio": float("nan")}, "sell_ratio=nan must be a number"),
        ({"double_go": 1}, "double_go=1 must be True or False"),
        ({"double_go": "yes"}, "double_go='yes' must be True or False"),
        ({"auction": None}, "auction=None is unknown"),
        ({"auction": 0}, "auction=0 is unknown"),
        ({"auction": ["english"]}, "auction=['english'] is unknown"),
    ],
)
def test_values_of_options(options: dict[str, Any], said: str) -> None:
    with pytest.raises(me.RulesError) as raised:
        me.Rules(**options)
    assert f"Option {said}" in str(raised.value)


@pytest.mark.parametrize(
    "options",
    [
        {"even_build": "whole_group"},
        {"ocnaru_quirks": True},
        {"hotel_direct": True, "even_build": "whole_group", "building_limit": "unlimited"},
        {"start_lots_paid": True, "start_lots": 3, "start_cash": 1199},
        {"debt_trade": True, "liquidation": "houses_then_mortgages"},
        {"jail_pay_turn3": True, "jail_pay_after_throw": True},
        {"window_passes": 2},
        {"window_passes": 2, "build_window": "after_settlement"},
        {"piece_limit": "raisable", "liquidation": "mortgages_hotels_houses"},
    ],
    ids=" ".join,
)
def test_contradictory_options(options: dict[str, Any]) -> None:
    with pytest.raises(me.RulesError, match="Contradictory options: ") as raised:
        me.Rules(**options)
    assert any(name in str(raised.value) for name in options)


@pytest.mark.parametrize(
    "rules",
    [None, 7, ["official"], me.Rules, {7: "none"}, {"auctions": "none"}, {"auction": "nine"}],
)
def test_what_are_no_rules(rules: Any) -> None:
    with pytest.raises(
        me.RulesError,
        match=(
            r"Rules must be a Rules object, the name of a preset or|with their names|Did you mean"
        ),
    ):
        me.new_game(2, rules)


# --- actions


@pytest.fixture(scope="module")
def vec() -> Any:
    vec = me.VectorMonopoly(3, 2, seed=1)
    vec.reset()
    return vec


@contextmanager
def unchanged(vec: Any) -> Iterator[None]:
    """Games and batch are afterwards what they were."""
    games, batch = vec.games.tobytes(), copy.deepcopy(vars(vec.batch))
    yield
    assert vec.games.tobytes() == games
    assert all(np.array_equal(vars(vec.batch)[name], array) for name, array in batch.items())


def legal(vec: Any) -> Any:
    return vec.batch.action_mask.argmax(axis=1)


WRONG_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "too short": lambda good: good[:2],
    "too long": lambda good: np.append(good, good[0]),
    "a column": lambda good: good[:, None],
    "a row": lambda good: good[None],
    "one number": lambda good: good[0],
    "empty": lambda good: good[:0],
    "floats": lambda good: good.astype(float),
    "bools": lambda good: good.astype(bool),
    "text": lambda good: good.astype(str),
    "objects": lambda good: good.astype(object),
    "a list of floats": lambda good: [float(action) for action in good],
    "ragged": lambda good: [[1], [1, 2], 3],
    "none": lambda good: None,
}


@pytest.mark.parametrize("what", WRONG_ARRAYS)
def test_action_arrays_of_wrong_shape_or_dtype(vec: Any, what: str) -> None:
    said = r"actions must be integers of shape \(3,\), one a game, not "
    with unchanged(vec), pytest.raises(me.ConfigurationError, match=said):
        vec.step(WRONG_ARRAYS[what](legal(vec)))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8, np.int32, np.uint64, list])
def test_any_integers_are_actions(dtype: Any) -> None:
    vec = me.VectorMonopoly(3, 2, seed=1)
    other = me.VectorMonopoly(3, 2, seed=1)
    vec.reset()
    other.reset()
    good = legal(vec)
    vec.step(good.tolist() if dtype is list else good.astype(dtype))
    other.step(good)
    assert vec.games.tobytes() == other.games.tobytes()


@pytest.mark.parametrize(
    ("value", "dtype"),
    [*((value, np.int64) for value in (-1, 205, 2**62, -(2**63))), (2**64 - 1, np.uint64)],
)
def test_actions_out_of_range(vec: Any, value: int, dtype: Any) -> None:
    chosen = legal(vec).astype(dtype)
    chosen[1] = value
    said = f"Game 1 of 3: action {value} must be an integer from 0 to 204"
    with unchanged(vec), pytest.raises(me.IllegalActionError, match=said):
        vec.step(chosen)


def test_illegal_actions_name_the_game_and_what_is_legal(vec: Any) -> None:
    chosen = legal(vec)
    chosen[2] = illegal = int(np.flatnonzero(~vec.batch.action_mask[2])[0])
    with unchanged(vec), pytest.raises(me.IllegalActionError) as raised:
        vec.step(chosen)
    said, game = str(raised.value), vec.games[2]
    assert (
        f"Game 2 of 3: Action {illegal} ({actions.describe(illegal, game)!r}) of player"
        f" {game.player}" in said
    )
    assert repr(actions.DECISION_NAMES[game.decision]) in said
    assert actions.describe(int(legal(vec)[2]), game) in said


def test_steps_before_the_beginning_and_after_the_end() -> None:
    vec = me.VectorMonopoly(2, 2, me.Rules(max_turns=1), autoreset=False)
    with pytest.raises(me.ConfigurationError, match=r"call reset\(\) first"):
        vec.step([0, 0])
    batch = vec.reset()
    while not batch.finished.size:
        batch = vec.step(legal(vec))
    before = vec.games.tobytes()
    with pytest.raises(me.GameOverError, match=r"Game \d has ended: call reset\(\)"):
        vec.step(np.full(2, actions.A_TURN))
    assert vec.games.tobytes() == before
    vec.reset()
    vec.step(legal(vec))


def test_environments_before_the_beginning_and_after_the_end() -> None:
    env = monopoly_v0.env(2, me.Rules(max_turns=1))
    with pytest.raises(me.MonopolyError, match=r"call reset\(\)"):
        env.step(0)
    env.reset(seed=1)
    while not me.is_over(env.game):
        env.step(int(env.last()[0]["action_mask"].argmax()))
    with pytest.raises(me.ConfigurationError, match=r"is out: its action must be None, not 10"):
        env.step(actions.A_TURN)
    while env.agents:
        env.step(None)
    for action in (actions.A_TURN, None):
        with pytest.raises(me.GameOverError, match=r"call reset\(\)"):
            env.step(action)
    alone = learner(opponents=["random"], disable_env_checker=True).unwrapped
    with pytest.raises(me.MonopolyError, match=r"call reset\(\)"):
        alone.step(0)


# --- files and folders


def writers() -> dict[str, Callable[[Path], Any]]:
    results = arena.play(["random", "random/no_trades"], 2)
    return {
        "a game": lambda path: me.save(me.new_game(2), path / "game"),
        "a policy": lambda path: agents.make("algorithmic").save(path / "policy.safetensors"),
        "results": lambda path: results.save(path / "results.json"),
    }


@pytest.mark.parametrize("what", ["a game", "a policy", "results"])
def test_folders_that_cannot_be_written(what: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    write = writers()[what]
    for folder in (tmp_path / "file", tmp_path / "file" / "deeper", Path("/dev/null")):
        with pytest.raises(me.ConfigurationError, match="Cannot write") as raised:
            write(folder)
        assert str(folder) in str(raised.value)
    assert (tmp_path / "file").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    write(tmp_path / "a" / "new" / "folder")
    assert len(list((tmp_path / "a" / "new" / "folder").iterdir())) == 1


# What is said, by the command line.
COMMANDS = {
    "monopoly_env.validate.__main__ landing --throws 1 --csv {file}/odds.csv": (
        "Cannot write '{file}/odds.csv'"
    ),
    "training.tournament --players random random --games 2 --out {file}/o.json": "Cannot write",
    "training.tournament --players random algoritmic": "Did you mean 'algorithmic'",
    "training.dqn --steps 10 --out {file}": "{file}",
    "training.dqn --expert expret": "Did you mean 'expert'",
    "training.dqn --start expert": "no agent whose networks choose every action",
    "training.dqn --opponents self human": "not compiled",
    "training.dqn --num-players 5": "--num-players must be from 2 to 4, not 5",
    "training.dqn --preset ocnarru": "Did you mean 'ocnaru'",
    "training.ppo --clip 0 --out {file}/run": "--clip must be from",
    "monopoly_env.play --players random randm": "Did you mean 'random'",
    "studies.adjusted --values wealth --out {file}/x": "Unknown value 'wealth'",
    "studies.adjusted --games 1 --out {file}/x": "--games must be from 48",
    "studies.calibration --positions 0 --out {file}/x": "--positions must be from 1",
    "studies.calibration --policy expret --out {file}/x": "Did you mean 'expert'",
    "studies.esp_searches --only cma": "Did you mean 'cmaes'",
    "studies.esp_searches --runs -1": "--runs -1",
    "studies.evolution.__main__ --only skwe": "Did you mean 'skew'",
    "studies.learned --only ppo/best/twoo --out {file}/x": "ppo/best/two",
    "studies.poles --only esp/2.8": "'esp/2.9'",
    "studies.poles --runs 0": "--runs",
    "studies.schrum --only bettr": "Did you mean 'better'",
    "studies.schrum --only bet": "Unknown cell",
    "studies.schrum --runs -1": "--runs -1",
    "studies.strength --player algoritmic": "Did you mean 'algorithmic'",
    "studies.strength --player random --against random": "no opponent to play against",
    "studies.strength --player random --against algorithmic --sizes 9": "2 to 8",
    "studies.strength --player random --against algorithmic --games 0": "--games 0 must be",
}


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_say_it_in_a_line(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit status is 2, what is wrong is on stderr, and there is no traceback."""
    (tmp_path / "file").write_text("mine")
    words = [word.format(file=tmp_path / "file") for word in line.split()]
    monkeypatch.setattr(sys, "argv", words)
    assert importlib.import_module(words[0]).main() == 2
    shown = capsys.readouterr().err
    assert COMMANDS[line].format(file=tmp_path / "file") in shown.replace("\n", " ")
    assert "Traceback" not in shown
    assert (tmp_path / "file").read_text() == "mine"


def test_null_bytes_in_paths() -> None:
    writes: list[Callable[[str], Any]] = [
        lambda path: me.save(me.new_game(2), path),
        lambda path: replays.save(path, []),
        lambda path: agents.make("algorithmic").save(path + ".safetensors"),
        lambda path: me.draw(me.new_game(2)).save(path + ".svg"),
    ]
    reads: list[Callable[[str], Any]] = [
        me.load, replays.load, lambda path: agents.load(path + ".safetensors"), agents.Results.load,
        lambda path: agents.resolve(path + ".safetensors"), Ratings.load,
    ]  # fmt: skip
    for use in (*writes, *reads):
        with pytest.raises(me.MonopolyError, match="null"):
            use("a\0b")


def test_what_may_never_end_is_not_read(tmp_path: Path) -> None:
    """A pipe without a writer blocks whoever opens it, a device has no end."""
    os.mkfifo(tmp_path / "pipe")
    for path, said in (
        (tmp_path / "pipe", "not a regular file"),
        ("/dev/zero", "not a regular file"),
        (tmp_path, "directory"),
    ):
        with pytest.raises(me.ConfigurationError, match=f"Cannot read .*{said}"):
            read_file(path)
    (tmp_path / "large").write_bytes(bytes(1000))
    with pytest.raises(me.FormatError, match="larger than 999 bytes"):
        read_file(tmp_path / "large", 999)
    assert read_file(tmp_path / "large", 1000) == bytes(1000)


# --- values of a wrong type

LISTS: dict[str, Any] = {
    "cash": 5, "lots": {0: "Boardwalk"}, "mortgaged": "Boardwalk", "positions": "GO",
    "jail_cards": {0: 7}, "bankrupt": 1, "throws": 6,
    "chance": "dividend", "community_chest": 3,
}  # fmt: skip


@pytest.mark.parametrize("argument", LISTS)
def test_lists_of_a_position(argument: str) -> None:
    with pytest.raises(me.PositionError, match=rf"{argument}.* must be a list, not "):
        me.position(2, **{argument: LISTS[argument]})


def test_dictionaries_of_a_position() -> None:
    with pytest.raises(
        me.PositionError, match=r"buildings must be a dictionary, not \['Boardwalk'\]"
    ):
        me.position(2, buildings=["Boardwalk"])  # type: ignore[arg-type]


FOREIGN: dict[str, tuple[type[me.MonopolyError], Callable[[], Any]]] = {
    r"Unknown preset \['uk'\]": (me.RulesError, lambda: me.Rules.preset(["uk"])),
    "must be a dictionary": (me.RulesError, lambda: me.Rules.from_dict(["auction"])),
    "must be a dictionary with their names": (me.RulesError, lambda: me.Rules.from_dict({1: 2})),
    "auction=array": (me.RulesError, lambda: me.Rules(auction=np.zeros(2))),
    "must be a whole number": (me.RulesError, lambda: me.Rules(start_cash=10**5000)),
    r"Unknown policy.*\[": (me.ConfigurationError, lambda: agents.make(["expert"])),
    "Unknown policy.*7": (me.ConfigurationError, lambda: arena.play([7, "random"], 2)),
    "'networks' cannot be made with .*hidden=7": (me.ConfigurationError, lambda: networks(7)),
    "whole numbers from 1": (me.ConfigurationError, lambda: networks([0])),
    "from 1 to 65,536": (me.ConfigurationError, lambda: networks([10**9])),
    "too large": (me.ConfigurationError, lambda: networks([60_000, 60_000])),
    "cannot be made": (me.ConfigurationError, lambda: networks([4], rules=3)),
    "one whole number per game, not 5": (me.ConfigurationError, lambda: me.new_games(5)),
    r"memory of decisions .* \(1, 64\)": (
        me.ConfigurationError,
        lambda: agents.Decisions(me.new_games([1]), np.zeros((1, 3))),
    ),
    "key of decisions must be contiguous uint64": (
        me.ConfigurationError,
        lambda: agents.Decisions(me.new_games([1]), key=np.zeros(1)),
    ),
}


def networks(hidden: Any, **options: Any) -> Any:
    return agents.make("networks", hidden=hidden, **options)


@pytest.mark.parametrize("said", FOREIGN)
def test_values_of_a_wrong_type(said: str) -> None:
    error, call = FOREIGN[said]
    with pytest.raises(error, match=said):
        call()


def test_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> Any:
        raise MemoryError("Unable to allocate 9 EiB")

    monkeypatch.setattr(vector.Batch, "empty", full)
    with pytest.raises(
        me.ConfigurationError,
        match=r"num_games=7 needs more memory than there is. Unable to allocate 9 EiB",
    ):
        me.VectorMonopoly(7, 2)
    monkeypatch.setattr(core, "empty_games", full)
    with pytest.raises(me.ConfigurationError, match="A batch of 3 games needs more memory"):
        me.new_games(range(3))


@pytest.mark.parametrize("look", ["game", "last", "observe", "state", "render"])
def test_looking_before_the_beginning(look: str) -> None:
    env = monopoly_v0.env(2, render_mode="ansi")
    looks: dict[str, Callable[[], Any]] = {
        "game": lambda: env.game,
        "last": env.last,
        "observe": lambda: env.observe("player_0"),
        "state": env.state,
        "render": env.render,
    }
    with pytest.raises(me.ConfigurationError, match=r"No game has begun: call reset\(\) first"):
        looks[look]()
    env.reset(seed=1)
    looks[look]()


# --- a package of the same name


@pytest.mark.parametrize(
    ("package", "program"),
    [
        ("agents", "import monopoly_env as me; me.VectorMonopoly(2, opponents=['random'])"),
        ("agents", "import training.tournament"),
        ("training", "import monopoly_bench.__main__"),
        ("agents", "from pente_env.matches import coerce; coerce('a.npz')"),
    ],
)
def test_a_foreign_package_of_the_same_name_is_named(
    package: str, program: str, tmp_path: Path
) -> None:
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text("a = 1\n")
    (tmp_path / "a.npz").touch()
    path = os.pathsep.join([str(tmp_path), str(Path(me.__file__).parents[1])])
    done = python("-c", program, folder=tmp_path, status=1, PYTHONPATH=path)
    last = done.stderr.strip().splitlines()[-1]
    assert (
        f"The package {package!r} that Python finds ({tmp_path / package / '__init__.py'}) is not"
        " the one of monopoly-env" in last
    )
    assert "reinstall monopoly-env" in last
