"""Where tokens rest: the engine's long-run landing odds, compared with exact ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from monopoly_env.actions import A_JAIL, A_TURN
from monopoly_env.core import new_games
from monopoly_env.engine import agenda, decks
from monopoly_env.engine.legal import is_legal, nth_legal
from monopoly_env.engine.step import answer, settle_one
from monopoly_env.errors import whole_number
from monopoly_env.facts.board import NUM_SQUARES
from monopoly_env.facts.editions import read_table
from monopoly_env.game import Games
from monopoly_env.kernels import entry, kernel
from monopoly_env.kernels.signatures import Array2
from monopoly_env.kernels.threads import Threads
from monopoly_env.rules import Rules

IN_JAIL: Final = NUM_SQUARES  # row 40 of a landing table
GAMES: Final = 2048  # independent games, among which the throws are split
_SLICE: Final = 32
WARM_UP: Final = 100  # first throws of each game, which are not counted

Board = Literal["us", "uk"]
Jail = Literal["leave", "stay", "stay_reroll"]
_PRESETS: Final = {"us": "official", "uk": "uk"}
_EXACT: Final = {("us", "leave"): "landing_us_leave_at_once.csv"}

# The share of In Jail, in percent of throws, on the US board (Collins' "long" figures, with and
# without the extra throw).
IN_JAIL_PUBLISHED: Final = {("us", "stay"): 9.386, ("us", "stay_reroll"): 9.457}
# percentage points at 20 million throws: over six standard deviations, real decks included
TOLERANCE: Final = 0.03
_TOLERANCE_THROWS: Final = 20_000_000


@entry
def _count_rests(games: Games, throws: int, leave: bool, counts: Array2[np.int64]) -> None:
    """Play until each game has had its throws, and count where tokens rest."""
    for i in range(len(games)):
        game, seen = games[i], -WARM_UP
        while seen < throws:
            top = int(game.depth) - 1
            if game.agenda[top, 0] == agenda.AFTER_THROW_TASK:
                seat = game.agenda[top, 1]
                if seen >= 0:
                    counts[i, IN_JAIL if game.jail[seat] > 0 else game.position[seat]] += 1
                seen += 1
                # the exact odds assume whole decks; a held card moves Chance by 0.02 points
                decks.return_all(game, seat)
            if not settle_one(game):
                answer(game, _passive_action(game, leave))


@kernel
def _passive_action(game: Any, leave: bool) -> int:
    """Leave jail at once or as late as possible; else go on or decline."""
    if leave and is_legal(game, A_JAIL):
        return A_JAIL
    return A_TURN if is_legal(game, A_TURN) else nth_legal(game, 0)


@dataclass(frozen=True)
class Landing:
    """Measured landing odds.

    Attributes:
        percent: (41,) percentage of throws after which a token rests on each square; row 40 is In
            Jail.
        throws: The number of throws counted.
        exact: (41,) the exact odds in percent, or None if they are not known.
    """

    board: str
    jail: str
    percent: npt.NDArray[np.float64]
    throws: int
    exact: npt.NDArray[np.float64] | None

    @property
    def tolerance(self) -> float:
        """The largest acceptable difference, in percentage points, for this number of throws."""
        return TOLERANCE * float(max(1.0, (_TOLERANCE_THROWS / self.throws) ** 0.5))

    @property
    def difference(self) -> float | None:
        """The largest difference from the known odds, in percentage points; None: unknown."""
        if self.exact is not None:
            return float(np.abs(self.percent - self.exact).max())
        known = IN_JAIL_PUBLISHED.get((self.board, self.jail))
        return None if known is None else abs(float(self.percent[IN_JAIL]) - known)

    def csv(self) -> str:
        """The table as CSV, with columns index,percent."""
        rows = (f"{i},{value:.6f}\n" for i, value in enumerate(self.percent))
        return "".join(["index,percent\n", *rows])


def landing_rules(board: Board, jail: Jail) -> Rules:
    """Rules under which tokens only move, with enough money for millions of taxes."""
    bare = {"auction": "none", "trade": "none", "start_cash": 1_000_000}
    return Rules.preset(_PRESETS[board], **bare, jail_double_extra_throw=jail == "stay_reroll")


def measure(
    board: Board = "us",
    jail: Jail = "leave",
    throws: int = _TOLERANCE_THROWS,
    seed: int = 0,
    threads: int = 1,
) -> Landing:
    """Measure landing odds, with the arguments of `LandingOptions`.

    `throws` is rounded up to a multiple of 2,048.

    Raises:
        ConfigurationError: `throws` is less than 1, or `seed` is negative.
    """
    whole_number("throws", throws, 1)
    whole_number("seed", seed, 0)
    seeds = np.random.SeedSequence(seed).generate_state(GAMES, np.uint64)
    games: Games = new_games(seeds, 2, landing_rules(board, jail))
    counts = np.zeros((GAMES, NUM_SQUARES + 1), np.int64)
    each = -(-throws // GAMES)
    slices = [slice(i, i + _SLICE) for i in range(0, GAMES, _SLICE)]
    pool = Threads(threads, "landing")
    pool.map(_count_rests, ((games[part], each, jail == "leave", counts[part]) for part in slices))
    pool.close()
    total = counts.sum(0)
    return Landing(board, jail, 100 * total / total.sum(), int(total.sum()), _exact(board, jail))


def _exact(board: str, jail: str) -> npt.NDArray[np.float64] | None:
    name = _EXACT.get((board, jail))
    if name is None:
        return None
    return np.array([float(row["short_end_roll_pct"]) for row in read_table(name)])
