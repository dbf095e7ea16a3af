"""`expert`: the kernel that answers every decision."""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.players.expert import money, odds, packages, trading, values
from agents.players.expert.building import build
from agents.players.expert.money import RENTS, lifts_at_once, raise_cash
from agents.players.expert.parameters import AT, Expert
from agents.players.expert.trading import SLOT
from agents.players.vocabulary import groups, habits, reading
from agents.players.vocabulary.parameters import named
from agents.players.vocabulary.reading import asked_lot, owned_lots, price, window_kind
from agents.players.vocabulary.skeleton import decide
from monopoly_env.actions import A_BUY, A_MORTGAGE, A_TURN
from monopoly_env.engine import agenda, building, liquidation, players
from monopoly_env.engine.sets import each, has
from monopoly_env.facts.board import ALL_LOTS, JAIL_SQUARE, PRICE
from monopoly_env.game import Game
from monopoly_env.kernels import kernel, on_stack
from monopoly_env.policy.protocol import Mask, Row, policy_kernel
from monopoly_env.rules import number

_NO_AUCTION = number("auction", "none")


@kernel
def worth_of(game: Game, seat: int, lot: int, bidders: int, params: Row, memory: Row) -> float:
    """The price of indifference whether this seat or the keenest rival gets a lot (dollars)."""
    turns = values.turns_left(game, params)
    total = values.fill_strengths(game, turns, params, memory[SLOT.strengths :])
    worth, denied, weight = memory[SLOT.strengths + seat], 0.0, 0.0
    gain = values.lot_gain(game, seat, lot, worth, turns, params)
    for other in range(game.num_players):
        if other != seat and has(bidders, other) and game.place[other] == 0:
            before = memory[SLOT.strengths + other]
            theirs = values.lot_gain(game, other, lot, before, turns, params)
            if theirs > denied:
                denied = theirs
                weight = values.power(before, params[AT.contrast]) / before / total
    own = (1 - values.power(worth, params[AT.contrast]) / total) / worth
    return params[AT.eager] * (own * gain + weight * denied) / (own + weight)


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot = asked_lot(game)
    cost = price(game, lot)
    worth = worth_of(game, seat, lot, -1, params, memory)
    now, rents = money.means(game, seat, memory[SLOT.strengths + seat]), on_stack(RENTS, np.float64)
    money.write_rents(game, seat, now.row, rents)
    before = money.risk(game, rents, now, params)
    risk = money.added_risk(game, rents, now, before, float(cost), params)
    if worth - cost <= risk:
        return A_BUY
    if game.rules.auction != _NO_AUCTION and _cheaper_by_auction(game, seat, cost, params):
        return A_BUY
    if reading.may_buy(game):
        return A_BUY + 1
    lots = reading.mortgageable(game) & money.spare_lots(game, seat)
    if lots and int(game.cash[seat]) + players.mortgage_values(game, lots) >= cost:
        return A_MORTGAGE + money.least_loss(game, seat, lots, values.turns_left(game, params))
    return A_BUY


@kernel
def _cheaper_by_auction(game: Game, seat: int, cost: int, params: Row) -> bool:
    """Whether the others are so short of cash that an auction would be cheaper."""
    if liquidation.raisable(game, seat) < cost:
        return False
    for other in range(game.num_players):
        keen = other != seat and game.cash[other] >= params[AT.thrift] * cost
        if keen and game.place[other] == 0 and liquidation.raisable(game, other) >= cost:
            return False
    return True


@kernel
def _bid(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot = int(game.auction_lot)
    if lot >= building.HOUSE_LOT:
        limit = min(params[AT.piece] * groups.dearest_house(game, seat), float(game.cash[seat]))
        return habits.bid_up_to(game, limit, params[AT.step])
    key = float(int(game.turns) * 64 + lot + 1)
    if memory[SLOT.auction] != key:
        memory[SLOT.auction] = key
        memory[SLOT.bid_limit] = _limit(game, seat, lot, params, memory)
    step = params[AT.step] if game.decision == agenda.BID else 1.0
    return habits.bid_up_to(game, memory[SLOT.bid_limit], step)


@kernel
def _limit(game: Game, seat: int, lot: int, params: Row, memory: Row) -> float:
    worth = worth_of(game, seat, lot, int(game.auction_bidders), params, memory)
    spare = players.mortgage_values(game, money.spare_lots(game, seat))
    limit = min(worth, int(game.cash[seat]) + params[AT.pawned] * spare)
    now, rents = money.means(game, seat, memory[SLOT.strengths + seat]), on_stack(RENTS, np.float64)
    money.write_rents(game, seat, now.row, rents)
    before = money.risk(game, rents, now, params)
    for _ in range(4):
        risk = money.added_risk(game, rents, now, before, limit, params)
        limit = min(limit, worth - risk)
        if limit <= 0:
            return 0.0
    return limit


@kernel
def _leaves(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Whether moving on is worth more than the rents that it costs."""
    edition = int(game.rules.board)
    free, gain = ALL_LOTS & ~owned_lots(game), params[AT.motion]
    for lot in each(free):
        gain += params[AT.bargain] * odds.NEXT_LOT[edition, JAIL_SQUARE, lot] * PRICE[edition, lot]
    if not reading.has_card(game):
        gain -= params[AT.fine] * int(game.rules.jail_fine)
    return gain > money.rents_due(game, seat, JAIL_SQUARE)


@kernel
def _window(game: Game, seat: int, params: Row, model: Row, memory: Row) -> int:
    if window_kind(game) == agenda.BEFORE_THROW:
        if reading.may_leave(game) and _leaves(game, seat, params, memory):
            return habits.leave_jail(game)
        return A_TURN
    if reading.may_trade(game):
        action = packages.search(game, seat, params, model, memory)
        if action != A_TURN:
            return action
    action = build(game, seat, params)
    if action != A_TURN:
        return action
    return money.lift(game, seat, params) if int(game.lots[seat]) & int(game.mortgaged) else A_TURN


@kernel
def answer(game: Game, params: Row, model: Row, memory: Row) -> int:
    """The action of the seat that decides; policies that build on this one call it too.

    `model` has the parameters by which partners are believed to judge trades, if not by list
    prices.
    """
    if game.decision == agenda.WINDOW:
        return _window(game, int(game.player), params, model, memory)
    if game.decision == agenda.REPLY:
        return trading.reply(game, int(game.player), params, model, memory)
    return decide(game, params, memory, None, _buy, _bid, _leaves, None, raise_cash, lifts_at_once)


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    return answer(game, params, params, memory)  # it assumes that partners judge as it does itself


POLICIES: Final = named(_play, Expert, {"expert": {}})
