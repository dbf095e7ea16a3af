"""The Python interface to games: start, step, inspect, copy, save."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from monopoly_env import actions, board
from monopoly_env.engine import invariants, legal, players, setup
from monopoly_env.engine import step as engine_step
from monopoly_env.engine.agenda import FAULTS, OVER
from monopoly_env.errors import (
    ConfigurationError,
    EngineError,
    FormatError,
    GameOverError,
    IllegalActionError,
    MonopolyError,
)
from monopoly_env.game import FORMAT_VERSION, GAME, MAX_PLAYERS, MIN_PLAYERS, Game, Games, empty_games
from monopoly_env.kernels import entry
from monopoly_env.rules import RULES_VERSION, Rules

_SEED_BOUND: Final = 1 << 64


@entry()
def _start_games(games: Any, num_players: int, seeds: Any) -> None:
    for i in range(len(games)):
        setup.start(games[i], num_players, seeds[i, 0], seeds[i, 1])


@entry()
def apply_unchecked(games: Any, action: int) -> None:
    """Carry out an action on the first of these games without checking that it is legal; `step` checks."""
    engine_step.apply(games[0], action)


@entry()
def _write_worths(games: Any, worths: Any) -> None:
    for seat in range(len(worths)):
        worths[seat] = players.total_worth(games[0], seat)


@entry()
def first_violation(games: Any) -> int:
    """The first broken invariant of the first of these games, as an index into `invariants.VIOLATIONS`; 0 if all hold."""
    return invariants.violation(games[0])


@entry()
def _settle(games: Any) -> None:
    engine_step.settle(games[0])


@entry()
def _write_mask(games: Any, mask: Any) -> None:
    legal.write_mask(games[0], mask)


def batch_of(game: Game) -> Games:
    """A game as an array of length one that shares its memory. Passing an array to a kernel costs a tenth of passing a record.

    Raises:
        ConfigurationError: It is not a record of the dtype `GAME`.
    """
    if getattr(game, "dtype", None) != GAME or np.ndim(game) != 0:
        raise ConfigurationError(f"Expected a game (a record of the dtype monopoly_env.GAME), not {type(game).__name__}.")
    base = game.base
    if isinstance(base, np.ndarray) and base.dtype == GAME and base.size == 1:
        return base.reshape(1)
    return np.ndarray(1, GAME, buffer=game.data)


def check_players(num_players: object) -> int:
    """Validate a number of players and return it as an int.

    Raises:
        ConfigurationError: It is not an integer from 2 to 8.
    """
    if isinstance(num_players, bool) or not isinstance(num_players, (int, np.integer)):
        raise ConfigurationError(f"num_players={num_players!r} must be an integer from {MIN_PLAYERS} to {MAX_PLAYERS}.")
    if not MIN_PLAYERS <= num_players <= MAX_PLAYERS:
        raise ConfigurationError(f"num_players={num_players} is out of range: {MIN_PLAYERS} to {MAX_PLAYERS}.")
    return int(num_players)


def split_seeds(seeds: Sequence[int] | npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Split seeds into pairs of 32-bit words, low word first: (B, 2) int64.

    Raises:
        ConfigurationError: A seed is not an integer from 0 to 2**64 - 1.
    """
    words = np.empty((len(seeds), 2), np.int64)
    for i, seed in enumerate(seeds):
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < _SEED_BOUND:
            raise ConfigurationError(f"Seed {seed!r} must be an integer from 0 to 2**64 - 1.")
        words[i] = int(seed) & 0xFFFFFFFF, int(seed) >> 32
    return words


def new_games(seeds: Sequence[int] | npt.NDArray[Any], num_players: int = 4, rules: Rules | str = "official") -> Games:
    """Start several games, each at its first decision.

    Args:
        seeds: One seed per game, 0 to 2**64 - 1.
        num_players: 2 to 8.
        rules: Rules, or the name of a preset.
    """
    games = empty_games(len(seeds))
    games["rules"] = Rules.coerce(rules).to_record()
    _start_games(games, check_players(num_players), split_seeds(seeds))
    return games


def new_game(num_players: int = 4, rules: Rules | str = "official", seed: int = 0) -> Game:
    """Start a game: one mutable record, at its first decision.

    Args:
        num_players: 2 to 8.
        rules: Rules, or the name of a preset.
        seed: 0 to 2**64 - 1. It determines every throw, both decks and who starts.

    Raises:
        ConfigurationError: The number of players or the seed is out of range.
        RulesError: The rules are unknown.
    """
    return new_games([seed], num_players, rules)[0]


def settle(game: Game) -> Game:
    """Settle everything that needs no answer, up to the next real choice. Use it after editing a game by hand."""
    _settle(batch_of(game))
    return game


def step(game: Game, action: int) -> Game:
    """Carry out an action, then settle everything up to the next real choice. The game changes in place.

    Args:
        game: A game that is not over.
        action: A legal action, 0 to 204.

    Returns:
        The same game.

    Raises:
        IllegalActionError: The action is not legal here. The game is unchanged, byte for byte.
        GameOverError: The game has ended.
    """
    batch = batch_of(game)
    number = actions.check(action)
    if not int(game.legal[number >> 5]) >> (number & 31) & 1:
        raise illegal(game, number)
    apply_unchecked(batch, number)
    if game.fault:
        raise EngineError(f"The engine stopped: {FAULTS[game.fault]}. Please report this bug with the game, saved by monopoly_env.save.")
    return game


def illegal(game: Game, action: int) -> IllegalActionError:
    """The error for an illegal action: it names the action, the player, the decision and the legal actions."""
    if game.decision == OVER:
        return GameOverError(f"The game is over; no action is legal, not {actions.describe(action)!r}.")
    texts = [f"{a} {actions.describe(a, game)!r}" for a in legal_actions(game)]
    shown = ", ".join(texts[:12]) + (f" and {len(texts) - 12} more" if len(texts) > 12 else "")
    what, decision = actions.describe(action, game), actions.DECISION_NAMES[game.decision]
    return IllegalActionError(
        f"Action {action} ({what!r}) of player {game.player} is illegal at the decision {decision!r}. Legal: {shown}."
    )


def action_mask(game: Game) -> npt.NDArray[np.bool_]:
    """The legal actions as a mask: (205,) bool."""
    mask = np.zeros(actions.NUM_ACTIONS, np.bool_)
    _write_mask(batch_of(game), mask)
    return mask


def legal_actions(game: Game) -> npt.NDArray[np.int64]:
    """The legal actions in ascending order, int64. Empty once the game is over."""
    return np.flatnonzero(action_mask(game))


def is_over(game: Game) -> bool:
    """Whether the game has ended."""
    return bool(batch_of(game)[0].decision == OVER)


def winner(game: Game) -> int | None:
    """The seat that won, or None while the game is running and after a draw."""
    winners = np.flatnonzero(batch_of(game)["place"][0, : game.num_players] == 1)
    return int(winners[0]) if is_over(game) and len(winners) == 1 else None


def worth(game: Game, seat: int | None = None) -> Any:
    """Total worth by rule 51: cash, printed prices of all lots, purchase prices of buildings.

    Args:
        game: A game.
        seat: A seat, or None for all of them.

    Returns:
        Dollars: an int, or an array of shape (num_players,).
    """
    batch = batch_of(game)
    worths = np.zeros(game.num_players, np.int64)
    _write_worths(batch, worths)
    if seat is None:
        return worths
    if isinstance(seat, bool) or not isinstance(seat, (int, np.integer)) or not 0 <= seat < game.num_players:
        raise ConfigurationError(f"seat={seat!r} must be from 0 to {game.num_players - 1}.")
    return int(worths[seat])


def clone(game: Game) -> Game:
    """An independent copy."""
    return batch_of(game).copy()[0]


def reseed(game: Game, seed: int) -> Game:
    """Give a game a different future, in place: dice and policies draw from a new seed. The decks keep their order."""
    low, high = split_seeds([seed])[0]
    batch_of(game)["seed"] = low, high
    return game


def digest(game: Game) -> str:
    """A hash of the whole record: equal games have equal digests."""
    return hashlib.sha256(batch_of(game).tobytes()).hexdigest()[:16]


def check(game: Game) -> None:
    """Check every invariant of a game.

    Raises:
        EngineError: An invariant is broken. The message names the first one.
    """
    broken = first_violation(batch_of(game))
    if broken:
        raise EngineError(f"Invariant broken: {invariants.VIOLATIONS[broken]}.")


# --- files --------------------------------------------------------------------------------------------------------------


def table_hash(edition: int) -> str:
    """A hash of an edition's board and cards. Saved games carry it, so that a game saved under other tables is refused."""
    from monopoly_env import cards

    tables = (board.PRICE, board.MORTGAGE, board.HOUSE_PRICE, board.RENT, board.SQUARE_KIND, board.SQUARE_LOT, cards.CARD)
    digest_ = hashlib.sha256()
    for table in tables:
        digest_.update(np.ascontiguousarray(table[edition], np.int64).tobytes())
    return digest_.hexdigest()[:16]


def save(game: Game, path: str | os.PathLike[str]) -> Path:
    """Save a game: data only, no code. The file is never half written.

    Raises:
        ConfigurationError: The folder cannot be written.
    """
    batch = batch_of(game)
    header = {
        "format": "monopoly_env game",
        "version": FORMAT_VERSION,
        "rules_version": RULES_VERSION,
        "board": board.EDITIONS[game.rules.board].name,
        "tables": table_hash(int(game.rules.board)),
        "digest": digest(game),
    }
    return write_atomically(path, json.dumps(header).encode() + b"\n" + batch.tobytes())


def load(path: str | os.PathLike[str]) -> Game:
    """Load a saved game.

    Raises:
        ConfigurationError: The file does not exist or cannot be read.
        FormatError: The file is not a saved game, is corrupt, or has another version.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ConfigurationError(f"Cannot read {os.fspath(path)!r}: {error.strerror}.") from error
    line, _, body = data.partition(b"\n")
    try:
        header = json.loads(line)
        kind = header["format"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise FormatError(f"{os.fspath(path)!r} is not a saved game.") from None
    expected = {"format": "monopoly_env game", "version": FORMAT_VERSION, "rules_version": RULES_VERSION}
    for key, value in expected.items():
        if header.get(key) != value:
            raise FormatError(f"{os.fspath(path)!r} ({kind}): {key} is {header.get(key)!r}, this version reads {value!r}.")
    if len(body) != GAME.itemsize:
        raise FormatError(f"{os.fspath(path)!r} is truncated or corrupt: {len(body)} bytes of record, expected {GAME.itemsize}.")
    game = np.frombuffer(body, GAME).copy()[0]
    _check_loaded(game, header, path)
    return game


def _check_loaded(game: Game, header: dict[str, Any], path: str | os.PathLike[str]) -> None:
    name = os.fspath(path)
    if digest(game) != header.get("digest"):
        raise FormatError(f"{name!r} is corrupt: the record does not match its digest.")
    try:
        rules = Rules.from_record(game.rules)
        check_players(int(game.num_players))
        check(game)
    except MonopolyError as error:
        raise FormatError(f"{name!r} holds an impossible record. {error}") from None
    if header.get("tables") != table_hash(board_number(rules)):
        raise FormatError(f"{name!r} was saved with another version of the board {rules.board!r}.")
    if game.decision != OVER and digest(settle(clone(game))) != digest(game):  # settling asks the open question anew
        raise FormatError(f"{name!r} stores legal actions that differ from those of the rules.")


def board_number(rules: Rules) -> int:
    """The index of the rules' edition in the board and card tables."""
    return [edition.name for edition in board.EDITIONS].index(rules.board)


def write_atomically(path: str | os.PathLike[str], data: bytes) -> Path:
    """Write a file under a temporary name, then rename it, so that it is never half written.

    Raises:
        ConfigurationError: The folder cannot be written to.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        try:
            with temporary.open("xb") as file:
                file.write(data)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigurationError(f"Cannot write {os.fspath(path)!r}: {error.strerror}.") from error
    return target
