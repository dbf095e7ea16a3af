"""A chat endpoint that speaks the protocol of OpenAI's `/chat/completions`, as most servers of language models do."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from monopoly_env import prompts
from monopoly_env.errors import ConfigurationError, PolicyError, shortened

_MOST_BYTES: Final = 1 << 22  # of a reply

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Reply:
    """What a model answered, and what it took.

    Attributes:
        text: The answer.
        prompt_tokens: Tokens that were read.
        completion_tokens: Tokens that were written.
        counted: Whether the server counted the tokens; otherwise they are a quarter of the characters.
        seconds: Until the answer was there.
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
        key_variable: The environment variable that holds the API key. The key is read for each call and kept nowhere; without the
            variable, none is sent.
        timeout: Seconds to wait for an answer.
        temperature: Of sampling; None: the server's own.
        max_tokens: Of an answer; None: the server's own.
    """

    url: str
    model: str
    key_variable: str = "OPENAI_API_KEY"
    timeout: float = 60.0
    temperature: float | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ConfigurationError(f"url={shortened(self.url)} must begin with http:// or https://, such as http://localhost:8000/v1.")
        if not self.model:
            raise ConfigurationError("model is empty: give the name by which the server knows the model.")
        if not self.timeout > 0:
            raise ConfigurationError(f"timeout={self.timeout!r} must be a positive number of seconds.")

    def chat(self, messages: Messages) -> Reply:
        """Ask for the next message of a conversation.

        Raises:
            PolicyError: The server can't be reached, refuses, takes too long, or sends something else than an answer.
        """
        began = time.monotonic()
        data = self._post(self._body(messages))
        seconds = time.monotonic() - began
        try:
            text = data["choices"][0]["message"]["content"] or ""
        except (KeyError, IndexError, TypeError) as error:
            raise PolicyError(f"{self.model!r} at {self.url}: no answer in {shortened(data, 200)}.") from error
        usage = data.get("usage") or {}
        counted = "prompt_tokens" in usage and "completion_tokens" in usage
        read = usage["prompt_tokens"] if counted else sum(prompts.tokens(message["content"]) for message in messages)
        written = usage["completion_tokens"] if counted else prompts.tokens(text)
        return Reply(text, int(read), int(written), counted, seconds)

    def _body(self, messages: Messages) -> dict[str, Any]:
        limits = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        given = {name: value for name, value in limits.items() if value is not None}
        return {"model": self.model, "messages": [dict(message) for message in messages], **given}

    def _post(self, body: Mapping[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get(self.key_variable):
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(f"{self.url.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                return json.loads(answer.read(_MOST_BYTES))
        except urllib.error.HTTPError as error:
            told = error.read(200).decode(errors="replace")
            raise PolicyError(f"{self.model!r} at {self.url}: {error.code} {error.reason}. {self._without_key(told)}") from None
        except TimeoutError:
            raise PolicyError(f"{self.model!r} at {self.url}: no answer within {self.timeout:g} seconds.") from None
        except (OSError, ValueError) as error:
            raise PolicyError(f"{self.model!r} at {self.url}: {error}.") from None

    def _without_key(self, text: str) -> str:
        """What a server says of a refusal may quote the key."""
        key = os.environ.get(self.key_variable)
        return text.replace(key, "...") if key else text
