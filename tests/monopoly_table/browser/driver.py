"""A person at the table, as a browser sees one.

Waits for the own question and answers it by clicks or keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.table import Server

# A question is answered once it has settled: the second half of a double click does nothing
OWN = "main.table:not([data-asked='']):not([data-settling])"
OVER = ".question.over"
PATIENCE = 60_000  # milliseconds; a busy machine is slow, and a test that fails shows it only once


class PageServer(Server):
    """A server, and the links of its page."""

    @property
    def origin(self) -> str:
        return f"http://{self.address}"

    def link(self, **parts: Any) -> str:
        fragment = {"token": self.token, **parts}.items()
        return f"{self.origin}/#" + "&".join(f"{name}={value}" for name, value in fragment)

    def game(self, **setup: Any) -> str:
        """Begin a game: a person against `expert`, without waits."""
        seats = [{"kind": "person", "name": "Ann"}, {"kind": "policy", "policy": "expert"}]
        rules = {} if "position" in setup else {"rules": {"preset": "short"}}
        usual = {"seats": seats, "seed": 1, "speed": 0, "turn_limit": 8, **rules}
        return self.begin(**(usual | setup))


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


def play_and_reload(server: PageServer, page: Any) -> str:
    """Answer three questions of a new game, and reload its page; its version then."""
    page.goto(server.link(game=server.game(turn_limit=0)))
    for _ in range(3):
        assert wait_for_own_question(page)
        click_on(page)
    assert wait_for_own_question(page)
    version = str(page.locator("main.table").get_attribute("data-version"))
    page.reload()
    page.wait_for_selector(f"{OWN}[data-version='{version}']")
    return version
