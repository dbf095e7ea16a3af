"""The command around a run: read the options, run, print a table or JSON.

Errors end in one line and an exit status.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

import tyro
from rich.console import Console

from monopoly_env.errors import ConfigurationError, MonopolyError, nearest
from monopoly_env.terminal import failed

OptionsT = TypeVar("OptionsT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Command(Generic[OptionsT, ResultT]):
    """What a command does.

    Attributes:
        options: A dataclass with the defaults, one of them `json`. Its docstring and the strings
            under its fields are the help.
        execute: Carries it out. Progress goes to the console, which is stderr.
        show: Prints the result for people, on stdout. With `--json` the result is printed as it is.
    """

    options: OptionsT
    execute: Callable[[OptionsT, Console], ResultT]
    show: Callable[[ResultT], None]


@dataclass(frozen=True)
class Preset:
    """One of several things that a command does, chosen by `--preset`.

    Attributes:
        about: What it is, for the help: no capital, no full stop.
        load: Imports what it needs. Only the chosen preset is loaded.
    """

    about: str
    load: Callable[[], Command[Any, Any]]


def main(
    program: str,
    command: Command[Any, Any] | Mapping[str, Preset],
    arguments: Sequence[str] | None = None,
    *,
    default: str = "",
    flag: str = "--preset",
    resume_from: str = "the last checkpoint",
) -> int:
    """Run a command.

    Args:
        program: Its module, for instance `training.ppo`.
        command: What it does; or a table of presets.
        arguments: By default those of the process.
        default: The preset without the flag.
        flag: What a preset is chosen by.
        resume_from: Where a stopped run continues; empty if it can't.

    Returns:
        The exit status: 0 only if everything went through.
    """

    def body(arguments: Sequence[str] | None) -> None:
        rest, about, task = list(sys.argv[1:] if arguments is None else arguments), None, command
        line = f"python -m {program}"
        presets: Mapping[str, Preset] = {}
        if not isinstance(task, Command):
            name, rest = chosen(rest, task, default, flag)
            presets, task, line = task, task[name].load(), f"{line} {flag} {name}"
            table = "\n".join(
                f"{flag} {other}: {preset.about}." for other, preset in presets.items()
            )
            about = (
                f"{inspect.getdoc(type(task.options))}\n\n{table}\n\nBelow: the settings of {flag}"
                f" {name}."
            )
        with _reader_may_go():
            try:
                options = tyro.cli(
                    type(task.options),
                    args=rest,
                    prog=line,
                    description=about,
                    default=task.options,
                )
            except SystemExit as ended:
                if ended.code:
                    _tell_whose(rest, type(task.options), presets, flag)
                raise
        result = task.execute(options, Console(stderr=True))
        with _reader_may_go():
            if options.json:
                print(json.dumps(result))
            else:
                task.show(result)

    return resumable(resume_from)(body)(arguments)


@contextmanager
def _reader_may_go() -> Iterator[None]:
    """End with exit status 1, and without a word, if the reader of the output has gone.

    Such a reader is `head`.
    """
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None


def chosen(
    arguments: Sequence[str], presets: Mapping[str, Any], default: str, flag: str = "--preset"
) -> tuple[str, list[str]]:
    """The preset that a command line names with a flag, and the rest of the line.

    Raises:
        ConfigurationError: The preset is unknown, or there is no name after the flag.
    """
    rest, name = list(arguments), default
    for place, word in enumerate(rest):
        given, equals, value = word.partition("=")
        if given == flag:
            value = value if equals else "".join(rest[place + 1 : place + 2])
            if value not in presets:
                raise ConfigurationError(
                    f"Unknown {flag.lstrip('-')} {value!r}. {nearest(value, presets)}"
                )
            del rest[place : place + (1 if equals else 2)]
            name = value
            break
    return name, rest


def _tell_whose(
    arguments: Sequence[str], options: type, presets: Mapping[str, Preset], flag: str
) -> None:
    """Print which presets have the options of a command line that the chosen one has not."""
    own = {field.name for field in fields(options)}
    for word in dict.fromkeys(
        word.partition("=")[0] for word in arguments if word.startswith("--")
    ):
        name = word.removeprefix("--").removeprefix("no-").replace("-", "_")
        having = (
            []
            if name in own
            else [other for other, preset in presets.items() if name in _fields_of(preset)]
        )
        if having:
            print(f"{word} is an option of {flag} {', '.join(having)}.", file=sys.stderr)


def _fields_of(preset: Preset) -> set[str]:
    try:
        return {field.name for field in fields(preset.load().options)}
    except MonopolyError:  # an extra is not installed
        return set()


def resumable(last: str) -> Callable[[Callable[[Sequence[str] | None], None]], Callable[..., int]]:
    """Decorate the body of a command whose run can be resumed: it then returns the exit status.

    Args:
        last: Where a stopped run continues; empty if it can't.
    """

    def decorate(body: Callable[[Sequence[str] | None], None]) -> Callable[..., int]:
        @functools.wraps(body)
        def main(arguments: Sequence[str] | None = None) -> int:
            try:
                body(arguments)
            except MonopolyError as error:
                return failed(error, arguments)
            except OSError as error:  # the disk is full, for instance
                print(
                    f"error: {error}.{' Fix that and continue with --resume.' if last else ''}",
                    file=sys.stderr,
                )
                return 2
            except KeyboardInterrupt:
                print(
                    "Stopped."
                    + (
                        f" Continue from {last} with the same command and --resume." if last else ""
                    ),
                    file=sys.stderr,
                )
                return 130
            return 0

        return main

    return decorate
