"""The settings of `python -m training.evolve`."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from monopoly_env.errors import ConfigurationError, nearest
from training.evolution.evaluation import FITNESSES, Setting, held_out, split
from training.evolution.genomes import Genome, genome, start_of
from training.evolution.optimizers import CMAES, SEPARABLE_FROM, Optimizer
from training.run.options import FREE, check_ranges, digest, result_settings


@dataclass(frozen=True)
class Options:
    """Evolve the numbers of a scripted player by playing, and measure what came out.

    All candidates of a generation play the same seeds in all seats, the next generation has others. What is kept is the middle of
    the population, not its luckiest member, and only where fresh games show it to be better than the best before. The folder of a
    run holds config.json, curves (TensorBoard, and curves.csv), checkpoints, the best player (`agents.load` plays it) and its win
    rates. A run that was stopped goes on with --resume and the same settings.
    """

    genome: str = "expert"
    """Whose numbers evolve: expert, strategic, learned (those of a learned policy's parent, at tables of the fitness's size), or the
    genes of rga, tga or pring (agents.genetic)."""
    fitness: str = "four"
    """Tables that are to be won: four, three and two (official rules, by seats), ocnaru (two, rules of that thesis), mukhar, pring
    (four, rules of these papers)."""
    start: str | None = None
    """Player of that genome to begin with: a name or a saved policy; by default the one of its name (learned: expert, over which
    a learned policy is put; rga, tga, pring: all genes a half). A gene nearer than .01 to 0 or 1 begins so far from it."""
    fixed: tuple[str, ...] = ()
    """Parameters that stay as they are."""
    generations: int = 100
    """Length of the run; may be raised on --resume."""
    population: int = 20
    """Candidates of a generation."""
    games: int = 240
    """Games of each candidate in a generation, over all tables of the fitness."""
    sigma: float = 0.5
    """Spread of the first generation; 1 is a third of a parameter's value, or a tenth of its range where it may be negative; of a gene,
    1 of its logit: from a half to .73."""
    diagonal: bool | None = None
    """Learn the scale of each parameter only, not how they go together; by default where more than 30 evolve."""
    measure_every: int = 10
    """Generations between two comparisons of the middle of the population with the best so far."""
    measure_games: int = 2400
    """Games of each of the two in such a comparison."""
    curve_games: int = 1200
    """Games of the best so far at each table of the end, at each of these measurements, for the curves; 0: none."""
    final_games: int = 2400
    """Games of the best player, and of the start, at each table at the end; opponents that evolution never saw included."""

    out: Path = Path("runs/evolve")
    """Folder of the run."""
    seed: int = 0
    """Decides everything: dice, cards, candidates. The same seed gives the same player."""
    resume: bool = False
    """Go on from the last checkpoint of the run in --out. All settings that shape the result must be the same."""
    overwrite: bool = False
    """Remove the run that is in --out and begin anew."""
    threads: int | None = None
    """Cores to play on; default: all. The results are the same."""
    cluster: str | None = None
    """Play on a Ray cluster: local (one is started here), auto (the one that runs here), host:port or ray://host:port. The results
    are the same."""
    json: bool = False
    """Print one JSON object at the end instead of the tables."""


# What numbers may be: from, to; both are allowed.
_RANGES: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("generations", "measure_every", "games", "measure_games", "final_games"), (1, math.inf)),
    "curve_games": (0, math.inf),
    "population": (4, 10_000),
    "sigma": (1e-6, 10),
    "seed": (0, (1 << 32) - 1),
    "threads": (1, 1024),
}
_TOLD: Final = 60  # numbers that config.json tells one by one; of more it holds a digest
# They change how long a run goes on, how fast, and what is told about it, but not which player it comes to.
_OPEN: Final = (*FREE, "threads", "cluster", "generations", "final_games", "curve_games")


def check(options: Options) -> None:
    """Check all that can be checked without playing.

    Raises:
        MonopolyError: A number out of range, an unknown name, a start of another family, games that do not split evenly.
    """
    check_ranges(options, _RANGES)
    if options.fitness not in FITNESSES:
        raise ConfigurationError(f"Unknown fitness {options.fitness!r}. {nearest(options.fitness, FITNESSES)}")
    genome_of(options)
    parts: list[tuple[str, tuple[Setting, ...]]] = [(name, FITNESSES[options.fitness]) for name in ("games", "measure_games")]
    for name in ("final_games", "curve_games") if options.curve_games else ("final_games",):
        parts += [(name, (setting,)) for setting in final_settings(options)]
    for name, settings in parts:
        try:
            split(settings, getattr(options, name))
        except ConfigurationError as error:
            raise ConfigurationError(f"--{name.replace('_', '-')}: {error}") from error


def genome_of(options: Options) -> Genome:
    """The genome that evolves."""
    players = 1 + len(FITNESSES[options.fitness][0].opponents)
    return genome(options.genome, players, options.start, options.fixed)


def optimizer_of(options: Options, genome: Genome) -> Optimizer:
    """The optimizer, before the first generation."""
    diagonal = genome.size >= SEPARABLE_FROM if options.diagonal is None else options.diagonal
    return CMAES(genome.size, options.population, options.sigma, options.seed, diagonal)


def final_settings(options: Options) -> tuple[Setting, ...]:
    """What is played at the end: against the start, at the tables of the fitness, and against players that are strangers to it."""
    own = tuple(dataclasses.replace(setting, weight=1.0) for setting in FITNESSES[options.fitness])
    start = options.start or start_of(options.genome)
    against = dataclasses.replace(own[0], opponents=(start,) * len(own[0].opponents))
    return (against, *(setting for setting in own if setting != against), *held_out(own))


def settings(options: Options, genome: Genome) -> dict[str, Any]:
    """The settings that shape the result, as JSON has them: a resumed run must have the same."""
    tables = [[str(table), table.weight, table.rules, table.turn_limit] for table in FITNESSES[options.fitness]]
    begins: Any = {row["name"]: row["before"] for row in genome.explain(genome.origin)}
    if len(begins) > _TOLD:  # rounded: the last digits of a logarithm differ between libraries
        begins = digest(np.round(list(begins.values()), 9))
    return result_settings(options, _OPEN, tables=tables, begins_with=begins)
