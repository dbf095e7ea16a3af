"""A game as a picture: the board, owners, buildings, tokens, and the open question.

    >>> import monopoly_env as me
    >>> drawing = me.draw(me.new_game(seed=7))  # shows itself in a notebook
    >>> str(drawing)[:4]  # drawing.save("game.svg") writes a file
    '<svg'

Owners have a colour and a letter. Every square is a group with the id `square-N`, the class of its
kind and a title in words, so that pages, tests and screen readers use the same picture.
"""

from __future__ import annotations

import textwrap
from types import SimpleNamespace
from typing import Any, Final
from xml.etree import ElementTree as ET

from monopoly_env import actions
from monopoly_env.core import sound
from monopoly_env.facts import board
from monopoly_env.game import ENDINGS, NOBODY, Game
from monopoly_env.render import words
from monopoly_env.render.drawing import Drawing, add
from monopoly_env.render.text import PLAYERS, tokens_on

CORNER: Final = 96  # length of a corner square; all lengths in user units
UNIT: Final = 60  # width of the other squares
SIZE: Final = 2 * CORNER + 9 * UNIT
_BAND: Final = 16  # depth of a street's colour band
# characters of a line of a square's name, by the width of the square
_NAME_WIDTH: Final = {UNIT: 13, CORNER: 22}

GROUP_COLOURS: Final = (
    "#8a5a3b", "#9fd3ea", "#d678ae", "#ef9a3d", "#d6463f", "#f0d23c", "#3f9a5c", "#2f5ea6",
    "#4f5358", "#a3a8ad",
)  # fmt: skip
# Dark enough for white letters, and far from every group's colour.
PLAYER_COLOURS: Final = (
    "#1b2fa8", "#960f12", "#00694b", "#a32be0", "#1e7896", "#757500", "#cf1668", "#4b2d3c",
)  # fmt: skip
_PAPER, _INK, _FAINT, _LINE = "#fbfaf6", "#22262b", "#737a82", "#c9c7bd"
_SYMBOLS: Final = {
    board.GO: "GO", board.CHEST: "chest", board.CHANCE: "?", board.INCOME_TAX: "tax",
    board.LUXURY_TAX: "tax", board.JAIL: "jail",
    board.GO_TO_JAIL: "to jail", board.FREE_PARKING: "P",
}  # fmt: skip


def draw(game: Game) -> Drawing:
    """Draw a game.

    Args:
        game: One record, of any edition and of 2 to 8 players.

    Examples:
        >>> import monopoly_env as me
        >>> me.draw(me.new_game(seed=0)).svg[:4]
        '<svg'

    Raises:
        ConfigurationError: The argument is no record of a game.
        PositionError: The record is invalid.
    """
    root = element(game)
    ET.indent(root)
    return Drawing(ET.tostring(root, encoding="unicode"))


def element(game: Game) -> ET.Element:
    """The same as a tree of elements. Parts that change between positions have an id.

    Raises:
        ConfigurationError: The argument is no record of a game.
        PositionError: The record is invalid.
    """
    sound(game)
    question, game = _question(game), _plain(game)
    root = ET.Element("svg", {
        "xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {SIZE} {SIZE}", "role": "img",
        "font-family": "Helvetica, Arial, sans-serif",
    })  # fmt: skip
    add(root, "title", f"Monopoly, turn {game.turns}")
    players = [_player_in_words(game, seat) for seat in range(game.num_players)]
    add(root, "desc", "; ".join([*players, question]))
    tile = {"width": 6, "height": 6, "patternUnits": "userSpaceOnUse"}
    hatching = add(add(root, "defs"), "pattern", id="mortgaged", **tile)
    add(hatching, "path", d="M0 6 L6 0", stroke=_LINE, stroke_width=1)
    _rectangle(root, 0, 0, SIZE, SIZE, _PAPER)
    for square in range(board.NUM_SQUARES):
        _square(root, game, square)
    _middle(root, game, question)
    return root


def _plain(game: Game) -> Any:
    """A record as plain Python: a drawing reads thousands of fields, much faster than NumPy's."""
    fields = {name: game[name].tolist() for name in game.dtype.names if name != "rules"}
    return SimpleNamespace(**fields, rules=SimpleNamespace(board=int(game.rules.board)))


# --- squares


def _frame(square: int) -> tuple[int, int, int, int]:
    """Left, top, width and height of a square; GO is at the lower right, play goes clockwise."""
    side, place = divmod(square, 10)
    along = SIZE - CORNER - UNIT * place  # from the corner where the side begins
    near, far = 0, SIZE - CORNER
    if place == 0:
        left, top = ((far, far), (near, far), (near, near), (far, near))[side]
        return left, top, CORNER, CORNER
    back = SIZE - along - UNIT
    left, top = ((along, far), (near, along), (back, near), (far, back))[side]
    return (left, top, UNIT, CORNER) if side in (0, 2) else (left, top, CORNER, UNIT)


def _square(root: ET.Element, game: Game, square: int) -> None:
    edition = int(game.rules.board)
    lot, kind = int(board.SQUARE_LOT[edition, square]), int(board.SQUARE_KIND[edition, square])
    left, top, width, height = _frame(square)
    group = add(root, "g", id=f"square-{square}", role="img", transform=f"translate({left} {top})")
    group.set("class", board.KINDS[kind])
    add(group, "title", _square_in_words(game, square))
    _rectangle(group, 0, 0, width, height, "none", stroke=_LINE)
    band = _BAND if kind == board.STREET else 0
    if band:
        _street_band(group, game, lot, width)
    lines = textwrap.wrap(board.SQUARE_NAME[edition][square], _NAME_WIDTH[width])[:3]
    for number, line in enumerate(lines):
        _text(group, line, width / 2, band + 11 + 9 * number, 8, anchor="middle")
    if lot >= 0:
        _deed(group, game, lot, width, height, band + 5 + 9 * len(lines))
    elif kind in _SYMBOLS and width == height:
        _label(group, _SYMBOLS[kind], width / 2, height / 2 + 14, 24, _FAINT)
    _tokens(group, game, square, width, height)


def _street_band(group: ET.Element, game: Game, lot: int, width: int) -> None:
    """The colour of a street, with its houses or its hotel."""
    _rectangle(group, 0, 0, width, _BAND, GROUP_COLOURS[board.GROUP_OF[lot]], stroke=_LINE)
    level = int(game.level[lot])
    if level == board.HOTEL:
        _rectangle(group, width / 2 - 13, 3, 26, 10, "#ffffff", stroke=_INK, rx=2)
        _label(group, "HOTEL", width / 2, 11, 7)
        return
    for house in range(level):
        left = width / 2 + 13 * (house - level / 2) + 1.5
        _rectangle(group, left, 3, 10, 10, "#ffffff", stroke=_INK, rx=1)


def _deed(
    group: ET.Element, game: Game, lot: int, width: int, height: int, below_name: int
) -> None:
    """The owner of a lot, a strip with a letter at the outer edge; or its price."""
    owner = _owner(game, lot)
    if owner == NOBODY:
        price = f"${board.PRICE[int(game.rules.board), lot]}"
        _text(group, price, width / 2, height - 5, 9, _FAINT, anchor="middle")
        return
    if _is_mortgaged(game, lot):
        _rectangle(group, 0, below_name, width, height - below_name, "url(#mortgaged)")
    _rectangle(group, 0, height - 13, width, 13, PLAYER_COLOURS[owner])
    note = f"{PLAYERS[owner]} mortgaged" if _is_mortgaged(game, lot) else PLAYERS[owner]
    _label(group, note, width / 2, height - 3, 9, "#ffffff")


def _tokens(group: ET.Element, game: Game, square: int, width: int, height: int) -> None:
    """The players on a square, in rows above the strip of its owner; those in jail are framed."""
    standing = [PLAYERS.index(letter) for letter in tokens_on(game, square)]
    longest = width // 15
    for number, seat in enumerate(standing):
        row, column = divmod(number, longest)
        columns = min(longest, len(standing) - longest * row)
        x = width / 2 + 14 * (column - (columns - 1) / 2)
        y = height - (22 if height == CORNER else 20) - 14 * row
        if game.jail[seat]:
            _rectangle(group, x - 8, y - 8, 16, 16, "none", stroke=_INK, rx=2)
        _token(group, seat, x, y, 6.5)


def _token(parent: ET.Element, seat: int, x: float, y: float, radius: float) -> None:
    token = add(parent, "g", id=f"token-{PLAYERS[seat]}")
    edge = {"stroke": "#ffffff", "stroke_width": 1}
    add(token, "circle", cx=x, cy=y, r=radius, fill=PLAYER_COLOURS[seat], **edge)
    _label(token, PLAYERS[seat], x, y + radius * 0.5, radius * 1.4, "#ffffff")


# --- the middle


def _middle(root: ET.Element, game: Game, asked: str) -> None:
    """Turn, dice, a row for each player, the bank, and the open question."""
    middle = add(root, "g", id="middle", transform=f"translate({CORNER + 28} {CORNER + 24})")
    turn = add(middle, "g", id="turn")
    _text(turn, f"Turn {game.turns}", 0, 20, 20, weight="bold")
    _text(turn, f"player {PLAYERS[game.turn]}", 0, 38, 12, _FAINT)
    for number in range(2):
        _die(turn, int(game.dice[number]), 408 + 40 * number, 4)
    for seat in range(game.num_players):
        _player(middle, game, seat, 60 + 40 * seat)
        _lots(middle, game, seat, 60 + 40 * seat)
    below = 60 + 40 * int(game.num_players) + 10
    parking = f", ${game.pot:,} on Free Parking" if game.pot else ""
    supply = f"Bank: {game.houses} houses, {game.hotels} hotels{parking}"
    _text(add(middle, "g", id="bank"), supply, 0, below, 11, _FAINT)
    question = add(middle, "g", id="question")
    for number, line in enumerate(textwrap.wrap(asked, 72)):
        _text(question, line, 0, below + 22 + 16 * number, 12)


def _die(parent: ET.Element, eyes: int, left: int, top: int) -> None:
    """One die, blank before the first throw."""
    _rectangle(parent, left, top, 32, 32, "#ffffff", stroke=_INK, rx=6)
    low, mid, high = 8, 16, 24
    at = {
        1: [(mid, mid)], 2: [(low, low), (high, high)], 3: [(low, low), (mid, mid), (high, high)],
        4: [(low, low), (high, high), (low, high), (high, low)],
    }  # fmt: skip
    at[5] = [*at[4], (mid, mid)]
    at[6] = [*at[4], (low, mid), (high, mid)]
    for x, y in at.get(eyes, []):
        add(parent, "circle", cx=left + x, cy=top + y, r=3, fill=_INK)


def _player(parent: ET.Element, game: Game, seat: int, top: int) -> None:
    """A player's token, cash and square."""
    place = {"role": "img", "transform": f"translate(0 {top})"}
    row = add(parent, "g", id=f"player-{PLAYERS[seat]}", **place)
    add(row, "title", _player_in_words(game, seat))
    if seat == game.player and game.decision:
        _rectangle(row, -10, -2, 504, 36, "#efece1", rx=6)
    add(row, "circle", cx=10, cy=16, r=10, fill=PLAYER_COLOURS[seat])
    _label(row, PLAYERS[seat], 10, 21, 13, "#ffffff")
    if game.place[seat] and game.decision:
        _text(row, f"bankrupt, place {game.place[seat]}", 30, 20, 12, _FAINT)
        return
    _text(row, f"${game.cash[seat]:,}", 30, 15, 14, weight="bold")
    _text(row, _where(game, seat), 30, 29, 10, _FAINT)


def _lots(parent: ET.Element, game: Game, seat: int, top: int) -> None:
    """A small card for each lot, by group: filled if owned, framed if mortgaged."""
    row = add(parent, "g", id=f"lots-{PLAYERS[seat]}", transform=f"translate(0 {top})")
    if game.place[seat] and game.decision:
        return
    for lot in range(board.NUM_LOTS):
        x = 190 + 10 * lot + 2 * int(board.GROUP_OF[lot])
        colour = GROUP_COLOURS[board.GROUP_OF[lot]]
        owned = int(game.lots[seat]) >> lot & 1
        fill = colour if owned and not _is_mortgaged(game, lot) else "none"
        _rectangle(row, x - 4, 8, 8, 16, fill, stroke=colour if owned else "#e3e0d6", rx=1)


# --- words


def _owner(game: Game, lot: int) -> int:
    seats = range(game.num_players)
    return next((seat for seat in seats if int(game.lots[seat]) >> lot & 1), NOBODY)


def _is_mortgaged(game: Game, lot: int) -> bool:
    return bool(int(game.mortgaged) >> lot & 1)


def _where(game: Game, seat: int) -> str:
    if game.jail[seat]:
        place = f"in jail, {game.jail[seat] - 1} failed throws"
    else:
        place = board.SQUARE_NAME[int(game.rules.board)][game.position[seat]]
    cards = int(game.jail_cards[seat]).bit_count()
    return place + (f", {cards} jail card{'s' if cards > 1 else ''}" if cards else "")


def _player_in_words(game: Game, seat: int) -> str:
    if game.place[seat] and game.decision:
        return f"player {PLAYERS[seat]}: bankrupt, place {game.place[seat]}"
    rank = f", place {game.place[seat]}" if game.place[seat] else ""
    return (
        f"player {PLAYERS[seat]}: ${game.cash[seat]:,}, {int(game.lots[seat]).bit_count()} lots,"
        f" {_where(game, seat)}{rank}"
    )


def _square_in_words(game: Game, square: int) -> str:
    edition = int(game.rules.board)
    name, lot = board.SQUARE_NAME[edition][square], int(board.SQUARE_LOT[edition, square])
    if lot < 0:
        return name
    owner = _owner(game, lot)
    if owner == NOBODY:
        return f"{name}: for sale at ${board.PRICE[edition, lot]}"
    level = int(game.level[lot]) if lot < board.NUM_STREETS else 0
    houses = f", {level} house{'s' if level > 1 else ''}" if level else ""
    built = ", hotel" if level == board.HOTEL else houses
    mortgaged = ", mortgaged" if _is_mortgaged(game, lot) else ""
    return f"{name}: owned by {PLAYERS[owner]}{built}{mortgaged}"


def _question(game: Game) -> str:
    """The open question and its player, with the bid or the offer."""
    if not game.decision:
        winners = (PLAYERS[seat] for seat in range(game.num_players) if game.place[seat] == 1)
        return f"The game is over: {ENDINGS[game.ending]}. {' and '.join(winners)} won."
    decision = actions.DECISIONS[actions.DECISION_NAMES[game.decision]]
    decides = f"{PLAYERS[game.player]} decides: {decision}."
    return f"{decides} {words.subject(game, PLAYERS)}".strip()


# --- elements


def _rectangle(
    parent: ET.Element, x: float, y: float, width: float, height: float, fill: str, **more: Any
) -> None:
    add(parent, "rect", x=x, y=y, width=width, height=height, fill=fill, **more)


def _text(
    parent: ET.Element,
    text: str,
    x: float,
    y: float,
    size: float,
    fill: str = _INK,
    *,
    anchor: str = "start",
    weight: str = "normal",
) -> None:
    font = {"font_size": size, "text_anchor": anchor, "font_weight": weight}
    add(parent, "text", text, x=x, y=y, fill=fill, **font)


def _label(
    parent: ET.Element, text: str, x: float, y: float, size: float, fill: str = _INK
) -> None:
    """Bold text around a point."""
    _text(parent, text, x, y, size, fill, anchor="middle", weight="bold")
