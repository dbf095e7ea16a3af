"""The kernels of `genetic/esp`: `algorithmic`, with numbers that networks scale.

A row holds the parameters of `algorithmic`, the start of each network in the row (0: it is switched
off), and the networks (`agents.networks.layout`).
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from agents.networks.esp.inputs import (
    DEED,
    LOT,
    STREET,
    TABLE,
    write_deed,
    write_lot,
    write_street,
    write_table,
)
from agents.networks.forward import step
from agents.networks.layout import AT_UNITS, SIZES
from agents.players import algorithmic
from agents.players.algorithmic import AT, SLOT
from agents.players.vocabulary import groups, habits, offers
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.reading import (
    NO_LOT,
    asked_lot,
    buildable,
    liftable,
    may_buy,
    may_leave,
    mortgageable,
    price,
    sellable,
)
from monopoly_env.actions import A_BUILD, A_BUY, A_MORTGAGE, A_REPLY, A_SELL, A_TURN, A_UNMORTGAGE
from monopoly_env.engine import agenda, building, mortgage
from monopoly_env.engine.sets import lowest, size
from monopoly_env.facts.board import ALL_LOTS, GROUP_LOTS, GROUP_OF, HOUSE_PRICE, RENT
from monopoly_env.game import Game
from monopoly_env.kernels import borrowed, kernel
from monopoly_env.policy.protocol import Mask, Row, observe_kernel, policy_kernel

WORTH, BUILDING, MORTGAGING, CASH, JAIL = range(5)  # the networks
COUNT: Final = 5
# In the row: the starts of the networks, after the parameters of `algorithmic`
FIRST: Final = len(AT)
NETWORKS: Final = FIRST + COUNT
MOST_UNITS: Final = 11  # of a recurrent network: all five must fit into memory
STATE: Final = memory_slots(start=SLOT.end, states=COUNT * MOST_UNITS).states
_ABOUT: Final = len(TABLE)
_LONGEST: Final = _ABOUT + max(len(LOT), len(STREET), len(DEED))
_FLAT: Final = 30.0  # where the logistic is saturated
# Weight of a lot of a complete group when mortgages are lifted: it comes before all others, since
# the dearest lot costs less than ten cheap ones
_WHOLE: Final = 10


# --- networks


@kernel
def _run(network: int, seen: Any, params: Row, memory: Row, advance: bool) -> float:
    """The output of a network; with `advance` its state advances."""
    params, memory, seen = borrowed(params), borrowed(memory), borrowed(seen)
    weights = params[int(params[FIRST + network]) :].view(np.float32)
    units = int(weights[AT_UNITS])
    start = STATE + network * MOST_UNITS
    state, out = memory[start : start + units], np.zeros(1)
    if units > 0 and not advance:
        state = state.copy()
    step(weights, seen[: int(weights[SIZES])], state, 0, out)
    return float(out[0])


@kernel
def _factor(
    game: Game,
    seat: int,
    network: int,
    lot: int,
    seen: Any,
    params: Row,
    memory: Row,
    advance: bool,
) -> float:
    """The factor, 0 to 4, of a number of the base policy; 1 if the network is off or its output 0.

    Table-level networks ignore the lot. `seen` is a buffer that begins with `TABLE`. With `advance`
    the state advances: where several lots are compared, only for the chosen one.
    """
    if params[FIRST + network] == 0:
        return 1.0
    if network == WORTH:
        write_lot(game, seat, lot, seen[_ABOUT:])
    elif network == BUILDING:
        write_street(game, seat, lot, seen[_ABOUT:])
    elif network == MORTGAGING:
        write_deed(game, seat, lot, seen[_ABOUT:])
    output = _run(network, seen, params, memory, advance)
    logistic = 1 / (1 + math.exp(-min(max(output, -_FLAT), _FLAT)))
    return 4 * logistic * logistic


@kernel
def _chosen(
    game: Game, seat: int, network: int, lot: int, seen: Any, params: Row, memory: Row
) -> None:
    """Advance the state of a recurrent network by the chosen lot."""
    if (
        lot != NO_LOT
        and params[FIRST + network] != 0
        and params[int(params[FIRST + network]) :].view(np.float32)[AT_UNITS] > 0
    ):
        _factor(game, seat, network, lot, seen, params, memory, True)


@kernel
def _base(game: Game, own: Row, memory: Row) -> int:
    """The base policy's answer."""
    return algorithmic.answer(game, own, memory)


# --- lots


@kernel
def _worth(game: Game, seat: int, lot: int, seen: Any, own: Row, params: Row, memory: Row) -> float:
    return algorithmic.worth_of(game, seat, lot, own) * _factor(
        game, seat, WORTH, lot, seen, params, memory, True
    )


@kernel
def _buy(game: Game, seat: int, seen: Any, own: Row, params: Row, memory: Row) -> int:
    """Buy a lot worth its price; spend the reserve, too, on one worth as much as a blocking lot."""
    if not may_buy(game):
        return _base(game, own, memory)
    lot = asked_lot(game)
    cost, worth = price(game, lot), _worth(game, seat, lot, seen, own, params, memory)
    dear = worth >= own[AT.blocks] * cost
    return (
        A_BUY + 1
        if worth >= cost and (dear or int(game.cash[seat]) - cost >= own[AT.reserve])
        else A_BUY
    )


@kernel
def _bid(game: Game, seat: int, seen: Any, own: Row, params: Row, memory: Row) -> int:
    lot = int(game.auction_lot)
    if lot >= building.HOUSE_LOT:
        return _base(game, own, memory)
    reserve = 0.0 if groups.completes(game, seat, lot) else own[AT.reserve] / 2
    return habits.bid(
        game,
        min(_worth(game, seat, lot, seen, own, params, memory), float(game.cash[seat]) - reserve),
    )


@kernel
def _reply(game: Game, seat: int, seen: Any, own: Row, params: Row, memory: Row) -> int:
    proposer, received, given = int(game.offer_from), 0.0, 0.0
    lots = int(game.offer_give) & ALL_LOTS
    while lots:
        received += _worth(game, seat, lowest(lots), seen, own, params, memory)
        lots &= lots - 1
    lots = int(game.offer_ask) & ALL_LOTS
    while lots:
        lot = lowest(lots)
        given += algorithmic.loss_of(game, seat, proposer, lot, own) * _factor(
            game, seat, WORTH, lot, seen, params, memory, True
        )
        lots &= lots - 1
    return A_REPLY + 1 if algorithmic.suits(game, received, given, own) else A_REPLY


# --- the own turn


@kernel
def _has_no_question(game: Game, seat: int, memory: Row) -> bool:
    """Whether no network is needed in this window, as in most."""
    asks = may_leave(game) or liftable(game) or buildable(game)
    return not asks and not algorithmic.may_offer(game, seat, memory)


@kernel
def _window(game: Game, seat: int, seen: Any, own: Row, params: Row, memory: Row) -> int:
    """Leave jail, lift a mortgage, build, make an offer: in the base policy's order."""
    if may_leave(game) and habits.leaves_early(game, own[AT.lots_left], own[AT.reserve]):
        return habits.leave_jail(game)
    lot = _lift(game, seat, seen, own, params, memory)
    if lot != NO_LOT:
        return A_UNMORTGAGE + lot
    street = _build(game, seat, seen, own, params, memory)
    if street != NO_LOT:
        return A_BUILD + street
    return (
        algorithmic.offer(game, seat, own, memory)
        if algorithmic.may_offer(game, seat, memory)
        else A_TURN
    )


@kernel
def _lift(game: Game, seat: int, seen: Any, own: Row, params: Row, memory: Row) -> int:
    """The mortgage to lift: in complete groups first, then the dearest; NO_LOT without the cash."""
    lots, complete = liftable(game), groups.complete(int(game.lots[seat]))
    best, most, factor = NO_LOT, -1.0, 1.0
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        found = _factor(game, seat, MORTGAGING, lot, seen, params, memory, False)
        value = found * price(game, lot) * (_WHOLE if complete >> lot & 1 else 1)
        if value > most:
            best, most, factor = lot, value, found
    if best == NO_LOT:
        return NO_LOT
    reserve = own[AT.reserve] if complete >> best & 1 else own[AT.rich]
    if (int(game.cash[seat]) - mortgage.lifting_cost(game, best)) * factor < reserve:
        return NO_LOT
    _chosen(game, seat, MORTGAGING, best, seen, params, memory)
    return best


@kernel
def _build(game: Game, seat: int, seen: Any, own: Row, params: Row, memory: Row) -> int:
    """The street whose next building adds the most rent per dollar of spare cash, or NO_LOT."""
    streets = buildable(game)
    best, most = NO_LOT, 0.0
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        factor = _factor(game, seat, BUILDING, street, seen, params, memory, False)
        gain = habits.rent_gain(game, street) * factor
        if (
            gain > most
            and (int(game.cash[seat]) - building.building_cost(game, street)) * factor
            >= own[AT.reserve]
        ):
            best, most = street, gain
    _chosen(game, seat, BUILDING, best, seen, params, memory)
    return best


# --- debts


@kernel
def _raise_cash(game: Game, seat: int, seen: Any, params: Row, memory: Row) -> int:
    """Mortgage lots without a complete group, sell buildings, then mortgage other lots."""
    lots, singles = mortgageable(game), habits.spare_lots(game, seat)
    if singles:
        return A_MORTGAGE + _pawn(game, seat, singles, True, seen, params, memory)
    streets = sellable(game)
    if streets:
        return A_SELL + _sell(game, seat, streets, seen, params, memory)
    return A_MORTGAGE + _pawn(game, seat, lots, False, seen, params, memory) if lots else A_TURN


@kernel
def _pawn(
    game: Game, seat: int, lots: int, counts: bool, seen: Any, params: Row, memory: Row
) -> int:
    """The cheapest lot to mortgage; with `counts`, of the group of which the seat owns least."""
    best, least = NO_LOT, 0.0
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        rank = float(price(game, lot))
        if counts:
            rank += size(int(game.lots[seat]) & int(GROUP_LOTS[GROUP_OF[lot]])) * 10_000
        rank *= _factor(game, seat, MORTGAGING, lot, seen, params, memory, False)
        if best == NO_LOT or rank < least:
            best, least = lot, rank
    _chosen(game, seat, MORTGAGING, best, seen, params, memory)
    return best


@kernel
def _sell(game: Game, seat: int, streets: int, seen: Any, params: Row, memory: Row) -> int:
    """The street whose top building earns the least per dollar of its price."""
    edition, best, least = int(game.rules.board), NO_LOT, 0.0
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        level = int(game.level[street])
        lost = (int(RENT[edition, street, level]) - int(RENT[edition, street, level - 1])) / int(
            HOUSE_PRICE[edition, street]
        )
        lost *= _factor(game, seat, BUILDING, street, seen, params, memory, False)
        if best == NO_LOT or lost < least:
            best, least = street, lost
    _chosen(game, seat, BUILDING, best, seen, params, memory)
    return best


# --- all decisions


@kernel
def _own_numbers(game: Game, seat: int, seen: Any, params: Row, memory: Row) -> Row:
    """The base policy's parameters with the factors of the networks for cash and jail."""
    own = params[:FIRST].copy()
    factor = _factor(game, seat, CASH, NO_LOT, seen, params, memory, True)
    own[AT.reserve] *= factor
    own[AT.rich] *= factor
    if game.decision == agenda.JAIL or may_leave(game):
        own[AT.lots_left] /= _factor(game, seat, JAIL, NO_LOT, seen, params, memory, True)
    return own


@policy_kernel
def play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Answer as `algorithmic` does, with numbers scaled by the networks."""
    seat, decision = int(game.player), int(game.decision)
    if agenda.ASK <= decision <= agenda.CASH:
        return offers.compose(game, memory)
    if decision == agenda.WINDOW and _has_no_question(game, seat, memory):
        return A_TURN
    seen = np.empty(_LONGEST)
    write_table(game, seat, seen)
    if decision == agenda.DEBT:
        return _raise_cash(game, seat, seen, params, memory)
    own = _own_numbers(game, seat, seen, params, memory)
    if decision == agenda.WINDOW:
        return _window(game, seat, seen, own, params, memory)
    if decision == agenda.BUY:
        return _buy(game, seat, seen, own, params, memory)
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return _bid(game, seat, seen, own, params, memory)
    if decision == agenda.REPLY:
        return _reply(game, seat, seen, own, params, memory)
    return _base(game, own, memory)


@observe_kernel
def observe(game: Game, seat: int, params: Row, memory: Row) -> None:
    """Advance the states of all networks by the table, without a lot."""
    seen = np.zeros(_LONGEST)
    write_table(game, seat, seen)
    for network in range(COUNT):
        if params[FIRST + network] != 0:
            _run(network, seen, params, memory, True)
