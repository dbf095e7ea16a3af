"""Pixels from SVG, by resvg and a bundled font, so that pictures are the same on every machine."""

from __future__ import annotations

import io
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monopoly_env.cli.extras import extra
from monopoly_env.errors import whole_number

WIDTH: Final = 732  # pixels by default: one per user unit
_WIDTHS: Final = range(64, 4097)
_MODULES: Final = ("resvg_py", "font_lato", "PIL.Image")


def png(svg: str, width: int = WIDTH) -> bytes:
    """Draw an SVG document as a PNG file.

    Args:
        svg: The document.
        width: Pixels, 64 to 4,096; the height follows.

    Raises:
        ConfigurationError: The width is out of range, or the libraries for it are not installed.
    """
    whole_number("width", width, _WIDTHS[0], _WIDTHS[-1])
    tools = libraries()
    fonts = [tools.font.Lato, tools.font.LatoBold]
    return bytes(
        tools.resvg.svg_to_bytes(
            svg_string=svg,
            width=int(width),
            font_files=fonts,
            sans_serif_family="Lato",
            font_family="Lato",
            skip_system_fonts=True,
        )
    )


def pixels(svg: str, width: int = WIDTH) -> NDArray[np.uint8]:
    """Draw an SVG document as (H, W, 3) uint8.

    Raises:
        ConfigurationError: As `png`.
    """
    with libraries().image.open(io.BytesIO(png(svg, width))) as image:
        return np.array(image.convert("RGB"))


class Libraries(NamedTuple):
    """The libraries of the extra `pictures`."""

    resvg: Any
    font: Any
    image: Any


def installed() -> bool:
    """Whether the extra `pictures` is installed, without importing it."""
    return all(find_spec(name.partition(".")[0]) for name in _MODULES)


@cache
def libraries() -> Libraries:
    """The libraries, imported when they are first needed.

    Raises:
        ExtraError: One is not installed. The message says how to install it.
    """
    with extra("pictures"):
        return Libraries(*(import_module(name) for name in _MODULES))
