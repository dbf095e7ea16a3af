"""The forward pass of a network, compiled: for one observation inside a kernel, or for a batch.

Kernels call `forward`, `step` (with a recurrent cell) or `step_marked` (inputs of 0 and 1) with the
row of `agents.networks.layout`. Python calls `evaluate`.

Sums have a fixed order: the bias, then the inputs from first to last. So a decision does not depend
on its batch. Zero inputs are skipped: most features of an observation are zero, and half of the
outputs of ReLU. Four inputs are added at once, in the same order.

Intermediate numbers have the type of `out`. float32 is fastest; with float64 (the networks of
Ocnaru's thesis) only the weights are float32.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.networks.layout import (
    AT_ACTIVATION,
    AT_CELL,
    AT_LAYERS,
    AT_UNITS,
    BLOCK,
    ELMAN,
    GATES,
    GRU,
    LOGISTIC,
    MOST_UNITS,
    NONE,
    SIZES,
    TANH,
)
from monopoly_env.errors import ConfigurationError, check_array
from monopoly_env.kernels import borrowed, entry, inlined, kernel, on_stack
from monopoly_env.kernels.signatures import Array1, Array2

# Networks with layers of at most this size need no memory from the heap
_FEW: Final = 1024
_SCRATCH: Final = 3 * _FEW


@kernel
def forward(row: Any, seen: Any, first: int, out: Any) -> None:
    """Compute outputs of a network without a cell.

    Args:
        row: float32, its weights.
        seen: (inputs,) float, the observation.
        first: The first output to compute.
        out: (N,) float32 or float64, filled: the outputs from `first` on.
    """
    step(row, seen, out[:0], first, out)


@kernel
def step(row: Any, seen: Any, state: Any, first: int, out: Any) -> None:
    """Compute outputs of a network, and advance the state of its cell.

    Args:
        row: float32, its weights.
        seen: (inputs,) float, the observation.
        state: (units,) of the type of `out`, replaced; zeros before the first observation; ignored
            without a cell.
        first: The first output to compute.
        out: (N,) float32 or float64, filled: the outputs from `first` on.
    """
    scratch, index = _scratch(row, on_stack(_SCRATCH, out.dtype), on_stack(_FEW, np.int64))
    signal = scratch[0, : len(seen)]
    for i in range(len(seen)):
        signal[i] = seen[i]
    _pass(row, scratch, index, _find(signal, index), state, first, out)


@kernel
def step_marked(row: Any, marked: Any, state: Any, first: int, out: Any) -> None:
    """As `step`, for an observation of ones and zeros.

    Args:
        row: float32, its weights.
        marked: (N,) integers, the inputs that are 1, ascending.
        state: As in `step`.
        first: The first output to compute.
        out: (N,) float32 or float64, filled.
    """
    scratch, index = _scratch(row, on_stack(_SCRATCH, out.dtype), on_stack(_FEW, np.int64))
    for n in range(len(marked)):
        index[n] = marked[n]
        scratch[0, marked[n]] = 1
    _pass(row, scratch, index, len(marked), state, first, out)


@inlined
def _scratch(row: Any, few: Any, places: Any) -> Any:
    """Scratch for three layers, (3, widest), and for indices; on the caller's stack if it fits."""
    widest = _widest(row)
    if widest <= _FEW:
        return few[: 3 * widest].reshape(3, widest), places
    return np.empty((3, widest), few.dtype), np.empty(widest, np.int64)


@kernel
def _widest(row: Any) -> int:
    """The size of the widest layer."""
    widest = GATES[int(row[AT_CELL])] * int(row[AT_UNITS])
    for size in row[SIZES : SIZES + int(row[AT_LAYERS])]:
        widest = max(widest, int(size))
    return widest


@inlined
def _pass(row: Any, scratch: Any, index: Any, count: int, state: Any, first: int, out: Any) -> None:
    """Compute all layers from the inputs in `scratch[0]`; `index` lists `count` nonzero ones."""
    row = borrowed(row)
    scratch = borrowed(scratch)
    index = borrowed(index)
    state = borrowed(state)
    out = borrowed(out)
    layers, cell = int(row[AT_LAYERS]), int(row[AT_CELL])
    signal = scratch[0, : int(row[SIZES])]
    at = -(-(SIZES + layers + 1) // BLOCK) * BLOCK
    for layer in range(1, layers):
        result = scratch[layer % 2, : int(row[SIZES + layer])]
        at = _dense(row, at, signal, len(result), 0, index, count, result)
        _activate(int(row[AT_ACTIVATION]), result)
        signal, count = result, _find(result, index)
    if cell != NONE:
        at = _recur(row, at, cell, signal, state, scratch[layers % 2], scratch[2], index, count)
        if len(out) == 0:
            return  # only the next state is needed
        signal, count = state, _find(state, index)
    _dense(row, at, signal, int(row[SIZES + layers]), first, index, count, out)


@kernel
def _find(signal: Any, index: Any) -> int:
    """List the nonzero inputs; returns their number."""
    count = 0
    for i in range(len(signal)):
        index[count] = i
        count += signal[i] != 0
    return count


@kernel
def _dense(
    row: Any, at: int, signal: Any, width: int, first: int, index: Any, count: int, out: Any
) -> int:
    """Compute outputs of a dense layer; returns where the next layer begins."""
    end = at + len(signal) * width
    biases = _weights(row, end + first, len(out))
    for k in range(len(out)):
        out[k] = biases[k]
    fours = count - count % 4
    for n in range(0, fours, 4):
        a, b, c, d = index[n], index[n + 1], index[n + 2], index[n + 3]
        x, y, z, w = signal[a], signal[b], signal[c], signal[d]
        by_a = _weights(row, at + a * width + first, len(out))
        by_b = _weights(row, at + b * width + first, len(out))
        by_c = _weights(row, at + c * width + first, len(out))
        by_d = _weights(row, at + d * width + first, len(out))
        for k in range(len(out)):
            out[k] = out[k] + x * by_a[k] + y * by_b[k] + z * by_c[k] + w * by_d[k]
    for n in range(fours, count):
        x, by_a = signal[index[n]], _weights(row, at + index[n] * width + first, len(out))
        for k in range(len(out)):
            out[k] += x * by_a[k]
    return end + width


@kernel
def _weights(row: Any, at: int, count: int) -> Any:
    """The weights from an input to each of `count` outputs, or their biases."""
    return row[at : at + count]


@kernel
def _activate(activation: int, out: Any) -> None:
    """Apply an activation to each number."""
    for k in range(len(out)):
        if activation == TANH:
            out[k] = math.tanh(np.float64(out[k]))
        elif activation == LOGISTIC:
            out[k] = _sigmoid(out[k])
        elif not out[k] > 0:
            out[k] = 0


@inlined
def _recur(
    row: Any,
    at: int,
    cell: int,
    signal: Any,
    state: Any,
    from_signal: Any,
    from_state: Any,
    index: Any,
    count: int,
) -> int:
    """Replace the state of a cell; returns where the next layer begins."""
    units = len(state)
    width = GATES[cell] * units
    at = _dense(row, at, signal, width, 0, index, count, from_signal[:width])
    at = _dense(row, at, state, width, 0, index, _find(state, index), from_state[:width])
    for k in range(units):
        if cell == ELMAN and row[AT_ACTIVATION] == LOGISTIC:
            state[k] = _sigmoid(from_signal[k] + from_state[k])
        elif cell == ELMAN:
            state[k] = math.tanh(np.float64(from_signal[k] + from_state[k]))
        else:
            reset = _sigmoid(from_signal[k] + from_state[k])
            update = _sigmoid(from_signal[units + k] + from_state[units + k])
            new = math.tanh(from_signal[2 * units + k] + reset * from_state[2 * units + k])
            state[k] = (1 - update) * new + update * state[k]
    return at


@kernel
def _sigmoid(value: Any) -> Any:
    return np.float64(1 / (1 + math.exp(-np.float64(value))))


@kernel
def is_whole(row: Any) -> bool:
    """Whether a row has the length that its header implies; kernels do not check it."""
    if len(row) <= SIZES:
        return False
    layers, units, cell = int(row[AT_LAYERS]), int(row[AT_UNITS]), int(row[AT_CELL])
    if (
        layers < 1
        or len(row) < SIZES + layers + 1
        or not NONE <= cell <= GRU
        or not 0 <= units <= MOST_UNITS
    ):
        return False
    gates, numbers = GATES[cell] * units, -(-(SIZES + layers + 1) // BLOCK) * BLOCK
    for layer in range(layers):
        before, after = int(row[SIZES + layer]), int(row[SIZES + layer + 1])
        if not 1 <= before <= MOST_UNITS or not 1 <= after <= MOST_UNITS:
            return False
        if layer == layers - 1 and gates:
            numbers += (before + 1 + units + 1) * gates
            before = units
        numbers += (before + 1) * after
    return len(row) >= numbers


def evaluate(
    row: NDArray[np.float32],
    observations: NDArray[np.float32],
    head: slice | None = None,
    states: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Outputs of a network for a batch, bit for bit those of the kernels.

    Args:
        row: Its weights.
        observations: (B, inputs) float32.
        head: The outputs to compute, from `Architecture.head`; by default all.
        states: (B, units) float32 of a network with a cell, replaced by the next states; by default
            the cell begins with zeros.

    Returns:
        (B, outputs) float32, or (B, size of the head).

    Raises:
        ConfigurationError: The row is invalid, observations or states have another shape, or the
            head is out of range.
    """
    check_array("row of weights", row, np.float32, SIZES)
    if not _is_whole(row):
        raise ConfigurationError(
            f"The weights must be a row from Architecture.pack: {len(row)} numbers do not match"
            " its header."
        )
    inputs = int(row[SIZES])
    outputs = int(row[SIZES + int(row[AT_LAYERS])])
    units = int(row[AT_UNITS])
    if observations.ndim != 2 or observations.shape[1] != inputs:
        raise ConfigurationError(f"Observations must be (B, {inputs}), not {observations.shape}.")
    states = np.zeros((len(observations), units), np.float32) if states is None else states
    if (
        states.shape != (len(observations), units)
        or states.dtype != np.float32
        or not states.flags.c_contiguous
    ):
        raise ConfigurationError(
            f"States must be float32 of shape ({len(observations)}, {units}), not {states.dtype}"
            f" {states.shape}."
        )
    wanted = slice(0, outputs) if head is None else head
    if (
        wanted.start is None
        or wanted.stop is None
        or not 0 <= wanted.start <= wanted.stop <= outputs
    ):
        raise ConfigurationError(f"The head must be a slice of {outputs} outputs, not {wanted}.")
    out = np.empty((len(observations), wanted.stop - wanted.start), np.float32)
    _evaluate(row, np.ascontiguousarray(observations, np.float32), states, wanted.start, out)
    return out


@entry
def _is_whole(row: Array1[np.float32]) -> bool:
    return bool(is_whole(row))


@entry
def _evaluate(
    row: Array1[np.float32],
    observations: Array2[np.float32],
    states: Array2[np.float32],
    first: int,
    out: Array2[np.float32],
) -> None:
    row = borrowed(row)
    observations = borrowed(observations)
    states = borrowed(states)
    out = borrowed(out)
    for b in range(len(observations)):
        step(row, observations[b], states[b], first, out[b])
