"""The limits of published genomes: uniform genes, and a search by wins against fixed opponents."""

from __future__ import annotations

from typing import Final

import numpy as np

import agents
from agents.players.genetic import kind_of
from agents.players.genetic.kinds import PREFIX
from monopoly_env.policy.protocol import Policy
from monopoly_env.reference import table
from studies.evolution import populations, pring
from studies.evolution.experiment import Experiment, Outcomes, against_each, gain, percent
from studies.pages import Page
from training.evolution.cmaes import CmaesOptions
from training.evolution.fitness import FITNESSES
from training.evolution.populations import AGAINST
from training.evolution.run import EvolutionOptions

# Searches by CMA-ES: the genome, and its games.
GAMES: Final = {
    "tga": 200_000,
    "rga": 200_000,
    "tga, longer": 2_000_000,
    "rga, longer": 2_000_000,
    "pring": 400_000,
}
LEVELS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
# By rules: the kind with uniform genes, the shipped players, and the results of populations.
ALIKE: Final = {"mukhar": "tga", "pring": "pring"}
SHIPPED: Final = {"mukhar": ("rga", "tga", "sga"), "pring": ("pring",)}
POPULATIONS: Final[dict[str, dict[str, EvolutionOptions]]] = {
    "mukhar": {**populations.KINDS}, "pring": {"pring/00": pring.REPEATS["pring/00"]},
}  # fmt: skip
_MEASURED: Final = 2400
_POPULATION, _EACH = 20, 240


def _search(name: str) -> CmaesOptions:
    genome = name.partition(",")[0]
    rules = next(rules for rules, kinds in SHIPPED.items() if genome in kinds)
    return CmaesOptions(
        genome=genome, fitness=rules, population=_POPULATION, candidate_games=_EACH,
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
            *(_measured(rules, runs) for rules in ALIKE),
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


def _measured(rules: str, runs: Outcomes) -> str:
    """The table of wins by some rules."""
    met = set(map(str, FITNESSES[rules]))
    columns = [
        f"{opponent}{', met by CMA-ES' if opponent in met else ''}"
        for opponent in (f"3 x {name}" for name in AGAINST)
    ]
    found = against_each(_players(rules, runs), AGAINST, rules, _MEASURED)
    rows = [(name, *(percent(*rate) for rate in rates)) for name, rates in found.items()]
    return table((f"genome, rules {rules}", *columns, "mean"), rows)


def _players(rules: str, runs: Outcomes) -> dict[str, Policy]:
    """The players measured under some rules, by their names on the page."""
    alike = kind_of(ALIKE[rules])
    players: dict[str, Policy] = {
        f"all genes {n:g}": alike.policy(np.full(alike.size, n), f"all {n:g}") for n in LEVELS
    }
    for name in POPULATIONS[rules]:
        results = runs[name].results
        players[f"{name}, mean after {results['generations']} generations"] = runs[name].mean
    searches = [name for name, search in SEARCHES.items() if search.fitness == rules]
    players |= {
        f"{name.removeprefix('absolute/')}, by CMA-ES": runs[name].agent for name in searches
    }
    return players | {
        name: agents.make(name) for name in (f"{PREFIX}{kind}/best" for kind in SHIPPED[rules])
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
    {**SEARCHES, **POPULATIONS["mukhar"], **POPULATIONS["pring"]},
    section,
)
