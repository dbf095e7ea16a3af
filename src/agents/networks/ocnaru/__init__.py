"""The player of Ocnaru's thesis (Bucharest, 2025).

It has seven small networks, and a scripted base policy for all other decisions.

Each network values the actions of one kind of decision from the 100 features of `ocnaru100`, with
hidden layers of 128, 64 and 32 units and ReLU. The table `NETWORKS` has the meaning of the outputs,
when a network is asked, and how it chooses. Trades, debts and all decisions at tables of more than
two players, which the features do not describe, are the base policy's.

The whole player is compiled, as fast as scripted ones. `python -m training.dqn --preset ocnaru`
trains it.
"""

from agents.networks.ocnaru.kernel import BASE_ACTION, CHOICE, EPSILON, EVERY, NOTED, OPEN, WATCHED
from agents.networks.ocnaru.player import OcnaruNetworks
from agents.networks.ocnaru.table import ARCHITECTURES, BASE_GATED, HIDDEN, KIND, NAMES, NETWORKS

__all__ = [
    "ARCHITECTURES",
    "BASE_ACTION",
    "BASE_GATED",
    "CHOICE",
    "EPSILON",
    "EVERY",
    "HIDDEN",
    "KIND",
    "NAMES",
    "NETWORKS",
    "NOTED",
    "OPEN",
    "WATCHED",
    "OcnaruNetworks",
]
