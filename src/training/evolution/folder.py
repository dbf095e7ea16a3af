"""What a run of evolution has in its folder, beside what every run has (`training.run.folder.FILES`)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from training.run.folder import Run

FILES: Final = {
    "curves.csv": "the learning curves as a table, a row for each generation",
    "hall": "the champion of each measurement",
    "populations": "populations that were kept",
    "population.npz": "the last population",
    "mean.safetensors": "the player of its mean genome",
}


def champion(run: Run, generation: int) -> Path:
    """The file of the champion of a generation."""
    return run.folder / "hall" / f"{generation:06d}.safetensors"


def population(run: Run, generation: int) -> Path:
    """The file of the population of a generation."""
    return run.folder / "populations" / f"{generation:06d}.npz"
