"""What evolved genes say to the hypotheses of Mukhar & Kalita."""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import spearmanr

import monopoly_env as me
from agents import genetic
from agents.genetic import mukhar
from agents.genetic.kinds import GeneticPolicy
from agents.policy import Decisions
from monopoly_env.board import LOT_SQUARE, NUM_SQUARES, SQUARE_LOT
from monopoly_env.core import batch_of
from monopoly_env.reference import table
from training.evolution.experiments import populations
from training.evolution.experiments.experiment import Experiment, Outcome, Outcomes, Pictures
from training.evolution.genetic.options import MUKHAR2012

TRIES: Final = 2000
CHANCES: Final = (0.1, 0.2, 0.4, 0.6, 0.8, 0.95)
TRADING: Final = {
    "trading": dataclasses.replace(MUKHAR2012, rules="mukhar_trading", generations=100, panel_every=25),
    "no_trading": dataclasses.replace(MUKHAR2012, generations=100, panel_every=25),
}


def buy_genes(run: Outcome) -> NDArray[np.float64]:
    """(4, 28) the mean chance to buy by situation and lot, over the last population."""
    population = run.population()["population"]
    return np.asarray(population[:, : mukhar.BUY_GENES].mean(axis=0).reshape(-1, NUM_SQUARES)[:, LOT_SQUARE[0]])


def obtained(chance: float, tries: int = TRIES) -> float:
    """How often a player whose buy genes are all the same gets a lot that he lands on, with three at the table who want nothing.

    Every try is a position of its own: all with 1,500 dollars, the first just moved to an orange lot that nobody owns.
    """
    kind = genetic.kind_of("tga")
    players = [kind.policy(np.full(kind.size, gene)) for gene in (chance, 0.0, 0.0, 0.0)]
    return float(np.mean([_gets(players, seed) for seed in range(tries)]))


def _gets(players: list[GeneticPolicy], seed: int) -> bool:
    game = me.position(4, rules="mukhar", positions={0: 13}, throws=[(1, 2)], seed=seed)
    lot = int(SQUARE_LOT[0, 16])
    while int(game.turns) == 1:
        action = players[int(game.player)].act(Decisions(batch_of(game)))[0]
        game = me.step(game, int(action))
    return bool(int(game.lots[0]) >> lot & 1)


def section(runs: Outcomes, pictures: Pictures) -> str:
    """Buy genes by situation, the chance to obtain, jail, trading."""
    kinds = {name: runs[name] for name in ("rga", "tga")}
    told = {name: genetic.explain(run.mean) for name, run in kinds.items()}
    jail = [(name, row["opponents own"], row["states"], f"{row['leaves']:.3f}") for name, genome in told.items() for row in genome.jail]
    kept = [(name, r.name, f"{r.share:.2f}", r.how) for name, genome in told.items() for r in genome.rules if r.share is not None]
    return "\n\n".join(
        [
            "Mean chance to buy by situation, over the 28 lots and the last population; the interval is from the spread between lots.",
            table(("genome", *mukhar.SITUATIONS), [(name, *_by_situation(run)) for name, run in kinds.items()]),
            f"Chance to obtain a lot by a gene p, {TRIES:,} tries each:",
            table(("p", "1 - (1 - p)^2", "obtained"), [_obtaining(chance) for chance in CHANCES]),
            "Mean genome: chance to leave jail by what opponents own.",
            table(("genome", "opponents own", "genes", "leaves"), jail),
            "Mean genome: the rules of thumb.",
            table(("genome", "rule", "share", "how"), kept),
            "Mean chance to buy after 100 generations with and without trading, and the rank correlation over lots between the two:",
            table(("situation", "with trading", "without", "rank correlation"), _trading(runs)),
            pictures.save("genes", genetic.explain(kinds["rga"].mean).plot(Figure(figsize=(10, 9), layout="constrained")), "The mean RGA"),
        ]
    )


def _by_situation(run: Outcome) -> list[str]:
    return [f"{row.mean():.3f} ± {1.96 * row.std(ddof=1) / np.sqrt(len(row)):.3f}" for row in buy_genes(run)]


def _obtaining(chance: float) -> tuple[str, ...]:
    got = obtained(chance)
    half = 1.96 * np.sqrt(got * (1 - got) / TRIES)
    return f"{chance:g}", f"{1 - (1 - chance) ** 2:.3f}", f"{got:.3f} ± {half:.3f}"


def _trading(runs: Outcomes) -> list[tuple[str, ...]]:
    both = zip(mukhar.SITUATIONS, buy_genes(runs["trading"]), buy_genes(runs["no_trading"]), strict=True)
    return [(name, f"{a.mean():.3f}", f"{b.mean():.3f}", f"{spearmanr(a, b).statistic:+.2f}") for name, a, b in both]


_SHARED: Final = {name: populations.KINDS[name] for name in ("rga", "tga")}
EXPERIMENT: Final = Experiment("Hypotheses about genes", _SHARED | TRADING, section)
