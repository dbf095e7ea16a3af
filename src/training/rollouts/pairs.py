"""Pairs of rollouts: what another action than the policy's own would have been worth, measured by playing both to the end.

A game is played to its end by compiled policies; on the way some decisions of the learner are kept whole. From each of these the
game is played once more, with another action in that one place and the same dice. Both ends together tell by how much one action
is better than the other, with far less noise than either of them tells what it is worth.
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
from monopoly_env.engine.legal import is_legal, write_mask
from monopoly_env.engine.players import finish
from monopoly_env.engine.randomness import draw
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.engine.step import apply
from monopoly_env.errors import IllegalActionError
from monopoly_env.game import BY_CAP, Game, Games, empty_games
from monopoly_env.kernels import borrowed, entry, kernel
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy, Row, kernel_list, padded_rows
from monopoly_env.rules import Rules

KEPT: Final = 6  # decisions of a game that are played again, at most
# The share of the learner's decisions that come into question: frequent kinds less often, or they would drown the rest.
_RATES: Final = {"buy": 1.0, "bid": 0.1, "turn": 0.15, "jail": 1.0, "offer": 0.03, "reply": 0.4, "debt": 0.1, "place": 1.0, "choice": 0.3}
RATES: Final = np.array([_RATES[name] for name in NAMES])
_LEARNER: Final = 0  # its number among the policies
_ALL_HEADS: Final = (1 << len(HEAD_NAMES)) - 1
_RATE, _PLACE, _ACTION = 16, 17, 18  # streams of random numbers: none of the engine's
_ILLEGAL: Final = -1  # as the fault of a game: a policy broke the rules
_WORDS: Final = float(1 << 32)
_SLICE: Final = 32  # games of a thread at a time

PAIR: Final = np.dtype(
    (
        np.record,
        [
            ("game", np.int32),  # its number
            ("network", np.int8),  # whose decision it is
            ("base", np.int16),  # the parent's answer
            ("other", np.int16),  # another action
            ("open", np.uint8, ((NUM_ACTIONS + 7) // 8,)),  # what could be chosen from, the parent's answer too: packed as by np.packbits
            ("base_won", np.float32),  # the player's share of the win where the parent's answer was given
            ("other_won", np.float32),  # and where the other action was taken
        ],
    )
)


class _Policies(NamedTuple):
    """Policies as compiled loops read them: K kernels, their rows (K, L), lengths (K,), and whether they read masks (K,)."""

    kernels: Any
    params: NDArray[np.float64]
    lengths: NDArray[np.int64]
    reads: NDArray[np.bool_]

    @classmethod
    def of(cls, policies: Sequence[CompiledPolicy]) -> _Policies:
        return cls(kernel_list(policies), *padded_rows(policies), np.array([policy.reads_mask for policy in policies]))


class _Room(NamedTuple):
    """The kept decisions of a game: records, memories (KEPT, P, 64), who decided, and the action that is still to be tried."""

    games: Games
    memory: NDArray[np.float64]
    seat: NDArray[np.int64]
    branch: NDArray[np.int64]

    @classmethod
    def empty(cls, players: int) -> _Room:
        return cls(empty_games(KEPT), np.zeros((KEPT, players, MEMORY)), np.zeros(KEPT, np.int64), np.zeros(KEPT, np.int64))


class _Desk(NamedTuple):
    """Room for one decision: mask and values (205,), observation (FEATURES,)."""

    mask: NDArray[np.bool_]
    values: NDArray[np.float64]
    seen: NDArray[np.float32]

    @classmethod
    def empty(cls) -> _Desk:
        return cls(np.zeros(NUM_ACTIONS, np.bool_), np.zeros(NUM_ACTIONS), np.zeros(FEATURES, np.float32))


@kernel
def _won(game: Game, seat: int) -> float:
    """A player's share of the win."""
    winners = 0
    for other in range(game.num_players):
        winners += game.place[other] == 1
    return 1.0 / winners if game.place[seat] == 1 else 0.0


@kernel
def _capped(game: Game, limit: int) -> bool:
    """Whether the turns have run out; the score then decides the game."""
    if game.turns <= limit * int(game.num_players):
        return False
    finish(game, BY_CAP)
    return True


@kernel
def _step(game: Game, memory: Row, seated: Any, policies: _Policies, desk: _Desk) -> None:
    """Let the policy that is to move move; an illegal action becomes a fault of the game. Memory (P, 64) and seated (P,) are the game's."""
    seat = int(game.player)
    k = seated[seat]
    if policies.reads[k]:
        write_mask(game, desk.mask)
    action = policies.kernels[k](game, desk.mask, policies.params[k][: policies.lengths[k]], memory[seat])
    if 0 <= action < NUM_ACTIONS and is_legal(game, action):
        apply(game, action)
    else:
        game.fault = _ILLEGAL


@kernel
def _nth(bits: int, n: int) -> int:
    """The n-th bit that is set."""
    for _ in range(n):
        bits &= bits - 1
    return lowest(bits)


@kernel
def _any_other(values: Row, base: int, word: int) -> int:
    """Another action than the base: any open head, each as likely, and any action of it."""
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
    """Set the bit of each action that has a value."""
    bits[:] = 0
    for action in range(NUM_ACTIONS):
        if values[action] > -np.inf:
            bits[action >> 3] |= 0x80 >> (action & 7)


@kernel
def _decide(game: Game, memory: Any, own: Row, place: int, asked: int, room: _Room, desk: _Desk, pair: Any) -> int:
    """What the agent does in a decision that was weighed; if it is kept, the other action is laid by with the game before it.

    Where the agent departs from its parent, the parent's answer is tried beside; where it does not, an action that looks best, or any.
    On entering, `base` of the pair is the parent's answer, memory is as it was before it in the last row and as after it in the others.
    """
    seat, base = int(game.player), int(pair["base"])
    chosen, other = preferred(game, base, own, desk.values), base
    after = memory[seat].copy()
    if chosen == base:
        word = int(draw(game, _ACTION, seat, asked))
        greedy = own[LEARNED] != 0 and has(word, 0)
        other = _best_other(desk.values, base) if greedy else _any_other(desk.values, base, word >> 1)
    if place < KEPT:
        room.games[place], room.seat[place], room.branch[place] = game, seat, other
        room.memory[place] = memory[: len(room.memory[place])]
        if chosen == base:
            room.memory[place, seat] = memory[-1]
        pair.other = other if chosen == base else chosen
    memory[seat] = after if chosen == base else memory[-1]
    return chosen


@kernel
def _play_main(
    game: Game, memory: Any, seated: Any, policies: _Policies, rates: Row, limit: int, room: _Room, desk: _Desk, seen: Any, pairs: Any
) -> int:  # fmt: skip
    """Play a game to its end and keep some of the learner's decisions, all alike; returns how many.

    memory (P + 1, 64), seen (KEPT, FEATURES), and pairs (KEPT + 1,): the last rows are room.
    """
    memory = borrowed(memory)
    own = policies.params[_LEARNER][: policies.lengths[_LEARNER]]
    met, asked = 0, 0
    while game.decision != 0 and game.fault == 0 and not _capped(game, limit):
        seat, network = int(game.player), int(NETWORK_OF[game.decision])
        asked += 1
        if seated[seat] != _LEARNER or network < 0 or draw(game, _RATE, seat, asked) >= rates[network] * _WORDS:
            _step(game, memory, seated, policies, desk)
            continue
        memory[-1] = memory[seat]
        base = first_answer(game, own, memory[seat])
        if not weigh(game, base, _ALL_HEADS, own, memory[seat], desk.seen, desk.values):
            apply(game, base)
            continue
        met += 1
        place = min(KEPT, met - 1 if met <= KEPT else int(draw(game, _PLACE, seat, asked)) % met)
        pairs[place]["network"], pairs[place]["base"] = network, base
        if place < KEPT:
            seen[place] = desk.seen
            _pack(desk.values, pairs[place]["open"])
        apply(game, _decide(game, memory, own, place, asked, room, desk, pairs[place]))
    return min(met, KEPT)


@entry()
def _play(
    games: Games, seated: Any, policies: _Policies, rates: Row, limit: int, room: _Room, desk: _Desk, seen: Any, pairs: Any, kept: Any
) -> None:  # fmt: skip
    """Play games, and the kept decisions of each once more.

    Args:
        games: (B,) records at their start.
        seated: (B, P) number of the policy in each seat.
        policies: All of them.
        rates: (networks,) the share of the learner's decisions that come into question.
        limit: Turns of each player after which the score decides.
        room: For kept decisions.
        desk: For one.
        seen: (B, KEPT, FEATURES) float32, filled.
        pairs: (B, KEPT + 1) PAIR, filled; the last of each is room.
        kept: (B,), filled: how many of each game.
    """
    policies, room, desk, seen, pairs = borrowed(policies), borrowed(room), borrowed(desk), borrowed(seen), borrowed(pairs)
    memories = np.zeros((len(games), seated.shape[1] + 1, MEMORY))
    for i in range(len(games)):
        kept[i] = _play_main(games[i], memories[i], seated[i], policies, rates, limit, room, desk, seen[i], pairs[i])
        for place in range(kept[i]):
            pair, game, seat = pairs[i, place], room.games[place], room.seat[place]
            main = _won(games[i], seat)
            apply(game, room.branch[place])
            while game.decision != 0 and game.fault == 0 and not _capped(game, limit):
                _step(game, room.memory[place], seated[i], policies, desk)
            games[i].fault |= game.fault
            side = _won(game, seat)
            by_parent = room.branch[place] == pair["base"]
            pair.base_won, pair.other_won = (side, main) if by_parent else (main, side)


class League(NamedTuple):
    """Who meets whom.

    Attributes:
        policies: The learner, a `LearnedPolicy`, is the first.
        tables: A row for each table: the number of the policy in each seat.
        rules: Of all games.
        rates: (networks,) the share of the learner's decisions of each kind that come into question.
    """

    policies: Sequence[CompiledPolicy]
    tables: Sequence[Sequence[int]]
    rules: Rules
    rates: NDArray[np.float64] = RATES


class Pairs(NamedTuple):
    """What was tried.

    Attributes:
        seen: (N, FEATURES) float16, what the player saw.
        pairs: (N,) PAIR.
    """

    seen: NDArray[np.float16]
    pairs: NDArray[Any]

    @classmethod
    def joined(cls, parts: Iterable[Pairs]) -> Pairs:
        """All of them, in their order."""
        seen, pairs = zip(*parts, strict=True)
        return cls(np.concatenate(seen), np.concatenate(pairs))


def collect(league: League, games: int, seed: int, limit: int, threads: int | None = None) -> Pairs:
    """Play games, each table of the league in turn and from all seats, and some of the learner's decisions again.

    Args:
        league: Who plays.
        games: How many.
        seed: 0 to 2**32 - 1.
        limit: Turns of each player after which the score decides a game.
        threads: Cores; all by default. The pairs do not depend on it.
    """
    parts = []
    for table in range(len(league.tables)):
        numbers = np.arange(table, games, len(league.tables))
        parts += [(table, numbers[start : start + _SLICE]) for start in range(0, len(numbers), _SLICE)]
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        return Pairs.joined(pool.map(lambda part: _collect(league, part[0], part[1], seed, limit), parts))


def _collect(league: League, table: int, numbers: NDArray[np.int64], seed: int, limit: int) -> Pairs:
    """The pairs of some games of one table."""
    seats, count = league.tables[table], len(numbers)
    seated = np.array([np.roll(seats, number // len(league.tables)) for number in numbers], np.int64)
    games = new_games([(seed << 32) + int(number) for number in numbers], len(seats), league.rules)
    pairs, seen, kept = np.zeros((count, KEPT + 1), PAIR), np.zeros((count, KEPT, FEATURES), np.float32), np.zeros(count, np.int64)
    pairs["game"] = numbers[:, None]
    policies = _Policies.of(league.policies)  # a list of kernels of its own: the threads would share the count of references to one
    _play(games, seated, policies, league.rates, limit, _Room.empty(len(seats)), _Desk.empty(), seen, pairs, kept)
    if games["fault"].any():
        number = numbers[np.flatnonzero(games["fault"])[0]]
        raise IllegalActionError(f"A policy of the league chose an illegal action in game {number} of seed {seed}.")
    there = np.arange(KEPT) < kept[:, None]
    return Pairs(seen[there].astype(np.float16), pairs[:, :KEPT][there])
