"""Populations whose members play each other: the base of `generations` and `steady`.

Points among one's own kind say nothing of strength. So representative players, and champions of
earlier measurements (the hall of fame), also meet fixed evaluation opponents.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from agents.arena.evaluation import Seating
from agents.arena.evaluation import against as play_against
from agents.arena.games import GameBatch
from agents.arena.runner import MAX_POLICIES, Runner
from agents.players.genetic import GeneticPolicy, GenomeKind, kind_of
from agents.players.genetic.kinds import PREFIX
from monopoly_env.errors import ConfigurationError, FormatError, nearest
from monopoly_env.files.arrays import read_arrays, write_arrays
from monopoly_env.policy.names import PolicyLike, load, resolve_all
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import PRESETS, Rules
from training.cluster import HERE, Place
from training.evolution.run import MOST_CURVES, EvolutionOptions, Search, result_table
from training.run.folder import Run
from training.run.options import RulesName, check_ranges, digest, result_settings

AGAINST: Final = ("algorithmic", "gcp", "yasumura", "landlord/balanced")
POPULATION: Final = "population.npz"
MEAN: Final = "mean.safetensors"

Seats = NDArray[np.int16]  # (G, P), the row of the population that sits in each seat


class Purpose(IntEnum):
    """Purposes of random numbers: those of one never meet those of another."""

    BEGIN = 0
    DEAL = 1
    BREED = 2
    SEARCH = 3
    EVALUATE = 4


# --- settings


@dataclass(frozen=True)
class GameOptions:
    """The games of a population."""

    num_players: int = 4
    """Seats of a table."""
    rules: RulesName = "mukhar"
    turn_limit: int = 500
    """Turns of each player after which the score decides a game, where the rules do not end it
    before."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""


@dataclass(frozen=True)
class PopulationOptions(GameOptions, EvolutionOptions):
    """Options of both genetic algorithms."""

    free: ClassVar[tuple[str, ...]] = (
        *EvolutionOptions.free, "start_population", "final_games", "against", "evaluate_every",
        "evaluation_games", "hall", "keep_every",
    )  # fmt: skip

    genome: str = "rga"
    """Kind of the genomes: rga, tga, sga, pring, pring_by_use (agents.genetic), strategic or expert
    (all numbers of these families)."""
    population: int = 1000
    """Players."""
    scripted: tuple[str, ...] = ()
    """Overrides of parameters of rga, tga and sga that do not evolve: of_buildings=0.1; 1 turns a
    switch on: thesis=1."""
    start_population: str | None = None
    """A population.npz that a run of the same genome ended with, to begin from; default: random
    genomes."""
    against: tuple[str, ...] = AGAINST
    """Evaluation opponents: the policies that the champion and the mean genome are measured
    against, each in all other seats: an absolute fitness."""
    evaluate_every: int = 10
    """Generations between two evaluations; 0: only at the end."""
    evaluation_games: int = 240
    """Games of each of the two against each of them at each measurement."""
    final_games: int = 2400
    """The same games at the end."""
    hall: int = 3
    """Champions of earlier measurements that are met, too, spread over the run: a hall of fame."""
    keep_every: int = 0
    """Generations between two populations that are saved for good, the first among them; 0: only
    the last is saved."""

    @property
    def kind(self) -> GenomeKind:
        """The kind of the genomes.

        Raises:
            ConfigurationError: An unknown kind, or wrong scripted numbers.
        """
        kind = kind_of(self.genome)
        if self.scripted and kind.scripted is None:
            raise ConfigurationError(
                f"All of genome {kind.name!r} are genes, nothing is scripted: give --scripted"
                " without any number."
            )
        return kind.playing(**_numbers(self.scripted))

    def check(self) -> None:
        """Check all that can be checked without playing; raises MonopolyError."""
        check_ranges(self, {name: ends for name, ends in _RANGES.items() if hasattr(self, name)})
        check_name("rules", self.rules, PRESETS)
        resolve_all(list(self.against))
        self.check_algorithm(self.kind)
        for name in ("evaluation_games", "final_games"):
            games = getattr(self, name)
            if games % self.num_players:  # from each seat equally often
                more = (games // self.num_players + 1) * self.num_players
                raise ConfigurationError(
                    f"--{name.replace('_', '-')} must be a multiple of {self.num_players}, such as"
                    f" {more}."
                )

    @abstractmethod
    def check_algorithm(self, kind: GenomeKind) -> None:
        """Check the options of the algorithm itself."""


# What numbers may be: from, to; both are allowed.
_RANGES: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("generations", "evaluation_games", "final_games"), (1, math.inf)),
    **dict.fromkeys(("matches", "matings", "winners", "turn_limit"), (1, 100_000)),
    **dict.fromkeys(("elite", "copied", "mutated", "mutation_rate", "mutation_size"), (0, 1)),
    **dict.fromkeys(("evaluate_every", "keep_every"), (0, math.inf)),
    "levels": (0, 1_000_000),
    "hall": (0, 1000),
    "population": (2, MAX_POLICIES),
    "num_players": (2, 8),
    "seed": (0, (1 << 32) - 1),
    "threads": (1, 1024),
}


def check_name(option: str, given: str, known: Iterable[str], of: str = "") -> None:
    """Raise ConfigurationError if an option's name is not known; `of` says of what."""
    if given not in known:
        raise ConfigurationError(
            f"Unknown --{option.replace('_', '-')} {given!r}{of}. {nearest(given, known)}"
        )


def _numbers(scripted: Sequence[str]) -> dict[str, float]:
    """Numbers by name, of words such as `thesis=1`."""
    numbers = {}
    for word in scripted:
        name, _, value = word.partition("=")
        try:
            numbers[name] = float(value)
        except ValueError:
            raise ConfigurationError(
                f"--scripted {word!r} must be a name and a number, such as of_buildings=0.1."
            ) from None
    return numbers


def initial_population(
    options: PopulationOptions, kind: GenomeKind, generator: np.random.Generator
) -> NDArray[Any]:
    """(N, G) the population that evolution begins with.

    Raises:
        MonopolyError: A file that is damaged, or of another kind, length or size, or with genes out
            of their range.
    """
    if options.start_population is None:
        return kind.random(options.population, generator)
    given, path = repr(options.start_population), Path(options.start_population)
    if not path.is_file():
        raise ConfigurationError(
            f"--start-population {given} is no file: give the {POPULATION} of a run."
        )
    if path.resolve().is_relative_to(options.out.resolve()):
        raise ConfigurationError(
            f"--start-population {given} lies in --out, where this run writes: choose another"
            " --out."
        )
    arrays = read_arrays(path)
    if not {"population", "kind"} <= set(arrays):
        raise FormatError(
            f"{given} is no population: it holds {', '.join(arrays) or 'nothing'}, not population"
            " and kind."
        )
    if str(arrays["kind"]) != kind.name:
        raise ConfigurationError(
            f"{given} holds genomes of {str(arrays['kind'])!r}, not of {kind.name!r}."
        )
    population = kind.checked(arrays["population"]).astype(np.uint8 if kind.bits else np.float64)
    if len(population) != options.population:
        raise ConfigurationError(
            f"{given} holds {len(population):,} genomes: use --population {len(population)}."
        )
    return population


# --- games


class Evaluated(NamedTuple):
    """A generation that was played: (N,) fitness, games, mean turns, share that a limit ended."""

    fitness: NDArray[np.float64]
    games: int
    turns: float
    capped: float

    @classmethod
    def of(cls, fitness: NDArray[np.float64], batches: Sequence[GameBatch]) -> Evaluated:
        """The evaluation of (N,) fitness by the games of these batches."""
        turns = np.concatenate([batch.game_counts["turns"] for batch in batches])
        capped = np.concatenate([batch.capped for batch in batches])
        return cls(fitness, len(turns), float(turns.mean()), float(capped.mean()))


def runner_of(
    kind: GenomeKind, population: NDArray[Any], games: GameOptions,
    runner_type: type[Runner] = Runner, by_table: bool = False,
) -> Runner:  # fmt: skip
    """A runner whose player n has row n of the population; `by_table`: it meets its neighbours."""
    rows = kind.at_tables(population, games.num_players) if by_table else kind.rows(population)
    player, rules = GeneticPolicy(kind, rows[0]), Rules.preset(games.rules)
    return runner_type.of_population(player, rows, rules, games.turn_limit, games.threads)


def play_seats(
    runner: Runner, seats: Seats, seed: int, first: int = 0,
    done: Callable[[int], None] = lambda games: None,
) -> GameBatch:  # fmt: skip
    """Play games of (G, P) rows; game g has the seed `(seed << 32) + first + g`.

    `done` is called with the number of games that have just ended.
    """
    numbers = np.arange(first, first + len(seats), dtype=np.uint64)
    batch = GameBatch((np.uint64(seed) << np.uint64(32)) + numbers, seats)
    runner.play(batch, done)
    return batch


# --- a population that evolves


def champion_file(run: Run, generation: int) -> Path:
    """The file of the champion of a generation."""
    return run.folder / "hall" / f"{generation:06d}.safetensors"


def population_file(run: Run, generation: int) -> Path:
    """The file of the population of a generation."""
    return run.folder / "populations" / f"{generation:06d}.npz"


class Population(Search):
    """A population that evolves.

    Attributes:
        kind: The kind of its genomes.
        population: (N, G).
        begins_with: (N, G), the initial population.
        fitness: (N,) of the last generation, NaN where it was not measured.
    """

    files: ClassVar[dict[str, str]] = Search.files | {
        "hall": "the champion of each measurement",
        "populations": "populations that were kept",
        POPULATION: "the last population: `population`, `fitness`, `kind`",
        MEAN: "the player of its mean genome",
    }
    options: PopulationOptions

    def __init__(self, options: PopulationOptions, place: Place = HERE) -> None:
        """Begin before the first generation."""
        super().__init__(options, place)
        self.kind = options.kind
        self.begins_with = self.population = initial_population(
            options, self.kind, self.generator(Purpose.BEGIN)
        )
        self.fitness = np.full(len(self.population), np.nan)

    def generator(self, purpose: int) -> np.random.Generator:
        """Random generator of one purpose in this generation."""
        seed = np.random.SeedSequence((self.options.seed, purpose, self.step))
        return np.random.Generator(np.random.PCG64(seed))

    @property
    @abstractmethod
    def generation_games(self) -> int:
        """Games of a generation."""

    @abstractmethod
    def representatives(self) -> dict[str, NDArray[Any]]:
        """(G,) representative genomes by name; the first is the agent of the run."""

    def settings(self) -> dict[str, Any]:
        """The settings that shape the result: a resumed run must have the same."""
        kind, free, begins = self.kind, self.options.free, digest(self.begins_with)
        return result_settings(
            self.options, free, genome=kind.name, genes=kind.size, begins_with=begins
        )

    def about(self, length: int) -> str:
        """A run of so many generations, in a few words."""
        players = f"{len(self.population):,} players of {self.kind.size:,} genes"
        return f"{length:,} generations of {self.generation_games:,} games, {players}"

    @property
    def mean(self) -> NDArray[Any]:
        """(G,) the mean genome; of bits, what most have."""
        middle = self.population.mean(axis=0)
        return np.asarray(
            (middle >= 0.5).astype(self.population.dtype) if self.kind.bits else middle
        )

    def numbers(self) -> tuple[tuple[str, ...], NDArray[np.float64]]:
        """(M,) names and (N, M) numbers of the first genes; bits are decoded."""
        bits = self.kind.bits
        names = self.kind.number_names if bits else self.kind.names
        values = self.kind.decode(self.population) if bits else self.population
        return names[:MOST_CURVES], values

    def note(self, evaluated: Evaluated, **more: float) -> None:
        """Count the generation that was played, and add a point to every curve."""
        self.step += 1
        names, values = self.numbers()
        means = values.mean(axis=0)
        genes = {
            "genes/mean": float(means.mean()),
            "genes/spread": float(values[:, :MOST_CURVES].std(axis=0).mean()),
        }
        genes |= {f"gene/{name}": float(mean) for name, mean in zip(names, means, strict=False)}
        before = {
            "games": float(evaluated.games), "turns": evaluated.turns, "capped": evaluated.capped,
        }  # fmt: skip
        self.add_row(evaluated.fitness, before, genes | more)

    # --- measurements

    def measurements_in(self, generations: int) -> int:
        """Measurements of so many generations, without the one at the end."""
        every = self.options.evaluate_every
        return generations // every if self.options.against and every else 0

    def games(self, generations: int) -> int:
        """Games of so many generations and of the measurements in between."""
        options, met = self.options, self.measurements_in(generations)
        opponents = met * len(options.against) + sum(min(options.hall, n) for n in range(met))
        measured = opponents * len(self.representatives()) * options.evaluation_games
        return generations * self.generation_games + measured

    def final_games(self, length: int) -> int:
        """Games at the end of a run of so many generations."""
        opponents = len(self.options.against) + min(self.options.hall, self.measurements_in(length))
        return len(self.representatives()) * opponents * self.options.final_games

    def players(self) -> dict[str, CompiledPolicy]:
        """Representative players by name; the first is the agent of the run."""
        return {
            name: self.kind.policy(genome, f"{PREFIX}{self.kind.name}/{name}")
            for name, genome in self.representatives().items()
        }

    def hall_of_fame(self, run: Run) -> list[Policy]:
        """Champions of earlier measurements, spread over the run; the last one is among them."""
        earlier = [n for n in range(1, self.step) if champion_file(run, n).is_file()]
        count = min(self.options.hall, len(earlier))
        famous: list[Policy] = []
        for place in np.unique(np.linspace(len(earlier) - 1, 0, count).round().astype(int)):
            famous.append(load(champion_file(run, earlier[place])))
            famous[-1].name = f"champion of generation {earlier[place]:,}"
        return famous

    def evaluate(self, games: int, run: Run) -> list[dict[str, Any]]:
        """Win rates of the representative players against evaluation opponents and hall of fame.

        The games are fresh, with the same dice for all. Returns rows `generation, player,
        opponents, hall, games, rate, low, high`: `hall` tells champions of this run from
        evaluation opponents; the interval is 95%, from the variance between seeds.
        """
        options, players = self.options, self.players()
        rows: list[dict[str, Any]] = []
        opponents: list[PolicyLike] = [*options.against, *self.hall_of_fame(run)]
        for number, opponent in enumerate(opponents):
            others = (opponent,) * (options.num_players - 1)
            seating = Seating(others, options.rules, options.turn_limit)
            seed = self.game_seed(Purpose.EVALUATE, number)
            measured = play_against(
                list(players.values()), [seating], [games], seed, options.threads, self.played,
                runner_type=self.place.runner,
            )  # fmt: skip
            for name, wins in zip(players, measured, strict=True):
                low, high = wins.interval
                rows.append({
                    "generation": self.step, "player": name, "opponents": str(seating),
                    "hall": number >= len(options.against), "games": games, "rate": wins.rate,
                    "low": low, "high": high,
                })  # fmt: skip
        return rows

    def measure(self, run: Run) -> None:
        """Evaluate and save the population, where that is due."""
        if self.measurements_in(self.step) > self.measurements_in(self.step - 1):
            self.doing(f"measuring after generation {self.step:,}")
            rows = self.evaluate(self.options.evaluation_games, run)
            self.measurements.extend(rows)
            next(iter(self.players().values())).save(champion_file(run, self.step))
            rates = {name: overall(rows, name) for name in self.representatives()}
            points = {f"against/{name}": rate for name, (rate, _) in rates.items()}
            self.report.scalars(self.step, points)
            message = "; ".join(
                f"{name} wins {rate:.1%} ± {half:.1%}" for name, (rate, half) in rates.items()
            )
            self.console.print(f"generation {self.step:,}: evaluation: {message}")
        every = self.options.keep_every
        if every and (self.step - 1) % every == 0:
            write_arrays(population_file(run, self.step), self.genomes())

    # --- files

    def genomes(self) -> dict[str, NDArray[Any]]:
        """The arrays of a population's file: `--start-population` begins with one."""
        kind = np.array(self.kind.name)
        return {"population": self.population, "fitness": self.fitness, "kind": kind}

    def finish(self, run: Run) -> dict[str, Any]:
        """Save what came out, and measure it; returns what evaluation.json holds."""
        players = self.players()
        next(iter(players.values())).save(run.agent)
        players["mean"].save(run.folder / MEAN)
        write_arrays(run.folder / POPULATION, self.genomes())
        self.doing("measuring at the end")
        names, values = self.numbers()
        means, deviations = (f(values, axis=0).tolist() for f in (np.mean, np.std))
        genes = [
            {"name": name, "mean": mean, "spread": deviation}
            for name, mean, deviation in zip(names, means, deviations, strict=False)
        ]
        return {
            "agent": str(run.agent), "genome": self.kind.name, "generations": self.step,
            "games": self.step * self.generation_games, "seconds": self.seconds,
            "against": self.evaluate(self.options.final_games, run),
            "genes": genes, "measurements": self.measurements,
        }  # fmt: skip

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of a checkpoint."""
        return {"population": self.population, "fitness": self.fitness}

    def restore(self, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        del values
        for name, own in self.arrays().items():
            if (arrays[name].shape, arrays[name].dtype) != (own.shape, own.dtype):
                raise ValueError(
                    f"{name} is {arrays[name].dtype} {arrays[name].shape}, not {own.dtype}"
                    f" {own.shape}"
                )
        self.population, self.fitness = self.kind.checked(arrays["population"]), arrays["fitness"]


def overall(rows: Sequence[dict[str, Any]], player: str) -> tuple[float, float]:
    """A player's mean rate over evaluation opponents, and half its 95% interval."""
    own = [row for row in rows if row["player"] == player and not row["hall"]]
    return mean_rate([(row["rate"], (row["high"] - row["low"]) / 2) for row in own])


def mean_rate(rates: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The mean of rates (and halves of their intervals) and half of its 95% interval.

    Games against different opponents share no dice, so that their variances add up.
    """
    means, halves = np.array(rates, np.float64).reshape(-1, 2).T
    return float(means.mean()), float(np.sqrt((halves**2).sum()) / len(halves))


def show(results: Mapping[str, Any]) -> None:
    """Print what a run came to."""
    genes = result_table(
        "The genes of the population",
        ("gene", "mean", "spread"),
        [(row["name"], f"{row['mean']:.3f}", f"{row['spread']:.3f}") for row in results["genes"]],
    )
    opponents = result_table(
        f"{results['genome']} after {results['generations']:,} generations",
        ("player", "against", "wins", "interval"),
        [
            (
                row["player"], row["opponents"], f"{row['rate']:.1%}",
                f"{100 * row['low']:.1f} to {100 * row['high']:.1f}",
            )
            for row in results["against"]
        ],
        "Intervals 95%.",
        texts=2,
    )  # fmt: skip
    Console().print(genes, opponents)
