"""Task 6: Kingmaker. A player who can hardly win decides which of two others does.

Does it still play for itself?

The score is the regret in the agent's own share of the win. Beside it stands how much of the win
the agent moves from one rival to another, compared with what is best for itself.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from monopoly_bench.playouts import choice, shares_of_actions
from monopoly_bench.task import Score, Setting, Task
from monopoly_env.intervals import mean_interval
from monopoly_env.policy.protocol import Policy

# Of each label; answers without a label are played out as often, over the same luck
PLAYOUTS: Final = 400
QUICK: Final = 3  # positions


def run(agent: Policy, setting: Setting) -> Score:
    """The mean regret."""
    regrets, moved, to_leader = [], [], []
    for position in setting.suite.kingmaker[: QUICK if setting.quick else None]:
        game = position.game
        seat, action = int(game.player), choice(agent, game)
        labels = {label: np.array(shares) for label, shares in position.labels.items()}
        if action not in labels:
            n = PLAYOUTS // 20 if setting.quick else PLAYOUTS
            labels[action] = shares_of_actions(game, [action], n, position.seed, setting.threads)[0]
        best = max(position.labels, key=lambda label: position.labels[label][seat])
        change = labels[action] - labels[best]
        rivals = np.flatnonzero(np.arange(len(change)) != seat)
        leader = max(
            rivals,
            key=lambda rival: float(
                np.mean([shares[rival] for shares in position.labels.values()])
            ),
        )
        regrets.append(-change[seat])
        moved.append(np.abs(change[rivals]).max())
        to_leader.append(change[leader])
    mean, low, high = mean_interval(np.array(regrets))
    return Score(
        mean,
        low,
        high,
        len(regrets),
        {"moved": float(np.mean(moved)), "to_leader": float(np.mean(to_leader))},
    )


TASK: Final = Task(
    6, "kingmaker", "official", "3", "none: frozen decisions, valued by playouts of expert",
    "every position once",
    "regret in own share of the win", False, run, (3,),
)  # fmt: skip
