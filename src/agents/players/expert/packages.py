"""The search for an offer: packages of up to three lots, out of one or two groups, on each side."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.players.expert import trading, values
from agents.players.expert.parameters import AT
from agents.players.expert.trading import SLOT, Package, Sides
from agents.players.vocabulary import offers
from agents.players.vocabulary.reading import owned_lots
from monopoly_env.actions import A_TURN
from monopoly_env.engine import mortgage, trade
from monopoly_env.engine.sets import size
from monopoly_env.facts.board import ALL_LOTS, GROUP_LOTS, NUM_GROUPS, RAILROADS
from monopoly_env.game import Game
from monopoly_env.kernels import kernel, on_stack
from monopoly_env.policy.protocol import Row

_MOST_LOTS: Final = 3
_MANY_REFUSALS: Final = 40  # further ones make no difference
_NONE: Final = NUM_GROUPS  # stands for no group
# The columns of a table with a row for each group of which a giver may give something: the lots and
# their fees; the gain of the taker and of the giver, by the policy's parameters and by the model;
# by list prices, what the taker pays and what the giver wants.
PART, FEES, TAKEN, GIVEN, JUDGED_TAKEN, JUDGED_GIVEN, PAID, WANTED, COLUMNS = range(9)
_ROWS: Final = NUM_GROUPS + 1
_TABLE: Final = COLUMNS * _ROWS


@kernel
def search(game: Game, seat: int, params: Row, model: Row, memory: Row) -> int:
    """Begin the best offer, or A_TURN; `model` is the judgement of partners."""
    trading.learn(game, seat, params, memory)
    if memory[SLOT.searched] != game.turns:
        memory[SLOT.searched] = game.turns
        memory[SLOT.partners] = _due(game, seat, params, memory)
    partners = 0
    for partner in range(game.num_players):
        if (
            int(memory[SLOT.partners]) >> partner & 1
            and game.place[partner] == 0
            and offers.may_offer_to(game, seat, partner)
        ):
            partners |= 1 << partner
    action = _best_offer(game, seat, partners, params, model, memory) if partners else A_TURN
    if action == A_TURN:
        memory[SLOT.partners] = 0
    return action


@kernel
def _due(game: Game, seat: int, params: Row, memory: Row) -> int:
    """The partners to search for a trade now: another group can be closed, or a pause is over."""
    partners, closing, mark = 0, 0, 0
    for partner in range(game.num_players):
        if partner != seat and game.place[partner] == 0:
            lots = _closable(int(game.lots[seat]), int(game.lots[partner]))
            if lots:
                closing |= 1 << partner
                mark = (mark * 31 + lots) & 0xFFFFFFFFFFFF
            if game.turns >= memory[SLOT.next_search + partner]:
                partners |= 1 << partner
    if mark != memory[SLOT.closable]:
        memory[SLOT.closable] = mark
        partners |= closing
        for partner in range(game.num_players):
            memory[SLOT.refusals + partner] = 0
    for partner in range(game.num_players):
        if partners >> partner & 1:  # a partner that refuses again and again is asked less and less
            longer = 1 + min(memory[SLOT.refusals + partner], _MANY_REFUSALS) / params[AT.tiring]
            memory[SLOT.next_search + partner] = (
                game.turns + params[AT.pause] * game.num_players * longer
            )
    return partners


@kernel
def _closable(mine: int, theirs: int) -> int:
    """A number for the groups that two players own together, and their shares; 0: none."""
    lots = 0
    for group in range(NUM_GROUPS):
        members = GROUP_LOTS[group]
        if (mine | theirs) & members == members and mine & members and theirs & members:
            lots |= (mine & members) << 1
            lots ^= theirs & members
    return lots


@kernel
def _best_offer(game: Game, seat: int, partners: int, params: Row, model: Row, memory: Row) -> int:
    turns = values.turns_left(game, params)
    total = values.fill_strengths(game, turns, params, memory[SLOT.strengths :])
    memory[SLOT.best] = 0.0
    best = -1
    for partner in range(game.num_players):
        if partners >> partner & 1:
            before = memory[SLOT.best]
            believed_model = trading.believed(partner, params, model, memory)
            two = trading.sides(game, seat, partner, total, params, believed_model, memory)
            _search_partner(game, two, params, believed_model, memory)
            if memory[SLOT.best] > before:
                best = partner
    if best < 0:
        return A_TURN
    ask, give = int(memory[SLOT.best_ask]), int(memory[SLOT.best_give])
    dollars = int(memory[SLOT.best_cash])
    deal = trading.Trade(seat, best, ask, give)
    gain = trading.judge(game, deal, float(dollars), total, turns, params, memory)
    if gain < params[AT.margin] / 2:
        return A_TURN
    memory[SLOT.pending], memory[SLOT.pending_ask], memory[SLOT.pending_give] = best + 1, ask, give
    memory[SLOT.if_taken] = memory[SLOT.best_if_taken]
    memory[SLOT.if_refused] = memory[SLOT.best_if_refused]
    return offers.begin(game, best, ask, give, dollars, memory)


@kernel
def _part(lots: int, group: int, taker: int, single: bool) -> int:
    """The lots of a group that change hands together."""
    members = GROUP_LOTS[group]
    found = lots & members
    if single or (group >= RAILROADS and (taker | found) & members != members):
        return found & -found
    return found


@kernel
def _moved(
    game: Game,
    group: int,
    before: int,
    after: int,
    elsewhere: int,
    funds: float,
    turns: float,
    params: Row,
) -> float:
    """The change of the worth of a player's lots of a group when a part changes hands."""
    now = values.group_worth(game, group, before, elsewhere & ~before, funds, turns, params)
    return values.group_worth(game, group, after, elsewhere & ~after, funds, turns, params) - now


@kernel
def list_parts(
    game: Game, giver: int, taker: int, single: bool, params: Row, model: Row, table: Row
) -> None:
    """Fill the table of parts that a giver may give: a row a group, and an empty one."""
    free = trade.tradable(game, giver) & ALL_LOTS
    table[:] = 0.0
    for group in range(NUM_GROUPS):
        part = _part(free, group, int(game.lots[taker]), single)
        if part:
            row = COLUMNS * group
            table[row + PART] = part
            table[row + FEES] = mortgage.transfer_fees(game, part)
            table[row + PAID], table[row + WANTED] = trading.list_value(
                game, giver, taker, part, params
            )
    add_gains(game, giver, taker, params, TAKEN, table)
    if not trading.is_same(params, model):
        add_gains(game, giver, taker, model, JUDGED_TAKEN, table)
        return
    for row in range(0, COLUMNS * NUM_GROUPS, COLUMNS):
        table[row + JUDGED_TAKEN] = table[row + TAKEN]
        table[row + JUDGED_GIVEN] = table[row + GIVEN]


@kernel
def add_gains(game: Game, giver: int, taker: int, judge: Row, column: int, table: Row) -> None:
    """Write the gains of taker and giver by each part, by the parameters `judge`."""
    theirs, mine, owned = int(game.lots[giver]), int(game.lots[taker]), owned_lots(game)
    turns = values.turns_left(game, judge)
    funds = values.to_build(float(game.cash[taker]), values.complete_groups(mine) + 1, judge)
    their_funds = values.to_build(float(game.cash[giver]), values.complete_groups(theirs), judge)
    for row in range(0, COLUMNS * NUM_GROUPS, COLUMNS):
        part, group = int(table[row]), row // COLUMNS
        if part:
            gain = _moved(game, group, mine, mine | part, owned, funds, turns, judge)
            table[row + column] = gain - table[row + FEES]
            table[row + column + 1] = _moved(
                game, group, theirs, theirs & ~part, owned, their_funds, turns, judge
            )


@kernel
def _search_partner(game: Game, two: Sides, params: Row, model: Row, memory: Row) -> None:
    """Rate the packages of one or two groups on each side; the best offer is kept in memory."""
    official = game.rules.trade == offers.OFFICIAL
    asks, gives = on_stack(_TABLE, np.float64), on_stack(_TABLE, np.float64)
    list_parts(game, two.partner, two.seat, not official, params, model, asks)
    list_parts(game, two.seat, two.partner, not official, params, model, gives)
    rows, count = on_stack(_ROWS, np.int64), 0
    for group in range(_ROWS):
        if gives[COLUMNS * group] != 0 or group == _NONE:
            rows[count] = group
            count += 1
    for first in range(NUM_GROUPS + 1):
        if asks[COLUMNS * first] == 0 and first != _NONE:
            continue
        for second in range(first if first == _NONE else first + 1, NUM_GROUPS + 1):
            if second == _NONE or (official and asks[COLUMNS * second] != 0):
                ask = int(asks[COLUMNS * first]) | int(asks[COLUMNS * second])
                if size(ask) <= _MOST_LOTS and (official or ask != 0):
                    _against(game, two, asks, first, second, gives, rows[:count], params, memory)


@kernel
def _against(
    game: Game, two: Sides, asks: Row, first: int, second: int, gives: Row, rows: Any, params: Row,
    memory: Row,
) -> None:  # fmt: skip
    """Rate the packages that could be given for one package of lots asked for.

    `rows` are the groups of which something may be given.
    """
    official, cash = game.rules.trade == offers.OFFICIAL, float(game.cash[two.partner])
    i, j = COLUMNS * first, COLUMNS * second
    ask, fees = int(asks[i]) | int(asks[j]), asks[i + FEES] + asks[j + FEES]
    wanted = asks[i + WANTED] + asks[j + WANTED]
    taken, lost = asks[i + TAKEN] + asks[j + TAKEN], asks[i + GIVEN] + asks[j + GIVEN]
    judged_taken = asks[i + JUDGED_TAKEN] + asks[j + JUDGED_TAKEN]
    judged_lost = asks[i + JUDGED_GIVEN] + asks[j + JUDGED_GIVEN]
    for x in range(len(rows)):
        third = rows[x]
        if third != _NONE and (third == first or third == second):
            continue
        for y in range(x if third == _NONE else x + 1, len(rows)):
            fourth = rows[y]
            if fourth != _NONE and (fourth == first or fourth == second or not official):
                continue
            k, m = COLUMNS * third, COLUMNS * fourth
            give = int(gives[k]) | int(gives[m])
            if size(give) > _MOST_LOTS or ask | give == 0 or (not official and give == 0):
                continue
            gain = taken + gives[k + GIVEN] + gives[m + GIVEN]
            theirs = lost + gives[k + TAKEN] + gives[m + TAKEN]
            their_fees = gives[k + FEES] + gives[m + FEES]
            value, cost = trading.rise(two, gain, theirs, memory)
            most = value - cost * trading.least_paid(cash, give, their_fees)
            if most < max(params[AT.margin], memory[SLOT.best]):
                continue
            package = Package(
                ask, give, fees, their_fees, value, cost,
                judged_taken + gives[k + JUDGED_GIVEN] + gives[m + JUDGED_GIVEN],
                judged_lost + gives[k + JUDGED_TAKEN] + gives[m + JUDGED_TAKEN],
                wanted, gives[k + PAID] + gives[m + PAID],
            )  # fmt: skip
            trading.rate(game, two, package, params, memory)
