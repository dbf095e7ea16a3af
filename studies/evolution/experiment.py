"""Experiments, and the results in the folders of their runs."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

import agents
from agents import arena
from agents.arena.evaluation import Seating
from monopoly_env.files import read_file, read_json, understood
from monopoly_env.files.arrays import read_arrays
from monopoly_env.intervals import half_width
from monopoly_env.policy.names import PolicyLike
from monopoly_env.policy.protocol import Policy
from studies.pages import Page
from training.evolution.populations import MEAN, POPULATION, mean_rate, overall, population_file
from training.evolution.run import EvolutionOptions
from training.run.folder import Run

TURN_LIMIT: Final = 500  # turns of each player, as in the runs


@dataclass(frozen=True)
class Outcome:
    """A finished run.

    Attributes:
        folder: Its folder.
        settings: Its settings.
    """

    folder: Path
    settings: EvolutionOptions

    @property
    def evaluation(self) -> Path:
        """The file that marks a finished run."""
        return self.folder / "evaluation.json"

    @cached_property
    def results(self) -> dict[str, Any]:
        """What evaluation.json holds."""
        results: dict[str, Any] = read_json(read_file(self.evaluation))
        return results

    @property
    def played(self) -> int:
        """The number of generations.

        Raises:
            FormatError: evaluation.json is damaged.
        """
        with understood(self.evaluation):
            return int(self.results["generations"])

    def last(self, name: str) -> float:
        """The last value of a curve.

        Raises:
            FormatError: curves.csv is damaged.
        """
        path = self.folder / "curves.csv"
        with understood(path):
            *_, row = csv.DictReader(read_file(path).decode().splitlines())
            return float(row[name])

    @cached_property
    def agent(self) -> Policy:
        """The agent of the run."""
        return agents.load(Run(self.folder).agent)

    @cached_property
    def mean(self) -> Policy:
        """The mean genome of a population."""
        return agents.load(self.folder / MEAN)

    def population(self, generation: int | None = None) -> dict[str, NDArray[Any]]:
        """`population` (N, G) and `fitness` (N,) of a saved generation, by default the last."""
        path = (
            self.folder / POPULATION
            if generation is None
            else population_file(Run(self.folder), generation)
        )
        return read_arrays(path)

    @property
    def saved(self) -> list[int]:
        """The saved generations."""
        return sorted(int(path.stem) for path in (self.folder / "populations").glob("*.npz"))

    def strength(self, player: str) -> tuple[float, float]:
        """Final mean win rate of `champion` or `mean`, with half its 95% interval."""
        return overall(self.results["against"], player)


Outcomes: TypeAlias = Mapping[str, Outcome]


@dataclass(frozen=True)
class Experiment:
    """A set of runs, and the section of the page about them.

    Attributes:
        title: The title of its section.
        runs: Settings by the names of the runs, which are their folders; experiments may share
            runs.
        section: Makes the text of the section from the outcomes, and saves its pictures.
    """

    title: str
    runs: Mapping[str, EvolutionOptions]
    section: Callable[[Outcomes, Page], str]


def scaled(settings: EvolutionOptions, budget: float) -> EvolutionOptions:
    """A shortened run: generations, matches and measurements are cut to a share of theirs."""
    if budget == 1:
        return settings
    fewer: dict[str, Any] = {}
    for name in ("generations", "matches", "matings"):
        if hasattr(settings, name):
            fewer[name] = min(
                getattr(settings, name), max(2, round(budget * getattr(settings, name)))
            )
    step = 240  # divisible by the orders of seats of all tables
    for name in ("games", "measure_games", "curve_games", "evaluation_games", "final_games"):
        if hasattr(settings, name):
            fewer[name] = max(1, round(budget * getattr(settings, name) / step)) * step
    return dataclasses.replace(settings, **fewer)


def against_each(
    players: Mapping[str, Policy], opponents: Sequence[PolicyLike], rules: str, games: int
) -> dict[str, list[tuple[float, float]]]:
    """The win rates of players against three of each opponent, with the same dice.

    Args:
        players: The players by name.
        opponents: The opponents, one at a time.
        rules: A preset.
        games: Games of each player against each opponent.

    Returns:
        By player, (rate, half its 95% interval, from the variance between seeds) against each
            opponent, then the mean.
    """
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in players}
    for seed, opponent in enumerate(opponents):
        seating = Seating((opponent,) * 3, rules, TURN_LIMIT)
        for name, score in zip(
            players,
            arena.against(list(players.values()), [seating], [games], seed, progress=True),
            strict=True,
        ):
            low, high = score.interval
            rates[name].append((score.rate, (high - low) / 2))
    return {name: [*own, mean_rate(own)] for name, own in rates.items()}


def mean_of(values: NDArray[np.float64]) -> tuple[float, float]:
    """Mean of independent runs, and half the width of its 95% interval by Student's t."""
    mean = float(values.mean())
    return mean, (half_width((values - mean) / len(values)) if len(values) > 1 else float("nan"))


def gain(row: Mapping[str, Any]) -> str:
    """The gain of a search at a table, a row of evaluation.json, with its 95% interval."""
    return (
        f"{row['difference']:+.1%} ({100 * row['difference_low']:+.1f} to"
        f" {100 * row['difference_high']:+.1f})"
    )


def percent(rate: float, half: float) -> str:
    """A rate with half the width of its interval."""
    return f"{rate:.1%} ± {100 * half:.1f}"


def interval(values: NDArray[np.float64]) -> str:
    """The mean of independent values, with half its 95% interval."""
    mean, half = mean_of(values)
    return f"{mean:.3f} ± {half:.3f}"
