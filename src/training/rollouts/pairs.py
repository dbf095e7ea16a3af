"""Pairs of rollouts: what another action would have been worth, measured by playing the game to its end with each of the two actions.

Compiled policies play a game to its end, and some decisions of the learner are kept with the state before them. From each of these the
game is played again with the same dice and one other action. The difference between the two results says how much better one action is
than the other, with far less noise than either result has.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.networks.learned.networks import FEATURES, NAMES, NETWORK_OF
from agents.networks.learned.play import LEARNED, first_answer, preferred, weigh
from monopoly_env.actions import HEAD_NAMES, HEAD_OF, NUM_ACTIONS
from monopoly_env.core import new_games
from monopoly_env.engine.randomness import draw
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.engine.step import apply
from monopoly_env.game import Game, Games, empty_games
from monopoly_env.kernels import borrowed, entry, kernel
from monopoly_env.policy.loop import ILLEGAL, OUTSIDE, PROGRESS, WAITING, Players, ask, begin, check, next_action
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy, Row
from monopoly_env.rules import Rules

KEPT: Final = 6  # decisions of a game that are played again, at most
# The share of the learner's decisions of each kind that may be kept: smaller for frequent kinds, or there would be few others.
_RATES: Final = {"buy": 1.0, "bid": 0.1, "turn": 0.15, "jail": 1.0, "offer": 0.03, "reply": 0.4, "debt": 0.1, "place": 1.0, "choice": 0.3}
RATES: Final = np.array([_RATES[name] for name in NAMES])
_LEARNER: Final = 0  # the learner's number among the policies
_ALL_HEADS: Final = (1 << len(HEAD_NAMES)) - 1
_RATE, _PLACE, _ACTION = 16, 17, 18  # streams of random numbers that the engine does not use
_WORDS: Final = float(1 << 32)
_SLICE: Final = 32  # games that a thread plays at a time

PAIR: Final = np.dtype(
    (
        np.record,
        [
            ("game", np.int32),  # the number of the game
            ("network", np.int8),  # the network that values the decision
            ("base", np.int16),  # the parent's action
            ("other", np.int16),  # the other action
            ("open", np.uint8, ((NUM_ACTIONS + 7) // 8,)),  # the actions to choose from, the parent's included; packed as by np.packbits
            ("base_won", np.float32),  # the player's share of the win after the parent's action
            ("other_won", np.float32),  # and after the other action
        ],
    )
)


class _Kept(NamedTuple):
    """The kept decisions of a game: the record and the memories (KEPT, P, 64) before each, the seat, and the action still to try."""

    games: Games
    memory: NDArray[np.float64]
    seat: NDArray[np.int64]
    branch: NDArray[np.int64]

    @classmethod
    def empty(cls, players: int) -> _Kept:
        return cls(empty_games(KEPT), np.zeros((KEPT, players, MEMORY)), np.zeros(KEPT, np.int64), np.zeros(KEPT, np.int64))


class _Buffers(NamedTuple):
    """Buffers for the mask and the values (205,) and the observation (FEATURES,) of a decision, and for the PROGRESS (1,) of a game."""

    mask: NDArray[np.bool_]
    values: NDArray[np.float64]
    seen: NDArray[np.float32]
    progress: NDArray[Any]

    @classmethod
    def empty(cls) -> _Buffers:
        mask, values = np.zeros(NUM_ACTIONS, np.bool_), np.zeros(NUM_ACTIONS)
        return cls(mask, values, np.zeros(FEATURES, np.float32), np.zeros(1, PROGRESS))


@kernel
def _won(game: Game, seat: int) -> float:
    """A player's share of the win."""
    winners = 0
    for other in range(game.num_players):
        winners += game.place[other] == 1
    return 1.0 / winners if game.place[seat] == 1 else 0.0


@kernel
def _nth(bits: int, n: int) -> int:
    """The n-th set bit, counted from 0."""
    for _ in range(n):
        bits &= bits - 1
    return lowest(bits)


@kernel
def _any_other(values: Row, base: int, word: int) -> int:
    """A random action other than the base: first a head, then an action of it, each equally likely."""
    heads = 0
    for action in range(NUM_ACTIONS):
        if action != base and values[action] > -np.inf:
            heads |= 1 << int(HEAD_OF[action])
    head = _nth(heads, word % size(heads))
    word //= size(heads)
    count = 0
    for action in range(NUM_ACTIONS):
        count += action != base and values[action] > -np.inf and HEAD_OF[action] == head
    left = word % count
    for action in range(NUM_ACTIONS):
        if action != base and values[action] > -np.inf and HEAD_OF[action] == head:
            if left == 0:
                return action
            left -= 1
    return base


@kernel
def _best_other(values: Row, base: int) -> int:
    best = -1
    for action in range(NUM_ACTIONS):
        if action != base and values[action] > -np.inf and (best < 0 or values[action] > values[best]):
            best = action
    return best


@kernel
def _pack(values: Row, bits: Any) -> None:
    """Set the bits of the actions that have a value."""
    bits[:] = 0
    for action in range(NUM_ACTIONS):
        if values[action] > -np.inf:
            bits[action >> 3] |= 0x80 >> (action & 7)


@kernel
def _decide(game: Game, memory: Any, own: Row, place: int, number: int, kept: _Kept, buffers: _Buffers, pair: Any) -> int:
    """The learner's action in a decision that its network has valued. If place < KEPT, the state and the other action are kept.

    If the learner departs from its parent, the other action is the parent's; if not, it is the one with the best value or a random one.
    On entry, `base` of the pair is the parent's action, and the memory is that after it, except for the last row: the memory before it.
    """
    seat, base = int(game.player), int(pair["base"])
    chosen, other = preferred(game, base, own, buffers.values), base
    after = memory[seat].copy()
    if chosen == base:
        word = int(draw(game, _ACTION, seat, number))
        greedy = own[LEARNED] != 0 and has(word, 0)
        other = _best_other(buffers.values, base) if greedy else _any_other(buffers.values, base, word >> 1)
    if place < KEPT:
        kept.games[place], kept.seat[place], kept.branch[place] = game, seat, other
        kept.memory[place] = memory[: len(kept.memory[place])]
        if chosen == base:
            kept.memory[place, seat] = memory[-1]
        pair.other = other if chosen == base else chosen
    memory[seat] = after if chosen == base else memory[-1]
    return chosen


@kernel
def _learner_answers(
    game: Game, memory: Any, players: Players, rates: Row, number: int, met: int, kept: _Kept, buffers: _Buffers, seen: Any, pairs: Any
) -> tuple[int, int]:  # fmt: skip
    """The learner's action in a decision of a game, given its number, and how many candidates there have been so far, this one included.

    Candidates are the learner's decisions that may be kept: KEPT of them are, each equally likely. The arrays are those of `_play_main`.
    """
    own = players.params[_LEARNER][: players.lengths[_LEARNER]]
    seat, network = int(game.player), int(NETWORK_OF[game.decision])
    if network < 0 or draw(game, _RATE, seat, number) >= rates[network] * _WORDS:
        return ask(game, players, _LEARNER, memory[seat], buffers.mask), met
    memory[-1] = memory[seat]
    base = first_answer(game, own, memory[seat])
    if not weigh(game, base, _ALL_HEADS, own, memory[seat], buffers.seen, buffers.values):
        return base, met
    place = min(KEPT, met if met < KEPT else int(draw(game, _PLACE, seat, number)) % (met + 1))
    pairs[place]["network"], pairs[place]["base"] = network, base
    if place < KEPT:
        seen[place] = buffers.seen
        _pack(buffers.values, pairs[place]["open"])
    return _decide(game, memory, own, place, number, kept, buffers, pairs[place]), met + 1


@kernel
def _play_main(
    game: Game, memory: Any, others: Any, players: Players, rates: Row, limit: int, progress: Any, kept: _Kept, buffers: _Buffers,
    seen: Any, pairs: Any,
) -> int:  # fmt: skip
    """Play a game to its end and keep some of the learner's decisions; returns how many.

    The last rows of memory (P + 1, 64) and pairs (KEPT + 1,) are buffers; seen is (KEPT, FEATURES). others (P,) holds the numbers of the
    players by seat, and OUTSIDE where the learner sits.
    """
    memory, others, players, buffers = borrowed(memory), borrowed(others), borrowed(players), borrowed(buffers)
    met, number = 0, 1
    while True:
        action = next_action(game, players, others, memory, buffers.mask, progress, limit)
        if action >= 0:
            apply(game, action)
            number += 1
        elif action == WAITING:
            progress.answer, met = _learner_answers(game, memory, players, rates, number, met, kept, buffers, seen, pairs)
            progress.answered = 1
        else:
            return min(met, KEPT)


@kernel
def _play_branch(game: Game, action: int, memory: Any, seats: Any, players: Players, limit: int, buffers: _Buffers) -> None:
    """Carry out an action and play the game to its end."""
    memory, seats, players, buffers = borrowed(memory), borrowed(seats), borrowed(players), borrowed(buffers)
    progress = buffers.progress[0]
    begin(progress)
    while action >= 0:
        apply(game, action)
        action = next_action(game, players, seats, memory, buffers.mask, progress, limit)


@entry()
def _play(
    games: Games, progress: NDArray[Any], seats: NDArray[np.int64], players: Players, rates: Row, limit: int, kept: _Kept,
    buffers: _Buffers, seen: NDArray[np.float32], pairs: NDArray[Any], count: NDArray[np.int64],
) -> None:  # fmt: skip
    """Play games, then play each again from its kept decisions.

    Args:
        games: (B,) records of new games. If a game fails, its record is left as it was then.
        progress: (B,) PROGRESS.
        seats: (B, P), the number of the player in each seat.
        players: The policies.
        rates: (networks,), the share of the learner's decisions that may be kept.
        limit: Turns of all players together after which the score decides a game.
        kept: A buffer for the decisions of a game.
        buffers: Buffers for one decision.
        seen: (B, KEPT, FEATURES) float32, receives the observations.
        pairs: (B, KEPT + 1) PAIR, receives the pairs; the last of each row is a buffer.
        count: (B,), receives the number of kept decisions of each game.
    """
    seats, players, rates, kept, buffers = borrowed(seats), borrowed(players), borrowed(rates), borrowed(kept), borrowed(buffers)
    seen, pairs = borrowed(seen), borrowed(pairs)
    memory = np.zeros((seats.shape[1] + 1, MEMORY))
    for i in range(len(games)):
        memory[:] = 0.0
        others = np.where(seats[i] == _LEARNER, OUTSIDE, seats[i])
        count[i] = _play_main(games[i], memory, others, players, rates, limit, progress[i], kept, buffers, seen[i], pairs[i])
        if progress[i].stop <= ILLEGAL:
            continue
        for place in range(count[i]):
            pair, game, seat = pairs[i, place], kept.games[place], kept.seat[place]
            _play_branch(game, kept.branch[place], kept.memory[place], seats[i], players, limit, buffers)
            if buffers.progress[0].stop <= ILLEGAL:
                games[i], progress[i] = game, buffers.progress[0]
                break
            main, side = _won(games[i], seat), _won(game, seat)
            by_parent = kept.branch[place] == pair["base"]
            pair.base_won, pair.other_won = (side, main) if by_parent else (main, side)


class League(NamedTuple):
    """The policies and the tables at which they meet.

    Attributes:
        policies: The policies; the first is the learner, a `LearnedPolicy`.
        tables: For each table, the number of the policy in each seat.
        rules: The rules of all games.
        rates: (networks,), the share of the learner's decisions of each kind that may be kept.
    """

    policies: Sequence[CompiledPolicy]
    tables: Sequence[Sequence[int]]
    rules: Rules
    rates: NDArray[np.float64] = RATES


class Pairs(NamedTuple):
    """N pairs of rollouts.

    Attributes:
        seen: (N, FEATURES) float16, the player's observation.
        pairs: (N,) PAIR.
    """

    seen: NDArray[np.float16]
    pairs: NDArray[Any]

    @classmethod
    def joined(cls, parts: Iterable[Pairs]) -> Pairs:
        """Several sets of pairs as one, in the same order."""
        seen, pairs = zip(*parts, strict=True)
        return cls(np.concatenate(seen), np.concatenate(pairs))


def collect(league: League, games: int, seed: int, limit: int, threads: int | None = None) -> Pairs:
    """Play games, with the tables of the league in turn and in all rotations of seats, and play each again from some decisions.

    Args:
        league: The policies and tables.
        games: Number of games.
        seed: 0 to 2**32 - 1.
        limit: Turns of each player after which the score decides a game.
        threads: Number of threads; by default one per core. The pairs do not depend on it.

    Raises:
        IllegalActionError: A policy chose an illegal action or never ended its turn.
    """
    players = Players.of(league.policies)
    parts = []
    for table in range(len(league.tables)):
        numbers = np.arange(table, games, len(league.tables))
        parts += [(table, numbers[start : start + _SLICE]) for start in range(0, len(numbers), _SLICE)]
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        return Pairs.joined(pool.map(lambda part: _collect(league, players, part[0], part[1], seed, limit), parts))


def _collect(league: League, players: Players, table: int, numbers: NDArray[np.int64], seed: int, limit: int) -> Pairs:
    """The pairs of some games of one table."""
    table_seats, count = league.tables[table], len(numbers)
    seats = np.array([np.roll(table_seats, number // len(league.tables)) for number in numbers], np.int64)
    games = new_games([(seed << 32) + int(number) for number in numbers], seats.shape[1], league.rules)
    progress, kept = np.zeros(count, PROGRESS), np.zeros(count, np.int64)
    pairs, seen = np.zeros((count, KEPT + 1), PAIR), np.zeros((count, KEPT, FEATURES), np.float32)
    pairs["game"] = numbers[:, None]
    _play(
        games, progress, seats, players, league.rates, limit * seats.shape[1],
        _Kept.empty(seats.shape[1]), _Buffers.empty(), seen, pairs, kept,
    )  # fmt: skip
    check(games, progress, lambda game, seat: league.policies[seats[game, seat]])
    there = np.arange(KEPT) < kept[:, None]
    return Pairs(seen[there].astype(np.float16), pairs[:, :KEPT][there])
