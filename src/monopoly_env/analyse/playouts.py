"""Playouts: play a position on, many times, and see who wins.

Playout k draws its dice, and the order of the cards that nobody has seen, from the seed and k
alone. So two positions, or two actions in the same position, are compared over the same luck, and
the result does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core
from monopoly_env.analyse import values
from monopoly_env.analyse.values import Value, write_shares
from monopoly_env.engine.agenda import OVER, SEALED_BID
from monopoly_env.engine.auction import forget_sealed_bids
from monopoly_env.engine.decks import shuffle_unseen
from monopoly_env.engine.step import apply, settle
from monopoly_env.errors import ConfigurationError, GameOverError, shortened, whole_number
from monopoly_env.game import Game, Games
from monopoly_env.intervals import CONFIDENCE, wilson
from monopoly_env.kernels import borrowed, entry, kernel
from monopoly_env.kernels.philox import philox, split_seeds
from monopoly_env.kernels.signatures import Array1, Array2, Array3
from monopoly_env.kernels.threads import in_order, number_of, parts_of
from monopoly_env.policy.loop import ILLEGAL, NO_LIMIT, Players, Running, begin, next_action
from monopoly_env.policy.names import PolicyLike, compiled, resolve_all
from monopoly_env.policy.protocol import CompiledPolicy

NO_ACTION: Final = -1  # instead of a first action: the policy to move chooses
MOST_PLAYOUTS: Final = 1 << 24  # of a position
# turns of each player, counted from the position, after which the score decides
TURN_LIMIT: Final = 1000
# the stream of random numbers from which playouts get their seeds; the engine does not use it
_SEEDS: Final = 20
_SEATING: Final = 21  # and the one from which the policies of a mixture are drawn
_WORD: Final = 0xFFFFFFFF
_SLICE: Final = 64  # playouts that a thread plays at a time

Mixture: TypeAlias = PolicyLike | Sequence[PolicyLike] | Mapping[PolicyLike, float]


class _Setting(NamedTuple):
    """The arguments of all playouts of a call, as the kernel reads them."""

    rounds: int  # after so many a playout is cut off; NO_LIMIT: never
    shuffles: bool  # whether the order of unseen cards is drawn anew
    value: int  # `ValueKernel.handle`
    params: Array1[np.float32]  # of the value
    key_low: int
    key_high: int
    first: int  # the number of the first playout


class _Positions(NamedTuple):
    """The positions that are played on."""

    games: Games  # (B,)
    actions: Array1[np.int64]  # (B,) the first actions, or NO_ACTION
    seats: Array2[np.int16]  # (N, P) the number of the policy in each seat of each playout


class _Results(NamedTuple):
    """The results, by position and playout."""

    shares: Array3[np.float32]  # (B, N, P)
    # (B, N, P), twice each place, since those who tie share the mean of theirs
    doubled: Array3[np.uint8]
    turns: Array2[np.int32]  # (B, N)
    cut: Array2[np.bool_]  # (B, N)

    @classmethod
    def empty(cls, positions: int, count: int, players: int) -> _Results:
        shape, by_seat = (positions, count), (positions, count, players)
        shares, doubled = np.zeros(by_seat, np.float32), np.zeros(by_seat, np.uint8)
        return cls(shares, doubled, np.zeros(shape, np.int32), np.zeros(shape, np.bool_))


@dataclass(frozen=True, eq=False)
class Playouts:
    """The results of N playouts from a position of P players; of B positions, with B as first axis.

    Attributes:
        shares: (N, P) float32, each seat's share of the win: 1 for the winner, equal shares in a
            draw, the value where it was cut off.
        doubled_places: (N, P) uint8, twice each seat's place (`places`).
        turns: (N,) int32, turns played, of all players together.
        cut: (N,) bool, whether the playout was cut off.
        confidence: The confidence level of the interval.
    """

    shares: NDArray[np.float32]
    doubled_places: NDArray[np.uint8]
    turns: NDArray[np.int32]
    cut: NDArray[np.bool_]
    confidence: float = CONFIDENCE

    @property
    def count(self) -> int:
        """N, the playouts of each position."""
        return int(self.shares.shape[-2])

    @cached_property
    def share(self) -> NDArray[np.float64]:
        """(P,), the mean share of the win of each seat. They add up to 1."""
        return np.asarray(self.shares.mean(axis=-2, dtype=np.float64))

    @cached_property
    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The bounds of each share: two (P,), by Wilson's interval."""
        return wilson(self.share * self.count, self.count, self.confidence)

    @property
    def places(self) -> NDArray[np.float64]:
        """(N, P), each seat's place: 1 for the winner, P for the first to leave, ties their mean.

        Where a playout was cut off, players still in the game are placed by their shares.
        """
        return self.doubled_places / 2

    @cached_property
    def place(self) -> NDArray[np.float64]:
        """(P,), the mean place of each seat. They add up to P (P + 1) / 2."""
        return np.asarray(self.doubled_places.mean(axis=-2) / 2)

    def __str__(self) -> str:
        if self.shares.ndim > 2:
            return f"Playouts of {len(self.shares)} positions, {self.count:,} each"
        low, high = self.interval
        rows = [
            f"player {s}: {x:.3f} ({a:.3f} to {b:.3f})"
            for s, (x, a, b) in enumerate(zip(self.share, low, high, strict=True))
        ]
        about = f"{self.count:,} playouts of {self.turns.mean():.0f} turns"
        return "\n".join([*rows, f"{about}, {self.cut.mean():.0%} of them cut off"])


def rollout(  # noqa: PLR0913 - the options of playouts
    game: Game | Games,
    policies: Mixture | Sequence[Mixture] = "expert",
    n: int = 1000,
    *,
    actions: int | Sequence[int] | NDArray[np.int64] | None = None,
    seed: int = 0,
    first: int = 0,
    turns: int | None = None,
    value: str | Value = "worth",
    shuffle: bool = True,
    threads: int | None = None,
) -> Playouts:
    """Play a position on, `n` times. The game itself is not changed.

    Hidden information is drawn anew for every playout: dice, the order of unseen cards, and, where
    the player to move writes a sealed bid, those of the others, which their policies write again.
    Forced throws stay. Policies begin with an empty memory, as in a new game.

    Examples:
        >>> import monopoly_env as me
        >>> game = me.position(2, lots={0: ["Park Place", "Boardwalk"]})
        >>> me.rollout(game, "algorithmic", n=100).shares.shape
        (100, 2)

    Args:
        game: A record, or (B,) records of the same number of players, none of them over.
        policies: The compiled policy of every seat; or a list of one for each seat, with a list
            of several, or a mapping to weights, where each playout is to draw one.
        n: Playouts of each position.
        actions: The first action, for each position. None: the policy to move chooses it.
        seed: 0 to 2**64 - 1.
        first: The number of the first playout: 0 to 99 and 100 to 199 together are 0 to 199.
        turns: Rounds after which a playout is cut off and its state valued. None: never.
        value: The value of such a state: "worth", "best" (`agents.values`, tables of 2 to 4), or
            a `Value`.
        shuffle: Whether unseen cards and sealed bids are drawn anew, or stay as in the record.
        threads: Number of threads; by default one per core. The result does not depend on it.

    Returns:
        The results, without the axis of positions if a single record was given.

    Raises:
        ConfigurationError: A wrong number, policy or value, or an array that is not of games.
        GameOverError: A game is over.
        IllegalActionError: An action is not legal, or a policy chose an illegal one.
        PositionError: A record is invalid.
    """
    single = not (isinstance(game, np.ndarray) and game.ndim == 1)
    games = core.batch_of(game, write=False) if single else game
    games, players = _checked(games)
    firsts = _first_actions(games, actions)
    _check_options(n, first, turns, threads, shuffle)
    low, high = (int(word) for word in split_seeds([seed])[0])
    state = values.resolve(value)
    state.check_players(players)
    seated, seats = _seat(policies, players, n, first, (low, high))
    rounds, handle = NO_LIMIT if turns is None else int(turns), state.kernel.handle
    setting = _Setting(rounds, bool(shuffle), handle, state.params, low, high, int(first))
    results = _Results.empty(len(games), n, players)
    seating = Players.of(seated)

    def play(numbers: range) -> None:
        running = Running.room((1, players), seating, TURN_LIMIT)
        positions = _Positions(games, firsts, seats)
        _play_out(running, positions, numbers.start, numbers.stop, setting, results)
        running.check(seated)

    parts = parts_of(len(games) * n, _SLICE, threads)
    if number_of(threads) == 1:
        for part in parts:
            play(part)
    else:
        list(in_order(play, parts, threads, "playouts"))
    at: Any = 0 if single else ...
    return Playouts(*(array[at] for array in results))


def _check_options(
    n: int, first: int, turns: int | None, threads: int | None, shuffle: bool
) -> None:
    whole_number("n", n, 1, MOST_PLAYOUTS)
    whole_number("first", first, 0, 1 << 31)
    for name, given, most in (("turns", turns, 1 << 24), ("threads", threads, 1024)):
        if given is not None:
            whole_number(name, given, 1, most)
    if not isinstance(shuffle, (bool, np.bool_)):
        raise ConfigurationError(f"shuffle={shortened(shuffle)} must be True or False.")


def _checked(games: Games) -> tuple[Games, int]:
    """The games to read, and the number of players of all."""
    games = core.check_sound(games)
    players = {int(count) for count in games["num_players"]}
    if len(players) != 1:
        given = sorted(players) or "no game at all"
        raise ConfigurationError(f"The games must have the same number of players, not {given}.")
    over = np.flatnonzero(games["decision"] == OVER)
    if len(over):
        raise GameOverError(f"Game {over[0]} of {len(games)} is over: there is nothing to play on.")
    return games, players.pop()


def _first_actions(games: Games, actions: Any) -> NDArray[np.int64]:
    """(B,) first actions, checked."""
    if actions is None:
        return np.full(len(games), NO_ACTION)
    given = np.atleast_1d(np.asarray(actions))
    if given.shape != games.shape or given.dtype.kind not in "iu":
        raise ConfigurationError(
            f"actions must be {len(games)} whole numbers, one a game, not {actions!r:.80}."
        )
    for game, action in zip(games, given, strict=True):
        core.check_step(game, int(action))
    return given.astype(np.int64)


def _seat(
    policies: Any, players: int, n: int, first: int, key: tuple[int, int]
) -> tuple[list[CompiledPolicy], NDArray[np.int16]]:
    """The policies, and (n, P) the number of the one in each seat in each playout."""
    everywhere = not isinstance(policies, (list, tuple))
    mixtures = [policies] * players if everywhere else list(policies)
    if len(mixtures) != players:
        given = f"{len(mixtures)} policies are given for {players} seats"
        raise ConfigurationError(f"{given}: give one for all, or one a seat.")
    choices = [_weights(mixture) for mixture in mixtures]
    resolved = resolve_all([policy for choice, _ in choices for policy in choice])
    seated: list[CompiledPolicy] = []
    seats, left = np.zeros((n, players), np.int16), iter(resolved)
    for seat, (choice, weights) in enumerate(choices):
        options = np.zeros(len(choice), np.int64)
        for place in range(len(choice)):
            policy = compiled(next(left))
            if policy not in seated:
                seated.append(policy)
            options[place] = seated.index(policy)
        _draw_policies(options, np.cumsum(weights)[:-1], seat, first, key[0], key[1], seats)
    return seated, seats


def _weights(mixture: Any) -> tuple[list[Any], NDArray[np.float64]]:
    """The policies of a mixture, and their weights, which add up to 1."""
    if isinstance(mixture, Mapping):
        choice = list(mixture)
        try:
            weights = np.array(list(mixture.values()), np.float64)
        except (TypeError, ValueError) as error:
            raise ConfigurationError(
                f"The weights of a mixture must be numbers, not {list(mixture.values())!r:.80}."
            ) from error
    else:
        choice = list(mixture) if isinstance(mixture, (list, tuple)) else [mixture]
        weights = np.ones(len(choice))
    if not choice:
        raise ConfigurationError("A mixture needs a policy or more; one is empty.")
    if not (np.isfinite(weights).all() and weights.min() >= 0 and weights.sum() > 0):
        what = "The weights of a mixture must be 0 or more, and one of them above 0"
        raise ConfigurationError(f"{what}, not {weights.tolist()}.")
    return choice, weights / weights.sum()


@entry
def _draw_policies(  # noqa: PLR0917 - compiled
    options: Array1[np.int64],
    bounds: Array1[np.float64],
    seat: int,
    first: int,
    key_low: int,
    key_high: int,
    seats: Array2[np.int16],
) -> None:
    """Draw a policy for a seat in each playout; `bounds` are cumulated weights but the last."""
    for k in range(len(seats)):
        drawn = philox((first + k) & _WORD, seat, 0, _SEATING, key_low, key_high) / 2**32
        choice = 0
        while choice < len(bounds) and drawn >= bounds[choice]:
            choice += 1
        seats[k, seat] = options[choice]


@entry
def _play_out(
    running: Running, positions: _Positions, start: int, stop: int, setting: _Setting,
    results: _Results,
) -> None:  # fmt: skip
    """Play playouts `start` to `stop`, first position first; a failed game stays in `running`."""
    running, positions = borrowed(running), borrowed(positions)
    setting, results = borrowed(setting), borrowed(results)
    count, shares = len(positions.seats), np.zeros(positions.seats.shape[1])
    game, stage, seats = running.games[0], running.progress[0], running.seats[0]
    for number in range(start, stop):
        b, k = number // count, number % count
        running.games[0] = positions.games[b]
        running.memory[:] = 0.0
        seats[:] = positions.seats[k]
        begin(stage)
        _reseed(game, setting, k)
        begun, horizon = int(game.turns), int(game.rounds) + setting.rounds
        limit = begun + running.turn_limit
        mover, first = int(game.player), int(positions.actions[b])
        if setting.shuffles:
            _draw_hidden(game)
        while game.rounds < horizon:
            if first >= 0 and game.player == mover:
                action, first = first, NO_ACTION
            else:
                action = next_action(
                    game, running.players, seats, running.memory[0], running.mask, stage, limit
                )
                if action < 0:
                    break
            apply(game, action)
        if stage.stop <= ILLEGAL:
            return
        write_shares(setting.value, game, setting.params, shares)
        results.shares[b, k] = shares
        _write_places(game, shares, results.doubled[b, k])
        results.turns[b, k] = game.turns - begun
        results.cut[b, k] = game.decision != OVER


@kernel
def _reseed(game: Game, setting: Any, k: int) -> None:
    """Give a game the seed of playout `k`."""
    number = int(setting.first) + k
    for word in range(2):
        game.seed[word] = philox(
            number & _WORD, word, number >> 32, _SEEDS, setting.key_low, setting.key_high
        )


@kernel
def _draw_hidden(game: Game) -> None:
    """Draw what the mover can't know: unseen cards, and sealed bids, which are written again."""
    shuffle_unseen(game, 0)
    shuffle_unseen(game, 1)
    if game.decision == SEALED_BID:
        forget_sealed_bids(game)
        settle(game)


@kernel
def _write_places(game: Game, shares: Any, doubled: Any) -> None:
    """Write twice the place of each seat; seats still in the game are ordered by their shares."""
    for seat in range(len(shares)):
        ahead, level = 0, 0
        for other in range(len(shares)):
            if game.place[other] != game.place[seat]:
                ahead += game.place[other] < game.place[seat]  # 0 is still in the game
            elif shares[other] != shares[seat]:
                ahead += shares[other] > shares[seat]
            else:
                level += 1  # the seat itself, too
        doubled[seat] = 2 * ahead + level + 1
