"""Compiled code checks no bounds.

Whatever calls it must refuse numbers, arrays and records that would lead it beyond its arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


CALLS: Mapping[str, tuple[Callable[[], object], str]] = {
    "encoding.write: seat": (
        lambda: encoding.make("standard", 2).write(
            me.new_game(2), 10**9, np.zeros(700, np.float32)
        ),
        "1000000000",
    ),
    "encoding.write: row": (
        lambda: encoding.make("standard", 8).write(me.new_game(8), 0, np.zeros(10, np.float32)),
        "shape \\(10,\\)",
    ),
    "encoding.write: type": (
        lambda: encoding.make("standard", 2).write(me.new_game(2), 0, np.zeros(700)),
        "not float64",
    ),
    "encoding.observe: record": (lambda: encoding.observe(edited(turn=30000)), "No game can reach"),
    "encoding.observe_all: seats": (
        lambda: encoding.observe_all(two(), seats=[0, 10**9]),
        "Seats must be 2 whole numbers",
    ),
    "encoding.observe_all: ragged": (
        lambda: encoding.observe_all(two(), seats=[[0], [1, 2]]),
        "Seats must be 2 whole numbers",
    ),  # type: ignore[arg-type]
    "encoding.observe_all: games": (
        lambda: encoding.observe_all(batch_of(pe.new_game())),
        "Expected an array of games",
    ),
    "observe: seats": (lambda: observe(np.array([0, 10**9])), "Seats must be 2 whole numbers"),
    "observe: one seat": (lambda: observe(np.array([0])), "Seats must be 2 whole numbers"),
    "rewards.after: memory": (
        lambda: rewards.make("win_shaped").after(me.new_game(8), np.zeros(1)),
        "of 8 numbers or more",
    ),
    "rewards.after: record": (
        lambda: rewards.make("win").after(edited(player=30000), np.zeros(8)),
        "No game can reach",
    ),
    "open_heads": (
        lambda: spaces.open_heads(np.ones((1, 10**6), np.bool_)),
        "Masks must be \\(B, 205\\) bool",
    ),
    "apply": (lambda: core.apply(core.batch_of(me.new_game(2)), 10**9), "1000000000"),
    "value of states": (
        lambda: value_of("worth").shares(edited(player=30000)),
        "No game can reach",
    ),
    "probabilities": (
        lambda: agents.make("ppo/best/two").probabilities(core.batch_of(edited(player=30000))),  # type: ignore[attr-defined]
        "No game can reach",
    ),
    "evaluate: head": (
        lambda: forward.evaluate(ROW, np.zeros((1, 4), np.float32), slice(0, 10**8)),
        "slice of 2 outputs",
    ),
    "evaluate: row": (
        lambda: forward.evaluate(ROW[:16], np.zeros((1, 4), np.float32)),
        "not what its header says",
    ),
    "evaluate: states": (
        lambda: forward.evaluate(ROW, np.zeros((1, 4), np.float32), None, np.zeros((1, 0))),
        "States must be float32",
    ),
    "pack": (
        lambda: NETWORK.pack({"0.weight": np.zeros((3, 5))}),
        "'0.weight' of the network must be of shape \\(3, 4\\)",
    ),
    "pente player: seat": (
        lambda: pe.make("better").act(batch_of(pe.new_game()), 10**9, np.zeros(64)),
        "seat=1000000000",
    ),
    "pente player: memory": (
        lambda: pe.make("better").act(batch_of(pe.new_game()), 0, np.zeros(0)),
        "of 64 numbers",
    ),
    "pente player: game": (
        lambda: pe.make("better").act(None, 0, np.zeros(64)),
        "Expected an array of games",
    ),
    "pente.observe: seats": (
        lambda: observation.observe(pe.new_games([0, 1]), np.array([0, 10**9])),
        "Seats must be 2 whole numbers",
    ),
    "pente.observe: games": (
        lambda: observation.observe(None, np.array([0])),
        "Expected an array of games",
    ),
    "pente fitness: player": (
        lambda: fitness.evaluate(np.zeros((1, 4)), None, TESTS),
        "expected a pente_env.Player",
    ),  # type: ignore[arg-type]
    "pente fitness: length": (
        lambda: fitness.evaluate(np.zeros((1, 0)), pe.make("better"), TESTS),
        "expected 3 numbers",
    ),
    "pente fitness: weights": (
        lambda: fitness.evaluate(np.zeros((1, 20)), pente.like(PENTE), TESTS),
        "chose -1",
    ),
    "pente: no weights": (
        lambda: pe.matches.play([pente.like(PENTE), "random"], games=2),
        "chose -1",
    ),
    "pente window: no weights": (
        lambda: pe.matches.play([pente.like(pente.architecture(2, window=5)), "random"], games=2),
        "chose -1",
    ),
    "pente: NaN": (
        lambda: pente.player(PENTE, np.full(PENTE.length, np.nan, np.float32)),
        "row of",
    ),
    "solve": (lambda: solve(pe.new_game(), positions=10.5), "positions=10.5"),  # type: ignore[arg-type]
    "solve: game": (lambda: solve(None), "Expected a game"),
    "takes": (lambda: pe.takes(me.new_game(2), 0, 0), "Expected a game"),
}


@pytest.mark.parametrize("what", CALLS)
def test_what_would_lead_beyond_an_array_is_refused(what: str) -> None:
    call, words = CALLS[what]
    with pytest.raises(me.MonopolyError, match=words):
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
        ("games", "position", 30000, "No game can reach"),
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
