"""Check the engine's claims: landing odds against exact ones, and random games step by step."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.cli.terminal import TextTable
from monopoly_env.errors import whole_number
from monopoly_env.facts.board import SQUARE_NAME
from monopoly_env.files import write_atomically
from monopoly_env.kernels import clock
from monopoly_env.render.description import to_text
from monopoly_env.validate import fuzz as fuzzer
from monopoly_env.validate import landing as odds


@dataclass
class LandingOptions:
    """Where the token rests after each throw, for players that never buy, bid or trade.

    The rules engine itself plays, with decks and jail. If players leave jail at once on the US
    board, each square is compared with the exact odds. If they stay, the share of In Jail is
    compared with the published one.
    """

    board: odds.Board = "us"
    """us or uk"""
    jail: odds.Jail = "leave"
    """leave at once; stay three turns; stay_reroll: stay, with an extra throw after a double that
    leaves jail"""
    throws: int = 20_000_000
    """total number of throws"""
    seed: int = 0
    """determines every throw and both decks"""
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)
    """number of threads; the result does not depend on it"""
    csv: str | None = None
    """write the table to this file, with columns index,percent; row 40 is In Jail"""
    json: bool = False
    """print one JSON object instead of a table"""


def measure_landing(options: LandingOptions, console: Console) -> dict[str, Any]:
    """Measure the landing odds and compare them with known ones."""
    _check_positive(throws=options.throws, threads=options.threads)
    began = time.perf_counter()
    setting = options.board, options.jail, options.throws, options.seed, options.threads
    with console.status(f"{options.throws:,} throws ..."):
        result = odds.measure(*setting)
    seconds = time.perf_counter() - began
    if options.csv:
        write_atomically(options.csv, result.csv().encode())
    return {
        "board": options.board,
        "jail": options.jail,
        "throws": result.throws,
        "seconds": round(seconds, 2),
        "percent": result.percent.round(6).tolist(),
        "exact": None if result.exact is None else result.exact.tolist(),
        "difference": result.difference,
        "tolerance": result.tolerance,
        "agrees": result.difference is None or result.difference <= result.tolerance,
    }


def show_landing(found: dict[str, Any]) -> None:
    """Print the landing odds as a table."""
    board, exact = found["board"], found["exact"]
    what = f"{found['throws']:,} throws in {found['seconds']:.1f} s"
    table = TextTable(title=f"{board} board, {found['jail']}: {what}")
    for column in ("square", "", "percent", "exact", "difference"):
        table.add_column(column, justify="left" if not column else "right")
    names = [*SQUARE_NAME[0 if board == "us" else 2], "In Jail"]
    for i, (name, value) in enumerate(zip(names, found["percent"], strict=True)):
        compared = ("", "") if exact is None else (f"{exact[i]:.4f}", f"{value - exact[i]:+.4f}")
        table.add_row(str(i), name, f"{value:.4f}", *compared)
    console = Console()
    console.print(table)
    if found["difference"] is None:
        console.print("No exact odds are known for this case, so there is nothing to compare with.")
        return
    known = "largest difference from the exact odds"
    what = "difference from the published In Jail" if exact is None else known
    verdict = "agrees" if found["agrees"] else "[bold red]DISAGREES[/]"
    points = f"{found['difference']:.4f} points, tolerance {found['tolerance']:.4f}"
    console.print(f"{what}: {points}: {verdict}")


@dataclass
class FuzzOptions:
    """Random options, positions and legal play: every invariant and dollar after every step."""

    games: int = 10_000
    """number of games to play, one a case"""
    seed: int = 0
    """a case depends only on this and its number"""
    case: int | None = None
    """play only this case, and print its starting position"""
    max_decisions: int = 2_000
    """decisions after which a game is stopped"""
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)
    """number of threads; the findings do not depend on it"""
    json: bool = False
    """print one JSON object instead of text"""


def fuzz(options: FuzzOptions, console: Console) -> dict[str, Any]:
    """Play all cases."""
    most, threads = options.max_decisions, options.threads
    _check_positive(games=options.games, max_decisions=most, threads=threads)
    whole_number("seed", options.seed, 0)
    whole_number("case", options.case or 0, 0)
    first, count = (0, options.games) if options.case is None else (options.case, 1)
    if options.case is not None:
        print(to_text(fuzzer.case(options.seed, options.case)))
    began, result = clock(), fuzzer.FuzzResult()
    speed_column = TextColumn("{task.fields[speed]}")
    columns = BarColumn(), MofNCompleteColumn(), speed_column, TimeRemainingColumn()
    with Progress("fuzzing", *columns, console=console, transient=True) as progress:
        bar = progress.add_task("games", total=count, speed="")
        for result in fuzzer.run(count, options.seed, most, threads, first):
            speed = result.games / (clock() - began)
            text = f"{speed:,.0f} games/s, {len(result.failures)} failures"
            progress.update(bar, completed=result.games, speed=text)
    return vars(result) | {"seconds": round(clock() - began, 2), "seed": options.seed}


def show_fuzz(found: dict[str, Any]) -> None:
    """Print the number of games, and the first failures with a command that repeats each."""
    failures = found["failures"]
    print(
        f"{found['games']:,} games, {found['decisions']:,} decisions, {found['finished']:,} games"
        f" played to the end, {found['refused']:,} illegal actions refused,"
        f" {found['seconds']:.1f} s: {len(failures)} violations"
    )
    for number, what in failures[:20]:
        print(
            f"  case {number}: {what}. To repeat: python -m monopoly_env.validate fuzz"
            f" --seed {found['seed']} --case {number}"
        )


def _check_positive(**numbers: int) -> None:
    for name, value in numbers.items():
        whole_number(name, value, 1)


CHECKS: dict[str, Command[Any, dict[str, Any]]] = {
    "landing": Command(
        LandingOptions, measure_landing, show_landing, lambda found: int(not found["agrees"])
    ),
    "fuzz": Command(FuzzOptions, fuzz, show_fuzz, lambda found: int(bool(found["failures"]))),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a check and return the exit status: 1 if the engine fails it."""
    return command.main("monopoly_env.validate", None, arguments, subcommands=CHECKS)


if __name__ == "__main__":
    sys.exit(main())
