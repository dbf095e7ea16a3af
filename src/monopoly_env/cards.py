"""The two decks of each edition, as a table of effects that kernels can index."""

from __future__ import annotations

from typing import Final

import numpy as np

from monopoly_env.board import EDITIONS, read_table

DECKS: Final = ("chance", "community_chest")
CHANCE_DECK, CHEST_DECK = 0, 1
DECK_SIZE: Final = 16

EFFECTS: Final = (
    "move_to",  # a: square, forward; passing GO pays
    "move_back_to",  # a: square, backward; never pays
    "move_steps",  # a: steps, negative
    "move_to_nearest",  # a: 0 railroad, 1 utility; b: times the rent (railroad) or times the dice (utility)
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
CARD: Final = np.zeros((len(EDITIONS), 2, DECK_SIZE, 3), np.int64)
CARD_ID: Final[list[list[list[str]]]] = []
CARD_LABEL: Final[list[list[list[str]]]] = []
# [edition, deck]: the number of the Get Out of Jail Free card in its deck
JAIL_CARD_NUMBER: Final = np.zeros((len(EDITIONS), 2), np.int64)


def _arguments(row: dict[str, str], amount: str) -> tuple[int, int]:
    """The two numbers of a card's effect, as `EFFECTS` lists them."""
    match row["effect"]:
        case "move_to" | "move_back_to":
            return int(row["target_index"]), 0
        case "move_steps":
            return int(row["steps"]), 0
        case "move_to_nearest" if row["target_group"] == "railroad":
            return 0, int(row["rent_multiplier"])
        case "move_to_nearest":
            return 1, int(row["dice_multiplier"])
        case "repairs":
            return int(row["per_house"]), int(row["per_hotel"])
        case "go_to_jail" | "get_out_of_jail_free":
            return 0, 0
        case _:
            return int(row[amount]), 0


def _read() -> None:
    rows = read_table("cards.csv")
    for e, edition in enumerate(EDITIONS):
        CARD_ID.append([])
        CARD_LABEL.append([])
        for d, deck in enumerate(DECKS):
            cards = [row for row in rows if row["board"] == edition.deck and row["deck"] == deck]
            if len(cards) != DECK_SIZE:
                raise ValueError(f"{edition.name}: the {deck} deck has {len(cards)} cards, expected {DECK_SIZE}")
            CARD_ID[e].append([row["id"] for row in cards])
            CARD_LABEL[e].append([row[edition.label] for row in cards])
            for n, row in enumerate(cards):
                CARD[e, d, n] = EFFECTS.index(row["effect"]), *_arguments(row, edition.amount)
            JAIL_CARD_NUMBER[e, d] = CARD_ID[e][d].index("goojf")


_read()
