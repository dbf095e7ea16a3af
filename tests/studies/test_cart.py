"""The poles: Wieland's equations against Newton's in matrix form, trials against a plain loop."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError
from studies import cart
from training.evolution.esp import Neurons

NETWORK = cart.architecture(3)
NEURONS = Neurons(NETWORK, bias=True)


def slope_of(state: NDArray[np.float64], force: float) -> NDArray[np.float64]:
    """The same motion from another form of the equations.

    Masses times accelerations are forces and torques, three at once.
    """
    _, speed, *turning = state
    angles, turns = np.array(turning[::2]), np.array(turning[1::2])
    masses, halves = np.array(cart.MASSES), np.array(cart.HALVES)
    inertia = np.zeros((3, 3))
    inertia[0, 0] = cart.CART + masses.sum()
    inertia[0, 1:] = inertia[1:, 0] = masses * halves * np.cos(angles)
    inertia[[1, 2], [1, 2]] = 4 / 3 * masses * halves**2
    pushed = (
        force
        - cart.CART_FRICTION * np.sign(speed)
        + (masses * halves * turns**2 * np.sin(angles)).sum()
    )
    torques = -cart.GRAVITY * masses * halves * np.sin(angles) - cart.HINGE_FRICTION * turns
    faster = np.linalg.solve(inertia, np.array([pushed, *torques]))
    return np.array([speed, faster[0], turns[0], faster[1], turns[1], faster[2]])


def moved(state: NDArray[np.float64], force: float) -> NDArray[np.float64]:
    first = slope_of(state, force)
    second = slope_of(state + 0.005 * first, force)
    third = slope_of(state + 0.005 * second, force)
    return state + 0.01 / 6 * (
        first + 2 * second + 2 * third + slope_of(state + 0.01 * third, force)
    )


def lasts(genes: NDArray[np.float64], steps: int) -> int:
    """A trial of a network of 3 neurons, from the definition."""
    inputs, states, outputs, bias = genes[:, :3], genes[:, 3:6], genes[:, 6], genes[:, 7]
    state, memory, lasted = np.array([0, 0, math.radians(4.5), 0, 0, 0]), np.zeros(3), 0
    limits = np.array([2.4, math.radians(36), math.radians(36)])
    while lasted < steps and (np.abs(state[::2]) <= limits).all():
        memory = 1 / (1 + np.exp(-(inputs @ (state[::2] / limits) + states @ memory + bias)))
        force = 10 * (2 / (1 + np.exp(-outputs @ memory)) - 1)
        state, lasted = moved(moved(state, force), force), lasted + 1
    return lasted


def test_the_equations_are_newtons() -> None:
    generator = np.random.default_rng(0)
    for _ in range(100):
        state, force = generator.uniform(-1, 1, 6), float(generator.uniform(-10, 10))
        found = state.copy()
        cart.write_slope(state, force, found)
        np.testing.assert_allclose(found, slope_of(state, force), rtol=1e-9, atol=1e-9)
        expected = moved(state, force)
        cart.move(state, force, np.empty((5, 6)))
        np.testing.assert_allclose(state, expected, rtol=1e-9, atol=1e-9)


def test_trials_last_as_in_a_plain_loop() -> None:
    genes = np.random.default_rng(1).uniform(-6, 6, (40, 3 * NEURONS.genes))
    found = cart.fitness(NEURONS.pack(genes), NETWORK, 100) * 100
    assert found.round().tolist() == [lasts(row.reshape(3, -1), 100) for row in genes]
    assert len(set(found.tolist())) > 5


def test_rows_of_another_network_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="float32"):
        cart.fitness(np.zeros((2, 5), np.float32), NETWORK)
