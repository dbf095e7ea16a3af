"""Steady state evolution after Pring (2015).

Those who have played make way for children of the winners.

A mating takes c x n players who are not playing, lets them play c games of n, makes one code of the
c winners, and puts c x n children of it, each mutated on its own, in the place of the c x n.
Matings that go on at the same time have no player in common, so a wave of them is one call of the
compiled loop and comes to the same as one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from agents.arena.runner import Runner
from agents.players.genetic import GenomeKind
from monopoly_env.errors import ConfigurationError, nearest
from training.cluster import HERE, Place
from training.evolution.fitness import num_wins, summed
from training.evolution.operators import MUTATIONS, OF_BITS, UNIONS
from training.evolution.populations import (
    Outcome,
    Population,
    PopulationOptions,
    Purpose,
    play_seats,
    runner_of,
)
from training.run.options import RulesName

_ROUNDING: Final = 1e-9  # of a gene that has its value already


# --- settings


@dataclass(frozen=True)
class Steady(PopulationOptions):
    """Evolve a population whose players make way, table by table, for children of the winners.

    The algorithm is Pring's (2015).

    Matings that go on at the same time are a wave. The mean genome is what the population has come
    to, and the agent of the run. The folder of a run holds config.json, curves (TensorBoard, and
    curves.csv), checkpoints, agent.safetensors and mean.safetensors for `agents.load`, and
    population.npz. A run that was stopped goes on with --resume and the same settings.
    """

    genome: str = "pring"
    population: int = 10_000
    rules: RulesName = "pring"
    panel_every: int = 50
    waves: int = 629
    """Length of the run; may be raised on --resume. 629 waves of 636 games are 400,044 games."""
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

    @property
    def length(self) -> int:
        """Waves of the run."""
        return self.waves

    def check_algorithm(self, kind: GenomeKind) -> None:
        """Check names, that the operators suit the genes, and that there are players enough."""
        if self.union not in UNIONS:
            raise ConfigurationError(
                f"Unknown --union {self.union!r}. {nearest(self.union, UNIONS)}"
            )
        suiting = [name for name in MUTATIONS if kind.bits == (name in OF_BITS)]
        if self.mutation not in suiting:
            raise ConfigurationError(
                f"Unknown --mutation {self.mutation!r} of {kind.name!r}."
                f" {nearest(self.mutation, suiting)}"
            )
        if kind.bits and (self.union == "mean" or self.levels):
            raise ConfigurationError(
                f"--union mean and --levels are of reals; the genes of {kind.name!r} are bits."
            )
        taken = self.matings * self.winners * self.num_players
        if taken > self.population:
            most, mating = (
                self.population // (self.winners * self.num_players),
                f"{self.winners} games of {self.num_players}",
            )
            raise ConfigurationError(
                f"{self.matings:,} matings of {mating} take {taken:,} players at the same time; the"
                f" population has {self.population:,}: --matings may be {most:,} at most."
                if most
                else (
                    f"A mating takes {mating}: a population of {self.population:,} is too small for"
                    " one."
                )
            )

    def search(self, place: Place = HERE) -> Waves:
        """The population before its first wave."""
        return Waves(self, place)


PRING: Final = Steady()


# --- a wave


def levelled(kind: GenomeKind, population: NDArray[Any], levels: int) -> NDArray[Any]:
    """Genes moved to one of `levels` + 1 values that part their range evenly.

    Each value is given to as wide a part of the range; `levels` 0 leaves genes as they are.

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
        depth: (N,) int64, the generations behind each player: one more than the deepest of its
            parents.
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
    options: Steady,
    *,
    seed: int,
    generator: np.random.Generator,
    done: Callable[[int], None] = lambda games: None,
    runner_type: type[Runner] = Runner,
) -> Wave:
    """Carry out matings that go on at the same time.

    Args:
        kind: What the genomes are.
        population: (N, G), left as it is.
        depth: (N,) generations behind each player.
        options: How.
        seed: Of the games, 0 to 2**32 - 1.
        generator: Of all else that is left to chance.
        done: Called with the number of games that have just ended.
        runner_type: Where the games are played.
    """
    taken = generator.permutation(len(population))[
        : options.matings * options.winners * options.num_players
    ]
    seats = np.arange(len(taken), dtype=np.int16).reshape(-1, options.num_players)
    line = play_seats(
        runner_of(kind, population[taken], options, runner_type), seats, seed, done=done
    )
    # Of several who win together the first: seats were drawn, so it is any of them.
    winners = taken[seats[np.arange(len(seats)), line.place.argmin(axis=1)]].reshape(
        options.matings, options.winners
    )
    codes = UNIONS[options.union](population[winners], generator)
    children = np.repeat(codes, options.winners * options.num_players, axis=0)
    mutated = MUTATIONS[options.mutation](
        children, options.mutation_rate, options.mutation_size, (kind.low, kind.high), generator
    )
    following, deeper = population.copy(), depth.copy()
    following[taken] = levelled(kind, mutated, options.levels)
    deeper[taken] = np.repeat(depth[winners].max(axis=1) + 1, options.winners * options.num_players)
    wins = summed(num_wins(line), seats, len(taken)) / 3.0
    outcome = Outcome(
        wins, len(seats), float(line.game_counts["turns"].mean()), float(line.capped.mean())
    )
    return Wave(following, deeper, taken, outcome)


class Waves(Population):
    """A population under way.

    Attributes:
        depth: (N,) int64, the generations behind each player.
    """

    unit: ClassVar[str] = "wave"
    options: Steady

    def __init__(self, options: Steady, place: Place = HERE) -> None:
        """Begin before the first wave."""
        super().__init__(options, place)
        self.begins_with = self.population = levelled(self.kind, self.population, options.levels)
        self.depth = np.zeros(len(self.population), np.int64)

    @property
    def generation_games(self) -> int:
        """Games of a wave."""
        return self.options.matings * self.options.winners

    def advance(self) -> None:
        """Play a wave."""
        options, seed, generator = (
            self.options,
            self.game_seed(Purpose.SEARCH),
            self.generator(Purpose.BREED),
        )
        played = wave(
            self.kind,
            self.population,
            self.depth,
            options,
            seed=seed,
            generator=generator,
            done=self.played,
            runner_type=self.place.runner,
        )
        self.population, self.depth = played.population, played.depth
        self.note(
            played.outcome,
            **{"depth/mean": float(self.depth.mean()), "depth/max": float(self.depth.max())},
        )

    def outcome(self) -> dict[str, NDArray[Any]]:
        """The mean genome: no player has played often enough to be called the best."""
        return {"mean": self.mean}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a checkpoint holds as arrays."""
        return super().arrays() | {"depth": self.depth}

    def restore(self, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        super().restore(arrays, values)
        self.depth = arrays["depth"]
