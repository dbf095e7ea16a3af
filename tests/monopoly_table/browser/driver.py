"""A person at the table, as a browser sees one.

Waits for the own question and answers it by clicks or keys.
"""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

OWN = "main.table:not([data-asked=''])"
OVER = ".question.over"
PATIENCE = 60_000  # milliseconds; a busy machine is slow, and a test that fails shows it only once


@dataclass(frozen=True)
class Server:
    """Where the server is, and the host's token."""

    origin: str
    token: str

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(self.origin + "/api" + path, method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        data = None
        if body is not None:
            request.add_header("Content-Type", "application/json")
            data = json.dumps(body).encode()
        with urllib.request.urlopen(request, data, timeout=60) as answer:
            return json.load(answer)

    def wait_until_compiled(self) -> None:
        for _ in range(600):
            if self.ask("GET", "/about")["ready"]:
                return
            time.sleep(0.5)
        raise TimeoutError("The server is still compiling.")

    def link(self, **parts: Any) -> str:
        return (
            self.origin
            + "/#"
            + "&".join(f"{name}={value}" for name, value in {"token": self.token, **parts}.items())
        )

    def game(self, **setup: Any) -> str:
        """Begin a game: a person against `expert`, without waits."""
        seats = [{"kind": "person", "name": "Ann"}, {"kind": "policy", "policy": "expert"}]
        rules = {"preset": "short", "options": {}}
        body = {
            "rules": rules,
            "seats": seats,
            "seed": 1,
            "speed": 0,
            "paused": False,
            "turn_limit": 8,
        } | setup
        if "position" in setup:
            del body["rules"]
        return str(self.ask("POST", "/games", body)["game"])


def expect(what: Any) -> Any:
    """Playwright's assertions, which wait.

    A page is right once it has drawn, not the moment that a key was sent.
    """
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE)
    return expect(what)


def moved(page: Any, act: Callable[[], None]) -> None:
    """Act, and wait until the table shows another position."""
    before = page.locator("main.table").get_attribute("data-version")
    act()
    page.wait_for_function(
        "before => document.querySelector('main.table').dataset.version !== before", arg=before
    )


def wait_for_own_question(page: Any) -> bool:
    """Whether the person is asked; false once the game is over."""
    page.wait_for_selector(f"{OWN}, {OVER}")
    return not page.locator(OVER).count()


def click_on(page: Any) -> None:
    """Answer by a click: out of auctions, no to offers, else the first answer.

    In debt the first lot.
    """
    dock = page.locator(".dock")
    if dock.locator(".auction").count():
        button = dock.get_by_role("button", name="Leave the auction")
    elif dock.locator(".answers button.quiet").count():
        button = dock.locator(".answers button.quiet").first
    elif dock.locator(".answers button.main").count():
        button = dock.locator(".answers button.main").first
    else:
        verb = dock.locator("[data-verb]").first
        if verb.get_attribute("aria-pressed") != "true":
            verb.click()
        button = dock.locator(".verbs [data-action]").first
    moved(page, button.click)


def type_on(page: Any) -> None:
    """Answer by keys alone."""
    dock = page.locator(".dock")
    if dock.locator(".auction").count():
        moved(page, lambda: page.keyboard.press("0"))
    elif dock.locator(".answers button[data-action]").count():
        moved(page, lambda: page.keyboard.press("1"))
    else:  # in debt: a command, typed
        text = page.locator("#moves option").first.get_attribute("value")
        page.keyboard.press("/")
        page.keyboard.type(text)
        moved(page, lambda: page.keyboard.press("Enter"))
        page.keyboard.press("Escape")
