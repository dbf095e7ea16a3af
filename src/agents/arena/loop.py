"""The arena's compiled loop, which counts statistics and records the actions of some games."""

from __future__ import annotations

from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.arena.counting import (
    COUNTS,
    begin_counting,
    settle_counting,
    step_counting,
    take_stock,
    throws_next,
)
from agents.arena.luck import Luck, throw_measured
from monopoly_env.engine.agenda import OVER
from monopoly_env.engine.step import settle_one
from monopoly_env.kernels import borrowed, entry
from monopoly_env.kernels.signatures import Array1, Array2, Records
from monopoly_env.policy.loop import Running, next_of

NOT_RECORDED: Final = -1


class Recording(NamedTuple):
    """The actions of recorded games.

    Attributes:
        row: (B,) int64, the row of `actions` of each game, or NOT_RECORDED.
        length: (B,) int64, the number of recorded actions.
        actions: (R, L) uint8.
    """

    row: Array1[np.int64]
    length: Array1[np.int64]
    actions: Array2[np.uint8]


@entry
def play_games(
    running: Running,
    counts: Annotated[NDArray[Any], Records(COUNTS)],
    recording: Recording,
    luck: Luck,
) -> None:
    """Play each game until it ends, a batched policy is to move, or its recording is full.

    Args:
        running: The games.
        counts: (B,) COUNTS.
        recording: Of these games.
        luck: Of these games.
    """
    running, recording, luck = borrowed(running), borrowed(recording), borrowed(luck)
    for i in range(len(running.games)):
        game, row = running.games[i], recording.row[i]
        if game.decision == OVER:
            continue
        if running.progress[i].turn == 0:
            begin_counting(game, counts[i])
        while recording.length[i] < recording.actions.shape[1]:
            action = next_of(running, i)
            if action < 0:
                break
            if row != NOT_RECORDED:
                recording.actions[row, recording.length[i]] = action
                recording.length[i] += 1
            step_counting(game, action, counts[i])
            while throws_next(game):
                if luck.measured:
                    throw_measured(game, luck, luck.sums[i])
                else:
                    settle_one(game)
                settle_counting(game, counts[i])
        if game.decision == OVER:
            take_stock(game, counts[i])
