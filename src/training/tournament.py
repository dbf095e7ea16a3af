"""Let policies play each other and print who wins how often: `python -m training.tournament --help`.

python -m training.tournament --players algorithmic random --games 2000
python -m training.tournament --players algorithmic random random/no_trades --table-size 3 --json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro
from rich.console import Console

from agents import arena
from agents.results import Results
from monopoly_env.errors import ConfigurationError, MonopolyError

SUFFIXES = (".json", ".csv", ".npz")


@dataclass(frozen=True)
class Options:
    """Play every table of a field of policies and print win rates with 95% intervals.

    Each seed is played in every order of seats, so that luck of the dice and of the seat cancels. A draw shares the win.
    """

    players: tuple[str, ...]
    """Two or more policies: names (`agents.names()`) or saved ones (.safetensors)."""
    rules: str = "official"
    """A preset of rules: official, any_time, modern, short, classic, uk, ocnaru, mukhar, pring, frayn."""
    games: int = 1000
    """Games at each table. 1,000 give a win rate to about 3 percentage points."""
    seed: int = 0
    """Decides all dice and cards, and what random policies do."""
    table_size: int | None = None
    """How many sit at a table, 2 to 8. All tables that the field allows are played. Default: 2, or everybody if one sits twice."""
    threads: int | None = None
    """Cores to play on; default: all. The results are the same."""
    turn_limit: int = 1000
    """Turns of each player after which the score decides a game."""
    json: bool = False
    """Print one JSON object instead of the table."""
    out: Path | None = None
    """Also write the results: .json (the same object), .csv (a row a policy) or .npz (every game)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    options = tyro.cli(Options, args=arguments, prog="python -m training.tournament")
    try:
        results = run(options)
        if options.out:
            results.save(options.out)
    except MonopolyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    if options.json:
        print(json.dumps(results.summary()))
    else:
        Console().print(results.table())
    return 0


def run(options: Options) -> Results:
    """Play the tables.

    Raises:
        MonopolyError: Wrong options; a policy that breaks the rules.
    """
    if options.out and options.out.suffix not in SUFFIXES:
        raise ConfigurationError(f"--out writes {', '.join(SUFFIXES)}, not {str(options.out)!r}.")
    size = options.table_size or (2 if len(set(options.players)) == len(options.players) else len(options.players))
    return arena.round_robin(
        options.players, options.games, size, options.rules, options.seed, options.threads, options.turn_limit, progress=True
    )


if __name__ == "__main__":
    sys.exit(main())
