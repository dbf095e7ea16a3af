"""Thousands of games in step: `VectorMonopoly`.

One compiled call advances all games on all cores, each to its next open decision, and writes
observations, masks and rewards straight into the arrays of the batch. There are two ways to use it:

- **self-play** (`opponents=None`): you make every decision of every seat; `batch.player` says whose
  it is.
- **one learner**: `opponents` sit clockwise from the learner's seat and play inside the same call,
  so that you make only the learner's decisions. The game ends for the learner when it is bankrupt.

When a game ends, the next one begins in the same step. Game i of generation k depends only on
`(seed, i, k)` and the actions, not on the number of games or threads. `begin` starts games of seeds
of your choice, in all rows or in some.

    vec = VectorMonopoly(num_games=4096, num_players=4, seed=0)
    batch = vec.reset()
    for _ in range(1000):
        actions = choose(batch.observation, batch.action_mask)      # (B,) integers
        batch = vec.step(actions)

The arrays of `batch` are the same from step to step: copy what you keep. That includes libraries
which take over an array without a copy: `torch.from_numpy` always does, `jax.numpy.asarray` may.

A forked process may go on with a vector of its parent, as with any object: it starts threads of its
own. Fork while no other thread steps a vector or compiles, as for any library with locks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.core import enough_memory
from monopoly_env.encoding import Encoding
from monopoly_env.envs.options import (
    check_autoreset,
    check_count,
    check_opponents,
    check_seat,
    check_table,
    check_threads,
)
from monopoly_env.envs.running import RunningGames
from monopoly_env.envs.stepping import (
    BEGIN,
    READY,
    Settings,
    Views,
    first_illegal,
    replace_illegal,
    write_observations,
)
from monopoly_env.errors import (
    ConfigurationError,
    FormatError,
    GameOverError,
    MonopolyError,
    array_of,
)
from monopoly_env.game import Games, empty_games
from monopoly_env.kernels.philox import split_seeds
from monopoly_env.policy.loop import NO_LIMIT, refusal
from monopoly_env.policy.names import PolicyLike
from monopoly_env.rewards import Reward
from monopoly_env.rules import Rules

DEFAULT_PLAYERS: Final = 4
_SLICE: Final = 256  # games per thread; with fewer, the thread costs more than it saves


@dataclass
class Batch:
    """The result of a step, one row per game.

    B games, P players, D features, F games that ended in this step.

    Attributes:
        observation: (B, D) float32, what the player to move observes.
        action_mask: (B, NUM_ACTIONS) bool, its legal actions.
        player: (B,) int16, its seat.
        decision: (B,) int16, the open decision: an index into `actions.DECISION_NAMES`.
        reward: (B, P) float32, the reward of each seat in this step; a bankrupt player gets its
            last one when it leaves. With opponents, only the learner's column is valid:
            `reward[i, actor[i]]`.
        terminated: (B,) bool, the game ended by its rules or, with opponents, the learner is
            bankrupt.
        truncated: (B,) bool, the game was cut off at `turn_limit` or `max_steps`.
        actor: (B,) int16, the seat that made the last move.
        out: (B, P) bool, the seats that left in this step because they are bankrupt or the game
            ended by its rules.
        finished: (F,) int64, the games that ended. Their rows of `observation`, `action_mask`,
            `player` and `decision` already belong to the next games.
        final_observation: The last observation of the games that ended, for the value of a
            truncated game. In self-play (F, P, D) float32, of each seat; with opponents (F, D), of
            the learner. Row f belongs to game `finished[f]`.
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

    @classmethod
    def empty(cls, count: int, players: int, size: int, self_play: bool) -> Batch:
        """A batch before the first step.

        Args:
            count: B.
            players: P.
            size: D.
            self_play: Whether all seats observe the end of a game.
        """
        return cls(
            observation=np.zeros((count, size), np.float32),
            action_mask=np.zeros((count, NUM_ACTIONS), np.bool_),
            player=np.zeros(count, np.int16),
            decision=np.zeros(count, np.int16),
            reward=np.zeros((count, players), np.float32),
            terminated=np.zeros(count, np.bool_),
            truncated=np.zeros(count, np.bool_),
            actor=np.zeros(count, np.int16),
            out=np.zeros((count, players), np.bool_),
            finished=np.zeros(0, np.int64),
            final_observation=np.zeros((0, players, size) if self_play else (0, size), np.float32),
            final_games=empty_games(0),
        )

    @property
    def views(self) -> Views:
        """The arrays that the kernels write."""
        return Views(*(getattr(self, name) for name in Views._fields))


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
        autoreset: When the next game begins.
        illegal: What an illegal action does.
        batch: What `reset` and `step` return. It is always the same object, and each step
            overwrites its arrays.
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
        autoreset: bool | Literal["next_step"] = True,
        illegal: Literal["raise", "penalize", "random"] = "raise",
        max_steps: int | None = None,
    ) -> None:
        """Allocate the arrays; `reset` begins the games.

        Args:
            num_games: 1 or more.
            num_players: 2 to 8; by default 4, or one more than there are opponents.
            rules: `Rules`, or the name of a preset.
            encoding: A name, or an `Encoding` (for example one with `pad_to`).
            opponents: Policies, names or saved files, one for each seat except the learner's. None:
                self-play.
            seed: 0 to 2**64 - 1.
            threads: Number of threads; by default one per core. The games do not depend on it.
            reward: A name, or a `Reward` (for example one with a discount).
            turn_limit: Turns per player after which a game is truncated.
            seat: The learner's seat among opponents, or "random" to draw one for every game.
            autoreset: True: when a game ends, the next one begins in the same step. "next_step": it
                begins in the step after, whose action for this game is ignored. False: games stay
                as they ended; `begin` or `reset` must begin others before the next step.
            illegal: What an illegal action does. "raise": an error, and no game changes.
                "penalize": it ends its game, with a reward of -1 for whoever chose it and 0 for the
                others. "random": a random legal action is carried out instead, drawn from the
                game's own stream. A number that is no action is always an error.
            max_steps: Steps after which a game is truncated; by default no number of steps.

        Raises:
            ConfigurationError: A wrong number, name or combination.
            RulesError: Unknown rules.
        """
        self.opponents = check_opponents(opponents)
        if num_players is None:
            num_players = len(self.opponents) + 1 if self.opponents else DEFAULT_PLAYERS
        setup = check_table(num_players, rules, encoding, reward, turn_limit, illegal)
        self.num_players, self.rules, self.encoding, self.reward = setup[:4]
        self.turn_limit, self.illegal = setup[4:]
        if self.opponents and len(self.opponents) != self.num_players - 1:
            raise ConfigurationError(
                f"{len(self.opponents)} opponents make a table of {len(self.opponents) + 1}, not"
                f" num_players={num_players}."
            )
        self.num_games = check_count("num_games", num_games)
        self.threads = check_threads(threads)
        self.autoreset = check_autoreset(autoreset)
        self._seat = check_seat(seat, self.num_players)
        self._max_steps = NO_LIMIT if max_steps is None else check_count("max_steps", max_steps)
        self._seed(seed)
        with enough_memory(f"num_games={self.num_games}"):
            self.batch = Batch.empty(
                self.num_games, self.num_players, self.encoding.size, not self.opponents
            )
            self._table = RunningGames(
                self.num_games,
                self.num_players,
                self.rules,
                self.opponents,
                self.threads,
                self.batch.views,
            )
        self._all = np.arange(self.num_games)
        self._running = False

    @property
    def games(self) -> Games:
        """(B,) records of the running games, not copies: writing to a record changes the game.

        The batch trusts its records. After edits by hand, settle each (`core.settle`), or check all
        (`core.check_sound`).
        """
        return self._table.tables.games

    @property
    def seeds(self) -> NDArray[np.uint64]:
        """(B,) uint64, the seeds of the running games, as `new_game` takes them."""
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
            ConfigurationError: A seed out of range, or rules under which no player ever has a
                decision.
        """
        if seed is not None:
            self._seed(seed)
        self._table.tables.states["generation"] = 0
        self._table.tables.states["own_seed"] = 0
        return self.begin()

    def begin(
        self, games: ArrayLike | None = None, seeds: Sequence[int | None] | None = None
    ) -> Batch:
        """Begin new games, in all rows or in some. Games in other rows stay where they are.

        Args:
            games: (B,) bool, the rows; by default all.
            seeds: One for each of the B rows, 0 to 2**64 - 1: the row begins the game of this very
                seed, as `new_game` does, and its later games follow from this seed alone. Where it
                is None the row begins its next game.

        Returns:
            The batch. In these rows the rewards are 0 and no game has ended; the others are as
            after the last step.

        Raises:
            ConfigurationError: Rows or seeds of a wrong shape or dtype, a seed out of range, or
                rules under which no player ever has a decision.
        """
        rows = self._all if games is None else _rows_of(games, self.num_games, self._running)
        if seeds is not None:
            self._give_seeds(rows, seeds)
        self._table.tables.states["waiting"] = READY
        batch = self.batch
        for array in (batch.reward, batch.terminated, batch.truncated, batch.out):
            array[rows] = 0
        self._run(rows, np.full(len(rows), BEGIN))
        batch.actor[rows] = batch.player[rows]
        return batch

    def step(self, actions: ArrayLike) -> Batch:
        """Carry out an action in every game and advance to the next decision.

        Args:
            actions: (B,) integers, each legal by `batch.action_mask`.

        Returns:
            The batch.

        Raises:
            ConfigurationError: Actions of a wrong shape or dtype, or `reset` must be called first.
            IllegalActionError: An action is illegal (with `illegal="raise"`); the message names the
                first such game, the action and what was legal, and no game has changed. Or an
                opponent chose an illegal action or never ended its turn; then `reset` must be
                called.
            GameOverError: A game has ended and autoreset is off.
        """
        chosen = self._chosen(actions)
        batch = self.batch
        batch.actor[:] = batch.player
        for array in (batch.reward, batch.terminated, batch.truncated, batch.out):
            array.fill(0)
        self._run(self._all, chosen)
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
            raise ConfigurationError(
                f"seats must be integers of shape ({self.num_games},) or ({self.num_games}, S), not"
                f" {_shape(who)}."
            )
        if who.size and not 0 <= who.min() <= who.max() < self.num_players:
            raise ConfigurationError(
                f"Seats are 0 to {self.num_players - 1}, not {who.min()} to {who.max()}."
            )
        size, rows = self.encoding.size, who.astype(np.int64).reshape(len(who), -1)
        out = np.empty((*rows.shape, size), np.float32)
        write_observations(self.encoding.handle, self.games, rows, out)
        return out.reshape(*who.shape, size)

    def state(self) -> dict[str, NDArray[Any]]:
        """All games under way and the last batch, as arrays by name, for `set_state`; copies."""
        return {name: array.copy() for name, array in self._arrays().items()}

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue where `state` was called, on a vector made with the same arguments.

        Games that are running are dropped.

        Args:
            state: What `state` returned, or the same arrays read from a file.

        Raises:
            FormatError: They are those of another vector, or no games can be like that. Nothing has
                changed.
        """
        own = self._arrays()
        try:
            given = {
                name: state[name].view(one.dtype).reshape(one.shape) for name, one in own.items()
            }
            self._table.check(given)
        except (MonopolyError, LookupError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(f"This is no state of {self!r}: {error}") from error
        for name, array in own.items():
            array[...] = given[name]
        self._collect()
        self._running = True

    def _arrays(self) -> dict[str, NDArray[Any]]:
        tables: dict[str, NDArray[Any]] = self._table.tables._asdict()
        return tables | {name: getattr(self.batch, name) for name in (*Views._fields, "actor")}

    def close(self) -> None:
        """Stop the threads. They are started again when needed."""
        self._table.threads.close()

    def __len__(self) -> int:
        return self.num_games

    def __repr__(self) -> str:
        names = [policy.name for policy in self.opponents] or None
        games = f"num_games={self.num_games}, num_players={self.num_players}"
        return f"VectorMonopoly({games}, opponents={names})"

    def __getstate__(self) -> dict[str, Any]:
        """Everything except machine code."""
        return self.__dict__ | {"_settings": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._seed(self.seed)
        self._table.views = self.batch.views  # the kernels write to the arrays of the batch

    def _seed(self, seed: int) -> None:
        low, high = split_seeds([seed])[0]
        self.seed = int(seed)
        self._settings = Settings(
            num_players=self.num_players,
            turn_limit=self.turn_limit * self.num_players,
            autoreset=self.autoreset is True,
            seat=self._seat,
            encoding=self.encoding.handle,
            terms=self.reward.terms,
            key_low=int(low),
            key_high=int(high),
            max_steps=self._max_steps,
        )

    def _chosen(self, actions: ArrayLike) -> NDArray[np.int64]:
        """The actions to carry out: legal ones, or what `illegal` makes of others, or BEGIN."""
        if not self._running:
            raise ConfigurationError("No games are running: call reset() first.")
        given = array_of(actions)
        if given.shape != (self.num_games,) or given.dtype.kind not in "iu":
            raise ConfigurationError(
                f"actions must be integers of shape ({self.num_games},), one a game, not"
                f" {_shape(given)}."
            )
        ended = np.zeros(self.num_games, np.bool_)
        if self.autoreset is not True and self.batch.finished.size:
            if not self.autoreset:
                raise GameOverError(
                    f"Game {self.batch.finished[0]} has ended: call reset() or begin()."
                )
            ended[self.batch.finished] = True
        chosen = np.array(given, np.int64)
        wrong = first_illegal(self.games, chosen, ended)
        if wrong >= 0:
            outside = np.flatnonzero(~ended & ((chosen < 0) | (chosen >= NUM_ACTIONS)))
            if self.illegal == "raise" or len(outside):
                row = int(wrong if self.illegal == "raise" else outside[0])
                who = f"Game {row} of {self.num_games}" if self.num_games > 1 else ""
                raise refusal(who, self.games[row], given[row])
            replace_illegal(self.games, chosen, ended, self.illegal == "random")
        chosen[ended] = BEGIN
        return chosen

    def _give_seeds(self, rows: NDArray[np.int64], seeds: Sequence[int | None]) -> None:
        if len(seeds) != self.num_games:
            raise ConfigurationError(
                f"{len(seeds)} seeds are given for {self.num_games} games: give one a game, or"
                " None."
            )
        chosen = {row: seed for row in rows.tolist() if (seed := seeds[row]) is not None}
        words, states = split_seeds(list(chosen.values())), self._table.tables.states
        for name, value in (("seed", words), ("own_seed", 1), ("generation", 0)):
            states[name][list(chosen)] = value

    def _run(self, todo: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        self._running = False  # until all went well
        try:
            ended = self._table.run(self._settings, todo, actions)
        except IndexError as error:
            others = "".join(f", the policy {policy.name!r}" for policy in self._table.numbered)
            which = f"the encoding {self.encoding.name!r}, the reward {self.reward.name!r}{others}"
            raise ConfigurationError(
                f"A kernel used an index beyond its arrays: that of {which}."
            ) from error
        if ended or len(self.batch.finished):
            self._collect()
        self._running = True

    def _collect(self) -> None:
        """Collect the final records and observations of the games that ended."""
        batch, ended = self.batch, self._table.tables.ended
        batch.finished = np.flatnonzero(batch.terminated | batch.truncated)
        batch.final_games = ended[batch.finished]
        seats = np.tile(np.arange(self.num_players), (len(batch.finished), 1))
        if self.opponents:
            seats = batch.actor[batch.finished, None].astype(np.int64)
        out = np.empty((*seats.shape, self.encoding.size), np.float32)
        write_observations(self.encoding.handle, batch.final_games, seats, out)
        batch.final_observation = out[:, 0] if self.opponents else out


def _shape(array: NDArray[Any]) -> str:
    return f"{array.dtype} of shape {array.shape}"


def _rows_of(games: ArrayLike, count: int, running: bool) -> NDArray[np.int64]:
    """The numbers of the games that a mask chooses."""
    mask = np.asarray(games)
    if mask.shape != (count,) or mask.dtype != np.bool_:
        raise ConfigurationError(
            f"The games to begin must be bools of shape ({count},), one a game, not {_shape(mask)}."
        )
    if not running and not mask.all():
        raise ConfigurationError("No games are running: call reset() first.")
    return np.flatnonzero(mask)
