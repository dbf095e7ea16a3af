"""Coverage of the intervals of analyses: `python -m studies.calibration --help`.

python -m studies.calibration      # a section of docs/results/adjusted.md
python -m studies.calibration --positions 40 --playouts 500 --out page.md
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from scipy.stats import binomtest

from monopoly_env import core
from monopoly_env.analyse import rollout
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.game import Game
from monopoly_env.intervals import wilson
from monopoly_env.policy.match import Match
from monopoly_env.policy.names import make
from monopoly_env.policy.protocol import Policy
from monopoly_env.reference import table as markdown
from studies.pages import Page, Row, measured
from training.run.options import check_ranges

CONFIDENCES: Final = (0.5, 0.8, 0.95)
FALSE_ALARM: Final = 1e-6  # probability of rejecting correct intervals
SIZES: Final = (2, 3, 4)  # of tables
_DECISIONS: Final = 200  # of a game before its position is taken, at most
SECTION: Final = "calibration"
_TEMPLATE: Final = "# Can the intervals be trusted?\n"


@dataclass(frozen=True)
class Options:
    """Estimate the shares of many positions twice, and count how often both agree."""

    positions: int = 200
    """Positions, from games of 2, 3 and 4 players."""
    playouts: int = 5000
    """Playouts of each estimate."""
    policy: str = "algorithmic"
    """The policy of playouts, and of the games that they start from."""
    seed: int = 0
    """Seed of positions and playouts."""
    out: Path = Path("docs/results/adjusted.md")
    """The page. Text outside its generated section is preserved."""
    json: bool = False
    """Print one JSON object too."""


def sample(number: int, policy: Policy, rng: np.random.Generator) -> Game:
    """A random position of a game played by a policy."""
    while True:
        size = SIZES[number % len(SIZES)]
        match = Match(core.new_game(size, seed=int(rng.integers(1 << 53))), [policy] * size)
        for _ in range(int(rng.integers(_DECISIONS))):
            match.step(match.ask())
            if core.is_over(match.game):
                break
        else:
            return match.game


def agree(one: float, two: float, playouts: int, confidence: float) -> bool:
    """Whether the interval of the difference of two shares holds 0 (Newcombe 1998, method 10)."""
    (low, high), (other_low, other_high) = (
        wilson(share * playouts, playouts, confidence) for share in (one, two)
    )
    down, up = np.hypot(one - low, other_high - two), np.hypot(high - one, two - other_low)
    return bool(one - two - down <= 0 <= one - two + up)


def measure(options: Options, console: Console) -> tuple[NDArray[np.float64], float]:
    """(N, 2) the shares of the player to move, estimated twice, and playouts a second."""
    policy, rng = make(options.policy), np.random.default_rng(options.seed)
    pairs, seconds = np.zeros((options.positions, 2)), 0.0
    for number in track(range(options.positions), "playing on", console=console):
        game, began = sample(number, policy, rng), time.monotonic()
        seeds = rng.integers(1 << 62, size=2)
        pairs[number] = [
            rollout(game, policy, options.playouts, seed=int(seed)).share[int(game.player)]
            for seed in seeds
        ]
        seconds += time.monotonic() - began
    return pairs, 2 * options.positions * options.playouts / seconds


def count(pairs: NDArray[np.float64], playouts: int) -> list[dict[str, Any]]:
    """A row for each confidence."""
    rows = []
    for confidence in CONFIDENCES:
        held = sum(agree(one, two, playouts, confidence) for one, two in pairs)
        low, high = wilson(held, len(pairs))
        p = float(binomtest(held, len(pairs), confidence).pvalue)
        rows.append(
            {
                "confidence": confidence,
                "positions": len(pairs),
                "playouts": playouts,
                "held": held,
                "rate": held / len(pairs),
                "low": low,
                "high": high,
                "p": p,
                "agrees": p > FALSE_ALARM,
                "date": f"{date.today()}",
            }
        )
    return rows


def section(rows: Sequence[Row]) -> str:
    """The table, in Markdown."""
    headings = "confidence", "intervals that held", "95% interval of the share", "p", "agrees"
    cells = [
        [
            f"{row['confidence']:.0%}",
            f"{row['rate']:.1%}",
            f"{row['low']:.1%} to {row['high']:.1%}",
            f"{row['p']:.2g}",
            "yes" if row["agrees"] else "**no**",
        ]
        for row in rows
    ]
    about = (
        f"{measured(rows)} {rows[0]['positions']:,} positions, {rows[0]['playouts']:,} playouts"
        " of each estimate."
    )
    return f"{about}\n\n{markdown(headings, cells)}"


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Measure, and write the page.

    Raises:
        MonopolyError: A wrong number, an unknown policy, a page that can't be written.
    """
    check_ranges(
        options, {"positions": (1, 100_000), "playouts": (1, 1 << 24), "seed": (0, (1 << 32) - 1)}
    )
    page = Page(options.out, _TEMPLATE)
    page.check(SECTION)
    pairs, speed = measure(options, console)
    rows = count(pairs, options.playouts)
    page.write(SECTION, section(page.add(rows, ("confidence",), SECTION)))
    return {"rows": rows, "playouts_per_second": round(speed)}


def show(made: dict[str, Any]) -> None:
    """Say what was written."""
    print(f"{section(made['rows'])}\n{made['playouts_per_second']:,} playouts a second")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if everything was measured."""
    return command.main("studies.calibration", Command(Options(), execute, show), arguments)


if __name__ == "__main__":
    sys.exit(main())
