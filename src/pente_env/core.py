"""The Python interface to games: start, set up, step, inspect, copy."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import (
    ConfigurationError,
    GameOverError,
    IllegalActionError,
    PositionError,
    array_of,
    integer,
    nearest,
    shortened,
    whole_number,
)
from monopoly_env.kernels import entry
from monopoly_env.kernels.philox import count_seeds, split_seeds
from monopoly_env.kernels.records import as_batch, check_games
from monopoly_env.kernels.signatures import Array1, Array2
from pente_env import lines, moves
from pente_env.game import (
    ENDINGS,
    GAME,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NOBODY,
    PAD,
    RUNNING,
    Game,
    Games,
    empty_games,
)
from pente_env.rules import Rules

COLUMNS: Final = "ABCDEFGHJKLMNOPQRST"  # without I, as on the boards of pente.org
SYMBOLS: Final = "123"  # the seats' stones, where a position is written down
_EMPTY: Final = "."
_WORD: Final = (1 << 63) - 1
_DONE, _ILLEGAL, _UNSOUND = range(3)


@entry
def _start_games(games: Games, num_players: int, seeds: Array2[np.int64]) -> None:
    for i in range(len(games)):
        moves.start(games[i], num_players, seeds[i, 0], seeds[i, 1])


@entry
def _put(games: Games, point: int) -> int:
    """Put a stone in the first of these games; _ILLEGAL or _UNSOUND: nothing has changed."""
    if not moves.is_sound(games[0]):
        return _UNSOUND
    if not moves.is_legal(games[0], point):
        return _ILLEGAL
    moves.put(games[0], point)
    return _DONE


@entry
def _all_sound(games: Games) -> bool:
    sound = True
    for i in range(len(games)):
        sound = sound and moves.is_sound(games[i])
    return sound


@entry
def _set_stone(games: Games, seat: int, r: int, c: int) -> None:
    moves.turn_over(games[0], seat, r, c)


@entry
def _write_points(games: Games, seat: int, what: int, out: Array1[np.bool_]) -> None:
    lines.write_points(games[0], seat, what, out)


@entry
def _takes(games: Games, seat: int, point: int) -> int:
    return int(moves.takes(games[0], seat, point))


@entry
def _line_of_five(games: Games) -> bool:
    """Whether a stone of the first game stands in a five."""
    return bool(moves.has_five(games[0]))


def batch_of(game: Game, write: bool = True) -> Games:
    """A game as an array of length one, which shares its memory if it will be written.

    Raises:
        ConfigurationError: It is not a record of the dtype `GAME`, or read-only and will be
            written.
    """
    return as_batch(game, GAME, "pente_env", write)


def sound(game: Game) -> Games:
    """A game as an array of length one to read, checked by `check_sound`."""
    batch = batch_of(game, write=False)
    check_sound(batch)
    return batch


def check_sound(games: Games, write: bool = False) -> None:
    """Refuse (B,) records whose numbers are not those of a board, which kernels take as points.

    Raises:
        ConfigurationError: They are no records of the dtype `GAME`, or read-only and will be
            written.
        PositionError: One is not the record of a board.
    """
    check_games(games, GAME, "pente_env", write)
    if not _all_sound(games):
        raise _unsound()


def _unsound() -> PositionError:
    return PositionError(
        "Invalid record: its rules, seats, stones or counters contradict each other."
    )


def check_players(num_players: object) -> int:
    """Validate a number of players and return it as an int.

    Raises:
        ConfigurationError: It is not 2 or 3.
    """
    return whole_number("num_players", num_players, MIN_PLAYERS, MAX_PLAYERS)


def new_games(
    seeds: Sequence[int] | NDArray[Any], num_players: int = 2, rules: Rules | str = "schrum"
) -> Games:
    """Start several games: (B,) records, one a seed.

    The arguments and errors are those of `new_game`.

    Examples:
        >>> import pente_env
        >>> pente_env.new_games(range(8), num_players=3).shape
        (8,)
    """
    numbers, players = Rules.coerce(rules).to_record(), check_players(num_players)
    games = empty_games(count_seeds(seeds))
    games["rules"] = numbers
    _start_games(games, players, split_seeds(seeds))
    return games


def new_game(num_players: int = 2, rules: Rules | str = "schrum", seed: int = 0) -> Game:
    """Start a game: one mutable record.

    Args:
        num_players: 2 or 3.
        rules: Rules, or the name of a preset.
        seed: 0 to 2**64 - 1. The rules leave nothing to chance; players that do draw from it.

    Examples:
        >>> import pente_env
        >>> game = pente_env.new_game(num_players=3, seed=0)
        >>> int(game.num_players)
        3

    Raises:
        ConfigurationError: The number of players or the seed is out of range.
        RulesError: The rules are unknown.
    """
    return new_games([seed], num_players, rules)[0]


def position(
    board: Sequence[str],
    player: int = 0,
    captured: Sequence[int] = (),
    num_players: int = 2,
    rules: Rules | str | None = None,
    seed: int = 0,
) -> Game:
    """Set up a position.

    Examples:
        >>> import pente_env
        >>> game = pente_env.position([".....", ".....", ".122.", ".....", "....."])
        >>> pente_env.stones(pente_env.step(game, 14))[2].tolist()  # it takes the pair
        [0, 1, 0, 0, 1]

    Args:
        board: The lines from the top: `.` for an empty point, `1`, `2`, `3` for the seats 0, 1, 2.
        player: The seat to move.
        captured: Stones that each seat has taken so far; by default none.
        num_players: 2 or 3.
        rules: Rules, or the name of a preset; by default those of the preset `schrum` on a board of
            this size.
        seed: As in `new_game`.

    Raises:
        PositionError: The position is impossible. The message says why.
        ConfigurationError: The number of players or the seed is out of range.
        RulesError: The rules are unknown.
    """
    if array_of(board).ndim != 1 or not all(isinstance(line, str) for line in board):
        wanted = "lines of text, one for each row from the top"
        raise PositionError(f"The board must be {wanted}, not {shortened(board)}.")
    if array_of(captured).ndim != 1:
        wanted = "whole numbers, one for each seat"
        raise PositionError(f"captured must be {wanted}, not {shortened(captured)}.")
    rules = Rules(size=len(board)) if rules is None else Rules.coerce(rules)
    games = new_games([seed], num_players, rules)
    game = games[0]
    _check_setup(board, player, captured, rules, int(game.num_players))
    for r, line in enumerate(board):
        for c, symbol in enumerate(line):
            if symbol != _EMPTY:
                _set_stone(games, SYMBOLS.index(symbol), r, c)
                game.moves += 1
    game.captured[: len(captured)] = captured
    game.moves += sum(captured)
    game.player = player
    if game.free == 0:
        raise PositionError("No game can go on from here: no point is empty.")
    if rules.overlines == "win" and _line_of_five(games):
        raise PositionError("No game can go on from here: a seat has five in a row already.")
    return game


def _check_setup(
    board: Sequence[str], player: int, captured: Sequence[int], rules: Rules, players: int
) -> None:
    size, symbols = rules.size, (_EMPTY, *SYMBOLS[:players])
    if len(board) != size or any(len(line) != size for line in board):
        given = shortened(list(board))
        raise PositionError(f"The board must be {size} lines of {size} points, not {given}.")
    for r, line in enumerate(board):
        for c, symbol in enumerate(line):
            if symbol not in symbols:
                hint = nearest(symbol, symbols)
                raise PositionError(f"Row {r}, column {c}: {symbol!r} is no stone. {hint}")
    whole_number("player", player, 0, players - 1, PositionError)
    limit = {"pairs": 10, "keryo": 15, "none": 1}[rules.captures]
    for taken in captured:
        whole_number("stones that a seat has taken:", taken, 0, limit - 1, PositionError)
        if rules.captures == "pairs" and taken % 2:
            raise PositionError(f"Stones are taken in pairs: {taken} is odd.")
    if len(captured) > players:
        raise PositionError(f"captured has {len(captured)} numbers for {players} seats.")


def step(game: Game, action: int) -> Game:
    """Put a stone of the seat to move. The game changes in place.

    Args:
        game: A game that is not over.
        action: A legal point, size * row + column.

    Returns:
        The same game.

    Examples:
        >>> import pente_env
        >>> game = pente_env.step(pente_env.new_game(), 24)
        >>> int(game.player)
        1

    Raises:
        IllegalActionError: The point is not legal here. The game is unchanged, byte for byte.
        GameOverError: The game has ended.
        PositionError: It is not the record of a board.
    """
    batch, point = batch_of(game), check_action(action)
    outcome = _put(batch, point)
    if outcome != _DONE:
        raise _unsound() if outcome == _UNSOUND else illegal(game, point)
    return game


def check_action(action: object) -> int:
    """Validate an action, an integer or an array of one, and return it as an int.

    Raises:
        ConfigurationError: It is something else.
    """
    number = integer(action)
    if number is None or not -_WORD <= number <= _WORD:
        raise ConfigurationError(
            f"An action must be a whole number, a point of the board, not {shortened(action)}."
        )
    return number


def illegal(game: Game, point: int) -> IllegalActionError:
    """The error for an illegal point: it names the point, why not, and what is legal."""
    size, name = int(game.rules.side), name_of(point, int(game.rules.side))
    if is_over(game):
        return GameOverError(
            f"The game is over ({ENDINGS[game.ending]}); no point is legal, not {name}."
        )
    legal = legal_actions(game)
    shown = ", ".join(name_of(int(p), size) for p in legal[:12])
    if len(legal) > 12:
        shown += f" and {len(legal) - 12} more"
    if point == -1:
        why = "-1 is a player's word for none, as of a network for boards of another size"
    elif not 0 <= point < size * size:
        why = f"the board has the points 0 to {size * size - 1}"
    elif stones(game)[point // size, point % size]:
        why = "a stone is there"
    else:
        why = f"the opening rule {Rules.from_record(game.rules).opening!r} does not allow it yet"
    return IllegalActionError(
        f"Point {name} of seat {game.player} is illegal: {why}. Legal: {shown}."
    )


def points(game: Game, seat: int, what: str) -> NDArray[np.int64]:
    """The points at which a seat would do what is asked, (N,) int64, ascending.

    Examples:
        >>> import pente_env
        >>> game = pente_env.position([".....", ".....", ".122.", ".....", "....."])
        >>> pente_env.points(game, seat=0, what="captures").tolist()
        [14]

    Args:
        game: A game.
        seat: A seat, whether it is to move or not.
        what: `legal`; `fives`: it would have five in a row; `captures`: it would take stones;
            `preparations`, `prospects`: a bracket may begin there; `fours`, `threes`: they end a
            run of exactly so many stones of an opponent.

    Raises:
        ConfigurationError: There is no such seat or question.
        PositionError: It is not the record of a board.
    """
    batch = sound(game)
    if what not in lines.KINDS:
        raise ConfigurationError(
            f"Unknown question {shortened(what)}. {nearest(shortened(what), lines.KINDS)}"
        )
    whole_number("seat", seat, 0, int(game.num_players) - 1)
    out = np.zeros(int(game.rules.side) ** 2, np.bool_)
    _write_points(batch, seat, lines.KINDS.index(what), out)
    return np.flatnonzero(out)


def takes(game: Game, seat: int, point: int) -> int:
    """How many stones a seat would take by a stone at an empty point.

    Examples:
        >>> import pente_env
        >>> game = pente_env.position([".....", ".....", ".122.", ".....", "....."])
        >>> pente_env.takes(game, seat=0, point=14)
        2

    Raises:
        ConfigurationError: There is no such seat or point.
        PositionError: It is not the record of a board.
    """
    batch = sound(game)
    whole_number("seat", seat, 0, int(game.num_players) - 1)
    whole_number("point", point, 0, int(game.rules.side) ** 2 - 1)
    return _takes(batch, int(seat), int(point))


def action_mask(game: Game) -> NDArray[np.bool_]:
    """The legal points as a mask: (size * size,) bool.

    Examples:
        >>> import pente_env
        >>> int(pente_env.action_mask(pente_env.new_game()).sum())
        1
    """
    batch = sound(game)
    out = np.zeros(int(game.rules.side) ** 2, np.bool_)
    _write_points(batch, 0, lines.LEGAL, out)
    return out


def legal_actions(game: Game) -> NDArray[np.int64]:
    """The legal points in ascending order, int64. Empty once the game is over.

    Examples:
        >>> import pente_env
        >>> len(pente_env.legal_actions(pente_env.new_game()))
        1
    """
    return np.flatnonzero(action_mask(game))


def is_over(game: Game) -> bool:
    """Whether the game has ended.

    Examples:
        >>> import pente_env
        >>> pente_env.is_over(pente_env.new_game())
        False
    """
    return bool(batch_of(game, write=False)[0].ending != RUNNING)


def winner(game: Game) -> int | None:
    """The seat that won, or None while the game is running and after a draw.

    Examples:
        >>> import pente_env
        >>> game = pente_env.position(["1111.", "222..", ".....", ".....", "....."])
        >>> pente_env.winner(pente_env.step(game, 4))
        0
    """
    seat = int(batch_of(game, write=False)[0].winner)
    return None if seat == NOBODY else seat


def ending(game: Game) -> str:
    """The reason why the game is over: `five`, `pairs`, `five+pairs`, `full` (a draw) or `none`.

    Examples:
        >>> import pente_env
        >>> game = pente_env.position(["1111.", "222..", ".....", ".....", "....."])
        >>> pente_env.ending(pente_env.step(game, 4))
        'five'

    Raises:
        PositionError: It is not the record of a board.
    """
    return ENDINGS[sound(game)[0].ending]


def stones(game: Game) -> NDArray[np.int8]:
    """The board: (size, size) int8, 0 for an empty point, otherwise the seat + 1.

    Examples:
        >>> import pente_env
        >>> pente_env.stones(pente_env.step(pente_env.new_game(), 24))[3].tolist()
        [0, 0, 0, 1, 0, 0, 0]
    """
    columns = np.arange(PAD, PAD + int(sound(game)[0].rules.side))
    rows = np.asarray(game.stones, np.int64)[:, columns, None] >> columns & 1
    return np.asarray(np.tensordot(np.arange(1, MAX_PLAYERS + 1), rows, 1), np.int8)


def clone(game: Game) -> Game:
    """An independent copy.

    Examples:
        >>> import pente_env
        >>> game = pente_env.new_game()
        >>> copy = pente_env.step(pente_env.clone(game), 24)
        >>> int(copy.moves), int(game.moves)
        (1, 0)
    """
    return batch_of(game, write=False).copy()[0]


def digest(game: Game) -> str:
    """A hash of the whole record, 64 hexadecimal digits; equal games have equal hashes.

    Examples:
        >>> import pente_env
        >>> game = pente_env.new_game()
        >>> pente_env.digest(game) == pente_env.digest(pente_env.clone(game))
        True
    """
    return hashlib.sha256(batch_of(game, write=False).tobytes()).hexdigest()


def name_of(point: int, size: int) -> str:
    """A point in words, as `D4`: a letter for the column, and the row, counted from the bottom.

    Examples:
        >>> from pente_env.core import name_of
        >>> name_of(24, size=7)
        'D4'
    """
    if not 0 <= point < size * size:
        return str(point)
    return f"{COLUMNS[point % size]}{size - point // size}"


def parse(text: str, size: int) -> int:
    """The point that a name such as `D4` means; the inverse of `name_of`.

    Examples:
        >>> from pente_env.core import parse
        >>> parse("D4", size=7)
        24

    Raises:
        ConfigurationError: It is no point of a board of this size.
    """
    word = text.strip().upper() if isinstance(text, str) else ""
    column, row = COLUMNS[:size].find(word[:1]), word[1:]
    if not word or column < 0 or not row.isdecimal() or not 1 <= int(row) <= size:
        form = (
            f"a letter from A to {COLUMNS[size - 1]} and a number, A1 to {COLUMNS[size - 1]}{size}"
        )
        raise ConfigurationError(f"{shortened(text)} is no point: {form}.")
    return size * (size - int(row)) + column
