"""The games that states are taken from: which policies play, at which tables, under which rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError
from monopoly_env.policy.protocol import CompiledPolicy
from monopoly_env.policy.resolve import resolve_all
from monopoly_env.rules import Rules

# Each seat draws its policy by these weights. `fp/*`, `landlord/*` and `yasumura` are left out on purpose: the network is judged on them.
TAUGHT: Final[Mapping[str, float]] = {
    "expert": 4,
    "expert/evolved": 0.5,  # slow
    "expert/evolved/two": 2,
    "algorithmic": 3,
    "strategic": 1,
    "strategic/adaptive": 1,
    "strategic/aggressive": 1,
    "strategic/cautious": 1,
    "strategic/completionist": 0.5,
    "strategic/trademaster": 1,
    "strategic/utility_king": 0.5,
    "strategic/evolved": 1,
    "gcp": 1,
    "friedman": 0.5,
    "genetic/rga/best": 0.5,
    "genetic/tga/best": 0.5,
    "genetic/pring/best": 0.5,
    "genetic/strategic/best": 0.5,
    "dqn/best": 0.25,  # slow
}
HELD_OUT: Final[Mapping[str, float]] = {
    "fp/a": 1,
    "fp/b": 1,
    "fp/c": 1,
    "fp/a/guarded": 1,
    "fp/b/guarded": 1,
    "fp/c/guarded": 1,
    "landlord/balanced": 1.5,
    "landlord/aggressive": 1.5,
    "landlord/cautious": 1.5,
    "landlord/darling": 1.5,
    "yasumura": 3,
}
# Players and rules of consecutive batches of games, again and again.
SETTINGS: Final = tuple(
    (players, rules) for rules, sizes in (("official", (2, 3, 4, 2, 3, 4, 2, 3, 4, 4)), ("ocnaru", (2, 3, 4, 2, 3, 4))) for players in sizes
)
BATCH: Final = 32  # games of one setting that are played together


@dataclass(frozen=True)
class Mixture:
    """Policies, and how often each sits in a seat.

    Attributes:
        policies: All of them.
        odds: (K,) of each, adding up to 1.
    """

    policies: Sequence[CompiledPolicy]
    odds: NDArray[np.float64]

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> Mixture:
        """Policies by name, with their weights.

        Raises:
            ConfigurationError: A policy is not compiled, or a name is unknown.
        """
        policies = resolve_all(list(weights))
        compiled = [policy for policy in policies if isinstance(policy, CompiledPolicy)]
        if len(compiled) < len(policies):
            raise ConfigurationError(f"All policies must be compiled: {', '.join(weights)}.")
        odds = np.array(list(weights.values()), np.float64)
        return cls(compiled, odds / odds.sum())

    def seats(self, players: int, games: int, *seed: int) -> NDArray[np.int64]:
        """(games, players) the number of the policy in each seat, drawn by these seeds."""
        return np.random.Generator(np.random.PCG64(seed)).choice(len(self.odds), (games, players), p=self.odds)


def setting_of(batch: int) -> tuple[int, Rules]:
    """Players and rules of a batch, by its number."""
    players, rules = SETTINGS[batch % len(SETTINGS)]
    return players, Rules.preset(rules)
