"""Names of policies: one table for everything that looks names up.

The arena, the environments, the commands and saved files look them up here.

This module knows no policy itself, so that every policy may import it. A package adds its policies
when the first name is looked up: it declares a module as an entry point of the group
`monopoly_env.policies`, and that module calls `fill` or `register`.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias

from monopoly_env import sources
from monopoly_env.errors import ConfigurationError, FormatError, MonopolyError, nearest, shortened

Factory: TypeAlias = Callable[..., Any]  # of policies


class RenamedWarning(DeprecationWarning):
    """A policy was made by an earlier name, which the next version drops."""


# of entry points: modules that add policies when they are imported
GROUP: Final = "monopoly_env.policies"
LISTED: Final = "`agents.names()`, docs/agents.md"  # for error messages
_REGISTRY: Final = "agents.registry"  # this project's own; `agents` imports it

_GATHERING: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_FACTORIES: Final[dict[str, Factory]] = {}
_BUILT_IN: Final[set[str]] = set()
_NAMELESS: Final[set[str]] = set()
_ARGUMENTS: Final[dict[str, str]] = {}
_READING: Final[ContextVar[bool]] = ContextVar("reading a saved policy", default=False)


def fill(
    built_in: Mapping[str, Factory],
    kinds: Mapping[str, Factory],
    arguments: Mapping[str, str] | None = None,
) -> None:
    """Add the built-in policies of this project.

    Args:
        built_in: Factories by name.
        kinds: Factories by name for kinds of policies that a name alone does not define: they need
            options or a saved file.
        arguments: For some of these kinds the option that may follow the name after a colon, as in
            "bot:node my_bot.js".
    """
    _FACTORIES.update({**built_in, **kinds})
    _ARGUMENTS.update(arguments or {})
    _BUILT_IN.update(built_in, kinds)
    _NAMELESS.update(kinds)


@cache
def _gather() -> None:
    """Import the modules that add policies, once."""
    for module in entry_points(group=GROUP):
        if module.value == _REGISTRY:
            check_ours("agents")
        module.load()


def check_ours(package: str) -> None:
    """Raise unless the package `agents` or `training` that Python finds is the one of this project.

    The names are common ones.

    Raises:
        ConfigurationError: It is another package; the message says where it is.
    """
    spec = find_spec(package)
    file = Path(spec.origin) if spec and spec.origin else None
    if (
        file is None
        or not file.is_file()
        or "monopoly_env" not in file.read_text(encoding="utf-8", errors="replace")
    ):
        there = file or (
            next(iter(spec.submodule_search_locations or ()), "unknown") if spec else "nowhere"
        )
        raise ConfigurationError(
            f"The package {package!r} that Python finds ({there}) is not the one of monopoly-env:"
            " another distribution or folder has the same name. Remove it and reinstall"
            " monopoly-env, or put monopoly-env's folder before it in PYTHONPATH."
        )


def names() -> tuple[str, ...]:
    """The names that `make` knows, in alphabetical order."""
    _gather()
    return tuple(sorted(name for name in _FACTORIES if name not in _NAMELESS))


def register(name: str, factory: Factory) -> None:
    """Give a policy a name.

    Args:
        name: Letters, digits, `_`, `-` and `/`. A name registered earlier is replaced; a built-in
            name is refused.
        factory: Returns the policy. `make` calls it with the options given, `load` with those that
            were saved.

    Raises:
        ConfigurationError: The name is empty, malformed or built in, or the factory is not
            callable.
    """
    if (
        not isinstance(name, str)
        or not name
        or not name.replace("_", "").replace("-", "").replace("/", "").isalnum()
    ):
        raise ConfigurationError(
            f"A policy's name may only have letters, digits, '_', '-' and '/', not {name!r}."
        )
    _gather()
    if name in _BUILT_IN:
        raise ConfigurationError(f"The policy {name!r} is built in: choose another name.")
    if not callable(factory):
        raise ConfigurationError(f"The factory of {name!r} must be callable, not {factory!r}.")
    _FACTORIES[name] = factory


def knows(name: str) -> bool:
    """Whether a policy of this name is registered."""
    _gather()
    return isinstance(name, str) and (name in _FACTORIES or _split(name)[0] in _ARGUMENTS)


def _split(name: str) -> tuple[str, dict[str, str]]:
    """A name without what follows its colon, and the option that this stands for."""
    kind, _, argument = name.partition(":")
    return (kind, {_ARGUMENTS[kind]: argument}) if argument and kind in _ARGUMENTS else (name, {})


def reaches_out(name: str) -> bool:
    """Whether a policy of this name runs a program or asks a server.

    Users name such a policy; a file or a client never does.
    """
    return _split(name)[0] in _ARGUMENTS or sources.is_named(name)


@contextmanager
def reading_a_file() -> Iterator[None]:
    """Refuse policies that reach out, at any depth, while a saved policy is made.

    Else a file could run a program of its choice.
    """
    token = _READING.set(True)
    try:
        yield
    finally:
        _READING.reset(token)


def check_reach(name: str) -> None:
    """Raise FormatError if a saved policy that is being read names one that reaches out."""
    if _READING.get() and reaches_out(name):
        raise FormatError(
            f"A policy such as {shortened(name)} is made by its name, never from a file."
        )


def check(name: str) -> None:
    """Raise ConfigurationError unless a policy of this name is registered."""
    if not knows(name):
        raise ConfigurationError(
            f"Unknown policy {shortened(name)}. {nearest(name, names(), LISTED)}"
        )


def make(name: str, /, **options: Any) -> Any:
    """Make a policy by name.

    Args:
        name: One of `names()`.
        **options: Options of that policy.

    Raises:
        ConfigurationError: The name or an option is unknown; the message suggests the nearest valid
            one. Or a value has a wrong type.
    """
    check(name)
    check_reach(name)
    name, argument = _split(name)
    options = argument | options
    factory = _FACTORIES[name]
    parameters = inspect.signature(factory).parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        for option in options:
            if option not in parameters:
                known = nearest(option, parameters) if parameters else "It has none."
                raise ConfigurationError(f"Policy {name!r} has no option {option!r}. {known}")
    missing = [
        p.name
        for p in parameters.values()
        if p.default is p.empty and p.kind not in _GATHERING and p.name not in options
    ]
    if missing:
        raise ConfigurationError(
            f"Policy {name!r} needs {', '.join(missing)}. To load a saved policy:"
            " agents.load(path)."
        )
    try:
        return factory(**options)
    except MonopolyError:
        raise
    except (
        TypeError,
        ValueError,
        LookupError,
        AttributeError,
        ArithmeticError,
        MemoryError,
    ) as error:
        given = ", ".join(f"{option}={shortened(value)}" for option, value in options.items())
        raise ConfigurationError(
            f"Policy {name!r} cannot be made with the options ({given}): {type(error).__name__}:"
            f" {error}."
        ) from error


@contextmanager
def renamed_told() -> Iterator[None]:
    """Tell of earlier names of policies in a line on stderr, once each.

    For command-line programs, where Python hides such warnings.
    """
    told: set[str] = set()
    show: Callable[..., None] = warnings.showwarning

    def tell(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if not issubclass(category, RenamedWarning):
            show(message, category, *where, **more)
        elif str(message) not in told:
            told.add(str(message))
            print(f"note: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", RenamedWarning)
        warnings.showwarning = tell
        yield
