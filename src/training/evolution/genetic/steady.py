"""Steady state evolution after Pring (2015): those who have played make way for children of the winners.

A mating takes c x n players who are not playing, lets them play c games of n, makes one code of the c winners, and puts c x n children
of it, each mutated on its own, in the place of the c x n. Matings that go on at the same time have no player in common, so a wave
of them is one call of the compiled loop and comes to the same as one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.players.genetic import GenomeKind
from monopoly_env.errors import ConfigurationError, nearest
from training.evolution.genetic.generation import Outcome, Play, play_seats, table_of
from training.evolution.genetic.scores import num_wins, summed
from training.evolution.operators import MUTATIONS, OF_BITS, UNIONS

_ROUNDING = 1e-9  # of a gene that has its value already


@dataclass(frozen=True)
class Scheme:
    """How a wave goes."""

    matings: int = 318
    """Matings at the same time: none of their players is in another one."""
    parents: int = 2
    """Winners that a code is made of, each of a table of its own; 1: nobody mates."""
    union: str = "choice"
    """choice: each gene from one of them at random; mean."""
    mutation: str = "redraw"
    """redraw, offset or gauss (flip for bits)."""
    mutation_rate: float = 0.01
    """Probability that a gene of a child changes."""
    mutation_size: float = 0.1
    """How much, as a share of its range; redraw has no size."""
    levels: int = 0
    """Values that a gene may have, less one: 10 means 0, 0.1, ... 1; 0: any value."""


def check_scheme(scheme: Scheme, kind: GenomeKind, population: int, players: int) -> None:
    """Check names, that the operators suit the genes, and that there are players enough.

    Raises:
        ConfigurationError: They do not, there are not.
    """
    if scheme.union not in UNIONS:
        raise ConfigurationError(f"Unknown --union {scheme.union!r}. {nearest(scheme.union, UNIONS)}")
    suiting = [name for name in MUTATIONS if kind.bits == (name in OF_BITS)]
    if scheme.mutation not in suiting:
        raise ConfigurationError(f"Unknown --mutation {scheme.mutation!r} of {kind.name!r}. {nearest(scheme.mutation, suiting)}")
    if kind.bits and (scheme.union == "mean" or scheme.levels):
        raise ConfigurationError(f"--union mean and --levels are of reals; the genes of {kind.name!r} are bits.")
    taken = scheme.matings * scheme.parents * players
    if taken > population:
        most = population // (scheme.parents * players)
        raise ConfigurationError(
            f"{scheme.matings:,} matings of {scheme.parents} games of {players} take {taken:,} players at the same time; the population "
            f"has {population:,}: --matings may be {most:,} at most."
            if most
            else f"A mating takes {scheme.parents} games of {players}: a population of {population:,} is too small for one."
        )


def levelled(kind: GenomeKind, population: NDArray[Any], levels: int) -> NDArray[Any]:
    """Genes moved to one of `levels` + 1 values that part their range evenly, to each from as wide a part of it; 0: as they are.

    So a gene that is drawn anew takes every value as often, and one that has such a value keeps it.
    """
    if not levels:
        return population
    width = kind.high - kind.low
    place = np.minimum(np.floor((population - kind.low) / width * (levels + 1) + _ROUNDING), levels)
    return np.asarray(kind.low + width * place / levels)


@dataclass(frozen=True)
class Wave:
    """What came of a wave.

    Attributes:
        population: (N, G), after it.
        depth: (N,) int64, the generations behind each player: one more than the deepest of his parents.
        taken: (M * c * n,) the rows that have played.
        outcome: Of these, in their order; the fitness is wins.
    """

    population: NDArray[Any]
    depth: NDArray[np.int64]
    taken: NDArray[np.int64]
    outcome: Outcome


def wave(
    kind: GenomeKind,
    population: NDArray[Any],
    depth: NDArray[np.int64],
    scheme: Scheme,
    play: Play,
    *,
    seed: int,
    generator: np.random.Generator,
    done: Callable[[int], None] = lambda games: None,
) -> Wave:
    """Carry out matings that go on at the same time.

    Args:
        kind: What the genomes are.
        population: (N, G), left as it is.
        depth: (N,) generations behind each player.
        scheme: How.
        play: Seats, rules and limits of the games; fitness and matches have no meaning here.
        seed: Of the games, 0 to 2**32 - 1.
        generator: Of all else that is left to chance.
        done: Called with the number of games that have just ended.
    """
    taken = generator.permutation(len(population))[: scheme.matings * scheme.parents * play.players]
    seats = np.arange(len(taken), dtype=np.int16).reshape(-1, play.players)
    line = play_seats(table_of(kind, population[taken], play), seats, seed, done=done)
    # Of several who win together the first: seats were drawn, so it is any of them.
    winners = taken[seats[np.arange(len(seats)), line.place.argmin(axis=1)]].reshape(scheme.matings, scheme.parents)
    codes = UNIONS[scheme.union](population[winners], generator)
    children = np.repeat(codes, scheme.parents * play.players, axis=0)
    mutated = MUTATIONS[scheme.mutation](children, scheme.mutation_rate, scheme.mutation_size, (kind.low, kind.high), generator)
    following, deeper = population.copy(), depth.copy()
    following[taken] = levelled(kind, mutated, scheme.levels)
    deeper[taken] = np.repeat(depth[winners].max(axis=1) + 1, scheme.parents * play.players)
    wins = summed(num_wins(line), seats, len(taken)) / 3.0
    outcome = Outcome(wins, len(seats), float(line.game_counts["turns"].mean()), float(line.capped.mean()))
    return Wave(following, deeper, taken, outcome)
