"""Spaces of the Gymnasium and PettingZoo environments, options of `reset`, rendering."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from monopoly_env.actions import HEAD_OF, HEADS, NUM_ACTIONS
from monopoly_env.errors import ConfigurationError, nearest, shortened
from monopoly_env.game import Game
from monopoly_env.kernels import entry, kernel
from monopoly_env.kernels.signatures import Array2
from monopoly_env.render.drawing import rendered

NUM_HEADS: Final = len(HEADS)


class Masked(Protocol):
    """An object that holds the legal actions of one or more games: (B, NUM_ACTIONS) bool."""

    action_mask: NDArray[np.bool_]


class MaskedDiscrete(spaces.Discrete):  # without [Any], which Gymnasium before 1.4 does not take
    """All actions, with a `sample()` that draws from those that are legal now.

    Code that does not know about masks (environment checkers, warm-up phases) therefore plays
    legally. An explicit mask or probability takes precedence. A copy of the space alone is a plain
    `Discrete`; a copied environment links its own space again.

    Gymnasium's checker also samples an action, resets, and takes that very object in the new game,
    where it may be illegal: `in_this_game` replaces it by a random legal action.

    Args:
        source: Holds the mask in its row 0. None makes a plain `Discrete`.
    """

    def __init__(self, source: Masked | None = None) -> None:
        super().__init__(NUM_ACTIONS)
        self.source = source
        self._drawn: Any = None  # the last action sampled without a mask
        self._drawn_before: Any = None  # the last one of the previous game

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """A random action; by default one that is legal now."""
        if mask is not None or probability is not None or self.source is None:
            return super().sample(mask, probability)
        self._drawn = super().sample(self.source.action_mask[0].astype(np.int8))
        return self._drawn

    def begin_game(self) -> None:
        """Note that a new game has started."""
        self._drawn_before = self._drawn

    def in_this_game(self, action: Any) -> Any:
        """The action; a legal one if `sample` drew it in the previous game and it is illegal."""
        sampled = action is not None and action is self._drawn_before
        if not sampled or self.source is None or self.source.action_mask[0, action]:
            return action
        legal = np.flatnonzero(self.source.action_mask[0])
        return legal[action % len(legal)] if len(legal) else action

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"source": None}


class MaskedMultiDiscrete(spaces.MultiDiscrete):
    """One action per game, with a `sample()` that draws from the legal ones (`MaskedDiscrete`)."""

    def __init__(self, count: int, source: Masked | None = None) -> None:
        super().__init__([NUM_ACTIONS] * count)
        self.source = source

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """A random action for each game, legal by default."""
        if mask is not None or probability is not None or self.source is None:
            return super().sample(mask, probability)
        legal = self.source.action_mask
        drawn = np.where(legal, self.np_random.random(legal.shape), -1.0)
        return drawn.argmax(axis=1).astype(self.dtype)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"source": None}


def observation_space(size: int) -> spaces.Box[np.float32]:
    """The space of encoded observations: (size,) float32 in [-1, 1]."""
    return spaces.Box(-1.0, 1.0, (size,), np.float32)


@kernel
def write_heads(mask: NDArray[Any], heads: NDArray[np.int8]) -> None:
    """Write the heads in which a mask has legal actions: zeros and ones, by `HEAD_NAMES`."""
    for head in range(len(heads)):
        heads[head] = 0
    for action in range(len(mask)):
        if mask[action]:
            heads[HEAD_OF[action]] = 1


@entry
def _write_all_heads(masks: Array2[np.bool_], heads: Array2[np.int8]) -> None:
    for i in range(len(masks)):
        write_heads(masks[i], heads[i])


def open_heads(masks: NDArray[np.bool_]) -> NDArray[np.int8]:
    """The heads with legal actions: (B, 14) zeros and ones, by `actions.HEAD_NAMES`.

    Args:
        masks: (B, NUM_ACTIONS) bool, or ConfigurationError is raised.
    """
    is_bool = isinstance(masks, np.ndarray) and masks.dtype == np.bool_
    if not is_bool or masks.ndim != 2 or masks.shape[1] != NUM_ACTIONS:
        raise ConfigurationError(f"Masks must be (B, {NUM_ACTIONS}) bool, not {shortened(masks)}.")
    heads = np.empty((len(masks), NUM_HEADS), np.int8)
    _write_all_heads(masks, heads)
    return heads


def check_options(
    options: Mapping[str, Any] | None, known: Iterable[str] = ()
) -> Mapping[str, Any]:
    """The options of `reset`, or ConfigurationError for an unknown one; none are an empty dict."""
    for name in set(options or ()) - set(known):
        hint = nearest(name, known) if known else "there are none."
        raise ConfigurationError(f"Unknown option {name!r} of reset: {hint}")
    return options or {}


def render(game: Game, mode: str | None) -> str | NDArray[np.uint8] | None:
    """Render a game (`rendered`)."""
    from monopoly_env.render.description import to_text
    from monopoly_env.render.svg import draw

    return rendered(mode, lambda: to_text(game), lambda: draw(game))
