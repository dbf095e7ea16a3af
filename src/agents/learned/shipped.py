"""The learned agents that come with the library, by name.

docs/results/learned.md has their training and their strength.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.learned.agent import BASE, LearnedAgent
from monopoly_env.policy import files

# The files hold int8 weights, to keep the wheel small: `python -m studies.learned --ship
# RUN/agent.safetensors NAME` writes them.
FOLDER: Final = Path(__file__).parent / "data"
_STEP: Final = ".step"  # suffix of a matrix's name: the scale of each row
_LARGEST: Final = 127
# [name] -> file, the games it was trained for, and the decisions of the networks; empty: all.
_AGENTS: Final[dict[str, tuple[str, str, tuple[str, ...]]]] = {
    "ppo/best/two": ("ppo_two.safetensors", "two players, official rules", ()),
    "ppo/best/four": ("ppo_four.safetensors", "four players, official rules", ()),
    "ppo/best/ocnaru": ("ppo_ocnaru.safetensors", "two players, rules `ocnaru`", ()),
    "ppo/bidder/two": ("ppo_bidder_two.safetensors", "two players, official rules", ("buy", "bid")),
    "dqn/best/ocnaru": ("dqn_ocnaru.safetensors", "two players, rules `ocnaru`", ()),
}


def _factory(name: str, file: str, about: str, own: tuple[str, ...]) -> Callable[..., LearnedAgent]:
    def make(temperature: float | None = None) -> LearnedAgent:
        written, arrays = files.read(FOLDER / file)
        options = written["options"] | {"decisions": own}
        options |= {} if temperature is None else {"temperature": temperature}
        agent = LearnedAgent(**options, name=name)
        agent.set_arrays(_wide(arrays))
        return agent

    chosen = "choose every action" if not own else f"{' and '.join(own)} for `{BASE}`"
    make.__doc__ = (
        f"Networks that {chosen}, for {about}; `temperature` as in `LearnedAgent`, by default that"
        " of the file."
    )
    return make


POLICIES: Final[dict[str, Callable[..., LearnedAgent]]] = {
    name: _factory(name, *about) for name, about in _AGENTS.items()
}


def write(agent: LearnedAgent, name: str) -> None:
    """Save an agent in the library, under the name of a file."""
    files.write(FOLDER / f"{name}{files.SUFFIX}", agent.header(), _narrow(agent.arrays()))


def _narrow(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Quantize each row of a matrix to int8 and a scale; leave all else."""
    small: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if array.ndim == 2:
            step = (
                np.maximum(np.abs(array).max(axis=1), np.finfo(np.float32).tiny).astype(np.float32)
                / _LARGEST
            )
            small |= {name: np.rint(array / step[:, None]).astype(np.int8), name + _STEP: step}
        else:
            small[name] = array
    return small


def _wide(small: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The float32 arrays from those of `_narrow`."""
    return {
        name: array.astype(np.float32) * (small[name + _STEP][:, None] if array.ndim == 2 else 1)
        for name, array in small.items()
        if not name.endswith(_STEP)
    }
