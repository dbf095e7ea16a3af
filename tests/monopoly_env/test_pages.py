"""A recorded game as a page and as an animation: every step shows exactly what `draw` draws."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

import monopoly_env as me
from monopoly_env import play, replays
from monopoly_env.render import svg
from monopoly_env.replays import Replay
from tests import golden

CHROMIUM = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)
RULES = me.Rules.preset("official", trade="none", max_turns=40)
NAMES = ("<b>Ann</b>", "Bob & Co", "C")  # no name may break the page


@cache
def recorded() -> Replay:
    """A game of 40 turns, with buildings, auctions and mortgages."""
    return Replay(RULES, 5, 3, NAMES, np.array(golden.played(me.new_game(3, RULES, 5))))


@cache
def page() -> str:
    return replays.to_html(recorded())


def data_of(document: str) -> dict[str, Any]:
    found = re.search(r'<script type="text/plain" id="data">([^<]+)</script>', document)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def contents(root: ET.Element) -> dict[str, str]:
    """By id: what stands inside each part of a drawing."""
    found = {}
    for element in root.iter("g"):
        if element.get("id") and element.get("id") != "middle":
            found[element.get("id", "")] = "".join(
                ET.tostring(child, "unicode", short_empty_elements=False) for child in element
            )
    return found


@pytest.mark.slow
def test_every_step_is_what_draw_draws() -> None:
    data, shown = data_of(page()), {}
    told = list(replays.narrated(recorded()))
    assert len(told) == len(data["steps"]) > 80
    for (game, sentences), (turn, said, changes) in zip(told, data["steps"], strict=True):
        shown |= {
            data["parts"][part]: data["contents"][number]
            for part, number in zip(changes[::2], changes[1::2], strict=True)
        }
        drawn = contents(svg.element(game))
        assert {part: drawn[part] for part in shown} == shown
        assert (turn, said) == (game.turns, sentences)
    ids = {element.get("id", "") for element in svg.element(told[0][0]).iter()}
    # Nothing that changes is left out.
    assert {name for name in ids if name and not name.startswith("token-")} == {
        *data["parts"],
        "middle",
        "mortgaged",
    }


def test_the_page_needs_nothing_else_and_is_small() -> None:
    assert len(page()) < 300_000
    assert "default-src 'none'" in page()
    assert re.findall(r'(?:src|href)="(?!#)', page()) == []
    assert "<b>Ann" not in page()
    assert html.escape("<b>Ann</b>") in page()
    told = data_of(page())["steps"]
    assert any("A (<b>Ann</b>)" in sentence for step in told for sentence in step[1])
    assert "wins." in told[-1][1][-1] or "share the win." in told[-1][1][-1]


def test_notebooks_show_it_in_a_frame() -> None:
    shown = recorded()._repr_html_()
    found = re.fullmatch(r'<iframe srcdoc="([^"]*)" [^<]*></iframe>', shown)
    assert found is not None
    assert html.unescape(found[1]) == page()


def test_a_part_of_a_game_is_shown_too() -> None:
    part = Replay(RULES, 5, 3, NAMES, recorded().actions[:30])
    assert "The recording ends before the game does." in replays.to_html(part)
    assert "The recording ends" not in page()
    none = Replay(RULES, 5, 3, NAMES, np.array([], np.int64))
    assert len(data_of(replays.to_html(none))["steps"]) == 1


def test_moving_pictures(tmp_path: Path) -> None:
    part = Replay(RULES, 5, 3, NAMES, recorded().actions[:60])
    turns = int(replays.final(part).turns)
    for suffix in (".gif", ".png", ".webp"):
        path = replays.save_animation(part, tmp_path / f"game{suffix}", width=128, seconds=0.2)
        with Image.open(path) as image:
            assert image.size == (128, 128)
            assert turns <= image.n_frames <= turns + 1
    with pytest.raises(me.ConfigurationError, match=r"'\.mp4' file.*\.gif"):
        replays.save_animation(part, tmp_path / "game.mp4")
    with pytest.raises(me.ConfigurationError, match="seconds=0"):
        replays.save_animation(part, tmp_path / "game.gif", seconds=0)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = replays.save(tmp_path / "games.replay", [recorded()])
    assert play.main(["replay", str(file), "--html", str(tmp_path / "game.html")]) == 0
    assert capsys.readouterr().out == f"Wrote {tmp_path / 'game.html'}.\n"
    assert (tmp_path / "game.html").read_text(encoding="utf-8") == page()


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")
def test_a_browser_goes_to_the_end(tmp_path: Path) -> None:
    """By the keyboard: End, then a step back and a step on."""
    keys = "".join(
        f'document.dispatchEvent(new KeyboardEvent("keydown", {{key: "{key}"}}));'
        for key in ("End", "ArrowLeft", "ArrowRight")
    )
    keys = keys.replace("document.dispatch", "document.body.dispatch").replace(
        "{key:", "{bubbles: true, key:"
    )
    (tmp_path / "game.html").write_text(
        page().replace("load().then(start);", f"load().then(start).then(() => {{{keys}}});"),
        "utf-8",
    )
    done = subprocess.run(
        [
            str(CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--virtual-time-budget=5000",
            "--dump-dom",
            (tmp_path / "game.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    end = replays.final(recorded())
    assert f"Turn {end.turns}</text>" in done.stdout
    question = next(
        element for element in svg.element(end).iter() if element.get("id") == "question"
    )
    assert all((text.text or "") in done.stdout for text in question.iter("text"))
    told = re.search(r'<p id="told"[^>]*>([^<]*)</p>', done.stdout)
    assert told is not None
    assert html.unescape(told[1]) == "\n".join(data_of(page())["steps"][-1][1])
