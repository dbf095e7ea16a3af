"""A move: put a stone, take what it brackets, see whether the game has ended. In this order (P5).

Kernels on one record, and the random numbers that players draw from it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from monopoly_env.engine.sets import size
from monopoly_env.kernels import kernel, on_stack
from monopoly_env.kernels.philox import philox
from pente_env.game import (
    ENDINGS,
    FIVE,
    FIVE_AND_PAIRS,
    FULL,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NOBODY,
    PAD,
    PAIRS,
    ROWS,
    RUNNING,
    SMALL,
    Game,
)
from pente_env.lines import (
    DIRECTIONS,
    LEGAL,
    bit_of,
    block_of,
    captures,
    count,
    holds,
    is_empty,
    legal_row,
    nth,
)
from pente_env.options import choices_of
from pente_env.rules import MAX_SIZE, MIN_SIZE, Rules, number

_EXACT = number("overlines", "nothing")
_NO_CAPTURES = number("captures", "none")
_KERYO = number("captures", "keryo")
_OVERLINES, _OPENINGS, _CAPTURES = (
    len(choices_of(Rules, name)) for name in ("overlines", "opening", "captures")
)
_MOST: Final = 2_000_000_000  # counted in 32 bits
_WORD: Final = 0xFFFFFFFF


@kernel
def start(game: Game, num_players: int, seed_low: int, seed_high: int) -> None:
    """Begin a game by the rules in the record."""
    side = int(game.rules.side)
    game.seed[0], game.seed[1] = seed_low, seed_high
    game.whole_empty = 0
    for row in range(ROWS):
        for seat in range(MAX_PLAYERS):
            game.stones[seat, row] = 0
        game.empty[row] = ((1 << side) - 1) << PAD if PAD <= row < PAD + side else 0
    if side <= SMALL:
        for r in range(side):
            game.whole_empty |= ((1 << side) - 1) << 8 * r
    for seat in range(MAX_PLAYERS):
        game.captured[seat] = game.draws[seat] = game.whole[seat] = 0
    game.num_players, game.player, game.winner, game.last = num_players, 0, NOBODY, -1
    game.moves, game.free, game.ending = 0, side * side, RUNNING


@kernel
def is_legal(game: Game, point: int) -> bool:
    """Whether the seat to move may put a stone there."""
    side = int(game.rules.side)
    if game.ending != RUNNING or not 0 <= point < side * side:
        return False
    if game.moves > game.num_players:
        return is_empty(game, point // side, point % side)
    return (legal_row(game, point // side) >> (PAD + point % side)) & 1 == 1


@kernel
def turn_over(game: Game, seat: int, r: int, c: int) -> None:
    """Put a stone of a seat on an empty point, or take it away again."""
    bit = 1 << (PAD + c)
    game.stones[seat, PAD + r] ^= bit
    game.empty[PAD + r] ^= bit
    if game.rules.side <= SMALL:
        game.whole[seat] ^= 1 << (8 * r + c)
        game.whole_empty ^= 1 << (8 * r + c)
    game.free += 1 if is_empty(game, r, c) else -1


@kernel
def put(game: Game, point: int) -> int:
    """Put a stone of the seat to move on a legal point; how many stones it takes."""
    seat, side, taken = int(game.player), int(game.rules.side), 0
    r, c = point // side, point % side
    turn_over(game, seat, r, c)
    game.moves += 1
    game.last = point
    block, bit = block_of(game, r), bit_of(game, r, c)
    for opponent in range(game.num_players):
        if opponent != seat and (captures(game, seat, opponent, block) >> bit) & 1:
            taken += _take(game, seat, opponent, r, c)
    game.captured[seat] += taken
    _end(game, seat, r, c)
    game.player = seat + 1 if seat + 1 < game.num_players else 0
    return taken


@kernel
def _take(game: Game, seat: int, opponent: int, r: int, c: int) -> int:
    """Remove the stones of an opponent that this stone brackets in any direction; how many."""
    taken = 0
    for direction in range(8):
        length = bracketed(game, seat, opponent, r, c, direction)
        dr, dc = DIRECTIONS[direction, 0], DIRECTIONS[direction, 1]
        for j in range(1, length + 1):
            turn_over(game, opponent, r + j * dr, c + j * dc)
        taken += length
    return taken


@kernel
def bracketed(game: Game, seat: int, opponent: int, r: int, c: int, direction: int) -> int:
    """How many stones of an opponent a stone at this point takes in a direction."""
    dr, dc = DIRECTIONS[direction, 0], DIRECTIONS[direction, 1]
    pair = holds(game, opponent, r + dr, c + dc) and holds(game, opponent, r + 2 * dr, c + 2 * dc)
    if not pair:
        return 0
    length = 2
    if game.rules.captures == _KERYO and holds(game, opponent, r + 3 * dr, c + 3 * dc):
        length = 3
    return length if holds(game, seat, r + (length + 1) * dr, c + (length + 1) * dc) else 0


@kernel
def takes(game: Game, seat: int, point: int) -> int:
    """How many stones a seat would take by a stone at this point."""
    side, taken = int(game.rules.side), 0
    if game.rules.captures != _NO_CAPTURES:
        for opponent in range(game.num_players):
            if opponent != seat:
                for direction in range(8):
                    taken += bracketed(game, seat, opponent, point // side, point % side, direction)
    return taken


@kernel
def _end(game: Game, seat: int, r: int, c: int) -> None:
    """End the game if this stone has ended it."""
    five = _makes_five(game, seat, r, c)
    pairs = game.captured[seat] >= (15 if game.rules.captures == _KERYO else 10)
    if five or pairs:
        game.winner = seat
        game.ending = FIVE_AND_PAIRS if five and pairs else FIVE if five else PAIRS
    elif game.free == 0:
        game.ending = FULL


@kernel
def _makes_five(game: Game, seat: int, r: int, c: int) -> bool:
    """Whether a stone is part of a run of five or more; or of exactly five."""
    for axis in range(4):
        dr, dc = DIRECTIONS[axis, 0], DIRECTIONS[axis, 1]
        run = 1 + reach(game, seat, r, c, dr, dc) + reach(game, seat, r, c, -dr, -dc)
        if run == 5 or (run > 5 and game.rules.overlines != _EXACT):
            return True
    return False


@kernel
def reach(game: Game, seat: int, r: int, c: int, dr: int, dc: int) -> int:
    """How many stones of a seat follow a point in a direction, without a gap."""
    steps = 0
    while holds(game, seat, r + (steps + 1) * dr, c + (steps + 1) * dc):
        steps += 1
    return steps


@kernel
def draw(game: Game, seat: int, bound: int) -> int:
    """The next random number of a seat, from 0 to bound - 1.

    It is the only source of chance for a player.
    """
    word = int(philox(int(game.draws[seat]), 0, int(seat), 0, int(game.seed[0]), int(game.seed[1])))
    game.draws[seat] += 1
    return (word * bound) >> 32


@kernel
def anywhere(game: Game, seat: int) -> int:
    """Any legal point, drawn from the stream of a seat."""
    return nth(game, seat, LEGAL, draw(game, seat, count(game, seat, LEGAL)))


@kernel
def has_five(game: Game) -> bool:
    """Whether a seat has five in a row."""
    side = int(game.rules.side)
    for seat in range(game.num_players):
        for point in range(side * side):
            r, c = point // side, point % side
            if holds(game, seat, r, c) and _makes_five(game, seat, r, c):
                return True
    return False


@kernel
def is_sound(game: Game) -> bool:
    """Whether the numbers of a record are those of a board, which the other kernels rely on."""
    side, players, rules = int(game.rules.side), int(game.num_players), game.rules
    sound = MIN_SIZE <= side <= MAX_SIZE and MIN_PLAYERS <= players <= MAX_PLAYERS
    sound = sound and 0 <= rules.overlines < _OVERLINES
    sound = sound and 0 <= rules.opening < _OPENINGS and 0 <= rules.captures < _CAPTURES
    sound = sound and 0 <= game.player < players and NOBODY <= game.winner < players
    sound = sound and 0 <= game.ending < len(ENDINGS)
    sound = sound and -1 <= game.last < side * side and 0 <= game.moves <= _MOST
    sound = sound and 0 <= game.seed[0] <= _WORD and 0 <= game.seed[1] <= _WORD
    for seat in range(MAX_PLAYERS):
        sound = sound and 0 <= game.captured[seat] <= _MOST and 0 <= game.draws[seat] <= _MOST
    return sound and _is_board(game, side)


@kernel
def _is_board(game: Game, side: int) -> bool:
    """Whether all forms of the stones agree: one a point at most, and none beside the board."""
    line, free, whole_free, sound = (1 << side) - 1, 0, 0, True
    whole = on_stack(MAX_PLAYERS, np.int64)
    whole[:] = 0
    for row in range(ROWS):
        left, r = line << PAD if PAD <= row < PAD + side else 0, row - PAD
        for seat in range(MAX_PLAYERS):
            stones = int(game.stones[seat, row])
            sound = sound and stones & left == stones
            left &= ~stones
            if side <= SMALL and 0 <= r < side:
                whole[seat] |= ((stones >> PAD) & line) << 8 * r
        sound = sound and game.empty[row] == left
        free += size(left)
        if side <= SMALL and 0 <= r < side:
            whole_free |= (left >> PAD) << 8 * r
    for seat in range(MAX_PLAYERS):
        sound = sound and game.whole[seat] == whole[seat]
    return sound and game.whole_empty == whole_free and game.free == free
