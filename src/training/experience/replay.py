"""Transitions between a player's own decisions, and a replay buffer that keeps those of each head apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monopoly_env.actions import HEAD_NAMES, HEAD_OF, NUM_ACTIONS

PACKED: Final = (NUM_ACTIONS + 7) // 8  # bytes of a packed mask


class Transitions(NamedTuple):
    """N transitions, each from a decision of a player to a later one of the same player, or to the end of the game.

    Attributes:
        observation: (N, D) float16, what the player saw. Flags are exact, amounts are rounded to one part in 2,000.
        choices: (N, 26) uint8, the actions to choose from: a packed (N, 205) mask.
        action: (N,) int16, the action taken.
        reward: (N,) float32, the discounted sum of rewards until the later decision.
        discount: (N,) float32, the weight of the value of the later decision; 0 at the end of a game.
        next_observation: (N, D) float16, what the player saw then; zeros at the end.
        next_choices: (N, 26) uint8, the actions to choose from then; none at the end.
    """

    observation: NDArray[Any]
    choices: NDArray[Any]
    action: NDArray[Any]
    reward: NDArray[Any]
    discount: NDArray[Any]
    next_observation: NDArray[Any]
    next_choices: NDArray[Any]

    @classmethod
    def zeros(cls, count: int, features: int) -> Transitions:
        """Arrays for `count` transitions, all zero."""
        return cls(
            observation=np.zeros((count, features), np.float16),
            choices=np.zeros((count, PACKED), np.uint8),
            action=np.zeros(count, np.int16),
            reward=np.zeros(count, np.float32),
            discount=np.zeros(count, np.float32),
            next_observation=np.zeros((count, features), np.float16),
            next_choices=np.zeros((count, PACKED), np.uint8),
        )

    @classmethod
    def joined(cls, parts: Sequence[Transitions]) -> Transitions:
        """Several sets, one after the other."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def take(self, rows: Any) -> Transitions:
        """Some of the rows."""
        return Transitions(*(column[rows] for column in self))

    @property
    def size(self) -> int:
        """N; `len` counts the columns."""
        return len(self.action)


def pack(mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """(N, 205) bool as (N, 26) bytes."""
    return np.packbits(mask, axis=-1)


def unpack(packed: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """(N, 26) bytes as (N, 205) bool."""
    return np.unpackbits(packed, axis=-1, count=NUM_ACTIONS).view(np.bool_)


class ReplayBuffer:
    """The last transitions of each head, so that a frequent head does not push out a rare one."""

    def __init__(self, heads: Iterable[str], capacity: int, features: int) -> None:
        """Start empty; the memory of each head grows with use, up to its capacity.

        Args:
            heads: Names of the heads.
            capacity: Transitions kept for each head.
            features: Length of an observation.
        """
        self.capacity = capacity
        self.heads = tuple(heads)
        self._rings = {head: Transitions.zeros(0, features) for head in self.heads}
        self._added = dict.fromkeys(self.heads, 0)

    def add(self, transitions: Transitions) -> None:
        """Add transitions to the heads that their actions belong to; they replace the oldest ones."""
        head_of = HEAD_OF[transitions.action]
        for head in self.heads:
            rows = np.flatnonzero(head_of == HEAD_NAMES.index(head))
            if len(rows):
                self._add(head, transitions.take(rows[-self.capacity :]))

    def _add(self, head: str, transitions: Transitions) -> None:
        places = (self._added[head] + np.arange(transitions.size)) % self.capacity
        self._added[head] += transitions.size
        self._make_room(head, min(self._added[head], self.capacity))
        for column, new in zip(self._rings[head], transitions, strict=True):
            column[places] = new

    def _make_room(self, head: str, needed: int) -> None:
        ring = self._rings[head]
        if needed > ring.size:
            room = Transitions.zeros(min(self.capacity, max(2 * ring.size, needed, 256)), ring.observation.shape[1])
            for column, old in zip(room, ring, strict=True):
                column[: len(old)] = old
            self._rings[head] = room

    def size(self, head: str) -> int:
        """Transitions kept of a head."""
        return min(self._added[head], self.capacity)

    def sample(self, generator: np.random.Generator, count: int) -> Transitions | None:
        """Draw the same number of transitions from each head that has that many, with replacement.

        Args:
            generator: Source of the random numbers.
            count: How many of each head.

        Returns:
            Transitions, head by head; None if no head has enough.
        """
        drawn = [
            self._rings[head].take(generator.integers(self.size(head), size=count)) for head in self.heads if self.size(head) >= count > 0
        ]
        return Transitions.joined(drawn) if drawn else None

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that is kept, by name."""
        arrays: dict[str, NDArray[Any]] = {}
        for head in self.heads:
            arrays[f"{head}.added"] = np.array(self._added[head])
            filled = self._rings[head].take(slice(self.size(head)))
            arrays |= {f"{head}.{name}": column for name, column in filled._asdict().items()}
        return arrays

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue with what `arrays` returned."""
        for head in self.heads:
            self._added[head] = int(arrays[f"{head}.added"])
            self._make_room(head, self.size(head))
            for name, column in self._rings[head]._asdict().items():
                column[: self.size(head)] = arrays[f"{head}.{name}"]
