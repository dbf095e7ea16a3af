"""The lines of the board: legal points, points that make five, that take stones, that end a run.

Every question is answered for many points at once. A *block* is what fits into a word: a whole
small board, or one row of a larger one. `points(game, seat, what, block)` is the set of its points,
as bits. A line is followed by shifting: `ahead` moves the stones that lie j steps further on to
where the line began, so that one `&` for each step says at which points the line looks like that.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from monopoly_env.engine import sets
from monopoly_env.kernels import kernel
from pente_env.game import PAD, RUNNING, SMALL, Game
from pente_env.rules import number

# What points can be asked for. Legal: where a stone may be put. Fives: where the seat would have
# five in a row. Captures: where it would take stones. Preparations: where a bracket may begin whose
# pair an opponent has still to complete. Prospects: the same, and those whose pair stands already.
# Fours and threes: ends of runs of exactly so many stones of an opponent.
KINDS: Final = ("legal", "fives", "captures", "preparations", "prospects", "fours", "threes")
LEGAL, FIVES, CAPTURES, PREPARATIONS, PROSPECTS, FOURS, THREES = range(len(KINDS))

# Eight directions (down, right): the first four are the axes, forward; the last four the same,
# backward.
AXES: Final = ("horizontal", "vertical", "down", "up")
DIRECTIONS: Final = np.array([(0, 1), (1, 0), (1, 1), (-1, 1), (0, -1), (-1, 0), (-1, -1), (1, -1)])

_EXACT: Final = number("overlines", "nothing")
_KERYO: Final = number("captures", "keryo")
_NO_CAPTURES: Final = number("captures", "none")
_FREE: Final = number("opening", "free")
_CENTRE: Final = number("opening", "centre")
_G_PENTE: Final = number("opening", "g_pente")


@kernel
def blocks(game: Game) -> int:
    """The number of blocks of a board."""
    return 1 if game.rules.side <= SMALL else int(game.rules.side)


@kernel
def point_of(game: Game, block: int, bits: int) -> int:
    """The first of the points of a block, which are not none."""
    bit = sets.lowest(bits)
    side = int(game.rules.side)
    return side * (bit >> 3) + (bit & 7) if side <= SMALL else side * block + bit - PAD


@kernel
def block_of(game: Game, r: int) -> int:
    """The block of a row."""
    return 0 if game.rules.side <= SMALL else r


@kernel
def bit_of(game: Game, r: int, c: int) -> int:
    """The place of a point in its block."""
    return 8 * r + c if game.rules.side <= SMALL else PAD + c


@kernel
def stones_of(game: Game, seat: int, block: int) -> int:
    """The points of a block where a seat has a stone."""
    return int(game.whole[seat] if game.rules.side <= SMALL else game.stones[seat, PAD + block])


@kernel
def stones_ahead(game: Game, seat: int, block: int, direction: int, j: int) -> int:
    """The points of a block from which a seat has a stone j steps further on in a direction."""
    if game.rules.side <= SMALL:
        return _whole_ahead(game.whole[seat], direction, j)
    return _row_ahead(game.stones[seat, PAD + block + j * DIRECTIONS[direction, 0]], direction, j)


@kernel
def empty_ahead(game: Game, block: int, direction: int, j: int) -> int:
    """The points of a block from which a point j steps further on in a direction is empty."""
    if game.rules.side <= SMALL:
        return _whole_ahead(game.whole_empty, direction, j)
    return _row_ahead(game.empty[PAD + block + j * DIRECTIONS[direction, 0]], direction, j)


@kernel
def _whole_ahead(whole: int, direction: int, j: int) -> int:
    """A small board as seen j steps before each point; column 7 stops the neighbouring rows."""
    steps = j * (8 * DIRECTIONS[direction, 0] + DIRECTIONS[direction, 1])
    return int(whole) >> steps if steps >= 0 else int(whole) << -steps


@kernel
def _row_ahead(row: int, direction: int, j: int) -> int:
    """A row as seen j steps before each of its points."""
    return (int(row) << PAD) >> (PAD + j * DIRECTIONS[direction, 1])


@kernel
def points(game: Game, seat: int, what: int, block: int) -> int:
    """The points of a block, as bits, at which a seat would do what is asked; legal ones only."""
    if what == LEGAL:
        return legal(game, block)
    found = 0
    if what == FIVES:
        found = _fives(game, seat, block)
    else:
        for opponent in range(game.num_players):
            if opponent != seat:
                if what == CAPTURES:
                    found |= captures(game, seat, opponent, block)
                elif what == FOURS or what == THREES:
                    found |= _ends(game, opponent, 4 if what == FOURS else 3, block)
                else:
                    found |= _prospects(game, opponent, what == PROSPECTS, block)
    return found & legal(game, block)


@kernel
def legal(game: Game, block: int) -> int:
    """Where a stone may be put (rule P6)."""
    small = game.rules.side <= SMALL
    if game.ending != RUNNING:
        return 0
    if game.moves > game.num_players:
        return int(game.whole_empty) if small else int(game.empty[PAD + block])
    if not small:
        return legal_row(game, block)
    whole = 0
    for r in range(game.rules.side):
        whole |= (legal_row(game, r) >> PAD) << 8 * r
    return whole


@kernel
def legal_row(game: Game, r: int) -> int:
    """Where a stone may be put in a row, one of the first of the game."""
    row = int(game.empty[PAD + r])
    opening, middle = int(game.rules.opening), int(game.rules.side) // 2
    if opening == _FREE or (
        game.moves > 0 and (game.moves != game.num_players or opening == _CENTRE)
    ):
        return row
    if game.moves == 0:
        return row & (1 << (PAD + middle)) if r == middle else 0
    near = 0b11111 if abs(r - middle) <= 2 else 0  # within two points of the centre, either way
    row &= ~(near << (PAD + middle - 2))
    if opening == _G_PENTE:
        if r == middle:
            row &= ~(0b111111111 << (PAD + middle - 4))
        if abs(r - middle) == 3 or abs(r - middle) == 4:
            row &= ~(1 << (PAD + middle))
    return row


@kernel
def _fives(game: Game, seat: int, block: int) -> int:
    """Where one more stone makes a run of five or more; or of exactly five."""
    found, exact = 0, game.rules.overlines == _EXACT
    if game.rules.side <= SMALL and sets.size(game.whole[seat]) < 4:
        return found
    for axis in range(4):
        # The points before and after which stand so many stones of the seat.
        b1, b2, b3, b4, b5 = _followed(game, seat, block, axis + 4)
        a1, a2, a3, a4, a5 = _followed(game, seat, block, axis)
        if exact:
            found |= (
                (a4 & ~a5 & ~b1)
                | (b1 & a3 & ~b2 & ~a4)
                | (b2 & a2 & ~b3 & ~a3)
                | (b3 & a1 & ~b4 & ~a2)
                | (b4 & ~b5 & ~a1)
            )
        else:
            found |= a4 | (b1 & a3) | (b2 & a2) | (b3 & a1) | b4
    return found


@kernel
def _followed(game: Game, seat: int, block: int, direction: int) -> tuple[int, int, int, int, int]:
    """The points of a block that at least one, two, ... five stones of a seat follow."""
    one = stones_ahead(game, seat, block, direction, 1)
    two = one & stones_ahead(game, seat, block, direction, 2)
    three = two & stones_ahead(game, seat, block, direction, 3)
    four = three & stones_ahead(game, seat, block, direction, 4)
    return one, two, three, four, four & stones_ahead(game, seat, block, direction, 5)


@kernel
def captures(game: Game, seat: int, opponent: int, block: int) -> int:
    """The points where a bracket around two stones of an opponent closes; in keryo, or three."""
    found = 0
    if game.rules.captures == _NO_CAPTURES:
        return found
    for direction in range(8):
        pair = stones_ahead(game, opponent, block, direction, 1) & stones_ahead(
            game, opponent, block, direction, 2
        )
        found |= pair & stones_ahead(game, seat, block, direction, 3)
        if game.rules.captures == _KERYO:
            found |= (
                pair
                & stones_ahead(game, opponent, block, direction, 3)
                & stones_ahead(game, seat, block, direction, 4)
            )
    return found


@kernel
def _prospects(game: Game, opponent: int, pairs: bool, block: int) -> int:
    """The points where a bracket may begin around one stone of an opponent; if `pairs`, or two."""
    found = 0
    for direction in range(8):
        second = empty_ahead(game, block, direction, 2)
        if pairs:
            second |= stones_ahead(game, opponent, block, direction, 2)
        found |= (
            stones_ahead(game, opponent, block, direction, 1)
            & second
            & empty_ahead(game, block, direction, 3)
        )
    return found


@kernel
def _ends(game: Game, owner: int, length: int, block: int) -> int:
    """The ends of the runs of exactly so many stones of a seat."""
    found = 0
    for direction in range(8):
        line = ~stones_ahead(game, owner, block, direction, length + 1)
        for j in range(1, length + 1):
            line &= stones_ahead(game, owner, block, direction, j)
        found |= line
    return found


@kernel
def first(game: Game, seat: int, what: int) -> int:
    """The first point, row by row, at which a seat would do what is asked; -1 if there is none."""
    for block in range(blocks(game)):
        found = points(game, seat, what, block)
        if found:
            return point_of(game, block, found)
    return -1


@kernel
def first_end(game: Game, owner: int, length: int) -> int:
    """The first point, row by row, that ends a run of exactly so many stones of a seat, or -1."""
    for block in range(blocks(game)):
        found = _ends(game, owner, length, block) & legal(game, block)
        if found:
            return point_of(game, block, found)
    return -1


@kernel
def count(game: Game, seat: int, what: int) -> int:
    """At how many points a seat would do what is asked."""
    total = 0
    for block in range(blocks(game)):
        total += sets.size(points(game, seat, what, block))
    return total


@kernel
def nth(game: Game, seat: int, what: int, number: int) -> int:
    """The point of this number, from 0, row by row, at which a seat would do what is asked."""
    for block in range(blocks(game)):
        found = points(game, seat, what, block)
        here = sets.size(found)
        if number < here:
            for _ in range(number):
                found &= found - 1
            return point_of(game, block, found)
        number -= here
    return -1


@kernel
def write_points(game: Game, seat: int, what: int, out: Any) -> None:
    """Write for every point whether a seat would do there what is asked: (size * size,)."""
    side = int(game.rules.side)
    whole = points(game, seat, what, 0) if side <= SMALL else 0
    for r in range(side):
        row = (whole >> 8 * r) & 0xFF if side <= SMALL else points(game, seat, what, r) >> PAD
        for c in range(side):
            out[side * r + c] = (row >> c) & 1


@kernel
def holds(game: Game, seat: int, r: int, c: int) -> bool:
    """Whether a seat has a stone at a point, which may be as far off the board as `PAD`."""
    return (int(game.stones[seat, PAD + r]) >> (PAD + c)) & 1 == 1


@kernel
def is_empty(game: Game, r: int, c: int) -> bool:
    """Whether a point is on the board and empty."""
    return (int(game.empty[PAD + r]) >> (PAD + c)) & 1 == 1
