"""The learned agents that come with the library, by name.

docs/results/learned.md tells how they were trained and how strong they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.learned.agent import LearnedAgent
from monopoly_env.policy import files

# The files hold bytes, so that the wheel stays small: `python -m studies.learned --ship
# RUN/agent.safetensors NAME` writes them.
FOLDER: Final = Path(__file__).parent / "data"
_STEP: Final = ".step"  # after the name of a matrix: what its bytes are multiplied by, row by row
_LARGEST: Final = 127
# By name: the file, and what the agent is for.
_AGENTS: Final = {
    "ppo/best/two": ("ppo_two.safetensors", "two players, official rules"),
    "ppo/best/four": ("ppo_four.safetensors", "four players, official rules"),
    "ppo/best/ocnaru": ("ppo_ocnaru.safetensors", "two players, rules `ocnaru`"),
    "dqn/best/ocnaru": ("dqn_ocnaru.safetensors", "two players, rules `ocnaru`"),
}


def _factory(name: str, file: str, about: str) -> Callable[..., LearnedAgent]:
    def make(temperature: float | None = None) -> LearnedAgent:
        written, arrays = files.read(FOLDER / file)
        options = written["options"] | ({} if temperature is None else {"temperature": temperature})
        agent = LearnedAgent(**options, name=name)
        agent.set_arrays(_wide(arrays))
        return agent

    make.__doc__ = (
        f"Networks that choose every action, for {about}; `temperature` as in `LearnedAgent`, by"
        " default that of the file."
    )
    return make


POLICIES: Final[dict[str, Callable[..., LearnedAgent]]] = {
    name: _factory(name, *about) for name, about in _AGENTS.items()
}


def write(agent: LearnedAgent, name: str) -> None:
    """Keep an agent in the library, under the name of a file."""
    files.write(FOLDER / f"{name}{files.SUFFIX}", agent.header(), _narrow(agent.arrays()))


def _narrow(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Each row of a matrix as bytes and the step between them, all else as it is."""
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
    """The float32 arrays of what `_narrow` returned."""
    return {
        name: array.astype(np.float32) * (small[name + _STEP][:, None] if array.ndim == 2 else 1)
        for name, array in small.items()
        if not name.endswith(_STEP)
    }
