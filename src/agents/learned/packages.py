"""The packages that promise most by `expert`'s sums: what an offer may be, apart from the money.

A package is a part of the partner's lots for a part of one's own (`agents.players.vocabulary.parts`). Two players have up to 3,000 of them,
and nearly all make no sense. So they are rated: by how much the maker's share of all strength rises, as `expert/bargaining` counts
strength, at the least price that `expert` would take in the partner's place. The places after those are for packages that promise most
at list prices, by which simpler partners go. What a learned agent chooses among is in `menu`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.players.expert import bargainer, trading
from agents.players.expert.packages import COLUMNS, FEES, GIVEN, JUDGED_GIVEN, JUDGED_TAKEN, PAID, PART, TAKEN, WANTED, list_parts
from agents.players.expert.parameters import Expert
from agents.players.expert.trading import SLOT, Sides
from agents.players.expert.values import fill_strengths, turns_left
from agents.players.vocabulary.offers import OFFICIAL
from agents.players.vocabulary.parts import PART_GROUPS, PARTS
from monopoly_env.board import NUM_GROUPS
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import MEMORY, Row

# The columns of a table with a row for each place: the lots asked for and given, a bit each (both 0: the place is free); what the maker
# and the partner gain in strength, without money; the price by which it was rated in dollars; by how much the maker's share of strength
# rises; and its share of the win, where the value of states was asked (`valued`), otherwise 0.
ASKED, LENT, OWN_GAIN, THEIR_GAIN, RATED_AT, PROMISE, WINS, FIELDS = range(8)

_JUDGES: Final = bargainer.POLICIES["expert/bargaining"]().params  # by the size of the table
_MODEL: Final = Expert().row()
_NUM_PARTS: Final = len(PARTS)
_SINGLES: Final = 1 + NUM_GROUPS  # parts of one group at most


@kernel
def write_packages(game: Game, maker: int, partner: int, table: Any, at_limit: int, spends_all: bool) -> None:
    """Write the most promising packages that a player may offer to another.

    Args:
        game: The game.
        maker: The seat that makes the offer.
        partner: The seat that gets it.
        table: (N, FIELDS) float64, filled.
        at_limit: How many of the N places are for the best at the partner's limit; the others are for those at list prices.
        spends_all: Whether the maker may pay all its cash, and not only the part that `expert/bargaining` would.
    """
    table[:] = 0.0
    params, memory = bargainer.at_this_table(game, _JUDGES), np.zeros(MEMORY)
    official = game.rules.trade == OFFICIAL
    asks, gives = np.empty((_NUM_PARTS, COLUMNS)), np.empty((_NUM_PARTS, COLUMNS))
    _write_parts(game, partner, maker, official, params, asks)
    _write_parts(game, maker, partner, official, params, gives)
    total = fill_strengths(game, turns_left(game, params), params, memory[SLOT.strengths :])
    two = trading.sides(game, maker, partner, total, params, _MODEL, memory)
    at_list = np.zeros((len(table), FIELDS))
    for i in range(_NUM_PARTS):
        for j in range(_NUM_PARTS if asks[i, PART] >= 0 else 0):
            if gives[j, PART] >= 0 and PART_GROUPS[i] & PART_GROUPS[j] == 0 and min(i, j) >= (not official) and i + j > 0:
                _rate(game, two, asks[i], gives[j], params, memory, table[:at_limit], at_list, spends_all)
    _merge(table, at_list, at_limit)


@kernel
def _write_parts(game: Game, giver: int, taker: int, official: bool, params: Row, parts: Any) -> None:
    """Write what is known of each part; its lots are -1 where the giver does not have something of all its groups."""
    groups = np.empty(COLUMNS * (NUM_GROUPS + 1))
    list_parts(game, giver, taker, not official, params, _MODEL, groups)
    parts[:] = 0.0
    for part in range(1, _NUM_PARTS):
        for group in range(NUM_GROUPS):
            if PART_GROUPS[part] >> group & 1:
                if groups[COLUMNS * group + PART] == 0 or (part >= _SINGLES and not official):
                    parts[part, PART] = -1
                    break
                parts[part] += groups[COLUMNS * group : COLUMNS * (group + 1)]


@kernel
def _rate(game: Game, two: Sides, asked: Any, given: Any, params: Row, memory: Row, at_limit: Any, at_list: Any, spends_all: bool) -> None:
    """Rate a package at both prices, or at the nearest that can be paid, and keep it where it is among the most promising."""
    ask, give = int(asked[PART]), int(given[PART])
    own, theirs = asked[TAKEN] + given[GIVEN], asked[GIVEN] + given[TAKEN]
    a, b = trading.weights(two, own, theirs, memory)
    least, most = trading.purses(game, two.seat, two.partner, ask, give, asked[FEES], given[FEES], params)
    if spends_all:
        most = game.cash[two.seat] - asked[FEES]
    judged, their_judged = asked[JUDGED_TAKEN] + given[JUDGED_GIVEN], asked[JUDGED_GIVEN] + given[JUDGED_TAKEN]
    for table, wanted in ((at_limit, trading.least_dollars(two, judged, their_judged)), (at_list, asked[WANTED] - given[PAID])):
        price = max(least, np.ceil(wanted))
        promise = a * own - b * theirs - (a + b) * price
        if promise > table[-1, PROMISE] and price <= most and not trading.was_refused(game, two.seat, two.partner, ask, give, price):
            row = table[make_room(table, PROMISE, promise)]
            row[ASKED], row[LENT], row[OWN_GAIN], row[THEIR_GAIN], row[RATED_AT], row[PROMISE] = ask, give, own, theirs, price, promise


@kernel
def make_room(table: Any, column: int, number: float) -> int:
    """Move down what is less than a number, in a table that falls by a column; returns the place of that number. The last row falls out."""
    place = len(table) - 1
    while place > 0 and table[place - 1, column] < number:
        table[place] = table[place - 1]
        place -= 1
    return place


@kernel
def _merge(table: Any, at_list: Any, at_limit: int) -> None:
    """Write the best packages at list prices after those at the limit, unless they are among those."""
    count = 0
    while count < at_limit and table[count, PROMISE] > 0.0:
        count += 1
    place, known = at_limit, count
    for i in range(len(table)):
        if place == len(table) or at_list[i, PROMISE] <= 0.0:
            break
        new = True
        for j in range(known):
            new = new and (table[j, ASKED] != at_list[i, ASKED] or table[j, LENT] != at_list[i, LENT])
        if new:
            table[place] = at_list[i]
            place += 1
