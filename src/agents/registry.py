"""Policies by name: the same names in the arena, the command lines, the environments and saved files."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from agents import actor, files, genetic, neural
from agents.learned import shipped
from agents.learned.policy import LearnedPolicy
from agents.ocnaru_networks import KIND as OCNARU_NETWORKS
from agents.ocnaru_networks import OcnaruNetworks
from agents.policy import Policy
from agents.scripted import POLICIES
from monopoly_env.errors import ConfigurationError, FormatError, nearest

Factory: TypeAlias = Callable[..., Policy]
PolicyLike: TypeAlias = Policy | str | Path

BUILT_IN: Final[dict[str, Factory]] = {**POLICIES, **genetic.POLICIES, **shipped.POLICIES}
_GATHERING: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
# Kinds of which there is none by name alone: options, or the file of a saved one, say what it is.
KINDS: Final[dict[str, Factory]] = {
    "neural": neural.NeuralPolicy,
    "actor": actor.ActorPolicy,
    "learned": LearnedPolicy,
    OCNARU_NETWORKS: OcnaruNetworks,
}
_FACTORIES: Final[dict[str, Factory]] = BUILT_IN | KINDS


def names() -> tuple[str, ...]:
    """The names that `make` knows, in alphabetical order."""
    return tuple(sorted(name for name in _FACTORIES if name not in KINDS))


def register(name: str, factory: Factory) -> None:
    """Give a policy a name.

    Args:
        name: Letters, digits, `_`, `-` and `/`. A name that was registered before is taken over, a built-in one is not.
        factory: Called by `make` with its options, and by `load` with those that were saved; returns the policy.

    Raises:
        ConfigurationError: The name is empty, odd or built in, or the factory can't be called.
    """
    if not isinstance(name, str) or not name or not name.replace("_", "").replace("-", "").replace("/", "").isalnum():
        raise ConfigurationError(f"A policy's name has letters, digits, '_', '-' and '/', unlike {name!r}.")
    if name in BUILT_IN or name in KINDS:
        raise ConfigurationError(f"The policy {name!r} is built in: choose another name.")
    if not callable(factory):
        raise ConfigurationError(f"The factory of {name!r} must be callable, not {factory!r}.")
    _FACTORIES[name] = factory


def check(name: str) -> None:
    """Raise ConfigurationError unless a policy of this name is registered."""
    if name not in _FACTORIES:
        raise ConfigurationError(f"Unknown policy {name!r}. {nearest(name, names())}")


def make(name: str, **options: Any) -> Policy:
    """A policy by name.

    Args:
        name: One of `names()`.
        **options: Options of that policy.

    Raises:
        ConfigurationError: An unknown name or option; the message names the nearest valid one.
    """
    check(name)
    factory = _FACTORIES[name]
    parameters = inspect.signature(factory).parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        for option in options:
            if option not in parameters:
                known = nearest(option, parameters) if parameters else "It has none."
                raise ConfigurationError(f"Policy {name!r} has no option {option!r}. {known}")
    missing = [p.name for p in parameters.values() if p.default is p.empty and p.kind not in _GATHERING and p.name not in options]
    if missing:
        raise ConfigurationError(f"Policy {name!r} needs {', '.join(missing)}; a saved one has them: agents.load(path).")
    return factory(**options)


def load(path: str | Path) -> Policy:
    """A saved policy.

    Args:
        path: A file that `policy.save` wrote.

    Raises:
        FormatError: The file is corrupt, foreign or of another version; the message says what differs.
        ConfigurationError: Its kind of policy is not registered.
    """
    about, arrays = files.read(path)
    check(about["kind"])
    try:
        policy = make(about["kind"], **about["options"])
        policy.set_arrays(arrays)
    except FormatError as error:
        raise FormatError(f"{str(path)!r}: {error}") from error
    policy.name = about["name"]
    return policy


def resolve(policy: PolicyLike) -> Policy:
    """A policy from what users give: a policy, a name, or the path of a saved one.

    Raises:
        ConfigurationError: It is none of them.
        FormatError: The file does not match.
    """
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str) and policy in _FACTORIES:
        return make(policy)
    if isinstance(policy, (str, Path)) and Path(policy).suffix == files.SUFFIX:
        return load(policy)
    raise ConfigurationError(f"Unknown policy {policy!r}: give a name or a saved {files.SUFFIX} file. {nearest(policy, names())}")


def resolve_all(policies: Sequence[PolicyLike]) -> list[Policy]:
    """Policies from what users give; equal names and paths become one object.

    Raises:
        ConfigurationError: One of them is unknown.
    """
    made: dict[str, Policy] = {}
    resolved = []
    for given in policies:
        key = str(given) if isinstance(given, (str, Path)) else f"object {id(given)}"
        made.setdefault(key, resolve(given))
        resolved.append(made[key])
    return resolved
