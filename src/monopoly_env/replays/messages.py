"""Messages of players: untrusted text, cleaned and cut, with an optional promise in words."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from monopoly_env.errors import ConfigurationError, FormatError, shortened

MOST_CHARACTERS: Final = 200
MOST_MESSAGES: Final = 500  # of a game; later ones are dropped
_MOST_READ: Final = 1 << 14  # characters; the rest of a text is not read


@dataclass(frozen=True)
class Message:
    """A player's message with an action.

    Attributes:
        text: One line of at most 200 characters, without control and format characters; empty if
            there is only a promise.
        promise: The promise in words, cleaned in the same way; empty if there is none.

    Raises:
        ConfigurationError: A text is not clean (`clean`), or the message is empty.
    """

    text: str = ""
    promise: str = ""

    def __post_init__(self) -> None:
        for given in (self.text, self.promise):
            if given != clean(given):
                raise ConfigurationError(
                    f"{shortened(given)} is no message: one line of at most {MOST_CHARACTERS}"
                    " characters, without control characters."
                )
        if not self.text and not self.promise:
            raise ConfigurationError("A message has a text, or a promise, or both.")

    def data(self) -> dict[str, str]:
        """As JSON values."""
        given = {"text": self.text, "promise": self.promise}
        return {name: value for name, value in given.items() if value}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Message:
        """The inverse of `data`; nothing is cleaned.

        Raises:
            FormatError: The data are invalid.
        """
        text, promise = data.get("text", ""), data.get("promise", "")
        if not isinstance(text, str) or not isinstance(promise, str):
            raise FormatError("A message or a promise is not a text.")
        try:
            return cls(text, promise)
        except ConfigurationError as error:
            raise FormatError(str(error)) from error


def clean(text: str) -> str:
    """A text as one line of at most 200 characters.

    Control, format and unknown characters, which could control a terminal or hide words by changing
    the direction of text, become spaces.
    """
    read = text[:_MOST_READ]
    plain = "".join(" " if unicodedata.category(one)[0] in "CZ" else one for one in read)
    return " ".join(plain.split())[:MOST_CHARACTERS].rstrip()
