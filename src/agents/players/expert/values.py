"""What players are worth: cash, lots, chances of a group, and the rents of groups over the rest of the game."""

from __future__ import annotations

from typing import Final

from agents.players.expert import odds
from agents.players.expert.parameters import CONTRAST, CROWD, DEED, HALF, HELD, HORIZON, KEEP, PROSPECTS, RAILS, THIRD, TOP, TWO_THIRDS
from monopoly_env.board import GROUP_LOTS, GROUP_SIZE, GROUP_START, HOTEL, HOUSE_PRICE, NUM_GROUPS, RAILROADS
from monopoly_env.engine.players import solvent_seats
from monopoly_env.engine.sets import size
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row
from monopoly_env.rules import number

_NO_TRADE = number("trade", "none")
_LIFTING: Final = 0.55  # of the list price that lifting a mortgage costs


@kernel
def turns_left(game: Game, params: Row) -> float:
    """Turns of opponents, all together, whose rents count."""
    opponents = size(solvent_seats(game)) - 1
    return params[HORIZON] * opponents ** params[CROWD]


@kernel
def complete_groups(lots: int) -> int:
    """How many colours lie whole in a set of lots."""
    count = 0
    for group in range(RAILROADS):
        members = int(GROUP_LOTS[group])
        if lots & members == members:
            count += 1
    return count


@kernel
def to_build(cash: float, groups: int, params: Row) -> float:
    """The dollars that can go into the houses of each of some complete groups."""
    return (max(0.0, cash - params[KEEP]) + params[PROSPECTS]) / max(1, groups)


@kernel
def set_worth(game: Game, group: int, funds: float, turns: float, params: Row) -> float:
    """What a complete colour earns with the houses it has and those that can be paid, less their price (dollars)."""
    board, start, count = int(game.rules.board), int(GROUP_START[group]), int(GROUP_SIZE[group])
    now = 0
    for street in range(start, start + count):
        now += int(game.level[street])
    step = float(HOUSE_PRICE[board, start]) * count
    level = now / count
    best = turns * _income(board, group, level)
    target = min(max(level, params[TOP]), level + funds / step)
    return max(best, turns * _income(board, group, target) - step * (target - level))


@kernel
def _income(board: int, group: int, level: float) -> float:
    """Rent a turn of one opponent, between whole levels in proportion."""
    lower = min(int(level), HOTEL - 1)
    part = level - lower
    return (1 - part) * odds.SET_INCOME[board, group, lower] + part * odds.SET_INCOME[board, group, lower + 1]


@kernel
def group_worth(game: Game, group: int, lots: int, elsewhere: int, funds: float, turns: float, params: Row) -> float:
    """What the lots of a group are worth to a player.

    Args:
        game: Where levels and mortgages are read.
        group: The group.
        lots: All lots of the player.
        elsewhere: All lots of the others.
        funds: Dollars for houses, see `to_build`.
        turns: See `turns_left`.
        params: Of the policy.
    """
    members = int(GROUP_LOTS[group])
    mine = lots & members
    if mine == 0:
        return 0.0
    board, start = int(game.rules.board), int(GROUP_START[group])
    part, pawned = mine >> start, (mine & int(game.mortgaged)) >> start
    worth = params[DEED] * odds.PART_PRICE[board, group, part] - _LIFTING * odds.PART_PRICE[board, group, pawned]
    if group >= RAILROADS:
        income = odds.PART_INCOME[board, group, part]
        if mine != members:  # one more raises the rent of all
            more = odds.PART_INCOME[board, group, (2 << size(mine)) - 1]
            income += params[RAILS] * max(0.0, more - income)
        return worth + turns * income
    if mine == members:
        return worth + set_worth(game, group, funds, turns, params)
    worth += turns * odds.PART_INCOME[board, group, part & ~pawned]
    chance = _chance(size(mine), int(GROUP_SIZE[group]), params)
    if members & elsewhere:
        chance *= 0.0 if game.rules.trade == _NO_TRADE else params[HELD]
    return worth + chance * set_worth(game, group, funds, turns, params)


@kernel
def _chance(count: int, members: int, params: Row) -> float:
    if members == 2:
        return params[HALF]
    return params[THIRD] if count == 1 else params[TWO_THIRDS]


@kernel
def strength(game: Game, lots: int, cash: float, elsewhere: int, turns: float, params: Row) -> float:
    """What a player with these lots and this cash is worth (dollars); at least one."""
    funds = to_build(cash, complete_groups(lots), params)
    worth = cash
    for group in range(NUM_GROUPS):
        if lots & int(GROUP_LOTS[group]):
            worth += group_worth(game, group, lots, elsewhere, funds, turns, params)
    return max(1.0, worth)


@kernel
def others_lots(game: Game, seat: int) -> int:
    """All lots of the other players."""
    lots = 0
    for other in range(game.num_players):
        if other != seat:
            lots |= int(game.lots[other])
    return lots


@kernel
def present_strength(game: Game, seat: int, turns: float, params: Row) -> float:
    """What a player is worth now."""
    return strength(game, int(game.lots[seat]), float(game.cash[seat]), others_lots(game, seat), turns, params)


@kernel
def fill_strengths(game: Game, turns: float, params: Row, into: Row) -> float:
    """Write the strength of each seat, zero for those who have left; the sum of their powers by the parameter `contrast`."""
    total = 0.0
    for seat in range(game.num_players):
        into[seat] = 0.0
        if game.place[seat] == 0:
            into[seat] = present_strength(game, seat, turns, params)
            total += into[seat] ** params[CONTRAST]
    return total


@kernel
def lot_gain(game: Game, seat: int, lot: int, turns: float, params: Row) -> float:
    """What one more lot, bought from the bank, adds to a player's worth (dollars)."""
    lots, elsewhere, cash = int(game.lots[seat]), others_lots(game, seat) & ~(1 << lot), float(game.cash[seat])
    now = strength(game, lots, cash, elsewhere, turns, params)
    return strength(game, lots | 1 << lot, cash, elsewhere, turns, params) - now
