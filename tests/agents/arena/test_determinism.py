"""Promise 5: the same seed is the same game, alone, in batches, on any number of threads.

The golden games show it of compiled and plain Python, `test_whole_games` of every preset.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import monopoly_env as me
from agents import arena
from monopoly_env.engine.randomness import POLICIES
from monopoly_env.kernels.philox import philox

ARENA = ("place", "first", "turns", "decisions", "capped", "seeds", "seats")


def choose(legal: Any, seed: int, number: int) -> int:
    """A random legal action: a function of (seed, number) and of what is legal."""
    return int(legal[philox(number, POLICIES, 0, 0, seed & 0xFFFFFFFF, seed >> 32) % len(legal)])


def alone(seed: int, decisions: int, players: int, rules: str) -> list[str]:
    """The digests of a game stepped by itself, until it ends."""
    game = me.new_game(players, rules, seed)
    story = [me.digest(game)]
    for number in range(decisions):
        if me.is_over(game):
            break
        me.step(game, choose(me.legal_actions(game), seed, number))
        story.append(me.digest(game))
    return story


def in_step(
    count: int, decisions: int, players: int, rules: str, threads: int, watched: int
) -> dict[int, list[str]]:
    """The same of games of a vector, by their seeds; only the first game at each place."""
    vec = me.VectorMonopoly(count, players, rules, seed=77, threads=threads)
    batch = vec.reset()
    seeds = [int(seed) for seed in vec.seeds]
    stories = {seeds[i]: [me.digest(vec.games[i])] for i in range(watched)}
    running = [True] * watched
    for number in range(decisions):
        actions = batch.action_mask.argmax(axis=1)
        for i in range(watched):
            actions[i] = choose(np.flatnonzero(batch.action_mask[i]), seeds[i], number)
        batch = vec.step(actions)
        ended = dict(zip(batch.finished.tolist(), batch.final_games, strict=True))
        for i in range(watched):
            if running[i]:
                stories[seeds[i]].append(me.digest(ended.get(i, vec.games[i])))
                running[i] = i not in ended
    return stories


@pytest.mark.parametrize(
    ("count", "threads"), [(1, 1), (7, 1), (7, 2), (600, 2), (4096, 1), (4096, 2)]
)
@pytest.mark.parametrize(("players", "rules"), [(4, "official"), (2, "ocnaru")])
def test_a_game_of_a_batch_is_the_game_alone(
    count: int, threads: int, players: int, rules: str
) -> None:
    decisions = 400 if count < 100 else 30
    stories = in_step(count, decisions, players, rules, threads, min(count, 7))
    assert len(stories) == min(count, 7)
    for seed, story in stories.items():
        assert story == alone(seed, decisions, players, rules)
        assert len(set(story)) == len(story) > 20


def test_the_same_seed_twice() -> None:
    assert (
        alone(5, 500, 4, "official") == alone(5, 500, 4, "official") != alone(6, 500, 4, "official")
    )


def test_arena_results_do_not_depend_on_threads() -> None:
    players = ["algorithmic", "random/no_trades", "random"]
    results = [arena.play(players, 30, seed=8, threads=threads) for threads in (1, 2, 5)]
    for other in results[1:]:
        for name in ARENA:
            assert np.array_equal(getattr(results[0], name), getattr(other, name)), name
    assert not np.array_equal(
        arena.play(players, 30, seed=9, threads=1).decisions, results[0].decisions
    )
