"""The table of all policies of this package. Importing it registers them by name (`monopoly_env.policy.names`)."""

from __future__ import annotations

from functools import partial
from typing import Final

from agents.networks import actor, values
from agents.networks.learned import shipped
from agents.networks.learned.policy import LearnedPolicy
from agents.networks.ocnaru import KIND as OCNARU_NETWORKS
from agents.networks.ocnaru import OcnaruNetworks
from agents.players import POLICIES, genetic
from agents.players.human import Human
from agents.players.search import SearchPolicy
from agents.values import saved as saved_values
from monopoly_env.analyse import values as values_of_states
from monopoly_env.policy import names
from monopoly_env.policy.names import Factory

BUILT_IN: Final[dict[str, Factory]] = {**POLICIES, **genetic.POLICIES, **shipped.POLICIES}
# Kinds that need more than a name: options, a console, or the file of a saved policy.
KINDS: Final[dict[str, Factory]] = {
    "neural": values.NeuralPolicy,
    "actor": actor.ActorPolicy,
    "learned": LearnedPolicy,
    OCNARU_NETWORKS: OcnaruNetworks,
    "human": Human,
    "search": SearchPolicy,
}

names.fill(BUILT_IN, KINDS)
for _value in saved_values.names():
    values_of_states.register(_value, partial(saved_values.make, _value))
