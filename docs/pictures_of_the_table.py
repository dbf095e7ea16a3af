"""Take the pictures of docs/table.md: `python docs/pictures_of_the_table.py`.

Extra `browser`, and a chromium on the PATH.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any, Final

from PIL import Image

FOLDER: Final = Path(__file__).parent / "pictures-of-the-table"
ARGUMENTS: Final = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
]
DESKTOP: Final = {"width": 1280, "height": 800}
PHONE: Final = {"width": 390, "height": 844}
PATIENCE: Final = 300_000  # milliseconds
DECISIONS: Final = 6  # of the moving picture
FRAME: Final = 250  # milliseconds

# A four-player game in its middle: Ann, at this screen, may build, trade, or throw.
PLAYERS: Final = [
    {"cash": 640, "square": 24, "lots": [0, 1, 5, 9, 10, 13, 22]},
    {"cash": 1210, "square": 10, "jail": 0, "jail_cards": ["chance"], "lots": [2, 3, 4, 6, 14, 17]},
    {"cash": 1500, "square": 33, "lots": [11, 12, 19, 24, 25]},
    {"cash": 80, "square": 38, "lots": [20, 21, 26]},
]
BUILDINGS: Final = [
    {"lot": 0, "level": 5},
    {"lot": 1, "level": 4},
    {"lot": 2, "level": 3},
    {"lot": 3, "level": 3},
    {"lot": 4, "level": 3},
]


def main() -> None:
    """Start a server on an empty folder, and take the pictures."""
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        options = ["--no-browser", "--port", "0", "--data", data]
        command = [sys.executable, "-u", "-m", "monopoly_table", *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                link = re.search(r"(http://\S+?)/#token=(\S+)", server.stdout.readline())
                assert link is not None
                while not ask(link[1], link[2], "about")["ready"]:
                    time.sleep(0.5)
                with sync_playwright() as playwright:
                    browser = playwright.chromium.launch(
                        executable_path=shutil.which("chromium"), args=ARGUMENTS
                    )
                    take(browser, link[1], link[2])
                    film(browser, link[1], link[2])
                    browser.close()
            finally:
                server.terminate()


def ask(origin: str, token: str, path: str, body: Any = None) -> Any:
    """Ask the server, as docs/protocol.md says."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with urllib.request.urlopen(
        urllib.request.Request(f"{origin}/api/{path}", data, headers)
    ) as answer:
        return json.load(answer)


def take(browser: Any, origin: str, token: str) -> None:
    """Take all pictures."""
    page = browser.new_page(viewport=DESKTOP, reduced_motion="reduce")
    page.set_default_timeout(PATIENCE)
    start = f"{origin}/#token={token}"
    person, policy = {"kind": "person", "name": "Ann"}, {"kind": "policy", "policy": "expert"}
    seats = [person, policy, {"kind": "person", "name": "Charlotte"}, policy]
    position = {"players": PLAYERS, "buildings": BUILDINGS, "mortgaged": [24]}
    game = ask(
        origin, token, "games", {"position": position, "seats": seats, "seed": 1, "speed": 0}
    )["game"]

    page.goto(f"{start}&game={game}")
    page.wait_for_selector("main.table")
    page.keyboard.press("h")
    page.wait_for_selector(".candidates")
    page.wait_for_timeout(3000)
    save(page, "desktop")
    page.locator("[data-trade]").click()
    page.get_by_label("Partner").select_option("2")
    for side, lot in (("give", 13), ("ask", 12), ("ask", 24)):
        page.locator(f"[data-side={side}] [data-lot='{lot}']").click()
    page.wait_for_selector(".side .after")
    save(page, "trade")
    page.get_by_role("button", name="Offer", exact=True).click()
    page.wait_for_selector(".offered .after")
    page.keyboard.press("h")
    page.get_by_role("tab", name="Log").click()
    page.set_viewport_size(PHONE)
    page.keyboard.press("Escape")
    page.evaluate("scrollTo(0, 0)")
    save(page, "phone")

    watched = ask(
        origin,
        token,
        "games",
        {
            "rules": {"preset": "short"},
            "seats": [policy] * 2,
            "seed": 4,
            "speed": 0,
            "turn_limit": 5,
        },
    )["game"]
    page.set_viewport_size(DESKTOP)
    page.goto(f"{start}&game={watched}")
    page.wait_for_selector(".question.over")
    page.goto(f"{start}&game={watched}&frame=20")
    page.locator(".course .sentence").filter(has_text="buys").nth(2).click()
    page.wait_for_timeout(500)
    save(page, "replay")


def film(browser: Any, origin: str, token: str) -> None:
    """A moving picture of the same game: it builds, makes an offer, throws and buys."""
    page = browser.new_page(viewport=DESKTOP, color_scheme="light")
    page.set_default_timeout(PATIENCE)
    policy = {"kind": "policy", "policy": "expert"}
    seats = [{"kind": "person", "name": "Ann"}, policy, policy, policy]
    position = {"players": PLAYERS, "buildings": BUILDINGS, "mortgaged": [24]}
    setup = {"position": position, "seats": seats, "seed": 1, "speed": 0.6}
    game = ask(origin, token, "games", setup)["game"]
    frames: list[Image.Image] = []

    def shoot(seconds: float, until: str = "nothing") -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not page.locator(until).count():
            frames.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))

    page.goto(f"{origin}/#token={token}&game={game}")
    page.wait_for_selector("main.table")
    page.keyboard.press("h")
    page.wait_for_selector(".candidates")
    shoot(3)
    page.keyboard.press("b")
    shoot(1)
    page.locator("#square-3").click()
    shoot(2)
    page.keyboard.press("t")
    page.get_by_label("Partner").select_option("2")
    for side, lot in (("give", 13), ("ask", 12)):
        page.locator(f"[data-side={side}] [data-lot='{lot}']").click()
        shoot(1)
    page.wait_for_selector(".side .after")
    shoot(2)
    page.keyboard.press("Escape")
    asked = "main.table:not([data-asked='']):not([data-settling])"
    for _ in range(DECISIONS):
        page.wait_for_selector(asked)
        shoot(1)
        no = page.get_by_role("button", name=re.compile("Leave the auction|Reject"))
        (no if no.count() else page.locator(".answers button").first).click()
        page.wait_for_timeout(100)
        shoot(6, until=asked)
    shown = [frame for frame, last in zip(frames, [None, *frames], strict=False) if frame != last]
    small = [frame.resize((960, 600), Image.Resampling.LANCZOS) for frame in shown]
    small[0].save(
        FOLDER / "game.webp", save_all=True, append_images=small[1:], duration=FRAME, quality=70
    )


def save(page: Any, name: str) -> None:
    """A picture of what the page shows, in few colours: a third of the size."""
    shown = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shown.quantize(128, dither=Image.Dither.NONE).save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
