r"""The win rates of one policy against each of many: `python -m studies.strength --help`.

# against every scripted policy, 2 and 4 players
python -m studies.strength --player expert
python -m studies.strength --player strategic --against 'fp/*' --games 10000 --rules ocnaru \
    --sizes 2 --out strength.md
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console
from rich.progress import track

from agents import arena
from agents.arena import statistics
from agents.arena.evaluation import Seating
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.cli.terminal import TextTable
from monopoly_env.errors import ConfigurationError
from monopoly_env.files import write_atomically
from monopoly_env.policy.names import resolve, resolve_all
from monopoly_env.policy.protocol import Policy
from monopoly_env.reference import table as markdown
from training.run.options import RulesName
from training.tournament import expand


@dataclass(frozen=True)
class Options:
    """Play a policy against each opponent, at larger tables against several copies of it.

    Every seed is played from every seat. An even share is 1/2 at a table of two and 1/4 at a table
    of four. The 95% intervals use the variance between seeds.
    """

    player: str
    """The policy to be measured: a name (`agents.names()`) or a saved policy (.safetensors)."""
    against: tuple[str, ...] = ("all",)
    """Opponents: names, patterns such as 'strategic/*', `all`, or saved policies."""
    sizes: tuple[int, ...] = (2, 4)
    """Seats at the tables."""
    games: int = 2000
    """Games against each opponent at each size."""
    rules: RulesName = "official"
    seed: int = 0
    """Seed of all dice, cards and random policies."""
    turn_limit: int = 1000
    """Turns of each player after which the score decides a game."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""
    json: bool = False
    """Print one JSON object instead of the table."""
    out: Path | None = None
    """Also write the table to this Markdown file."""


HEADINGS = (
    "against", "players", "games", "win rate", "95% interval", "trades a game",
    "a lot moved more than 3 times", "decided by the limit",
)  # fmt: skip


def measure(options: Options, console: Console) -> list[dict[str, Any]]:
    """Play all games.

    Returns:
        A row for each opponent and size: `opponent`, `players`, `games`, `win_rate`, `low`, `high`,
        `even` (the share of a seat among equal players), `beats` (whether the interval lies above
        it), `trades` a game, `many_moves` and `capped`, shares of games.

    Raises:
        MonopolyError: An unknown policy, an invalid number, or an illegal action.
    """
    opponents = [name for name in expand(options.against) if name != options.player]
    if not opponents:
        raise ConfigurationError(f"{options.player!r} has no opponent to play against.")
    policy = resolve(options.player)
    pairs = [
        (opponent, size)
        for opponent in zip(opponents, resolve_all(opponents), strict=True)
        for size in options.sizes
        if opponent[1].num_players in {None, size}  # networks play at tables of one size
    ]
    return [
        _row(policy, *opponent, size, options)
        for opponent, size in track(pairs, "playing", console=console)
    ]


def _row(
    policy: Policy, name: str, opponent: Policy, size: int, options: Options
) -> dict[str, Any]:
    seating = Seating((opponent,) * (size - 1), options.rules, options.turn_limit)
    (score,) = arena.against([policy], [seating], [options.games], options.seed, options.threads)
    (low, high), (results,) = score.interval, score.results
    trades = statistics.trades(results)
    return {
        "opponent": name, "players": size, "games": results.games, "win_rate": score.rate,
        "low": low, "high": high, "even": 1 / size,
        "beats": low > 1 / size, "trades": trades["mean"],
        "many_moves": trades["games_with_many_moves"], "capped": float(results.capped.mean()),
    }  # fmt: skip


def cells(row: dict[str, Any]) -> list[str]:
    """A row as text, in the order of HEADINGS."""
    return [
        row["opponent"], str(row["players"]), f"{row['games']:,}", f"{row['win_rate']:.3f}",
        f"{row['low']:.3f} to {row['high']:.3f}",
        f"{row['trades']:.1f}", f"{row['many_moves']:.1%}", f"{row['capped']:.1%}",
    ]  # fmt: skip


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Play all games, and write the table on request; returns `policy`, `rules`, `seed`, `rows`."""
    rows = measure(options, console)
    if options.out:
        named = [[f"`{row['opponent']}`", *cells(row)[1:]] for row in rows]
        write_atomically(options.out, (markdown(HEADINGS, named) + "\n").encode())
    return {"policy": options.player, "rules": options.rules, "seed": options.seed, "rows": rows}


def show(results: dict[str, Any]) -> None:
    """Print the table."""
    shown = TextTable(
        "against", title=f"{results['policy']}, rules {results['rules']}, seed {results['seed']}"
    )
    for heading in HEADINGS[1:]:
        shown.add_column(heading, justify="right")
    for row in results["rows"]:
        shown.add_row(*cells(row), style="" if row["beats"] else "yellow")
    console = Console()
    console.print(shown) if console.is_terminal else Console(width=140).print(shown)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    return command.main(
        "studies.strength", Command(Options(tyro.MISSING), execute, show), arguments
    )


if __name__ == "__main__":
    sys.exit(main())
