"""The table of all policies of this package.

Importing it registers them by name (`monopoly_env.policy.names`).
"""

from __future__ import annotations

import functools
from typing import Final

from agents import strangers, trader
from agents.learned import shipped
from agents.learned.agent import LearnedAgent
from agents.networks.esp import KIND as ESP
from agents.networks.esp import EspPlayer
from agents.networks.esp import shipped as esp
from agents.networks.ocnaru import KIND as OCNARU_NETWORKS
from agents.networks.ocnaru import OcnaruNetworks
from agents.players import POLICIES, genetic, search
from agents.players.expert import Bargainer, bargainer
from agents.players.human import Human
from agents.players.search import OnePlyPolicy, SearchPolicy
from agents.players.search.comparison import find_offers
from agents.values import saved as saved_values
from monopoly_env.analyse import offers
from monopoly_env.analyse import values as values_of_states
from monopoly_env.policy import names
from monopoly_env.policy.protocol import Factory

BUILT_IN: Final[dict[str, Factory]] = {
    **POLICIES,
    **genetic.POLICIES,
    **esp.POLICIES,
    **shipped.POLICIES,
    **trader.POLICIES,
}
# Players that search, in Python: a decision takes a thousand times as long as others.
SEARCHING: Final[dict[str, Factory]] = {
    "search": SearchPolicy,
    "search/best": search.best,
    "search/switching": search.switching,
    "one_ply": OnePlyPolicy,
}
# Policies that need options, a console, or the file of a saved policy; and generated ones.
KINDS: Final[dict[str, Factory]] = {
    "networks": LearnedAgent,
    bargainer.KIND: Bargainer,
    ESP: EspPlayer,
    trader.KIND: trader.Trader,
    OCNARU_NETWORKS: OcnaruNetworks,
    "human": Human,
    **strangers.POLICIES,
}

names.fill(BUILT_IN | SEARCHING, KINDS)
for _value in saved_values.names():
    values_of_states.register(_value, functools.partial(saved_values.make, _value))
offers.register(find_offers)
