"""A game as text and as a picture.

    >>> import pente_env
    >>> from pente_env.render import draw, to_text
    >>> game = pente_env.new_game()
    >>> game = pente_env.step(game, 24)
    >>> print(to_text(game))
     7 . . . . . . .
     6 . . . . . . .
     5 . . . . . . .
     4 . . .(X). . .
     3 . . . . . . .
     2 . . . . . . .
     1 . . . . . . .
       A B C D E F G
    Taken: X 0, O 0. Move 1. O to move.
    >>> drawing = draw(game)  # shows itself in a notebook; drawing.save("game.svg") or .png

Seats are told apart by colour and by sign, and the last stone is marked.
"""

from __future__ import annotations

from typing import Any, Final
from xml.etree import ElementTree as ET

from monopoly_env.render.drawing import Drawing, add, rendered
from pente_env.core import COLUMNS, ending, is_over, name_of, stones, winner
from pente_env.game import Game

SIGNS: Final = "XO#"  # one for each seat
_UNIT: Final = 40  # between two lines of the board; all lengths in user units
_MARGIN: Final = 44
# Fill and edge of the seats' stones, in colours of Okabe and Ito ("Color universal design", 2008).
_STONES: Final = (("#22262b", "#22262b"), ("#fbfaf6", "#22262b"), ("#e69f00", "#22262b"))
_PAPER, _BOARD, _LINE, _INK, _MARK = "#fbfaf6", "#ecd9b0", "#8a7443", "#22262b", "#d55e00"


def to_text(game: Game) -> str:
    """The board, who took how much, and what is to happen next."""
    return "\n".join([*board_lines(game), caption(game)])


def board_lines(game: Game) -> list[str]:
    """The board as lines of text, with names of rows and columns; brackets mark the last stone."""
    board = stones(game)
    side = len(board)
    lines = []
    for r, row in enumerate(board):
        cells = [" " + ("." + SIGNS)[stone] for stone in row] + [" "]
        if game.last >= 0 and game.last // side == r:
            c = int(game.last) % side
            cells[c], cells[c + 1] = "(" + cells[c][1], ")" + cells[c + 1][1:]
        lines.append(f"{side - r:2}{''.join(cells).rstrip()}")
    return [*lines, "   " + " ".join(COLUMNS[:side])]


def caption(game: Game) -> str:
    """The stones that each seat has taken, and what is to happen next."""
    taken = ", ".join(
        f"{SIGNS[seat]} {int(game.captured[seat])}" for seat in range(game.num_players)
    )
    return f"Taken: {taken}. Move {int(game.moves)}. {_outcome(game)}"


def _outcome(game: Game) -> str:
    if not is_over(game):
        return f"{SIGNS[game.player]} to move."
    seat = winner(game)
    return (
        "The board is full: nobody wins."
        if seat is None
        else f"{SIGNS[seat]} wins by {ending(game).replace('+', ' and ')}."
    )


def draw(game: Game) -> Drawing:
    """Draw a game: the board from above, with the names of its lines and a caption."""
    board = stones(game)
    side = len(board)
    width, height = 2 * _MARGIN + (side - 1) * _UNIT, 2 * _MARGIN + (side - 1) * _UNIT + 24
    root = ET.Element("svg", {
        "xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {width} {height}", "role": "img",
        "font-family": "Helvetica, Arial, sans-serif", "font-size": "13", "text-anchor": "middle",
        "fill": _INK,
    })  # fmt: skip
    add(root, "title", f"Pente, move {int(game.moves)}")
    add(root, "desc", caption(game))
    add(root, "rect", width=width, height=height, fill=_PAPER)
    edge = _MARGIN - _UNIT / 2
    add(root, "rect", x=edge, y=edge, width=side * _UNIT, height=side * _UNIT, rx=4, fill=_BOARD)
    _grid(root, side)
    for point, stone in enumerate(board.ravel().tolist()):
        if stone:
            _stone(root, game, point, stone - 1)
    add(root, "text", caption(game), x=width / 2, y=height - 10)
    return Drawing(ET.tostring(root, encoding="unicode"))


def _grid(root: ET.Element, side: int) -> None:
    end = _MARGIN + (side - 1) * _UNIT
    for i in range(side):
        at = _MARGIN + i * _UNIT
        add(root, "path", d=f"M{_MARGIN} {at} H{end} M{at} {_MARGIN} V{end}", stroke=_LINE)
        add(root, "text", str(side - i), x=_MARGIN / 4, y=at + 5)
        add(root, "text", COLUMNS[i], x=at, y=end + 0.9 * _MARGIN)


def _stone(root: ET.Element, game: Game, point: int, seat: int) -> None:
    side, (fill, edge) = int(game.rules.side), _STONES[seat]
    x, y = _MARGIN + point % side * _UNIT, _MARGIN + point // side * _UNIT
    group = add(root, "g", id=f"point-{point}")
    add(group, "title", f"{name_of(point, side)}: {SIGNS[seat]}")
    add(group, "circle", cx=x, cy=y, r=0.43 * _UNIT, fill=fill, stroke=edge)
    if point == game.last:
        add(group, "circle", cx=x, cy=y, r=0.2 * _UNIT, fill="none", stroke=_MARK, stroke_width=3)


def render(game: Game, mode: str | None) -> Any:
    """Render a game (`monopoly_env.render.drawing.rendered`)."""
    return rendered(mode, lambda: to_text(game), lambda: draw(game))
