"""An animation of several positions of a game."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Final

from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.game import Game
from monopoly_env.render import raster
from monopoly_env.render.svg import draw

_FORMATS: Final = {".gif": "GIF", ".png": "PNG", ".webp": "WEBP"}
_LAST: Final = 10  # duration of the last position, as a multiple of the others'


def animation(games: Iterable[Game], suffix: str, width: int, seconds: float) -> bytes:
    """Draw positions as the images of one file.

    Args:
        games: The positions, one or more.
        suffix: `.gif`, `.png` or `.webp`.
        width: Pixels.
        seconds: How long each is shown; the last one ten times as long.

    Raises:
        ConfigurationError: The suffix, width or time is wrong, or a library is not installed.
    """
    if suffix not in _FORMATS:
        raise ConfigurationError(
            f"An animation can't be a {suffix!r} file. {nearest(suffix, _FORMATS)}"
        )
    if not 0.02 <= seconds <= 60:
        raise ConfigurationError(f"seconds={seconds!r} must be from 0.02 to 60.")
    image = raster.libraries().image
    images = [
        image.open(io.BytesIO(raster.png(str(draw(game)), width))).convert("RGB") for game in games
    ]
    if suffix == ".gif":  # one palette, so that nothing flickers
        sample = image.new("RGB", (images[0].width, 3 * images[0].height))
        for place, number in enumerate((0, len(images) // 2, -1)):
            sample.paste(images[number], (0, place * images[0].height))
        palette = sample.quantize(256)
        images = [picture.quantize(palette=palette, dither=0) for picture in images]
    times, file = [round(1000 * seconds)] * len(images), io.BytesIO()
    times[-1] *= _LAST
    images[0].save(
        file, _FORMATS[suffix], save_all=True, append_images=images[1:], duration=times, loop=0
    )
    return file.getvalue()
