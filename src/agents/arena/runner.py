"""Batches of games: threads run the compiled loop; batched policies are called in between.

Games are independent, so results do not depend on the number of threads or on the split of the
games among them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.arena.counting import COUNTS, SEAT_COUNTS
from agents.arena.games import GameBatch
from agents.arena.loop import NOT_RECORDED, Recording, play_games
from agents.arena.luck import Luck
from monopoly_env.analyse.values import Value
from monopoly_env.core import new_games
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import BY_CAP, GAME
from monopoly_env.kernels import clock
from monopoly_env.kernels.threads import in_order, number_of, parts_of
from monopoly_env.policy.loop import OUTSIDE, WAITING, Players, Running, answers, check, failure
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy, Decisions, Policy, draw_keys
from monopoly_env.rules import Rules

# Whether a bar is shown on stderr; or a function to call with the number of games that have ended
Progress: TypeAlias = bool | Callable[[int], None]

MAX_POLICIES: Final = np.iinfo(np.int16).max + 1  # as many as `GameBatch.seats` can number

_SLICE: Final = 128  # games that a thread plays at a time: their records fit its cache
# Concurrent games with batched policies: a large batch that fits in memory
_WINDOW: Final = 2048
# Actions of a recorded game after which the compiled loop returns to have them copied
_RECORDED: Final = 4096


class Runner:
    """Policies that are compiled and ready to play batches of games."""

    def __init__(
        self,
        policies: Sequence[Policy],
        rules: Rules,
        turn_limit: int,
        threads: int | None = None,
        value: Value | None = None,
    ) -> None:
        """Compile policies that are not compiled yet.

        Args:
            policies: The policies; `GameBatch.seats` holds their numbers.
            rules: The rules of all games.
            turn_limit: Turns of each player after which the score decides a game.
            threads: Number of threads; by default one per core.
            value: The value function for the luck of the dice; None: luck is not measured.
        """
        self.policies = list(policies)
        self.value = value
        self.rules = rules
        self.turn_limit = turn_limit
        self.threads = number_of(threads)
        compiled = [policy for policy in policies if isinstance(policy, CompiledPolicy)]
        rows = {id(policy): row for row, policy in enumerate(compiled)}
        self.row_of = np.array([rows.get(id(policy), OUTSIDE) for policy in policies])
        self.players = Players.of(compiled)
        self.reads_history = np.array([policy.reads_history for policy in policies], np.bool_)

    @classmethod
    def of_population(
        cls,
        player: CompiledPolicy,
        rows: NDArray[np.float64],
        rules: Rules,
        turn_limit: int,
        threads: int | None = None,
    ) -> Self:
        """A runner for players with the same kernel and different parameters.

        Args:
            player: One of them, for its kernel.
            rows: (K, L) float64, the parameters; `GameBatch.seats` holds the numbers of rows.
            rules: The rules of all games.
            turn_limit: Turns of each player after which the score decides a game.
            threads: Number of threads; by default one per core.

        Raises:
            ConfigurationError: The rows are not finite (K, L) numbers of the player's length, or
                there are too many.
        """
        length = len(player.params)
        if (
            rows.ndim != 2
            or rows.shape[1] != length
            or not 1 <= len(rows) <= MAX_POLICIES
            or not np.isfinite(rows).all()
        ):
            raise ConfigurationError(
                f"Rows of {player.name!r} must be finite numbers of shape (1 to {MAX_POLICIES:,},"
                f" {length}); these have shape {rows.shape}."
            )
        runner = cls([player], rules, turn_limit, threads)
        runner.policies = [player] * len(rows)
        runner.row_of = np.arange(len(rows))
        runner.reads_history = np.zeros(len(rows), np.bool_)
        runner.players = Players.of_rows(player, rows)
        return runner

    def play(self, batch: GameBatch, done: Callable[[int], None] = lambda games: None) -> None:
        """Play all games of a batch and write its results.

        Args:
            batch: The games.
            done: Called with the number of games that have ended since the last call.

        Raises:
            IllegalActionError: A policy chose an illegal action or never ended its turn.
            PolicyError: A policy raised an error or exited, or a batched one changed a game. A
                compiled policy is trusted with the game: `monopoly_env.testing.check_policy` finds
                one that writes to it.
            ConfigurationError: A batched policy returned something other than (B,) integers.
            EngineError: The engine broke one of its own invariants.
        """
        asks = (self.row_of[batch.seats] == OUTSIDE).any(axis=1)
        for ended in in_order(
            lambda numbers: self._play_slice(batch, numbers),
            self.slices(np.flatnonzero(~asks), _SLICE),
            self.threads,
            "arena",
        ):
            done(ended)
        if asks.any():
            with ThreadPoolExecutor(self.threads) as pool:
                self._play_asking(batch, np.flatnonzero(asks), pool, done)

    def slices(self, numbers: NDArray[np.int64], longest: int) -> list[NDArray[np.int64]]:
        """Split games among the threads."""
        parts = parts_of(len(numbers), longest, self.threads)
        return [numbers[part.start : part.stop] for part in parts]

    def _play_slice(self, batch: GameBatch, numbers: NDArray[np.int64]) -> int:
        games = _Games(self, batch, len(numbers))
        games.begin(np.arange(len(numbers)), numbers)
        while games.under_way():  # returns early only if a recording is full
            games.advance(slice(None))
            games.check()
        games.report(np.arange(len(numbers)))
        return len(numbers)

    def _play_asking(
        self,
        batch: GameBatch,
        numbers: NDArray[np.int64],
        pool: ThreadPoolExecutor,
        done: Callable[[int], None],
    ) -> None:
        """Play games with batched policies as two streams: one plays while the other is decided."""
        streams = [
            _Stream(self, batch, half, pool) for half in np.array_split(numbers, 2) if len(half)
        ]
        while streams:
            for stream in streams:
                done(stream.go_on())
            streams = [stream for stream in streams if stream.busy]


class _Games:
    """The running games of a batch; a place is an index into its arrays."""

    def __init__(self, runner: Runner, batch: GameBatch, count: int) -> None:
        self.runner = runner
        self.batch = batch
        self.num_players = batch.seats.shape[1]
        self.numbers = np.zeros(count, np.int64)
        shape = count, self.num_players
        self.running = Running.room(shape, runner.players, runner.turn_limit)
        self.counts = np.zeros(count, COUNTS)
        actions = np.zeros(
            (count if batch.recorded or runner.reads_history.any() else 0, _RECORDED), np.uint8
        )
        self.luck = np.zeros((count, self.num_players))
        self.recording = Recording(np.full(count, NOT_RECORDED), np.zeros(count, np.int64), actions)
        self._recorded = np.array(sorted(batch.recorded), np.int64)
        self._actions: dict[int, list[NDArray[np.uint8]]] = {}

    def begin(self, places: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        """Begin games of the batch in these places."""
        batch = self.batch
        self.numbers[places] = numbers
        _bytes(self.running.games)[places] = _bytes(
            new_games(batch.seeds[numbers].tolist(), self.num_players, self.runner.rules)
        )
        self.running.memory[places] = 0.0
        self.luck[places] = 0.0
        self.running.seats[places] = self.runner.row_of[batch.seats[numbers]]
        _bytes(self.running.progress)[places] = 0
        _bytes(self.counts)[places] = 0
        kept = np.isin(numbers, self._recorded) | self.runner.reads_history[
            batch.seats[numbers]
        ].any(axis=1)
        self.recording.row[places] = np.where(kept, places, NOT_RECORDED)
        self.recording.length[places] = 0

    def under_way(self) -> bool:
        """Whether any game is running."""
        return bool(self.running.games["decision"].any())

    def advance(self, part: slice) -> None:
        """Run the compiled loop on some of the games.

        Raises:
            PolicyError: The kernel of a policy raised an error.
        """
        recording = self.recording._replace(
            row=self.recording.row[part], length=self.recording.length[part]
        )
        luck = Luck.of(self.runner.value, self.luck[part])
        try:
            play_games(self.running.part(part), self.counts[part], recording, luck)
        except Exception as error:
            if self.runner.value is not None and luck.asking[0]:
                raise ConfigurationError(
                    f"The value {self.runner.value.name!r} raised {type(error).__name__}: {error}."
                ) from error
            # The loop plays one game after another: the error is of the first that has not stopped.
            full = self.recording.length[part] == self.recording.actions.shape[1]
            stopped = (
                (self.running.games["decision"][part] == 0)
                | (self.running.progress["stop"][part] == WAITING)
                | full
            )
            place = np.arange(len(self.running.games))[part][~stopped][0]
            raise failure(
                self._policy(place, int(self.running.games["player"][place])),
                self.running.games[place : place + 1],
                error,
            ) from error

    def ask(self, policy: Policy, places: NDArray[np.int64]) -> None:
        """Get a batched policy's actions in these places; the compiled loop carries them out."""
        records = _bytes(self.running.games).take(places, axis=0).view(GAME).ravel()
        key = draw_keys(records)
        self.running.games["policy_draws"][places] = records["policy_draws"]
        rows = places * self.num_players + records["player"]
        memory = self.running.memory.reshape(-1, MEMORY)
        history = (
            [self._history(place) for place in places.tolist()] if policy.reads_history else None
        )
        decisions = Decisions(records, memory.take(rows, axis=0), key, history)
        self.running.progress["answer"][places] = answers(policy, decisions)
        self.running.progress["answered"][places] = 1
        memory[rows] = decisions.memory

    def check(self) -> None:
        """Raise the error of a game that failed, if any did, and empty full recordings."""
        check(self.running.games, self.running.progress, self._policy)
        self._take_actions(np.flatnonzero(self.recording.length == _RECORDED))

    def _policy(self, place: int, seat: int) -> Policy:
        return self.runner.policies[self.batch.seats[self.numbers[place], seat]]

    def _take_actions(self, places: NDArray[np.int64]) -> None:
        """Copy the recorded actions of these games and empty their recordings."""
        for place in places.tolist():
            self._actions.setdefault(place, []).append(
                self.recording.actions[place, : self.recording.length[place]].copy()
            )
        self.recording.length[places] = 0

    def _history(self, place: int) -> NDArray[np.uint8]:
        """All actions of the game in this place."""
        return np.concatenate(
            [
                *self._actions.get(place, []),
                self.recording.actions[place, : self.recording.length[place]],
            ]
        )

    def report(self, places: NDArray[np.int64]) -> None:
        """Write the results of games that have ended to the batch."""
        if not len(places):
            return
        batch, numbers = self.batch, self.numbers[places]
        batch.place[numbers] = self.running.games["place"][places, : self.num_players]
        batch.first[numbers] = self.running.games["first"][places]
        batch.capped[numbers] = self.running.games["ending"][places] == BY_CAP
        batch.game_counts[numbers] = self.counts["game"][places]
        batch.owned[numbers] = self.running.games["lots"][places, : self.num_players]
        batch.luck[numbers] = self._measured_luck(places)
        batch.score[numbers] = self.counts["score"][places, : self.num_players]
        for name in SEAT_COUNTS.names or ():
            batch.seat_counts[name][numbers] = self.counts[name][places, : self.num_players]
        recorded = places[self.recording.row[places] != NOT_RECORDED]
        self._take_actions(recorded)
        for place, number in zip(recorded.tolist(), self.numbers[recorded].tolist(), strict=True):
            actions = np.concatenate(self._actions.pop(place))
            if number in batch.recorded:
                from monopoly_env.replays import digest

                batch.actions[number] = actions, digest(self.running.games[place])

    def _measured_luck(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        value, luck = self.runner.value, self.luck[places]
        if value is not None and not np.isfinite(luck).all():
            raise ConfigurationError(
                f"The value {value.name!r} gave a share that is no finite number."
            )
        return luck


class _Stream:
    """Concurrent games with batched policies; a new game replaces one that ends."""

    def __init__(
        self, runner: Runner, batch: GameBatch, numbers: NDArray[np.int64], pool: ThreadPoolExecutor
    ) -> None:
        self.pool = pool
        self.games = _Games(runner, batch, min(len(numbers), _WINDOW))
        self.waiting = numbers
        places = np.arange(len(self.games.numbers))
        self.parts = [slice(part[0], part[-1] + 1) for part in runner.slices(places, _WINDOW)]
        self.under_way = np.zeros(len(places), np.bool_)
        self._begin(places)
        self.futures: list[Future[None]] = []

    @property
    def busy(self) -> bool:
        """Whether games are running."""
        return bool(self.under_way.any())

    def _begin(self, places: NDArray[np.int64]) -> None:
        count = min(len(places), len(self.waiting))
        if count:
            self.games.begin(places[:count], self.waiting[:count])
            self.under_way[places[:count]] = True
            self.waiting = self.waiting[count:]

    def go_on(self) -> int:
        """Get all actions of each policy in one call, then play on.

        Returns:
            The number of games that have ended.
        """
        for future in self.futures:
            future.result()
        games = self.games
        games.check()
        over = games.running.games["decision"] == 0
        ended = np.flatnonzero(self.under_way & over)
        games.report(ended)
        self.under_way[ended] = False
        self._begin(ended)
        self._ask()
        self.futures = (
            [self.pool.submit(games.advance, part) for part in self.parts]
            if self.under_way.any()
            else []
        )
        return len(ended)

    def _ask(self) -> None:
        games = self.games
        places = np.flatnonzero(self.under_way)
        players = games.running.games["player"][places]
        asked = games.running.seats[places, players] == OUTSIDE
        places, players = places[asked], players[asked]
        policies = games.batch.seats[games.numbers[places], players]
        for number in np.unique(policies):
            games.ask(games.runner.policies[number], places[policies == number])


def _bytes(records: NDArray[Any]) -> NDArray[np.uint8]:
    """Records as rows of bytes: NumPy copies structured records slowly, field by field."""
    return records.view(np.uint8).reshape(len(records), -1)


@contextlib.contextmanager
def reported(progress: Progress, games: int, finished: int = 0) -> Iterator[Callable[[int], None]]:
    """A function for the games that have just ended: none, a bar on stderr, or the caller's.

    Args:
        progress: Which of them.
        games: The number of games in all.
        finished: Games of an earlier run.
    """
    if callable(progress) or not progress:
        yield progress or (lambda count: None)
        return
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.TextColumn("games"), bars.BarColumn(), bars.MofNCompleteColumn(),
        bars.TextColumn("{task.fields[speed]}"), bars.TimeRemainingColumn(),
    )  # fmt: skip
    with bars.Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("games", total=games, completed=finished, speed="")
        began, played = clock(), 0

        def done(count: int) -> None:
            nonlocal played
            played += count
            bar.update(task, advance=count, speed=f"{played / max(clock() - began, 1e-9):,.0f}/s")

        yield done
