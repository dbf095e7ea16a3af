"""`expert/value`: `expert/bargaining`, but a network chooses the offers, the value of the state after the exchange.

`expert` weighs an exchange by formulas of worth. They know little of what cash is for and of what a deal between two does to the others.
The network of `agents.values` has learned who wins. So the packages that promise most by the formulas, at any price that can be paid,
are valued by it, at the least price that `expert` would take in the partner's place; the one that raises the own share of the win most
is offered. It looks every third round, and not where it made an offer in the same turn. Where two players are left, what one gains the
other loses: what the network sees in an exchange is then mostly its error, and the parent decides alone.

Bids, answers and all else are those of `expert/bargaining`: judged by one value alone, with no margin for what it misses, they lose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.learned.packages import ASKED, FIELDS, LENT, PROMISE, write_packages
from agents.learned.prices import partners_limit
from agents.players.expert import bargainer
from agents.players.vocabulary import offers
from agents.values.features import MOST_PLAYERS
from agents.values.network import write_by_network
from agents.values.saved import make
from monopoly_env.actions import A_ASK, A_TRADE
from monopoly_env.engine import agenda
from monopoly_env.engine.players import solvent_seats
from monopoly_env.engine.sets import size
from monopoly_env.errors import ConfigurationError, nearest, shortened
from monopoly_env.game import GAME, Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import CompiledPolicy, Mask, Policy, Row, policy_kernel

KIND: Final = "trader"
NAME: Final = "expert/value"

_AT_LIMIT: Final = 24  # packages looked at for each partner, the best at its limit
_AT_LIST: Final = 12  # and the best of the others at list prices
_LEAST: Final = 0.002  # of the win, by which a package must raise the own share
_PAUSE: Final = 3  # rounds between two looks
_FEWEST: Final = 3  # players left
_NETWORK: Final = bargainer.BARGAINS + 1  # in the row: the bargainer, then the network, two float32 numbers in each


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    action = int(bargainer.play(game, params[:_NETWORK], memory))
    if game.decision != agenda.WINDOW or A_TRADE <= action < A_ASK or game.num_players > MOST_PLAYERS:
        return action
    if game.offers[game.player] or game.rounds % _PAUSE or game.rules.trade != offers.OFFICIAL or size(solvent_seats(game)) < _FEWEST:
        return action
    return _offer(game, int(game.player), action, params[_NETWORK:].view(np.float32), memory)


@kernel
def _offer(game: Game, seat: int, action: int, network: Any, memory: Row) -> int:
    """Begin the offer that raises the own share most, or return the action."""
    shares, best = np.empty(int(game.num_players)), np.zeros(4, np.int64)
    table, scratch = np.empty((_AT_LIMIT + _AT_LIST, FIELDS)), np.empty(1, GAME)
    high = 0.0
    for partner in range(game.num_players):
        if partner == seat or game.place[partner] or not offers.may_offer_to(game, seat, partner):
            continue
        if high == 0.0:
            write_by_network(game, network, shares)
            high = shares[seat] + _LEAST
        write_packages(game, seat, partner, table, _AT_LIMIT, True)
        for place in range(len(table)):
            if table[place, PROMISE] > 0.0:
                ask, give = int(table[place, ASKED]), int(table[place, LENT])
                price = partners_limit(game, seat, partner, ask, give)
                if np.isfinite(price):
                    scratch[0] = game
                    offers.exchange(scratch[0], partner, ask, give, int(price))
                    write_by_network(scratch[0], network, shares)
                    if shares[seat] > high:
                        high = shares[seat]
                        best[0], best[1], best[2], best[3] = partner, ask, give, int(price)
    if best[1] | best[2] == 0:
        return action
    return int(offers.begin(game, int(best[0]), int(best[1]), int(best[2]), int(best[3]), memory))


class Trader(CompiledPolicy):
    """A bargainer whose offers a value of states chooses."""

    def __init__(self, parent: str = "expert/bargaining", value: str = "best", name: str = KIND) -> None:
        """Make one.

        Args:
            parent: The bargainer that decides all else.
            value: The network of values that chooses offers, at tables of 2 to 4.
            name: What tables call it.

        Raises:
            ConfigurationError: One of them is unknown.
        """
        if parent not in bargainer.POLICIES:
            raise ConfigurationError(f"parent={shortened(parent)} must be a bargainer. {nearest(parent, bargainer.POLICIES)}")
        weights = make(value).params
        padded = np.concatenate([weights, np.zeros(len(weights) % 2, np.float32)])
        self._options = {"parent": parent, "value": value}
        super().__init__(
            name, _play, np.concatenate([bargainer.POLICIES[parent]().params, padded.view(np.float64)]), kind=KIND, reads_mask=False
        )

    def options(self) -> dict[str, Any]:
        """The names of its parts."""
        return self._options

    def arrays(self) -> dict[str, NDArray[Any]]:
        """None: its numbers are those of its parts."""
        return {}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Check that there are none."""
        Policy.set_arrays(self, arrays)


def _make() -> Trader:
    return Trader(name=NAME)


POLICIES: Final = {NAME: _make}
