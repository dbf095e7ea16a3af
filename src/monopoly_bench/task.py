"""What a task is, and what it says of an agent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from agents import arena
from agents.arena import Seating
from agents.arena.evaluation import Wins
from monopoly_bench.suite import Suite
from monopoly_env.intervals import clustered
from monopoly_env.policy.protocol import Policy


class Setting(NamedTuple):
    """How a task is run.

    Attributes:
        suite: What all agents meet.
        quick: A fraction of the games and positions, to see whether everything works. The scores
            mean little.
        threads: Cores to play on; None: all.
    """

    suite: Suite
    quick: bool
    threads: int | None


@dataclass(frozen=True)
class Task:
    """A fixed task.

    Attributes:
        number: 1 to 8.
        name: As options and results have it.
        rules: The rules.
        players: The number of players, as text.
        opponents: Who they are.
        rotation: How seats and seeds are chosen.
        metric: What the score is.
        higher: Whether a higher score is better.
        run: Measures an agent.
        sizes: The sizes of tables that the agent must play at; none: any one will do.
        optional: Whether the task is run only if it is named, because it takes long.
    """

    number: int
    name: str
    rules: str
    players: str
    opponents: str
    rotation: str
    metric: str
    higher: bool
    run: Callable[[Policy, Setting], Score]
    sizes: tuple[int, ...] = ()
    optional: bool = False

    def refusal(self, agent: Policy) -> str:
        """Why an agent can't do the task; empty if it can."""
        refused = [size for size in self.sizes if not agent.plays_at(size)]
        return f"{agent.name} does not play at tables of {refused[0]}" if refused else ""


@dataclass(frozen=True)
class Score:
    """The result of a task.

    Attributes:
        score: The number by which agents are compared.
        low: Lower bound of its 95% interval.
        high: Upper bound.
        count: Games, positions or windows that it stands on.
        details: More numbers.
    """

    score: float
    low: float
    high: float
    count: int
    details: dict[str, Any] = field(default_factory=dict)


def measured(task: Task, agent: Policy, setting: Setting) -> dict[str, Any]:
    """The result of a task as JSON values.

    They are the score, or why there is none, and the processor time that it took.
    """
    about = {
        "task": task.number,
        "name": task.name,
        "metric": task.metric,
        "higher_is_better": task.higher,
    }
    if refusal := task.refusal(agent):
        return {**about, "absent": refusal}
    began, used = time.monotonic(), time.process_time()
    score = task.run(agent, setting)
    return {
        **about,
        **asdict(score),
        "seconds": time.monotonic() - began,
        "processor_seconds": time.process_time() - used,
    }


def won(
    agent: Policy, seatings: Sequence[Seating], seeds: int, seed: int, threads: int | None
) -> Wins:
    """What an agent wins at tables, every seed in every order of seats."""
    return arena.against(
        [agent],
        seatings,
        [seeds * seating.orders for seating in seatings],
        seed,
        threads,
        same_seeds=False,
    )[0]


def share(wins: Wins, names: Sequence[str]) -> Score:
    """The mean share of the win, each table with the same weight, and the share by name.

    Tables of one name are joined.
    """
    by_name: dict[str, list[float]] = {}
    for name, results in zip(names, wins.results, strict=True):
        by_name.setdefault(name, []).append(float(results.wins[results.seats == 0].mean()))
    means = {name: float(np.mean(rates)) for name, rates in by_name.items()}
    low, high = clustered(wins.won, wins.unit)
    worst = min(means, key=lambda name: means[name])
    return Score(
        wins.rate,
        low,
        high,
        len(wins.won),
        {"shares": means, "worst": worst, "worst_share": means[worst]},
    )
