"""What scripted policies read from a game: legal actions, the question at hand, prices, who owns what."""

from __future__ import annotations

from typing import Final

from monopoly_env.board import NUM_LOTS, PRICE
from monopoly_env.engine.mortgage import lifting_cost
from monopoly_env.engine.rent import ordinary_rent
from monopoly_env.engine.sets import each, lowest, size
from monopoly_env.game import Game
from monopoly_env.kernels import kernel

NO_LOT: Final = -1
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
    """The lot that the decision is about: for sale, or received with its mortgage."""
    return int(game.agenda[game.depth - 1, 2])


@kernel
def amount_due(game: Game) -> int:
    """The debt that the decision is about (dollars)."""
    return int(game.agenda[game.depth - 1, 2])


@kernel
def window_kind(game: Game) -> int:
    """Which window is open: `agenda.BEFORE_THROW`, `agenda.AFTER_THROW` or `agenda.OUT_OF_TURN`."""
    return int(game.agenda[game.depth - 1, 2])


@kernel
def price(game: Game, lot: int) -> int:
    """The printed price of a lot (dollars)."""
    return int(PRICE[game.rules.board, lot])


@kernel
def total_price(game: Game, lots: int) -> int:
    """The printed prices of a set of lots (dollars)."""
    total = 0
    for lot in each(lots):
        total += price(game, lot)
    return total


@kernel
def lifting_costs(game: Game, lots: int) -> int:
    """What lifting all mortgages in a set of lots costs (dollars)."""
    lots, total = lots & int(game.mortgaged), 0
    for lot in each(lots):
        total += lifting_cost(game, lot)
    return total


@kernel
def cheapest(game: Game, lots: int) -> int:
    """The lot of the lowest printed price; the first of several."""
    best = lowest(lots)
    for lot in each(lots):
        if price(game, lot) < price(game, best):
            best = lot
    return best


@kernel
def owned_lots(game: Game) -> int:
    """All lots that have an owner."""
    lots = 0
    for seat in range(game.num_players):
        lots |= int(game.lots[seat])
    return lots


@kernel
def unowned(game: Game) -> int:
    """How many lots the bank still has."""
    return NUM_LOTS - size(owned_lots(game))


@kernel
def of_opponents(game: Game, seat: int) -> int:
    """The lots that the other players own."""
    return owned_lots(game) & ~int(game.lots[seat])


@kernel
def worst_rent(game: Game, seat: int) -> int:
    """The highest rent that a seat could owe for an ordinary landing anywhere on the board, at a throw of 12 (dollars)."""
    worst = 0
    for other in range(game.num_players):
        if other != seat:
            lots = int(game.lots[other]) & ~int(game.mortgaged)
            for lot in each(lots):
                worst = max(worst, ordinary_rent(game, other, lot, 12))
    return worst
