"""`algorithmic`: a plain scripted player, by thresholds on cash and on what a lot is worth to whom.

It buys and bids while it keeps a reserve (without one for a lot that completes or blocks a group), builds where a dollar
brings the most rent, raises cash by what hurts least, and leaves jail while there is something to buy. It makes one kind of
offer: for the lot that completes a group of its own, against a lot that does the same for the partner, or cash, or both; at
most one in a turn and then none for a while. Offers of others it answers by the same values; it never counters.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.policy import CompiledPolicy, Mask, Row, policy_kernel
from monopoly_env.actions import (
    A_ASK,
    A_BID,
    A_BUILD,
    A_BUY,
    A_CASH,
    A_CHOICE,
    A_GIVE,
    A_JAIL,
    A_MORTGAGE,
    A_REPLY,
    A_SELL,
    A_TRADE,
    A_TURN,
    A_UNMORTGAGE,
    CASH_CANCEL,
    GOODS_CANCEL,
    GOODS_DONE,
    NOTES,
    RAISES,
)  # fmt: skip
from monopoly_env.board import ALL_LOTS, GROUP_LOTS, GROUP_OF, HOUSE_PRICE, MORTGAGE, NUM_LOTS, NUM_STREETS, PRICE, RAILROADS, RENT
from monopoly_env.engine import agenda
from monopoly_env.engine.building import HOUSE_LOT, building_cost, next_level
from monopoly_env.engine.mortgage import lifting_cost, principal
from monopoly_env.engine.players import owner_of, total_worth
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

# What the policy goes by: a value for each name, and the reason for it.
CONSTANTS: Final[dict[str, tuple[float, str]]] = {
    "reserve": (200.0, "dollars kept when buying and building: one pass of GO, or a visit to a street with two houses"),
    "rich": (500.0, "dollars kept when lifting a mortgage: an idle lot earns less than a house"),
    "started": (1.2, "worth of a lot in list prices where a lot of its group is owned: it is on the way to a group"),
    "blocks": (1.5, "worth in list prices of a lot that an opponent needs to complete a group"),
    "completes": (3.0, "worth in list prices of a lot that completes a group: three houses bring back its price in a few laps"),
    "denies": (2.0, "what giving an opponent such a lot must bring, in list prices: below what it is worth to him, so that trades happen"),
    "margin": (1.1, "what an offer must bring for each dollar given: a trade at par helps the partner as much"),
    "offer_pause": (10.0, "rounds between two offers: a refused offer would be refused again"),
    "lots_left": (8.0, "unowned lots from which on leaving jail early is worth the fine: there is still something to buy"),
    "scarce": (1.5, "highest bid for a scarce building, in list prices"),
}
_RESERVE, _RICH, _STARTED, _BLOCKS, _COMPLETES, _DENIES, _MARGIN, _PAUSE, _LOTS_LEFT, _SCARCE = range(len(CONSTANTS))

# Its memory: the turn from which on it may offer again, and the offer that is being composed (lots + 1; 0: none).
_NEXT_OFFER, _ASK, _GIVE, _CASH = range(4)

_ONE_FOR_ONE = number("trade", "one_for_one")
_OFFICIAL = number("trade", "official")
_FLAT_TAX = 200  # dollars, against a tenth of the total worth
_NO_LOT = -1


# --- reading the record -------------------------------------------------------------------------------------------------


@kernel
def _open(game: Game, start: int, count: int) -> int:
    """The legal actions from `start` on, a bit each; at most 32 of them."""
    word, shift = start >> 5, start & 31
    bits = int(game.legal[word]) >> shift
    if shift + count > 32:
        bits |= int(game.legal[word + 1]) << (32 - shift)
    return bits & ((1 << count) - 1)


@kernel
def _unowned(game: Game) -> int:
    """How many lots the bank still has."""
    owned = 0
    for seat in range(game.num_players):
        owned |= int(game.lots[seat])
    return NUM_LOTS - size(owned)


@kernel
def _price(game: Game, lot: int) -> int:
    return int(PRICE[game.rules.board, lot])


@kernel
def _completes(game: Game, seat: int, lot: int) -> bool:
    """Whether a seat owns all other lots of a lot's group."""
    others = int(GROUP_LOTS[GROUP_OF[lot]]) & ~(1 << lot)
    return int(game.lots[seat]) & others == others


@kernel
def _blocks(game: Game, seat: int, lot: int) -> bool:
    """Whether an opponent owns all other lots of a lot's group."""
    for other in range(game.num_players):
        if other != seat and _completes(game, other, lot):
            return True
    return False


@kernel
def _worth(game: Game, seat: int, lot: int, params: Row) -> float:
    """What a lot is worth in a seat's hands, in dollars."""
    value = float(_price(game, lot))
    if _completes(game, seat, lot):
        value *= params[_COMPLETES]
    elif _blocks(game, seat, lot):
        value *= params[_BLOCKS]
    elif int(game.lots[seat]) & int(GROUP_LOTS[GROUP_OF[lot]]) & ~(1 << lot) != 0:
        value *= params[_STARTED]
    if has(game.mortgaged, lot):
        value -= lifting_cost(game, lot)
    return value


@kernel
def _loss(game: Game, seat: int, other: int, lot: int, params: Row) -> float:
    """What giving a lot to another seat costs: its worth here, or what the other gains by it, in dollars."""
    value = _worth(game, seat, lot, params)
    if _completes(game, other, lot):
        value = max(value, params[_DENIES] * _price(game, lot))
    return value


# --- lots for sale ------------------------------------------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row) -> int:
    lot = int(game.agenda[game.depth - 1, 2])
    price, cash = _price(game, lot), int(game.cash[seat])
    needed = _completes(game, seat, lot)
    if _open(game, A_BUY + 1, 1):
        wanted = cash - price >= params[_RESERVE] or needed or _blocks(game, seat, lot)
        return A_BUY + 1 if wanted else A_BUY
    if needed:  # it is worth mortgaging lots of which there is no group, if they suffice
        lots = _open(game, A_MORTGAGE, NUM_LOTS) & ~_of_whole_groups(game, seat)
        if cash + _mortgage_value(game, lots) >= price:
            return A_MORTGAGE + _cheapest(game, lots)
    return A_BUY


@kernel
def _of_whole_groups(game: Game, seat: int) -> int:
    """The lots of a seat that belong to its complete groups."""
    owned, lots = int(game.lots[seat]), 0
    for group in range(len(GROUP_LOTS)):
        members = int(GROUP_LOTS[group])
        if owned & members == members:
            lots |= members
    return lots


@kernel
def _mortgage_value(game: Game, lots: int) -> int:
    value = 0
    while lots:
        value += int(MORTGAGE[game.rules.board, lowest(lots)])
        lots &= lots - 1
    return value


@kernel
def _cheapest(game: Game, lots: int) -> int:
    best = lowest(lots)
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        if _price(game, lot) < _price(game, best):
            best = lot
    return best


@kernel
def _bid_limit(game: Game, seat: int, params: Row) -> float:
    """The highest bid: what the lot is worth, of the cash beyond half the reserve (all of it for a lot that completes a group)."""
    cash, lot = float(game.cash[seat]), int(game.auction_lot)
    if lot >= HOUSE_LOT:
        return min(params[_SCARCE] * _dearest_house(game, seat), cash - params[_RESERVE])
    if _completes(game, seat, lot):
        return min(_worth(game, seat, lot, params), cash)
    return min(_worth(game, seat, lot, params), cash - params[_RESERVE] / 2)


@kernel
def _dearest_house(game: Game, seat: int) -> int:
    """The highest house price of a seat's complete groups."""
    lots, price = _of_whole_groups(game, seat) & ((1 << NUM_STREETS) - 1), 0
    while lots:
        price = max(price, int(HOUSE_PRICE[game.rules.board, lowest(lots)]))
        lots &= lots - 1
    return price


@kernel
def _bid(game: Game, seat: int, standing: int, share: float, params: Row) -> int:
    """Raise by at most a share of the room below the limit, at least by the smallest raise that fits into it."""
    room = _bid_limit(game, seat, params) - standing
    for i in range(len(RAISES) - 1, -1, -1):
        if RAISES[i] <= room * share and _open(game, A_BID + 1 + i, 1):
            return A_BID + 1 + i
    for i in range(len(RAISES)):
        if RAISES[i] <= room and _open(game, A_BID + 1 + i, 1):
            return A_BID + 1 + i
    return A_BID


# --- windows of the turn ------------------------------------------------------------------------------------------------


@kernel
def _turn(game: Game, seat: int, params: Row, memory: Row) -> int:
    if _open(game, A_JAIL, 2) and _leaves_early(game, params):
        return _leave(game)
    mortgaged = _open(game, A_UNMORTGAGE, NUM_LOTS)
    if mortgaged:
        lot = _lift_first(game, seat, mortgaged)
        kept = params[_RESERVE] if _completes(game, seat, lot) else params[_RICH]
        if int(game.cash[seat]) - lifting_cost(game, lot) >= kept:
            return A_UNMORTGAGE + lot
    streets = _open(game, A_BUILD, NUM_STREETS)
    if streets:
        street = _best_building(game, streets, int(game.cash[seat]) - params[_RESERVE])
        if street != _NO_LOT:
            return A_BUILD + street
    if game.turns >= memory[_NEXT_OFFER] and game.offers[seat] == 0 and _open(game, A_TRADE, 7) and _plan_offer(game, seat, params, memory):
        partner = owner_of(game, int(memory[_ASK]) - 1)
        return A_TRADE + (partner - seat) % int(game.num_players) - 1
    return A_TURN


@kernel
def _leaves_early(game: Game, params: Row) -> bool:
    """Early in the game jail keeps a player from buying; later it keeps him from paying rent."""
    return _unowned(game) >= params[_LOTS_LEFT] and game.cash[game.player] >= params[_RESERVE]


@kernel
def _leave(game: Game) -> int:
    """By card if there is one, else by the fine."""
    return A_JAIL + 1 if _open(game, A_JAIL + 1, 1) else A_JAIL


@kernel
def _jail(game: Game, params: Row) -> int:
    if _open(game, A_TURN, 1) and not _leaves_early(game, params):
        return A_TURN
    return _leave(game)


@kernel
def _lift_first(game: Game, seat: int, lots: int) -> int:
    """The mortgaged lot to lift first: of a complete group, which can then be built on, and the dearest of these."""
    lots = lots & _of_whole_groups(game, seat) or lots
    best = lowest(lots)
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        if _price(game, lot) > _price(game, best):
            best = lot
    return best


@kernel
def _best_building(game: Game, streets: int, funds: int) -> int:
    """The street whose next building brings the most rent a dollar and costs no more than the funds, or _NO_LOT."""
    best, best_gain = _NO_LOT, 0.0
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        gain = _rent_gain(game, street)
        if gain > best_gain and building_cost(game, street) <= funds:
            best, best_gain = street, gain
    return best


@kernel
def _rent_gain(game: Game, street: int) -> float:
    """Rent that the next building of a street adds, for each dollar of a house's price."""
    board, level = int(game.rules.board), int(game.level[street])
    now = int(RENT[board, street, level]) * (2 if level == 0 else 1)  # a complete group doubles the base rent
    return (int(RENT[board, street, next_level(game, street)]) - now) / int(HOUSE_PRICE[board, street])


# --- offers -------------------------------------------------------------------------------------------------------------


@kernel
def _plan_offer(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Look for an offer that both sides gain by, and put it into memory; looks again only after a pause."""
    memory[_NEXT_OFFER] = game.turns + params[_PAUSE] * game.num_players
    owned = int(game.lots[seat])
    for group in range(RAILROADS):
        missing = int(GROUP_LOTS[group]) & ~owned
        if size(missing) != 1:
            continue
        ask = lowest(missing)
        partner = owner_of(game, ask)
        if partner < 0 or not _open(game, A_TRADE + (partner - seat) % int(game.num_players) - 1, 1):
            continue
        give = _swap(game, seat, partner, group)
        cash = _fair_cash(game, seat, partner, ask, give, params)
        if cash >= 0:
            memory[_ASK] = ask + 1
            memory[_GIVE] = give + 1
            memory[_CASH] = cash
            return True
    return False


@kernel
def _swap(game: Game, seat: int, partner: int, but: int) -> int:
    """A street of this seat that completes a group of the partner, outside one group, or _NO_LOT."""
    streets = int(game.lots[seat]) & ((1 << NUM_STREETS) - 1) & ~int(GROUP_LOTS[but])
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        if _completes(game, partner, street):
            return street
    return _NO_LOT


@kernel
def _fair_cash(game: Game, seat: int, partner: int, ask: int, give: int, params: Row) -> int:
    """The dollars that make the partner accept, rounded up to ten; -1 if that is too much, or not allowed."""
    due = params[_MARGIN] * _loss(game, partner, seat, ask, params)
    loss = 0.0
    if give != _NO_LOT:
        due -= _worth(game, partner, give, params)
        loss = _loss(game, seat, partner, give, params)
    cash = int(np.ceil(max(due, 0.0) / 10.0)) * 10
    if game.rules.trade != _OFFICIAL and give == _NO_LOT:
        return -1
    if cash > 0 and game.rules.trade == _ONE_FOR_ONE:
        return -1
    gains = _worth(game, seat, ask, params) >= params[_MARGIN] * (loss + cash)
    return cash if gains and int(game.cash[seat]) - cash >= params[_RESERVE] else -1


@kernel
def _pick(game: Game, start: int, wanted: int, picked: int) -> int:
    """A step of composing the goods: the lot wanted (its number + 1; 0: none), then done; cancel where that is not allowed."""
    if wanted > 0 and not has(picked, wanted - 1):
        action = wanted - 1
    else:
        action = GOODS_DONE
    return start + (action if _open(game, start + action, 1) else GOODS_CANCEL)


@kernel
def _pick_cash(game: Game, wanted: int) -> int:
    """A step of composing the cash: the largest note that is still missing, then done."""
    missing = wanted - int(game.offer_cash)
    for i in range(len(NOTES)):
        if NOTES[i] <= missing and _open(game, A_CASH + 1 + i, 1):
            return A_CASH + 1 + i
    return A_CASH if missing == 0 and _open(game, A_CASH, 1) else A_CASH + CASH_CANCEL


@kernel
def _reply(game: Game, seat: int, params: Row) -> int:
    """Accept what brings the margin and leaves half the reserve in cash."""
    proposer = int(game.offer_from)
    received, given = 0.0, 0.0
    lots = int(game.offer_give) & ALL_LOTS
    while lots:
        received += _worth(game, seat, lowest(lots), params)
        lots &= lots - 1
    lots = int(game.offer_ask) & ALL_LOTS
    while lots:
        given += _loss(game, seat, proposer, lowest(lots), params)
        lots &= lots - 1
    fine = int(game.rules.jail_fine)  # a jail card saves the fine
    received += fine * size(int(game.offer_give) & ~ALL_LOTS)
    given += fine * size(int(game.offer_ask) & ~ALL_LOTS)
    cash = int(game.offer_cash)
    if cash > 0:
        received += cash
    else:
        given -= cash
    affordable = cash >= 0 or int(game.cash[seat]) + cash >= params[_RESERVE] / 2
    if _open(game, A_REPLY + 1, 1) and affordable and received > 0 and received >= params[_MARGIN] * given:
        return A_REPLY + 1
    return A_REPLY


# --- debts and choices --------------------------------------------------------------------------------------------------


@kernel
def _raise_cash(game: Game, seat: int) -> int:
    """What hurts least first: lots without a group, then buildings by the rent they bring, then lots of complete groups."""
    lots = _open(game, A_MORTGAGE, NUM_LOTS)
    singles = lots & ~_of_whole_groups(game, seat)
    if singles:
        return A_MORTGAGE + _least_wanted(game, seat, singles)
    streets = _open(game, A_SELL, NUM_STREETS)
    if streets:
        return A_SELL + _least_built(game, streets)
    if lots:
        return A_MORTGAGE + _cheapest(game, lots)
    return A_TURN  # give up, where only that or a trade is left


@kernel
def _least_wanted(game: Game, seat: int, lots: int) -> int:
    """The lot of whose group the fewest are owned; of these the cheapest."""
    best, least = _NO_LOT, 0
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        rank = size(int(game.lots[seat]) & int(GROUP_LOTS[GROUP_OF[lot]])) * 10_000 + _price(game, lot)
        if best == _NO_LOT or rank < least:
            best, least = lot, rank
    return best


@kernel
def _least_built(game: Game, streets: int) -> int:
    """The street whose top building earns the least for each dollar of its price."""
    best, least = _NO_LOT, 0.0
    board = int(game.rules.board)
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        level = int(game.level[street])
        lost = (int(RENT[board, street, level]) - int(RENT[board, street, level - 1])) / int(HOUSE_PRICE[board, street])
        if best == _NO_LOT or lost < least:
            best, least = street, lost
    return best


@kernel
def _tax(game: Game, seat: int) -> int:
    share = total_worth(game, seat) // 10
    wanted = A_CHOICE if share >= _FLAT_TAX else A_CHOICE + 1
    return wanted if _open(game, wanted, 1) else 2 * A_CHOICE + 1 - wanted


@kernel
def _take_over(game: Game, seat: int, params: Row) -> int:
    lot = int(game.agenda[game.depth - 1, 2])
    kept = params[_RESERVE] if _completes(game, seat, lot) else params[_RICH]
    lifts = _open(game, A_CHOICE + 1, 1) and int(game.cash[seat]) - principal(game, lot) >= kept
    return A_CHOICE + 1 if lifts else A_CHOICE


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW:
        return _turn(game, seat, params, memory)
    if decision == agenda.BUY:
        return _buy(game, seat, params)
    if decision == agenda.BID:
        return _bid(game, seat, int(game.auction_bid), 0.5, params)
    if decision == agenda.SEALED_BID:
        return _bid(game, seat, int(game.sealed[seat]), 1.0, params)
    if decision == agenda.PLACE:
        return A_BUILD + _place(game)
    if decision == agenda.JAIL:
        return _jail(game, params)
    if decision == agenda.ASK:
        return _pick(game, A_ASK, int(memory[_ASK]), int(game.offer_ask))
    if decision == agenda.GIVE:
        return _pick(game, A_GIVE, int(memory[_GIVE]), int(game.offer_give))
    if decision == agenda.CASH:
        return _pick_cash(game, int(memory[_CASH]))
    if decision == agenda.REPLY:
        return _reply(game, seat, params)
    if decision == agenda.DEBT:
        return _raise_cash(game, seat)
    if decision == agenda.TAX:
        return _tax(game, seat)
    if decision == agenda.TAKEOVER:
        return _take_over(game, seat, params)
    return A_CHOICE if _open(game, A_CHOICE, 1) else A_CHOICE + 1  # fine or Chance: the fine is small and certain


@kernel
def _place(game: Game) -> int:
    """Where a scarce building goes: to the street that gains most, whatever was paid for it."""
    streets = _open(game, A_BUILD, NUM_STREETS)
    best = lowest(streets)
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        if _rent_gain(game, street) > _rent_gain(game, best):
            best = street
    return best


def algorithmic(**constants: float) -> CompiledPolicy:
    """`algorithmic`: the plain scripted player.

    Args:
        **constants: Values of `CONSTANTS` that differ from its table.

    Raises:
        ConfigurationError: An unknown constant.
    """
    for name in constants:
        if name not in CONSTANTS:
            raise ConfigurationError(f"Policy 'algorithmic' has no constant {name!r}. {nearest(name, CONSTANTS)}")
    params = [constants.get(name, value) for name, (value, _) in CONSTANTS.items()]
    return CompiledPolicy("algorithmic", _play, params, reads_mask=False)
