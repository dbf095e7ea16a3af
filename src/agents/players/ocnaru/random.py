"""`ocnaru/random`: tosses a fair coin for everything but building, which it always does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agents.players.ocnaru.stages import (
    DEBT,
    DONE,
    FIRST_ACTION,
    LEAVE,
    LEFT,
    LEGACY_DEBTS,
    LIFT,
    LOWER,
    MORTGAGES,
    NO_ACTION,
    NOT_ENTERED,
    STAGE,
    TO_SELL,
    TRADE,
    close_stage,
    debt_at_hand,
    open_window,
    partners,
    proceeds,
    stay_or_leave,
    take_member,
)
from agents.players.vocabulary.habits import bid_up_to, raise_cash, routine
from agents.players.vocabulary.offers import begin_offer, compose
from agents.players.vocabulary.parameters import Parameters, family, switch
from agents.players.vocabulary.reading import STREETS, amount_due, dearest_house, legal, may_offer_to, price
from monopoly_env.actions import A_BUILD, A_BUY, A_CHOICE, A_JAIL, A_MORTGAGE, A_REPLY, A_SELL, A_TURN, A_UNMORTGAGE
from monopoly_env.board import ALL_LOTS, GROUP_LOTS, GROUP_OF, GROUP_SIZE, HOTEL, HOUSE_PRICE, NUM_LOTS, NUM_STREETS
from monopoly_env.engine import agenda
from monopoly_env.engine.building import COLOURS, HOUSE_LOT, WHOLE_GROUP, building_cost
from monopoly_env.engine.liquidation import ONE_REQUEST
from monopoly_env.engine.mortgage import lifting_cost
from monopoly_env.engine.players import mortgage_values
from monopoly_env.engine.randomness import policy_draw
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.engine.trade import tradable
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel
from monopoly_env.rules import number


@dataclass(frozen=True)
class Random(Parameters):
    """What can be chosen of a player who tosses coins."""

    legacy_debts: bool = switch(False, LEGACY_DEBTS)


_SURRENDERS: Final = 0
_RUINED: Final = 0  # in its memory, where values of lots would be: a lift has ruined it

_OFFICIAL = number("trade", "official")
_PATIENT: Final = 0.5  # the share of the room below its limit that a bid takes


@kernel
def _coin(game: Game, seat: int) -> bool:
    return policy_draw(game, seat, 2) == 1


@kernel
def _some(game: Game, seat: int, members: int) -> int:
    """Those of a set that a fair coin picks."""
    picked = 0
    while members:
        if _coin(game, seat):
            picked |= members & -members
        members &= members - 1
    return picked


@kernel
def _up_to(game: Game, seat: int, most: int) -> int:
    """A number from 0 to `most`."""
    return policy_draw(game, seat, most + 1) if most > 0 else 0


@kernel
def _chosen(game: Game, seat: int, stage: int) -> int:
    """What a stage is to do, a bit each."""
    if stage == LEAVE:
        return _way_out(game, seat) if legal(game, A_JAIL, 2) else 0
    if stage == TRADE:
        return _some(game, seat, partners(game, seat))
    if stage == LOWER:
        streets, picked = legal(game, A_SELL, NUM_STREETS), 0
        for group in range(COLOURS):
            members = int(GROUP_LOTS[group])
            if streets & members and _coin(game, seat):
                picked |= streets & members
        return picked
    if stage == MORTGAGES:
        return _some(game, seat, legal(game, A_MORTGAGE, NUM_STREETS))
    if stage == LIFT:
        return _some(game, seat, legal(game, A_UNMORTGAGE, NUM_STREETS))
    return _all_building(game, seat)


@kernel
def _way_out(game: Game, seat: int) -> int:
    if legal(game, A_JAIL + 1, 1) and _coin(game, seat):
        return 2
    return 1 if legal(game, A_JAIL, 1) and _coin(game, seat) else 0


@kernel
def _all_building(game: Game, seat: int) -> int:
    """Every street that can be raised: the coin that was meant for this is never tossed. A hotel must be payable once a street."""
    chosen, funds, streets = 0, int(game.cash[seat]), legal(game, A_BUILD, NUM_STREETS)
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        cost = building_cost(game, street)
        if game.rules.even_build == WHOLE_GROUP:
            cost = int(HOUSE_PRICE[game.rules.board, street]) * int(GROUP_SIZE[GROUP_OF[street]])
        if cost <= funds:
            chosen |= 1 << street
            funds -= cost
    return chosen


@kernel
def _offer(game: Game, seat: int, partner: int, memory: Row) -> int:
    """Goods by the toss of a coin each, cash from both sides up to what the partner has; its own side must be in hand."""
    if not may_offer_to(game, seat, partner):
        return NO_ACTION
    mine, theirs = tradable(game, seat), tradable(game, partner)
    if game.rules.trade != _OFFICIAL:
        give, ask = _one_of(game, seat, mine & ALL_LOTS), _one_of(game, seat, theirs & ALL_LOTS)
        return begin_offer(game, partner, ask, give, 0, memory) if give and ask else NO_ACTION
    most = max(0, int(game.cash[partner]))
    paid, asked = _up_to(game, seat, most), _up_to(game, seat, most)
    cards, their_cards = _up_to(game, seat, size(mine & ~ALL_LOTS)), _up_to(game, seat, size(theirs & ~ALL_LOTS))
    give, ask = _some(game, seat, mine & ALL_LOTS), _some(game, seat, theirs & ALL_LOTS)
    if cards == 0 or their_cards == 0:  # else his program moves no card
        give |= _cards(mine, cards)
        ask |= _cards(theirs, their_cards)
    if paid > int(game.cash[seat]) or (give | ask) == 0:
        return NO_ACTION
    return begin_offer(game, partner, ask, give, paid - asked, memory)


@kernel
def _cards(goods: int, count: int) -> int:
    """The first jail cards among some goods."""
    cards, picked = goods & ~ALL_LOTS, 0
    for _ in range(count):
        picked |= cards & -cards
        cards &= cards - 1
    return picked


@kernel
def _one_of(game: Game, seat: int, lots: int) -> int:
    """A lot of a set, each as likely, as a set; nothing of nothing."""
    if lots == 0:
        return 0
    for _ in range(policy_draw(game, seat, size(lots))):
        lots &= lots - 1
    return lots & -lots


@kernel
def _bid(game: Game, seat: int) -> int:
    """Fold, or raise halfway to the list price."""
    lot = int(game.auction_lot)
    limit = dearest_house(game, seat) if lot >= HOUSE_LOT else price(game, lot)
    return bid_up_to(game, min(limit, int(game.cash[seat])) if _coin(game, seat) else 0.0, _PATIENT)


@kernel
def _debt(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Railroads and utilities if they suffice; else buildings, group by group, a hotel by one level only; then other lots."""
    due = amount_due(game)
    debt = debt_at_hand(game)
    needed, lots = due - int(game.cash[seat]), legal(game, A_MORTGAGE, NUM_LOTS)
    streets = legal(game, A_SELL, NUM_STREETS)
    if memory[DEBT] != debt:
        suffices = mortgage_values(game, lots & ~STREETS) >= needed
        memory[DEBT], memory[TO_SELL] = debt, 0 if suffices else streets
        met = suffices or mortgage_values(game, lots) + _all_proceeds(game, streets) >= needed
        if legal(game, A_TURN, 1) and (not met or params[_SURRENDERS] or memory[_RUINED]):
            memory[DEBT] = 0
            return A_TURN
    streets &= int(memory[TO_SELL])
    if streets:
        street = lowest(streets)
        if game.level[street] == HOTEL or game.level[street] == 1:
            memory[TO_SELL] = int(memory[TO_SELL]) & ~(1 << street)
        return A_SELL + street
    spare = lots & ~STREETS
    return A_MORTGAGE + lowest(spare or lots) if lots else raise_cash(game)


@kernel
def _all_proceeds(game: Game, streets: int) -> int:
    """What selling all houses, and a level of each hotel, brings (dollars)."""
    total = 0
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        level = int(game.level[street])
        total += proceeds(game, street) * (1 if level == HOTEL else level)
    return total


@kernel
def _raise_for_lifting(game: Game, seat: int, missing: int, params: Row, memory: Row) -> int:
    """His program takes a lift that cannot be paid for a debt: it raises the cash, or the player is bankrupt.

    Our rules ruin nobody in a window: see `_leave_table`. The program of May breaks the turn off.
    """
    streets, lots = legal(game, A_SELL, NUM_STREETS), legal(game, A_MORTGAGE, NUM_LOTS)
    if params[_SURRENDERS]:
        memory[STAGE] = DONE
        return A_TURN
    spare = lots & ~STREETS
    if mortgage_values(game, spare) >= missing:
        return A_MORTGAGE + lowest(spare)
    if mortgage_values(game, lots) + _all_proceeds(game, streets) < missing:
        memory[_RUINED] = 1
        return _leave_table(game, seat, memory)
    return A_SELL + lowest(streets) if streets else A_MORTGAGE + lowest(spare or lots)


@kernel
def _leave_table(game: Game, seat: int, memory: Row) -> int:
    """Play no more: hand over all that can be traded, and give up the first debt, the soonest way out that the rules have."""
    partner, goods = (seat + 1) % int(game.num_players), tradable(game, seat)
    if game.rules.trade == _OFFICIAL and game.offers[seat] == 0 and goods and may_offer_to(game, seat, partner):
        return begin_offer(game, partner, 0, goods, max(0, int(game.cash[seat])), memory)
    return A_TURN


@kernel
def _turn(game: Game, seat: int, params: Row, memory: Row) -> int:
    if memory[_RUINED]:
        return _leave_table(game, seat, memory)
    if not open_window(game, seat, memory):
        return A_TURN
    while memory[STAGE] < DONE:
        stage = int(memory[STAGE])
        if memory[LEFT] == NOT_ENTERED:
            memory[LEFT] = _chosen(game, seat, stage)
        while memory[LEFT] > 0:
            if stage == LIFT and game.rules.liquidation == ONE_REQUEST:
                lot = lowest(int(memory[LEFT]))
                missing = lifting_cost(game, lot) - int(game.cash[seat])
                if missing > 0 and has(game.mortgaged, lot):
                    return _raise_for_lifting(game, seat, missing, params, memory)
            member = take_member(memory)
            action = _offer(game, seat, member, memory) if stage == TRADE else int(FIRST_ACTION[stage]) + member
            if action != NO_ACTION and legal(game, action, 1):
                return action
        close_stage(memory)
    return A_TURN


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW:
        return _turn(game, seat, params, memory)
    if decision == agenda.BUY:
        return A_BUY + 1 if not memory[_RUINED] and legal(game, A_BUY + 1, 1) and _coin(game, seat) else A_BUY
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return _bid(game, seat)
    if decision == agenda.JAIL:
        return stay_or_leave(game, _way_out(game, seat))
    if agenda.ASK <= decision <= agenda.CASH:
        return compose(game, memory)
    if decision == agenda.REPLY:
        return A_REPLY + 1 if _coin(game, seat) else A_REPLY
    if decision == agenda.DEBT:
        return _debt(game, seat, params, memory)
    if decision == agenda.PLACE:
        return routine(game)
    # Tax, a fine or Chance, a received mortgage: one of two answers.
    answer = A_CHOICE + (1 if _coin(game, seat) else 0)
    return answer if legal(game, answer, 1) else 2 * A_CHOICE + 1 - answer


POLICIES: Final = {"ocnaru/random": family("ocnaru/random", _play, Random)}
