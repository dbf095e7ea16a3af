"""A run of a genetic algorithm on disk: generations, measurements against the panel, checkpoints, and what it ends with.

All that is drawn depends on the seed and the number of the generation, so a run that was killed and resumed comes to the same population,
bit for bit, as one that was not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import agents
from agents.players.genetic.kinds import PREFIX
from monopoly_env.errors import MonopolyError
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.policy.resolve import PolicyLike
from training.evolution import cluster
from training.evolution.evaluation import play
from training.evolution.folder import FILES, champion, population
from training.evolution.genetic.options import POPULATION, PRESETS, Generational, Steady, check, settings, table_against
from training.evolution.genetic.searches import PANEL, Search, search_of
from training.evolution.reporting import Reporter, write_csv
from training.run import checkpoints
from training.run.folder import Run, alone

Options = Generational | Steady

_SHARE: Final = 10  # saving may take a tenth of the time
_LONGEST: Final = 60.0  # seconds that a killed run may lose, or a generation if that is longer
_MEAN: Final = "mean.safetensors"


class Keeper:
    """Saves a search every generation, or as often as costs little: what is lost to a power cut is a minute at most."""

    def __init__(self, search: Search, run: Run, measurements: list[dict[str, Any]], seconds: float) -> None:
        """Nothing is saved yet."""
        self.search, self.run, self.measurements = search, run, measurements
        self.pending = False  # a generation has been played, and not been measured yet
        self.seconds = seconds  # that earlier processes spent on this run
        self._began = time.perf_counter()
        self._saved = self._at = -math.inf
        self._cost = 0.0

    @property
    def spent(self) -> float:
        """Seconds that the run has taken so far; what was lost when it was killed is not among them."""
        return self.seconds + time.perf_counter() - self._began

    def keep(self) -> None:
        """Save if it is time to."""
        passed = time.perf_counter() - self._at
        if passed >= min(_SHARE * self._cost, _LONGEST):
            self.save()

    def save(self) -> None:
        """Write a checkpoint and the curves, unless this generation has one."""
        search = self.search
        if self.pending or self._saved == search.generation or len(search.rows) != search.generation or not search.rows:
            return
        began = time.perf_counter()
        state = {"generation": search.generation, "rows": search.rows, "measurements": self.measurements, "seconds": self.spent}
        checkpoints.write(self.run.checkpoints, search.generation, {"search": search.arrays()}, state)
        write_csv(self.run.folder / "curves.csv", search.rows)
        self._saved, self._at = search.generation, time.perf_counter()
        self._cost = self._at - began


def length_of(options: Options) -> int:
    """Generations or waves of the run."""
    return options.waves if isinstance(options, Steady) else options.generations


def measures(options: Options, generation: int) -> bool:
    """Whether the panel is met after this generation. At the end it is met once more, and more often, by `finish`."""
    return bool(options.panel) and options.panel_every > 0 and generation % options.panel_every == 0


def measurements_in(options: Options, generations: int) -> int:
    """How often the panel is met in between by so many generations."""
    return sum(measures(options, number) for number in range(1, generations + 1))


def total_games(options: Options, search: Search, generations: int) -> int:
    """Games of so many generations and of the measurements in between."""
    met = measurements_in(options, generations)
    famous = sum(min(options.hall, number) for number in range(met))
    return generations * search.games + (met * len(options.panel) + famous) * len(search.outcome()) * options.panel_games


def players_of(search: Search) -> dict[str, CompiledPolicy]:
    """Those who stand for the population, by name; the first is the agent of the run."""
    return {name: search.kind.policy(genome, f"{PREFIX}{search.kind.name}/{name}") for name, genome in search.outcome().items()}


def hall_of_fame(options: Options, search: Search, run: Run) -> list[Policy]:
    """Champions of measurements before this generation, spread over the run, always the last among them."""
    earlier = [number for number in range(1, search.generation) if champion(run, number).is_file()]
    if not earlier or not options.hall:
        return []
    chosen = np.unique(np.linspace(len(earlier) - 1, 0, min(options.hall, len(earlier))).round().astype(int))
    famous = [agents.load(champion(run, earlier[place])) for place in chosen]
    for policy, place in zip(famous, chosen, strict=True):
        policy.name = f"champion of {search.unit} {earlier[place]:,}"
    return famous


def against_panel(options: Options, search: Search, games: int, run: Run, report: Reporter) -> list[dict[str, Any]]:
    """How often those who stand for the population win against each of the panel, in fresh games, the same dice for all of them.

    Returns:
        Rows `generation, player, opponents, hall, games, rate, low, high`: `hall` tells champions of this run from the panel; the
        interval is 95%, from the spread between seeds.
    """
    players = players_of(search)
    rows: list[dict[str, Any]] = []
    opponents: list[PolicyLike] = [*options.panel, *hall_of_fame(options, search, run)]
    for number, opponent in enumerate(opponents):
        setting = table_against(options, opponent)
        seed = int(np.random.SeedSequence((search.seed, PANEL, search.generation, number)).generate_state(1)[0])
        played = play(list(players.values()), [setting], games, seed, options.threads, report.played, table_type=search.play.table_type)
        for candidate, name in enumerate(players):
            low, high = played.interval(candidate)
            row = {"generation": search.generation, "player": name, "opponents": str(setting), "hall": number >= len(options.panel)}
            rows.append(row | {"games": games, "rate": float(played.rates[candidate]), "low": low, "high": high})
    return rows


def overall(rows: Sequence[dict[str, Any]], player: str) -> tuple[float, float]:
    """Mean rate of a player over the panel without the hall, and half the width of its 95% interval."""
    own = [row for row in rows if row["player"] == player and not row["hall"]]
    return mean_rate([(row["rate"], (row["high"] - row["low"]) / 2) for row in own])


def mean_rate(rates: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The mean of rates against several opponents, each with half the width of its 95% interval, and that of the mean.

    Games against different opponents share no dice, so that their variances add up.
    """
    means, halves = np.array(rates, np.float64).reshape(-1, 2).T
    return float(means.mean()), float(np.sqrt((halves**2).sum()) / len(halves))


def _meet(options: Options, search: Search, keeper: Keeper, report: Reporter) -> None:
    """Meet the panel in between: curves, a line above the bar, and another one in the hall of fame."""
    report.doing(f"panel after {search.unit} {search.generation:,}")
    rows = against_panel(options, search, options.panel_games, keeper.run, report)
    keeper.measurements.extend(rows)
    next(iter(players_of(search).values())).save(champion(keeper.run, search.generation))
    rates = {name: overall(rows, name) for name in search.outcome()}
    report.curves({"generation": float(search.generation)} | {f"panel/{name}": rate for name, (rate, _) in rates.items()})
    told = "; ".join(f"{name} wins {rate:.1%} ± {half:.1%}" for name, (rate, half) in rates.items())
    report.console.print(f"{search.unit} {search.generation:,}: against the panel {told}")


def evolve(options: Options, search: Search, keeper: Keeper, report: Reporter) -> None:
    """The algorithm."""
    length = length_of(options)
    try:
        while search.generation < length:
            told = f", fitness {search.rows[-1]['fitness/min']:.3g} to {search.rows[-1]['fitness/max']:.3g}" if search.rows else ""
            report.doing(f"{search.unit} {search.generation + 1:,}/{length:,}{told}")
            search.advance(report.played)
            keeper.pending = True  # saved now, it would go on without its measurement
            report.curves(search.rows[-1])
            if measures(options, search.generation):
                _meet(options, search, keeper, report)
            if options.keep_every and (search.generation - 1) % options.keep_every == 0:
                checkpoints.write_arrays(population(keeper.run, search.generation), genomes(search))
            keeper.pending = False
            keeper.keep()
    except (KeyboardInterrupt, MonopolyError):  # a cluster that failed, for instance
        keeper.save()
        raise
    keeper.save()


def genomes(search: Search) -> dict[str, NDArray[Any]]:
    """What the file of a population holds: `--start` begins with one."""
    return {"population": search.population, "fitness": search.fitness, "kind": np.array(search.kind.name)}


def finish(options: Options, search: Search, keeper: Keeper, report: Reporter) -> dict[str, Any]:
    """Save what came out, and measure it; returns what evaluation.json holds."""
    run, players = keeper.run, players_of(search)
    next(iter(players.values())).save(run.agent)
    players["mean"].save(run.folder / _MEAN)
    checkpoints.write_arrays(run.folder / POPULATION, genomes(search))
    report.doing("panel at the end")
    results = {
        "agent": str(run.agent), "genome": search.kind.name, "unit": search.unit, "generations": search.generation,
        "games": search.generation * search.games, "seconds": keeper.spent,
        "panel": against_panel(options, search, options.final_games, run, report),
        "genes": search.explain(), "measurements": keeper.measurements,
    }  # fmt: skip
    run.write_json("evaluation.json", results)
    return results


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Evolve from the beginning or from a checkpoint, then measure.

    Raises:
        MonopolyError: Wrong settings, a folder in the way, a checkpoint that is missing or damaged, a cluster that fails.
    """
    kind = check(options)
    with alone(options.out), cluster.joined(options.cluster, options.threads) as table_type:
        return _execute(options, search_of(options, kind, table_type), console)


def _execute(options: Options, search: Search, console: Console) -> dict[str, Any]:
    kind = search.kind
    shaping = settings(options, kind, search.begins_with)
    run = Run.open(options.out, shaping, resume=options.resume, overwrite=options.overwrite, files=FILES)
    measurements, seconds = list[dict[str, Any]](), 0.0
    if options.resume:
        parts, state = checkpoints.read_last(run.checkpoints)
        with checkpoints.understood(checkpoints.paths(run.checkpoints)[-1]):
            search.restore(parts["search"], state)
            measurements, seconds = list(state["measurements"]), float(state["seconds"])
    length = max(length_of(options), search.generation)
    done = total_games(options, search, search.generation)
    at_the_end = len(options.panel) + min(options.hall, measurements_in(options, length))
    games = total_games(options, search, length) + len(search.outcome()) * at_the_end * options.final_games
    told = f"{length:,} {search.unit}s of {search.games:,} games, {len(search.population):,} players of {search.kind.size:,} genes"
    console.print(f"{told}, {games:,} games, into {run.folder}")
    keeper = Keeper(search, run, measurements, seconds)
    with Reporter(run.curves, console, games, done, search.generation) as report:
        evolve(options, search, keeper, report)
        return finish(options, search, keeper, report)


def defaults(preset: str) -> Options:
    """The settings of a preset."""
    return PRESETS[preset]


def tables(results: dict[str, Any]) -> list[Table]:
    """What a run came to, for a terminal."""
    panel = Table(title=f"{results['genome']} after {results['generations']:,} {results['unit']}s", caption="Intervals 95%.")
    for heading in ("player", "against"):
        panel.add_column(heading)
    for heading in ("wins", "interval"):
        panel.add_column(heading, justify="right", no_wrap=True)
    for row in results["panel"]:
        interval = f"{100 * row['low']:.1f} to {100 * row['high']:.1f}"
        panel.add_row(row["player"], row["opponents"], f"{row['rate']:.1%}", interval)
    genes = Table(title="The genes of the population")
    for heading in ("gene", "mean", "spread"):
        genes.add_column(heading, justify="left" if heading == "gene" else "right")
    for row in results["genes"]:
        genes.add_row(row["name"], f"{row['mean']:.3f}", f"{row['spread']:.3f}")
    return [genes, panel]
