"""Strength against players that nobody has met: `python -m studies.strangers --help`.

# a row of docs/results/learned.md
python -m studies.strangers --agent ppo/best/two --num-players 2
# while a method is chosen, never the report set
python -m studies.strangers --agent runs/ppo/agent.safetensors --split choose --out runs/choose.md
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final, Literal

from rich.console import Console
from rich.progress import track

from agents import arena, strangers
from agents.arena.evaluation import Seating
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.policy.names import resolve
from monopoly_env.policy.protocol import CompiledPolicy
from monopoly_env.reference import table as markdown
from monopoly_env.rules import Rules
from studies.pages import Page, Row, measured
from training.run.options import RulesName, check_ranges

PAGE: Final = Path(__file__).parents[1] / "docs" / "results" / "learned.md"
TEMPLATE: Final = "# How strong are the learned agents?\n"
SECTION: Final = "strangers"
_TABLE: Final = ("split", "rules", "players", "agent", "baseline")  # columns of one headline


@dataclass(frozen=True)
class Options:
    """Play an agent and another player in the same seats against strangers, with paired seeds.

    The headline is the mean over the strangers of the share of games that the agent wins minus the
    share of the other player, and the smallest of these differences.
    """

    agent: str = "ppo/best/two"
    """Agent: a name or a saved policy."""
    baseline: str = "expert/bargaining"
    """Player that it is compared with."""
    num_players: int = 2
    """Seats at the table; all others are taken by copies of one stranger."""
    split: Literal["train", "choose", "report"] = "report"
    """Strangers: `report` only for results."""
    rules: RulesName = "official"
    games: int = 2000
    """Games of each of the two against each stranger; every seed is played from every seat."""
    seed: int = 31
    """Seed of the games; each stranger has seeds of its own."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""
    out: Path = PAGE
    """The page."""
    json: bool = False
    """Print one JSON object at the end."""


def measure(
    options: Options, found: Sequence[CompiledPolicy], console: Console
) -> Iterator[dict[str, Any]]:
    """Play all games: a row for each stranger."""
    rules = Rules.preset(options.rules)
    players = [resolve(options.agent), resolve(options.baseline)]
    for number, stranger in enumerate(track(found, options.agent, console=console)):
        seating = Seating((stranger,) * (options.num_players - 1), rules)
        agent, beside = arena.against(
            players, [seating], [options.games], options.seed * len(found) + number, options.threads
        )
        more = agent.difference(beside)
        yield {
            "split": options.split, "rules": options.rules, "players": options.num_players,
            "agent": options.agent, "baseline": options.baseline,
            "stranger": int(stranger.name.rpartition("/")[2]),
            "made_from": strangers.about(stranger), "games": options.games, "wins": agent.rate,
            "beside": beside.rate, "more": more.difference, "low": more.low, "high": more.high,
            "seed": options.seed, "date": f"{date.today()}",
        }  # fmt: skip


def headline(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The mean difference with its interval, and the row with the smallest one.

    Rows are independent: no two share a seed.
    """
    count = len(rows)
    mean = sum(row["more"] for row in rows) / count
    half = math.sqrt(sum(((row["high"] - row["low"]) / 2) ** 2 for row in rows)) / count
    least = min(rows, key=lambda row: row["more"])
    return {
        "wins": sum(row["wins"] for row in rows) / count,
        "beside": sum(row["beside"] for row in rows) / count,
        "mean": {"more": mean, "low": mean - half, "high": mean + half}, "minimum": least,
    }  # fmt: skip


def section(rows: Sequence[Row]) -> str:
    """The headlines of all stored rows."""
    heads = (
        "agent", "players", "strangers", "games of each", "wins", "script there",
        "mean difference", "smallest difference",
    )  # fmt: skip
    tables = dict.fromkeys(tuple(row[name] for name in _TABLE) for row in rows)
    cells = []
    for table in tables:
        found = [row for row in rows if tuple(row[name] for name in _TABLE) == table]
        _, _, players, agent, _ = table
        line = headline(found)
        cells.append(
            (
                f"`{agent}`", players, len(found),
                f"{found[0]['games']:,}", f"{line['wins']:.3f}", f"{line['beside']:.3f}",
                *(
                    f"**{part['more']:+.3f}** ({part['low']:+.3f} to {part['high']:+.3f})"
                    for part in (line["mean"], line["minimum"])
                ),
            )
        )  # fmt: skip
    return f"{measured(rows)}\n\n{markdown(heads, cells)}"


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Measure, store the rows, and write the section of the page at the end.

    Raises:
        ConfigurationError: Wrong options; a player is unknown or does not play at this table.
    """
    check_ranges(options, {"num_players": (2, 8), "games": (2, 1 << 31), "seed": (0, 1 << 26)})
    for name in (options.agent, options.baseline):
        resolve(name).check_table(options.num_players)
    found = strangers.listed(options.split, options.num_players)
    page = Page(options.out, TEMPLATE)
    page.check(SECTION)
    rows = list(measure(options, found, console))
    page.write(SECTION, section(page.add(rows, (*_TABLE, "stranger"), SECTION)))
    return {"agent": options.agent, **headline(rows), "rows": rows}


def show(results: dict[str, Any]) -> None:
    """Print the rows and the headline."""
    for row in results["rows"]:
        print(_line(f"{row['stranger']}", row), row["made_from"])
    print(_line("mean", results["mean"]))
    print(_line("minimum", results["minimum"]))


def _line(name: str, row: dict[str, Any]) -> str:
    return f"{name:24} {row['more']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    return command.main("studies.strangers", Command(Options(), execute, show), arguments)


if __name__ == "__main__":
    sys.exit(main())
