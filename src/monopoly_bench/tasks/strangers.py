"""Task 2: Strangers. Tables of four with three opponents of 24 that do not occur in training."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from agents.arena import Seating
from agents.players import POLICIES
from agents.players.vocabulary.parameters import Parameters
from monopoly_bench.task import Task, TaskScore, TaskSetting, share_of_wins
from monopoly_env.errors import FormatError, shortened
from monopoly_env.policy.names import make
from monopoly_env.policy.protocol import Policy

FAMILIES: Final = ("expert", "algorithmic", "gcp", "fp/a", "strategic", "landlord/balanced")
OF_EACH: Final = 4
TABLES: Final = (24, 2)
SEEDS: Final = (4, 1)  # of each table; each seed is 24 games
SPREAD: Final = 0.25  # standard deviation of the logarithm of a parameter
TURN_LIMIT: Final = 300
DIGITS: Final = 4


def drawn(rng: Generator) -> list[dict[str, Any]]:
    """Four variants of each family: its name, and the changed parameters."""
    return [
        {"family": family, "options": _jittered(family, rng)}
        for family in FAMILIES
        for _ in range(OF_EACH)
    ]


def _jittered(family: str, rng: Generator) -> dict[str, float]:
    factory: Any = POLICIES[family]  # a partial of the family's name, kernel, parameters and preset
    kind, preset = factory.args[2], factory.args[3]
    numbers: Parameters = kind(**preset)
    options = {}
    for option in dataclasses.fields(kind):
        if option.name in kind.quantities():
            low, high = option.metadata["range"]
            value = float(getattr(numbers, option.name)) * float(np.exp(rng.normal(0, SPREAD)))
            options[option.name] = round(min(max(value, low), high), DIGITS)
    return options


def _tables(rng: Generator, rows: int, count: int) -> list[list[int]]:
    """Three different rows for each table."""
    return [sorted(rng.choice(rows, 3, replace=False).tolist()) for _ in range(count)]


def run(agent: Policy, setting: TaskSetting) -> TaskScore:
    """The mean share of the win at tables with three strangers."""
    rows = setting.suite.strangers
    for row in rows:
        if row["family"] not in FAMILIES:
            raise FormatError(
                f"A suite has strangers of the families {', '.join(FAMILIES)}, not"
                f" {shortened(row['family'])}."
            )
    made = [make(row["family"], **row["options"]) for row in rows]
    for number, policy in enumerate(made):
        policy.name = f"{policy.name}~{number % OF_EACH + 1}"
    chosen = _tables(setting.suite.generator(TASK.number), len(rows), TABLES[setting.quick])
    tables = [tuple(made[number] for number in numbers) for numbers in chosen]
    seatings = [Seating(table, "official", TURN_LIMIT) for table in tables]
    names = [" ".join(policy.name for policy in table) for table in tables]
    seeds, seed = SEEDS[setting.quick], setting.suite.game_seed(TASK.number)
    return share_of_wins(agent, seatings, names, seeds, seed, setting.threads)


TASK: Final = Task(2, "strangers", "share of the win", True, run, (4,))
