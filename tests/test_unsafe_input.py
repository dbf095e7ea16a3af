"""Compiled code checks no bounds.

Whatever calls it must refuse numbers, arrays and records that would lead it beyond its arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studies.pente_solver import solve

import agents
import monopoly_env as me
import pente_env as pe
from agents import arena
from agents.networks import forward, pente
from agents.networks.layout import Architecture, zeros
from monopoly_env import core, encoding, replays, rewards
from monopoly_env.analyse.values import resolve as value_of
from monopoly_env.envs import spaces
from pente_env import fitness, observation
from pente_env.core import batch_of

NETWORK = Architecture(4, (3,), (("out", 2),))
ROW = NETWORK.pack(zeros({"net": NETWORK}), "net")
PENTE = pente.architecture(3)
TESTS = fitness.Experiment((("random",),), matches=1)


def edited(**fields: int) -> Any:
    """A record of nonsense."""
    game = me.new_game(2)
    for name, value in fields.items():
        game[name] = value
    return game


def two() -> Any:
    return core.new_games([0, 1], 2)


def observe(seats: Any) -> None:
    agents.make("genetic/esp/attentive").observe(two(), seats, np.zeros((2, 64)))


# What is said, and the call.
CALLS: list[tuple[str, Callable[[], object]]] = [
    (
        "1000000000",
        lambda: encoding.make("standard", 2).write(
            me.new_game(2), 10**9, np.zeros(700, np.float32)
        ),
    ),
    (
        r"shape \(10,\)",
        lambda: encoding.make("standard", 8).write(me.new_game(8), 0, np.zeros(10, np.float32)),
    ),
    ("not float64", lambda: encoding.make("standard", 2).write(me.new_game(2), 0, np.zeros(700))),
    ("Invalid record", lambda: encoding.observe(edited(turn=30000))),
    ("Seats must be 2 whole numbers", lambda: encoding.observe_all(two(), seats=[0, 10**9])),
    ("Seats must be 2 whole numbers", lambda: encoding.observe_all(two(), seats=[[0], [1, 2]])),
    ("Expected an array of games", lambda: encoding.observe_all(batch_of(pe.new_game()))),
    ("Seats must be 2 whole numbers", lambda: observe(np.array([0, 10**9]))),
    ("Seats must be 2 whole numbers", lambda: observe(np.array([0]))),
    ("of 8 numbers or more", lambda: rewards.make("win_shaped").after(me.new_game(8), np.zeros(1))),
    ("Invalid record", lambda: rewards.make("win").after(edited(player=30000), np.zeros(8))),
    (r"Masks must be \(B, 205\) bool", lambda: spaces.open_heads(np.ones((1, 10**6), np.bool_))),
    ("1000000000", lambda: core.apply(core.batch_of(me.new_game(2)), 10**9)),
    ("Invalid record", lambda: value_of("worth").shares(edited(player=30000))),
    (
        "Invalid record",
        lambda: agents.make("ppo/best/two").probabilities(core.batch_of(edited(player=30000))),
    ),
    (
        "slice of 2 outputs",
        lambda: forward.evaluate(ROW, np.zeros((1, 4), np.float32), slice(0, 10**8)),
    ),
    ("do not match its header", lambda: forward.evaluate(ROW[:16], np.zeros((1, 4), np.float32))),
    (
        "States must be float32",
        lambda: forward.evaluate(ROW, np.zeros((1, 4), np.float32), None, np.zeros((1, 0))),
    ),
    (
        r"'0.weight' of the network must be of shape \(3, 4\)",
        lambda: NETWORK.pack({"0.weight": np.zeros((3, 5))}),
    ),
    (
        "seat=1000000000",
        lambda: pe.make("better").act(batch_of(pe.new_game()), 10**9, np.zeros(64)),
    ),
    ("of 64 numbers", lambda: pe.make("better").act(batch_of(pe.new_game()), 0, np.zeros(0))),
    ("Expected an array of games", lambda: pe.make("better").act(None, 0, np.zeros(64))),
    (
        "Seats must be 2 whole numbers",
        lambda: observation.observe(pe.new_games([0, 1]), np.array([0, 10**9])),
    ),
    ("Expected an array of games", lambda: observation.observe(None, np.array([0]))),
    ("expected a pente_env.Player", lambda: fitness.evaluate(np.zeros((1, 4)), None, TESTS)),
    ("expected 3 numbers", lambda: fitness.evaluate(np.zeros((1, 0)), pe.make("better"), TESTS)),
    ("chose -1", lambda: fitness.evaluate(np.zeros((1, 20)), pente.like(PENTE), TESTS)),
    ("chose -1", lambda: pe.matches.play([pente.like(PENTE), "random"], games=2)),
    (
        "chose -1",
        lambda: pe.matches.play([pente.like(pente.architecture(2, window=5)), "random"], games=2),
    ),
    ("row of", lambda: pente.player(PENTE, np.full(PENTE.length, np.nan, np.float32))),
    ("positions=10.5", lambda: solve(pe.new_game(), positions=10.5)),
    ("Expected a game", lambda: solve(None)),
    ("Expected a game", lambda: pe.takes(me.new_game(2), 0, 0)),
]


@pytest.mark.parametrize(("said", "call"), CALLS)
def test_what_would_lead_beyond_an_array_is_refused(said: str, call: Callable[[], object]) -> None:
    with pytest.raises(me.MonopolyError, match=said):
        call()


@pytest.mark.parametrize(
    ("name", "value"),
    [("landlord/aggressive", 1e12), ("strategic", -1e6), ("algorithmic", np.nan), ("gcp", 1e9)],
)
def test_a_file_with_numbers_out_of_range_is_refused(
    name: str, value: float, tmp_path: Path
) -> None:
    policy: Any = agents.make(name)
    before = policy.params.copy()
    policy.params = np.full_like(before, value)
    policy.save(tmp_path / "policy.safetensors")
    with pytest.raises(me.FormatError, match="must be"):
        agents.load(tmp_path / "policy.safetensors")
    with pytest.raises(me.FormatError, match="must be"):
        agents.make(name).set_arrays({"params": np.full_like(before, value)})


@pytest.mark.parametrize(
    ("array", "field", "value", "words"),
    [
        ("games", "position", 30000, "Invalid record"),
        ("games", "num_players", 3, "games of \\[3\\] players, not of 2"),
        ("states", "learner", 30000, "'learner' must be from -1 to 1"),
        ("states", "seats", 30000, "'seats' must be from"),
        ("states", "waiting", 7, "'waiting' must be from"),
        ("order", None, 5, "'order' differs"),
        ("player", None, 2, "'player' must be from 0 to 1"),
        ("template", "num_players", 5, "'template' differs"),
    ],
)
def test_a_state_of_nonsense_is_refused_and_changes_nothing(
    array: str, field: str | None, value: int, words: str
) -> None:
    vec = me.VectorMonopoly(2, 2, opponents=["random"], threads=1)
    vec.reset()
    for _ in range(3):
        vec.step(vec.batch.action_mask.argmax(1))
    good, bad = vec.state(), vec.state()
    bad[array][field or ...] = value
    with pytest.raises(me.FormatError, match=words):
        vec.set_state(bad)
    assert all(np.array_equal(held, good[name]) for name, held in vec.state().items())
    vec.set_state(good)
    vec.step(vec.batch.action_mask.argmax(1))


@pytest.mark.parametrize("state", [{}, None, {"games": 3}])
def test_what_is_no_state_is_refused(state: Any) -> None:
    with pytest.raises(me.FormatError, match="This is no state of VectorMonopoly"):
        me.VectorMonopoly(2, 2, threads=1).set_state(state)


def test_results_that_name_policies_that_are_not_there_are_refused() -> None:
    results = arena.play(["random", "landlord/balanced"], games=4, turn_limit=5)
    results.setup["tables"] = [[0, 99]]
    with pytest.raises(me.ConfigurationError, match="99 must be a whole number from 0 to 1"):
        arena.play_again(results)


def test_a_replay_has_no_other_actions() -> None:
    (replay,) = arena.play(["random", "random"], games=1, turn_limit=3, record=1).replays
    with pytest.raises(me.ConfigurationError, match="number=1000000000"):
        replays.step(replay, replays.start(replay), 10**9)
