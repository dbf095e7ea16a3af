"""The record: the complete state of a game in one NumPy structured scalar.

Copying, comparing, hashing and branching a game are array operations on it. A batch of games is an
array of records.

Stones are sets of bits, one word a row and seat, so that a rule looks at all points of a row at
once:

    stones[seat, PAD + r], bit PAD + c        the stone on row r, column c

Row 0 is the top line of the board. `PAD` empty rows and columns on every side stand for what is off
the board, so no rule has to ask where the edge is. Points are numbered row by row: point = size * r
+ c.

A board of up to 7 x 7 points also fits into one word, of which column 7 is always empty. Questions
about all points are then answered for the whole board at once (`pente_env.lines`):

    whole[seat], bit 8 * r + c                the same stone
"""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

import numpy as np

from monopoly_env.kernels.records import pickle_writable
from monopoly_env.kernels.signatures import Records
from pente_env.rules import MAX_SIZE, RULES

MIN_PLAYERS: Final = 2
MAX_PLAYERS: Final = 3
NOBODY: Final = -1

PAD: Final = 5  # a line is looked at as far as five points away
ROWS: Final = MAX_SIZE + 2 * PAD
SMALL: Final = 7  # the largest board that fits into a word

# Why a game is over: `Game.ending`.
ENDINGS: Final = ("none", "five", "pairs", "five+pairs", "full")
RUNNING, FIVE, PAIRS, FIVE_AND_PAIRS, FULL = range(len(ENDINGS))

GAME: Final = np.dtype(
    (
        np.record,
        [
            ("seed", np.int64, (2,)),  # low and high half, 32 bits each
            ("whole", np.int64, (MAX_PLAYERS,)),  # the stones on a small board, otherwise 0
            ("whole_empty", np.int64),  # the empty points of a small board
            ("stones", np.int32, (MAX_PLAYERS, ROWS)),
            ("empty", np.int32, (ROWS,)),  # empty points
            ("captured", np.int32, (MAX_PLAYERS,)),  # stones that a seat has taken
            ("draws", np.int32, (MAX_PLAYERS,)),  # random numbers that a seat has drawn
            ("moves", np.int32),  # stones put so far
            ("free", np.int32),  # how many points are empty
            ("rules", RULES),
            ("num_players", np.int16),
            ("player", np.int16),  # the seat to move
            ("last", np.int16),  # the point of the last stone; -1: none yet
            ("winner", np.int16),  # a seat; -1: nobody
            # Why the game is over: an index into ENDINGS; 0 while it is running
            ("ending", np.int16),
            ("spare", np.int16, (3,)),  # fills the record up to a multiple of 8 bytes
        ],
    )
)
assert GAME.itemsize % 8 == 0
pickle_writable(GAME)

# A game is one record of the dtype GAME; NumPy's scalar type for it is np.record.
Game: TypeAlias = Annotated[Any, Records(GAME, 0)]
Games: TypeAlias = Annotated[np.ndarray[Any, np.dtype[np.void]], Records(GAME)]


def empty_games(count: int) -> Games:
    """An array of `count` records, all zeros."""
    return np.zeros(count, GAME)
