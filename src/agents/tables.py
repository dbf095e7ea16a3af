"""Games at a table: the compiled loop, and the Python one around it that asks batched policies.

Games do not touch each other, so results depend neither on the number of threads nor on how games are cut into slices.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.policy import MEMORY, CompiledPolicy, Decisions, Policy, draw_keys, kernel_list
from monopoly_env.actions import DECISION_NAMES, NUM_ACTIONS, describe
from monopoly_env.core import new_games
from monopoly_env.engine.agenda import FAULTS
from monopoly_env.engine.players import finish
from monopoly_env.engine.step import apply, is_legal, write_mask
from monopoly_env.errors import ConfigurationError, EngineError, IllegalActionError
from monopoly_env.game import BY_CAP, Games
from monopoly_env.kernels import entry
from monopoly_env.rules import Rules

ASKED: Final = -1  # in place of a kernel's number: the seat of a batched policy
PATIENCE: Final = 10_000  # decisions within one turn after which a policy is held to be stuck
STUCK: Final = -2  # in place of an illegal action

_SLICE: Final = 128  # games a thread plays at a time
_WINDOW: Final = 4096  # games under way at once: enough for a network, little enough for memory


@entry()
def play_games(
    games: Games,
    memory: NDArray[np.float64],
    seated: NDArray[np.int64],
    kernels: Any,
    params: NDArray[np.float64],
    lengths: NDArray[np.int64],
    reads_mask: NDArray[np.bool_],
    turn_limit: int,
    decisions: NDArray[np.int64],
    capped: NDArray[np.bool_],
    illegal: NDArray[np.int64],
) -> None:
    """Play games on until they end or a batched policy is to move.

    Args:
        games: (B,) records.
        memory: (B, P, 64), of each game and seat.
        seated: (B, P), the number of the kernel in each seat, or ASKED.
        kernels: K compiled policies.
        params: (K, L), their rows, padded.
        lengths: (K,), the lengths of the rows.
        reads_mask: (K,), whether they read the mask.
        turn_limit: Single turns that may be played before the score decides.
        decisions: (B,), counted up.
        capped: (B,), whether this limit or a cap of the rules ended the game.
        illegal: (B,), -1; else the illegal action that stopped the game, or STUCK.
    """
    mask = np.zeros(NUM_ACTIONS, np.bool_)
    for i in range(len(games)):
        game = games[i]
        turn, patience = -1, PATIENCE
        while game.decision != 0 and game.fault == 0 and illegal[i] == -1:
            if game.turns != turn:
                turn, patience = int(game.turns), PATIENCE
                if turn > turn_limit:
                    game.turns = turn_limit  # the turn that has begun is not played
                    finish(game, BY_CAP)
                    break
            k = seated[i, game.player]
            if k < 0:
                break
            if reads_mask[k]:
                write_mask(game, mask)
            action = kernels[k](game, mask, params[k][: lengths[k]], memory[i, game.player])
            patience -= 1
            if not 0 <= action < NUM_ACTIONS or not is_legal(game, action):
                illegal[i] = action if action >= 0 else NUM_ACTIONS - action
            elif patience == 0:
                illegal[i] = STUCK
            else:
                apply(game, action)
                decisions[i] += 1
        capped[i] = game.ending == BY_CAP


@entry()
def _apply_all(games: Games, waiting: NDArray[np.int64], actions: NDArray[np.int64], decisions: NDArray[np.int64]) -> int:
    """Carry out an action in each waiting game; the first game whose action is illegal, or -1."""
    for j in range(len(waiting)):
        i = waiting[j]
        if not 0 <= actions[j] < NUM_ACTIONS or not is_legal(games[i], actions[j]):
            return j
        apply(games[i], actions[j])
        decisions[i] += 1
    return -1


@dataclass
class Line:
    """What is played: G games of P seats.

    Attributes:
        seeds: (G,) seeds of the games.
        seats: (G, P) int, the number of the policy in each seat.
        place: (G, P) final ranks, 1 won; several 1: a draw.
        first: (G,) the seat that began.
        turns: (G,) single turns.
        decisions: (G,) choices that were asked.
        capped: (G,) whether the turn limit or a cap of the rules ended it.
    """

    seeds: list[int]
    seats: NDArray[np.int16]
    place: NDArray[np.int16] = field(init=False)
    first: NDArray[np.int16] = field(init=False)
    turns: NDArray[np.int32] = field(init=False)
    decisions: NDArray[np.int64] = field(init=False)
    capped: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        """Room for the results."""
        games, players = self.seats.shape
        self.place = np.zeros((games, players), np.int16)
        self.first = np.zeros(games, np.int16)
        self.turns = np.zeros(games, np.int32)
        self.decisions = np.zeros(games, np.int64)
        self.capped = np.zeros(games, np.bool_)


class Table:
    """Policies with their kernels made ready, that play lines of games."""

    def __init__(self, policies: Sequence[Policy], rules: Rules, turn_limit: int, threads: int | None = None) -> None:
        """Compile what is to be compiled.

        Args:
            policies: Who plays; `Line.seats` holds their numbers.
            rules: The rules of all games.
            turn_limit: Turns of each player after which the score decides a game.
            threads: Cores to play on; all by default.
        """
        self.policies = list(policies)
        self.rules = rules
        self.turn_limit = turn_limit
        self.threads = threads or os.cpu_count() or 1
        compiled = [policy for policy in policies if isinstance(policy, CompiledPolicy)]
        self._numbers = np.array([compiled.index(p) if isinstance(p, CompiledPolicy) else ASKED for p in policies])
        self._kernels = kernel_list(compiled) if compiled else kernel_list([_nobody()])
        rows = [policy.params for policy in compiled] or [np.zeros(0)]
        self._lengths = np.array([len(row) for row in rows])
        self._params = np.zeros((len(rows), max(1, int(self._lengths.max()))))
        for number, row in enumerate(rows):
            self._params[number, : len(row)] = row
        self._reads_mask = np.array([policy.reads_mask for policy in compiled] or [False])

    def play(self, line: Line, done: Callable[[int], None] = lambda games: None) -> None:
        """Play all games of a line and fill in its results.

        Args:
            line: The games.
            done: Called with the number of games that have ended since the last call.

        Raises:
            IllegalActionError: A policy chose an action that the rules do not allow, or never came to an end of its turn.
            ConfigurationError: A batched policy returned something else than (B,) integers.
            EngineError: The engine broke an invariant of its own.
        """
        count = len(line.seeds)
        with ThreadPoolExecutor(self.threads) as pool:
            if (self._numbers >= 0).all():
                slices = [slice(start, min(start + _SLICE, count)) for start in range(0, count, _SLICE)]
                for games in pool.map(lambda part: self._play_slice(line, part), slices):
                    done(games)
            else:
                for start in range(0, count, _WINDOW):
                    self._play_asking(line, slice(start, min(start + _WINDOW, count)), pool, done)

    def _play_slice(self, line: Line, part: slice) -> int:
        games = _Games(self, line, part)
        games.advance(slice(None))
        games.report()
        return len(games.records)

    def _play_asking(self, line: Line, part: slice, pool: ThreadPoolExecutor, done: Callable[[int], None]) -> None:
        """Advance all games to where a batched policy is to move; ask each policy for all its decisions in one call."""
        games = _Games(self, line, part)
        count = len(games.records)
        slices = [slice(start, min(start + _SLICE, count)) for start in range(0, count, _SLICE)]
        running = count
        while running:
            list(pool.map(games.advance, slices))
            games.check()
            waiting = np.flatnonzero(games.records["decision"])
            done(running - len(waiting))
            running = len(waiting)
            asked = games.seats[waiting, games.records["player"][waiting]]
            for number in np.unique(asked):
                games.ask(self.policies[number], waiting[asked == number])
        games.report()


class _Games:
    """Games under way: a part of a line."""

    def __init__(self, table: Table, line: Line, part: slice) -> None:
        self.table = table
        self.line = line
        self.part = part
        self.seats = line.seats[part]
        count, players = self.seats.shape
        self.records = new_games(line.seeds[part], players, table.rules)
        self.memory = np.zeros((count, players, MEMORY))
        self.seated = table._numbers[self.seats]
        self.decisions = np.zeros(count, np.int64)
        self.capped = np.zeros(count, np.bool_)
        self.illegal = np.full(count, -1)

    def advance(self, part: slice) -> None:
        """Play some of the games on until they end or a batched policy is to move."""
        table = self.table
        play_games(
            self.records[part], self.memory[part], self.seated[part], table._kernels, table._params, table._lengths, table._reads_mask,
            table.turn_limit * self.seats.shape[1], self.decisions[part], self.capped[part], self.illegal[part],
        )  # fmt: skip

    def ask(self, policy: Policy, waiting: NDArray[np.int64]) -> None:
        """Ask a batched policy for its decisions in the games of these numbers, and carry them out."""
        records = self.records[waiting]
        key = draw_keys(records)
        self.records["policy_draws"][waiting] = records["policy_draws"]
        players = records["player"]
        decisions = Decisions(records, self.memory[waiting, players], key)
        actions = _check_actions(policy, policy.act(decisions), len(waiting))
        self.memory[waiting, players] = decisions.memory
        wrong = _apply_all(self.records, waiting, actions, self.decisions)
        if wrong >= 0:
            raise _illegal(policy, self.records[waiting[wrong]], int(actions[wrong]))

    def check(self) -> None:
        """Raise what went wrong in a game, if anything did."""
        broken = np.flatnonzero(self.records["fault"])
        if len(broken):
            game = int(broken[0])
            fault = FAULTS[self.records["fault"][game]]
            seed = self.line.seeds[self.part][game]
            raise EngineError(f"The engine broke an invariant in the game of seed {seed}: {fault}. Please report it.")
        wrong = np.flatnonzero(self.illegal != -1)
        if len(wrong):
            game = int(wrong[0])
            policy = self.table.policies[self.seats[game, self.records["player"][game]]]
            raise _illegal(policy, self.records[game], int(self.illegal[game]))

    def report(self) -> None:
        """Write the results into the line."""
        self.check()
        line, part = self.line, self.part
        line.place[part] = self.records["place"][:, : self.seats.shape[1]]
        line.first[part] = self.records["first"]
        line.turns[part] = self.records["turns"]
        line.decisions[part] = self.decisions
        line.capped[part] = self.capped


def _check_actions(policy: Policy, given: Any, count: int) -> NDArray[np.int64]:
    actions = np.asarray(given)
    if actions.shape != (count,) or not np.issubdtype(actions.dtype, np.integer):
        raise ConfigurationError(
            f"Policy {policy.name!r} must return {count} integers, shape ({count},), not {actions.dtype} of shape {actions.shape}."
        )
    return np.ascontiguousarray(actions, np.int64)


def _illegal(policy: Policy, game: Any, action: int) -> IllegalActionError:
    decision = DECISION_NAMES[game.decision]
    who = f"Policy {policy.name!r}, seat {game.player}, decision {decision!r}"
    if action == STUCK:
        return IllegalActionError(f"{who}: {PATIENCE} choices within one turn; the policy never goes on.")
    given = f"action {action} ({describe(action, game)})" if 0 <= action < NUM_ACTIONS else f"action {action}, which does not exist,"
    legal = [describe(a, game) for a in range(NUM_ACTIONS) if int(game.legal[a >> 5]) >> (a & 31) & 1]
    return IllegalActionError(f"{who}: {given} is not legal. Legal: {', '.join(legal)}.")


def _nobody() -> CompiledPolicy:
    """A kernel to type the list by where all policies are batched; it is never called."""
    from agents.scripted.random import uniform

    return uniform()
