"""Task 7: Puzzles. Frozen decisions with a solution on which the playouts of two players agree.

The score is the regret: how much of the win the agent's answer gives away. An answer that is none
of a puzzle's own, such as an offer, is played out over the same luck. It may be better than the
solution; its regret is then negative.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import numpy as np

from monopoly_bench.playouts import CONTINUATION, choice, shares_of_actions
from monopoly_bench.puzzles import Puzzle
from monopoly_bench.task import Score, Setting, Task
from monopoly_env.intervals import mean_interval
from monopoly_env.policy.protocol import Policy

PLAYOUTS: Final = 400  # of answers that are none of a puzzle's
QUICK: Final = 4  # puzzles


def run(agent: Policy, setting: Setting) -> Score:
    """The mean regret over the puzzles of the sizes of tables that the agent plays at."""
    chosen = [p for p in setting.suite.puzzles if agent.plays_at(p.replay.num_players)]
    if setting.quick:
        chosen = chosen[:: max(1, len(chosen) // QUICK)][:QUICK]
    kinds: dict[str, list[float]] = defaultdict(list)
    found = []
    for puzzle in chosen:
        action = choice(agent, puzzle.game)
        found.append(action == puzzle.best.action)
        kinds[puzzle.kind].append(_regret(puzzle, action, setting))
    regrets = np.array([regret for kind in kinds.values() for regret in kind])
    mean, low, high = mean_interval(regrets)
    by_kind = {kind: float(np.mean(values)) for kind, values in sorted(kinds.items())}
    return Score(
        mean, low, high, len(regrets), {"solved": float(np.mean(found)), "regret_by_kind": by_kind}
    )


def _regret(puzzle: Puzzle, action: int, setting: Setting) -> float:
    for candidate in puzzle.candidates:
        if candidate.action == action:
            return -candidate.difference
    game, n = puzzle.game, PLAYOUTS // 20 if setting.quick else PLAYOUTS
    # Then the solution's label is what it would be again
    labelled = puzzle.best.playouts == n and puzzle.policies == (CONTINUATION,)
    actions = [action] if labelled else [action, puzzle.best.action]
    other, *best = shares_of_actions(game, actions, n, puzzle.seed, setting.threads)[
        :, int(game.player)
    ]
    return float((puzzle.best.share if labelled else best[0]) - other)


TASK: Final = Task(
    7, "puzzles", "official", "2 to 4", "none: frozen decisions, valued by playouts of expert",
    "every puzzle once",
    "regret in share of the win", False, run,
)  # fmt: skip
