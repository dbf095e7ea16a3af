"""The best genomes, `genetic/<kind>/best` (docs/results/evolution.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.players import evolved
from agents.players.genetic.kinds import KINDS, PREFIX, GeneticPolicy

# By kind: the preset whose numbers are the genome.
PRESETS: Final = {"expert": "expert/evolved", "strategic": "strategic/evolved"}
EVOLVED: Final = ("rga", "tga", "sga", "pring")  # the kinds whose genes are in the file
FILE: Final = Path(__file__).with_name("best.safetensors")


def pack(genomes: Mapping[str, NDArray[Any]]) -> bytes:
    """Encode genomes (G,), by kind: numbers as float16, bits eight to a byte."""
    from safetensors.numpy import save

    return save(
        {
            name: np.packbits(genes) if KINDS[name].bits else np.asarray(genes, np.float16)
            for name, genes in genomes.items()
        }
    )


def unpack(file: bytes) -> dict[str, NDArray[Any]]:
    """Read the content of such a file: genomes (G,) by kind."""
    from safetensors.numpy import load

    found = load(file)
    return {
        name: np.unpackbits(genes, count=KINDS[name].size)
        if KINDS[name].bits
        else genes.astype(np.float64)
        for name, genes in found.items()
    }


def _of_preset(kind: str) -> NDArray[Any]:
    """The genome that stands for a preset's numbers."""
    row = evolved.POLICIES[PRESETS[kind]]().params
    return np.asarray(KINDS[kind].encode(row[None])[0])


def _of_file(kind: str) -> NDArray[Any]:
    """A genome that evolved as such."""
    return unpack(FILE.read_bytes())[kind]


def _factory(kind: str, genome: Callable[[str], NDArray[Any]]) -> Callable[[], GeneticPolicy]:
    def make() -> GeneticPolicy:
        """The best genome of its kind that evolution has found here."""
        return KINDS[kind].policy(genome(kind), f"{PREFIX}{kind}/best")

    return make


POLICIES: Final = {
    f"{PREFIX}{kind}/best": _factory(kind, genome)
    for kinds, genome in ((EVOLVED, _of_file), (PRESETS, _of_preset))
    for kind in kinds
}
