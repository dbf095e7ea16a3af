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
from rich.console import Console
from rich.table import Table

from agents.genetic.kinds import PREFIX
from training import checkpoints
from training.evolution.evaluation import play
from training.evolution.genetic.options import POPULATION, PRESETS, Generational, Steady, check, panel_of, settings
from training.evolution.genetic.searches import PANEL, Search, search_of
from training.evolution.reporting import Reporter, write_csv
from training.runs import Run

Options = Generational | Steady

_SHARE: Final = 10  # saving may take a tenth of the time
_LONGEST: Final = 60.0  # seconds that a killed run may lose, or a generation if that is longer
_MEAN: Final = "mean.safetensors"


class Keeper:
    """Saves a search every generation, or as often as costs little: what is lost to a power cut is a minute at most."""

    def __init__(self, search: Search, run: Run, measurements: list[dict[str, Any]]) -> None:
        """Nothing is saved yet."""
        self.search, self.run, self.measurements = search, run, measurements
        self._saved = self._at = -math.inf
        self._cost = 0.0

    def keep(self) -> None:
        """Save if it is time to."""
        passed = time.perf_counter() - self._at
        if passed >= min(_SHARE * self._cost, _LONGEST):
            self.save()

    def save(self) -> None:
        """Write a checkpoint and the curves, unless this generation has one."""
        search = self.search
        if self._saved == search.generation or len(search.rows) != search.generation or not search.rows:
            return
        began = time.perf_counter()
        state = {"generation": search.generation, "rows": search.rows, "measurements": self.measurements}
        checkpoints.write(self.run.checkpoints, search.generation, {"search": search.arrays()}, state)
        write_csv(self.run.folder / "curves.csv", search.rows)
        self._saved, self._at = search.generation, time.perf_counter()
        self._cost = self._at - began


def length_of(options: Options) -> int:
    """Generations or waves of the run."""
    return options.waves if isinstance(options, Steady) else options.generations


def measures(options: Options, generation: int) -> bool:
    """Whether the panel is met after this generation; after the last it is met more often, by `finish`."""
    return options.panel_every > 0 and generation % options.panel_every == 0 and generation < length_of(options)


def total_games(options: Options, search: Search, generations: int) -> int:
    """Games of so many generations and of the measurements in between."""
    met = sum(measures(options, number) for number in range(1, generations + 1))
    return generations * search.games + met * len(search.outcome()) * len(options.panel) * options.panel_games


def against_panel(options: Options, search: Search, games: int, report: Reporter) -> list[dict[str, Any]]:
    """How often those who stand for the population win against each of the panel, in fresh games, the same dice for all of them.

    Returns:
        Rows `generation, player, opponents, games, rate, low, high`; the interval is 95%, from the spread between seeds.
    """
    outcome = search.outcome()
    players = [search.kind.policy(genome, f"{PREFIX}{search.kind.name}/{name}") for name, genome in outcome.items()]
    rows: list[dict[str, Any]] = []
    for number, setting in enumerate(panel_of(options)):
        seed = int(np.random.SeedSequence((search.seed, PANEL, search.generation, number)).generate_state(1)[0])
        played = play(players, [setting], games, seed, options.threads, report.played)
        for candidate, name in enumerate(outcome):
            low, high = played.interval(candidate)
            row = {"generation": search.generation, "player": name, "opponents": str(setting), "games": games}
            rows.append(row | {"rate": float(played.rates[candidate]), "low": low, "high": high})
    return rows


def overall(rows: Sequence[dict[str, Any]], player: str) -> tuple[float, float]:
    """Mean rate of a player over the panel, and half the width of its 95% interval: games against different opponents share no dice."""
    own = [row for row in rows if row["player"] == player]
    widths = np.array([row["high"] - row["low"] for row in own])
    return float(np.mean([row["rate"] for row in own])), float(np.sqrt((widths**2).sum()) / 2 / len(own))


def _meet(options: Options, search: Search, measurements: list[dict[str, Any]], report: Reporter) -> None:
    """Meet the panel in between: curves, and a line above the bar."""
    report.doing(f"panel after {search.unit} {search.generation:,}")
    rows = against_panel(options, search, options.panel_games, report)
    measurements.extend(rows)
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
            report.curves(search.rows[-1])
            if options.panel and measures(options, search.generation):
                _meet(options, search, keeper.measurements, report)
            keeper.keep()
    except KeyboardInterrupt:
        keeper.save()
        raise
    keeper.save()


def finish(options: Options, search: Search, keeper: Keeper, report: Reporter) -> dict[str, Any]:
    """Save what came out, and measure it; returns what evaluation.json holds."""
    run, outcome = keeper.run, search.outcome()
    best = next(iter(outcome))
    search.kind.policy(outcome[best], f"{PREFIX}{search.kind.name}/{best}").save(run.agent)
    search.kind.policy(outcome["mean"], f"{PREFIX}{search.kind.name}/mean").save(run.folder / _MEAN)
    kept = {"population": search.population, "fitness": search.fitness, "kind": np.array(search.kind.name)}
    checkpoints.write_arrays(run.folder / POPULATION, kept)
    report.doing("panel at the end")
    results = {
        "agent": str(run.agent), "genome": search.kind.name, "unit": search.unit, "generations": search.generation,
        "games": search.generation * search.games, "panel": against_panel(options, search, options.final_games, report),
        "genes": search.explain(), "measurements": keeper.measurements,
    }  # fmt: skip
    run.write_json("evaluation.json", results)
    return results


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Evolve from the beginning or from a checkpoint, then measure.

    Raises:
        MonopolyError: Wrong settings, a folder in the way, a checkpoint that is missing or damaged.
    """
    kind = check(options)
    search = search_of(options, kind)
    shaping = settings(options, kind, search.begins_with)
    run = Run.open(options.out, shaping, resume=options.resume, overwrite=options.overwrite)
    measurements: list[dict[str, Any]] = []
    if options.resume:
        parts, state = checkpoints.read_last(run.checkpoints)
        search.restore(parts["search"], state)
        measurements = state["measurements"]
    else:
        for name in ("curves.csv", POPULATION, _MEAN):  # of a run that was overwritten
            (run.folder / name).unlink(missing_ok=True)
    length = max(length_of(options), search.generation)
    done = total_games(options, search, search.generation)
    games = total_games(options, search, length) + len(search.outcome()) * len(options.panel) * options.final_games
    told = f"{length:,} {search.unit}s of {search.games:,} games, {len(search.population):,} players of {search.kind.size:,} genes"
    console.print(f"{told}, {games:,} games, into {run.folder}")
    keeper = Keeper(search, run, measurements)
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
