"""Kernels stay within their tables.

Games of all presets and edited records, played and looked at by code that checks every index.
"""

from __future__ import annotations

import os
from pathlib import Path

import monopoly_env as me
from tests.programs import python

# Plays at random. An index beyond its table is an IndexError here; without the checks it would read
# or write other memory.
PROGRAM = """
import numpy as np
import monopoly_env as me
from monopoly_env import core
from monopoly_env.kernels import entry

@entry
def beyond(games, seat):
    return games[0].cash[seat]

def play(game, decisions):
    for _ in range(decisions):
        legal = me.legal_actions(game)
        if not len(legal):
            break
        me.step(game, int(rng.choice(legal)))

def edit(game):
    name = str(rng.choice(me.GAME.names))
    field = core.batch_of(game)[name]
    numbers = (field.view(np.int32) if name == "rules" else field).reshape(-1)  # a view
    place = int(rng.integers(len(numbers)))
    small, flipped = int(rng.integers(-9, 99)), int(numbers[place]) ^ 1 << int(rng.integers(15))
    numbers[place] = rng.choice((-1, 1, 5, 30, 1 << 14, -(1 << 15), small, flipped))

rng = np.random.default_rng(1)
try:
    beyond(me.new_games([0]), 8)
except IndexError:
    pass
else:
    raise SystemExit("indices are not checked")
refused = played = 0
for preset in me.Rules.presets():
    for players in (2, 3, 8):
        game = me.new_game(players, preset, seed=players)
        play(game, 60)
        for _ in range(60):
            play(game, 3)
            edited = me.clone(game)
            for _ in range(int(rng.integers(1, 4))):
                edit(edited)
            try:
                core.settle(edited)
                play(edited, 12)
                played += 1
            except me.MonopolyError:
                refused += 1
            try:
                me.step(me.clone(edited), int(rng.integers(205)))
            except me.MonopolyError:
                refused += 1
print(refused, played)
"""


def with_checks(*program: str) -> tuple[int, int]:
    """The two numbers that a Python program prints."""
    folders = os.pathsep.join(
        str(folder) for folder in (Path(me.__file__).parents[1], Path(__file__).parents[2])
    )
    done = python(*program, NUMBA_BOUNDSCHECK=1, PYTHONPATH=folders)
    first, second = (int(number) for number in done.stdout.split())
    return first, second


def test_no_index_leaves_its_table_whatever_was_edited() -> None:
    refused, played = with_checks("-c", PROGRAM)
    assert refused > 500
    assert played > 200


def test_no_public_function_leaves_a_table_whatever_was_edited() -> None:
    """In `edited_records` each field is set to its extremes."""
    refused, calls = with_checks("-m", "tests.bounds.edited_records")
    assert calls > 200_000
    assert refused > 100_000
