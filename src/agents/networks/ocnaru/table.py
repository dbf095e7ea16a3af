"""The networks of the thesis: a table of their decisions, and the layout of the kernel's row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.networks import layout
from agents.players.strategic.parameters import NUM_PARAMETERS
from monopoly_env.encoding import ocnaru

ENCODING: Final = "ocnaru100"
HIDDEN: Final = (128, 64, 32)
KIND: Final = "ocnaru/networks"


@dataclass(frozen=True)
class Decider:
    """The decisions of one network.

    Attributes:
        size: The number of outputs.
        outputs: The meaning of output i.
        head: The head of its actions.
        asked: The situation in which it decides.
        rule: Its choice by the values of the legal outputs.
        base_gated: Whether by default it acts only where the base policy would act with that head.
    """

    size: int
    outputs: str
    head: str
    asked: str
    rule: str
    base_gated: bool = False


_ONCE: Final = "once in a window of the turn, in the base policy's order of phases"
_STAYING: Final = "after a failed throw in jail, unless leaving is forced"

# In the order in which the thesis trains them: jail last.
NETWORKS: Final[dict[str, Decider]] = {
    "buy": Decider(2, "0 decline, 1 buy", "buy",
                   "a lot for sale that the cash in hand pays for", "the higher value"),
    "upgrade": Decider(8, "the colour group", "build", _ONCE + ", last",
                       "the legal group of the highest value goes up one level; no abstention and "
                       "no reserve, as in the published program"),
    "downgrade": Decider(8, "the colour group", "sell", _ONCE,
                         "the legal group of the highest value goes down one level",
                         base_gated=True),
    "mortgage": Decider(40, "the square of the lot", "mortgage", _ONCE,
                        "lots above the mean value of the legal ones, the best 3; of a single one, "
                        "none", base_gated=True),
    "unmortgage": Decider(40, "the square of the lot", "unmortgage", _ONCE,
                          "the same, the best 2", base_gated=True),
    "fine": Decider(2, "0 stay, 1 pay", "jail, action 0, and turn",
                    _STAYING + ", if no card is used", "the higher value"),
    "card": Decider(2, "0 keep, 1 use", "jail, action 1", _STAYING, "the higher value"),
}  # fmt: skip
NAMES: Final = tuple(NETWORKS)
BUY, UPGRADE, DOWNGRADE, MORTGAGE, UNMORTGAGE, FINE, CARD = range(len(NETWORKS))
BASE_GATED: Final = tuple(name for name, network in NETWORKS.items() if network.base_gated)

ARCHITECTURES: Final = {
    name: layout.Architecture(ocnaru.SIZE, HIDDEN, ((name, network.size),))
    for name, network in NETWORKS.items()
}
# The row: the base policy's parameters, a flag for each network that plays, a flag for each gated
# one, the temperature, the rows of all networks.
PLAYS: Final = NUM_PARAMETERS
GATES: Final = PLAYS + len(NETWORKS)
TEMPERATURE: Final = GATES + len(NETWORKS)
WEIGHTS: Final = TEMPERATURE + 1
STARTS: Final = layout.starts(ARCHITECTURES)  # [network] -> start of its row
SIZES: Final = np.array(
    [network.size for network in NETWORKS.values()]
)  # [network] -> number of outputs
