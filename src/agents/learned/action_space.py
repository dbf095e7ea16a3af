"""The action space of a learned agent: its choices.

They are the actions of the game, except that an offer takes three choices at most: the partner (an
action of the game), the package (`menus`) and the price (`prices`). The picks of the game follow.

    below PACKAGE the actions of the game; picks and counter-offers are never open
    PACKAGE on    the package
    PRICE on      the price

A choice is open if it is legal, and only where there is something to choose. A raise in an auction
is open if it is a twentieth of the standing bid or more: by single dollars three of them could bid
for thousands of decisions. In its turn a player mortgages only to build, and lifts mortgages only
if that takes no building from it (`_close_detours`): each way costs a tenth, too little to be
learned, and networks went to and fro 50 times a game.
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
# [choice] -> a similar one, for choices that are rarely made
SIMILAR: Final = {PRICE + price: PRICE + other for price, other in prices.SIMILAR.items()}
NO_CHOICE: Final = -1

_DOLLARS: Final = np.array(RAISES)
_NOTICED: Final = 20  # the smallest raise is the bid divided by this
_COUNTER: Final = A_REPLY + trade.COUNTER


def describe(choice: int) -> str:
    """A package or a price in words; `monopoly_env.actions.describe` has the actions."""
    return prices.describe(choice - PRICE) if choice >= PRICE else f"package {choice - PACKAGE + 1}"


@kernel
def is_asked(game: Game) -> bool:
    """Whether the open decision is a choice: not a pick that follows from an earlier one."""
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
        game: It waits for a decision, which is a choice.
        menus: What its player may offer, worked out for this decision.
        mask: (NUM_CHOICES,) bool, filled.

    Returns:
        How many are open; none where a debtor could only trade, or where no package promises
        anything.
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
                mask[A_BID + 1 + level] &= _DOLLARS[level] * _NOTICED >= bid
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
    """Close the ways from a mortgage to its lifting and back, which cost a tenth of the price.

    A player mortgages where it can build and has no cash for any building. It lifts a mortgage
    where it cannot build, or where the cash for a building is left.
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
    """The least price of a building that a player could place, or NO_PRICE."""
    least, streets = NO_PRICE, building.improvable(game, seat)
    while streets:
        street = lowest(streets)
        streets &= streets - 1
        if building.in_bank(game, building.piece_for(game, street)) > 0:
            price = building.building_cost(game, street)
            least = price if least == NO_PRICE else min(least, price)
    return least
