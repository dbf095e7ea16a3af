"""A language model as a policy.

It has prompts, answers, a second chance, a fallback, a log of all calls.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_bench import prompts, talk
from monopoly_bench.text.endpoint import Endpoint, Reply
from monopoly_bench.text.player import TextPlayer
from monopoly_env import actions
from monopoly_env.errors import ConfigurationError, MonopolyError, PolicyError
from monopoly_env.game import Game
from monopoly_env.policy.loop import answers
from monopoly_env.policy.names import resolve
from monopoly_env.policy.protocol import Decisions, Policy

KIND: Final = "language_model"
RAISE: Final = "raise"  # in place of a fallback
_TRIES: Final = 2  # an answer that can't be read is told why, once
_MILLION: Final = 1_000_000


class LanguageModel(TextPlayer):
    """Asks a model for each decision.

    Attributes:
        costs: `calls`, `prompt_tokens`, `completion_tokens`, `dollars`, `retries`, `fallbacks` and
            `decisions` so far.
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
        """Seat a model.

        Args:
            model: The server's name of the model.
            url: Of the server, without `/chat/completions`.
            menu: Whether a prompt lists every legal action, or only the kinds of them.
            fallback: The policy that decides when two answers could not be read, or the server
                failed, which stderr and all results tell; or `raise`: the game ends with an error.
            key_variable: The environment variable that holds the API key, if the server wants one.
            timeout: Seconds until an answer must be complete.
            temperature: Of sampling; None: the server's own.
            max_tokens: Of an answer; None: the server's own.
            max_retries: How often a server is asked again that is busy, fails or can't be reached.
            prices: Dollars for a million tokens read, and written.
            log: A file to which each call is added, a line of JSON; None: no file.
            name: What tables call it; by default the model's name.

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
        """Everything but the key."""
        return self._options

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Ask about one decision after another.

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
            told = f"note: {self.name}: {error} {fallback.name!r} decides in its place, from now on"
            print(f"{told} without a note; fallback={RAISE!r} stops instead.", file=sys.stderr)
        self.costs["fallbacks"] += 1
        action = int(answers(fallback, decision)[0])
        self._write({"outcome": "fallback", "by": fallback.name, "action": action})
        return action

    def _ask(self, game: Game) -> int:
        """The model's action.

        Raises:
            PolicyError: It gave none.
        """
        messages = [
            {"role": "system", "content": prompts.system(self.talk)},
            {
                "role": "user",
                "content": prompts.prompt(game, self._history.since(game), self.menu, self.talk),
            },
        ]
        about: dict[str, Any] = {
            "seed": [int(word) for word in game.seed], "seat": int(game.player),
            "turns": int(game.turns), "prompt": messages[1]["content"],
        }  # fmt: skip
        why = ""
        for attempt in range(_TRIES):
            try:
                reply = self.endpoint.chat(messages)
            except PolicyError as error:
                self._write(about | {"outcome": "failed", "error": str(error)})
                raise
            self._count(reply, attempt)
            told = about | asdict(reply) | {"attempt": attempt + 1}
            try:
                action = prompts.read(reply.text, game)
                said = self._said(reply.text, game)
            except MonopolyError as error:
                self._write(told | {"outcome": "unreadable", "error": str(error)})
                why = str(error)
                messages += [
                    {"role": "assistant", "content": reply.text},
                    {"role": "user", "content": str(error)},
                ]
            else:
                self._write(
                    told
                    | {
                        "outcome": "answered",
                        "action": action,
                        "action_text": actions.describe(action, game),
                        **said,
                    }
                )
                return action
        raise PolicyError(f"No action in {_TRIES} answers of {self.endpoint.model!r}. {why}")

    def _said(self, text: str, game: Game) -> dict[str, Any]:
        """Say what an answer says, where players may talk; what the log keeps of it."""
        message = None if self.talk is None else talk.read(text)
        if self.talk is not None:
            self.talk.say(message, game)
        return {} if message is None else {"said": message.data()}

    def _count(self, reply: Reply, attempt: int) -> None:
        dollars = (
            self.prices[0] * reply.prompt_tokens + self.prices[1] * reply.completion_tokens
        ) / _MILLION
        spent = (1, reply.prompt_tokens, reply.completion_tokens, dollars, min(attempt, 1))
        for name, amount in zip(_COSTS, spent, strict=False):
            self.costs[name] += amount

    def _write(self, entry: dict[str, Any]) -> None:
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(
                    json.dumps({"model": self.endpoint.model, **entry, "costs": self.costs}) + "\n"
                )


_COSTS: Final = (
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "dollars",
    "retries",
    "fallbacks",
    "decisions",
)
