"""`friedman`: a cautious buyer that keeps enough cash for the highest rent it could owe, and at least 200 dollars.

With the rest it buys every lot it lands on, lifts mortgages, and builds where a dollar adds the most rent. It never bids, never
makes or accepts an offer, and stays in jail until it must leave. The published simulator says no more about this player; it pays
debts like the other families here, by giving up what is missed least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agents.players.vocabulary import habits, offers
from agents.players.vocabulary.parameters import DOLLARS, RATIO, Parameters, family, parameter
from agents.players.vocabulary.reading import NO_LOT, asked_lot, cheapest, legal, price, worst_rent
from monopoly_env.actions import A_BID, A_BUILD, A_BUY, A_REPLY, A_TURN, A_UNMORTGAGE
from monopoly_env.board import NUM_LOTS, NUM_STREETS
from monopoly_env.engine import agenda, mortgage
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel


@dataclass(frozen=True)
class Friedman(Parameters):
    """Parameters of the policy, with the reason for each value."""

    reserve: float = parameter(200, 0, 2000, DOLLARS)
    """kept while nobody has built: as much as one pass of GO brings"""
    rents: float = parameter(1, 0, 10, RATIO)
    """times the highest rent it could owe, kept if that is more: no single rent forces it to
    sell"""


AT: Final = Friedman.columns()


@kernel
def _kept(game: Game, seat: int, params: Row) -> float:
    """The dollars that are not spent."""
    return max(params[AT.reserve], params[AT.rents] * worst_rent(game, seat))


@kernel
def _window(game: Game, seat: int, params: Row) -> int:
    cash = float(game.cash[seat])
    streets, mortgaged = legal(game, A_BUILD, NUM_STREETS), legal(game, A_UNMORTGAGE, NUM_LOTS)
    if (streets | mortgaged) == 0 or cash <= params[AT.reserve]:
        return A_TURN
    funds = cash - _kept(game, seat, params)
    if mortgaged:
        lot = cheapest(game, mortgaged)
        if mortgage.lifting_cost(game, lot) <= funds:
            return A_UNMORTGAGE + lot
    if streets:
        street = habits.best_building(game, streets, funds)
        if street != NO_LOT:
            return A_BUILD + street
    return A_TURN


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW:
        return _window(game, seat, params)
    if decision == agenda.BUY:
        affordable = legal(game, A_BUY + 1, 1) and int(game.cash[seat]) - price(game, asked_lot(game)) >= _kept(game, seat, params)
        return A_BUY + 1 if affordable else A_BUY
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return A_BID
    if decision == agenda.JAIL:
        return habits.answer_jail(game, False)
    if agenda.ASK <= decision <= agenda.CASH:
        return offers.compose(game, memory)
    if decision == agenda.REPLY:
        return A_REPLY
    if decision == agenda.DEBT:
        return habits.raise_cash(game)
    if decision == agenda.TAKEOVER:
        kept = _kept(game, seat, params)
        return habits.take_over(game, kept, kept)
    return habits.routine(game)


POLICIES: Final = {"friedman": family("friedman", _play, Friedman)}
