"""`expert`: the kernel that answers every decision."""

from __future__ import annotations

from typing import Final

from agents.players.expert import money, odds, packages, trading, values
from agents.players.expert.building import build
from agents.players.expert.parameters import AT, Expert
from agents.players.expert.trading import SLOT
from agents.players.vocabulary import groups, habits, offers
from agents.players.vocabulary.parameters import family
from agents.players.vocabulary.reading import asked_lot, legal, owned_lots, price, window_kind
from monopoly_env.actions import A_BUY, A_CHOICE, A_JAIL, A_MORTGAGE, A_TRADE, A_TURN
from monopoly_env.board import ALL_LOTS, JAIL_SQUARE, NUM_LOTS, PRICE
from monopoly_env.engine import agenda, building, liquidation, players
from monopoly_env.engine.sets import each, has
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel
from monopoly_env.rules import number

_NO_AUCTION = number("auction", "none")


@kernel
def worth_of(game: Game, seat: int, lot: int, bidders: int, params: Row, memory: Row) -> float:
    """The price at which it makes no difference whether this seat or the keenest rival gets a lot (dollars)."""
    turns = values.turns_left(game, params)
    total = values.fill_strengths(game, turns, params, memory[SLOT.strengths :])
    gain, denied, weight = values.lot_gain(game, seat, lot, turns, params), 0.0, 0.0
    for other in range(game.num_players):
        if other != seat and has(bidders, other) and game.place[other] == 0:
            theirs = values.lot_gain(game, other, lot, turns, params)
            if theirs > denied:
                denied = theirs
                weight = memory[SLOT.strengths + other] ** (params[AT.contrast] - 1) / total
    worth = memory[SLOT.strengths + seat]
    own = (1 - worth ** params[AT.contrast] / total) / worth
    return params[AT.eager] * (own * gain + weight * denied) / (own + weight)


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot = asked_lot(game)
    cost = price(game, lot)
    worth = worth_of(game, seat, lot, -1, params, memory)
    wanted = worth - cost > money.added_risk(game, seat, float(cost), memory[SLOT.strengths + seat], params)
    if not wanted:
        return A_BUY
    if game.rules.auction != _NO_AUCTION and _cheaper_by_auction(game, seat, cost, params):
        return A_BUY
    if legal(game, A_BUY + 1, 1):
        return A_BUY + 1
    lots = legal(game, A_MORTGAGE, NUM_LOTS) & money.spare_lots(game, seat)
    if lots and int(game.cash[seat]) + players.mortgage_values(game, lots) >= cost:
        return A_MORTGAGE + money.least_loss(game, seat, lots, values.turns_left(game, params))
    return A_BUY


@kernel
def _cheaper_by_auction(game: Game, seat: int, cost: int, params: Row) -> bool:
    """Whether the others are so short of cash that an auction would be cheaper than the list price."""
    if liquidation.raisable(game, seat) < cost:
        return False
    for other in range(game.num_players):
        keen = other != seat and game.place[other] == 0 and game.cash[other] >= params[AT.thrift] * cost
        if keen and liquidation.raisable(game, other) >= cost:
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
    return habits.bid_up_to(game, memory[SLOT.bid_limit], params[AT.step] if game.decision == agenda.BID else 1.0)


@kernel
def _limit(game: Game, seat: int, lot: int, params: Row, memory: Row) -> float:
    worth = worth_of(game, seat, lot, int(game.auction_bidders), params, memory)
    spare = players.mortgage_values(game, money.spare_lots(game, seat))
    limit = min(worth, int(game.cash[seat]) + params[AT.pawned] * spare)
    for _ in range(4):
        limit = min(limit, worth - money.added_risk(game, seat, limit, memory[SLOT.strengths + seat], params))
        if limit <= 0:
            return 0.0
    return limit


@kernel
def _leaves(game: Game, seat: int, params: Row) -> bool:
    """Whether moving on is worth more than the rents that it costs."""
    edition = int(game.rules.board)
    free, gain = ALL_LOTS & ~owned_lots(game), params[AT.motion]
    for lot in each(free):
        gain += params[AT.bargain] * odds.NEXT_LOT[edition, JAIL_SQUARE, lot] * int(PRICE[edition, lot])
    if legal(game, A_JAIL + 1, 1) == 0:
        gain -= params[AT.fine] * int(game.rules.jail_fine)
    return gain > money.rents_due(game, seat, JAIL_SQUARE)


@kernel
def _window(game: Game, seat: int, params: Row, model: Row, memory: Row) -> int:
    if window_kind(game) == agenda.BEFORE_THROW:
        if legal(game, A_JAIL, 2) and _leaves(game, seat, params):
            return habits.leave_jail(game)
        return A_TURN
    if legal(game, A_TRADE, 7):
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

    Args:
        game: The game, which waits for a decision.
        params: The policy's parameters.
        model: The parameters by which it believes its partners judge trades if they do not go by list prices.
        memory: The policy's memory.
    """
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW:
        return _window(game, seat, params, model, memory)
    if decision == agenda.BUY:
        return _buy(game, seat, params, memory)
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return _bid(game, seat, params, memory)
    if decision == agenda.JAIL:
        return habits.answer_jail(game, _leaves(game, seat, params))
    if agenda.ASK <= decision <= agenda.CASH:
        return offers.compose(game, memory)
    if decision == agenda.REPLY:
        return trading.reply(game, seat, params, model, memory)
    if decision == agenda.DEBT:
        return money.raise_cash(game, seat, params)
    if decision == agenda.TAKEOVER:
        lifts = legal(game, A_CHOICE + 1, 1) and money.lifts_at_once(game, seat, asked_lot(game), params)
        return A_CHOICE + 1 if lifts else A_CHOICE
    return habits.routine(game)


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    return answer(game, params, params, memory)  # it assumes that partners judge as it does itself


POLICIES: Final = {"expert": family("expert", _play, Expert)}
