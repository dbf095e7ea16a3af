"""The player of the thesis as a compiled policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.networks import layout
from agents.networks.ocnaru.kernel import play
from agents.networks.ocnaru.table import ARCHITECTURES, BASE_GATED, ENCODING, KIND, NAMES, NETWORKS
from agents.networks.policy import NetworkPolicy, features_digest
from agents.players.strategic import POLICIES
from monopoly_env import encoding as encodings
from monopoly_env.encoding import ocnaru
from monopoly_env.errors import ConfigurationError, FormatError, nearest


class OcnaruNetworks(NetworkPolicy):
    """The networks with their base policy.

    Attributes:
        heads: The networks that play, in the order of `NETWORKS`.
        base_gated: Networks that act only where the base policy would act with that head.
        base_policy: Name of the policy that makes all other decisions.
        temperature: Temperature of the choice by values; 0: the highest value.
    """

    def __init__(
        self,
        heads: Sequence[str] = NAMES,
        *,
        base_policy: str = "strategic",
        base_gated: Sequence[str] = BASE_GATED,
        temperature: float = 0.0,
        rules: Mapping[str, Any] | None = None,
        features: str | None = None,
        name: str = "ocnaru/networks",
    ) -> None:
        """Create networks of zeros; `set_arrays` fills them.

        Args:
            heads: The networks that play; the base policy decides instead of the others.
            base_policy: `strategic` or one of its presets.
            base_gated: Networks that act only where the base policy would; `buy`, `fine` and
                `card` always act.
            temperature: 0: the highest value; else a value is drawn by exp(value / temperature).
            rules: Options of the training rules that are not official; only saved.
            features: The digest of the features in a saved file, checked against this version's.
            name: Its name in results and messages.

        Raises:
            ConfigurationError: An unknown network, or a base policy of another family.
            FormatError: The features differ from this version's.
        """
        for head in (*heads, *base_gated):
            if head not in NETWORKS:
                raise ConfigurationError(f"Unknown network {head!r}. {nearest(head, NAMES)}")
        if base_policy not in POLICIES:
            raise ConfigurationError(
                f"The base policy must be of the family strategic, not {base_policy!r}."
                f" {nearest(base_policy, POLICIES)}"
            )
        if features not in (None, _digest()):
            raise FormatError(
                f"it was trained on other features than this version's encoding {ENCODING!r}"
            )
        self.heads = tuple(head for head in NAMES if head in heads)
        self.base_gated = tuple(head for head in NAMES if head in base_gated)
        self.base_policy = base_policy
        self.rules = dict(rules or {})
        self.temperature = float(temperature)
        super().__init__(
            name, play, layout.zeros({head: ARCHITECTURES[head] for head in self.heads}), kind=KIND
        )

    def _row(self) -> NDArray[np.float64]:
        plays = [name in self.heads for name in NAMES]
        gates = [name in self.base_gated for name in NAMES]
        weights = layout.pack_all(ARCHITECTURES, layout.zeros(ARCHITECTURES) | self._arrays)
        return np.concatenate(
            [
                POLICIES[self.base_policy]().params,
                plays,
                gates,
                [self.temperature],
                weights.view(np.float64),
            ]
        )

    def options(self) -> dict[str, Any]:
        """The arguments of the constructor, as JSON values."""
        return {
            "heads": list(self.heads),
            "base_policy": self.base_policy,
            "base_gated": list(self.base_gated),
            "temperature": self.temperature,
            "rules": self.rules,
            "features": _digest(),
        }

    def encoding(self) -> str:
        """The name of the encoding of its observations."""
        return ENCODING

    def part(self, heads: Sequence[str], name: str) -> OcnaruNetworks:
        """A copy with some of its networks; the base policy decides instead of the others.

        Raises:
            ConfigurationError: It has no such network.
        """
        for head in heads:
            if head not in self.heads:
                raise ConfigurationError(
                    f"Policy {self.name!r} has no network {head!r}. {nearest(head, self.heads)}"
                )
        return self.copy(name, heads=heads)


def _digest() -> str:
    return features_digest(encodings.make(ENCODING, ocnaru.NUM_PLAYERS))
