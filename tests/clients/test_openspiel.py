"""OpenSpiel: our game, its chance nodes, and its search."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import mcts

import monopoly_env as me
from monopoly_env.adapters.openspiel import MonopolyGame

GAME = MonopolyGame()


def play(state: Any, rng: np.random.Generator, most: int = 100_000) -> int:
    """Play at random; returns how many chance nodes there were."""
    chances = 0
    while not state.is_terminal() and most:
        if state.is_chance_node():
            chances += 1
            outcomes = state.chance_outcomes()
            assert sum(chance for _, chance in outcomes) == pytest.approx(1)
            state.apply_action(int(rng.choice([outcome for outcome, _ in outcomes])))
        else:
            assert state.legal_actions() == me.legal_actions(state.record).tolist()
            state.apply_action(int(rng.choice(state.legal_actions())))
        most -= 1
    return chances


@pytest.mark.parametrize("players", [2, 3])
def test_games_are_played_to_their_end(players: int) -> None:
    game = pyspiel.load_game("python_monopoly", {"players": players, "rules": "short"})
    state = game.new_initial_state()
    assert play(state, np.random.default_rng(0)) > 20
    assert state.is_terminal()
    assert sum(state.returns()) == pytest.approx(0)
    winner = me.winner(state.record)
    assert winner is None or state.returns()[winner] == 1


def test_only_moves_with_dice_have_a_chance_node() -> None:
    state = MonopolyGame().new_initial_state()
    state.apply_action(me.actions.parse("buy"))
    assert not state.is_chance_node()
    state.apply_action(me.actions.parse("go on"))
    assert state.is_chance_node()


def test_a_search_sees_no_dice_to_come() -> None:
    """Futures of one move differ, and a clone goes its own way."""
    state = MonopolyGame().new_initial_state()
    for word in ("buy", "go on"):
        state.apply_action(me.actions.parse(word))
    places = set()
    for outcome, _ in state.chance_outcomes():
        branch = state.clone()
        branch.apply_action(outcome)
        places.add(branch.record.position.tobytes())
    assert len(places) > 5
    assert state.is_chance_node(), "the state itself is where it was"


@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        lambda state: pickle.loads(pickle.dumps(state)),  # noqa: S301
        lambda state: GAME.deserialize_state(state.serialize()),
    ],
    ids=["deepcopy", "pickle", "serialize"],
)
def test_a_copy_goes_on_from_a_chance_node(copied: Callable[[Any], Any]) -> None:
    state = GAME.new_initial_state()
    for word in ("buy", "go on"):
        state.apply_action(me.actions.parse(word))
    twin = copied(state)
    state.apply_action(7)
    assert twin.record.tobytes() != state.record.tobytes()
    twin.apply_action(7)
    assert twin.record.tobytes() == state.record.tobytes()


def test_the_same_history_is_the_same_game() -> None:
    one, two = (MonopolyGame({"seed": 3}).new_initial_state() for _ in range(2))
    play(one, np.random.default_rng(1), 200)
    play(two, np.random.default_rng(1), 200)
    assert one.record.tobytes() == two.record.tobytes()


def test_its_search_plays() -> None:
    game = MonopolyGame({"turns": 20})
    evaluator = mcts.RandomRolloutEvaluator(random_state=np.random.RandomState(0))
    bot = mcts.MCTSBot(game, 1.4, 4, evaluator, random_state=np.random.RandomState(0))
    state = game.new_initial_state()
    assert bot.step(state) in state.legal_actions()


def test_its_observer_writes_the_encoding() -> None:
    game = MonopolyGame()
    state, observer = game.new_initial_state(), game.make_py_observer()
    observer.set_from(state, 1)
    assert observer.tensor.tolist() == me.encoding.observe(state.record, "standard", 1).tolist()
