"""Comparison of seven fitness functions, four population sizes and four numbers of matches."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from monopoly_env.reference import table
from studies.evolution.experiment import Experiment, Outcomes, against_each, mean_of, percent
from studies.pages import Page
from training.evolution.generations import MUKHAR2013, Generational, games_of
from training.evolution.populations import AGAINST

GAMES: Final = 200_000
FITNESSES: Final = (
    "num_wins",
    "finish_order",
    "num_properties",
    "num_monopolies",
    "net_worth_share",
    "tournament",
    "net_worth",
)
POPULATIONS: Final = (32, 128, 512, 1024)
MATCHES: Final = (7, 25, 50, 100)
PLAYERS: Final = ("champion", "mean")
_MEASURED: Final = 4800
BASE: Final = "finish_order"  # the baseline


def _run(fitness: str, population: int, matches: int, seed: int) -> Generational:
    settings = dataclasses.replace(
        MUKHAR2013,
        fitness=fitness,
        population=population,
        matches=matches,
        seed=seed,
        evaluate_every=0,
        final_games=800,
    )
    return dataclasses.replace(
        settings, generations=max(1, round(GAMES / games_of(population, settings)))
    )


RUNS: Final = {
    f"fitnesses/{fitness}/{population}x{matches}": _run(fitness, population, matches, seed)
    for seed, (fitness, population, matches) in enumerate(
        itertools.product(FITNESSES, POPULATIONS, MATCHES)
    )
}
Rates = dict[str, NDArray[np.float64]]  # by run: of each of PLAYERS


def section(runs: Outcomes, page: Page) -> str:
    """Wins of champion and mean genome, by fitness, by population, by matches, and the best.

    A fitness counts once all its runs are finished.
    """
    finished = [name for name in FITNESSES if _names(name) <= runs.keys()]
    measured = {
        run.removeprefix("fitnesses/"): [runs[run].strength(player) for player in PLAYERS]
        for name in finished
        for run in sorted(_names(name))
    }
    rates: Rates = {name: np.array([rate for rate, _ in pairs]) for name, pairs in measured.items()}
    best = sorted(measured, key=lambda name: -rates[name].max())[:5]
    return "\n\n".join(
        [
            (
                "Wins against the evaluation opponents: 25% are fair. Means over the other two, one"
                " run a cell; intervals, 95%, from the variance between cells. The last two"
                f" columns are paired with the same populations and matches by {BASE}."
            ),
            table(
                ("fitness", *PLAYERS, *(f"{player}, less {BASE}" for player in PLAYERS)),
                [_before_evolution(), *(_by_fitness(rates, name) for name in finished)],
            ),
            table(
                ("population", *PLAYERS),
                [(f"{size:,}", *_means(rates, f"/{size}x")) for size in POPULATIONS],
            ),
            table(
                ("matches", *PLAYERS),
                [(number, *_means(rates, f"x{number}/")) for number in MATCHES],
            ),
            "The five best of all runs (the luckiest, too), with the intervals of their games:",
            table(
                ("fitness, population x matches", *PLAYERS),
                [(name, *(percent(*pair) for pair in measured[name])) for name in best],
            ),
            page.picture(
                "fitnesses",
                _picture(rates),
                "Wins of the mean genome by fitness, population and matches",
            ),
        ]
    )


def _names(fitness: str) -> set[str]:
    """The names of the runs of a fitness."""
    return {name for name in RUNS if name.startswith(f"fitnesses/{fitness}/")}


def _before_evolution() -> tuple[str, ...]:
    """The wins of the mean of random genomes."""
    settings = next(iter(RUNS.values()))
    kind = settings.kind
    half = {"half": kind.policy(np.full(kind.size, 0.5))}
    return (
        "none: all genes a half",
        "",
        percent(*against_each(half, AGAINST, settings.rules, _MEASURED)["half"][-1]),
        "",
        "",
    )


def _by_fitness(rates: Rates, fitness: str) -> tuple[str, ...]:
    """Means of a fitness, and their differences from the baseline."""
    cells = [name.partition("/")[2] for name in rates if name.startswith(f"{fitness}/")]
    gains = np.array([rates[f"{fitness}/{cell}"] - rates[f"{BASE}/{cell}"] for cell in cells])
    return (
        fitness,
        *_means(rates, f"{fitness}/"),
        *(["", ""] if fitness == BASE else [percent(*mean_of(gain)) for gain in gains.T]),
    )


def _means(rates: Rates, part: str) -> list[str]:
    """Mean rates of both players over the runs with a part in their names."""
    own = np.array([rate for name, rate in rates.items() if part in f"{name}/"])  # (runs, players)
    return [percent(*mean_of(column)) for column in own.T]


def _picture(rates: Rates) -> Figure:
    grids = {
        name: np.array([[rates[f"{name}/{n}x{m}"][1] for m in MATCHES] for n in POPULATIONS])
        for name in FITNESSES
        if f"{name}/{POPULATIONS[0]}x{MATCHES[0]}" in rates
    }
    low, high = (
        min(grid.min() for grid in grids.values()),
        max(grid.max() for grid in grids.values()),
    )
    columns = min(4, len(grids))
    rows = math.ceil(len(grids) / columns)
    figure = Figure(figsize=(3 * columns, 3 * rows), layout="constrained")
    frames = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in frames[len(grids) :]:
        axes.set_axis_off()
    for axes, (name, grid) in zip(frames, grids.items(), strict=False):
        shown = axes.imshow(grid, vmin=low, vmax=high, cmap="viridis")
        for (row, column), rate in np.ndenumerate(grid):
            axes.text(
                column,
                row,
                f"{100 * rate:.0f}",
                ha="center",
                va="center",
                color="white" if rate < (low + high) / 2 else "black",
            )
        axes.set(title=name, xlabel="matches", ylabel="population")
        axes.set_xticks(range(len(MATCHES)), MATCHES)
        axes.set_yticks(range(len(POPULATIONS)), POPULATIONS)
    figure.colorbar(shown, ax=figure.axes, label="wins of the mean genome")
    return figure


EXPERIMENT: Final = Experiment("Which fitness evolves the strongest player?", RUNS, section)
