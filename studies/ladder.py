"""The ladder of docs/results/agents.md: `python -m studies.ladder --help`.

python -m studies.ladder                      # 171,000 games, some minutes; writes the page
python -m studies.ladder --games 20 --out page.md
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from agents import arena
from agents.arena.ratings import Ladder
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.errors import whole_number
from monopoly_env.facts.board import GROUPS
from studies.pages import Page, Row, measured, write_rows
from training.run.options import RulesName

PAGE: Final = Path(__file__).parents[1] / "docs" / "results" / "agents.md"
SECTION: Final = "ladder"
FIELD: Final = (
    "expert", "strategic", "strategic/completionist", "strategic/late_game", "ocnaru/algorithmic",
    "fp/a", "fp/b", "fp/c", "fp/b/guarded", "landlord/aggressive", "landlord/balanced", "gcp",
    "yasumura", "friedman", "algorithmic", "genetic/esp/feed_forward", "genetic/esp/recurrent",
    "genetic/esp/attentive", "random",
)  # fmt: skip
_POINTS: Final = {"points": "points", "low": "points_low", "high": "points_high"}
LAST: Final = "random"  # far below the others: left out of the picture


@dataclass(frozen=True)
class Options:
    """Play all pairs of scripted agents, and write their points, results and purchases."""

    games: int = 1000
    """Games of each pair."""
    rules: RulesName = "official"
    seed: int = 0
    """Seed of all dice, cards and random policies."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""
    out: Path = PAGE
    """The page."""
    json: bool = False
    """Print one JSON object instead of the table."""


def section(rows: Sequence[Row]) -> str:
    """The paragraph of a page above its picture."""
    games, (last,) = rows[0]["games"], (row for row in rows if row["name"] == LAST)
    return (
        f"{measured(rows)} Each pair of agents played {games:,} games of two, each seed from both"
        f" seats: {games * len(rows) * (len(rows) - 1) // 2:,} games. Points are Plackett-Luce"
        " strengths on the Elo scale. 0 is the mean of the middle half of the field, and 400 more"
        f" are ten wins for each loss. `{LAST}` ({last['points']:+,},"
        f" {last['low']:+,} to {last['high']:+,}) is left out of the picture."
    )


def execute(options: Options, _: Console) -> list[dict[str, Any]]:
    """Play all games and write the page and its data; returns the rows of the ladder.

    Raises:
        MonopolyError: An invalid number; a page that can't be written.
    """
    whole_number("games", options.games, 4)  # two seeds: one has no interval
    page = Page(options.out, "# Ladder\n")
    page.check(SECTION)
    ladder = Ladder(
        arena.round_robin(FIELD, options.games, 2, options.rules, options.seed, options.threads)
    )
    about = {
        "games": options.games, "rules": options.rules, "seed": options.seed,
        "date": f"{date.today()}",
    }  # fmt: skip
    players = sorted(ladder.rows, key=lambda row: -row["points"])
    rows = [
        {"name": row["name"]} | {short: round(row[key]) for short, key in _POINTS.items()} | about
        for row in players
    ]
    bought = [
        {"name": row["name"]} | {group: row[f"purchases_{group}"] for group in GROUPS}
        for row in players
    ]
    crossed = ladder.cross_table.sorted([row["name"] for row in rows])
    pairs = [
        {"name": name, "against": other, "share": float(crossed.share[row, column])}
        for row, name in enumerate(crossed.names)
        for column, other in enumerate(crossed.names)
        if row != column
    ]
    for part, stored in (("ladder", rows), ("purchases", bought), ("pairs", pairs)):
        write_rows(page.data(part), stored)
    page.write(SECTION, section(rows))
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    """Print the points."""
    for row in rows:
        print(f"{row['name']:28}{row['points']:+6,} ({row['low']:+,} to {row['high']:+,})")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    return command.main("studies.ladder", Command(Options(), execute, show), arguments)


if __name__ == "__main__":
    sys.exit(main())
