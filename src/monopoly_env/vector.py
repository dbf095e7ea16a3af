"""Thousands of games in step: `VectorMonopoly`.

All games advance in one compiled call, on all cores, each to the next decision of whoever is asked, and what the learner reads
is written straight into its arrays. Two ways to use it:

- **self-play** (`opponents=None`): every decision of every seat is yours; `batch.player` says whose it is.
- **one learner**: `opponents` sit clockwise from the learner's seat and answer inside the same call, so that every decision
  you are asked for is the learner's. The game ends for him when he is bankrupt.

A game that ends is followed by its next one in the same step. Game i of generation k depends on `(seed, i, k)` and the actions
alone, whatever the number of games or threads.

    vec = VectorMonopoly(num_games=4096, num_players=4, seed=0)
    batch = vec.reset()
    for _ in range(1000):
        actions = choose(batch.observation, batch.action_mask)      # (B,) integers
        batch = vec.step(actions)

The arrays of `batch` are the same from step to step: copy what you keep.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.engine import agenda
from monopoly_env.engine.randomness import philox
from monopoly_env.engine.setup import start
from monopoly_env.engine.step import apply, is_legal, write_mask
from monopoly_env.errors import ConfigurationError, IllegalActionError
from monopoly_env.game import GAME, MAX_PLAYERS, MIN_PLAYERS, Game, Games, empty_games
from monopoly_env.kernels import entry, kernel
from monopoly_env.rules import Rules

if TYPE_CHECKING:
    from agents.policy import Policy
    from monopoly_env.encoding import Encoding

LEARNER: Final = -1  # who sits in a seat: the learner, or the number of an opponent
BEGIN: Final = -1  # in place of an action: begin the next game
NOT_WAITING: Final = -1
_SMALLEST_SLICE: Final = 256  # games; below that a thread costs more than it brings
_MANY: Final = 1000  # games in a row that end before the learner is asked anything
_WORD: Final = 0xFFFFFFFF


@dataclass
class Batch:
    """What a step brings, one row a game. B games, P players, D features, F games that ended in this step.

    Attributes:
        observation: (B, D) float32, what the player who is asked sees.
        action_mask: (B, 205) bool, his legal actions.
        player: (B,) int16, his seat.
        decision: (B,) int16, what is asked: an index into `actions.DECISION_NAMES`.
        reward: (B, P) float32, what the step gave to each seat. With opponents only the learner's column, `actor`, is whole.
        terminated: (B,) bool, the game ended by its rules (with opponents also: for the learner).
        truncated: (B,) bool, the game was cut off at `turn_limit`.
        actor: (B,) int16, the seat that made the move: `reward[i, actor[i]]` is what it got for it.
        out: (B, P) bool, seats whose game terminated in this step, bankrupt or because all of it did. They are not asked again.
        finished: (F,) int64, the games that ended. Rows of `observation`, `action_mask`, `player` and `decision` belong to the
            games after them already.
        final_observation: their last observations, for the value of a truncated game: (F, P, D) float32, as each seat sees it;
            with opponents (F, D), as the learner sees it. Row f is that of game `finished[f]`.
        final_games: (F,) records, the games as they ended.
    """

    observation: NDArray[np.float32]
    action_mask: NDArray[np.bool_]
    player: NDArray[np.int16]
    decision: NDArray[np.int16]
    reward: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    actor: NDArray[np.int16]
    out: NDArray[np.bool_]
    finished: NDArray[np.int64]
    final_observation: NDArray[np.float32]
    final_games: Games


class _Settings(NamedTuple):
    """What stays the same for all games, as the kernels see it."""

    num_players: int
    num_compiled: int  # opponents 0 to num_compiled - 1 are compiled, the rest batched
    seat: int  # the learner's; LEARNER: another one every game
    turn_limit: int
    autoreset: bool
    key_low: int
    key_high: int


class _Tables(NamedTuple):
    """The state of all games, as the kernels see it."""

    games: Games
    template: Games  # (1,) an empty game with its rules
    generation: NDArray[np.int64]  # (B,) games begun
    sitting: NDArray[np.int8]  # (B, P) who sits where: LEARNER or the number of an opponent
    memory: NDArray[np.float64]  # (B, P, 64) of the opponents
    waiting: NDArray[np.int16]  # (B,) the batched opponent that the game waits for, or NOT_WAITING
    fault: NDArray[np.int16]  # (B,) 1 + an illegal action of an opponent; -1: no game in which the learner is asked
    ended: Games  # (B,) the last game that ended


# --- kernels ------------------------------------------------------------------------------------------------------------


@entry()
def _first_illegal(games: Games, actions: NDArray[np.int64]) -> int:
    """The first game whose action is not legal, or -1."""
    for i in range(len(games)):
        action = actions[i]
        if action < 0 or action >= NUM_ACTIONS or not is_legal(games[i], action):
            return i
    return -1


@kernel
def _begin(tables: _Tables, settings: _Settings, i: int) -> None:
    """Begin the next game number i and seat everybody: its seed and the learner's seat follow from the vector's seed."""
    generation = tables.generation[i]
    tables.generation[i] = generation + 1
    low = philox(i & _WORD, generation & _WORD, 0, 0, settings.key_low, settings.key_high)
    high = philox(i & _WORD, generation & _WORD, 1, 0, settings.key_low, settings.key_high)
    seat = settings.seat
    if seat == LEARNER:
        draw = philox(i & _WORD, generation & _WORD, 2, 0, settings.key_low, settings.key_high)
        seat = (draw * settings.num_players) >> 32
    for offset in range(1, tables.sitting.shape[1]):
        tables.sitting[i, (seat + offset) % settings.num_players] = offset - 1
    if tables.sitting.shape[1] > 0:
        tables.sitting[i, seat] = LEARNER
    tables.memory[i] = 0.0
    tables.games[i] = tables.template[0]
    start(tables.games[i], settings.num_players, low, high)


@kernel
def _asked(tables: _Tables, i: int) -> int:
    """Who answers the open decision of game i: LEARNER or the number of an opponent."""
    if tables.sitting.shape[1] == 0:
        return LEARNER
    return int(tables.sitting[i, tables.games[i].player])


@kernel
def _is_out(game: Game, tables: _Tables, i: int) -> bool:
    """Whether the game is over for the learner: it ended, or he is bankrupt."""
    if game.decision == agenda.OVER:
        return True
    for seat in range(tables.sitting.shape[1]):
        if tables.sitting[i, seat] == LEARNER and game.place[seat] != 0:
            return True
    return False


@kernel
def _let_opponents_play(tables: _Tables, settings: _Settings, kernels: Any, params: NDArray[np.float64], mask: Any, i: int) -> None:
    """Compiled opponents answer until somebody else is asked or the game has ended."""
    game = tables.games[i]
    while game.fault == 0 and not _is_out(game, tables, i) and game.rounds < settings.turn_limit:
        who = _asked(tables, i)
        if who == LEARNER:
            return
        if who >= settings.num_compiled:
            tables.waiting[i] = who
            return
        write_mask(game, mask)
        action = kernels[who](game, mask, params[who], tables.memory[i, game.player])
        if action < 0 or action >= NUM_ACTIONS or not is_legal(game, action):
            tables.refused[i] = action
            tables.waiting[i] = REFUSED
            return
        apply(game, action)
