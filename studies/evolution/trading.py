"""Genes that evolve with trading beside those that evolve without, in several runs of each."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from agents.players.genetic import mukhar
from monopoly_env.reference import table
from studies.evolution.experiment import Experiment, Outcomes, interval
from studies.evolution.hypotheses import LASTING, buy_genes
from studies.pages import Page
from training.evolution.generations import MUKHAR2012

GENERATIONS: Final = 51
RULES: Final = {"trading": "mukhar_trading", "no_trading": "mukhar"}
RUNS: Final = {
    f"{name}/{seed}": dataclasses.replace(
        MUKHAR2012, genome=LASTING, rules=rules, generations=GENERATIONS, seed=seed,
        evaluate_every=0,
    )
    for seed in (1, 2, 3)
    for name, rules in RULES.items()
}  # fmt: skip


def section(runs: Outcomes, page: Page) -> str:
    """Chances to buy by situation, and how much runs agree on lots, with trading and without."""
    del page
    with_it, without = (
        np.array([buy_genes(run) for name, run in runs.items() if name.startswith(f"{kind}/")])
        for kind in RULES
    )  # (runs, 4, 28) each
    rows = []
    for number, situation in enumerate(mukhar.SITUATIONS):
        occurs = mukhar.OCCURS[number]
        traded, other = with_it[:, number, occurs], without[:, number, occurs]
        pairs = (
            itertools.product(traded, other),
            *(itertools.combinations(own, 2) for own in (traded, other)),
        )
        means = (interval(own.mean(axis=1)) for own in (traded, other))
        rows.append((situation, *means, *map(_agreement, pairs)))
    return "\n\n".join(
        [
            (
                f"{LASTING}, {GENERATIONS - 1} generations; {len(with_it)} runs with trading,"
                f" {len(without)} without. Mean chance to buy, 95% from the variance between runs;"
                " rank correlation over lots, the mean over pairs of runs."
            ),
            table(
                (
                    "situation", "with trading", "without", "correlation of the two",
                    "of two with", "of two without",
                ),
                rows,
            ),
        ]
    )  # fmt: skip


def _agreement(pairs: Iterable[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> str:
    """The mean rank correlation of pairs."""
    return f"{np.mean([spearmanr(one, other).statistic for one, other in pairs]):+.2f}"


EXPERIMENT: Final = Experiment("What trading changes", RUNS, section)
