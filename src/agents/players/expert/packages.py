"""The search for an offer: packages of up to three lots, out of one or two groups, on each side."""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.players.expert import trading
from agents.players.expert.parameters import MARGIN, PAUSE, TIRING
from agents.players.expert.trading import BEST, NEXT, PARTNERS, PENDING, REFUSALS, SEARCHED, SEEN, TABLE, Package, Sides
from agents.players.expert.values import complete_groups, fill_strengths, group_worth, to_build, turns_left
from agents.players.vocabulary.offers import begin_offer
from agents.players.vocabulary.reading import may_offer_to
from monopoly_env.actions import A_TURN
from monopoly_env.board import ALL_LOTS, GROUP_LOTS, NUM_GROUPS, RAILROADS
from monopoly_env.engine.mortgage import transfer_fees
from monopoly_env.engine.sets import size
from monopoly_env.engine.trade import tradable
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row

_MOST_LOTS: Final = 3
_MANY_REFUSALS: Final = 40  # more make no difference
_NONE: Final = NUM_GROUPS  # in place of a group: nothing
# What is noted of each group that a giver may part with.
# Lots, fees; gain of the taker and of the giver, as we judge and as the model does; what one pays and the other wants in list prices.
_PART, _FEES, _TAKEN, _GIVEN, _JUDGED_TAKEN, _JUDGED_GIVEN, _PAID, _WANTED, _COLUMNS = range(9)


@kernel
def search(game: Game, seat: int, params: Row, model: Row, memory: Row) -> int:
    """Begin the best offer, or A_TURN; `model` is what partners judge by who do not go by list prices."""
    trading.learn(game, seat, params, memory)
    if memory[SEARCHED] != game.turns:
        memory[SEARCHED] = game.turns
        memory[PARTNERS] = _due(game, seat, params, memory)
    partners = 0
    for partner in range(game.num_players):
        if int(memory[PARTNERS]) >> partner & 1 and game.place[partner] == 0 and may_offer_to(game, seat, partner):
            partners |= 1 << partner
    action = _best_offer(game, seat, partners, params, model, memory) if partners else A_TURN
    if action == A_TURN:
        memory[PARTNERS] = 0
    return action


@kernel
def _due(game: Game, seat: int, params: Row, memory: Row) -> int:
    """The partners, a bit each, with whom trades are searched in this turn: another group can be closed, or a pause is over."""
    partners, closing, mark = 0, 0, 0
    for partner in range(game.num_players):
        if partner != seat and game.place[partner] == 0:
            lots = _closable(int(game.lots[seat]), int(game.lots[partner]))
            if lots:
                closing |= 1 << partner
                mark = (mark * 31 + lots) & 0xFFFFFFFFFFFF
            if game.turns >= memory[NEXT + partner]:
                partners |= 1 << partner
    if mark != memory[SEEN]:
        memory[SEEN] = mark
        partners |= closing
        for partner in range(game.num_players):
            memory[REFUSALS + partner] = 0
    for partner in range(game.num_players):
        if partners >> partner & 1:  # who refuses again and again is asked less and less
            longer = 1 + min(memory[REFUSALS + partner], _MANY_REFUSALS) / params[TIRING]
            memory[NEXT + partner] = game.turns + params[PAUSE] * game.num_players * longer
    return partners


@kernel
def _closable(mine: int, theirs: int) -> int:
    """The lots of one player in the groups that two have between them."""
    lots = 0
    for group in range(NUM_GROUPS):
        members = int(GROUP_LOTS[group])
        if (mine | theirs) & members == members and mine & members and theirs & members:
            lots |= (mine & members) << 1
            lots ^= theirs & members
    return lots


@kernel
def _best_offer(game: Game, seat: int, partners: int, params: Row, model: Row, memory: Row) -> int:
    turns = turns_left(game, params)
    total = fill_strengths(game, turns, params, memory[TABLE:])
    memory[BEST] = 0.0
    best = -1
    for partner in range(game.num_players):
        if partners >> partner & 1:
            before = memory[BEST]
            his = trading.believed(partner, params, model, memory)
            _search_partner(game, trading.sides(game, seat, partner, total, params, his, memory), params, his, memory)
            if memory[BEST] > before:
                best = partner
    if best < 0:
        return A_TURN
    ask, give, dollars = int(memory[BEST + 1]), int(memory[BEST + 2]), int(memory[BEST + 3])
    if trading.judge(game, seat, best, ask, give, float(dollars), total, turns, params, memory) < params[MARGIN] / 2:
        return A_TURN
    memory[PENDING], memory[PENDING + 1], memory[PENDING + 2] = best + 1, ask, give
    memory[PENDING + 3], memory[PENDING + 4] = memory[BEST + 4], memory[BEST + 5]
    return begin_offer(game, best, ask, give, dollars, memory)


@kernel
def _part(lots: int, group: int, taker: int, single: bool) -> int:
    """What of a group changes hands together: all of it; one railroad or utility that does not complete them; one lot if so ruled."""
    members = int(GROUP_LOTS[group])
    found = lots & members
    if single or (group >= RAILROADS and (taker | found) & members != members):
        return found & -found
    return found


@kernel
def _moved(game: Game, group: int, before: int, after: int, elsewhere: int, funds: float, turns: float, params: Row) -> float:
    """What a player's lots of a group gain in worth when a part changes hands."""
    now = group_worth(game, group, before, elsewhere & ~before, funds, turns, params)
    return group_worth(game, group, after, elsewhere & ~after, funds, turns, params) - now


@kernel
def _list_parts(game: Game, giver: int, taker: int, single: bool, params: Row, model: Row, table: Row) -> None:
    """Fill a row a group with what a giver may part with; the row past the last one is empty."""
    free = tradable(game, giver) & ALL_LOTS
    table[:] = 0.0
    for group in range(NUM_GROUPS):
        part = _part(free, group, int(game.lots[taker]), single)
        if part:
            row = _COLUMNS * group
            table[row + _PART] = part
            table[row + _FEES] = transfer_fees(game, part)
            table[row + _PAID], table[row + _WANTED] = trading.list_value(game, giver, taker, part, params)
    _add_gains(game, giver, taker, params, _TAKEN, table)
    if not trading.is_same(params, model):
        _add_gains(game, giver, taker, model, _JUDGED_TAKEN, table)
        return
    for row in range(0, _COLUMNS * NUM_GROUPS, _COLUMNS):
        table[row + _JUDGED_TAKEN], table[row + _JUDGED_GIVEN] = table[row + _TAKEN], table[row + _GIVEN]


@kernel
def _add_gains(game: Game, giver: int, taker: int, judge: Row, column: int, table: Row) -> None:
    """Write into two columns what taker and giver gain by each part, in the eyes of a judge."""
    theirs, mine, owned = int(game.lots[giver]), int(game.lots[taker]), 0
    for seat in range(game.num_players):
        owned |= int(game.lots[seat])
    turns = turns_left(game, judge)
    funds = to_build(float(game.cash[taker]), complete_groups(mine) + 1, judge)
    their_funds = to_build(float(game.cash[giver]), complete_groups(theirs), judge)
    for row in range(0, _COLUMNS * NUM_GROUPS, _COLUMNS):
        part, group = int(table[row]), row // _COLUMNS
        if part:
            table[row + column] = _moved(game, group, mine, mine | part, owned, funds, turns, judge) - table[row + _FEES]
            table[row + column + 1] = _moved(game, group, theirs, theirs & ~part, owned, their_funds, turns, judge)


@kernel
def _search_partner(game: Game, two: Sides, params: Row, model: Row, memory: Row) -> None:
    """Rate the packages of one or two groups on each side; the best offer goes to memory."""
    official = game.rules.trade == trading.OFFICIAL
    asks, gives = np.empty(_COLUMNS * (NUM_GROUPS + 1)), np.empty(_COLUMNS * (NUM_GROUPS + 1))
    _list_parts(game, two.partner, two.seat, not official, params, model, asks)
    _list_parts(game, two.seat, two.partner, not official, params, model, gives)
    for first in range(NUM_GROUPS + 1):
        if asks[_COLUMNS * first] == 0 and first != _NONE:
            continue
        for second in range(first if first == _NONE else first + 1, NUM_GROUPS + 1):
            if second == _NONE or (official and asks[_COLUMNS * second] != 0):
                ask = int(asks[_COLUMNS * first]) | int(asks[_COLUMNS * second])
                if size(ask) <= _MOST_LOTS and (official or ask != 0):
                    _against(game, two, asks, first, second, gives, params, memory)


@kernel
def _against(game: Game, two: Sides, asks: Row, first: int, second: int, gives: Row, params: Row, memory: Row) -> None:
    """Rate what could be given for one package of lots asked for."""
    official = game.rules.trade == trading.OFFICIAL
    i, j = _COLUMNS * first, _COLUMNS * second
    ask, fees, wanted = int(asks[i]) | int(asks[j]), asks[i + _FEES] + asks[j + _FEES], asks[i + _WANTED] + asks[j + _WANTED]
    taken, lost = asks[i + _TAKEN] + asks[j + _TAKEN], asks[i + _GIVEN] + asks[j + _GIVEN]
    judged_taken, judged_lost = asks[i + _JUDGED_TAKEN] + asks[j + _JUDGED_TAKEN], asks[i + _JUDGED_GIVEN] + asks[j + _JUDGED_GIVEN]
    for third in range(NUM_GROUPS + 1):
        if third != _NONE and (gives[_COLUMNS * third] == 0 or third == first or third == second):
            continue
        for fourth in range(third if third == _NONE else third + 1, NUM_GROUPS + 1):
            if fourth != _NONE and (gives[_COLUMNS * fourth] == 0 or fourth == first or fourth == second or not official):
                continue
            k, m = _COLUMNS * third, _COLUMNS * fourth
            give = int(gives[k]) | int(gives[m])
            if size(give) > _MOST_LOTS or ask | give == 0 or (not official and give == 0):
                continue
            gain = taken + gives[k + _GIVEN] + gives[m + _GIVEN]
            theirs = lost + gives[k + _TAKEN] + gives[m + _TAKEN]
            their_fees = gives[k + _FEES] + gives[m + _FEES]
            if not trading.could_be_best(game, two, give, their_fees, gain, theirs, memory):
                continue
            package = Package(
                ask, give, fees, their_fees, gain, theirs,
                judged_taken + gives[k + _JUDGED_GIVEN] + gives[m + _JUDGED_GIVEN],
                judged_lost + gives[k + _JUDGED_TAKEN] + gives[m + _JUDGED_TAKEN],
                wanted, gives[k + _PAID] + gives[m + _PAID],
            )  # fmt: skip
            trading.rate(game, two, package, params, memory)
