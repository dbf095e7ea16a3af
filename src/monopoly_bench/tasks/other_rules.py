"""Task 3: Other rules. The unchanged agent under every preset and twenty sets of random rules."""

from __future__ import annotations

from typing import Any, Final

from numpy.random import Generator

from agents.arena import Seating
from monopoly_bench.task import Task, TaskScore, TaskSetting, share_of_wins
from monopoly_env.policy.protocol import Policy
from monopoly_env.rules import Rules
from monopoly_env.validate.fuzz import random_rules

OPPONENTS: Final = ("expert", "algorithmic", "gcp")
RANDOM: Final = 20
SEEDS: Final = (8, 1)  # of each opponent under each set of rules; each seed is two games
TURN_LIMIT: Final = 200


def drawn(rng: Generator) -> list[dict[str, Any]]:
    """Twenty sets of random rules, as the options that differ from the official ones."""
    return [random_rules(rng).changed() for _ in range(RANDOM)]


def run(agent: Policy, setting: TaskSetting) -> TaskScore:
    """The mean share of the win, each set of rules with the same weight."""
    sets = {preset: Rules.preset(preset) for preset in Rules.presets()}
    for number, options in enumerate(setting.suite.rules, 1):
        sets[f"random {number}"] = Rules.from_dict(options)
    if setting.quick:
        sets = {name: sets[name] for name in ("classic", "random 1")}
    seatings = [
        Seating((opponent,), rules, TURN_LIMIT) for rules in sets.values() for opponent in OPPONENTS
    ]
    names = [name for name in sets for _ in OPPONENTS]
    seeds, seed = SEEDS[setting.quick], setting.suite.game_seed(TASK.number)
    return share_of_wins(agent, seatings, names, seeds, seed, setting.threads)


TASK: Final = Task(3, "other_rules", "share of the win", True, run, (2,))
