"""Small decisions that scripted policies share: bids up to a limit, where a building goes, what is sold first, the lesser tax."""

from __future__ import annotations

from agents.players.vocabulary.reading import NO_LOT, asked_lot, cheapest, completes, in_whole_groups, legal, price, unowned
from monopoly_env.actions import A_BID, A_BUILD, A_CHOICE, A_JAIL, A_MORTGAGE, A_SELL, A_TURN, RAISES
from monopoly_env.board import GROUP_LOTS, GROUP_OF, HOUSE_PRICE, NUM_LOTS, NUM_STREETS, RENT
from monopoly_env.engine import agenda
from monopoly_env.engine.auction import piece_floor
from monopoly_env.engine.building import HOUSE_LOT, building_cost, next_level
from monopoly_env.engine.mortgage import principal
from monopoly_env.engine.players import total_worth
from monopoly_env.engine.sets import lowest, size
from monopoly_env.game import Game
from monopoly_env.kernels import kernel

_FLAT_TAX = 200  # dollars, against a tenth of the total worth


@kernel
def bid_up_to(game: Game, limit: float, share: float) -> int:
    """Raise by at most a share of the room below a limit, at least by the smallest raise that fits into it; else fold or be done.

    Args:
        game: Asks for an English or a sealed bid; of a sealed one the room is what is missing to the limit.
        limit: Highest bid in dollars. Of a scarce building, a raise counts from what lies just under the own lowest bid.
        share: 1.0 goes to the limit in the fewest steps.
    """
    standing, lot = int(game.auction_bid) + int(game.sealed[game.player]), int(game.auction_lot)  # one of the two bids is 0
    if lot >= HOUSE_LOT:
        standing = max(standing, piece_floor(game, int(game.player), lot) - 1)
    room = limit - standing
    for i in range(len(RAISES) - 1, -1, -1):
        if RAISES[i] <= room * share and legal(game, A_BID + 1 + i, 1):
            return A_BID + 1 + i
    for i in range(len(RAISES)):
        if RAISES[i] <= room and legal(game, A_BID + 1 + i, 1):
            return A_BID + 1 + i
    return A_BID


@kernel
def leave_jail(game: Game) -> int:
    """By card if there is one, else by the fine; either must be legal."""
    return A_JAIL + 1 if legal(game, A_JAIL + 1, 1) else A_JAIL


@kernel
def answer_jail(game: Game, leaves: bool) -> int:
    """Stay in jail unless it wants to leave, or must."""
    return A_TURN if legal(game, A_TURN, 1) and not leaves else leave_jail(game)


@kernel
def leaves_early(game: Game, lots_left: float, reserve: float) -> bool:
    """Early in the game jail keeps a player from buying; later it keeps him from paying rent."""
    return unowned(game) >= lots_left and game.cash[game.player] >= reserve


@kernel
def spare_lots(game: Game, seat: int) -> int:
    """The lots that may be mortgaged now and belong to no complete group."""
    return legal(game, A_MORTGAGE, NUM_LOTS) & ~in_whole_groups(int(game.lots[seat]))


@kernel
def lift_first(game: Game, seat: int, lots: int) -> int:
    """The mortgaged lot to lift first: of a complete group, which can then be built on, and the dearest of these."""
    lots = lots & in_whole_groups(int(game.lots[seat])) or lots
    best = lowest(lots)
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        if price(game, lot) > price(game, best):
            best = lot
    return best


@kernel
def rent_gain(game: Game, street: int) -> float:
    """Rent that the next building of a street adds, for each dollar of a house's price."""
    board, level = int(game.rules.board), int(game.level[street])
    now = int(RENT[board, street, level]) * (2 if level == 0 else 1)  # a complete group doubles the base rent
    return (int(RENT[board, street, next_level(game, street)]) - now) / int(HOUSE_PRICE[board, street])


@kernel
def best_building(game: Game, streets: int, funds: float) -> int:
    """The street whose next building brings the most rent a dollar and costs no more than the funds, or NO_LOT."""
    best, best_gain = NO_LOT, 0.0
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        gain = rent_gain(game, street)
        if gain > best_gain and building_cost(game, street) <= funds:
            best, best_gain = street, gain
    return best


@kernel
def place_piece(game: Game) -> int:
    """Where a scarce building goes: to the street that gains most, whatever was paid for it."""
    streets = legal(game, A_BUILD, NUM_STREETS)
    best = lowest(streets)
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        if rent_gain(game, street) > rent_gain(game, best):
            best = street
    return A_BUILD + best


@kernel
def raise_cash(game: Game) -> int:
    """What hurts least first: lots without a group, then buildings by the rent they bring, then lots of complete groups."""
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
    return A_TURN  # give up, where only that or a trade is left


@kernel
def least_wanted(game: Game, seat: int, lots: int) -> int:
    """The lot of whose group the fewest are owned; of these the cheapest."""
    best, least = NO_LOT, 0
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        rank = size(int(game.lots[seat]) & int(GROUP_LOTS[GROUP_OF[lot]])) * 10_000 + price(game, lot)
        if best == NO_LOT or rank < least:
            best, least = lot, rank
    return best


@kernel
def least_built(game: Game, streets: int) -> int:
    """The street whose top building earns the least for each dollar of its price."""
    best, least = NO_LOT, 0.0
    board = int(game.rules.board)
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        level = int(game.level[street])
        lost = (int(RENT[board, street, level]) - int(RENT[board, street, level - 1])) / int(HOUSE_PRICE[board, street])
        if best == NO_LOT or lost < least:
            best, least = street, lost
    return best


@kernel
def lesser_tax(game: Game) -> int:
    """The smaller of the two taxes, where there is a choice."""
    share = total_worth(game, int(game.player)) // 10
    wanted = A_CHOICE if share >= _FLAT_TAX else A_CHOICE + 1
    return wanted if legal(game, wanted, 1) else 2 * A_CHOICE + 1 - wanted


@kernel
def routine(game: Game) -> int:
    """The decisions in which few policies differ: place a scarce building, pay the lesser tax, pay a small fine if possible."""
    if game.decision == agenda.PLACE:
        return place_piece(game)
    if game.decision == agenda.TAX:
        return lesser_tax(game)
    return A_CHOICE if legal(game, A_CHOICE, 1) else A_CHOICE + 1


@kernel
def take_over(game: Game, reserve: float, rich: float) -> int:
    """Lift the mortgage of a received lot if that leaves `reserve` dollars and the lot completes a group, or leaves `rich` dollars."""
    lot = asked_lot(game)
    kept = reserve if completes(game, int(game.player), lot) else rich
    lifts = legal(game, A_CHOICE + 1, 1) and int(game.cash[game.player]) - principal(game, lot) >= kept
    return A_CHOICE + 1 if lifts else A_CHOICE
