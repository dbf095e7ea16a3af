"""The thesis's seven networks, trained by this library's recipe.

The options are explained by `python -m training.dqn --preset thesis --help`.

The networks, their 100 features and how they choose are those of `agents.networks.ocnaru`; a parent
of the family `strategic` plays trades and debts. The recipe is that of `training.dqn`: watch the
parent, then play in a league; each choice learns the outcome of its game, by TD(lambda), and the
advantages are normalized. For it each network gets one more output, the value of the state, and
there is a network of values beside them; neither is part of the saved player.

`--preset ocnaru` is the thesis's own training. docs/results/dqn_ocnaru.md compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from agents.learned.architectures import STATE, VALUE
from agents.networks.layout import Architecture
from agents.networks.ocnaru import HIDDEN, NAMES, NETWORKS, OcnaruNetworks
from monopoly_env.encoding import ocnaru
from monopoly_env.errors import ConfigurationError
from monopoly_env.policy.protocol import CompiledPolicy
from training import learner_options, phases
from training.dqn import DQN, RANGES
from training.experience.choices import Choices
from training.learner import Family
from training.learner_options import ThesisOptions
from training.ocnaru import choices
from training.run.options import NONE

_LAST: Final = len(HIDDEN)  # the layer of the outputs


class ThesisDQN(DQN):
    """The Q-learner of `training.dqn`, for the networks of the thesis."""

    options: ThesisOptions

    def family(self) -> Family:
        """The seven networks."""
        options = self.options
        heads = {name: ((VALUE, 1), (name, network.size)) for name, network in NETWORKS.items()}
        blank = OcnaruNetworks(
            parent=options.parent, gated=options.gated, rules=self.rules.changed(), name="thesis"
        )
        networks = {
            name: Architecture(ocnaru.SIZE, HIDDEN, parts)
            for name, parts in {**heads, STATE: ((STATE, 1),)}.items()
        }
        return Family(blank, networks, choices.CHOICES, _without_values)

    def watch_games(self, expert: CompiledPolicy, games: range, seed: int) -> Choices:
        """What the expert chose where a network would be asked."""
        return choices.watch_games(
            expert, games, self.rules, seed, self.options.threads, self.options.turn_limit
        )


def _without_values(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float32]]:
    """The arrays of `OcnaruNetworks`.

    They are without the outputs for values, which come first, and without the network of values.
    """
    layers = [
        f"{name}.{layer}.{part}"
        for name in NAMES
        for layer in range(_LAST + 1)
        for part in ("weight", "bias")
    ]
    return {name: arrays[name][1 if f".{_LAST}." in name else 0 :] for name in layers}


def execute(options: ThesisOptions, console: Console) -> dict[str, Any]:
    """Train from the beginning or from a checkpoint, and measure.

    Raises:
        MonopolyError: Wrong options, a folder that can't be used, a checkpoint that is missing or
            damaged, a loss that is not finite.
    """
    OcnaruNetworks(parent=options.parent, gated=options.gated)
    for name, only in (
        ("num_players", ocnaru.NUM_PLAYERS),
        ("hidden", HIDDEN),
        ("start", NONE),
        ("cluster", None),
    ):
        if getattr(options, name) != only:
            given = f"--{name.replace('_', '-')} {getattr(options, name)}"
            raise ConfigurationError(
                f"{given}: --preset thesis knows {'none' if only is None else only} only."
            )
    return phases.execute(
        options, ThesisDQN, learner_options.check(options, RANGES), console, choices.play_games
    )
