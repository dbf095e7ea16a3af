"""What scripted policies read from the record: legal actions, who owns what, what a rent would be."""

from __future__ import annotations

from typing import Final

from monopoly_env.actions import A_TRADE
from monopoly_env.board import GROUP_LOTS, GROUP_OF, HOUSE_PRICE, NUM_LOTS, NUM_STREETS, PRICE
from monopoly_env.engine.rent import ordinary_rent
from monopoly_env.engine.sets import lowest, size
from monopoly_env.game import Game
from monopoly_env.kernels import kernel

NO_LOT: Final = -1
STREETS: Final = (1 << NUM_STREETS) - 1  # the lots that can be built on, a bit each
AVERAGE_THROW: Final = 7


@kernel
def legal(game: Game, start: int, count: int) -> int:
    """The legal actions from `start` on, a bit each; at most 32 of them."""
    word, shift = start >> 5, start & 31
    bits = int(game.legal[word]) >> shift
    if shift + count > 32:
        bits |= int(game.legal[word + 1]) << (32 - shift)
    return bits & ((1 << count) - 1)


@kernel
def asked_lot(game: Game) -> int:
    """The lot that the open question is about: for sale, or taken over with its mortgage."""
    return int(game.agenda[game.depth - 1, 2])


@kernel
def amount_due(game: Game) -> int:
    """The dollars of the debt that the open question is about."""
    return int(game.agenda[game.depth - 1, 2])


@kernel
def price(game: Game, lot: int) -> int:
    """The printed price of a lot (dollars)."""
    return int(PRICE[game.rules.board, lot])


@kernel
def unowned(game: Game) -> int:
    """How many lots the bank still has."""
    owned = 0
    for seat in range(game.num_players):
        owned |= int(game.lots[seat])
    return NUM_LOTS - size(owned)


@kernel
def of_opponents(game: Game, seat: int) -> int:
    """The lots that others own."""
    lots = 0
    for other in range(game.num_players):
        if other != seat:
            lots |= int(game.lots[other])
    return lots


@kernel
def completes(game: Game, seat: int, lot: int) -> bool:
    """Whether a seat owns all other lots of a lot's group."""
    others = int(GROUP_LOTS[GROUP_OF[lot]]) & ~(1 << lot)
    return int(game.lots[seat]) & others == others


@kernel
def blocks(game: Game, seat: int, lot: int) -> bool:
    """Whether an opponent owns all other lots of a lot's group."""
    for other in range(game.num_players):
        if other != seat and completes(game, other, lot):
            return True
    return False


@kernel
def started(game: Game, seat: int, lot: int) -> bool:
    """Whether a seat owns another lot of a lot's group."""
    return int(game.lots[seat]) & int(GROUP_LOTS[GROUP_OF[lot]]) & ~(1 << lot) != 0


@kernel
def in_whole_groups(lots: int) -> int:
    """Those of a set of lots whose whole group lies in the set."""
    whole = 0
    for group in range(len(GROUP_LOTS)):
        members = int(GROUP_LOTS[group])
        if lots & members == members:
            whole |= members
    return whole


@kernel
def cheapest(game: Game, lots: int) -> int:
    """The lot of the lowest printed price; the first of several."""
    best = lowest(lots)
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        if price(game, lot) < price(game, best):
            best = lot
    return best


@kernel
def dearest_house(game: Game, seat: int) -> int:
    """The highest house price of a seat's complete groups (dollars)."""
    lots, most = in_whole_groups(int(game.lots[seat])) & STREETS, 0
    while lots:
        most = max(most, int(HOUSE_PRICE[game.rules.board, lowest(lots)]))
        lots &= lots - 1
    return most


@kernel
def worst_rent(game: Game, seat: int) -> int:
    """The highest rent of an ordinary landing that a seat could owe anywhere on the board, at a throw of 12 (dollars)."""
    worst = 0
    for other in range(game.num_players):
        if other != seat:
            lots = int(game.lots[other]) & ~int(game.mortgaged)
            while lots:
                lot = lowest(lots)
                lots &= lots - 1
                worst = max(worst, ordinary_rent(game, other, lot, 12))
    return worst


@kernel
def may_offer_to(game: Game, seat: int, partner: int) -> bool:
    """Whether an offer to a partner may be begun now."""
    return legal(game, A_TRADE + (partner - seat) % int(game.num_players) - 1, 1) != 0
