"""Anytime analyses: generators of messages, each step a fraction of a second. `sockets` runs them.

All numbers come from playouts (docs/analysis.md), with common random numbers for comparisons.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monopoly_env import actions, core
from monopoly_env.analyse.actions import Candidate, candidate
from monopoly_env.analyse.history import final_shares
from monopoly_env.analyse.moves import moves_of
from monopoly_env.analyse.playouts import rollout
from monopoly_env.engine.agenda import OVER
from monopoly_env.game import Game, Games
from monopoly_env.intervals import CONFIDENCE, mean_interval, wilson
from monopoly_env.policy.protocol import Policy

Message: TypeAlias = dict[str, Any]
Policies: TypeAlias = Sequence[Policy]  # the policies of playouts, one a seat

_STEP: Final = 0.2  # seconds that a step should take
_FIRST: Final = 32  # playouts of the first step
_EACH: Final = 32  # playouts of every action in the first round
_KNOWN: Final = 2500  # playouts with a standard error of at most a point of the win


class _Pace:
    """The number of playouts that fit into a step."""

    def __init__(self) -> None:
        self.count, self._began = _FIRST, time.monotonic()

    def begin(self) -> None:
        self._began = time.monotonic()

    def end(self, played: int) -> None:
        """Adapt to a step, by a factor of four at most: the first steps may compile code."""
        rate = played / max(1e-6, time.monotonic() - self._began)
        self.count = max(8, min(4 * self.count, int(rate * _STEP)))


# --- a position


def analyse(
    game: Game, policies: Policies, with_actions: bool, most: int, turns: int | None = None
) -> Iterator[Message]:
    """Shares of the win, now and after each legal action, refined step by step.

    Args:
        game: The position.
        policies: The policies of playouts.
        with_actions: Whether to compare the actions too.
        most: Playouts of each action that may be the best.
        turns: Rounds after which a playout is cut off and valued by worth.
    """
    began, pace, done = time.monotonic(), _Pace(), core.is_over(game)
    if done:
        result: Message = {"playouts": 0, "shares": _ended(game), "candidates": [], "done": True}
        yield {"type": "analysis"} | result | about(policies)
        return
    shares, race = _none(game), _Race(game, policies, most, turns)
    while not done:
        pace.begin()
        count = min(pace.count, most - len(shares))
        if count and (
            not with_actions or race.is_over or len(shares) <= _share_of(len(shares)) * race.played
        ):
            more = rollout(game, list(policies), count, first=len(shares), turns=turns)
            shares, played = np.concatenate([shares, more.shares]), count
        else:
            played = race.go_on(pace.count)
        pace.end(played)
        done = len(shares) >= most and (not with_actions or race.is_over)
        yield {
            "type": "analysis",
            "playouts": len(shares),
            "shares": _shares(shares),
            "candidates": [as_json(one) for one in race.candidates()] if with_actions else [],
            "done": done,
        } | about(policies, time.monotonic() - began)


def analyse_throw(
    thrown: Callable[[int], Games], policies: Policies, most: int, turns: int | None = None
) -> Iterator[Message]:
    """Shares of the win before a throw: over all 36 throws, again and again.

    Args:
        thrown: Returns the (36,) games after each throw, by the seed of their decks.
        policies: The policies of playouts.
        most: Playouts, about.
        turns: Rounds after which a playout is cut off and valued by worth.
    """
    began, pace, rounds = time.monotonic(), _Pace(), 0
    shares = np.zeros((0, len(policies)), np.float32)
    while len(shares) < most:
        pace.begin()
        games = thrown(rounds)
        count = max(1, min(pace.count, most - len(shares)) // len(games))
        more = np.zeros((len(games), count, len(policies)), np.float32)
        over = games["decision"] == OVER
        for number in np.flatnonzero(over):
            more[number] = final_shares(games[number])
        if not over.all():
            played = rollout(games[~over], list(policies), count, first=rounds, turns=turns)
            more[~over] = played.shares
        shares, rounds = np.concatenate([shares, more.reshape(-1, len(policies))]), rounds + count
        pace.end(more.shape[0] * count)
        yield {
            "type": "analysis",
            "playouts": len(shares),
            "shares": _shares(shares),
            "candidates": [],
            "done": len(shares) >= most,
        } | about(policies, time.monotonic() - began)


def _none(game: Game) -> NDArray[np.float32]:
    return np.zeros((0, int(game.num_players)), np.float32)


def _share_of(playouts: int) -> float:
    """Playouts of the position per playout of all actions: more until it is known to a point."""
    return 8.0 if playouts < _KNOWN else 0.5


class _Race:
    """A race of the legal actions of a position: those that may be the best get more playouts.

    Offers are excluded: a playout can't begin in the middle of one (`compare_actions`). `weigh`
    judges them as a whole.
    """

    def __init__(self, game: Game, policies: Policies, most: int, turns: int | None) -> None:
        self.game, self.policies, self.most, self.turns = game, list(policies), most, turns
        self.player = int(game.player)
        moves = [] if game.decision in actions.OFFERING else moves_of(game)
        self.shares = {move: _none(game) for move in moves if isinstance(move, int)}
        self.played = 0
        self._due: list[int] = []
        self._goal = 0

    @property
    def fewest(self) -> int:
        """The minimum of playouts of an action in the race."""
        return min(len(self.shares[action]) for action in self._running())

    @property
    def is_over(self) -> bool:
        """Whether every action in the race has its playouts."""
        return not self.shares or (not self._due and self.fewest >= self.most)

    def go_on(self, budget: int) -> int:
        """Play the next actions of this round; returns the number of playouts, about `budget`."""
        if not self._due:
            self._due = self._running()
            self._goal = min(self.most, max(_EACH, 2 * self.fewest))
        action = self._due[0]
        done = len(self.shares[action])
        count = max(1, min(self._goal - done, budget))
        together = [other for other in self._due if len(self.shares[other]) == done]
        together = together[: max(1, budget // count)]
        games = np.repeat(core.batch_of(self.game), len(together))
        more = rollout(
            games, self.policies, count, actions=np.array(together), first=done, turns=self.turns
        )
        for other, shares in zip(together, more.shares, strict=True):
            self.shares[other] = np.concatenate([self.shares[other], shares])
        self._due = [other for other in self._due if len(self.shares[other]) < self._goal]
        self.played += count * len(together)
        return count * len(together)

    def _running(self) -> list[int]:
        """The actions that may be the best: at first all, then all but the clearly worse."""
        if any(len(shares) < _EACH for shares in self.shares.values()):
            return list(self.shares)
        ranked = self.candidates()
        return [one.action for one in ranked if one is ranked[0] or one.difference_high >= 0]

    def candidates(self) -> list[Candidate]:
        """The actions played so far, the best first."""
        played = {action: shares for action, shares in self.shares.items() if len(shares) > 1}
        if not played:
            return []
        own = {action: shares[:, self.player] for action, shares in played.items()}
        best = max(own, key=lambda action: (len(own[action]), own[action].mean(dtype=np.float64)))
        rows = [
            candidate(
                self.game,
                action,
                shares[: len(own[best])],
                None if action == best else own[best],
                self.player,
            )
            for action, shares in played.items()
        ]
        return sorted(rows, key=lambda one: (one.action != best, -one.difference))


def _shares(shares: NDArray[np.float32]) -> list[dict[str, Any]]:
    mean = shares.mean(axis=0, dtype=np.float64)
    low, high = wilson(mean * len(shares), len(shares), CONFIDENCE)
    return [
        {"seat": seat, "share": float(share), "low": float(low[seat]), "high": float(high[seat])}
        for seat, share in enumerate(mean)
    ]


def _ended(game: Game) -> list[dict[str, Any]]:
    return [
        {"seat": seat, "share": x, "low": x, "high": x}
        for seat, x in enumerate(final_shares(game).tolist())
    ]


def as_json(one: Candidate) -> dict[str, Any]:
    """A candidate in JSON. Clients have words of their own for its action."""
    row = {name: value for name, value in vars(one).items() if name != "text"}
    return row | {"shares": list(one.shares)}


def about(policies: Policies, seconds: float = 0.0) -> Message:
    """The policies of playouts, and the time so far."""
    return {
        "policies": [policy.name for policy in policies],
        "seconds": round(seconds, 2),
        "confidence": CONFIDENCE,
    }


# --- an offer


def weigh(game: Game, picks: Sequence[int], policies: Policies, most: int) -> Iterator[Message]:
    """The change of every seat's share of the win if an offer is accepted, compared with no offer.

    Args:
        game: The position before the offer.
        picks: The actions that make it.
        policies: The policies of playouts.
        most: Playouts of both.
    """
    offered = core.clone(game)
    for action in picks:
        core.step(offered, action)
    both = np.concatenate([core.batch_of(game), core.batch_of(offered)])
    now = after = _none(game)
    pace = _Pace()
    while len(now) < most:
        pace.begin()
        count = min(max(4, pace.count // 2), most - len(now))
        without = rollout(both[0], list(policies), count, first=len(now))
        accepted = rollout(
            both[1], list(policies), count, actions=actions.A_REPLY + 1, first=len(now)
        )
        now, after = np.concatenate([now, without.shares]), np.concatenate([after, accepted.shares])
        pace.end(2 * count)
        yield {
            "type": "offer",
            "playouts": len(now),
            "seats": _compared(now, after),
            "done": len(now) >= most,
        } | about(policies)


def _compared(now: NDArray[np.float32], after: NDArray[np.float32]) -> list[dict[str, Any]]:
    rows = []
    for seat, (before, then) in enumerate(zip(now.T, after.T, strict=True)):
        gain, low, high = mean_interval((then - before).astype(np.float64))
        shares = {
            "now": float(before.mean(dtype=np.float64)),
            "after": float(then.mean(dtype=np.float64)),
        }
        rows.append({"seat": seat, **shares, "difference": gain, "low": low, "high": high})
    return rows


# --- a whole game


def curve(
    frame: Callable[[int], Game], version: int, points: int, playouts: int, policies: Policies
) -> Iterator[Message]:
    """The shares of all players at evenly spaced frames of a game.

    Args:
        frame: Returns the game at a frame.
        version: The last frame.
        points: The number of frames.
        playouts: Of each.
        policies: The policies of playouts.
    """
    frames = sorted({round(float(number)) for number in np.linspace(0, version, points)})
    known: dict[int, Message] = {}
    pace = _Pace()
    for number in _coarse_first(frames):
        game = frame(number)
        for shares, is_last in _refined(game, policies, playouts, pace):
            known[number] = {"version": number, "turn": int(game.turns)} | {
                name: [row[key] for row in shares]
                for name, key in (("shares", "share"), ("low", "low"), ("high", "high"))
            }
            done_points = [known[version] for version in sorted(known)]
            yield {
                "type": "curve",
                "points": done_points,
                "done": is_last and len(known) == len(frames),
            } | about(policies)


def _refined(
    game: Game, policies: Policies, playouts: int, pace: _Pace
) -> Iterator[tuple[list[dict[str, Any]], bool]]:
    """The shares of a position after increasing numbers of playouts; True with the last ones."""
    if core.is_over(game):
        yield _ended(game), True
        return
    shares = _none(game)
    while len(shares) < playouts:
        pace.begin()
        count = min(pace.count, playouts - len(shares))
        shares = np.concatenate(
            [shares, rollout(game, list(policies), count, first=len(shares)).shares]
        )
        pace.end(count)
        yield _shares(shares), len(shares) == playouts


def _coarse_first(frames: list[int]) -> list[int]:
    """Frames in an order that shows the whole curve early: every eighth, then those between."""
    order = sorted(range(len(frames)), key=lambda place: (place % 8 != 0, place % 4 != 0, place))
    return [frames[place] for place in order]
