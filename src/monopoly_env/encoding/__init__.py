"""Encodings: observations as rows of numbers, by name.

- `standard`: complete, for any number of players (`encoding.standard`).
- `ocnaru100`, `ocnaru100+`: the 100 features of Ocnaru's thesis, two players (`encoding.ocnaru`).

docs/observation.md lists every feature. It is generated from the tables from which the code takes its offsets.

```python
names = encoding.names("standard", num_players=2)
row = encoding.observe(game)  # float32, as seen by the player to decide
```
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from monopoly_env.core import batch_of
from monopoly_env.encoding import ocnaru, standard
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.game import MAX_PLAYERS, MIN_PLAYERS, Game, Games
from monopoly_env.kernels import array_kernel, borrowed, entry

NAMES: Final = ("standard", "ocnaru100", "ocnaru100+")
STANDARD, OCNARU, OCNARU_PLUS = range(len(NAMES))
_WRITERS: Final[tuple[Callable[..., None], ...]] = (standard.write, ocnaru.write, ocnaru.write_plus)


@dataclass(frozen=True)
class Encoding:
    """An encoding for a number of players.

    Attributes:
        name: One of `NAMES`.
        code: Its number, for the kernel `write`.
        names: The name of each feature.
        size: The number of features in a row.
        write: Its own kernel, `write(game, seat, row)`, which fills a float32 row of at least `size` numbers.
    """

    name: str
    code: int
    names: tuple[str, ...] = field(repr=False)
    write: Callable[..., None] = field(repr=False)

    @property
    def size(self) -> int:
        """The number of features in a row."""
        return len(self.names)


def make(name: str = "standard", num_players: int = 4, pad_to: int | None = None) -> Encoding:
    """Make an encoding for tables of `num_players`.

    Args:
        name: One of `NAMES`.
        num_players: 2 to 8; `ocnaru100` and `ocnaru100+` support only 2.
        pad_to: Make rows as long as for this many players. Absent opponents are zeros.

    Raises:
        ConfigurationError: The name is unknown, or the encoding does not support this number of players.
    """
    if name not in NAMES:
        raise ConfigurationError(f"Unknown encoding {name!r}. {nearest(name, NAMES)}")
    _check_players("num_players", num_players, MIN_PLAYERS)
    code = NAMES.index(name)
    if code == STANDARD:
        if pad_to is not None:
            _check_players("pad_to", pad_to, num_players)
        return _standard(int(pad_to or num_players))
    if num_players != ocnaru.NUM_PLAYERS or pad_to not in (None, ocnaru.NUM_PLAYERS):
        raise ConfigurationError(
            f"Encoding {name!r} is for 2 players, not num_players={num_players}, pad_to={pad_to}. Use 'standard' for other tables."
        )
    return Encoding(name, code, ocnaru.names(code == OCNARU_PLUS), _WRITERS[code])


@lru_cache
def _standard(num_players: int) -> Encoding:
    return Encoding(NAMES[STANDARD], STANDARD, standard.names(num_players), standard.write)


def _check_players(argument: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= MAX_PLAYERS:
        raise ConfigurationError(f"{argument}={value!r} must be a whole number from {least} to {MAX_PLAYERS}.")


def names(name: str = "standard", num_players: int = 4, pad_to: int | None = None) -> tuple[str, ...]:
    """The name of each feature of an encoding. The arguments are those of `make`."""
    return make(name, num_players, pad_to).names


def size(name: str = "standard", num_players: int = 4, pad_to: int | None = None) -> int:
    """The number of features of an encoding. The arguments are those of `make`."""
    return make(name, num_players, pad_to).size


@array_kernel
def write(code: int, game: Game, seat: int, out: Any) -> None:
    """Write the observation of a seat into a float32 row, in the encoding whose `Encoding.code` is given."""
    if code == STANDARD:
        standard.write(game, seat, out)
    elif code == OCNARU:
        ocnaru.write(game, seat, out)
    else:
        ocnaru.write_plus(game, seat, out)


@entry()
def _write_all(code: int, games: Games, seats: Any, out: Any) -> None:
    out = borrowed(out)
    for i in range(len(games)):
        write(code, games[i], seats[i], out[i])


def observe(game: Game, name: str = "standard", seat: int | None = None, pad_to: int | None = None) -> npt.NDArray[np.float32]:
    """Observe one game.

    Args:
        game: The game.
        name: One of `NAMES`.
        seat: The observing seat; by default the player to decide.
        pad_to: See `make`.

    Returns:
        (D,) float32, with D = `size(name, game.num_players, pad_to)`.

    Raises:
        ConfigurationError: The name is unknown, the seat does not exist, or the encoding does not support this number of players.
    """
    rows = observe_all(batch_of(game), name, None if seat is None else np.array([seat]), pad_to)
    return rows.reshape(-1)


def observe_all(
    games: Games, name: str = "standard", seats: npt.ArrayLike | None = None, pad_to: int | None = None
) -> npt.NDArray[np.float32]:
    """Observe many games.

    Args:
        games: (B,) records.
        name: One of `NAMES`.
        seats: (B,) observing seats; by default the players to decide.
        pad_to: See `make`. It is required if the games differ in their number of players.

    Returns:
        (B, D) float32.

    Raises:
        ConfigurationError: As for `observe`.
    """
    players = games["num_players"]
    most = int(players.max()) if len(games) else MIN_PLAYERS
    if pad_to is None and np.any(players != most):
        raise ConfigurationError(f"Games of {sorted(set(players.tolist()))} players need pad_to, such as pad_to={most}.")
    encoding = make(name, most, pad_to)
    who = games["player"] if seats is None else np.asarray(seats)
    if who.shape != games.shape or not np.issubdtype(who.dtype, np.integer) or np.any((who < 0) | (who >= players)):
        raise ConfigurationError(f"Seats must be {len(games)} whole numbers from 0 to the number of players less one, not {seats!r}.")
    out = np.empty((len(games), encoding.size), np.float32)
    _write_all(encoding.code, games, who.astype(np.int64), out)
    return out
