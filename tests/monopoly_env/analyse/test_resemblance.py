"""Who plays like whom: counted as a plain loop would count.

It is sure of who it is, and careful with what it is given.
"""

from __future__ import annotations

import numpy as np
import pytest

import agents
import monopoly_env as me
from monopoly_env import core, replays
from monopoly_env.actions import DECISION_NAMES
from monopoly_env.analyse import Resemblance, resemblance
from monopoly_env.analyse.resemblance import Follower
from monopoly_env.policy.protocol import MEMORY, Decisions

MODELS = ("expert", "algorithmic", "fp/b/guarded", "yasumura")
STEPS = ("trade_ask", "trade_give", "trade_cash")


@pytest.fixture(scope="module")
def replay() -> replays.Replay:
    return agents.arena.play(
        ["expert", "fp/b/guarded", "yasumura"], games=1, seed=5, record=1
    ).replays[0]


def test_the_counts_are_those_of_a_plain_loop(replay: replays.Replay) -> None:
    models = [agents.make(name) for name in MODELS]
    memory = np.zeros((len(models), replay.num_players, 1, MEMORY))
    asked, agreed = (
        np.zeros(replay.num_players, int),
        np.zeros((replay.num_players, len(models)), int),
    )
    game = replays.start(replay)
    for action in replay.actions[:600].tolist():
        seat = int(game.player)
        if DECISION_NAMES[game.decision] not in STEPS:
            asked[seat] += 1
            for number, model in enumerate(models):
                agreed[seat, number] += (
                    model.act(Decisions(core.batch_of(game).copy(), memory[number, seat]))[0]
                    == action
                )
        me.step(game, action)
    found = resemblance(replays.start(replay), replay.actions[:600], MODELS)
    assert found.asked.tolist() == asked.tolist()
    assert found.agreed.tolist() == agreed.tolist()
    assert 0 < agreed.sum() < asked.sum() * len(models)


def test_a_game_is_followed_as_it_goes_on_or_takes_another_turn(replay: replays.Replay) -> None:
    start, actions = replays.start(replay), replay.actions
    follower = Follower(start, MODELS)
    for reached in (0, 10, 10, 300, 200, 600):  # back to 200: another game of the same seed
        whole, found = (
            resemblance(start, actions[:reached], MODELS),
            follower.follow(actions[:reached]),
        )
        assert found.asked.tolist() == whole.asked.tolist()
        assert found.agreed.tolist() == whole.agreed.tolist()
    with pytest.raises(me.ConfigurationError, match="Action 9999, number 600 of 601"):
        follower.follow([*actions[:600], 9999])
    assert follower.follow(actions[:600]).agreed.tolist() == found.agreed.tolist()


def test_players_are_known_by_what_they_did(replay: replays.Replay) -> None:
    # from any record of the game
    found = resemblance(replays.final(replay), replay.actions, MODELS)
    assert [found.names[number] for number in found.weights().argmax(axis=1)] == list(replay.names)
    assert found.weights().max(axis=1).min() > 0.99
    assert np.allclose(found.weights().sum(axis=1), 1)
    assert "fp/b/guarded 100%" in str(found)


def test_before_the_first_action_everybody_is_equally_likely(replay: replays.Replay) -> None:
    assert (resemblance(replays.start(replay), [], MODELS).weights() == 1 / len(MODELS)).all()


def test_the_weights_follow_bayes() -> None:
    found = Resemblance(("a", "b"), np.array([3]), np.array([[3, 1]]))
    assert found.weights(0.2)[0].tolist() == pytest.approx(
        [0.8**2 / (0.8**2 + 0.2**2), 0.2**2 / (0.8**2 + 0.2**2)]
    )


@pytest.mark.parametrize("doubt", [0, 0.5, -1, float("nan")])
def test_a_doubt_that_is_no_probability_is_refused(doubt: float) -> None:
    with pytest.raises(me.ConfigurationError, match="doubt="):
        Resemblance(("a",), np.array([1]), np.array([[1]])).weights(doubt)


def test_what_is_no_game_of_these_actions_is_refused(replay: replays.Replay) -> None:
    start = replays.start(replay)
    for actions, policies, told in (
        ([9999], MODELS, "Action 9999, number 0"),
        (np.flatnonzero(~core.action_mask(start))[:1], MODELS, "is not legal"),
        ([[0]], MODELS, "one row of whole numbers"),
        ([0.5], MODELS, "one row of whole numbers"),
        ([], [], "one or more compiled ones"),
        ([], ["search"], r"'search\S*' is not compiled"),
    ):
        with pytest.raises(me.ConfigurationError, match=told):
            resemblance(start, actions, policies)
    damaged = me.clone(start)
    damaged["rules"]["board"] = 99
    with pytest.raises(me.MonopolyError):
        resemblance(damaged, [], MODELS)


def test_a_game_begins_again_as_it_began(replay: replays.Replay) -> None:
    for rules in ("official", "ocnaru", "uk"):
        played = me.new_game(3, rules, replay.seed)
        for _ in range(50):
            me.step(played, int(me.legal_actions(played)[0]))
        assert core.restarted(played).tobytes() == me.new_game(3, rules, replay.seed).tobytes()
