"""Landing odds: where a token lands in its next turn from each square, and in the long run.

A turn is a throw, and another throw after the first and the second double; a third double ends it.
Cards move the token on. A railroad to which a card leads counts twice and a utility 2.5 times, as
their rents do, so that odds times ordinary rent is the expected rent.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents.players.vocabulary.reading import AVERAGE_THROW
from monopoly_env.facts import board, cards

IN_JAIL: Final = board.NUM_SQUARES  # a row of its own: a token that leaves only by a double
_ROWS: Final = board.NUM_SQUARES + 1
_UTILITY_BY_CARD: Final = 2.5  # ten times the dice instead of four times

Table = NDArray[np.float64]


def _arrival(edition: int, square: int) -> tuple[Table, Table]:
    """Arrivals (40,) after landing on a square, weighted by rent, and where it rests (41,)."""
    kinds = board.SQUARE_KIND[edition]
    arrivals, rests = np.zeros(board.NUM_SQUARES), np.zeros(_ROWS)
    arrivals[square] = 1.0
    kind = int(kinds[square])
    if kind == board.GO_TO_JAIL:
        rests[IN_JAIL] = 1.0
        return arrivals, rests
    if kind not in (board.CHANCE, board.CHEST):
        rests[square] = 1.0
        return arrivals, rests
    for effect, a, b in cards.CARD[
        edition, cards.CHANCE_DECK if kind == board.CHANCE else cards.CHEST_DECK
    ].tolist():
        weight = 1.0
        if effect == cards.TO_JAIL:
            rests[IN_JAIL] += 1 / cards.DECK_SIZE
            continue
        if effect in (cards.MOVE_TO, cards.MOVE_BACK_TO):
            target = a
        elif effect == cards.MOVE_STEPS:
            target = (square + a) % board.NUM_SQUARES
        elif effect == cards.MOVE_TO_NEAREST:
            wanted = board.UTILITY if a else board.RAILROAD
            target = next(
                s for s in (*range(square, board.NUM_SQUARES), *range(square)) if kinds[s] == wanted
            )
            weight = _UTILITY_BY_CARD if a else float(b)
        else:
            rests[square] += 1 / cards.DECK_SIZE
            continue
        further, resting = _arrival(edition, target)
        arrivals += weight * further / cards.DECK_SIZE
        rests += resting / cards.DECK_SIZE
    return arrivals, rests


def _throws(doubles: bool) -> Table:
    """The odds (40, 40) of moving by a throw that is a double, or by one that is not."""
    odds = np.zeros((board.NUM_SQUARES, board.NUM_SQUARES))
    for first in range(1, 7):
        for second in range(1, 7):
            if (first == second) == doubles:
                for square in range(board.NUM_SQUARES):
                    odds[square, (square + first + second) % board.NUM_SQUARES] += 1 / 36
    return odds


def turn_odds(edition: int) -> tuple[Table, Table]:
    """Arrivals (41, 40) within a turn from each square, and where the turn ends (41, 41)."""
    arriving, resting = (
        np.array(part)
        for part in zip(*(_arrival(edition, s) for s in range(board.NUM_SQUARES)), strict=True)
    )
    single, double = _throws(False), _throws(True)
    arrivals, ends = np.zeros((_ROWS, board.NUM_SQUARES)), np.zeros((_ROWS, _ROWS))
    standing = np.eye(board.NUM_SQUARES)
    for throw in range(3):
        moved = standing @ single + (standing @ double if throw < 2 else 0)
        arrivals[: board.NUM_SQUARES] += moved @ arriving
        ends[: board.NUM_SQUARES] += standing @ single @ resting
        after = standing @ double @ resting
        if throw == 2:
            ends[: board.NUM_SQUARES, IN_JAIL] += standing.sum(axis=1) / 6
        else:
            ends[: board.NUM_SQUARES, IN_JAIL] += after[:, IN_JAIL]
            standing = after[:, : board.NUM_SQUARES]
    leaving = double[board.JAIL_SQUARE]  # without another throw
    arrivals[IN_JAIL] = leaving @ arriving
    ends[IN_JAIL] = leaving @ resting
    ends[IN_JAIL, IN_JAIL] += 5 / 6
    return arrivals, ends


def _long_run(arrivals: Table, ends: Table) -> Table:
    """Arrivals per turn (40,) of a player that leaves jail at once."""
    chain = ends.copy()
    chain[IN_JAIL] = chain[board.JAIL_SQUARE]
    standing = np.linalg.matrix_power(chain, 1 << 10)[0]
    standing[board.JAIL_SQUARE] += standing[IN_JAIL]
    return standing[: board.NUM_SQUARES] @ arrivals[: board.NUM_SQUARES]


_TURNS: Final = [turn_odds(edition) for edition in range(board.NUM_EDITIONS)]
_LATER: Final = np.array([_long_run(*turn) for turn in _TURNS])
_SQUARES: Final = [board.LOT_SQUARE[edition] for edition in range(board.NUM_EDITIONS)]

# [edition, square or IN_JAIL, square]: rent-weighted arrivals within the next turn.
NEXT: Final = np.array([arrivals for arrivals, _ in _TURNS])
# [edition, square or IN_JAIL, lot]: the same for lots.
NEXT_LOT: Final = np.array(
    [arrivals[:, _SQUARES[edition]] for edition, (arrivals, _) in enumerate(_TURNS)]
)
# [edition, lot]: the same per turn, in the long run.
LATER_LOT: Final = np.array(
    [_LATER[edition, _SQUARES[edition]] for edition in range(board.NUM_EDITIONS)]
)

# Sums over a part of a group, which is given as bits from the group's first lot on.
_PARTS: Final = 1 << int(board.GROUP_SIZE.max())
# [edition, group, part]: printed prices (dollars).
PART_PRICE: Final = np.zeros((board.NUM_EDITIONS, board.NUM_GROUPS, _PARTS))
# [edition, group, part]: rent per turn of one opponent (dollars), without houses.
PART_INCOME: Final = np.zeros((board.NUM_EDITIONS, board.NUM_GROUPS, _PARTS))
# [edition, group, level]: the same for a complete colour with this level on every street.
SET_INCOME: Final = np.zeros((board.NUM_EDITIONS, board.NUM_GROUPS, board.HOTEL + 1))


def _fill(edition: int) -> None:
    for group in range(board.NUM_GROUPS):
        lots = range(
            board.GROUP_START[group], int(board.GROUP_START[group] + board.GROUP_SIZE[group])
        )
        for part in range(1, 1 << len(lots)):
            members = [lot for i, lot in enumerate(lots) if part >> i & 1]
            PART_PRICE[edition, group, part] = board.PRICE[edition, members].sum()
            level = len(members) - 1 if group >= board.RAILROADS else 0
            dice = AVERAGE_THROW if group == board.UTILITIES else 1
            PART_INCOME[edition, group, part] = (
                LATER_LOT[edition, members] * board.RENT[edition, members, level]
            ).sum() * dice
        if group < board.RAILROADS:
            for level in range(board.HOTEL + 1):
                factor = 2 if level == 0 else 1
                SET_INCOME[edition, group, level] = (
                    factor * (LATER_LOT[edition, lots] * board.RENT[edition, lots, level]).sum()
                )


for _edition in range(board.NUM_EDITIONS):
    _fill(_edition)

assert NEXT_LOT.shape == (board.NUM_EDITIONS, _ROWS, board.NUM_LOTS)
