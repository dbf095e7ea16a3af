"""Small decisions that scripted policies share: bids up to a limit, where to build, what to sell first, which tax to pay."""

from __future__ import annotations

from agents.players.vocabulary import groups
from agents.players.vocabulary.reading import NO_LOT, asked_lot, cheapest, legal, price, unowned
from monopoly_env.actions import A_BID, A_BUILD, A_CHOICE, A_JAIL, A_MORTGAGE, A_SELL, A_TURN, RAISES
from monopoly_env.board import GROUP_LOTS, GROUP_OF, HOUSE_PRICE, NUM_LOTS, NUM_STREETS, RENT
from monopoly_env.engine import agenda, auction, building, mortgage, players, tax
from monopoly_env.engine.sets import each, lowest, size
from monopoly_env.game import Game
from monopoly_env.kernels import kernel


@kernel
def bid(game: Game, limit: float) -> int:
    """Bid up to a limit (dollars): half of the way in an open auction, where rivals see the bid; all of it in a sealed one."""
    return bid_up_to(game, limit, 0.5 if game.decision == agenda.BID else 1.0)


@kernel
def bid_up_to(game: Game, limit: float, share: float) -> int:
    """Raise by at most a share of the room below a limit, or by the smallest raise that fits into the room; else fold or finish.

    Args:
        game: Asks for an English or a sealed bid. For a sealed bid, the room is what is still missing to the limit.
        limit: Highest bid in dollars. In an open auction, raises count from a dollar below the seat's lowest bid.
        share: 1.0 reaches the limit in the fewest steps.
    """
    seat = int(game.player)
    room = limit - (auction.raise_base(game, seat) if game.decision == agenda.BID else int(game.sealed[seat]))
    for i in range(len(RAISES) - 1, -1, -1):
        if RAISES[i] <= room * share and legal(game, A_BID + 1 + i, 1):
            return A_BID + 1 + i
    for i in range(len(RAISES)):
        if RAISES[i] <= room and legal(game, A_BID + 1 + i, 1):
            return A_BID + 1 + i
    return A_BID


@kernel
def leave_jail(game: Game) -> int:
    """Leave by card if there is one, else by the fine; one of the two must be legal."""
    return A_JAIL + 1 if legal(game, A_JAIL + 1, 1) else A_JAIL


@kernel
def answer_jail(game: Game, leaves: bool) -> int:
    """Stay in jail unless the policy wants to leave or must."""
    return A_TURN if legal(game, A_TURN, 1) and not leaves else leave_jail(game)


@kernel
def leaves_early(game: Game, lots_left: float, reserve: float) -> bool:
    """Whether to leave jail early in the game, when jail costs the chance to buy; later it saves rent."""
    return unowned(game) >= lots_left and game.cash[game.player] >= reserve


@kernel
def spare_lots(game: Game, seat: int) -> int:
    """The lots that may be mortgaged now and belong to no complete group."""
    return legal(game, A_MORTGAGE, NUM_LOTS) & ~groups.complete(int(game.lots[seat]))


@kernel
def lift_first(game: Game, seat: int, lots: int) -> int:
    """The mortgage to lift first: in a complete group, because that can be built on; the dearest of these."""
    lots = lots & groups.complete(int(game.lots[seat])) or lots
    best = lowest(lots)
    for lot in each(lots):
        if price(game, lot) > price(game, best):
            best = lot
    return best


@kernel
def rent_gain(game: Game, street: int) -> float:
    """The rent that the next building on a street adds, for each dollar of a house's price."""
    edition, level = int(game.rules.board), int(game.level[street])
    now = int(RENT[edition, street, level]) * (2 if level == 0 else 1)  # a complete group doubles the base rent
    return (int(RENT[edition, street, building.next_level(game, street)]) - now) / int(HOUSE_PRICE[edition, street])


@kernel
def best_building(game: Game, streets: int, funds: float) -> int:
    """The street whose next building adds the most rent for each dollar and costs no more than the funds, or NO_LOT."""
    best, best_gain = NO_LOT, 0.0
    for street in each(streets):
        gain = rent_gain(game, street)
        if gain > best_gain and building.building_cost(game, street) <= funds:
            best, best_gain = street, gain
    return best


@kernel
def place_piece(game: Game) -> int:
    """Put a scarce building on the street that gains the most, whatever was paid for it."""
    streets = legal(game, A_BUILD, NUM_STREETS)
    best = lowest(streets)
    for street in each(streets):
        if rent_gain(game, street) > rent_gain(game, best):
            best = street
    return A_BUILD + best


@kernel
def raise_cash(game: Game) -> int:
    """Give up what is missed least: lots without a complete group, then buildings by the rent they bring, then other lots."""
    seat = int(game.player)
    lots = legal(game, A_MORTGAGE, NUM_LOTS)
    singles = spare_lots(game, seat)
    if singles:
        return A_MORTGAGE + least_wanted(game, seat, singles)
    streets = legal(game, A_SELL, NUM_STREETS)
    if streets:
        return A_SELL + least_built(game, streets)
    if lots:
        return A_MORTGAGE + cheapest(game, lots)
    return A_TURN  # give up: nothing else is left but a trade


@kernel
def least_wanted(game: Game, seat: int, lots: int) -> int:
    """The lot of whose group the seat owns the fewest; of several the cheapest."""
    best, least = NO_LOT, 0
    for lot in each(lots):
        rank = size(int(game.lots[seat]) & int(GROUP_LOTS[GROUP_OF[lot]])) * 10_000 + price(game, lot)
        if best == NO_LOT or rank < least:
            best, least = lot, rank
    return best


@kernel
def least_built(game: Game, streets: int) -> int:
    """The street whose top building earns the least for each dollar of its price."""
    best, least = NO_LOT, 0.0
    edition = int(game.rules.board)
    for street in each(streets):
        level = int(game.level[street])
        lost = (int(RENT[edition, street, level]) - int(RENT[edition, street, level - 1])) / int(HOUSE_PRICE[edition, street])
        if best == NO_LOT or lost < least:
            best, least = street, lost
    return best


@kernel
def lesser_tax(game: Game) -> int:
    """The lower of the two taxes, where there is a choice."""
    share = players.total_worth(game, int(game.player)) // 10
    wanted = A_CHOICE if share >= tax.FLAT_TAX else A_CHOICE + 1
    return wanted if legal(game, wanted, 1) else 2 * A_CHOICE + 1 - wanted


@kernel
def routine(game: Game) -> int:
    """The decisions in which few policies differ: place a scarce building, pay the lower tax, pay a small fine if possible."""
    if game.decision == agenda.PLACE:
        return place_piece(game)
    if game.decision == agenda.TAX:
        return lesser_tax(game)
    return A_CHOICE if legal(game, A_CHOICE, 1) else A_CHOICE + 1


@kernel
def take_over(game: Game, reserve: float, rich: float) -> int:
    """Lift the mortgage of a received lot if that leaves `reserve` dollars and the lot completes a group, or leaves `rich` dollars."""
    lot = asked_lot(game)
    kept = reserve if groups.completes(game, int(game.player), lot) else rich
    lifts = legal(game, A_CHOICE + 1, 1) and int(game.cash[game.player]) - mortgage.principal(game, lot) >= kept
    return A_CHOICE + 1 if lifts else A_CHOICE
