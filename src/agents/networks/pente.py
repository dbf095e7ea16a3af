"""Networks that play Pente.

Each is a row of weights in the layout of `agents.networks.layout`, as a compiled player of
`pente_env`.

    # 7 x 7: three inputs and one output for each point
    network = Architecture(147, (10,), (("points", 49),), "logistic")
    me = player(network, network.pack(arrays))
    # A generation: one row each
    table = Table.of_rows(rows(packed), like(network), [make("better")])

The input is the board as the player sees it (`pente_env.observation`, `schrum`); with `captures`
also how many pairs each has taken, five inputs a seat, as many of them 1. An output says how good a
stone is at that point, and the highest legal one is played; of equal ones the first, row by row
(P10). Outputs are compared as they are, without a logistic, which would make the highest of them
equal (P13). A point that makes five is played whatever the outputs say; of several the one with the
highest output (P11). The state of a recurrent network begins with zeros. It makes a step whenever
its player is to move, even if there is no choice, and with `watches` before every stone of anybody.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.networks.forward import is_whole, step_marked
from agents.networks.layout import AT_LAYERS, AT_UNITS, BLOCK, SIZES, Architecture
from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.kernels import borrowed, kernel, on_stack
from pente_env.game import MAX_PLAYERS, Game
from pente_env.lines import CAPTURES, FIVES, LEGAL, blocks, count, nth, point_of, points
from pente_env.moves import takes
from pente_env.observation import list_stones
from pente_env.player import MEMORY, Player, Row, player_kernel
from pente_env.rules import MAX_SIZE, MIN_SIZE, Rules, number

# The row: whether a point that takes the last stones that are needed is played, too (P12), then the
# weights, as float32.
TAKES: Final = 0
WEIGHTS: Final = 1
PAIRS: Final = 5 * MAX_PLAYERS  # inputs of captured pairs
MOST_UNITS: Final = 2 * MEMORY  # of a cell: the memory holds float32 numbers
_POINTS: Final = MAX_SIZE * MAX_SIZE
_BOARDS: Final = frozenset(side * side for side in range(MIN_SIZE, MAX_SIZE + 1))
# And room for the numbers that are written beside those that stay
_INPUTS: Final = 3 * _POINTS + 3 + PAIRS
_KERYO: Final = number("captures", "keryo")


@player_kernel
def play(game: Any, seat: int, params: Row, memory: Row) -> int:
    """Play the legal point with the highest output.

    -1 if this is not its turn, not its board, or these are no weights.
    """
    params, memory = borrowed(params), borrowed(memory)
    size = int(game.rules.side) * int(game.rules.side)
    weights = params[WEIGHTS:].view(np.float32)
    if (
        not is_whole(weights)
        or weights[SIZES + int(weights[AT_LAYERS])] != size
        or weights[AT_UNITS] > MOST_UNITS
    ):
        return -1  # a network for a board of another size, or none
    marked, outputs = on_stack(_INPUTS, np.int64), on_stack(_POINTS, np.float32)[:size]
    inputs = list_stones(game, seat, True, marked)
    if weights[SIZES] > 3 * size:
        inputs = _list_pairs(game, seat, inputs, marked)
    to_move = seat == game.player
    wanted = outputs if to_move else outputs[:0]  # who only watches needs the next state alone
    step_marked(
        weights, marked[:inputs], memory.view(np.float32)[: int(weights[AT_UNITS])], 0, wanted
    )
    return choose(game, seat, params[TAKES] != 0, outputs) if to_move else -1


@kernel
def choose(game: Game, seat: int, takes_last: bool, outputs: Any) -> int:
    """The legal point with the highest output, but a point that wins comes first.

    `takes_last`: also one that wins by captures.
    """
    point = _highest(game, seat, FIVES, outputs)
    if point < 0 and takes_last:
        point = _last_capture(game, seat, outputs)
    return point if point >= 0 else _highest(game, seat, LEGAL, outputs)


@kernel
def _list_pairs(game: Game, seat: int, count: int, marked: Any) -> int:
    """Write the inputs of the pairs that each seat has taken after `count` others.

    Returns how many there are now.
    """
    players, each = int(game.num_players), PAIRS // MAX_PLAYERS
    for ahead in range(players):
        at = 3 * int(game.rules.side) * int(game.rules.side) + each * ahead
        for pair in range(min(each, int(game.captured[(seat + ahead) % players]) // 2)):
            marked[count] = at + pair
            count += 1
    return count


@kernel
def _highest(game: Game, seat: int, what: int, outputs: Any) -> int:
    """The point with the highest output among those at which a seat would do what is asked.

    -1 if there is none.
    """
    best = -1
    for block in range(blocks(game)):
        found = points(game, seat, what, block)
        while found:
            point = point_of(game, block, found)
            if best < 0 or outputs[point] > outputs[best]:
                best = point
            found &= found - 1
    return best


@kernel
def _last_capture(game: Game, seat: int, outputs: Any) -> int:
    """The point with the highest output among those that win by captures; -1 if there is none."""
    needed, best = (15 if game.rules.captures == _KERYO else 10) - int(game.captured[seat]), -1
    for place in range(count(game, seat, CAPTURES)):
        point = nth(game, seat, CAPTURES, place)
        if takes(game, seat, point) >= needed and (best < 0 or outputs[point] > outputs[best]):
            best = point
    return best


def architecture(
    hidden: int,
    rules: Rules | str = "schrum",
    *,
    recurrent: bool = False,
    captures: bool = False,
    activation: str = "logistic",
) -> Architecture:
    """A network for a board: one hidden layer, or one cell that sees its own last state.

    Args:
        hidden: Units of that layer.
        rules: Rules, or the name of a preset: they say how large the board is.
        recurrent: Whether the hidden units see their own last state.
        captures: Whether it sees the pairs that were taken, too.
        activation: Of the hidden units.

    Raises:
        ConfigurationError: An impossible size or activation.
    """
    points = Rules.coerce(rules).size ** 2
    heads, inputs = (("points", points),), 3 * points + PAIRS * captures
    if recurrent:
        return Architecture(inputs, (), heads, activation, "elman", hidden)
    return Architecture(inputs, (hidden,), heads, activation)


def rows(packed: NDArray[np.float32], takes_last: bool = False) -> NDArray[np.float64]:
    """Rows that the kernel reads, from rows of weights.

    Args:
        packed: (N, length) float32, of `Architecture.pack`.
        takes_last: Whether a point that wins by captures is played whatever the outputs say, too
            (P12).
    """
    if packed.ndim != 2 or packed.dtype != np.float32 or packed.shape[1] % BLOCK:
        raise ConfigurationError(
            f"Weights must be rows of float32 numbers from Architecture.pack, not {packed.dtype}"
            f" {packed.shape}."
        )
    out = np.zeros((len(packed), WEIGHTS + packed.shape[1] // 2))
    out[:, TAKES] = takes_last
    out[:, WEIGHTS:] = np.ascontiguousarray(packed).view(np.float64)
    return out


def like(network: Architecture, *, watches: bool = False, name: str = "network") -> Player:
    """A player without weights whose kernel many rows share.

    Args:
        network: What the rows are.
        watches: Whether it reads the board before every stone, not only before its own (E11).
        name: What tables and messages call it.

    Raises:
        ConfigurationError: The network does not fit a board.
    """
    points = network.outputs
    if network.inputs not in (3 * points, 3 * points + PAIRS) or points not in _BOARDS:
        raise ConfigurationError(
            "A network for Pente has three inputs and one output for each point of a board (7 x 7:"
            f" 147 and 49), and perhaps {PAIRS} inputs of pairs, not {network.inputs} inputs and"
            f" {points} outputs."
        )
    if network.units > MOST_UNITS:
        raise ConfigurationError(
            f"A cell of a network for Pente has {MOST_UNITS} units at the most, not"
            f" {network.units}."
        )
    return Player(name, play, watches=watches, size=math.isqrt(points))


def player(
    network: Architecture,
    weights: NDArray[np.float32],
    *,
    watches: bool = False,
    name: str = "network",
) -> Player:
    """A player with these weights.

    Args:
        network: What the weights are.
        weights: (length,) float32, of `Architecture.pack`.
        watches: Whether it reads the board before every stone, not only before its own (E11).
        name: What tables and messages call it.

    Raises:
        ConfigurationError: The network does not fit a board.
        FormatError: The weights are those of another network.
    """
    return weighted(like(network, watches=watches, name=name), network, weights)


def weighted(like: Player, network: Architecture, weights: NDArray[np.float32]) -> Player:
    """A player like another one, with these weights.

    Raises:
        FormatError: The weights are those of another network, or not finite.
    """
    network.unpack(weights)
    if not np.isfinite(weights).all():
        raise FormatError("The weights are not all finite numbers.")
    return like.with_params(rows(weights[None])[0])
