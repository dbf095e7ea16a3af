"""The result of a measurement: one JSON object, and its table."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from agents.arena.pictures import decided
from monopoly_bench import suite
from monopoly_bench.suite import Suite
from monopoly_bench.task import TaskScore
from monopoly_env.cli.terminal import TextTable
from monopoly_env.files import write_atomically
from monopoly_env.policy.protocol import Policy
from monopoly_env.rules import RULES_VERSION

FORMAT: Final = "monopoly-bench"
SCHEMA: Final = 1  # of the JSON result: raised whenever its layout changes
# Tasks with their own commands.
ABSENT: Final = {
    "talk": "task 8, table talk, which has a command of its own: python -m monopoly_bench talk",
    "code": "task 8, code, which has a command of its own: python -m monopoly_bench code",
}


@dataclass(frozen=True, kw_only=True)
class ResultOptions:
    """Options shared by all commands of the benchmark."""

    suite: Path = suite.SHIPPED
    """The folder of the suite; by default the development suite of the library."""
    out: Path | None = None
    """Also write the result, one JSON object, to this file."""
    json: bool = False
    """Print the JSON object instead of a table."""


def document(
    chosen: Suite,
    agents: list[dict[str, Any]],
    *,
    quick: bool = False,
    budget: str = "free",
    absent: dict[str, str] | None = None,
) -> dict[str, Any]:
    """The JSON object.

    Args:
        chosen: The suite.
        agents: For each agent its name, a hash of its parameters and the results of its tasks.
        quick: Whether it was a trial with meaningless scores.
        budget: The time limit of a decision.
        absent: The tasks that were not measured, with reasons.
    """
    about = {"version": suite.VERSION, "sealed": chosen.sealed, "sha256": chosen.sha256}
    return {
        "format": FORMAT, "schema": SCHEMA, "rules_version": RULES_VERSION, "suite": about,
        "quick": quick, "budget": budget,
        "agents": agents, "absent": absent or {},
    }  # fmt: skip


def described(agent: Policy) -> dict[str, Any]:
    """An agent in the JSON object: its name, a hash of its parameters, and its costs, if any."""
    costs = {"costs": dict(agent.costs)} if agent.costs else {}
    return {"name": agent.name, "sha256": fingerprint(agent), **costs}


def row(name: str, metric: str, score: TaskScore, seconds: float) -> dict[str, Any]:
    """The result of a half of task 8, in which a higher score is better."""
    about = {"task": 8, "name": name, "metric": metric, "higher_is_better": True}
    return {**about, **asdict(score), "seconds": seconds}


def fingerprint(agent: Policy) -> str:
    """A hash of the agent's kind, options and parameters."""
    about = json.dumps([agent.kind, agent.options()], sort_keys=True, default=str)
    digest = hashlib.sha256(about.encode())
    for name, array in sorted(agent.arrays().items()):
        digest.update(name.encode() + array.tobytes())
    return digest.hexdigest()


def publish(result: dict[str, Any], options: ResultOptions) -> None:
    """Write the object to a file, if one is named, and print it, or its table."""
    if options.out is not None:
        write_atomically(options.out, (json.dumps(result, indent=1) + "\n").encode())
    if options.json:
        print(json.dumps(result))
    else:
        show(result)


def show(result: dict[str, Any]) -> None:
    """Print a table: a row a task, a column an agent."""
    kind = "sealed suite" if result["suite"]["sealed"] else "development suite"
    quick = ", quick: scores mean little" if result["quick"] else ""
    table = TextTable("task", "score", title=f"Bench-8, {kind}{quick}")
    for agent in result["agents"]:
        table.add_column(agent["name"], justify="right")
    for rows in zip(*(agent["tasks"] for agent in result["agents"]), strict=True):
        first = rows[0]
        better = "higher" if first["higher_is_better"] else "lower"
        metric = f"{first['metric']} ({better} is better)"
        table.add_row(f"{first['task']} {first['name']}", metric, *map(cell, rows))
    costs = {agent["name"]: agent.get("costs", {}) for agent in result["agents"]}
    table.caption = decided(costs).strip()
    Console().print(table)
    for reason in result["absent"].values():
        print(f"Not measured: {reason}.")


def cell(row: dict[str, Any]) -> str:
    """A score with its interval, or a dash."""
    return "-" if "absent" in row else f"{row['score']:.3f} ({row['low']:.3f} to {row['high']:.3f})"
