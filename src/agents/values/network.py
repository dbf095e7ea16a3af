"""The compiled value network: from features of a state to the share of the win of each place."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from agents.networks.forward import forward
from agents.networks.layout import Architecture
from agents.values.features import FEATURES, MOST_PLAYERS, write
from monopoly_env.analyse.values import ValueKernel
from monopoly_env.game import Game
from monopoly_env.kernels import borrowed, kernel, on_stack

HIDDEN: Final = (128, 64, 32)
ARCHITECTURE: Final = Architecture(FEATURES, HIDDEN, (("places", MOST_PLAYERS),))


@kernel
def softmax(logits: Any, count: int, seats: Any, shares: Any) -> None:
    """Write the shares of the win: a softmax over the first `count` places, exactly 0 elsewhere.

    Args:
        logits: (4,) float32, of the places.
        count: The number of players left.
        seats: (4,) int64, the seat of each place.
        shares: (P,) float64, filled.
    """
    shares[:] = 0.0
    highest = logits[0]
    for place in range(count):
        highest = max(highest, logits[place])
    total = 0.0
    for place in range(count):
        total += math.exp(np.float64(logits[place] - highest))
    for place in range(count):
        shares[seats[place]] = math.exp(np.float64(logits[place] - highest)) / total


@ValueKernel
def by_network(game: Game, params: Any, shares: Any) -> None:
    """The value of a running game; `params` is a row of `ARCHITECTURE`."""
    write_by_network(game, params, shares)


@kernel
def write_by_network(game: Game, params: Any, shares: Any) -> None:
    """Write the value of a running game: `by_network` for kernels that know the network."""
    params, shares = borrowed(params), borrowed(shares)
    seen = on_stack(FEATURES, np.float32)
    seats = on_stack(MOST_PLAYERS, np.int64)
    logits = on_stack(MOST_PLAYERS, np.float32)
    count = write(game, seen, seats)
    forward(params, seen, 0, logits)
    softmax(logits, count, seats, shares)
