"""The networks of a learned policy: which decisions each answers, what it sees, and what its outputs mean.

There is a network for each kind of decision, since what matters in an auction is not what matters in jail. Each has two hidden
layers with ReLU. It values the state for the player who decides (its chance to win), and adds for each action how much better or
worse than that the action is: the dueling form of Wang et al., "Dueling network architectures for deep reinforcement learning"
(ICML 2016).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.networks import layout
from monopoly_env.actions import DECISION_NAMES, HEADS, NUM_ACTIONS
from monopoly_env.encoding import make

MOST_PLAYERS: Final = 4
ENCODED: Final = make("standard", MOST_PLAYERS).size
ADVICE: Final = ("share +0", "share +1", "share +2", "share +3", "gain", "partner's gain")  # of the parent's, see `play.observe`
FEATURES: Final = ENCODED + len(ADVICE)
HIDDEN: Final = (64, 32)

# Each network: the decisions that it answers, and the heads whose actions it values.
NETWORKS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "buy": (("buy",), ("buy",)),
    "bid": (("bid", "sealed_bid"), ("bid",)),
    "turn": (("turn",), ("turn", "jail", "build", "unmortgage", "trade")),
    "jail": (("jail",), ("jail", "turn")),
    "offer": (("trade_cash",), ("trade_cash",)),
    "reply": (("reply",), ("reply",)),
    "debt": (("debt",), ("sell", "mortgage")),
    "place": (("place",), ("build",)),
    "choice": (("tax", "fine_or_chance", "takeover"), ("choice",)),
}
NAMES: Final = tuple(NETWORKS)
LEARNED_HEADS: Final = tuple(head for head in HEADS if any(head in heads for _, heads in NETWORKS.values()) and head != "trade")
NONE: Final = -1

# The first head is the value of the state.
ARCHITECTURES: Final = {
    name: layout.Architecture(FEATURES, HIDDEN, (("state", 1), *((head, HEADS[head].size) for head in heads)))
    for name, (_, heads) in NETWORKS.items()
}
STARTS: Final = layout.starts(ARCHITECTURES)  # [network] -> where its row begins among all; past the last one, the length of all


def _network_of() -> NDArray[np.int64]:
    table = np.full(len(DECISION_NAMES), NONE, np.int64)
    for number, (decisions, _) in enumerate(NETWORKS.values()):
        for decision in decisions:
            table[DECISION_NAMES.index(decision)] = number
    return table


def _output() -> NDArray[np.int64]:
    table = np.full((len(NETWORKS), NUM_ACTIONS), NONE, np.int64)
    for number, architecture in enumerate(ARCHITECTURES.values()):
        for head, _ in architecture.heads[1:]:
            part = architecture.head(head)
            table[number, HEADS[head].slice] = np.arange(part.start, part.stop)
    return table


NETWORK_OF: Final = _network_of()  # [decision] -> its network, or NONE
OUTPUT: Final = _output()  # [network, action] -> the output that values it, or NONE
OUTPUTS: Final = np.array([architecture.outputs for architecture in ARCHITECTURES.values()])  # [network] -> how many


_TURNED: Final = {f"{network}.{layer}.weight" for network in NAMES for layer in range(len(HIDDEN))}
# The arrays of a saved policy: weights of the hidden layers are (in, out), those of the last layer (out, in).
SHAPES: Final = {
    array: shape[::-1] if array in _TURNED else shape
    for name, architecture in ARCHITECTURES.items()
    for array, shape in architecture.shapes(name).items()
}


def zeros() -> dict[str, NDArray[np.float32]]:
    """Networks that know nothing: the arrays of `SHAPES`."""
    return {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}


def turned(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Transpose the weights of the hidden layers: from saved arrays to those of `layout`, where all weights are (out, in), or back."""
    return {name: np.ascontiguousarray(array.T) if name in _TURNED else array for name, array in arrays.items()}


def pack(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    """The rows of all networks, from saved arrays, as float64: two float32 numbers in each. Finite ones are finite in pairs, too."""
    return layout.pack_all(ARCHITECTURES, turned(arrays)).view(np.float64)
