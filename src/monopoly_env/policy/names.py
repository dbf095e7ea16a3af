"""Names of policies: one table, in which the arena, the environments, the commands and saved files look them up.

It knows no policy itself, so that any of them may import it. A package enters its policies when the first name is asked for: it names
a module as an entry point of the group `monopoly_env.policies`, and that module calls `fill` or `register`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Final, TypeAlias

from monopoly_env.errors import ConfigurationError, nearest

Factory: TypeAlias = Callable[..., Any]  # of policies

GROUP: Final = "monopoly_env.policies"  # of entry points: modules that enter policies when they are imported

_GATHERING: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_FACTORIES: Final[dict[str, Factory]] = {}
_BUILT_IN: Final[set[str]] = set()
_NAMELESS: Final[set[str]] = set()


def fill(built_in: Mapping[str, Factory], kinds: Mapping[str, Factory]) -> None:
    """Enter the policies of this library.

    Args:
        built_in: By name.
        kinds: Those of which there is none by name alone: options, or the file of a saved one, say what it is.
    """
    _FACTORIES.update({**built_in, **kinds})
    _BUILT_IN.update(built_in, kinds)
    _NAMELESS.update(kinds)


@cache
def _gather() -> None:
    """Import the modules that enter policies, once."""
    for module in entry_points(group=GROUP):
        module.load()


def names() -> tuple[str, ...]:
    """The names that `make` knows, in alphabetical order."""
    _gather()
    return tuple(sorted(name for name in _FACTORIES if name not in _NAMELESS))


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
    _gather()
    if name in _BUILT_IN:
        raise ConfigurationError(f"The policy {name!r} is built in: choose another name.")
    if not callable(factory):
        raise ConfigurationError(f"The factory of {name!r} must be callable, not {factory!r}.")
    _FACTORIES[name] = factory


def knows(name: str) -> bool:
    """Whether a policy of this name is registered."""
    _gather()
    return name in _FACTORIES


def check(name: str) -> None:
    """Raise ConfigurationError unless a policy of this name is registered."""
    if not knows(name):
        raise ConfigurationError(f"Unknown policy {name!r}. {nearest(name, names())}")


def make(name: str, **options: Any) -> Any:
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
