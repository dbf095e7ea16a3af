"""Networks that play Pente.

Each is a row of weights in the layout of `agents.networks.layout`, as a compiled player of
`pente_env`.

    # 7 x 7: three inputs and one output for each point
    network = Architecture(147, (10,), (("points", 49),), "logistic")
    me = player(network, network.pack(arrays))
    # A generation: one row each
    table = Table.of_rows(rows(packed), like(network), [make("better")])
    # A window of 9 x 9 points that is moved over a board of any size
    network = architecture(10, window=9)

The input is the board as the player sees it (`pente_env.observation`, `schrum`); with `captures`
also how many pairs each has taken, five inputs a seat, as many of them 1. An output says how good a
stone is at that point, and the highest legal one is played; of equal ones the first, row by row
(P10). Outputs are compared as they are, without a logistic, which would make the highest of them
equal (P13). A point that makes five is played whatever the outputs say; of several the one with the
highest output (P11). The state of a recurrent network begins with zeros. It makes a step whenever
its player is to move, even if there is no choice, and with `watches` before every stone of anybody.

A network with a window has one output, which says how good the middle of the window is. It is asked
about every legal point, so a network of few weights learns a pattern once for the whole board. An
input is 1 where a point of the window is an own stone, one of the player that moves next, one of
the player after, or off the board: 4 * point + 0 to 3. It sees neither beyond its window nor what
was captured, and keeps no state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import index
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.networks.forward import is_whole, step_marked
from agents.networks.layout import AT_LAYERS, AT_UNITS, BLOCK, SIZES, Architecture
from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.files.arrays import read_arrays
from monopoly_env.kernels import borrowed, kernel, on_stack
from pente_env.game import MAX_PLAYERS, PAD, Game
from pente_env.lines import (
    CAPTURES,
    FIVES,
    LEGAL,
    blocks,
    count,
    holds,
    is_empty,
    nth,
    point_of,
    points,
)
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
SMALLEST: Final = 3  # windows
LARGEST: Final = 2 * PAD + 1  # the record has so many points around the board
_KINDS: Final = 4  # own stone, the next player's, that of the one after, off the board
_WINDOWS: Final = frozenset(_KINDS * side**2 for side in range(SMALLEST, LARGEST + 1, 2))
# What the file of a network says of its weights, beside `weights`.
FORM: Final = ("hidden", "window", "size", "recurrent", "captures", "watches")


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


@player_kernel
def play_window(game: Any, seat: int, params: Row, memory: Row) -> int:
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
    window: int = 0,
    activation: str = "logistic",
) -> Architecture:
    """A network for a board or a window: one hidden layer, or one cell that sees its last state.

    Args:
        hidden: Units of that layer.
        rules: Rules, or the name of a preset: they say how large the board is.
        recurrent: Whether the hidden units see their own last state; not with a window.
        captures: Whether it sees the pairs that were taken, too; not with a window.
        window: Points along a side of a window, odd; 0: it sees the whole board.
        activation: Of the hidden units.

    Raises:
        ConfigurationError: An impossible size or activation.
    """
    if window or isinstance(window, bool):
        if type(window) is not int or not SMALLEST <= window <= LARGEST or window % 2 == 0:
            raise ConfigurationError(
                f"window={window!r} must be an odd number from {SMALLEST} to {LARGEST}: its middle"
                " is a point."
            )
        return Architecture(_KINDS * window**2, (hidden,), (("point", 1),), activation)
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
    if points == 1 and network.inputs in _WINDOWS and not network.units and not watches:
        return Player(name, play_window)
    if network.inputs not in (3 * points, 3 * points + PAIRS) or points not in _BOARDS:
        raise ConfigurationError(
            "A network for Pente has three inputs and one output for each point of a board (7 x 7:"
            f" 147 and 49), and perhaps {PAIRS} inputs of pairs; or {_KINDS} inputs for each point"
            f" of a window, one output and no cell (9 x 9: {_KINDS * 81} and 1); not"
            f" {network.inputs} inputs, {points} outputs and {network.units} units of a cell."
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
        FormatError: The weights are those of another network, or not finite.
    """
    network.unpack(weights)
    if not np.isfinite(weights).all():
        raise FormatError("The weights are not all finite numbers.")
    return like(network, watches=watches, name=name).with_params(rows(weights[None])[0])


def load(path: Path | str) -> Player:
    """The player of a network.npz: `FORM` and `weights`.

    Raises:
        FormatError: The file is damaged, or holds no such network.
    """
    file = Path(path)
    arrays = read_arrays(file)
    try:
        missing = [name for name in (*FORM, "weights") if name not in arrays]
        if missing:
            raise FormatError(f"there is no {missing[0]!r} in it")
        return _of_file(arrays, file.parent.name or "network")
    except Exception as error:  # whatever content leads to
        raise FormatError(
            f"{str(path)!r} holds no network for Pente ({str(error).removesuffix('.')}): expected"
            " network.npz of a run of `studies.pente_esp`."
        ) from error


def _of_file(arrays: Mapping[str, NDArray[Any]], name: str) -> Player:
    hidden, window, size, recurrent, captures, watches = (
        index(arrays[name].item()) for name in FORM
    )
    rules = Rules() if window else Rules(size=size)
    network = architecture(
        hidden, rules, recurrent=bool(recurrent), captures=bool(captures), window=window
    )
    return player(network, arrays["weights"], watches=bool(watches), name=name)
