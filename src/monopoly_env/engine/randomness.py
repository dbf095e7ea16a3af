"""Random numbers as a function of (seed, stream, seat, count): the record only carries counters.

The generator is Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Each kind of
draw has its own stream, so the n-th throw of a seat is the same in all games with the same seed, whoever plays (S12).
"""

from __future__ import annotations

from monopoly_env.game import Game
from monopoly_env.kernels import kernel

THROWS, UTILITY_THROWS, START, DECKS, POLICIES = range(5)

_WORD = 0xFFFFFFFF


@kernel
def philox(c0: int, c1: int, c2: int, c3: int, k0: int, k1: int) -> int:
    """The first of the four 32-bit output words for a counter (c0 to c3) and a key (k0, k1) of 32-bit words."""
    for _ in range(10):
        p0 = 0xD2511F53 * c0
        p1 = 0xCD9E8D57 * c2
        # Python's integers are exact, compiled ones wrap at 64 bits. The masks make both agree.
        c0, c1, c2, c3 = ((p1 >> 32) & _WORD) ^ c1 ^ k0, p1 & _WORD, ((p0 >> 32) & _WORD) ^ c3 ^ k1, p0 & _WORD
        k0 = (k0 + 0x9E3779B9) & _WORD
        k1 = (k1 + 0xBB67AE85) & _WORD
    return c0


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
    """The next random number from 0 to bound - 1 for a seat's policy: the only source of randomness for a compiled policy."""
    count = int(game.policy_draws[seat])
    game.policy_draws[seat] = (count + 1) & 0x7FFFFFFF
    return below(game, POLICIES, seat, count, bound)
