"""The settings of the genetic algorithms of `python -m training.evolve`, and the published ones as presets."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.arena.table import MAX_POLICIES
from agents.players.genetic import GenomeKind, kind_of
from monopoly_env.errors import ConfigurationError, FormatError, nearest
from monopoly_env.policy.resolve import PolicyLike, resolve_all
from monopoly_env.rules import PRESETS as RULES
from training.evolution.evaluation import Setting
from training.evolution.genetic.breeding import Recipe, check_recipe
from training.evolution.genetic.generation import Play, check_split
from training.evolution.genetic.scores import MEASURES, SCALES
from training.evolution.genetic.steady import Scheme, check_scheme
from training.run import checkpoints
from training.run.options import FREE, check_ranges, digest, shaping

PANEL: Final = ("algorithmic", "gcp", "yasumura", "landlord/balanced")
POPULATION: Final = "population.npz"  # what a run ends with: `population`, `fitness`, `kind`


@dataclass(frozen=True)
class Common:
    """What the genetic algorithms share."""

    genome: str = "rga"
    """Kind of the genomes: rga, tga, sga, pring (agents.genetic), strategic or expert (all numbers of these families)."""
    population: int = 1000
    """Players."""
    players: int = 4
    """Seats of a table."""
    scripted: tuple[str, ...] = ()
    """What the players of rga, tga and sga do that is no gene, where it differs: of_buildings=0.1; 1 turns a switch on: thesis=1."""
    rules: str = "mukhar"
    """Preset of rules."""
    turn_limit: int = 500
    """Turns of each player after which the score decides a game, where the rules do not end it before."""
    start: str | None = None
    """A population.npz that a run of the same genome ended with, to begin from; default: random genomes."""
    panel: tuple[str, ...] = PANEL
    """Players that the champion and the mean genome are measured against, each in all other seats: an absolute fitness."""
    panel_every: int = 10
    """Generations (waves) between two measurements; 0: only at the end."""
    panel_games: int = 240
    """Games of each of the two against each of the panel."""
    final_games: int = 2400
    """The same at the end."""
    hall: int = 3
    """Champions of earlier measurements that are met, too, spread over the run: a hall of fame."""
    keep_every: int = 0
    """Generations (waves) between two populations that are kept for good, the first among them; 0: only the last is kept."""

    out: Path = Path("runs/evolve")
    """Folder of the run."""
    seed: int = 0
    """Decides everything: genomes, tables, dice, cards. The same seed gives the same population, on any number of threads."""
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


@dataclass(frozen=True)
class Generational(Recipe, Common):
    """Evolve a population of players who play each other, generation by generation.

    Every match splits the population at random into tables. The points of all matches are the fitness, which is relative: it says how a
    player does among these. So the champion and the mean genome also meet a fixed panel. The folder of a run holds
    config.json, curves (TensorBoard, and curves.csv), checkpoints, the champion (agent.safetensors), the mean genome
    (mean.safetensors), both for `agents.load`, and population.npz. A run that was stopped goes on with --resume and the same settings.
    """

    generations: int = 1000
    """Length of the run; may be raised on --resume."""
    matches: int = 100
    """Games of each player in a generation; with --fitness tournament, how many of these are held."""
    fitness: str = "finish_order"
    """num_wins, finish_order, num_properties, num_monopolies, net_worth (the paper's), net_worth_share (the thesis's), tournament."""
    scale: str = "raw"
    """raw: points as they are (the paper); percent: of the largest possible (the thesis)."""

    @property
    def play(self) -> Play:
        """What a generation plays."""
        return Play(self.fitness, self.scale, self.matches, self.players, self.rules, self.turn_limit, self.threads)


@dataclass(frozen=True)
class Steady(Scheme, Common):
    """Evolve a population whose players make way, table by table, for children of the winners (Pring 2015).

    Matings that go on at the same time are a wave. The mean genome is what the population has come to, and the agent of the run. The
    folder of a run holds config.json, curves (TensorBoard, and curves.csv), checkpoints, agent.safetensors and mean.safetensors
    for `agents.load`, and population.npz. A run that was stopped goes on with --resume and the same settings.
    """

    genome: str = "pring"
    population: int = 10_000
    rules: str = "pring"
    panel_every: int = 50
    waves: int = 629
    """Length of the run; may be raised on --resume. 629 waves of 636 games are 400,044 games."""

    @property
    def play(self) -> Play:
        """What is played."""
        return Play("num_wins", "raw", 1, self.players, self.rules, self.turn_limit, self.threads)


MUKHAR2012: Final = Generational()
MUKHAR2013: Final = Generational(
    scripted=("of_buildings=0.1", "thesis=1"), rules="mukhar_thesis", population=1024, scale="percent", select="tournament"
)
PRING: Final = Steady()
PRESETS: Final[dict[str, Generational | Steady]] = {
    "mukhar2012": MUKHAR2012,
    "mukhar2013": MUKHAR2013,
    "frayn": Generational(rules="frayn", elite=0.003, select="tournament", select_parents="tournament", crossover="uniform"),
    "pring": PRING,
}

# What numbers may be: from, to; both are allowed.
_RANGES: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("generations", "waves", "panel_games", "final_games"), (1, math.inf)),
    **dict.fromkeys(("matches", "matings", "parents", "turn_limit"), (1, 100_000)),
    **dict.fromkeys(("elite", "copied", "mutated", "mutation_rate", "mutation_size"), (0, 1)),
    **dict.fromkeys(("panel_every", "keep_every"), (0, math.inf)),
    "levels": (0, 1_000_000),
    "hall": (0, 1000),
    "population": (2, MAX_POLICIES),
    "players": (2, 8),
    "seed": (0, (1 << 32) - 1),
    "threads": (1, 1024),
}
# They change how long a run goes on, how fast, and what is told about it, but not which population it comes to.
_OPEN: Final = (
    *FREE, "start", "threads", "cluster", "generations", "waves", "final_games", "panel", "panel_every", "panel_games", "hall",
    "keep_every",
)  # fmt: skip


def check(options: Generational | Steady) -> GenomeKind:
    """Check all that can be checked without playing; returns what the genomes are.

    Raises:
        MonopolyError: A number out of range, an unknown name, operators that do not suit the genes, a population that does not split.
    """
    named = {field.name for field in dataclasses.fields(options)}
    check_ranges(options, {name: ends for name, ends in _RANGES.items() if name in named})
    if options.rules not in RULES:
        raise ConfigurationError(f"Unknown --rules {options.rules!r}. {nearest(options.rules, RULES)}")
    resolve_all(list(options.panel))
    kind = kind_of(options.genome)
    if options.scripted and kind.scripted is None:
        raise ConfigurationError(f"All of genome {kind.name!r} are genes, nothing is scripted: give --scripted without any number.")
    kind = kind.playing(**_numbers(options.scripted))
    if isinstance(options, Steady):
        check_scheme(options, kind, options.population, options.players)
    else:
        for name, given, table in (("fitness", options.fitness, MEASURES), ("scale", options.scale, SCALES)):
            if given not in table:
                raise ConfigurationError(f"Unknown --{name} {given!r}. {nearest(given, table)}")
        check_split(options.population, options.players, options.fitness)
        check_recipe(options, kind)
    for name in ("panel_games", "final_games"):
        games = getattr(options, name)
        if games % options.players:  # from each seat equally often
            more = (games // options.players + 1) * options.players
            raise ConfigurationError(f"--{name.replace('_', '-')} must be a multiple of {options.players}, such as {more}.")
    return kind


def _numbers(scripted: Sequence[str]) -> dict[str, float]:
    """Numbers by name, of words such as `thesis=1`."""
    numbers = {}
    for word in scripted:
        name, _, value = word.partition("=")
        try:
            numbers[name] = float(value)
        except ValueError:
            raise ConfigurationError(f"--scripted {word!r} must be a name and a number, such as of_buildings=0.1.") from None
    return numbers


def table_against(options: Generational | Steady, opponent: PolicyLike) -> Setting:
    """A table with one opponent in all other seats."""
    return Setting((opponent,) * (options.players - 1), 1.0, options.rules, options.turn_limit)


def beginning(options: Generational | Steady, kind: GenomeKind, generator: np.random.Generator) -> NDArray[Any]:
    """(N, G) the population that evolution begins with.

    Raises:
        MonopolyError: A file that is damaged, or of another kind, length or size, or with genes out of their range.
    """
    if options.start is None:
        return kind.random(options.population, generator)
    path = Path(options.start)
    if not path.is_file():
        raise ConfigurationError(f"--start {options.start!r} is no file: give the {POPULATION} of a run.")
    if path.resolve().is_relative_to(options.out.resolve()):
        raise ConfigurationError(f"--start {options.start!r} lies in --out, where this run writes: choose another --out.")
    arrays = checkpoints.read_arrays(path)
    if not {"population", "kind"} <= set(arrays):
        raise FormatError(f"{options.start!r} is no population: it holds {', '.join(arrays) or 'nothing'}, not population and kind.")
    if str(arrays["kind"]) != kind.name:
        raise ConfigurationError(f"{options.start!r} holds genomes of {str(arrays['kind'])!r}, not of {kind.name!r}.")
    population = arrays["population"]
    population = kind.checked(population).astype(np.uint8 if kind.bits else np.float64)
    if len(population) != options.population:
        raise ConfigurationError(f"{options.start!r} holds {len(population):,} genomes: use --population {len(population)}.")
    return population


def settings(options: Generational | Steady, kind: GenomeKind, population: NDArray[Any]) -> dict[str, Any]:
    """The settings that shape the result, as JSON has them: a resumed run must have the same."""
    return shaping(options, _OPEN, genome=kind.name, genes=kind.size, begins_with=digest(population))
