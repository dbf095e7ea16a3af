"""Pages of results in Markdown, with generated sections and pictures and handwritten text.

A section lies between the comments `<!-- begin NAME -->` and `<!-- end NAME -->`. A command
replaces it and preserves the rest of the page. The rows behind a section are a CSV file beside the
page, data/PAGE.csv, from which `studies.pictures` draws.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.files import read_file, write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row: TypeAlias = dict[str, Any]  # of text, numbers, truth values and None


@dataclass(frozen=True)
class Page:
    """A page and its sections.

    Attributes:
        path: The file.
        template: The initial text of a new page.
        last: Text before which new sections are inserted; by default they go to the end.
        pictures: Folder of the pictures; by default that of the page's name.
    """

    path: Path
    template: str
    last: str = ""
    pictures: Path | None = None

    def check(self, name: str) -> None:
        """Check that a section can be written, before hours of games.

        Raises:
            FormatError: One of the comments around the section is missing, or they are in the wrong
                order.
            ConfigurationError: The page can't be read.
        """
        self._parts(name)

    def write(self, name: str, text: str, heading: str = "") -> None:
        """Replace a section, or add it.

        Args:
            name: The name of the section.
            text: The text between its comments.
            heading: The heading above a new section. It is not part of the section, so that it may
                be changed by hand.

        Raises:
            FormatError: One of the comments around the section is missing, or they are in the wrong
                order.
            ConfigurationError: The page can't be read or written.
        """
        before, begin, end, after = self._parts(name)
        section = f"{begin}\n{text}\n{end}"
        if not after:
            before, last, rest = before.partition(self.last) if self.last else (before, "", "")
            section, after = f"{heading}{section}\n", f"\n{last}{rest}" if last else ""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, f"{before}{section}{after}".encode())

    def picture(self, name: str, figure: Figure, about: str) -> str:
        """Save a picture; returns the Markdown that shows it."""
        path = (self.pictures or self.path.with_suffix("")) / f"{name}.png"
        save_picture(path, figure)
        return f"![{about}]({Path(os.path.relpath(path, self.path.parent)).as_posix()})"

    def text(self, name: str) -> str:
        """The text of a section.

        Raises:
            FormatError: One of the comments around the section is missing, or they are in the wrong
                order.
            ConfigurationError: The page can't be read.
        """
        before, begin, end, after = self._parts(name)
        whole = self.path.read_text(encoding="utf-8")
        return whole[len(before) + len(begin) : len(whole) - len(after) - len(end)].strip()

    def data(self, part: str = "") -> Path:
        """The file of the page's rows, or of a part of them."""
        name = f"{self.path.stem}_{part}" if part else self.path.stem
        return self.path.parent / "data" / f"{name}.csv"

    def rows(self, part: str = "") -> list[Row]:
        """The stored rows, or a part of them."""
        return read_rows(self.data(part))

    def add(
        self, rows: Iterable[Mapping[str, Any]], key: Iterable[str], part: str = ""
    ) -> list[Row]:
        """Store rows, in place of those with the same values of the key; returns all rows."""
        path, key = self.data(part), tuple(key)
        kept = read_rows(path) if path.exists() else []
        found = {tuple(row[name] for name in key): row for row in kept}
        found |= {tuple(row[name] for name in key): dict(row) for row in rows}
        write_rows(path, found.values())
        return self.rows(part)

    def _parts(self, name: str) -> tuple[str, str, str, str]:
        """The text before a section, its comments, and the text after it; empty without one."""
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        try:
            text = self.path.read_text(encoding="utf-8") if self.path.exists() else self.template
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{str(self.path)!r} cannot be read: {error}.") from error
        before, found_begin, rest = text.partition(begin)
        _, found_end, after = rest.partition(end)
        if found_begin and found_end:
            return before, begin, end, after or "\n"
        if found_begin or end in text:
            raise FormatError(
                f"{str(self.path)!r}: {begin!r} and {end!r} must both be there, in this order."
                " Repair the page, or remove both."
            )
        return text, begin, end, ""


def read_rows(path: Path) -> list[Row]:
    """The rows of a CSV file that `write_rows` wrote."""
    lines = read_file(path).decode().splitlines()
    return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(lines)]


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as a CSV file, atomically; floats have six significant digits."""
    rows, text = list(rows), io.StringIO()
    columns = dict.fromkeys(name for row in rows for name in row)
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()}
        for row in rows
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.getvalue().encode())


def measured(rows: Iterable[Row]) -> str:
    """When rows were measured: a sentence of the first and the last of their dates."""
    days = sorted({date.fromisoformat(row["date"]) for row in rows})
    last = f"{days[-1].day} {days[-1]:%B %Y}"
    if len(days) == 1:
        return f"Measured on {last}."
    return f"Measured from {days[0].day} {days[0]:%B} to {last}."


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"": None, "True": True, "False": False}.get(text, text)


def save_picture(path: Path, figure: Figure, dpi: int = 100) -> None:
    """Write a figure as PNG, atomically."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, buffer.getvalue())
