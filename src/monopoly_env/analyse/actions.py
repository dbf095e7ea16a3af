"""Compare actions and whole offers (`moves`) by playouts over the same luck (`halving`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.actions import DECISION_NAMES
from monopoly_env.analyse.halving import halve
from monopoly_env.analyse.moves import Move, in_words, moves_of, start_of
from monopoly_env.errors import ConfigurationError, shortened
from monopoly_env.game import Game
from monopoly_env.intervals import CONFIDENCE, lead_interval, wilson

_NAMED: Final = 3  # actions that a verdict names beside the best


@dataclass(frozen=True)
class Candidate:
    """An action and what it is worth to the player to move.

    Attributes:
        action: The action.
        text: The action in words.
        playouts: How many playouts began with it.
        share: The player's share of the win in them. Dropped candidates have fewer playouts,
            perhaps the luckier ones: compare by the difference.
        low: Lower bound of the share.
        high: Upper bound of the share.
        shares: (P,), the shares of all seats.
        difference: Its share less that of the best action over the same playouts: 0 for the best.
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

    @property
    def move(self) -> Move:
        """The action that was compared."""
        return self.action


@dataclass(frozen=True)
class WholeOffer(Candidate):
    """An offer and what it is worth to its maker.

    Attributes:
        steps: All of its actions, from `action`, which begins it, to the last.
    """

    steps: tuple[int, ...]

    @property
    def move(self) -> Move:
        """The actions of the offer that was compared."""
        return self.steps


@dataclass(frozen=True)
class Comparison:
    """Candidates, the best first: those that stayed longest, then by their share.

    Attributes:
        player: The seat to move.
        decision: The name of the decision.
        candidates: The actions and whole offers.
        outcomes: By action, or by the actions of an offer: (N,) float32, the player's share of the
            win in each playout.
    """

    player: int
    decision: str
    candidates: tuple[Candidate, ...]
    outcomes: dict[Move, NDArray[np.float32]] = field(repr=False, compare=False)

    def lead(self, action: Move, other: Move) -> NDArray[np.float64]:
        """The lead of an action over another, in each playout that both had."""
        one, two = self.outcomes[action], self.outcomes[other]
        both = min(len(one), len(two))
        return one[:both].astype(np.float64) - two[:both]

    @property
    def best(self) -> Candidate:
        """The best action."""
        return self.candidates[0]

    def of(self, action: Move) -> Candidate:
        """The candidate with this action, or with these actions of an offer.

        Raises:
            ConfigurationError: It was not compared.
        """
        for candidate in self.candidates:
            if candidate.move == action:
                return candidate
        compared = [one.move for one in self.candidates]
        raise ConfigurationError(f"Action {action} is not among the compared ones: {compared}.")

    @property
    def verdict(self) -> str:
        """`best: buy`, or by the bounds of the differences, `too close to call: buy, decline`."""
        best, *others = self.candidates
        close = [one.text for one in others if one.difference_high >= 0]
        if not close:
            return f"best: {best.text}"
        more = f" and {len(close) - _NAMED} more" if len(close) > _NAMED else ""
        return f"too close to call: {', '.join([best.text, *close[:_NAMED]])}{more}"

    def __str__(self) -> str:
        """The best action's share, then the differences of the others to it, then the verdict."""
        best, *others = self.candidates
        rows = [(best, f" {best.share:.3f} ({best.low:.3f} to {best.high:.3f})")]
        for one in others:
            bounds = f"{one.difference_low:+.3f} to {one.difference_high:+.3f}"
            rows.append((one, f"{one.difference:+.3f} ({bounds})"))
        lines = [f"  {numbers:25}  {one.playouts:6,} playouts  {one.text}" for one, numbers in rows]
        return "\n".join([f"Player {self.player}, {self.decision}:", *lines, self.verdict])


def compare_actions(
    game: Game,
    actions: Sequence[int | Sequence[int]] | None = None,
    policies: Any = "expert",
    n: int = 1000,
    *,
    seed: int = 0,
    until: float | None = None,
    seconds: float | None = None,
    baseline: Move | None = None,
    **options: Any,
) -> Comparison:
    """Compare actions of the player to move by playouts.

    In each round the actions that are left are played out more often, the best of them `n` times in
    the end, and the worse half is dropped. An offer is compared as a whole: the sequence of its
    actions up to 'cash: done'. `agents.compare_offers` finds offers worth a look.

    Examples:
        >>> import monopoly_env as me
        >>> game = me.position(2, lots={0: ["Park Place"]}, positions={0: 37}, throws=[(1, 1)])
        >>> comparison = me.compare_actions(me.step(game, me.actions.parse("go on")), n=100)
        >>> comparison.best.text
        'buy'

    Args:
        game: A record that waits for a decision, but not for a step of an offer; it is not changed.
        actions: The candidates; by default all legal actions but those that begin an offer.
        policies: As in `rollout`.
        n: Playouts of the best actions.
        seed: 0 to 2**64 - 1. The same seed gives the same result, unless `seconds` is given.
        until: Precision, to either side, of the best action's lead at which to stop.
        seconds: Stop when this time is over; a few playouts of each candidate are always made.
        baseline: A candidate that is never dropped, to compare the others with.
        **options: Those of `rollout`: turns, value, shuffle, threads.

    Raises:
        ConfigurationError: An action or a number makes no sense, or the game waits for a step of an
            offer. And the errors of `rollout`.
    """
    moves = moves_of(game, actions)
    if baseline is not None and baseline not in moves:
        raise ConfigurationError(
            f"baseline={shortened(baseline)} is not among the compared actions: {shortened(moves)}."
        )
    if "first" in options:
        given = f"first={shortened(options['first'])}"
        raise ConfigurationError(f"compare_actions takes no {given}: it numbers playouts itself.")
    player, starts = int(game.player), [start_of(game, move) for move in moves]
    games, firsts = np.concatenate([one for one, _ in starts]), [action for _, action in starts]
    kept = None if baseline is None else moves.index(baseline)
    limits: dict[str, Any] = {"until": until, "seconds": seconds, "kept": kept}
    shares = halve(games, firsts, player, policies, n, seed=seed, **limits, **options)
    outcomes = {moves[number]: shares[number][:, player] for number in shares}
    first, *others = shares
    best = outcomes[moves[first]]
    leader = candidate(game, moves[first], shares[first], None, player)
    rest = (candidate(game, moves[n], shares[n], best, player) for n in others)
    return Comparison(player, DECISION_NAMES[game.decision], (leader, *rest), outcomes)


def candidate(
    game: Game,
    move: Move,
    shares: NDArray[np.float32],
    best: NDArray[np.float32] | None,
    player: int,
) -> Candidate:
    """The results of the playouts of a move.

    Args:
        game: The game before it.
        move: The action, or the actions of the offer.
        shares: (N, P), the shares of all seats in its playouts.
        best: (M,), M >= N, the player's share in those of the best move; None: this is the best.
        player: The seat that decides.
    """
    own = shares[:, player].astype(np.float64)
    difference = (0.0, 0.0, 0.0) if best is None else lead_interval(own - best[: len(own)])
    low, high = wilson(own.sum(), len(own), CONFIDENCE)
    every = tuple(float(share) for share in shares.mean(axis=0, dtype=np.float64))
    row = (len(own), float(own.mean()), low, high, every, *difference)
    if isinstance(move, tuple):
        return WholeOffer(move[0], in_words(game, move), *row, steps=move)
    return Candidate(move, in_words(game, move), *row)
