"""What the genomes of Mukhar & Kalita can do at all: chances that are all alike, and a search that is told wins against a panel."""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.genetic import kind_of
from agents.policy import Policy
from monopoly_env.reference import table
from training.evolution.evaluation import FITNESSES
from training.evolution.experiments import populations
from training.evolution.experiments.experiment import Experiment, Outcomes, Pictures, against_each, gain, percent
from training.evolution.genetic.options import PANEL
from training.evolution.options import Options

GAMES: Final = {"tga": 200_000, "rga": 200_000, "tga, longer": 2_000_000, "rga, longer": 2_000_000}
LEVELS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
_RULES: Final = "mukhar"
_MEASURED: Final = 2400
_POPULATION, _EACH = 20, 240
SEARCHES: Final = {
    f"absolute/{name}": Options(
        genome=name.partition(",")[0], fitness=_RULES, population=_POPULATION, games=_EACH, generations=games // (_POPULATION * _EACH),
        sigma=1.0, final_games=9600, curve_games=0,
    )
    for name, games in GAMES.items()
}  # fmt: skip


def section(runs: Outcomes, pictures: Pictures) -> str:
    """Wins against the panel of genomes that are all alike, of what came of populations, and of what CMA-ES comes to."""
    del pictures
    players = _players(runs)
    told = against_each(players, PANEL, _RULES, _MEASURED)
    met = set(map(str, FITNESSES[_RULES]))
    columns = [f"{opponent}{', met by CMA-ES' if opponent in met else ''}" for opponent in (f"3 x {name}" for name in PANEL)]
    return "\n\n".join(
        [
            f"Rules `{_RULES}` and the bids of 2012, as in the populations. Wins against three of each of the panel, {_MEASURED:,} games "
            "each, 95% from the spread between seeds; 25% are fair. One run a search: another one would come to other genes.",
            table(("genome", *columns, "mean"), [(name, *(percent(*rate) for rate in rates)) for name, rates in told.items()]),
            f"CMA-ES from genes of a half, {_POPULATION} candidates a generation, {_EACH} games each, told wins against algorithmic, gcp:",
            table(
                ("genome", "games of evolution", "against", "start", "evolved", "gain, 95%"),
                [row for name in SEARCHES for row in _gains(name, runs)],
            ),
        ]
    )


def _players(runs: Outcomes) -> dict[str, Policy]:
    """Who is measured, by what the page calls him."""
    alike = kind_of("tga")
    players: dict[str, Policy] = {f"all genes {n:g}": alike.policy(np.full(alike.size, n), f"all {n:g}") for n in LEVELS}
    for name in populations.KINDS:
        players[f"{name}, mean after {runs[name].results['generations']} generations"] = runs[name].mean
    return players | {f"{name.removeprefix('absolute/')}, by CMA-ES": runs[name].agent for name in SEARCHES}


def _gains(name: str, runs: Outcomes) -> list[tuple[str, ...]]:
    """What a search brought, at its own tables and at those of strangers."""
    settings = SEARCHES[name]
    games = f"{settings.generations * settings.population * settings.games:,}"
    rows: list[tuple[str, ...]] = []
    for row in runs[name].results["tables"]:
        rows.append((name.removeprefix("absolute/"), games, row["opponents"], f"{row['start']:.1%}", f"{row['rate']:.1%}", gain(row)))
    return rows


EXPERIMENT: Final = Experiment("The same genomes, told wins against a panel", {**SEARCHES, **populations.KINDS}, section)
