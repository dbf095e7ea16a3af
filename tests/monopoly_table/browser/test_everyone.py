"""What serves everybody.

No serious violation found by axe, a phone's width, a small first page, errors in words.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import monopoly_env as me
from agents import arena
from monopoly_env import replays
from tests.monopoly_table.browser.driver import OWN, PageServer, wait_for_own_question
from tests.monopoly_table.browser.test_looking import played
from tests.monopoly_table.browser.test_playing import TWO_PEOPLE, position, stand

PHONES = [(390, 844), (844, 390)]
SIZES = [*PHONES, (720, 450), (1440, 900)]
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
COLOURS = ["color-contrast", "link-in-text-block"]  # axe's rules that a dark scheme may break
RUN = "only => axe.run({resultTypes: ['violations'], ...(only ? {runOnly: only} : {})})"


def serious(page: Any) -> list[str]:
    """What breaks any rule in light, or a rule of colours in dark."""
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate(AXE)
    found = []
    for scheme, only in (("dark", COLOURS), ("light", None)):
        page.emulate_media(color_scheme=scheme)
        found += page.evaluate(RUN, only)["violations"]
    return [
        f"{each['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


@pytest.mark.slow
def test_axe_finds_nothing_serious(server: PageServer, page: Any) -> None:
    page.goto(server.link())
    page.locator("[data-more]").click()
    for summary in page.locator("summary").all():
        summary.click()
    assert not serious(page)
    lots = position(stand(lots=[0, 1, 5]), stand(lots=[6, 7], jail_cards=["chance"]))
    game = server.game(position=lots, seats=TWO_PEOPLE)
    page.goto(server.link(game=game))
    page.wait_for_selector(OWN)
    page.keyboard.press("b")
    page.locator("#square-39").click()
    assert not serious(page)
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    page.locator("[data-side=give] [data-lot='0']").click()
    page.wait_for_selector(".side .after")
    page.keyboard.press("h")
    page.wait_for_selector(".shares")
    assert not serious(page)
    page.locator(".desk").get_by_role("button", name="Offer", exact=True).click()
    page.wait_for_selector(".offered .after")
    page.get_by_role("tab", name="Table").click()
    page.wait_for_load_state("networkidle")
    assert not serious(page)
    page.goto(server.link(game=game, frame=0))
    page.wait_for_selector("main.replay")
    assert not serious(page)
    page.goto(server.link(editor=1))
    page.wait_for_selector("main.editor")
    assert not serious(page)
    page.goto(server.link(puzzles=1))
    page.locator(".puzzles a").first.click()
    page.wait_for_selector("[data-guess]")
    assert not serious(page)
    page.locator("[data-guess]").first.click()
    page.wait_for_selector(".candidates tbody tr")
    assert not serious(page)


def test_axe_finds_nothing_serious_in_a_replay_file(page: Any, tmp_path: Path) -> None:
    (replay,) = arena.play(
        ["algorithmic", "random"], games=1, rules=me.Rules(max_turns=6), record=1
    ).replays
    page.goto(replays.save_html(replay, tmp_path / "replay.html").as_uri())
    page.wait_for_selector("svg")
    assert not serious(page)


@pytest.mark.parametrize(("width", "height"), PHONES)
def test_a_phone_shows_a_game_without_scrolling_sideways(
    server: PageServer, page: Any, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    lots = position(stand(lots=[0, 1, 5]), stand(lots=[6, 7]))
    page.goto(server.link(game=server.game(position=lots, seats=TWO_PEOPLE)))
    page.wait_for_selector(OWN)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("[data-trade]").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".board svg").bounding_box()["width"] >= 0.88 * min(width, height)


def at_all_sizes(page: Any, script: str) -> dict[tuple[int, int], list[str]]:
    """What a script finds wrong, by the size of the window."""
    found = {}
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        found[width, height] = page.evaluate(script)
    return {size: wrong for size, wrong in found.items() if wrong}


# Rows of the log that begin above the end of the row before, on the screen or scrolled out
ROWS = """() => [...document.querySelectorAll(".course li")]
    .filter((row) => row.previousSibling instanceof Element
        && row.getBoundingClientRect().top < row.previousSibling.getBoundingClientRect().bottom - 1)
    .map((row) => row.textContent)"""
# Whether the current row lies inside the list, which scrolls
IN_LIST = """() => {
    const [list, now] = [".course", ".course .now"]
        .map((name) => document.querySelector(name).getBoundingClientRect());
    return now.top >= list.top - 1 && now.bottom <= list.bottom + 1;
}"""
# Those of these boxes that meet, and the answers that are covered or outside the window
BOXES = """() => {
    const box = (each) => each.getBoundingClientRect();
    const shown = [".strip", ".deed", ".question", ".now", ".recent", ".command", ".tools"]
        .flatMap((name) => [...document.querySelectorAll(name)].map((each) => [name, box(each)]))
        .filter(([, { width, height }]) => width && height);
    const dock = document.querySelector(".dock");
    const sheet = getComputedStyle(dock).position === "sticky"; // a sheet with a background
    const below = (name) => sheet && [".strip", ".now", ".recent"].includes(name);
    const meet = (one, two) => Math.min(one.right, two.right) - Math.max(one.left, two.left) > 1
        && Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top) > 1;
    const wrong = [];
    for (const [name, one] of shown)
        for (const [other, two] of shown)
            if (name < other && meet(one, two) && !below(name) && !below(other))
                wrong.push(`${name} meets ${other}`);
    for (const button of document.querySelectorAll(".answers button")) {
        const { x, y, width, height } = box(button);
        const top = document.elementFromPoint(x + width / 2, y + height / 2);
        if (!button.contains(top)) wrong.push(`${button.textContent}: hidden by ${top?.className}`);
    }
    const paper = getComputedStyle(dock).backgroundColor;
    if (sheet && paper === "rgba(0, 0, 0, 0)") wrong.push("no background");
    if (document.documentElement.scrollWidth > innerWidth) wrong.push("scrolls sideways");
    const small = [...document.querySelectorAll(".strip .title")].filter((each) => each.offsetWidth
        && parseFloat(getComputedStyle(each).fontSize) < 11);
    return [...wrong, ...small.map((each) => each.textContent)];
}"""


def test_nothing_overlaps(server: PageServer, page: Any) -> None:
    lots = position(stand(lots=[0, 1, 5]), stand(lots=[6, 7]), throws=[[1, 2]])
    page.goto(server.link(game=server.game(position=lots, seats=TWO_PEOPLE)))
    page.wait_for_selector(OWN)
    assert not at_all_sizes(page, BOXES)
    page.locator("#square-39").click()
    page.wait_for_selector(".deed")
    assert not at_all_sizes(page, BOXES)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.locator(".near").first.is_visible() == (width < 1000)


# Lines of text and controls that meet, or that stand out of their frame
TEXTS = """() => {
    const frames = "button, .button, td, th, fieldset, .card, aside, section, dialog, main";
    const clipped = (rect, each) => {
        let { left, right, top, bottom } = rect;
        for (let above = each; above !== document.body; above = above.parentElement) {
            if (getComputedStyle(above).overflowX === "visible") continue;
            const edge = above.getBoundingClientRect();
            [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
            [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
        }
        return { left, right, top, bottom, each };
    };
    const lines = (node) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        return node.nodeType === 3 && node.data.trim() ? [...range.getClientRects()] : [];
    };
    const rects = (each) => (each.matches("button, .button, input, select, progress")
        ? [each.getBoundingClientRect()] : [...each.childNodes].flatMap(lines));
    const shown = [...document.querySelectorAll("#app *")]
        .filter((each) => each.checkVisibility() && !each.closest(".unseen, svg, option"))
        .flatMap((each) => rects(each).map((rect) => clipped(rect, each)))
        .filter(({ left, right, top, bottom }) => right - left > 1 && bottom - top > 1);
    const name = ({ each }) => `${each.className || each.tagName} ${each.textContent.slice(0, 30)}`;
    const wrong = document.documentElement.scrollWidth > innerWidth ? ["scrolls sideways"] : [];
    for (const one of shown) {
        const frame = one.each.parentElement.closest(frames)?.getBoundingClientRect();
        if (frame && (one.right > frame.right + 1 || one.left < frame.left - 1))
            wrong.push(`${name(one)} out of its frame`);
    }
    const dock = document.querySelector(".dock"); // on a phone a sheet above the others
    const sheet = dock && getComputedStyle(dock).position === "sticky" ? dock : null;
    const apart = (one, other) => one.contains(other) || other.contains(one)
        || (sheet && sheet.contains(one) !== sheet.contains(other));
    for (const [at, one] of shown.entries())
        for (const other of shown.slice(at + 1)) {
            const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
            const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
            if (wide > 2 && high > 4 && !apart(one.each, other.each))
                wrong.push(`${name(one)} meets ${name(other)}`);
        }
    return wrong;
}"""


def report_of(server: PageServer, game: str, number: int) -> dict[str, Any]:
    """A report with long numbers and names, which playouts would take a minute for."""
    bounds = {"luck": [-0.312, 0.287], "skill": [-0.998, -0.123], "others": [-0.2, 0.1]}
    players = [
        {"seat": seat, "name": "expert A", "decisions": 120, "accuracy": 100.0, "first": 0.5,
         "luck": -0.112, "skill": -0.687, "others": 0.001, "final": 1.0,
         "intervals": bounds | {"accuracy": [100.0, 100.0]}}
        for seat in range(2)
    ]  # fmt: skip
    frame = server.ask(f"/api/games/{game}/frames/9")["frame"]
    place = {"version": 9, "seat": 0, "turn": 14, "frame": frame, "cost": 0.125, "clear": True}
    mistakes = [
        place | {"action": 1, "offer": None, "best": {"action": 23}},
        place | {"action": 120, "offer": [1, 0b1011, 1 << 28 | 7 << 9, -1200], "best": None},
    ]
    curve = [{"version": at, "turn": at, "shares": [at / 20, 1 - at / 20]} for at in range(20)]
    told = {"players": players, "mistakes": mistakes, "curve": curve, "formula": "Lichess accuracy"}
    return told | {"type": "report", "id": number, "progress": 1, "done": True, "playouts": 60}


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_no_texts_overlap_in_any_view(
    server: PageServer, browser: Any, page: Any, width: int, height: int
) -> None:
    def analyse(socket: Any) -> None:
        def answer(text: str) -> None:
            job = json.loads(text)
            ready = {"type": "ready"}
            told = ready if job["type"] == "hello" else report_of(server, game, job["id"])
            socket.send(json.dumps(told))

        socket.on_message(answer)

    page.set_viewport_size({"width": width, "height": height})
    page.route_web_socket(re.compile("/api/analyse"), analyse)
    game = played(server, browser, 1)
    for view, parts in {
        "start": {}, "editor": {"editor": 1}, "replay": {"game": game, "frame": 9},
        "puzzles": {"puzzles": 1}, "puzzle": {"puzzle": 12}, "end": {"game": game},
    }.items():  # fmt: skip
        page.goto("about:blank")
        page.goto(server.link(**parts))
        page.wait_for_selector("h1")
        page.wait_for_load_state("networkidle")
        for summary in page.locator("summary:visible").all():
            summary.click()
        if view == "puzzle":
            page.locator("[data-guess]").first.click()
            page.wait_for_selector(".candidates tbody tr")
        assert not page.evaluate(TEXTS), view
        if view == "replay":
            assert page.evaluate(IN_LIST)
            assert not page.evaluate(ROWS)
            page.get_by_role("tab", name="Whole game").click()
            page.locator("[data-report]").click()
            page.locator(".mistakes").wait_for()
            assert not page.evaluate(TEXTS), "report"


def test_the_first_page_is_small(server: PageServer, page: Any) -> None:
    sizes: list[int] = []
    page.on("requestfinished", lambda asked: sizes.append(asked.sizes()["responseBodySize"]))
    page.goto(server.link())
    page.wait_for_selector("[data-begin]")
    page.wait_for_load_state("networkidle")
    assert 30_000 < sum(sizes) < 100_000  # compressed


def test_refusals_are_sentences_in_the_page(server: PageServer, browser: Any, page: Any) -> None:
    page.goto(server.link(game=server.game()))
    assert wait_for_own_question(page)
    page.keyboard.press("/")
    page.keyboard.type("biuld Boardwalk")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#command-error').textContent.length > 10")
    assert "'biuld Boardwalk'" in page.locator("#command-error").inner_text()
    context = browser.new_context()
    stranger = context.new_page()
    stranger.goto(server.origin)
    stranger.wait_for_selector("text=Ask the host of this table")
    stranger.goto(server.origin + "/#game=gNone")
    stranger.wait_for_selector("p.wait:not(:text('Opening the game …'))")
    context.close()


def test_it_can_be_added_to_a_home_screen(server: PageServer, page: Any) -> None:
    page.goto(server.link())
    page.wait_for_selector("[data-begin]")
    found = page.context.new_cdp_session(page).send("Page.getAppManifest")
    assert not found["errors"]
    manifest = json.loads(found["data"])
    for icon in manifest["icons"]:
        assert page.request.get(f"{server.origin}/{icon['src']}").ok
