"""The learned agents that come with the library, by name. docs/results/learned.md tells how they were trained and how strong they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from agents.learned.policy import LearnedAgent
from monopoly_env.policy import files

# The files hold float16, so that the wheel stays small: `python -m studies.learned --ship RUN/agent.safetensors NAME` writes them.
_FOLDER: Final = Path(__file__).parent / "data"
# By name: the file, and what the agent is for.
_AGENTS: Final = {
    "ppo/best/two": ("ppo_two.safetensors", "two players, official rules"),
    "ppo/best/four": ("ppo_four.safetensors", "four players, official rules"),
    "ppo/best/ocnaru": ("ppo_ocnaru.safetensors", "two players, rules `ocnaru`"),
}


def _factory(name: str, file: str, about: str) -> Callable[..., LearnedAgent]:
    def make(temperature: float | None = None) -> LearnedAgent:
        written, arrays = files.read(_FOLDER / file)
        options = written["options"] | ({} if temperature is None else {"temperature": temperature})
        agent = LearnedAgent(**options, name=name)
        agent.set_arrays({name: array.astype(np.float32) for name, array in arrays.items()})
        return agent

    make.__doc__ = f"Networks that choose every action, for {about}; `temperature` as in `LearnedAgent`, by default that of the file."
    return make


POLICIES: Final[dict[str, Callable[..., LearnedAgent]]] = {name: _factory(name, *about) for name, about in _AGENTS.items()}


def write(agent: LearnedAgent, name: str) -> None:
    """Keep an agent in the library, under the name of a file, with its numbers as float16."""
    about = {"kind": agent.kind, "name": agent.name, "options": agent.options(), "encoding": agent.encoding()}
    halves = {array: numbers.astype(np.float16) for array, numbers in agent.arrays().items()}
    files.write(_FOLDER / f"{name}{files.SUFFIX}", about, halves)
