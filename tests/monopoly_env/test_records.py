"""Kernels write to memory that is the caller's own.

Records of any other are refused by what writes, and read as they are.
"""

from __future__ import annotations

import copy
import ctypes
import mmap
import multiprocessing
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
import pente_env as pe
from monopoly_env import encoding, rewards
from monopoly_env.analyse import rollout
from monopoly_env.render import narrate
from monopoly_env.replays import Replay, replay
from pente_env import observation
from pente_env import render as pente_render

PACKAGES = {"monopoly": me, "pente": pe}


def of_bytes(games: Any) -> Any:
    return np.frombuffer(games.tobytes(), games.dtype)


def mapped(games: Any) -> Any:
    np.save("games.npy", games)
    return np.load("games.npy", mmap_mode="r").view(games.dtype)


def locked(games: Any) -> Any:
    games.setflags(write=False)
    return games


READ_ONLY: dict[str, Callable[[Any], Any]] = {"bytes": of_bytes, "mapped": mapped, "locked": locked}
WRITES: dict[str, dict[str, Callable[[Any], Any]]] = {
    "monopoly": {
        "step": lambda games: me.step(games[0], me.legal_actions(games[0])[0]),
        "settle": lambda games: me.core.settle(games[0]),
        "reseed": lambda games: me.reseed(games[0], 7),
        "reseed and shuffle": lambda games: me.reseed(games[0], 7, shuffle=True),
        "narrate": lambda games: narrate.step(games[0], int(me.legal_actions(games[0])[0])),
        "replay": lambda games: replay.step(
            Replay(me.Rules(), 0, 2, ("a", "b"), me.legal_actions(games[0])[:1]), games[0], 0
        ),
        "policy": lambda games: agents.make("random").act(agents.Decisions(games)),
        "policy with keys": (
            lambda games: agents.make("random").act(
                agents.Decisions(games, key=np.zeros(2, np.uint64))
            )
        ),
    },
    "pente": {
        "step": lambda games: pe.step(games[0], 0),
        "player": lambda games: pe.make("random").act(games[:1], 0, np.zeros(64)),
    },
}
READS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "monopoly": {
        "legal_actions": me.legal_actions,
        "worth": me.worth,
        "is_over": me.is_over,
        "winner": me.winner,
        "digest": me.digest,
        "check": me.check,
        "to_text": me.to_text,
        "clone": me.clone,
        "restarted": me.core.restarted,
        "force": me.force,
        "observe": encoding.observe,
        "write": lambda game: encoding.make("standard", 2).write(
            game, 0, np.zeros(1000, np.float32)
        ),
        "reward": lambda game: rewards.make("win_shaped").after(game, np.zeros(2)),
        "rollout": lambda game: (
            rollout(game, "random", 2, threads=1, actions=int(me.legal_actions(game)[0])).share
        ),
    },
    "pente": {
        "legal_actions": pe.legal_actions,
        "is_over": pe.is_over,
        "winner": pe.winner,
        "digest": pe.digest,
        "stones": pe.stones,
        "points": lambda game: pe.core.points(game, 0, "captures"),
        "clone": pe.clone,
        "to_text": pente_render.to_text,
    },
}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def cases(table: dict[str, dict[str, Callable[[Any], Any]]]) -> list[Any]:
    return [
        pytest.param(package, name, id=f"{package}: {name}")
        for package, uses in table.items()
        for name in uses
    ]


@pytest.mark.parametrize("memory", READ_ONLY)
@pytest.mark.parametrize(("package", "use"), cases(WRITES))
def test_read_only_records_are_refused_by_what_writes(package: str, use: str, memory: str) -> None:
    games = READ_ONLY[memory](PACKAGES[package].core.new_games([1, 2], 2))
    before = games.tobytes()
    with pytest.raises(me.ConfigurationError, match=r"read-only: .*clone"):
        WRITES[package][use](games)
    assert games.tobytes() == before


def test_decisions_of_games_with_gaps_between_them_are_refused() -> None:
    games = me.new_games([1, 2, 3, 4], 2)[::2]
    with pytest.raises(me.ConfigurationError, match=r"without steps.*games\.copy"):
        agents.Decisions(games)
    assert len(agents.Decisions(games.copy()).key) == 2


@pytest.mark.parametrize("memory", READ_ONLY)
@pytest.mark.parametrize(("package", "use"), cases(READS))
def test_read_only_records_are_read_as_others_are(package: str, use: str, memory: str) -> None:
    games = PACKAGES[package].core.new_games([1, 2], 2)
    expected = READS[package][use](games[1])
    found = READS[package][use](READ_ONLY[memory](games)[1])
    np.testing.assert_equal(found, expected)


@pytest.mark.parametrize("package", PACKAGES)
def test_what_reads_writes_nothing_for_a_moment_either(package: str) -> None:
    """Other threads may read the same record.

    Here NumPy takes its memory for writable, and a write ends the process.
    """
    games = PACKAGES[package].core.new_games([1, 2], 2)
    for read in READS[package].values():
        read(games[1])  # compiles
    Path("games").write_bytes(games.tobytes())
    with Path("games").open("rb") as file:
        memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    place = np.frombuffer(memory, np.uint8).ctypes.data
    protected = np.frombuffer((ctypes.c_uint8 * games.nbytes).from_address(place), games.dtype)
    assert protected.flags.writeable

    def read_all() -> None:
        for read in READS[package].values():
            read(protected[1])

    child = multiprocessing.get_context("fork").Process(target=read_all)
    child.start()
    child.join()
    assert child.exitcode == 0


@pytest.mark.parametrize("package", PACKAGES)
def test_a_record_that_no_array_holds_is_read_only(package: str) -> None:
    """Its fields come as copies, so that edits would be lost without a word."""
    make, arguments = PACKAGES[package].new_game(2).__reduce__()  # as NumPy pickles it
    alone = make(*arguments)
    assert alone.base is None
    with pytest.raises(me.ConfigurationError, match="read-only"):
        PACKAGES[package].step(alone, 0)
    assert PACKAGES[package].clone(alone).tobytes() == alone.tobytes()


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("use", ["step", "legal_actions", "one", "many"])
def test_what_lost_the_type_of_a_record_is_refused_before_it_changes(
    package: str, use: str
) -> None:
    library = PACKAGES[package]
    np.save("games.npy", library.core.new_games([1, 2], 2))
    games = np.load("games.npy")
    before = games.tobytes()
    calls = {
        "step": lambda: library.step(games[0], 0),
        "legal_actions": lambda: library.legal_actions(games[0]),
        "one": lambda: library.clone(games[0]),
        "many": lambda: (
            agents.Decisions(games) if library is me else observation.observe(games, [0, 1])
        ),
    }
    with pytest.raises(me.ConfigurationError, match=rf"array.view\({library.__name__}.GAME\)"):
        calls[use]()
    assert games.tobytes() == before


def sent(value: Any, protocol: int | None = None) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))  # noqa: S301 - our own


SENT: dict[str, Callable[[Any], Any]] = {
    "pickled": sent,
    "pickled, oldest protocol": lambda game: sent(game, 2),
    "pickled and copied": lambda game: copy.deepcopy(sent(game)),
    "copied": copy.deepcopy,
    "in a list": lambda game: sent([game])[0],
    "in an array": lambda game: sent(game.base)[0],
}


@pytest.mark.parametrize("way", SENT)
@pytest.mark.parametrize("package", PACKAGES)
def test_a_game_that_was_sent_is_as_good_as_the_original(package: str, way: str) -> None:
    library = PACKAGES[package]
    game = library.new_game(2, seed=3)
    there = SENT[way](game)
    assert there.tobytes() == game.tobytes()
    there.seed[0] = 5
    assert there.seed[0] == 5
    library.step(there, library.legal_actions(there)[0])
    assert game.seed[0] == 3


def test_other_records_are_pickled_as_ever() -> None:
    other = np.zeros(1, np.dtype((np.record, [("x", np.int32), ("name", object)])))[0]
    assert sent(other) == other


@pytest.mark.parametrize("game", ["of many", "of a vector", "unpickled"])
def test_any_game_may_be_given_another_future(game: str) -> None:
    vector = me.VectorMonopoly(2, 2)
    vector.reset()
    given = {
        "of many": me.new_games([1, 2], 2)[0],
        "of a vector": vector.games[0],
        "unpickled": sent(me.new_game(2)),
    }[game]
    assert me.reseed(given, 9 << 32 | 4).seed.tolist() == [4, 9]
    assert me.reseed(given, 8, shuffle=True).seed[0] == 8
