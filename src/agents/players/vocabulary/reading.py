"""Reading a game: legal actions, the question at hand, prices, owners."""

from __future__ import annotations

from typing import Final

from monopoly_env import actions
from monopoly_env.engine.mortgage import lifting_cost
from monopoly_env.engine.rent import ordinary_rent
from monopoly_env.engine.sets import each, lowest, size
from monopoly_env.facts.board import NUM_LOTS, NUM_STREETS, PRICE
from monopoly_env.game import MAX_PLAYERS, Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row

NO_LOT: Final = -1
WAYS_OUT: Final = actions.HEADS["jail"].size  # of jail
ANSWERS: Final = actions.HEADS["choice"].size
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
def buildable(game: Game) -> int:
    """The streets on which a building may be put now, a bit each."""
    return legal(game, actions.A_BUILD, NUM_STREETS)


@kernel
def sellable(game: Game) -> int:
    """The streets of which a building may be sold now, a bit each."""
    return legal(game, actions.A_SELL, NUM_STREETS)


@kernel
def mortgageable(game: Game) -> int:
    """The lots that may be mortgaged now, a bit each."""
    return legal(game, actions.A_MORTGAGE, NUM_LOTS)


@kernel
def liftable(game: Game) -> int:
    """The lots whose mortgage may be lifted now, a bit each."""
    return legal(game, actions.A_UNMORTGAGE, NUM_LOTS)


@kernel
def may_buy(game: Game) -> bool:
    """Whether the lot for sale may be bought with the cash in hand."""
    return legal(game, actions.A_BUY + 1, 1) != 0


@kernel
def may_leave(game: Game) -> bool:
    """Whether jail may be left now, by the fine or by a card."""
    return legal(game, actions.A_JAIL, WAYS_OUT) != 0


@kernel
def has_card(game: Game) -> bool:
    """Whether jail may be left now by a card."""
    return legal(game, actions.A_JAIL + 1, 1) != 0


@kernel
def may_trade(game: Game) -> bool:
    """Whether an offer to anybody may be begun now."""
    return legal(game, actions.A_TRADE, MAX_PLAYERS - 1) != 0


@kernel
def may_go_on(game: Game) -> bool:
    """Whether a turn may end, a prisoner stay, or a debtor give up, now."""
    return legal(game, actions.A_TURN, 1) != 0


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
    """The open window: `agenda.BEFORE_THROW`, `agenda.AFTER_THROW` or `agenda.OUT_OF_TURN`."""
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
    """The cost of lifting all mortgages in a set of lots (dollars)."""
    lots, total = lots & int(game.mortgaged), 0
    for lot in each(lots):
        total += lifting_cost(game, lot)
    return total


@kernel
def least(members: int, scores: Row) -> int:
    """The first member of a non-empty set with the lowest score."""
    best = lowest(members)
    for member in each(members):
        if scores[member] < scores[best]:
            best = member
    return best


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
    """The number of lots that the bank still has."""
    return NUM_LOTS - size(owned_lots(game))


@kernel
def of_opponents(game: Game, seat: int) -> int:
    """The lots that the other players own."""
    return owned_lots(game) & ~int(game.lots[seat])


@kernel
def worst_rent(game: Game, seat: int) -> int:
    """The highest ordinary rent that a seat could owe anywhere, at a throw of 12 (dollars)."""
    worst = 0
    for other in range(game.num_players):
        if other != seat:
            lots = int(game.lots[other]) & ~int(game.mortgaged)
            for lot in each(lots):
                worst = max(worst, ordinary_rent(game, other, lot, 12))
    return worst
