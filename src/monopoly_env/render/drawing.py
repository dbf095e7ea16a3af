"""A picture as an SVG document, and the render modes of environments, for any game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError, RenderModeError, nearest, shortened
from monopoly_env.files import write_atomically
from monopoly_env.render import raster

RENDER_MODES: Final = ("ansi", "human", "rgb_array", "svg")
# The available modes: checkers of environments try every listed one.
INSTALLED_MODES: Final = tuple(
    mode for mode in RENDER_MODES if mode != "rgb_array" or raster.installed()
)


@dataclass(frozen=True)
class Drawing:
    """A picture of a game. Notebooks show it; `str` is the SVG document.

    Attributes:
        svg: The document, as text.
    """

    svg: str

    def __str__(self) -> str:
        return self.svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path, width: int = raster.WIDTH) -> None:
        """Write the picture to a file, atomically.

        Args:
            path: A file that ends in `.svg` or `.png`.
            width: Pixels of a `.png`.

        Raises:
            ConfigurationError: The suffix is another, the file can't be written, the width is out
                of range, or the libraries for pixels (the extra `pictures`) are not installed.
        """
        check_suffix(Path(path))
        svg = Path(path).suffix == ".svg"
        write_atomically(path, self.svg.encode() if svg else raster.png(self.svg, width))


def check_suffix(path: Path) -> None:
    """Refuse the name of a picture that ends in neither `.svg` nor `.png`."""
    if path.suffix not in (".svg", ".png"):
        raise ConfigurationError(
            f"A picture is saved to a .svg or .png file, not to {str(path)!r}."
        )


def add(parent: ET.Element, tag: str, text: str | None = None, /, **attributes: Any) -> ET.Element:
    """Append an element to an SVG tree; `_` in the name of an attribute stands for `-`."""
    named = {name.replace("_", "-"): _number(value) for name, value in attributes.items()}
    element = ET.SubElement(parent, tag, named)
    element.text = text
    return element


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def check_render_mode(mode: str | None) -> str | None:
    """Validate a render mode and return it.

    Raises:
        RenderModeError: There is no such mode, or its libraries are not installed.
    """
    if mode is not None and mode not in RENDER_MODES:
        raise RenderModeError(
            f"Unknown render_mode {shortened(mode)}. {nearest(shortened(mode), RENDER_MODES)}"
        )
    if mode == "rgb_array":
        try:
            raster.libraries()
        except ConfigurationError as error:
            raise RenderModeError(f"render_mode='rgb_array': {error}") from error
    return mode


def rendered(
    mode: str | None, text: Callable[[], str], drawing: Callable[[], Drawing]
) -> str | NDArray[np.uint8] | None:
    """The result of `render()` of an environment.

    `ansi` returns text, `human` prints it, `svg` returns a drawing as text, `rgb_array` its pixels
    (H, W, 3) uint8.
    """
    if mode == "human":
        print(text())
    if mode in (None, "human"):
        return None
    if mode == "ansi":
        return text()
    svg = str(drawing())
    return svg if mode == "svg" else raster.pixels(svg)
