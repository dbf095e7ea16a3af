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

    >>> from monopoly_env import VectorMonopoly
    >>> vec = VectorMonopoly(num_games=256, num_players=4, seed=0)
    >>> batch = vec.reset()
    >>> for _ in range(100):
    ...     actions = batch.action_mask.argmax(axis=1)  # (B,) integers, here the first legal ones
    ...     batch = vec.step(actions)
    >>> batch.observation.shape, batch.reward.shape
    ((256, 810), (256, 4))

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
from monopoly_env.envs import options
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
    check_actions,
    check_seat,
    check_threads,
    table_size,
)
from monopoly_env.game import Games, empty_games
from monopoly_env.kernels.philox import split_seeds
from monopoly_env.policy.loop import NO_LIMIT, refusal
from monopoly_env.policy.names import PolicyLike
from monopoly_env.rewards import Reward
from monopoly_env.rules import Rules

DEFAULT_PLAYERS: Final = 4


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
        """A batch before the first step: B, P, D, and whether all seats observe the end."""
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

    `rules`, `reward`, `threads`, `autoreset` and `illegal` are attributes as given.

    Attributes:
        num_games: B.
        num_players: P.
        encoding: The encoding of the observations; `encoding.size` is D.
        opponents: The policies that sit clockwise from the learner; empty in self-play.
        batch: The result of `reset` and `step`: the same object, whose arrays they overwrite.
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
                "penalize": it ends its game, with a reward of -1 for its player and 0 for the
                others. "random": a legal action is drawn from the game's own stream instead. A
                number that is no action is always an error.
            max_steps: Steps after which a game is truncated; None: never.

        Raises:
            ConfigurationError: A wrong number, name or combination.
            RulesError: Unknown rules.
        """
        self.opponents = options.check_opponents(opponents)
        players = table_size(self.opponents, num_players, DEFAULT_PLAYERS)
        setup = options.check_table(players, rules, encoding, reward, turn_limit, illegal)
        self.num_players, self.rules, self.encoding, self.reward = setup[:4]
        self.turn_limit, self.illegal = setup[4:]
        self.num_games = options.check_count("num_games", num_games)
        self.threads = check_threads(threads)
        self.autoreset = options.check_autoreset(autoreset)
        self._seat = check_seat(seat, self.num_players)
        self._max_steps = (
            NO_LIMIT if max_steps is None else options.check_count("max_steps", max_steps)
        )
        self._seed(seed)
        with enough_memory(f"num_games={self.num_games}"):
            size = self.num_games, self.num_players
            self.batch = Batch.empty(*size, self.encoding.size, not self.opponents)
            self._table = RunningGames(
                *size, self.rules, self.opponents, self.threads, self.batch.views
            )
        self._all = np.arange(self.num_games)
        self._running = False

    @property
    def games(self) -> Games:
        """(B,) records of the running games, not copies.

        After edits by hand, settle each (`core.settle`), or check all (`core.check_sound`).
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

        Raises:
            ConfigurationError: A seed out of range, or rules without any decision.
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
                seed, as `new_game` does, and its later games follow from it alone. None: the row
                begins its next game.

        Raises:
            ConfigurationError: Rows or seeds of a wrong shape or dtype, a seed out of range, or
                rules without any decision.
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

        Raises:
            ConfigurationError: Actions of a wrong shape or dtype, or `reset` must be called first.
            IllegalActionError: An action is illegal (with `illegal="raise"`), and no game has
                changed; the message lists the legal ones. Or an opponent chose an illegal action or
                never ended its turn; then `reset` must be called.
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
        """The current observations of (B,) or (B, S) seats: (B, D) or (B, S, D) float32, new.

        Raises:
            ConfigurationError: A wrong shape, dtype or seat.
        """
        who = np.asarray(seats)
        count = self.num_games
        if who.dtype.kind not in "iu" or who.ndim not in (1, 2) or len(who) != count:
            raise ConfigurationError(
                f"seats must be integers of shape ({count},) or ({count}, S), not {_shape(who)}."
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
        """Continue from the arrays of `state`, of a vector made with the same arguments.

        Raises:
            FormatError: They are of another vector, or of no possible games. Nothing has changed.
        """
        own = self._arrays()
        try:
            views = ((name, state[name].view(one.dtype), one) for name, one in own.items())
            given = {name: view.reshape(one.shape) for name, view, one in views}
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
        count = self.num_games
        given = check_actions(actions, count)
        ended, finished = np.zeros(count, np.bool_), self.batch.finished
        if self.autoreset is not True and finished.size:
            if not self.autoreset:
                raise GameOverError(f"Game {finished[0]} has ended: call reset() or begin().")
            ended[finished] = True
        chosen = np.array(given, np.int64)
        wrong = first_illegal(self.games, chosen, ended)
        if wrong >= 0:
            outside = np.flatnonzero(~ended & ((chosen < 0) | (chosen >= NUM_ACTIONS)))
            if self.illegal == "raise" or len(outside):
                row = int(wrong if self.illegal == "raise" else outside[0])
                who = f"Game {row} of {count}" if count > 1 else ""
                raise refusal(who, self.games[row], given[row])
            replace_illegal(self.games, chosen, ended, self.illegal == "random")
        chosen[ended] = BEGIN
        return chosen

    def _give_seeds(self, rows: NDArray[np.int64], seeds: Sequence[int | None]) -> None:
        if len(seeds) != self.num_games:
            given = f"{len(seeds)} seeds are given for {self.num_games} games"
            raise ConfigurationError(f"{given}: give one a game, or None.")
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
            what = f"A kernel used an index beyond its arrays: that of {which}."
            raise ConfigurationError(what) from error
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
