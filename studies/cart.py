"""Double pole balancing without velocities, a benchmark for the evolution of recurrent networks.

    network = architecture(hidden=5)
    neurons = Neurons(network, bias=True)
    # (N,) shares of 1,000 steps, 1.0: balanced to the end
    rates = fitness(neurons.pack(rows), network)

Wieland's equations with the usual constants: the cart weighs 1 kg and is pushed by up to 10 N; the
poles are 1 m and 0.1 m long and weigh 0.1 kg and 0.01 kg. A push lasts two Runge-Kutta steps of
0.01 s. The long pole begins at 4.5 degrees, all else at 0. A trial ends when the cart is more than
2.4 m from the middle or a pole leans by more than 36 degrees. The network observes the position of
the cart and both angles, each as a share of its limit, but no velocities, so it needs a memory.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.networks.forward import step
from agents.networks.layout import Architecture
from monopoly_env.errors import ConfigurationError
from monopoly_env.kernels import borrowed, entry, kernel

GRAVITY: Final = -9.8
CART: Final = 1.0  # kg
MASSES: Final = (0.1, 0.01)  # kg
HALVES: Final = (0.5, 0.05)  # m, half the length of each pole
CART_FRICTION: Final = 0.0005
HINGE_FRICTION: Final = 0.000002
FORCE: Final = 10.0  # N
TRACK: Final = 2.4  # m
LEANS: Final = math.radians(36.0)
BEGINS: Final = math.radians(4.5)
SECONDS: Final = 0.01
PUSH: Final = 2  # Runge-Kutta steps
INPUTS: Final = 3


def architecture(hidden: int) -> Architecture:
    """A simple recurrent network of logistic units; a positive output pushes right."""
    return Architecture(INPUTS, (), (("push", 1),), "logistic", "elman", hidden)


def fitness(
    rows: NDArray[np.float32], network: Architecture, steps: int = 1000
) -> NDArray[np.float64]:
    """The share of `steps` for which each network keeps the poles up, (N,).

    Args:
        rows: (N, length) float32, of `Architecture.pack`.
        network: The architecture of the rows.
        steps: Pushes after which a trial ends as a success.

    Raises:
        ConfigurationError: A network or rows of another shape.
    """
    if network.inputs != INPUTS or network.outputs != 1:
        raise ConfigurationError(
            f"A network that balances poles has 3 inputs and 1 output, not {network.inputs} and"
            f" {network.outputs}."
        )
    if rows.ndim != 2 or rows.shape[1] != network.length or rows.dtype != np.float32:
        raise ConfigurationError(
            f"Rows must be (N, {network.length}) float32, not {rows.dtype} {rows.shape}."
        )
    lasted = np.zeros(len(rows), np.int64)
    _balance(np.ascontiguousarray(rows), max(network.units, 1), steps, lasted)
    return lasted / steps


@entry
def _balance(rows: Any, units: int, steps: int, lasted: Any) -> None:
    rows, lasted = borrowed(rows), borrowed(lasted)
    seen, memory, out = (
        np.empty(INPUTS, np.float32),
        np.empty(units, np.float32),
        np.empty(1, np.float32),
    )
    state, scratch = np.empty(6), np.empty((5, 6))
    for n in range(len(rows)):
        memory[:] = 0.0
        state[:] = 0.0
        state[2] = BEGINS
        while (
            lasted[n] < steps
            and abs(state[0]) <= TRACK
            and abs(state[2]) <= LEANS
            and abs(state[4]) <= LEANS
        ):
            seen[0], seen[1], seen[2] = state[0] / TRACK, state[2] / LEANS, state[4] / LEANS
            step(rows[n], seen, memory, 0, out)
            for _ in range(PUSH):
                move(state, FORCE * math.tanh(0.5 * out[0]), scratch)  # the logistic, from -1 to 1
            lasted[n] += 1


@kernel
def move(state: Any, force: float, scratch: Any) -> None:
    """A Runge-Kutta step of position and velocity of the cart and angles and speeds of the poles.

    `scratch` is (5, 6).
    """
    slopes, at = scratch[:4], scratch[4]
    for stage in range(4):
        part = 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5)
        for i in range(6):
            at[i] = state[i] + part * SECONDS * slopes[max(stage - 1, 0), i] if stage else state[i]
        write_slope(at, force, slopes[stage])
    for i in range(6):
        state[i] += (
            SECONDS / 6.0 * (slopes[0, i] + 2.0 * slopes[1, i] + 2.0 * slopes[2, i] + slopes[3, i])
        )


@kernel
def write_slope(state: Any, force: float, out: Any) -> None:
    """Write the derivative of the state, by Wieland's equations."""
    pushed, weight = force - CART_FRICTION * np.sign(state[1]), CART
    for pole in range(2):
        mass, half, angle, speed = (
            MASSES[pole],
            HALVES[pole],
            state[2 + 2 * pole],
            state[3 + 2 * pole],
        )
        pull = HINGE_FRICTION * speed / (mass * half) + GRAVITY * math.sin(angle)
        pushed += (
            mass * half * speed * speed * math.sin(angle) + 0.75 * mass * math.cos(angle) * pull
        )
        weight += mass * (1.0 - 0.75 * math.cos(angle) ** 2)
    faster = pushed / weight
    out[0], out[1] = state[1], faster
    for pole in range(2):
        mass, half, angle, speed = (
            MASSES[pole],
            HALVES[pole],
            state[2 + 2 * pole],
            state[3 + 2 * pole],
        )
        pull = HINGE_FRICTION * speed / (mass * half) + GRAVITY * math.sin(angle)
        out[2 + 2 * pole], out[3 + 2 * pole] = (
            speed,
            -0.75 / half * (faster * math.cos(angle) + pull),
        )
