"""The library's exceptions, what their messages are made of, and checks that raise them.

Catch `MonopolyError` to catch them all.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
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
    """A way of rendering that an environment lacks.

    Stable-Baselines3 asks for pictures first and takes a TypeError for a no.
    """


class GameOverError(IllegalActionError):
    """A step after the game has ended."""


class PolicyError(MonopolyError, RuntimeError):
    """A policy failed: it raised an error, exited, or changed a game.

    The error that it raised is the cause of this one.
    """


class EngineError(MonopolyError, RuntimeError):
    """An invariant of the engine is broken. This is a bug: please report it with the saved game."""


def whole_number(
    name: str,
    value: object,
    low: int,
    high: int | None = None,
    error: type[MonopolyError] = ConfigurationError,
) -> int:
    """Validate that an argument is a whole number in a range, and return it as an int.

    Args:
        name: Of the argument, or what else the message calls it.
        value: What was given. `True` and 3.0 are no whole numbers.
        low: The least valid number.
        high: The greatest; by default there is none.
        error: What to raise.

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
    """The int that a value holds: an integer that is no bool, or an array or tensor of one.

    None: it holds something else.
    """
    try:
        held = value.item() if hasattr(value, "item") else value
        return None if isinstance(held, bool) else int(held.__index__())
    # PyTorch raises the last for several numbers
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return None


def check_illegal(illegal: object) -> str:
    """Validate what an environment does with an illegal action and return it.

    Raises:
        ConfigurationError: There is no such choice.
    """
    if not isinstance(illegal, str) or illegal not in ILLEGAL:
        raise ConfigurationError(
            f"illegal={shortened(illegal)} is unknown. {nearest(illegal, ILLEGAL)}"
        )
    return illegal


def check_array(name: str, array: object, dtype: type, shape: tuple[int, ...] | int) -> None:
    """Raise unless an array is contiguous, of a type and a shape, as kernels take it.

    Args:
        name: What messages call it.
        array: What was given.
        dtype: Of its numbers.
        shape: Its shape; or how many numbers a row must have at least.

    Raises:
        ConfigurationError: It is something else.
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
    """A seat for each of some games, of whichever package, as (B,) int64.

    Raises:
        ConfigurationError: They are no whole numbers, or there is no such seat.
    """
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
    """What was given as an array.

    Rows of different lengths, which are none, as an empty one of objects.
    """
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
    """A hint for an error message: valid names that are near, then all of them.

    Args:
        name: The value given.
        valid: The values that would have been accepted.
        listed: Where a user finds all of them, if they are many: the message then names the nearest
            three.
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
