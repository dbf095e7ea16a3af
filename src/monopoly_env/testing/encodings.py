"""The contract of an encoding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core
from monopoly_env import encoding as encodings
from monopoly_env.encoding import Encoding
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import Game
from monopoly_env.rules import PRESETS, Rules
from monopoly_env.testing.games import CheckError, Start

_GUARD: Final = 8  # numbers before and after a row, which must not change
_MARK: Final = np.float32(7.5)  # outside the range of features


def check_encoding(
    encoding: str | Encoding,
    *,
    rules: Sequence[Rules | str] = tuple(PRESETS),
    num_players: Sequence[int] | None = None,
    seed: int = 0,
    decisions: int = 400,
) -> None:
    """Check the contract of an encoding, at decisions of games of random play.

    - It writes every feature of its row, regardless of the row's content, and nothing else. It does
      not change the game.
    - Features are finite and in [-1, 1].
    - It shows no hidden information: neither seed and future dice, nor the order of cards to come,
      nor the sealed bids of others.

    Examples:
        >>> from monopoly_env.testing import check_encoding
        >>> check_encoding("standard", rules=["official"], num_players=[3])

    Args:
        encoding: A name, or an `Encoding`.
        rules: Presets or `Rules`; all presets by default.
        num_players: Sizes of tables; for a name, by default the supported ones of 2, 3 and 8.
        seed: The seed of all games.
        decisions: Decisions of random play in each game; some positions are checked, for every
            seat.

    Raises:
        CheckError: The encoding breaks its contract.
        ConfigurationError: The name is unknown, or `num_players` is missing.
        RulesError: The rules are unknown.
    """
    for size, made in _sizes(encoding, num_players):
        for one in rules:
            start = Start(size, one, seed)
            for number, game in _positions(start, decisions):
                where = f"Game: {start}, after {number} decisions of random play, seen from seat"
                for seat in range(size):
                    _check_row(made, game, seat, f"{where} {seat}.")


def _sizes(
    encoding: str | Encoding, num_players: Sequence[int] | None
) -> Iterator[tuple[int, Encoding]]:
    """The encoding for each size of table."""
    if isinstance(encoding, Encoding):
        if num_players is None:
            raise ConfigurationError(
                f"Give num_players, the sizes of tables that the encoding {encoding.name!r} is for."
            )
        yield from ((size, encoding) for size in num_players)
    elif num_players is not None:
        yield from ((size, encodings.make(encoding, size)) for size in num_players)
    else:
        encodings.make(encoding, 2)  # all support tables of two
        for size in (2, 3, 8):
            try:
                made = encodings.make(encoding, size)
            except ConfigurationError:
                continue
            yield size, made


def _positions(start: Start, decisions: int) -> Iterator[tuple[int, Game]]:
    """Positions of a game of random play, at growing intervals, and the last one."""
    game, rng, due = start.game(), np.random.default_rng(start.seed), 0
    for number in range(decisions + 1):
        over = core.is_over(game)
        if number in (due, decisions) or over:
            yield number, core.clone(game)
            due = number + 1 + number // 4
        if over:
            return
        core.step(game, int(rng.choice(core.legal_actions(game))))


def _check_row(encoding: Encoding, game: Game, seat: int, where: str) -> None:
    """Check the observation of a seat."""
    what, before = f"Encoding {encoding.name!r}", game.tobytes()
    row = _written(encoding, game, seat, _MARK, where)
    again = _written(encoding, game, seat, np.float32(np.nan), where)
    if game.tobytes() != before:
        raise CheckError(f"{what} changed the game: expected it only to read the game. {where}")
    for number in np.flatnonzero((row != again) | (row == _MARK)):
        raise CheckError(
            f"{what} does not write feature {encoding.names[number]!r}, or adds to what was there."
            f" {where}"
        )
    for number in np.flatnonzero(np.abs(row) > 1):
        raise CheckError(
            f"{what}: feature {encoding.names[number]!r} is {row[number]}, expected a number from"
            f" -1 to 1. {where}"
        )
    for hidden, change in _HIDDEN.items():
        changed = core.clone(game)
        change(changed, seat)
        other = _written(encoding, changed, seat, _MARK, where)
        for number in np.flatnonzero(row != other):
            raise CheckError(
                f"{what} shows {hidden}, by feature {encoding.names[number]!r}: expected it to be"
                f" hidden. {where}"
            )


def _written(
    encoding: Encoding, game: Game, seat: int, filled: np.float32, where: str
) -> NDArray[np.float32]:
    """The row of an encoding, written over an existing row between guards."""
    room = np.full(encoding.size + 2 * _GUARD, filled)
    room[:_GUARD] = room[-_GUARD:] = _MARK
    try:
        encoding.write(game, seat, room[_GUARD:-_GUARD])
    except IndexError:
        room[0] = -_MARK  # compiled code noticed it first
    if (room[:_GUARD] != _MARK).any() or (room[-_GUARD:] != _MARK).any():
        raise CheckError(
            f"Encoding {encoding.name!r} writes outside its row of {encoding.size} features."
            f" {where}"
        )
    return room[_GUARD:-_GUARD]


def _change_seed(game: Game, _: int) -> None:
    core.reseed(game, int(game.seed[0]) ^ 0xABCDEF)


def _change_throws(game: Game, _: int) -> None:
    game.forced_throws[:2] = 11, 66
    game.num_forced = 2


def _change_decks(game: Game, _: int) -> None:
    for deck in range(2):
        rest = slice(int(game.deck_next[deck]), int(game.deck_size[deck]))
        game.deck[deck, rest] = game.deck[deck, rest][::-1].copy()


def _change_bids(game: Game, seat: int) -> None:
    for other in range(int(game.num_players)):
        if other != seat:
            game.sealed[other] += 25


_HIDDEN: Final[dict[str, Callable[[Game, int], None]]] = {
    "the seed of the dice to come": _change_seed,
    "forced throws to come": _change_throws,
    "the order of the cards to come": _change_decks,
    "the sealed bids of other players": _change_bids,
}
