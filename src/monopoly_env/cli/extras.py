"""Libraries that only extras install, imported inside `with extra(...)`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from monopoly_env.errors import ConfigurationError


class ExtraError(ConfigurationError, ImportError):
    """A library of an extra is not installed, or too old."""


def install(name: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'monopoly-env[{name}]'"


@contextmanager
def extra(name: str, otherwise: str = "", what: str = "This") -> Iterator[None]:
    """Import libraries of an extra in the body.

    Args:
        name: The extra.
        otherwise: What else the user may do, for the message.
        what: The subject of the message.

    Raises:
        ExtraError: One of them cannot be imported. The message says how to install it.
    """
    try:
        yield
    except ImportError as error:
        ways = f"{install(name)}, or {otherwise}" if otherwise else install(name)
        missing = ExtraError(f"{what} needs the extra {name!r}: {ways} ({error}).")
        missing.name = error.name
        raise missing from error


def lazily(name: str, function: str) -> Callable[..., Any]:
    """A function whose module is imported at the first call, so that `--help` does without it.

    Args:
        name: The extra that the module needs.
        function: As "training.dqn:execute".
    """

    def call(*given: Any, **named: Any) -> Any:
        module, _, attribute = function.partition(":")
        with extra(name):
            called = getattr(import_module(module), attribute)
        return called(*given, **named)

    return call
