"""Strength of players: cash, lots, prospects of groups, rents over the rest of the game."""

from __future__ import annotations

from typing import Final

from agents.players.expert import odds
from agents.players.expert.parameters import AT
from agents.players.vocabulary import offers
from agents.players.vocabulary.reading import of_opponents
from monopoly_env.engine import players
from monopoly_env.engine.sets import size
from monopoly_env.facts import board
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row

_LIFTING: Final = 0.55  # of the list price that lifting a mortgage costs


@kernel
def turns_left(game: Game, params: Row) -> float:
    """The number of opponents' turns, all together, whose rents count."""
    opponents = size(players.solvent_seats(game)) - 1
    return params[AT.horizon] * opponents ** params[AT.crowd]


@kernel
def complete_groups(lots: int) -> int:
    """The number of complete colours in a set of lots."""
    count = 0
    for group in range(board.RAILROADS):
        members = board.GROUP_LOTS[group]
        if lots & members == members:
            count += 1
    return count


@kernel
def to_build(cash: float, count: int, params: Row) -> float:
    """The dollars that can go into the houses of each of `count` complete groups."""
    return (max(0.0, cash - params[AT.keep]) + params[AT.prospects]) / max(1, count)


@kernel
def set_worth(game: Game, group: int, funds: float, turns: float, params: Row) -> float:
    """A complete colour's earnings with the houses that it has or funds pay, minus their price."""
    edition, start = int(game.rules.board), board.GROUP_START[group]
    count = board.GROUP_SIZE[group]
    now = 0
    for street in range(start, start + count):
        now += int(game.level[street])
    step = float(board.HOUSE_PRICE[edition, start]) * count
    level = now / count
    best = turns * _income(edition, group, level)
    target = min(max(level, params[AT.top]), level + funds / step)
    return max(best, turns * _income(edition, group, target) - step * (target - level))


@kernel
def _income(edition: int, group: int, level: float) -> float:
    """Rent per turn of one opponent, interpolated between whole levels."""
    lower = min(int(level), board.HOTEL - 1)
    part = level - lower
    return (1 - part) * odds.SET_INCOME[edition, group, lower] + part * odds.SET_INCOME[
        edition, group, lower + 1
    ]


@kernel
def group_worth(
    game: Game, group: int, lots: int, elsewhere: int, funds: float, turns: float, params: Row
) -> float:
    """The worth of a group's lots to a player.

    Args:
        game: The game, for levels and mortgages.
        group: The group.
        lots: All lots of the player.
        elsewhere: All lots of the others.
        funds: Dollars for houses, see `to_build`.
        turns: See `turns_left`.
        params: The policy's parameters.
    """
    members = board.GROUP_LOTS[group]
    mine = lots & members
    if mine == 0:
        return 0.0
    edition, start = int(game.rules.board), board.GROUP_START[group]
    part, pawned = mine >> start, (mine & int(game.mortgaged)) >> start
    prices = odds.PART_PRICE[edition, group]
    worth = params[AT.deed] * prices[part] - _LIFTING * prices[pawned]
    if group >= board.RAILROADS:
        income = odds.PART_INCOME[edition, group, part]
        if mine != members:  # one more raises the rent of all of them
            more = odds.PART_INCOME[edition, group, (2 << size(mine)) - 1]
            income += params[AT.rails] * max(0.0, more - income)
        return worth + turns * income
    if mine == members:
        return worth + set_worth(game, group, funds, turns, params)
    worth += turns * odds.PART_INCOME[edition, group, part & ~pawned]
    chance = _chance(size(mine), board.GROUP_SIZE[group], params)
    if members & elsewhere:
        chance *= 0.0 if game.rules.trade == offers.NO_TRADES else params[AT.held]
    return worth + chance * set_worth(game, group, funds, turns, params)


@kernel
def _chance(count: int, members: int, params: Row) -> float:
    if members == 2:
        return params[AT.half]
    return params[AT.third] if count == 1 else params[AT.two_thirds]


@kernel
def strength(
    game: Game, lots: int, cash: float, elsewhere: int, turns: float, params: Row
) -> float:
    """The worth of a player with these lots and this cash (dollars), at least 1."""
    funds = to_build(cash, complete_groups(lots), params)
    worth = cash
    for group in range(board.NUM_GROUPS):
        if lots & board.GROUP_LOTS[group]:
            worth += group_worth(game, group, lots, elsewhere, funds, turns, params)
    return max(1.0, worth)


@kernel
def present_strength(game: Game, seat: int, turns: float, params: Row) -> float:
    """The present worth of a player."""
    return strength(
        game, int(game.lots[seat]), float(game.cash[seat]), of_opponents(game, seat), turns, params
    )


@kernel
def power(worth: float, exponent: float) -> float:
    """A power of a strength; `expert` squares it, which takes a tenth of the time."""
    return worth * worth if exponent == 2 else worth**exponent


@kernel
def fill_strengths(game: Game, turns: float, params: Row, into: Row) -> float:
    """Write each seat's strength, 0 out of the game; returns the sum of powers by `contrast`."""
    total = 0.0
    for seat in range(game.num_players):
        into[seat] = 0.0
        if game.place[seat] == 0:
            into[seat] = present_strength(game, seat, turns, params)
            total += power(into[seat], params[AT.contrast])
    return total


@kernel
def lot_gain(game: Game, seat: int, lot: int, now: float, turns: float, params: Row) -> float:
    """The gain in worth of a player of strength `now` by one more lot from the bank (dollars)."""
    lots, elsewhere = int(game.lots[seat]) | 1 << lot, of_opponents(game, seat) & ~(1 << lot)
    return strength(game, lots, float(game.cash[seat]), elsewhere, turns, params) - now
