"""The compiled forward pass.

What the formulas say, in one order of summation, for one observation and for a batch.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.networks.forward import evaluate, forward, step
from agents.networks.layout import ACTIVATIONS, Architecture
from monopoly_env.errors import ConfigurationError
from tests.agents.networks.test_layout import random_arrays

HEADS = (("state", 1), ("bid", 8))
CELLS = (("none", 0), ("elman", 6), ("gru", 11))
KINDS = [
    Architecture(30, hidden, HEADS, activation, cell, units)
    for hidden, activation, (cell, units) in itertools.product(
        [(), (7,), (5, 40, 9)], ACTIVATIONS, CELLS
    )
]


def observations(count: int, length: int, share: float = 0.3, seed: int = 1) -> NDArray[np.float32]:
    """Random numbers, most of them 0."""
    generator = np.random.default_rng(seed)
    return (
        generator.normal(size=(count, length)) * (generator.random((count, length)) < share)
    ).astype(np.float32)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def by_formula(
    network: Architecture, arrays: dict[str, Any], seen: Any, state: Any
) -> tuple[Any, Any]:
    """Outputs and next state in float64."""
    signal, (*hidden, last) = seen.astype(np.float64), range(len(network.hidden) + 1)
    for layer in hidden:
        signal = signal @ arrays[f"{layer}.weight"].T + arrays[f"{layer}.bias"]
        signal = {"relu": lambda x: np.maximum(x, 0), "tanh": np.tanh, "logistic": sigmoid}[
            network.activation
        ](signal)
    if network.units:
        x = signal @ arrays["cell.weight_ih"].T + arrays["cell.bias_ih"]
        h = state @ arrays["cell.weight_hh"].T + arrays["cell.bias_hh"]
        if network.cell == "elman":
            state = sigmoid(x + h) if network.activation == "logistic" else np.tanh(x + h)
        else:
            (xr, xz, xn), (hr, hz, hn) = np.split(x, 3, axis=1), np.split(h, 3, axis=1)
            update = sigmoid(xz + hz)
            state = (1 - update) * np.tanh(xn + sigmoid(xr + hr) * hn) + update * state
        signal = state
    return signal @ arrays[f"{last}.weight"].T + arrays[f"{last}.bias"], state


def in_order(arrays: dict[str, Any], layers: int, seen: NDArray[Any], dtype: type) -> NDArray[Any]:
    """Outputs of a network with ReLU.

    The bias, then what each input adds, one after another, in a type of number.
    """
    signal = seen.astype(dtype)
    for layer in range(layers):
        signal = np.where(signal > 0, signal, 0).astype(dtype) if layer else signal
        out = arrays[f"{layer}.bias"].astype(dtype)
        for i in np.flatnonzero(signal):
            out += signal[i] * arrays[f"{layer}.weight"][:, i].astype(dtype)
        signal = out
    return signal


@pytest.mark.parametrize("network", KINDS, ids=str)
def test_it_computes_what_the_formulas_say(network: Architecture) -> None:
    arrays = random_arrays(network)
    row, seen, states = (
        network.pack(arrays),
        observations(20, 30),
        observations(20, network.units, 1.0),
    )
    outputs, following = by_formula(network, arrays, seen, states)
    assert evaluate(row, seen, states=states) == pytest.approx(outputs, abs=1e-4)
    assert states == pytest.approx(following, abs=1e-5)
    assert outputs.std() > 0.1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", [(602, 256, 128, 205), (100, 128, 64, 32, 40), (33, 5)])
def test_sums_run_in_order_to_the_bit(sizes: tuple[int, ...], dtype: type) -> None:
    network = Architecture(sizes[0], sizes[1:-1], (("x", sizes[-1]),))
    arrays = random_arrays(network)
    row, out = network.pack(arrays), np.zeros(sizes[-1], dtype)
    for seen in (*observations(20, sizes[0], 0.15), *observations(5, sizes[0], 1.0)):
        forward(row, seen, 0, out)
        assert np.array_equal(out, in_order(arrays, len(sizes) - 1, seen, dtype))


@pytest.mark.parametrize("network", KINDS[::4], ids=str)
def test_an_output_does_not_depend_on_its_batch_or_its_head(network: Architecture) -> None:
    row, seen, states = (
        network.pack(random_arrays(network)),
        observations(50, 30),
        observations(50, network.units, 1.0),
    )
    after, alone = states.copy(), states.copy()
    together = evaluate(row, seen, states=after)
    for i in range(50):
        out = np.zeros(8, np.float32)
        step(row, seen[i], alone[i], 1, out)
        assert np.array_equal(out, together[i, 1:])
    assert np.array_equal(alone, after)
    assert np.array_equal(
        evaluate(row, seen, network.head("state"), states.copy()), together[:, :1]
    )
    assert np.array_equal(evaluate(row, np.asfortranarray(seen), states=states.copy()), together)


def test_a_cell_begins_with_zeros_and_remembers() -> None:
    network = KINDS[-1]
    row, seen, states = (
        network.pack(random_arrays(network)),
        observations(4, 30),
        np.zeros((4, network.units), np.float32),
    )
    first = evaluate(row, seen, states=states)
    assert np.array_equal(first, evaluate(row, seen))
    assert not np.allclose(evaluate(row, seen, states=states), first)


def test_wrong_lengths_are_refused() -> None:
    network = KINDS[-1]
    row = network.pack(random_arrays(network))
    with pytest.raises(ConfigurationError, match=r"Observations must be \(B, 30\), not \(2, 29\)"):
        evaluate(row, observations(2, 29))
    with pytest.raises(
        ConfigurationError, match=r"States must be float32 of shape \(2, 11\), not float32 \(2, 3\)"
    ):
        evaluate(row, observations(2, 30), states=np.zeros((2, 3), np.float32))
