"""Cash: the risk of the next throw, the price of being short, and how to raise cash."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from agents.players.expert import odds
from agents.players.expert.parameters import AT
from agents.players.expert.values import present_strength, turns_left
from agents.players.vocabulary import groups, reading
from agents.players.vocabulary.reading import AVERAGE_THROW, NO_LOT, asked_lot
from monopoly_env.actions import A_MORTGAGE, A_SELL, A_TURN, A_UNMORTGAGE
from monopoly_env.engine import building, mortgage, players, rent, tax
from monopoly_env.engine.sets import each, has, lowest, size
from monopoly_env.facts import board
from monopoly_env.game import Game
from monopoly_env.kernels import kernel, on_stack
from monopoly_env.policy.protocol import Row

_SALE_LOSS: Final = 1.0  # a building sold for a dollar has cost two
_INCOME_TAX_SQUARE, _LUXURY_TAX_SQUARE = 4, 38
_END, _LARGEST, _FIRST_RENT = range(3)  # see `write_rents`
RENTS: Final = _FIRST_RENT + 3 * board.NUM_LOTS


@kernel
def row_of(game: Game, seat: int) -> int:
    """The row of a token in the tables of odds: its square, or `odds.IN_JAIL`."""
    return odds.IN_JAIL if game.jail[seat] > 0 else int(game.position[seat])


@kernel
def spare_lots(game: Game, seat: int) -> int:
    """The lots that can be mortgaged and belong to no complete colour."""
    lots = int(game.lots[seat])
    return lots & ~int(game.mortgaged) & ~groups.complete(lots & groups.STREETS)


class Means(NamedTuple):
    """The means of a player at risk."""

    row: int  # where its token starts, a row of the tables of odds
    cash: float  # dollars in hand
    spare: float  # proceeds of mortgages of single lots (dollars)
    rest: float  # proceeds of everything else (dollars)
    worth: float  # the player's strength, which it loses if it is ruined


@kernel
def means(game: Game, seat: int, worth: float) -> Means:
    """The present means of a player of some strength."""
    spare = float(players.mortgage_values(game, spare_lots(game, seat)))
    rest, row = float(estate(game, seat)), row_of(game, seat)
    return Means(row, float(game.cash[seat]), spare, rest, worth)


@kernel
def estate(game: Game, seat: int) -> int:
    """The proceeds of buildings and complete colours, beside the spare lots (dollars)."""
    grouped = int(game.lots[seat]) & ~int(game.mortgaged) & ~spare_lots(game, seat)
    ratio = int(game.rules.sell_ratio)
    buildings = building.liquidation_of_buildings(game, seat, ratio)
    return buildings + players.mortgage_values(game, grouped)


@kernel
def _shortfall(due: float, ahead: float, own: Means, params: Row) -> float:
    """The loss from owing a sum with so much cash at that time (dollars)."""
    short = due - ahead
    if short <= 0:
        return 0.0
    loss = params[AT.cheap] * min(short, own.spare)
    short -= own.spare
    if short > 0:
        loss += params[AT.dear] * min(short, own.rest)
        if short > own.rest:
            loss += params[AT.ruin] * own.worth
    return loss


@kernel
def write_rents(game: Game, seat: int, row: int, rents: Row) -> None:
    """Write the rents that a seat may owe in its next turn from a row of the tables of odds.

    They are in front of `RENTS` numbers: how many there are, the largest; then for each the lot,
    the rent and its chance (dollars).
    """
    edition, place = int(game.rules.board), _FIRST_RENT
    rents[_LARGEST] = 0.0
    for other in range(game.num_players):
        if other == seat:
            continue
        lots = int(game.lots[other]) & ~int(game.mortgaged)
        while lots:  # plain, not `each`: `expert` plays 1% more games
            lot = lowest(lots)
            lots &= lots - 1
            chance = odds.NEXT_LOT[edition, row, lot]
            if chance > 0:
                due = float(rent.ordinary_rent(game, other, lot, AVERAGE_THROW))
                rents[place], rents[place + 1], rents[place + 2] = lot, due, chance
                rents[_LARGEST] = max(rents[_LARGEST], due)
                place += 3
    rents[_END] = place


@kernel
def risk(game: Game, rents: Row, own: Means, params: Row) -> float:
    """The expected loss of the next turn from having only these means (dollars)."""
    edition, row, cash, loss = int(game.rules.board), own.row, own.cash, 0.0
    salary, here = int(game.rules.go_salary), board.JAIL_SQUARE if row == odds.IN_JAIL else row
    if rents[_LARGEST] > cash:
        for place in range(_FIRST_RENT, int(rents[_END]), 3):
            due = rents[place + 1]
            if due > cash:
                passes = board.LOT_SQUARE[edition, int(rents[place])] < here
                ahead = cash + salary if passes else cash
                if due > ahead:
                    loss += rents[place + 2] * _shortfall(due, ahead, own, params)
    if cash < tax.FLAT_TAX:
        ahead = cash + salary if here > _INCOME_TAX_SQUARE else cash
        owed = _shortfall(float(tax.FLAT_TAX), ahead, own, params)
        loss += odds.NEXT[edition, row, _INCOME_TAX_SQUARE] * owed
        owed = _shortfall(float(game.rules.luxury_tax), cash, own, params)
        loss += odds.NEXT[edition, row, _LUXURY_TAX_SQUARE] * owed
    if params[AT.missed] > 0:
        free = board.ALL_LOTS & ~reading.owned_lots(game)
        for lot in each(free):
            short = board.PRICE[edition, lot] - cash
            if short > 0:
                loss += odds.NEXT_LOT[edition, row, lot] * params[AT.missed] * short
    return loss


@kernel
def added_risk(
    game: Game, rents: Row, now: Means, before: float, spent: float, params: Row
) -> float:
    """The risk added by spending from cash, then from mortgages of single lots (dollars).

    `before` is the present risk.
    """
    borrowed = max(0.0, spent - now.cash)
    cash, spare = now.cash - spent + borrowed, now.spare - borrowed
    after = risk(game, rents, Means(now.row, cash, spare, now.rest, now.worth), params)
    return after - before + params[AT.cheap] * borrowed


@kernel
def rents_due(game: Game, seat: int, row: int) -> float:
    """The rent that a seat expects to pay in its next turn (dollars)."""
    edition, total = int(game.rules.board), 0.0
    for other in range(game.num_players):
        if other != seat and (game.rules.rent_in_jail or game.jail[other] == 0):
            lots = int(game.lots[other]) & ~int(game.mortgaged)
            for lot in each(lots):
                due = rent.ordinary_rent(game, other, lot, AVERAGE_THROW)
                total += odds.NEXT_LOT[edition, row, lot] * due
    return total


@kernel
def rents_coming(game: Game, seat: int) -> float:
    """The rent that a seat expects from the next turn of every other player (dollars)."""
    total = 0.0
    lots = int(game.lots[seat]) & ~int(game.mortgaged)
    for lot in each(lots):
        total += visits(game, seat, lot) * rent.ordinary_rent(game, seat, lot, AVERAGE_THROW)
    return total


@kernel
def visits(game: Game, seat: int, lot: int) -> float:
    """Expected landings of the other players on a lot in their next turns."""
    edition, count = int(game.rules.board), 0.0
    for other in range(game.num_players):
        if other != seat and game.place[other] == 0:
            count += odds.NEXT_LOT[edition, row_of(game, other), lot]
    return count


# --- raising cash ---------------------------------------------------------------------------------


@kernel
def rent_lost(game: Game, seat: int, lot: int, turns: float) -> float:
    """The rent lost by mortgaging a lot over the turns left (dollars)."""
    later = turns * odds.LATER_LOT[int(game.rules.board), lot]
    return later * rent.ordinary_rent(game, seat, lot, AVERAGE_THROW)


@kernel
def least_loss(game: Game, seat: int, lots: int, turns: float) -> int:
    """The lot whose mortgage loses the least for each dollar that it brings."""
    best, least = NO_LOT, 0.0
    for lot in each(lots):
        loss = rent_lost(game, seat, lot, turns) / board.MORTGAGE[game.rules.board, lot]
        if best == NO_LOT or loss < least:
            best, least = lot, loss
    return best


@kernel
def raise_cash(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Give up what loses the least for each dollar; houses and complete colours last."""
    turns, edition = turns_left(game, params), int(game.rules.board)
    lots = reading.mortgageable(game)
    spare = lots & spare_lots(game, seat)
    if spare:
        return A_MORTGAGE + least_loss(game, seat, spare, turns)
    action, least = A_TURN, 0.0  # give up: nothing else is left but a trade
    for lot in each(lots):
        loss = rent_lost(game, seat, lot, turns) / board.MORTGAGE[edition, lot]
        if action == A_TURN or loss < least:
            action, least = A_MORTGAGE + lot, loss
    streets = reading.sellable(game)
    for street in each(streets):
        level = int(game.level[street])
        before = board.RENT[edition, street, level - 1] * (2 if level == 1 else 1)
        lost = board.RENT[edition, street, level] - before
        lost = turns * odds.LATER_LOT[edition, street] * lost
        loss = _SALE_LOSS + lost / (board.HOUSE_PRICE[edition, street] / 2)
        if action == A_TURN or loss < least:
            action, least = A_SELL + street, loss
    return action


# --- mortgages ------------------------------------------------------------------------------------


@kernel
def _earned(game: Game, seat: int, lot: int, params: Row) -> float:
    """The gain of lifting a mortgage (dollars); a complete colour can be built on."""
    opponents = size(players.solvent_seats(game)) - 1
    earned = rent_lost(game, seat, lot, params[AT.lift] * opponents)
    if has(groups.complete(int(game.lots[seat]) & groups.STREETS), lot):
        earned += mortgage.lifting_cost(game, lot)
    return earned


@kernel
def _lifting_risk(game: Game, seat: int, lot: int, cost: int, params: Row) -> float:
    """The risk added by lifting a mortgage (dollars); the lot could be mortgaged again."""
    now = means(game, seat, present_strength(game, seat, turns_left(game, params), params))
    rents = on_stack(RENTS, np.float64)
    write_rents(game, seat, now.row, rents)
    spare = now.spare + board.MORTGAGE[game.rules.board, lot]
    then = Means(now.row, now.cash - cost, spare, now.rest, now.worth)
    return risk(game, rents, then, params) - risk(game, rents, now, params)


@kernel
def lift(game: Game, seat: int, params: Row) -> int:
    """Lift the mortgage that earns the most per dollar, if worth interest and risk; or A_TURN."""
    lots = reading.liftable(game) & ~int(game.fresh_mortgages)  # for houses
    best, most = NO_LOT, 0.0
    for lot in each(lots):
        gain = _earned(game, seat, lot, params) / mortgage.lifting_cost(game, lot)
        if gain > most:
            best, most = lot, gain
    if best == NO_LOT:
        return A_TURN
    cost = mortgage.lifting_cost(game, best)
    price = mortgage.interest(game, best) + _lifting_risk(game, seat, best, cost, params)
    pays = most * cost > price
    return A_UNMORTGAGE + best if pays else A_TURN


@kernel
def lifts_at_once(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Whether to lift the mortgage of a received lot at once, which saves its interest."""
    lot = asked_lot(game)
    gain = _earned(game, seat, lot, params) + mortgage.interest(game, lot)
    return gain > _lifting_risk(game, seat, lot, mortgage.principal(game, lot), params)
