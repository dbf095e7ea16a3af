"""`expert`: the kernel that answers every decision."""

from __future__ import annotations

from typing import Final

from agents.players.expert import odds, packages, trading
from agents.players.expert.building import build
from agents.players.expert.money import added_risk, least_loss, lift, lifts_at_once, raise_cash, rents_due, spare_lots
from agents.players.expert.parameters import BARGAIN, CONTRAST, EAGER, FINE, MOTION, PAWNED, PIECE, STEP, THRIFT, Expert
from agents.players.expert.values import fill_strengths, lot_gain, turns_left
from agents.players.vocabulary.habits import answer_jail, bid_up_to, leave_jail, routine
from agents.players.vocabulary.offers import compose
from agents.players.vocabulary.parameters import family
from agents.players.vocabulary.reading import asked_lot, dearest_house, legal, price
from monopoly_env.actions import A_BUY, A_CHOICE, A_JAIL, A_MORTGAGE, A_TRADE, A_TURN
from monopoly_env.board import ALL_LOTS, JAIL_SQUARE, NUM_LOTS, PRICE
from monopoly_env.engine import agenda
from monopoly_env.engine.building import HOUSE_LOT
from monopoly_env.engine.liquidation import raisable
from monopoly_env.engine.players import mortgage_values
from monopoly_env.engine.sets import has, lowest
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel
from monopoly_env.rules import number

_NO_AUCTION = number("auction", "none")


@kernel
def worth_of(game: Game, seat: int, lot: int, bidders: int, params: Row, memory: Row) -> float:
    """The price at which it is the same whether this seat or the keenest rival gets a lot (dollars)."""
    turns = turns_left(game, params)
    total = fill_strengths(game, turns, params, memory[trading.TABLE :])
    gain, denied, weight = lot_gain(game, seat, lot, turns, params), 0.0, 0.0
    for other in range(game.num_players):
        if other != seat and has(bidders, other) and game.place[other] == 0:
            theirs = lot_gain(game, other, lot, turns, params)
            if theirs > denied:
                denied = theirs
                weight = memory[trading.TABLE + other] ** (params[CONTRAST] - 1) / total
    worth = memory[trading.TABLE + seat]
    own = (1 - worth ** params[CONTRAST] / total) / worth
    return params[EAGER] * (own * gain + weight * denied) / (own + weight)


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot = asked_lot(game)
    cost = price(game, lot)
    worth = worth_of(game, seat, lot, -1, params, memory)
    wanted = worth - cost > added_risk(game, seat, float(cost), memory[trading.TABLE + seat], params)
    if not wanted:
        return A_BUY
    if game.rules.auction != _NO_AUCTION and _cheaper_by_auction(game, seat, cost, params):
        return A_BUY
    if legal(game, A_BUY + 1, 1):
        return A_BUY + 1
    lots = legal(game, A_MORTGAGE, NUM_LOTS) & spare_lots(game, seat)
    if lots and int(game.cash[seat]) + mortgage_values(game, lots) >= cost:
        return A_MORTGAGE + least_loss(game, seat, lots, turns_left(game, params))
    return A_BUY


@kernel
def _cheaper_by_auction(game: Game, seat: int, cost: int, params: Row) -> bool:
    """Whether the others are so short of cash that the auction will cost less; what they cannot even raise is sure."""
    if raisable(game, seat) < cost:
        return False
    for other in range(game.num_players):
        if other != seat and game.place[other] == 0 and game.cash[other] >= params[THRIFT] * cost and raisable(game, other) >= cost:
            return False
    return True


@kernel
def _bid(game: Game, seat: int, params: Row, memory: Row) -> int:
    lot = int(game.auction_lot)
    if lot >= HOUSE_LOT:
        limit = min(params[PIECE] * dearest_house(game, seat), float(game.cash[seat]))
        return bid_up_to(game, limit, params[STEP])
    key = float(int(game.turns) * 64 + lot + 1)
    if memory[trading.BID] != key:
        memory[trading.BID] = key
        memory[trading.BID + 1] = _limit(game, seat, lot, params, memory)
    return bid_up_to(game, memory[trading.BID + 1], params[STEP] if game.decision == agenda.BID else 1.0)


@kernel
def _limit(game: Game, seat: int, lot: int, params: Row, memory: Row) -> float:
    worth = worth_of(game, seat, lot, int(game.auction_bidders), params, memory)
    spare = mortgage_values(game, spare_lots(game, seat))
    limit = min(worth, int(game.cash[seat]) + params[PAWNED] * spare)
    for _ in range(4):
        limit = min(limit, worth - added_risk(game, seat, limit, memory[trading.TABLE + seat], params))
        if limit <= 0:
            return 0.0
    return limit


@kernel
def _leaves(game: Game, seat: int, params: Row) -> bool:
    """Whether moving on is worth more than the rents that it costs."""
    board, owned = int(game.rules.board), 0
    for other in range(game.num_players):
        owned |= int(game.lots[other])
    free, gain = ALL_LOTS & ~owned, params[MOTION]
    while free:
        lot = lowest(free)
        free &= free - 1
        gain += params[BARGAIN] * odds.NEXT_LOT[board, JAIL_SQUARE, lot] * int(PRICE[board, lot])
    if legal(game, A_JAIL + 1, 1) == 0:
        gain -= params[FINE] * int(game.rules.jail_fine)
    return gain > rents_due(game, seat, JAIL_SQUARE)


@kernel
def _window(game: Game, seat: int, params: Row, model: Row, memory: Row) -> int:
    if int(game.agenda[game.depth - 1, 2]) == agenda.BEFORE_THROW:
        if legal(game, A_JAIL, 2) and _leaves(game, seat, params):
            return leave_jail(game)
        return A_TURN
    if legal(game, A_TRADE, 7):
        action = packages.search(game, seat, params, model, memory)
        if action != A_TURN:
            return action
    action = build(game, seat, params)
    if action != A_TURN:
        return action
    return lift(game, seat, params) if int(game.lots[seat]) & int(game.mortgaged) else A_TURN


@kernel
def answer(game: Game, params: Row, model: Row, memory: Row) -> int:
    """The action of the seat that decides; for policies that build on this one, too.

    Args:
        game: It waits for a decision.
        params: What the policy goes by.
        model: What its partners judge trades by, in its opinion, if they do not go by list prices.
        memory: Its own.
    """
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW:
        return _window(game, seat, params, model, memory)
    if decision == agenda.BUY:
        return _buy(game, seat, params, memory)
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return _bid(game, seat, params, memory)
    if decision == agenda.JAIL:
        return answer_jail(game, _leaves(game, seat, params))
    if agenda.ASK <= decision <= agenda.CASH:
        return compose(game, memory)
    if decision == agenda.REPLY:
        return trading.reply(game, seat, params, model, memory)
    if decision == agenda.DEBT:
        return raise_cash(game, seat, params)
    if decision == agenda.TAKEOVER:
        lifts = legal(game, A_CHOICE + 1, 1) and lifts_at_once(game, seat, asked_lot(game), params)
        return A_CHOICE + 1 if lifts else A_CHOICE
    return routine(game)


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    return answer(game, params, params, memory)  # partners are thought to judge as it does itself


POLICIES: Final = {"expert": family("expert", _play, Expert)}
