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
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.arena.counting import net_worth
from agents.arena.seating import arrangements
from monopoly_env import encoding as encodings
from monopoly_env import rewards
from monopoly_env.actions import A_TURN, HEAD_NAMES, HEADS, NUM_ACTIONS
from monopoly_env.core import illegal
from monopoly_env.encoding import Encoding
from monopoly_env.engine import agenda
from monopoly_env.engine.players import finish, solvent_seats
from monopoly_env.engine.sets import size
from monopoly_env.engine.setup import start
from monopoly_env.engine.step import answer, is_legal, settle_one, write_mask
from monopoly_env.errors import ConfigurationError, EngineError, IllegalActionError, nearest
from monopoly_env.game import BY_CAP, MAX_PLAYERS, MIN_PLAYERS, Game, Games, empty_games
from monopoly_env.kernels import array_kernel, borrowed, entry, kernel
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy, kernel_list, padded_rows
from monopoly_env.policy.resolve import PolicyLike, resolve_all
from monopoly_env.rules import Rules
from training.experience.replay import PACKED

BLOCK: Final = 128  # games that are played ahead: memory that is used again and again is five times as fast as fresh memory
TURN_LIMIT: Final = 1000
PATIENCE: Final = 10_000  # decisions within one turn after which a policy is held to be stuck
MAX_SEED: Final = (1 << 32) - 1  # game seeds are 64 bits: the seed above, the number of the game below
MAX_GAMES: Final = (1 << 31) - 1

_SLICE: Final = 16  # games a thread plays at a time at most: their records stay in its cache
_ROWS: Final = 1024  # decisions written down before they are taken away: they stay in the cache
_FINE: Final = -1  # no illegal action
_STUCK: Final = -2
_ALL_ORDERS: Final = 24  # as many orders as a table of four has

# What the compiled loop keeps of a game under way.
_DESK: Final = np.dtype(
    (
        np.record,
        [
            ("illegal", np.int64),  # _FINE, the illegal action that stopped the game, or _STUCK
            ("short", np.int64, (MAX_PLAYERS,)),  # of those who left: cash less the debt that ruined them, dollars
            ("turn", np.int32),  # the last turn seen
            ("patience", np.int32),  # decisions left in it
        ],
    )
)
_OWING: Final = np.isin(np.arange(agenda.LAST_TASK + 1), [agenda.DEBT, agenda.CHARGE, agenda.PAY_EACH, agenda.COLLECT_EACH])
_REVERSED: Final = np.packbits(np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)[:, ::-1], axis=1).ravel()


class Experiences(NamedTuple):
    """N decisions, of whole games, in the order of games and then of time.

    Attributes:
        observation: (N, D) float16, what the deciding player saw. Flags are exact in it, amounts to a part in 2,000.
        choices: (N, 26) uint8, what was legal: a packed (N, 205) mask (`training.experience.replay.unpack`).
        action: (N,) int16, what he did.
        decision: (N,) int8, what was asked: an index into `monopoly_env.actions.DECISION_NAMES`.
        player: (N,) int8, his seat.
        game: (N,) int32, the number of the game in the stream; its seed and its seats follow from it.
        outcome: (N,) float32, how the game ended for him, by the reward of the stream. `win`: 1 for the winner, -1/(P-1) for each other.
        worth: (N, 2) float32, dollars when he decided: his net worth (cash, printed prices of his lots, purchase prices of his own
            buildings), and the cash alone.
        final_worth: (N,) float32, dollars: his net worth when the game ended. Of a bankrupt player, his cash less the debt that
            ruined him: below zero, and never so for a solvent one unless the rules let cash fall below zero.
    """

    observation: NDArray[Any]
    choices: NDArray[Any]
    action: NDArray[Any]
    decision: NDArray[Any]
    player: NDArray[Any]
    game: NDArray[Any]
    outcome: NDArray[Any]
    worth: NDArray[Any]
    final_worth: NDArray[Any]

    @classmethod
    def room(cls, count: int, features: int) -> Experiences:
        """Room for `count` experiences, not yet filled."""
        return cls(
            observation=np.empty((count, features), np.float16),
            choices=np.empty((count, PACKED), np.uint8),
            action=np.empty(count, np.int16),
            decision=np.empty(count, np.int8),
            player=np.empty(count, np.int8),
            game=np.empty(count, np.int32),
            outcome=np.empty(count, np.float32),
            worth=np.empty((count, 2), np.float32),
            final_worth=np.empty(count, np.float32),
        )

    @classmethod
    def joined(cls, parts: Sequence[Experiences]) -> Experiences:
        """Several sets, one after the other."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def take(self, rows: Any) -> Experiences:
        """Some of the rows."""
        return Experiences(*(column[rows] for column in self))

    @property
    def size(self) -> int:
        """N; `len` counts the columns."""
        return len(self.action)


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
    stage = _Stage(tables, Rules.coerce(rules), encoding, heads, seed, reward, turn_limit)
    starts = iter(range(first, games, block))
    return _blocks(stage, (range(start, min(start + block, games)) for start in starts), threads or os.cpu_count() or 1)


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
    cast = _Cast(tables)
    return tuple(policy.name for policy in cast.policies), cast.seats


def _blocks(stage: _Stage, blocks: Iterator[range], threads: int) -> Iterator[Experiences]:
    """Yield a block while the next one is played."""
    pool = ThreadPoolExecutor(threads, "stream")

    def begin() -> list[Future[list[Experiences]]]:
        numbers = next(blocks, range(0))
        part = max(1, min(_SLICE, -(-len(numbers) // (4 * threads))))  # so short that no thread waits long for the last one
        return [pool.submit(stage.play, numbers[start : start + part]) for start in range(0, len(numbers), part)]

    try:
        ahead = begin()
        while ahead:
            parts = [part for future in ahead for part in future.result()]
            ahead = begin()
            yield Experiences.joined(parts)
    finally:
        pool.shutdown(cancel_futures=True)


class _Cast:
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


class _Stage:
    """All that is the same for the games of a stream; threads share it."""

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
        cast = _Cast(tables)
        self.policies = cast.policies
        self.seats = cast.seats.astype(np.int64)
        self.players = self.seats.shape[1]
        self.encoding = _fitting(encoding, self.players)
        self.seed = seed
        self.outcome = _outcome(reward)
        self._empty = empty_games(1)
        self._empty["rules"] = rules.to_record()
        self._kernels = kernel_list(cast.policies)
        self._params, self._lengths = padded_rows(cast.policies)
        self._reads_mask = np.array([policy.reads_mask for policy in cast.policies])
        self._turn_limit = turn_limit * self.players
        self._wanted = _words(heads)

    def play(self, numbers: range) -> list[Experiences]:
        """Play the games of these numbers, which follow each other; returns what was decided, in parts."""
        games = empty_games(len(numbers))
        _begin(games, self._empty, self.players, self.seed, numbers.start)
        seated = self.seats[np.arange(numbers.start, numbers.stop) % len(self.seats)]
        memory = np.zeros((len(games), self.players, MEMORY))
        desks = np.zeros(len(games), _DESK)
        desks["illegal"] = _FINE
        seen = np.zeros(self.encoding.size, np.float32)
        parts: list[Experiences] = []
        while not parts or parts[-1].size == _ROWS:
            rows = Experiences.room(_ROWS, self.encoding.size)
            count = _play_on(
                games, memory, seated, desks, self._kernels, self._params, self._lengths, self._reads_mask, self._turn_limit,
                self._wanted, self.encoding.code, seen, rows._replace(observation=rows.observation.view(np.uint16)),
            )  # fmt: skip
            parts.append(rows.take(slice(count)))
        self._check(games, desks, numbers, seated)
        outcome, worth = np.zeros((2, len(games), self.players), np.float32)
        _write_ends(self.outcome, games, desks, outcome, worth)
        return [
            part._replace(
                outcome=outcome[part.game, part.player],
                final_worth=worth[part.game, part.player],
                game=part.game + np.int32(numbers.start),
            )
            for part in parts
        ]

    def _check(self, games: Games, desks: NDArray[Any], numbers: range, seated: NDArray[np.int64]) -> None:
        """Raise what went wrong in a game, if anything did."""
        broken = np.flatnonzero(games["fault"])
        if len(broken):
            number, fault = numbers[broken[0]], agenda.FAULTS[games["fault"][broken[0]]]
            raise EngineError(f"The engine broke an invariant in the game of seed {(self.seed << 32) + number}: {fault}. Please report it.")
        wrong = np.flatnonzero(desks["illegal"] != _FINE)
        if len(wrong):
            at = wrong[0]
            game, action = games[at], int(desks["illegal"][at])
            who = f"Policy {self.policies[seated[at, game['player']]].name!r}, game {numbers[at]}"
            if action == _STUCK:
                raise IllegalActionError(f"{who}: {PATIENCE} choices within one turn; the policy never goes on.")
            if not 0 <= action < NUM_ACTIONS:
                raise IllegalActionError(f"{who}: an action that does not exist; they are 0 to {NUM_ACTIONS - 1}.")
            raise IllegalActionError(f"{who}: {illegal(game, action)}")


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


# --- compiled -----------------------------------------------------------------------------------------------------------


@entry()
def _begin(games: Games, empty: Games, players: int, seed: int, first: int) -> None:
    """Begin games of the numbers `first`, `first + 1`, ...: these are the low halves of their seeds, `seed` is the high one."""
    for i in range(len(games)):
        games[i] = empty[0]
        start(games[i], players, first + i, seed)


@entry()
def _play_on(
    games: Games,
    memory: NDArray[np.float64],
    seated: NDArray[np.int64],
    desks: NDArray[Any],
    kernels: Any,
    params: NDArray[np.float64],
    lengths: NDArray[np.int64],
    reads_mask: NDArray[np.bool_],
    turn_limit: int,
    wanted: NDArray[np.int64],
    encoding: int,
    seen: NDArray[np.float32],
    rows: Experiences,
) -> int:
    """Play games on, one after the other, until all have ended or the rows are full.

    Args:
        games: (B,) records.
        memory: (B, P, 64), of each game and seat.
        seated: (B, P), the number of the kernel in each seat.
        desks: (B,) _DESK.
        kernels: K compiled policies.
        params: (K, L), their rows, padded.
        lengths: (K,), the lengths of the rows.
        reads_mask: (K,), whether they read the mask.
        turn_limit: Single turns that may be played before the score decides.
        wanted: (7,), see `_words`.
        encoding: `Encoding.code`.
        seen: (D,), to write an observation into.
        rows: Where decisions are written, observations as uint16, the bits of float16; `game` is counted from 0, what the end brings
            is left out.

    Returns:
        Rows written. As many as there are: the games are to be played on.
    """
    params, memory, seen, rows = borrowed(params), borrowed(memory), borrowed(seen), borrowed(rows)
    mask = np.zeros(NUM_ACTIONS, np.bool_)
    count = 0
    for i in range(len(games)):
        game, desk = games[i], desks[i]
        turn, patience = int(desk.turn), int(desk.patience)
        while game.decision != 0 and game.fault == 0 and desk.illegal == _FINE:
            if count == len(rows.action):
                desk.turn, desk.patience = turn, patience
                return count
            if game.turns != turn:
                turn, patience = int(game.turns), PATIENCE
                if turn > turn_limit:
                    game.turns = turn_limit  # the turn that has begun is not played
                    finish(game, BY_CAP)
                    break
            k = seated[i, game.player]
            if reads_mask[k]:
                write_mask(game, mask)
            action = kernels[k](game, mask, params[k][: lengths[k]], memory[i, game.player])
            patience -= 1
            if not 0 <= action < NUM_ACTIONS or not is_legal(game, action):
                desk.illegal = action if action >= 0 else NUM_ACTIONS - action
            elif patience == 0:
                desk.illegal = _STUCK
            else:
                if _is_wanted(game, wanted):
                    _note(game, i, action, encoding, seen, rows, count)
                    count += 1
                _carry_out(game, action, desk)
    return count


@kernel
def _is_wanted(game: Game, wanted: Any) -> bool:
    for word in range(len(wanted)):  # noqa: SIM110 - compiled
        if int(game.legal[word]) & int(wanted[word]):
            return True
    return False


@kernel
def _note(
    game: Game, number: int, action: int, encoding: int, seen: Any, rows: Experiences, at: int
) -> None:  # fmt: skip
    """Write a decision down."""
    seat = int(game.player)
    encodings.write(encoding, game, seat, seen)
    write_halves(seen, seen.view(np.int32), rows.observation[at])
    for byte in range(PACKED):
        rows.choices[at, byte] = _REVERSED[(int(game.legal[byte >> 2]) >> (8 * (byte & 3))) & 0xFF]
    rows.action[at] = action
    rows.decision[at] = game.decision
    rows.player[at] = seat
    rows.game[at] = number
    rows.worth[at, 0] = net_worth(game, seat)
    rows.worth[at, 1] = game.cash[seat]


@array_kernel
def write_halves(values: Any, words: Any, out: Any) -> None:
    """Round to the nearest float16, ties to even: eight times as fast as NumPy, which does it a number at a time.

    Args:
        values: (D,) float32, of magnitude below 65,520.
        words: (D,) int32, their bits.
        out: (D,) uint16, the bits of the float16.
    """
    for i in range(len(values)):
        word = np.int32(words[i] & np.int32(0x7FFFFFFF))  # all in 32 bits: twice as many fit a register
        odd = np.int32((word >> np.int32(13)) & np.int32(1))
        normal = np.int32(np.int32(word - np.int32(0x38000000 - 0xFFF) + odd) >> np.int32(13))  # another exponent, ten bits
        subnormal = np.int32(np.rint(abs(values[i]) * np.float32(1 << 24)))  # in steps of 2**-24
        half = subnormal if word < np.int32(0x38800000) else normal
        out[i] = half | ((words[i] >> np.int32(16)) & np.int32(0x8000))


@kernel
def _carry_out(game: Game, action: int, desk: Any) -> None:
    """Carry out a legal action as the engine's `apply` does, and note what those who leave could not pay."""
    seat = int(game.player)
    due = int(game.agenda[int(game.depth) - 1, 2])
    short = int(game.cash[seat]) - due
    gives_up = game.decision == agenda.DEBT and action == A_TURN
    answer(game, action)
    if gives_up:
        desk.short[seat] = short
    goes_on = True
    while goes_on and game.depth > 0:
        top = int(game.depth) - 1
        if _OWING[game.agenda[top, 0]]:
            goes_on = _settle_debt(game, top, desk)
        else:
            goes_on = settle_one(game)


@kernel
def _settle_debt(game: Game, top: int, desk: Any) -> bool:
    """Settle the top task, which may ruin its player."""
    task, seat, due = int(game.agenda[top, 0]), int(game.agenda[top, 1]), int(game.agenda[top, 2])
    if game.place[seat] != 0:
        return settle_one(game)
    cash = int(game.cash[seat])
    if task == agenda.PAY_EACH:
        due *= size(solvent_seats(game)) - 1
    elif task == agenda.COLLECT_EACH:
        cash = 0  # ruined by a quirk, though it is he who should have got the sum
    goes_on = settle_one(game)
    if game.place[seat] != 0 and game.lots[seat] == 0:
        desk.short[seat] = cash - due
    return goes_on


@entry()
def _write_ends(outcome: int, games: Games, desks: NDArray[Any], outcomes: NDArray[np.float32], worths: NDArray[np.float32]) -> None:
    """What games that have ended brought to each seat, and what it has then: both (B, P)."""
    for i in range(len(games)):
        rewards.write_final(outcome, games[i], outcomes[i])
        for seat in range(worths.shape[1]):
            short = int(desks[i].short[seat])
            worths[i, seat] = short if short < 0 else net_worth(games[i], seat)
