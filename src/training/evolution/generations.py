"""The genetic algorithm by generations (Mukhar & Kalita 2012, Mukhar 2013, Frayn 2005).

A population is dealt out to tables by lot, and all its games are one call of the compiled loop.
Some of its members are kept, some copied, some copied and mutated, and the rest are children.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.arena.games import GameBatch
from agents.arena.runner import Runner
from agents.players.genetic import GenomeKind
from monopoly_env.errors import ConfigurationError
from training.cluster import HERE, Place
from training.evolution.fitness import MEASURES, SCALES, scaled, summed
from training.evolution.operators import CROSSOVERS, MUTATIONS, SELECTIONS, Fitness, elite, suiting
from training.evolution.populations import (
    Evaluated,
    GameOptions,
    Population,
    PopulationOptions,
    Purpose,
    Seats,
    check_name,
    play_seats,
    runner_of,
)

Done = Callable[[int], None]


# --- settings


@dataclass(frozen=True)
class Reproduction:
    """How a generation is made. Shares are of the population; what they leave are children."""

    elite: float = 0.1
    """Share of the population that is kept: the fittest."""
    copied: float = 0.3
    """Share that is selected and copied."""
    mutated: float = 0.3
    """Share that is selected and mutated. The rest are children."""
    select: str = "roulette"
    """Selection of those that are copied or mutated: roulette or tournament (the better of two)."""
    select_parents: str = "roulette"
    """The same for parents."""
    crossover: str | None = None
    """blend, uniform, one_point or mean; default: blend for reals, one_point for bits. legacy_sga:
    as the published program crosses bits, faults included, to see what they do."""
    mutation: str | None = None
    """gauss, offset or redraw for reals, flip for bits; default: gauss or flip."""
    mutation_rate: float = 0.01
    """Probability that a gene of those mutated changes."""
    mutation_size: float = 0.1
    """How much, as a share of its range."""


@dataclass(frozen=True)
class Play(GameOptions):
    """The games of a generation."""

    matches: int = 100
    """Matches of each player in a generation, a game each; with --fitness tournament, how many of
    these are held."""
    fitness: str = "finish_order"
    """num_wins, finish_order, num_properties, num_monopolies, num_monopolies_of_8 (the thesis's
    percent), net_worth (the paper's), net_worth_share (the thesis's), tournament."""
    scale: str = "raw"
    """raw: points as they are (the paper); percent: of the largest possible (the thesis)."""


@dataclass(frozen=True)
class Generational(Reproduction, Play, PopulationOptions):
    """Evolve a population of players who play each other, generation by generation.

    Every match splits the population at random into tables. The points of all matches are the
    fitness, which is relative: it says how a player does among these. So the champion and the mean
    genome also meet fixed opponents. The folder of a run holds config.json, curves (TensorBoard,
    and curves.csv), checkpoints, the champion (agent.safetensors), the mean genome
    (mean.safetensors), both for `agents.load`, and population.npz. A run that was stopped goes on
    with --resume and the same settings.
    """

    generations: int = 1000

    def check_algorithm(self, kind: GenomeKind) -> None:
        """Check the fitness, that the population splits into tables, and the reproduction."""
        check_name("fitness", self.fitness, MEASURES)
        check_name("scale", self.scale, SCALES)
        check_split(self.population, self.num_players, self.fitness)
        check_reproduction(self, kind)

    def search(self, place: Place = HERE) -> Generations:
        """The population before its first generation."""
        return Generations(self, place)


def check_reproduction(options: Reproduction, kind: GenomeKind) -> None:
    """Raise ConfigurationError if a name or share is wrong, or operators do not suit the genes."""
    check_name("select", options.select, SELECTIONS)
    check_name("select_parents", options.select_parents, SELECTIONS)
    for name, table in (("crossover", CROSSOVERS), ("mutation", MUTATIONS)):
        given = getattr(options, name)
        if given is not None:
            check_name(name, given, table)
            if given not in (suit := suiting(table, kind.bits)):
                raise ConfigurationError(
                    f"--{name} {given} does not suit {kind.name!r}, whose genes are"
                    f" {'bits' if kind.bits else 'reals'}: use {', '.join(suit)}."
                )
    if options.elite + options.copied + options.mutated > 1 + 1e-9:
        given = f"{options.elite:g} + {options.copied:g} + {options.mutated:g}"
        raise ConfigurationError(
            f"--elite, --copied and --mutated are shares of one population: {given} is more than 1."
        )


def check_split(population: int, players: int, fitness: str) -> None:
    """Raise ConfigurationError if a population does not split into tables; say which would."""
    if fitness != "tournament":
        if population % players:
            below = population // players * players
            near = f"{below:,} or {below + players:,}" if below else f"{players:,}"
            raise ConfigurationError(
                f"A population of {population:,} does not split into tables of {players}: use"
                f" {near}."
            )
        return
    if players % 2:
        raise ConfigurationError(
            "In a tournament half of each table goes on: --num-players must be even, not"
            f" {players}."
        )
    if population % players or (population // players) & (population // players - 1):
        below = players << max(0, (population // players).bit_length() - 1)
        raise ConfigurationError(
            f"A population of {population:,} is no single elimination at tables of {players}, where"
            f" half of each table goes on: use {below:,} or {2 * below:,}."
        )


# --- a generation at play


def games_of(population: int, play: Play) -> int:
    """Games of a generation."""
    tables = population // play.num_players
    return play.matches * (2 * tables - 1 if play.fitness == "tournament" else tables)


def deal(population: int, matches: int, players: int, generator: np.random.Generator) -> Seats:
    """(matches * N / players, players) tables: the population split at random for each match."""
    players_of_match = np.tile(np.arange(population, dtype=np.int16), (matches, 1))
    return generator.permuted(players_of_match, axis=1).reshape(-1, players)


def evaluate(
    kind: GenomeKind,
    population: NDArray[Any],
    play: Play,
    seed: int,
    generator: np.random.Generator,
    done: Done = lambda games: None,
    *,
    runner_type: type[Runner] = Runner,
) -> Evaluated:
    """Play a generation, whose games have the seed; `generator` deals the population out.

    Raises:
        ConfigurationError: A population that does not split into tables, an unknown fitness.
    """
    check_split(len(population), play.num_players, play.fitness)
    runner, points = runner_of(kind, population, play, runner_type), MEASURES[play.fitness].points
    if points is None:
        scores, batches = _eliminate(runner, len(population), play, seed, generator, done)
    else:
        seats = deal(len(population), play.matches, play.num_players, generator)
        batch = play_seats(runner, seats, seed, done=done)
        scores, batches = summed(points(batch), seats, len(population)), [batch]
    return Evaluated.of(scaled(scores, play.fitness, play.scale, play.matches), batches)


def _eliminate(
    runner: Runner,
    population: int,
    play: Play,
    seed: int,
    generator: np.random.Generator,
    done: Done,
) -> tuple[NDArray[np.float64], list[GameBatch]]:
    """Single eliminations at once; points are rounds survived, ties go to the earlier seat."""
    seats = deal(population, play.matches, play.num_players, generator)
    scores, batches, played = np.zeros(population), list[GameBatch](), 0
    while True:
        batches.append(play_seats(runner, seats, seed, played, done))
        played += len(seats)
        order = np.argsort(batches[-1].place, axis=1, kind="stable")[:, : play.num_players // 2]
        through = np.take_along_axis(seats, order, axis=1).reshape(play.matches, -1)
        scores += np.bincount(through.ravel(), minlength=population)
        if through.shape[1] < play.num_players:
            return scores, batches
        seats = generator.permuted(through, axis=1).reshape(-1, play.num_players)


# --- the next generation


def numbers(population: int, options: Reproduction) -> tuple[int, int, int, int]:
    """How many are kept (at least one of a share above 0), copied, mutated and born."""
    kept = max(round(options.elite * population), 1 if options.elite > 0 else 0)
    copied = min(round(options.copied * population), population - kept)
    mutated = min(round(options.mutated * population), population - kept - copied)
    return kept, copied, mutated, population - kept - copied - mutated


def breed(
    kind: GenomeKind,
    population: NDArray[Any],
    fitness: Fitness,
    options: Reproduction,
    generator: np.random.Generator,
) -> NDArray[Any]:
    """(N, G) the next generation: the kept first, then the copied, the mutated, the children."""
    kept, copied, mutated, born = numbers(len(population), options)
    select, select_parents = SELECTIONS[options.select], SELECTIONS[options.select_parents]
    crossover = CROSSOVERS[options.crossover or ("one_point" if kind.bits else "blend")]
    mutation = MUTATIONS[options.mutation or ("flip" if kind.bits else "gauss")]
    following = np.empty_like(population)
    alike = np.concatenate([elite(fitness, kept), select(fitness, copied, generator)])
    population.take(alike, axis=0, out=following[: kept + copied], mode="clip")
    chosen = population[select(fitness, mutated, generator)]
    changed = mutation(chosen, options.mutation_rate, options.mutation_size, generator)
    following[kept + copied : kept + copied + mutated] = changed
    matings = -(-born // 2)
    parents = population[select_parents(fitness, 2 * matings, generator)]
    first, second = crossover(parents[:matings], parents[matings:], kind.parts, generator)
    following[len(population) - born : len(population) - born + matings] = first
    following[len(population) - born + matings :] = second[: born - matings]
    return following


class Generations(Population):
    """A population under way."""

    options: Generational

    @property
    def generation_games(self) -> int:
        """Games of a generation."""
        return games_of(len(self.population), self.options)

    def advance(self) -> None:
        """Make the next generation, and play it."""
        kind, options, population = self.kind, self.options, self.population
        if self.step:
            generator = self.generator(Purpose.BREED)
            population = breed(kind, population, self.fitness, options, generator)
        seed, generator = self.game_seed(Purpose.SEARCH), self.generator(Purpose.DEAL)
        runner = self.place.runner
        evaluated = evaluate(
            kind, population, options, seed, generator, self.played, runner_type=runner
        )
        self.population, self.fitness = population, evaluated.fitness
        self.note(evaluated)

    def representatives(self) -> dict[str, NDArray[Any]]:
        """The fittest of the last generation, and the mean genome."""
        return {"champion": self.population[int(np.argmax(self.fitness))], "mean": self.mean}


MUKHAR2012: Final = Generational()
MUKHAR2013: Final = Generational(
    scripted=("of_buildings=0.1", "thesis=1"),
    rules="mukhar_thesis",
    population=1024,
    scale="percent",
    select="tournament",
)
FRAYN: Final = Generational(
    rules="frayn",
    elite=0.003,
    select="tournament",
    select_parents="tournament",
    crossover="uniform",
)
