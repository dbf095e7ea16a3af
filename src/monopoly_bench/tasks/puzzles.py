"""Task 7: Puzzles. Frozen decisions with a solution on which the playouts of two players agree.

The score is the regret of the agent's answers in shares of the win. An answer that a puzzle does
not list, such as an offer, is played out with the same random numbers. It may be better than the
solution; its regret is then negative.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

import numpy as np

from monopoly_bench.puzzles import Puzzle
from monopoly_bench.task import (
    CONTINUATION,
    Task,
    TaskScore,
    TaskSetting,
    action_of,
    mean_score,
    shares_of_actions,
)
from monopoly_env.policy.protocol import Policy

PLAYOUTS: Final = 400  # of answers that a puzzle does not list
QUICK: Final = 4  # puzzles


def run(agent: Policy, setting: TaskSetting) -> TaskScore:
    """The mean regret over the puzzles at sizes of tables that the agent supports."""
    chosen = [p for p in setting.suite.puzzles if agent.plays_at(p.replay.num_players)]
    if setting.quick:
        chosen = chosen[:: max(1, len(chosen) // QUICK)][:QUICK]
    kinds: dict[str, list[float]] = defaultdict(list)
    found = []
    for puzzle in chosen:
        action = action_of(agent, puzzle.game)
        found.append(action == puzzle.best.action)
        kinds[puzzle.kind].append(_regret(puzzle, action, setting))
    regrets = [regret for kind in kinds.values() for regret in kind]
    by_kind = {kind: float(np.mean(values)) for kind, values in sorted(kinds.items())}
    return mean_score(regrets, solved=float(np.mean(found)), regret_by_kind=by_kind)


def _regret(puzzle: Puzzle, action: int, setting: TaskSetting) -> float:
    for candidate in puzzle.candidates:
        if candidate.action == action:
            return -candidate.difference
    game, n = puzzle.game, PLAYOUTS // 20 if setting.quick else PLAYOUTS
    # The solution's label is valid if it comes from the same playouts
    labelled = puzzle.best.playouts == n and puzzle.policies == (CONTINUATION,)
    actions = [action] if labelled else [action, puzzle.best.action]
    shares = shares_of_actions(game, actions, n, puzzle.seed, setting.threads)[:, int(game.player)]
    return float((puzzle.best.share if labelled else shares[1]) - shares[0])


TASK: Final = Task(7, "puzzles", "regret in share of the win", False, run)
