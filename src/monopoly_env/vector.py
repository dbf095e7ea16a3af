"""Thousands of games in step: `VectorMonopoly`.

One compiled call advances all games on all cores, each to its next open decision, and writes observations, masks and rewards straight
into the arrays of the batch. There are two ways to use it:

- **self-play** (`opponents=None`): you make every decision of every seat; `batch.player` says whose it is.
- **one learner**: `opponents` sit clockwise from the learner's seat and play inside the same call, so that you make only the learner's
  decisions. The game ends for the learner when it is bankrupt.

When a game ends, the next one begins in the same step. Game i of generation k depends only on `(seed, i, k)` and the actions, not on the
number of games or threads.

    vec = VectorMonopoly(num_games=4096, num_players=4, seed=0)
    batch = vec.reset()
    for _ in range(1000):
        actions = choose(batch.observation, batch.action_mask)      # (B,) integers
        batch = vec.step(actions)

The arrays of `batch` are the same from step to step: copy what you keep.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monopoly_env import encoding as encodings
from monopoly_env import rewards
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.core import check_players, split_seeds
from monopoly_env.encoding import Encoding
from monopoly_env.errors import ConfigurationError, GameOverError
from monopoly_env.game import Games, empty_games
from monopoly_env.policy.loop import Players, check, refusal
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy, Decisions, Policy
from monopoly_env.policy.resolve import PolicyLike, resolve_all
from monopoly_env.rewards import Reward
from monopoly_env.rules import Rules
from monopoly_env.stepping import (
    BEGIN,
    GO_ON,
    LEARNER,
    MANY_GAMES,
    NEVER_ASKED,
    READY,
    STATE,
    Settings,
    Tables,
    Views,
    advance,
    first_illegal,
    write_observations,
)

DEFAULT_PLAYERS: Final = 4
_SLICE: Final = 256  # games per thread; with fewer, the thread costs more than it saves


@dataclass
class Batch:
    """The result of a step, one row per game: B games, P players, D features, F games that ended in this step.

    Attributes:
        observation: (B, D) float32, what the player to move observes.
        action_mask: (B, 205) bool, its legal actions.
        player: (B,) int16, its seat.
        decision: (B,) int16, the open decision: an index into `actions.DECISION_NAMES`.
        reward: (B, P) float32, the reward of each seat in this step; a bankrupt player gets its last one when it leaves. With opponents,
            only the learner's column is valid: `reward[i, actor[i]]`.
        terminated: (B,) bool, the game ended by its rules or, with opponents, the learner is bankrupt.
        truncated: (B,) bool, the game was cut off at `turn_limit`.
        actor: (B,) int16, the seat that made the last move.
        out: (B, P) bool, the seats that left in this step because they are bankrupt or the game ended by its rules.
        finished: (F,) int64, the games that ended. Their rows of `observation`, `action_mask`, `player` and `decision` already belong
            to the next games.
        final_observation: The last observation of the games that ended, for the value of a truncated game. In self-play (F, P, D)
            float32, of each seat; with opponents (F, D), of the learner. Row f belongs to game `finished[f]`.
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


class VectorMonopoly:
    """Many games in step; see the module's docstring.

    Attributes:
        num_games: B.
        num_players: P.
        rules: The rules of all games.
        encoding: The encoding of the observations; `encoding.size` is D.
        reward: The reward function.
        opponents: The policies that sit clockwise from the learner; empty in self-play.
        threads: The number of threads.
        batch: What `reset` and `step` return. It is always the same object, and each step overwrites its arrays.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the options of a table
        self,
        num_games: int = 4096,
        num_players: int | None = None,
        rules: Rules | str = "official",
        encoding: str | Encoding = "standard",
        opponents: Sequence[PolicyLike] | None = None,
        seed: int = 0,
        threads: int | None = None,
        *,
        reward: str | Reward = "win",
        turn_limit: int = 1000,
        seat: int | Literal["random"] = "random",
        autoreset: bool = True,
    ) -> None:
        """Allocate the arrays; `reset` begins the games.

        Args:
            num_games: 1 or more.
            num_players: 2 to 8; by default 4, or one more than there are opponents.
            rules: `Rules`, or the name of a preset.
            encoding: A name, or an `Encoding` (for example one with `pad_to`).
            opponents: Policies, names or saved files, one for each seat except the learner's. None: self-play.
            seed: 0 to 2**64 - 1.
            threads: Number of threads; by default one per core. The games do not depend on it.
            reward: A name, or a `Reward` (for example one with a discount).
            turn_limit: Turns per player after which a game is truncated.
            seat: The learner's seat among opponents, or "random" to draw one for every game.
            autoreset: If False, games stay as they ended, and `reset` must be called as soon as one has ended.

        Raises:
            ConfigurationError: A wrong number, name or combination.
            RulesError: Unknown rules.
        """
        self.opponents: tuple[Policy, ...] = _resolve(opponents)
        if num_players is None:
            num_players = len(self.opponents) + 1 if self.opponents else DEFAULT_PLAYERS
        self.num_players = check_players(num_players)
        if self.opponents and len(self.opponents) != self.num_players - 1:
            raise ConfigurationError(
                f"{len(self.opponents)} opponents make a table of {len(self.opponents) + 1}, not num_players={num_players}."
            )
        self.num_games = check_count("num_games", num_games)
        self.threads = check_count("threads", _cores() if threads is None else threads)
        self.turn_limit = check_count("turn_limit", turn_limit)
        self.rules = Rules.coerce(rules)
        self.encoding = encoding if isinstance(encoding, Encoding) else encodings.make(encoding, self.num_players)
        self.reward = reward if isinstance(reward, Reward) else rewards.make(reward)
        self._seat = _check_seat(seat, self.num_players)
        self._autoreset = bool(autoreset)
        self._seed(seed)
        self._build()

    def _build(self) -> None:
        """Allocate the arrays."""
        count, players = self.num_games, self.num_players
        kept = count if self.opponents else 0
        # Compiled opponents come first: these numbers are those of the players in the compiled loop.
        numbered = sorted(set(self.opponents), key=lambda policy: (not isinstance(policy, CompiledPolicy), self.opponents.index(policy)))
        self._numbered = numbered
        self._players = self._compiled_opponents()
        template = empty_games(1)
        template["rules"] = self.rules.to_record()
        self._tables = Tables(
            games=empty_games(count),
            ended=empty_games(count),
            template=template,
            states=np.zeros(count, STATE),
            order=np.array([numbered.index(policy) for policy in self.opponents], np.int16),
            memory=np.zeros((kept, players, MEMORY)),
        )
        self._views = Views(
            observation=np.zeros((count, self.encoding.size), np.float32),
            action_mask=np.zeros((count, NUM_ACTIONS), np.bool_),
            player=np.zeros(count, np.int16),
            decision=np.zeros(count, np.int16),
            reward=np.zeros((count, players), np.float32),
            terminated=np.zeros(count, np.bool_),
            truncated=np.zeros(count, np.bool_),
            out=np.zeros((count, players), np.bool_),
        )
        none, actor = np.zeros(0, np.int64), np.zeros(count, np.int16)
        self.batch = Batch(
            **self._views._asdict(),
            actor=actor,
            finished=none,
            final_observation=self._last_observation(none, actor),
            final_games=empty_games(0),
        )
        self._all = np.arange(count)
        self._pool: ThreadPoolExecutor | None = None
        self._running = False

    @property
    def games(self) -> Games:
        """(B,) records of the running games, not copies: writing to a record changes the game."""
        return self._tables.games

    @property
    def seeds(self) -> NDArray[np.uint64]:
        """(B,) uint64, the seeds of the running games: `new_game(num_players, rules, seed)` begins the same game."""
        words = self.games["seed"].astype(np.uint64)
        seeds: NDArray[np.uint64] = words[:, 0] | words[:, 1] << np.uint64(32)
        return seeds

    def reset(self, seed: int | None = None) -> Batch:
        """Begin all games again from generation 0: the same seed gives the same games.

        Args:
            seed: A new seed, 0 to 2**64 - 1. None keeps the old one.

        Returns:
            The batch; its rewards are 0 and no game has ended.

        Raises:
            ConfigurationError: A seed out of range, or rules under which no player ever has a decision.
        """
        if seed is not None:
            self._seed(seed)
        self._tables.states["generation"] = 0
        self._tables.states["waiting"] = READY
        self._views.terminated.fill(False)
        self._views.truncated.fill(False)
        self._run(np.full(self.num_games, BEGIN))
        self.batch.actor[:] = self.batch.player
        return self.batch

    def step(self, actions: ArrayLike) -> Batch:
        """Carry out an action in every game and advance to the next decision.

        Args:
            actions: (B,) integers, each legal by `batch.action_mask`.

        Returns:
            The batch.

        Raises:
            ConfigurationError: Actions of a wrong shape or dtype, or `reset` must be called first.
            IllegalActionError: An action is illegal; the message names the first such game, the action and what was legal, and no game
                has changed. Or an opponent chose an illegal action or never ended its turn; then `reset` must be called.
            GameOverError: A game has ended and autoreset is off.
        """
        chosen = self._check_actions(actions)
        batch = self.batch
        batch.actor[:] = batch.player
        for array in (batch.reward, batch.terminated, batch.truncated, batch.out):
            array.fill(0)
        self._run(chosen)
        return batch

    def observe(self, seats: ArrayLike) -> NDArray[np.float32]:
        """The current observation of any seat of every game, whether it is to move or not.

        Args:
            seats: (B,) integers, a seat for each game; or (B, S), several.

        Returns:
            (B, D) or (B, S, D) float32, a new array.

        Raises:
            ConfigurationError: A wrong shape, dtype or seat.
        """
        who = np.asarray(seats)
        if who.dtype.kind not in "iu" or who.ndim not in (1, 2) or len(who) != self.num_games:
            raise ConfigurationError(f"seats must be integers of shape ({self.num_games},) or ({self.num_games}, S), not {_shape(who)}.")
        if who.size and not 0 <= who.min() <= who.max() < self.num_players:
            raise ConfigurationError(f"Seats are 0 to {self.num_players - 1}, not {who.min()} to {who.max()}.")
        out = np.empty((*who.shape, self.encoding.size), np.float32)
        columns = len(who), -1
        write_observations(self.encoding.code, self.games, who.astype(np.int64).reshape(columns), out.reshape(*columns, self.encoding.size))
        return out

    def state(self) -> dict[str, NDArray[Any]]:
        """All games under way and the last batch, as arrays by name, for `set_state`; copies."""
        return {name: array.copy() for name, array in self._arrays().items()}

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue where `state` was called, on a vector made with the same arguments; games that are running are dropped.

        Args:
            state: What `state` returned, or the same arrays read from a file.
        """
        for name, array in self._arrays().items():
            array[...] = state[name].view(array.dtype).reshape(array.shape)
        self._collect()
        self._running = True

    def _arrays(self) -> dict[str, NDArray[Any]]:
        tables: dict[str, NDArray[Any]] = self._tables._asdict()
        return tables | {name: getattr(self.batch, name) for name in (*Views._fields, "actor")}

    def close(self) -> None:
        """Stop the threads. They are started again when needed."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __len__(self) -> int:
        return self.num_games

    def __repr__(self) -> str:
        names = [policy.name for policy in self.opponents]
        return f"VectorMonopoly(num_games={self.num_games}, num_players={self.num_players}, opponents={names or None})"

    def __getstate__(self) -> dict[str, Any]:
        """Everything except threads and machine code."""
        return self.__dict__ | {"_pool": None, "_players": None, "_views": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._players = self._compiled_opponents()
        # The kernels must write to the arrays of the batch.
        self._views = Views(*(getattr(self.batch, name) for name in Views._fields))

    def _compiled_opponents(self) -> Players:
        return Players.of([policy for policy in self._numbered if isinstance(policy, CompiledPolicy)])

    def _seed(self, seed: int) -> None:
        low, high = split_seeds([seed])[0]
        self.seed = int(seed)
        self._settings = Settings(
            num_players=self.num_players,
            turn_limit=self.turn_limit * self.num_players,
            autoreset=self._autoreset,
            seat=self._seat,
            encoding=self.encoding.code,
            terms=self.reward.terms,
            key_low=int(low),
            key_high=int(high),
        )

    def _check_actions(self, actions: ArrayLike) -> NDArray[np.int64]:
        if not self._running:
            raise ConfigurationError("No games are running: call reset() first.")
        try:
            given = np.asarray(actions)
        except ValueError:  # rows of different lengths
            given = np.empty(0, object)
        if given.shape != (self.num_games,) or given.dtype.kind not in "iu":
            raise ConfigurationError(f"actions must be integers of shape ({self.num_games},), one a game, not {_shape(given)}.")
        if not self._autoreset and self.batch.finished.size:
            raise GameOverError(f"Game {self.batch.finished[0]} has ended: call reset().")
        chosen = np.ascontiguousarray(given, np.int64)
        wrong = first_illegal(self.games, chosen)
        if wrong >= 0:
            raise refusal(f"Game {wrong} of {self.num_games}", self.games[wrong], given[wrong])
        return chosen

    def _run(self, actions: NDArray[np.int64]) -> None:
        """Carry out the actions in all games, and ask each batched opponent for all its decisions at once until none is open."""
        self._running = False  # until all went well
        todo = self._all
        while len(todo):
            self._on_all_cores(todo, actions)
            self._check()
            todo = np.flatnonzero(self._tables.states["waiting"] != READY)
            who = self._tables.states["waiting"][todo]
            for number in np.unique(who):
                self._ask(self._numbered[number], todo[who == number])
            actions = np.full(len(todo), GO_ON)
        self._collect()
        self._running = True

    def _on_all_cores(self, todo: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        slices = min(self.threads, -(-len(todo) // _SLICE))
        if slices == 1:
            self._advance(todo, actions)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, "monopoly")
        parts = zip(np.array_split(todo, slices), np.array_split(actions, slices), strict=True)
        for job in [self._pool.submit(self._advance, *part) for part in parts]:
            job.result()

    def _advance(self, todo: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        advance(self._tables, self._views, self._settings, self._players, np.zeros(NUM_ACTIONS, np.bool_), todo, actions)

    def _ask(self, policy: Policy, games: NDArray[np.int64]) -> None:
        """Ask a batched opponent for its actions in these games. The next call of the compiled loop carries them out."""
        records = self.games[games]
        decisions = Decisions(records)
        self.games["policy_draws"][games] = records["policy_draws"]  # keys were drawn
        given = np.asarray(policy.act(decisions))
        if given.shape != (len(games),) or given.dtype.kind not in "iu":
            raise ConfigurationError(f"Policy {policy.name!r} must return integers of shape ({len(games)},), not {_shape(given)}.")
        progress = self._tables.states["progress"]
        progress["answer"][games] = given
        progress["answered"][games] = 1

    def _collect(self) -> None:
        """Collect the final records and observations of the games that ended."""
        batch = self.batch
        finished = np.flatnonzero(batch.terminated | batch.truncated)
        if len(finished) or len(batch.finished):
            batch.finished = finished
            batch.final_games = self._tables.ended[finished]
            batch.final_observation = self._last_observation(finished, batch.actor)

    def _last_observation(self, finished: NDArray[np.int64], actors: NDArray[np.int16]) -> NDArray[np.float32]:
        seats = np.tile(np.arange(self.num_players), (len(finished), 1))
        if self.opponents:
            seats = actors[finished, None].astype(np.int64)
        out = np.empty((*seats.shape, self.encoding.size), np.float32)
        write_observations(self.encoding.code, self._tables.ended[finished], seats, out)
        return out[:, 0] if self.opponents else out

    def _check(self) -> None:
        """Raise the error of a game that failed in the compiled loop, if any did."""
        progress = self._tables.states["progress"]
        if (progress["stop"] == NEVER_ASKED).any():
            raise ConfigurationError(f"{MANY_GAMES} games in a row ended before the learner was asked for a decision: check the rules.")
        check(self.games, progress, lambda game, seat: self._numbered[self._tables.states["seats"][game, seat]])


def check_count(name: str, value: object) -> int:
    """A positive number as an int.

    Raises:
        ConfigurationError: It is not a whole number of 1 or more.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value < 1 << 24:
        raise ConfigurationError(f"{name}={value!r} must be a whole number from 1 to {(1 << 24) - 1}.")
    return int(value)


def _check_seat(seat: object, num_players: int) -> int:
    if seat == "random":
        return LEARNER
    if isinstance(seat, bool) or not isinstance(seat, (int, np.integer)) or not 0 <= seat < num_players:
        raise ConfigurationError(f"seat={seat!r} must be 'random' or a seat from 0 to {num_players - 1}.")
    return int(seat)


def _resolve(opponents: Sequence[PolicyLike] | None) -> tuple[Policy, ...]:
    if opponents is None or (not isinstance(opponents, str) and not len(opponents)):
        return ()
    if isinstance(opponents, str):
        raise ConfigurationError(f"opponents={opponents!r} must be a list, one policy a seat: [{opponents!r}] is a table of two.")
    return tuple(resolve_all(opponents))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _shape(array: NDArray[Any]) -> str:
    return f"{array.dtype} of shape {array.shape}"
