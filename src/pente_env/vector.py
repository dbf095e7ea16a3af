"""Thousands of games in step: `VectorPente`.

One compiled call advances all games on all cores and writes observations, masks and rewards
straight into the arrays of the batch.

- **self-play** (`opponents=None`): you put every stone; `batch.player` says whose it is.
- **one learner**: `opponents` sit clockwise from the learner's seat and play inside the same call.

When a game ends, the next one begins in the same step. Game i of generation k depends only on
`(seed, i, k)` and the actions, not on the number of games or threads.

    >>> from pente_env.vector import VectorPente
    >>> vec = VectorPente(num_games=64, num_players=2, opponents=["better"], seed=0)
    >>> batch = vec.reset()
    >>> for _ in range(10):
    ...     batch = vec.step(batch.action_mask.argmax(axis=1))  # (B,) integers
    >>> batch.observation.shape[0], batch.reward.shape
    (64, (64, 2))

The arrays of `batch` are the same from step to step: copy what you keep.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monopoly_env.errors import (
    ConfigurationError,
    IllegalActionError,
    check_actions,
    check_illegal,
    check_seat,
    check_threads,
    table_size,
    whole_number,
)
from monopoly_env.kernels import borrowed, entry, inlined
from monopoly_env.kernels.philox import philox, split_seeds
from monopoly_env.kernels.signatures import Array1, Array2, Array3
from monopoly_env.kernels.threads import Threads
from pente_env.core import check_players, illegal, name_of
from pente_env.game import NOBODY, RUNNING, Game, Games, empty_games
from pente_env.lines import LEGAL, write_points
from pente_env.loop import FORFEIT, Table, ask, replace_illegal
from pente_env.matches import PlayerLike, check_table, coerce
from pente_env.moves import is_legal, put, start
from pente_env.observation import (
    ENCODINGS,
    check_encoding,
    length_of,
    write_observation,
    write_observations,
)
from pente_env.player import MEMORY, Player
from pente_env.rules import Rules

_SLICE: Final = 256  # games per thread; with fewer, the thread costs more than it saves
_BEGIN: Final = -1  # instead of an action: begin a game
_RANDOM: Final = -1  # instead of the learner's seat: drawn for every game
_SEAT, _LOW, _HIGH = range(3)  # drawn for a game: the learner's seat, and two words of its seed
_SHARED: Final = ("observation", "action_mask", "player", "reward", "terminated")


@dataclass
class PenteBatch:
    """The result of a step, one row per game.

    B games, P players, D numbers, F games that ended in this step.

    Attributes:
        observation: (B, D) float32, what the player to move observes.
        action_mask: (B, size * size) bool, its legal points.
        player: (B,) int16, its seat.
        reward: (B, P) float32, of each seat in this step: at the end of a game 1 for the winner,
            and the others share -1.
        terminated: (B,) bool, the game ended.
        actor: (B,) int16, the seat that put the last stone from outside.
        finished: (F,) int64, the games that ended. Their rows of `observation`, `action_mask` and
            `player` belong to the next games.
        final_observation: The boards of the games that ended: in self-play (F, P, D) float32, as
            each seat sees it; with opponents (F, D), as the learner does.
        final_games: (F,) records, the games as they ended.
    """

    observation: NDArray[np.float32]
    action_mask: NDArray[np.bool_]
    player: NDArray[np.int16]
    reward: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    actor: NDArray[np.int16]
    finished: NDArray[np.int64]
    final_observation: NDArray[np.float32]
    final_games: Games


class _Arrays(NamedTuple):
    """The arrays of the compiled loop, a row a game."""

    games: Games
    ended: Games
    template: Games
    generation: Array1[np.int64]
    seats: Array2[np.int64]
    memory: Array3[np.float64]
    observation: Array2[np.float32]
    action_mask: Array2[np.bool_]
    player: Array1[np.int16]
    reward: Array2[np.float32]
    terminated: Array1[np.bool_]


class _Settings(NamedTuple):
    """The numbers that do not change from step to step."""

    num_players: int
    opponents: int
    seat: int
    encoding: int
    key_low: int
    key_high: int


class VectorPente:
    """Many games in step; see the module's docstring.

    Attributes:
        num_games: B.
        num_players: P.
        rules: The rules of all games.
        encoding: The encoding of the observations.
        opponents: The players that sit clockwise from the learner; empty in self-play.
        threads: The number of threads.
        illegal: What an illegal point does.
        batch: What `reset` and `step` return. It is always the same object, and each step
            overwrites its arrays.
    """

    def __init__(  # noqa: PLR0913 - the options of a table
        self,
        num_games: int = 1024,
        num_players: int | None = None,
        rules: Rules | str = "schrum",
        encoding: str = "standard",
        opponents: Sequence[PlayerLike] | None = None,
        seed: int = 0,
        *,
        seat: int | Literal["random"] = "random",
        threads: int | None = None,
        illegal: Literal["raise", "penalize", "random"] = "raise",
    ) -> None:
        """Allocate the arrays; `reset` begins the games.

        Args:
            num_games: 1 or more.
            num_players: 2 or 3; by default 2, or one more than there are opponents.
            rules: Rules, or the name of a preset.
            encoding: `standard` or `schrum`.
            opponents: Players, or names of scripted ones, one for each seat except the learner's.
                None: self-play.
            seed: 0 to 2**64 - 1.
            seat: The learner's seat among opponents, or "random" to draw one for every game.
            threads: Number of threads; by default one per core. The games do not depend on it.
            illegal: What an illegal point does. "raise": an error. "penalize": the game ends, with
                a reward of -1 for the seat that chose it. "random": a random legal one is taken
                instead, drawn from the game's own stream.

        Raises:
            ConfigurationError: A wrong number, name or combination.
            RulesError: Unknown rules.
        """
        if isinstance(opponents, (str, Player)):
            raise ConfigurationError(
                f"opponents={opponents!r} must be a list, one player a seat: [{opponents!r}] is a"
                " table of two."
            )
        self.rules = Rules.coerce(rules)
        self.opponents = tuple(coerce(player) for player in opponents or ())
        if self.opponents:
            check_table([None, *self.opponents], self.rules)
        self.num_players = check_players(table_size(self.opponents, num_players, 2))
        self.num_games = whole_number("num_games", num_games, 1)
        self.encoding = check_encoding(encoding)
        self.threads = check_threads(threads)
        self.illegal = check_illegal(illegal)
        self._seat = check_seat(seat, self.num_players)
        self._running = False
        self._threads = Threads(self.threads, "pente")
        self._seed(seed)
        self._allocate()

    def _allocate(self) -> None:
        count, players, points = self.num_games, self.num_players, self.rules.size**2
        length = length_of(self.encoding, self.rules.size)
        template = empty_games(1)
        template["rules"] = self.rules.to_record()
        self._arrays = _Arrays(
            games=empty_games(count),
            ended=empty_games(count),
            template=template,
            generation=np.zeros(count, np.int64),
            seats=np.full((count, players), -1),
            memory=np.zeros((count, players, MEMORY)),
            observation=np.zeros((count, length), np.float32),
            action_mask=np.zeros((count, points), np.bool_),
            player=np.zeros(count, np.int16),
            reward=np.zeros((count, players), np.float32),
            terminated=np.zeros(count, np.bool_),
        )
        shared = {name: getattr(self._arrays, name) for name in _SHARED}
        none = np.zeros(0, np.int64)
        shape = (0, length) if self.opponents else (0, players, length)
        self.batch = PenteBatch(
            **shared, actor=np.zeros(count, np.int16), finished=none,
            final_observation=np.zeros(shape, np.float32),
            final_games=empty_games(0),
        )  # fmt: skip
        self._table = Table.of(self.opponents)

    def _seed(self, seed: int) -> None:
        low, high = split_seeds([seed])[0].tolist()
        self.seed = int(seed)
        encoding, others = ENCODINGS.index(self.encoding), len(self.opponents)
        self._settings = _Settings(self.num_players, others, self._seat, encoding, low, high)

    @property
    def games(self) -> Games:
        """(B,) records of the running games, not copies."""
        return self._arrays.games

    def reset(self, seed: int | None = None) -> PenteBatch:
        """Begin all games again from generation 0: the same seed gives the same games.

        Args:
            seed: A new seed, 0 to 2**64 - 1. None keeps the old one.

        Raises:
            ConfigurationError: The seed is out of range.
            IllegalActionError: An opponent chose a point that is not legal.
        """
        if seed is not None:
            self._seed(seed)
        self._arrays.generation.fill(0)
        self._run(np.full(self.num_games, _BEGIN))
        self.batch.actor[:] = self.batch.player
        return self.batch

    def step(self, actions: ArrayLike) -> PenteBatch:
        """Put a stone in every game and advance to the next.

        Args:
            actions: (B,) integers, each legal by `batch.action_mask`.

        Raises:
            ConfigurationError: Actions of a wrong shape or dtype, or `reset` must be called first.
            IllegalActionError: A point is not legal (with `illegal="raise"`), or not on the board;
                the message names the first such game, and no game has changed. Or an opponent chose
                such a point; then `reset` must be called.
        """
        if not self._running:
            raise ConfigurationError("No games are running: call reset() first.")
        chosen = check_actions(actions, self.num_games)
        inside = (chosen >= 0) & (chosen < self.batch.action_mask.shape[1])
        wrong = ~inside
        if self.illegal == "raise":
            wrong |= ~self.batch.action_mask[np.arange(self.num_games), np.where(inside, chosen, 0)]
        if wrong.any():
            row = int(wrong.argmax())
            raise IllegalActionError(
                f"Game {row} of {self.num_games}: {illegal(self.games[row], int(chosen[row]))}"
            )
        chosen = chosen.astype(np.int64)
        if self.illegal != "raise":
            replace_illegal(self.games, chosen, self.illegal == "random")
        self.batch.actor[:] = self.batch.player
        self._run(chosen)
        return self.batch

    def _run(self, actions: NDArray[np.int64]) -> None:
        self._running = False  # until all went well
        slices = min(self.threads, -(-self.num_games // _SLICE))
        bounds = np.linspace(0, self.num_games, slices + 1).astype(int).tolist()
        given = self._arrays, self._settings, self._table, actions
        parts = [(*given, *part) for part in itertools.pairwise(bounds)]
        alone = slices == 1
        failures = [_advance(*parts[0])] if alone else self._threads.map(_advance, parts)
        self._check(max(failures))
        self._collect()
        self._running = True

    def _check(self, failure: int) -> None:
        if failure >= 0:
            row, point = divmod(failure, 1 << 16)
            game = self.games[row]
            opponent = self.opponents[self._arrays.seats[row, game.player]]
            raise IllegalActionError(
                f"Game {row} of {self.num_games}: {opponent} chose"
                f" {name_of(point, self.rules.size)}, which is not legal."
            )

    def _collect(self) -> None:
        """Collect the final records and observations of the games that ended."""
        batch = self.batch
        batch.finished = np.flatnonzero(batch.terminated)
        batch.final_games = self._arrays.ended[batch.finished]
        each = 1 if self.opponents else self.num_players
        seats = np.tile(np.arange(self.num_players), len(batch.finished))
        if self.opponents:
            seats = batch.actor[batch.finished].astype(np.int64)
        seen = np.empty((len(seats), batch.observation.shape[1]), np.float32)
        write_observations(np.repeat(batch.final_games, each), seats, self._settings.encoding, seen)
        batch.final_observation = seen if self.opponents else seen.reshape(-1, each, seen.shape[1])

    def close(self) -> None:
        """Stop the threads. They are started again when needed."""
        self._threads.close()

    def __len__(self) -> int:
        return self.num_games

    def __repr__(self) -> str:
        names = [player.name for player in self.opponents] or None
        sizes = f"num_games={self.num_games}, num_players={self.num_players}"
        return f"VectorPente({sizes}, opponents={names})"


@inlined
def _draw(settings: Any, row: int, generation: int, what: int) -> int:
    return philox(row, generation, what, 1, settings.key_low, settings.key_high)


@inlined
def _begin(arrays: Any, settings: Any, row: int) -> None:
    """Begin the next game of a row, with the opponents in their seats."""
    generation = int(arrays.generation[row])
    arrays.generation[row] = generation + 1
    arrays.games[row] = arrays.template[0]
    players = settings.num_players
    low, high = _draw(settings, row, generation, _LOW), _draw(settings, row, generation, _HIGH)
    start(arrays.games[row], players, low, high)
    learner = settings.seat
    if learner == _RANDOM:
        learner = (_draw(settings, row, generation, _SEAT) * players) >> 32
    for k in range(settings.opponents):
        arrays.seats[row, (learner + 1 + k) % players] = k
    if settings.opponents:
        arrays.seats[row, learner] = -1
        arrays.memory[row] = 0.0


@inlined
def _play_on(game: Game, table: Any, seats: Any, memory: Any) -> int:
    """Let the opponents play on to the learner or the end; an illegal point, otherwise -1."""
    while game.ending == RUNNING and seats[game.player] >= 0:
        point = ask(game, table, seats, memory)
        if not is_legal(game, point):
            return int(point) & 0xFFFF
        put(game, point)
    return -1


@entry
def _advance(
    arrays: _Arrays,
    settings: _Settings,
    table: Table,
    actions: Array1[np.int64],
    first: int,
    last: int,
) -> int:
    """Carry out the actions of some games; the first one in which an opponent failed, or -1."""
    arrays, table, actions = borrowed(arrays), borrowed(table), borrowed(actions)
    for row in range(first, last):
        arrays.terminated[row] = False
        arrays.reward[row] = 0.0
        game, seats, memory = arrays.games[row], arrays.seats[row], arrays.memory[row]
        forfeit = actions[row] == FORFEIT
        if actions[row] == _BEGIN:
            _begin(arrays, settings, row)
        elif not forfeit:
            ask(game, table, seats, memory)  # those that observe
            put(game, actions[row])
        wrong = -1 if forfeit else _play_on(game, table, seats, memory)
        if wrong < 0 and (forfeit or game.ending != RUNNING):
            arrays.terminated[row] = True
            arrays.ended[row] = arrays.games[row]
            if forfeit:
                arrays.reward[row, game.player] = -1.0
            elif game.winner != NOBODY:
                arrays.reward[row] = -1.0 / (settings.num_players - 1)
                arrays.reward[row, game.winner] = 1.0
            _begin(arrays, settings, row)
            wrong = _play_on(game, table, seats, memory)
        if wrong >= 0:
            return (row << 16) | wrong
        arrays.player[row] = game.player
        write_observation(game, game.player, settings.encoding, arrays.observation[row])
        write_points(game, game.player, LEGAL, arrays.action_mask[row])
    return -1
