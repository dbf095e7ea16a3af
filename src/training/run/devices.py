"""Where networks are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monopoly_env.cli.extras import extra
from monopoly_env.errors import ConfigurationError

if TYPE_CHECKING:
    import torch


def device_of(name: str) -> torch.device:
    """The device of a name; `auto`: a GPU if there is one.

    Raises:
        ConfigurationError: `cuda` without a GPU that torch can use.
    """
    with extra("train"):
        import torch
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigurationError(
            "--device cuda: torch finds no GPU here. Use --device cpu or auto."
        )
    return torch.device(name)
