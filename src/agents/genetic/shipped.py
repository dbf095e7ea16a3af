"""The best genomes that come with the library, `genetic/<kind>/best`; how they were found is in docs/results/evolution.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from agents.genetic.kinds import KINDS, PREFIX, GeneticPolicy
from agents.scripted import evolved

# By kind: the preset whose numbers the genome is.
PRESETS: Final = {"expert": "expert/evolved", "strategic": "strategic/evolved"}


def _factory(kind: str, preset: str) -> Callable[[], GeneticPolicy]:
    def make() -> GeneticPolicy:
        """The genome of the preset's numbers."""
        row = evolved.POLICIES[preset]().params
        genome = np.asarray(KINDS[kind].encode(row[None])[0])
        return KINDS[kind].policy(genome, f"{PREFIX}{kind}/best")

    return make


POLICIES: Final = {f"{PREFIX}{kind}/best": _factory(kind, preset) for kind, preset in PRESETS.items()}
