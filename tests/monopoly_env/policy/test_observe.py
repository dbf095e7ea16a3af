"""Policies that observe: called once before the first decision of every turn, in every loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents import arena
from monopoly_env import monopoly_v0
from monopoly_env.engine.randomness import policy_draw
from monopoly_env.policy.match import Match
from monopoly_env.policy.protocol import CompiledPolicy
from monopoly_env.testing import CheckError, check_policy

SEEN, ASKED = 0, 1  # places in memory
TURNS = 40


@agents.observe_kernel
def look(game: Any, seat: int, params: Any, memory: Any) -> None:
    """Remember something of every turn, and in which seat that was seen."""
    memory[SEEN] += int(game.turns) * (1 + seat) + int(game.player)


@agents.observe_kernel
def draw(game: Any, seat: int, params: Any, memory: Any) -> None:
    memory[SEEN] = policy_draw(game, seat, 6)


@agents.policy_kernel
def by_memory(game: Any, mask: Any, params: Any, memory: Any) -> int:
    """A legal action that depends on all that was seen."""
    memory[ASKED] += 1
    left = int(memory[SEEN] + memory[ASKED]) % int(mask.sum())
    for action in range(len(mask)):
        if mask[action]:
            if left == 0:
                return action
            left -= 1
    return -1


@agents.policy_kernel
def first_legal(game: Any, mask: Any, params: Any, memory: Any) -> int:
    for action in range(len(mask)):
        if mask[action]:
            return action
    return -1


OBSERVES = CompiledPolicy("observes", by_memory, observe=look)
BLIND = CompiledPolicy("blind", by_memory)
FIRST = CompiledPolicy("first legal", first_legal)


def played_in_python(
    seed: int, policies: list[CompiledPolicy], asked: list[tuple[int, int]] | None = None
) -> list[int]:
    """The actions of a game; the turns and decisions of seat 0 are written to `asked`."""
    match = Match(me.new_game(len(policies), seed=seed), policies)
    while match.policy and match.game.turns <= TURNS:
        if asked is not None and match.game.player == 0:
            asked.append((int(match.game.turns), int(match.game.decision)))
        match.step(match.ask())
    return match.actions


def test_the_arena_and_a_loop_in_python_call_it_alike() -> None:
    results = arena.play([OBSERVES, BLIND], games=4, seed=3, turn_limit=TURNS // 2, record=4)
    by_name = {"observes": OBSERVES, "blind": BLIND}
    for replay in results.replays:
        assert list(replay.actions) == played_in_python(
            replay.seed, [by_name[name] for name in replay.names]
        )
    blind = arena.play([BLIND, BLIND], games=4, seed=3, turn_limit=TURNS // 2, record=4)
    assert any(
        list(one.actions) != list(two.actions)
        for one, two in zip(results.replays, blind.replays, strict=True)
    )


def test_the_vector_calls_it_at_the_turns_of_the_learner_too() -> None:
    vec = me.VectorMonopoly(1, 2, opponents=[OBSERVES], seat=0, seed=5, turn_limit=TURNS)
    batch = vec.reset()
    seed, asked = int(vec.games["seed"][0, 0]) | int(vec.games["seed"][0, 1]) << 32, []
    while not (batch.terminated[0] or batch.truncated[0]) and vec.games["turns"][0] <= TURNS:
        asked.append((int(vec.games["turns"][0]), int(batch.decision[0])))
        batch = vec.step(np.array([np.flatnonzero(batch.action_mask[0])[0]]))
    expected: list[tuple[int, int]] = []
    played_in_python(seed, [FIRST, OBSERVES], expected)
    assert asked == expected[: len(asked)]
    assert len(asked) > 20


def test_an_environment_of_pettingzoo_can_let_it_observe() -> None:
    env = monopoly_v0.raw_env(num_players=2, turn_limit=TURNS // 2)
    env.reset(seed=7)
    policies, chosen = [OBSERVES, BLIND], []
    match = Match(env.game, policies, actions=None)
    for agent in env.agent_iter():
        if env.terminations[agent] or env.truncations[agent]:
            env.step(None)
            continue
        chosen.append(match.ask())
        env.step(chosen[-1])
    assert chosen == played_in_python(7, policies)[: len(chosen)]
    assert len(chosen) > 20


def test_it_may_not_draw() -> None:
    options: dict[str, Any] = {
        "rules": ["official"],
        "num_players": [2],
        "games": 2,
        "turn_limit": 10,
        "saved": False,
        "pickled": False,
    }
    check_policy(OBSERVES, **options)
    with pytest.raises(CheckError, match="changed 'policy_draws' of a game"):
        check_policy(CompiledPolicy("draws", by_memory, observe=draw), **options)


def short(game: Any) -> None:
    """It takes too few arguments."""


def test_wrong_kernels_are_refused() -> None:
    with pytest.raises(
        me.ConfigurationError, match=r"observe=.* must be decorated with agents\.observe_kernel"
    ):
        CompiledPolicy("x", by_memory, observe=by_memory)  # type: ignore[arg-type]
    with pytest.raises(me.ConfigurationError, match=r"must take \(game, seat, params, memory\)"):
        agents.observe_kernel(short)  # type: ignore[arg-type]
