"""Exchanges valued by the value network: the best packages, and the effect of each price.

`expert` judges an exchange by formulas of worth, which know little of the use of cash and of the
effect of a deal on other players. The network of `agents.values` predicts the winner. It ranks the
packages that promise most by the formulas by the state after them, at the lowest price that
`expert` would take in the partner's place.

That costs a hundred times the formulas, so it happens every third round only, in a window of the
turn, for the first offer. The packages on the menu of an open offer are valued at the limit of
`expert/bargaining`, the offer at each possible price, and a received offer when it is answered.
With two players left the network is not used: one gains what the other loses, and the difference is
mostly the network's error.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.learned.packages import (
    ASKED,
    FIELDS,
    LENT,
    PROMISE,
    RATED_AT,
    WINS,
    make_room,
    write_packages,
)
from agents.learned.prices import NO_PRICE, bargainers_limit, partners_limit
from agents.players.vocabulary import offers
from agents.values.features import MOST_PLAYERS
from agents.values.network import write_by_network
from monopoly_env.engine import agenda, trade
from monopoly_env.engine.players import solvent_seats
from monopoly_env.engine.sets import size
from monopoly_env.game import GAME, Game, Games
from monopoly_env.kernels import kernel

_AT_LIMIT: Final = 12  # packages valued for each partner, the best at its limit
_AT_LIST: Final = 4  # and the best of the others at list prices
_PAUSE: Final = 3  # rounds between valuations
_FEWEST: Final = 3  # players left


@kernel
def is_asked_now(game: Game, maker: int) -> bool:
    """Whether the value network ranks packages now, for an offer that is open or may be begun."""
    begun = _is_begun(game)
    # A debt allows no search for the best deal
    question = agenda.below(game) if begun else int(game.decision)
    if (
        question != agenda.WINDOW
        or game.offers[maker] != begun
        or game.rounds % _PAUSE
        or game.rules.trade != offers.OFFICIAL
    ):
        return False
    return _can_judge(game)


@kernel
def _can_judge(game: Game) -> bool:
    """Whether the value network's differences exceed its error."""
    return bool(game.num_players <= MOST_PLAYERS and size(solvent_seats(game)) >= _FEWEST)


@kernel
def share_without(game: Game, maker: int, network: Any) -> float:
    """The maker's share of the win without an offer; `network` is the row of the value network."""
    scratch, shares = np.empty(1, GAME), np.empty(int(game.num_players))
    _copy_before_offer(game, maker, scratch)
    _write_shares(scratch, network, shares)
    return float(shares[maker])


@kernel
def write_valued(
    game: Game, maker: int, partner: int, network: Any, without: float, table: Any
) -> None:
    """Write the packages that raise the maker's share of the win most, the best first.

    Args:
        game: The game.
        maker: The seat that makes the offer.
        partner: The seat that gets it.
        network: The row of the value network.
        without: The maker's share of the win without an offer.
        table: (N, FIELDS) float64, filled; a price is the partner's limit.
    """
    table[:] = 0.0
    rated = np.empty((_AT_LIMIT + _AT_LIST, FIELDS))
    scratch = np.empty(1, GAME)
    shares = np.empty(int(game.num_players))
    write_packages(game, maker, partner, rated, _AT_LIMIT, True)
    for place in range(len(rated)):
        row = rated[place]
        ask, give = int(row[ASKED]), int(row[LENT])
        price = partners_limit(game, maker, partner, ask, give) if row[PROMISE] > 0.0 else np.inf
        if np.isfinite(price):
            _write_shares_after(
                game, maker, partner, ask, give, int(price), network, scratch, shares
            )
            row[RATED_AT], row[WINS] = price, shares[maker] - without
            if row[WINS] > table[-1, WINS]:
                table[make_room(table, WINS, row[WINS])] = row


@kernel
def write_bargains(game: Game, menu: Any, network: Any, rises: Any) -> None:
    """Write the rise of the maker's share of the win by each package at a bargainer's limit.

    Args:
        game: A game with an open offer whose goods are not picked.
        menu: (N, FIELDS) float64, its packages.
        network: The row of the value network.
        rises: (N,) float64, filled; zeros without a price or a value.
    """
    rises[:] = 0.0
    if not _can_judge(game):
        return
    maker, partner = int(game.offer_from), int(game.offer_to)
    without = share_without(game, maker, network)
    scratch = np.empty(1, GAME)
    shares = np.empty(int(game.num_players))
    for place in range(len(menu)):
        ask, give = int(menu[place, ASKED]), int(menu[place, LENT])
        price = (
            bargainers_limit(game, maker, partner, ask, give)
            if menu[place, PROMISE] > 0.0
            else np.inf
        )
        if np.isfinite(price):
            _write_shares_after(
                game, maker, partner, ask, give, int(price), network, scratch, shares
            )
            rises[place] = shares[maker] - without


@kernel
def write_rises(game: Game, prices: Any, network: Any, rises: Any) -> None:
    """Write the rise of both sides' shares of the win by the open offer, at each price.

    Args:
        game: A game with an open offer whose goods are picked.
        prices: (N,) dollars that the maker gives, or NO_PRICE.
        network: The row of the value network.
        rises: (N, 2) float64, filled: the maker's and the partner's; zeros without a price or a
            value.
    """
    rises[:] = 0.0
    if not _can_judge(game):
        return
    maker = int(game.offer_from)
    partner = int(game.offer_to)
    ask = int(game.offer_ask)
    give = int(game.offer_give)
    scratch = np.empty(1, GAME)
    before = np.empty(int(game.num_players))
    after = np.empty(int(game.num_players))
    _copy_before_offer(game, maker, scratch)
    _write_shares(scratch, network, before)
    for number in range(len(prices)):
        if prices[number] != NO_PRICE:
            _write_shares_after(
                game, maker, partner, ask, give, int(prices[number]), network, scratch, after
            )
            rises[number, 0] = after[maker] - before[maker]
            rises[number, 1] = after[partner] - before[partner]


@kernel
def _is_begun(game: Game) -> bool:
    """Whether an offer is open."""
    return bool(agenda.ASK <= game.decision <= agenda.REPLY)


@kernel
def _copy_before_offer(game: Game, maker: int, scratch: Games) -> None:
    """Copy the game, back in the window before the open offer: values depend on the decision."""
    scratch[0] = game
    copy = scratch[0]
    if _is_begun(copy):
        agenda.pop(copy)
    trade.close_offer(copy)
    copy.decision, copy.player = agenda.WINDOW, maker


@kernel
def _write_shares_after(
    game: Game,
    maker: int,
    partner: int,
    ask: int,
    give: int,
    price: int,
    network: Any,
    scratch: Games,
    shares: Any,
) -> None:
    """Value the state after an exchange."""
    _copy_before_offer(game, maker, scratch)
    offers.exchange(scratch[0], partner, ask, give, price)
    _write_shares(scratch, network, shares)


@kernel
def _write_shares(games: Games, network: Any, shares: Any) -> None:
    """Value the first game; an array, since a record does not keep its array alive."""
    write_by_network(games[0], network, shares)
