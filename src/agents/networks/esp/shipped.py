"""The players of `genetic/esp` that come with the library (docs/results/esp.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from agents.networks.esp.player import FORMS, KIND, EspPlayer
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.policy import files

# The files hold float16: `python -m studies.esp_monopoly --ship RUN/best.safetensors` writes them.
FOLDER: Final = Path(__file__).parent / "data"


def _file(form: str) -> Path:
    return FOLDER / f"{form}{files.SUFFIX}"


def _factory(form: str) -> Callable[..., EspPlayer]:
    name = f"{KIND}/{form}"

    def make(networks: Sequence[str] | None = None) -> EspPlayer:
        written, arrays = files.read(_file(form))
        player = EspPlayer(**written["options"], name=name)
        player.set_arrays({name: array.astype(np.float32) for name, array in arrays.items()})
        if networks is None:
            return player
        for network in networks:
            if network not in player.networks:
                raise ConfigurationError(
                    f"{name!r} has no network {network!r}. {nearest(network, player.networks)}"
                )
        off = [network for network in player.networks if network not in networks]
        return player.without(*off) if off else player

    make.__doc__ = (
        f"The best evolved {form} networks; `networks`: those that are on, by default all."
    )
    return make


POLICIES: Final = {f"{KIND}/{form}": _factory(form) for form in FORMS}


def write(player: EspPlayer) -> Path:
    """Save a player in the library, with weights as float16; returns the file."""
    about = player.header() | {"name": f"{KIND}/{player.form}"}
    halves = {name: array.astype(np.float16) for name, array in player.arrays().items()}
    files.write(_file(player.form), about, halves)
    return _file(player.form)
