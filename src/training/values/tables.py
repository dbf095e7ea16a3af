"""The games that states are taken from: policies, tables and rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.players.algorithmic import Algorithmic
from agents.players.expert.parameters import Expert
from agents.players.gcp import Gcp
from agents.players.strategic import Strategic
from agents.players.vocabulary.parameters import Parameters
from monopoly_env.policy.names import compiled, make, resolve_all
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import Rules

# Each seat draws its policy by these weights, slow ones more rarely. `fp/*`, `landlord/*` and
# `yasumura` are left out on purpose: the network is measured on them.
TRAINING: Final[Mapping[str, float]] = {
    "expert": 4, "expert/evolved": 0.5, "expert/evolved/two": 2, "algorithmic": 3,
    "strategic": 1, "strategic/adaptive": 1, "strategic/aggressive": 1, "strategic/cautious": 1,
    "strategic/completionist": 0.5, "strategic/trademaster": 1, "strategic/utility_king": 0.5,
    "strategic/evolved": 1, "gcp": 1, "friedman": 0.5, "genetic/rga/best": 0.5,
    "genetic/tga/best": 0.5, "genetic/pring/best": 0.5, "genetic/strategic/best": 0.5,
    "expert/bargaining": 0.25,
}  # fmt: skip
# Of each of these families so many variants sit at the tables, too. In a variant every number of
# the family is multiplied by exp(SPREAD z), z normal, within its range. All variants of a family
# together have this weight.
VARIED: Final[Mapping[str, tuple[type[Parameters], float]]] = {
    "expert": (Expert, 5),
    "strategic": (Strategic, 5),
    "algorithmic": (Algorithmic, 3),
    "gcp": (Gcp, 1),
}
VARIANTS: Final = 16
SPREAD: Final = 0.5
HELD_OUT: Final[Mapping[str, float]] = {
    "fp/a": 1, "fp/b": 1, "fp/c": 1, "fp/a/guarded": 1, "fp/b/guarded": 1, "fp/c/guarded": 1,
    "landlord/balanced": 1.5, "landlord/aggressive": 1.5, "landlord/cautious": 1.5,
    "landlord/darling": 1.5, "yasumura": 3,
}  # fmt: skip
# Players and rules of consecutive batches of games, again and again.
SETTINGS: Final = tuple(
    (players, rules)
    for rules, sizes in (
        ("official", (2, 3, 4, 2, 3, 4, 2, 3, 4, 4)),
        ("ocnaru", (2, 3, 4, 2, 3, 4)),
    )
    for players in sizes
)
# share of the games in which one policy has all seats: there a lead does not tell the better
# player
SAME: Final = 0.5
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
    def of(
        cls,
        weights: Mapping[str, float],
        varied: Mapping[str, tuple[type[Parameters], float]] | None = None,
    ) -> Mixture:
        """Policies by name with their weights, and variants of families.

        Raises:
            ConfigurationError: A policy is not compiled, or a name is unknown.
        """
        policies, odds = resolve_all(list(weights)), list(weights.values())
        for name, (kind, weight) in (varied or {}).items():
            policies += variants(name, kind)
            odds += [weight / VARIANTS] * VARIANTS
        return cls([compiled(policy) for policy in policies], np.array(odds) / sum(odds))

    @classmethod
    def training(cls) -> Mixture:
        """The players of the games that a network is trained on."""
        return cls.of(TRAINING, VARIED)

    @classmethod
    def held_out(cls) -> Mixture:
        """Players that no network here was trained on."""
        return cls.of(HELD_OUT)

    def seats(self, players: int, games: int, *seed: int) -> NDArray[np.int64]:
        """(games, players) the number of the policy in each seat, drawn by these seeds."""
        draw = np.random.Generator(np.random.PCG64(seed))
        seats = draw.choice(len(self.odds), (games, players), p=self.odds)
        same = draw.random(games) < SAME
        seats[same] = seats[same, :1]
        return seats


def variants(name: str, kind: type[Parameters]) -> list[Policy]:
    """The variants of a family: always the same ones."""
    draw = np.random.Generator(np.random.PCG64(sum(name.encode())))
    made = []
    for _ in range(VARIANTS):
        numbers = {}
        for field in fields(kind):
            if field.name in kind.quantities():
                low, high = field.metadata["range"]
                numbers[field.name] = float(
                    np.clip(field.default * np.exp(SPREAD * draw.standard_normal()), low, high)
                )
        made.append(make(name, **numbers))
    return made


def training_games() -> dict[str, Any]:
    """The games that a network is trained on, as JSON values."""
    return {
        "policies": dict(TRAINING),
        "varied": {name: weight for name, (_, weight) in VARIED.items()},
        "variants": VARIANTS,
        "spread": SPREAD,
        "same": SAME,
        "rules": sorted({rules for _, rules in SETTINGS}),
        "players": sorted({players for players, _ in SETTINGS}),
    }


def setting_of(batch: int) -> tuple[int, Rules]:
    """Players and rules of a batch, by its number."""
    players, rules = SETTINGS[batch % len(SETTINGS)]
    return players, Rules.preset(rules)
