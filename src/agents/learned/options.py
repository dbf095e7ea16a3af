"""The options of a player who may make an offer: packages and prices.

They are worked out once for all that reads them.

A menu takes ten times as long as the rest of an observation. The open choices, the observation, the
picks that follow and a record of them all need the same one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.learned.menu import NETWORK, NUM_PACKAGES, write_menu
from agents.learned.packages import FIELDS
from agents.learned.prices import NUM_PRICES, write_prices
from agents.learned.valued import write_rises
from agents.players.vocabulary.offers import may_offer_to
from monopoly_env.engine import agenda
from monopoly_env.game import MAX_PLAYERS, NOBODY, Game
from monopoly_env.kernels import kernel


class Options(NamedTuple):
    """The packages and prices of a decision.

    Attributes:
        menus: (MAX_PLAYERS, NUM_PACKAGES, FIELDS) float64, by the partner's seat: the menu of the
            last decision that had one.
        maker: (MAX_PLAYERS,) int64, by the partner's seat: who may begin an offer with this menu
            now; NOBODY: there is none.
        prices: (NUM_PRICES,) int64, those of the last offer whose goods were picked.
        limits: (2,) float64, the fewest dollars that `expert`, and that `expert/bargaining`, would
            take for these goods.
        rises: (NUM_PRICES, 2) float64, by how much it raises the maker's and the partner's share of
            the win at each of them.
    """

    menus: NDArray[np.float64]
    maker: NDArray[np.int64]
    prices: NDArray[np.int64]
    limits: NDArray[np.float64]
    rises: NDArray[np.float64]


@kernel
def new_options() -> Options:
    """Options of which nothing is worked out."""
    menus, prices, rises = (
        np.empty((MAX_PLAYERS, NUM_PACKAGES, FIELDS)),
        np.empty(NUM_PRICES, np.int64),
        np.empty((NUM_PRICES, 2)),
    )
    return Options(menus, np.full(MAX_PLAYERS, NOBODY, np.int64), prices, np.empty(2), rises)


@kernel
def forget(options: Options) -> None:
    """No offer begins with the menus of before.

    It is for another game, or a decision that nothing was worked out for.
    """
    options.maker[:] = NOBODY


@kernel
def work_out(game: Game, seat: int, options: Options) -> None:
    """Work out what a seat may offer.

    That is, in a window or a debt, to each partner; then to the one it has chosen; then at which
    price.

    An offer has the menu of the window in which it began. So use the same options for decisions
    that follow each other in one game.
    """
    if game.decision == agenda.ASK and options.maker[int(game.offer_to)] != seat:
        write_menu(game, seat, int(game.offer_to), options.menus[int(game.offer_to)])
    forget(options)
    if game.decision == agenda.WINDOW or game.decision == agenda.DEBT:
        for partner in range(game.num_players):
            if partner != seat and game.place[partner] == 0 and may_offer_to(game, seat, partner):
                write_menu(game, seat, partner, options.menus[partner])
                options.maker[partner] = seat
    elif game.decision == agenda.CASH:
        write_prices(game, options.prices, options.limits)
        write_rises(game, options.prices, NETWORK, options.rises)


@kernel
def worked_out(game: Game, seat: int) -> Options:
    """What a seat may offer at a decision that stands alone."""
    options = new_options()
    work_out(game, seat, options)
    return options
