"""Observations: numbers from 0 to 1, from the player's own seat.

For each point three numbers, 3 * point + k: k = 0 for an own stone, 1 for one of the player that
moves next, 2 for one of the player after. `schrum` is just that, the input of the networks in
Schrum's paper; there k = 1 and k = 2 both stand for the enemy if there is only one. `standard`
leaves k = 2 empty then, and ends with three more numbers: the stones that each of these players has
taken, as shares of those that win. So nothing that matters for the rest of a game is missing but
the opening rule, which the mask of legal actions shows.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError, check_seats, nearest, shortened
from monopoly_env.kernels import entry, kernel
from monopoly_env.kernels.signatures import Array1, Array2
from pente_env.core import check_sound
from pente_env.game import MAX_PLAYERS, Game, Games
from pente_env.lines import blocks, point_of, stones_of
from pente_env.rules import number

ENCODINGS: Final = ("standard", "schrum")
STANDARD, SCHRUM = range(len(ENCODINGS))
_KERYO: Final = number("captures", "keryo")


def check_encoding(encoding: str) -> str:
    """Validate the name of an encoding and return it.

    Raises:
        ConfigurationError: There is none of this name.
    """
    if encoding not in ENCODINGS:
        raise ConfigurationError(
            f"Unknown encoding {shortened(encoding)}. {nearest(shortened(encoding), ENCODINGS)}"
        )
    return encoding


def length_of(encoding: str, size: int) -> int:
    """How many numbers an observation of a board of this size has."""
    return 3 * size * size + (MAX_PLAYERS if check_encoding(encoding) == "standard" else 0)


@kernel
def list_stones(game: Game, seat: int, enemy_twice: bool, out: Any) -> int:
    """Write which numbers of an observation are 1 because of a stone, in rising order.

    Args:
        game: A game.
        seat: The seat that looks.
        enemy_twice: Whether an only enemy's stones are written as k = 1 and as k = 2.
        out: (N,) integers, long enough, receives the numbers.

    Returns:
        How many there are.
    """
    players, count = int(game.num_players), 0
    second, third = (seat + 1) % players, (seat + 2) % players
    if players == 2:
        third = second if enemy_twice else MAX_PLAYERS - 1  # the stones of a seat that is not there
    for block in range(blocks(game)):
        own, next_ = stones_of(game, seat, block), stones_of(game, second, block)
        after = stones_of(game, third, block)
        first_two, twice, taken = own | next_, next_ & after, own | next_ | after
        # Each step writes two numbers in any case, and keeps the second if there is such a stone
        while taken:
            lowest, at = taken & -taken, 3 * point_of(game, block, taken)
            out[count] = at + (own & lowest == 0) + (first_two & lowest == 0)
            out[count + 1] = at + 2
            count += 1 + (twice & lowest != 0)
            taken ^= lowest
    return count


@kernel
def write_observation(game: Game, seat: int, encoding: int, out: Any) -> None:
    """Write the observation of a seat."""
    for i in range(len(out)):
        out[i] = 0
    marked = np.empty(len(out) + 3, np.int64)
    for n in range(list_stones(game, seat, encoding == SCHRUM, marked)):
        out[marked[n]] = 1
    if encoding == STANDARD:
        side, players = int(game.rules.side), int(game.num_players)
        for k in range(players):
            captured, most = int(game.captured[(seat + k) % players]), 10.0
            if game.rules.captures == _KERYO:
                most = 15.0
            out[3 * side * side + k] = min(1.0, captured / most)


@entry
def write_observations(
    games: Games, seats: Array1[np.int64], encoding: int, out: Array2[np.float32]
) -> None:
    """Write the observation of one seat of each game: (B, D)."""
    for i in range(len(games)):
        write_observation(games[i], seats[i], encoding, out[i])


def observe(games: Games, seats: NDArray[Any], encoding: str = "standard") -> NDArray[np.float32]:
    """The observation of one seat of each game.

    Args:
        games: (B,) records with boards of one size.
        seats: (B,) integers.
        encoding: `standard` or `schrum`.

    Returns:
        (B, D) float32.

    Raises:
        ConfigurationError: There are no such games, seats or encoding, or the boards differ in
            size.
    """
    check_encoding(encoding)
    check_sound(games)
    who, sides = check_seats(games, seats), games["rules"]["side"]
    if not len(games) or np.any(sides != sides[0]):
        found = sorted(set(sides.tolist()))
        raise ConfigurationError(f"There must be boards, and of one size, not of {found}.")
    return observe_known(games, who, encoding)


def observe_known(games: Any, seats: NDArray[np.int64], encoding: str) -> NDArray[np.float32]:
    """As `observe`, of records and (B,) seats that are known to be sound."""
    out = np.empty((len(games), length_of(encoding, int(games["rules"]["side"][0]))), np.float32)
    write_observations(games, seats, ENCODINGS.index(encoding), out)
    return out
