"""Networks in torch: they compute what the compiled pass computes.

Their state and the optimizer's are read back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from agents.networks.forward import evaluate
from agents.networks.layout import Architecture
from tests.agents.networks.test_forward import KINDS, observations
from training.networks import (
    Network,
    Networks,
    arrays_of,
    optimizer_arrays,
    set_arrays_of,
    set_optimizer_arrays,
)

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("architecture", KINDS, ids=str)
def test_torch_and_the_compiled_pass_agree(architecture: Architecture) -> None:
    torch.manual_seed(0)
    network = Network(architecture)
    arrays = arrays_of(network)
    assert {name: array.shape for name, array in arrays.items()} == architecture.shapes()
    row, seen, states = (
        architecture.pack(arrays),
        observations(20, 30),
        observations(20, architecture.units, 1.0),
    )
    with torch.no_grad():
        expected, following = network.step(
            torch.from_numpy(seen), torch.from_numpy(states.copy()) if architecture.units else None
        )
        assert evaluate(row, seen) == pytest.approx(
            network(torch.from_numpy(seen)).numpy(), abs=1e-5
        )
    assert evaluate(row, seen, states=states) == pytest.approx(expected.numpy(), abs=1e-5)
    assert following is None or states == pytest.approx(following.numpy(), abs=1e-5)
    assert expected.std() > 0.1


def test_a_row_makes_a_network() -> None:
    architecture = KINDS[-1]
    network, other = Network(architecture), Network(architecture)
    set_arrays_of(other, architecture.unpack(architecture.pack(arrays_of(network))))
    assert all(
        torch.equal(tensor, network.state_dict()[name])
        for name, tensor in other.state_dict().items()
    )


def test_several_networks_name_their_arrays_after_themselves() -> None:
    networks = Networks({"a": KINDS[0], "b": KINDS[5]})
    assert {name: array.shape for name, array in arrays_of(networks).items()} == KINDS[0].shapes(
        "a"
    ) | KINDS[5].shapes("b")
    assert networks["b"].architecture == KINDS[5]


def step(network: Network, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    (network(torch.from_numpy(observations(8, 30))) ** 2).sum().backward()  # type: ignore[no-untyped-call]
    optimizer.step()


def test_training_goes_on_from_the_arrays_of_network_and_optimizer() -> None:
    torch.manual_seed(0)
    made: list[tuple[Network, Any]] = []
    for _ in range(2):
        network = Network(KINDS[5])
        made.append((network, torch.optim.Adam(network.parameters(), lr=0.1, fused=True)))
    (first, optimizer), (second, resumed) = made
    for _ in range(3):
        step(first, optimizer)
    saved = optimizer_arrays(optimizer)
    assert set(saved) == {
        f"{number}.{name}"
        for number in range(len(list(first.parameters())))
        for name in ("step", "exp_avg", "exp_avg_sq")
    }
    before = {name: array.copy() for name, array in saved.items()}
    set_arrays_of(second, arrays_of(first))
    set_optimizer_arrays(resumed, saved)
    for network, adam in made:
        step(network, adam)
    assert all(
        np.array_equal(array, arrays_of(second)[name]) for name, array in arrays_of(first).items()
    )
    assert all(np.array_equal(array, before[name]) for name, array in saved.items())
