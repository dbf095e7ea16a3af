"""The learned agents that come with the library, by name. docs/results/learned.md tells how they were trained and how strong they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from agents.learned.policy import LearnedAgent
from monopoly_env.policy import files

_FOLDER: Final = Path(__file__).parent / "data"
# By name: the file, and what the agent is for.
_AGENTS: Final = {
    "ppo/best/ocnaru": ("ppo_ocnaru.safetensors", "two players, rules `ocnaru`"),
}


def _factory(name: str, file: str, about: str) -> Callable[..., LearnedAgent]:
    def make(temperature: float | None = None) -> LearnedAgent:
        written, arrays = files.read(_FOLDER / file)
        options = written["options"] | ({} if temperature is None else {"temperature": temperature})
        agent = LearnedAgent(**options, name=name)
        agent.set_arrays(arrays)
        return agent

    make.__doc__ = f"Networks that choose every action, for {about}; `temperature` as in `LearnedAgent`, by default that of the file."
    return make


POLICIES: Final[dict[str, Callable[..., LearnedAgent]]] = {name: _factory(name, *about) for name, about in _AGENTS.items()}
