"""The skewed fitness of the SGA that Mukhar & Kalita could not explain: is it a crossover bug?"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import skew, ttest_1samp, ttest_ind

from agents.players.genetic import kind_of, mukhar
from agents.players.genetic.kinds import BITS
from monopoly_env.reference import table
from studies.evolution.experiment import Experiment, Outcome, Outcomes, mean_of, percent
from studies.pages import Page
from training.evolution.generations import Generational

SEEDS: Final = 6
CROSSOVERS: Final = {"one_point": False, "legacy": True}
RUNS: Final = {
    f"skew/{name}/{seed}": Generational(
        genome="sga", population=512, matches=25, generations=100, keep_every=10, evaluate_every=0,
        final_games=480,
        seed=seed + SEEDS * legacy, crossover="legacy_sga" if legacy else None,
    )
    for name, legacy in CROSSOVERS.items()
    for seed in range(SEEDS)
}  # fmt: skip


def late_skewness(run: Outcome) -> float:
    """Skewness of the fitness, the mean over the saved generations of the second half."""
    saved = run.saved[len(run.saved) // 2 :]
    return float(np.mean([skew(run.population(generation)["fitness"]) for generation in saved]))


def ones(population: NDArray[Any]) -> NDArray[np.float64]:
    """(6,) the share of ones by bit of the used buy genes, the most significant first."""
    genes = population.reshape(len(population), -1, BITS)
    return np.asarray(genes[:, mukhar.GENE_OF[mukhar.OCCURS]].mean(axis=(0, 1)))


def section(runs: Outcomes, page: Page) -> str:
    """Skewness with the correct and with the faulty crossover, over independent runs."""
    by_name = {
        name: [run for label, run in runs.items() if f"/{name}/" in label] for name in CROSSOVERS
    }
    found = {name: np.array([late_skewness(run) for run in own]) for name, own in by_name.items()}
    difference = ttest_ind(found["legacy"], found["one_point"], equal_var=False)
    bits = [(name, *(f"{share:.2f}" for share in _mean_ones(own))) for name, own in by_name.items()]
    columns = (
        "crossover",
        "runs",
        "skewness of the fitness, 95%",
        "p (no skew)",
        "mean gene",
        "mean genome against the evaluation opponents",
    )
    return "\n\n".join(
        [
            table(columns, [(name, *_row(by_name[name], found[name])) for name in CROSSOVERS]),
            (
                f"Welch's test of legacy against one_point: t = {difference.statistic:.1f}, p ="
                f" {difference.pvalue:.2g}. Skewness is the mean over the saved generations of the"
                " second half of a run; the runs are independent."
            ),
            "Share of ones in the buy genes of the last generation, by the value of the bit:",
            table(("crossover", *(str(1 << bit) for bit in range(BITS - 1, -1, -1))), bits),
            page.picture(
                "skew", _picture(by_name), "Fitness of the last generation with either crossover"
            ),
        ]
    )


def _row(runs: list[Outcome], found: NDArray[np.float64]) -> tuple[str, ...]:
    """The row of a crossover: runs, skewness with its interval and test, mean gene, strength."""
    skewness, half = mean_of(found)
    gene = np.mean([kind_of("sga").decode(run.population()["population"]).mean() for run in runs])
    strength = percent(*mean_of(np.array([run.strength("mean")[0] for run in runs])))
    return (
        str(len(runs)),
        f"{skewness:+.3f} ± {half:.3f}",
        f"{ttest_1samp(found, 0).pvalue:.2g}",
        f"{gene:.3f}",
        strength,
    )


def _mean_ones(runs: list[Outcome]) -> NDArray[np.float64]:
    return np.asarray(np.mean([ones(run.population()["population"]) for run in runs], axis=0))


def _picture(by_name: dict[str, list[Outcome]]) -> Figure:
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    axes = figure.subplots()
    for name, own in by_name.items():
        fitness = np.concatenate([run.population()["fitness"] for run in own])
        axes.hist(fitness, bins=60, density=True, histtype="step", label=name)
    axes.set(xlabel="fitness, last generation", ylabel="density")
    axes.legend()
    return figure


EXPERIMENT: Final = Experiment("The skew of the SGA", RUNS, section)
