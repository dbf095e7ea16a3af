"""Bench-8 of the agents that come with the library, task 5 included.

`python -m studies.bench --help`.

python -m studies.bench     # what is missing in docs/results/bench.md
python -m studies.bench --players runs/mine/agent.safetensors --out page.md
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from monopoly_bench import __main__ as bench
from monopoly_bench.tasks import TASKS
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.files import read_file, read_json, write_atomically
from monopoly_env.reference import table as markdown
from studies.pages import Page

AGENTS: Final = (
    "expert/bargaining", "expert/evolved/two", "expert", "algorithmic", "gcp", "fp/a/guarded",
    "strategic/late_game", "landlord/balanced",
    "yasumura", "ppo/best/two", "random", "ppo/best/four", "expert/value",
)  # fmt: skip
SECTION: Final = "scores"
_TEMPLATE: Final = "# What do agents score in Bench-8?\n"
_MOST_BYTES: Final = 1 << 24
# of a result that others may join
_KEPT: Final = ("format", "schema", "rules_version", "suite", "quick", "budget", "absent")


@dataclass(frozen=True)
class Options:
    """Measure agents by Bench-8, and write their scores into data/bench.json and a page."""

    players: tuple[str, ...] = AGENTS
    """Players: names or saved policies. Players with saved scores are not measured again."""
    threads: int | None = None
    """Threads that play; default: one per core. The scores are the same."""
    out: Path = Path("docs/results/bench.md")
    """The page. Text outside its generated section is preserved."""
    json: bool = False
    """Print the JSON result instead of the table."""


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Measure missing agents; returns the JSON result of all agents.

    Raises:
        MonopolyError: An unknown agent, or a page that can't be used.
    """
    page = Page(options.out, _TEMPLATE)
    path = page.data().with_suffix(".json")
    page.check(SECTION)
    known: dict[str, Any] = read_json(read_file(path, _MOST_BYTES)) if path.exists() else {}
    for name in options.players:
        result = bench.bench(
            bench.BenchOptions((name,), tasks=("duel",), quick=True, threads=options.threads),
            Console(quiet=True),
        )
        measured = {agent["sha256"] for agent in known.get("agents", ())}
        if any(known.get(key) != result[key] for key in _KEPT if key != "quick"):
            known = {}  # of another version
        if not known or result["agents"][0]["sha256"] not in measured:
            result = bench.bench(
                bench.BenchOptions((name,), tasks=tuple(TASKS), threads=options.threads), console
            )
            others = [
                agent
                for agent in known.get("agents", ())
                if agent["name"] != result["agents"][0]["name"]
            ]
            known = {**result, "agents": [*others, *result["agents"]]}
            known["agents"].sort(key=lambda agent: -agent["tasks"][0].get("score", 0))
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, (json.dumps(known, indent=1) + "\n").encode())
    page.write(SECTION, section(known))
    return known


def section(result: dict[str, Any]) -> str:
    """The table in Markdown, with its settings."""
    names = [row["name"] for row in result["agents"][0]["tasks"]]
    head = ["agent", *(f"{TASKS[name].number} {name}" for name in names), "minutes"]
    rows = [
        [f"`{agent['name']}`", *map(_score, agent["tasks"]), _minutes(agent)]
        for agent in result["agents"]
    ]
    about = (
        f"Development suite version {result['suite']['version']}, rules version"
        f" {result['rules_version']}, no limit on time."
    )
    return f"{about}\n\n{markdown(head, rows)}"


def _score(row: dict[str, Any]) -> str:
    return f"{row['score']:.3f}" if "score" in row else "-"


def _minutes(agent: dict[str, Any]) -> str:
    rows = [row for row in agent["tasks"] if not TASKS[row["name"]].optional]
    return f"{sum(row.get('processor_seconds', 0) for row in rows) / 60:.1f}"


def show(result: dict[str, Any]) -> None:
    """Print the table."""
    print(section(result))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if every agent was measured."""
    return command.main(
        "studies.bench", Command(Options(), execute, show), arguments, resume_from="the last agent"
    )


if __name__ == "__main__":
    sys.exit(main())
