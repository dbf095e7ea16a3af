"""Small decisions that policies share: bids, houses, mortgages, raising cash, taxes."""

from __future__ import annotations

from agents.players.vocabulary import groups, reading
from agents.players.vocabulary.reading import NO_LOT, asked_lot, cheapest, legal, price, unowned
from monopoly_env import actions
from monopoly_env.engine import agenda, auction, building, jail, mortgage, players, tax
from monopoly_env.engine.legal import nth_legal
from monopoly_env.engine.sets import each, lowest, size
from monopoly_env.facts.board import GROUP_LOTS, GROUP_OF, HOUSE_PRICE, RENT
from monopoly_env.game import Game
from monopoly_env.kernels import kernel


@kernel
def bid(game: Game, limit: float) -> int:
    """Bid up to a limit (dollars): half the way in an open auction, all of it in a sealed one."""
    return bid_up_to(game, limit, 0.5 if game.decision == agenda.BID else 1.0)


@kernel
def bid_up_to(game: Game, limit: float, share: float) -> int:
    """Raise by at most a share of the room below a limit (dollars), or by the smallest raise.

    The room of a sealed bid is what is missing to the limit. In an open auction, raises count from
    a dollar below the seat's lowest bid.
    """
    seat = int(game.player)
    is_open = game.decision == agenda.BID
    room = limit - (auction.raise_base(game, seat) if is_open else int(game.sealed[seat]))
    return raise_by(game, room * share, room)


@kernel
def raise_by(game: Game, step: float, room: float) -> int:
    """The largest raise within a step, else the smallest within the room, else fold (dollars)."""
    for i in range(len(actions.RAISES) - 1, -1, -1):
        if actions.RAISES[i] <= min(step, room) and legal(game, actions.A_BID + 1 + i, 1):
            return actions.A_BID + 1 + i
    for i in range(len(actions.RAISES)):
        if actions.RAISES[i] <= room and legal(game, actions.A_BID + 1 + i, 1):
            return actions.A_BID + 1 + i
    return actions.A_BID


@kernel
def leave_jail(game: Game) -> int:
    """Leave by card if there is one, else by the first legal way; there must be one."""
    if reading.has_card(game):
        return actions.A_JAIL + jail.CARD
    return actions.A_JAIL + lowest(legal(game, actions.A_JAIL, reading.WAYS_OUT))


@kernel
def leaves_early(game: Game, lots_left: float, reserve: float) -> bool:
    """Whether to leave jail to go on buying: later in the game, jail saves rent."""
    return unowned(game) >= lots_left and game.cash[game.player] >= reserve


@kernel
def spare_lots(game: Game, seat: int) -> int:
    """The lots that may be mortgaged now and belong to no complete group."""
    return reading.mortgageable(game) & ~groups.complete(int(game.lots[seat]))


@kernel
def lift(game: Game, seat: int, lots: int, reserve: float, rich: float) -> int:
    """Lift a mortgage: the dearest, of complete groups if any, to build there; or end the window.

    Args:
        game: It waits for an action in a window.
        seat: The seat to move.
        lots: The mortgages that may be lifted, a bit each, one or more.
        reserve: Dollars left after lifting the mortgage of a lot that completes a group.
        rich: Dollars left after lifting another one.
    """
    lots = lots & groups.complete(int(game.lots[seat])) or lots
    best = lowest(lots)
    for lot in each(lots):
        if price(game, lot) > price(game, best):
            best = lot
    kept = reserve if groups.completes(game, seat, best) else rich
    pays = int(game.cash[seat]) - mortgage.lifting_cost(game, best) >= kept
    return actions.A_UNMORTGAGE + best if pays else actions.A_TURN


@kernel
def pawn_cheapest(game: Game, seat: int, lots: int, cost: int) -> int:
    """Mortgage the cheapest of some lots for a purchase that all can pay for, else decline."""
    pays = int(game.cash[seat]) + players.mortgage_values(game, lots) >= cost
    return actions.A_MORTGAGE + cheapest(game, lots) if lots and pays else actions.A_BUY


@kernel
def rent_gain(game: Game, street: int) -> float:
    """The rent that the next building on a street adds, for each dollar of a house's price."""
    edition, level = int(game.rules.board), int(game.level[street])
    # A complete group doubles the base rent
    now = RENT[edition, street, level] * (2 if level == 0 else 1)
    following = RENT[edition, street, building.next_level(game, street)]
    return (following - now) / HOUSE_PRICE[edition, street]


@kernel
def best_building(game: Game, streets: int, funds: float) -> int:
    """The affordable street whose next building adds the most rent for each dollar, or NO_LOT."""
    best, best_gain = NO_LOT, 0.0
    for street in each(streets):
        gain = rent_gain(game, street)
        if gain > best_gain and building.building_cost(game, street) <= funds:
            best, best_gain = street, gain
    return best


@kernel
def build_best(game: Game, streets: int, funds: float) -> int:
    """Build where it adds the most rent for each dollar, or end the window."""
    street = best_building(game, streets, funds)
    return actions.A_TURN if street == NO_LOT else actions.A_BUILD + street


@kernel
def raise_cash(game: Game) -> int:
    """Mortgage single lots, then sell buildings by the rent they bring, then mortgage the rest."""
    seat = int(game.player)
    lots = reading.mortgageable(game)
    singles = spare_lots(game, seat)
    if singles:
        return actions.A_MORTGAGE + least_wanted(game, seat, singles)
    streets = reading.sellable(game)
    if streets:
        return actions.A_SELL + least_built(game, streets)
    if lots:
        return actions.A_MORTGAGE + cheapest(game, lots)
    return actions.A_TURN  # give up: nothing else is left but a trade


@kernel
def least_wanted(game: Game, seat: int, lots: int) -> int:
    """The lot of whose group the seat owns the fewest; of several the cheapest."""
    best, least = NO_LOT, 0
    for lot in each(lots):
        rank = size(int(game.lots[seat]) & GROUP_LOTS[GROUP_OF[lot]]) * 10_000 + price(game, lot)
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
        lost = RENT[edition, street, level] - RENT[edition, street, level - 1]
        lost /= HOUSE_PRICE[edition, street]
        if best == NO_LOT or lost < least:
            best, least = street, lost
    return best


@kernel
def routine(game: Game) -> int:
    """Place a scarce building for the most rent, pay the lower tax, give the first legal answer."""
    if game.decision == agenda.PLACE:
        streets = reading.buildable(game)
        best = lowest(streets)
        for street in each(streets):
            if rent_gain(game, street) > rent_gain(game, best):
                best = street
        return actions.A_BUILD + best
    answers = legal(game, actions.A_CHOICE, reading.ANSWERS)
    if game.decision == agenda.TAX:
        flat = players.total_worth(game, int(game.player)) // 10 >= tax.FLAT_TAX
        wanted = 1 if flat else 2
        answers = answers & wanted or answers
    return actions.A_CHOICE + lowest(answers) if answers else nth_legal(game, 0)


@kernel
def lifts_at_once(game: Game, reserve: float, rich: float) -> bool:
    """Whether lifting a received lot's mortgage leaves `rich`, or `reserve` to complete a group."""
    lot = asked_lot(game)
    kept = reserve if groups.completes(game, int(game.player), lot) else rich
    return int(game.cash[game.player]) - mortgage.principal(game, lot) >= kept
