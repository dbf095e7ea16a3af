"""The menu of packages: what a learned agent may offer, apart from the money.

Places for the packages that promise most by `expert`'s sums come first (`packages`), then places
for those after which a value of states likes the maker's state best (`valued`). A package that
stands in both is chosen by the later place.
"""

from __future__ import annotations

from typing import Any, Final

from agents.learned.packages import ASKED, LENT, PROMISE, write_packages
from agents.learned.valued import is_asked_now, share_without, write_valued
from agents.values.saved import make
from monopoly_env.game import Game
from monopoly_env.kernels import kernel

_AT_LIMIT: Final = 10  # places for the best at the partner's limit
_AT_LIST: Final = 6  # places for the best of the others at list prices
NUM_VALUED: Final = 8  # places for the best by the value of states
# The first places of each kind
BEST_AT_LIMIT, BEST_AT_LIST, BEST_VALUED = 0, _AT_LIMIT, _AT_LIMIT + _AT_LIST
NUM_PACKAGES: Final = BEST_VALUED + NUM_VALUED
NO_PACKAGE: Final = -1

NETWORK: Final = make("best").params  # the value of states that is asked


@kernel
def write_menu(game: Game, maker: int, partner: int, menu: Any) -> None:
    """Write the packages that a player may offer to another.

    Args:
        game: The game.
        maker: The seat that makes the offer.
        partner: The seat that gets it.
        menu: (NUM_PACKAGES, FIELDS) float64, filled; zeros in the places that are free.
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
    """The place by which the package that is exactly these lots is chosen, the last one.

    NO_PACKAGE if it is not on the menu.
    """
    place = NUM_PACKAGES - 1
    while place >= 0 and (
        menu[place, ASKED] != ask or menu[place, LENT] != give or menu[place, PROMISE] <= 0.0
    ):
        place -= 1
    return place


@kernel
def is_chosen_by(menu: Any, place: int) -> bool:
    """Whether there is a package in a place, and it stands in no later one."""
    return bool(
        menu[place, PROMISE] > 0.0
        and find_place(menu, int(menu[place, ASKED]), int(menu[place, LENT])) == place
    )
