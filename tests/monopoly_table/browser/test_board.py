"""The board can be read: names, tokens, colours."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from PIL import Image, ImageColor

from tests.monopoly_table.browser.driver import OWN, PageServer
from tests.monopoly_table.browser.test_playing import TWO_PEOPLE, position, stand

HATCHED_NAMES = """() => [...document.querySelectorAll(".hatching")].flatMap((pattern) => {
    const hatching = pattern.getBoundingClientRect();
    return [...pattern.parentNode.querySelectorAll(".name")].filter((line) => {
        const box = line.getBoundingClientRect();
        return Math.min(box.right, hatching.right) > Math.max(box.left, hatching.left)
            && Math.min(box.bottom, hatching.bottom) > Math.max(box.top, hatching.top);
    }).map((line) => line.textContent);
})"""
# The least distance in oklab, in which equal distances look equally far, of the colours of two sets
DISTANCE = """([some, others]) => {
    const probe = document.body.appendChild(document.createElement("i"));
    const oklab = (colour) => {
        probe.style.color = `oklab(from ${colour} l a b)`;
        return getComputedStyle(probe).color.match(/[-\\d.e]+/g).map(Number);
    };
    const apart = (one, other) =>
        Math.hypot(...oklab(one).map((x, axis) => x - oklab(other)[axis]));
    return Math.min(...some.flatMap((one) => others.filter((other) => other !== one)
        .map((other) => apart(one, other))));
}"""


@pytest.mark.parametrize("preset", ["official", "uk"])
def test_no_mortgage_hides_a_name(server: PageServer, page: Any, preset: str) -> None:
    all_mortgaged = position(
        stand(lots=list(range(14))),
        stand(lots=list(range(14, 28))),
        rules={"preset": preset, "options": {}},
        mortgaged=list(range(28)),
    )
    page.goto(server.link(game=server.game(position=all_mortgaged, seats=TWO_PEOPLE)))
    page.wait_for_selector(OWN)
    assert page.locator(".hatching").count() == 28
    assert page.locator(".sign").count() == 14  # railroads, utilities, cards and taxes
    assert not page.evaluate(HATCHED_NAMES)


def test_tokens_differ_in_colour_and_shape(server: PageServer, page: Any) -> None:
    seats = [{"kind": "person", "name": f"Player {number}"} for number in range(8)]
    all_on_go = position(*[stand() for _ in seats])
    page.goto(server.link(game=server.game(position=all_on_go, seats=seats)))
    page.wait_for_selector(OWN)
    about = server.ask("/api/about")
    seat_colours, groups = about["colours"], [group["colour"] for group in about["groups"]]
    assert page.evaluate(DISTANCE, [seat_colours, groups]) > 0.08
    assert page.evaluate(DISTANCE, [seat_colours, seat_colours]) > 0.1
    for place in (".board", ".players"):
        tokens = page.locator(f"{place} .token")
        shapes = [(each.get_attribute("d"), each.get_attribute("fill")) for each in tokens.all()]
        assert len({shape for shape, _ in shapes}) == len(seats)
        assert [colour for _, colour in shapes] == seat_colours


def test_tokens_are_large(server: PageServer, page: Any) -> None:
    page.goto(server.link(game=server.game(seats=TWO_PEOPLE)))
    page.wait_for_selector(OWN)
    for width, height in [(390, 844), (844, 390), (1280, 800), (1440, 900)]:
        page.set_viewport_size({"width": width, "height": height})
        for token in page.locator(".token:visible").all():
            assert token.bounding_box()["height"] >= 24


def test_the_board_is_saved_as_a_picture(server: PageServer, page: Any, tmp_path: Path) -> None:
    lots = position(stand(lots=[21]), stand(lots=[0], square=39, cash=777))
    page.emulate_media(color_scheme="dark")  # pictures are on white paper
    page.goto(server.link(game=server.game(position=lots, seats=TWO_PEOPLE)))
    page.wait_for_selector(OWN)
    page.get_by_role("tab", name="Table").click()
    for kind in ("svg", "png"):
        with page.expect_download() as download:
            page.locator(f"[data-picture={kind}]").click()
        download.value.save_as(tmp_path / f"board.{kind}")
    svg = ET.parse(tmp_path / "board.svg").getroot()
    said = " ".join(svg.itertext())
    for told in ("Boardwalk: owned by Ann", "Turn 1", "Bob", "$777, worth $"):
        assert told in said
    png = Image.open(tmp_path / "board.png").convert("RGB")
    assert png.size == (1464, 1464)
    assert png.getpixel((4, 4)) == ImageColor.getrgb("#fbfaf6")
    shown = {colour for _, colour in png.getcolors(1 << 20)}
    assert {ImageColor.getrgb(colour) for colour in server.ask("/api/about")["colours"][:2]} < shown
