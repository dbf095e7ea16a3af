"""The player protocol: a player is a compiled function with a row of numbers.

    @player_kernel
    def play(game, seat, params, memory):
        return ...                                   # a point

The loop calls it when the seat is to move. A player that `observes` is also called before the
stones of the others, with its own seat: its answer is then ignored, but it may write to its memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from monopoly_env.errors import ConfigurationError, check_array, shortened, whole_number
from monopoly_env.kernels import entry
from monopoly_env.kernels.callbacks import Callback, Caller
from monopoly_env.kernels.signatures import Array1
from pente_env.core import check_sound
from pente_env.game import Game, Games

# float64 numbers of a player's memory per game and seat, zeros at the start of a game
MEMORY: Final = 64

Row: TypeAlias = Array1[np.float64]
Kernel: TypeAlias = Callable[[Any, int, Row, Row], int]


class PlayerKernel(Callback):
    """The function of a player; `player_kernel` makes it."""

    WHAT = "player kernel"

    @staticmethod
    def _prototype(game: Game, seat: int, params: Row, memory: Row) -> int: ...  # type: ignore[empty-body]


# call(handle, game, seat, params, memory) -> point, in compiled code
call: Final = Caller(PlayerKernel)


def player_kernel(function: Kernel) -> PlayerKernel:
    """Decorator that makes `function(game, seat, params, memory) -> point` the kernel of a player.

    `game` is the record, which the function must not change. `params` is the player's float64 row.
    `memory` is 64 float64 numbers for this game and seat, zeros at the start of a game. The only
    source of chance is `pente_env.moves.draw(game, seat, bound)`.

    Examples:
        >>> import pente_env
        >>> from pente_env.lines import LEGAL, first
        >>> @pente_env.player_kernel
        ... def lowest(game, seat, params, memory):
        ...     return first(game, seat, LEGAL)
        >>> pente_env.matches.play([pente_env.Player("lowest", lowest), "random"], games=2).names
        ('lowest', 'random')
    """
    return PlayerKernel(function)


class Player:
    """A kernel with its row of numbers; its attributes are the arguments."""

    def __init__(
        self,
        name: str,
        kernel: PlayerKernel,
        params: ArrayLike = (),
        *,
        observes: bool = False,
        size: int | None = None,
    ) -> None:
        """Make a player.

        Args:
            name: Its name in tables and messages.
            kernel: A function decorated with `player_kernel`.
            params: Its numbers, converted to a float64 row, (L,).
            observes: Whether the kernel is called before the stones of the others, too.
            size: Points along a side of the only boards that it plays on; None: any.

        Raises:
            ConfigurationError: The kernel is not decorated, or the numbers are not one row.
        """
        if not isinstance(kernel, PlayerKernel):
            raise ConfigurationError(
                f"Player {name!r}: the kernel {shortened(kernel)} must be decorated with"
                " pente_env.player_kernel."
            )
        row = np.array(params, np.float64)
        if row.ndim != 1:
            raise ConfigurationError(
                f"Player {name!r}: its numbers must be one row, not an array of shape {row.shape}."
            )
        self.name = name
        self.kernel = kernel
        self.params = row
        self.observes = observes
        self.size = size

    def with_params(self, params: ArrayLike, name: str | None = None) -> Player:
        """A player with the same kernel and other numbers; by default, of the same name."""
        called = self.name if name is None else name
        return Player(called, self.kernel, params, observes=self.observes, size=self.size)

    def check_board(self, size: int) -> None:
        """Make sure that this player plays on a board of this size.

        Raises:
            ConfigurationError: It plays on boards of another size only.
        """
        if self.size not in (None, size):
            own = f"{self.size} x {self.size}"
            raise ConfigurationError(
                f"Player {self.name!r} plays on {own} only, not on {size} x {size}."
            )

    def act(self, games: Games, seat: int, memory: Row) -> int:
        """The point that it chooses in a game, which need not be legal.

        Args:
            games: (1,) records. A random choice advances the counter of the seat's draws.
            seat: Its seat, which need not be to move if it observes.
            memory: (64,) float64, read and written.

        Raises:
            ConfigurationError: The game is none or read-only, or the seat or the memory is none.
        """
        check_sound(games, write=True)
        if len(games) != 1:
            raise ConfigurationError(
                "Expected an array of one game (a record of the dtype pente_env.GAME), not"
                f" {shortened(games)}."
            )
        whole_number("seat", seat, 0, int(games[0].num_players) - 1)
        check_array("memory", memory, np.float64, MEMORY)
        return int(_act(games, int(seat), self.kernel.handle, self.params, memory))

    def __repr__(self) -> str:
        return f"Player({self.name!r})"


@entry
def _act(games: Games, seat: int, kernel: int, params: Row, memory: Row) -> int:
    return int(call(kernel, games[0], seat, params, memory))
