"""Replay, analysis, the editor and puzzles in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.monopoly_table.browser.driver import OVER, OWN, PageServer, expect


@pytest.fixture(scope="module")
def finished(server: PageServer, browser: Any) -> str:
    return played(server, browser, 4)


def played(server: PageServer, browser: Any, turn_limit: int) -> str:
    """A short game between policies; they play as long as somebody looks."""
    game = server.game(seats=[{"kind": "policy", "policy": "expert"}] * 2, turn_limit=turn_limit)
    page = browser.new_page()
    page.goto(server.link(game=game))
    page.wait_for_selector(OVER)
    page.close()
    return game


def frame(page: Any) -> int:
    return int(page.locator("main.replay").get_attribute("data-frame"))


def wait_for_frame(page: Any, wanted: int) -> None:
    page.wait_for_selector(f"main.replay[data-frame='{wanted}']")


def test_a_dropped_replay_is_stepped_through(
    server: PageServer, page: Any, finished: str, tmp_path: Path
) -> None:
    page.goto(server.link(game=finished))
    page.wait_for_selector(OVER)
    page.get_by_role("tab", name="Table").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the replay").click()
    path = tmp_path / "game.replay"
    download.value.save_as(path)

    page.goto(server.link())
    page.locator("input[type=file]").set_input_files(path)
    wait_for_frame(page, 0)
    page.locator("[data-every]").check()
    page.keyboard.press("ArrowRight")
    wait_for_frame(page, 1)
    page.keyboard.press("ArrowRight")
    wait_for_frame(page, 2)
    page.keyboard.press("ArrowLeft")
    wait_for_frame(page, 1)
    page.locator("[data-every]").uncheck()
    expect(page.locator(".course")).to_contain_text(re.compile(r"makes \d offers, all rejected\."))
    now = "[...document.querySelectorAll('.course li')].findIndex(each => each.className == 'now')"
    told = page.evaluate(now)
    for step in (1, 2, 3):  # each tells something: no picks of offers
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"told => {now} === told", arg=told + step)
    assert not page.get_by_text("away", exact=True).count()
    assert not page.get_by_role("link", name="To the game").count()
    page.locator("[data-speed]").select_option(label="fast")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("count => document.querySelector('main').dataset.frame > count", arg=8)
    page.get_by_role("button", name="Stop").click()
    page.keyboard.press("End")
    page.wait_for_function(
        "() => document.querySelector('.question h2').textContent.includes('won')"
    )
    last = frame(page)
    page.get_by_label("Decision", exact=True).fill("3")
    wait_for_frame(page, 3)
    page.locator(".course .sentence").last.click()
    wait_for_frame(page, last)


def test_a_moment_and_a_whole_game_are_analysed(
    server: PageServer, page: Any, finished: str
) -> None:
    page.goto(server.link(game=finished, frame=2))
    page.wait_for_selector("main.replay")
    page.keyboard.press("h")
    page.wait_for_selector(".candidates tbody tr")
    shares = page.locator(".shares .share").all_inner_texts()
    total = sum(float(text.split("%")[0]) for text in shares)
    assert abs(total - 100) < 0.2
    assert "expert" in page.locator(".analysis .fine").inner_text()
    first = page.locator(".analysis .fine").inner_text()
    # refined
    page.wait_for_function(
        "first => document.querySelector('.analysis .fine').textContent !== first", arg=first
    )
    page.get_by_role("tab", name="Whole game").click()
    page.locator("[data-curve]").click()
    page.wait_for_selector(".curve polyline")


CANDIDATES = """async (rows) => {
    const { html, render } = await import("/modules/ui.js");
    const { Candidates } = await import("/modules/analysis.js");
    const candidates = rows.map(([text, behind, low, high], action) => ({
        action, text, playouts: 400, share: 0.5, low: 0.45, high: 0.55, shares: [0.5, 0.5],
        difference: behind, difference_low: low, difference_high: high }));
    const box = document.createElement("div");
    render(html`<${Candidates} candidates=${candidates} />`, box);
    return [...box.querySelectorAll("tbody th")].map((row) => row.textContent.trim());
}"""


def test_an_action_is_the_best_once_all_others_are_clearly_behind(
    server: PageServer, page: Any
) -> None:
    page.goto(server.link())
    buy, decline = ["Buy", 0, 0, 0], ["Decline", -0.1, -0.15, -0.05]
    assert page.evaluate(CANDIDATES, [buy, decline]) == ["Buy best", "Decline"]
    for rival in (["Wait", 0, 0, 0], ["Wait", -0.01, -0.03, 0.01], ["Wait", 0.02, -0.03, 0.07]):
        tied = ["Buy too close to call", "Wait too close to call", "Decline"]
        assert page.evaluate(CANDIDATES, [buy, rival, decline]) == tied


@pytest.mark.slow
def test_the_report_of_a_game_is_shown_whole(server: PageServer, browser: Any, page: Any) -> None:
    page.goto(server.link(game=played(server, browser, 1), frame=0))
    page.get_by_role("tab", name="Whole game").click()
    page.locator("[data-report]").click()
    verdict = page.locator("ul.verdict")
    verdict.wait_for()
    assert re.search(r"accuracy [\d.]+ [\d.]+ to [\d.]+", verdict.inner_text().replace("\n", " "))
    assert re.search(r"Skill\s+.[\d.]+\s+.[\d.]+ to .[\d.]+", verdict.inner_text())
    side = "document.querySelector('aside.side')"
    assert page.evaluate(f"{side}.scrollWidth <= {side}.clientWidth")


def test_a_position_is_set_up_refused_and_analysed(server: PageServer, page: Any) -> None:
    page.goto(server.link(editor=1))
    # a position stands before its throw
    expect(page.locator(".question")).to_contain_text("Player A throws next")
    page.locator("[data-analyse]").click()
    page.wait_for_selector(".analysis .fine:has-text('after every throw')")
    page.locator("[data-analyse]").click()
    page.locator("#square-1").click()
    page.locator("[data-owner]").select_option("0")
    page.wait_for_selector("#square-1 title:text('owned by Player A')", state="attached")
    page.get_by_label("Buildings").select_option("1")
    page.wait_for_selector("#refusal")  # the group is not complete
    page.locator("#square-3").click()
    page.locator("[data-owner]").select_option("0")
    page.wait_for_selector("#refusal", state="detached")
    page.locator("[data-analyse]").click()
    page.wait_for_selector(".shares")
    page.get_by_role("tab", name="Play on").click()
    page.get_by_role("button", name="Play on from here").click()
    page.wait_for_selector(OWN)


def test_puzzles_are_guessed(server: PageServer, page: Any) -> None:
    page.goto(server.link(puzzles=1))
    page.wait_for_selector("h1")
    if not server.ask("/api/puzzles")["puzzles"]:
        page.wait_for_selector("text=This table has no puzzles.")
        return
    page.wait_for_selector(".puzzles a")
    titles = page.locator(".puzzles a").all_inner_texts()
    assert len(set(titles)) == len(titles)  # each has its number, kind and difficulty
    assert re.search(r"1\s+Auction\s+(easy|medium|hard) · \d players", titles[0])
    page.locator(".puzzles a").first.click()
    page.locator("[data-guess]").first.click()
    expect(page.locator("p.verdict")).to_contain_text("points of the win")
    page.wait_for_selector(".candidates tbody tr")
    page.get_by_role("link", name="All puzzles").click()
    expect(page.locator(".streak")).to_contain_text("of 1 puzzle right")
