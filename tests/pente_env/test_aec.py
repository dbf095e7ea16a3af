"""The PettingZoo environment."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test

import pente_env as pe
from monopoly_env.errors import (
    ConfigurationError,
    GameOverError,
    IllegalActionError,
    RenderModeError,
    RulesError,
)
from pente_env import pente_v0

TABLES = [
    (2, "schrum"),
    (3, "schrum"),
    (2, "tournament"),
    (3, pe.Rules(size=5, captures="keryo", opening="free")),
]


def choose(mask: Any, number: int) -> int:
    """A legal action that depends on nothing but the mask and a number."""
    legal = np.flatnonzero(mask)
    return int(legal[number * 7919 % len(legal)])


def play(env: Any, steps: int, first: int = 0) -> list[Any]:
    """Take steps; the selected agents, their rewards and the digests of the game."""
    story = []
    for number in range(first, first + steps):
        if not env.agents:
            break
        observation, reward, terminated, _, _ = env.last()
        story.append((env.agent_selection, reward, pe.digest(env.game)))
        env.step(None if terminated else choose(observation["action_mask"], number))
    return story


@pytest.mark.parametrize(("players", "rules"), TABLES, ids=str)
def test_api(players: int, rules: Any, capsys: pytest.CaptureFixture[str]) -> None:
    api_test(pente_v0.env(players, rules), num_cycles=100)
    seed_test(lambda: pente_v0.raw_env(players, rules), num_cycles=25)
    assert "Passed API test" in capsys.readouterr().out


def test_render(capsys: pytest.CaptureFixture[str]) -> None:
    render_test(lambda render_mode: pente_v0.env(3, render_mode=render_mode))
    env = pente_v0.env(render_mode="human")
    env.reset(seed=1)
    capsys.readouterr()
    assert env.render() is None
    assert capsys.readouterr().out.rstrip("\n") == pe.to_text(env.game)


def test_by_name() -> None:
    env = pettingzoo.make("aec", "pente-v0", num_players=3)
    assert env.possible_agents == ["player_0", "player_1", "player_2"]


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))],  # noqa: S301 - our own
    ids=["deepcopy", "pickle"],
)
def test_copies_in_the_middle_of_a_game_go_on_alike(players: int, copied: Any) -> None:
    env = pente_v0.env(players)
    env.reset(seed=4)
    play(env, 17)
    other = copied(env)
    assert play(env, 100, 17) == play(other, 100, 17)
    assert not env.agents


@pytest.mark.parametrize("players", [2, 3])
def test_rewards_sum_to_zero(players: int) -> None:
    endings = set()
    for seed in range(40):
        env = pente_v0.env(players)
        env.reset(seed=seed)
        total = dict.fromkeys(env.possible_agents, 0.0)
        for number, agent in enumerate(env.agent_iter()):
            observation, reward, terminated, truncated, _ = env.last()
            assert not truncated
            total[agent] += reward
            env.step(
                None if terminated else choose(observation["action_mask"], number * number + seed)
            )
        winner = pe.winner(env.game)
        endings.add(winner)
        expected = [
            0.0 if winner is None else 1.0 if seat == winner else -1 / (players - 1)
            for seat in range(players)
        ]
        assert list(total.values()) == expected
    assert len(endings) > 1


def test_observations() -> None:
    env = pente_v0.env(3)
    env.reset(seed=0)
    for point in (24, 0, 6):
        env.step(point)
    first, second, third = (
        env.observe(agent)["observation"][:147].reshape(49, 3) for agent in env.possible_agents
    )
    assert [first[24].tolist(), first[0].tolist(), first[6].tolist()] == [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
    ]
    assert [second[24].tolist(), second[0].tolist(), second[6].tolist()] == [
        [0, 0, 1],
        [1, 0, 0],
        [0, 1, 0],
    ]
    assert third.sum() == 3
    assert env.observe("player_1")["action_mask"].sum() == 0
    assert env.observe("player_0")["action_mask"].sum() == 46
    assert env.state().tolist() == env.observe("player_0")["observation"].tolist()
    env.game.captured[1] = 4
    assert env.observe("player_0")["observation"][147:].tolist() == pytest.approx([0, 0.4, 0])
    assert env.observe("player_2")["observation"][147:].tolist() == pytest.approx([0, 0, 0.4])


def test_an_illegal_action_changes_nothing() -> None:
    env = pente_v0.env()
    env.reset(seed=0)
    env.step(24)
    before = pe.digest(env.game)
    for wrong, error in (
        (24, IllegalActionError),
        (49, IllegalActionError),
        (None, ConfigurationError),
        (1.0, ConfigurationError),
    ):
        with pytest.raises(error):
            env.step(wrong)  # type: ignore[arg-type]
        assert pe.digest(env.game) == before
        assert env.agent_selection == "player_1"


def test_order_of_calls() -> None:
    env = pente_v0.env()
    with pytest.raises(ConfigurationError, match="reset"):
        env.last()
    with pytest.raises(GameOverError, match="reset"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(ConfigurationError, match="player_0, player_1"):
        env.observe("player_2")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"num_players": 4}, ConfigurationError, "whole number from 2 to 3"),
        ({"rules": "chess"}, RulesError, "'chess'"),
        ({"rules": 7}, RulesError, "7"),
        ({"encoding": "standart"}, ConfigurationError, "'standard'"),
        ({"render_mode": "text"}, RenderModeError, "ansi"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        pente_v0.env(**options)
