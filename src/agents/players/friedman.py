"""`friedman`: a cautious buyer that keeps cash for the highest rent it could owe.

With the rest it buys every lot it lands on, lifts mortgages, and builds where a dollar adds the
most rent. It never bids, never makes or accepts an offer, and stays in jail until it must leave.
The published simulator says no more; debts are paid by giving up what is missed least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agents.players.vocabulary import habits, reading
from agents.players.vocabulary.parameters import Parameters, named, parameter
from agents.players.vocabulary.reading import asked_lot, cheapest, price, worst_rent
from agents.players.vocabulary.skeleton import decide
from monopoly_env.actions import A_BUY, A_TURN, A_UNMORTGAGE
from monopoly_env.engine import mortgage
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel


@dataclass(frozen=True)
class Friedman(Parameters):
    """Parameters of the policy."""

    reserve: float = parameter(200, 0, 2000, "dollars")
    """kept while nobody has built: as much as one pass of GO brings"""
    rents: float = parameter(1, 0, 10, "ratio")
    """times the highest rent it could owe, kept if that is more: no single rent forces it to
    sell"""


AT: Final = Friedman.columns()


@kernel
def _kept(game: Game, seat: int, params: Row) -> float:
    """The dollars that are not spent."""
    return max(params[AT.reserve], params[AT.rents] * worst_rent(game, seat))


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    cash = float(game.cash[seat])
    streets, mortgaged = reading.buildable(game), reading.liftable(game)
    if (streets | mortgaged) == 0 or cash <= params[AT.reserve]:
        return A_TURN
    funds = cash - _kept(game, seat, params)
    if mortgaged:
        lot = cheapest(game, mortgaged)
        if mortgage.lifting_cost(game, lot) <= funds:
            return A_UNMORTGAGE + lot
    return habits.build_best(game, streets, funds)


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    left = int(game.cash[seat]) - price(game, asked_lot(game))
    return A_BUY + 1 if reading.may_buy(game) and left >= _kept(game, seat, params) else A_BUY


@kernel
def _lifts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    kept = _kept(game, seat, params)
    return habits.lifts_at_once(game, kept, kept)


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    return decide(game, params, memory, window=_window, buy=_buy, lifts=_lifts)


POLICIES: Final = named(_play, Friedman, {"friedman": {}})
