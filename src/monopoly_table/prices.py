"""Rents, prices and limits computed by the engine, in dollars."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core
from monopoly_env.actions import A_BUILD, A_JAIL, A_MORTGAGE, A_UNMORTGAGE, NUM_ACTIONS
from monopoly_env.engine import auction, building, mortgage, rent
from monopoly_env.engine.sets import has
from monopoly_env.engine.step import answer, is_legal
from monopoly_env.facts.board import GROUP_OF, MORTGAGE, NUM_LOTS, NUM_STREETS, PRICE, UTILITIES
from monopoly_env.game import Game, Games
from monopoly_env.kernels import entry
from monopoly_env.kernels.signatures import Array1

USUAL_THROW = 7  # the most frequent sum of two dice


@entry
def _write_rents(games: Games, rents: Array1[np.int64]) -> None:
    game = games[0]
    for lot in range(NUM_LOTS):
        rents[lot] = -1
        for seat in range(game.num_players):
            if has(game.lots[seat], lot) and not has(game.mortgaged, lot):
                rents[lot] = rent.ordinary_rent(game, seat, lot, 1)


@entry
def _write_costs(games: Games, costs: Array1[np.int64]) -> None:
    game = games[0]
    for lot in range(NUM_LOTS):
        costs[A_MORTGAGE + lot] = MORTGAGE[game.rules.board, lot]
        costs[A_UNMORTGAGE + lot] = mortgage.lifting_cost(game, lot)
        if lot < NUM_STREETS:
            costs[A_BUILD + lot] = building.building_cost(game, lot)
    costs[A_JAIL] = game.rules.jail_fine


@entry
def _answered(games: Games, action: int) -> None:
    if is_legal(games[0], action):
        answer(games[0], action)


@entry
def _bid_limit(games: Games, seat: int) -> int:
    return auction.limit(games[0], seat)


@entry
def _bid_base(games: Games, seat: int) -> int:
    return auction.raise_base(games[0], seat)


def rents(game: Game) -> list[int | None]:
    """The rent of each lot, or None; the multiple of the dice for utilities."""
    row = np.zeros(NUM_LOTS, np.int64)
    _write_rents(core.batch_of(game), row)
    return [int(dollars) if dollars >= 0 else None for dollars in row]


def visits(game: Game, seat: int) -> int:
    """The total rent of a seat's lots, with utilities at the most frequent throw."""
    owed = rents(game)
    return sum(
        (owed[lot] or 0) * (USUAL_THROW if GROUP_OF[lot] == UTILITIES else 1)
        for lot in range(NUM_LOTS)
        if int(game.lots[seat]) >> lot & 1
    )


def costs(game: Game) -> NDArray[np.int64]:
    """(NUM_ACTIONS,) the dollars that each action costs or brings; 0 if undefined."""
    row = np.zeros(NUM_ACTIONS, np.int64)
    _write_costs(core.batch_of(game), row)
    return row


def price_for_sale(game: Game) -> int:
    """The price of the lot for sale."""
    return int(PRICE[game.rules.board, game.agenda[game.depth - 1, 2]])


def sale(game: Game, action: int) -> int:
    """The proceeds of a sale of buildings."""
    batch: Any = core.batch_of(game).copy()
    _answered(batch, action)
    return int(batch["cash"][0, game.player] - game.cash[game.player])


def bid_limit(game: Game) -> int:
    """The highest possible bid of the player to move in the running auction."""
    return int(_bid_limit(core.batch_of(game), int(game.player)))


def bid_base(game: Game) -> int:
    """The bid to which the player to move adds its raise."""
    return int(_bid_base(core.batch_of(game), int(game.player)))
