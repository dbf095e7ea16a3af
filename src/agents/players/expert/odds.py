"""Landing odds as tables: where a token comes to within its next turn from each square, and in the long run.

A turn is a throw, and another after the first and second double; cards move the token on, a third double ends it. A railroad that
a card leads to counts twice and a utility ten dice to four, as their rents do, so odds times ordinary rent is the expected rent.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.board import (
    CHANCE,
    CHEST,
    EDITIONS,
    GO_TO_JAIL,
    GROUP_SIZE,
    GROUP_START,
    HOTEL,
    JAIL_SQUARE,
    LOT_SQUARE,
    NUM_GROUPS,
    NUM_LOTS,
    NUM_SQUARES,
    PRICE,
    RAILROAD,
    RAILROADS,
    RENT,
    SQUARE_KIND,
    UTILITIES,
    UTILITY,
)
from monopoly_env.cards import CARD, CHANCE_DECK, CHEST_DECK, DECK_SIZE, MOVE_BACK_TO, MOVE_STEPS, MOVE_TO, MOVE_TO_NEAREST, TO_JAIL

IN_JAIL: Final = NUM_SQUARES  # a row of its own: a token that may leave by a double only
AVERAGE_THROW: Final = 7
_ROWS: Final = NUM_SQUARES + 1
_UTILITY_BY_CARD: Final = 2.5  # ten times the dice where one utility asks four

Table = NDArray[np.float64]


def _arrival(edition: int, square: int) -> tuple[Table, Table]:
    """What follows from a token's coming to a square: arrivals (40,), weighted by rent, and where it rests (41,)."""
    kinds = SQUARE_KIND[edition]
    arrivals, rests = np.zeros(NUM_SQUARES), np.zeros(_ROWS)
    arrivals[square] = 1.0
    kind = int(kinds[square])
    if kind == GO_TO_JAIL:
        rests[IN_JAIL] = 1.0
        return arrivals, rests
    if kind not in (CHANCE, CHEST):
        rests[square] = 1.0
        return arrivals, rests
    for effect, a, b in CARD[edition, CHANCE_DECK if kind == CHANCE else CHEST_DECK].tolist():
        weight = 1.0
        if effect == TO_JAIL:
            rests[IN_JAIL] += 1 / DECK_SIZE
            continue
        if effect in (MOVE_TO, MOVE_BACK_TO):
            target = a
        elif effect == MOVE_STEPS:
            target = (square + a) % NUM_SQUARES
        elif effect == MOVE_TO_NEAREST:
            wanted = UTILITY if a else RAILROAD
            target = next(s % NUM_SQUARES for s in range(square, square + NUM_SQUARES) if kinds[s % NUM_SQUARES] == wanted)
            weight = _UTILITY_BY_CARD if a else float(b)
        else:
            rests[square] += 1 / DECK_SIZE
            continue
        further, resting = _arrival(edition, target)
        arrivals += weight * further / DECK_SIZE
        rests += resting / DECK_SIZE
    return arrivals, rests


def _throws(doubles: bool) -> Table:
    """(40, 40): the odds to come from square to square by a throw that is a double, or none."""
    odds = np.zeros((NUM_SQUARES, NUM_SQUARES))
    for first in range(1, 7):
        for second in range(1, 7):
            if (first == second) == doubles:
                for square in range(NUM_SQUARES):
                    odds[square, (square + first + second) % NUM_SQUARES] += 1 / 36
    return odds


def _turn(edition: int) -> tuple[Table, Table]:
    """(41, 40) arrivals within a turn from each square, and (41, 41) where the turn ends."""
    arriving, resting = (np.array(part) for part in zip(*(_arrival(edition, s) for s in range(NUM_SQUARES)), strict=True))
    single, double = _throws(False), _throws(True)
    arrivals, ends = np.zeros((_ROWS, NUM_SQUARES)), np.zeros((_ROWS, _ROWS))
    standing = np.eye(NUM_SQUARES)
    for throw in range(3):
        moved = standing @ single + (standing @ double if throw < 2 else 0)  # a third double leads to jail
        arrivals[:NUM_SQUARES] += moved @ arriving
        ends[:NUM_SQUARES] += standing @ single @ resting
        after = standing @ double @ resting
        if throw == 2:
            ends[:NUM_SQUARES, IN_JAIL] += standing.sum(axis=1) / 6
        else:
            ends[:NUM_SQUARES, IN_JAIL] += after[:, IN_JAIL]
            standing = after[:, :NUM_SQUARES]
    leaving = double[JAIL_SQUARE]  # and no further throw
    arrivals[IN_JAIL] = leaving @ arriving
    ends[IN_JAIL] = leaving @ resting
    ends[IN_JAIL, IN_JAIL] += 5 / 6
    return arrivals, ends


def _long_run(arrivals: Table, ends: Table) -> Table:
    """(40,) arrivals a turn of a player who leaves jail at once."""
    chain = ends.copy()
    chain[IN_JAIL] = chain[JAIL_SQUARE]
    standing = np.linalg.matrix_power(chain, 1 << 10)[0]
    standing[JAIL_SQUARE] += standing[IN_JAIL]
    return standing[:NUM_SQUARES] @ arrivals[:NUM_SQUARES]


_TURNS: Final = [_turn(edition) for edition in range(len(EDITIONS))]
_LATER: Final = np.array([_long_run(*turn) for turn in _TURNS])
_SQUARES: Final = [LOT_SQUARE[edition] for edition in range(len(EDITIONS))]

# [edition, square or IN_JAIL, square]: rent-weighted arrivals within the next turn.
NEXT: Final = np.array([arrivals for arrivals, _ in _TURNS])
# [edition, square or IN_JAIL, lot]: the same by lot.
NEXT_LOT: Final = np.array([arrivals[:, _SQUARES[edition]] for edition, (arrivals, _) in enumerate(_TURNS)])
# [edition, lot]: the same in the long run, a turn.
LATER_LOT: Final = np.array([_LATER[edition, _SQUARES[edition]] for edition in range(len(EDITIONS))])

# Sums over a part of a group, given as bits from the group's first lot on.
_PARTS: Final = 1 << int(GROUP_SIZE.max())
# [edition, group, part]: printed prices (dollars).
PART_PRICE: Final = np.zeros((len(EDITIONS), NUM_GROUPS, _PARTS))
# [edition, group, part]: rent a turn of one opponent (dollars), streets at the base rent, railroads and utilities by their number.
PART_INCOME: Final = np.zeros((len(EDITIONS), NUM_GROUPS, _PARTS))
# [edition, group, level]: the same of a complete colour with this level on every street; level 0 has the doubled base rent.
SET_INCOME: Final = np.zeros((len(EDITIONS), NUM_GROUPS, HOTEL + 1))


def _fill(edition: int) -> None:
    for group in range(NUM_GROUPS):
        lots = range(int(GROUP_START[group]), int(GROUP_START[group] + GROUP_SIZE[group]))
        for part in range(1, 1 << len(lots)):
            members = [lot for i, lot in enumerate(lots) if part >> i & 1]
            PART_PRICE[edition, group, part] = PRICE[edition, members].sum()
            level = len(members) - 1 if group >= RAILROADS else 0
            dice = AVERAGE_THROW if group == UTILITIES else 1
            PART_INCOME[edition, group, part] = (LATER_LOT[edition, members] * RENT[edition, members, level]).sum() * dice
        if group < RAILROADS:
            for level in range(HOTEL + 1):
                factor = 2 if level == 0 else 1
                SET_INCOME[edition, group, level] = factor * (LATER_LOT[edition, lots] * RENT[edition, lots, level]).sum()


for _edition in range(len(EDITIONS)):
    _fill(_edition)

assert NEXT_LOT.shape == (len(EDITIONS), _ROWS, NUM_LOTS)
