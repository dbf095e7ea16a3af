"""The action space of a learned agent. Its elements are called choices.

They are the actions of the game, but an offer takes at most three choices: the partner (an action
of the game), the package (`menus`) and the price (`prices`). The picks of the game follow.

    below PACKAGE  actions of the game; picks and counter-offers are never open
    from PACKAGE   packages
    from PRICE     prices

A choice is open if it is legal and may be made here. A raise in an auction is open from a twentieth
of the standing bid: by single dollars, three agents could bid for thousands of decisions. In its
turn a player mortgages only to build, and lifts a mortgage only if that leaves the cash for a
building (`_close_detours`): mortgaging and lifting costs a tenth, too little to be learned, and
networks did both 50 times a game.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.learned import prices
from agents.learned.menus import NUM_PACKAGES, OfferMenus, is_chosen_by
from agents.learned.prices import NO_PRICE, NUM_PRICES
from agents.players.vocabulary.offers import ONE_FOR_ONE
from monopoly_env.actions import A_BID, A_MORTGAGE, A_REPLY, A_UNMORTGAGE, NUM_ACTIONS, RAISES
from monopoly_env.engine import agenda, building, trade
from monopoly_env.engine.mortgage import lifting_cost
from monopoly_env.engine.sets import lowest
from monopoly_env.facts.board import NUM_LOTS
from monopoly_env.game import NOBODY, Game
from monopoly_env.kernels import kernel

PACKAGE: Final = NUM_ACTIONS
PRICE: Final = PACKAGE + NUM_PACKAGES
NUM_CHOICES: Final = PRICE + NUM_PRICES
# [choice] -> a similar one, for choices that players rarely make
SIMILAR: Final = {PRICE + price: PRICE + other for price, other in prices.SIMILAR.items()}
NO_CHOICE: Final = -1

_DOLLARS: Final = np.array(RAISES)
_LEAST_RAISE: Final = 20  # the standing bid divided by this
_COUNTER: Final = A_REPLY + trade.COUNTER


def describe(choice: int) -> str:
    """A package or a price in words; `monopoly_env.actions.describe` has the actions."""
    return prices.describe(choice - PRICE) if choice >= PRICE else f"package {choice - PACKAGE + 1}"


@kernel
def is_asked(game: Game) -> bool:
    """Whether the open decision is a choice, not a pick that follows from an earlier one."""
    if game.decision == agenda.ASK:
        return game.offer_ask == 0
    if game.decision == agenda.GIVE:
        return False
    return game.decision != agenda.CASH or (
        game.offer_last == NOBODY and game.rules.trade != ONE_FOR_ONE
    )


@kernel
def write_open(game: Game, menus: OfferMenus, mask: Any) -> int:
    """Mark the open choices.

    Args:
        game: A game that waits for a choice.
        menus: The menus of its player at this decision.
        mask: (NUM_CHOICES,) bool, filled.

    Returns:
        The number of open choices: 0 where a debtor could only trade, or no package promises gain.
    """
    mask[:] = False
    if game.decision == agenda.ASK:
        for place in range(NUM_PACKAGES):
            mask[PACKAGE + place] = is_chosen_by(menus.packages[int(game.offer_to)], place)
    elif game.decision == agenda.CASH:
        for level in range(NUM_PRICES):
            mask[PRICE + level] = menus.prices[level] != NO_PRICE
    else:
        for action in range(NUM_ACTIONS):
            mask[action] = (int(game.legal[action >> 5]) >> (action & 31)) & 1
        mask[_COUNTER] = False
        if game.decision == agenda.WINDOW:
            _close_detours(game, mask)
        if game.decision == agenda.BID or game.decision == agenda.SEALED_BID:
            bid = (
                int(game.auction_bid)
                if game.decision == agenda.BID
                else int(game.sealed[game.player])
            )
            for level in range(len(RAISES)):
                mask[A_BID + 1 + level] &= _DOLLARS[level] * _LEAST_RAISE >= bid
    count = 0
    for choice in range(NUM_CHOICES):
        count += mask[choice]
    return count


@kernel
def only_open(mask: Any) -> int:
    """The only open choice; NO_CHOICE if none is open."""
    for choice in range(NUM_CHOICES):
        if mask[choice]:
            return choice
    return NO_CHOICE


@kernel
def _close_detours(game: Game, mask: Any) -> None:
    """Close mortgaging and lifting that would undo each other at a cost of a tenth.

    A player mortgages if it can build but has no cash for any building. It lifts a mortgage if it
    can't build, or if the cash for a building is left.
    """
    seat = int(game.player)
    price = _cheapest_building(game, seat)
    cash = int(game.cash[seat])
    if price == NO_PRICE or cash >= price:
        mask[A_MORTGAGE : A_MORTGAGE + NUM_LOTS] = False
    if price != NO_PRICE:
        for lot in range(NUM_LOTS):
            mask[A_UNMORTGAGE + lot] &= cash - lifting_cost(game, lot) >= price


@kernel
def _cheapest_building(game: Game, seat: int) -> int:
    """The price of the cheapest building that a player could place, or NO_PRICE."""
    least, streets = NO_PRICE, building.improvable(game, seat)
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        if building.in_bank(game, building.piece_for(game, street)) > 0:
            price = building.building_cost(game, street)
            least = price if least == NO_PRICE else min(least, price)
    return least
