"""The packages that promise most by `expert`'s formulas: the goods of an offer.

A package is a part of the partner's lots for a part of the maker's
(`agents.players.vocabulary.parts`). Two players have up to 3,000 packages, nearly all useless. The
promise of a package is the rise of the maker's share of all strength, as `expert/bargaining` counts
it, at the lowest price that `expert` would take in the partner's place. A table lists the packages
of the highest promise, then those of the highest promise at list prices, by which simpler partners
decide.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.learned.prices import BARGAINER, EXPERT
from agents.players.expert import bargainer, trading
from agents.players.expert.packages import (
    COLUMNS,
    FEES,
    GIVEN,
    JUDGED_GIVEN,
    JUDGED_TAKEN,
    PAID,
    PART,
    TAKEN,
    WANTED,
    list_parts,
)
from agents.players.expert.trading import SLOT, Sides
from agents.players.expert.values import fill_strengths, turns_left
from agents.players.vocabulary.offers import OFFICIAL, was_refused
from agents.players.vocabulary.parts import PART_GROUPS, PARTS
from monopoly_env.facts.board import NUM_GROUPS
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import MEMORY, Row

# The columns of a table with a row for each place: the lots asked for and given, a bit each (both
# 0: the place is free); the gain of the maker and of the partner in strength, without money; the
# price (dollars); the promise; the rise of the maker's share of the win by the value network
# (`valued`), or 0.
ASKED, LENT, OWN_GAIN, THEIR_GAIN, RATED_AT, PROMISE, WINS, FIELDS = range(8)

_SINGLES: Final = 1 + NUM_GROUPS  # parts of one group at most

# The numbers of a part: sums over its groups of the columns of `list_parts`, and its groups, a bit
# each. The ratings of a package: price and promise.
GROUPS: Final = COLUMNS
_COLUMNS: Final = COLUMNS + 1
DOLLARS, RISE, _RATINGS = range(3)


@kernel
def write_packages(
    game: Game, maker: int, partner: int, table: Any, at_limit: int, spends_all: bool
) -> None:
    """Write the most promising packages that a player may offer to another.

    Args:
        game: The game.
        maker: The seat that makes the offer.
        partner: The seat that gets it.
        table: (N, FIELDS) float64, filled.
        at_limit: The number of places for packages at the partner's limit; the others are for
            packages at list prices.
        spends_all: Whether the maker may pay all its cash, or only as much as `expert/bargaining`
            would.
    """
    table[:] = 0.0
    params, memory = bargainer.at_this_table(game, BARGAINER), np.zeros(MEMORY)
    asks, gives = np.empty((_COLUMNS, len(PARTS))), np.empty((_COLUMNS, len(PARTS)))
    num_asks = _write_parts(game, partner, maker, params, asks)
    num_gives = _write_parts(game, maker, partner, params, gives)
    total = fill_strengths(game, turns_left(game, params), params, memory[SLOT.strengths :])
    two = trading.sides(game, maker, partner, total, params, EXPERT, memory)
    at_list = np.zeros((len(table), FIELDS))
    tables, rated = (table[:at_limit], at_list), np.empty((2, _RATINGS, len(PARTS)))
    for i in range(num_asks):
        asked = asks[:, i]
        most = (
            game.cash[maker] - asked[FEES]
            if spends_all
            else trading.most_paid(game, maker, int(asked[PART]), asked[FEES], params)
        )
        _rate(
            two,
            float(game.cash[partner]),
            asked,
            gives[:, :num_gives],
            memory,
            rated[:, :, :num_gives],
        )
        for k in range(2):
            _keep(game, two, asked, gives, rated[k, :, :num_gives], most, tables[k])
    _merge(table, at_list, at_limit)


@kernel
def _write_parts(game: Game, giver: int, taker: int, params: Row, parts: Any) -> int:
    """Write a column for each part that the giver owns lots of; returns their number."""
    official = game.rules.trade == OFFICIAL
    groups = np.empty(COLUMNS * (NUM_GROUPS + 1))
    list_parts(game, giver, taker, not official, params, EXPERT, groups)
    count = 0
    for part in range(int(not official), len(PARTS) if official else _SINGLES):
        if _has_all(groups, int(PART_GROUPS[part])):
            parts[:, count] = 0.0
            parts[GROUPS, count] = PART_GROUPS[part]
            for group in range(NUM_GROUPS):
                if PART_GROUPS[part] >> group & 1:
                    parts[:COLUMNS, count] += groups[COLUMNS * group : COLUMNS * (group + 1)]
            count += 1
    return count


@kernel
def _has_all(groups: Any, wanted: int) -> bool:
    """Whether the giver owns lots of all these groups."""
    for group in range(NUM_GROUPS):
        if wanted >> group & 1 and groups[COLUMNS * group + PART] == 0:
            return False
    return True


@kernel
def _rate(two: Sides, cash: float, asked: Any, gives: Any, memory: Row, rated: Any) -> None:
    """Rate all parts given for one: at the partner's limit, and at list prices.

    A price that the partner can't pay becomes the nearest that it can. The loop has no branch and
    no integers, so that it is vectorized.
    """
    for j in range(gives.shape[1]):
        own, theirs = asked[TAKEN] + gives[GIVEN, j], asked[GIVEN] + gives[TAKEN, j]
        value, cost = trading.rise(two, own, theirs, memory)
        least = trading.least_paid(cash, gives[PART, j], gives[FEES, j])
        limit = trading.least_dollars(
            two,
            asked[JUDGED_TAKEN] + gives[JUDGED_GIVEN, j],
            asked[JUDGED_GIVEN] + gives[JUDGED_TAKEN, j],
        )
        at_limit = max(least, np.ceil(limit))
        at_list = max(least, np.ceil(asked[WANTED] - gives[PAID, j]))
        rated[0, DOLLARS, j], rated[1, DOLLARS, j] = at_limit, at_list
        rated[0, RISE, j] = value - cost * at_limit
        rated[1, RISE, j] = value - cost * at_list


@kernel
def _keep(
    game: Game, two: Sides, asked: Any, gives: Any, rated: Any, most: float, table: Any
) -> None:
    """Insert the packages that belong to the best in the table and can be offered."""
    for j in range(rated.shape[1]):
        promise = rated[RISE, j]
        if (
            promise > table[-1, PROMISE]
            and rated[DOLLARS, j] <= most
            and not int(asked[GROUPS]) & int(gives[GROUPS, j])
        ):
            ask, give, price = int(asked[PART]), int(gives[PART, j]), rated[DOLLARS, j]
            if ask | give and not was_refused(
                game, two.seat, two.partner, ask, give, price, np.inf
            ):
                row = table[make_room(table, PROMISE, promise)]
                row[ASKED], row[LENT], row[RATED_AT], row[PROMISE] = ask, give, price, promise
                row[OWN_GAIN] = asked[TAKEN] + gives[GIVEN, j]
                row[THEIR_GAIN] = asked[GIVEN] + gives[TAKEN, j]


@kernel
def make_room(table: Any, column: int, number: float) -> int:
    """Make room for a number in a table sorted by a column, descending; returns the place.

    Lower rows move down, and the last is lost.
    """
    place = len(table) - 1
    while place > 0 and table[place - 1, column] < number:
        table[place] = table[place - 1]
        place -= 1
    return place


@kernel
def _merge(table: Any, at_list: Any, at_limit: int) -> None:
    """Write the best packages at list prices after those at the limit, without duplicates."""
    count = 0
    while count < at_limit and table[count, PROMISE] > 0.0:
        count += 1
    place, known = at_limit, count
    for i in range(len(table)):
        if place == len(table) or at_list[i, PROMISE] <= 0.0:
            break
        new = True
        for j in range(known):
            new = new and (
                table[j, ASKED] != at_list[i, ASKED] or table[j, LENT] != at_list[i, LENT]
            )
        if new:
            table[place] = at_list[i]
            place += 1
