"""Luck-adjusted results: variance reduction, costs, and a check for bias.

`python -m studies.adjusted --help`.

python -m studies.adjusted      # sections of docs/results/adjusted.md
python -m studies.adjusted --only gain --games 600 --values worth --out page.md
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from rich.console import Console
from rich.progress import track

from agents import arena
from agents.arena import luck
from agents.arena.games import orders_of
from agents.arena.results import Results
from agents.arena.statistics import clustered_error, coefficients
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.reference import table as markdown
from studies.pages import Page, Row, measured
from training.run.options import check_ranges

TABLES: Final[tuple[tuple[str, ...], ...]] = (
    ("expert/evolved/two", "expert"),
    ("expert", "algorithmic"),
    ("expert", "fp/a/guarded"),
    ("expert", "landlord/balanced"),
    ("algorithmic", "gcp"),
    ("expert/bargaining", "expert", "expert", "expert"),
    ("expert", "algorithmic", "algorithmic", "algorithmic"),
    ("expert", "strategic", "algorithmic", "gcp"),
)
CHEAP: Final[tuple[tuple[str, ...], ...]] = (
    ("algorithmic", "gcp"),
    ("fp/a/guarded", "algorithmic"),
    ("algorithmic", "gcp", "fp/b/guarded"),
)
# standard errors: 14 true hypotheses (the policies of CHEAP, by two values) pass all but once in a
# million times
FALSE_ALARM: Final = 5.4
_TEMPLATE: Final = "# Can the intervals be trusted?\n"


@dataclass(frozen=True)
class Options:
    """Measure the variance reduction of `arena.play(..., adjust=...)`, and check for bias."""

    only: Literal["gain", "mean", "all"] = "all"
    """gain: variance and time at several tables; mean: many games of cheap policies, whose luck has
    a mean of zero."""
    values: tuple[str, ...] = ("value", "worth")
    """The value functions by which luck is measured; "value" is the best one."""
    games: int = 2400
    """Games at each table, for `gain`."""
    mean_games: int = 200_000
    """Games of cheap policies in all, for `mean`, by each value."""
    seed: int = 0
    """Decides all games."""
    out: Path = Path("docs/results/adjusted.md")
    """The page. Text outside its generated sections is preserved."""
    json: bool = False
    """Print one JSON object too."""


def gains(options: Options) -> Iterator[dict[str, Any]]:
    """A row for each table and value, for the first policy of the table."""
    for names in TABLES:
        plain, plain_seconds = _timed(names, options, None)
        for value in dict.fromkeys(options.values):
            found, seconds = _timed(names, options, value)
            row = next(row for row in found.rows() if row["name"] == found.names[0])
            kept = 1 - row["variance_removed"]
            yield {
                "table": ", ".join(names), "value": found.value, "games": found.games,
                "rate": row["win_rate"], "low": row["paired_low"], "high": row["paired_high"],
                "adjusted": row["adjusted_rate"],
                "adjusted_low": row["adjusted_low"], "adjusted_high": row["adjusted_high"],
                "coefficients": " and ".join(f"{number:.2f}" for number in coefficients(found)),
                "variance": kept, "whole": _whole_luck(found),
                "milliseconds": 1000 * plain_seconds / plain.games,
                "adjusted_milliseconds": 1000 * seconds / found.games,
                "pays_from": pays_from(kept, seconds - plain_seconds, found.games),
                "seed": options.seed, "date": f"{date.today()}",
            }  # fmt: skip


def _timed(names: Sequence[str], options: Options, adjust: str | None) -> tuple[Results, float]:
    """Results, and their CPU time in seconds, which other programs affect less than wall time."""
    arena.play(names, 1, adjust=adjust)  # compiles
    began = time.process_time()
    found = arena.play(
        names, _whole(names, options.games), seed=options.seed, threads=1, adjust=adjust
    )
    return found, time.process_time() - began


def pays_from(kept: float, seconds: float, games: int) -> float | None:
    """The least milliseconds of a plain game for which adjusted games give an interval sooner.

    None: never. Measuring takes c more, and a share v of the games is enough: (t + c) v < t if
    t > c v / (1 - v).
    """
    return 1000 * seconds / games * kept / (1 - kept) if kept < 1 else None


def _whole(names: Sequence[str], games: int) -> int:
    """The number of games, rounded down so that every seed is played from every seat."""
    orders = orders_of(np.array([names.index(name) for name in names], np.int16))
    return max(1, games // orders) * orders


def _whole_luck(found: Results) -> float:
    """The variance with all luck subtracted, coefficient 1, as a multiple of the plain one."""
    mine = found.seats == 0
    assert found.luck is not None
    before, after = (
        clustered_error((shares * mine).sum(axis=1), found.seeds)
        for shares in (found.wins, found.wins - found.luck)
    )
    return float((after / before) ** 2) if before else float("nan")


def means(options: Options) -> Iterator[dict[str, Any]]:
    """A row for each value and policy at the tables of CHEAP: plain rate, and minus all luck."""
    for value, names in product(dict.fromkeys(options.values), CHEAP):
        games = _whole(names, options.mean_games // len(CHEAP))
        found = arena.play(names, games, seed=options.seed, adjust=value)
        assert found.luck is not None
        for policy, name in enumerate(found.names):
            mine = found.seats == policy
            luck = (found.luck * mine).sum(axis=1)
            error = clustered_error(luck, found.seeds)
            rate = float((found.wins * mine).sum(axis=1).mean())
            yield {
                "table": ", ".join(names), "value": found.value, "policy": name, "games": games,
                "rate": rate, "adjusted": rate - float(luck.mean()),
                "error": error, "off": float(luck.mean()) / error,
                "agrees": bool(abs(luck.mean()) < FALSE_ALARM * error),
                "seed": options.seed, "date": f"{date.today()}",
            }  # fmt: skip


def gain_section(rows: Sequence[Row]) -> str:
    """The table of variance and time, in Markdown: by the value networks alone, if there are."""
    headings = (
        "table (rates of its first player)", "win rate", "adjusted", "variance left",
        "pays from ms a game",
    )  # fmt: skip
    shown = [row for row in rows if row["value"] != "worth"] or rows
    return f"{measured(rows)}\n\n{markdown(headings, map(_gain_cells, shown))}"


def _gain_cells(row: Row) -> list[str]:
    return [
        ", ".join(f"`{name}`" for name in row["table"].split(", ")),
        f"{row['rate']:.3f} ({row['low']:.3f} to {row['high']:.3f})",
        f"{row['adjusted']:.3f} ({row['adjusted_low']:.3f} to {row['adjusted_high']:.3f})",
        f"{row['variance']:.0%}",
        "never" if row["pays_from"] is None else f"{row['pays_from']:.0f}",
    ]  # fmt: skip


def mean_section(rows: Sequence[Row]) -> str:
    """The largest difference of means, in Markdown."""
    most = max(rows, key=lambda row: abs(row["off"]))
    wrong = sum(not row["agrees"] for row in rows)
    return (
        f"{measured(rows)} {len(rows)} win rates, {rows[0]['games']:,} games each. Largest"
        f" difference: `{most['policy']}` at the table {most['table']}, {most['rate']:.4f} plain"
        f" and {most['adjusted']:.4f} adjusted by `{most['value']}`, {abs(most['off']):.1f}"
        f" standard errors. {'All agree.' if not wrong else f'**{wrong} do not agree.**'}"
    )


SECTIONS: Final = {
    "gain": (gains, gain_section, ("table", "value")),
    "mean": (means, mean_section, ("table", "value", "policy")),
}


def execute(options: Options, console: Console) -> dict[str, list[dict[str, Any]]]:
    """Measure, and write the page; returns the rows of each section.

    Raises:
        MonopolyError: A wrong number, an unknown value, a page that can't be written.
    """
    check_ranges(
        options, {"games": (48, 1 << 31), "mean_games": (240, 1 << 31), "seed": (0, (1 << 32) - 1)}
    )
    for value, names in product(options.values, TABLES + CHEAP):
        luck.resolve(value, len(names))  # an unknown value is told before the first game
    page, made = Page(options.out, _TEMPLATE), dict[str, list[dict[str, Any]]]()
    for name, (measure, section, key) in SECTIONS.items():
        if options.only in (name, "all"):
            page.check(name)
            made[name] = []
            for row in track(
                measure(options),
                f"measuring: {name}",
                total=_length(name, options),
                console=console,
            ):
                made[name].append(row)
                # an interrupted run saves its finished rows
                page.write(name, section(page.add([row], key, name)))
    return made


def _length(name: str, options: Options) -> int:
    return (sum(map(len, CHEAP)) if name == "mean" else len(TABLES)) * len(
        dict.fromkeys(options.values)
    )


def show(made: dict[str, list[dict[str, Any]]]) -> None:
    """Say what was written."""
    print(
        "\n\n".join(
            section(made[name]) for name, (_, section, _) in SECTIONS.items() if name in made
        )
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    return command.main("studies.adjusted", Command(Options(), execute, show), arguments)


if __name__ == "__main__":
    sys.exit(main())
