"""CMA-ES over the numbers of one player, judged by the games it wins against fixed opponents.

All candidates of a generation play the same seeds in all seats. The middle of the population is
compared with the best so far in fresh games, and kept only where it is surely better.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from agents.arena.evaluation import Wins
from monopoly_env.cli.extras import extra
from monopoly_env.cli.terminal import TextTable
from monopoly_env.errors import ConfigurationError, FormatError, nearest
from monopoly_env.policy.protocol import Policy
from training.cluster import HERE, Place
from training.evolution import fitness
from training.evolution.fitness import FITNESSES, HELD_OUT, Setting, held_out, split
from training.evolution.genome import Genome, genome, start_of
from training.evolution.run import MOST_CURVES, EvolutionOptions, Search
from training.run.folder import Run
from training.run.options import check_ranges, digest, result_settings

Vector = NDArray[np.float64]

_SEARCH, _COMPARE, _FINAL, _CURVE = range(4)  # what the seeds of games are for
# numbers: a covariance of so many takes more generations to learn than there are
_SEPARABLE_FROM: Final = 31
_IN_CONFIG: Final = 60  # numbers that config.json holds one by one; of more it holds a digest
_MANY, _LISTED = 60, 30  # numbers from which on a table lists some, and how many


@dataclass(frozen=True)
class Options(EvolutionOptions):
    """Evolve the numbers of a player by playing, and measure what came out.

    All candidates of a generation play the same seeds in all seats, the next generation has others.
    What is kept is the middle of the population, not its luckiest member, and only where fresh
    games show it to be better than the best before. The folder of a run holds config.json, curves
    (TensorBoard, and curves.csv), checkpoints, the best player (`agents.load` plays it) and its win
    rates. A run that was stopped goes on with --resume and the same settings.
    """

    free: ClassVar[tuple[str, ...]] = (
        *EvolutionOptions.free,
        "generations",
        "final_games",
        "curve_games",
    )

    genome: str = "expert"
    """Whose numbers evolve: expert, strategic, bargaining (`expert` with a model of partners, at
    tables of the fitness's size), or the genes of rga, tga or pring (agents.genetic)."""
    fitness: str = "four"
    """Tables that are to be won: four, three and two (official rules, by seats), ocnaru (two, rules
    of that thesis), mukhar, pring (four, rules of these papers)."""
    start: str | None = None
    """Player of that genome to begin with: a name or a saved policy; by default the one of its name
    (bargaining: expert, to which a model of partners is added; rga, tga, pring: all genes a half).
    A gene nearer than .01 to 0 or 1 begins so far from it."""
    fixed: tuple[str, ...] = ()
    """Parameters that stay as they are."""
    generations: int = 100
    """Length of the run; may be raised on --resume."""
    population: int = 20
    """Candidates of a generation."""
    candidate_games: int = 240
    """Games of each candidate in a generation, over all tables of the fitness."""
    sigma: float = 0.5
    """Spread of the first generation; 1 is a third of a parameter's value, or a tenth of its range
    where it may be negative; of a gene, 1 of its logit: from a half to .73."""
    diagonal: bool | None = None
    """Learn the scale of each parameter only, not how they go together; by default where more than
    30 evolve."""
    measure_every: int = 10
    """Generations between two comparisons of the middle of the population with the best so far."""
    measure_games: int = 2400
    """Games of each of the two in such a comparison."""
    curve_games: int = 1200
    """Games of the best so far at each table of the end, at each of these measurements, for the
    curves; 0: none."""
    final_games: int = 2400
    """Games of the best player, and of the start, at each table at the end; opponents that
    evolution never saw included."""

    @property
    def length(self) -> int:
        """Generations of the run."""
        return self.generations

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The tables that are to be won."""
        return FITNESSES[self.fitness]

    @property
    def final_settings(self) -> tuple[Setting, ...]:
        """The tables that are played at the end.

        Against the start, at the tables of the fitness, and against opponents that it does not
        contain.
        """
        own = tuple(dataclasses.replace(setting, weight=1.0) for setting in self.settings)
        start = self.start or start_of(self.genome)
        first = dataclasses.replace(own[0], opponents=(start,) * len(own[0].opponents))
        return (first, *(setting for setting in own if setting != first), *held_out(own))

    def made_genome(self) -> Genome:
        """The genome that evolves.

        Raises:
            MonopolyError: An unknown name, a start of another family.
        """
        return genome(self.genome, 1 + len(self.settings[0].opponents), self.start, self.fixed)

    def check(self) -> None:
        """Check all that can be checked without playing.

        Raises:
            MonopolyError: A number out of range, an unknown name, a start of another family, games
                that do not split evenly.
        """
        check_ranges(self, _RANGES)
        if self.fitness not in FITNESSES:
            raise ConfigurationError(
                f"Unknown fitness {self.fitness!r}. {nearest(self.fitness, FITNESSES)}"
            )
        self.made_genome()
        parts: list[tuple[str, tuple[Setting, ...]]] = [
            (name, self.settings) for name in ("candidate_games", "measure_games")
        ]
        for name in ("final_games", "curve_games") if self.curve_games else ("final_games",):
            parts += [(name, (setting,)) for setting in self.final_settings]
        for name, settings in parts:
            try:
                split(settings, getattr(self, name))
            except ConfigurationError as error:
                raise ConfigurationError(f"--{name.replace('_', '-')}: {error}") from error

    def search(self, place: Place = HERE) -> Evolution:
        """The search before its first generation."""
        return Evolution(self, place)


# What numbers may be: from, to; both are allowed.
_RANGES: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(
        ("generations", "measure_every", "candidate_games", "measure_games", "final_games"),
        (1, math.inf),
    ),
    "curve_games": (0, math.inf),
    "population": (4, 10_000),
    "sigma": (1e-6, 10),
    "seed": (0, (1 << 32) - 1),
    "threads": (1, 1024),
}


class CMAES:
    """The covariance matrix adaptation evolution strategy, as pycma has it.

    It is described by Hansen (2016), arXiv:1604.00772.

    Its state follows from its settings and from the fitness of all generations, so it is restored
    by going through them again.

    Attributes:
        history: The (L,) fitness of all generations so far.
    """

    def __init__(self, size: int, population: int, sigma: float, seed: int, diagonal: bool) -> None:
        """Begin at zeros.

        Args:
            size: D, numbers of a vector.
            population: L, vectors of a generation.
            sigma: Standard deviation of the first generation.
            seed: Of its random numbers.
            diagonal: Only the scale of each number is learned, not how they go together (separable
                CMA-ES).

        Raises:
            ExtraError: pycma is not installed.
        """
        with extra("evolve"):
            cma: Any = importlib.import_module("cma")
        generator = np.random.Generator(np.random.PCG64(seed))
        # NumPy's common generator is left alone: `seed` says so, `randn` is what is used in its
        # place.
        options: dict[str, Any] = {
            "popsize": population,
            "CMA_diagonal": diagonal,
            "verbose": -9,
            "seed": np.nan,
        }
        options["randn"] = lambda *shape: generator.standard_normal(shape)
        self._strategy = cma.CMAEvolutionStrategy(np.zeros(size), sigma, options)
        self._asked: list[Vector] = []
        self.history: list[NDArray[np.float64]] = []

    def ask(self) -> NDArray[np.float64]:
        """(L, D) the vectors of the next generation."""
        self._asked = self._strategy.ask()
        return np.array(self._asked)

    def tell(self, fitness: NDArray[np.float64]) -> None:
        """Learn the (L,) fitness of the vectors that were asked for; more is better."""
        self._strategy.tell(self._asked, (-fitness).tolist())
        self.history.append(fitness)

    def tell_again(self, history: NDArray[np.float64], mean: Vector) -> None:
        """Go through a history again.

        Args:
            history: (T, L) the fitness of T generations.
            mean: (D,) the mean after them, when they were saved.

        Raises:
            FormatError: The search comes to another place.
        """
        for rates in history:
            self.ask()
            self.tell(rates)
        if not np.allclose(self.mean, mean, rtol=1e-6, atol=1e-9):
            raise FormatError(
                "Replayed, the search is at another place than the checkpoint says (by"
                f" {np.abs(self.mean - mean).max():.2g}): it was begun with another version of"
                " pycma. Resume with that one, or start anew from best.safetensors by --start."
            )

    @property
    def mean(self) -> Vector:
        """(D,) the vector in the middle of what is searched."""
        return np.array(self._strategy.result.xfavorite)

    @property
    def spread(self) -> float:
        """The width of the search, in units of the vector.

        It is the mean standard deviation of a number.
        """
        return float(np.mean(self._strategy.result.stds))


class Evolution(Search):
    """A search under way.

    Attributes:
        best: (D,) the vector of the best player so far; zeros, the start, at first.
        curve: How often the best so far won at each table of the end, by generation.
    """

    options: Options

    def __init__(self, options: Options, place: Place = HERE) -> None:
        """Begin before the first generation."""
        super().__init__(options, place)
        self.genome = options.made_genome()
        diagonal = (
            self.genome.size >= _SEPARABLE_FROM if options.diagonal is None else options.diagonal
        )
        self.optimizer = CMAES(
            self.genome.size, options.population, options.sigma, options.seed, diagonal
        )
        self.best = self.genome.origin
        self.curve: list[dict[str, Any]] = []
        self._watched: Vector | None = None  # the player of the last points of the curve

    def settings(self) -> dict[str, Any]:
        """The settings that shape the result: a resumed run must have the same."""
        tables = [
            [str(table), table.weight, table.rules, table.turn_limit]
            for table in self.options.settings
        ]
        begins: Any = {
            row["name"]: row["before"] for row in self.genome.explain(self.genome.origin)
        }
        if (
            len(begins) > _IN_CONFIG
        ):  # rounded: the last digits of a logarithm differ between libraries
            begins = digest(np.round(list(begins.values()), 9))
        return result_settings(self.options, self.options.free, tables=tables, begins_with=begins)

    def about(self, length: int) -> str:
        """A run of so many generations, in a few words."""
        return f"{length:,} generations of {self.options.population} candidates"

    def policy(self, vector: Vector) -> Policy:
        """The player of a vector."""
        return self.genome.policy(vector, f"{self.options.genome}/evolved")

    def measures(self, generation: int) -> bool:
        """Whether the population is compared with the best so far after this generation."""
        return (
            generation % self.options.measure_every == 0 or generation == self.options.generations
        )

    def games(self, generations: int) -> int:
        """Games of so many generations and of the comparisons in between."""
        options = self.options
        compared = sum(self.measures(number) for number in range(1, generations + 1))
        watched = (1 + compared) * len(options.final_settings) * options.curve_games
        return (
            generations * options.population * options.candidate_games
            + 2 * compared * options.measure_games
            + watched
        )

    def final_games(self, length: int) -> int:
        """Games at the end."""
        del length
        return 2 * len(self.options.final_settings) * self.options.final_games

    def play(
        self, players: list[Policy], settings: Sequence[Setting], games: int, seed: int
    ) -> list[Wins]:
        """Play games of each of the players."""
        return fitness.play(
            players,
            settings,
            games,
            seed,
            self.options.threads,
            self.played,
            runner_type=self.place.runner,
        )

    def tell(self, rates: NDArray[np.float64]) -> None:
        """Learn the (L,) fitness of the generation that the optimizer was asked for."""
        self.optimizer.tell(rates)
        self.step += 1
        means = zip(
            self.genome.names[:MOST_CURVES], self.genome.values(self.optimizer.mean), strict=False
        )
        self.add_row(
            rates,
            {},
            {"spread": self.optimizer.spread}
            | {f"mean/{name}": float(value) for name, value in means},
        )

    def begin(self) -> None:
        """Measure the start."""
        self.doing("measuring the start")
        self.watch()

    def advance(self) -> None:
        """Play a generation."""
        candidates = [self.policy(vector) for vector in self.optimizer.ask()]
        scores = self.play(
            candidates, self.options.settings, self.options.candidate_games, self.game_seed(_SEARCH)
        )
        self.tell(np.array([score.rate for score in scores]))

    def measure(self, run: Run) -> None:
        """Compare the middle of the population with the best so far, if that is due.

        The better one is saved.
        """
        if self.measures(self.step):
            self.doing(f"measuring generation {self.step:,}")
            self.compare()
            self.watch()
            self.policy(self.best).save(run.best)

    def compare(self) -> None:
        """Compare the middle of the population with the best so far, in fresh games.

        Keep it if it is surely better.
        """
        options, mean = self.options, self.optimizer.mean
        pair = [self.policy(mean), self.policy(self.best)]
        middle, best = self.play(
            pair, options.settings, options.measure_games, self.game_seed(_COMPARE)
        )
        found = middle.difference(best)
        kept = found.low > 0
        if kept:
            self.best = mean
        rates = {
            "rate": found.rates[0],
            "best": found.rates[1],
            "difference": found.difference,
            "low": found.low,
            "high": found.high,
        }
        self.measurements.append(
            {"generation": self.step, "games": options.measure_games} | rates | {"kept": kept}
        )
        self.report.scalars(self.step, {f"measured/{name}": value for name, value in rates.items()})
        message = (
            f"wins {found.rates[0]:.1%}, the best so far {found.rates[1]:.1%}; difference"
            f" {found.low:+.1%} to {found.high:+.1%}"
        )
        self.console.print(f"generation {self.step:,}: {message}{', kept' if kept else ''}")

    def watch(self) -> None:
        """Note how often the best so far wins at each table of the end.

        The games are always the same, and it has not learned from them.
        """
        games, tables = self.options.curve_games, self.options.final_settings
        if not games:
            return
        if self._watched is not None and np.array_equal(
            self._watched, self.best
        ):  # the same player would play the same games
            rows = [row | {"generation": self.step} for row in self.curve[-len(tables) :]]
            self.played(len(tables) * games)
        else:
            seed = int(np.random.SeedSequence((self.options.seed, _CURVE)).generate_state(1)[0])
            rows = [self._watched_at(table, games, seed) for table in tables]
        self._watched = self.best
        for row in rows:
            self.curve.append(row)
            self.report.scalars(
                self.step,
                {f"{name}/{row['opponent']}": row[name] for name in ("win_rate", "low", "high")},
            )

    def _watched_at(self, table: Setting, games: int, seed: int) -> dict[str, Any]:
        (score,) = self.play([self.policy(self.best)], [table], games, seed)
        low, high = score.interval
        return {
            "generation": self.step,
            "opponent": str(table),
            "win_rate": score.rate,
            "low": low,
            "high": high,
        }

    def finish(self, run: Run) -> dict[str, Any]:
        """Save the best player and measure it beside the start.

        Returns what evaluation.json holds.
        """
        policy = self.policy(self.best)
        policy.save(run.best)
        policy.save(run.agent)
        return {
            "agent": str(run.agent), "fitness": self.options.fitness, "generations": self.step,
            "tables": [self._final_row(setting, policy) for setting in self.options.final_settings],
            "genome": self.genome.explain(self.best), "measurements": self.measurements,
            "curve": self.curve,
        }  # fmt: skip

    def _final_row(self, setting: Setting, policy: Policy) -> dict[str, Any]:
        evolved, start = self.final_scores(setting, policy)
        found, (low, high) = evolved.difference(start), evolved.interval
        return {
            "opponents": str(setting), "rules": setting.rules,
            "held_out": setting.opponents in HELD_OUT[1 + len(setting.opponents)],
            "games": self.options.final_games, "start": found.rates[1], "rate": found.rates[0],
            "low": low, "high": high,
            "difference": found.difference, "difference_low": found.low,
            "difference_high": found.high,
        }  # fmt: skip

    def final_scores(self, setting: Setting, policy: Policy) -> tuple[Wins, Wins]:
        """The wins of a policy and the start at a table, in games that nothing was learned from."""
        self.doing(f"against {setting}")
        first, second = self.play(
            [policy, self.policy(self.genome.origin)],
            [setting],
            self.options.final_games,
            self.game_seed(_FINAL),
        )
        return first, second

    def values(self) -> dict[str, Any]:
        """What a checkpoint holds as JSON."""
        return super().values() | {"curve": self.curve}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a checkpoint holds as arrays: the history, from which the optimizer follows."""
        return {
            "fitness": np.array(self.optimizer.history),
            "mean": self.optimizer.mean,
            "best": self.best,
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint: the optimizer goes through its history again."""
        history, best = arrays["fitness"], arrays["best"]
        if len(history) != self.step or not np.isfinite(history).all():
            raise ValueError(
                f"{len(history)} generations of fitness, not {self.step}, or one is no number"
            )
        if best.shape != self.best.shape:
            raise ValueError(f"best has the shape {best.shape}, not {self.best.shape}")
        self.optimizer.tell_again(history, arrays["mean"])
        self.best, self.curve = best, list(values["curve"])


# --- for a terminal


def show(results: Mapping[str, Any]) -> None:
    """Print what a run came to."""
    title = f"{results['agent']} after {results['generations']:,} generations"
    Console().print(genome_table(results["genome"]), result_table(results["tables"], title))


def result_table(rows: Sequence[Mapping[str, Any]], title: str) -> TextTable:
    """How often the best player and the start won."""
    caption = (
        "The same seeds, from each seat. Intervals from the spread between seeds, 95%. *: not in"
        " the fitness."
    )
    shown = TextTable("against", title=title, caption=caption)
    for heading in ("start", "evolved", "interval", "gain", "interval"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        shown.add_row(
            f"{row['opponents']}{' *' if row['held_out'] else ''}", f"{row['start']:.1%}",
            f"{row['rate']:.1%}",
            f"{100 * row['low']:.1f} to {100 * row['high']:.1f}", f"{row['difference']:+.1%}",
            f"{100 * row['difference_low']:+.1f} to {100 * row['difference_high']:+.1f}",
        )  # fmt: skip
    return shown


def genome_table(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    """A table of what became of the numbers.

    Of many numbers it has those that moved most, whether or not it made a difference.
    """
    listed = (
        sorted(rows, key=lambda row: -abs(row["after"] - row["before"]))[:_LISTED]
        if len(rows) > _MANY
        else rows
    )
    title = (
        "The genome"
        if len(listed) == len(rows)
        else f"The {_LISTED} of {len(rows):,} numbers that moved most"
    )
    shown = TextTable("parameter", title=title)
    for heading in ("before", "after", "unit", "range"):
        shown.add_column(heading, justify="right")
    for row in listed:
        low, high = row["range"]
        shown.add_row(
            row["name"],
            f"{row['before']:.4g}",
            f"{row['after']:.4g}",
            row["unit"],
            f"{low:g} to {high:g}",
        )
    return shown
