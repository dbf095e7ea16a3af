"""Games at a table: the compiled loop, and the Python one around it that asks batched policies.

Games do not touch each other, so results depend neither on the number of threads nor on how games are cut into slices.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from agents.arena.counting import GAME_COUNTS, SEAT_COUNTS, TALLY, begin_counting, step_counting, take_stock
from monopoly_env.actions import DECISION_NAMES, NUM_ACTIONS, describe
from monopoly_env.core import new_games
from monopoly_env.engine.agenda import FAULTS
from monopoly_env.engine.players import finish
from monopoly_env.engine.step import is_legal, write_mask
from monopoly_env.errors import ConfigurationError, EngineError, IllegalActionError
from monopoly_env.game import BY_CAP, GAME, Games, empty_games
from monopoly_env.kernels import borrowed, entry
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy, Decisions, Policy, draw_keys, kernel_list, padded_rows
from monopoly_env.rules import Rules

ASKED: Final = -1  # in place of a row's number: the seat of a batched policy
PATIENCE: Final = 10_000  # decisions within one turn after which a policy is held to be stuck
STUCK: Final = -2  # in place of an illegal action
NONE: Final = -1
MOST: Final = np.iinfo(np.int16).max + 1  # policies that `Line.seats` can number

_SLICE: Final = 128  # games a thread plays at a time: their records stay in its cache
_WINDOW: Final = 2048  # games of a stream under way at once: enough for a network, little enough for memory
_LOG: Final = 4096  # actions of a recorded game that are kept before they are taken away

# What the loop keeps of a game under way.
DESK: Final = np.dtype(
    (
        np.record,
        [
            ("answer", np.int64),  # what a batched policy chose
            ("illegal", np.int64),  # NONE; else the illegal action that stopped the game, or STUCK
            ("answered", np.int32),  # 1: `answer` is still to be carried out
            ("turn", np.int32),  # the last turn seen
            ("patience", np.int32),  # decisions left in it
            ("log", np.int32),  # the row of the log that the actions go to, or NONE
            ("logged", np.int32),  # actions in it
        ],
    )
)


@entry()
def play_games(
    games: Games,
    memory: NDArray[np.float64],
    seated: NDArray[np.int64],
    desks: NDArray[Any],
    tallies: NDArray[Any],
    log: NDArray[np.uint8],
    kernels: Any,
    kernel_of: NDArray[np.int64],
    params: NDArray[np.float64],
    lengths: NDArray[np.int64],
    reads_mask: NDArray[np.bool_],
    turn_limit: int,
) -> None:
    """Play games on until they end, a batched policy is to move, or the log of a game is full.

    Args:
        games: (B,) records.
        memory: (B, P, 64), of each game and seat.
        seated: (B, P), the number of the row in each seat, or ASKED.
        desks: (B,) DESK.
        tallies: (B,) TALLY.
        log: (R, L), the actions of recorded games.
        kernels: compiled policies, each kernel once.
        kernel_of: (K,), which of them reads each row: a population shares one.
        params: (K, L), rows of parameters, padded.
        lengths: (K,), the lengths of the rows.
        reads_mask: (K,), whether their kernels read the mask.
        turn_limit: Single turns that may be played before the score decides.
    """
    params, memory, mask = borrowed(params), borrowed(memory), np.zeros(NUM_ACTIONS, np.bool_)
    number, kernel = 0, kernels[0]  # the list is one for all threads: it is read only where the kernel changes
    for i in range(len(games)):
        game, desk, tally = games[i], desks[i], tallies[i]
        if game.decision == 0 or desk.illegal != NONE:
            continue
        if desk.turn == NONE:
            begin_counting(game, tally)
        turn, patience = int(desk.turn), int(desk.patience)
        while game.decision != 0 and game.fault == 0 and desk.logged < log.shape[1]:
            if game.turns != turn:
                turn, patience = int(game.turns), PATIENCE
                if turn > turn_limit:
                    game.turns = turn_limit  # the turn that has begun is not played
                    finish(game, BY_CAP)
                    break
            k = seated[i, game.player]
            if k >= 0:
                if reads_mask[k]:
                    write_mask(game, mask)
                if kernel_of[k] != number:
                    number = kernel_of[k]
                    kernel = kernels[number]
                action = kernel(game, mask, params[k][: lengths[k]], memory[i, game.player])
            elif desk.answered == 1:
                desk.answered = 0
                action = desk.answer
            else:
                break
            patience -= 1
            if not 0 <= action < NUM_ACTIONS or not is_legal(game, action):
                desk.illegal = action if action >= 0 else NUM_ACTIONS - action
                break
            if patience == 0:
                desk.illegal = STUCK
                break
            if desk.log != NONE:
                log[desk.log, desk.logged] = action
                desk.logged += 1
            step_counting(game, action, tally)
        desk.turn, desk.patience = turn, patience
        if game.decision == 0:
            take_stock(game, tally)


@dataclass
class Line:
    """What is played: G games of P seats.

    Attributes:
        seeds: (G,) uint64, seeds of the games.
        seats: (G, P) int16, the number of the policy in each seat.
        recorded: Numbers of the games whose actions are kept.
        place: (G, P) final ranks, 1 won; several 1: a draw.
        first: (G,) the seat that began.
        capped: (G,) whether the turn limit or a cap of the rules ended it.
        seat_counts: (G, P) SEAT_COUNTS.
        game_counts: (G,) GAME_COUNTS.
        owned: (G, P) int32, the lots of each seat at the end, as bits.
        score: (G, P) int32, dollars at the end as the rules count them to decide a capped game.
        actions: Of the recorded games, by number: the actions, and a hash of the last record.
    """

    seeds: NDArray[np.uint64]
    seats: NDArray[np.int16]
    recorded: frozenset[int] = frozenset()
    place: NDArray[np.int16] = field(init=False)
    first: NDArray[np.int16] = field(init=False)
    capped: NDArray[np.bool_] = field(init=False)
    seat_counts: NDArray[Any] = field(init=False)
    game_counts: NDArray[Any] = field(init=False)
    owned: NDArray[np.int32] = field(init=False)
    score: NDArray[np.int32] = field(init=False)
    actions: dict[int, tuple[NDArray[np.uint8], str]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Room for the results."""
        games, players = self.seats.shape
        self.place = np.zeros((games, players), np.int16)
        self.first = np.zeros(games, np.int16)
        self.capped = np.zeros(games, np.bool_)
        self.seat_counts = np.zeros((games, players), SEAT_COUNTS)
        self.game_counts = np.zeros(games, GAME_COUNTS)
        self.owned = np.zeros((games, players), np.int32)
        self.score = np.zeros((games, players), np.int32)


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
        row_of = {id(policy): row for row, policy in enumerate(compiled)}
        self.row_of = np.array([row_of.get(id(policy), ASKED) for policy in policies])
        listed = compiled or [_nobody()]
        distinct = {policy.kernel: policy for policy in listed}
        numbers = {kernel: number for number, kernel in enumerate(distinct)}
        self._kernels = kernel_list(list(distinct.values()))
        self._kernel_of = np.array([numbers[policy.kernel] for policy in listed])
        self._params, self._lengths = padded_rows(listed)
        self._reads_mask = np.array([policy.reads_mask for policy in listed])

    @classmethod
    def of_rows(cls, player: CompiledPolicy, rows: NDArray[np.float64], rules: Rules, turn_limit: int, threads: int | None = None) -> Self:
        """A population: players of one kernel that differ in their rows, and are never made one by one.

        Args:
            player: One of them, for its kernel.
            rows: (K, L) float64; player k, as `Line.seats` numbers them, plays by row k.
            rules: The rules of all games.
            turn_limit: Turns of each player after which the score decides a game.
            threads: Cores to play on; all by default.

        Raises:
            ConfigurationError: The rows are no finite (K, L) numbers of the player's length, or more than seats can number.
        """
        length = len(player.params)
        if rows.ndim != 2 or rows.shape[1] != length or not 1 <= len(rows) <= MOST or not np.isfinite(rows).all():
            raise ConfigurationError(
                f"Rows of {player.name!r} are finite numbers of shape (1 to {MOST:,}, {length}), not {rows.shape} or not finite."
            )
        table = cls([player], rules, turn_limit, threads)
        table.policies = [player] * len(rows)
        table.row_of = np.arange(len(rows))
        table._params = np.ascontiguousarray(rows, np.float64)
        table._lengths = np.full(len(rows), length)
        table._kernel_of = np.zeros(len(rows), np.int64)
        table._reads_mask = np.full(len(rows), player.reads_mask)
        return table

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
        asks = (self.row_of[line.seats] == ASKED).any(axis=1)
        with ThreadPoolExecutor(self.threads) as pool:
            for ended in pool.map(lambda numbers: self._play_slice(line, numbers), self.slices(np.flatnonzero(~asks), _SLICE)):
                done(ended)
            if asks.any():
                self._play_asking(line, np.flatnonzero(asks), pool, done)

    def slices(self, numbers: NDArray[np.int64], longest: int) -> list[NDArray[np.int64]]:
        """Games in parts for the threads: short ones where games are few, so that no thread is left idle for long."""
        size = max(1, min(longest, -(-len(numbers) // (4 * self.threads))))
        return [numbers[start : start + size] for start in range(0, len(numbers), size)]

    def _play_slice(self, line: Line, numbers: NDArray[np.int64]) -> int:
        games = _Games(self, line, len(numbers))
        games.begin(np.arange(len(numbers)), numbers)
        while len(games.running()):  # comes back only to empty a full log
            games.advance(slice(None))
            games.check()
        games.report(np.arange(len(numbers)))
        return len(numbers)

    def _play_asking(self, line: Line, numbers: NDArray[np.int64], pool: ThreadPoolExecutor, done: Callable[[int], None]) -> None:
        """Play games that batched policies sit in: two streams, so that the threads play one while a policy is asked in the other."""
        streams = [_Stream(self, line, half, pool) for half in np.array_split(numbers, 2) if len(half)]
        while streams:
            for stream in streams:
                done(stream.go_on())
            streams = [stream for stream in streams if stream.busy]

    def advance(self, games: _Games, part: slice) -> None:
        """Play some of the games on until they end or wait."""
        play_games(
            games.records[part], games.memory[part], games.seated[part], games.desks[part], games.tallies[part],
            games.log, self._kernels, self._kernel_of, self._params, self._lengths, self._reads_mask,
            self.turn_limit * games.players,
        )  # fmt: skip


class _Games:
    """Games of a line that are under way, each in a place of its own."""

    def __init__(self, table: Table, line: Line, count: int) -> None:
        self.table = table
        self.line = line
        self.players = line.seats.shape[1]
        self.numbers = np.zeros(count, np.int64)
        self.records = empty_games(count)
        self.memory = np.zeros((count, self.players, MEMORY))
        self.seated = np.zeros((count, self.players), np.int64)
        self.desks = np.zeros(count, DESK)
        self.tallies = np.zeros(count, TALLY)
        self.log = np.zeros((count if line.recorded else 0, _LOG), np.uint8)
        self._recorded = np.array(sorted(line.recorded), np.int64)
        self._logs: dict[int, list[NDArray[np.uint8]]] = {}

    def begin(self, places: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        """Begin games of the line in these places."""
        line = self.line
        self.numbers[places] = numbers
        _bytes(self.records)[places] = _bytes(new_games(line.seeds[numbers].tolist(), self.players, self.table.rules))
        self.memory[places] = 0.0
        self.seated[places] = self.table.row_of[line.seats[numbers]]
        _bytes(self.desks)[places] = 0
        self.desks["illegal"][places] = NONE
        self.desks["turn"][places] = NONE
        self.desks["log"][places] = np.where(np.isin(numbers, self._recorded), places, NONE)
        _bytes(self.tallies)[places] = 0

    def running(self) -> NDArray[np.int64]:
        """The places whose games go on."""
        return np.flatnonzero(self.records["decision"])

    def advance(self, part: slice) -> None:
        """Play some of the games on until they end or wait."""
        self.table.advance(self, part)

    def ask(self, policy: Policy, places: NDArray[np.int64]) -> None:
        """Ask a batched policy for its decisions in these places; they are carried out as the games go on."""
        records = _bytes(self.records).take(places, axis=0).view(GAME).ravel()
        key = draw_keys(records)
        self.records["policy_draws"][places] = records["policy_draws"]
        rows = places * self.players + records["player"]
        memory = self.memory.reshape(-1, MEMORY)
        decisions = Decisions(records, memory.take(rows, axis=0), key)
        self.desks["answer"][places] = _check_actions(policy, policy.act(decisions), len(places))
        self.desks["answered"][places] = 1
        memory[rows] = decisions.memory

    def check(self) -> None:
        """Raise what went wrong in a game, if anything did; empty full logs."""
        broken = np.flatnonzero(self.records["fault"])
        if len(broken):
            fault, seed = FAULTS[self.records["fault"][broken[0]]], self.line.seeds[self.numbers[broken[0]]]
            raise EngineError(f"The engine broke an invariant in the game of seed {seed}: {fault}. Please report it.")
        wrong = np.flatnonzero(self.desks["illegal"] != NONE)
        if len(wrong):
            game = self.records[wrong[0]]
            policy = self.table.policies[self.line.seats[self.numbers[wrong[0]], game["player"]]]
            raise _illegal(policy, game, int(self.desks["illegal"][wrong[0]]))
        if self.line.recorded:
            self._empty_logs(np.flatnonzero(self.desks["logged"] == _LOG))

    def _empty_logs(self, places: NDArray[np.int64]) -> None:
        for place in places.tolist():
            self._logs.setdefault(place, []).append(self.log[place, : self.desks["logged"][place]].copy())
        self.desks["logged"][places] = 0

    def report(self, places: NDArray[np.int64]) -> None:
        """Write the results of ended games into the line."""
        if not len(places):
            return
        line, numbers = self.line, self.numbers[places]
        line.place[numbers] = self.records["place"][places, : self.players]
        line.first[numbers] = self.records["first"][places]
        line.capped[numbers] = self.records["ending"][places] == BY_CAP
        line.game_counts[numbers] = self.tallies["game"][places]
        line.owned[numbers] = self.records["lots"][places, : self.players]
        line.score[numbers] = self.tallies["score"][places, : self.players]
        for name in SEAT_COUNTS.names or ():
            line.seat_counts[name][numbers] = self.tallies[name][places, : self.players]
        if line.recorded:
            from monopoly_env.replays import digest

            logged = places[self.desks["log"][places] != NONE]
            self._empty_logs(logged)
            for place in logged.tolist():
                line.actions[int(self.numbers[place])] = np.concatenate(self._logs.pop(place)), digest(self.records[place])


class _Stream:
    """Games that batched policies sit in: as one ends, the next takes its place, so that a policy has many to answer at once."""

    def __init__(self, table: Table, line: Line, numbers: NDArray[np.int64], pool: ThreadPoolExecutor) -> None:
        self.pool = pool
        self.games = _Games(table, line, min(len(numbers), _WINDOW))
        self.waiting = numbers
        places = np.arange(len(self.games.numbers))
        self.parts = [slice(part[0], part[-1] + 1) for part in table.slices(places, _WINDOW)]
        self.under_way = np.zeros(len(places), np.bool_)
        self._begin(places)
        self.futures: list[Future[None]] = []

    @property
    def busy(self) -> bool:
        """Whether games are under way."""
        return bool(self.under_way.any())

    def _begin(self, places: NDArray[np.int64]) -> None:
        count = min(len(places), len(self.waiting))
        if count:
            self.games.begin(places[:count], self.waiting[:count])
            self.under_way[places[:count]] = True
            self.waiting = self.waiting[count:]

    def go_on(self) -> int:
        """Ask each policy for all its decisions in one call, and let the threads go on from there.

        Returns:
            How many games have ended.
        """
        for future in self.futures:
            future.result()
        games = self.games
        games.check()
        over = games.records["decision"] == 0
        ended = np.flatnonzero(self.under_way & over)
        games.report(ended)
        self.under_way[ended] = False
        self._begin(ended)
        self._ask()
        self.futures = [self.pool.submit(games.advance, part) for part in self.parts] if self.under_way.any() else []
        return len(ended)

    def _ask(self) -> None:
        games = self.games
        places = np.flatnonzero(self.under_way)
        players = games.records["player"][places]
        asked = games.seated[places, players] == ASKED
        places, players = places[asked], players[asked]
        policies = games.line.seats[games.numbers[places], players]
        for number in np.unique(policies):
            games.ask(games.table.policies[number], places[policies == number])


def _bytes(records: NDArray[Any]) -> NDArray[np.uint8]:
    """Records as rows of bytes: NumPy copies structured ones a field at a time."""
    return records.view(np.uint8).reshape(len(records), -1)


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
    from agents.players.random import uniform

    return uniform()
