"""The player of Ocnaru's thesis (Bucharest, 2025).

It has seven small networks, and a scripted base policy for everything else.

Each network values the answers to one kind of decision from the 100 features of `ocnaru100`, by
layers of 128, 64 and 32 units with ReLU. The table `NETWORKS` says what an output stands for, when
a network is asked and how it chooses. Trades, debts and all tables of more than two players, which
the features do not describe, are the base policy's.

The whole player is compiled, so that games with it run at the speed of scripted ones.
`python -m training.dqn --preset ocnaru` trains it. `networks` is the table, `play` the kernel,
`policy` the policy.
"""

from agents.networks.ocnaru.kernel import CHOICE, EPSILON, EVERY, NOTED, OPEN, PARENTS, WATCHED
from agents.networks.ocnaru.player import OcnaruNetworks
from agents.networks.ocnaru.table import ARCHITECTURES, GATED, HIDDEN, KIND, NAMES, NETWORKS

__all__ = [
    "ARCHITECTURES",
    "CHOICE",
    "EPSILON",
    "EVERY",
    "GATED",
    "HIDDEN",
    "KIND",
    "NAMES",
    "NETWORKS",
    "NOTED",
    "OPEN",
    "PARENTS",
    "WATCHED",
    "OcnaruNetworks",
]
