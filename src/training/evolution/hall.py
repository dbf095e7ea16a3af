"""A hall of fame for Pente.

In it are networks that were once the best. The networks of today play them instead of scripted
players.

Co-evolution against the last generation alone forgets what it could once do (Rosin and Belew 1997):
so opponents are drawn from all of them, with as many games as the fixed tests have. Networks play
without chance, so a match has one game from each seat, a member that is drawn twice counts twice,
and fresh games are games against members drawn anew. The first members are networks of weights
drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pente_env.fitness import Experiment
from pente_env.player import Player

FOUNDERS: Final = 10


@dataclass(frozen=True)
class Hall:
    """Networks that were once the best.

    Attributes:
        members: (N, S * G) their genes, the oldest first.
        like: A player with their kernel.
        pack: Makes the rows that the kernel reads of genes.
    """

    members: NDArray[np.float64]
    like: Player
    pack: Callable[[NDArray[np.float64]], NDArray[np.float64]]

    def joined(self, network: NDArray[np.float64]) -> Hall:
        """With one member more, unless it is the last one."""
        return (
            self
            if np.array_equal(self.members[-1], network)
            else self.of(np.concatenate([self.members, network[None]]))
        )

    def of(self, members: NDArray[np.float64]) -> Hall:
        """A hall of other members.

        Raises:
            ValueError: They are not the genes of such networks.
        """
        if (
            members.ndim != 2
            or members.shape[1] != self.members.shape[1]
            or len(members) < FOUNDERS
        ):
            raise ValueError(
                f"members of the hall of the shape {members.shape}, not of ({FOUNDERS} or more,"
                f" {self.members.shape[1]})"
            )
        return replace(self, members=members)

    def tests(self, experiment: Experiment, seed: int) -> Experiment:
        """As many games as an experiment has, one match against each of some members.

        The members are drawn with the seed.
        """
        generator = np.random.Generator(np.random.PCG64(seed))
        drawn = generator.integers(
            0,
            len(self.members),
            (len(experiment.tests) * experiment.matches, experiment.players - 1),
        )
        numbers = np.unique(drawn)
        players = {
            number: self.like.with_params(row, f"member {number}")
            for number, row in zip(numbers.tolist(), self.pack(self.members[numbers]), strict=True)
        }
        tests = tuple(tuple(players[number] for number in test) for test in drawn.tolist())
        return replace(experiment, tests=tests, matches=1)
