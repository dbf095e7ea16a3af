"""The learned policies that come with the library, by name. docs/results/dqn.md describes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from agents.networks.learned.policy import LearnedPolicy
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.policy import files

_FOLDER: Final = Path(__file__).parent / "data"


def _read(file: str, name: str, heads: Sequence[str] | None, bargains: bool | None) -> LearnedPolicy:
    about, arrays = files.read(_FOLDER / file)
    given = {"heads": heads, "bargains": bargains}
    options = about["options"] | {option: value for option, value in given.items() if value is not None}
    policy = LearnedPolicy(**options, name=name)
    policy.set_arrays(arrays)
    taught = policy.taught()
    for head in policy.heads:
        if head not in taught:
            raise ConfigurationError(f"{name!r} has no trained network for the head {head!r}. {nearest(head, taught)}")
    return policy


def best(heads: Sequence[str] | None = None, bargains: bool | None = None) -> LearnedPolicy:
    """The strongest at official rules, at tables of 2 to 4.

    Args:
        heads: The heads in which its networks may choose; by default those that beat the parent. An empty list: none may.
        bargains: Whether its model of partners sets the prices of trades; else the parent does.
    """
    return _read("best.safetensors", "dqn/best", heads, bargains)


def best_ocnaru(heads: Sequence[str] | None = None, bargains: bool | None = None) -> LearnedPolicy:
    """The strongest at the rules `ocnaru`, at tables of 2; arguments as for `best`."""
    return _read("best_ocnaru.safetensors", "dqn/best/ocnaru", heads, bargains)


def dqn(heads: Sequence[str] | None = None, bargains: bool | None = None) -> LearnedPolicy:
    """`dqn/best` under a short name: `make("dqn", heads=["reply"])` lets any of the trained networks choose."""
    return _read("best.safetensors", "dqn", heads, bargains)


POLICIES: Final[dict[str, Callable[..., LearnedPolicy]]] = {"dqn": dqn, "dqn/best": best, "dqn/best/ocnaru": best_ocnaru}
