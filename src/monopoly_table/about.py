"""What a page needs to know before there is a game: rules, boards, policies, colours, limits."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from monopoly_env.facts import board, cards
from monopoly_env.facts.editions import EDITION_NAMES
from monopoly_env.render.svg import GROUP_COLOURS, PLAYER_COLOURS
from monopoly_env.render.text import PLAYERS
from monopoly_table import safety, setups
from monopoly_table.house import House
from monopoly_table.players import SAVED


def about(house: House, host: bool) -> dict[str, Any]:
    """Everything that does not change while the server runs; saved policies for the host alone."""
    policies = house.catalogue.listed() if house.ready else _unknown(house)
    told = [policy for policy in policies if host or not policy["name"].startswith(SAVED)]
    return {"ready": house.ready, "host": host, "policies": told, **_tables()}


def _unknown(house: House) -> list[dict[str, Any]]:
    """The policies before it is known which of them can play on."""
    return [{"name": name, "plays_on": name == "expert"} for name in house.catalogue.names()]


@cache
def _tables() -> dict[str, Any]:
    groups = [
        {
            "name": name,
            "colour": GROUP_COLOURS[number],
            "lots": board.lots_of(int(board.GROUP_LOTS[number])),
        }
        for number, name in enumerate(board.GROUPS)
    ]
    return {
        "version": _version(),
        "rules": setups.presets(),
        "colours": list(PLAYER_COLOURS),
        "letters": list(PLAYERS),
        "groups": groups,
        "boards": {edition: _board(number) for number, edition in enumerate(EDITION_NAMES)},
        "cards": {edition: _cards(number) for number, edition in enumerate(EDITION_NAMES)},
        "limits": {"upload": safety.MOST_UPLOAD, "players": [2, 8], "speed": [0, 10]},
    }


def _version() -> str:
    try:
        return version("monopoly-env")
    except PackageNotFoundError:  # run from a folder
        return "unknown"


def _board(edition: int) -> list[dict[str, Any]]:
    return [_square(edition, square) for square in range(board.NUM_SQUARES)]


def _square(edition: int, square: int) -> dict[str, Any]:
    told: dict[str, Any] = {
        "square": square,
        "name": board.SQUARE_NAME[edition][square],
        "kind": board.KINDS[board.SQUARE_KIND[edition, square]],
        "lot": None,
    }
    lot = int(board.SQUARE_LOT[edition, square])
    if lot >= 0:
        told |= {
            "lot": lot,
            "group": int(board.GROUP_OF[lot]),
            "price": int(board.PRICE[edition, lot]),
            "mortgage": int(board.MORTGAGE[edition, lot]),
            "house_price": int(board.HOUSE_PRICE[edition, lot]),
            "rent": [int(dollars) for dollars in board.RENT[edition, lot] if dollars],
        }
    return told


def _cards(edition: int) -> dict[str, Any]:
    return {
        deck: [
            {"id": card, "label": label}
            for card, label in zip(
                cards.CARD_ID[edition][number], cards.CARD_LABEL[edition][number], strict=True
            )
        ]
        for number, deck in enumerate(cards.DECKS)
    }
