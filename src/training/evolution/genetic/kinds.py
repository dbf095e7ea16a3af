"""Kinds of genomes that a genetic algorithm may evolve: those of `agents.genetic`, and numbers of scripted families."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from agents import registry
from agents.policy import CompiledPolicy, PolicyKernel
from monopoly_env.errors import ConfigurationError, nearest
from training.evolution.genomes import FAMILIES


class Kind(Protocol):
    """What genomes of a kind are.

    Attributes:
        name: Of the kind, a registered policy.
        size: G, genes as they evolve.
        low: (G,) the least that a gene may be.
        high: (G,) the most.
        bits: Whether genes are 0 or 1.
        parts: Strings of genes that crossover cuts one by one.
        names: What the genes stand for.
        kernel: What plays by a row of parameters.
    """

    name: str
    size: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    bits: bool
    parts: tuple[slice, ...]
    names: tuple[str, ...]
    kernel: PolicyKernel

    def random(self, count: int, generator: np.random.Generator) -> NDArray[Any]:
        """(count, G) random genomes."""

    def rows(self, population: NDArray[Any]) -> NDArray[np.float64]:
        """(N, L) the rows of parameters of (N, G) genomes."""

    def policy(self, genome: NDArray[Any], name: str) -> CompiledPolicy:
        """The player of a (G,) genome."""


class ScriptedKind:
    """The quantities of a scripted family, each a gene in [0, 1] of its range; switches and modes stay as its defaults have them."""

    def __init__(self, family: str) -> None:
        """Take over a family's parameters.

        Args:
            family: A key of `training.evolution.genomes.FAMILIES`.
        """
        made = registry.make(family)
        assert isinstance(made, CompiledPolicy)
        options = list(fields(FAMILIES[family].parameters))
        modes = FAMILIES[family].modes
        self._made = made
        self._evolved = np.array([n for n, option in enumerate(options) if "range" in option.metadata and option.name not in modes])
        evolved = [options[number] for number in self._evolved]
        self._least, most = np.array([option.metadata["range"] for option in evolved], np.float64).T
        self._width = most - self._least
        self.name = f"genetic/{family}"
        self.size = len(evolved)
        self.low, self.high = np.zeros(self.size), np.ones(self.size)
        self.bits = False
        self.parts: tuple[slice, ...] = (slice(0, self.size),)
        self.names = tuple(option.name for option in evolved)
        self.kernel = made.kernel

    def random(self, count: int, generator: np.random.Generator) -> NDArray[Any]:
        """(count, G) genomes, uniform in the ranges of their parameters."""
        return generator.random((count, self.size))

    def rows(self, population: NDArray[Any]) -> NDArray[np.float64]:
        """(N, L) what the family's kernel reads of (N, G) genomes."""
        rows = np.repeat(self._made.params[None], len(population), axis=0)
        rows[:, self._evolved] = self._least + self._width * population
        return rows

    def policy(self, genome: NDArray[Any], name: str) -> CompiledPolicy:
        """The player of a (G,) genome, saved and loaded as one of its family."""
        return CompiledPolicy(name, self.kernel, self.rows(genome[None])[0], kind=self._made.kind, reads_mask=self._made.reads_mask)


_SCRIPTED: Final = {f"genetic/{family}": family for family in FAMILIES}
_PLAYERS: Final = "agents.genetic"


def kind_of(name: str) -> Kind:
    """The kind of genome of a name; `rga` means `genetic/rga`.

    Raises:
        ConfigurationError: There is none; the message says the nearest.
    """
    players = _players()
    full = name if "/" in name else f"genetic/{name}"
    if full in _SCRIPTED:
        return ScriptedKind(_SCRIPTED[full])
    if full not in players:
        raise ConfigurationError(f"Unknown genome {name!r}. {nearest(full, [*players, *_SCRIPTED])}")
    return players[full]


def _players() -> Mapping[str, Kind]:
    """The kinds of the genetic players, by full name; imported late, since it compiles."""
    try:
        module: Any = importlib.import_module(_PLAYERS)
    except ModuleNotFoundError as error:
        if error.name != _PLAYERS:
            raise
        return {}
    return {kind.name if "/" in kind.name else f"genetic/{kind.name}": kind for kind in module.KINDS.values()}


def check_population(kind: Kind, population: NDArray[Any]) -> None:
    """Check genomes that come from outside.

    Args:
        kind: What they should be.
        population: (N, G).

    Raises:
        ConfigurationError: Another length, or a gene that is no number or out of its range; the message names it.
    """
    if population.ndim != 2 or population.shape[1] != kind.size:
        raise ConfigurationError(f"Genomes of {kind.name!r} have {kind.size:,} genes, shape (N, {kind.size}), not {population.shape}.")
    fine = (population >= kind.low) & (population <= kind.high)
    if kind.bits:
        fine &= (population == 0) | (population == 1)
    if not fine.all():
        genome, gene = (int(place[0]) for place in np.nonzero(~fine))
        wanted = "0 or 1" if kind.bits else f"from {kind.low[gene]:g} to {kind.high[gene]:g}"
        label = f" ({kind.names[gene]})" if len(kind.names) == kind.size else ""
        raise ConfigurationError(f"Genome {genome} of {kind.name!r}: gene {gene}{label} is {population[genome, gene]}, not {wanted}.")
