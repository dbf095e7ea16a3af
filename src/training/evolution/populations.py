"""A population whose members play each other: what `generations` and `steady` have in common.

Points among one's own kind say nothing of strength. So those who stand for the population, and
champions of earlier measurements (the hall of fame), also meet a fixed panel.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from agents.arena.batch import GameBatch
from agents.arena.evaluation import Seating, against
from agents.arena.runner import MAX_POLICIES, Runner
from agents.players.genetic import GenomeKind, kind_of
from agents.players.genetic.kinds import PREFIX
from monopoly_env.arrays import read_arrays, write_arrays
from monopoly_env.cli.terminal import TextTable
from monopoly_env.errors import ConfigurationError, FormatError, nearest
from monopoly_env.policy.names import PolicyLike, load, resolve_all
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import PRESETS, Rules
from training.cluster import HERE, Place
from training.evolution import run as files
from training.evolution.run import MOST_CURVES, POPULATION, EvolutionOptions, Search
from training.run.folder import Run
from training.run.options import RulesName, check_ranges, digest, result_settings

PANEL: Final = ("algorithmic", "gcp", "yasumura", "landlord/balanced")

Seats = NDArray[np.int16]  # (G, P), the row of the population that sits in each seat


class Purpose(IntEnum):
    """What random numbers are for: those of one purpose never meet those of another."""

    BEGIN = 0
    DEAL = 1
    BREED = 2
    SEARCH = 3
    PANEL = 4


@dataclass(frozen=True)
class Tables:
    """The tables that a population plays at."""

    num_players: int = 4
    """Seats of a table."""
    rules: RulesName = "mukhar"
    turn_limit: int = 500
    """Turns of each player after which the score decides a game, where the rules do not end it
    before."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""


@dataclass(frozen=True)
class PopulationOptions(Tables, EvolutionOptions):
    """What the genetic algorithms share."""

    free: ClassVar[tuple[str, ...]] = (
        *EvolutionOptions.free, "start_population", "generations", "waves", "final_games", "panel",
        "panel_every", "panel_games", "hall",
        "keep_every",
    )  # fmt: skip

    genome: str = "rga"
    """Kind of the genomes: rga, tga, sga, pring (agents.genetic), strategic or expert (all numbers
    of these families)."""
    population: int = 1000
    """Players."""
    scripted: tuple[str, ...] = ()
    """What the players of rga, tga and sga do that is no gene, where it differs: of_buildings=0.1;
    1 turns a switch on: thesis=1."""
    start_population: str | None = None
    """A population.npz that a run of the same genome ended with, to begin from; default: random
    genomes."""
    panel: tuple[str, ...] = PANEL
    """Players that the champion and the mean genome are measured against, each in all other seats:
    an absolute fitness."""
    panel_every: int = 10
    """Generations (waves) between two measurements; 0: only at the end."""
    panel_games: int = 240
    """Games of each of the two against each of the panel."""
    final_games: int = 2400
    """The same games at the end."""
    hall: int = 3
    """Champions of earlier measurements that are met, too, spread over the run: a hall of fame."""
    keep_every: int = 0
    """Generations (waves) between two populations that are kept for good, the first among them; 0:
    only the last is kept."""

    @property
    def kind(self) -> GenomeKind:
        """What the genomes are.

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
        """Check all that can be checked without playing.

        Raises:
            MonopolyError: A number out of range, an unknown name, operators that do not suit the
                genes, a population that does not split.
        """
        check_ranges(self, {name: ends for name, ends in _RANGES.items() if hasattr(self, name)})
        if self.rules not in PRESETS:
            raise ConfigurationError(
                f"Unknown --rules {self.rules!r}. {nearest(self.rules, PRESETS)}"
            )
        resolve_all(list(self.panel))
        self.check_algorithm(self.kind)
        for name in ("panel_games", "final_games"):
            games = getattr(self, name)
            if games % self.num_players:  # from each seat equally often
                more = (games // self.num_players + 1) * self.num_players
                raise ConfigurationError(
                    f"--{name.replace('_', '-')} must be a multiple of {self.num_players}, such as"
                    f" {more}."
                )

    def check_algorithm(self, kind: GenomeKind) -> None:
        """Check what is the algorithm's own."""
        raise NotImplementedError


# What numbers may be: from, to; both are allowed.
_RANGES: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("generations", "waves", "panel_games", "final_games"), (1, math.inf)),
    **dict.fromkeys(("matches", "matings", "winners", "turn_limit"), (1, 100_000)),
    **dict.fromkeys(("elite", "copied", "mutated", "mutation_rate", "mutation_size"), (0, 1)),
    **dict.fromkeys(("panel_every", "keep_every"), (0, math.inf)),
    "levels": (0, 1_000_000),
    "hall": (0, 1000),
    "population": (2, MAX_POLICIES),
    "num_players": (2, 8),
    "seed": (0, (1 << 32) - 1),
    "threads": (1, 1024),
}


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


def beginning(
    options: PopulationOptions, kind: GenomeKind, generator: np.random.Generator
) -> NDArray[Any]:
    """(N, G) the population that evolution begins with.

    Raises:
        MonopolyError: A file that is damaged, or of another kind, length or size, or with genes out
            of their range.
    """
    if options.start_population is None:
        return kind.random(options.population, generator)
    path = Path(options.start_population)
    if not path.is_file():
        raise ConfigurationError(
            f"--start-population {options.start_population!r} is no file: give the {POPULATION} of"
            " a run."
        )
    if path.resolve().is_relative_to(options.out.resolve()):
        raise ConfigurationError(
            f"--start-population {options.start_population!r} lies in --out, where this run writes:"
            " choose another --out."
        )
    arrays = read_arrays(path)
    if not {"population", "kind"} <= set(arrays):
        raise FormatError(
            f"{options.start_population!r} is no population: it holds"
            f" {', '.join(arrays) or 'nothing'}, not population and kind."
        )
    if str(arrays["kind"]) != kind.name:
        raise ConfigurationError(
            f"{options.start_population!r} holds genomes of {str(arrays['kind'])!r}, not of"
            f" {kind.name!r}."
        )
    population = arrays["population"]
    population = kind.checked(population).astype(np.uint8 if kind.bits else np.float64)
    if len(population) != options.population:
        raise ConfigurationError(
            f"{options.start_population!r} holds {len(population):,} genomes: use --population"
            f" {len(population)}."
        )
    return population


# --- at play


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


def runner_of(
    kind: GenomeKind, population: NDArray[Any], tables: Tables, runner_type: type[Runner] = Runner
) -> Runner:
    """A population ready to play: player n has row n."""
    player = kind.policy(population[0])
    return runner_type.of_population(
        player, kind.rows(population), Rules.preset(tables.rules), tables.turn_limit, tables.threads
    )


def play_seats(
    runner: Runner,
    seats: Seats,
    seed: int,
    first: int = 0,
    done: Callable[[int], None] = lambda games: None,
) -> GameBatch:
    """Play games, and fill in a batch.

    Args:
        runner: Whose rows the seats number.
        seats: (G, P).
        seed: 0 to 2**32 - 1; game g has the seed `(seed << 32) + first + g`.
        first: Games of this seed that were played before.
        done: Called with the number of games that have just ended.
    """
    numbers = np.arange(first, first + len(seats), dtype=np.uint64)
    batch = GameBatch((np.uint64(seed) << np.uint64(32)) + numbers, seats)
    runner.play(batch, done)
    return batch


# --- a population under way


class Population(Search):
    """A population that evolves.

    Attributes:
        kind: What its genomes are.
        population: (N, G).
        begins_with: (N, G), the population of the beginning.
        fitness: (N,) of the last generation, NaN where it was not measured.
    """

    options: PopulationOptions

    def __init__(self, options: PopulationOptions, place: Place = HERE) -> None:
        """Begin before the first generation."""
        super().__init__(options, place)
        self.kind = options.kind
        self.begins_with = self.population = beginning(
            options, self.kind, self.generator(Purpose.BEGIN)
        )
        self.fitness = np.full(len(self.population), np.nan)

    def generator(self, purpose: int) -> np.random.Generator:
        """The random numbers of a purpose in this generation."""
        return np.random.Generator(
            np.random.PCG64(np.random.SeedSequence((self.options.seed, purpose, self.step)))
        )

    @property
    @abstractmethod
    def generation_games(self) -> int:
        """Games of a generation."""

    @abstractmethod
    def outcome(self) -> dict[str, NDArray[Any]]:
        """(G,) genomes that stand for the population, by name.

        The first is the agent of the run.
        """

    def settings(self) -> dict[str, Any]:
        """The settings that shape the result: a resumed run must have the same."""
        kind, options = self.kind, self.options
        return result_settings(
            options,
            options.free,
            genome=kind.name,
            genes=kind.size,
            begins_with=digest(self.begins_with),
        )

    def about(self, length: int) -> str:
        """A run of so many generations, in a few words."""
        players = f"{len(self.population):,} players of {self.kind.size:,} genes"
        return f"{length:,} {self.unit}s of {self.generation_games:,} games, {players}"

    # --- its genes

    @property
    def mean(self) -> NDArray[Any]:
        """(G,) the mean genome; of bits, what most have."""
        middle = self.population.mean(axis=0)
        return np.asarray(
            (middle >= 0.5).astype(self.population.dtype) if self.kind.bits else middle
        )

    def numbers(self) -> tuple[tuple[str, ...], NDArray[np.float64]]:
        """(M,) names and (N, M) numbers of the genes as people read them.

        Bits are given as what they stand for.
        """
        if self.kind.bits:
            return self.kind.number_names, self.kind.decode(self.population)
        return self.kind.names, self.population

    def note(self, outcome: Outcome, **more: float) -> None:
        """Count the generation that was played, and add a point to every curve."""
        self.step += 1
        names, values = self.numbers()
        means = values.mean(axis=0)
        before = {"games": float(outcome.games), "turns": outcome.turns, "capped": outcome.capped}
        genes = {
            "genes/mean": float(means.mean()),
            "genes/spread": float(values[:, :MOST_CURVES].std(axis=0).mean()),
        }
        genes |= {
            f"gene/{name}": float(mean)
            for name, mean in zip(names[:MOST_CURVES], means, strict=False)
        }
        self.add_row(outcome.fitness, before, genes | more)

    def explain(self) -> list[dict[str, Any]]:
        """A row for each of the first genes: `name`, `mean` and `spread` over the population."""
        names, values = self.numbers()
        shown = values[:, :MOST_CURVES]
        columns = zip(
            names[:MOST_CURVES],
            shown.mean(axis=0).tolist(),
            shown.std(axis=0).tolist(),
            strict=True,
        )
        return [{"name": name, "mean": mean, "spread": spread} for name, mean, spread in columns]

    # --- measurements

    def measures(self, generation: int) -> bool:
        """Whether the panel is met after this generation.

        At the end it is met once more, and more often, by `finish`.
        """
        every = self.options.panel_every
        return bool(self.options.panel) and every > 0 and generation % every == 0

    def measurements_in(self, generations: int) -> int:
        """How often the panel is met in between by so many generations."""
        return sum(self.measures(number) for number in range(1, generations + 1))

    def games(self, generations: int) -> int:
        """Games of so many generations and of the measurements in between."""
        options, met = self.options, self.measurements_in(generations)
        famous = sum(min(options.hall, number) for number in range(met))
        return (
            generations * self.generation_games
            + (met * len(options.panel) + famous) * len(self.outcome()) * options.panel_games
        )

    def final_games(self, length: int) -> int:
        """Games at the end of a run of so many generations."""
        opponents = len(self.options.panel) + min(self.options.hall, self.measurements_in(length))
        return len(self.outcome()) * opponents * self.options.final_games

    def players(self) -> dict[str, CompiledPolicy]:
        """Those who stand for the population, by name; the first is the agent of the run."""
        return {
            name: self.kind.policy(genome, f"{PREFIX}{self.kind.name}/{name}")
            for name, genome in self.outcome().items()
        }

    def hall_of_fame(self, run: Run) -> list[Policy]:
        """Champions of measurements before this generation, the last always among them.

        They are spread over the run.
        """
        earlier = [
            number for number in range(1, self.step) if files.champion(run, number).is_file()
        ]
        if not earlier or not self.options.hall:
            return []
        chosen = np.unique(
            np.linspace(len(earlier) - 1, 0, min(self.options.hall, len(earlier)))
            .round()
            .astype(int)
        )
        famous = [load(files.champion(run, earlier[place])) for place in chosen]
        for policy, place in zip(famous, chosen, strict=True):
            policy.name = f"champion of {self.unit} {earlier[place]:,}"
        return famous

    def against_panel(self, games: int, run: Run) -> list[dict[str, Any]]:
        """Win rates of those who stand for the population against each of the panel.

        The games are fresh, with the same dice for all of them.

        Returns:
            Rows `generation, player, opponents, hall, games, rate, low, high`: `hall` tells
            champions of this run from the panel; the interval is 95%, from the spread between
            seeds.
        """
        options, players = self.options, self.players()
        rows: list[dict[str, Any]] = []
        opponents: list[PolicyLike] = [*options.panel, *self.hall_of_fame(run)]
        for number, opponent in enumerate(opponents):
            seating = Seating(
                (opponent,) * (options.num_players - 1), options.rules, options.turn_limit
            )
            seed = self.game_seed(Purpose.PANEL, number)
            scores = against(
                list(players.values()),
                [seating],
                [games],
                seed,
                options.threads,
                self.played,
                runner_type=self.place.runner,
            )
            for name, score in zip(players, scores, strict=True):
                low, high = score.interval
                row = {
                    "generation": self.step,
                    "player": name,
                    "opponents": str(seating),
                    "hall": number >= len(options.panel),
                }
                rows.append(row | {"games": games, "rate": score.rate, "low": low, "high": high})
        return rows

    def measure(self, run: Run) -> None:
        """Meet the panel and keep the population if it is time to."""
        if self.measures(self.step):
            self._meet(run)
        every = self.options.keep_every
        if every and (self.step - 1) % every == 0:
            write_arrays(files.population(run, self.step), self.genomes())

    def _meet(self, run: Run) -> None:
        """Meet the panel: curves, a line above the bar, another champion in the hall of fame."""
        self.doing(f"panel after {self.unit} {self.step:,}")
        rows = self.against_panel(self.options.panel_games, run)
        self.measurements.extend(rows)
        next(iter(self.players().values())).save(files.champion(run, self.step))
        rates = {name: overall(rows, name) for name in self.outcome()}
        self.report.scalars(self.step, {f"panel/{name}": rate for name, (rate, _) in rates.items()})
        message = "; ".join(
            f"{name} wins {rate:.1%} ± {half:.1%}" for name, (rate, half) in rates.items()
        )
        self.console.print(f"{self.unit} {self.step:,}: against the panel {message}")

    # --- files

    def genomes(self) -> dict[str, NDArray[Any]]:
        """What the file of a population holds: `--start-population` begins with one."""
        return {
            "population": self.population,
            "fitness": self.fitness,
            "kind": np.array(self.kind.name),
        }

    def finish(self, run: Run) -> dict[str, Any]:
        """Save what came out, and measure it; returns what evaluation.json holds."""
        players = self.players()
        next(iter(players.values())).save(run.agent)
        players["mean"].save(run.folder / files.MEAN)
        write_arrays(run.folder / POPULATION, self.genomes())
        self.doing("panel at the end")
        return {
            "agent": str(run.agent), "genome": self.kind.name, "unit": self.unit,
            "generations": self.step,
            "games": self.step * self.generation_games, "seconds": self.seconds,
            "panel": self.against_panel(self.options.final_games, run),
            "genes": self.explain(), "measurements": self.measurements,
        }  # fmt: skip

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a checkpoint holds as arrays."""
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


# --- what was measured


def overall(rows: Sequence[dict[str, Any]], player: str) -> tuple[float, float]:
    """A player's mean rate over the panel, and half the width of its 95% interval.

    The hall is left out.
    """
    own = [row for row in rows if row["player"] == player and not row["hall"]]
    return mean_rate([(row["rate"], (row["high"] - row["low"]) / 2) for row in own])


def mean_rate(rates: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The mean of rates against several opponents, with half the width of its 95% interval.

    Each of the rates comes with half the width of its own.

    Games against different opponents share no dice, so that their variances add up.
    """
    means, halves = np.array(rates, np.float64).reshape(-1, 2).T
    return float(means.mean()), float(np.sqrt((halves**2).sum()) / len(halves))


def show(results: Mapping[str, Any]) -> None:
    """Print what a run came to."""
    genes = TextTable("gene", title="The genes of the population")
    for heading in ("mean", "spread"):
        genes.add_column(heading, justify="right")
    for row in results["genes"]:
        genes.add_row(row["name"], f"{row['mean']:.3f}", f"{row['spread']:.3f}")
    title = f"{results['genome']} after {results['generations']:,} {results['unit']}s"
    panel = TextTable("player", "against", title=title, caption="Intervals 95%.")
    for heading in ("wins", "interval"):
        panel.add_column(heading, justify="right", no_wrap=True)
    for row in results["panel"]:
        panel.add_row(
            row["player"],
            row["opponents"],
            f"{row['rate']:.1%}",
            f"{100 * row['low']:.1f} to {100 * row['high']:.1f}",
        )
    Console().print(genes, panel)
