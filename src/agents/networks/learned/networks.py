"""The networks of a learned policy as one row of numbers, and what they say of a decision: compiled.

There is a network for each kind of decision, since what matters in an auction is not what matters in jail. Each has two hidden
layers with ReLU; it values the state for the player who decides (his chance to win) and adds to it, for each action, how much
better or worse than that the action is: the dueling form of Wang et al., "Dueling network architectures for deep reinforcement
learning" (ICML 2016).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.actions import DECISION_NAMES, HEADS, NUM_ACTIONS
from monopoly_env.encoding import make
from monopoly_env.kernels import array_kernel

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


def _network_of() -> NDArray[np.int64]:
    table = np.full(len(DECISION_NAMES), NONE, np.int64)
    for number, (decisions, _) in enumerate(NETWORKS.values()):
        for decision in decisions:
            table[DECISION_NAMES.index(decision)] = number
    return table


def _output() -> NDArray[np.int64]:
    table = np.full((len(NETWORKS), NUM_ACTIONS), NONE, np.int64)
    for number, (_, heads) in enumerate(NETWORKS.values()):
        place = 1  # the first output is the value of the state
        for head in heads:
            table[number, HEADS[head].slice] = place + np.arange(HEADS[head].size)
            place += HEADS[head].size
    return table


NETWORK_OF: Final = _network_of()  # [decision] -> its network, or NONE
OUTPUT: Final = _output()  # [network, action] -> the output that values it, or NONE
OUTPUTS: Final = OUTPUT.max(1) + 1  # [network] -> how many


def shapes(network: str) -> dict[str, tuple[int, ...]]:
    """The arrays of a network: names and shapes. Weights are (in, out) in the hidden layers, (out, in) in the last."""
    first, second = HIDDEN
    outputs = int(OUTPUTS[NAMES.index(network)])
    return {
        f"{network}.0.weight": (FEATURES, first),
        f"{network}.0.bias": (first,),
        f"{network}.1.weight": (first, second),
        f"{network}.1.bias": (second,),
        f"{network}.2.weight": (outputs, second),
        f"{network}.2.bias": (outputs,),
    }


SHAPES: Final = {name: shape for network in NAMES for name, shape in shapes(network).items()}
# [network] -> where it begins in the row, in float32 numbers; past the last one, the length of all.
STARTS: Final = np.cumsum([0, *(sum(int(np.prod(shape)) for shape in shapes(name).values()) for name in NAMES)])


def zeros() -> dict[str, NDArray[np.float32]]:
    """Networks that know nothing: the arrays by name."""
    return {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}


def pack(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    """All networks as a row of float64, two float32 numbers in each: finite ones are finite in pairs, too."""
    row = np.zeros(int(STARTS[-1] + STARTS[-1] % 2), np.float32)
    row[: STARTS[-1]] = np.concatenate([np.asarray(arrays[name], np.float32).ravel() for name in SHAPES])
    return row.view(np.float64)


@array_kernel
def think(weights: Any, network: int, seen: Any, first: Any, second: Any) -> None:
    """The two hidden layers of a network.

    Args:
        weights: float32, all networks.
        network: Its number.
        seen: (FEATURES,) float32.
        first: float32, filled: the first layer.
        second: float32, filled: the second layer.
    """
    at = int(STARTS[network])
    width, deep = len(first), len(second)
    _layer(weights[at : at + FEATURES * width], weights[at + FEATURES * width :], seen, first)
    at += (FEATURES + 1) * width
    _layer(weights[at : at + width * deep], weights[at + width * deep :], first, second)


@array_kernel
def _layer(weight: Any, bias: Any, signal: Any, out: Any) -> None:
    """ReLU of a linear layer: most of what comes in is 0 and skipped. Sums run in one order."""
    width = len(out)
    for k in range(width):
        out[k] = bias[k]
    for i in range(len(signal)):
        value = signal[i]
        if value != 0:
            row = weight[i * width : (i + 1) * width]
            for k in range(width):
                out[k] += value * row[k]
    for k in range(width):
        out[k] = max(out[k], np.float32(0))


@array_kernel
def worth(weights: Any, network: int, output: int, second: Any) -> float:
    """One output of a network."""
    deep = len(second)
    start = int(STARTS[network]) + (FEATURES + 1) * HIDDEN[0] + (HIDDEN[0] + 1) * deep
    total = weights[start + int(OUTPUTS[network]) * deep + output]
    start += output * deep
    for k in range(deep):
        total += weights[start + k] * second[k]
    return total
