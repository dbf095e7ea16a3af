"""What the strategic agent believes: rounds, groups as it last looked at them, values of lots, returns of buildings, danger.

Rounds are counted by the deeds that all players own. Only when that count rises does the agent look at the groups again, so between
two looks it goes by what it saw: the deeds of its own and of its opponents at that time. Its values follow from these sets and the
count, so nothing else is kept.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.players.strategic.parameters import (
    ADAPTATION,
    ADJUSTMENTS,
    AHEAD,
    ALWAYS,
    BEHIND,
    DANGER_WEIGHT,
    DYNAMIC,
    EAGERNESS,
    EARLY,
    GREEN_BLUE,
    LATE,
    MORE_BUILT,
    NUM_PARAMETERS,
    ORANGE_RED,
    PAST_JAIL,
    RAILWAY,
    SET_BONUS,
    UTILITY,
)
from agents.players.vocabulary.reading import of_opponents
from monopoly_env.board import (
    EDITIONS,
    GROUP_LOTS,
    GROUP_OF,
    GROUP_SIZE,
    GROUPS,
    HOTEL,
    HOUSE_PRICE,
    JAIL_SQUARE,
    LOT_SQUARE,
    NUM_LOTS,
    NUM_SQUARES,
    NUM_STREETS,
    PRICE,
    RAILROADS,
    RENT,
    SQUARE_LOT,
    UTILITIES,
)
from monopoly_env.engine.building import COLOURS, steps_of
from monopoly_env.engine.players import owner_of
from monopoly_env.engine.sets import has, size
from monopoly_env.game import NOBODY, Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import MEMORY, Row

# Its memory. First room for the parameters of an agent that adapts: it plays by this copy, and passes its memory as its parameters.
# The last three of the 64 numbers belong to `offers`.
(
    ROUND, OWN_SEEN, OTHERS_SEEN, DEEDS_SEEN,  # the count of rounds, and who owned what when it last rose; all deeds at the last look
    PHASE, STAMP, TODO,  # of the window under way: the phase, which window it is, lots still to act on
    OFFERS, NEXT_OFFER, SCANNED_OWN, SCANNED_OTHERS,  # offers planned for the window; when and at which deeds the next search is due
    MORTGAGE_LEFT, SALE_LEFT,  # what a debtor has planned: lots to mortgage, streets to sell from
    RAISING,  # the lot for which cash is being raised, and 1
    FIRST_PLAN, SECOND_PLAN, THIRD_PLAN,  # the planned offers
    COPIED,  # whether the parameters have been copied
) = range(NUM_PARAMETERS, NUM_PARAMETERS + 18)  # fmt: skip
assert COPIED < MEMORY - 3

ORANGE, RED, GREEN, DARK_BLUE = (GROUPS.index(name) for name in ("orange", "red", "green", "dark_blue"))
_ZONE: Final = (6, 9)  # squares past jail that a token which leaves it is most likely to reach

# What the value of a lot starts from [edition, lot, owned of its group up to 4], dollars. Streets: price, ten rents of the full group,
# a quarter of the rents with houses, a fifth of the hotel's. Railroads: price and ten rents of one more. Utilities: price and eight.
BASE: Final = np.zeros((len(EDITIONS), NUM_LOTS, 5))
for _lot in range(NUM_LOTS):
    for _owned in range(5):
        if _lot < NUM_STREETS:
            _earned = 20 * RENT[:, _lot, 0] + RENT[:, _lot, 1:HOTEL].sum(axis=1) / 4 + RENT[:, _lot, HOTEL] / 5
        elif GROUP_OF[_lot] == RAILROADS:
            _earned = 10 * RENT[:, _lot, min(_owned, 3)]
        else:
            _earned = 56 * RENT[:, _lot, min(_owned, 1)]
        BASE[:, _lot, _owned] = PRICE[:, _lot] + _earned

# Rent of all streets of a group [edition, group, level], dollars; without houses that of the full group.
GROUP_RENT: Final = np.zeros((len(EDITIONS), COLOURS, HOTEL + 1))
GROUP_PRICE: Final = np.zeros((len(EDITIONS), COLOURS))  # a house on each street of a group, dollars
for _lot in range(NUM_STREETS):
    GROUP_RENT[:, GROUP_OF[_lot]] += RENT[:, _lot] * np.array([2, 1, 1, 1, 1, 1])
    GROUP_PRICE[:, GROUP_OF[_lot]] += HOUSE_PRICE[:, _lot]

_THROWS: Final = np.array([0, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]) / 36  # chances of a throw of two dice


@kernel
def look(game: Game, seat: int, params: Row, memory: Row) -> None:
    """What the agent does whenever it asks for values: count the rounds, and look at the groups again if the count has risen.

    Args:
        game: The game.
        seat: Of the agent.
        params: Its parameters; those of an agent that adapts are its own copy and change here.
        memory: Of the agent.
    """
    owned = 0
    for other in range(game.num_players):
        owned |= int(game.lots[other])
    rises = False
    if owned != memory[DEEDS_SEEN] or memory[ROUND] == 0:
        memory[DEEDS_SEEN] = owned
        rounds = size(owned) // int(game.num_players) + 1
        rises = rounds > memory[ROUND]
        if rises:
            memory[ROUND] = rounds
            memory[OWN_SEEN] = int(game.lots[seat])
            memory[OTHERS_SEEN] = owned & ~int(game.lots[seat])
    if params[ADAPTATION] == DYNAMIC or (rises and params[ADAPTATION] == LATE):  # late_game changes by the count alone
        _adapt(game, seat, params, memory)


@kernel
def _adapt(game: Game, seat: int, params: Row, memory: Row) -> None:
    for i in range(len(ADJUSTMENTS)):
        if (
            ADJUSTMENTS[i, 0] == params[ADAPTATION]
            and ADJUSTMENTS[i, 1] <= memory[ROUND] <= ADJUSTMENTS[i, 2]
            and _holds(game, seat, int(ADJUSTMENTS[i, 3]))
        ):
            params[int(ADJUSTMENTS[i, 4])] = ADJUSTMENTS[i, 5]


@kernel
def _holds(game: Game, seat: int, condition: int) -> bool:
    """Whether the condition of an adjustment holds: more deeds, or more buildings, than every opponent, or not."""
    if condition == ALWAYS:
        return True
    by_deeds = condition == AHEAD or condition == BEHIND
    mine, most = _extent(game, seat, by_deeds), 0
    for other in range(game.num_players):
        if other != seat:
            most = max(most, _extent(game, other, by_deeds))
    return (mine > most) == (condition == AHEAD or condition == MORE_BUILT)


@kernel
def _extent(game: Game, seat: int, by_deeds: bool) -> int:
    if by_deeds:
        return size(game.lots[seat])
    steps = 0
    for street in range(NUM_STREETS):
        if has(game.lots[seat], street):
            steps += steps_of(game, int(game.level[street]))
    return steps


@kernel
def value(game: Game, lot: int, own: int, others: int, params: Row, memory: Row) -> float:
    """What a lot is worth to whoever owns the lots `own` while his opponents own `others`, in dollars: a street is about five prices."""
    return factor(game, lot, own, others, params, memory) * BASE[int(game.rules.board), lot, size(own & int(GROUP_LOTS[GROUP_OF[lot]]))]


@kernel
def seen_value(game: Game, lot: int, params: Row, memory: Row) -> float:
    """What a lot is worth to the agent by its last look at the groups (dollars)."""
    return value(game, lot, int(memory[OWN_SEEN]), int(memory[OTHERS_SEEN]), params, memory)


@kernel
def factor(game: Game, lot: int, own: int, others: int, params: Row, memory: Row) -> float:
    """By how much the parameters raise the value of a lot: completion of its group, location, first lot of a group."""
    group = int(GROUP_OF[lot])
    if group == RAILROADS:
        return params[RAILWAY]
    if group == UTILITIES:
        return params[UTILITY]
    members, count = int(GROUP_LOTS[group]), int(GROUP_SIZE[group])
    owned = size(own & members)
    raised = 1.0
    if others & members == 0:
        raised += params[SET_BONUS] * owned / count
    if owned == 0:
        raised *= params[EAGERNESS] * (1.0 + max(0.0, params[EARLY] - memory[ROUND]) / params[EARLY])
    if group == ORANGE or group == RED:
        raised *= params[ORANGE_RED]
    elif group == GREEN or group == DARK_BLUE:
        raised *= params[GREEN_BLUE]
    return raised * params[PAST_JAIL] if in_zone(int(LOT_SQUARE[game.rules.board, lot])) else raised


@kernel
def in_zone(square: int) -> bool:
    """Whether a square lies six to nine past jail."""
    return _ZONE[0] <= (square - JAIL_SQUARE) % NUM_SQUARES <= _ZONE[1]


@kernel
def group_return(game: Game, group: int, level: int, following: int) -> float:
    """Rent that raising all streets of a group from a level to the one that follows adds, for each dollar of its list price."""
    board = int(game.rules.board)
    return (GROUP_RENT[board, group, following] - GROUP_RENT[board, group, level]) / GROUP_PRICE[board, group]


@kernel
def danger(game: Game, seat: int, params: Row) -> float:
    """The share of the cash that the next throw is expected to cost; rents beyond the cash count as all of it."""
    board, position, cash = int(game.rules.board), int(game.position[seat]), max(0, int(game.cash[seat]))
    theirs = of_opponents(game, seat)
    expected = 0.0
    for steps in range(2, 13):
        square = (position + steps) % NUM_SQUARES
        lot = int(SQUARE_LOT[board, square])
        if lot >= 0 and has(theirs, lot):
            share = min(1.0, _feared_rent(game, lot) / (cash + 1))
            expected += _THROWS[steps] * share * (params[DANGER_WEIGHT] if in_zone(square) else 1.0)
    return expected


@kernel
def _feared_rent(game: Game, lot: int) -> float:
    """The rent that the agent expects on an opponent's lot, mortgaged or not; utilities by a throw of seven."""
    board, group, owner = int(game.rules.board), int(GROUP_OF[lot]), owner_of(game, lot)
    members = int(GROUP_LOTS[group])
    if owner == NOBODY:
        return 0.0
    owned = size(int(game.lots[owner]) & members)
    if group == RAILROADS:
        return float(RENT[board, lot, owned - 1])
    if group == UTILITIES:
        return 7.0 * RENT[board, lot, owned - 1]
    level = int(game.level[lot])
    return float(RENT[board, lot, level]) * (2 if level == 0 and owned == GROUP_SIZE[group] else 1)
