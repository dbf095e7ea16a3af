"""TextArena: whole games, answers that can't be read, talk, and the same game as anywhere else."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
import textarena as ta

import monopoly_env as me
from monopoly_bench.textarena import NAME, MonopolyTextEnv


def legal(observation: str) -> list[str]:
    return re.findall(r"^(\d+): ", observation.split("Legal actions:")[1], re.MULTILINE)


def made(**options: Any) -> Any:
    env = ta.make(NAME, **options)
    assert isinstance(env.env, MonopolyTextEnv)
    return env


@pytest.mark.parametrize("players", [2, 4])
def test_games_are_played_to_their_end(players: int) -> None:
    env, rng, done = made(rules="short", turn_limit=10), random.Random(0), False
    env.reset(num_players=players, seed=3)
    game = me.new_game(players, "short", 3)
    assert me.digest(env.game) == me.digest(game)
    seen = 0
    while not done:
        player, observation = env.get_observation()
        assert player == env.game.player
        assert f"You are player {player}." in observation
        assert len(observation) < 6000
        done, _ = env.step(f"Let me see.\nACTION: {rng.choice(legal(observation))}")
        seen += 1
    rewards, infos = env.close()
    winner = me.winner(env.game)
    assert rewards == (
        dict.fromkeys(range(players), 0)
        if winner is None
        else {seat: 1 if seat == winner else -1 for seat in range(players)}
    )
    assert sum(infos[seat]["turn_count"] for seat in range(players)) == seen


def test_an_answer_that_can_not_be_read_is_told_why_once() -> None:
    env = made()
    env.reset(num_players=2, seed=1)
    player, observation = env.get_observation()
    assert env.step("I buy it.") == (False, {})
    again, told = env.get_observation()
    assert again == player
    assert "The last line of the answer must be" in told
    assert legal(told) == legal(observation)
    done, _ = env.step("ACTION: 999")
    assert done
    rewards, infos = env.close()
    assert rewards == {player: -1, 1 - player: 0}
    assert infos[player]["invalid_move"]


def test_players_talk_and_hear_no_thoughts() -> None:
    env = made(talk=True)
    env.reset(num_players=2, seed=1)
    first, observation = env.get_observation()
    assert "SAY: <at most" in observation
    env.step(f"My secret plan.\nSAY: Peace?\nACTION: {legal(observation)[0]}")
    while True:
        player, observation = env.get_observation()
        if player != first:
            break
        env.step(f"ACTION: {legal(observation)[0]}")
    assert '"Peace?"' in observation
    assert "secret" not in str(env.full_observations[player])
