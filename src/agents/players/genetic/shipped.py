"""The best genomes, `genetic/<kind>/best` (docs/results/evolution.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.players import evolved
from agents.players.genetic.kinds import PREFIX, GeneticPolicy, kind_of

# By kind: the preset whose numbers are the genome.
PRESETS: Final = {"expert": "expert/evolved", "strategic": "strategic/evolved"}
EVOLVED: Final = ("rga", "tga", "sga", "pring")  # the kinds whose genes are in the file
FILE: Final = Path(__file__).with_name("best.safetensors")  # float16, or bits eight to a byte


def _genome(name: str) -> NDArray[Any]:
    """(G,) the best genome of a kind."""
    from safetensors.numpy import load

    kind = kind_of(name)
    if name in PRESETS:
        return kind.genome(evolved.POLICIES[PRESETS[name]]().params)
    genes = load(FILE.read_bytes())[name]
    return np.unpackbits(genes, count=kind.size) if kind.bits else genes.astype(np.float64)


def _factory(name: str) -> Callable[[], GeneticPolicy]:
    def make() -> GeneticPolicy:
        """The best genome of its kind that evolution has found here."""
        return kind_of(name).policy(_genome(name), f"{PREFIX}{name}/best")

    return make


POLICIES: Final = {f"{PREFIX}{name}/best": _factory(name) for name in (*EVOLVED, *PRESETS)}
