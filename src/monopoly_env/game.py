"""The record: the complete state of a game in one NumPy structured scalar.

Copying, saving, comparing, hashing and branching a game are array operations on it. A batch of games is an array of records.
Fields are ordered by width, so that the record is aligned without padding and equal games have equal bytes. Sets are bits of
non-negative signed integers: Numba turns an unsigned integer into a float as soon as it meets a signed one.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from monopoly_env.records import pickle_writable
from monopoly_env.rules import RULES

MAX_PLAYERS: Final = 8
MIN_PLAYERS: Final = 2
FORMAT_VERSION: Final = 2  # of saved games: raised when a field is added, removed or changes its meaning

BANK: Final = -1  # as a creditor
POT: Final = -2  # as a creditor: the bank, or Free Parking where the rules collect fines there
ALL_OTHERS: Final = -3  # as a creditor: every other player, in equal parts
NOBODY: Final = -1

AGENDA_DEPTH: Final = 32
MAX_REFUSED: Final = 10
MAX_FORCED: Final = 16

# Why a game is over: `Game.ending`.
ENDINGS: Final = ("running", "one player is left", "a bankruptcy ended it", "a cap was reached", "a player reached the winning cash")
ONE_LEFT, BY_BANKRUPTCY, BY_CAP, BY_CASH = range(1, len(ENDINGS))

CHANCE_GOOD: Final = 28  # goods of an offer: 28 lots, then the two jail cards
CHEST_GOOD: Final = 29

_I16: Final = np.int16
_I32: Final = np.int32
_PLAYERS: Final = (MAX_PLAYERS,)

GAME: Final = np.dtype(
    (
        np.record,
        [
            ("legal", np.int64, (7,)),  # the legal actions of the open decision, 32 per word
            ("seed", np.int64, (2,)),  # low and high half, 32 bits each
            ("rules", RULES),
            # Players; absent ones are zeros.
            ("cash", _I32, _PLAYERS),  # dollars
            ("lots", _I32, _PLAYERS),  # owned lots, one bit each
            ("throws", _I32, _PLAYERS),  # movement throws so far
            ("policy_draws", _I32, _PLAYERS),  # random numbers drawn by the seat's policy
            ("sealed", _I32, _PLAYERS),  # sealed auction: the maximum bid so far
            # The bank.
            ("mortgaged", _I32),  # mortgaged lots, one bit each
            ("pot", _I32),  # dollars on Free Parking
            # Counters.
            ("turns", _I32),  # turns begun
            ("rounds", _I32),  # rounds completed
            ("utility_throws", _I32),
            ("start_draws", _I32),
            ("deck_draws", _I32, (2,)),
            # Auction.
            ("auction_bid", _I32),  # standing bid
            # The offer being composed or answered. Goods: bits 0-27 are lots, 28 and 29 the jail cards.
            ("offer_ask", _I32),
            ("offer_give", _I32),
            ("offer_cash", _I32),  # dollars given by the proposer; negative: asked for
            ("traded", _I32),  # goods moved by a trade this turn: they may not be traded again before it ends
            ("fresh_mortgages", _I32),  # lots mortgaged this turn; with `unmortgage_price="ten_percent"`, in this game
            ("fresh_sales", _I32),  # streets of the groups whose buildings were sold this turn
            ("refused_ask", _I32, (MAX_REFUSED,)),  # offers refused this turn
            ("refused_give", _I32, (MAX_REFUSED,)),
            ("refused_cash", _I32, (MAX_REFUSED,)),
            # The agenda, a stack of tasks still to be settled: task, player, and two numbers whose meaning depends on the task.
            ("agenda", _I32, (AGENDA_DEPTH, 4)),
            # The game.
            ("num_players", _I16),
            ("first", _I16),  # the seat that started
            ("turn", _I16),  # the seat on turn
            ("decision", _I16),  # the open decision: an index into DECISIONS
            ("player", _I16),  # the seat that decides
            ("depth", _I16),  # tasks on the agenda
            ("fault", _I16),  # not 0: the engine broke one of its own invariants
            ("streak", _I16),  # doubles thrown in a row this turn
            ("again", _I16),  # 1: the turn goes on with another throw
            ("dice", _I16, (2,)),  # the last throw
            ("houses", _I16),  # in the bank
            ("hotels", _I16),
            # Players, continued.
            ("position", _I16, _PLAYERS),  # square
            ("jail", _I16, _PLAYERS),  # 0: free; k: in jail after k - 1 failed throws
            ("jail_cards", _I16, _PLAYERS),  # bit 0 Chance, bit 1 Community Chest
            ("place", _I16, _PLAYERS),  # 0: still in the game; otherwise the final rank (1 won; several 1s: a draw)
            ("offers", _I16, _PLAYERS),  # offers made this turn
            # Streets: houses; 5 is a hotel.
            ("level", _I16, (22,)),
            # Decks: card numbers in order, how many cards are in the deck, which one is next.
            ("deck", _I16, (2, 16)),
            ("deck_size", _I16, (2,)),
            ("deck_next", _I16, (2,)),
            # Throws forced from outside, as 10 * first die + second die. The first one is next.
            ("forced_throws", _I16, (MAX_FORCED,)),
            ("num_forced", _I16),
            # Auction, continued.
            ("auction_lot", _I16),  # a lot, or HOUSE_LOT, HOTEL_LOT for a scarce piece; -1: none
            ("auction_leader", _I16),  # -1: no bid yet
            ("auction_bidders", _I16),  # seats that have not folded, one bit each
            ("auction_asked", _I16),  # the seat to bid next
            # Offer, continued.
            ("offer_from", _I16),
            ("offer_to", _I16),
            ("offer_last", _I16),  # the last pick; picks come in a fixed order
            ("offer_counter", _I16),  # 1: this is a counter-offer
            ("num_refused", _I16),
            ("refused_from", _I16, (MAX_REFUSED,)),
            ("refused_to", _I16, (MAX_REFUSED,)),
            ("spare", _I16, (2,)),  # fills the record up to a multiple of 8 bytes
            ("ending", _I16),  # why the game is over: an index into ENDINGS; 0 while it is running
        ],
    )
)

# A game is one record of the dtype GAME; NumPy's scalar type for it is np.record.
Game: TypeAlias = Any
Games: TypeAlias = np.ndarray[Any, np.dtype[np.void]]


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
