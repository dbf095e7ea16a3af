"""The table on a static host: what answers in place of the server, and what only it does."""

from __future__ import annotations

import gzip
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from monopoly_table import static
from tests import wasm
from tests.monopoly_table.browser.driver import (
    OVER,
    PageServer,
    click_on,
    expect,
    play_and_reload,
    wait_for_own_question,
)
from tests.monopoly_table.browser.test_everyone import (
    test_axe_finds_nothing_serious,
    test_it_can_be_added_to_a_home_screen,
)
from tests.monopoly_table.browser.test_looking import (
    test_a_dropped_replay_is_stepped_through,
    test_a_moment_and_a_whole_game_are_analysed,
    test_a_position_is_set_up_refused_and_analysed,
    test_puzzles_are_guessed,
)
from tests.monopoly_table.browser.test_playing import (
    test_a_trade_with_a_counter_offer,
    test_an_auction_by_buttons_and_a_typed_bid,
    test_bankruptcy_ends_the_game,
)

# Of the tests with a server, those of routes that the page's worker answers in its place, and axe
__all__ = [
    "test_a_dropped_replay_is_stepped_through",
    "test_a_moment_and_a_whole_game_are_analysed",
    "test_a_position_is_set_up_refused_and_analysed",
    "test_a_trade_with_a_counter_offer",
    "test_an_auction_by_buttons_and_a_typed_bid",
    "test_axe_finds_nothing_serious",
    "test_bankruptcy_ends_the_game",
    "test_it_can_be_added_to_a_home_screen",
    "test_puzzles_are_guessed",
]

pytestmark = wasm.NEEDED
ASK = """async ([path, body]) =>
    (await import("/modules/server.js")).ask(body ? "POST" : "GET", path, body ?? undefined)"""
EXPERTS = [{"kind": "policy", "policy": "expert"}] * 2


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without a log."""

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("static")
    static.write(folder)
    shutil.copytree(wasm.folder(), folder / "library", ignore=shutil.ignore_patterns("weights"))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as host:
        threading.Thread(target=host.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{host.server_port}"
        host.shutdown()


class StaticPage:
    """What tests ask of a server, of a page that has none."""

    game = PageServer.game

    def __init__(self, origin: str, page: Any) -> None:
        self.origin, self.page = origin, page

    def link(self, **parts: Any) -> str:
        return f"{self.origin}/#" + "&".join(f"{name}={value}" for name, value in parts.items())

    def ask(self, path: str, body: Any = None) -> Any:
        if not self.page.url.startswith(self.origin):
            self.page.goto(self.origin)
        return self.page.evaluate(ASK, [path.removeprefix("/api"), body])

    def begin(self, seats: list[dict[str, str]], seed: int, **more: Any) -> str:
        return str(self.ask("/games", {"seats": seats, "seed": seed, **more})["game"])


@pytest.fixture
def server(address: str, page: Any) -> StaticPage:
    return StaticPage(address, page)


@pytest.fixture
def finished(server: StaticPage, page: Any) -> str:
    game = server.game(seats=EXPERTS, turn_limit=3)
    page.goto(server.link(game=game))
    page.wait_for_selector(OVER)
    return game


def test_it_is_small_and_goes_on_without_a_network(server: StaticPage, page: Any) -> None:
    sizes: list[int] = []
    page.on("response", lambda answer: sizes.append(len(gzip.compress(answer.body()))))
    page.goto(server.link())
    page.locator("[data-level=expert]").wait_for()
    page.wait_for_load_state("networkidle")
    assert 400_000 < sum(sizes) < 1_000_000
    page.context.set_offline(True)
    page.goto(server.link(game=server.game(turn_limit=2)))
    assert wait_for_own_question(page)
    page.keyboard.press("h")
    page.wait_for_selector(".candidates tbody tr")
    page.keyboard.press("h")
    while wait_for_own_question(page):
        click_on(page)
    page.get_by_role("link", name="Watch it again").click()
    page.wait_for_selector("main.replay")
    page.goto(server.link(puzzle=3))
    page.wait_for_selector("[data-guess]")


def test_single_options_are_chosen_and_contradictions_told(server: StaticPage, page: Any) -> None:
    page.goto(server.link())
    page.get_by_text("All rules").click()
    page.locator("#option-start_cash").fill("900")
    page.locator("#option-jail_pay_turn3").check()
    page.locator("#option-jail_pay_after_throw").check()
    page.locator("[data-begin]").click()
    page.wait_for_selector("text=jail_pay_after_throw after it: choose one")
    page.locator("#option-jail_pay_after_throw").uncheck()
    page.locator("[data-begin]").click()
    assert wait_for_own_question(page)
    page.get_by_role("tab", name="Table").click()
    rules = page.locator(".settings .rule").all_inner_texts()
    assert rules == ["start cash: 900", "jail pay turn3: true"]


def test_a_reload_loses_nothing_and_a_second_tab_waits(server: StaticPage, page: Any) -> None:
    version = play_and_reload(server, page)
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector("text=This game is open in another tab")
    click_on(page)
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector(f"main.table[data-version='{version}']")
    page.goto("about:blank")
    other.wait_for_selector(f"main.table[data-version='{version}']")
    other.close()


def test_two_tabs_of_a_browser_without_locks_overwrite_nothing(
    server: StaticPage, page: Any
) -> None:
    """Over plain http there are no locks."""
    page.context.route("**/local/worker.js", lambda route: route.fulfill(
        content_type="text/javascript",
        body=route.fetch().text().replace("navigator.locks", "undefined"),
    ))  # fmt: skip
    page.goto(server.link(game=server.game(turn_limit=0)))
    assert wait_for_own_question(page)
    other = page.context.new_page()
    other.goto(page.url)
    assert wait_for_own_question(other)
    click_on(page)
    wait_for_own_question(page)  # the others have played
    version = page.locator("main.table").get_attribute("data-version")
    click_on(other)
    other.wait_for_selector("text=This game went on in another tab")
    other.reload()
    other.wait_for_selector(f"main.table[data-version='{version}']")
    other.close()


def test_games_and_positions_travel_in_links(
    server: StaticPage, browser: Any, page: Any, finished: str
) -> None:
    page.get_by_role("tab", name="Table").click()
    page.locator("[data-share]").click()
    link = page.get_by_label("Link: the whole game").input_value()
    assert len(link) < 2000
    context = browser.new_context()
    guest = context.new_page()
    guest.goto(link)
    guest.wait_for_selector("main.replay[data-frame='0']")
    guest.goto("about:blank")
    guest.goto(link[:-40])
    guest.wait_for_selector("text=cut or damaged")
    guest.goto("about:blank")
    page.goto(server.link(editor=1, game=finished, frame=30))
    cash = page.locator("[data-cash='0']").input_value()
    page.get_by_role("tab", name="Link").click()
    link = page.get_by_label("Link: this position").input_value()
    guest.goto(link)
    expect(guest.locator("[data-cash='0']")).to_have_value(cash)
    guest.goto("about:blank")
    guest.goto(link[:-30])
    guest.wait_for_selector("text=This link is cut or damaged")
    context.close()


def test_a_game_is_reported_whole(server: StaticPage, page: Any) -> None:
    game = server.game(seats=EXPERTS, turn_limit=1)
    page.goto(server.link(game=game))
    page.wait_for_selector(OVER)
    page.goto(server.link(game=game, frame=0))
    page.get_by_role("tab", name="Whole game").click()
    page.locator("[data-report]").click()
    expect(page.locator("ul.verdict")).to_contain_text("accuracy")


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("delete globalThis.WebAssembly", "This browser can't run the rules"),
        ("delete globalThis.Worker", "This browser can't run the rules"),
        ("delete Array.prototype.toSorted", "This browser can't run the rules"),
    ],
)
def test_an_old_browser_is_told(server: StaticPage, page: Any, script: str, sentence: str) -> None:
    page.add_init_script(script)
    page.goto(server.link())
    page.wait_for_selector(f"text={sentence}")


def test_a_full_storage_is_told_and_the_game_goes_on(server: StaticPage, page: Any) -> None:
    blocked = "IDBObjectStore.prototype.put = () => { throw new DOMException('full'); };"
    page.route("**/local/store.js", lambda route: route.fulfill(
        content_type="text/javascript", body=f"{blocked}\n{route.fetch().text()}"
    ))  # fmt: skip
    page.goto(server.link(game=server.game(turn_limit=2)))
    page.wait_for_selector("text=This browser keeps no games")
    while wait_for_own_question(page):
        click_on(page)
