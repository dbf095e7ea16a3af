"""The options of `training.values`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from monopoly_env.errors import ConfigurationError
from training.run.options import FREE, Ranges, RunOptions, check_ranges
from training.values.sampling import KEPT
from training.values.tables import BATCH

UNKNOWN: Final = 1 << 20  # the first batch of the games for measuring, of which no run learns
FREE_HERE: Final = (*FREE, "threads")  # options that do not change the result


@dataclass(frozen=True)
class ValueOptions(RunOptions):
    """Train the network of `agents.values` on games of scripted policies, and measure it.

    It is measured on games that it was not trained on.
    """

    out: Path = Path("runs/values")
    games: int = 200_000
    """Budget: games that are played. About 300 a second on one core."""
    kept: int = KEPT
    """States of each game."""
    chunk: int = 4096
    """Games that are played, learned from and forgotten, before the next ones are played."""
    epochs: int = 3
    """Passes over the states of a chunk."""
    batch: int = 256
    """States in a minibatch."""
    learning_rate: float = 4e-3
    """Highest learning rate of AdamW; it falls to zero along half a cosine."""
    weight_decay: float = 0.01
    """Weight decay of AdamW."""
    trace: float = 0.9
    """Lambda: the weight of what follows, beside the value of the next state kept. 1: learn from
    outcomes alone."""
    threads: int = 1
    """Threads that play. The result does not depend on it."""


_RANGES: Final[Ranges] = {
    **dict.fromkeys(("games", "kept", "chunk", "epochs", "batch", "threads"), (1, math.inf)),
    "games": (BATCH, BATCH * UNKNOWN),
    "chunk": (BATCH, math.inf),
    "seed": (0, (1 << 32) - 1),
    "learning_rate": (1e-9, 1),
    "weight_decay": (0, 1 << 31),
    "trace": (0, 1),
}


def check(options: ValueOptions) -> None:
    """Check the options, as far as that goes without compiling anything."""
    check_ranges(options, _RANGES)
    for name in ("games", "chunk"):
        if getattr(options, name) % BATCH:
            raise ConfigurationError(
                f"--{name} {getattr(options, name)} must be a multiple of {BATCH}: games are played"
                " in batches."
            )
