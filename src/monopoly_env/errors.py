"""The library's exceptions, what their messages are made of, and checks that raise them.

Catch `MonopolyError` to catch them all.

    >>> import monopoly_env as me
    >>> try:
    ...     me.Rules(jail_fine=-1)
    ... except me.MonopolyError as error:
    ...     print(error)
    Option jail_fine=-1 must be a whole number from 0 to 1000.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

ILLEGAL: Final = ("raise", "penalize", "random")  # what environments do with an illegal action


class MonopolyError(Exception):
    """Base class of every error that this library raises on purpose."""


class RulesError(MonopolyError, ValueError):
    """An unknown preset or option, a value out of range, or options that contradict each other."""


class IllegalActionError(MonopolyError, ValueError):
    """An action that the rules do not allow here. The game is unchanged."""


class PositionError(MonopolyError, ValueError):
    """A position that cannot arise. The message names the inconsistency."""


class FormatError(MonopolyError, ValueError):
    """A file that is corrupt, of another kind, or of another version."""


class ConfigurationError(MonopolyError, ValueError):
    """An invalid argument, such as a number of players, a name, a shape or a folder."""


class RenderModeError(ConfigurationError, TypeError):
    """A way of rendering that an environment lacks; Stable-Baselines3 expects a TypeError."""


class GameOverError(IllegalActionError):
    """A step after the game has ended."""


class PolicyError(MonopolyError, RuntimeError):
    """A policy failed: it raised an error (the cause of this one), exited, or changed a game."""


class EngineError(MonopolyError, RuntimeError):
    """An invariant of the engine is broken. This is a bug: please report it with the saved game."""


def whole_number(
    name: str,
    value: object,
    low: int,
    high: int | None = None,
    error: type[MonopolyError] = ConfigurationError,
) -> int:
    """An argument as an int from `low` to `high`; `True` and 3.0 are no whole numbers.

    Raises:
        MonopolyError: It is something else; of the kind `error`.
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, Integral)
        or int(value) < low
        or (high is not None and int(value) > high)
    ):
        limit = "on" if high is None else f"to {_bound(high)}"
        given = f"{name}{'=' if name.isidentifier() else ' '}{shortened(value)}"
        raise error(f"{given} must be a whole number from {low} {limit}.")
    return int(value)


def integer(value: Any) -> int | None:
    """The int of an integer that is no bool, or of an array or tensor of one; else None."""
    try:
        held = value.item() if hasattr(value, "item") else value
        return None if isinstance(held, bool) else int(held.__index__())
    # PyTorch raises the last for several numbers
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return None


def check_illegal(illegal: object) -> str:
    """The handling of illegal actions, one of `ILLEGAL`; or a ConfigurationError."""
    if not isinstance(illegal, str) or illegal not in ILLEGAL:
        raise ConfigurationError(
            f"illegal={shortened(illegal)} is unknown. {nearest(illegal, ILLEGAL)}"
        )
    return illegal


def check_actions(actions: Any, games: int) -> NDArray[Any]:
    """Actions as an array of integers, one a game; ConfigurationError if it has another shape."""
    given = array_of(actions)
    if given.shape != (games,) or given.dtype.kind not in "iu":
        raise ConfigurationError(
            f"actions must be integers of shape ({games},), one a game, not {given.dtype} of shape"
            f" {given.shape}."
        )
    return given


def check_threads(threads: object) -> int:
    """A number of threads, or ConfigurationError; by default one per core of this process."""
    if threads is not None:
        return whole_number("threads", threads, 1)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_seat(seat: object, players: int) -> int:
    """The learner's seat, -1 for "random"; ConfigurationError if there is no such seat."""
    if seat == "random":
        return -1
    number = integer(seat)
    if number is None or not 0 <= number < players:
        raise ConfigurationError(
            f"seat={shortened(seat)} must be 'random' or a seat from 0 to {players - 1}."
        )
    return number


def table_size(opponents: Sequence[Any], num_players: int | None, default: int) -> int:
    """Seats of a table: `num_players`, or those of a learner and its opponents, or `default`.

    Raises:
        ConfigurationError: The opponents make a table of another size.
    """
    seats = len(opponents) + 1
    if num_players is None:
        return seats if opponents else default
    if opponents and seats != num_players:
        table = f"{len(opponents)} opponents make a table of {seats}"
        raise ConfigurationError(f"{table}, not num_players={num_players}.")
    return num_players


def check_array(name: str, array: object, dtype: type, shape: tuple[int, ...] | int) -> None:
    """Raise ConfigurationError unless an array is contiguous and has this dtype and shape.

    A number as the shape is the least length of a row.
    """
    if isinstance(array, np.ndarray) and array.dtype == dtype and array.flags.c_contiguous:
        fits = (
            array.ndim == 1 and len(array) >= shape
            if isinstance(shape, int)
            else array.shape == shape
        )
        if fits:
            return
    wanted = f"of {shape} numbers or more" if isinstance(shape, int) else f"of shape {shape}"
    given = (
        f"{array.dtype} of shape {array.shape}"
        if isinstance(array, np.ndarray)
        else shortened(array)
    )
    raise ConfigurationError(
        f"The {name} must be contiguous {np.dtype(dtype)} {wanted}, not {given}."
    )


def check_seats(games: NDArray[Any], seats: Any) -> NDArray[np.int64]:
    """A seat for each of (B,) games, as int64; ConfigurationError if there is no such seat."""
    given = array_of(seats)
    if (
        given.shape != games.shape
        or given.dtype.kind not in "iu"
        or np.any((given < 0) | (given >= games["num_players"]))
    ):
        wanted = f"{len(games)} whole numbers from 0 to the number of players less one"
        raise ConfigurationError(f"Seats must be {wanted}, not {shortened(seats)}.")
    return given.astype(np.int64)


def array_of(values: Any) -> NDArray[Any]:
    """Values as an array; rows of different lengths become an empty array of objects."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.empty(0, object)


def _bound(number: int) -> str:
    return (
        f"2**{number.bit_length()} - 1"
        if number >= 1 << 31 and not number & (number + 1)
        else f"{number:,}"
    )


def shortened(value: object, most: int = 80) -> str:
    """The `repr` of a value in an error message; a long one is cut."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]}..."


def nearest(name: object, valid: Iterable[object], listed: str = "") -> str:
    """A hint for an error message: the nearest valid name, then all of them.

    Of many, it says where they are `listed`, and names the nearest three.
    """
    names = [str(item) for item in valid]
    return (
        f"{near(name, names, 3)}All names: {listed}."
        if listed
        else f"{near(name, names)}Valid: {', '.join(names)}."
    )


def near(name: object, valid: Iterable[str], most: int = 1) -> str:
    """The question "Did you mean ...? " with the nearest valid names; empty if none is near."""
    *others, last = [
        repr(item) for item in difflib.get_close_matches(str(name), valid, n=most)
    ] or [""]
    return f"Did you mean {', '.join(others)}{' or ' if others else ''}{last}? " if last else ""
