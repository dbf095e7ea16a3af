"""The Python interface to games: start, step, inspect, copy, save."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from monopoly_env import actions
from monopoly_env.engine import decks, invariants, legal, players, setup
from monopoly_env.engine import step as engine_step
from monopoly_env.engine.agenda import FAULTS, OVER
from monopoly_env.errors import (
    ConfigurationError,
    EngineError,
    GameOverError,
    IllegalActionError,
    MonopolyError,
    PositionError,
    whole_number,
)
from monopoly_env.game import GAME, MAX_PLAYERS, MIN_PLAYERS, Game, Games, empty_games
from monopoly_env.kernels import entry
from monopoly_env.kernels.philox import count_seeds, split_seeds
from monopoly_env.kernels.records import as_batch, check_games
from monopoly_env.kernels.signatures import Array1, Array2
from monopoly_env.rules import RULES, Rules

_ILLEGAL: Final = -1  # instead of a violation
# The byte of a record where its rules begin
_RULES_AT: Final[int] = GAME.fields["rules"][1]  # type: ignore[index]
_MOST_HEADER: Final = 1 << 16  # bytes of the JSON of a saved game
_OF_KERNELS: Final = ("C", "A", "W")  # what arrays must be for compiled functions


@entry
def _start_games(games: Games, num_players: int, seeds: Array2[np.int64]) -> None:
    for i in range(len(games)):
        setup.start(games[i], num_players, seeds[i, 0], seeds[i, 1])


@entry
def _apply(games: Games, action: int) -> int:
    """Carry out an action on the first game; else return the violation, or _ILLEGAL."""
    broken = invariants.step_violation(games[0])
    if broken != invariants.NONE:
        return broken
    if not 0 <= action < actions.NUM_ACTIONS or not legal.is_legal(games[0], action):
        return _ILLEGAL
    engine_step.apply(games[0], action)
    return invariants.NONE


@entry
def _write_worths(games: Games, worths: Array1[np.int64]) -> None:
    for seat in range(len(worths)):
        worths[seat] = players.total_worth(games[0], seat)


@entry
def first_violation(games: Games) -> int:
    """The first broken invariant of the first game, as an index into `VIOLATIONS`; 0: none."""
    return invariants.violation(games[0])


@entry
def _first_broken(games: Games, ranges_alone: bool) -> int:
    """The first broken invariant of all games; or, of those, the first number out of range."""
    for i in range(len(games)):
        if ranges_alone:
            broken = invariants.out_of_range(games[i])
        else:
            broken = invariants.violation(games[i])
        if broken != invariants.NONE:
            return broken
    return invariants.NONE


@entry
def _step_violation(games: Games) -> int:
    return invariants.step_violation(games[0])


@entry
def _settle(games: Games) -> int:
    broken = invariants.unsettled_violation(games[0])
    if broken == invariants.NONE:
        engine_step.settle(games[0])
    return broken


@entry
def _write_mask(games: Games, mask: Array1[np.bool_]) -> None:
    legal.write_mask(games[0], mask)


def batch_of(game: Game, write: bool = True) -> Games:
    """A game as an array of length one, which costs kernels a tenth of a record.

    Args:
        game: A game.
        write: Whether it will be written. Otherwise a read-only game is copied.

    Raises:
        ConfigurationError: It is not a record of the dtype `GAME`, or it is to be written and is
            read-only.
    """
    return as_batch(game, GAME, "monopoly_env", write)


def check_players(num_players: object) -> int:
    """Validate a number of players and return it as an int.

    Raises:
        ConfigurationError: It is not an integer from 2 to 8.
    """
    return whole_number("num_players", num_players, MIN_PLAYERS, MAX_PLAYERS)


def new_games(
    seeds: Sequence[int] | npt.NDArray[Any], num_players: int = 4, rules: Rules | str = "official"
) -> Games:
    """Start several games, each at its first decision.

    Examples:
        >>> import monopoly_env as me
        >>> games = me.new_games(range(1000), num_players=3)
        >>> games.shape, games["cash"].shape
        ((1000,), (1000, 8))

    Args:
        seeds: One seed per game, 0 to 2**64 - 1.
        num_players: 2 to 8.
        rules: Rules, or the name of a preset.

    Returns:
        (G,) records, one per seed.

    Raises:
        ConfigurationError: The number of players or a seed is out of range, seeds are no sequence,
            or there is not enough memory.
        RulesError: The rules are unknown.
    """
    numbers, players = Rules.coerce(rules).to_record(), check_players(num_players)
    count = count_seeds(seeds)
    with enough_memory(f"A batch of {count:,} games"):
        games = empty_games(count)
        games["rules"] = numbers
        _start_games(games, players, split_seeds(seeds))
    return games


def new_game(num_players: int = 4, rules: Rules | str = "official", seed: int = 0) -> Game:
    """Start a game: one mutable record, at its first decision.

    Examples:
        >>> import monopoly_env as me
        >>> game = me.new_game(num_players=2, seed=7)
        >>> me.actions.DECISION_NAMES[game.decision], game.cash[:2].tolist()
        ('buy', [1500, 1500])

    Args:
        num_players: 2 to 8.
        rules: Rules, or the name of a preset.
        seed: 0 to 2**64 - 1. It determines every throw, both decks and who starts.

    Raises:
        ConfigurationError: The number of players or the seed is out of range.
        RulesError: The rules are unknown.
    """
    return new_games([seed], num_players, rules)[0]


def restarted(game: Game) -> Game:
    """A new record of the same game at its first decision: the same rules, players and seed.

    Raises:
        ConfigurationError: It is not a record of the dtype `GAME`.
        PositionError: A number of the record is out of its range.
    """
    given, games = in_range(game), empty_games(1)
    games["rules"] = given["rules"]
    _start_games(games, int(given["num_players"][0]), given["seed"].copy())
    return games[0]


def settle(game: Game) -> Game:
    """Settle everything that needs no answer, up to the next real choice.

    Use it after editing a game by hand.

    Raises:
        PositionError: The record is invalid. It is unchanged.
    """
    batch = batch_of(game)
    _check_rules(batch)
    _refuse(_settle(batch))
    return game


def step(game: Game, action: int) -> Game:
    """Carry out an action, then settle everything up to the next real choice.

    The game changes in place.

    Examples:
        >>> import monopoly_env as me
        >>> game = me.position(2, positions={0: 37}, throws=[(1, 1)])  # to Boardwalk
        >>> game = me.step(game, me.actions.parse("buy"))
        >>> game.cash[:2].tolist()
        [1100, 1500]

    Args:
        game: A game that is not over.
        action: A legal action.

    Returns:
        The same game.

    Raises:
        IllegalActionError: The action is not legal here. The game is unchanged, byte for byte.
        GameOverError: The game has ended.
        PositionError: The record is invalid, or was edited without `settle`. It is unchanged.
    """
    batch = batch_of(game)
    apply(batch, actions.check(action))
    if game.fault:
        raise EngineError(
            f"The engine stopped: {FAULTS[game.fault]}. Please report this bug with the game, saved"
            " by monopoly_env.save."
        )
    return game


def apply(batch: Games, action: int) -> None:
    """As `step`, for the first game and an action in range; the caller looks for faults."""
    _check_rules(batch)
    outcome = _apply(batch, action)
    if outcome == _ILLEGAL:
        raise illegal(batch[0], action)
    _refuse(outcome)


def check_step(game: Game, action: int) -> tuple[Games, int]:
    """Raise what `step` would raise; returns the game as an array of one, and the action."""
    batch, number = batch_of(game), actions.check(action)
    check_steppable(batch)
    if not int(game.legal[number >> 5]) >> (number & 31) & 1:
        raise illegal(game, number)
    return batch, number


def check_steppable(batch: Games) -> None:
    """Raise PositionError for a record that no game can reach, or edited without `settle`."""
    _check_rules(batch)
    _refuse(_step_violation(batch))


def sound(game: Game) -> Games:
    """A game as an array of length one to read, once it has passed `check_sound`.

    Raises:
        ConfigurationError: It is not a record of the dtype `GAME`.
        PositionError: The record is invalid.
    """
    batch = batch_of(game, write=False)
    check_sound(batch)
    return batch


def check_sound(games: Games) -> Games:
    """Refuse records that no game can reach.

    Kernels take numbers of the record as indices, so they may only run on sound records.

    Returns:
        The games to read; a copy of a slice with steps and of a read-only array.

    Raises:
        ConfigurationError: They are no (B,) records of the dtype `GAME`.
        PositionError: A record is invalid. The message says why.
    """
    check_games(games, GAME, "monopoly_env")
    _check_rules(games)
    games = np.require(games, requirements=_OF_KERNELS)
    _refuse(_first_broken(games, False))
    return games


def check_ranges(games: Games) -> Games:
    """Refuse records whose numbers would lead a kernel beyond its arrays, reachable or not.

    Returns:
        The games to read; a copy of a slice with steps and of a read-only array.

    Raises:
        ConfigurationError: They are no (B,) records of the dtype `GAME`.
        PositionError: A number of a record is out of its range.
    """
    check_games(games, GAME, "monopoly_env")
    _check_rules(games)
    games = np.require(games, requirements=_OF_KERNELS)
    _refuse(_first_broken(games, True))
    return games


def in_range(game: Game) -> Games:
    """A game as an array of length one to read, once it has passed `check_ranges`.

    Raises:
        ConfigurationError: It is not a record of the dtype `GAME`.
        PositionError: A number of the record is out of its range.
    """
    batch = batch_of(game, write=False)
    check_ranges(batch)
    return batch


def _refuse(violation: int) -> None:
    if violation != invariants.NONE:
        message = f"Invalid record: {invariants.VIOLATIONS[violation]}."
        if violation == invariants.STALE:
            message += " After editing a game, call monopoly_env.core.settle."
        raise PositionError(message)


def _check_rules(batch: Games) -> None:
    data = batch.tobytes()
    for start in range(_RULES_AT, len(data), GAME.itemsize):
        if broken := _broken_rules(data[start : start + RULES.itemsize]):
            raise PositionError(f"Invalid record: {broken}")


@lru_cache(maxsize=1024)
def _broken_rules(block: bytes) -> str:
    """The fault of a record's rules, given as its bytes; empty if there is none."""
    numbers = np.frombuffer(block, RULES)[0]
    try:
        same = Rules.from_record(numbers).to_record() == numbers.tolist()
    except MonopolyError as error:
        return str(error)
    return "" if same else "its rules hold a number that stands for nothing."


def illegal(game: Game, action: int) -> IllegalActionError:
    """The error for an illegal action; it names player, decision and legal actions."""
    if game.decision == OVER:
        return GameOverError(
            f"The game is over; no action is legal, not {actions.describe(action)!r}."
        )
    texts = [f"{a} {actions.describe(a, game)!r}" for a in legal_actions(game)]
    shown = ", ".join(texts[:12]) + (f" and {len(texts) - 12} more" if len(texts) > 12 else "")
    what, decision = actions.describe(action, game), actions.DECISION_NAMES[game.decision]
    return IllegalActionError(
        f"Action {action} ({what!r}) of player {game.player} is illegal at the decision"
        f" {decision!r}. Legal: {shown}."
    )


def action_mask(game: Game) -> npt.NDArray[np.bool_]:
    """The legal actions as a mask: (NUM_ACTIONS,) bool.

    Examples:
        >>> import monopoly_env as me
        >>> mask = me.action_mask(me.position(2, positions={0: 37}, throws=[(1, 1)]))
        >>> mask.nonzero()[0].tolist()
        [0, 1]

    Raises:
        PositionError: The record is invalid.
    """
    mask = np.zeros(actions.NUM_ACTIONS, np.bool_)
    _write_mask(sound(game), mask)
    return mask


def legal_actions(game: Game) -> npt.NDArray[np.int64]:
    """The legal actions in ascending order, int64. Empty once the game is over.

    Examples:
        >>> import monopoly_env as me
        >>> game = me.position(2, positions={0: 37}, throws=[(1, 1)])  # to Boardwalk
        >>> [me.actions.describe(action, game) for action in me.legal_actions(game)]
        ['decline', 'buy']

    Raises:
        PositionError: The record is invalid.
    """
    return np.flatnonzero(action_mask(game))


def is_over(game: Game) -> bool:
    """Whether the game has ended.

    Examples:
        >>> import monopoly_env as me
        >>> me.is_over(me.new_game(seed=0))
        False
    """
    return bool(batch_of(game, write=False)[0].decision == OVER)


def winner(game: Game) -> int | None:
    """The seat that won, or None while the game is running and after a draw.

    Examples:
        >>> import monopoly_env as me
        >>> print(me.winner(me.new_game(seed=0)))
        None
    """
    winners = np.flatnonzero(batch_of(game, write=False)["place"][0, : game.num_players] == 1)
    return int(winners[0]) if is_over(game) and len(winners) == 1 else None


def worth(game: Game, seat: int | None = None) -> Any:
    """Total worth by rule 51: cash, printed prices of all lots, purchase prices of buildings.

    Examples:
        >>> import monopoly_env as me
        >>> me.worth(me.position(2, lots={0: ["Boardwalk"]}, buildings={})).tolist()
        [1900, 1500]

    Args:
        game: A game.
        seat: A seat, or None for all of them.

    Returns:
        Dollars: an int, or an array of shape (num_players,).

    Raises:
        ConfigurationError: There is no such seat.
        PositionError: The record is invalid.
    """
    batch = sound(game)
    worths = np.zeros(game.num_players, np.int64)
    _write_worths(batch, worths)
    if seat is None:
        return worths
    return int(worths[whole_number("seat", seat, 0, int(game.num_players) - 1)])


def clone(game: Game) -> Game:
    """An independent copy.

    Examples:
        >>> import monopoly_env as me
        >>> game = me.new_game(seed=7)
        >>> branch = me.step(me.clone(game), me.legal_actions(game)[0])
        >>> me.digest(branch) == me.digest(game)
        False
    """
    return batch_of(game, write=False).copy()[0]


@entry
def _shuffle_unseen(games: Games) -> None:
    for deck in range(2):
        decks.shuffle_unseen(games[0], deck)


def reseed(game: Game, seed: int, shuffle: bool = False) -> Game:
    """Give a game a different future, in place: dice and policies draw from a new seed.

    Args:
        game: The game. Sealed bids and forced throws stay.
        seed: 0 to 2**64 - 1.
        shuffle: Whether the cards that nobody has seen are shuffled, so that its players can't tell
            the game from the old one. Otherwise only the dice differ.

    Returns:
        The same game.

    Examples:
        >>> import monopoly_env as me
        >>> game = me.new_game(seed=0)
        >>> other = me.reseed(me.clone(game), seed=1)
        >>> me.digest(game) == me.digest(other)
        False

    Raises:
        ConfigurationError: The seed is out of range.
        PositionError: The cards shall be shuffled, but the record is invalid.
    """
    low, high = split_seeds([seed])[0]
    batch = batch_of(game)
    if shuffle:
        check_sound(batch)
    batch["seed"] = low, high
    if shuffle:
        _shuffle_unseen(batch)
    return game


def digest(game: Game) -> str:
    """A hash of the whole record, 16 hexadecimal digits: equal games have equal digests.

    Examples:
        >>> import monopoly_env as me
        >>> me.digest(me.new_game(seed=0)) == me.digest(me.new_game(seed=0))
        True
    """
    return hashlib.sha256(batch_of(game, write=False).tobytes()).hexdigest()[:16]


def check(game: Game) -> None:
    """Check every invariant of a game.

    Examples:
        >>> import monopoly_env as me
        >>> me.core.check(me.new_game(seed=0))  # raises nothing

    Raises:
        EngineError: An invariant is broken. The message names the first one.
        PositionError: The rules in the record are invalid.
    """
    batch = batch_of(game, write=False)
    _check_rules(batch)
    broken = _step_violation(batch)
    if broken:
        raise EngineError(f"Invariant broken: {invariants.VIOLATIONS[broken]}.")


@contextmanager
def enough_memory(what: str) -> Iterator[None]:
    """Raise ConfigurationError for a lack of memory; `what` was `num_games=1000000`, say."""
    try:
        yield
    except MemoryError as error:
        raise ConfigurationError(
            f"{what} needs more memory than there is. {error}".rstrip()
        ) from error
