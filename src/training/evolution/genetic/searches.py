"""The two ways to evolve a population, alike to the run that drives them: all that changes while it goes."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.arena.table import Table
from agents.players.genetic import GenomeKind
from training.evolution.genetic.breeding import Recipe, breed
from training.evolution.genetic.generation import Outcome, evaluate, games_of
from training.evolution.genetic.options import Generational, Steady, beginning
from training.evolution.genetic.steady import Scheme, levelled, wave
from training.evolution.reporting import CURVES

_BEGIN, _DEAL, _BREED, _SEARCH, PANEL = range(5)  # what chance is for: draws of one purpose never meet those of another
_QUANTILES: Final = {"min": 0.0, "quarter": 0.25, "median": 0.5, "three_quarters": 0.75, "max": 1.0}

Done = Callable[[int], None]


class Search(ABC):
    """A population that evolves.

    Attributes:
        kind: What its genomes are.
        play: What is played.
        population: (N, G).
        begins_with: (N, G), the population of the beginning.
        fitness: (N,) of the last generation, NaN where it was not measured.
        generation: Generations, or waves, that were played.
        rows: A point of every curve for each.
    """

    unit = "generation"

    def __init__(self, options: Generational | Steady, kind: GenomeKind, table_type: type[Table] = Table) -> None:
        """Begin before the first generation; games are played at tables of this type."""
        self.kind = kind
        self.play = dataclasses.replace(options.play, table_type=table_type)
        self.seed = options.seed
        self.generation = 0
        self.begins_with = self.population = beginning(options, kind, self.generator(_BEGIN))
        self.fitness = np.full(len(self.population), np.nan)
        self.rows: list[dict[str, float]] = []

    def generator(self, purpose: int) -> np.random.Generator:
        """The random numbers of a purpose in this generation."""
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence((self.seed, purpose, self.generation))))

    def game_seed(self, purpose: int) -> int:
        """The seed of the games of this generation."""
        return int(np.random.SeedSequence((self.seed, purpose, self.generation)).generate_state(1)[0])

    @property
    @abstractmethod
    def games(self) -> int:
        """Games of a generation."""

    @abstractmethod
    def advance(self, done: Done) -> None:
        """Play a generation."""

    @abstractmethod
    def outcome(self) -> dict[str, NDArray[Any]]:
        """(G,) genomes that stand for the population, by name; the first is the agent of the run."""

    @property
    def mean(self) -> NDArray[Any]:
        """(G,) the mean genome; of bits, what most have."""
        middle = self.population.mean(axis=0)
        return np.asarray((middle >= 0.5).astype(self.population.dtype) if self.kind.bits else middle)

    def values(self) -> tuple[tuple[str, ...], NDArray[np.float64]]:
        """(M,) names and (N, M) numbers of the genes as they are told: bits as what they stand for."""
        if self.kind.bits:
            return self.kind.number_names, self.kind.decode(self.population)
        return self.kind.names, self.population

    def note(self, outcome: Outcome) -> None:
        """Add a point to every curve."""
        fitness = outcome.fitness
        row = {"generation": float(self.generation), "games": float(outcome.games), "turns": outcome.turns, "capped": outcome.capped}
        row |= {"fitness/mean": float(fitness.mean()), "fitness/deviation": float(fitness.std())}
        row |= {f"fitness/{name}": float(np.quantile(fitness, share)) for name, share in _QUANTILES.items()}
        names, values = self.values()
        means = values.mean(axis=0)
        row |= {"genes/mean": float(means.mean()), "genes/spread": float(values[:, :CURVES].std(axis=0).mean())}
        self.rows.append(row | {f"gene/{name}": float(mean) for name, mean in zip(names[:CURVES], means, strict=False)})

    def explain(self) -> list[dict[str, Any]]:
        """A row for each of the first genes: `name`, `mean` and `spread` over the population."""
        names, values = self.values()
        shown = values[:, :CURVES]
        told = zip(names[:CURVES], shown.mean(axis=0).tolist(), shown.std(axis=0).tolist(), strict=True)
        return [{"name": name, "mean": mean, "spread": spread} for name, mean, spread in told]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a checkpoint holds, besides the curves."""
        return {"population": self.population, "fitness": self.fitness}

    def restore(self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint.

        Raises:
            ValueError: Arrays of other shapes or types, or curves that have not come so far.
        """
        for name, own in self.arrays().items():
            if (arrays[name].shape, arrays[name].dtype) != (own.shape, own.dtype):
                raise ValueError(f"{name} is {arrays[name].dtype} {arrays[name].shape}, not {own.dtype} {own.shape}")
        rows = [{name: float(value) for name, value in row.items()} for row in state["rows"]]
        if len(rows) != state["generation"] or any("fitness/mean" not in row for row in rows):
            raise ValueError(f"{len(rows)} points of curves for {state['generation']} generations, or not of these curves")
        self.population, self.fitness = self.kind.checked(arrays["population"]), arrays["fitness"]
        self.generation, self.rows = len(rows), rows


class Generations(Search):
    """Everybody plays, then everybody makes way for the next generation."""

    def __init__(self, options: Generational, kind: GenomeKind, table_type: type[Table] = Table) -> None:
        """Begin before the first generation; games are played at tables of this type."""
        super().__init__(options, kind, table_type)
        self.recipe: Recipe = options

    @property
    def games(self) -> int:
        """Games of a generation."""
        return games_of(len(self.population), self.play)

    def advance(self, done: Done) -> None:
        """Make the next generation, and play it."""
        population = self.population
        if self.generation:
            population = breed(self.kind, population, self.fitness, self.recipe, self.generator(_BREED))
        outcome = evaluate(self.kind, population, self.play, self.game_seed(_SEARCH), self.generator(_DEAL), done)
        self.population, self.fitness, self.generation = population, outcome.fitness, self.generation + 1
        self.note(outcome)

    def outcome(self) -> dict[str, NDArray[Any]]:
        """The fittest of the last generation, and the mean genome."""
        return {"champion": self.population[int(np.argmax(self.fitness))], "mean": self.mean}


class Waves(Search):
    """Those who have played make way for children of the winners.

    Attributes:
        depth: (N,) int64, the generations behind each player.
    """

    unit = "wave"

    def __init__(self, options: Steady, kind: GenomeKind, table_type: type[Table] = Table) -> None:
        """Begin before the first wave; games are played at tables of this type."""
        super().__init__(options, kind, table_type)
        self.scheme: Scheme = options
        self.begins_with = self.population = levelled(kind, self.population, options.levels)
        self.depth = np.zeros(len(self.population), np.int64)

    @property
    def games(self) -> int:
        """Games of a wave."""
        return self.scheme.matings * self.scheme.parents

    def advance(self, done: Done) -> None:
        """Play a wave."""
        seed, generator = self.game_seed(_SEARCH), self.generator(_BREED)
        played = wave(self.kind, self.population, self.depth, self.scheme, self.play, seed=seed, generator=generator, done=done)
        self.population, self.depth = played.population, played.depth
        self.generation += 1
        self.note(played.outcome)
        self.rows[-1] |= {"depth/mean": float(self.depth.mean()), "depth/max": float(self.depth.max())}

    def outcome(self) -> dict[str, NDArray[Any]]:
        """The mean genome: nobody has played often enough to be called the best."""
        return {"mean": self.mean}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a checkpoint holds, besides the curves."""
        return super().arrays() | {"depth": self.depth}

    def restore(self, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        super().restore(arrays, state)
        self.depth = arrays["depth"]


def search_of(options: Generational | Steady, kind: GenomeKind, table_type: type[Table] = Table) -> Search:
    """The search that the options ask for, before its first generation."""
    return Waves(options, kind, table_type) if isinstance(options, Steady) else Generations(options, kind, table_type)
