"""Policies that choose at random: the first opponents against which every other policy is measured.

`random`: every legal action is equally likely. `random/no_trades` never begins an offer, but
answers offers at random.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.actions import HEADS, NUM_ACTIONS
from monopoly_env.engine import randomness
from monopoly_env.engine.sets import lowest, size
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import CompiledPolicy, Mask, Row, policy_kernel

_WORDS: Final = (NUM_ACTIONS + 31) // 32


def _words(*left_out: str) -> NDArray[np.int64]:
    """All actions except those of some heads, as bits of 32-bit words."""
    ruled_out = {a for name in left_out for a in range(HEADS[name].start, HEADS[name].stop)}
    actions = set(range(NUM_ACTIONS)) - ruled_out
    return np.array(
        [sum(1 << (a & 31) for a in actions if a >> 5 == word) for word in range(_WORDS)]
    )


_ALL: Final = _words()
_NO_OFFERS: Final = _words("trade")


@kernel
def _draw_legal(game: Game, among: NDArray[np.int64]) -> int:
    """One of the legal actions in a set of actions, all equally likely."""
    count = 0
    for word in range(_WORDS):
        count += size(int(game.legal[word]) & among[word])
    n = randomness.policy_draw(game, int(game.player), count)
    for word in range(_WORDS):
        bits = int(game.legal[word]) & among[word]
        here = size(bits)
        if n < here:
            for _ in range(n):
                bits &= bits - 1
            return 32 * word + lowest(bits)
        n -= here
    return 0


@policy_kernel
def _uniform(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Every legal action is equally likely."""
    return _draw_legal(game, _ALL)


@policy_kernel
def _no_trades(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Every legal action that does not begin an offer is equally likely."""
    return _draw_legal(game, _NO_OFFERS)


def uniform() -> CompiledPolicy:
    """`random`: uniform over the legal actions."""
    return CompiledPolicy("random", _uniform, reads_mask=False)


def no_trades() -> CompiledPolicy:
    """`random/no_trades`: uniform, but begins no offer; it answers offers at random."""
    return CompiledPolicy("random/no_trades", _no_trades, reads_mask=False)


POLICIES: Final = {"random": uniform, "random/no_trades": no_trades}
