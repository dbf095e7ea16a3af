"""What the Gymnasium and the PettingZoo environments share: action spaces that know the mask, and what an info says."""

from __future__ import annotations

from typing import Any, Final, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from monopoly_env.actions import DECISION_NAMES, HEADS, NUM_ACTIONS
from monopoly_env.game import Game

# A head and its actions, a bit each.
_HEAD_BITS: Final = tuple((name, ((1 << head.size) - 1) << head.start) for name, head in HEADS.items())


class Masked(Protocol):
    """Whatever holds the legal actions of one or many games: (B, 205) bool."""

    action_mask: NDArray[np.bool_]


class MaskedDiscrete(spaces.Discrete[Any]):
    """All 205 actions; `sample()` draws from those that are legal now.

    Programs that know nothing of masks (environment checkers, warm-up phases) thereby play legally. An explicit mask or
    probability goes first. A copy of the space alone is a plain `Discrete`: an environment links its own anew.

    Args:
        source: Holds the mask; its row 0 counts. None: a plain `Discrete`.
    """

    def __init__(self, source: Masked | None = None) -> None:
        super().__init__(NUM_ACTIONS)
        self.source = source

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """A random action; by default one that is legal now."""
        if mask is None and probability is None and self.source is not None:
            mask = self.source.action_mask[0].astype(np.int8)
        return super().sample(mask, probability)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"source": None}


class MaskedMultiDiscrete(spaces.MultiDiscrete[Any]):
    """An action for each game; `sample()` draws from those that are legal now, as in `MaskedDiscrete`."""

    def __init__(self, count: int, source: Masked | None = None) -> None:
        super().__init__([NUM_ACTIONS] * count)
        self.source = source

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """A random action for each game; by default legal ones."""
        if mask is not None or probability is not None or self.source is None:
            return super().sample(mask, probability)
        legal = self.source.action_mask
        draws: NDArray[np.int64] = np.where(legal, self.np_random.random(legal.shape), -1.0).argmax(axis=1)
        return draws.astype(self.dtype)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"source": None}


def observation_space(size: int) -> spaces.Box:
    """The space of encoded observations: (size,) float32 in [-1, 1]."""
    return spaces.Box(-1.0, 1.0, (size,), np.float32)


def open_heads(game: Game) -> tuple[str, ...]:
    """Names of the heads in which a game's open decision has legal actions."""
    legal = int.from_bytes(game["legal"].tobytes(), "little")
    return tuple(name for name, bits in _HEAD_BITS if legal & bits)


def describe_decision(game: Game) -> dict[str, Any]:
    """What an info says of the open decision: its name and the names of the open heads."""
    return {"decision": DECISION_NAMES[game["decision"]], "heads": open_heads(game)}
