"""Experts' games as data: whole games between compiled policies, with every decision recorded.

    >>> from training.experience.streams import stream
    >>> tables = [("strategic", "strategic/cautious")]
    >>> for experiences in stream(
    ...     tables, 8, rules="ocnaru", encoding="ocnaru100", heads=("buy",)
    ... ):
    ...     print(experiences.observation.shape[1], experiences.action.ndim)
    100 1

Nothing is written to disk. Memory holds at most three batches of games: the one in use, the next
one, which all threads play in the meantime, and a copy of that one while its parts are joined.

Game g of a stream has the game seed `(seed << 32) + g` and the seats in row g mod L of the (L, P)
table of `seatings`. So the experiences depend only on the arguments, not on threads or batches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents.arena.games import arrangements
from monopoly_env import encoding as encodings
from monopoly_env import rewards
from monopoly_env.actions import HEAD_NAMES, HEADS, NUM_ACTIONS
from monopoly_env.encoding import Encoding
from monopoly_env.errors import ConfigurationError, nearest, whole_number
from monopoly_env.game import MAX_PLAYERS, MIN_PLAYERS
from monopoly_env.kernels.threads import number_of, parts_of
from monopoly_env.policy.loop import Players, Running
from monopoly_env.policy.names import PolicyLike, compiled, resolve_all
from monopoly_env.rewards import Reward
from monopoly_env.rules import Rules
from training.experience.recording import Experiences, Wanted, record_games, write_ends

# games played ahead; few enough that memory is reused, which is five times as fast as new memory
BATCH: Final = 128
TURN_LIMIT: Final = 1000
# a game seed has 64 bits: the upper half is the seed, the lower half the number of the game
MAX_SEED: Final = (1 << 32) - 1
MAX_GAMES: Final = (1 << 31) - 1

_SLICE: Final = 16  # games that a thread plays at a time at most: their records fit its cache
_ROWS: Final = 1024  # decisions recorded before they are copied: they fit the cache
_ALL_ORDERS: Final = 24  # the number of orders at a table of four


def stream(
    tables: Sequence[Sequence[PolicyLike]],
    games: int,
    *,
    rules: Rules | str,
    encoding: str | Encoding,
    heads: Sequence[str] | None = None,
    seed: int = 0,
    threads: int | None = None,
    batch: int = BATCH,
    first: int = 0,
    reward: str = "win",
    turn_limit: int = TURN_LIMIT,
) -> Iterator[Experiences]:
    """Play games of compiled policies and yield their decisions, a batch of games at a time.

    The next batch is played in the background while you work on this one. Closing the iterator
    stops that. The sequence of experiences does not depend on threads and batches.

    Args:
        tables: Seatings of the same number of players, used in turn, each in all different orders
            of seats in turn (see `seatings`). A seating lists compiled policies: names, files or
            objects.
        games: Number of games in the whole stream.
        rules: A preset or `Rules`.
        encoding: The encoding of the observations: a name, or an `Encoding`.
        heads: Record only decisions in which an action of one of these heads is legal, whatever the
            player then did. None: all decisions; each has two legal actions or more.
        seed: 0 to 2**32 - 1; it decides all dice, cards and draws of policies.
        threads: Number of threads; by default one per core.
        batch: Games per yielded set, except in the last one.
        first: The number of the game to begin with, to continue a stream.
        reward: What `outcome` holds: a reward that is paid at the end, such as `win`, `rank` or
            `net_worth`.
        turn_limit: Turns of each player after which the score decides a game.

    Yields:
        The experiences of `batch` games; they may be empty if `heads` is given.

    Raises:
        ConfigurationError: A wrong number, name, head or encoding; no table, tables of different
            sizes, or a policy that is not compiled.
        RulesError: Wrong rules.
        IllegalActionError: A policy chose an illegal action or never ended its turn.
    """
    for name, given, low, high in (
        ("games", games, 1, MAX_GAMES), ("seed", seed, 0, MAX_SEED), ("batch", batch, 1, 1 << 24),
        ("first", first, 0, games), ("turn_limit", turn_limit, 1, 1 << 24),
    ):  # fmt: skip
        whole_number(name, given, low, high)
    if threads is not None:
        whole_number("threads", threads, 1, 1024)
    setup = _Setup(tables, Rules.coerce(rules), encoding, heads, seed, reward, turn_limit)
    starts = iter(range(first, games, batch))
    return _batches(
        setup, (range(start, min(start + batch, games)) for start in starts), number_of(threads)
    )


def seatings(tables: Sequence[Sequence[PolicyLike]]) -> tuple[tuple[str, ...], NDArray[np.int16]]:
    """The policies' names, and (L, P) their numbers by seat: row g mod L is game g's seating.

    Tables take turns. Each time that a table is used, its policies sit in another order: tables of
    2 to 4 go through all different orders, larger ones through all rotations of one order.

    Raises:
        ConfigurationError: As for `stream`.
    """
    seating = _Seating(tables)
    return tuple(policy.name for policy in seating.policies), seating.seats


def _batches(setup: _Setup, batches: Iterator[range], threads: int) -> Iterator[Experiences]:
    """Yield each batch while the next one is played."""
    pool = ThreadPoolExecutor(threads, "stream")

    def begin() -> list[Future[list[Experiences]]]:
        numbers = next(batches, range(0))
        return [
            pool.submit(setup.play, numbers[part.start : part.stop])
            for part in parts_of(len(numbers), _SLICE, threads)
        ]

    try:
        ahead = begin()
        while ahead:
            parts = [part for future in ahead for part in future.result()]
            ahead = begin()
            yield Experiences.joined(parts)
    finally:
        pool.shutdown(cancel_futures=True)


class _Seating:
    """The K policies of all tables, and their (L, P) seats; see `seatings`."""

    def __init__(self, tables: Sequence[Sequence[PolicyLike]]) -> None:
        if (
            isinstance(tables, str)
            or not len(tables)
            or any(isinstance(table, str) for table in tables)
        ):
            raise ConfigurationError(
                f"tables={tables!r} must be seatings, such as [('strategic',"
                " 'strategic/cautious')]."
            )
        players = len(tables[0])
        for table in tables:
            if len(table) != players or not MIN_PLAYERS <= players <= MAX_PLAYERS:
                raise ConfigurationError(
                    f"Every table must seat the same number of players, {MIN_PLAYERS} to"
                    f" {MAX_PLAYERS}, not {players} and {len(table)}."
                )
        named = resolve_all([policy for table in tables for policy in table])
        given = [compiled(policy) for policy in named]
        self.policies = list(dict.fromkeys(given))
        numbers = np.array([self.policies.index(policy) for policy in given], np.int16)
        self.seats = _cycle(numbers.reshape(-1, players))


def _cycle(tables: NDArray[np.int16]) -> NDArray[np.int16]:
    """(L, P), the seats of consecutive games until they repeat: tables and their orders in turn."""
    orders = []
    for table in tables:
        seats, seeds = arrangements(table, _ALL_ORDERS, 0)
        orders.append(seats[seeds == 0])
    rounds = math.lcm(*map(len, orders))
    return np.array(
        [of_table[number % len(of_table)] for number in range(rounds) for of_table in orders],
        np.int16,
    )


class _Setup:
    """The setup of all games of a stream; threads share it."""

    def __init__(
        self, tables: Sequence[Sequence[PolicyLike]], rules: Rules, encoding: str | Encoding,
        heads: Sequence[str] | None, seed: int, reward: str, turn_limit: int,
    ) -> None:  # fmt: skip
        seating = _Seating(tables)
        self.policies = seating.policies
        self.seats = seating.seats.astype(np.int64)
        self.num_players = self.seats.shape[1]
        self.encoding = encodings.fitting(encoding, self.num_players)
        self.seed = seed
        self.outcome = _outcome(reward)
        self.rules = rules
        self._players = Players.of(seating.policies)
        self._turn_limit = turn_limit
        self._actions = _words(heads)

    def play(self, numbers: range) -> list[Experiences]:
        """The experiences of the games with these consecutive numbers, in parts."""
        at = np.arange(numbers.start, numbers.stop)
        running = Running.begin(
            self._players, self.seats[at % len(self.seats)], at,
            seed=self.seed, rules=self.rules, turn_limit=self._turn_limit,
        )  # fmt: skip
        shortfall = np.zeros(running.seats.shape, np.int64)
        features = self.encoding.size
        wanted = Wanted(self._actions, self.encoding.handle, np.zeros(features, np.float32))
        parts = Experiences.written(
            lambda rows: record_games(running, shortfall, wanted, rows), _ROWS, features=features
        )
        running.check(self.policies)
        outcome, worth = np.zeros((2, *running.seats.shape), np.float32)
        write_ends(self.outcome.terms, running.games, shortfall, outcome, worth)
        return [
            part._replace(
                outcome=outcome[part.game, part.player],
                final_worth=worth[part.game, part.player],
                game=part.game + np.int32(numbers.start),
            )
            for part in parts
        ]


def _outcome(reward: str) -> Reward:
    """A reward that tells how a game ended."""
    made = rewards.make(reward)
    if made.each_step:
        final = [name for name in rewards.names() if not rewards.make(name).each_step]
        raise ConfigurationError(
            f"Reward {reward!r} is paid at every step, so it is no outcome of a game."
            f" {nearest(reward, final)}"
        )
    return made


def _words(heads: Sequence[str] | None) -> NDArray[np.int64]:
    """(7,) int64, the actions of these heads, or of all, as bits, 32 per word like `game.legal`."""
    if isinstance(heads, str) or (heads is not None and not len(heads)):
        raise ConfigurationError(
            f"heads={heads!r} must name heads, such as ('buy',), or be None for all decisions."
            f" {nearest(heads, HEAD_NAMES)}"
        )
    words = np.zeros(-(-NUM_ACTIONS // 32), np.int64)
    for head in HEAD_NAMES if heads is None else heads:
        for action in range(HEADS[head].start, HEADS[head].stop):
            words[action >> 5] |= 1 << (action & 31)
    return words
