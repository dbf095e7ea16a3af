"""The length of games of two cautious players, compared with the published figures.

`python -m studies.friedman --help`.

Friedman et al. ("Estimating the probability that the game of Monopoly never ends", Winter
Simulation Conference 2009) simulate two players with one throw a turn, and report the share of
games still running after a number of rounds.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from rich.console import Console

from agents import arena
from agents.arena.results import Results
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.cli.terminal import TextTable
from monopoly_env.rules import Rules
from studies.published import Comparison, Estimate, clustered
from training.run.options import check_ranges

# rounds -> share of games that are not over
PUBLISHED: Final = {50: 0.971, 100: 0.592, 200: 0.182, 500: 0.128, 1000: 0.124}
ROUNDING: Final = (
    0.0005  # the figures have three decimals; from how many games they come is not said
)
SOURCE: Final = "Friedman et al. 2009"


@dataclass(frozen=True)
class Options:
    """The share of games between two `friedman` still running after 50 to 1,000 rounds.

    A round is one throw per player. A published figure agrees if it lies within our 95% interval.
    """

    games: int = 4000
    """Games to play."""
    seed: int = 0
    """Determines every game."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""
    json: bool = False
    """Print one JSON object instead of a table."""


def measure(options: Options, console: Console) -> list[Comparison]:
    """Play, and compare each published figure with ours."""
    check_ranges(options, {"games": (1, 1 << 31), "threads": (1, 1024)})
    rules = Rules(doubles_again=False)
    results = arena.play(
        ["friedman"] * 2,
        options.games,
        rules,
        options.seed,
        options.threads,
        max(PUBLISHED),
        progress=console.is_terminal,
    )
    return [_beside(rounds, share, results) for rounds, share in PUBLISHED.items()]


def _beside(rounds: int, share: float, results: Results) -> Comparison:
    going_on = ((results.turns > 2 * rounds) | results.capped).astype(np.float64)
    theirs = Estimate(share, share - ROUNDING, share + ROUNDING)
    return Comparison(
        f"after {rounds:,} rounds", SOURCE, theirs, clustered(going_on, results.seeds)
    )


def execute(options: Options, console: Console) -> list[dict[str, Any]]:
    """Measure; the comparisons as JSON values."""
    return [
        {
            "what": found.what,
            "source": found.source,
            "agrees": found.agrees,
            "published": vars(found.theirs),
            "ours": vars(found.ours),
        }
        for found in measure(options, console)
    ]


def show(rows: list[dict[str, Any]]) -> None:
    """Print the comparisons."""
    table = TextTable(
        "still playing", "published", "ours", "agrees", title="Two friedman, one throw a turn"
    )
    for row in rows:
        ours = row["ours"]
        interval = f"{ours['value']:.3f} ({ours['low']:.3f} to {ours['high']:.3f})"
        table.add_row(
            row["what"],
            f"{row['published']['value']:.3f}",
            interval,
            "yes" if row["agrees"] else "no",
        )
    Console().print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    return command.main("studies.friedman", Command(Options(), execute, show), arguments)


if __name__ == "__main__":
    sys.exit(main())
