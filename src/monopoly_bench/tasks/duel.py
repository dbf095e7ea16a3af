"""Task 1: Duel. Two players, twelve opponents of very different kinds."""

from __future__ import annotations

from typing import Final

from agents.arena import Seating
from monopoly_bench.task import Task, TaskScore, TaskSetting, share_of_wins
from monopoly_env.policy.protocol import Policy

OPPONENTS: Final = (
    "expert/bargaining", "expert/evolved/two", "expert", "algorithmic", "gcp", "fp/a/guarded",
    "fp/b", "strategic/late_game",
    "strategic/adaptive", "landlord/balanced", "yasumura", "random",
)  # fmt: skip
SEEDS: Final = (100, 2)  # of each opponent; each seed is two games
TURN_LIMIT: Final = 500  # turns of each player after which the score decides


def run(agent: Policy, setting: TaskSetting) -> TaskScore:
    """The mean share of the win against the twelve."""
    seatings = [Seating((name,), "official", TURN_LIMIT) for name in OPPONENTS]
    seeds, seed = SEEDS[setting.quick], setting.suite.game_seed(TASK.number)
    return share_of_wins(agent, seatings, OPPONENTS, seeds, seed, setting.threads)


TASK: Final = Task(1, "duel", "share of the win", True, run, (2,))
