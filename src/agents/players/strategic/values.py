"""Beliefs of the strategic agent: rounds, groups as last seen, values, returns, danger.

Rounds are counted by the number of lots that all players own. Only when that count rises does the
agent look at the groups again. In between, it goes by that look: the lots that it and its
opponents owned at that time. Its values follow from these two sets and the count, so nothing else
is kept.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.players.strategic import parameters
from agents.players.strategic.parameters import AT
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.reading import of_opponents, owned_lots
from monopoly_env.engine import building, players
from monopoly_env.engine.sets import has, size
from monopoly_env.facts import board
from monopoly_env.game import NOBODY, Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row

MOST_PLANS: Final = 3  # offers planned for a window

SLOT: Final = memory_slots(
    # The count of rounds, who owned what when it last rose, and all owned lots at the last look.
    "round", "own_seen", "others_seen", "all_seen",
    # Of the open window: the phase, which window it is, the lots still to act on.
    "phase", "stamp", "todo",
    # The number of planned offers; when a search is due: from a turn, or when lots change hands.
    "offers", "next_offer", "scanned_own", "scanned_others",
    # What is planned for a debt: lots to mortgage, streets to sell from.
    "mortgage_left", "sale_left",
    # The lot for which cash is being raised, plus 1.
    "raising",
    # Whether `parameters` has been filled.
    "copied",
    # The planned offers, see `trading`.
    plans=MOST_PLANS,
    # The parameters of an agent that adapts: it plays by this copy.
    parameters=parameters.NUM_PARAMETERS,
)  # fmt: skip

ORANGE, RED, GREEN, DARK_BLUE = (
    board.GROUPS.index(name) for name in ("orange", "red", "green", "dark_blue")
)
_ZONE: Final = (6, 9)  # squares past jail that a token leaving it is most likely to reach

# [edition, lot, owned of its group, up to 4] -> base of a lot's value (dollars). Streets: price,
# ten rents of the complete group, a quarter of the rents with houses, a fifth of the hotel's.
# Railroads: price and ten rents of one more. Utilities: price and eight.
BASE: Final = np.zeros((board.NUM_EDITIONS, board.NUM_LOTS, 5))
for _lot in range(board.NUM_LOTS):
    for _owned in range(5):
        if _lot < board.NUM_STREETS:
            _with_houses = board.RENT[:, _lot, 1 : board.HOTEL].sum(axis=1)
            _earned = (
                20 * board.RENT[:, _lot, 0]
                + _with_houses / 4
                + board.RENT[:, _lot, board.HOTEL] / 5
            )
        elif board.GROUP_OF[_lot] == board.RAILROADS:
            _earned = 10 * board.RENT[:, _lot, min(_owned, 3)]
        else:
            _earned = 56 * board.RENT[:, _lot, min(_owned, 1)]
        BASE[:, _lot, _owned] = board.PRICE[:, _lot] + _earned

# [edition, group, level] -> rent of all streets of a complete group (dollars)
GROUP_RENT: Final = np.zeros((board.NUM_EDITIONS, building.COLOURS, board.HOTEL + 1))
# [edition, group] -> price of a house on each street (dollars)
GROUP_PRICE: Final = np.zeros((board.NUM_EDITIONS, building.COLOURS))
for _lot in range(board.NUM_STREETS):
    GROUP_RENT[:, board.GROUP_OF[_lot]] += board.RENT[:, _lot] * np.array([2, 1, 1, 1, 1, 1])
    GROUP_PRICE[:, board.GROUP_OF[_lot]] += board.HOUSE_PRICE[:, _lot]

_THROWS: Final = np.array([0, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]) / 36  # of two dice


@kernel
def look(game: Game, seat: int, params: Row, memory: Row) -> None:
    """Count the rounds, and look at the groups again if the count has risen.

    The parameters of an agent that adapts are its own copy and change here.
    """
    owned = owned_lots(game)
    rises = False
    if owned != memory[SLOT.all_seen] or memory[SLOT.round] == 0:
        memory[SLOT.all_seen] = owned
        rounds = size(owned) // int(game.num_players) + 1
        rises = rounds > memory[SLOT.round]
        if rises:
            memory[SLOT.round] = rounds
            memory[SLOT.own_seen] = int(game.lots[seat])
            memory[SLOT.others_seen] = owned & ~int(game.lots[seat])
    late = rises and params[AT.adaptation] == parameters.LATE  # it changes only with the count
    if late or params[AT.adaptation] == parameters.DYNAMIC:
        _adapt(game, seat, params, memory)


@kernel
def _adapt(game: Game, seat: int, params: Row, memory: Row) -> None:
    for i in range(len(parameters.ADJUSTMENTS)):
        rule = parameters.ADJUSTMENTS[i]
        due = rule[0] == params[AT.adaptation] and rule[1] <= memory[SLOT.round] <= rule[2]
        if due and _holds(game, seat, int(rule[3])):
            params[int(rule[4])] = rule[5]


@kernel
def _holds(game: Game, seat: int, condition: int) -> bool:
    """Whether a condition holds: more lots or buildings than each opponent, or not."""
    if condition == parameters.ALWAYS:
        return True
    by_lots = condition == parameters.AHEAD or condition == parameters.BEHIND
    mine, most = _extent(game, seat, by_lots), 0
    for other in range(game.num_players):
        if other != seat:
            most = max(most, _extent(game, other, by_lots))
    return (mine > most) == (condition == parameters.AHEAD or condition == parameters.MORE_BUILT)


@kernel
def _extent(game: Game, seat: int, by_lots: bool) -> int:
    if by_lots:
        return size(game.lots[seat])
    steps = 0
    for street in range(board.NUM_STREETS):
        if has(game.lots[seat], street):
            steps += building.steps_of(game, int(game.level[street]))
    return steps


@kernel
def value(game: Game, lot: int, own: int, others: int, params: Row, memory: Row) -> float:
    """The value of a lot to the owner of `own` against owners of `others` (dollars)."""
    owned = size(own & board.GROUP_LOTS[board.GROUP_OF[lot]])
    return factor(game, lot, own, others, params, memory) * BASE[int(game.rules.board), lot, owned]


@kernel
def seen_value(game: Game, lot: int, params: Row, memory: Row) -> float:
    """The value of a lot by the agent's last look at the groups (dollars)."""
    own, others = int(memory[SLOT.own_seen]), int(memory[SLOT.others_seen])
    return value(game, lot, own, others, params, memory)


@kernel
def factor(game: Game, lot: int, own: int, others: int, params: Row, memory: Row) -> float:
    """The factor of the parameters on a lot's value: completion, location, first of a group."""
    group = board.GROUP_OF[lot]
    if group == board.RAILROADS:
        return params[AT.railway_value_multiplier]
    if group == board.UTILITIES:
        return params[AT.utility_value_multiplier]
    members, count = board.GROUP_LOTS[group], board.GROUP_SIZE[group]
    owned = size(own & members)
    raised = 1.0
    if others & members == 0:
        raised += params[AT.complete_set_bonus] * owned / count
    if owned == 0:
        early = params[AT.early_game_turns]
        raised *= params[AT.first_property_eagerness] * (
            1.0 + max(0.0, early - memory[SLOT.round]) / early
        )
    if group == ORANGE or group == RED:
        raised *= params[AT.orange_red_property_bonus]
    elif group == GREEN or group == DARK_BLUE:
        raised *= params[AT.green_blue_property_bonus]
    if in_zone(board.LOT_SQUARE[game.rules.board, lot]):
        return raised * params[AT.jail_adjacent_bonus]
    return raised


@kernel
def in_zone(square: int) -> bool:
    """Whether a square is six to nine squares past jail."""
    return _ZONE[0] <= (square - board.JAIL_SQUARE) % board.NUM_SQUARES <= _ZONE[1]


@kernel
def group_return(game: Game, group: int, level: int, following: int) -> float:
    """Rent per dollar of raising all streets of a group from one level to another."""
    edition = int(game.rules.board)
    added = GROUP_RENT[edition, group, following] - GROUP_RENT[edition, group, level]
    return added / GROUP_PRICE[edition, group]


@kernel
def danger(game: Game, seat: int, params: Row) -> float:
    """The share of its cash that the agent expects to lose by its next throw; at most all."""
    edition, position = int(game.rules.board), int(game.position[seat])
    cash = max(0, int(game.cash[seat]))
    theirs = of_opponents(game, seat)
    expected = 0.0
    for steps in range(2, 13):
        square = (position + steps) % board.NUM_SQUARES
        lot = board.SQUARE_LOT[edition, square]
        if lot >= 0 and has(theirs, lot):
            share = min(1.0, _feared_rent(game, lot) / (cash + 1))
            weight = params[AT.danger_zone_weight] if in_zone(square) else 1.0
            expected += _THROWS[steps] * share * weight
    return expected


@kernel
def _feared_rent(game: Game, lot: int) -> float:
    """The expected rent on an opponent's lot, mortgaged or not; utilities at a throw of 7."""
    edition, group = int(game.rules.board), board.GROUP_OF[lot]
    owner = players.owner_of(game, lot)
    members = board.GROUP_LOTS[group]
    if owner == NOBODY:
        return 0.0
    owned = size(int(game.lots[owner]) & members)
    if group == board.RAILROADS:
        return float(board.RENT[edition, lot, owned - 1])
    if group == board.UTILITIES:
        return 7.0 * board.RENT[edition, lot, owned - 1]
    level = int(game.level[lot])
    return float(board.RENT[edition, lot, level]) * (
        2 if level == 0 and owned == board.GROUP_SIZE[group] else 1
    )
