"""`python -m monopoly_env.validate landing | fuzz`: check the engine's claims yourself."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import dataclass, field
from typing import Annotated

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from monopoly_env.errors import MonopolyError, whole_number
from monopoly_env.facts.board import SQUARE_NAME
from monopoly_env.files import write_atomically
from monopoly_env.kernels import clock
from monopoly_env.terminal import Table, failed
from monopoly_env.text import to_text
from monopoly_env.validate import fuzz as fuzzer
from monopoly_env.validate import landing as odds

_MOVED = (
    "The published figures of agents are now compared by 'python -m studies.published', in a"
    " checkout of the repository."
)


@dataclass
class Landing:
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

    def run(self) -> int:
        """Measure, print and compare; 0 unless the result disagrees with known odds."""
        check_whole(throws=self.throws, threads=self.threads)
        began = time.perf_counter()
        with Console(stderr=True).status(f"{self.throws:,} throws ..."):
            result = odds.measure(self.board, self.jail, self.throws, self.seed, self.threads)
        seconds = time.perf_counter() - began
        if self.csv:
            write_atomically(self.csv, result.csv().encode())
        agrees = result.difference is None or result.difference <= result.tolerance
        if self.json:
            print(
                json.dumps(
                    {
                        "board": self.board,
                        "jail": self.jail,
                        "throws": result.throws,
                        "seconds": round(seconds, 2),
                        "percent": result.percent.round(6).tolist(),
                        "difference": result.difference,
                        "tolerance": result.tolerance,
                        "agrees": agrees,
                    }
                )
            )
        else:
            _print_landing(result, seconds)
        return 0 if agrees else 1


def _print_landing(result: odds.Landing, seconds: float) -> None:
    table = Table(
        title=f"{result.board} board, {result.jail}: {result.throws:,} throws in {seconds:.1f} s"
    )
    for column in ("square", "", "percent", "exact", "difference"):
        table.add_column(column, justify="left" if not column else "right")
    names = [*SQUARE_NAME[0 if result.board == "us" else 2], "In Jail"]
    for i, (name, value) in enumerate(zip(names, result.percent, strict=True)):
        exact = "" if result.exact is None else f"{result.exact[i]:.4f}"
        difference = "" if result.exact is None else f"{value - result.exact[i]:+.4f}"
        table.add_row(str(i), name, f"{value:.4f}", exact, difference)
    console = Console()
    console.print(table)
    if result.difference is None:
        console.print("No exact odds are known for this case, so there is nothing to compare with.")
    else:
        what = (
            "largest difference from the exact odds"
            if result.exact is not None
            else "difference from the published In Jail"
        )
        verdict = "agrees" if result.difference <= result.tolerance else "[bold red]DISAGREES[/]"
        console.print(
            f"{what}: {result.difference:.4f} points, tolerance {result.tolerance:.4f}: {verdict}"
        )


@dataclass
class Fuzz:
    """Random options, random positions, random legal play.

    Every invariant and every dollar is checked after every step.
    """

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

    def run(self) -> int:
        """Play all cases; 0 if none fails."""
        check_whole(games=self.games, max_decisions=self.max_decisions, threads=self.threads)
        whole_number("seed", self.seed, 0)
        whole_number("case", self.case or 0, 0)
        first, count = (0, self.games) if self.case is None else (self.case, 1)
        if self.case is not None:
            print(to_text(fuzzer.case(self.seed, self.case)))
        began = clock()
        result = fuzzer.FuzzResult()
        columns = (
            TextColumn("fuzzing"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            bar = progress.add_task("games", total=count, speed="")
            for result in fuzzer.run(count, self.seed, self.max_decisions, self.threads, first):
                speed = result.games / (clock() - began)
                progress.update(
                    bar,
                    completed=result.games,
                    speed=f"{speed:,.0f} games/s, {len(result.failures)} failures",
                )
        seconds = clock() - began
        if self.json:
            print(
                json.dumps(
                    {
                        "games": result.games,
                        "decisions": result.decisions,
                        "finished": result.finished,
                        "refused": result.refused,
                        "seconds": round(seconds, 2),
                        "failures": result.failures,
                    }
                )
            )
        else:
            print(
                f"{result.games:,} games, {result.decisions:,} decisions, {result.finished:,} "
                f"games played to the end, {result.refused:,} illegal actions refused, "
                f"{seconds:.1f} s: {len(result.failures)} violations"
            )
            for number, what in result.failures[:20]:
                print(
                    f"  case {number}: {what}. To repeat: python -m monopoly_env.validate fuzz"
                    f" --seed {self.seed} --case {number}"
                )
        return 1 if result.failures else 0


def check_whole(**numbers: int) -> None:
    """Raise a ConfigurationError for a number below 1."""
    for name, value in numbers.items():
        whole_number(name, value, 1)


def main() -> int:
    """Run a command and return its exit status.

    The library's errors are printed as one line on stderr.
    """
    if sys.argv[1:2] == ["published"]:
        print(f"error: {_MOVED}", file=sys.stderr)
        return 2
    command = tyro.cli(
        Annotated[Landing, tyro.conf.subcommand("landing")]
        | Annotated[Fuzz, tyro.conf.subcommand("fuzz")],
        prog="python -m monopoly_env.validate",
        description="Checks of the rules engine that anyone can repeat.",
        config=(tyro.conf.OmitSubcommandPrefixes,),
    )
    try:
        return int(command.run())
    except MonopolyError as error:
        return failed(error)


if __name__ == "__main__":
    sys.exit(main())
