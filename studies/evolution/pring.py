"""Pring's table of preferences, over 20 runs, and untested variations."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr

import agents
from agents.players.genetic import pring
from monopoly_env.facts.board import LOT_NAME, NUM_LOTS
from monopoly_env.reference import table
from studies.evolution.absolute import uniform
from studies.evolution.experiment import Experiment, Outcome, Outcomes, against_each, percent
from studies.pages import Page
from training.evolution.populations import AGAINST
from training.evolution.steady import PRING, Steady

GAMES: Final = 400_000
SEEDS: Final = 20
_UK: Final = 2
_MEASURED: Final = 2400
_BASE: Final = dataclasses.replace(PRING, evaluate_every=0, final_games=480)

# Pring 2015, 10,000 players, random-choice crossover, 400,000 games.
PUBLISHED: Final = {
    "Mayfair": 0.932, "Park Lane": 0.929, "Vine Street": 0.907, "Bow Street": 0.898,
    "Marlborough Street": 0.897, "Coventry Street": 0.370,
    "Leicester Square": 0.369, "Piccadilly": 0.368, "Strand": 0.346, "Trafalgar Square": 0.319,
    "Fleet Street": 0.305, "Bond Street": 0.281,
    "Oxford Street": 0.271, "Regent Street": 0.269, "Northumberland Avenue": 0.250,
    "Pall Mall": 0.227, "Whitehall": 0.227,
    "Liverpool Street Station": 0.219, "Euston Road": 0.211, "The Angel Islington": 0.201,
    "Pentonville Road": 0.200,
    "Fenchurch Street Station": 0.194, "Marylebone Station": 0.190, "King's Cross Station": 0.178,
    "Water Works": 0.173,
    "Electric Company": 0.148, "Old Kent Road": 0.147, "Whitechapel Road": 0.116,
}  # fmt: skip


def _varied(**changes: Any) -> Steady:
    """A variation with as many games and the same share of the population per match."""
    settings = dataclasses.replace(_BASE, **changes)
    share = settings.population / _BASE.population * _BASE.winners / settings.winners
    matings = round(_BASE.matings * share)
    return dataclasses.replace(
        settings, matings=matings, generations=round(GAMES / (matings * settings.winners))
    )


VARIATIONS: Final = {
    "as published": _BASE,
    "population 1,000": _varied(population=1000),
    "population 30,000": _varied(population=30_000),
    "mutation rate 0": _varied(mutation_rate=0.0),
    "mutation rate 0.03": _varied(mutation_rate=0.03),
    "mutation rate 0.1": _varied(mutation_rate=0.1),
    "offset by up to 0.1": _varied(mutation="offset"),
    "genes by use": _varied(genome="pring_by_use"),
    "4 levels": _varied(levels=3),
    "11 levels": _varied(levels=10),
    "mean of the winners": _varied(union="mean"),
    "one parent": _varied(winners=1),
    "three parents": _varied(winners=3),
}
REPEATS: Final = {
    f"pring/{seed:02d}": dataclasses.replace(_BASE, seed=seed) for seed in range(SEEDS)
}
VARIED: Final = {
    f"pring/{name}": settings for name, settings in VARIATIONS.items() if settings is not _BASE
}


def preferences(run: Outcome) -> NDArray[np.float64]:
    """(U, 28) the mean preference for each lot of the last population, by use."""
    return np.asarray(run.population()["population"].mean(axis=0).reshape(-1, NUM_LOTS))


def best(runs: Outcomes) -> str:
    """The run as published whose mean genome wins most against the evaluation opponents."""
    return max(
        (name for name in REPEATS if name in runs), key=lambda name: runs[name].strength("mean")
    )


def section(runs: Outcomes, page: Page) -> str:
    """K by lot with the published one, and the effect of each variation."""
    repeats = np.concatenate([preferences(runs[name]) for name in REPEATS if name in runs])
    published = np.array([PUBLISHED[LOT_NAME[_UK][lot]] for lot in range(NUM_LOTS)])
    own, spread = repeats.mean(axis=0), repeats.std(axis=0, ddof=1)
    rows = [
        (LOT_NAME[_UK][lot], f"{published[lot]:.3f}", f"{own[lot]:.3f}", f"{spread[lot]:.3f}")
        for lot in np.argsort(-published)
    ]
    names = {name: f"pring/{name}" for name in VARIATIONS} | {"as published": next(iter(REPEATS))}
    varied = {name: runs[run] for name, run in names.items() if run in runs}
    others = repeats[1:].mean(axis=0)  # without the baseline of the variations
    columns = (
        "variation",
        "rank correlation with Pring",
        "correlation",
        "rank correlation with the mean of ours",
        "standard deviation in the population",
        "mean genome against the evaluation opponents",
    )
    lines = [line for name, run in varied.items() for line in _rows(name, run, published, others)]
    parts = [
        table(
            ("lot", "K, Pring", f"K, mean of {len(repeats)} runs", "deviation between runs"),
            rows,
        ),
        _correlations(repeats, published, runs),
        _strengths(runs),
        page.picture("pring", _lots(published, repeats), "K by lot"),
    ]
    if len(varied) > 1:
        picture = _variations(varied, own)
        parts += [
            table(columns, lines),
            page.picture("pring_variations", picture, "K by lot and variation"),
        ]
    return "\n\n".join(parts)


def _correlations(
    repeats: NDArray[np.float64], published: NDArray[np.float64], runs: Outcomes
) -> str:
    """Correlations of the runs with the published preferences and with each other."""
    mean = spearmanr(repeats.mean(axis=0), published)
    single = [spearmanr(row, published).statistic for row in repeats]
    lines = [pearsonr(row, published).statistic for row in repeats]
    pairs = [spearmanr(*pair).statistic for pair in itertools.combinations(repeats, 2)]
    depths = [runs[name].last("depth/mean") for name in REPEATS if name in runs]
    return (
        f"{len(repeats)} of {SEEDS} runs. Rank correlation of the mean with the published K:"
        f" {mean.statistic:+.2f} (p ="
        f" {mean.pvalue:.2g}); of single runs {min(single):+.2f} to {max(single):+.2f}, Pearson's"
        f" {min(lines):+.2f} to {max(lines):+.2f}. Between two of our own runs:"
        f" {min(pairs):+.2f} to {max(pairs):+.2f}, {np.mean(pairs):+.2f} in the mean. Generations"
        f" behind a player at the end: {np.mean(depths):.0f} in the mean."
    )


def _rows(
    name: str, run: Outcome, published: NDArray[np.float64], own: NDArray[np.float64]
) -> list[tuple[str, ...]]:
    """A variation's correlations, by use, and spread and strength of its genomes."""
    found, lines = preferences(run), list[tuple[str, ...]]()
    spreads = run.population()["population"].std(axis=0).reshape(len(found), -1).mean(axis=1)
    for use, row, spread in zip(pring.USES, found, spreads, strict=False):
        lines.append(
            (
                name if len(found) == 1 else f"{name}: {use}",
                f"{spearmanr(row, published).statistic:+.2f}",
                f"{pearsonr(row, published).statistic:+.2f}",
                f"{spearmanr(row, own).statistic:+.2f}",
                f"{spread:.3f}",
                percent(*run.strength("mean")),
            )
        )
    return lines


def _strengths(runs: Outcomes) -> str:
    """Wins of uniform genomes, and of those of the runs, against the evaluation opponents."""
    players = uniform("pring") | {f"{best(runs)}, mean genome": runs[best(runs)].mean}
    players["genetic/pring/best"] = agents.make("genetic/pring/best")
    found = against_each(players, AGAINST, _BASE.rules, _MEASURED)
    rows = [(name, *(percent(*rate) for rate in rates)) for name, rates in found.items()]
    columns = (f"wins in {_MEASURED:,} games each", *(f"3 x {name}" for name in AGAINST), "mean")
    return table(columns, rows)


def _lots(published: NDArray[np.float64], repeats: NDArray[np.float64]) -> Figure:
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.boxplot(repeats, positions=range(NUM_LOTS), widths=0.6)
    axes.plot(range(NUM_LOTS), published, "o", color="crimson", label="Pring")
    axes.set(ylabel="K", ylim=(0, 1))
    axes.set_xticks(range(NUM_LOTS), LOT_NAME[_UK], rotation=90, fontsize="small")
    axes.legend()
    return figure


def _variations(runs: dict[str, Outcome], own: NDArray[np.float64]) -> Figure:
    figure = Figure(figsize=(12, 2.4 * -(-len(runs) // 3)), layout="constrained")
    grid = figure.subplots(-(-len(runs) // 3), 3, sharex=True, sharey=True).ravel()
    for axes, (name, run) in zip(grid, runs.items(), strict=False):
        axes.bar(range(NUM_LOTS), preferences(run)[-1], color="steelblue")
        axes.plot(range(NUM_LOTS), own, ".", color="black", markersize=4)
        axes.set_title(name, fontsize="small")
    grid[0].set(ylim=(0, 1))
    figure.supylabel("K (dots: mean of the runs as published)")
    return figure


EXPERIMENT: Final = Experiment("Pring's preferences", REPEATS | VARIED, section)
