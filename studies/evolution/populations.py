"""Figure 4 of Mukhar & Kalita, generation 0 against 100, and their three genomes side by side."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import linregress, norm
from scipy.stats import t as student

from agents.players.genetic import kind_of, mukhar
from monopoly_env.reference import table
from studies.evolution.experiment import Experiment, Outcome, Outcomes, percent
from studies.pages import Page
from training.evolution.fitness import MEASURES
from training.evolution.generations import MUKHAR2012, Generational

RANDOM: Final = {
    f"random/{seed:02d}": dataclasses.replace(MUKHAR2012, generations=1, seed=seed, against=())
    for seed in range(30)
}
KINDS: Final = {
    kind: dataclasses.replace(
        MUKHAR2012, genome=kind, generations=generations, keep_every=100, evaluate_every=25
    )
    for kind, generations in (("rga", 1000), ("tga", 1000), ("sga", 300))
}
# Figure 4 for every fitness: 1,024 players, which a tournament halves to a winner, and a tenth of
# the matches.
FITNESSES: Final = {
    f"measures/{fitness}": dataclasses.replace(
        MUKHAR2012,
        fitness=fitness,
        population=1024,
        matches=10,
        generations=101,
        keep_every=100,
        evaluate_every=0,
        against=(),
    )
    for fitness in MEASURES
    if fitness != "num_monopolies_of_8"  # in raw points it is num_monopolies
}

_BINS: Final = 25  # of a distribution, at most


def by_chance(settings: Generational) -> tuple[float, float, float]:
    """Standard deviation, expected minimum and maximum of the fitness of N equal players.

    Under FINISH_ORDER a game gives 0, 1, 2 or 3 points with equal probability: variance 5/4. The
    extremes are the quantiles 1/2N and 1 - 1/2N of the sum's normal approximation.
    """
    deviation = float(np.sqrt(settings.matches * 5 / 4))
    reach = deviation * float(norm.isf(1 / (2 * settings.population)))
    return deviation, 1.5 * settings.matches - reach, 1.5 * settings.matches + reach


def section(runs: Outcomes, page: Page) -> str:
    """Distributions of fitness, and the strength of the results."""
    random = [run for name, run in runs.items() if name.startswith("random/")]
    kinds = {name: run for name, run in runs.items() if name in KINDS}
    settings = next(iter(kinds.values())).settings
    assert isinstance(settings, Generational)
    rows = [
        (
            "equal players, by luck alone",
            f"{1.5 * settings.matches:g}",
            *(f"{value:.1f}" for value in by_chance(settings)),
            "",
            "",
        )
    ]
    first = np.array([run.population()["fitness"] for run in random])  # (30, 1000)
    reach = first.min(axis=1).mean(), first.max(axis=1).mean()
    cells = (f"{number:.1f}" for number in (first.std(), *reach))
    rows.append((f"{len(random)} random populations", f"{first.mean():.2f}", *cells, "", ""))
    for name, run in kinds.items():
        for generation in (*run.saved, None):
            population = run.population(generation)
            fitness = population["fitness"]
            played = run.results["generations"] if generation is None else generation
            label = f"{name}, generation {played - 1}"
            ends = f"{fitness.min():.0f}", f"{fitness.max():.0f}"
            rows.append(
                (label, f"{fitness.mean():.2f}", f"{fitness.std():.1f}", *ends, *_genes(population))
            )
    strength = [
        (
            name,
            *(percent(*run.strength(player)) for player in ("champion", "mean")),
            _trend(run),
            *_cost(run),
        )
        for name, run in kinds.items()
    ]
    return "\n\n".join(
        [
            (
                "Fitness FINISH_ORDER, raw. The paper: mean 149.96; RGA spans 92 to 204 in"
                " generation 0 and 112 to 184 in generation 100."
            ),
            table(
                (
                    "population",
                    "mean",
                    "deviation",
                    "least",
                    "most",
                    "mean chance to buy",
                    "its spread",
                ),
                rows,
            ),
            (
                "Of random populations least and most are means over the populations. Chances to"
                " buy are means over situations and lots, their spread is that between players."
                " Below, one run a kind: intervals are of its games, not of other runs. Wins of 25%"
                " are fair against the evaluation opponents."
            ),
            table(
                (
                    "genome",
                    "champion against the evaluation opponents",
                    "mean genome",
                    "its gain in 1,000 generations",
                    "games of evolution",
                    "minutes",
                    "games/s",
                ),
                strength,
            ),
            page.picture(
                "fitness",
                _distributions(kinds, len(kinds)),
                "Fitness in the first and the last generation",
            ),
            page.picture(
                "measures",
                _distributions({name: runs[name] for name in FITNESSES if name in runs}, 4),
                "Fitness in generations 0 and 100, by what it counts, 10 matches each",
            ),
            page.picture(
                "strength", _strengths(kinds), "Wins against the evaluation opponents by generation"
            ),
        ]
    )


def _genes(population: dict[str, NDArray[Any]]) -> tuple[str, str]:
    """Mean buy probability of a population, and its standard deviation between players."""
    chances = kind_of(str(population["kind"])).decode(population["population"])[
        :, mukhar.GENE_OF[mukhar.OCCURS]
    ]
    return f"{chances.mean():.3f}", f"{chances.std(axis=0).mean():.3f}"


def _cost(run: Outcome) -> tuple[str, ...]:
    """Games, minutes and games a second of a run, including measurements."""
    games, seconds = run.results["games"], run.results["seconds"]
    return f"{games:,}", f"{seconds / 60:.0f}", f"{games / seconds:,.0f}"


def _distributions(runs: Outcomes, columns: int) -> Figure:
    """The fitness in the first and the last generation of each run."""
    rows = math.ceil(len(runs) / columns)
    figure = Figure(figsize=(12, 2.6 * rows + 0.4), layout="constrained")
    frames = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in frames[len(runs) :]:
        axes.set_axis_off()
    for axes, (name, run) in zip(frames, runs.items(), strict=False):
        parts = {0: run.population(1)["fitness"], run.played - 1: run.population()["fitness"]}
        values = np.unique(np.concatenate(list(parts.values())))
        step = max((values[-1] - values[0]) / _BINS, np.diff(values).min())
        bins = np.arange(values[0], values[-1] + 2 * step, step) - step / 2
        for generation, fitness in parts.items():
            label = f"generation {generation}: {fitness.min():.4g} to {fitness.max():.4g}"
            axes.hist(fitness, bins, histtype="step", label=label)
        axes.set(title=name.removeprefix("measures/"), yticks=[])
        axes.margins(y=0.4)  # room for the legend
        axes.legend(fontsize="x-small", loc="upper left")
    return figure


def _curve(run: Outcome, player: str) -> dict[int, float]:
    """By generation, the wins of a player against the evaluation opponents."""
    rates: dict[int, list[float]] = {}
    for row in run.results["measurements"]:
        if row["player"] == player and not row["hall"]:
            rates.setdefault(row["generation"], []).append(row["rate"])
    return {generation: float(np.mean(own)) for generation, own in sorted(rates.items())}


def _trend(run: Outcome) -> str:
    """The slope of the mean genome's curve, a line by least squares, with its 95% interval."""
    curve = _curve(run, "mean")
    if len(curve) < 3:
        return ""
    line = linregress(np.array(list(curve)) / 1000, list(curve.values()))
    return percent(line.slope, line.stderr * float(student.ppf(0.975, len(curve) - 2)))


def _strengths(kinds: Outcomes) -> Figure:
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for number, (name, run) in enumerate(kinds.items()):
        for player, style in (("champion", "-"), ("mean", "--")):
            curve = _curve(run, player)
            axes.plot(
                list(curve),
                list(curve.values()),
                style,
                color=f"C{number}",
                label=f"{name}, {player}",
            )
    axes.axhline(0.25, color="grey", linewidth=0.8)
    axes.set(xlabel="generation", ylabel="wins against the evaluation opponents")
    figure.legend(fontsize="small", loc="outside right upper")
    return figure


EXPERIMENT: Final = Experiment(
    "Random populations, and three kinds of genomes", RANDOM | KINDS | FITNESSES, section
)
