"""The description of a network, and its weights as one row of float32 numbers.

    >>> from agents.networks.layout import Architecture
    >>> critic = Architecture(inputs=602, hidden=(256, 128), heads=(("state", 1), ("bid", 8)))
    >>> arrays = {name: np.zeros(shape) for name, shape in critic.shapes().items()}
    >>> arrays["0.weight"].shape
    (256, 602)
    >>> row = critic.pack(arrays)  # critic.unpack(row) gives the arrays

A row begins with a header for the compiled pass (`agents.networks.forward`), so that kernels need
the row alone: version of the layout, activation, cell, units of the cell, number of dense layers,
then the inputs and the outputs of each, padded with zeros to a multiple of 16 numbers. The layers
follow in the order of computation: the weights as (in, out), so that one input's weights are
adjacent, then the bias (out,). Padding at the end makes the length a multiple of 16: rows can be
concatenated, and viewed as float64.

Named arrays are as in torch's `state_dict`, weights as (out, in).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError, FormatError, nearest, shortened

VERSION: Final = 1
ACTIVATIONS: Final = ("relu", "tanh", "logistic")
CELLS: Final = ("none", "elman", "gru")
GATES: Final = (0, 1, 3)  # of each cell
RELU, TANH, LOGISTIC = range(3)
NONE, ELMAN, GRU = range(3)
# Fields of the header. The inputs and the outputs of each dense layer are from SIZES on.
AT_VERSION, AT_ACTIVATION, AT_CELL, AT_UNITS, AT_LAYERS, SIZES = range(6)
MOST_UNITS: Final = 1 << 16  # of a layer
MOST_NUMBERS: Final = 1 << 28  # of a network: a gigabyte
BLOCK: Final = 16  # float32 numbers in a cache line


@dataclass(frozen=True)
class Architecture:
    """The description of a network: hidden layers, an optional cell, an output layer for all heads.

    Attributes:
        inputs: Length of an observation.
        hidden: Units of the hidden layers, from the input on; may be empty.
        heads: Names and sizes of the heads, consecutive slices of the outputs.
        activation: Of the hidden layers: `relu`, `tanh` or `logistic`.
        cell: The recurrent cell after them: `none`, `elman` (one layer with tanh, or with
            `logistic` if that is the activation) or `gru` (gated recurrent unit, as in torch).
        units: Length of the cell's state.
    """

    inputs: int
    hidden: tuple[int, ...]
    heads: tuple[tuple[str, int], ...]
    activation: str = "relu"
    cell: str = "none"
    units: int = 0

    def __post_init__(self) -> None:
        """Check names and sizes.

        Raises:
            ConfigurationError: An unknown activation or cell, a size out of range, no or repeated
                heads, or units without a cell.
        """
        for given, known in ((self.activation, ACTIVATIONS), (self.cell, CELLS)):
            if given not in known:
                raise ConfigurationError(
                    f"Unknown part of a network: {given!r}. {nearest(given, known)}"
                )
        names = [name for name, _ in self.heads]
        if not names or len(set(names)) < len(names):
            raise ConfigurationError(
                f"A network needs one head or more, each with its own name, not {names}."
            )
        sizes = (self.inputs, *self.hidden, *(size for _, size in self.heads))
        if not all(
            isinstance(size, (int, np.integer)) and 1 <= size <= MOST_UNITS for size in sizes
        ):
            raise ConfigurationError(
                f"All sizes of a network must be whole numbers from 1 to {MOST_UNITS:,}, not"
                f" {shortened(sizes)}."
            )
        if (self.units > 0) != (self.cell != "none"):
            raise ConfigurationError(f"A cell needs units, and units need a cell: {self}.")
        if self.length > MOST_NUMBERS:
            raise ConfigurationError(
                f"A network of {self.length:,} numbers is too large; {MOST_NUMBERS:,} are the most."
            )

    @property
    def outputs(self) -> int:
        """The number of outputs of all heads."""
        return sum(size for _, size in self.heads)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The inputs, then the outputs of each dense layer; the last one reads a cell's state."""
        return (self.inputs, *self.hidden, self.outputs)

    def head(self, name: str) -> slice:
        """The outputs of a head."""
        start = 0
        for head, size in self.heads:
            if head == name:
                return slice(start, start + size)
            start += size
        raise ConfigurationError(
            f"No head {name!r}. {nearest(name, [head for head, _ in self.heads])}"
        )

    def shapes(self, name: str = "") -> dict[str, tuple[int, ...]]:
        """Shapes of the arrays in the order of the row; `name` is a prefix of their names."""
        prefix = f"{name}." if name else ""
        hidden = [
            (f"{number}.", "", *pair)
            for number, pair in enumerate(itertools.pairwise(self.sizes[:-1]))
        ]
        last, gates = self.sizes[-2], GATES[CELLS.index(self.cell)] * self.units
        cell = [("cell.", "_ih", last, gates), ("cell.", "_hh", self.units, gates)] if gates else []
        shapes: dict[str, tuple[int, ...]] = {}
        for layer, part, before, after in (
            *hidden,
            *cell,
            (f"{len(self.hidden)}.", "", self.units or last, self.outputs),
        ):
            shapes |= {
                f"{prefix}{layer}weight{part}": (after, before),
                f"{prefix}{layer}bias{part}": (after,),
            }
        return shapes

    @property
    def header(self) -> NDArray[np.float32]:
        """The beginning of the row."""
        words = [
            VERSION,
            ACTIVATIONS.index(self.activation),
            CELLS.index(self.cell),
            self.units,
            len(self.hidden) + 1,
            *self.sizes,
        ]
        return _filled(np.array(words, np.float32))

    @property
    def length(self) -> int:
        """Numbers in the row."""
        return _blocks(
            len(self.header) + sum(int(np.prod(shape)) for shape in self.shapes().values())
        )

    def pack(self, arrays: Mapping[str, NDArray[Any]], name: str = "") -> NDArray[np.float32]:
        """The row of a network, (length,) float32, from the arrays that `shapes(name)` names.

        Raises:
            FormatError: An array is missing or has another shape.
        """
        for array, shape in self.shapes(name).items():
            given = np.shape(arrays[array]) if array in arrays else "missing"
            if given != shape:
                raise FormatError(
                    f"Array {array!r} of the network must be of shape {shape}; it is {given}."
                )
        parts = [np.asarray(arrays[array], np.float32).T.ravel() for array in self.shapes(name)]
        return _filled(np.concatenate([self.header, *parts]))

    def unpack(self, row: NDArray[np.float32], name: str = "") -> dict[str, NDArray[np.float32]]:
        """The arrays of a row, as `shapes(name)` names them; copies.

        Raises:
            FormatError: The row is of another architecture, or of another version of the layout.
        """
        at = len(self.header)
        if len(row) != self.length or not np.array_equal(row[:at], self.header):
            raise FormatError(
                f"The row of {len(row)} numbers that begins with {row[:8].tolist()} does not match"
                f" {self}."
            )
        arrays = {}
        for array, shape in self.shapes(name).items():
            size = int(np.prod(shape))
            arrays[array] = np.array(
                row[at : at + size].reshape(shape[::-1]).T, np.float32, order="C"
            )
            at += size
        return arrays


def zeros(architectures: Mapping[str, Architecture]) -> dict[str, NDArray[np.float32]]:
    """The arrays of named networks, all zeros."""
    shapes = [
        shape
        for name, architecture in architectures.items()
        for shape in architecture.shapes(name).items()
    ]
    return {array: np.zeros(shape, np.float32) for array, shape in shapes}


def pack_all(
    architectures: Mapping[str, Architecture], arrays: Mapping[str, NDArray[Any]]
) -> NDArray[np.float32]:
    """The rows of named networks, one after another."""
    return np.concatenate(
        [architecture.pack(arrays, name) for name, architecture in architectures.items()]
    )


def starts(architectures: Mapping[str, Architecture]) -> NDArray[np.int64]:
    """(N + 1,) starts of the rows of N networks in `pack_all`, and the end of the last one."""
    return np.cumsum([0, *(architecture.length for architecture in architectures.values())])


def _blocks(length: int) -> int:
    return -(-length // BLOCK) * BLOCK


def _filled(row: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.pad(row, (0, _blocks(len(row)) - len(row)))
