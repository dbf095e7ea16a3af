"""The next generation: some are kept, some copied, some copied and mutated, and the rest are children."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.players.genetic import GenomeKind
from monopoly_env.errors import ConfigurationError, nearest
from training.evolution.operators import CROSSOVERS, MUTATIONS, OF_BITS, REALS_ONLY, SELECTIONS, Fitness, elite, legacy_sga


@dataclass(frozen=True)
class Recipe:
    """How a generation is made. Shares are of the population; what they leave are children."""

    elite: float = 0.1
    """Share of the population that is kept: the fittest."""
    copied: float = 0.3
    """Share that is selected and copied."""
    mutated: float = 0.3
    """Share that is selected and mutated. The rest are children."""
    select: str = "roulette"
    """How those who are copied or mutated are selected: roulette or tournament (the better of two)."""
    select_parents: str = "roulette"
    """The same for parents."""
    crossover: str | None = None
    """blend, uniform, one_point or mean; default: blend for reals, one_point for bits."""
    mutation: str | None = None
    """gauss, offset or redraw for reals, flip for bits; default: gauss or flip."""
    mutation_rate: float = 0.01
    """Probability that a gene of those mutated changes."""
    mutation_size: float = 0.1
    """How much, as a share of its range."""
    legacy_sga: bool = False
    """Cross bits as the published program does, faults included: to see what they do."""


def check_recipe(recipe: Recipe, kind: GenomeKind) -> None:
    """Check names, shares, and that the operators suit the genes.

    Raises:
        ConfigurationError: They do not.
    """
    named = (("select", SELECTIONS), ("select_parents", SELECTIONS), ("crossover", CROSSOVERS), ("mutation", MUTATIONS))
    for name, table in named:
        given = getattr(recipe, name)
        if given is not None and given not in table:
            raise ConfigurationError(f"Unknown --{name.replace('_', '-')} {given!r}. {nearest(given, table)}")
    if recipe.elite + recipe.copied + recipe.mutated > 1 + 1e-9:
        given = f"{recipe.elite:g} + {recipe.copied:g} + {recipe.mutated:g}"
        raise ConfigurationError(f"--elite, --copied and --mutated are shares of one population: {given} is more than 1.")
    if recipe.legacy_sga and not kind.bits:
        raise ConfigurationError(f"--legacy-sga is a crossover of bits; the genes of {kind.name!r} are reals. Use --genome sga.")
    if recipe.legacy_sga and recipe.crossover is not None:
        raise ConfigurationError(f"--legacy-sga is a crossover, and so is --crossover {recipe.crossover}: choose one.")
    _check_suits(recipe.crossover, recipe.mutation, kind)


def _check_suits(crossover: str | None, mutation: str | None, kind: GenomeKind) -> None:
    if kind.bits and crossover in REALS_ONLY:
        valid = ", ".join(name for name in CROSSOVERS if name not in REALS_ONLY)
        raise ConfigurationError(f"--crossover {crossover} makes fractions; the genes of {kind.name!r} are bits: use {valid}.")
    if mutation is not None and kind.bits != (mutation in OF_BITS):
        genes = "bits" if kind.bits else "reals"
        valid = ", ".join(name for name in MUTATIONS if kind.bits == (name in OF_BITS))
        raise ConfigurationError(f"--mutation {mutation} does not suit {kind.name!r}, whose genes are {genes}: use {valid}.")


def numbers(population: int, recipe: Recipe) -> tuple[int, int, int, int]:
    """How many of a population are kept, copied, mutated and born; shares are rounded, and at least one of a share above 0 is kept."""
    kept = max(round(recipe.elite * population), 1 if recipe.elite > 0 else 0)
    copied = min(round(recipe.copied * population), population - kept)
    mutated = min(round(recipe.mutated * population), population - kept - copied)
    return kept, copied, mutated, population - kept - copied - mutated


def breed(kind: GenomeKind, population: NDArray[Any], fitness: Fitness, recipe: Recipe, generator: np.random.Generator) -> NDArray[Any]:
    """The next generation: the kept first, then the copied, the mutated, the children.

    Args:
        kind: What the genomes are.
        population: (N, G), left as it is.
        fitness: (N,).
        recipe: How.
        generator: Of all that is left to chance.

    Returns:
        (N, G).
    """
    kept, copied, mutated, born = numbers(len(population), recipe)
    select, select_parents = SELECTIONS[recipe.select], SELECTIONS[recipe.select_parents]
    crossover = legacy_sga if recipe.legacy_sga else CROSSOVERS[recipe.crossover or ("one_point" if kind.bits else "blend")]
    mutation = MUTATIONS[recipe.mutation or ("flip" if kind.bits else "gauss")]
    following = np.empty_like(population)
    alike = np.concatenate([elite(fitness, kept), select(fitness, copied, generator)])
    population.take(alike, axis=0, out=following[: kept + copied], mode="clip")
    chosen = population[select(fitness, mutated, generator)]
    changed = mutation(chosen, recipe.mutation_rate, recipe.mutation_size, (kind.low, kind.high), generator)
    following[kept + copied : kept + copied + mutated] = changed
    matings = -(-born // 2)
    parents = population[select_parents(fitness, 2 * matings, generator)]
    first, second = crossover(parents[:matings], parents[matings:], kind.parts, generator)
    following[len(population) - born : len(population) - born + matings] = first
    following[len(population) - born + matings :] = second[: born - matings]
    return following
