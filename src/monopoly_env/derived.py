"""Numbers that follow from a record: prices, rents, worth, limits, and why actions are illegal.

One compiled function computes them for all who show a game; `DERIVED` says what there is.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monopoly_env.actions import (
    A_BID,
    A_BUILD,
    A_BUY,
    A_CASH,
    A_CHOICE,
    A_JAIL,
    A_MORTGAGE,
    A_SELL,
    A_UNMORTGAGE,
    NOTES,
    NUM_ACTIONS,
    RAISES,
)
from monopoly_env.core import in_range
from monopoly_env.engine import agenda, auction, building, mortgage, players, rent, tax
from monopoly_env.engine.legal import is_legal
from monopoly_env.engine.liquidation import raisable
from monopoly_env.engine.sets import has
from monopoly_env.engine.step import answer
from monopoly_env.facts.board import (
    GROUP_LOTS,
    GROUP_OF,
    HOTEL,
    MORTGAGE,
    NUM_LOTS,
    NUM_STREETS,
    PRICE,
)
from monopoly_env.game import MAX_PLAYERS, NOBODY, Game, Games
from monopoly_env.kernels import entry, kernel
from monopoly_env.kernels.signatures import Records

# Why an action is illegal.
REASONS: Final = {
    "none": "it is legal, or nobody would expect it to be",
    "another_time": "not at this decision",
    "not_yours": "the lot belongs to another player",
    "group_missing": "the player does not own the whole group",
    "group_mortgaged": "a lot of the group is mortgaged",
    "hotel": "the street has a hotel",
    "build_evenly": "another street of the group has fewer buildings",
    "cash": "the player has too little cash",
    "no_house": "the bank has no house",
    "no_hotel": "the bank has no hotel",
    "sell_evenly": "another street of the group has more buildings",
    "no_houses_for_hotel": "the bank lacks houses to break the hotel into, or the rules forbid it",
    "buildings": "the group has buildings: they are sold first",
    "rules": "the rules do not allow it now",
}
(
    NONE, ANOTHER_TIME, NOT_YOURS, GROUP_MISSING, GROUP_MORTGAGED, HAS_HOTEL, BUILD_EVENLY, CASH,
    NO_HOUSE, NO_HOTEL, SELL_EVENLY, NO_HOUSES_FOR_HOTEL, BUILDINGS, RULES,
) = range(len(REASONS))  # fmt: skip

_FIELDS: Final[list[tuple[str, Any, tuple[int, ...], str]]] = [
    ("cost", np.int32, (NUM_ACTIONS,),
        "dollars that an action costs or brings; of a bid the total; 0 if it has none"),
    ("reason", np.int32, (NUM_ACTIONS,),
        "why an action on the board is illegal, by its place in `REASONS`"),
    ("rent", np.int32, (NUM_LOTS,),
        "what the next visitor of a lot owes, of utilities the multiple of the dice; -1: nothing"),
    ("worth", np.int32, (MAX_PLAYERS,), "total worth of each seat (51)"),
    ("raisable", np.int32, (MAX_PLAYERS,), "cash that each seat could raise, its own included"),
    ("question", np.int32, (2,), "the two numbers of the open question on the agenda"),
    ("bid_base", np.int32, (), "in an auction: what the player to move adds its raise to"),
    ("bid_limit", np.int32, (), "in an auction: the highest bid of the player to move"),
]  # fmt: skip
DERIVED: Final = np.dtype((np.record, [(name, kind, shape) for name, kind, shape, _ in _FIELDS]))
MEANING: Final = {name: meaning for name, *_, meaning in _FIELDS}

Derived: TypeAlias = Annotated[NDArray[Any], Records(DERIVED)]


def derive(game: Game) -> Any:
    """What follows from a sound record.

    Returns:
        A record of the dtype `DERIVED`.

    Raises:
        PositionError: A number of the record is out of its range.
    """
    batch, found = in_range(game), np.zeros(1, DERIVED)
    write_derived(batch, batch.copy(), found)
    return found[0]


@entry
def write_derived(games: Games, scratch: Games, derived: Derived) -> None:
    """Write what follows from the first game.

    Args:
        games: The game, sound.
        scratch: One record, which is overwritten.
        derived: (1,) zeros.
    """
    game, found = games[0], derived[0]
    for seat in range(game.num_players):
        found.worth[seat] = players.total_worth(game, seat)
        if game.place[seat] == 0:
            found.raisable[seat] = raisable(game, seat)
    for lot in range(NUM_LOTS):
        owner = players.owner_of(game, lot)
        found.rent[lot] = -1
        if owner != NOBODY and not has(game.mortgaged, lot):
            found.rent[lot] = rent.ordinary_rent(game, owner, lot, 1)
    _write_costs(game, scratch, found)
    if game.decision != agenda.OVER:
        top = int(game.depth) - 1
        found.question[0], found.question[1] = game.agenda[top, 2], game.agenda[top, 3]
        _write_question(game, found)
        _write_reasons(game, found)


@kernel
def _write_costs(game: Game, scratch: Games, found: Any) -> None:
    """Costs on the board, which do not depend on the question."""
    for lot in range(NUM_LOTS):
        found.cost[A_MORTGAGE + lot] = MORTGAGE[game.rules.board, lot]
        found.cost[A_UNMORTGAGE + lot] = mortgage.lifting_cost(game, lot)
    for lot in range(NUM_STREETS):
        found.cost[A_BUILD + lot] = building.building_cost(game, lot)
        if is_legal(game, A_SELL + lot):
            scratch[0] = game
            answer(scratch[0], A_SELL + lot)
            seat = int(game.player)
            found.cost[A_SELL + lot] = int(scratch[0].cash[seat]) - int(game.cash[seat])
    found.cost[A_JAIL] = game.rules.jail_fine
    for note in range(len(NOTES)):
        found.cost[A_CASH + 1 + note] = NOTES[note]
        found.cost[A_CASH + 1 + len(NOTES) + note] = NOTES[note]


@kernel
def _write_question(game: Game, found: Any) -> None:
    """Limits and costs of the open question."""
    seat, decision, first = int(game.player), int(game.decision), int(found.question[0])
    if decision == agenda.BUY:
        found.cost[A_BUY + 1] = PRICE[game.rules.board, first]
    elif decision == agenda.TAX:
        found.cost[A_CHOICE + tax.FLAT] = tax.FLAT_TAX
        found.cost[A_CHOICE + tax.TENTH] = tax.tenth(game, seat)
    elif decision == agenda.FINE_OR_CHANCE:
        found.cost[A_CHOICE] = first
    elif decision == agenda.TAKEOVER:
        found.cost[A_CHOICE + mortgage.LIFT] = mortgage.principal(game, first)
    elif decision == agenda.PLACE:
        for lot in range(NUM_STREETS):
            found.cost[A_BUILD + lot] = 0  # it is paid for
    elif decision in (agenda.BID, agenda.SEALED_BID):
        found.bid_limit = auction.limit(game, seat)
        found.bid_base = auction.raise_base(game, seat)
        if decision == agenda.SEALED_BID:
            found.bid_base = game.sealed[seat]
        for i in range(len(RAISES)):
            if is_legal(game, A_BID + 1 + i):
                found.cost[A_BID + 1 + i] = found.bid_base + RAISES[i]


@kernel
def _write_reasons(game: Game, found: Any) -> None:
    """Why actions on the lots of the player to move, and building on others' lots, are illegal."""
    seat = int(game.player)
    if game.decision == agenda.BUY and not is_legal(game, A_BUY + 1):
        found.reason[A_BUY + 1] = CASH
    for lot in range(NUM_LOTS):
        owner, street = players.owner_of(game, lot), lot < NUM_STREETS
        if owner == NOBODY:
            continue
        if owner != seat:
            if street and game.decision == agenda.WINDOW:
                found.reason[A_BUILD + lot] = NOT_YOURS
            continue
        if street and not is_legal(game, A_BUILD + lot):
            found.reason[A_BUILD + lot] = _no_building(game, lot, int(found.cost[A_BUILD + lot]))
        if street and game.level[lot] > 0 and not is_legal(game, A_SELL + lot):
            found.reason[A_SELL + lot] = _no_sale(game, lot)
        if has(game.mortgaged, lot):
            if not is_legal(game, A_UNMORTGAGE + lot):
                at_turn = game.decision == agenda.WINDOW
                found.reason[A_UNMORTGAGE + lot] = CASH if at_turn else ANOTHER_TIME
        elif not is_legal(game, A_MORTGAGE + lot):
            found.reason[A_MORTGAGE + lot] = _no_mortgage(game, lot)


@kernel
def _no_building(game: Game, lot: int, cost: int) -> int:
    seat, group = int(game.player), int(GROUP_OF[lot])
    lots = int(GROUP_LOTS[group])
    if game.decision not in (agenda.WINDOW, agenda.PLACE):
        return ANOTHER_TIME
    if lots & ~int(game.lots[seat]):
        return GROUP_MISSING
    if lots & int(game.mortgaged):
        return GROUP_MORTGAGED
    if game.level[lot] == HOTEL:
        return HAS_HOTEL
    if game.level[lot] > building.lowest_level(game, group):
        return BUILD_EVENLY
    if cost > game.cash[seat]:
        return CASH
    if game.level[lot] >= game.rules.hotel_after:
        return RULES if game.hotels else NO_HOTEL
    return RULES if game.houses else NO_HOUSE


@kernel
def _raises_cash(game: Game) -> bool:
    return game.decision in (agenda.WINDOW, agenda.DEBT, agenda.BUY, agenda.TAKEOVER)


@kernel
def _no_sale(game: Game, lot: int) -> int:
    if not _raises_cash(game):
        return ANOTHER_TIME
    if game.level[lot] < building.highest_level(game, int(GROUP_OF[lot])):
        return SELL_EVENLY
    return NO_HOUSES_FOR_HOTEL


@kernel
def _no_mortgage(game: Game, lot: int) -> int:
    if not _raises_cash(game):
        return ANOTHER_TIME
    if lot < NUM_STREETS and building.highest_level(game, int(GROUP_OF[lot])) > 0:
        return BUILDINGS
    return RULES
