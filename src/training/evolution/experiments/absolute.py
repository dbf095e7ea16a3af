"""What the genomes of Mukhar & Kalita can do at all: chances that are all alike, and a search that is told wins against a panel."""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.genetic import kind_of
from agents.policy import Policy
from monopoly_env.reference import table
from training.evolution.evaluation import Setting, play
from training.evolution.experiments.experiment import Experiment, Outcomes, Pictures
from training.evolution.genetic.options import PANEL
from training.evolution.options import Options

GAMES: Final = 200_000  # as many as each run of the comparison of fitnesses
LEVELS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
_MEASURED: Final = 2400
_POPULATION, _EACH = 20, 240
RUNS: Final = {
    f"absolute/{genome}": Options(
        genome=genome, fitness="mukhar", population=_POPULATION, games=_EACH, generations=GAMES // (_POPULATION * _EACH), sigma=1.0,
        final_games=9600, curve_games=0,
    )
    for genome in ("tga", "rga")
}  # fmt: skip


def section(runs: Outcomes, pictures: Pictures) -> str:
    """Wins against each of the panel of genomes that are all alike, and of what CMA-ES comes to."""
    del pictures
    alike = kind_of("tga")
    players: list[Policy] = [alike.policy(np.full(alike.size, level), f"all {level:g}") for level in LEVELS]
    players += [run.agent for run in runs.values()]
    names = [*(f"all genes {level:g}" for level in LEVELS), *(f"{name.removeprefix('absolute/')} by CMA-ES" for name in runs)]
    rates = np.array([play(players, [Setting((name,) * 3, 1.0, "mukhar")], _MEASURED, 0).rates for name in PANEL])  # (panel, players)
    measured = [(name, *(f"{rate:.1%}" for rate in row), f"{row.mean():.1%}") for name, row in zip(names, rates.T, strict=True)]
    rows = []
    for name, run in runs.items():
        for row in run.results["tables"]:
            gain = f"{row['difference']:+.1%} ({100 * row['difference_low']:+.1f} to {100 * row['difference_high']:+.1f})"
            rows.append((name.removeprefix("absolute/"), row["opponents"], f"{row['start']:.1%}", f"{row['rate']:.1%}", gain))
    return "\n\n".join(
        [
            f"Wins against three of each of the panel, {_MEASURED:,} games a number (95%: about ± 2 points); 25% are fair.",
            table(("genome", *(f"3 x {name}" for name in PANEL), "mean"), measured),
            f"CMA-ES, {GAMES:,} games of evolution each, from genes of a half; yasumura, landlord and fp it never met:",
            table(("genome", "against", "start", "evolved", "gain, 95%"), rows),
        ]
    )


EXPERIMENT: Final = Experiment("The same genomes, told wins against a panel", RUNS, section)
