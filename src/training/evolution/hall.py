"""A hall of fame for Pente: networks that were once the best, which the networks of today play instead of scripted players.

Co-evolution against the last generation alone forgets what it could once do (Rosin and Belew 1997): so opponents are drawn from all of
them, with as many games as the fixed tests have. Networks play without chance, so a network meets a member once from each seat, and
fresh games are games against members drawn anew. The first members are networks of weights drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pente_env.fitness import Experiment
from pente_env.player import Player

FOUNDERS: Final = 10


@dataclass(frozen=True)
class Hall:
    """Networks as (N, L) rows that the kernel of `like` reads, the oldest first."""

    rows: NDArray[np.float64]
    like: Player

    def joined(self, row: NDArray[np.float64]) -> Hall:
        """With one member more, unless it is the last one."""
        return self if np.array_equal(self.rows[-1], row) else replace(self, rows=np.concatenate([self.rows, row[None]]))

    def tests(self, experiment: Experiment, seed: int) -> Experiment:
        """As many games as an experiment has, one match against each of some members drawn with the seed."""
        generator = np.random.Generator(np.random.PCG64(seed))
        drawn = generator.integers(0, len(self.rows), (len(experiment.tests) * experiment.matches, experiment.players - 1))
        members = {number: Player(f"member {number}", self.like.kernel, self.rows[number]) for number in np.unique(drawn).tolist()}
        tests = tuple(tuple(members[number] for number in test) for test in drawn.tolist())
        return replace(experiment, tests=tests, matches=1)
