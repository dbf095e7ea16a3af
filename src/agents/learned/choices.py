"""What a learned agent chooses among: the actions of the game, except that an offer takes four choices at most.

The game composes an offer pick by pick. Here it is: to whom (an action of the game), which part of the partner's lots, for which part of
one's own, and at which price (`prices`). A part is all lots of one group or of two, or nothing. The picks follow from that.

    0 to 204    the actions of the game; picks and counter-offers are never open
    ASK on      the part asked for
    GIVE on     the part given
    PRICE on    the price

A choice is open if it is legal, and only where there is something to choose. A raise in an auction is open if it is a twentieth of the
standing bid or more: by single dollars three of them could bid for thousands of decisions.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.learned import prices
from agents.learned.prices import NO_PRICE, NUM_PRICES, write_prices
from agents.players.vocabulary.offers import OFFICIAL, ONE_FOR_ONE
from agents.players.vocabulary.parts import PART_GROUPS, PARTS, groups_of, lots_of
from monopoly_env.actions import A_BID, A_REPLY, NUM_ACTIONS, RAISES
from monopoly_env.board import ALL_LOTS, GROUPS, NUM_GROUPS
from monopoly_env.engine import agenda, trade
from monopoly_env.game import NOBODY, Game
from monopoly_env.kernels import kernel

ASK: Final = NUM_ACTIONS
GIVE: Final = ASK + len(PARTS)
PRICE: Final = GIVE + len(PARTS)
NUM_CHOICES: Final = PRICE + NUM_PRICES
NO_CHOICE: Final = -1

_SINGLES: Final = 1 + NUM_GROUPS  # parts of one group at most
_DOLLARS: Final = np.array(RAISES)
_NOTICED: Final = 20  # the smallest raise is the bid divided by this
_COUNTER: Final = A_REPLY + trade.COUNTER


def describe(choice: int) -> str:
    """A choice in words; those below ASK are told by `monopoly_env.actions.describe`."""
    if choice >= PRICE:
        return prices.describe(choice - PRICE)
    groups = " and ".join(GROUPS[group].replace("_", " ") for group in PARTS[(choice - ASK) % len(PARTS)]) or "nothing"
    return f"{'ask for' if choice < GIVE else 'give'} {groups}"


@kernel
def is_asked(game: Game) -> bool:
    """Whether the open decision is a choice: not a pick that follows from an earlier one."""
    if game.decision == agenda.ASK:
        return game.offer_ask == 0
    if game.decision == agenda.GIVE:
        return game.offer_give == 0
    return game.decision != agenda.CASH or (game.offer_last == NOBODY and game.rules.trade != ONE_FOR_ONE)


@kernel
def part_of(game: Game, giver: int, taker: int, goods: int) -> int:
    """The part that is exactly these goods; NO_CHOICE if there is none."""
    groups = groups_of(goods)
    for part in range(len(PART_GROUPS)):
        if PART_GROUPS[part] == groups:
            return part if lots_of(game, giver, taker, part) == goods else NO_CHOICE
    return NO_CHOICE


@kernel
def _open_parts(game: Game, giver: int, without: int, may_be_nothing: bool, mask: Any) -> None:
    """Mark the parts that a giver has; `without`: the groups that the other side gives."""
    official = game.rules.trade == OFFICIAL
    has = groups_of(trade.tradable(game, giver)) & ~without
    mask[0] = official and may_be_nothing
    for part in range(1, len(PART_GROUPS) if official else _SINGLES):
        mask[part] = int(PART_GROUPS[part]) & ~has == 0


@kernel
def price_at(game: Game, level: int) -> int:
    """The dollars that the maker of the half-made offer gives at a price that is open."""
    dollars = np.empty(NUM_PRICES, np.int64)
    write_prices(game, dollars)
    return int(dollars[level])


@kernel
def price_of(game: Game, cash: int) -> int:
    """The open choice of a price that is nearest to a sum."""
    dollars = np.empty(NUM_PRICES, np.int64)
    write_prices(game, dollars)
    return PRICE + prices.nearest(dollars, cash)


@kernel
def write_open(game: Game, mask: Any) -> int:
    """Mark the open choices.

    Args:
        game: It waits for a decision, which is a choice.
        mask: (NUM_CHOICES,) bool, filled.

    Returns:
        How many are open; none where a debtor could only trade, or where nothing is left to be given.
    """
    mask[:] = False
    if game.decision == agenda.ASK:
        _open_parts(game, int(game.offer_to), 0, trade.tradable(game, int(game.offer_from)) & ALL_LOTS != 0, mask[ASK:GIVE])
    elif game.decision == agenda.GIVE:
        _open_parts(game, int(game.offer_from), groups_of(int(game.offer_ask)), game.offer_ask != 0, mask[GIVE:PRICE])
    elif game.decision == agenda.CASH:
        dollars = np.empty(NUM_PRICES, np.int64)
        write_prices(game, dollars)
        for level in range(NUM_PRICES):
            mask[PRICE + level] = dollars[level] != NO_PRICE
    else:
        for action in range(NUM_ACTIONS):
            mask[action] = (int(game.legal[action >> 5]) >> (action & 31)) & 1
        mask[_COUNTER] = False
        if game.decision == agenda.BID or game.decision == agenda.SEALED_BID:
            bid = int(game.auction_bid) if game.decision == agenda.BID else int(game.sealed[game.player])
            for level in range(len(RAISES)):
                mask[A_BID + 1 + level] &= _DOLLARS[level] * _NOTICED >= bid
    count = 0
    for choice in range(NUM_CHOICES):
        count += mask[choice]
    return count
