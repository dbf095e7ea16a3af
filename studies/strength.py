r"""The win rates of one policy against each of many: `python -m studies.strength --help`.

# against every scripted policy, 2 and 4 players
python -m studies.strength --player expert
python -m studies.strength --player strategic --against 'fp/*' --games 10000 --rules ocnaru \
    --sizes 2 --out page.md
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

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
from monopoly_env.policy.names import resolve, resolve_all
from monopoly_env.policy.protocol import Policy
from monopoly_env.reference import table as markdown
from studies.pages import Page, Row, measured
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
    """A page: add the rows to its data, and write its section `strength`."""


HEADINGS: Final = (
    "against", "players", "games", "win rate", "95% interval", "trades a game",
    "a lot moved more than 3 times", "decided by the limit",
)  # fmt: skip
SECTION: Final = "strength"
_KEY: Final = ("policy", "rules", "opponent", "players")


def measure(options: Options, console: Console) -> list[dict[str, Any]]:
    """Play all games.

    Returns:
        A row for each opponent and size: `policy`, `rules`, `opponent`, `players`, `games`,
        `win_rate`, `low`, `high`, `even` (the share of a seat among equal players), `beats`
        (whether the interval lies above it), `trades` a game, `many_moves` and `capped`, shares of
        games, `seed` and `date`.

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
        "policy": options.player, "rules": options.rules, "opponent": name, "players": size,
        "games": results.games, "win_rate": score.rate,
        "low": low, "high": high, "even": 1 / size,
        "beats": low > 1 / size, "trades": trades["mean"],
        "many_moves": trades["games_with_many_moves"], "capped": float(results.capped.mean()),
        "seed": options.seed, "date": f"{date.today()}",
    }  # fmt: skip


def cells(row: dict[str, Any]) -> list[str]:
    """A row as text, in the order of HEADINGS."""
    return [
        row["opponent"], str(row["players"]), f"{row['games']:,}", f"{row['win_rate']:.3f}",
        f"{row['low']:.3f} to {row['high']:.3f}",
        f"{row['trades']:.1f}", f"{row['many_moves']:.1%}", f"{row['capped']:.1%}",
    ]  # fmt: skip


def section(rows: Sequence[Row]) -> str:
    """The table of a page."""
    heads = "player", "rules, players", "against", "games", "wins"
    lines = [
        (
            f"`{row['policy']}`", f"{row['rules']}, {row['players']}", f"`{row['opponent']}`",
            f"{row['games']:,}",
            f"**{row['win_rate']:.3f}** ({row['low']:.3f} to {row['high']:.3f})",
        )
        for row in rows
    ]  # fmt: skip
    return f"{measured(rows)}\n\n{markdown(heads, lines)}"


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Play all games, and write a page on request; returns `policy`, `rules`, `seed`, `rows`."""
    page = None if options.out is None else Page(options.out, "# Strength\n")
    if page:
        page.check(SECTION)
    rows = measure(options, console)
    if page:
        page.write(SECTION, section(page.add(rows, _KEY)))
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
