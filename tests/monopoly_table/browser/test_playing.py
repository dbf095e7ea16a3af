"""Games played in a browser: by clicks, by keys, with trades and auctions, across a reload."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.monopoly_table.browser.driver import (
    OVER,
    OWN,
    PageServer,
    click_on,
    expect,
    moved,
    play_and_reload,
    type_on,
    wait_for_own_question,
)

TWO_PEOPLE = [{"kind": "person", "name": "Ann"}, {"kind": "person", "name": "Bob"}]


def stand(**other: Any) -> dict[str, Any]:
    return {
        "cash": 1500,
        "square": 0,
        "jail": None,
        "jail_cards": [],
        "lots": [],
        "bankrupt": False,
    } | other


def position(*players: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {
        "rules": {"preset": "official", "options": {}},
        "seed": 3,
        "turn": 0,
        "players": list(players),
    } | other


@pytest.mark.slow
def test_a_whole_game_by_clicks_against_expert(server: PageServer, page: Any) -> None:
    page.goto(server.link())
    page.locator("#preset").select_option("short")
    page.get_by_text("Seed, speed, length").click()
    page.get_by_label("Seed", exact=True).fill("5")
    page.locator("#speed").select_option(label="to my next decision")
    page.locator("#turn-limit").fill("2")
    page.locator("[data-begin]").click()
    while wait_for_own_question(page):
        click_on(page)
    expect(page.locator(OVER)).to_contain_text("won")
    expect(page.locator(".log")).to_contain_text("The game is over")


@pytest.mark.slow
def test_a_whole_game_by_keyboard_alone(server: PageServer, page: Any) -> None:
    page.goto(server.link(game=server.game(turn_limit=3, seed=2)))
    page.wait_for_selector(f"{OWN}, {OVER}")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#square-1")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".deed h3")).to_have_text("Mediterranean Avenue")
    page.keyboard.press("Escape")
    while wait_for_own_question(page):
        type_on(page)
    expect(page.locator(OVER)).to_contain_text("won")


def test_a_trade_with_a_counter_offer(server: PageServer, page: Any) -> None:
    lots = position(stand(lots=[0, 5]), stand(lots=[1, 6]), mortgaged=[1])
    page.goto(server.link(game=server.game(position=lots, seats=TWO_PEOPLE)))
    page.wait_for_selector(OWN)
    page.keyboard.press("t")
    desk = page.locator(".desk")
    desk.get_by_role("button", name="Mediterranean Avenue").click()
    desk.locator("[data-side=ask] [data-lot='1']").click()
    desk.locator("[data-side=ask] input[type=number]").fill("10")
    page.wait_for_selector(".side .after")
    moved(page, desk.get_by_role("button", name="Offer", exact=True).click)
    expect(page.locator("#asked")).to_contain_text("Bob")
    bob_gets, ann_gets = page.locator(".offered .column").all()
    expect(bob_gets).to_contain_text("Mediterranean Avenue")
    expect(ann_gets).to_contain_text(re.compile("Baltic Avenue.*mortgaged.*[$]10", re.DOTALL))
    expect(ann_gets.locator(".after")).to_contain_text("$1,510 in cash · rents $")
    expect(page.locator(".board .can")).to_have_count(2)
    page.locator("[data-weigh]").click()
    page.wait_for_selector("table.worth tbody tr")

    page.get_by_role("button", name="Counter-offer").click()
    dollars = desk.locator("[data-side=give] input[type=number]")
    expect(dollars).to_have_value("10")
    dollars.fill("")
    desk.locator("[data-side=ask] input[type=number]").fill("40")
    page.wait_for_selector(".side .after")
    moved(page, desk.get_by_role("button", name="Offer", exact=True).click)
    expect(page.locator("#asked")).to_contain_text("Ann")
    moved(page, page.locator(".answers").get_by_role("button", name="Accept").click)
    expect(page.locator(".log")).to_contain_text("Ann gets Baltic Avenue")
    expect(page.locator(".log")).to_contain_text("$40")


def test_an_auction_by_buttons_and_a_typed_bid(server: PageServer, page: Any) -> None:
    sale = position(stand(), stand(), throws=[[1, 2]])
    page.goto(server.link(game=server.game(position=sale, seats=TWO_PEOPLE)))
    page.wait_for_selector(OWN)
    expect(page.locator(".subject")).to_contain_text("Baltic Avenue is for sale at $60")
    moved(page, page.locator(".answers").get_by_role("button", name="Decline").click)
    auction = page.locator(".auction")
    bidder = page.locator("#asked").inner_text().split()[1]
    moved(page, auction.get_by_role("button", name="+20").click)
    expect(auction).to_contain_text(f"{bidder} has bid $20")
    auction.get_by_label("My bid").fill("33")
    expect(auction.get_by_role("button", name="Bid", exact=True)).to_be_disabled()
    expect(auction.get_by_role("status")).to_contain_text("$30 and $40")
    auction.get_by_label("My bid").fill("40")
    moved(page, auction.get_by_role("button", name="Bid", exact=True).click)
    moved(page, auction.get_by_role("button", name="Leave the auction").click)
    expect(page.locator(".log")).to_contain_text("pays $40")


def test_a_double_click_or_a_held_key_answers_once(server: PageServer, page: Any) -> None:
    sale = position(stand(lots=[27]), stand(), throws=[[1, 2]])
    page.goto(server.link(game=server.game(position=sale, seats=TWO_PEOPLE)))
    page.wait_for_selector(OWN)
    for wait in (0, 100, 250):
        page.get_by_role("button", name="Throw the dice").dblclick(delay=wait // 2)
        page.wait_for_selector(f"{OWN}[data-asked=buy]")
        expect(page.locator(".answers button").first).to_contain_text("Buy")
        assert page.locator("main.table").get_attribute("data-version") == "1"
        page.get_by_role("button", name="Undo").click()
        page.wait_for_selector(f"{OWN}[data-version='0']")
    for _ in range(8):
        page.keyboard.down("1")
        page.wait_for_timeout(100)
    page.keyboard.up("1")
    assert page.locator("main.table").get_attribute("data-version") == "1"


def test_building_on_the_board(server: PageServer, page: Any) -> None:
    group = position(stand(lots=[0, 1]), stand())
    page.goto(server.link(game=server.game(position=group, seats=TWO_PEOPLE)))
    page.wait_for_selector(OWN)
    page.keyboard.press("b")
    expect(page.locator(".board .can")).to_have_count(2)
    moved(page, page.locator("#square-1").click)
    expect(page.locator(".log")).to_contain_text("Ann builds a house on Mediterranean Avenue")
    page.locator("#square-1").click()  # even building: not a second one here
    expect(page.locator(".deed h3")).to_contain_text("Mediterranean")
    expect(page.locator(".tools").get_by_role("button", name="Undo")).to_be_visible()


@pytest.mark.slow
def test_a_guest_comes_by_a_copied_link_and_has_a_name(
    server: PageServer, browser: Any, page: Any
) -> None:
    seats = [{"kind": "person", "name": "Ann"}, {"kind": "guest", "name": ""}]
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.route("**/api/about", other_origin)
    page.goto(server.link(game=server.game(seats=seats)))
    page.get_by_role("tab", name="Table").click()
    link = page.get_by_label("Link: seat B").input_value()
    assert link.startswith("http://192.0.2.7:8000/#token=")
    page.get_by_role("button", name="Copy: seat B").click()
    expect(page.locator(".seat-link").last).to_contain_text("Copied")
    page.get_by_label("Name of A").fill("")
    page.get_by_label("Name of A").press("Control+V")
    expect(page.get_by_label("Name of A")).to_have_value(link[:40])

    page.get_by_role("button", name="QR code: seat B").click()
    code = page.get_by_role("img", name="Scan this for seat B")
    squares = re.findall(r"M(\d+) (\d+)h1v1h-1z", code.locator("path").get_attribute("d"))
    assert read_code({(int(x), int(y)) for x, y in squares}) == link

    guest = browser.new_page()
    guest.goto(server.origin + link.removeprefix("http://192.0.2.7:8000"))
    guest.get_by_label("Name of B").fill("Bob")
    guest.get_by_role("button", name="Change").click()
    expect(page.locator("#panel-B .name")).to_have_text("Bob")
    expect(guest.get_by_label("Name of B")).to_be_hidden()
    guest.get_by_label("Say").select_option("Good luck!")
    expect(page.locator(".said")).to_have_text(re.compile("Bob.*“Good luck!”", re.DOTALL))
    expect(page.locator(".said")).to_be_hidden()
    guest.close()


def other_origin(route: Any) -> None:
    """The server as one that other machines reach."""
    answer = route.fetch()
    route.fulfill(json=answer.json() | {"origin": "http://192.0.2.7:8000"})


MASKS: list[Callable[[int, int], int]] = [
    lambda x, y: (x + y) % 2, lambda x, y: y % 2, lambda x, y: x % 3, lambda x, y: (x + y) % 3,
    lambda x, y: (x // 3 + y // 2) % 2, lambda x, y: x * y % 2 + x * y % 3,
    lambda x, y: (x * y % 2 + x * y % 3) % 2, lambda x, y: ((x + y) % 2 + x * y % 3) % 2,
]  # fmt: skip


def read_code(dark: set[tuple[int, int]]) -> str:
    """The text of a QR code, as ISO/IEC 18004 says: of versions 2 to 5, in one block of bytes."""
    size = max(x for x, _ in dark) + 1
    near = size - 7  # the middle of the alignment pattern
    mask = MASKS[sum(((x, 8) in dark) << 4 - x for x in (2, 3, 4)) ^ 0b101]

    def holds_data(x: int, y: int) -> bool:
        finder = (x < 9 and y < 9) or (x >= size - 8 and y < 9) or (x < 9 and y >= size - 8)
        aligned = abs(x - near) < 3 and abs(y - near) < 3
        return not (finder or aligned or x == 6 or y == 6)

    bits = ""
    for number, right in enumerate([*range(size - 1, 6, -2), 5, 3, 1]):
        for y in range(size) if number % 2 else reversed(range(size)):
            for x in filter(lambda x, y=y: holds_data(x, y), (right, right - 1)):
                bits += str(int(((x, y) in dark) ^ (not mask(x, y))))
    assert bits[:16] == "0111000110100100"  # UTF-8, bytes
    length = int(bits[16:24], 2)
    return bytes(int(bits[24 + 8 * n : 32 + 8 * n], 2) for n in range(length)).decode()


def test_bankruptcy_ends_the_game(server: PageServer, page: Any) -> None:
    ruin = position(
        stand(cash=20, square=30, lots=[0]),
        stand(lots=[26, 27], cash=3000),
        buildings=[{"lot": 20, "level": 5}, {"lot": 21, "level": 5}],
    )
    ruin["players"][1]["lots"] = [20, 21]
    ruin["players"][0]["square"] = 36
    page.goto(server.link(game=server.game(position=ruin | {"throws": [[1, 2]]}, seats=TWO_PEOPLE)))
    while wait_for_own_question(page):
        click_on(page)
    expect(page.locator(OVER)).to_contain_text("Bob won")
    expect(page.locator(".standings li").last).to_contain_text("Ann")
    page.locator("[data-judge]").click()
    expect(page.locator("ul.verdict[data-done=true]")).to_contain_text("Ann")
    page.locator("[data-rematch]").click()
    page.wait_for_selector("main.table[data-version='0']")


def test_a_reload_and_a_second_tab_agree(server: PageServer, page: Any) -> None:
    version = play_and_reload(server, page)
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector(OWN)
    click_on(page)
    assert wait_for_own_question(page)  # until then a tab may show every version or only some
    now = page.locator("main.table").get_attribute("data-version")
    other.wait_for_selector(f"main.table[data-version='{now}']")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector(f"main.table[data-version='{version}']")
    other.wait_for_selector(f"main.table[data-version='{version}']")


def test_a_lost_connection_is_told_until_it_is_back(server: PageServer, page: Any) -> None:
    lines: list[Any] = []

    def connected(line: Any) -> None:
        line.connect_to_server()
        lines.append(line)

    page.route_web_socket("**/games/*/socket", connected)
    page.goto(server.link(game=server.game(seats=TWO_PEOPLE)))
    page.wait_for_selector(OWN)
    page.clock.install()  # it stands still: no second attempt
    lines[0].close()
    expect(page.get_by_text("The connection is lost")).to_be_visible()
    page.keyboard.press("1")
    expect(page.get_by_text("There is no connection at the moment")).to_be_visible()
    page.clock.run_for(500)
    expect(page.get_by_text("connection")).to_have_count(0)
    moved(page, lambda: page.keyboard.press("1"))


@pytest.mark.slow
def test_two_tabs_that_answer_at_once_are_told_and_lose_nothing(
    server: PageServer, page: Any
) -> None:
    other = page.context.new_page()
    held: list[Any] = []

    def late(line: Any) -> None:
        sent = line.connect_to_server()
        sent.on_message(lambda text: held.append(text) if '"from"' in text else line.send(text))

    other.route_web_socket("**/games/*/socket", late)
    link = server.link(game=server.game(seats=TWO_PEOPLE))
    for tab in (page, other):
        tab.goto(link)
        tab.wait_for_selector(OWN)
    moved(page, lambda: click_on(page))
    other.get_by_role("button", name="Throw the dice").click()
    expect(other.get_by_role("alert")).to_contain_text("The game has moved on: it is at decision 1")
    other.reload()
    other.wait_for_selector("main.table[data-version='1']")
    expect(page.locator("main.table")).to_have_attribute("data-version", "1")
    other.close()


WITNESS = """
const { start } = OscillatorNode.prototype;
Object.assign(window, { heard: [], told: [], away: false, permission: "denied" });
OscillatorNode.prototype.start = function (at) {
    heard.push(this.frequency.value);
    start.call(this, at);
};
window.Notification = class {
    static requestPermission = async () => permission;
    constructor(title, { body }) { told.push(`${title}: ${body}`); }
};
Object.defineProperty(document, "hidden", { get: () => away });
"""
DICE, GOT, TURN = [196, 262, 220], [659, 880], [523, 659, 784]  # hertz


@pytest.mark.slow
def test_tones_and_notifications_wait_to_be_asked_for(server: PageServer, page: Any) -> None:
    page.add_init_script(WITNESS)
    page.goto(server.link(game=server.game(turn_limit=0)))
    assert wait_for_own_question(page)
    page.evaluate("away = true")
    for _ in range(3):
        click_on(page)
        assert wait_for_own_question(page)
    assert page.evaluate("[heard, told]") == [[], []]
    page.get_by_role("tab", name="Table").click()
    notified, sound = page.locator("[data-notify]"), page.locator("[data-sound]")
    notified.click()
    expect(page.get_by_text("This browser does not allow notifications here.")).to_be_visible()
    expect(notified).not_to_be_checked()
    page.evaluate("permission = 'granted'")
    notified.check()
    sound.check()
    assert page.evaluate("heard") == TURN
    wanted = "notes => told.length && notes.every((note) => heard.includes(note))"
    while not page.evaluate(wanted, [*DICE, *GOT]):
        click_on(page)
        assert wait_for_own_question(page)
    assert page.evaluate("told[0]").startswith("Your turn: ")
    page.reload()
    assert wait_for_own_question(page)
    page.get_by_role("tab", name="Table").click()
    expect(notified).to_be_checked()
    expect(sound).to_be_checked()
