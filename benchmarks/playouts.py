"""Measure the cost of analysis: `python benchmarks/playouts.py`.

CPU time on one thread, medians of several repetitions. Playouts and games of the arena take turns,
since other programs slow down whatever runs: their ratio is the median of ratios of neighbours. The
table is in docs/analysis.md.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Final

import numpy as np
from rich.console import Console

import agents
import monopoly_env as me
from monopoly_env.analyse import compare_actions, resemblance, rollout
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.errors import ConfigurationError
from monopoly_env.reference import table as markdown

SIZES: Final = (2, 4)  # players
PLAYED: Final = {"algorithmic": 2000, "expert": 600}  # playouts per repetition
TRUNCATED: Final = (
    ("algorithmic", "worth", 4000),
    ("expert", "worth", 2000),
    ("expert", "best", 2000),
)


@dataclass(frozen=True)
class Options:
    """Measure playouts, comparisons of actions, resemblance and a searching player."""

    repeats: int = 7
    """Repetitions of each figure."""
    quick: bool = False
    """Measure a twentieth, once: to see that it runs."""
    json: bool = False
    """Print JSON instead of a table in Markdown."""


@dataclass(frozen=True)
class Figure:
    """A figure at tables of two and of four, and the call that it measures."""

    what: str
    call: str
    unit: str
    two: float
    four: float


def seconds(work: Callable[[], Any]) -> float:
    """CPU time."""
    began = time.process_time()
    work()
    return time.process_time() - began


def measure(options: Options) -> Iterator[Figure]:
    """All figures, one after another.

    Raises:
        ConfigurationError: Fewer than one repetition.
    """
    if options.repeats < 1:
        raise ConfigurationError(f"--repeats must be 1 or more, not {options.repeats}.")
    share, repeats = (0.05, 1) if options.quick else (1.0, options.repeats)
    for policy, n in PLAYED.items():
        yield from _whole(policy, round(n * share), repeats)
    for policy, value, n in TRUNCATED:
        count = round(n * share)
        rates = [
            count / _typical(repeats, _playouts(players, policy, count, turns=5, value=value))
            for players in SIZES
        ]
        call = f'rollout(me.new_game(P), "{policy}", {n}, turns=5, value="{value}")'
        yield Figure("playouts of five rounds", call, "a second", *rates)
    count = round(1000 * share)
    times = [1000 * _typical(repeats, _comparison(players, count)) for players in SIZES]
    yield Figure(
        "the best of three answers to a lot for sale",
        'compare_actions(game, policies="expert", n=1000)',
        "ms",
        *times,
    )
    times = [1e6 * _typical(repeats, *_resembling(players)) for players in SIZES]
    yield Figure(
        "a decision beside four policies", "resemblance(start, actions, policies)", "µs", *times
    )
    times = [_typical(max(1, repeats // 2), *_searching(players, share)) for players in SIZES]
    yield Figure(
        "a game of `search/best` against `expert`",
        'arena.play(["search/best", "expert", ...], turn_limit=100)',
        "s",
        *times,
    )


def _typical(repeats: int, work: Callable[[], Any], units: int = 1) -> float:
    """The median time per unit of work, without the first run, which compiles."""
    work()
    return median(seconds(work) for _ in range(repeats)) / units


def _playouts(players: int, policy: str, n: int, **options: Any) -> Callable[[], Any]:
    game = me.new_game(players)
    return lambda: rollout(game, policy, n, threads=1, **options)


def _whole(policy: str, n: int, repeats: int) -> Iterator[Figure]:
    """Playouts from the start of a game, and games of the arena by the same policies.

    Each repetition has other seeds. Speeds are compared by turns, since some games are ten times as
    long as others.
    """
    rates, ratios = [], []
    for players in SIZES:
        game, pairs = me.new_game(players), []
        for seed in range(repeats + 1):
            played = _paced(
                lambda game=game, seed=seed: rollout(game, policy, n, seed=seed, threads=1)
            )
            arena = _paced(
                lambda players=players, seed=seed: agents.arena.play(
                    [policy] * players, n, seed=seed, threads=1
                )
            )
            pairs.append((n / played[0], played[1] / arena[1]))
        del pairs[0]  # compiles
        rates.append(median(rate for rate, _ in pairs))
        ratios.append(median(ratio for _, ratio in pairs))
    yield Figure("whole playouts", f'rollout(me.new_game(P), "{policy}", {n})', "a second", *rates)
    yield Figure(
        "their turns a second, by those of games of the arena",
        f'arena.play(["{policy}"] * P, {n})',
        "times",
        *ratios,
    )


def _paced(play: Callable[[], Any]) -> tuple[float, float]:
    """CPU time, and turns per second."""
    results: list[Any] = []
    taken = seconds(lambda: results.append(play()))
    return taken, results[0].turns.sum() / taken


def _comparison(players: int, n: int) -> Callable[[], Any]:
    """Boardwalk is for sale, its neighbour is owned: buy, decline or mortgage first."""
    cash = [900] + [1500] * (players - 1)
    game = me.position(
        players,
        lots={0: ["Park Place"], 1: ["Reading Railroad"]},
        cash=cash,
        positions={0: 35},
        throws=[(1, 3)],
    )
    me.step(game, me.actions.parse("go on"))
    assert len(me.legal_actions(game)) == 3
    return lambda: compare_actions(game, policies="expert", n=n, threads=1)


def _resembling(players: int) -> tuple[Callable[[], Any], int]:
    """A whole game played again; the work, and the decisions in which policies are asked."""
    replay = agents.arena.play(["expert"] * players, 1, record=1, threads=1).replays[0]
    start, models = me.replays.start(replay), ["expert", "algorithmic", "fp/b/guarded", "yasumura"]
    asked = resemblance(start, replay.actions, models).asked.sum()
    return lambda: [resemblance(start, replay.actions, models) for _ in range(20)], 20 * int(asked)


def _searching(players: int, share: float) -> tuple[Callable[[], Any], int]:
    """Games with a searching player in each seat; the work, and its games."""
    games, limit = players * max(1, round(4 * share)), max(5, round(100 * share))
    searcher = agents.make("search/best", threads=1)
    return lambda: agents.arena.play(
        [searcher] + ["expert"] * (players - 1), games, threads=1, turn_limit=limit
    ), games


def _rounded(number: float) -> str:
    return (
        f"{float(f'{number:.3g}'):,.10g}"
        if number < 1000
        else f"{round(number, -1 - int(np.log10(number)) + 3):,.0f}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Print the figures; the exit status is 0 only if all were measured."""
    return command.main("benchmarks/playouts.py", Command(Options, execute), arguments)


def execute(options: Options, _: Console) -> int:
    """Print the figures."""
    figures = list(measure(options))
    if options.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=2))
    else:
        rows = [
            [one.what, f"`{one.call}`", f"{_rounded(one.two)}", f"{_rounded(one.four)}", one.unit]
            for one in figures
        ]
        print(markdown(("what", "call", "2 players", "4 players", ""), rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
