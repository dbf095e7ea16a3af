"""The thesis's seven networks, as agents that `training.dqn --preset thesis` trains.

The networks, their 100 features and how they choose are those of `agents.networks.ocnaru`; a base
policy of the family `strategic` plays trades and debts. The recipe is that of `training.dqn`. For
it each network gets one more output, the value of the state, and there is a network of values
beside them; neither is part of the saved player.

`--preset ocnaru` is the thesis's own training. docs/results/ocnaru.md compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from agents.learned.architectures import STATE, VALUE
from agents.networks.layout import Architecture
from agents.networks.ocnaru import BASE_GATED, HIDDEN, NAMES, NETWORKS, OcnaruNetworks
from monopoly_env.encoding import ocnaru
from monopoly_env.errors import ConfigurationError
from monopoly_env.rules import Rules
from training.league import PAST, SELF
from training.options import (
    AgentSpec,
    DQNOptions,
    Evaluation,
    Imitation,
    LeagueOptions,
    OptimizerOptions,
)
from training.run.options import NONE, settings_of

_LAST: Final = len(HIDDEN)  # the layer of the outputs
_ONLY: Final = {
    "num_players": ocnaru.NUM_PLAYERS, "hidden": HIDDEN, "network_decisions": (), "start": NONE,
    "cluster": None,
}  # fmt: skip


@dataclass(frozen=True)
class ThesisOptions(DQNOptions):
    """The seven networks of Ocnaru's thesis, trained by this library's recipe.

    They imitate their base policy, then learn by self-play in a league.
    """

    algorithm: ClassVar[str] = "thesis"

    out: Path = Path("runs/thesis")
    base_policy: str = "strategic"
    """Base policy that plays trades and debts: `strategic` or a preset of it."""
    base_gated: tuple[str, ...] = BASE_GATED
    """Networks that act only where the base policy would act with that head."""
    hidden: tuple[int, ...] = HIDDEN
    imitation: Imitation = Imitation(expert="strategic")
    league: LeagueOptions = LeagueOptions(
        opponents=(
            SELF, PAST, "strategic", "strategic/late_game", "strategic/cautious",
            "ocnaru/algorithmic",
        )
    )  # fmt: skip
    optimizer: OptimizerOptions = OptimizerOptions()
    evaluation: Evaluation = Evaluation(
        against=("strategic", "ocnaru/algorithmic", "ocnaru/random")
    )

    def check(self) -> None:
        """Check what these networks allow."""
        super().check()
        OcnaruNetworks(base_policy=self.base_policy, base_gated=self.base_gated)
        settings = settings_of(self)
        for name, only in _ONLY.items():
            if settings[name] != only:
                given = f"--{name.replace('_', '-')} {settings[name]}"
                raise ConfigurationError(f"{given}: --preset thesis knows {only or 'none'} only.")

    def agent_spec(self, hidden: tuple[int, ...], rules: Rules) -> AgentSpec:
        """The seven networks."""
        from training.ocnaru import choices  # imports PyTorch

        del hidden
        blank = OcnaruNetworks(
            base_policy=self.base_policy, base_gated=self.base_gated, rules=rules.changed(),
            name=self.algorithm,
        )  # fmt: skip
        heads = {name: ((VALUE, 1), (name, network.size)) for name, network in NETWORKS.items()}
        networks = {
            name: Architecture(ocnaru.SIZE, HIDDEN, parts)
            for name, parts in {**heads, STATE: ((STATE, 1),)}.items()
        }
        return AgentSpec(
            blank, networks, choices.CHOICES, _without_values,
            play_games=choices.play_games, demonstrate=choices.demonstrations,
        )  # fmt: skip


def _without_values(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float32]]:
    """The arrays of `OcnaruNetworks`: without the outputs of values, which come first."""
    layers = [
        f"{name}.{layer}.{part}"
        for name in NAMES
        for layer in range(_LAST + 1)
        for part in ("weight", "bias")
    ]
    return {name: arrays[name][1 if f".{_LAST}." in name else 0 :] for name in layers}
