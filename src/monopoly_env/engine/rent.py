"""Rent (17-22)."""

from __future__ import annotations

from monopoly_env.engine.players import owns_group
from monopoly_env.engine.sets import has, size
from monopoly_env.facts.board import GROUP_LOTS, GROUP_OF, RAILROADS, RENT, UTILITIES
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

# How a token reached a square: by dice or an ordinary card; by a card that sets a railroad's or
# utility's rent; or not at all, in a second settlement that only collects rent (a quirk).
ORDINARY, CARD_RAILROAD, CARD_UTILITY, AGAIN = range(4)

_FRESH = number("utility_dice", "fresh")


@kernel
def is_free(game: Game, owner: int, lot: int, how: int) -> bool:
    """Whether nothing is due: a mortgaged lot, or (option) an owner in jail (17, 21, 22)."""
    if game.jail[owner] > 0 and not game.rules.rent_in_jail:
        return True
    named_amount = how == CARD_UTILITY and game.rules.card_utility_pays_when_mortgaged
    return has(game.mortgaged, lot) and not named_amount


@kernel
def needs_fresh_throw(game: Game, lot: int, how: int) -> bool:
    """Whether the rent depends on a fresh throw (19, 20)."""
    return GROUP_OF[lot] == UTILITIES and (how == CARD_UTILITY or game.rules.utility_dice == _FRESH)


@kernel
def card_rent(game: Game, owner: int, lot: int, how: int, multiplier: int, total: int) -> int:
    """The rent of a visitor in dollars, by the way of arrival and the sum of the dice."""
    if how == CARD_UTILITY:
        return multiplier * total
    due = ordinary_rent(game, owner, lot, total)
    return due * multiplier if how == CARD_RAILROAD else due


@kernel
def ordinary_rent(game: Game, owner: int, lot: int, total: int) -> int:
    """The rent of an unmortgaged lot by its title deed, in dollars (17-19)."""
    board, group = int(game.rules.board), int(GROUP_OF[lot])
    if group == RAILROADS:
        return int(RENT[board, lot, counted(game, owner, group) - 1])
    if group == UTILITIES:
        return int(RENT[board, lot, counted(game, owner, group) - 1]) * total
    level = int(game.level[lot])
    if level > 0:
        return int(RENT[board, lot, level])
    return int(RENT[board, lot, 0]) * (2 if doubles(game, owner, group) else 1)


@kernel
def doubles(game: Game, owner: int, group: int) -> bool:
    """Whether the base rent of a group's lots is doubled (17)."""
    lots = int(GROUP_LOTS[group])
    return owns_group(game, owner, group) and (
        bool(game.rules.double_rent_if_group_mortgaged) or int(game.mortgaged) & lots == 0
    )


@kernel
def counted(game: Game, owner: int, group: int) -> int:
    """How many railroads or utilities count for their rent (18, 19)."""
    lots = int(game.lots[owner]) & int(GROUP_LOTS[group])
    if not game.rules.count_mortgaged_rr_ut:
        lots &= ~int(game.mortgaged)
    return size(lots)


@kernel
def quirk_tested_rent(game: Game, owner: int, lot: int, due: int) -> int:
    """The part of a rent that a debtor must be able to raise, in dollars: the whole rent.

    Under `ocnaru_quirks` only the doubled base rent of a complete group is tested; the rest is
    taken even if cash falls below zero.
    """
    group = int(GROUP_OF[lot])
    if not game.rules.ocnaru_quirks or group >= RAILROADS or not owns_group(game, owner, group):
        return due
    return min(due, 2 * int(RENT[game.rules.board, lot, 0]))
