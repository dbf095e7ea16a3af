"""The board as text for a terminal of 80 columns.

A square shows its name. The line below shows its owner (one letter per player) with houses (a
digit), `H` for a hotel or `m` for a mortgage, or its price if nobody owns it; then its tokens. The
middle lists the players.
"""

from __future__ import annotations

import textwrap
from typing import Final

from monopoly_env.actions import DECISION_NAMES
from monopoly_env.core import sound
from monopoly_env.facts.board import (
    GROUP_OF,
    HOTEL,
    JAIL_SQUARE,
    NUM_STREETS,
    PRICE,
    SQUARE_LOT,
    SQUARE_NAME,
)
from monopoly_env.game import Game
from monopoly_env.render import words

PLAYERS: Final = "ABCDEFGH"  # one letter per seat
SIDE: Final = 11  # squares along one side, including the corners
WIDTH: Final = 6  # characters per square
_MIDDLE: Final = (SIDE - 2) * (WIDTH + 1) - 1  # characters per line of the middle

# Colours of the groups, then of the players, in the 256-colour palette of terminals.
_GROUP_COLOUR: Final = (94, 117, 170, 208, 160, 220, 28, 20, 240, 245)
_PLAYER_COLOUR: Final = (196, 46, 33, 226, 201, 51, 208, 255)
_DARK_TEXT: Final = frozenset((117, 220, 208, 245))  # backgrounds that need dark text


def board(game: Game, colour: bool = True) -> str:
    """Draw a game: 34 lines of 78 characters.

    Args:
        game: A game of 2 to 8 players.
        colour: Whether to add 256-colour escape codes for groups and players.

    Raises:
        ConfigurationError: The argument is no record of a game.
        PositionError: The record is invalid.
    """
    sound(game)
    rule = "+" + ("-" * WIDTH + "+") * SIDE
    middle = _middle(game)
    lines = [rule]
    for row in range(SIDE):
        squares = _squares_of_row(row)
        for part in range(2):
            cells = [_cell(game, square, colour)[part] for square in squares]
            if len(cells) == SIDE:
                lines.append("|" + "|".join(cells) + "|")
            else:
                lines.append(f"|{cells[0]}|{_coloured(middle.pop(0), colour)}|{cells[1]}|")
        inner = row in (0, SIDE - 2, SIDE - 1)
        side = "+" + "-" * WIDTH + "+"
        lines.append(rule if inner else side + _coloured(middle.pop(0), colour) + side)
    return "\n".join(lines)


def _squares_of_row(row: int) -> list[int]:
    """The squares in a row of the picture. GO is at the lower right; play goes clockwise."""
    if row == 0:
        return list(range(20, 31))
    if row == SIDE - 1:
        return list(range(10, -1, -1))
    return [20 - row, 30 + row]


def _cell(game: Game, square: int, colour: bool) -> tuple[str, str]:
    """The two lines of a square."""
    edition = int(game.rules.board)
    lot = int(SQUARE_LOT[edition, square])
    name = short_name(SQUARE_NAME[edition][square])
    tokens = tokens_on(game, square)
    mark = lot_mark(game, lot) if lot >= 0 else ""
    price = f"${PRICE[edition, lot]}" if lot >= 0 and not mark else ""
    left = mark or (price if len(price) + len(tokens) < WIDTH else "")
    if len(left) + len(tokens) > WIDTH:
        tokens = tokens[: WIDTH - len(left) - 1] + "+"  # the middle lists all players
    gap = " " * (WIDTH - len(left) - len(tokens))
    if colour:
        if lot >= 0:
            number = _GROUP_COLOUR[GROUP_OF[lot]]
            name = f"\x1b[38;5;{16 if number in _DARK_TEXT else 231};48;5;{number}m{name}\x1b[0m"
        if mark:
            left = _in_colour(left, PLAYERS.index(left[0]))
        letters = (one if one == "+" else _in_colour(one, PLAYERS.index(one)) for one in tokens)
        tokens = "".join(letters)
    return name, left + gap + tokens


def short_name(name: str) -> str:
    """A square's name in six characters: its first letters, without article and spaces."""
    return name.partition(" / ")[0].removeprefix("The ").replace(" ", "")[:WIDTH].ljust(WIDTH)


def lot_mark(game: Game, lot: int) -> str:
    """The owner's letter and the state of a lot: `B`, `B3`, `BH`, `Bm`; empty if nobody owns it."""
    seats = range(game.num_players)
    owner = next((seat for seat in seats if int(game.lots[seat]) >> lot & 1), None)
    if owner is None:
        return ""
    if int(game.mortgaged) >> lot & 1:
        return PLAYERS[owner] + "m"
    level = int(game.level[lot]) if lot < NUM_STREETS else 0
    return PLAYERS[owner] + ("H" if level == HOTEL else str(level or ""))


def tokens_on(game: Game, square: int) -> str:
    """The letters of the players who stand on a square, jailed players and winners included."""
    return "".join(
        PLAYERS[seat]
        for seat in range(game.num_players)
        if game.place[seat] <= 1 and game.position[seat] == square
    )


def _middle(game: Game) -> list[str]:
    """The lines of the middle: the players, the bank, and the open decision."""
    lines = ["", f"Turn {game.turns}, player {PLAYERS[game.turn]}", ""]
    lines += [_player(game, seat) for seat in range(game.num_players)]
    throw = f"Last throw: {game.dice[0]} + {game.dice[1]}."
    lines += ["", f"Bank: {game.houses} houses, {game.hotels} hotels. {throw}"]
    if game.pot:
        lines.append(f"Free Parking: ${game.pot:,}")
    if game.decision:
        decision = DECISION_NAMES[game.decision].replace("_", " ")
        lines.append(f"Player {PLAYERS[game.player]} decides: {decision}.")
        lines += textwrap.wrap(words.subject(game, PLAYERS), _MIDDLE - 4)
    else:
        lines.append("The game is over.")
    rows = 3 * (SIDE - 2) - 1
    return [f"  {line}"[:_MIDDLE].ljust(_MIDDLE) for line in (lines + [""] * rows)[:rows]]


def _player(game: Game, seat: int) -> str:
    """A player's line in the middle."""
    if game.place[seat] and game.decision:
        return f"{PLAYERS[seat]}  bankrupt, place {game.place[seat]}"
    where = SQUARE_NAME[int(game.rules.board)][game.position[seat]]
    if game.position[seat] == JAIL_SQUARE:
        where = "in jail" if game.jail[seat] else "just visiting"
    lots = int(game.lots[seat]).bit_count()
    cards = int(game.jail_cards[seat]).bit_count()
    rank = f", place {game.place[seat]}" if game.place[seat] else ""
    held = f", {cards} jail card{'s' if cards > 1 else ''}" if cards else ""
    return f"{PLAYERS[seat]}  ${game.cash[seat]:<6,} {lots:2} lots{held}, {where}{rank}"


def _coloured(line: str, colour: bool) -> str:
    """A line of the middle, with a player's letter in the player's colour."""
    if colour and line[2] in PLAYERS and line[3:5] == "  ":
        return line[:2] + _in_colour(line[2], PLAYERS.index(line[2])) + line[3:]
    return line


def _in_colour(text: str, seat: int) -> str:
    return f"\x1b[1;38;5;{_PLAYER_COLOUR[seat]}m{text}\x1b[0m"
