"""The prices of an offer: premiums over the printed prices, and margins over a partner's limit.

A partner that judges a trade by its prospects, as `expert` does, refuses a price a dollar below its
limit, and no network predicts that limit to a dollar. So the limits of `expert` and of
`expert/bargaining`, which often wants $300 more, are computed, and margins over them are choices.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.players.expert import bargainer
from agents.players.expert.bargaining import least_price
from agents.players.expert.parameters import Expert
from agents.players.expert.trading import Trade
from agents.players.vocabulary.reading import total_price
from monopoly_env.engine.mortgage import transfer_fees
from monopoly_env.facts.board import ALL_LOTS
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row

# Dollars beyond the printed prices.
PREMIUMS: Final = (-1200, -800, -600, -400, -300, -200, -100, 0, 100, 200, 300, 400, 600, 800, 1200)
# Dollars above the limits of `expert` and of `expert/bargaining`, in the partner's place.
MARGINS: Final = (-100, -40, 0, 40, 100, 200)
BARGAINERS_MARGINS: Final = (0, 40, 100)
NUM_PRICES: Final = len(PREMIUMS) + len(MARGINS) + len(BARGAINERS_MARGINS)
# [price] -> the same margin over the other limit
SIMILAR: Final = {
    len(PREMIUMS) + len(MARGINS) + n: len(PREMIUMS) + MARGINS.index(margin)
    for n, margin in enumerate(BARGAINERS_MARGINS)
}
NO_PRICE: Final = 1 << 30

_PREMIUMS: Final = np.array(PREMIUMS)
_MARGINS: Final = np.array(MARGINS + BARGAINERS_MARGINS)
# The parameters of `expert`, and those of `expert/bargaining` by the size of the table
EXPERT: Final = Expert().row()
BARGAINER: Final = bargainer.POLICIES["expert/bargaining"]().params


def describe(level: int) -> str:
    """A price in words."""
    if level < len(PREMIUMS):
        return f"premium ${PREMIUMS[level]}"
    margin = level - len(PREMIUMS)
    return (
        f"{'partner' if margin < len(MARGINS) else 'bargainer'}'s limit and"
        f" ${(MARGINS + BARGAINERS_MARGINS)[margin]}"
    )


@kernel
def write_prices(game: Game, prices: Any, limits: Any) -> None:
    """Write the dollars that the maker of an offer gives at each price; NO_PRICE for duplicates.

    Args:
        game: A game with an open offer whose goods are picked.
        prices: (NUM_PRICES,) int64, filled, clipped to the cash of the side that pays.
        limits: (2,) float64, filled: `partners_limit` and `bargainers_limit`.
    """
    maker = int(game.offer_from)
    partner = int(game.offer_to)
    ask = int(game.offer_ask)
    give = int(game.offer_give)
    low, high = -int(game.cash[partner]), int(game.cash[maker])
    printed = total_price(game, ask & ALL_LOTS) - total_price(game, give & ALL_LOTS)
    limits[0] = partners_limit(game, maker, partner, ask, give)
    limits[1] = bargainers_limit(game, maker, partner, ask, give)
    for level in range(NUM_PRICES):
        limit = limits[int(level >= len(_PREMIUMS) + len(MARGINS))]
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
    """The lowest price that `expert` would take in the partner's place; infinite if unpayable."""
    return _limit(game, maker, partner, ask, give, EXPERT)


@kernel
def bargainers_limit(game: Game, maker: int, partner: int, ask: int, give: int) -> float:
    """The same for `expert/bargaining`."""
    return _limit(game, maker, partner, ask, give, bargainer.at_this_table(game, BARGAINER))


@kernel
def _limit(game: Game, maker: int, partner: int, ask: int, give: int, model: Row) -> float:
    """The same for any parameters of `expert`."""
    least = float(transfer_fees(game, give & ALL_LOTS) - int(game.cash[partner]))
    most = float(int(game.cash[maker]) - transfer_fees(game, ask & ALL_LOTS))
    return float(least_price(game, Trade(maker, partner, ask, give), least, most, model))


@kernel
def nearest(prices: Any, cash: int) -> int:
    """The price nearest to an amount."""
    best, distance = 0, NO_PRICE
    for level in range(NUM_PRICES):
        away = abs(int(prices[level]) - cash)
        if prices[level] != NO_PRICE and away < distance:
            best, distance = level, away
    return best
