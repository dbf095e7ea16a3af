"""The state of Adam as arrays, for checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray


def arrays_of(optimizer: torch.optim.Optimizer) -> dict[str, NDArray[Any]]:
    """Moments and step counts, named `<number of the parameter>.<name>`; copies."""
    moments = optimizer.state_dict()["state"]
    return {f"{number}.{name}": value.cpu().numpy().copy() for number, state in moments.items() for name, value in state.items()}


def set_arrays(optimizer: torch.optim.Optimizer, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Continue with what `arrays_of` returned."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, array in arrays.items():
        number, name = key.split(".")
        state.setdefault(int(number), {})[name] = torch.as_tensor(array)
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
