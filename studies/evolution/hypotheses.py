"""Tests of the hypotheses of Mukhar & Kalita by evolved genes."""

from __future__ import annotations

from typing import Final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

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
from studies.evolution.experiment import Experiment, Outcome, Outcomes, interval
from studies.pages import Page

TRIES: Final = 2000
CHANCES: Final = (0.1, 0.2, 0.4, 0.6, 0.8, 0.95)
# blends of reals are alike after some twenty generations; bits that are cut and joined stay
# different
LASTING: Final = "sga"


def buy_genes(run: Outcome) -> NDArray[np.float64]:
    """(4, 28) mean buy probabilities by situation and lot in the last population; NaN: unused."""
    found = run.population()
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
    """Buy genes by situation, the probability of obtaining a lot, jail."""
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
            page.picture(
                "genes",
                genomes[LASTING].plot(Figure(figsize=(10, 9), layout="constrained")),
                "The mean SGA",
            ),
        ]
    )


def _by_situation(run: Outcome) -> list[str]:
    """Means over lots with all four situations, and the difference of the first and the last."""
    genes = buy_genes(run)
    genes = genes[:, ~np.isnan(genes).any(axis=0)]
    return [interval(row) for row in (*genes, genes[3] - genes[0])]


def _obtaining(chance: float) -> tuple[str, ...]:
    got = obtained(chance)
    low, high = wilson(got * TRIES, TRIES)
    return f"{chance:g}", f"{1 - (1 - chance) ** 2:.3f}", f"{got:.3f} ({low:.3f} to {high:.3f})"


EXPERIMENT: Final = Experiment("Hypotheses about genes", populations.KINDS, section)
