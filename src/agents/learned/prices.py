"""The prices that an offer may have: a premium over the printed prices, or a margin over what the partner is likely to want.

Who judges a trade by its prospects, as `expert` does, refuses a dollar below its limit, and no network works out that sum to a dollar:
at tables of four, prices rounded to the next premium lose a fifth of the wins (docs/results/learned.md). So the limit is computed, and
a margin over it is a choice like any other. Who goes by printed prices is met by the premiums.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.players.expert.bargaining import least_price
from agents.players.expert.parameters import Expert
from agents.players.vocabulary.reading import total_price
from monopoly_env.board import ALL_LOTS
from monopoly_env.engine.mortgage import transfer_fees
from monopoly_env.game import Game
from monopoly_env.kernels import kernel

PREMIUMS: Final = (-1200, -800, -600, -400, -300, -200, -100, 0, 100, 200, 300, 400, 600, 800, 1200)  # dollars beyond the printed prices
MARGINS: Final = (-100, -40, 0, 40, 100, 200)  # dollars beyond the least that `expert` would want in the partner's place
NUM_PRICES: Final = len(PREMIUMS) + len(MARGINS)
NO_PRICE: Final = 1 << 30

_PREMIUMS: Final = np.array(PREMIUMS)
_MARGINS: Final = np.array(MARGINS)
_MODEL: Final = Expert().row()


def describe(level: int) -> str:
    """A price in words."""
    return f"premium ${PREMIUMS[level]}" if level < len(PREMIUMS) else f"partner's limit and ${MARGINS[level - len(PREMIUMS)]}"


@kernel
def write_prices(game: Game, prices: Any) -> None:
    """Write the dollars that the maker of the half-made offer gives at each price; NO_PRICE where a price is the same as one before.

    Args:
        game: An offer is being made, and its goods are picked.
        prices: (NUM_PRICES,) int64, filled. Those that one side can't pay become what it can.
    """
    maker, partner, ask, give = int(game.offer_from), int(game.offer_to), int(game.offer_ask), int(game.offer_give)
    low, high = -int(game.cash[partner]), int(game.cash[maker])
    printed = total_price(game, ask & ALL_LOTS) - total_price(game, give & ALL_LOTS)
    limit = partners_limit(game, maker, partner, ask, give)
    for level in range(NUM_PRICES):
        if level < len(_PREMIUMS):
            price = printed + int(_PREMIUMS[level])
        elif np.isfinite(limit):
            price = int(limit) + int(_MARGINS[level - len(_PREMIUMS)])
        else:
            price = NO_PRICE
        if price != NO_PRICE:
            price = max(low, min(price, high))
        for before in range(level):
            if prices[before] == price:
                price = NO_PRICE
        prices[level] = price


@kernel
def partners_limit(game: Game, maker: int, partner: int, ask: int, give: int) -> float:
    """The fewest dollars for which `expert` would agree in the partner's place; infinite if no sum that can be paid is enough."""
    least = float(transfer_fees(game, give & ALL_LOTS) - int(game.cash[partner]))
    most = float(int(game.cash[maker]) - transfer_fees(game, ask & ALL_LOTS))
    return float(least_price(game, maker, partner, ask, give, least, most, _MODEL))


@kernel
def nearest(prices: Any, cash: int) -> int:
    """The price that is nearest to a sum."""
    best, distance = 0, NO_PRICE
    for level in range(NUM_PRICES):
        away = abs(int(prices[level]) - cash)
        if prices[level] != NO_PRICE and away < distance:
            best, distance = level, away
    return best
