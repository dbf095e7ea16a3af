"""What the commands of training share: presets by name, and errors that end in a line and an exit status, without a traceback."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence

from monopoly_env.errors import ConfigurationError, MonopolyError, nearest

Presets = Mapping[str, tuple[str, str]]  # by name: the module that carries it out, and what it is


def chosen(arguments: Sequence[str], presets: Presets, default: str) -> tuple[str, list[str]]:
    """The preset that a command line names by `--preset`, and the rest of the line.

    Raises:
        ConfigurationError: An unknown preset, or no name after `--preset`.
    """
    rest, name = list(arguments), default
    for place, word in enumerate(rest):
        flag, equals, value = word.partition("=")
        if flag == "--preset":
            value = value if equals else "".join(rest[place + 1 : place + 2])
            if value not in presets:
                raise ConfigurationError(f"Unknown preset {value!r}. {nearest(value, presets)}")
            del rest[place : place + (1 if equals else 2)]
            name = value
            break
    return name, rest


def preset_help(name: str, presets: Presets, doc: str) -> str:
    """What `--help` says above the settings of a preset."""
    told = "\n".join(f"--preset {other}: {about}." for other, (_, about) in presets.items())
    return f"{inspect.cleandoc(doc)}\n\n{told}\n\nBelow: the settings of --preset {name}."


def resumable(last: str) -> Callable[[Callable[[Sequence[str] | None], None]], Callable[..., int]]:
    """Decorate the body of a command whose run can be resumed: it then returns the exit status.

    Args:
        last: From where a run goes on that was stopped.
    """

    def decorate(body: Callable[[Sequence[str] | None], None]) -> Callable[..., int]:
        @functools.wraps(body)
        def main(arguments: Sequence[str] | None = None) -> int:
            try:
                body(arguments)
            except MonopolyError as error:
                print(f"error: {error}", file=sys.stderr)
                return 2
            except OSError as error:  # a full disk under the curves, for instance
                print(f"error: {error}. Mend that and go on with --resume.", file=sys.stderr)
                return 2
            except KeyboardInterrupt:
                print(f"Stopped. Go on from {last} with the same command and --resume.", file=sys.stderr)
                return 130
            return 0

        return main

    return decorate
