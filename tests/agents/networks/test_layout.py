"""The description of a network and its row.

What is written is read back, and what does not fit is refused.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from agents.networks import layout
from agents.networks.layout import Architecture
from monopoly_env.errors import ConfigurationError, FormatError

SMALL = Architecture(5, (4, 3), (("state", 1), ("bid", 2)))


def random_arrays(architecture: Architecture, name: str = "", seed: int = 0) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    return {
        array: generator.normal(size=shape).astype(np.float32)
        for array, shape in architecture.shapes(name).items()
    }


@pytest.mark.parametrize("hidden", [(), (7,), (40, 3, 9)])
@pytest.mark.parametrize(("cell", "units"), [("none", 0), ("elman", 6), ("gru", 5)])
def test_a_row_is_read_back(hidden: tuple[int, ...], cell: str, units: int) -> None:
    architecture = Architecture(20, hidden, (("state", 1), ("bid", 8)), "tanh", cell, units)
    arrays = random_arrays(architecture, "net")
    row = architecture.pack(arrays | {"other": np.zeros(3)}, "net")
    assert (row.dtype, row.shape) == (np.float32, (architecture.length,))
    found = architecture.unpack(row, "net")
    assert list(found) == list(arrays)
    assert all(
        np.array_equal(array, arrays[name]) and array.flags.c_contiguous
        for name, array in found.items()
    )
    found["net.0.bias"][:] = 0
    assert np.array_equal(architecture.unpack(row, "net")["net.0.bias"], arrays["net.0.bias"])


def test_the_row_is_as_documented() -> None:
    arrays = random_arrays(SMALL)
    row = SMALL.pack(arrays)
    assert row[:9].tolist() == [layout.VERSION, layout.RELU, layout.NONE, 0, 3, 5, 4, 3, 3]
    assert not row[9:16].any()
    assert np.array_equal(row[16:36].reshape(5, 4), arrays["0.weight"].T)
    assert np.array_equal(row[36:40], arrays["0.bias"])
    assert np.array_equal(row[40:52].reshape(4, 3), arrays["1.weight"].T)
    assert np.array_equal(row[55:64].reshape(3, 3), arrays["2.weight"].T)
    assert len(row) == 80
    assert not row[67:].any()


def test_names_and_shapes_are_those_of_torch() -> None:
    shapes = Architecture(5, (4,), (("x", 2),), cell="gru", units=3).shapes("net")
    assert shapes == {
        "net.0.weight": (4, 5),
        "net.0.bias": (4,),
        "net.cell.weight_ih": (9, 4),
        "net.cell.bias_ih": (9,),
        "net.cell.weight_hh": (9, 3),
        "net.cell.bias_hh": (9,),
        "net.1.weight": (2, 3),
        "net.1.bias": (2,),
    }


def test_heads_are_slices_of_the_outputs() -> None:
    assert (SMALL.outputs, SMALL.head("state"), SMALL.head("bid")) == (3, slice(0, 1), slice(1, 3))
    with pytest.raises(ConfigurationError, match=r"No head 'bids'\. Did you mean 'bid'"):
        SMALL.head("bids")


def test_rows_of_several_networks_follow_each_other() -> None:
    networks = {"a": SMALL, "b": Architecture(9, (), (("x", 4),))}
    arrays = random_arrays(SMALL, "a") | random_arrays(networks["b"], "b", 1)
    row, starts = layout.pack_all(networks, arrays), layout.starts(networks)
    assert len(row) == starts[-1] == SMALL.length + networks["b"].length
    for number, (name, network) in enumerate(networks.items()):
        found = network.unpack(row[starts[number] : starts[number + 1]], name)
        assert all(np.array_equal(array, arrays[key]) for key, array in found.items())
    assert {name: array.shape for name, array in layout.zeros(networks).items()} == {
        name: array.shape for name, array in arrays.items()
    }


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"activation": "rule"}, "Unknown part of a network: 'rule'. Valid: relu, tanh, logistic."),
        ({"cell": "gur", "units": 3}, "Unknown part of a network: 'gur'. Did you mean 'gru'"),
        ({"heads": ()}, "one head or more"),
        ({"heads": (("a", 1), ("a", 2))}, "each with its own name"),
        ({"hidden": (4, 0)}, "sizes of a network must be whole numbers from 1"),
        ({"inputs": 0}, "sizes of a network must be whole numbers from 1"),
        ({"units": 3}, "units need a cell"),
        ({"cell": "elman"}, "A cell needs units"),
    ],
)
def test_what_is_no_network_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        Architecture(**({"inputs": 5, "hidden": (4,), "heads": (("a", 1),)} | options))


def test_the_row_of_another_network_or_version_is_refused() -> None:
    row = SMALL.pack(random_arrays(SMALL))
    for other in (
        Architecture(5, (4, 3), (("bid", 4),)),
        Architecture(5, (4, 3), SMALL.heads, "tanh"),
        Architecture(6, (), (("a", 2),)),
    ):
        with pytest.raises(FormatError, match=re.escape(f"does not match {other}")):
            other.unpack(row)
    newer = row.copy()
    newer[layout.AT_VERSION] += 1
    with pytest.raises(FormatError, match="The row of 80 numbers"):
        SMALL.unpack(newer)
