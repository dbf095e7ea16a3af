"""Values of states: the shares of the win of all seats, estimated without playing on. A playout that is cut off ends with one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numba
import numpy as np
from numpy.typing import NDArray

from monopoly_env.callbacks import Callback, caller
from monopoly_env.engine.agenda import OVER
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import GAME, Game
from monopoly_env.kernels import kernel
from monopoly_env.rewards import worth_lead, worth_of_all


class ValueKernel(Callback):
    """A function `value(game, params, shares)` that writes the share of the win of each seat, adding up to 1."""

    WHAT = "kernel of a value"
    ARGUMENTS = ("game", "params", "shares")
    SIGNATURE = numba.void(numba.from_dtype(GAME), numba.float32[::1], numba.float64[::1])


evaluate: Final = caller(ValueKernel.SIGNATURE)  # evaluate(handle, game, params, shares), in compiled code


@kernel
def write_shares(game: Game, value: Any, params: Any, shares: Any, out: Any) -> None:
    """Write the share of the win of each seat to `out`, (P,): by the value, or by the result of a game that is over.

    Args:
        game: The game.
        value: `ValueKernel.handle`.
        params: Of the value.
        shares: (P,) float64, a buffer.
        out: (P,) of any float.
    """
    if game.decision != OVER:
        evaluate(value, game, params, shares)
        for seat in range(len(out)):
            out[seat] = shares[seat]
        return
    winners = 0
    for seat in range(len(out)):
        winners += game.place[seat] == 1
    for seat in range(len(out)):
        out[seat] = 1.0 / winners if game.place[seat] == 1 else 0.0


@dataclass(frozen=True, eq=False)
class Value:
    """A value of states.

    Attributes:
        name: What messages call it.
        kernel: A function `value(game, params, shares)`, which writes the share of each seat to `shares`, (P,) float64. They add up to
            1. It only reads the game, which is running. It is compiled with checks of bounds.
        params: float32, what the function reads, such as the weights of a network.
    """

    name: str
    kernel: ValueKernel = field(repr=False)
    params: NDArray[np.float32] = field(default_factory=lambda: np.zeros(1, np.float32), repr=False)

    def __post_init__(self) -> None:
        kernel: Any = self.kernel  # a plain function will do
        object.__setattr__(self, "kernel", kernel if isinstance(kernel, ValueKernel) else ValueKernel(kernel))
        object.__setattr__(self, "params", np.ascontiguousarray(self.params, np.float32).reshape(-1))


@ValueKernel
def _by_worth(game: Game, params: Any, shares: Any) -> None:
    players, total = int(game.num_players), worth_of_all(game)
    for seat in range(players):
        shares[seat] = (worth_lead(game, seat, total) * (players - 1) + 1.0) / players


VALUES: Final = {"worth": Value("worth", _by_worth)}  # the share of total worth, rule 51


def resolve(value: str | Value) -> Value:
    """A value, given by name or as it is.

    Raises:
        ConfigurationError: It is unknown.
    """
    if isinstance(value, Value):
        return value
    if not isinstance(value, str) or value not in VALUES:
        raise ConfigurationError(f"Unknown value {value!r:.80}: give a Value, or one of {', '.join(VALUES)}.")
    return VALUES[value]
