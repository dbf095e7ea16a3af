"""The two decks of each edition, as a table of effects that kernels can index."""

from __future__ import annotations

from typing import Final

import numpy as np

from monopoly_env.errors import ConfigurationError, nearest, shortened
from monopoly_env.facts.board import NUM_EDITIONS, NUM_SQUARES
from monopoly_env.facts.editions import EDITIONS, Edition, Row, cell

DECKS: Final = ("chance", "community_chest")
CHANCE_DECK, CHEST_DECK = 0, 1
DECK_SIZE: Final = 16
JAIL_CARD_ID: Final = "goojf"

EFFECTS: Final = (
    "move_to",  # a: square, forward; passing GO pays
    "move_back_to",  # a: square, backward; never pays
    "move_steps",  # a: steps, negative
    # a: 0 railroad, 1 utility; b: times the rent (railroad) or times the dice (utility)
    "move_to_nearest",
    "go_to_jail",
    "get_out_of_jail_free",
    "bank_pays",  # a: dollars
    "pay_bank",  # a: dollars
    "pay_each",  # a: dollars to every other player
    "collect_each",  # a: dollars from every other player
    "repairs",  # a: dollars a house; b: dollars a hotel
    "pay_or_draw_chance",  # a: dollars of the fine
)
(
    MOVE_TO, MOVE_BACK_TO, MOVE_STEPS, MOVE_TO_NEAREST, TO_JAIL, JAIL_CARD,
    BANK_PAYS, PAY_BANK, PAY_EACH, COLLECT_EACH, REPAIRS, PAY_OR_DRAW,
) = range(len(EFFECTS))  # fmt: skip

# [edition, deck, card] -> effect, a, b
CARD: Final = np.zeros((NUM_EDITIONS, 2, DECK_SIZE, 3), np.int64)
CARD_ID: Final[list[list[list[str]]]] = []
CARD_LABEL: Final[list[list[list[str]]]] = []
# [edition, deck]: the number of the Get Out of Jail Free card in its deck
JAIL_CARD_NUMBER: Final = np.zeros((NUM_EDITIONS, 2), np.int64)


_MOVES: Final = ("move_to", "move_back_to", "move_steps", "move_to_nearest", "pay_or_draw_chance")
_MOST_DOLLARS: Final = 100_000


def _arguments(row: Row, amount: str, place: str) -> tuple[int, int]:
    """The two numbers of a card's effect, as `EFFECTS` lists them."""
    match row["effect"]:
        case "move_to" | "move_back_to":
            return cell(row, "target_index", 0, NUM_SQUARES - 1, place), 0
        case "move_steps":
            return cell(row, "steps", 1 - NUM_SQUARES, NUM_SQUARES - 1, place), 0
        case "move_to_nearest" if row["target_group"] == "railroad":
            return 0, cell(row, "rent_multiplier", 0, 100, place)
        case "move_to_nearest":
            return 1, cell(row, "dice_multiplier", 0, 1000, place)
        case "repairs":
            house = cell(row, "per_house", 0, _MOST_DOLLARS, place)
            return house, cell(row, "per_hotel", 0, _MOST_DOLLARS, place)
        case "go_to_jail" | "get_out_of_jail_free":
            return 0, 0
        case _:
            return cell(row, amount, 0, _MOST_DOLLARS, place), 0


def _deck(edition: Edition, deck: str) -> list[Row]:
    """The 16 cards of a deck, checked."""
    cards = [row for row in edition.cards if row["deck"] == deck]
    if len(cards) != DECK_SIZE:
        count = f"{len(cards)} cards, expected {DECK_SIZE}"
        raise ConfigurationError(f"{edition.name}: the {deck} deck has {count}.")
    for row in cards:
        at, effect, text = f"{edition.name}, {deck}, {row['id']}", row["effect"], row[edition.label]
        if effect not in EFFECTS:
            raise ConfigurationError(f"{at}: unknown effect. {nearest(effect, EFFECTS)}")
        if not text.isprintable() or not text:
            what = f"column {edition.label!r} is {shortened(text)}, no text"
            raise ConfigurationError(f"{at}: {what}.")
    out_of_jail = [row["id"] for row in cards if row["effect"] == "get_out_of_jail_free"]
    if out_of_jail != [JAIL_CARD_ID] or len({row["id"] for row in cards}) < DECK_SIZE:
        needs = f"different ids, and one card out of jail, {JAIL_CARD_ID!r}"
        raise ConfigurationError(f"{edition.name}: the {deck} deck needs {needs}.")
    # a player may hold the one out of jail
    if sum(row["effect"] in _MOVES for row in cards) > DECK_SIZE - 2:
        why = "two cards or more must move nobody, or a turn might never end"
        raise ConfigurationError(f"{edition.name}: of the {deck} deck {why}.")
    return cards


def _read() -> None:
    for e, edition in enumerate(EDITIONS):
        CARD_ID.append([])
        CARD_LABEL.append([])
        for d, deck in enumerate(DECKS):
            cards = _deck(edition, deck)
            CARD_ID[e].append([row["id"] for row in cards])
            CARD_LABEL[e].append([row[edition.label] for row in cards])
            for n, row in enumerate(cards):
                arguments = _arguments(row, edition.amount, f"{edition.name}, {deck}, {row['id']}")
                CARD[e, d, n] = EFFECTS.index(row["effect"]), *arguments
            JAIL_CARD_NUMBER[e, d] = CARD_ID[e][d].index(JAIL_CARD_ID)


_read()
