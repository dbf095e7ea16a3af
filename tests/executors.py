"""Games and numbers that are the same whoever carries the rules out: the library, Numba, Python.

`python -m tests.executors GAMES AGENT ...` prints a digest of each as JSON: of games of every
preset, of what networks see and values say of them, and of games of agents.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import agents
import monopoly_env as me
from monopoly_env import encoding
from monopoly_env.analyse.values import resolve
from monopoly_env.rules import PRESETS
from tests.golden import PLAYERS, choose

DECISIONS = 100  # of a game of random decisions
AGENT_GAMES = 4  # at most
AGENT_TURNS = 12  # of each player: networks in plain Python take a second for a turn
LEARNED_PLAYERS = 4  # the largest table of networks
OPPONENT = "strategic/default"


def preset(name: str, games: int) -> dict[str, str]:
    """Digests of games of random decisions, and of floats that are computed of their records."""
    players = PLAYERS.get(name, 4)
    records = me.new_games(range(games), players, name)
    for game in records:
        for number in range(DECISIONS):
            if me.is_over(game):
                break
            me.step(game, choose(game, number))
    rest = records[[not me.is_over(game) for game in records]]
    numbers = {"standard": encoding.observe_all(rest, "standard")}
    if players <= LEARNED_PLAYERS:
        numbers["compact"] = encoding.observe_all(rest, "compact")
        numbers |= {value: resolve(value).shares(rest) for value in ("worth", "best")}
    return {name: digest(records)} | {f"{name}: {key}": digest(numbers[key]) for key in numbers}


def agent(name: str, games: int) -> str:
    """A digest of the actions in games of an agent."""
    policy = agents.make(name)
    players = next(count for count in (4, 3, 2) if policy.plays_at(count))
    table = [policy, *[OPPONENT] * (players - 1)]
    results = agents.arena.play(table, games=games, seed=63, turn_limit=AGENT_TURNS, record=games)
    return digest(np.concatenate([np.array(replay.actions) for replay in results.replays]))


def digest(array: Any) -> str:
    """A short digest of numbers."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def digests(games: int, names: list[str]) -> Iterator[tuple[str, str]]:
    """All digests, by name."""
    for name in PRESETS:
        yield from preset(name, games).items()
    for name in names:
        yield name, agent(name, min(games, AGENT_GAMES))


def main() -> None:
    """Print the digests."""
    games, *names = sys.argv[1:]
    print(json.dumps(dict(digests(int(games), names))))


if __name__ == "__main__":
    main()
