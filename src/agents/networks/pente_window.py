"""Networks that play Pente on a board of any size.

A small window is moved over it, and one output says how good its middle is.

    # Four inputs for each of 9 x 9 points, one output
    network = architecture(hidden=10, window=9)
    me = player(network, network.pack(arrays))
    matches.play([me, "better"], rules=Rules(size=11))

An input is 1 where a point of the window is an own stone, one of the player that moves next, one of
the player after, or off the board: 4 * point + 0 to 3. So a network of few weights, the same for
every point, learns a pattern once for the whole board. It is asked about every legal point; the
choice among them is that of `agents.networks.pente`. It sees neither beyond its window nor what was
captured, and keeps no state.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.networks.forward import is_whole, step_marked
from agents.networks.layout import SIZES, Architecture
from agents.networks.pente import TAKES, WEIGHTS, choose, weighted
from monopoly_env.errors import ConfigurationError
from monopoly_env.kernels import borrowed, kernel
from pente_env.game import PAD, Game
from pente_env.lines import holds, is_empty
from pente_env.player import Player, Row, player_kernel

SMALLEST: Final = 3  # windows
LARGEST: Final = 2 * PAD + 1  # the record has so many points around the board
_KINDS: Final = 4  # own stone, the next player's, that of the one after, off the board


@player_kernel
def play(game: Any, seat: int, params: Row, memory: Row) -> int:
    """Play the legal point in the middle of the window with the highest output.

    -1 if these are no weights.
    """
    params = borrowed(params)
    side, weights = int(game.rules.side), params[WEIGHTS:].view(np.float32)
    window = int(np.sqrt(weights[SIZES] / _KINDS)) if is_whole(weights) else 0
    if not SMALLEST <= window <= LARGEST:
        return -1
    kinds, marked, output = (
        np.empty((side + window - 1, side + window - 1), np.int64),
        np.empty(window * window, np.int64),
        np.empty(1, np.float32),
    )
    outputs = np.zeros(side * side, np.float32)
    _write_kinds(game, seat, window // 2, kinds)
    for r in range(side):
        for c in range(side):
            if is_empty(game, r, c):
                count = _list_window(kinds, r, c, window, marked)
                step_marked(weights, marked[:count], output[:0], 0, output)
                outputs[side * r + c] = output[0]
    return int(choose(game, seat, params[TAKES] != 0, outputs))


@kernel
def _write_kinds(game: Game, seat: int, margin: int, kinds: Any) -> None:
    """Write what stands on every point of the board and of a margin around it; _KINDS: nothing.

    It is seen from the seat's side.
    """
    side, players = int(game.rules.side), int(game.num_players)
    kinds[:] = _KINDS - 1
    for r in range(side):
        for c in range(side):
            kind = _KINDS
            for ahead in range(players):
                if holds(game, (seat + ahead) % players, r, c):
                    kind = ahead
            kinds[margin + r, margin + c] = kind


@kernel
def _list_window(kinds: Any, r: int, c: int, window: int, marked: Any) -> int:
    """Write the inputs that are 1 with the window around a point; returns how many there are."""
    count = 0
    for i in range(window):
        for j in range(window):
            kind = kinds[r + i, c + j]
            marked[count] = _KINDS * (window * i + j) + kind
            count += kind < _KINDS
    return count


def architecture(hidden: int, window: int, *, activation: str = "logistic") -> Architecture:
    """A network for a window: one hidden layer, one output.

    Args:
        hidden: Units of that layer.
        window: Points along a side, odd.
        activation: Of the hidden units.

    Raises:
        ConfigurationError: An impossible size or activation.
    """
    if (
        isinstance(window, bool)
        or not isinstance(window, (int, np.integer))
        or not SMALLEST <= window <= LARGEST
        or window % 2 == 0
    ):
        raise ConfigurationError(
            f"window={window!r} must be an odd number from {SMALLEST} to {LARGEST}: its middle is a"
            " point."
        )
    return Architecture(_KINDS * int(window) ** 2, (hidden,), (("point", 1),), activation)


def like(network: Architecture, *, name: str = "network") -> Player:
    """A player without weights whose kernel many rows (`agents.networks.pente.rows`) share.

    Raises:
        ConfigurationError: The network does not fit a window.
    """
    if (
        network.units
        or network.outputs != 1
        or network.inputs not in {_KINDS * side**2 for side in range(SMALLEST, LARGEST + 1, 2)}
    ):
        raise ConfigurationError(
            f"A network for a window has {_KINDS} inputs for each of its points and one output (9 x"
            f" 9: {_KINDS * 81} and 1) and no cell, not {network.inputs} inputs, {network.outputs}"
            f" outputs and {network.units} units of a cell."
        )
    return Player(name, play)


def player(network: Architecture, weights: NDArray[np.float32], *, name: str = "network") -> Player:
    """A player with these weights.

    Args:
        network: What the weights are.
        weights: (length,) float32, of `Architecture.pack`.
        name: What tables and messages call it.

    Raises:
        ConfigurationError: The network does not fit a window.
        FormatError: The weights are those of another network.
    """
    return weighted(like(network, name=name), network, weights)
