"""Task 6: Kingmaker. A near-hopeless player decides which of two rivals wins.

The score is the regret in the agent's own share of the win. Details are the shifts of its rivals'
shares, compared with the action that is best for itself.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from monopoly_bench.suite import Position
from monopoly_bench.task import (
    Task,
    TaskScore,
    TaskSetting,
    action_of,
    mean_score,
    shares_of_actions,
)
from monopoly_env.policy.protocol import Policy

# Of each label, and of answers without a label, with the same random numbers
PLAYOUTS: Final = 400
QUICK: Final = 3  # positions


def run(agent: Policy, setting: TaskSetting) -> TaskScore:
    """The mean regret."""
    positions = setting.suite.kingmaker[: QUICK if setting.quick else None]
    rows = np.array([_measured(agent, position, setting) for position in positions])
    moved, to_leader = float(rows[:, 1].mean()), float(rows[:, 2].mean())
    return mean_score(rows[:, 0], moved=moved, to_leader=to_leader)


def _measured(
    agent: Policy, position: Position, setting: TaskSetting
) -> tuple[float, float, float]:
    """Regret, the largest change of a rival's share, and the change of the leader's share."""
    game = position.game
    seat, action = int(game.player), action_of(agent, game)
    labels = {label: np.array(shares) for label, shares in position.labels.items()}
    mean, best = np.mean([*labels.values()], axis=0), max(labels, key=lambda one: labels[one][seat])
    if action not in labels:
        n = PLAYOUTS // 20 if setting.quick else PLAYOUTS
        labels[action] = shares_of_actions(game, [action], n, position.seed, setting.threads)[0]
    change = labels[action] - labels[best]
    rivals = np.flatnonzero(np.arange(len(change)) != seat)
    leader = rivals[mean[rivals].argmax()]
    return -change[seat], np.abs(change[rivals]).max(), change[leader]


TASK: Final = Task(6, "kingmaker", "regret in own share of the win", False, run, (3,))
