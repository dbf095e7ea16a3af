"""A language model as a policy, behind an endpoint with OpenAI's `/chat/completions` API."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
import urllib.request
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from monopoly_bench import prompts, talk
from monopoly_bench.seats import TextPlayer
from monopoly_env import actions
from monopoly_env.errors import (
    ConfigurationError,
    MonopolyError,
    PolicyError,
    shortened,
    whole_number,
)
from monopoly_env.files import read_json
from monopoly_env.game import Game
from monopoly_env.policy.loop import answers
from monopoly_env.policy.names import resolve
from monopoly_env.policy.protocol import Decisions, Policy
from monopoly_env.replays.messages import clean

KIND: Final = "language_model"
RAISE: Final = "raise"  # in place of a fallback
_TRIES: Final = 2  # an unreadable answer gets one retry with the reason
_COSTS: Final = (
    "calls", "prompt_tokens", "completion_tokens", "dollars", "retries", "fallbacks", "decisions",
)  # fmt: skip
_MILLION: Final = 1_000_000
_MOST_BYTES: Final = 1 << 22  # of a reply
_MOST_TOKENS: Final = 1 << 40
_DAY: Final = 86_400  # seconds
_PIECE: Final = 1 << 16  # bytes
_FIRST_WAIT: Final = 0.5  # seconds before the first retry; then exponential backoff
_LONGEST_WAIT: Final = 60.0
_MOST_RETRIES: Final = 1000

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Reply:
    """The answer of a model, and its costs.

    Attributes:
        text: The answer.
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written.
        counted: Whether the server counted the tokens; else they are estimated from characters.
        seconds: Time until the answer, including waits for a busy server.
    """

    text: str
    prompt_tokens: int
    completion_tokens: int
    counted: bool
    seconds: float


@dataclass(frozen=True)
class Endpoint:
    """A model on a server, with the options of `LanguageModel`."""

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
                f"url={shortened(self.url)} must be an address with http:// or https://, such as"
                " http://localhost:8000/v1."
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
            PolicyError: The server can't be reached, refuses, takes too long, or sends an invalid
                answer.
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
        """The server's answer, with retries while it is busy."""
        for retry in range(self.max_retries):
            try:
                return self._answer_in_time(body)
            except _BusyError as busy:
                wait = _FIRST_WAIT * 2**retry if busy.after is None else busy.after
                time.sleep(min(wait, _LONGEST_WAIT))
        return self._answer_in_time(body)

    def _answer_in_time(self, body: bytes) -> bytes:
        """One call, on a thread: the timeout of a socket bounds each read, not the whole answer."""
        answer: Future[bytes] = Future()

        def call() -> None:
            try:
                answer.set_result(self._call(body))
            except Exception as error:  # raised below
                answer.set_exception(error)

        threading.Thread(target=call, daemon=True).start()
        try:
            return answer.result(self.timeout)
        except TimeoutError:
            raise self._error(f"no answer within {self.timeout:g} seconds.") from None

    def _call(self, body: bytes) -> bytes:
        """Post a body.

        Raises:
            TimeoutError: It takes too long. PolicyError: Any other failure.
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
        message = f"{reply.status} {reply.reason}. {_text(received)}"
        busy, failed = HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.INTERNAL_SERVER_ERROR
        if reply.status == busy or reply.status >= failed:
            raise self._error(message, _BusyError, _seconds(reply.headers["Retry-After"]))
        if location := reply.headers["Location"]:
            message = f"{reply.status}: it sends to {location}, which is not followed."
        if reply.status != HTTPStatus.OK:
            raise self._error(message)
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
        """An error of one line, without the key, in case a server quotes it."""
        if key := self._key():
            text = text.replace(key, "...")
        return kind(f"{self.model!r} at {self.url}: {clean(text)}", *details)


class _BusyError(PolicyError):
    """A failure that may be retried.

    Attributes:
        after: Seconds to wait as the server asks, or None.
    """

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class _AsItIs(urllib.request.HTTPErrorProcessor):
    """A handler that returns every reply: following a redirect would send the key elsewhere."""

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
    """A token count of the server; None if invalid."""
    count = usage.get(f"{kind}_tokens") if isinstance(usage, dict) else None
    return count if isinstance(count, int) and 0 <= count <= _MOST_TOKENS else None


def _seconds(header: str | None) -> float | None:
    return float(header) if header and re.fullmatch(r"\d{1,9}(\.\d+)?", header) else None


def _text(reply: bytes | bytearray) -> str:
    return reply.decode(errors="replace")


class LanguageModel(TextPlayer):
    """A policy that asks a model for each decision.

    Attributes:
        costs: `calls`, `prompt_tokens`, `completion_tokens`, `dollars`, `retries`, `fallbacks` and
            `decisions` so far.

    Examples:
        >>> from monopoly_bench.language_model import LanguageModel
        >>> player = LanguageModel("qwen3", "http://localhost:8000/v1")  # no call yet
        >>> player.name, player.costs["calls"]
        ('qwen3', 0)
    """

    def __init__(
        self,
        model: str,
        url: str = "http://localhost:8000/v1",
        *,
        menu: bool = True,
        fallback: str = "random/no_trades",
        key_variable: str = "OPENAI_API_KEY",
        timeout: float = 60.0,
        temperature: float | None = None,
        max_tokens: int | None = None,
        max_retries: int = 4,
        prices: tuple[float, float] = (0.0, 0.0),
        log: str | None = None,
        name: str | None = None,
    ) -> None:
        """Create a player.

        Args:
            model: The server's name of the model.
            url: The server, without `/chat/completions`, such as `http://localhost:8000/v1`.
            menu: Whether a prompt lists every legal action, or only their kinds.
            fallback: The policy that decides after two unreadable answers or a failure of the
                server, which stderr and all results report; or `raise`: the game ends with an
                error.
            key_variable: The environment variable with the API key, which is read for each call and
                never saved; without it, no key is sent.
            timeout: Seconds until an answer must be complete.
            temperature: Sampling temperature; None: the server's default.
            max_tokens: Maximum of tokens in an answer; None: the server's default.
            max_retries: Retries of a server that is busy (429), fails (5xx) or can't be reached:
                after half a second, or as it asks; waits double.
            prices: Dollars for a million tokens read, and written.
            log: A file to which each call is appended as a line of JSON, or None.
            name: Its name in results; by default the model's name.

        Raises:
            ConfigurationError: A wrong url, number or fallback.
        """
        super().__init__()
        self.endpoint = Endpoint(
            url, model, key_variable, timeout, temperature, max_tokens, max_retries
        )
        self.name = name or model
        if len(prices) != 2 or not all(price >= 0 for price in prices):
            raise ConfigurationError(
                f"prices={prices!r} must be two numbers: dollars for a million tokens read, and"
                " written."
            )
        self.menu, self.prices = menu, tuple(prices)
        self.fallback = None if fallback == RAISE else resolve(fallback)
        self.log = None if log is None else Path(log)
        self.costs: dict[str, float] = dict.fromkeys(_COSTS, 0)
        self._options = {
            "model": model, "url": url, "menu": menu, "fallback": fallback,
            "key_variable": key_variable,
            "timeout": timeout, "temperature": temperature, "max_tokens": max_tokens,
            "max_retries": max_retries, "prices": list(prices), "log": log, "name": name,
        }  # fmt: skip

    @property
    def kind(self) -> str:
        """`language_model`."""
        return KIND

    def options(self) -> dict[str, Any]:
        """All options but the key."""
        return self._options

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Answer the decisions in sequence.

        Raises:
            PolicyError: The model gave no action, and there is no fallback.
        """
        chosen = np.zeros(len(decisions), np.int64)
        for number, game in enumerate(decisions.games):
            self.costs["decisions"] += 1
            try:
                chosen[number] = self._ask(game)
            except PolicyError as error:
                if self.fallback is None:
                    raise
                one = slice(number, number + 1)
                alone = Decisions(decisions.games[one].copy(), key=decisions.key[one])
                chosen[number] = self._fall_back(self.fallback, alone, error)
        return chosen

    def _fall_back(self, fallback: Policy, decision: Decisions, error: PolicyError) -> int:
        """The fallback's action."""
        if not self.costs["fallbacks"]:
            note = f"note: {self.name}: {error} {fallback.name!r} decides in its place, from now on"
            print(f"{note} without a note; fallback={RAISE!r} stops instead.", file=sys.stderr)
        self.costs["fallbacks"] += 1
        action = int(answers(fallback, decision)[0])
        self._write({"outcome": "fallback", "by": fallback.name, "action": action})
        return action

    def _ask(self, game: Game) -> int:
        """The model's action.

        Raises:
            PolicyError: It gave none.
        """
        prompt = prompts.prompt(game, self._history.since(game), self.menu, self.talk)
        messages = [
            {"role": "system", "content": prompts.system(self.talk)},
            {"role": "user", "content": prompt},
        ]
        place: dict[str, Any] = {
            "seed": [int(word) for word in game.seed], "seat": int(game.player),
            "turns": int(game.turns), "prompt": prompt,
        }  # fmt: skip
        for attempt in range(_TRIES):
            try:
                reply = self.endpoint.chat(messages)
            except PolicyError as error:
                self._write(place | {"outcome": "failed", "error": str(error)})
                raise
            self._count(reply, attempt)
            entry = place | asdict(reply) | {"attempt": attempt + 1}
            try:
                action = prompts.read(reply.text, game)
                said = self._said(reply.text, game)
            except MonopolyError as error:
                self._write(entry | {"outcome": "unreadable", "error": str(error)})
                messages += [
                    {"role": "assistant", "content": reply.text},
                    {"role": "user", "content": str(error)},
                ]
            else:
                text = actions.describe(action, game)
                about = {"outcome": "answered", "action": action, "action_text": text}
                self._write(entry | about | said)
                return action
        why = messages[-1]["content"]
        raise PolicyError(f"No action in {_TRIES} answers of {self.endpoint.model!r}. {why}")

    def _said(self, text: str, game: Game) -> dict[str, Any]:
        """Send the message of an answer, if players may talk; returns its log entry."""
        message = None if self.talk is None else talk.read(text)
        if self.talk is not None:
            self.talk.say(message, game)
        return {} if message is None else {"said": message.data()}

    def _count(self, reply: Reply, attempt: int) -> None:
        read, written = self.prices
        dollars = (read * reply.prompt_tokens + written * reply.completion_tokens) / _MILLION
        spent = (1, reply.prompt_tokens, reply.completion_tokens, dollars, min(attempt, 1))
        for name, amount in zip(_COSTS, spent, strict=False):
            self.costs[name] += amount

    def _write(self, entry: dict[str, Any]) -> None:
        if self.log is not None:
            line = json.dumps({"model": self.endpoint.model, **entry, "costs": self.costs})
            with self.log.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
