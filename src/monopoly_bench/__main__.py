"""Bench-8, from the command line.

python -m monopoly_bench expert algorithmic               # all tasks but `exploit`, which is slow
python -m monopoly_bench runs/mine/agent.safetensors --out mine.json
python -m monopoly_bench expert --tasks duel exploit
python -m monopoly_bench talk language_model:mine expert  # task 8: players of text at one table
python -m monopoly_bench code kernel.py --run-code        # task 8: a kernel in ten submissions
python -m monopoly_bench make --secret secret.txt --out sealed/  # a sealed twin of the suite
python -m monopoly_bench expert --suite sealed/
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import tyro
from rich.console import Console

from monopoly_bench import budget, suite
from monopoly_bench.make import Sizes, make
from monopoly_bench.result import ABSENT, ResultOptions, described, document, publish
from monopoly_bench.task import TaskSetting
from monopoly_bench.tasks import TASKS, code, talk
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.errors import ConfigurationError, nearest, whole_number
from monopoly_env.files import read_file, write_atomically
from training.run.options import find_policy

PROGRAM: Final = "python -m monopoly_bench"


@dataclass(frozen=True)
class BenchOptions(ResultOptions):
    """Measure agents by fixed tasks (docs/bench.md).

    `python -m monopoly_bench talk` and `code` are the two halves of task 8; `make` makes a sealed
    twin of the suite. They have their own --help.
    """

    agents: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="AGENT")]
    """The agents: names (`agents.names()`) or saved policies (.safetensors)."""
    tasks: tuple[str, ...] = ()
    """The tasks; by default all but `exploit`, which searches a best response."""
    quick: bool = False
    """A few games and positions of each task, as a trial; the scores mean little."""
    budget_ms: float | None = None
    """Milliseconds for a decision, after which the fallback decides; default: no limit."""
    fallback: str = budget.FALLBACK
    """The policy that decides when an agent is late."""
    threads: int | None = None
    """Threads that play; default: one per core. The scores are the same."""


@dataclass(frozen=True)
class MakeOptions:
    """Make a suite from a secret text. Publish the fingerprint before the first agent is measured.

    Keep the text and the folder. An interrupted command continues after the last part of fifty
    positions.
    """

    secret: Path
    """A file with the secret text; created with a random text if missing."""
    out: Path
    """The folder of the suite."""
    deals: int = Sizes().deals
    """Positions of task 4."""
    kingmaker: int = Sizes().kingmaker
    """Positions of task 6: five seconds of a core each."""
    puzzles: int = Sizes().puzzles
    """Puzzles of task 7: five seconds of a core each."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit status."""
    task = Command(BenchOptions, _bench)
    return command.main("monopoly_bench", task, arguments, subcommands=_COMMANDS)


def _bench(options: BenchOptions, console: Console) -> int:
    publish(bench(options, console), options)
    return 0


def _talk(options: talk.TalkOptions, _: Console) -> int:
    found = talk.run(options, _print)
    publish(found, options)
    if not options.json:
        talk.show(found)
    return 0


def _code(options: code.CodeOptions, _: Console) -> int:
    publish(code.run(options, _print), options)
    return 0


def _print(text: str) -> None:
    print(text, file=sys.stderr)


def bench(options: BenchOptions, console: Console) -> dict[str, Any]:
    """Measure the agents.

    Returns:
        `format`, `schema`, the versions of suite and rules, and for each of `agents` its name, a
        hash of its parameters and the results of the `tasks`; with a budget also the times of its
        decisions. `absent` names the tasks that other commands measure.

    Raises:
        MonopolyError: An unknown agent or task, or an unreadable suite.
    """
    names = list(options.tasks or (name for name, task in TASKS.items() if not task.optional))
    for name in names:
        if name not in TASKS:
            reason = ABSENT.get(name) or nearest(name, TASKS)
            raise ConfigurationError(f"Unknown task {name!r}. {reason}")
    if not options.agents:
        raise ConfigurationError("Name an agent or more, such as expert.")
    agents = [find_policy(name) for name in options.agents]
    setting = TaskSetting(suite.load(options.suite), options.quick, options.threads)
    measurements = []
    for agent in agents:
        player, watch, limit = agent, None, options.budget_ms
        if limit is not None:
            games = [puzzle.game for puzzle in setting.suite.puzzles]
            player, watch = budget.timed(agent, limit, options.fallback, games)
        results = []
        for name in names:
            console.print(f"{agent.name}: {name}", highlight=False)
            results.append(TASKS[name].measure(player, setting))
        spent = {} if watch is None else {"budget": watch.about(player)}
        measurements.append({**described(agent), **spent, "tasks": results})
    per_decision = "free" if options.budget_ms is None else f"{options.budget_ms:g} ms a decision"
    return document(
        setting.suite, measurements, quick=options.quick, budget=per_decision, absent=ABSENT
    )


def _make(options: MakeOptions, _: Console) -> int:
    for name in Sizes._fields:
        whole_number(name, getattr(options, name), 0)
    if not options.secret.exists():
        write_atomically(options.secret, (secrets.token_hex(32) + "\n").encode())
    text = read_file(options.secret).decode(errors="replace").strip()
    if not text:
        raise ConfigurationError(f"{str(options.secret)!r} is empty: it must hold a secret text.")
    make(options.out, text, Sizes(options.deals, options.kingmaker, options.puzzles), print)
    print(f"Fingerprint, to be published before anything is measured: {suite.fingerprint(text)}")
    return 0


# Sub-commands by their first word.
_COMMANDS: Final[dict[str, Command[Any, int]]] = {
    "make": Command(MakeOptions, _make),
    talk.NAME: Command(talk.TalkOptions, _talk),
    code.NAME: Command(code.CodeOptions, _code),
}

if __name__ == "__main__":
    sys.exit(main())
