"""A generation at play: a population is dealt out to tables by lot, and all games are one call of the compiled loop.

Who sits where and every game's seed follow from the generator and the seed alone, so the result is the same on any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena.batch import GameBatch
from agents.arena.table import Table
from agents.players.genetic import GenomeKind
from monopoly_env.errors import ConfigurationError
from monopoly_env.rules import Rules
from training.evolution.genetic.scores import MEASURES, scaled, summed

Seats = NDArray[np.int16]  # (G, P), the row of the population that sits in each seat


@dataclass(frozen=True)
class Play:
    """What a population plays.

    Attributes:
        fitness: A key of `scores.MEASURES`.
        scale: A key of `scores.SCALES`.
        matches: Games of each player a generation; of the tournament, how many are held.
        players: Seats of a table.
        rules: A preset of rules.
        turn_limit: Turns of each player after which the score decides a game.
        threads: Cores to play on, all by default.
        table_type: Where games are played: on this machine, or `cluster.ClusterTable`.
    """

    fitness: str = "finish_order"
    scale: str = "raw"
    matches: int = 100
    players: int = 4
    rules: str = "mukhar"
    turn_limit: int = 500
    threads: int | None = None
    table_type: type[Table] = Table


@dataclass(frozen=True)
class Outcome:
    """What came of a generation.

    Attributes:
        fitness: (N,) float64.
        games: Games that were played.
        turns: Single turns of the mean game.
        capped: Share of the games that a limit of turns has ended.
    """

    fitness: NDArray[np.float64]
    games: int
    turns: float
    capped: float


def check_split(population: int, players: int, fitness: str) -> None:
    """Check that a population splits into tables.

    Raises:
        ConfigurationError: It does not; the message says which numbers near by do.
    """
    if fitness != "tournament":
        if population % players:
            below = population // players * players
            near = f"{below:,} or {below + players:,}" if below else f"{players:,}"
            raise ConfigurationError(f"A population of {population:,} does not split into tables of {players}: use {near}.")
        return
    if players % 2:
        raise ConfigurationError(f"In a tournament half of each table goes on: --players must be even, not {players}.")
    if population % players or (population // players) & (population // players - 1):
        below = players << max(0, (population // players).bit_length() - 1)
        raise ConfigurationError(
            f"A population of {population:,} is no single elimination at tables of {players}, where half of each table goes on: "
            f"use {below:,} or {2 * below:,}."
        )


def games_of(population: int, play: Play) -> int:
    """Games of a generation."""
    tables = population // play.players
    return play.matches * (2 * tables - 1 if play.fitness == "tournament" else tables)


def deal(population: int, matches: int, players: int, generator: np.random.Generator) -> Seats:
    """Split a population at random into tables, once for each match.

    Args:
        population: N, a multiple of `players`.
        matches: Splits.
        players: Seats of a table.
        generator: Of the splits.

    Returns:
        (matches * N / players, players).
    """
    everybody = np.tile(np.arange(population, dtype=np.int16), (matches, 1))
    return generator.permuted(everybody, axis=1).reshape(-1, players)


def play_seats(table: Table, seats: Seats, seed: int, first: int = 0, done: Callable[[int], None] = lambda games: None) -> GameBatch:
    """Play games, and fill in a line.

    Args:
        table: Whose rows the seats number.
        seats: (G, P).
        seed: 0 to 2**32 - 1; game g has the seed `(seed << 32) + first + g`.
        first: Games of this seed that were played before.
        done: Called with the number of games that have just ended.
    """
    numbers = np.arange(first, first + len(seats), dtype=np.uint64)
    line = GameBatch((np.uint64(seed) << np.uint64(32)) + numbers, seats)
    table.play(line, done)
    return line


def table_of(kind: GenomeKind, population: NDArray[Any], play: Play) -> Table:
    """A population ready to play: player n has row n."""
    player = kind.policy(population[0])
    return play.table_type.of_population(player, kind.rows(population), Rules.preset(play.rules), play.turn_limit, play.threads)


def evaluate(
    kind: GenomeKind,
    population: NDArray[Any],
    play: Play,
    seed: int,
    generator: np.random.Generator,
    done: Callable[[int], None] = lambda games: None,
) -> Outcome:
    """Play a generation.

    Args:
        kind: What the genomes are.
        population: (N, G).
        play: What is played.
        seed: Of the games, 0 to 2**32 - 1.
        generator: Deals the population out.
        done: Called with the number of games that have just ended.

    Raises:
        ConfigurationError: A population that does not split into tables, an unknown fitness.
    """
    check_split(len(population), play.players, play.fitness)
    table, points = table_of(kind, population, play), MEASURES[play.fitness].points
    if points is None:
        scores, lines = _eliminate(table, len(population), play, seed, generator, done)
    else:
        seats = deal(len(population), play.matches, play.players, generator)
        line = play_seats(table, seats, seed, done=done)
        scores, lines = summed(points(line), seats, len(population)), [line]
    turns, capped = (np.concatenate(parts) for parts in zip(*((line.game_counts["turns"], line.capped) for line in lines), strict=True))
    fitness = scaled(scores, play.fitness, play.scale, play.matches)
    return Outcome(fitness, len(turns), float(turns.mean()), float(capped.mean()))


def _eliminate(
    table: Table, population: int, play: Play, seed: int, generator: np.random.Generator, done: Callable[[int], None]
) -> tuple[NDArray[np.float64], list[GameBatch]]:
    """Single eliminations, all at once: the better half of each table goes on, a player's points are the rounds that he got through.

    Those of the last table who got through share the last level. Who ties goes on by his seat, which was drawn.
    """
    seats = deal(population, play.matches, play.players, generator)
    scores, lines, played = np.zeros(population), list[GameBatch](), 0
    while True:
        lines.append(play_seats(table, seats, seed, played, done))
        played += len(seats)
        order = np.argsort(lines[-1].place, axis=1, kind="stable")[:, : play.players // 2]
        through = np.take_along_axis(seats, order, axis=1).reshape(play.matches, -1)
        scores += np.bincount(through.ravel(), minlength=population)
        if through.shape[1] < play.players:
            return scores, lines
        seats = generator.permuted(through, axis=1).reshape(-1, play.players)
