"""Ownership of groups: complete ones, and lots that would complete or block one."""

from __future__ import annotations

from monopoly_env.engine.sets import each
from monopoly_env.facts.board import GROUP_LOTS, GROUP_OF, HOUSE_PRICE, NUM_STREETS
from monopoly_env.game import Game
from monopoly_env.kernels import kernel

STREETS = (1 << NUM_STREETS) - 1  # the lots that can be built on, a bit each


@kernel
def complete(lots: int) -> int:
    """The members of a set of lots whose whole group is in the set."""
    found = 0
    for group in range(len(GROUP_LOTS)):
        members = GROUP_LOTS[group]
        if lots & members == members:
            found |= members
    return found


@kernel
def count_complete(lots: int) -> int:
    """The number of groups of which all lots are in a set."""
    count = 0
    for group in range(len(GROUP_LOTS)):
        count += lots & GROUP_LOTS[group] == GROUP_LOTS[group]
    return count


@kernel
def completes(game: Game, seat: int, lot: int) -> bool:
    """Whether a seat owns all other lots of a lot's group."""
    others = GROUP_LOTS[GROUP_OF[lot]] & ~(1 << lot)
    return int(game.lots[seat]) & others == others


@kernel
def blocks(game: Game, seat: int, lot: int) -> bool:
    """Whether an opponent owns all other lots of a lot's group."""
    for other in range(game.num_players):
        if other != seat and completes(game, other, lot):
            return True
    return False


@kernel
def weight(
    game: Game, seat: int, lot: int, completing: float, blocking: float, started: float
) -> float:
    """The weight of a lot that completes a group, blocks one, or is of a started one; else 1."""
    if completes(game, seat, lot):
        return completing
    if blocks(game, seat, lot):
        return blocking
    others = int(GROUP_LOTS[GROUP_OF[lot]]) & ~(1 << lot)
    return started if int(game.lots[seat]) & others else 1.0


@kernel
def dearest_house(game: Game, seat: int) -> int:
    """The highest house price among a seat's complete groups (dollars)."""
    lots, most = complete(int(game.lots[seat])) & STREETS, 0
    for lot in each(lots):
        most = max(most, HOUSE_PRICE[game.rules.board, lot])
    return most


@kernel
def groups_of(lots: int) -> int:
    """The groups of a set of lots, a bit each."""
    groups = 0
    for group in range(len(GROUP_LOTS)):
        if lots & GROUP_LOTS[group]:
            groups |= 1 << group
    return groups
