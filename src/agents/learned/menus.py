"""The offers that a player may make: the packages of its menus, and the prices of a package.

A menu lists the packages that promise most by `expert`'s formulas (`packages`), then those with the
best state for the maker by the value network (`valued`). A package in both lists is chosen by its
later place.

A menu takes ten times as long as the rest of an observation, so it is computed once for the open
choices, the observation, the picks that follow and the recorded data.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.learned.packages import ASKED, FIELDS, LENT, PROMISE, write_packages
from agents.learned.prices import NUM_PRICES, write_prices
from agents.learned.valued import is_asked_now, share_without, write_rises, write_valued
from agents.players.vocabulary.offers import may_offer_to
from agents.values.saved import make
from monopoly_env.engine import agenda
from monopoly_env.game import MAX_PLAYERS, NOBODY, Game
from monopoly_env.kernels import kernel

_AT_LIMIT: Final = 10  # the best at the partner's limit
_AT_LIST: Final = 6  # the best of the others at list prices
NUM_VALUED: Final = 8  # the best by the value network
# The first place of each kind
BEST_AT_LIMIT, BEST_AT_LIST, BEST_VALUED = 0, _AT_LIMIT, _AT_LIMIT + _AT_LIST
NUM_PACKAGES: Final = BEST_VALUED + NUM_VALUED
NO_PACKAGE: Final = -1

NETWORK: Final = make("best").params  # the value network


@kernel
def write_menu(game: Game, maker: int, partner: int, menu: Any) -> None:
    """Write the packages that a player may offer to another.

    Args:
        game: The game.
        maker: The seat that makes the offer.
        partner: The seat that gets it.
        menu: (NUM_PACKAGES, FIELDS) float64, filled; zeros in free places.
    """
    write_packages(game, maker, partner, menu[:BEST_VALUED], _AT_LIMIT, False)
    if is_asked_now(game, maker):
        write_valued(
            game, maker, partner, NETWORK, share_without(game, maker, NETWORK), menu[BEST_VALUED:]
        )
    else:
        menu[BEST_VALUED:] = 0.0


@kernel
def find_place(menu: Any, ask: int, give: int) -> int:
    """The last place of the package of exactly these lots, by which it is chosen, or NO_PACKAGE."""
    place = NUM_PACKAGES - 1
    while place >= 0 and (
        menu[place, ASKED] != ask or menu[place, LENT] != give or menu[place, PROMISE] <= 0.0
    ):
        place -= 1
    return place


@kernel
def is_chosen_by(menu: Any, place: int) -> bool:
    """Whether a place holds a package that no later place holds."""
    return bool(
        menu[place, PROMISE] > 0.0
        and find_place(menu, int(menu[place, ASKED]), int(menu[place, LENT])) == place
    )


class OfferMenus(NamedTuple):
    """The packages and prices of a decision.

    Attributes:
        packages: (MAX_PLAYERS, NUM_PACKAGES, FIELDS) float64, the last menu for each partner.
        maker: (MAX_PLAYERS,) int64, the seat that this menu is valid for, or NOBODY.
        prices: (NUM_PRICES,) int64, the prices of the last offer whose goods were picked.
        limits: (2,) float64, the lowest prices that `expert` and `expert/bargaining` would take for
            these goods.
        rises: (NUM_PRICES, 2) float64, the change of the maker's and of the partner's share of the
            win at each price.
    """

    packages: NDArray[np.float64]
    maker: NDArray[np.int64]
    prices: NDArray[np.int64]
    limits: NDArray[np.float64]
    rises: NDArray[np.float64]


@kernel
def new_menus() -> OfferMenus:
    """Empty menus."""
    menus = np.empty((MAX_PLAYERS, NUM_PACKAGES, FIELDS))
    prices = np.empty(NUM_PRICES, np.int64)
    rises = np.empty((NUM_PRICES, 2))
    return OfferMenus(menus, np.full(MAX_PLAYERS, NOBODY, np.int64), prices, np.empty(2), rises)


@kernel
def clear(menus: OfferMenus) -> None:
    """Mark all menus as invalid: for another game, or a decision without menus."""
    menus.maker[:] = NOBODY


@kernel
def write_menus(game: Game, seat: int, menus: OfferMenus) -> None:
    """Write the packages for each partner or the chosen one, or the prices of the chosen package.

    An offer uses the menu of the window in which it began, so successive decisions of one game must
    share one `menus`.
    """
    if game.decision == agenda.ASK and menus.maker[int(game.offer_to)] != seat:
        write_menu(game, seat, int(game.offer_to), menus.packages[int(game.offer_to)])
    clear(menus)
    if game.decision == agenda.WINDOW or game.decision == agenda.DEBT:
        for partner in range(game.num_players):
            if partner != seat and game.place[partner] == 0 and may_offer_to(game, seat, partner):
                write_menu(game, seat, partner, menus.packages[partner])
                menus.maker[partner] = seat
    elif game.decision == agenda.CASH:
        write_prices(game, menus.prices, menus.limits)
        write_rises(game, menus.prices, NETWORK, menus.rises)


@kernel
def menus_of(game: Game, seat: int) -> OfferMenus:
    """The menus of a seat at a single decision."""
    menus = new_menus()
    write_menus(game, seat, menus)
    return menus
