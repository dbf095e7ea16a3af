"""Find out who wins a small board of two players: `python -m pente_env.solve --help`.

python -m pente_env.solve --size 5 --captures none             # five in a row alone: a draw
python -m pente_env.solve --size 5 --positions 100_000_000 --table-bits 24
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import tyro
from rich.console import Console
from rich.progress import Progress

from monopoly_env.errors import ConfigurationError, MonopolyError
from monopoly_env.terminal import failed
from pente_env.core import new_game
from pente_env.game import SMALL
from pente_env.rules import MIN_SIZE, Rules
from pente_env.solver import solve


@dataclass(frozen=True)
class Options:
    """Search for a forced win from the first stone in the centre.

    The search is for a win of the first player, then of the second.
    """

    size: int = 5
    """Points along a side, 5 to 7."""
    captures: Literal["pairs", "none"] = "pairs"
    """pairs: Pente; none: five in a row alone."""
    positions: int = 10_000_000
    """Positions that each of the two searches looks at, at most."""
    table_bits: int = 22
    """The table has 2 to this many entries of 28 bytes."""
    json: bool = False
    """Print one JSON object."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 if it searched, whatever it found."""
    try:
        options = tyro.cli(Options, args=arguments, prog="python -m pente_env.solve")
        if not MIN_SIZE <= options.size <= SMALL:
            raise ConfigurationError(
                f"--size {options.size}: boards from {MIN_SIZE} x {MIN_SIZE} to {SMALL} x {SMALL}"
                " can be solved."
            )
        game, began = (
            new_game(rules=Rules(size=options.size, captures=options.captures)),
            time.perf_counter(),
        )
        with Progress(console=Console(stderr=True), transient=True) as bar:
            positions = bar.add_task(
                "Positions of both searches, at most", total=2 * options.positions
            )
            found = solve(
                game,
                options.positions,
                options.table_bits,
                lambda searched: bar.advance(positions, searched),
            )
    except MonopolyError as error:
        return failed(error, arguments)
    except KeyboardInterrupt:
        return 130
    seconds = round(time.perf_counter() - began, 1)
    if options.json:
        told = {"size": options.size, "captures": options.captures} | dataclasses.asdict(found)
        print(json.dumps(told | {"seconds": seconds}))
        return 0
    said = {True: "yes", False: "no", None: "not settled"}
    print(f"{options.size} x {options.size}, captures {options.captures}: {found.value}")
    print(f"first player can force a win: {said[found.first]}; second: {said[found.second]}")
    print(f"{found.positions:,} positions, {seconds:,} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
