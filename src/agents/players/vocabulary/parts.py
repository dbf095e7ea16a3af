"""Parts: lots that may change hands together, of no group, one or two."""

from __future__ import annotations

from itertools import combinations
from typing import Final

import numpy as np

from agents.players.vocabulary.offers import OFFICIAL
from monopoly_env.engine import trade
from monopoly_env.facts.board import GROUP_LOTS, NUM_GROUPS, RAILROADS
from monopoly_env.game import Game
from monopoly_env.kernels import kernel

# The groups of each part: none, one or two of them.
PARTS: Final = ((), *((group,) for group in range(NUM_GROUPS)), *combinations(range(NUM_GROUPS), 2))
# [part] -> its groups, a bit each
PART_GROUPS: Final = np.array([sum(1 << group for group in part) for part in PARTS])


@kernel
def _of_group(game: Game, giver: int, taker: int, group: int) -> int:
    """The lots of a group that change hands together.

    All that may be given; one railroad or utility if the taker's stay incomplete; one lot if the
    rules say so.
    """
    members = GROUP_LOTS[group]
    found = trade.tradable(game, giver) & members
    together = (int(game.lots[taker]) | found) & members == members
    if game.rules.trade != OFFICIAL or (group >= RAILROADS and not together):
        return found & -found
    return found


@kernel
def lots_of(game: Game, giver: int, taker: int, part: int) -> int:
    """The lots of a part that a giver would give, a bit each."""
    lots, groups = 0, int(PART_GROUPS[part])
    for group in range(NUM_GROUPS):
        if groups >> group & 1:
            lots |= _of_group(game, giver, taker, group)
    return lots
