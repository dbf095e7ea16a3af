"""Networks that play Pente.

Each is a compiled player of `pente_env` with a row of weights (`agents.networks.layout`).

    >>> import numpy as np
    >>> from agents.networks.pente import architecture, like, rows
    >>> from pente_env.loop import Table
    >>> from pente_env.scripted import make
    >>> network = architecture(10)  # 7 x 7: three inputs and one output for each point
    >>> arrays = {name: np.zeros(shape) for name, shape in network.shapes().items()}
    >>> packed = np.stack([network.pack(arrays)] * 2)  # a generation: one row each
    >>> table = Table.of_rows(rows(packed), like(network), [make("better")])
    >>> window = architecture(10, window=9)  # moved over a board of any size

The input is the board from the player's side (`pente_env.observation`, `schrum`); with `captures`
also the captured pairs, five inputs a seat in unary. An output is the value of a stone at its
point, and the highest legal one is played; of equal ones the first, row by row (P10). Outputs are
compared without a logistic, which would saturate (P13). A point that makes five is played
regardless of the outputs; of several, the one with the highest output (P11). The state of a
recurrent network begins with zeros. It advances whenever its player is to move, even without a
choice, and with `observes` before every player's stone.

A network with a window has one output: the value of the middle of the window. It is evaluated at
every legal point, so that few weights learn a pattern for the whole board. Input 4 * point + k is 1
if the point of the window is an own stone (k = 0), a stone of the next player (1) or of the player
after (2), or off the board (3). Such a network sees no captures and keeps no state.
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

# The row: whether a point that wins by captures is always played (P12); the weights as float32.
TAKES: Final = 0
WEIGHTS: Final = 1
PAIRS: Final = 5 * MAX_PLAYERS  # inputs of captured pairs
MOST_UNITS: Final = 2 * MEMORY  # of a cell: the memory holds float32 numbers
_POINTS: Final = MAX_SIZE * MAX_SIZE
_BOARDS: Final = frozenset(side * side for side in range(MIN_SIZE, MAX_SIZE + 1))
# The inputs, and scratch beyond them
_INPUTS: Final = 3 * _POINTS + 3 + PAIRS
_KERYO: Final = number("captures", "keryo")
SMALLEST: Final = 3  # windows
LARGEST: Final = 2 * PAD + 1  # the record has so many points around the board
_KINDS: Final = 4  # own stone, the next player's, that of the one after, off the board
_WINDOWS: Final = frozenset(_KINDS * side**2 for side in range(SMALLEST, LARGEST + 1, 2))
# The description of a network in its file, beside `weights`.
FORM: Final = ("hidden", "window", "size", "recurrent", "captures", "observes")


@player_kernel
def play(game: Any, seat: int, params: Row, memory: Row) -> int:
    """Play the legal point with the highest output; -1 out of turn or without fitting weights."""
    params, memory = borrowed(params), borrowed(memory)
    size = int(game.rules.side) * int(game.rules.side)
    weights = params[WEIGHTS:].view(np.float32)
    if (
        not is_whole(weights)
        or weights[SIZES + int(weights[AT_LAYERS])] != size
        or weights[AT_UNITS] > MOST_UNITS
    ):
        return -1  # a network for a board of another size, or no network
    marked, outputs = on_stack(_INPUTS, np.int64), on_stack(_POINTS, np.float32)[:size]
    inputs = list_stones(game, seat, True, marked)
    if weights[SIZES] > 3 * size:
        inputs = _list_pairs(game, seat, inputs, marked)
    to_move = seat == game.player
    wanted = outputs if to_move else outputs[:0]  # an observer needs only the next state
    step_marked(
        weights, marked[:inputs], memory.view(np.float32)[: int(weights[AT_UNITS])], 0, wanted
    )
    return choose(game, seat, params[TAKES] != 0, outputs) if to_move else -1


@player_kernel
def play_window(game: Any, seat: int, params: Row, memory: Row) -> int:
    """Play the legal point whose window has the highest output; -1 without valid weights."""
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
    """Write the kind of each point of the board and a margin, from a seat's side; _KINDS: empty."""
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
    """List the inputs that are 1 for the window around a point; returns their number."""
    count = 0
    for i in range(window):
        for j in range(window):
            kind = kinds[r + i, c + j]
            marked[count] = _KINDS * (window * i + j) + kind
            count += kind < _KINDS
    return count


@kernel
def choose(game: Game, seat: int, takes_last: bool, outputs: Any) -> int:
    """A point that wins (with `takes_last`, also by captures), else the highest output."""
    point = _highest(game, seat, FIVES, outputs)
    if point < 0 and takes_last:
        point = _last_capture(game, seat, outputs)
    return point if point >= 0 else _highest(game, seat, LEGAL, outputs)


@kernel
def _list_pairs(game: Game, seat: int, count: int, marked: Any) -> int:
    """Append the inputs of the captured pairs to `count` others; returns the new count."""
    players, each = int(game.num_players), PAIRS // MAX_PLAYERS
    for ahead in range(players):
        at = 3 * int(game.rules.side) * int(game.rules.side) + each * ahead
        for pair in range(min(each, int(game.captured[(seat + ahead) % players]) // 2)):
            marked[count] = at + pair
            count += 1
    return count


@kernel
def _highest(game: Game, seat: int, what: int, outputs: Any) -> int:
    """The point with the highest output in a set of `pente_env.lines`; -1 if it is empty."""
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
    """The point with the highest output among those that win by captures, or -1."""
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
) -> Architecture:
    """A network for a board or a window, with one hidden layer or one recurrent cell.

    Examples:
        >>> from agents.networks.pente import architecture
        >>> network = architecture(10)
        >>> network.inputs, network.outputs
        (147, 49)

    Args:
        hidden: Units of that layer.
        rules: Rules, or the name of a preset, for the size of the board.
        recurrent: Whether the hidden layer is an Elman cell; not with a window.
        captures: Whether captured pairs are inputs; not with a window.
        window: Side of the window in points, odd; 0: the whole board.

    Raises:
        ConfigurationError: An impossible size.
    """
    if window or isinstance(window, bool):
        if type(window) is not int or not SMALLEST <= window <= LARGEST or window % 2 == 0:
            raise ConfigurationError(
                f"window={window!r} must be an odd number from {SMALLEST} to {LARGEST}: its middle"
                " is a point."
            )
        return Architecture(_KINDS * window**2, (hidden,), (("point", 1),), "logistic")
    points = Rules.coerce(rules).size ** 2
    heads, inputs = (("points", points),), 3 * points + PAIRS * captures
    if recurrent:
        return Architecture(inputs, (), heads, "logistic", "elman", hidden)
    return Architecture(inputs, (hidden,), heads, "logistic")


def rows(packed: NDArray[np.float32], takes_last: bool = False) -> NDArray[np.float64]:
    """Rows for the kernel, from rows of weights.

    Args:
        packed: (N, length) float32, of `Architecture.pack`.
        takes_last: Whether a point that wins by captures is always played (P12).

    Returns:
        (N, 1 + length / 2) float64.

    Raises:
        ConfigurationError: The weights are of another shape or dtype.
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


def like(network: Architecture, *, observes: bool = False, name: str = "network") -> Player:
    """A player without weights, for tables of many rows with its kernel.

    Args:
        network: The architecture of the rows.
        observes: Whether its state advances before every stone, not only before its own (E11).
        name: Its name in tables and messages.

    Raises:
        ConfigurationError: The network does not fit a board.
    """
    points = network.outputs
    if points == 1 and network.inputs in _WINDOWS and not network.units and not observes:
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
    return Player(name, play, observes=observes, size=math.isqrt(points))


def player(
    network: Architecture,
    weights: NDArray[np.float32],
    *,
    observes: bool = False,
    name: str = "network",
) -> Player:
    """A player with these weights.

    Examples:
        >>> import numpy as np
        >>> from agents.networks.pente import architecture, player
        >>> from pente_env.matches import play
        >>> network = architecture(10)
        >>> zeros = {name: np.zeros(shape) for name, shape in network.shapes().items()}
        >>> play([player(network, network.pack(zeros)), "random"], games=2).names
        ('network', 'random')

    Args:
        network: The architecture.
        weights: (length,) float32, of `Architecture.pack`.
        observes: Whether its state advances before every stone, not only before its own (E11).
        name: Its name in tables and messages.

    Raises:
        ConfigurationError: The network does not fit a board.
        FormatError: The weights are of another architecture, or not finite.
    """
    network.unpack(weights)
    if not np.isfinite(weights).all():
        raise FormatError("The weights are not all finite numbers.")
    return like(network, observes=observes, name=name).with_params(rows(weights[None])[0])


def load(path: Path | str) -> Player:
    """The player from a network.npz with the arrays `FORM` and `weights`.

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
    except Exception as error:  # any error that damaged content causes
        raise FormatError(
            f"{str(path)!r} holds no network for Pente ({str(error).removesuffix('.')}): expected"
            " network.npz of a run of `studies.pente_esp`."
        ) from error


def _of_file(arrays: Mapping[str, NDArray[Any]], name: str) -> Player:
    hidden, window, size, recurrent, captures, observes = (
        index(arrays[name].item()) for name in FORM
    )
    rules = Rules() if window else Rules(size=size)
    network = architecture(
        hidden, rules, recurrent=bool(recurrent), captures=bool(captures), window=window
    )
    return player(network, arrays["weights"], observes=bool(observes), name=name)
