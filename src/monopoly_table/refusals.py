"""Refusals: what the server will not do, as a sentence and the status that goes with it."""

from __future__ import annotations

from typing import Final

from monopoly_env.errors import (
    ConfigurationError,
    FormatError,
    MonopolyError,
    PositionError,
    RulesError,
)

WRONG, NO_TOKEN, NOT_YOURS, UNKNOWN, MOVED_ON = 400, 401, 403, 404, 409
TOO_SLOW, TOO_LARGE, IMPOSSIBLE, TOO_MANY, BUSY = 408, 413, 422, 429, 503

_STATUS: Final = (
    (PositionError, IMPOSSIBLE),
    (RulesError, IMPOSSIBLE),
    (FormatError, IMPOSSIBLE),
    (MonopolyError, WRONG),
)


class RefusedError(ConfigurationError):
    """A request that is refused.

    Attributes:
        status: The status of HTTP.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def status_of(error: MonopolyError) -> int:
    """The status of HTTP for an error of this library."""
    if isinstance(error, RefusedError):
        return error.status
    return next(status for kind, status in _STATUS if isinstance(error, kind))
