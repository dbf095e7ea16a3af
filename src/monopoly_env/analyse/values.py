"""Values of states, with which truncated playouts end: estimated shares of the win of all seats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.core import batch_of, check_ranges
from monopoly_env.engine.agenda import OVER
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.game import MAX_PLAYERS, Game, Games
from monopoly_env.kernels import borrowed, entry, kernel
from monopoly_env.kernels.callbacks import Callback, Caller
from monopoly_env.kernels.signatures import Array1, Array2
from monopoly_env.policy.names import load_packages
from monopoly_env.rewards import worth_lead, worth_of_all


class ValueKernel(Callback):
    """A function `value(game, params, shares)` that writes each seat's share of the win; sum 1."""

    WHAT = "kernel of a value"

    @staticmethod
    def _prototype(game: Game, params: Array1[np.float32], shares: Array1[np.float64]) -> None: ...


# evaluate(handle, game, params, shares), in compiled code
evaluate: Final = Caller(ValueKernel)


@dataclass(frozen=True, eq=False)
class Value:
    """A value of states.

    Attributes:
        name: What messages call it.
        kernel: A function `value(game, params, shares)`, which writes the share of each seat to
            `shares`, (P,) float64 of sum 1. It only reads the game, which is running.
        params: float32, such as the weights of a network.
        most_players: The largest table that it is for.
        about: Its origin, as JSON values.
    """

    name: str
    kernel: ValueKernel = field(repr=False)
    params: NDArray[np.float32] = field(default_factory=lambda: np.zeros(1, np.float32), repr=False)
    most_players: int = MAX_PLAYERS
    about: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        kernel: Any = self.kernel  # a plain function will do
        made = kernel if isinstance(kernel, ValueKernel) else ValueKernel(kernel)
        object.__setattr__(self, "kernel", made)
        params = np.ascontiguousarray(self.params, np.float32).reshape(-1)
        object.__setattr__(self, "params", params)

    def shares(self, games: Game | Games) -> NDArray[np.float64]:
        """The share of the win of each seat: (P,) of a record, (B, P) of B records.

        In a game that is over the winner has 1, or those who drew equal shares.

        Raises:
            ConfigurationError: The table is too large, or the records differ in their players.
            PositionError: A number of a record is out of its range.
        """
        several = isinstance(games, np.ndarray) and games.ndim == 1
        batch = games if several else batch_of(games, write=False)
        batch = check_ranges(batch)
        if not len(batch) or len(set(batch["num_players"].tolist())) > 1:
            what = "the same number of players, and there must be one or more"
            raise ConfigurationError(f"The games must have {what}.")
        out = np.zeros((len(batch), int(batch["num_players"][0])))
        self.check_players(out.shape[1])
        _evaluate_all(self.kernel.handle, batch, self.params, out)
        return out if several else out[0]

    def check_players(self, players: int) -> None:
        """Raise ConfigurationError if a table has more players than the value is for."""
        if players > self.most_players:
            sizes = f"2 to {self.most_players}, not of {players}"
            raise ConfigurationError(f"The value {self.name!r} is for tables of {sizes}.")


@entry
def _evaluate_all(
    value: int, games: Games, params: Array1[np.float32], out: Array2[np.float64]
) -> None:
    params, out = borrowed(params), borrowed(out)
    for i in range(len(games)):
        write_shares(value, games[i], params, out[i])


@kernel
def write_shares(value: Any, game: Game, params: Any, shares: Any) -> None:
    """Write each seat's share of the win to (P,) float64, by the value or as the game ended."""
    if game.decision == OVER:
        won(game, shares)
    else:
        evaluate(value, game, params, shares)


@kernel
def won(game: Game, shares: Any) -> None:
    """Write the final shares to (P,) float64: 1 for the winner, or equal shares for a draw."""
    winners = 0
    for seat in range(len(shares)):
        winners += game.place[seat] == 1
    for seat in range(len(shares)):
        shares[seat] = 1.0 / winners if game.place[seat] == 1 else 0.0


@ValueKernel
def _by_worth(game: Game, params: Any, shares: Any) -> None:
    players, total = int(game.num_players), worth_of_all(game)
    for seat in range(players):
        shares[seat] = (worth_lead(game, seat, total) * (players - 1) + 1.0) / players


# the share of total worth, rule 51
_VALUES: Final[dict[str, Callable[[], Value]]] = {"worth": lambda: Value("worth", _by_worth)}


def register(name: str, factory: Callable[[], Value]) -> None:
    """Add a value by its name; the factory is called when it is first looked up."""
    _VALUES[name] = cache(factory)


def names() -> tuple[str, ...]:
    """The names of all values."""
    load_packages()
    return tuple(_VALUES)


def resolve(value: str | Value) -> Value:
    """A value, given by name or as it is.

    Raises:
        ConfigurationError: It is unknown.
    """
    if isinstance(value, Value):
        return value
    load_packages()
    if not isinstance(value, str) or value not in _VALUES:
        raise ConfigurationError(
            f"Unknown value {value!r:.80}: give a Value, or a name. {nearest(value, _VALUES)}"
        )
    return _VALUES[value]()
