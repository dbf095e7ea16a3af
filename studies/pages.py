"""Pages of results in Markdown, with generated sections and pictures and handwritten text.

A section lies between the comments `<!-- begin NAME -->` and `<!-- end NAME -->`. A command
replaces it and preserves the rest of the page.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Page:
    """A page and its sections.

    Attributes:
        path: The file.
        template: The initial text of a new page.
        last: Text before which new sections are inserted; by default they go to the end.
    """

    path: Path
    template: str
    last: str = ""

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
        """Save a picture in the page's folder; returns the Markdown that shows it."""
        folder = self.path.with_suffix("")
        save_picture(folder / f"{name}.png", figure)
        return f"![{about}]({folder.name}/{name}.png)"

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


def save_picture(path: Path, figure: Figure, dpi: int = 100) -> None:
    """Write a figure as PNG, atomically."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, buffer.getvalue())
