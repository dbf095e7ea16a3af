"""Games that begin in the middle, their lots, cash, buildings and tokens at random.

Users set up positions by hand, and a player that searches looks at what its opponents would never
do. Both would be strange to a network that has only seen states of ordinary games.
"""

from __future__ import annotations

from typing import Final

from monopoly_env.engine import agenda
from monopoly_env.engine.building import UNLIMITED
from monopoly_env.engine.players import owns_group
from monopoly_env.engine.setup import prepare
from monopoly_env.engine.step import settle
from monopoly_env.facts.board import (
    GO_TO_JAIL,
    GROUP_SIZE,
    GROUP_START,
    HOTEL,
    JAIL_SQUARE,
    NUM_GROUPS,
    NUM_SQUARES,
    RAILROADS,
    SQUARE_KIND,
)
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.kernels.philox import philox

_STREAM: Final = 31  # of random numbers; the engine does not use it
_ROUNDS: Final = 60  # completed at most
# What numbers are drawn for; one of a kind, or one for each group, lot or seat.
(
    _OWNED, _GROUPED, _BEGUN, _FIRST, _TOGETHER, _DEALT, _OWNER, _MORTGAGED, _LEVEL, _CASH,
    _SQUARE, _JAILED,
) = range(12)  # fmt: skip


@kernel
def _below(game: Game, purpose: int, number: int, bound: int) -> int:
    """A random number from 0 to bound - 1."""
    return (philox(number, purpose, 0, _STREAM, int(game.seed[0]), int(game.seed[1])) * bound) >> 32


@kernel
def begin_in_the_middle(game: Game, players: int, seed_low: int, seed_high: int) -> None:
    """Begin a game in a zeroed record that holds its rules, and settle up to the first decision."""
    prepare(game, players, seed_low, seed_high)
    owned, grouped = _below(game, _OWNED, 0, 101), _below(game, _GROUPED, 0, 2) == 0
    for group in range(NUM_GROUPS):
        _deal_group(game, group, owned, grouped)
    for seat in range(players):
        _place(game, seat)
    if _below(game, _BEGUN, 0, 2) == 0:
        game.rounds = _below(game, _BEGUN, 1, _ROUNDS)
        game.turns = int(game.rounds) * players
    game.first = _below(game, _FIRST, 0, players)
    agenda.push(game, agenda.BEGIN_TURN, int(game.first), 0, 0)
    settle(game)


@kernel
def _deal_group(game: Game, group: int, owned: int, grouped: bool) -> None:
    """Deal `owned` percent of the lots of a group: to one player, or each by itself."""
    first, count, players = int(GROUP_START[group]), int(GROUP_SIZE[group]), int(game.num_players)
    together = grouped and _below(game, _TOGETHER, group, 2) == 0
    for lot in range(first, first + count):
        which = first if together else lot
        if _below(game, _DEALT, which, 100) < owned:
            seat = _below(game, _OWNER, which, players)
            game.lots[seat] = int(game.lots[seat]) | 1 << lot
            if _below(game, _MORTGAGED, lot, 8) == 0:
                game.mortgaged = int(game.mortgaged) | 1 << lot
    for seat in range(players):
        if (
            group < RAILROADS
            and owns_group(game, seat, group)
            and (int(game.mortgaged) >> first) & ((1 << count) - 1) == 0
        ):
            _build(game, group, _below(game, _LEVEL, group, 2 * HOTEL) - HOTEL + 1)


@kernel
def _build(game: Game, group: int, level: int) -> None:
    """Put as many buildings on each street of a group, if the bank has them."""
    first, count = int(GROUP_START[group]), int(GROUP_SIZE[group])
    hotels = count if level == HOTEL else 0
    houses = count * level if level < HOTEL else 0
    if level <= 0 or hotels > game.hotels or houses > game.houses:
        return
    for lot in range(first, first + count):
        game.level[lot] = level
    if game.rules.building_limit != UNLIMITED:
        game.houses = int(game.houses) - houses
        game.hotels = int(game.hotels) - hotels


@kernel
def _place(game: Game, seat: int) -> None:
    """Give a player cash, mostly little, and put its token somewhere."""
    part = _below(game, _CASH, seat, 1 << 16) / 65536.0
    game.cash[seat] = 20 + int(3000.0 * part * part)
    square = _below(game, _SQUARE, seat, NUM_SQUARES)
    if _below(game, _JAILED, seat, 12) == 0 or SQUARE_KIND[game.rules.board, square] == GO_TO_JAIL:
        game.jail[seat] = 1
        square = JAIL_SQUARE
    game.position[seat] = square
