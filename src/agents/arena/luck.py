"""The luck of the dice by a value function: a control variate for the results of games.

At each throw, all 21 distinct results are settled on copies of the record, each up to the next
throw or real choice, and valued. The luck of the throw is the value after the actual result minus
the expected value:

    luck = V(d) - sum over results x of p(x) V(x),    p(x) = 1/36 for a double, else 2/36

Subtracting it changes no mean, whatever the value function:

- Hold fixed all other random numbers of a game: its other throws, its decks, its throws for
  utilities, and the draws of its policies. Each has its own stream, or its own place in one, so
  they are independent of this throw d.
- The record before the throw, whether the throw is made at all, and V(x) for each x then depend on
  them only: a copy settles cards and utility throws with the numbers that the game itself would
  use. So V(x) is a fixed number for each x.
- d is uniform over the 36 results, so the luck has mean zero, conditionally and therefore
  unconditionally (up to the 2**-26 by which `engine.randomness.below` is not uniform). The luck of
  a game is a sum over at most as many throws as it has turns.

Luck that remains: the order of the decks (who draws a card is the luck of a throw), throws for
utilities, throws before the first decision. Policies must not read the seed of a record except for
their own stream. This is the chance part of AIVAT (Burch, Schmid, Moravčík, Morrill and Bowling,
"AIVAT: A New Variance Reduction Technique for Agent Evaluation in Imperfect Information Games",
AAAI 2018).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.arena.counting import throws_next
from monopoly_env.analyse import values
from monopoly_env.analyse.values import Value, write_shares
from monopoly_env.engine import agenda
from monopoly_env.engine.legal import ask
from monopoly_env.engine.step import settle_one
from monopoly_env.game import Game, Games, empty_games
from monopoly_env.kernels import kernel
from monopoly_env.kernels.signatures import Array1, Array2

BEST: Final = "value"  # instead of a name: the best value function of the library
_BEST: Final = "best"
_RESULTS: Final = 21  # of two dice, in any order


class Luck(NamedTuple):
    """The luck of B games so far, and buffers to measure it.

    Attributes:
        measured: Whether luck is measured; if not, the arrays are empty.
        value: `ValueKernel.handle`.
        params: The parameters of the value.
        sums: (B, P) float64, the luck of each seat, in shares of the win.
        copies: (1,) records.
        after: (21, P) float64, the values after each result.
        asking: (1,) bool, whether the value is being computed: an error is then the value's.
    """

    measured: bool
    value: int
    params: Array1[np.float32]
    sums: Array2[np.float64]
    copies: Games
    after: Array2[np.float64]
    asking: Array1[np.bool_]

    @classmethod
    def of(cls, value: Value | None, sums: NDArray[np.float64]) -> Luck:
        """Luck by a value, added to `sums`; with None, luck is not measured."""
        players = sums.shape[1]
        handle, params = (
            (0, np.zeros(1, np.float32)) if value is None else (value.kernel.handle, value.params)
        )
        buffers = empty_games(1), np.zeros((_RESULTS, players)), np.zeros(1, np.bool_)
        return cls(value is not None, handle, params, sums, *buffers)


def resolve(adjust: str | Value | None, players: int) -> Value | None:
    """The value by which results are adjusted: None, "value" for the best, a name, or a value.

    Raises:
        ConfigurationError: It is unknown, or does not support tables of so many players.
    """
    if adjust is None:
        return None
    value = values.resolve(_BEST if adjust == BEST else adjust)
    value.check_players(players)
    return value


@kernel
def throw_measured(game: Game, luck: Any, sums: Any) -> None:
    """Carry out the next throw of a game, and add its luck to the (P,) sums of the game's seats."""
    if game.num_forced > 0:  # no luck
        settle_one(game)
        return
    luck.asking[0] = True
    number = 0
    for first in range(1, 7):
        for second in range(first, 7):
            luck.copies[0] = game
            _throw_to_value(luck.copies[0], first, second, luck, luck.after[number])
            number += 1
    luck.asking[0] = False
    settle_one(game)
    low, high = min(int(game.dice[0]), int(game.dice[1])), max(int(game.dice[0]), int(game.dice[1]))
    number = 0
    for first in range(1, 7):
        for second in range(first, 7):
            weight = (36.0 if first == low and second == high else 0.0) - (
                1.0 if first == second else 2.0
            )
            for seat in range(len(sums)):
                sums[seat] += luck.after[number, seat] * weight / 36.0
            number += 1


@kernel
def _throw_to_value(game: Game, first: int, second: int, luck: Any, after: Any) -> None:
    """Carry out the next throw with this result, and value the state at the next throw or choice.

    Before a throw, the value function sees a window without actions, so that the open decision is
    consistent.
    """
    game.forced_throws[0] = 10 * first + second
    game.num_forced = 1
    settle_one(game)
    while not throws_next(game) and settle_one(game):
        pass
    if throws_next(game):
        seat = int(game.agenda[int(game.depth) - 1, 1])
        agenda.push(game, agenda.WINDOW, seat, agenda.BEFORE_THROW, 0)
        ask(game, agenda.WINDOW, seat, agenda.BEFORE_THROW, 0)
    write_shares(luck.value, game, luck.params, after)
