"""The wins of Ocnaru's agents in the published programs and here.

`python -m studies.published --help`.

# every experiment: over 1.5 million games
python -m studies.published
# one, with fewer games
python -m studies.published --only three_agents --games 1000
# and store the rows of its page
python -m studies.published --out docs/results/ocnaru.md

The published figures are in data/published_ocnaru.csv. They have a sampling error, too. So each
comparison has a 95% interval of the difference, ours minus theirs, combined from the two intervals
(MOVER: Zou and Donner, Stat. Med. 27, 2008; for two shares with Wilson's intervals that is
Newcombe's tenth method, Stat. Med. 17, 1998). Our intervals use the variance between seeds, since
both seatings of a seed share their dice. Of theirs only the number of games is known: shares get
Wilson's interval, means and percentiles the standard deviation of our games of the same players.
Rounding of a figure widens its interval.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import agents
from agents.arena.results import Results
from monopoly_env import intervals
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.cli.terminal import TextTable
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.intervals import CONFIDENCE
from monopoly_env.rules import Rules
from studies.pages import Page
from training.run.options import check_ranges

DATA: Final = Path(__file__).parent / "data" / "published_ocnaru.csv"
_Z: Final = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_PIPED_WIDTH: Final = 200  # columns of tables outside a terminal

Shares = NDArray[np.float64]

PLAYERS: Final = (
    "ocnaru/random", "ocnaru/algorithmic", "strategic", "strategic/aggressive",
    "strategic/cautious", "strategic/completionist",
    "strategic/utility_king", "strategic/orange_red", "strategic/late_game",
    "strategic/trademaster", "strategic/balanced",
    "strategic/adaptive",
)  # fmt: skip
# Differences of the players in the program of May 2025, by the first word of their names.
MAY: Final[dict[str, dict[str, Any]]] = {
    "strategic": {"legacy_trades": True, "legacy_debts": True},
    "ocnaru": {"legacy_debts": True},
}


@dataclass(frozen=True)
class Experiment:
    """A tournament of one of the two programs.

    Attributes:
        title: Its title.
        players: Names of policies; every two of them meet.
        legacy: Whether it used the program of May 2025, not of July.
        quirks: Rules to play by: with the program's defects, without them, or both.
        games: Default games of each pair.
    """

    title: str
    players: tuple[str, ...]
    legacy: bool = False
    quirks: tuple[bool, ...] = (True, False)
    games: int = 10_000


def _duels(program: str, legacy: bool, *pairs: tuple[str, str]) -> dict[str, Experiment]:
    return {
        f"{program}_{'_'.join(name.split('/')[-1] for name in pair)}": Experiment(
            f"{' against '.join(pair)}, {title}", pair, legacy
        )
        for pair in pairs
        for title in (f"the program of {program.capitalize()} 2025",)
    }


_ALGORITHMIC, _RANDOM, _STRATEGIC = "ocnaru/algorithmic", "ocnaru/random", "strategic"
EXPERIMENTS: Final[dict[str, Experiment]] = {
    **_duels(
        "july",
        False,
        (_STRATEGIC, _ALGORITHMIC),
        (_STRATEGIC, _RANDOM),
        (_ALGORITHMIC, _RANDOM),
        (_STRATEGIC, _STRATEGIC),
    ),
    **_duels(
        "may", True, (_STRATEGIC, _ALGORITHMIC), (_STRATEGIC, _RANDOM), (_ALGORITHMIC, _RANDOM)
    ),
    "three_agents": Experiment(
        "the thesis's three agents, 10,000 games a pair", PLAYERS[:3], legacy=True
    ),
    "twelve_july": Experiment(
        "twelve agents, the program of July 2025, 30 games a pair", PLAYERS, quirks=(True,)
    ),
    "twelve_agents": Experiment(
        "the thesis's twelve agents, 10,000 games a pair", PLAYERS, legacy=True, quirks=(True,)
    ),
}


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Published:
    """A published figure, a line of the data file; shares are from 0 to 1."""

    agent: str
    opponent: str
    metric: str
    value: float
    games: int
    rounding: float
    source: str


@dataclass(frozen=True)
class Comparison:
    """A published figure and ours."""

    what: str
    source: str
    theirs: Estimate
    ours: Estimate

    @property
    def difference(self) -> Estimate:
        """Ours less theirs."""
        ours, theirs = self.ours, self.theirs
        value = ours.value - theirs.value
        low = value - np.hypot(ours.value - ours.low, theirs.high - theirs.value)
        high = value + np.hypot(ours.high - ours.value, theirs.value - theirs.low)
        return Estimate(value, float(low), float(high))

    @property
    def agrees(self) -> bool:
        """Whether the interval of the difference holds 0."""
        return self.difference.low <= 0 <= self.difference.high


# --- statistics


def wilson(share: float, games: int) -> Estimate:
    """A share of independent games with Wilson's interval."""
    return Estimate(share, *intervals.wilson(share * games, games))


def clustered(values: Shares, seeds: NDArray[np.uint64]) -> Estimate:
    """A mean over games that share seeds; with no variance between seeds, as if independent."""
    _, number = np.unique(seeds, return_inverse=True)
    sums, sizes = np.bincount(number, values), np.bincount(number)
    mean = float(values.mean())
    if len(sums) < 2 or not (values != values[0]).any():
        return wilson(mean, len(values)) if 0 <= mean <= 1 else Estimate(mean, mean, mean)
    half = (
        _Z
        * float(np.sqrt(len(sums) / (len(sums) - 1) * ((sums - mean * sizes) ** 2).sum()))
        / len(values)
    )
    return Estimate(mean, mean - half, mean + half)


def percentile(values: Shares, level: float, games: int) -> Estimate:
    """A percentile of these values, with its interval for a number of games."""
    half = _Z * np.sqrt(level * (1 - level) / games)
    low, value, high = np.quantile(values, np.clip([level - half, level, level + half], 0, 1))
    return Estimate(float(value), float(low), float(high))


def _around(value: float, spread: Estimate, rounding: float) -> Estimate:
    """A published value with another estimate's interval around it, widened by rounding."""
    return Estimate(
        value,
        value - (spread.value - spread.low) - rounding,
        value + (spread.high - spread.value) + rounding,
    )


# --- ours


@dataclass(frozen=True)
class Sample:
    """G games of an agent against one opponent or all.

    Attributes:
        seeds: (G,) the seed of each game.
        won: (G,) the agent's share of the win.
        lost: (G,) whether it went bankrupt: it lost a game that no cap ended.
        first: (G,) the share of the win of the seat that moved first.
        capped: (G,) whether the cap ended it.
        turns: (G,) single turns.
    """

    seeds: NDArray[np.uint64]
    won: Shares
    lost: Shares
    first: Shares
    capped: Shares
    turns: Shares


def sample(results: Results, agent: str, opponent: str = "") -> Sample:
    """The games of an agent, or of all first seats, against one opponent or all."""
    mine = (
        results.seats == results.names.index(agent)
        if agent
        else np.arange(results.seats.shape[1]) == np.zeros((results.games, 1))
    )
    other = results.seats == results.names.index(opponent) if opponent else ~mine
    chosen = mine.any(axis=1) & (
        other.any(axis=1) if agent != opponent else mine.all(axis=1) | (not agent)
    )
    rows, seat = np.arange(int(chosen.sum())), mine[chosen].argmax(axis=1)
    wins, place = results.wins[chosen], results.place[chosen]
    capped = results.capped[chosen].astype(np.float64)
    return Sample(
        seeds=results.seeds[chosen],
        won=wins[rows, seat],
        lost=(place[rows, seat] > 1) * (1 - capped),
        first=wins[rows, results.first[chosen]],
        capped=capped,
        turns=results.turns[chosen].astype(np.float64),
    )


# The denominators of published shares.
_SHARES: Final[dict[str, tuple[str, Callable[[Sample], Shares]]]] = {
    "wins": ("won", lambda games: games.won),
    "bankruptcies": ("bankrupt", lambda games: games.lost),
    "first_wins": ("won by who began", lambda games: games.first),
    "capped": ("at the cap of 1,000 turns", lambda games: games.capped),
}
_PERCENTILE: Final = "turns_p"
_SHARE_LIMIT: Final = 1.01  # figures up to this are shares, printed with three decimals


def compare(figure: Published, games: Sample) -> Comparison:
    """A published figure beside ours."""
    if figure.metric in _SHARES:
        what, values = _SHARES[figure.metric][0], _SHARES[figure.metric][1](games)
        exact = wilson(figure.value, figure.games)
        theirs = Estimate(figure.value, exact.low - figure.rounding, exact.high + figure.rounding)
        ours = clustered(values, games.seeds)
    elif figure.metric.startswith(_PERCENTILE):
        level = int(figure.metric.removeprefix(_PERCENTILE)) / 100
        what = "turns, median" if level == 0.5 else f"turns, {level:.0%} of games are shorter"
        theirs = _around(
            figure.value, percentile(games.turns, level, figure.games), figure.rounding
        )
        ours = percentile(games.turns, level, len(games.turns))
    else:
        what, half = "turns, mean", _Z * float(games.turns.std()) / figure.games**0.5
        theirs = _around(figure.value, Estimate(0.0, -half, half), figure.rounding)
        ours = clustered(games.turns, games.seeds)
    return Comparison(_label(figure, what), figure.source, theirs, ours)


def _label(figure: Published, what: str) -> str:
    """The label of a figure, with its agent, if any."""
    if figure.metric not in ("wins", "bankruptcies"):
        return what
    return f"{figure.agent}: {what}" + (f" against {figure.opponent}" if figure.opponent else "")


# --- theirs


_PERCENT_OF: Final = {"wins_percent": "wins", "bankrupt_percent": "bankruptcies"}


@cache
def read() -> tuple[dict[str, str], ...]:
    """The rows of the data file."""
    with DATA.open(newline="", encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


def published(name: str) -> list[Published]:
    """The published figures of an experiment, with counts and percentages as shares.

    Crashed games are excluded: see `crashed`.
    """
    figures = []
    for row in read():
        if row["experiment"] == name and row["metric"] != "errors":
            metric, value, games, rounding = (
                row["metric"],
                float(row["value"]),
                int(row["games"]),
                float(row["rounding"]),
            )
            if metric in _PERCENT_OF:
                metric, value, rounding = _PERCENT_OF[metric], value / 100, rounding / 100
            elif metric in _SHARES:
                value, rounding = value / games, rounding / games
            figures.append(
                Published(
                    row["agent"], row["opponent"], metric, value, games, rounding, row["source"]
                )
            )
    return figures


def crashed(name: str) -> tuple[int, int]:
    """The number of published games that ended in an error and are excluded, and of all games."""
    rows = [row for row in read() if row["experiment"] == name and row["metric"] == "errors"]
    return sum(int(row["value"]) for row in rows), sum(int(row["games"]) for row in rows)


# --- an experiment


@dataclass(frozen=True)
class Report:
    """The results of an experiment.

    Attributes:
        name: The name of the experiment.
        games: Games of each pair.
        seed: The seed of the games.
        comparisons: By rules (with quirks or without), the comparisons.
        pairs: By rules, the number of pairs compared by their share of wins, and of disagreements.
    """

    name: str
    games: int
    seed: int
    comparisons: dict[bool, list[Comparison]]
    pairs: dict[bool, tuple[int, int]]


def run(
    name: str,
    games: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: bool = False,
) -> Report:
    """Play an experiment and compare.

    Args:
        name: One of `EXPERIMENTS`.
        games: Games of each pair; the experiment's own number by default.
        seed: The seed of all games.
        threads: Threads; the result does not depend on them.
        progress: Whether to show a bar on stderr.

    Raises:
        ConfigurationError: An unknown experiment.
    """
    if name not in EXPERIMENTS:
        raise ConfigurationError(f"Unknown experiment {name!r}. {nearest(name, EXPERIMENTS)}")
    experiment = EXPERIMENTS[name]
    count = games or experiment.games
    comparisons, pairs = {}, {}
    for quirks in experiment.quirks:
        results = _play(experiment, count, quirks, seed, threads, progress)
        comparisons[quirks], pairs[quirks] = _compare_all(name, results)
    return Report(name, count, seed, comparisons, pairs)


def _play(
    experiment: Experiment, games: int, quirks: bool, seed: int, threads: int | None, progress: bool
) -> Results:
    options = MAY if experiment.legacy else {}
    players = {
        name: agents.make(name, **options.get(name.split("/")[0], {}))
        for name in experiment.players
    }
    rules = Rules.preset("ocnaru", ocnaru_quirks=quirks)
    seated = [players[name] for name in experiment.players]
    if len(players) < len(seated):
        return agents.arena.play(seated, games, rules, seed, threads, progress=progress)
    return agents.arena.round_robin(seated, games, 2, rules, seed, threads, progress=progress)


def _compare_all(name: str, results: Results) -> tuple[list[Comparison], tuple[int, int]]:
    """All figures of an experiment; of very many pairs, their sums and the number that disagree."""
    figures = published(name)
    single = [compare(figure, sample(results, figure.agent, figure.opponent)) for figure in figures]
    if len(EXPERIMENTS[name].players) <= 3 or not any(figure.opponent for figure in figures):
        return single, (0, 0)
    wins = [
        comparison
        for comparison, figure in zip(single, figures, strict=True)
        if figure.metric == "wins"
    ]
    sums = [
        compare(figure, sample(results, figure.agent))
        for figure in (*wins_of_pairs(figures), *lengths_of_pairs(figures))
    ]
    return sums, (len(wins), sum(not comparison.agrees for comparison in wins))


def wins_of_pairs(figures: list[Published]) -> list[Published]:
    """The wins of each agent against all others, from the figures of all pairs."""
    wins: dict[str, float] = {}
    games: dict[str, int] = {}
    pairs = [figure for figure in figures if figure.metric == "wins"]
    for figure in pairs:
        for agent, share in ((figure.agent, figure.value), (figure.opponent, 1 - figure.value)):
            wins[agent] = wins.get(agent, 0.0) + share * figure.games
            games[agent] = games.get(agent, 0) + figure.games
    ranked = sorted(wins, key=lambda agent: -wins[agent] / games[agent])
    return [
        Published(agent, "", "wins", wins[agent] / games[agent], games[agent], 0.0, pairs[0].source)
        for agent in ranked
    ]


def lengths_of_pairs(figures: list[Published]) -> list[Published]:
    """The mean length of all games, and the share at the cap, from the figures of all pairs."""
    lengths = []
    for metric in ("capped", "turns_mean"):
        pairs = [figure for figure in figures if figure.metric == metric]
        games = sum(figure.games for figure in pairs)
        mean = sum(figure.value * figure.games for figure in pairs) / games
        lengths.append(Published("", "", metric, mean, games, pairs[0].rounding, pairs[0].source))
    return lengths


# --- output

_KEY: Final = ("experiment", "quirks", "figure")


def table(report: Report) -> tuple[list[str], list[list[str]]]:
    """A report as text: headings, and rows with intervals; a star marks a clear difference."""
    headings, rows = ["", "published"], []
    for quirks in report.comparisons:
        headings += [f"ours, {'with' if quirks else 'without'} quirks", "difference"]
    for line in zip(*report.comparisons.values(), strict=True):
        digits = 3 if line[0].theirs.high <= _SHARE_LIMIT else 1
        row = [line[0].what, _text(line[0].theirs, digits)]
        for comparison in line:
            row += [
                _text(comparison.ours, digits),
                _text(comparison.difference, digits, "+") + ("" if comparison.agrees else " *"),
            ]
        rows.append(row)
    return headings, rows


def _text(estimate: Estimate, digits: int, sign: str = "") -> str:
    value, low, high = (f"{number:{sign}.{digits}f}" for number in vars(estimate).values())
    return f"{value} ({low} to {high})"


def remarks(report: Report) -> list[str]:
    """The remarks below a table."""
    lines = []
    for quirks, comparisons in report.comparisons.items():
        rules = "With quirks" if quirks else "Without quirks"
        beyond = sum(not comparison.agrees for comparison in comparisons)
        lines.append(
            f"{rules}: {beyond} of {len(comparisons)} differences beyond their 95% interval."
        )
        pairs, strays = report.pairs[quirks]
        if pairs:
            lines.append(
                f"Of the {pairs} pairs, {strays} differ beyond the interval in their share of wins"
                f" ({pairs * 0.05:.1f} by chance)."
            )
    errors, games = crashed(report.name)
    if errors:
        lines.append(
            f"{errors} of the {games} published games crashed and are left out of the published"
            " figures."
        )
    return lines


def repeat(report: Report) -> str:
    """The command that repeats a report."""
    return (
        f"python -m studies.published --only {report.name} --games {report.games} --seed"
        f" {report.seed}"
    )


def rows_of(report: Report) -> list[dict[str, Any]]:
    """A report as rows of numbers: one for each figure and set of rules."""
    return [
        {
            "experiment": report.name,
            "quirks": quirks,
            "figure": comparison.what,
            "agrees": comparison.agrees,
            **_columns("published", comparison.theirs),
            **_columns("ours", comparison.ours),
            **_columns("difference", comparison.difference),
            "games": report.games,
            "seed": report.seed,
            "date": f"{date.today()}",
        }
        for quirks, comparisons in report.comparisons.items()
        for comparison in comparisons
    ]


def _columns(name: str, estimate: Estimate) -> dict[str, float]:
    names = (name, f"{name}_low", f"{name}_high")
    return dict(zip(names, vars(estimate).values(), strict=True))


# --- the command


@dataclass(frozen=True)
class Options:
    """The win rates of the agents of Ocnaru's thesis in its own programs and here, with intervals.

    The published figures come from the thesis and from runs of its two public programs.
    studies/data/ocnaru.md explains the significant differences, which do not make this command
    fail.
    """

    games: int | None = None
    """Games per pair; the default of 10,000 makes over 1.5 million games in all."""
    only: str | None = None
    """Run only this experiment: july_strategic_algorithmic, may_algorithmic_random, three_agents,
    twelve_agents, ..."""
    seed: int = 0
    """Determines every game."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""
    json: bool = False
    """Print one JSON object instead of tables."""
    out: Path | None = None
    """A page: the rows are stored beside it, in data/; those of other experiments stay."""


def execute(options: Options, console: Console) -> list[dict[str, Any]]:
    """Play, and show and store each report as soon as it is finished; returns the rows."""
    check_ranges(options, {"games": (1, 1 << 31), "threads": (1, 1024)})
    rows = []
    for name in [options.only] if options.only else list(EXPERIMENTS):
        report = run(
            name, options.games, options.seed, options.threads, progress=console.is_terminal
        )
        rows += rows_of(report)
        if options.out:
            Page(options.out, "").add(rows_of(report), _KEY, "agents")
        if not options.json:
            show(report)
    return rows


def show(report: Report) -> None:
    """Print a report."""
    headings, rows = table(report)
    shown = TextTable(title=EXPERIMENTS[report.name].title)
    for heading in headings:
        shown.add_column(heading, justify="right" if heading else "left", no_wrap=not heading)
    for row in rows:
        shown.add_row(*row)
    console = Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH)
    console.print(shown)
    console.print(*remarks(report), repeat(report), sep="\n", highlight=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    return command.main(
        "studies.published", Command(Options(), execute, lambda reports: None), arguments
    )


if __name__ == "__main__":
    sys.exit(main())
