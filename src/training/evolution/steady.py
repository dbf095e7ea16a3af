"""Pring's genetic algorithm (2015): players make way for children of the winners.

A mating takes c x n players that are not playing, lets them play c games of n, makes one code of
the c winners, and puts c x n children of it, each mutated on its own, in the place of the c x n.
Matings at the same time have no player in common: they are one call of the compiled loop, and a
generation here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.arena.runner import Runner
from agents.players.genetic import GenomeKind
from monopoly_env.errors import ConfigurationError
from training.cluster import HERE, Place
from training.evolution.fitness import num_wins, summed
from training.evolution.operators import MUTATIONS, UNIONS, suiting
from training.evolution.populations import (
    Evaluated,
    Population,
    PopulationOptions,
    Purpose,
    check_name,
    play_seats,
    runner_of,
)
from training.run.options import RulesName

_ROUNDING: Final = 1e-9  # of a gene that has its value already


@dataclass(frozen=True)
class Steady(PopulationOptions):
    """Evolve a population whose players make way, table by table, for children of the winners.

    The algorithm is Pring's (2015).

    A generation is the matings at the same time. The mean genome is what the population has come
    to, and the agent of the run. The folder of a run holds config.json, curves (TensorBoard, and
    curves.csv), checkpoints, agent.safetensors and mean.safetensors for `agents.load`, and
    population.npz. A run that was stopped goes on with --resume and the same settings.
    """

    genome: str = "pring"
    population: int = 10_000
    rules: RulesName = "pring"
    evaluate_every: int = 50
    generations: int = 629
    """Length of the run; may be raised on --resume. 629 generations of 636 games are 400,044
    games."""
    matings: int = 318
    """Matings at the same time: none of their players is in another one."""
    winners: int = 2
    """Winners that a code is made of, each of a table of its own; 1: there is no mating."""
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

    def check_algorithm(self, kind: GenomeKind) -> None:
        """Check names, that the operators suit the genes, and that there are players enough."""
        check_name("union", self.union, UNIONS)
        check_name("mutation", self.mutation, suiting(MUTATIONS, kind.bits), f" of {kind.name!r}")
        if kind.bits and (self.union == "mean" or self.levels):
            raise ConfigurationError(
                f"--union mean and --levels are of reals; the genes of {kind.name!r} are bits."
            )
        most = self.population // (self.winners * self.num_players)
        mating = f"{self.winners} games of {self.num_players}"
        if not most:
            raise ConfigurationError(
                f"A mating takes {mating}: a population of {self.population:,} is too small for"
                " one."
            )
        if self.matings > most:
            raise ConfigurationError(
                f"{self.matings:,} matings of {mating} take {self.taken:,} players at the same"
                f" time; the population has {self.population:,}: --matings may be {most:,} at most."
            )

    @property
    def taken(self) -> int:
        """Players that play at the same time."""
        return self.matings * self.winners * self.num_players

    def search(self, place: Place = HERE) -> SteadyPopulation:
        """The population before its first generation."""
        return SteadyPopulation(self, place)


PRING: Final = Steady()


def levelled(population: NDArray[Any], levels: int) -> NDArray[Any]:
    """Genes moved to one of `levels` + 1 values that part 0 to 1 evenly; `levels` 0: as they are.

    Each value has as wide a part of the range, so that a gene drawn anew takes all as often.
    """
    if not levels:
        return population
    place = np.minimum(np.floor(population * (levels + 1) + _ROUNDING), levels)
    return np.asarray(place / levels)


class Mated(NamedTuple):
    """A population after matings at the same time.

    Attributes:
        population: (N, G).
        depth: (N,) int64, the generations behind each player: one more than the deepest of its
            parents.
        taken: (M * c * n,) the rows that have played.
        evaluated: Those rows in their order; the fitness is wins.
    """

    population: NDArray[Any]
    depth: NDArray[np.int64]
    taken: NDArray[np.int64]
    evaluated: Evaluated


def mate(
    kind: GenomeKind,
    population: NDArray[Any],
    depth: NDArray[np.int64],
    options: Steady,
    *,
    seed: int,
    generator: np.random.Generator,
    done: Callable[[int], None] = lambda games: None,
    runner_type: type[Runner] = Runner,
) -> Mated:
    """Carry out matings at the same time: games of the seed, all other chance of the generator."""
    offspring = options.winners * options.num_players  # of a mating
    taken = generator.permutation(len(population))[: options.taken]
    seats = np.arange(len(taken), dtype=np.int16).reshape(-1, options.num_players)
    runner = runner_of(kind, population[taken], options, runner_type, by_table=True)
    batch = play_seats(runner, seats, seed, done=done)
    # Of several who win together the first: seats were drawn, so it is any of them.
    winners = taken[seats[np.arange(len(seats)), batch.place.argmin(axis=1)]]
    winners = winners.reshape(options.matings, options.winners)
    children = np.repeat(UNIONS[options.union](population[winners], generator), offspring, axis=0)
    mutate, size = MUTATIONS[options.mutation], options.mutation_size
    mutated = mutate(children, options.mutation_rate, size, generator)
    following, deeper = population.copy(), depth.copy()
    following[taken] = levelled(mutated, options.levels)
    deeper[taken] = np.repeat(depth[winners].max(axis=1) + 1, offspring)
    wins = summed(num_wins(batch), seats, len(taken)) / 3.0
    return Mated(following, deeper, taken, Evaluated.of(wins, [batch]))


class SteadyPopulation(Population):
    """A population in a steady state.

    Attributes:
        depth: (N,) int64, the generations behind each player.
    """

    options: Steady

    def __init__(self, options: Steady, place: Place = HERE) -> None:
        """Begin before the first generation."""
        super().__init__(options, place)
        self.begins_with = self.population = levelled(self.population, options.levels)
        self.depth = np.zeros(len(self.population), np.int64)

    @property
    def generation_games(self) -> int:
        """Games of a generation."""
        return self.options.matings * self.options.winners

    def advance(self) -> None:
        """Play a generation."""
        mated = mate(
            self.kind,
            self.population,
            self.depth,
            self.options,
            seed=self.game_seed(Purpose.SEARCH),
            generator=self.generator(Purpose.BREED),
            done=self.played,
            runner_type=self.place.runner,
        )
        self.population, self.depth = mated.population, mated.depth
        depth = {"depth/mean": float(self.depth.mean()), "depth/max": float(self.depth.max())}
        self.note(mated.evaluated, **depth)

    def representatives(self) -> dict[str, NDArray[Any]]:
        """The mean genome: no player has played often enough to be called the best."""
        return {"mean": self.mean}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of a checkpoint."""
        return super().arrays() | {"depth": self.depth}

    def restore(self, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        super().restore(arrays, values)
        self.depth = arrays["depth"]
