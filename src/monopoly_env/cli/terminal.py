"""Tables in the terminal that cut nothing, and the end of a person's game."""

from __future__ import annotations

import sys
from typing import Any

import rich.table
from rich import box

from monopoly_env.errors import MonopolyError


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


class TextTable(rich.table.Table):
    """A table of rich, as narrow as its content allows."""

    def __init__(self, *headings: str, **options: Any) -> None:
        """Take headings and options of `rich.table.Table`."""
        narrow = dict[str, Any](box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
        super().__init__(*headings, **(narrow | options))

    def add_column(self, *given: Any, **options: Any) -> None:
        """Add a column, with the options of rich's."""
        super().add_column(*given, **({"overflow": "fold"} | options))
