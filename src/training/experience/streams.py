"""Experts' games as data: whole games between compiled policies, their decisions written down as they are made.

    for experiences in stream([("strategic", "strategic/cautious")], 100_000, rules="ocnaru", encoding="ocnaru100", heads=("buy",)):
        learn(experiences.observation, experiences.action, experiences.outcome)

Nothing touches the disk, and memory holds three blocks of games at most: the one that is worked on, the next one, which all
threads play meanwhile, and the same once more while its parts are put together.

Every game has dice of its own: game g of a stream is played with the game seed `(seed << 32) + g`, its seats are row
g mod L of the (L, P) table that `seatings` makes. So an experience depends on the arguments alone, not on threads or blocks.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents.arena.seating import arrangements
from monopoly_env import encoding as encodings
from monopoly_env import rewards
from monopoly_env.actions import HEAD_NAMES, HEADS, NUM_ACTIONS
from monopoly_env.encoding import Encoding
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.game import MAX_PLAYERS, MIN_PLAYERS, empty_games
from monopoly_env.policy.loop import PROGRESS, Players, check
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy
from monopoly_env.policy.resolve import PolicyLike, resolve_all
from monopoly_env.rules import Rules
from training.experience.recording import Experiences, begin_games, record_games, write_ends

BLOCK: Final = 128  # games that are played ahead: memory that is used again and again is five times as fast as fresh memory
TURN_LIMIT: Final = 1000
MAX_SEED: Final = (1 << 32) - 1  # game seeds are 64 bits: the seed above, the number of the game below
MAX_GAMES: Final = (1 << 31) - 1

_SLICE: Final = 16  # games a thread plays at a time at most: their records stay in its cache
_ROWS: Final = 1024  # decisions written down before they are taken away: they stay in the cache
_ALL_ORDERS: Final = 24  # as many orders as a table of four has


def stream(
    tables: Sequence[Sequence[PolicyLike]],
    games: int,
    *,
    rules: Rules | str,
    encoding: str | Encoding,
    heads: Sequence[str] | None = None,
    seed: int = 0,
    threads: int | None = None,
    block: int = BLOCK,
    first: int = 0,
    reward: str = "win",
    turn_limit: int = TURN_LIMIT,
) -> Iterator[Experiences]:
    """Play games of compiled policies and yield what they decided, a block of games at a time.

    The next block is played in the background while the consumer works on this one. Leaving the iterator early stops that.

    Args:
        tables: Seatings of the same number of players, used in turn, each in all different orders of seats in turn (see `seatings`);
            a seating is compiled policies, by name, file or object.
        games: The games of the whole stream.
        rules: A preset or `Rules`.
        encoding: What is observed: a name, or an `Encoding`.
        heads: Only decisions in which an action of one of these heads is legal, whatever was then done. None: all decisions, each of
            which has two legal actions or more.
        seed: 0 to 2**32 - 1, decides all dice, cards and draws of policies.
        threads: Threads to play on; by default a core each. The experiences do not depend on it.
        block: Games in each set that is yielded, the last one excepted. Their sequence does not depend on it.
        first: The game to begin with, to go on with a stream.
        reward: What `outcome` is: `win`, `rank` or `net_worth`.
        turn_limit: Turns of each player after which the score decides a game.

    Yields:
        The experiences of `block` games; of none if nothing was asked of the heads in them.

    Raises:
        ConfigurationError: A wrong number, name, head or encoding; no table, tables of different sizes, or a policy that is not
            compiled; RulesError: wrong rules.
        IllegalActionError: A policy broke the rules, or never came to an end of its turn.
    """
    for name, given, low, high in (
        ("games", games, 1, MAX_GAMES), ("seed", seed, 0, MAX_SEED), ("block", block, 1, 1 << 24),
        ("first", first, 0, games), ("turn_limit", turn_limit, 1, 1 << 24),
    ):  # fmt: skip
        _check_number(name, given, low, high)
    if threads is not None:
        _check_number("threads", threads, 1, 1024)
    setup = _Setup(tables, Rules.coerce(rules), encoding, heads, seed, reward, turn_limit)
    starts = iter(range(first, games, block))
    return _blocks(setup, (range(start, min(start + block, games)) for start in starts), threads or os.cpu_count() or 1)


def seatings(tables: Sequence[Sequence[PolicyLike]]) -> tuple[tuple[str, ...], NDArray[np.int16]]:
    """Who sits where in the games of a stream.

    Tables take turns; each time that one is used, its policies sit in another order: all different orders at tables of 2 to 4, all
    rotations of one order at larger ones.

    Args:
        tables: As for `stream`.

    Returns:
        The names of the policies, and (L, P) their numbers by seat: game g is seated as row g mod L says.

    Raises:
        ConfigurationError: As for `stream`.
    """
    seating = _Seating(tables)
    return tuple(policy.name for policy in seating.policies), seating.seats


def _blocks(setup: _Setup, blocks: Iterator[range], threads: int) -> Iterator[Experiences]:
    """Yield a block while the next one is played."""
    pool = ThreadPoolExecutor(threads, "stream")

    def begin() -> list[Future[list[Experiences]]]:
        numbers = next(blocks, range(0))
        part = max(1, min(_SLICE, -(-len(numbers) // (4 * threads))))  # so short that no thread waits long for the last one
        return [pool.submit(setup.play, numbers[start : start + part]) for start in range(0, len(numbers), part)]

    try:
        ahead = begin()
        while ahead:
            parts = [part for future in ahead for part in future.result()]
            ahead = begin()
            yield Experiences.joined(parts)
    finally:
        pool.shutdown(cancel_futures=True)


class _Seating:
    """The policies of all tables.

    Attributes:
        policies: K of them, each once.
        seats: (L, P) int16, their numbers: game g is seated as row g mod L says.
    """

    def __init__(self, tables: Sequence[Sequence[PolicyLike]]) -> None:
        if isinstance(tables, str) or not len(tables) or any(isinstance(table, str) for table in tables):
            raise ConfigurationError(f"tables={tables!r} must be seatings, such as [('strategic', 'strategic/cautious')].")
        players = len(tables[0])
        for table in tables:
            if len(table) != players or not MIN_PLAYERS <= players <= MAX_PLAYERS:
                raise ConfigurationError(
                    f"Every table must seat the same number of players, {MIN_PLAYERS} to {MAX_PLAYERS}, not {players} and {len(table)}."
                )
        given = resolve_all([policy for table in tables for policy in table])
        compiled = [policy for policy in dict.fromkeys(given) if isinstance(policy, CompiledPolicy)]
        for policy in given:
            if not isinstance(policy, CompiledPolicy):
                raise ConfigurationError(f"Policy {policy.name!r} is no compiled one: it can't play in the compiled loop of a stream.")
        numbers = np.array([compiled.index(policy) for policy in given if isinstance(policy, CompiledPolicy)], np.int16)
        self.policies = compiled
        self.seats = _cycle(numbers.reshape(-1, players))


def _cycle(tables: NDArray[np.int16]) -> NDArray[np.int16]:
    """(L, P), the seats of game after game until all begins anew: tables in turn, each in its orders in turn."""
    orders = []
    for table in tables:
        seats, unit = arrangements(table, _ALL_ORDERS, 0)
        orders.append(seats[unit == 0])
    rounds = math.lcm(*map(len, orders))
    return np.array([of_table[number % len(of_table)] for number in range(rounds) for of_table in orders], np.int16)


class _Setup:
    """What all games of a stream have in common; threads share it."""

    def __init__(
        self,
        tables: Sequence[Sequence[PolicyLike]],
        rules: Rules,
        encoding: str | Encoding,
        heads: Sequence[str] | None,
        seed: int,
        reward: str,
        turn_limit: int,
    ) -> None:
        seating = _Seating(tables)
        self.policies = seating.policies
        self.seats = seating.seats.astype(np.int64)
        self.num_players = self.seats.shape[1]
        self.encoding = _fitting(encoding, self.num_players)
        self.seed = seed
        self.outcome = _outcome(reward)
        self._empty = empty_games(1)
        self._empty["rules"] = rules.to_record()
        self._players = Players.of(seating.policies)
        self._turn_limit = turn_limit * self.num_players
        self._wanted = _words(heads)

    def play(self, numbers: range) -> list[Experiences]:
        """Play the games of these numbers, which follow each other; returns what was decided, in parts."""
        games = empty_games(len(numbers))
        begin_games(games, self._empty, self.num_players, self.seed, numbers.start)
        seats = self.seats[np.arange(numbers.start, numbers.stop) % len(self.seats)]
        memory = np.zeros((len(games), self.num_players, MEMORY))
        progress, shortfall = np.zeros(len(games), PROGRESS), np.zeros((len(games), self.num_players), np.int64)
        mask, seen = np.zeros(NUM_ACTIONS, np.bool_), np.zeros(self.encoding.size, np.float32)
        parts: list[Experiences] = []
        while not parts or parts[-1].size == _ROWS:
            rows = Experiences.empty(_ROWS, self.encoding.size)
            count = record_games(
                games, memory, seats, progress, shortfall, self._players, mask, self._turn_limit,
                self._wanted, self.encoding.code, seen, rows._replace(observation=rows.observation.view(np.uint16)),
            )  # fmt: skip
            parts.append(rows.take(slice(count)))
        check(games, progress, lambda game, seat: self.policies[seats[game, seat]])
        outcome, worth = np.zeros((2, len(games), self.num_players), np.float32)
        write_ends(self.outcome, games, shortfall, outcome, worth)
        return [
            part._replace(
                outcome=outcome[part.game, part.player],
                final_worth=worth[part.game, part.player],
                game=part.game + np.int32(numbers.start),
            )
            for part in parts
        ]


def _fitting(encoding: str | Encoding, players: int) -> Encoding:
    """The encoding, if it holds what there is to be seen at a table of so many."""
    if not isinstance(encoding, Encoding):
        return encodings.make(encoding, players)
    least = encodings.make(encoding.name, players).size
    if encoding.size < least:
        raise ConfigurationError(f"Encoding {encoding.name!r} of {encoding.size} features has no room for {players} players: {least}.")
    return encoding


def _outcome(reward: str) -> int:
    """The number of a reward at the end of a game."""
    if reward not in rewards.KINDS:
        raise ConfigurationError(f"Unknown reward {reward!r} for an outcome. {nearest(reward, rewards.KINDS)}")
    return tuple(rewards.KINDS).index(reward)


def _words(heads: Sequence[str] | None) -> NDArray[np.int64]:
    """(7,) int64, the actions of these heads as `game.legal` holds them, 32 a word; None: of all heads."""
    if isinstance(heads, str) or (heads is not None and not len(heads)):
        raise ConfigurationError(
            f"heads={heads!r} must name heads, such as ('buy',), or be None for all decisions. {nearest(heads, HEAD_NAMES)}"
        )
    words = np.zeros(-(-NUM_ACTIONS // 32), np.int64)
    for head in HEAD_NAMES if heads is None else heads:
        for action in range(HEADS[head].start, HEADS[head].stop):
            words[action >> 5] |= 1 << (action & 31)
    return words


def _check_number(name: str, given: object, low: int, high: int) -> None:
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or not low <= given <= high:
        raise ConfigurationError(f"{name} must be a whole number from {low} to {high}, not {given!r}.")
