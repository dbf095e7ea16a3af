"""What a player sees: observations as rows of numbers, by name.

- `standard`: any number of players, complete (`encoding.standard`).
- `ocnaru100`, `ocnaru100+`: the thesis's 100 features, two players (`encoding.ocnaru`).

Every feature is listed in docs/observation.md, which is generated from the tables that the code takes its places from.

```python
names = encoding.names("standard", num_players=2)
row = encoding.observe(game)  # float32, of the player to decide
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
        names: A name for each feature.
        size: How many features a row has.
        write: Its own kernel, `write(game, seat, row)`: fills a float32 row of at least `size`.
    """

    name: str
    code: int
    names: tuple[str, ...] = field(repr=False)
    write: Callable[..., None] = field(repr=False)

    @property
    def size(self) -> int:
        """How many features a row has."""
        return len(self.names)


def make(name: str = "standard", num_players: int = 4, pad_to: int | None = None) -> Encoding:
    """An encoding for tables of `num_players`.

    Args:
        name: One of `NAMES`.
        num_players: 2 to 8; `ocnaru100` and `ocnaru100+` know 2 only.
        pad_to: Rows as long as for this many players: absent opponents are zeros.

    Raises:
        ConfigurationError: An unknown name, or a number of players that the encoding does not know.
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
    """A name for each feature of an encoding; see `make`."""
    return make(name, num_players, pad_to).names


def size(name: str = "standard", num_players: int = 4, pad_to: int | None = None) -> int:
    """How many features an encoding has; see `make`."""
    return make(name, num_players, pad_to).size


@array_kernel
def write(code: int, game: Game, seat: int, out: Any) -> None:
    """Write the observation of a seat in the encoding of this number into a float32 row (see `Encoding.code`)."""
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
    """The observation of one game.

    Args:
        game: The game.
        name: One of `NAMES`.
        seat: Who looks; by default the player to decide.
        pad_to: See `make`.

    Returns:
        A float32 array of `size(name, game.num_players, pad_to)` features.

    Raises:
        ConfigurationError: An unknown name, a seat that does not exist, or a number of players that the encoding does not know.
    """
    rows = observe_all(batch_of(game), name, None if seat is None else np.array([seat]), pad_to)
    return rows.reshape(-1)


def observe_all(
    games: Games, name: str = "standard", seats: npt.ArrayLike | None = None, pad_to: int | None = None
) -> npt.NDArray[np.float32]:
    """The observations of many games of the same number of players.

    Args:
        games: (B,) records.
        name: One of `NAMES`.
        seats: (B,) who looks; by default the players to decide.
        pad_to: See `make`; needed where games differ in their number of players.

    Returns:
        A float32 array of shape (B, `size`).

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
