"""Operators of the genetic algorithms: pure functions on arrays, by name.

A population is (N, G), a genome a row; fitness is (N,), more is better. All random numbers come
from the generator that is given. Nothing is changed in place, and the type of the genes stays what
it was. The operators of a kind have the same arguments, the last of them a generator:

| kind | arguments | result |
|---|---|---|
| selection | fitness (N,), how many to draw with replacement (M) | (M,) rows of the population |
| crossover | parents (M, G), mates (M, G), strings to cut one by one | (M, G) and (M, G) children |
| union | (M, C, G) the winners of C games for each of M matings | (M, G) a code each |
| mutation | population (N, G) of 0 to 1, chance that a gene changes, by how much | (N, G) |

Sources: Mukhar & Kalita 2012 and Mukhar 2013 (roulette, binary tournaments, blend and one-point
crossover, gene and bit mutation), Frayn 2005 as they report it (uniform crossover), Pring 2015
(random choice among winners, their mean; redraw, offset).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Population: TypeAlias = NDArray[Any]  # (N, G)
Fitness: TypeAlias = NDArray[np.float64]  # (N,)
Chosen: TypeAlias = NDArray[np.int64]  # (M,) rows of the population
Children: TypeAlias = tuple[Population, Population]
Parts: TypeAlias = Sequence[slice]  # strings of genes that one-point crossover cuts one by one

LEGACY_CUTS: Final = 256  # bits, whatever the length of the string


# --- selection


def elite(fitness: Fitness, count: int) -> Chosen:
    """The fittest, the best first; of equals the one that comes first."""
    return np.argsort(-fitness, kind="stable")[:count]


def roulette(fitness: Fitness, count: int, generator: np.random.Generator) -> Chosen:
    """Draw rows by their share of all fitness (below 0 counts as 0), or alike if there is none."""
    share = np.clip(fitness, 0, None).cumsum()
    if share[-1] <= 0:
        return generator.integers(len(fitness), size=count)
    # A draw just below 1 may be rounded up to the whole sum: then the last row that has any fitness
    # is meant.
    last = int(np.searchsorted(share, share[-1]))
    drawn = np.searchsorted(share, generator.random(count) * share[-1], side="right")
    return np.asarray(np.minimum(drawn, last))


def tournament(fitness: Fitness, count: int, generator: np.random.Generator) -> Chosen:
    """Each draw takes two rows at random, perhaps the same, and keeps the fitter, or the first."""
    first, second = generator.integers(len(fitness), size=(2, count))
    return np.asarray(np.where(fitness[second] > fitness[first], second, first))


SELECTIONS: Final[dict[str, Callable[[Fitness, int, np.random.Generator], Chosen]]] = {
    "roulette": roulette,
    "tournament": tournament,
}


# --- crossover


def blend(
    first: Population, second: Population, parts: Parts, generator: np.random.Generator
) -> Children:
    """The children b first + (1 - b) second and the reverse, one b of U(0, 1) a mating."""
    del parts
    share = generator.random((len(first), 1))
    step = (second - first) * (1 - share)
    return first + step, second - step


def uniform(
    first: Population, second: Population, parts: Parts, generator: np.random.Generator
) -> Children:
    """Each gene from either parent by the toss of a coin; the second child gets the other one."""
    del parts
    tosses = np.frombuffer(generator.bytes(-(-first.size // 8)), np.uint8)
    mine = np.unpackbits(tosses, count=first.size).reshape(first.shape).view(np.bool_)
    return np.where(mine, first, second), np.where(mine, second, first)


def one_point(
    first: Population, second: Population, parts: Parts, generator: np.random.Generator
) -> Children:
    """Each string is cut at random between two genes; children exchange what lies beyond."""
    one, two = first.copy(), second.copy()
    for part in parts:
        length = len(range(*part.indices(first.shape[1])))
        cut = generator.integers(1, max(length, 2), size=(len(first), 1))
        beyond = np.arange(length) >= cut
        one[:, part] = np.where(beyond, second[:, part], first[:, part])
        two[:, part] = np.where(beyond, first[:, part], second[:, part])
    return one, two


def mean(
    first: Population, second: Population, parts: Parts, generator: np.random.Generator
) -> Children:
    """The middle of the parents, twice."""
    del parts, generator
    middle = (first + second) / 2
    return middle, middle.copy()


def legacy_sga(
    first: Population, second: Population, parts: Parts, generator: np.random.Generator
) -> Children:
    """The faulty crossover of the published program's bit strings.

    Choose it only to examine what it does. The cut is drawn over 256 bits whatever the length of
    the string, so that a short one often is not cut at all. The bit at the cut is the other
    parent's, those beyond are first XOR second, in both children: the program clears one bit where
    it should clear all from there on. Where the parents agree that is 0, so upper bits die out as a
    population becomes alike.
    """
    one, two = first.copy(), second.copy()
    for part in parts:
        mine, other = first[:, part], second[:, part]
        place = np.arange(mine.shape[1])
        cut = generator.integers(LEGACY_CUTS, size=(len(first), 1))
        mixed = (mine != other).astype(first.dtype)
        one[:, part] = np.where(place < cut, mine, np.where(place == cut, other, mixed))
        two[:, part] = np.where(place < cut, other, np.where(place == cut, mine, mixed))
    return one, two


Crossover: TypeAlias = Callable[[Population, Population, Parts, np.random.Generator], Children]
CROSSOVERS: Final[dict[str, Crossover]] = {
    "blend": blend, "uniform": uniform, "one_point": one_point, "mean": mean,
    "legacy_sga": legacy_sga,
}  # fmt: skip


# --- several winners and one code


def choice_of(parents: NDArray[Any], generator: np.random.Generator) -> Population:
    """Each gene from one of the parents at random."""
    matings, count, size = parents.shape
    chosen = generator.integers(count, size=(matings, 1, size))
    return np.take_along_axis(parents, chosen, axis=1)[:, 0]


def mean_of(parents: NDArray[Any], generator: np.random.Generator) -> Population:
    """The mean of the parents."""
    del generator
    return np.asarray(parents.mean(axis=1))


UNIONS: Final[dict[str, Callable[[NDArray[Any], np.random.Generator], Population]]] = {
    "choice": choice_of,
    "mean": mean_of,
}


# --- mutation


def _places(
    population: Population, rate: float, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Places in the flattened population that mutate; cheaper than a draw for each gene."""
    count = generator.binomial(population.size, rate)
    return generator.choice(population.size, count, replace=False, shuffle=False)


def gauss(
    population: Population, rate: float, size: float, generator: np.random.Generator
) -> Population:
    """Add N(0, size), and clip."""
    places = _places(population, rate, generator)
    return _moved(population, places, size * generator.standard_normal(len(places)))


def offset(
    population: Population, rate: float, size: float, generator: np.random.Generator
) -> Population:
    """Add U(-size, size), and clip."""
    places = _places(population, rate, generator)
    return _moved(population, places, generator.uniform(-size, size, len(places)))


def redraw(
    population: Population, rate: float, size: float, generator: np.random.Generator
) -> Population:
    """Draw anew from U(0, 1)."""
    del size
    places, changed = _places(population, rate, generator), population.copy()
    changed.ravel()[places] = generator.random(len(places))
    return changed


def flip(
    population: Population, rate: float, size: float, generator: np.random.Generator
) -> Population:
    """0 becomes 1 and 1 becomes 0."""
    del size
    places, changed = _places(population, rate, generator), population.copy()
    bits = changed.ravel()
    bits[places] = 1 - bits[places]
    return changed


def _moved(
    population: Population, places: NDArray[np.int64], steps: NDArray[np.float64]
) -> Population:
    changed = population.copy()
    flat = changed.ravel()
    flat[places] = np.clip(flat[places] + steps, 0.0, 1.0)
    return changed


Mutation: TypeAlias = Callable[[Population, float, float, np.random.Generator], Population]
MUTATIONS: Final[dict[str, Mutation]] = {
    "gauss": gauss, "offset": offset, "redraw": redraw, "flip": flip,
}  # fmt: skip
OF_REALS: Final = ("blend", "mean", "gauss", "offset", "redraw")  # of bits they make fractions
OF_BITS: Final = ("flip", "legacy_sga")


def suiting(operators: Iterable[str], bits: bool) -> list[str]:
    """The operators that suit genes: bits or reals."""
    return [name for name in operators if name not in (OF_REALS if bits else OF_BITS)]
