"""`ocnaru/random`: tosses a fair coin for everything but building, which it always does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agents.players.ocnaru import stages
from agents.players.ocnaru.stages import NO_ACTION, SLOT
from agents.players.vocabulary import groups, habits, offers, reading
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.parameters import Parameters, named, switch
from agents.players.vocabulary.reading import ANSWERS, amount_due, legal, price
from agents.players.vocabulary.skeleton import decide
from monopoly_env.actions import A_BUY, A_CHOICE, A_JAIL, A_MORTGAGE, A_SELL, A_TURN, A_UNMORTGAGE
from monopoly_env.engine import agenda, building, liquidation, mortgage, players, randomness, trade
from monopoly_env.engine.sets import each, has, lowest, size
from monopoly_env.facts import board
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel


@dataclass(frozen=True)
class OcnaruRandom(Parameters):
    """The one parameter of a player that tosses coins."""

    legacy_debts: bool = switch(False)
    """gives up every debt above the cash in hand if the rules let it: the program of May 2025,
    which produced the thesis's figures, never raises cash for a debt"""


AT: Final = OcnaruRandom.columns()
OWN: Final = memory_slots("ruined", start=SLOT.end)  # by a mortgage that it could not pay to lift


@kernel
def _coin(game: Game, seat: int) -> bool:
    return randomness.policy_draw(game, seat, 2) == 1


@kernel
def _some(game: Game, seat: int, members: int) -> int:
    """The members of a set that a fair coin picks."""
    picked = 0
    while members:
        if _coin(game, seat):
            picked |= members & -members
        members &= members - 1
    return picked


@kernel
def _up_to(game: Game, seat: int, most: int) -> int:
    """A number from 0 to `most`."""
    return randomness.policy_draw(game, seat, most + 1) if most > 0 else 0


@kernel
def _chosen(game: Game, seat: int, stage: int, params: Row, memory: Row) -> int:
    """The things to do in a stage, a bit each."""
    if stage == stages.LEAVE:
        return _way_out(game, seat) if reading.may_leave(game) else 0
    if stage == stages.TRADE:
        return _some(game, seat, stages.partners(game, seat))
    if stage == stages.LOWER:
        streets, picked = reading.sellable(game), 0
        for group in range(building.COLOURS):
            if streets & board.GROUP_LOTS[group] and _coin(game, seat):
                picked |= streets & board.GROUP_LOTS[group]
        return picked
    if stage == stages.MORTGAGES:
        return _some(game, seat, legal(game, A_MORTGAGE, board.NUM_STREETS))
    if stage == stages.LIFT:
        return _some(game, seat, legal(game, A_UNMORTGAGE, board.NUM_STREETS))
    return _all_building(game, seat)


@kernel
def _way_out(game: Game, seat: int) -> int:
    if reading.has_card(game) and _coin(game, seat):
        return 2
    return 1 if legal(game, A_JAIL, 1) and _coin(game, seat) else 0


@kernel
def _all_building(game: Game, seat: int) -> int:
    """Every street that can be built on and paid for: the program tosses no coin for it."""
    chosen, funds, streets = 0, int(game.cash[seat]), reading.buildable(game)
    for street in each(streets):
        cost = building.building_cost(game, street)
        if game.rules.even_build == building.WHOLE_GROUP:
            count = board.GROUP_SIZE[board.GROUP_OF[street]]
            cost = board.HOUSE_PRICE[game.rules.board, street] * count
        if cost <= funds:
            chosen |= 1 << street
            funds -= cost
    return chosen


@kernel
def _offer(game: Game, seat: int, partner: int, params: Row, memory: Row) -> int:
    """Goods by coins, and cash from both sides; no offer if its own side exceeds its cash."""
    if not offers.may_offer_to(game, seat, partner):
        return NO_ACTION
    mine, theirs = trade.tradable(game, seat), trade.tradable(game, partner)
    if game.rules.trade != offers.OFFICIAL:
        give = _one_of(game, seat, mine & board.ALL_LOTS)
        ask = _one_of(game, seat, theirs & board.ALL_LOTS)
        return offers.begin(game, partner, ask, give, 0, memory) if give and ask else NO_ACTION
    most = max(0, int(game.cash[partner]))
    paid, asked = _up_to(game, seat, most), _up_to(game, seat, most)
    cards = _up_to(game, seat, size(mine & ~board.ALL_LOTS))
    their_cards = _up_to(game, seat, size(theirs & ~board.ALL_LOTS))
    give, ask = _some(game, seat, mine & board.ALL_LOTS), _some(game, seat, theirs & board.ALL_LOTS)
    if cards == 0 or their_cards == 0:  # otherwise the thesis's program moves no card
        give |= _cards(mine, cards)
        ask |= _cards(theirs, their_cards)
    if paid > int(game.cash[seat]) or (give | ask) == 0:
        return NO_ACTION
    return offers.begin(game, partner, ask, give, paid - asked, memory)


@kernel
def _cards(goods: int, count: int) -> int:
    """The first jail cards among some goods."""
    cards, picked = goods & ~board.ALL_LOTS, 0
    for _ in range(count):
        picked |= cards & -cards
        cards &= cards - 1
    return picked


@kernel
def _one_of(game: Game, seat: int, lots: int) -> int:
    """One lot of a set, all equally likely, as a set; empty if the set is."""
    if lots == 0:
        return 0
    for _ in range(randomness.policy_draw(game, seat, size(lots))):
        lots &= lots - 1
    return lots & -lots


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    if not memory[OWN.ruined] and reading.may_buy(game) and _coin(game, seat):
        return A_BUY + 1
    return A_BUY


@kernel
def _bid(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Fold, or raise halfway to the list price."""
    lot = int(game.auction_lot)
    limit = groups.dearest_house(game, seat) if lot >= building.HOUSE_LOT else price(game, lot)
    raises = _coin(game, seat)
    return habits.bid_up_to(game, min(limit, int(game.cash[seat])) if raises else 0.0, 0.5)


@kernel
def _debt(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Mortgage railroads and utilities if that is enough; else sell by group, then mortgage."""
    debt = stages.debt_at_hand(game)
    needed, lots = amount_due(game) - int(game.cash[seat]), reading.mortgageable(game)
    streets = reading.sellable(game)
    if memory[SLOT.debt] != debt:
        suffices = players.mortgage_values(game, lots & ~groups.STREETS) >= needed
        memory[SLOT.debt], memory[SLOT.to_sell] = debt, 0 if suffices else streets
        raised = players.mortgage_values(game, lots) + _all_proceeds(game, streets)
        met = suffices or raised >= needed
        if reading.may_go_on(game) and (not met or params[AT.legacy_debts] or memory[OWN.ruined]):
            memory[SLOT.debt] = 0
            return A_TURN
    streets &= int(memory[SLOT.to_sell])
    if streets:
        street = lowest(streets)
        if game.level[street] == board.HOTEL or game.level[street] == 1:
            memory[SLOT.to_sell] = int(memory[SLOT.to_sell]) & ~(1 << street)
        return A_SELL + street
    spare = lots & ~groups.STREETS
    return A_MORTGAGE + lowest(spare or lots) if lots else habits.raise_cash(game)


@kernel
def _all_proceeds(game: Game, streets: int) -> int:
    """The proceeds of all houses and one level of each hotel (dollars)."""
    total = 0
    for street in each(streets):
        level = int(game.level[street])
        total += stages.proceeds(game, street) * (1 if level == board.HOTEL else level)
    return total


@kernel
def _raise_for_lifting(game: Game, seat: int, stage: int, params: Row, memory: Row) -> int:
    """Raise the cash for lifting a mortgage.

    In the thesis's program, a mortgage that the player cannot pay to lift is a debt: it raises the
    cash or is bankrupt. Our rules bankrupt nobody in a window, see `_leave_table`. The program of
    May ends the turn instead.
    """
    lot = lowest(int(memory[SLOT.left]))
    missing = mortgage.lifting_cost(game, lot) - int(game.cash[seat])
    if game.rules.liquidation != liquidation.ONE_REQUEST or stage != stages.LIFT:
        return NO_ACTION
    if missing <= 0 or not has(game.mortgaged, lot):
        return NO_ACTION
    streets, lots = reading.sellable(game), reading.mortgageable(game)
    if params[AT.legacy_debts]:
        memory[SLOT.stage] = stages.DONE
        return A_TURN
    spare = lots & ~groups.STREETS
    if players.mortgage_values(game, spare) >= missing:
        return A_MORTGAGE + lowest(spare)
    if players.mortgage_values(game, lots) + _all_proceeds(game, streets) < missing:
        memory[OWN.ruined] = 1
        return _leave_table(game, seat, memory)
    return A_SELL + lowest(streets) if streets else A_MORTGAGE + lowest(spare or lots)


@kernel
def _leave_table(game: Game, seat: int, memory: Row) -> int:
    """Leave the game as the rules allow: give away all goods, later give up the first debt."""
    partner, goods = (seat + 1) % int(game.num_players), trade.tradable(game, seat)
    begins = game.rules.trade == offers.OFFICIAL and game.offers[seat] == 0 and goods != 0
    if begins and offers.may_offer_to(game, seat, partner):
        return offers.begin(game, partner, 0, goods, max(0, int(game.cash[seat])), memory)
    return A_TURN


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    if memory[OWN.ruined]:
        return _leave_table(game, seat, memory)
    return stages.go_through(game, seat, params, memory, _chosen, _offer, _raise_for_lifting)


@kernel
def _accepts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    return _coin(game, seat)


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.JAIL:
        return stages.stay_or_leave(game, _way_out(game, seat))
    if legal(game, A_CHOICE, ANSWERS):
        answer = A_CHOICE + _coin(game, seat)
        return answer if legal(game, answer, 1) else 2 * A_CHOICE + 1 - answer
    return decide(game, params, memory, _window, _buy, _bid, accepts=_accepts, debt=_debt)


POLICIES: Final = named(_play, OcnaruRandom, {"ocnaru/random": {}})
