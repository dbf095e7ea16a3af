"""The frame of every command: options, run, result as text or JSON, exit status, errors."""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, Generic, TypeVar

import tyro
from rich.console import Console

from monopoly_env.errors import ConfigurationError, MonopolyError, nearest

OptionsT = TypeVar("OptionsT")
ResultT = TypeVar("ResultT")

# by module, its command line in the help, if it is not `python -m` and the module
LINES: Final[dict[str, str]] = {}
CHECKPOINT: Final = "the last checkpoint"  # where most stopped runs continue


@dataclass(frozen=True)
class Command(Generic[OptionsT, ResultT]):
    """A command.

    Attributes:
        options: A dataclass, or one with other defaults. Its docstring and the strings under its
            fields are the help. A field that is a dataclass is a group; names are unique over all.
        execute: Carries it out. Progress goes to the console, which is stderr.
        show: Prints the result for people, on stdout; with the option `json` the result is printed
            as it is. None: `execute` prints, and returns the exit status.
        status: The exit status of a result.
    """

    options: OptionsT | type[OptionsT]
    execute: Callable[[OptionsT, Console], ResultT]
    show: Callable[[ResultT], None] | None = None
    status: Callable[[ResultT], int] = lambda _: 0

    @property
    def kind(self) -> type[OptionsT]:
        """The class of the options."""
        return self.options if isinstance(self.options, type) else type(self.options)

    def run(self, line: str, words: Sequence[str], about: str | None = None) -> int:
        """Read the options from the words after `line`, run, and return the exit status.

        `about` is the description in the help; by default the docstring of the options.
        """
        given: Any = {} if isinstance(self.options, type) else {"default": self.options}
        with _reader_may_go():
            options = tyro.cli(
                self.kind, args=words, prog=line, description=about,
                config=(tyro.conf.OmitArgPrefixes,), **given,
            )  # fmt: skip
        with nullcontext() if self.show else _reader_may_go():
            result: Any = self.execute(options, Console(stderr=True))
        if self.show is None:
            return int(result)
        with _reader_may_go():
            if getattr(options, "json", False):
                print(json.dumps(result))
            else:
                self.show(result)
        return self.status(result)


@dataclass(frozen=True)
class Preset:
    """One of several commands behind a name, chosen by a flag.

    Attributes:
        about: A line of the help, without a capital and a full stop.
        load: Imports what the command needs; called for the chosen preset only.
    """

    about: str
    load: Callable[[], Command[Any, Any]]


def main(
    program: str,
    command: Command[Any, Any] | None,
    arguments: Sequence[str] | None = None,
    *,
    subcommands: Mapping[str, Command[Any, Any]] | None = None,
    resume_from: str = "",
) -> int:
    """Run a command, or the sub-command that the first argument names, and return the exit status.

    Args:
        program: Its module, such as `training.ppo`; or its file.
        command: The command without the name of a sub-command; None if it needs one.
        arguments: By default those of the process.
        subcommands: By name.
        resume_from: Where `--resume` continues a stopped run, such as "the last checkpoint".
    """

    def body(arguments: Sequence[str] | None) -> int:
        words, line = _words(arguments), line_of(program)
        if subcommands and words[:1] and words[0] in subcommands:
            return subcommands[words[0]].run(f"{line} {words[0]}", words[1:])
        if command is None:
            print(f"usage: {line} {{{','.join(subcommands or ())}}} [-h] [OPTIONS]")
            return 0 if {"-h", "--help"} & set(words) else 2
        return command.run(line, words)

    return guarded(body, resume_from)(arguments)


def main_of_presets(
    program: str,
    presets: Mapping[str, Preset],
    arguments: Sequence[str] | None = None,
    *,
    default: str,
    flag: str = "--preset",
    resume_from: str = CHECKPOINT,
) -> int:
    """Run the one of several commands that a flag chooses; as `main`."""

    def body(arguments: Sequence[str] | None) -> int:
        name, words = chosen(_words(arguments), presets, default, flag)
        command = presets[name].load()
        table = "\n".join(f"{flag} {other}: {preset.about}." for other, preset in presets.items())
        below = f"Below: the settings of {flag} {name}."
        about = f"{inspect.getdoc(command.kind)}\n\n{table}\n\n{below}"
        try:
            return command.run(f"{line_of(program)} {flag} {name}", words, about)
        except SystemExit as ended:
            if ended.code:
                _tell_whose(words, command.kind, presets, flag)
            raise

    return guarded(body, resume_from)(arguments)


def line_of(program: str) -> str:
    """The command line that starts a program."""
    started = f"python {program}" if program.endswith(".py") else f"python -m {program}"
    return LINES.get(program, started)


def _words(arguments: Sequence[str] | None) -> list[str]:
    return list(sys.argv[1:] if arguments is None else arguments)


@contextmanager
def _reader_may_go() -> Iterator[None]:
    """End silently with exit status 1 if the reader of the output, such as `head`, has gone."""
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
                what = f"Unknown {flag.lstrip('-')} {value!r}"
                raise ConfigurationError(f"{what}. {nearest(value, presets)}")
            del rest[place : place + (1 if equals else 2)]
            name = value
            break
    return name, rest


def _tell_whose(
    arguments: Sequence[str], options: type, presets: Mapping[str, Preset], flag: str
) -> None:
    """Print which presets have the options of a command line that the chosen one has not."""
    own = _names(options)
    given = (word.partition("=")[0] for word in arguments if word.startswith("--"))
    for word in dict.fromkeys(given):
        name = word.removeprefix("--").removeprefix("no-").replace("-", "_")
        having = [other for other, preset in presets.items() if name in _names_of(preset)]
        if name not in own and having:
            print(f"{word} is an option of {flag} {', '.join(having)}.", file=sys.stderr)


def _names(options: type) -> set[str]:
    """The options of a dataclass, those of its groups among them."""
    groups = {field.name: type(field.default) for field in fields(options)}
    nested = (_names(kind) if is_dataclass(kind) else {name} for name, kind in groups.items())
    return set[str]().union(*nested)


def _names_of(preset: Preset) -> set[str]:
    try:
        return _names(preset.load().kind)
    except MonopolyError:  # an extra is not installed
        return set()


def guarded(
    body: Callable[[Sequence[str] | None], int], resume_from: str = ""
) -> Callable[[Sequence[str] | None], int]:
    """A command whose errors, and Ctrl-C, end in a line on stderr and an exit status."""

    def run(arguments: Sequence[str] | None) -> int:
        try:
            return body(arguments)
        except MonopolyError as error:
            print(f"error: {with_flags(str(error), _words(arguments))}", file=sys.stderr)
            return 2
        except OSError as error:  # the disk is full, for instance
            advice = " Fix that and continue with --resume." if resume_from else ""
            print(f"error: {error}.{advice}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            advice = f" Continue from {resume_from} with the same command and --resume."
            print(f"Stopped.{advice if resume_from else ''}", file=sys.stderr)
            return 130

    return run


def with_flags(message: str, words: Sequence[str]) -> str:
    """The message with the user's flags for arguments: `--games 0`, not `games=0`."""
    flags = {word.partition("=")[0] for word in words}

    def replaced(found: re.Match[str]) -> str:
        flag = f"--{found[1].replace('_', '-')}"
        return f"{flag} " if flag in flags else found[0]

    return re.sub(r"([a-z][a-z_]*)=(?! )", replaced, message)
