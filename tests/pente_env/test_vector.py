"""Games in step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pente_env as pe
from monopoly_env.errors import ConfigurationError, IllegalActionError
from pente_env import VectorPente, core
from pente_env.observation import observe
from pente_env.player import Player
from tests.pente_env.test_matches import LIKE, observing


def choose(mask: Any, games: Any) -> Any:
    """An action a game that depends on its record alone."""
    numbers = [int(game.moves) * 31 + int(game.seed[0]) % 97 for game in games]
    return np.array(
        [
            legal[number % len(legal)]
            for row, number in zip(mask, numbers, strict=True)
            for legal in [np.flatnonzero(row)]
        ]
    )


def story(vec: VectorPente, steps: int, row: int) -> list[str]:
    """The digests of one game after each step."""
    batch, told = vec.reset(), []
    for _ in range(steps):
        batch = vec.step(choose(batch.action_mask, vec.games))
        told.append(pe.digest(vec.games[row]))
    return told


@pytest.mark.parametrize("opponents", [None, ["capturer"], ["better", "blocker"]])
def test_a_game_does_not_depend_on_the_batch(opponents: Any) -> None:
    small, large = (
        VectorPente(size, opponents=opponents, seed=3, threads=threads)
        for size, threads in ((5, 1), (600, 3))
    )
    assert story(small, 40, 4) == story(large, 40, 4)
    assert story(small, 40, 4) == story(small, 40, 4)


@pytest.mark.parametrize("players", [2, 3])
def test_self_play_follows_the_rules(players: int) -> None:
    vec = VectorPente(8, players, pe.Rules(size=6), seed=1)
    batch = vec.reset()
    games, finished = [pe.clone(game) for game in vec.games], 0
    for _ in range(90):
        actions, actors = choose(batch.action_mask, vec.games), batch.player.copy()
        batch = vec.step(actions)
        assert np.array_equal(batch.actor, actors)
        for row, game in enumerate(games):
            pe.step(game, int(actions[row]))
            assert batch.terminated[row] == pe.is_over(game)
            if pe.is_over(game):
                at = batch.finished.tolist().index(row)
                assert pe.digest(batch.final_games[at]) == pe.digest(game)
                expected = observe(np.repeat(core.batch_of(game), players), np.arange(players))
                assert np.array_equal(batch.final_observation[at], expected)
                winner = pe.winner(game)
                assert batch.reward[row].sum() == 0
                assert winner is None or batch.reward[row, winner] == 1
                games[row] = pe.clone(vec.games[row])
                finished += 1
            else:
                assert not batch.reward[row].any()
            assert pe.digest(games[row]) == pe.digest(vec.games[row])
            assert np.array_equal(batch.action_mask[row], pe.action_mask(vec.games[row]))
        assert np.array_equal(batch.observation, observe(vec.games, batch.player))
    assert finished > 8


def test_the_learner_meets_its_opponents() -> None:
    vec = VectorPente(300, opponents=["better"], seed=0)
    batch = vec.reset()
    seats, wins, games = set(batch.player.tolist()), 0.0, 0
    for _ in range(30):
        batch = vec.step(choose(batch.action_mask, vec.games))
        wins += batch.reward[batch.finished, batch.actor[batch.finished]].sum()
        games += len(batch.finished)
        assert batch.final_observation.shape == (len(batch.finished), 150)
    assert seats == {0, 1}
    assert games > 500
    assert wins < -0.9 * games  # Better wins against almost any play without a plan


def test_a_seat_of_its_own() -> None:
    batch = VectorPente(20, opponents=["random", "random"], seat=1).reset()
    assert batch.player.tolist() == [1] * 20


def test_opponents_that_observe_see_every_stone() -> None:
    vec = VectorPente(1, opponents=[Player("observing", observing, observes=True)], seat=0)
    vec.reset()
    vec.step([24])
    vec.step([48])
    assert vec._arrays.memory[0, 1, 0] == vec.games[0].moves == 4


def test_an_opponent_that_fails() -> None:
    rules = pe.Rules(size=5)  # its points are those of a board of 7 x 7
    vec = VectorPente(3, opponents=[LIKE], rules=rules, seat=1)
    with pytest.raises(IllegalActionError, match="leaning"):
        vec.reset()
    with pytest.raises(ConfigurationError, match="reset"):
        vec.step([0, 0, 0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_games": 0}, "num_games=0"),
        ({"num_players": 4}, "whole number from 2 to 3"),
        ({"num_players": 0}, "whole number from 2 to 3"),
        ({"num_players": 2, "opponents": ["random", "random"]}, "a table of 3"),
        ({"opponents": "random"}, "must be a list"),
        ({"opponents": ["rundom"]}, "'random'"),
        ({"seat": 2}, "seat from 0 to 1"),
        ({"encoding": "planes"}, "standard"),
        ({"threads": 0}, "threads=0"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        VectorPente(**options)


def test_wrong_actions_change_nothing() -> None:
    vec = VectorPente(3)
    with pytest.raises(ConfigurationError, match="reset"):
        vec.step([24, 24, 24])
    vec.reset()
    before = vec.games.tobytes()
    for wrong, error, words in (
        ([24, 0, 24], IllegalActionError, r"Game 1 of 3: Point A7.*Legal: D4"),
        ([24, 24, 49], IllegalActionError, "Game 2 of 3"),
        ([24, 24], ConfigurationError, r"shape \(3,\)"),
        ([24.0] * 3, ConfigurationError, "integers"),
    ):
        with pytest.raises(error, match=words):
            vec.step(wrong)
        assert vec.games.tobytes() == before
