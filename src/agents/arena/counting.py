"""Statistics of games, counted while they are played: `STATISTICS`, and kernels that count them.

`step_counting` carries out an action by the engine's own `answer` and `settle_one`, and compares
the record before and after each; the engine itself counts nothing. It stops before a throw, which
the loop carries out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from monopoly_env.actions import (
    A_BUILD,
    A_BUY,
    A_CASH,
    A_REPLY,
    A_SELL,
    A_TURN,
    HEAD_NAMES,
    HEAD_OF,
    NUM_ACTIONS,
)
from monopoly_env.engine import agenda
from monopoly_env.engine.building import steps_of
from monopoly_env.engine.players import lots_worth, score
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.engine.step import answer, settle_one
from monopoly_env.engine.trade import ACCEPT
from monopoly_env.facts.board import (
    ALL_LOTS,
    GROUP_LOTS,
    GROUP_OF,
    GROUPS,
    HOUSE_PRICE,
    NUM_GROUPS,
    NUM_LOTS,
    NUM_STREETS,
)
from monopoly_env.game import MAX_PLAYERS, NOBODY, Game
from monopoly_env.kernels import kernel


@dataclass(frozen=True)
class Statistic:
    """A quantity that is counted.

    Attributes:
        name: The field of the record, and the first part of its columns' names in reports.
        unit: The unit of its mean.
        doc: Its definition.
        dtype: Its type in the record.
        parts: The names of its elements, if it is an array.
    """

    name: str
    unit: str
    doc: str
    dtype: str = "i4"
    parts: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns in reports: its own name, or one for each part."""
        return tuple(f"{self.name}_{part}" for part in self.parts) or (self.name,)


# Counted for each seat and game. The small types suffice: a lot leaves the bank at most 8 times.
STATISTICS: Final = (
    Statistic("bankrupt", "share of games", "went bankrupt", "u1"),
    Statistic(
        "worth",
        "dollars",
        "at the end: cash, printed prices of the lots, purchase prices of the own buildings",
    ),
    Statistic("cash", "dollars", "at the end"),
    Statistic("lots", "lots", "at the end", "u1"),
    Statistic(
        "groups",
        "groups",
        "most complete groups held at once, railroads and utilities included",
        "u1",
    ),
    Statistic("buildings", "buildings", "bought: houses, and hotels as one building more"),
    Statistic(
        "rent_paid",
        "dollars",
        "rent paid in full; what a creditor gets from a bankrupt estate is not rent",
    ),
    Statistic("rent_received", "dollars", "rent received in full"),
    Statistic("offers", "offers", "finished offers put to a partner, counter-offers included"),
    Statistic("trades", "trades", "concluded, whoever proposed them"),
    Statistic(
        "purchases",
        "lots",
        "bought from the bank, at the printed price or by auction, by group",
        "u1",
        GROUPS,
    ),
    Statistic("decisions", "decisions", "made, by head of the action", "i4", HEAD_NAMES),
)
# Counted per game.
GAME_STATISTICS: Final = (
    Statistic("turns", "turns", "of all players together"),
    Statistic("choices", "decisions", "made by all players"),
    Statistic("trades", "trades", "concluded"),
    Statistic(
        "lot_moves", "trades", "that moved the same lot, for the lot that was traded most often"
    ),
)


def _fields(
    statistics: tuple[Statistic, ...], shape: tuple[int, ...] = ()
) -> list[tuple[str, str, tuple[int, ...]]]:
    """Fields of a record, widest first."""
    ordered = sorted(statistics, key=lambda statistic: -np.dtype(statistic.dtype).itemsize)
    return [(s.name, s.dtype, (*shape, len(s.parts)) if s.parts else shape) for s in ordered]


SEAT_COUNTS: Final = np.dtype(_fields(STATISTICS))
GAME_COUNTS: Final = np.dtype(_fields(GAME_STATISTICS))
# The record of counts, one per game.
COUNTS: Final = np.dtype(
    (
        np.record,
        [
            ("game", np.dtype((np.record, _fields(GAME_STATISTICS)))),
            ("moves", "i4", (NUM_LOTS,)),  # trades of each lot
            # The final score that decides a capped game under the rules (dollars)
            ("score", "i4", (MAX_PLAYERS,)),
            *_fields(STATISTICS, (MAX_PLAYERS,)),
        ],
    )
)

# Tasks that may move rent, ruin a player, or give it a lot or a building without a decision.
_WATCHED: Final = np.isin(
    np.arange(agenda.LAST_TASK + 1),
    [
        agenda.PLACE, agenda.DEBT, agenda.BEGIN_TURN, agenda.CHARGE, agenda.TAKE, agenda.PAY_EACH,
        agenda.COLLECT_EACH, agenda.SOLD,
    ],
)  # fmt: skip
_NOTED: Final = np.zeros(NUM_ACTIONS, np.bool_)
_NOTED[[A_CASH, A_REPLY + ACCEPT, A_BUY + 1, *range(A_BUILD, A_SELL)]] = True


@kernel
def begin_counting(game: Game, counts: Any) -> None:
    """Count the possessions at the first decision of a game: the rules may deal lots."""
    for seat in range(game.num_players):
        _count_groups(game, seat, counts)


@kernel
def step_counting(game: Game, action: int, counts: Any) -> None:
    """Carry out a legal action, settle up to the next throw or real choice, and count events."""
    seat = int(game.player)
    counts.decisions[seat, HEAD_OF[action]] += 1
    if _NOTED[action] or game.decision == agenda.DEBT:
        _answer_noted(game, action, counts)
    else:
        answer(game, action)
    settle_counting(game, counts)


@kernel
def settle_counting(game: Game, counts: Any) -> None:
    """Settle all up to the next throw or real choice, and count events."""
    goes_on = True
    while goes_on and game.depth > 0 and not throws_next(game):
        if _WATCHED[game.agenda[int(game.depth) - 1, 0]]:
            goes_on = _settle_counting_one(game, counts)
        else:
            goes_on = settle_one(game)


@kernel
def throws_next(game: Game) -> bool:
    """Whether the next task of the agenda is a throw."""
    return (
        game.depth > 0 and game.fault == 0 and game.agenda[int(game.depth) - 1, 0] == agenda.THROW
    )


@kernel
def _answer_noted(game: Game, action: int, counts: Any) -> None:
    top = int(game.depth) - 1
    question, seat = int(game.agenda[top, 0]), int(game.agenda[top, 1])
    first, second = int(game.agenda[top, 2]), int(game.agenda[top, 3])
    building, partner = A_BUILD <= action < A_SELL, int(game.offer_from)
    before = _pieces(game) if building else 0
    if action == A_CASH:
        counts.offers[partner] += 1
    elif action == A_REPLY + ACCEPT:
        _count_trade(game, counts)
    answer(game, action)
    if building:
        counts.buildings[seat] += _pieces(game) - before
    elif action == A_REPLY + ACCEPT:
        _count_groups(game, seat, counts)
        _count_groups(game, partner, counts)
    elif action == A_BUY + 1:
        _count_purchase(game, seat, first, counts)
    elif action == A_TURN and question == agenda.DEBT:
        _count_ruin(game, seat, second, counts)


@kernel
def _settle_counting_one(game: Game, counts: Any) -> bool:
    """Settle the top task as the engine does, and count its effects."""
    top = int(game.depth) - 1
    task, seat = int(game.agenda[top, 0]), int(game.agenda[top, 1])
    first, second = int(game.agenda[top, 2]), int(game.agenda[top, 3])
    if game.place[seat] != 0:
        return settle_one(game)
    creditor, received, before = _landlord(game, task, second), 0, 0
    if creditor != NOBODY:
        received = int(game.cash[creditor])
    elif task == agenda.PLACE:
        before = _pieces(game)
    goes_on = settle_one(game)
    if game.place[seat] != 0:
        _count_ruin(
            game, seat, second if task == agenda.CHARGE or task == agenda.DEBT else NOBODY, counts
        )
    elif creditor != NOBODY:
        rent = int(game.cash[creditor]) - received
        counts.rent_received[creditor] += rent
        counts.rent_paid[seat] += rent
    elif task == agenda.SOLD:
        _count_purchase(game, seat, first, counts)
    elif task == agenda.PLACE:  # the only street that the piece could go to
        counts.buildings[seat] += _pieces(game) - before
    return goes_on


@kernel
def _landlord(game: Game, task: int, creditor: int) -> int:
    """The seat to which the top task pays rent, or NOBODY.

    Debts between players are rents or come from a card. A card's task, for its next payer or payee,
    is right below the debt.
    """
    if creditor < 0 or (task != agenda.CHARGE and task != agenda.TAKE):
        return NOBODY
    below = agenda.below(game)
    return NOBODY if below == agenda.PAY_EACH or below == agenda.COLLECT_EACH else creditor


@kernel
def _pieces(game: Game) -> int:
    """Buildings on the board."""
    count = 0
    for street in range(NUM_STREETS):
        if game.level[street] > 0:
            count += steps_of(game, int(game.level[street]))
    return count


@kernel
def _count_purchase(game: Game, seat: int, lot: int, counts: Any) -> None:
    counts.purchases[seat, GROUP_OF[lot]] += 1
    _count_groups(game, seat, counts)


@kernel
def _count_ruin(game: Game, seat: int, creditor: int, counts: Any) -> None:
    counts.bankrupt[seat] = 1
    if creditor >= 0:
        _count_groups(game, creditor, counts)


@kernel
def _count_groups(game: Game, seat: int, counts: Any) -> None:
    owned, complete = int(game.lots[seat]), 0
    for group in range(NUM_GROUPS):
        if owned & int(GROUP_LOTS[group]) == int(GROUP_LOTS[group]):
            complete += 1
    counts.groups[seat] = max(int(counts.groups[seat]), complete)


@kernel
def _count_trade(game: Game, counts: Any) -> None:
    """Count an accepted offer, before it is carried out and cleared."""
    counts.game.trades += 1
    counts.trades[game.offer_from] += 1
    counts.trades[game.offer_to] += 1
    lots = (int(game.offer_ask) | int(game.offer_give)) & ALL_LOTS
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        counts.moves[lot] += 1
        counts.game.lot_moves = max(int(counts.game.lot_moves), int(counts.moves[lot]))


@kernel
def take_stock(game: Game, counts: Any) -> None:
    """Record the final possessions of each player."""
    counts.game.turns = game.turns
    counts.game.choices = counts.decisions.sum()
    for seat in range(game.num_players):
        counts.cash[seat] = game.cash[seat]
        counts.lots[seat] = size(game.lots[seat])
        counts.worth[seat] = net_worth(game, seat)
        counts.score[seat] = score(game, seat)


@kernel
def net_worth(game: Game, seat: int) -> int:
    """The net worth of (51): cash, printed prices of lots, purchase prices of buildings (in $)."""
    worth = int(game.cash[seat]) + lots_worth(game, seat, 100)
    for street in range(NUM_STREETS):
        if game.level[street] > 0 and has(game.lots[seat], street):
            worth += steps_of(game, int(game.level[street])) * int(
                HOUSE_PRICE[game.rules.board, street]
            )
    return worth
