"""Random numbers as a function of (seed, stream, seat, count): the record only carries counters.

Each kind of draw has its own stream, so the n-th throw of a seat is the same in all games with the
same seed, whoever plays (S12).
"""

from __future__ import annotations

from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.kernels.philox import philox

THROWS, UTILITY_THROWS, START, DECKS, POLICIES = range(5)


@kernel
def draw(game: Game, stream: int, seat: int, count: int) -> int:
    """The 32-bit word number `count` of a stream."""
    return philox(int(count), int(stream), int(seat), 0, int(game.seed[0]), int(game.seed[1]))


@kernel
def below(game: Game, stream: int, seat: int, count: int, bound: int) -> int:
    """A number from 0 to bound - 1, uniform up to a bias of at most bound / 2**32."""
    return (draw(game, stream, seat, count) * bound) >> 32


@kernel
def policy_draw(game: Game, seat: int, bound: int) -> int:
    """The next random number from 0 to bound - 1 for a seat's policy, its only source of chance."""
    count = int(game.policy_draws[seat])
    game.policy_draws[seat] = (count + 1) & 0x7FFFFFFF
    return below(game, POLICIES, seat, count, bound)
