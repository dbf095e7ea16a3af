"""A program in any language as a policy: a line of JSON in for each decision, an action out.

The program is started once, without a shell. Each decision is a line on its standard input: the
object of `monopoly_bench.prompts.situation` with an increasing `id`. It answers with a line on its
standard output: the number of a legal action (17), its text ("buy"), or an object with one of these
under `action`. At the end its input is closed, and it should exit. Its standard error is shown if
it fails. If players may talk, the input has `talk` (`monopoly_bench.talk.Talk.shown`), and the
object in the output may have the texts `message` and `promise`.
"""

from __future__ import annotations

import contextlib
import json
import queue
import shlex
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_bench import prompts, talk
from monopoly_bench.seats import TextPlayer
from monopoly_env.errors import ConfigurationError, MonopolyError, PolicyError, shortened
from monopoly_env.game import Game
from monopoly_env.policy.protocol import Decisions

KIND: Final = "bot"
_LAST_WORDS: Final = 5  # lines of standard error that an error message shows
_GRACE: Final = 1.0  # seconds that a program gets to exit
_END: Final = ""  # marks that a program has closed its output
_LONGEST: Final = 1 << 16  # characters of a line
# Unread lines: a second one shows that a program writes unasked; more are dropped
_MOST_KEPT: Final = 2


class Bot(TextPlayer):
    """A policy that asks a program for each decision; the program's mistakes are errors.

    Examples:
        >>> from monopoly_bench.bot import Bot
        >>> Bot("node my_bot.js", seconds=2).name  # starts the program at its first decision
        'node my_bot.js'
    """

    def __init__(self, command: str, *, seconds: float = 5.0, name: str | None = None) -> None:
        """Create a bot; its program is started at the first decision.

        Args:
            command: The program and its arguments, as in a shell, such as `node my_bot.js`.
            seconds: Time limit of a decision.
            name: Its name in results; by default the command.

        Raises:
            ConfigurationError: The command is empty or has an open quote, or `seconds` is not
                positive.
        """
        super().__init__()
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise ConfigurationError(
                f"The command of a bot, {shortened(command)}, can't be read: {error}."
            ) from error
        if not self._words:
            raise ConfigurationError(
                "A bot needs a command, such as agents.make('bot:node my_bot.js')."
            )
        if not seconds > 0:
            raise ConfigurationError(f"seconds={seconds!r} must be positive.")
        self.command, self.seconds, self.name = command, float(seconds), name or command
        self._pipe: _Pipe | None = None
        self._asked = 0

    @property
    def kind(self) -> str:
        """`bot`."""
        return KIND

    def options(self) -> dict[str, Any]:
        """The command and its time limit."""
        return {"command": self.command, "seconds": self.seconds, "name": self.name}

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Answer the decisions in sequence.

        Raises:
            PolicyError: The program can't be started, has exited, is too slow, or did not answer
                with a legal action.
        """
        return np.array([self._ask(game) for game in decisions.games], np.int64)

    def close(self) -> None:
        """Let the program exit. The next decision starts it anew."""
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None

    def _ask(self, game: Game) -> int:
        self._pipe = self._pipe or _Pipe(self._words)
        self._asked += 1
        try:
            shown = prompts.situation(game, self._history.since(game), self.talk)
            line = json.dumps({"id": self._asked, **shown})
            return self._understood(self._pipe.exchange(line, self.seconds), game)
        except PolicyError:
            self.close()
            raise

    def _understood(self, line: str, game: Game) -> int:
        """The action of a line; its message is sent if players may talk."""
        try:
            answer = json.loads(line)
            chosen = answer["action"] if isinstance(answer, dict) else answer
            action = prompts.chosen(chosen, game)
            if self.talk is not None and isinstance(answer, dict):
                self.talk.say(talk.message(answer.get("message"), answer.get("promise")), game)
            return action
        except (ValueError, KeyError, TypeError) as error:
            why = "It must be a number, a text, or an object with 'action'."
            if isinstance(error, MonopolyError):  # also a ValueError
                why = str(error)
            raise PolicyError(
                f"Bot {self.name!r} answered decision {self._asked} with"
                f" {shortened(line.rstrip())}. {why}"
            ) from None


class _Pipe:
    """A running program. Threads read its output, so that waits can time out."""

    def __init__(self, words: list[str]) -> None:
        self._name = shlex.join(words)
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        try:
            self._process: subprocess.Popen[str] = subprocess.Popen(
                words, encoding="utf-8", errors="replace", **pipes
            )
        except OSError as error:
            raise PolicyError(f"Bot {self._name!r} can't be started: {error}.") from error
        self._lines: queue.Queue[str] = queue.Queue(_MOST_KEPT)
        self._errors: deque[str] = deque(maxlen=_LAST_WORDS)
        self._readers = [
            _reader(self._process.stdout, partial(_keep, self._lines), _END),
            _reader(self._process.stderr, self._errors.append),
        ]
        weakref.finalize(self, _end, self._process)

    def exchange(self, line: str, seconds: float) -> str:
        """Write a line and wait for one.

        Raises:
            PolicyError: The program has exited, takes too long, or has written an unexpected or an
                endless line.
        """
        if self._lines.qsize() and (early := self._lines.get()) != _END:
            raise PolicyError(
                f"Bot {self._name!r} wrote {shortened(early.rstrip())} before it was asked: one"
                " line a decision."
            )
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._died() from None
        try:
            answer = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise PolicyError(
                f"Bot {self._name!r} gave no answer within {seconds:g} seconds.{self._said()}"
            ) from None
        if answer == _END:
            raise self._died()
        if len(answer) == _LONGEST and not answer.endswith("\n"):
            raise PolicyError(
                f"Bot {self._name!r} wrote a line of more than {_LONGEST:,} characters."
            )
        return answer

    def close(self) -> None:
        """End the program."""
        _end(self._process)
        for reader in self._readers:
            reader.join(_GRACE)

    def _died(self) -> PolicyError:
        self.close()
        return PolicyError(
            f"Bot {self._name!r} has exited with status {self._process.returncode}.{self._said()}"
        )

    def _said(self) -> str:
        lines = " / ".join(line.rstrip() for line in self._errors)
        return f" It said: {lines}" if lines else ""


def _reader(
    stream: IO[str] | None, receive: Callable[[str], None], last: str | None = None
) -> threading.Thread:
    """A thread that passes each line of a stream, long ones in parts, to `receive`; then `last`."""
    assert stream is not None

    def read() -> None:
        with contextlib.suppress(ValueError, OSError), stream:
            for line in iter(partial(stream.readline, _LONGEST), ""):
                receive(line)
        if last is not None:
            receive(last)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def _keep(lines: queue.Queue[str], line: str) -> None:
    with contextlib.suppress(queue.Full):
        lines.put_nowait(line)


def _end(process: subprocess.Popen[str]) -> None:
    """Close a program's input; kill it if it does not exit."""
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
