"""Which action is best: each candidate is played out over the same luck, and the worse half is dropped, again and again.

The schedule is sequential halving (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013). All
candidates share the dice and cards of playout k, so their difference is far more certain than either share.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core
from monopoly_env.actions import DECISION_NAMES, describe
from monopoly_env.analyse.playouts import rollout
from monopoly_env.errors import ConfigurationError, GameOverError
from monopoly_env.game import Game
from monopoly_env.intervals import CONFIDENCE, mean_interval, wilson

_FEWEST: Final = 2  # playouts in a round


@dataclass(frozen=True)
class Candidate:
    """An action and what it is worth to the player to move.

    Attributes:
        action: The action.
        text: The action in words.
        playouts: How many playouts began with it.
        share: The player's share of the win in them.
        low: Lower bound of the share.
        high: Upper bound of the share.
        shares: (P,), the shares of all seats.
        difference: Its share less that of the best action over the same playouts: 0 or negative for most, and 0 for the best.
        difference_low: Lower bound of the difference.
        difference_high: Upper bound of the difference.
    """

    action: int
    text: str
    playouts: int
    share: float
    low: float
    high: float
    shares: tuple[float, ...]
    difference: float
    difference_low: float
    difference_high: float


@dataclass(frozen=True)
class Comparison:
    """Candidates, the best first: those that stayed longest, then by their share.

    Attributes:
        player: The seat to move.
        decision: The name of the decision.
        candidates: The actions.
        outcomes: By action: (N,) float32, the player's share of the win in each playout.
    """

    player: int
    decision: str
    candidates: tuple[Candidate, ...]
    outcomes: dict[int, NDArray[np.float32]] = field(repr=False, compare=False)

    def lead(self, action: int, other: int) -> NDArray[np.float64]:
        """How much more an action brought than another, in each playout that both had."""
        one, two = self.outcomes[action], self.outcomes[other]
        both = min(len(one), len(two))
        return one[:both].astype(np.float64) - two[:both]

    @property
    def best(self) -> Candidate:
        """The best action."""
        return self.candidates[0]

    def of(self, action: int) -> Candidate:
        """The candidate with this action.

        Raises:
            ConfigurationError: It was not compared.
        """
        for candidate in self.candidates:
            if candidate.action == action:
                return candidate
        raise ConfigurationError(f"Action {action} is not among the compared ones: {[one.action for one in self.candidates]}.")

    def __str__(self) -> str:
        rows = [f"Player {self.player}, {self.decision}:"]
        for one in self.candidates:
            rows.append(
                f"  {one.share:.3f} ({one.low:.3f} to {one.high:.3f})  {one.difference:+.3f} "
                f"({one.difference_low:+.3f} to {one.difference_high:+.3f})  {one.playouts:6,} playouts  {one.text}"
            )
        return "\n".join(rows)


def compare_actions(
    game: Game,
    actions: Sequence[int] | None = None,
    policies: Any = "expert",
    n: int = 1000,
    *,
    seed: int = 0,
    until: float | None = None,
    seconds: float | None = None,
    **options: Any,
) -> Comparison:
    """Compare actions of the player to move by playouts.

    In each round the actions that are left are played out more often, the best of them `n` times in the end, and the worse half is
    dropped. A search of offers is not part of it: of an offer, the first step is compared, and the policy of the seat makes the rest.

    Args:
        game: A record that waits for a decision; it is not changed.
        actions: The candidates; by default all legal actions.
        policies: Who plays on, as in `rollout`.
        n: Playouts of the best actions.
        seed: 0 to 2**64 - 1. The same seed gives the same result, unless `seconds` is given.
        until: Stop when the best action's lead over the second is known to this precision, to either side.
        seconds: Stop after the round in which this time is over.
        **options: Those of `rollout`: turns, value, shuffle, threads.

    Returns:
        The candidates, the best first.

    Raises:
        ConfigurationError: And the others that `rollout` raises.
    """
    batch = core.batch_of(game)
    legal = core.legal_actions(game)
    if not len(legal):
        raise GameOverError("The game is over: there is no action to compare.")
    candidates = np.array(legal if actions is None else list(dict.fromkeys(actions)), np.int64)
    if not len(candidates):
        raise ConfigurationError("actions is empty: give one or more, or None for all legal ones.")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ConfigurationError(f"n={n!r} must be a whole number from 1.")
    player, began = int(game.player), time.monotonic()
    shares: dict[int, NDArray[np.float32]] = {int(action): np.zeros((0, int(game.num_players)), np.float32) for action in candidates}
    left, dropped = [int(action) for action in candidates], list[int]()
    for count in _schedule(len(left), int(n)):
        done = len(shares[left[0]])
        played = rollout(np.repeat(batch, len(left)), policies, count - done, actions=np.array(left), seed=seed, first=done, **options)
        for action, more in zip(left, played.shares, strict=True):
            shares[action] = np.concatenate([shares[action], more])
        left.sort(key=lambda action: -shares[action][:, player].mean(dtype=np.float64))  # stable: ties keep the order of actions
        if _is_known(shares, left, player, until) or (seconds is not None and time.monotonic() - began > seconds):
            break
        if count < n:
            keep = math.ceil(len(left) / 2)
            dropped[:0] = left[keep:]
            left = left[:keep]
    ranked = left + dropped
    outcomes = {action: shares[action][:, player] for action in ranked}
    rows = tuple(candidate(game, action, shares[action], outcomes[ranked[0]], player) for action in ranked)
    return Comparison(player, DECISION_NAMES[game.decision], rows, outcomes)


def _schedule(candidates: int, n: int) -> list[int]:
    """How many playouts the candidates that are left have had after each round."""
    rounds = max(1, math.ceil(math.log2(candidates)))
    counts = [max(min(n, _FEWEST), n >> (rounds - 1 - number)) for number in range(rounds)]
    return sorted(set(counts))


def _is_known(shares: dict[int, NDArray[np.float32]], left: list[int], player: int, until: float | None) -> bool:
    """Whether the lead of the best action over the second is known well enough."""
    if until is None or len(left) < 2:
        return len(left) < 2
    lead = (shares[left[0]] - shares[left[1]])[:, player].astype(np.float64)
    _, low, high = mean_interval(lead)
    return len(lead) > _FEWEST and (high - low) / 2 <= until


def candidate(game: Game, action: int, shares: NDArray[np.float32], best: NDArray[np.float32], player: int) -> Candidate:
    """What playouts say about an action.

    Args:
        game: The game before it.
        action: The action.
        shares: (N, P), the shares of all seats in playouts that began with it.
        best: (M,), the player's share in those of the best action, over the same luck; M is at least N.
        player: The seat that decides.
    """
    own = shares[:, player].astype(np.float64)
    difference, difference_low, difference_high = mean_interval(own - best[: len(own)])
    low, high = wilson(own.sum(), len(own), CONFIDENCE)
    every = tuple(float(share) for share in shares.mean(axis=0, dtype=np.float64))
    return Candidate(
        action, describe(action, game), len(own), float(own.mean()), low, high, every, difference, difference_low, difference_high
    )
