"""Encodings: observations as rows of numbers, by name.

- `standard`: complete, for any number of players (`encoding.standard`).
- `ocnaru100`, `ocnaru100+`: the 100 features of Ocnaru's thesis, two players (`encoding.ocnaru`).

docs/observation.md lists every feature. It is generated from the tables from which the code takes
its offsets.

`register` adds an encoding of your own. Every environment, data set and saved policy then knows its
name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from monopoly_env import core
from monopoly_env.encoding import ocnaru, standard
from monopoly_env.errors import ConfigurationError, check_array, check_seats, nearest, whole_number
from monopoly_env.game import MAX_PLAYERS, MIN_PLAYERS, Game, Games
from monopoly_env.kernels import borrowed, entry
from monopoly_env.kernels.callbacks import Callback, Caller
from monopoly_env.kernels.signatures import Array1, Array2

NAMES: Final = ("standard", "ocnaru100", "ocnaru100+")  # the built-in ones

Kernel: TypeAlias = Callable[[Any, int, Any], None]
Features: TypeAlias = Sequence[str] | Callable[[int], Sequence[str]]

_GUARD: Final = 4096  # numbers on each side of a row that is written on trial
_MARK: Final = np.float32(-1234.5)


class EncodingKernel(Callback):
    """A function `write(game, seat, row)` that fills a row with what a seat sees of a game."""

    WHAT = "kernel of an encoding"

    @staticmethod
    def _prototype(game: Game, seat: int, row: Array1[np.float32]) -> None: ...


write: Final = Caller(EncodingKernel)  # write(handle, game, seat, row), in compiled code


@EncodingKernel
def _standard(game: Game, seat: int, row: Any) -> None:
    standard.write(game, seat, row)


@EncodingKernel
def _ocnaru(game: Game, seat: int, row: Any) -> None:
    ocnaru.write(game, seat, row)


@EncodingKernel
def _ocnaru_plus(game: Game, seat: int, row: Any) -> None:
    ocnaru.write_plus(game, seat, row)


class _Family(NamedTuple):
    """An encoding for several sizes of table."""

    features: Callable[[int], Sequence[str]]  # their names in a row for this many players
    kernel: EncodingKernel
    players: tuple[int, ...]  # the sizes of table that it supports


_EVERY_SIZE: Final = tuple(range(MIN_PLAYERS, MAX_PLAYERS + 1))
_FAMILIES: Final[dict[str, _Family]] = {
    "standard": _Family(standard.names, _standard, _EVERY_SIZE),
    "ocnaru100": _Family(lambda _: ocnaru.names(False), _ocnaru, (ocnaru.NUM_PLAYERS,)),
    "ocnaru100+": _Family(lambda _: ocnaru.names(True), _ocnaru_plus, (ocnaru.NUM_PLAYERS,)),
}


@dataclass(frozen=True, eq=False)
class Encoding:
    """An encoding for a number of players; `make` makes it.

    Attributes:
        name: Its name.
        names: The name of each feature.
        kernel: The function `write(game, seat, row)` that fills a row.

    Raises:
        ConfigurationError: The names are not different strings, or the kernel has other arguments.
    """

    name: str
    names: tuple[str, ...] = field(repr=False)
    kernel: EncodingKernel = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", _checked_names(self.name, self.names))
        kernel: Any = self.kernel  # a plain function will do
        made = kernel if isinstance(kernel, EncodingKernel) else EncodingKernel(kernel)
        object.__setattr__(self, "kernel", made)

    @property
    def size(self) -> int:
        """The number of features in a row."""
        return len(self.names)

    @property
    def handle(self) -> Any:
        """The encoding as the kernel `write` takes it."""
        return self.kernel.handle

    def write(self, game: Game, seat: int, row: npt.NDArray[np.float32]) -> None:
        """Fill a contiguous float32 row of at least `size` numbers.

        Raises:
            ConfigurationError: The row is of another kind or too short, or there is no such game or
                seat.
            PositionError: A number of the record is out of its range.
        """
        batch = core.in_range(game)
        (who,) = check_seats(batch, [seat])
        check_array("row", row, np.float32, self.size)
        self.kernel(batch[0], int(who), row)


def registered() -> tuple[str, ...]:
    """The names of all encodings: the built-in ones, then those added by `register`."""
    return tuple(_FAMILIES)


def register(
    name: str, features: Features, kernel: Kernel, num_players: Sequence[int] = _EVERY_SIZE
) -> None:
    """Add an encoding, which every environment, data set and saved policy then knows by its name.

    Examples:
        >>> from monopoly_env import encoding, monopoly_v0
        >>> def write(game, seat, row):  # compiled on first use; fills one float32 row
        ...     row[0] = game.cash[seat] / 10000
        ...     row[1] = game.position[seat] / 40
        >>> encoding.register("cash_and_square", ("cash", "square"), write)
        >>> env = monopoly_v0.env(encoding="cash_and_square")
        >>> env.reset(seed=0)
        >>> env.last()[0]["observation"].shape
        (2,)

    Args:
        name: Letters, digits, `_`, `-`, `+` and `/`. An earlier one of yours is replaced.
        features: The name of each feature; or a function of the number of players.
        kernel: `write(game, seat, row)` fills the float32 row with what the seat sees, and only
            reads the game. `monopoly_env.testing.check_encoding` checks it.
        num_players: The sizes of table that it supports.

    Raises:
        ConfigurationError: The name, the features or the sizes are invalid, or the kernel takes
            other arguments.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[\w+/-]+", name):
        allowed = "letters, digits, '_', '-', '+' and '/'"
        raise ConfigurationError(f"The name of an encoding may only have {allowed}, not {name!r}.")
    if name in NAMES:
        raise ConfigurationError(f"The encoding {name!r} is built in: choose another name.")
    for count in num_players:
        whole_number("num_players", count, MIN_PLAYERS, MAX_PLAYERS)
    made = kernel if isinstance(kernel, EncodingKernel) else EncodingKernel(kernel)
    fixed = () if callable(features) else _checked_names(name, features)
    names_of = features if callable(features) else lambda _: fixed
    _FAMILIES[name] = _Family(names_of, made, tuple(num_players))


def make(name: str = "standard", num_players: int = 4, pad_to: int | None = None) -> Encoding:
    """Make an encoding for tables of `num_players`.

    Args:
        name: One of `registered()`.
        num_players: 2 to 8; `ocnaru100` and `ocnaru100+` support only 2.
        pad_to: Make rows as long as for this many players. Absent opponents are zeros.

    Examples:
        >>> from monopoly_env import encoding
        >>> encoding.make("ocnaru100", num_players=2).size
        100

    Raises:
        ConfigurationError: The name is unknown, or not for this number of players.
    """
    if name not in _FAMILIES:
        raise ConfigurationError(
            f"Unknown encoding {name!r}. {nearest(name, _FAMILIES)} encoding.register adds your"
            " own."
        )
    family = _FAMILIES[name]
    whole_number("num_players", num_players, MIN_PLAYERS, MAX_PLAYERS)
    if pad_to is not None:
        whole_number("pad_to", pad_to, num_players, MAX_PLAYERS)
    count = int(pad_to or num_players)
    if num_players not in family.players or count not in family.players:
        sizes = ", ".join(map(str, family.players))
        raise ConfigurationError(
            f"Encoding {name!r} is for {sizes} players, not num_players={num_players},"
            f" pad_to={pad_to}. Use 'standard' for other tables."
        )
    return _made(name, family, count)


@cache
def _made(name: str, family: _Family, count: int) -> Encoding:
    return Encoding(name, tuple(family.features(count)), family.kernel)


def _checked_names(name: str, features: object) -> tuple[str, ...]:
    """The names of features as a tuple; ConfigurationError unless they are different strings."""
    names = (
        tuple(features) if isinstance(features, Sequence) and not isinstance(features, str) else ()
    )
    if not names or not all(isinstance(one, str) for one in names) or len(set(names)) < len(names):
        wanted = f"different names, one a number, not {features!r:.80}"
        raise ConfigurationError(f"Encoding {name!r}: its features must be {wanted}.")
    return names


def fitting(encoding: str | Encoding, num_players: int) -> Encoding:
    """An encoding for tables of `num_players`, given by name or made already.

    Raises:
        ConfigurationError: The name is unknown, the encoding has no room for this many players, or
            it writes longer rows than it has features.
    """
    made = make(encoding, num_players) if isinstance(encoding, str) else encoding
    if not isinstance(made, Encoding):
        raise ConfigurationError(
            f"encoding={encoding!r:.80} must be a name or an Encoding, as encoding.make returns it."
        )
    family = _FAMILIES.get(made.name)
    least = size(made.name, num_players) if family and made.kernel is family.kernel else 0
    if made.size < least:
        raise ConfigurationError(
            f"Encoding {made.name!r} of {made.size} features has no room for {num_players} players,"
            f" who take {least}. Use pad_to."
        )
    _try_out(made, num_players)
    return made


@cache
def _try_out(encoding: Encoding, num_players: int) -> None:
    """Refuse an encoding that writes beyond its row, before it reaches the arrays of a batch."""
    room = np.full(encoding.size + 2 * _GUARD, _MARK)
    row = room[_GUARD:-_GUARD]
    (game,) = core.new_games([0], num_players)
    try:
        for seat in range(num_players):
            encoding.kernel(game, seat, row)
    except IndexError as error:
        raise _too_long(encoding, num_players) from error
    if (room[:_GUARD] != _MARK).any() or (room[-_GUARD:] != _MARK).any():
        raise _too_long(encoding, num_players)


def _too_long(encoding: Encoding, num_players: int) -> ConfigurationError:
    return ConfigurationError(
        f"Encoding {encoding.name!r} has {encoding.size} features, but writes more than that for"
        f" {num_players} players. Name one feature for each number of a row."
    )


def names(
    name: str = "standard", num_players: int = 4, pad_to: int | None = None
) -> tuple[str, ...]:
    """The name of each feature of an encoding, with the arguments and errors of `make`.

    Examples:
        >>> from monopoly_env import encoding
        >>> encoding.names("standard", num_players=2)[:2]
        ('decision: over', 'decision: buy')
    """
    return make(name, num_players, pad_to).names


def size(name: str = "standard", num_players: int = 4, pad_to: int | None = None) -> int:
    """The number of features of an encoding, with the arguments and errors of `make`.

    Examples:
        >>> from monopoly_env import encoding
        >>> encoding.size("standard", num_players=8)
        1226
    """
    return make(name, num_players, pad_to).size


@entry
def _write_all(handle: int, games: Games, seats: Array1[np.int64], out: Array2[np.float32]) -> None:
    out = borrowed(out)
    for i in range(len(games)):
        write(handle, games[i], seats[i], out[i])


def observe(
    game: Game, name: str = "standard", seat: int | None = None, pad_to: int | None = None
) -> npt.NDArray[np.float32]:
    """The observation of one game: (D,) float32.

    Examples:
        >>> import monopoly_env as me
        >>> me.encoding.observe(me.new_game(num_players=4)).shape
        (810,)

    Args:
        game: A record.
        name: One of `registered()`.
        seat: The observing seat; by default the player to decide.
        pad_to: See `make`.

    Raises:
        ConfigurationError: No such name or seat, or the encoding is not for so many players.
        PositionError: A number of the record is out of its range.
    """
    seats = None if seat is None else np.array([seat])
    return observe_all(core.batch_of(game, write=False), name, seats, pad_to).reshape(-1)


def observe_all(
    games: Games,
    name: str = "standard",
    seats: npt.ArrayLike | None = None,
    pad_to: int | None = None,
) -> npt.NDArray[np.float32]:
    """The observations of (B,) games: (B, D) float32.

    Args:
        games: (B,) records.
        name: One of `registered()`.
        seats: (B,) observing seats; by default the players to decide.
        pad_to: See `make`. It is required if the games differ in their number of players.

    Raises:
        ConfigurationError: No such name or seat, or the encoding is not for so many players.
        PositionError: A number of a record is out of its range.
    """
    games = core.check_ranges(games)
    who = check_seats(games, games["player"] if seats is None else seats)
    return observe_known(games, name, who, pad_to)


def observe_known(
    games: Games, name: str, seats: npt.NDArray[np.int64], pad_to: int | None
) -> npt.NDArray[np.float32]:
    """As `observe_all`, of records and (B,) seats that are known to be sound."""
    players = games["num_players"]
    most = int(players.max()) if len(games) else MIN_PLAYERS
    if pad_to is None and np.any(players != most):
        counts = sorted(set(players.tolist()))
        raise ConfigurationError(f"Games of {counts} players need pad_to, such as pad_to={most}.")
    encoding = make(name, most, pad_to)
    _try_out(encoding, most)
    out = np.empty((len(games), encoding.size), np.float32)
    _write_all(encoding.handle, games, seats, out)
    return out
