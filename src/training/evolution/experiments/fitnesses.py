"""Which fitness evolves the strongest player in absolute terms? Six fitnesses, four populations, four numbers of matches, as many games."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Final

import numpy as np
from matplotlib.figure import Figure

from monopoly_env.reference import table
from training.evolution.experiments.experiment import Experiment, Outcomes, Pictures, percent
from training.evolution.genetic.generation import games_of
from training.evolution.genetic.options import MUKHAR2013, Generational

GAMES: Final = 200_000
FITNESSES: Final = ("num_wins", "finish_order", "num_properties", "num_monopolies", "net_worth_share", "tournament")
POPULATIONS: Final = (32, 128, 512, 1024)
MATCHES: Final = (7, 25, 50, 100)
PLAYERS: Final = ("champion", "mean")


def _run(fitness: str, population: int, matches: int) -> Generational:
    settings = dataclasses.replace(MUKHAR2013, fitness=fitness, population=population, matches=matches, panel_every=0, final_games=800)
    return dataclasses.replace(settings, generations=max(1, round(GAMES / games_of(population, settings.play))))


RUNS: Final = {
    f"fitnesses/{fitness}/{population}x{matches}": _run(fitness, population, matches)
    for fitness, population, matches in itertools.product(FITNESSES, POPULATIONS, MATCHES)
}


Rates = dict[str, list[tuple[float, float]]]  # by run, of each of PLAYERS: rate, half the width of its interval


def section(runs: Outcomes, pictures: Pictures) -> str:
    """Wins of the champion and of the mean genome against the panel: by fitness, by population, by matches, and the best of all."""
    rates = {name.removeprefix("fitnesses/"): [run.against_panel(player) for player in PLAYERS] for name, run in runs.items()}
    tables: dict[str, list[tuple[object, ...]]] = {
        "fitness": [(name, *_over(rates, f"{name}/")) for name in FITNESSES],
        "population": [(f"{size:,}", *_over(rates, f"/{size}x")) for size in POPULATIONS],
        "matches": [(number, *_over(rates, f"x{number}")) for number in MATCHES],
    }
    best = sorted(rates, key=lambda name: -max(rate for rate, _ in rates[name]))[:5]
    tables["best of all runs (the luckiest, too): fitness, population x matches"] = [
        (name.replace("/", ", "), *(percent(*pair) for pair in rates[name])) for name in best
    ]
    told = [table((name, *PLAYERS), rows) for name, rows in tables.items()]
    return "\n\n".join([*told, pictures.save("fitnesses", _picture(rates), "Wins of the mean genome by fitness, population and matches")])


def _over(rates: Rates, part: str) -> list[str]:
    """Mean rates of both players over the runs in whose names a part occurs; their games are independent."""
    own = np.array([rates[name] for name in rates if part in name and (part[0] != "x" or name.endswith(part))])  # (runs, players, 2)
    halves = np.sqrt((own[..., 1] ** 2).sum(axis=0)) / len(own)
    return [percent(*pair) for pair in zip(own[..., 0].mean(axis=0), halves, strict=True)]


def _picture(rates: Rates) -> Figure:
    figure = Figure(figsize=(11, 6), layout="constrained")
    grids = {name: np.array([[rates[f"{name}/{n}x{m}"][1][0] for m in MATCHES] for n in POPULATIONS]) for name in FITNESSES}
    low, high = min(grid.min() for grid in grids.values()), max(grid.max() for grid in grids.values())
    for axes, (name, grid) in zip(figure.subplots(2, 3).ravel(), grids.items(), strict=True):
        shown = axes.imshow(grid, vmin=low, vmax=high, cmap="viridis")
        for (row, column), rate in np.ndenumerate(grid):
            axes.text(column, row, f"{100 * rate:.0f}", ha="center", va="center", color="white" if rate < (low + high) / 2 else "black")
        axes.set(title=name, xlabel="matches", ylabel="population")
        axes.set_xticks(range(len(MATCHES)), MATCHES)
        axes.set_yticks(range(len(POPULATIONS)), POPULATIONS)
    figure.colorbar(shown, ax=figure.axes, label="wins of the mean genome")
    return figure


EXPERIMENT: Final = Experiment("Which fitness evolves the strongest player?", RUNS, section)
