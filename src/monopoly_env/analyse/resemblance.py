"""Likeness of players to policies: how often they did what given policies would have done.

It describes a player whose policy is unknown by known ones: in playouts, policies are sampled for
its seat by posterior probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monopoly_env import core
from monopoly_env.actions import DECISION_NAMES, NUM_ACTIONS, OFFERING
from monopoly_env.engine.step import apply, is_legal
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import Game, Games
from monopoly_env.kernels import borrowed, entry
from monopoly_env.kernels.signatures import Array1, Array2, Array3
from monopoly_env.policy.loop import Players, ask
from monopoly_env.policy.names import PolicyLike, compiled, resolve_all
from monopoly_env.policy.protocol import MEMORY

DOUBT: Final = 0.1  # how often a player departs from its policy
# Steps of an offer follow from the first one, so they say nothing more.
_COUNTS: Final = ~np.isin(np.arange(len(DECISION_NAMES)), OFFERING)


@dataclass(frozen=True, eq=False)
class Resemblance:
    """Shares of decisions in which P players agree with K policies.

    Attributes:
        names: (K,) names of the policies.
        asked: (P,) int64, decisions of each player, without the steps of offers.
        agreed: (P, K) int64, those in which a policy would have done the same.
    """

    names: tuple[str, ...]
    asked: NDArray[np.int64]
    agreed: NDArray[np.int64]

    def weights(self, doubt: float = DOUBT) -> NDArray[np.float64]:
        """(P, K) the probability that each player has each policy; all are equally likely before.

        Args:
            doubt: How often a player departs from its policy; above 0 and below 0.5.

        Raises:
            ConfigurationError: `doubt` is out of range.
        """
        if not 0 < doubt < 0.5:
            bounds = "above 0 and below 0.5"
            raise ConfigurationError(f"doubt={doubt!r} must be a probability {bounds}.")
        ahead = self.agreed - self.agreed.max(axis=1, keepdims=True)
        likely = (doubt / (1 - doubt)) ** -ahead.astype(np.float64)
        return np.asarray(likely / likely.sum(axis=1, keepdims=True))

    def __str__(self) -> str:
        rows = []
        for seat, count in enumerate(self.asked):
            shares = zip(self.agreed[seat] / max(1, count), self.names, strict=True)
            shown = (f"{name} {share:.0%}" for share, name in sorted(shares, reverse=True))
            rows.append(f"player {seat}, {count} decisions: {', '.join(shown)}")
        return "\n".join(rows)


def resemblance(game: Game, actions: ArrayLike, policies: Sequence[PolicyLike]) -> Resemblance:
    """Ask policies at every decision of a game what they would have done.

    Examples:
        >>> import agents, monopoly_env as me
        >>> from monopoly_env import replays
        >>> results = agents.arena.play(["expert", "random"], games=1, seed=0, record=1)
        >>> game, actions = replays.start(results.replays[0]), results.replays[0].actions
        >>> me.analyse.resemblance(game, actions, ["expert", "random"]).weights().round(2)
        array([[1., 0.],
               [0., 1.]])

    Args:
        game: The game, at any of its decisions: it is played again from its start.
        actions: (D,) its actions from the start, such as those of a replay.
        policies: Compiled policies, each with a memory for each seat; none watches others' turns.

    Raises:
        ConfigurationError: There is no policy, one is not compiled, or an action is not legal in
            the game.
        PositionError: The record is invalid.
    """
    return Follower(game, policies).follow(actions)


class Follower:
    """Follows a game that goes on, and asks policies only at the decisions that are new."""

    def __init__(self, game: Game, policies: Sequence[PolicyLike]) -> None:
        """Begin before the first action; see `resemblance`."""
        models = [compiled(policy) for policy in resolve_all(policies)]
        if not models:
            raise ConfigurationError("policies must be one or more compiled ones, not none.")
        core.sound(game)
        self._names, self._players = tuple(policy.name for policy in models), Players.of(models)
        self._begin(core.batch_of(core.restarted(game)))

    def _begin(self, games: Games) -> None:
        seats, models = int(games["num_players"][0]), len(self._names)
        self._start, self._game, self._followed = games, games.copy(), np.zeros(0, np.int64)
        self._asked, self._agreed = np.zeros(seats, np.int64), np.zeros((seats, models), np.int64)
        self._memory = np.zeros((models, seats, MEMORY))

    def follow(self, actions: ArrayLike) -> Resemblance:
        """Count up to the last of (D,) actions; from the start again if earlier ones differ.

        Raises:
            ConfigurationError: An action is not legal.
        """
        given = np.asarray(actions)
        if given.ndim != 1 or (given.dtype.kind not in "iu" and len(given)):
            what = f"{given.dtype} of shape {given.shape}"
            raise ConfigurationError(f"actions must be one row of whole numbers, not {what}.")
        done = len(self._followed)
        if not np.array_equal(given[:done], self._followed):
            self._begin(self._start)
            done = 0
        new, mask = given[done:].astype(np.int64), np.zeros(NUM_ACTIONS, np.bool_)
        counts = self._asked, self._agreed
        played = _compare(self._game, new, self._players, self._memory, mask, *counts)
        if played < len(new):
            self._begin(self._start)
            which = f"Action {new[played]}, number {done + played} of {len(given)}"
            raise ConfigurationError(f"{which}, is not legal in this game.")
        self._followed = given.astype(np.int64)
        return Resemblance(self._names, self._asked.copy(), self._agreed.copy())


@entry
def _compare(  # noqa: PLR0917 - compiled
    games: Games, actions: Array1[np.int64], players: Players, memory: Array3[np.float64],
    mask: Array1[np.bool_],
    asked: Array1[np.int64], agreed: Array2[np.int64],
) -> int:  # fmt: skip
    """Play a game on and count; returns how many actions were legal."""
    players, memory, mask = borrowed(players), borrowed(memory), borrowed(mask)
    game = games[0]
    for number in range(len(actions)):
        action = int(actions[number])
        if not 0 <= action < NUM_ACTIONS or not is_legal(game, action):
            return number
        seat = int(game.player)
        if _COUNTS[game.decision]:
            asked[seat] += 1
            for policy in range(len(players.lengths)):
                if ask(game, players, policy, memory[policy, seat], mask) == action:
                    agreed[seat, policy] += 1
        apply(game, action)
    return len(actions)
