"""Houses: how many, on which group, and when."""

from __future__ import annotations

from agents.players.expert.money import estate, least_loss, rents_coming, risk, row_of, spare_lots, visits
from agents.players.expert.parameters import AT
from agents.players.expert.values import present_strength, turns_left
from agents.players.vocabulary.reading import NO_LOT, legal
from monopoly_env.actions import A_BUILD, A_MORTGAGE, A_TURN
from monopoly_env.board import GROUP_LOTS, GROUP_SIZE, GROUP_START, HOTEL, HOUSE_PRICE, NUM_LOTS, NUM_STREETS, RAILROADS, RENT
from monopoly_env.engine import building, players
from monopoly_env.engine.sets import each, lowest
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row


@kernel
def _rent_at(edition: int, street: int, level: int) -> int:
    return int(RENT[edition, street, level]) * (2 if level == 0 else 1)


@kernel
def group_gain(game: Game, seat: int, group: int, level: int) -> tuple[float, float]:
    """What raising a group to a level adds to the rents of the next round, and what it costs (dollars)."""
    edition, start = int(game.rules.board), int(GROUP_START[group])
    gain, cost = 0.0, 0.0
    for street in range(start, start + int(GROUP_SIZE[group])):
        now = int(game.level[street])
        if now < level:
            gain += visits(game, seat, street) * (_rent_at(edition, street, level) - _rent_at(edition, street, now))
            cost += (level - now) * int(HOUSE_PRICE[edition, street])
    return gain, cost


@kernel
def rival_lacks_houses(game: Game, seat: int) -> bool:
    """Whether an opponent owns a complete colour with fewer than three houses on a street."""
    for other in range(game.num_players):
        if other != seat and game.place[other] == 0:
            for group in range(RAILROADS):
                if players.owns_group(game, other, group) and building.lowest_level(game, group) < 3:
                    return True
    return False


@kernel
def build(game: Game, seat: int, params: Row) -> int:
    """The next building, or a mortgage that pays for it; A_TURN if none is worth its risk.

    For each group and level, the rent of the next round, given where the others are, is compared with what the price adds to the risk.
    The best pair decides where the next building goes.
    """
    streets = building.improvable(game, seat)
    if streets == 0:
        return A_TURN
    cash, spare = float(game.cash[seat]), spare_lots(game, seat)
    pawned = float(players.mortgage_values(game, spare)) if legal(game, A_MORTGAGE, NUM_LOTS) & spare else 0.0
    funds = cash + pawned
    if funds < HOUSE_PRICE[game.rules.board, lowest(streets)]:
        return A_TURN
    worth, rest, row = present_strength(game, seat, turns_left(game, params), params), float(estate(game, seat)), row_of(game, seat)
    ahead = cash + params[AT.counted] * rents_coming(game, seat)
    before = risk(game, seat, row, ahead, pawned, rest, worth, params)
    top = HOTEL - 1 if game.houses < params[AT.scarce] and rival_lacks_houses(game, seat) else HOTEL
    best, most = -1, 0.0
    for group in range(RAILROADS):
        if streets & int(GROUP_LOTS[group]) == 0:
            continue
        for level in range(building.lowest_level(game, group) + 1, top + 1):
            gain, cost = group_gain(game, seat, group, level)
            if cost > funds:  # as far as the funds go; the houses left out would have earned the most
                gain *= params[AT.partly] * funds / cost
                cost = funds
            borrowed = max(0.0, cost - cash)
            half = cost * int(game.rules.sell_ratio) / 100
            after = risk(game, seat, row, ahead - cost + borrowed, pawned - borrowed, rest + half, worth, params)
            net = params[AT.patience] * gain - (after - before) - params[AT.cheap] * borrowed
            if net > most:
                best, most = group, net
            if cost >= funds:
                break
    return A_TURN if best < 0 else _place(game, seat, streets & int(GROUP_LOTS[best]), spare, params)


@kernel
def _place(game: Game, seat: int, streets: int, spare: int, params: Row) -> int:
    """Build on the street of a group that gains the most, or mortgage a lot for it."""
    payable = streets & legal(game, A_BUILD, NUM_STREETS)
    if payable:
        return A_BUILD + _best_street(game, seat, payable)
    lots = spare & legal(game, A_MORTGAGE, NUM_LOTS)
    if lots == 0 or building.in_bank(game, building.piece_for(game, lowest(streets))) == 0:
        return A_TURN
    return A_MORTGAGE + least_loss(game, seat, lots, turns_left(game, params))


@kernel
def _best_street(game: Game, seat: int, streets: int) -> int:
    edition, best, most = int(game.rules.board), NO_LOT, -1.0
    for street in each(streets):
        level = int(game.level[street])
        gain = visits(game, seat, street) * (
            _rent_at(edition, street, building.next_level(game, street)) - _rent_at(edition, street, level)
        )
        if gain > most:
            best, most = street, gain
    return best
