"""The networks of a learned agent: their decisions, and the meaning of their outputs.

There is a network for each kind of decision. Each output stands for a choice and is an advantage
(DQN) or a log-probability (PPO); the agent takes the highest.

The value network `state` estimates the deciding player's probability of winning. One network serves
all decisions, so that values before and after a choice can be compared; only learners use it. Every
other network predicts that probability, too: an auxiliary target that shapes its hidden layers.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents.learned.action_space import NUM_CHOICES, PACKAGE, PRICE
from agents.learned.compact import OFFER_SIZE, PRICES_SIZE, length, of_table
from agents.networks.layout import Architecture
from monopoly_env.actions import DECISION_NAMES, HEADS

# [network] -> its decisions, and its heads: those of the game, then its own.
NETWORKS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "buy": (("buy",), ("buy", "sell", "mortgage")),
    "bid": (("bid", "sealed_bid"), ("bid",)),
    "turn": (("turn",), ("turn", "jail", "build", "sell", "mortgage", "unmortgage", "trade")),
    "jail": (("jail",), ("turn", "jail", "sell", "mortgage")),
    "package": (("trade_ask",), ("package",)),
    "price": (("trade_cash",), ("price",)),
    "reply": (("reply",), ("reply",)),
    "debt": (("debt",), ("turn", "sell", "mortgage", "trade")),
    "place": (("place",), ("build",)),
    "choice": (("tax", "fine_or_chance", "takeover"), ("choice", "sell", "mortgage")),
}
NAMES: Final = tuple(NETWORKS)
# Networks with few decisions to learn from: half the units
_RARE: Final = frozenset({"jail", "debt", "place", "choice"})
REPLY, PRICES, PACKAGES = "reply", "price", "package"  # networks with additional inputs
STATE: Final = "state"  # the value network
VALUE: Final = "value"  # the first output of the others
NONE: Final = -1


_OWN: Final = {"package": slice(PACKAGE, PRICE), "price": slice(PRICE, NUM_CHOICES)}


def choices_of(head: str) -> slice:
    """The choices of a head: one of the game's, or `package`, `price`."""
    return _OWN.get(head) or HEADS[head].slice


def _size(head: str) -> int:
    part = choices_of(head)
    return int(part.stop - part.start)


@cache
def architectures(num_players: int, hidden: tuple[int, ...]) -> dict[str, Architecture]:
    """All networks by name, the value network last."""
    heads = {
        name: ((VALUE, 1), *((head, _size(head)) for head in heads))
        for name, (_, heads) in NETWORKS.items()
    }
    seen = of_table(num_players)
    inputs = {
        REPLY: seen + OFFER_SIZE,
        PRICES: seen + OFFER_SIZE + PRICES_SIZE,
        PACKAGES: length(num_players),
    }
    half = tuple(max(1, units // 2) for units in hidden)
    return {
        name: Architecture(inputs.get(name, seen), half if name in _RARE else hidden, parts)
        for name, parts in {**heads, STATE: ((STATE, 1),)}.items()
    }


def _network_of() -> NDArray[np.int64]:
    table = np.full(len(DECISION_NAMES), NONE, np.int64)
    for number, (decisions, _) in enumerate(NETWORKS.values()):
        for decision in decisions:
            table[DECISION_NAMES.index(decision)] = number
    return table


def _output() -> NDArray[np.int64]:
    table = np.full((len(NETWORKS), NUM_CHOICES), NONE, np.int64)
    for number, name in enumerate(NAMES):
        network = architectures(2, ())[name]
        for head, _ in network.heads[1:]:
            part = network.head(head)
            table[number, choices_of(head)] = np.arange(part.start, part.stop)
    return table


def _choices() -> list[NDArray[np.int64]]:
    tables = []
    for row in OUTPUT:
        known = np.flatnonzero(row != NONE)
        tables.append(known[np.argsort(row[known])])
    return tables


NETWORK_OF: Final = _network_of()  # [decision] -> its network, or NONE
OUTPUT: Final = _output()  # [network, choice] -> the output that scores it, or NONE
CHOICES: Final = _choices()  # [network][output] -> the choice
