"""What commands in the terminal share.

Errors as they are told, the end of a person's game, and tables that cut nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

import rich.table
from rich import box

from monopoly_env.errors import MonopolyError


def failed(error: Exception, arguments: Sequence[str] | None = None) -> int:
    """Print the error that ends a command on stderr, and return the exit status 2.

    An argument of a function that the user gave as a flag is told as that flag: `--games 0`, not
    `games=0`.

    Args:
        error: What ended it.
        arguments: What was given to the command; by default those of the process.
    """
    flags = {word.partition("=")[0] for word in (sys.argv[1:] if arguments is None else arguments)}

    def told(found: re.Match[str]) -> str:
        flag = f"--{found[1].replace('_', '-')}"
        return f"{flag} " if flag in flags else found[0]

    print(f"error: {re.sub(r'([a-z][a-z_]*)=(?! )', told, str(error))}", file=sys.stderr)
    return 2


class QuitError(MonopolyError):
    """The person at the terminal left the game.

    Attributes:
        on_purpose: False if the input merely ended.
    """

    def __init__(self, message: str, on_purpose: bool) -> None:
        """Say why, and whether the person wanted it."""
        super().__init__(message)
        self.on_purpose = on_purpose

    def end(self) -> int:
        """Print why as the last line of the command, and return its exit status."""
        print(self, file=sys.stdout if self.on_purpose else sys.stderr)
        return 0 if self.on_purpose else 1


class Table(rich.table.Table):
    """A table of rich, as narrow as its content allows."""

    def __init__(self, *headings: str, **options: Any) -> None:
        """Take headings and options of `rich.table.Table`."""
        narrow: dict[str, Any] = {
            "box": box.SIMPLE_HEAD,
            "padding": (0, 1, 0, 0),
            "show_edge": False,
        }
        super().__init__(*headings, **(narrow | options))

    def add_column(self, *given: Any, **options: Any) -> None:
        """Add a column, with the options of rich's."""
        folded: dict[str, Any] = {"overflow": "fold"}
        super().add_column(*given, **(folded | options))
