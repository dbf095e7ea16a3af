"""The record: the complete state of a game in one NumPy structured scalar.

Copying, saving, comparing, hashing and branching a game are array operations on it. A batch of
games is an array of records. Fields are ordered by width, so that the record is aligned without
padding and equal games have equal bytes. Sets are bits of non-negative signed integers: Numba turns
an unsigned integer into a float as soon as it meets a signed one.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

import numpy as np

from monopoly_env.kernels.records import pickle_writable
from monopoly_env.kernels.signatures import Records
from monopoly_env.rules import RULES

MAX_PLAYERS: Final = 8
MIN_PLAYERS: Final = 2
# of saved games: raised when a field is added, removed or changes its meaning
FORMAT_VERSION: Final = 2

BANK: Final = -1  # as a creditor
POT: Final = -2  # as a creditor: the bank, or Free Parking where the rules collect fines there
ALL_OTHERS: Final = -3  # as a creditor: every other player, in equal parts
NOBODY: Final = -1

AGENDA_DEPTH: Final = 32
MAX_REFUSED: Final = 10
MAX_FORCED: Final = 16

# Why a game is over: `Game.ending`.
ENDINGS: Final = (
    "running", "one player is left", "a bankruptcy ended it", "a cap was reached",
    "a player reached the winning cash",
)  # fmt: skip
ONE_LEFT, BY_BANKRUPTCY, BY_CAP, BY_CASH = range(1, len(ENDINGS))

CHANCE_GOOD: Final = 28  # goods of an offer: 28 lots, then the two jail cards
CHEST_GOOD: Final = 29

_I16: Final = np.int16
_I32: Final = np.int32
_PLAYERS: Final = (MAX_PLAYERS,)

_FIELDS: Final[list[tuple[str, Any, tuple[int, ...], str]]] = [
    ("legal", np.int64, (7,),
        "legal actions of the open decision, 32 per word: `me.legal_actions(game)`"),
    ("seed", np.int64, (2,), "low and high half of the seed, 32 bits each"),
    ("rules", RULES, (), "[options](options.md) as numbers: `me.Rules.from_record(game.rules)`"),
    # Players; absent ones are zeros.
    ("cash", _I32, _PLAYERS, "dollars in hand"),
    ("lots", _I32, _PLAYERS, "owned lots, one bit each"),
    ("throws", _I32, _PLAYERS, "movement throws so far"),
    ("policy_draws", _I32, _PLAYERS, "random numbers drawn by the seat's policy"),
    ("sealed", _I32, _PLAYERS, "sealed auction: the maximum bid so far"),
    # The bank.
    ("mortgaged", _I32, (), "mortgaged lots, one bit each"),
    ("pot", _I32, (), "dollars on Free Parking"),
    # Counters.
    ("turns", _I32, (), "turns begun"),
    ("rounds", _I32, (), "rounds completed"),
    ("utility_throws", _I32, (), "throws for the rent of utilities so far"),
    ("start_draws", _I32, (), "random numbers drawn for who starts"),
    ("deck_draws", _I32, (2,), "random numbers drawn for each deck"),
    # Auction.
    ("auction_bid", _I32, (), "standing bid, in dollars"),
    # The offer being composed or answered. Goods: bits 0-27 are lots, 28 and 29 the jail cards.
    ("offer_ask", _I32, (),
        "goods that the open offer asks for, one bit each: lots, then the two jail cards"),
    ("offer_give", _I32, (), "goods that it gives"),
    ("offer_cash", _I32, (), "dollars that it gives; negative: asks for"),
    ("traded", _I32, (),
        "goods moved by a trade this turn: they may not be traded again before it ends"),
    ("fresh_mortgages", _I32, (),
        'lots mortgaged this turn; with `unmortgage_price="ten_percent"`, in this game'),
    ("fresh_sales", _I32, (), "streets of the groups whose buildings were sold this turn"),
    ("refused_ask", _I32, (MAX_REFUSED,), "goods that the offers refused this turn asked for"),
    ("refused_give", _I32, (MAX_REFUSED,), "goods that they gave"),
    ("refused_cash", _I32, (MAX_REFUSED,), "dollars that they gave; negative: asked for"),
    ("agenda", _I32, (AGENDA_DEPTH, 4),
        "stack of tasks still to be settled: task, player, and two numbers that depend on "
        "the task"),
    # The game.
    ("num_players", _I16, (), "2 to 8"),
    ("first", _I16, (), "seat that started"),
    ("turn", _I16, (), "seat on turn"),
    ("decision", _I16, (),
        "open decision, by its [number](actions.md#decisions); 0: the game is over"),
    ("player", _I16, (), "seat that decides"),
    ("depth", _I16, (), "tasks on the agenda"),
    ("fault", _I16, (), "not 0: the engine broke one of its own invariants"),
    ("streak", _I16, (), "doubles thrown in a row this turn"),
    ("again", _I16, (), "1: the turn goes on with another throw"),
    ("dice", _I16, (2,), "last throw"),
    ("houses", _I16, (), "houses in the bank"),
    ("hotels", _I16, (), "hotels in the bank"),
    # Players, continued.
    ("position", _I16, _PLAYERS, "square of the token"),
    ("jail", _I16, _PLAYERS, "0: free; k: in jail after k - 1 failed throws"),
    ("jail_cards", _I16, _PLAYERS, "bit 0: Chance; bit 1: Community Chest"),
    ("place", _I16, _PLAYERS,
        "0: still in the game; otherwise the final rank (1: won; several 1s: a draw)"),
    ("offers", _I16, _PLAYERS, "offers made this turn"),
    ("level", _I16, (22,), "houses on each street; 5: a hotel"),
    # Decks.
    ("deck", _I16, (2, 16),
        "cards of Chance and Community Chest in order, as indices into "
        "`monopoly_env.facts.cards.CARD_ID[board][deck]`"),
    ("deck_size", _I16, (2,), "cards in each deck"),
    ("deck_next", _I16, (2,), "index of the card to be drawn next"),
    ("forced_throws", _I16, (MAX_FORCED,),
        "throws set from outside, as 10 * first die + second die, the next one first"),
    ("num_forced", _I16, (), "how many throws are set"),
    # Auction, continued.
    ("auction_lot", _I16, (), "lot under auction; 28: a house, 29: a hotel; -1: none"),
    ("auction_leader", _I16, (), "seat of the standing bid; -1: no bid yet"),
    ("auction_bidders", _I16, (), "seats that have not folded, one bit each"),
    ("auction_asked", _I16, (), "seat to bid next; -1: none"),
    # Offer, continued.
    ("offer_from", _I16, (), "seat that makes the open offer; -1: none"),
    ("offer_to", _I16, (), "seat that it is made to; -1: none"),
    ("offer_last", _I16, (), "last pick; picks come in a fixed order"),
    ("offer_counter", _I16, (), "1: it is a counter-offer"),
    ("num_refused", _I16, (), "how many offers were refused this turn"),
    ("refused_from", _I16, (MAX_REFUSED,), "seats that made them"),
    ("refused_to", _I16, (MAX_REFUSED,), "seats that refused them"),
    ("spare", _I16, (2,), "fills the record up to a multiple of 8 bytes"),
    ("ending", _I16, (),
        "why the game is over, in the order of `monopoly_env.game.ENDINGS`; 0: it is running"),
]  # fmt: skip
MEANING: Final = {name: meaning for name, *_, meaning in _FIELDS}  # of each field

GAME: Final = np.dtype((np.record, [(name, kind, shape) for name, kind, shape, _ in _FIELDS]))

# A game is one record of the dtype GAME; NumPy's scalar type for it is np.record.
Game: TypeAlias = Annotated[Any, Records(GAME, 0)]
Games: TypeAlias = Annotated[np.ndarray[Any, np.dtype[np.void]], Records(GAME)]


def _check_layout() -> None:
    assert GAME.fields is not None
    end = 0
    for name in GAME.names or ():
        dtype, offset = GAME.fields[name][:2]
        if offset != end or offset % dtype.base.alignment:
            raise AssertionError(f"field {name} is padded or misaligned")
        end = offset + dtype.itemsize
    if end % 8:
        raise AssertionError(f"the record has {end} bytes; adjust `spare` to a multiple of 8")


_check_layout()
pickle_writable(GAME)


def empty_games(count: int) -> Games:
    """An array of `count` records, all zeros."""
    return np.zeros(count, GAME)
