"""CMA-ES over the numbers of one player, judged by the games it wins against fixed opponents.

All candidates of a generation play the same seeds in all seats. The mean of the distribution,
averaged over the later half of all generations, is compared with the best so far in fresh games,
and kept only where it is surely better.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from training.evolution.fitness import FITNESSES, HELD_OUT, Matchup, held_out, split
from training.evolution.genome import Genome, genome, start_of
from training.evolution.run import MOST_CURVES, EvolutionOptions, Search, result_table
from training.run.folder import Run
from training.run.options import check_ranges, digest, result_settings

Vector = NDArray[np.float64]

_SEARCH, _COMPARE, _FINAL, _CURVE = range(4)  # what the seeds of games are for
# numbers: a covariance of so many takes more generations to learn than there are
_SEPARABLE_FROM: Final = 31
_IN_CONFIG: Final = 60  # numbers that config.json holds one by one; of more it holds a digest
_MANY, _LISTED = 60, 30  # numbers from which on a table lists some, and how many


@dataclass(frozen=True)
class CmaesOptions(EvolutionOptions):
    """Evolve the numbers of a player by playing, and measure what came out.

    All candidates of a generation play the same seeds in all seats, the next generation has others.
    What is kept is the mean of the distribution, averaged over the later half of all generations,
    not its luckiest sample, and only where fresh games show it to be better than the best before.
    The folder of a run holds config.json, curves (TensorBoard, and curves.csv), checkpoints, the
    best player (`agents.load` plays it) and its win rates. A run that was stopped goes on with
    --resume and the same settings.
    """

    free: ClassVar[tuple[str, ...]] = (*EvolutionOptions.free, "final_games", "curve_games")

    genome: str = "expert"
    """Whose numbers evolve: expert, strategic, bargaining (`expert` with a model of partners, at
    tables of the fitness's size), or the genes of rga, tga or pring (agents.genetic)."""
    fitness: str = "four"
    """Tables that are to be won: four, three and two (official rules, by seats), strangers and
    strangers/four (each of the 32 players strangers/train), ocnaru (two, rules of that thesis),
    mukhar, pring (four, rules of these papers)."""
    start: str | None = None
    """Player of that genome to begin with: a name or a saved policy; by default the one of its name
    (bargaining: expert, to which a model of partners is added; rga, tga, pring: all genes a half).
    A gene nearer than .01 to 0 or 1 begins so far from it."""
    fixed: tuple[str, ...] = ()
    """Parameters that stay as they are."""
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
    """Generations between two comparisons of the mean of the distribution with the best so far."""
    measure_games: int = 2400
    """Games of each of the two in such a comparison."""
    curve_games: int = 1200
    """Games of the best so far at each table of the end, at each of these measurements, for the
    curves; 0: none."""
    final_games: int = 2400
    """Games of the best player, and of the start, at each table at the end; opponents that
    evolution never saw included."""

    @property
    def matchups(self) -> tuple[Matchup, ...]:
        """The tables that are to be won."""
        return FITNESSES[self.fitness]

    @property
    def final_matchups(self) -> tuple[Matchup, ...]:
        """The tables at the end: against the start, of the fitness, with held-out opponents."""
        own = tuple(replace(matchup, weight=1.0) for matchup in self.matchups)
        start = self.start or start_of(self.genome)
        first = replace(own[0], opponents=(start,) * len(own[0].opponents))
        return (first, *(matchup for matchup in own if matchup != first), *held_out(own))

    def made_genome(self) -> Genome:
        """The genome that evolves."""
        return genome(self.genome, 1 + len(self.matchups[0].opponents), self.start, self.fixed)

    def check(self) -> None:
        """Check all that can be checked without playing; raises MonopolyError."""
        check_ranges(self, _RANGES)
        if self.fitness not in FITNESSES:
            raise ConfigurationError(
                f"Unknown fitness {self.fitness!r}. {nearest(self.fitness, FITNESSES)}"
            )
        self.made_genome()
        parts = [(name, self.matchups) for name in ("candidate_games", "measure_games")]
        for name in ("final_games", "curve_games") if self.curve_games else ("final_games",):
            parts += [(name, (matchup,)) for matchup in self.final_matchups]
        for name, matchups in parts:
            try:
                split(matchups, getattr(self, name))
            except ConfigurationError as error:
                raise ConfigurationError(f"--{name.replace('_', '-')}: {error}") from error

    def search(self, place: Place = HERE) -> CmaesSearch:
        """The search before its first generation."""
        return CmaesSearch(self, place)


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
    """The covariance matrix adaptation evolution strategy of pycma (Hansen, arXiv:1604.00772).

    Its state follows from its settings and the fitness of all generations, so it is restored by
    going through them again.

    Attributes:
        history: The (L,) fitness of all generations so far.
        means: The (D,) mean after each.
    """

    def __init__(self, size: int, population: int, sigma: float, seed: int, diagonal: bool) -> None:
        """Begin at zeros; `diagonal` learns only the scale of each number (separable CMA-ES)."""
        with extra("evolve"):
            cma: Any = importlib.import_module("cma")
        generator = np.random.Generator(np.random.PCG64(seed))
        settings = {
            "popsize": population, "CMA_diagonal": diagonal, "verbose": -9,
            "seed": np.nan,  # NumPy's common generator is left alone
            "randn": lambda *shape: generator.standard_normal(shape),
        }  # fmt: skip
        self._strategy = cma.CMAEvolutionStrategy(np.zeros(size), sigma, settings)
        self._asked: list[Vector] = []
        self.history: list[NDArray[np.float64]] = []
        self.means: list[Vector] = []

    def ask(self) -> NDArray[np.float64]:
        """(L, D) the vectors of the next generation."""
        self._asked = self._strategy.ask()
        return np.array(self._asked)

    def tell(self, fitness: NDArray[np.float64]) -> None:
        """Learn the (L,) fitness of the vectors that were asked for; more is better."""
        self._strategy.tell(self._asked, (-fitness).tolist())
        self.history.append(fitness)
        self.means.append(self.mean)

    def tell_again(self, history: NDArray[np.float64], mean: Vector) -> None:
        """Go through the (T, L) fitness of T generations again, to their (D,) mean.

        Raises:
            FormatError: The search comes to another mean.
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
        """(D,) the mean of the distribution."""
        return np.array(self._strategy.result.xfavorite)

    @property
    def average(self) -> Vector:
        """(D,) the mean, averaged over the later half of all generations.

        Fitness is a share of few games, so the mean wanders around the optimum.
        """
        return np.asarray(np.mean(self.means[len(self.means) // 2 :], axis=0))

    @property
    def deviation(self) -> float:
        """Standard deviation of a number, averaged over the vector."""
        return float(np.mean(self._strategy.result.stds))


class CmaesSearch(Search):
    """A search under way.

    Attributes:
        best: (D,) the vector of the best player so far; zeros, the start, at first.
        curve: How often the best so far won at each table of the end, by generation.
    """

    options: CmaesOptions

    def __init__(self, options: CmaesOptions, place: Place = HERE) -> None:
        """Begin before the first generation."""
        super().__init__(options, place)
        self.genome = options.made_genome()
        size, diagonal = self.genome.size, options.diagonal
        diagonal = size >= _SEPARABLE_FROM if diagonal is None else diagonal
        self.optimizer = CMAES(size, options.population, options.sigma, options.seed, diagonal)
        self.best = self.genome.origin
        self.curve: list[dict[str, Any]] = []
        self._tracked: Vector | None = None  # the player of the last points of the curve

    def settings(self) -> dict[str, Any]:
        """The settings that shape the result: a resumed run must have the same."""
        tables = [
            [str(table), table.weight, table.rules, table.turn_limit]
            for table in self.options.matchups
        ]
        values = self.genome.values(self.genome.origin).tolist()
        begins: Any = dict(zip(self.genome.names, values, strict=True))
        if len(begins) > _IN_CONFIG:  # rounded: the last digits of a logarithm differ by library
            begins = digest(np.round(list(begins.values()), 9))
        return result_settings(self.options, self.options.free, tables=tables, begins_with=begins)

    def about(self, length: int) -> str:
        """A run of so many generations, in a few words."""
        return f"{length:,} generations of {self.options.population} candidates"

    def policy(self, vector: Vector) -> Policy:
        """The player of a vector."""
        return self.genome.policy(vector, f"{self.options.genome}/evolved")

    def measures(self, generation: int) -> bool:
        """Whether the mean is compared with the best so far after this generation."""
        options = self.options
        return generation % options.measure_every == 0 or generation == options.generations

    def games(self, generations: int) -> int:
        """Games of so many generations and of the comparisons in between."""
        options = self.options
        compared = sum(self.measures(number) for number in range(1, generations + 1))
        tracked = (1 + compared) * len(options.final_matchups) * options.curve_games
        searched = generations * options.population * options.candidate_games
        return searched + 2 * compared * options.measure_games + tracked

    def final_games(self, length: int) -> int:
        """Games at the end."""
        del length
        return 2 * len(self.options.final_matchups) * self.options.final_games

    def play(
        self, players: list[Policy], matchups: Sequence[Matchup], games: int, seed: int
    ) -> list[Wins]:
        """Play games of each of the players."""
        threads, table = self.options.threads, self.place.runner
        return fitness.play(players, matchups, games, seed, threads, self.played, runner_type=table)

    def begin(self) -> None:
        """Measure the start."""
        self.doing("measuring the start")
        self.track()

    def advance(self) -> None:
        """Play a generation."""
        candidates = [self.policy(vector) for vector in self.optimizer.ask()]
        games = self.options.candidate_games
        played = self.play(candidates, self.options.matchups, games, self.game_seed(_SEARCH))
        self.tell(np.array([wins.rate for wins in played]))

    def tell(self, rates: NDArray[np.float64]) -> None:
        """Learn the (L,) fitness of the generation that the optimizer was asked for."""
        self.optimizer.tell(rates)
        self.step += 1
        values = self.genome.values(self.optimizer.mean).tolist()
        means = zip(self.genome.names[:MOST_CURVES], values, strict=False)
        after = {"spread": self.optimizer.deviation}
        self.add_row(rates, {}, after | {f"mean/{name}": value for name, value in means})

    def measure(self, run: Run) -> None:
        """Compare the mean with the best so far and save the better one, if that is due."""
        if self.measures(self.step):
            self.doing(f"measuring generation {self.step:,}")
            self.compare()
            self.track()
            self.policy(self.best).save(run.best)

    def compare(self) -> None:
        """Compare the average with the best so far in fresh games; keep it if surely better."""
        games, mean = self.options.measure_games, self.optimizer.average
        pair = [self.policy(mean), self.policy(self.best)]
        new, best = self.play(pair, self.options.matchups, games, self.game_seed(_COMPARE))
        gain = new.difference(best)
        kept = gain.low > 0
        if kept:
            self.best = mean
        rates = {
            "rate": gain.rates[0], "best": gain.rates[1], "difference": gain.difference,
            "low": gain.low, "high": gain.high,
        }  # fmt: skip
        self.measurements.append({"generation": self.step, "games": games, **rates, "kept": kept})
        self.report.scalars(self.step, {f"measured/{name}": value for name, value in rates.items()})
        self.console.print(
            f"generation {self.step:,}: wins {gain.rates[0]:.1%}, the best so far"
            f" {gain.rates[1]:.1%}; difference {gain.low:+.1%} to {gain.high:+.1%}"
            f"{', kept' if kept else ''}"
        )

    def track(self) -> None:
        """Add a point to the curves of the best so far, in games that are never learned from."""
        games, tables = self.options.curve_games, self.options.final_matchups
        if not games:
            return
        if self._tracked is not None and np.array_equal(self._tracked, self.best):
            rows = self.curve[-len(tables) :]  # it would play the same games
            self.played(len(tables) * games)
        else:
            seed = int(np.random.SeedSequence((self.options.seed, _CURVE)).generate_state(1)[0])
            player = self.policy(self.best)
            rows = [
                {"opponent": str(table), "win_rate": wins.rate}
                | dict(zip(("low", "high"), wins.interval, strict=True))
                for table in tables
                for wins in self.play([player], [table], games, seed)
            ]
        self._tracked = self.best
        self.curve += [{**row, "generation": self.step} for row in rows]
        for row in rows:
            shown = ("win_rate", "low", "high")
            points = {f"{name}/{row['opponent']}": row[name] for name in shown}
            self.report.scalars(self.step, points)

    def finish(self, run: Run) -> dict[str, Any]:
        """Save the best player and measure it beside the start: the content of evaluation.json."""
        policy = self.policy(self.best)
        policy.save(run.best)
        policy.save(run.agent)
        tables = []
        for matchup in self.options.final_matchups:
            evolved, start = self.final_wins(matchup, policy)
            gain, (low, high) = evolved.difference(start), evolved.interval
            tables.append({
                "opponents": str(matchup), "rules": matchup.rules,
                "held_out": matchup.opponents in HELD_OUT[1 + len(matchup.opponents)],
                "games": self.options.final_games, "start": gain.rates[1], "rate": gain.rates[0],
                "low": low, "high": high, "difference": gain.difference,
                "difference_low": gain.low, "difference_high": gain.high,
            })  # fmt: skip
        return {
            "agent": str(run.agent), "fitness": self.options.fitness, "generations": self.step,
            "tables": tables, "genome": self.genome.explain(self.best),
            "measurements": self.measurements, "curve": self.curve,
        }  # fmt: skip

    def final_wins(self, matchup: Matchup, policy: Policy) -> list[Wins]:
        """The wins of a policy and the start at a table, in games that nothing was learned from."""
        self.doing(f"against {matchup}")
        pair = [policy, self.policy(self.genome.origin)]
        return self.play(pair, [matchup], self.options.final_games, self.game_seed(_FINAL))

    def values(self) -> dict[str, Any]:
        """JSON values of a checkpoint."""
        return super().values() | {"curve": self.curve}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of a checkpoint: the history, from which the optimizer follows."""
        history, mean = np.array(self.optimizer.history), self.optimizer.mean
        return {"fitness": history, "mean": mean, "best": self.best}

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


def show(results: Mapping[str, Any]) -> None:
    """Print the genome, and how often the best player and the start won."""
    rows = [
        (
            f"{row['opponents']}{' *' if row['held_out'] else ''}", f"{row['start']:.1%}",
            f"{row['rate']:.1%}", f"{100 * row['low']:.1f} to {100 * row['high']:.1f}",
            f"{row['difference']:+.1%}",
            f"{100 * row['difference_low']:+.1f} to {100 * row['difference_high']:+.1f}",
        )
        for row in results["tables"]
    ]  # fmt: skip
    tables = result_table(
        f"{results['agent']} after {results['generations']:,} generations",
        ("against", "start", "evolved", "interval", "gain", "interval"),
        rows,
        "The same seeds, from each seat. Intervals from the variance between seeds, 95%. *: not in"
        " the fitness.",
    )
    Console().print(genome_table(results["genome"]), tables)


def genome_table(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    """Parameters before and after; if many, the most changed."""
    listed = list(rows)
    title = "The genome"
    if len(rows) > _MANY:
        listed = sorted(rows, key=lambda row: -abs(row["after"] - row["before"]))[:_LISTED]
        title = f"The {_LISTED} of {len(rows):,} numbers that moved most"
    lines = [
        (
            row["name"], f"{row['before']:.4g}", f"{row['after']:.4g}", row["unit"],
            f"{row['range'][0]:g} to {row['range'][1]:g}",
        )
        for row in listed
    ]  # fmt: skip
    return result_table(title, ("parameter", "before", "after", "unit", "range"), lines)
