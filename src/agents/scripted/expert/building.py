"""Houses: how many, on which group, and when."""

from __future__ import annotations

from typing import Final

from agents.policy import Row
from agents.scripted.expert import odds
from agents.scripted.expert.money import estate, least_loss, rent_lost, rents_coming, risk, row_of, spare_lots, visits
from agents.scripted.expert.parameters import COUNTED, PATIENCE, SCARCE
from agents.scripted.expert.values import present_strength, turns_left
from agents.scripted.reading import NO_LOT, legal
from monopoly_env.actions import A_BUILD, A_MORTGAGE, A_TURN
from monopoly_env.board import GROUP_LOTS, GROUP_SIZE, GROUP_START, HOTEL, HOUSE_PRICE, MORTGAGE, NUM_LOTS, NUM_STREETS, RAILROADS, RENT
from monopoly_env.engine.building import HOUSE_LOT, WHOLE_GROUP, improvable, in_bank, lowest_level, piece_for
from monopoly_env.engine.mortgage import interest
from monopoly_env.engine.players import mortgage_values
from monopoly_env.engine.sets import lowest
from monopoly_env.game import Game
from monopoly_env.kernels import kernel

_FAR: Final = 1e9


@kernel
def _rent_at(board: int, street: int, level: int) -> int:
    return int(RENT[board, street, level]) * (2 if level == 0 else 1)


@kernel
def group_gain(game: Game, seat: int, group: int, level: int, pieces: int) -> tuple[float, float]:
    """Rent of the next round that raising a group to a level adds, and what it costs, with at most some more pieces (dollars)."""
    board, start = int(game.rules.board), int(GROUP_START[group])
    gain, cost = 0.0, 0.0
    for street in range(start, start + int(GROUP_SIZE[group])):
        now = int(game.level[street])
        if now < level:
            gain += visits(game, seat, street) * (_rent_at(board, street, level) - _rent_at(board, street, now))
            cost += (level - now) * int(HOUSE_PRICE[board, street])
    return gain, cost


@kernel
def rival_lacks_houses(game: Game, seat: int) -> bool:
    """Whether an opponent owns a colour that he could build on and that stands below three houses."""
    for other in range(game.num_players):
        if other != seat and game.place[other] == 0:
            for group in range(RAILROADS):
                members = int(GROUP_LOTS[group])
                if int(game.lots[other]) & members == members and lowest_level(game, group) < 3:
                    return True
    return False


@kernel
def build(game: Game, seat: int, params: Row) -> int:
    """The next building, or a mortgage that pays for it; A_TURN if none is worth its risk."""
    streets = improvable(game, seat)
    if streets == 0:
        return A_TURN
    cash, spare = float(game.cash[seat]), spare_lots(game, seat)
    raisable = float(mortgage_values(game, spare)) if legal(game, A_MORTGAGE, NUM_LOTS) & spare else 0.0
    if cash + raisable < 50:
        return A_TURN
    board, turns = int(game.rules.board), turns_left(game, params)
    rest, worth = float(estate(game, seat)), present_strength(game, seat, turns, params)
    row = row_of(game, seat)
    ahead = cash + params[COUNTED] * rents_coming(game, seat)
    before = risk(game, seat, row, ahead, raisable, rest, worth, params)
    top = HOTEL
    if game.houses < params[SCARCE] and rival_lacks_houses(game, seat):
        top = HOTEL - 1
    best, most = -1, 0.0
    for group in range(RAILROADS):
        if streets & int(GROUP_LOTS[group]) == 0:
            continue
        for level in range(lowest_level(game, group) + 1, top + 1):
            gain, cost = group_gain(game, seat, group, level, 0)
            if cost > cash + raisable:  # as far as the funds go
                gain *= (cash + raisable) / cost * 0.7
                cost = cash + raisable
            borrowed = max(0.0, cost - cash)
            after = risk(game, seat, row, ahead - cost + borrowed, raisable - borrowed, rest + cost / 2, worth, params)
            net = params[PATIENCE] * gain - (after - before) - 0.2 * borrowed
            if net > most:
                best, most = group, net
            if borrowed > 0:
                break
    if best < 0:
        return A_TURN
    return _place(game, seat, best, streets, spare, turns)


@kernel
def _place(game: Game, seat: int, group: int, streets: int, spare: int, turns: float) -> int:
    """Build on the street of a group that gains most, or mortgage for it."""
    board = int(game.rules.board)
    options = streets & int(GROUP_LOTS[group])
    payable = options & legal(game, A_BUILD, NUM_STREETS)
    if payable:
        best, most = NO_LOT, -1.0
        while payable:
            street = lowest(payable)
            payable &= payable - 1
            level = int(game.level[street])
            gain = visits(game, seat, street) * (_rent_at(board, street, min(HOTEL, level + 1)) - _rent_at(board, street, level))
            if gain > most:
                best, most = street, gain
        return A_BUILD + best
    if in_bank(game, piece_for(game, lowest(options))) == 0:
        return A_TURN
    lots = spare & legal(game, A_MORTGAGE, NUM_LOTS)
    if lots:
        return A_MORTGAGE + least_loss(game, seat, lots, turns)
    return A_TURN


_ = (rent_lost, MORTGAGE, HOUSE_LOT, WHOLE_GROUP, interest, _FAR)
