"""Parameters of scripted families by CMA-ES, compared with those set by hand."""

from __future__ import annotations

from typing import Final

from monopoly_env.reference import table
from studies.evolution.experiment import Experiment, Outcomes, gain
from studies.pages import Page
from training.evolution.cmaes import CmaesOptions
from training.evolution.fitness import FITNESSES

GENERATIONS: Final = {"strategic": 100, "expert": 60}
RUNS: Final = {
    f"families/{genome}_{fitness}": CmaesOptions(
        genome=genome, fitness=fitness, generations=generations, final_games=9600, curve_games=0
    )
    for genome, generations in GENERATIONS.items()
    for fitness in ("four", "two")
}


def section(runs: Outcomes, page: Page) -> str:
    """Wins before and after, at the tables of the search and at unseen ones."""
    del page
    rows = []
    for name, run in runs.items():
        genome, players = name.removeprefix("families/").split("_")
        for row in run.results["tables"]:
            met = "yes" if row["opponents"] in map(str, FITNESSES[players]) else "no"
            rows.append(
                (
                    genome,
                    players,
                    row["opponents"],
                    met,
                    f"{row['start']:.1%}",
                    f"{row['rate']:.1%}",
                    gain(row),
                )
            )
    columns = (
        "family",
        "at tables of",
        "against",
        "met in the search",
        "by hand",
        "evolved",
        "gain, 95%",
    )
    return table(columns, rows)


EXPERIMENT: Final = Experiment("Numbers of scripted families", RUNS, section)
