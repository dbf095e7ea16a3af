"""The limits of published genomes: uniform genes, and a search by wins against fixed opponents."""

from __future__ import annotations

from typing import Final

import numpy as np

import agents
from agents.players.genetic import kind_of
from agents.players.genetic.kinds import PREFIX
from monopoly_env.policy.protocol import Policy
from monopoly_env.reference import table
from studies.evolution import populations
from studies.evolution.experiment import Experiment, Outcomes, against_each, gain, percent
from studies.pages import Page
from training.evolution.cmaes import CmaesOptions
from training.evolution.fitness import FITNESSES
from training.evolution.populations import AGAINST
from training.evolution.run import EvolutionOptions

RULES: Final = "mukhar"
# Searches by CMA-ES: the genome, and its games.
GAMES: Final = {
    "tga": 200_000,
    "rga": 200_000,
    "tga, longer": 2_000_000,
    "rga, longer": 2_000_000,
}
LEVELS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
SHIPPED: Final = ("rga", "tga", "sga")
POPULATIONS: Final[dict[str, EvolutionOptions]] = {**populations.KINDS}
_MEASURED: Final = 2400
_POPULATION, _EACH = 20, 240


def _search(name: str) -> CmaesOptions:
    return CmaesOptions(
        genome=name.partition(",")[0], fitness=RULES, population=_POPULATION, candidate_games=_EACH,
        generations=GAMES[name] // (_POPULATION * _EACH), sigma=1.0, final_games=9600,
        curve_games=0,
    )  # fmt: skip


SEARCHES: Final = {f"absolute/{name}": _search(name) for name in GAMES}


def section(runs: Outcomes, page: Page) -> str:
    """Wins against the evaluation opponents by origin of the genes.

    Uniform genes, those of populations, of CMA-ES, and the shipped ones.
    """
    del page
    return "\n\n".join(
        [
            (
                f"Wins against three of each evaluation opponent, {_MEASURED:,} games each, 95%"
                " from the variance between seeds; 25% are fair. One run a search: another would"
                " find other genes."
            ),
            _measured(runs),
            (
                f"CMA-ES from genes of a half, {_POPULATION} candidates a generation, {_EACH} games"
                " each, judged by wins against algorithmic, gcp:"
            ),
            table(
                ("genome", "games of evolution", "against", "start", "evolved", "gain, 95%"),
                [row for name in SEARCHES for row in _gains(name, runs)],
            ),
        ]
    )


def _measured(runs: Outcomes) -> str:
    """The table of wins."""
    met = set(map(str, FITNESSES[RULES]))
    columns = [
        f"{opponent}{', met by CMA-ES' if opponent in met else ''}"
        for opponent in (f"3 x {name}" for name in AGAINST)
    ]
    found = against_each(_players(runs), AGAINST, RULES, _MEASURED)
    rows = [(name, *(percent(*rate) for rate in rates)) for name, rates in found.items()]
    return table((f"genome, rules {RULES}", *columns, "mean"), rows)


def uniform(name: str) -> dict[str, Policy]:
    """The players of a kind whose genes are all alike."""
    kind = kind_of(name)
    return {f"all genes {n:g}": kind.policy(np.full(kind.size, n), f"all {n:g}") for n in LEVELS}


def _players(runs: Outcomes) -> dict[str, Policy]:
    """The players that are measured, by their names on the page."""
    players = uniform("tga")
    for name in POPULATIONS:
        results = runs[name].results
        players[f"{name}, mean after {results['generations']} generations"] = runs[name].mean
    players |= {
        f"{name.removeprefix('absolute/')}, by CMA-ES": runs[name].agent for name in SEARCHES
    }
    return players | {
        name: agents.make(name) for name in (f"{PREFIX}{kind}/best" for kind in SHIPPED)
    }


def _gains(name: str, runs: Outcomes) -> list[tuple[str, ...]]:
    """The gain of a search, at its own tables and at unseen ones."""
    settings = SEARCHES[name]
    games = f"{settings.generations * settings.population * settings.candidate_games:,}"
    rows: list[tuple[str, ...]] = []
    for row in runs[name].results["tables"]:
        rows.append(
            (
                name.removeprefix("absolute/"),
                games,
                row["opponents"],
                f"{row['start']:.1%}",
                f"{row['rate']:.1%}",
                gain(row),
            )
        )
    return rows


EXPERIMENT: Final = Experiment(
    "The same genomes, selected by wins against fixed opponents",
    {**SEARCHES, **POPULATIONS},
    section,
)
