"""What a player sees: numbers from 0 to 1, from its own seat.

For each point three numbers, 3 * point + k: k = 0 for an own stone, 1 for one of the player that moves next, 2 for one of the player after.
`schrum` is just that, the input of the networks in Schrum's paper; there k = 1 and k = 2 both stand for the enemy if there is only one.
`standard` leaves k = 2 empty then, and ends with three more numbers: the stones that each of these players has taken, as shares of
those that win. So nothing that matters for the rest of a game is missing but the opening rule, which the mask of legal actions shows.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError, nearest, shortened
from monopoly_env.kernels import entry, kernel
from pente_env.game import MAX_PLAYERS, PAD, Game
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
        raise ConfigurationError(f"Unknown encoding {shortened(encoding)}. {nearest(shortened(encoding), ENCODINGS)}")
    return encoding


def length_of(encoding: str, size: int) -> int:
    """How many numbers an observation of a board of this size has."""
    return 3 * size * size + (MAX_PLAYERS if check_encoding(encoding) == "standard" else 0)


@kernel
def write_stones(game: Game, seat: int, enemy_twice: bool, out: Any) -> None:
    """Write the stones as a seat sees them into zeros; if `enemy_twice`, an only enemy's stones are written as k = 1 and as k = 2."""
    side, players = int(game.rules.side), int(game.num_players)
    twice = enemy_twice and players == 2
    for k in range(players):
        owner = (seat + k) % players
        for r in range(side):
            row, at = int(game.stones[owner, PAD + r]) >> PAD, 3 * side * r + k
            while row:
                if row & 1:
                    out[at] = 1
                    if k == 1 and twice:
                        out[at + 1] = 1
                row >>= 1
                at += 3


@kernel
def write_observation(game: Game, seat: int, encoding: int, out: Any) -> None:
    """Write what a seat sees."""
    for i in range(len(out)):
        out[i] = 0
    write_stones(game, seat, encoding == SCHRUM, out)
    if encoding == STANDARD:
        side, players = int(game.rules.side), int(game.num_players)
        for k in range(players):
            captured = int(game.captured[(seat + k) % players])
            out[3 * side * side + k] = min(1.0, captured / (15.0 if game.rules.captures == _KERYO else 10.0))


@entry()
def write_observations(games: Any, seats: Any, encoding: int, out: Any) -> None:
    """Write what one seat sees of each game: (B, D)."""
    for i in range(len(games)):
        write_observation(games[i], seats[i], encoding, out[i])


def observe(games: Any, seats: NDArray[Any], encoding: str = "standard") -> NDArray[np.float32]:
    """What one seat sees of each game.

    Args:
        games: (B,) records with boards of one size.
        seats: (B,) integers.
        encoding: `standard` or `schrum`.

    Returns:
        (B, D) float32.
    """
    out = np.empty((len(games), length_of(encoding, int(games["rules"]["side"][0]))), np.float32)
    write_observations(games, np.asarray(seats), ENCODINGS.index(encoding), out)
    return out
