"""The PettingZoo environment."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test, state_test

import monopoly_env as me
from monopoly_env import encoding, monopoly_v0, rewards
from monopoly_env.actions import DECISION_NAMES, HEADS, NUM_ACTIONS
from tests.play import chosen
from tests.programs import python

TABLES = [(preset, players) for preset in me.Rules.presets() for players in (2, 3, 4, 8)]


def play(env: Any, steps: int, first: int = 0) -> list[Any]:
    """Take steps; the selected agents, their rewards and the digests of the game."""
    story = []
    for number in range(first, first + steps):
        if not env.agents:
            break
        observation, reward, terminated, truncated, _ = env.last()
        story.append((env.agent_selection, reward, me.digest(env.game)))
        env.step(None if terminated or truncated else chosen(observation["action_mask"], number))
    return story


@pytest.mark.parametrize(("preset", "players"), TABLES)
def test_api(preset: str, players: int, capsys: pytest.CaptureFixture[str]) -> None:
    api_test(monopoly_v0.env(players, preset), num_cycles=25)
    seed_test(lambda: monopoly_v0.raw_env(players, preset), num_cycles=25)
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.parametrize("players", [2, 3, 4, 8])
def test_render(players: int, capsys: pytest.CaptureFixture[str]) -> None:
    render_test(lambda render_mode: monopoly_v0.env(players, render_mode=render_mode))
    env = monopoly_v0.env(players, render_mode="human")
    env.reset(seed=1)
    capsys.readouterr()
    assert env.render() is None
    assert capsys.readouterr().out.rstrip("\n") == me.to_text(env.game).rstrip("\n")


def test_pictures() -> None:
    env = monopoly_v0.env(3, render_mode="rgb_array")
    env.reset(seed=1)
    pixels = env.render()
    assert pixels.shape == (732, 732, 3)
    assert pixels.dtype == np.uint8
    drawn = monopoly_v0.env(3, render_mode="svg")
    drawn.reset(seed=1)
    assert drawn.render() == str(me.draw(env.game))


def test_by_name() -> None:
    script = (
        "import {0}; import {1}; print(pettingzoo.make('aec', 'monopoly-v0',"
        " num_players=3).possible_agents)"
    )
    for order in (("pettingzoo", "monopoly_env"), ("monopoly_env", "pettingzoo")):
        done = python("-W", "error", "-c", script.format(*order))
        assert done.stdout == "['player_0', 'player_1', 'player_2']\n", done.stderr
    assert isinstance(monopoly_v0.env(), pettingzoo.AECEnv)


def not_asked(info: Any) -> bool:
    """Whether an info is that of an agent that is not to move."""
    return (
        set(info) == {"decision", "heads"}
        and info["decision"] == 0
        and info["heads"].dtype == np.int8
        and not info["heads"].any()
    )


def test_last_describes_the_decision() -> None:
    env = monopoly_v0.env(3)
    env.reset(seed=5)
    asked = set()
    for number in range(400):
        observation, _, terminated, truncated, info = env.last()
        seat = env.possible_agents.index(env.agent_selection)
        assert not terminated
        assert not truncated
        assert seat == env.game.player
        assert type(info["decision"]) is int
        assert info["decision"] == env.game.decision
        assert info["heads"].dtype == np.int8
        assert info["heads"].tolist() == [
            observation["action_mask"][head.slice].any() for head in HEADS.values()
        ]
        assert (observation["observation"] == encoding.observe(env.game)).all()
        assert (observation["action_mask"] == me.action_mask(env.game)).all()
        for other in env.agents:
            if other != env.agent_selection:
                assert not_asked(env.infos[other])
                assert not env.observe(other)["action_mask"].any()
                seen = env.observe(other)["observation"]
                assert (
                    seen == encoding.observe(env.game, seat=env.possible_agents.index(other))
                ).all()
        assert (env.state() == encoding.observe(env.game, seat=0)).all()
        asked.add(DECISION_NAMES[info["decision"]])
        env.step(chosen(observation["action_mask"], number))
    assert {"buy", "bid", "turn", "trade_ask", "reply"} <= asked


def test_every_agent_has_the_same_infos_at_all_times() -> None:
    env = monopoly_v0.env(4, turn_limit=40)
    shapes = set()
    for seed in range(3):
        env.reset(seed=seed)
        number = 0
        while env.agents:
            assert list(env.infos) == env.agents
            shapes |= {
                tuple(
                    (key, np.shape(value), np.asarray(value).dtype.name)
                    for key, value in info.items()
                )
                for info in env.infos.values()
            }
            play(env, 1, first=number)
            number += 1
    assert shapes == {(("decision", (), "int64"), ("heads", (14,), "int8"))}


def test_observations_and_infos_are_copies() -> None:
    env = monopoly_v0.env(2)
    env.reset(seed=0)
    before = env.observe("player_0"), env.observe("player_1")
    info = env.last()[-1]
    heads = info["heads"].copy()
    kept = copy.deepcopy(before)
    play(env, 50)
    assert (info["heads"] == heads).all()
    for now, then in zip(before, kept, strict=True):
        assert (now["observation"] == then["observation"]).all()
        assert (now["action_mask"] == then["action_mask"]).all()


@pytest.mark.parametrize("name", rewards.names())
@pytest.mark.parametrize("players", [2, 4])
def test_a_whole_game(players: int, name: str) -> None:
    env = monopoly_v0.env(players, me.Rules.preset("official", max_turns=400), reward=name)
    env.reset(seed=3)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    given = dict.fromkeys(env.possible_agents, 0.0)
    left = []
    number = 0
    while env.agents:
        agent = env.agent_selection
        observation, reward, terminated, truncated, info = env.last()
        assert not truncated
        paid[agent] += reward
        if terminated:
            left.append(agent)
            assert not_asked(info)
            assert not observation["action_mask"].any()
        env.step(None if terminated else chosen(observation["action_mask"], number))
        assert agent in env.agents or terminated
        number += 1
        for other, amount in env.rewards.items():
            given[other] += amount
    assert sorted(left) == env.possible_agents
    assert me.is_over(env.game)
    assert paid == pytest.approx(given)
    assert sum(paid.values()) == pytest.approx(0.0, abs=1e-5)
    # What was paid on the way adds up to the reward of the final ranking; shaping adds up to
    # nothing.
    final = rewards.make(name.removesuffix("_shaped")).after(env.game, np.zeros(players))
    assert list(paid.values()) == pytest.approx(final.tolist(), abs=1e-5)


def test_a_bankrupt_agent_leaves_at_once() -> None:
    env = monopoly_v0.env(4)
    env.reset(seed=0)
    number = 0
    while not env.terminations[env.agent_selection]:
        env.step(chosen(env.last()[0]["action_mask"], number))
        number += 1
    ruined = env.agent_selection
    assert not me.is_over(env.game)
    assert env.game.place[env.possible_agents.index(ruined)] == 4
    assert env.last()[1] == pytest.approx(-1 / 3)
    assert env.agents == env.possible_agents
    with pytest.raises(me.ConfigurationError, match="is out"):
        env.step(10)
    env.step(None)
    assert env.agents == [agent for agent in env.possible_agents if agent != ruined]
    assert env.agent_selection == f"player_{env.game.player}"
    assert env.last()[0]["action_mask"].any()


def test_turn_limit_truncates_and_a_cap_of_the_rules_terminates() -> None:
    env = monopoly_v0.env(3, turn_limit=2)
    env.reset(seed=0)
    play(env, 10_000)
    assert env.game.turns == 2 * 3 + 1
    assert not me.is_over(env.game)
    env.reset(seed=0)
    while not any(env.truncations.values()):
        play(env, 1)
    assert all(env.truncations.values())
    assert not any(env.terminations.values())
    capped = monopoly_v0.env(3, me.Rules(max_rounds=2), turn_limit=2)
    capped.reset(seed=0)
    while not any(capped.terminations.values()):
        assert not any(capped.truncations.values())
        play(capped, 1)
    assert me.is_over(capped.game)


@pytest.mark.parametrize(
    "duplicate",
    [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))],  # noqa: S301
    ids=["deepcopy", "pickle"],
)
def test_copies_go_on_alike(duplicate: Callable[[Any], Any]) -> None:
    env = monopoly_v0.env(4, reward="net_worth_shaped")
    env.reset(seed=9)
    play(env, 300)
    twin = duplicate(env)
    assert twin.state() == pytest.approx(env.state())
    story = play(env, 2000, first=300)
    assert play(twin, 2000, first=300) == story
    assert len(story) > 1000


@pytest.mark.parametrize("players", [2, 4])
def test_an_illegal_action_may_end_the_game(players: int) -> None:
    env = monopoly_v0.env(players, illegal="penalize", reward="net_worth_shaped")
    env.reset(seed=1)
    play(env, 200)
    digest, offender = me.digest(env.game), env.agent_selection
    env.step(int(env.last()[0]["action_mask"].argmin()))
    assert me.digest(env.game) == digest
    assert env.rewards == {
        agent: -1.0 if agent == offender else 0.0 for agent in env.possible_agents
    }
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    assert all(not_asked(info) for info in env.infos.values())
    assert env.agent_selection == env.agents[0]
    rewards = {}
    for agent in env.agent_iter():
        observation, rewards[agent], terminated, _, _ = env.last()
        assert terminated
        assert not observation["action_mask"].any()
        env.step(None)
    assert rewards[offender] == -1.0
    assert len(rewards) == players


def test_a_player_may_be_out_when_the_game_begins() -> None:
    rules = me.Rules(start_cash=1, go_salary=0, doubles_again=False, auction="none", trade="none")
    env = monopoly_v0.env(4, rules)
    out = 0
    for seed in range(30):
        env.reset(seed=seed)
        out += any(env.terminations.values())
        play(env, 10_000)
        assert not env.agents
    assert out > 0


def test_a_refused_action_changes_nothing() -> None:
    env = monopoly_v0.env(2)
    env.reset(seed=0)
    play(env, 40)
    before = pickle.dumps(env)
    for action in np.flatnonzero(env.last()[0]["action_mask"] == 0):
        with pytest.raises(me.IllegalActionError, match="Legal: "):
            env.step(int(action))
    for action in (-1, NUM_ACTIONS, 1.0, "buy", None, True, np.array([1, 2])):
        with pytest.raises(me.ConfigurationError, match="0 to 204"):
            env.step(action)
    assert pickle.dumps(env) == before
    env.step(int(env.last()[0]["action_mask"].argmax()))
    assert pickle.dumps(env) != before


def test_state_space() -> None:
    env = monopoly_v0.env(3, illegal="random")  # the test draws from all actions
    state_test(env, env)
    assert env.state() in env.state_space


def test_seeds() -> None:
    env = monopoly_v0.env(3)
    env.reset(seed=2**64 - 1)
    assert me.digest(env.game) == me.digest(me.new_game(3, seed=2**64 - 1))
    following = []
    for _ in range(2):
        env.reset(seed=4)
        env.reset()
        following.append(me.digest(env.game))
        env.reset()
        assert me.digest(env.game) != following[-1]
    assert following[0] == following[1]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"turn_limit": 0}, "turn_limit=0"),
        ({"render_mode": "rgb"}, "ansi"),
        ({"illegal": "penalise"}, "'penalize'"),
    ],
)
def test_bad_arguments(wrong: Any, named: str) -> None:
    with pytest.raises(me.MonopolyError, match=named):
        monopoly_v0.env(**wrong)


def test_bad_seed_and_agent() -> None:
    env = monopoly_v0.env()
    with pytest.raises(me.ConfigurationError, match="2\\*\\*64"):
        env.reset(seed=-1)
    env.reset(seed=0)
    with pytest.raises(me.ConfigurationError, match="player_3"):
        env.observe("player_4")
