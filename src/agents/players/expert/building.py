"""Houses: how many, on which group, and when."""

from __future__ import annotations

import numpy as np

from agents.players.expert import money
from agents.players.expert.money import RENTS
from agents.players.expert.parameters import AT
from agents.players.expert.values import present_strength, turns_left
from agents.players.vocabulary import reading
from agents.players.vocabulary.reading import NO_LOT
from monopoly_env.actions import A_BUILD, A_MORTGAGE, A_TURN
from monopoly_env.engine import building, players
from monopoly_env.engine.sets import each, lowest
from monopoly_env.facts import board
from monopoly_env.game import Game
from monopoly_env.kernels import kernel, on_stack
from monopoly_env.policy.protocol import Row


@kernel
def _rent_at(edition: int, street: int, level: int) -> int:
    return board.RENT[edition, street, level] * (2 if level == 0 else 1)


@kernel
def group_gain(game: Game, seat: int, group: int, level: int) -> tuple[float, float]:
    """The rent of the next round that raising a group to a level adds, and its cost (dollars)."""
    edition, start = int(game.rules.board), board.GROUP_START[group]
    gain, cost = 0.0, 0.0
    for street in range(start, start + board.GROUP_SIZE[group]):
        now = int(game.level[street])
        if now < level:
            more = _rent_at(edition, street, level) - _rent_at(edition, street, now)
            gain += money.visits(game, seat, street) * more
            cost += (level - now) * board.HOUSE_PRICE[edition, street]
    return gain, cost


@kernel
def rival_lacks_houses(game: Game, seat: int) -> bool:
    """Whether an opponent owns a complete colour with fewer than three houses on a street."""
    for other in range(game.num_players):
        if other != seat and game.place[other] == 0:
            for group in range(board.RAILROADS):
                lacks = building.lowest_level(game, group) < 3
                if lacks and players.owns_group(game, other, group):
                    return True
    return False


@kernel
def build(game: Game, seat: int, params: Row) -> int:
    """The next building, or a mortgage that pays for it; A_TURN if none is worth its risk.

    For each group and level, the rent of the next round, given where the others are, is compared
    with what the price adds to the risk. The best pair decides where the next building goes.
    """
    streets = building.improvable(game, seat)
    if streets == 0:
        return A_TURN
    cash, spare = float(game.cash[seat]), money.spare_lots(game, seat)
    pawned = 0.0
    if reading.mortgageable(game) & spare:
        pawned = float(players.mortgage_values(game, spare))
    funds = cash + pawned
    if funds < board.HOUSE_PRICE[game.rules.board, lowest(streets)]:
        return A_TURN
    worth = present_strength(game, seat, turns_left(game, params), params)
    rest, row = float(money.estate(game, seat)), money.row_of(game, seat)
    ahead = cash + params[AT.counted] * money.rents_coming(game, seat)
    rents = on_stack(RENTS, np.float64)
    money.write_rents(game, seat, row, rents)
    before = money.risk(game, rents, money.Means(row, ahead, pawned, rest, worth), params)
    keeps_scarce = game.houses < params[AT.scarce] and rival_lacks_houses(game, seat)
    top = board.HOTEL - 1 if keeps_scarce else board.HOTEL
    best, most = -1, 0.0
    for group in range(board.RAILROADS):
        if streets & board.GROUP_LOTS[group] == 0:
            continue
        for level in range(building.lowest_level(game, group) + 1, top + 1):
            gain, cost = group_gain(game, seat, group, level)
            if cost > funds:  # as far as the funds go
                gain *= params[AT.partly] * funds / cost
                cost = funds
            borrowed = max(0.0, cost - cash)
            left, later = ahead - cost + borrowed, rest + cost * int(game.rules.sell_ratio) / 100
            then = money.Means(row, left, pawned - borrowed, later, worth)
            after = money.risk(game, rents, then, params)
            net = params[AT.patience] * gain - (after - before) - params[AT.cheap] * borrowed
            if net > most:
                best, most = group, net
            if cost >= funds:
                break
    if best < 0:
        return A_TURN
    return _place(game, seat, streets & board.GROUP_LOTS[best], spare, params)


@kernel
def _place(game: Game, seat: int, streets: int, spare: int, params: Row) -> int:
    """Build on the street of a group that gains the most, or mortgage a lot for it."""
    payable = streets & reading.buildable(game)
    if payable:
        return A_BUILD + _best_street(game, seat, payable)
    lots = spare & reading.mortgageable(game)
    if lots == 0 or building.in_bank(game, building.piece_for(game, lowest(streets))) == 0:
        return A_TURN
    return A_MORTGAGE + money.least_loss(game, seat, lots, turns_left(game, params))


@kernel
def _best_street(game: Game, seat: int, streets: int) -> int:
    edition, best, most = int(game.rules.board), NO_LOT, -1.0
    for street in each(streets):
        level = int(game.level[street])
        following = _rent_at(edition, street, building.next_level(game, street))
        gain = money.visits(game, seat, street) * (following - _rent_at(edition, street, level))
        if gain > most:
            best, most = street, gain
    return best
