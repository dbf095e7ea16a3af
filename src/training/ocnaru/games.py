"""The games of phase 2: networks against scripted opponents, one network's decisions recorded.

That network explores in a share epsilon of its decisions; the other networks do not. All policies
are compiled, so that games run on threads while the network learns from earlier ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.networks.ocnaru import (
    BASE_ACTION,
    CHOICE,
    EPSILON,
    NAMES,
    NOTED,
    OPEN,
    WATCHED,
    OcnaruNetworks,
)
from agents.players.vocabulary.reading import NO_LOT
from monopoly_env.encoding import ocnaru
from monopoly_env.engine.step import answer, settle_one
from monopoly_env.game import BY_CAP
from monopoly_env.kernels import borrowed, entry
from monopoly_env.kernels.signatures import Array1
from monopoly_env.policy.loop import Players, Running, next_of
from monopoly_env.policy.protocol import CompiledPolicy
from monopoly_env.rules import Rules
from training.experience.rows import Rows
from training.experience.streams import TURN_LIMIT
from training.ocnaru.rewards import (
    NUM_QUANTITIES,
    WORTH,
    Moment,
    Quantities,
    Variant,
    own_worth,
    reward,
    terminal,
    write_quantities,
)

_SLICE: Final = 8  # games that a thread plays at a time
_MOST: Final = 1024  # decisions of a network that are recorded in a game
_UNKNOWN: Final = -1
_ANSWERS: Final = ("fine", "card")  # networks that act only by their second output


class _Columns(NamedTuple):
    observation: NDArray[Any]
    choice: NDArray[Any]
    open: NDArray[Any]
    before: NDArray[Any]
    after: NDArray[Any]
    other: NDArray[Any]
    game: NDArray[Any]


class Moves(Rows, _Columns):
    """N decisions of a network in whole games, in the order of games and then of time.

    Attributes:
        observation: (N, 100) float32.
        choice: (N,) int64, the output that it chose.
        open: (N,) int64, the outputs that it could choose from, one bit each.
        before: (N, `NUM_QUANTITIES`) float64, the quantities of `rewards` before the decision.
        after: (N, `NUM_QUANTITIES`) float64, those after it, but the worth a round later.
        other: (N,) int8, whether the base policy would have acted differently; -1 for later picks
            of the same plan.
        game: (N,) int64, the number of the game.
    """

    TYPES = (
        (np.float32, ocnaru.SIZE), (np.int64,), (np.int64,), (np.float64, NUM_QUANTITIES),
        (np.float64, NUM_QUANTITIES), (np.int8,), (np.int64,),
    )  # fmt: skip


class Played(NamedTuple):
    """G games of the networks, and the decisions of one network in them.

    Attributes:
        numbers: The numbers of the games.
        moves: The decisions.
        won: (G,) bool, whether the networks won alone.
        bankrupt: (G,) bool, whether they went bankrupt.
        worth: (G,), their worth at the end, dollars.
    """

    numbers: range
    moves: Moves
    won: NDArray[np.bool_]
    bankrupt: NDArray[np.bool_]
    worth: NDArray[np.float64]

    def last(self) -> NDArray[np.bool_]:
        """(N,) bool, whether a decision is the last one of its game."""
        game = self.moves.game
        return np.append(game[1:] != game[:-1], True)[: len(game)]

    def rewards(
        self, head: str, variant: Variant, *, moment: Moment = "round", stale: bool = False
    ) -> NDArray[np.float64]:
        """(N,), the rewards of a network's decisions, including the end of the game.

        `variant` and `moment` as in `training.ocnaru.rewards`. `stale` reproduces a defect of the
        published program, which keeps a reference to the live state instead of a copy: every
        difference is 0, no action seems to have been taken, the end of the game is not noticed.
        """
        moves = self.moves
        after = Quantities.of_rows(moves.after)
        if stale:
            return reward(head, after, after, np.zeros(len(moves.choice), np.bool_), variant)
        before, last = Quantities.of_rows(moves.before), self.last()
        at = moves.game - self.numbers.start
        if moment == "asked":
            after = after._replace(worth=np.where(last, self.worth[at], np.roll(before.worth, -1)))
        acted = moves.choice == 1 if head in _ANSWERS else np.ones(len(moves.choice), np.bool_)
        end = last * terminal(self.won[at], self.bankrupt[at])
        return reward(head, before, after, acted, variant) + end


class TrainingGames:
    """Plays the networks against each opponent and from each seat in turn."""

    def __init__(
        self, opponents: Sequence[CompiledPolicy], rules: Rules, seed: int, threads: int
    ) -> None:
        """Start the threads. Opponents take turns; game g has the seed `(seed << 32) + g`."""
        self.opponents = list(opponents)
        self.rules = rules
        self.seed = seed
        self.pool = ThreadPoolExecutor(threads, "training games")

    def begin(
        self, policy: OcnaruNetworks, head: str, numbers: range, epsilon: NDArray[np.float64]
    ) -> list[Future[Played]]:
        """Begin to play games in the background with a copy of the networks as they are now.

        Args:
            policy: The networks.
            head: The network whose decisions are recorded.
            numbers: The numbers of the games.
            epsilon: For each game, the share of this network's decisions that are random.
        """
        # this copies the parameters, which may change during the games
        players = Players.of([policy, *self.opponents])
        starts = range(0, len(numbers), _SLICE)
        parts = [
            (numbers[start : start + _SLICE], epsilon[start : start + _SLICE]) for start in starts
        ]
        return [self.pool.submit(self._play, players, policy, head, *part) for part in parts]

    def close(self) -> None:
        """Stop the threads."""
        self.pool.shutdown(cancel_futures=True)

    def _play(
        self,
        players: Players,
        networks: OcnaruNetworks,
        head: str,
        numbers: range,
        epsilon: NDArray[np.float64],
    ) -> Played:
        at = np.arange(numbers.start, numbers.stop)
        rows, seat = np.arange(len(at)), at % ocnaru.NUM_PLAYERS
        seats = np.zeros((len(at), ocnaru.NUM_PLAYERS), np.int64)
        seats[rows, 1 - seat] = 1 + at // ocnaru.NUM_PLAYERS % len(self.opponents)
        running = Running.begin(
            players, seats, at, seed=self.seed, rules=self.rules, turn_limit=TURN_LIMIT
        )
        games = running.games
        running.memory[rows, seat, WATCHED] = NAMES.index(head) + 1
        running.memory[rows, seat, EPSILON] = epsilon
        moves, ends = Moves.empty(len(at) * _MOST), np.zeros(len(at))
        count = _record(running, seat, moves, ends)
        running.check([networks, *self.opponents])
        moves = moves.take(np.arange(count))
        place = games["place"][rows, seat]
        won = (place == 1) & (games["place"][rows, 1 - seat] != 1)
        bankrupt = (place != 1) & (games["lots"][rows, seat] == 0) & (games["ending"] != BY_CAP)
        return Played(numbers, moves._replace(game=moves.game + numbers.start), won, bankrupt, ends)


def joined(parts: Sequence[Played]) -> Played:
    """Consecutive games as one."""
    return Played(
        range(parts[0].numbers.start, parts[-1].numbers.stop),
        Moves.joined(part.moves for part in parts),
        *(np.concatenate(columns) for columns in zip(*(part[2:] for part in parts), strict=True)),
    )


@entry
def _record(
    running: Running, own_seats: Array1[np.int64], moves: Moves, ends: Array1[np.float64]
) -> int:
    """Play games to their end; record `moves` and worths (dollars) and return how many moves."""
    running = borrowed(running)
    count = 0
    for i in range(len(running.games)):
        game, seat = running.games[i], int(own_seats[i])
        memory = running.memory[i, seat]
        turn, unpaid, most = int(game.turns), count, count + _MOST
        while True:
            action = next_of(running, i)
            if action < 0:
                break
            recorded = game.player == seat and memory[NOTED] != 0 and count < most
            if recorded:
                by_base = memory[BASE_ACTION]
                ocnaru.write(game, seat, moves.observation[count])
                write_quantities(game, seat, moves.before[count])
                moves.choice[count] = int(memory[CHOICE])
                moves.open[count] = int(memory[OPEN])
                moves.other[count] = (
                    _UNKNOWN if by_base == NO_LOT else 1 if by_base != action else 0
                )
                moves.game[count] = i
            memory[NOTED] = 0
            answer(game, action)
            if recorded:
                write_quantities(game, seat, moves.after[count])
                count += 1
            while settle_one(game):
                if game.turns != turn:
                    turn = int(game.turns)
                    if game.turn == seat:  # a round has passed since these decisions
                        moves.after[unpaid:count, WORTH] = own_worth(game, seat)
                        unpaid = count
        ends[i] = own_worth(game, seat)
        moves.after[unpaid:count, WORTH] = ends[i]
    return count
