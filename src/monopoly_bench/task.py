"""Tasks, their scores, and the values of positions by playouts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents import arena
from agents.arena import Seating
from monopoly_bench.suite import Suite
from monopoly_env import core
from monopoly_env.analyse import rollout
from monopoly_env.game import Game, Games
from monopoly_env.intervals import clustered, mean_interval
from monopoly_env.policy.loop import answers
from monopoly_env.policy.names import make
from monopoly_env.policy.protocol import Decisions, Policy

CONTINUATION: Final = "expert"  # plays every seat in playouts


class TaskSetting(NamedTuple):
    """The settings of a run.

    Attributes:
        suite: The suite.
        quick: A trial with a few games and positions; its scores mean little.
        threads: Cores to play on; None: all.
    """

    suite: Suite
    quick: bool
    threads: int | None


@dataclass(frozen=True)
class TaskScore:
    """The result of a task.

    Attributes:
        score: The number by which agents are compared.
        low: Lower bound of its 95% interval.
        high: Upper bound.
        count: The number of games, positions or windows.
        details: More numbers.
    """

    score: float
    low: float
    high: float
    count: int
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """A fixed task.

    Attributes:
        number: 1 to 8.
        name: Its name in options and results.
        metric: The meaning of the score.
        higher: Whether a higher score is better.
        run: Measures an agent.
        sizes: Sizes of tables that the agent must support; empty: any one.
        optional: Whether the task runs only if it is named, because it takes long.
    """

    number: int
    name: str
    metric: str
    higher: bool
    run: Callable[[Policy, TaskSetting], TaskScore]
    sizes: tuple[int, ...] = ()
    optional: bool = False

    def measure(self, agent: Policy, setting: TaskSetting) -> dict[str, Any]:
        """The result as JSON values: the score, or the reason for its absence, and the time."""
        about = {
            "task": self.number, "name": self.name, "metric": self.metric,
            "higher_is_better": self.higher,
        }  # fmt: skip
        for size in self.sizes:
            if not agent.plays_at(size):
                return {**about, "absent": f"{agent.name} does not play at tables of {size}"}
        began, used = time.monotonic(), time.process_time()
        score = asdict(self.run(agent, setting))
        seconds, processor = time.monotonic() - began, time.process_time() - used
        return {**about, **score, "seconds": seconds, "processor_seconds": processor}


def share_of_wins(
    agent: Policy,
    seatings: Sequence[Seating],
    names: Sequence[str],
    seeds: int,
    seed: int,
    threads: int | None,
) -> TaskScore:
    """The mean share of the win at tables, and by name. Every table has the same weight.

    Args:
        agent: The agent.
        seatings: The opponents of each table; each seed is played in every order of seats.
        names: The name of each table. Tables of one name are joined.
        seeds: The number of seeds of each table.
        seed: Origin of the seeds.
        threads: Threads that play; None: all.
    """
    games = [seeds * seating.orders for seating in seatings]
    wins = arena.against([agent], seatings, games, seed, threads, same_seeds=False)[0]
    by_name: dict[str, list[float]] = {}
    for name, results in zip(names, wins.results, strict=True):
        by_name.setdefault(name, []).append(float(results.wins[results.seats == 0].mean()))
    means = {name: float(np.mean(rates)) for name, rates in by_name.items()}
    low, high = clustered(wins.won, wins.seeds)
    worst = min(means, key=lambda name: means[name])
    details = {"shares": means, "worst": worst, "worst_share": means[worst]}
    return TaskScore(wins.rate, low, high, len(wins.won), details)


def mean_score(values: Sequence[float] | NDArray[np.float64], **details: Any) -> TaskScore:
    """The mean of independent values, with its interval."""
    return TaskScore(*mean_interval(np.asarray(values)), len(values), details)


@cache
def _silent() -> Policy:
    """`expert` without trades."""
    return make(CONTINUATION, margin=1.0, least=1.0)


def shares_of_actions(
    game: Game, actions: list[int], n: int, seed: int, threads: int | None = None
) -> NDArray[np.float64]:
    """(A, P) the share of the win of each seat after each action, with common random numbers."""
    games = np.repeat(core.batch_of(game), len(actions))
    return rollout(games, CONTINUATION, n, actions=actions, seed=seed, threads=threads).share


def shares_without_trades(
    games: Games, n: int, seed: int, threads: int | None = None
) -> NDArray[np.float64]:
    """(B, P) the share of the win of each seat in each position, without further trades."""
    return rollout(games, _silent(), n, seed=seed, threads=threads).share


def action_of(agent: Policy, game: Game) -> int:
    """The action of an agent in a position, without memory."""
    return int(answers(agent, Decisions(core.batch_of(game).copy()))[0])
