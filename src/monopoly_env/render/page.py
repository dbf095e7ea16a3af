"""A game as one HTML page that needs no server: the board, a slider, and a log.

Most of the board is the same from step to step. So the page holds the first picture in full, each
distinct content of a part (a square, a player's row) once, and for each step the parts that change
with their contents, compressed. All pictures are drawn by `svg`.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Final
from xml.etree import ElementTree as ET

from monopoly_env.facts.board import NUM_SQUARES
from monopoly_env.game import Game
from monopoly_env.render import svg
from monopoly_env.render.text import PLAYERS

_FOLDER: Final = Path(__file__).with_name("replay_page")
_HEIGHT: Final = 760  # of the frame in a notebook, in pixels


def page(
    title: str, about: str, names: Sequence[str], steps: Iterable[tuple[Game, Sequence[str]]]
) -> str:
    """A page that shows a game step by step.

    Args:
        title: The title.
        about: A sentence about the game.
        names: The name of the player in each seat.
        steps: The positions, one or more, each with sentences about the events before it.

    Returns:
        The document.
    """
    parts = [*(f"square-{square}" for square in range(NUM_SQUARES)), "turn", "bank", "question"]
    parts += [f"{part}-{who}" for who in PLAYERS[: len(names)] for part in ("player", "lots")]
    board, data = "", {"parts": parts, "contents": list[str](), "steps": list[Any]()}
    numbers: dict[str, int] = {}  # content -> its number
    shown: dict[int, int] = {}  # part -> the number of its content
    for game, sentences in steps:
        root = svg.element(game)
        board = board or _board(root)
        changes = {}
        for part, content in _contents(root, parts):
            number = numbers.setdefault(content, len(numbers))
            if shown.get(part) != number:
                shown[part] = changes[part] = number
        flat = [number for change in changes.items() for number in change]
        data["steps"].append([int(game.turns), list(sentences), flat])
    data["contents"] = list(numbers)
    legend = "".join(
        f'<li id="seat-{PLAYERS[seat]}"><b>{PLAYERS[seat]}</b> {html.escape(name)}'
        " <span></span></li>"
        for seat, name in enumerate(names)
    )
    return Template(_file("replay.html")).substitute(
        title=html.escape(title), about=html.escape(about), board=board, legend=legend,
        style=_file("replay.css"),
        script=_file("replay.js"),
        data=base64.b64encode(gzip.compress(json.dumps(data).encode(), mtime=0)).decode(),
    )  # fmt: skip


def framed(document: str) -> str:
    """A document in a frame, for notebooks."""
    return (
        f'<iframe srcdoc="{html.escape(document)}" width="100%" height="{_HEIGHT}" style="border:0"'
        ' title="A game"></iframe>'
    )


@cache
def _file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _board(root: ET.Element) -> str:
    """The first picture, without a title of the whole, which would hide the titles of its parts."""
    copy = ET.fromstring(ET.tostring(root))
    for element in [child for child in copy if child.tag.rpartition("}")[2] in ("title", "desc")]:
        copy.remove(element)
    copy.set("role", "group")
    copy.set("aria-label", "The board")
    ET.register_namespace("", "http://www.w3.org/2000/svg")
    return ET.tostring(copy, encoding="unicode")


def _contents(root: ET.Element, parts: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The number of each part, with its content as text."""
    numbers = {part: number for number, part in enumerate(parts)}
    for element in root.iter("g"):
        number = numbers.get(element.get("id", ""))
        if number is not None:
            text = ET.tostring(element, encoding="unicode", short_empty_elements=False)
            yield number, text[text.index(">") + 1 : text.rindex("<")]
