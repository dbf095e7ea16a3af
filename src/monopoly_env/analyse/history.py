"""A whole game in shares of the win: what luck did, and what the players' choices did.

Between two decisions of a game only chance acts, so its course splits exactly: with V(d) the shares
before decision d, and Q(d) those after its action was chosen and before anything was drawn, the
choice is worth Q(d) - V(d) and the luck that follows V(d + 1) - Q(d). Over a game both add up to
the final shares less the first ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core, replays
from monopoly_env.actions import OFFERING
from monopoly_env.analyse.moves import Move, move_at
from monopoly_env.analyse.playouts import Playouts, rollout
from monopoly_env.cli.extras import extra
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import Game, Games
from monopoly_env.replays import Replay

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BLOCK: Final = 32  # decisions between two calls of the progress function


@dataclass(frozen=True, eq=False)
class History:
    """A game of D decisions and P players.

    Attributes:
        games: (D,) records, the game before each decision.
        actions: (D,) int64, the actions.
        before: (D, P), the shares before each decision: V.
        after: (D, P), the shares once the action was chosen: Q.
        final: (P,), the shares at the end: 1 for the winner, the last V of a game that was not
            played to its end.
    """

    games: Games
    actions: NDArray[np.int64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    final: NDArray[np.float64]

    @property
    def choice(self) -> NDArray[np.float64]:
        """(D, P), what each action did to the shares."""
        return self.after - self.before

    @property
    def luck(self) -> NDArray[np.float64]:
        """(D, P), what chance did to the shares after each action."""
        return np.concatenate([self.before[1:], self.final[None]]) - self.after

    @property
    def player(self) -> NDArray[np.int64]:
        """(D,), the seat that decided."""
        return self.games["player"].astype(np.int64)

    @property
    def own(self) -> NDArray[np.float64]:
        """(D,), what each action did to the share of the player who chose it."""
        return np.asarray(self.choice[np.arange(len(self.actions)), self.player])

    def plot(self, names: Sequence[str] = ()) -> Figure:
        """Draw each player's share of the win over the turns; `names` label the lines."""
        with extra("results"):
            from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 4), layout="constrained")
        axes = figure.add_subplot(xlabel="turn", ylabel="share of the win", ylim=(0, 1))
        turns = np.append(self.games["turns"], self.games["turns"][-1])
        for seat, shares in enumerate(np.concatenate([self.before, self.final[None]]).T):
            axes.plot(turns, shares, label=names[seat] if names else f"player {seat}", linewidth=1)
        axes.legend(loc="upper left", fontsize="small")
        return figure

    @cached_property
    def moves(self) -> dict[int, Move]:
        """The moves by decision; a whole offer stands at the decision that begins it."""
        moves = (move_at(self.games, self.actions, n) for n in range(len(self.actions)))
        return {number: move for number, move in enumerate(moves) if move is not None}

    def costly(self, count: int) -> NDArray[np.int64]:
        """The decisions that cost their own player most, the worst first; an offer is one."""
        starts = np.flatnonzero(~np.isin(self.games["decision"], OFFERING))
        return starts[np.argsort(np.add.reduceat(self.own, starts), kind="stable")][:count]


def history(
    replay: Replay,
    policies: Any = "expert",
    n: int = 200,
    *,
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
    **options: Any,
) -> History:
    """Follow a recorded game in shares of the win.

    Args:
        replay: The game.
        policies: As in `rollout`.
        n: Playouts before and after each action.
        seed: 0 to 2**64 - 1.
        progress: Called with the number of decisions analysed since the last call.
        **options: Those of `rollout`: turns, value, shuffle, threads.

    Raises:
        ConfigurationError: The replay has no action, and the errors of `rollout`.
        FormatError: It does not play back.
    """
    if not len(replay.actions):
        raise ConfigurationError("The recorded game has no decision: there is nothing to analyse.")
    records = [core.batch_of(game) for game in (replays.start(replay), *replays.games(replay))]
    last, games = records.pop()[0], np.concatenate(records)
    actions = replay.actions.astype(np.int64)
    before, after = np.zeros((2, len(games), replay.num_players))
    for part, reached, chosen in blocks(games, actions, policies, n, seed=seed, **options):
        before[part], after[part] = reached.share, chosen.share
        progress(len(games[part]))
    final = final_shares(last, policies, n, seed=seed, **options)
    return History(games, actions, before, after, final)


def blocks(
    games: Games,
    actions: NDArray[np.int64],
    policies: Any = "expert",
    n: int = 200,
    *,
    size: int = _BLOCK,
    **options: Any,
) -> Iterator[tuple[slice, Playouts, Playouts]]:
    """Play out (D,) decisions, `size` at a time, before and after each action, over the same luck.

    Yields:
        The decisions, the playouts before their actions and those after them.
    """
    for start in range(0, len(games), size):
        part = slice(start, start + size)
        before = rollout(games[part], policies, n, **options)
        yield part, before, rollout(games[part], policies, n, actions=actions[part], **options)


def final_shares(
    last: Game, policies: Any = "expert", n: int = 200, **options: Any
) -> NDArray[np.float64]:
    """(P,), the shares at the end of a game, or those of its last position if it is not over."""
    if not core.is_over(last):
        return rollout(last, policies, n, **options).share
    won = last.place[: int(last.num_players)] == 1
    return np.asarray(won / max(1, won.sum()), np.float64)
