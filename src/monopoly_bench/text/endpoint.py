"""A chat endpoint that speaks the protocol of OpenAI's `/chat/completions`.

Most servers of language models do.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
import urllib.request
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import urlsplit

from monopoly_bench import prompts
from monopoly_env.errors import ConfigurationError, PolicyError, shortened, whole_number
from monopoly_env.files import read_json
from monopoly_env.replays.messages import clean

_MOST_BYTES: Final = 1 << 22  # of a reply
_MOST_TOKENS: Final = 1 << 40
_DAY: Final = 86_400  # seconds
_PIECE: Final = 1 << 16  # bytes
_FIRST_WAIT: Final = 0.5  # seconds before the first retry; each further wait is twice as long
_LONGEST_WAIT: Final = 60.0
_MOST_RETRIES: Final = 1000

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Reply:
    """What a model answered, and what it took.

    Attributes:
        text: The answer.
        prompt_tokens: Tokens that were read.
        completion_tokens: Tokens that were written.
        counted: Whether the server counted the tokens; otherwise they are a quarter of the
            characters.
        seconds: Until the answer was there, with waits for a busy server.
    """

    text: str
    prompt_tokens: int
    completion_tokens: int
    counted: bool
    seconds: float


@dataclass(frozen=True)
class Endpoint:
    """A model on a server.

    Attributes:
        url: Up to and without `/chat/completions`, such as `http://localhost:8000/v1`.
        model: The server's name of the model.
        key_variable: The environment variable that holds the API key. The key is read for each call
            and kept nowhere; without the variable, none is sent.
        timeout: Seconds until an answer must be complete.
        temperature: Of sampling; None: the server's own.
        max_tokens: Of an answer; None: the server's own.
        max_retries: How often a server is asked again that is busy (429), fails (5xx) or can't be
            reached. The first wait is half a second, or what the server asks for; waits double.
    """

    url: str
    model: str
    key_variable: str = "OPENAI_API_KEY"
    timeout: float = 60.0
    temperature: float | None = None
    max_tokens: int | None = None
    max_retries: int = 4

    def __post_init__(self) -> None:
        if not _is_address(self.url):
            raise ConfigurationError(
                f"url={shortened(self.url)} must be an address with http:// or https://, such as http://localhost:8000/v1."
            )
        if not self.model:
            raise ConfigurationError(
                "model is empty: give the name by which the server knows the model."
            )
        if not 0 < self.timeout <= _DAY:
            raise ConfigurationError(
                f"timeout={self.timeout!r} must be a positive number of seconds, at most {_DAY:,}."
            )
        whole_number("max_retries", self.max_retries, 0, _MOST_RETRIES)

    def chat(self, messages: Messages) -> Reply:
        """Ask for the next message of a conversation.

        Raises:
            PolicyError: The server can't be reached, refuses, takes too long, or sends something
                else than an answer.
        """
        began = time.monotonic()
        body = self._answer(json.dumps(self._body(messages)).encode())
        seconds = time.monotonic() - began
        data = read_json(body)
        try:
            text = data["choices"][0]["message"]["content"]
            valid = isinstance(text, str | None)
        except (KeyError, IndexError, TypeError):
            valid = False
        if not valid:
            raise self._error(f"no answer in {_text(body)}")
        text = text or ""
        read, written = (_tokens(data.get("usage"), kind) for kind in ("prompt", "completion"))
        if read is None or written is None:
            asked = sum(prompts.tokens(message["content"]) for message in messages)
            return Reply(text, asked, prompts.tokens(text), False, seconds)
        return Reply(text, read, written, True, seconds)

    def _body(self, messages: Messages) -> dict[str, Any]:
        limits = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        given = {name: value for name, value in limits.items() if value is not None}
        return {"model": self.model, "messages": [dict(message) for message in messages], **given}

    def _answer(self, body: bytes) -> bytes:
        """What the server answers, once it is not busy."""
        for retry in range(self.max_retries):
            try:
                return self._answer_in_time(body)
            except _BusyError as busy:
                wait = _FIRST_WAIT * 2**retry if busy.after is None else busy.after
                time.sleep(min(wait, _LONGEST_WAIT))
        return self._answer_in_time(body)

    def _answer_in_time(self, body: bytes) -> bytes:
        """One call, on a thread: the timeout of a socket bounds each read and not the answer."""
        answer: Future[bytes] = Future()

        def call() -> None:
            try:
                answer.set_result(self._call(body))
            except Exception as error:  # whatever it is, it is raised below
                answer.set_exception(error)

        threading.Thread(target=call, daemon=True).start()
        try:
            return answer.result(self.timeout)
        except TimeoutError:
            raise self._error(f"no answer within {self.timeout:g} seconds.") from None

    def _call(self, body: bytes) -> bytes:
        """Post a body.

        Raises:
            TimeoutError: It takes too long. PolicyError: Anything else failed.
        """
        headers = {"Content-Type": "application/json"}
        if key := self._key():
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(f"{self.url.rstrip('/')}/chat/completions", body, headers)
        deadline = time.monotonic() + self.timeout
        received = bytearray()
        try:
            opener = urllib.request.build_opener(_AsItIs)
            with opener.open(request, timeout=self.timeout) as reply:
                while len(received) <= _MOST_BYTES and (part := reply.read1(_PIECE)):
                    received += part
                    if time.monotonic() > deadline:
                        raise TimeoutError
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)  # of a URLError
            if isinstance(reason, TimeoutError):
                raise TimeoutError from None
            kind = _BusyError if isinstance(reason, ConnectionError) else PolicyError
            raise self._error(f"{reason}.", kind) from None
        told = f"{reply.status} {reply.reason}. {_text(received)}"
        if (
            reply.status == HTTPStatus.TOO_MANY_REQUESTS
            or reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        ):
            raise self._error(told, _BusyError, _seconds(reply.headers["Retry-After"]))
        if location := reply.headers["Location"]:
            told = f"{reply.status}: it sends to {location}, which is not followed."
        if reply.status != HTTPStatus.OK:
            raise self._error(told)
        if len(received) > _MOST_BYTES:
            raise self._error(f"its answer has more than {_MOST_BYTES:,} bytes.")
        return bytes(received)

    def _key(self) -> str:
        key = os.environ.get(self.key_variable, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise PolicyError(
                f"The key in {self.key_variable} has characters that no key can have."
            )
        return key

    def _error(
        self, text: str, kind: type[PolicyError] = PolicyError, *details: Any
    ) -> PolicyError:
        """The error that says this, in a line without the key, which a server may quote."""
        if key := self._key():
            text = text.replace(key, "...")
        return kind(f"{self.model!r} at {self.url}: {clean(text)}", *details)


class _BusyError(PolicyError):
    """The server may answer if it is asked again.

    Attributes:
        after: Seconds that it asks to wait; None: it does not say.
    """

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class _AsItIs(urllib.request.HTTPErrorProcessor):
    """Hands on every reply. To follow a redirect would take the key to another server."""

    def http_response(self, request: Any, response: Any) -> Any:
        """The reply itself, whatever its status."""
        return response

    https_response = http_response


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _tokens(usage: Any, kind: str) -> int | None:
    """What a server counted; None if that is no count."""
    count = usage.get(f"{kind}_tokens") if isinstance(usage, dict) else None
    return count if isinstance(count, int) and 0 <= count <= _MOST_TOKENS else None


def _seconds(header: str | None) -> float | None:
    return float(header) if header and re.fullmatch(r"\d{1,9}(\.\d+)?", header) else None


def _text(reply: bytes | bytearray) -> str:
    return reply.decode(errors="replace")
