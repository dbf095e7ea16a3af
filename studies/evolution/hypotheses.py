"""Tests of the hypotheses of Mukhar & Kalita by evolved genes."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import spearmanr

import monopoly_env as me
from agents.players import genetic
from agents.players.genetic import mukhar
from agents.players.genetic.kinds import GeneticPolicy
from monopoly_env.core import batch_of
from monopoly_env.facts.board import SQUARE_LOT
from monopoly_env.intervals import wilson
from monopoly_env.policy.protocol import MEMORY, Decisions
from monopoly_env.reference import table
from studies.evolution import populations
from studies.evolution.experiment import Experiment, Outcome, Outcomes, mean_of
from studies.pages import Page
from training.evolution.generations import MUKHAR2012

TRIES: Final = 2000
CHANCES: Final = (0.1, 0.2, 0.4, 0.6, 0.8, 0.95)
LENGTH: Final = 101
# blends of reals are alike after some twenty generations; bits that are cut and joined stay
# different
_LASTING: Final = "sga"
# By rules, with seeds of their own: what differs within a row of runs is chance.
TRADING: Final = {
    f"{name}/{seed}": dataclasses.replace(
        MUKHAR2012, genome=_LASTING, rules=rules, generations=LENGTH, seed=seed, evaluate_every=0
    )
    for seed in (1, 2, 3)
    for name, rules in (("trading", "mukhar_trading"), ("no_trading", "mukhar"))
}


def buy_genes(run: Outcome, generation: int | None = None) -> NDArray[np.float64]:
    """(4, 28) the mean buy probability by situation and lot, of the last or a saved population.

    NaN for unused genes.
    """
    found = run.population(generation)
    chances = genetic.kind_of(str(found["kind"])).decode(found["population"])
    return np.where(mukhar.OCCURS, chances.mean(axis=0)[mukhar.GENE_OF], np.nan)


def obtained(chance: float, tries: int = TRIES) -> float:
    """The probability that a player with uniform buy genes gets a lot that it lands on.

    The three other players never buy. Every try is a new position: all have 1,500 dollars, and the
    first has just moved to an unowned orange lot.
    """
    kind = genetic.kind_of("tga")
    players = [kind.policy(np.full(kind.size, gene)) for gene in (chance, 0.0, 0.0, 0.0)]
    return float(np.mean([_gets(players, seed) for seed in range(tries)]))


def _gets(players: list[GeneticPolicy], seed: int) -> bool:
    game = me.position(4, rules="mukhar", positions={0: 13}, throws=[(1, 2)], seed=seed)
    lot = int(SQUARE_LOT[0, 16])
    # a bid is drawn once, then made digit by digit
    memories = [np.zeros((1, MEMORY)) for _ in players]
    while int(game.turns) == 1:
        seat = int(game.player)
        action = players[seat].act(Decisions(batch_of(game), memories[seat]))[0]
        game = me.step(game, int(action))
    return bool(int(game.lots[0]) >> lot & 1)


def section(runs: Outcomes, page: Page) -> str:
    """Buy genes by situation, the probability of obtaining a lot, jail, trading."""
    kinds = {name: runs[name] for name in populations.KINDS}
    genomes = {name: genetic.explain(run.mean) for name, run in kinds.items()}
    jail = [
        (name, row["opponents own"], row["states"], f"{row['leaves']:.3f}")
        for name, genome in genomes.items()
        for row in genome.jail
    ]
    kept = [
        (name, r.name, f"{r.share:.2f}", r.how)
        for name, genome in genomes.items()
        for r in genome.rules
        if r.share is not None
    ]
    return "\n\n".join(
        [
            (
                "Mean chance to buy by situation, over the last population and the lots of groups"
                " of three and more (two others cannot own in a smaller one whose lot is for sale);"
                " one run a kind; intervals, 95%, from the variance between lots, too narrow for"
                " bits, which are inherited with their neighbours."
            ),
            table(
                ("genome", *mukhar.SITUATIONS, "last less first"),
                [(name, *_by_situation(run)) for name, run in kinds.items()],
            ),
            f"Chance to obtain a lot by a gene p, {TRIES:,} tries each:",
            table(("p", "1 - (1 - p)^2", "obtained"), [_obtaining(chance) for chance in CHANCES]),
            "Mean genome: chance to leave jail by what opponents own.",
            table(("genome", "opponents own", "genes", "leaves"), jail),
            "Mean genome: the rules of thumb.",
            table(("genome", "rule", "share", "how"), kept),
            (
                f"Mean chance to buy with and without trading, after {LENGTH - 1} generations, 95%"
                " from the variance between runs; and the rank correlation over lots, in the mean"
                " over pairs of runs: of one with and one without, of two with, and of two without."
            ),
            table(
                (
                    "situation",
                    "with trading",
                    "without",
                    "correlation of the two",
                    "within trading",
                    "within the others",
                ),
                _trading(runs),
            ),
            page.picture(
                "genes",
                genomes[_LASTING].plot(Figure(figsize=(10, 9), layout="constrained")),
                "The mean SGA",
            ),
        ]
    )


def _by_situation(run: Outcome) -> list[str]:
    """Means over lots with all four situations, and the difference of the first and the last."""
    genes = buy_genes(run)
    genes = genes[:, ~np.isnan(genes).any(axis=0)]
    return [_interval(row) for row in (*genes, genes[3] - genes[0])]


def _interval(values: NDArray[np.float64]) -> str:
    mean, half = mean_of(values)
    return f"{mean:.3f} ± {half:.3f}"


def _obtaining(chance: float) -> tuple[str, ...]:
    got = obtained(chance)
    low, high = wilson(got * TRIES, TRIES)
    return f"{chance:g}", f"{1 - (1 - chance) ** 2:.3f}", f"{got:.3f} ({low:.3f} to {high:.3f})"


def _trading(runs: Outcomes) -> list[tuple[str, ...]]:
    """By situation: mean chances with and without trading, and rank correlations between runs."""
    genes = {
        kind: np.array(
            [buy_genes(run) for name, run in runs.items() if name.startswith(f"{kind}/")]
        )  # (runs, 4, 28)
        for kind in ("trading", "no_trading")
    }
    with_it, without = genes.values()
    rows = []
    for number, name in enumerate(mukhar.SITUATIONS):
        occurs = mukhar.OCCURS[number]
        traded, other = with_it[:, number, occurs], without[:, number, occurs]
        pairs = (
            itertools.product(traded, other),
            *(itertools.combinations(own, 2) for own in (traded, other)),
        )
        rows.append((name, *(_interval(own.mean(axis=1)) for own in (traded, other)),
                     *map(_agreement, pairs)))  # fmt: skip
    return rows


def _agreement(pairs: Iterable[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> str:
    """The mean rank correlation of pairs."""
    return f"{np.mean([spearmanr(one, other).statistic for one, other in pairs]):+.2f}"


EXPERIMENT: Final = Experiment("Hypotheses about genes", {**populations.KINDS, **TRADING}, section)
