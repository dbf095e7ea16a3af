"""The strength of the players of `genetic/esp`, and an ablation of their networks.

`python -m studies.esp_monopoly --help`.

python -m studies.esp_monopoly     # writes studies/data/esp_monopoly.md
python -m studies.esp_monopoly --games 8000 --seed 7
# save the best of each kind in the library, as float16
python -m studies.esp_monopoly --ship runs/*/best.safetensors
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from agents import arena
from agents.arena.evaluation import Seating, Wins
from agents.networks.esp import FORMS, QUESTIONS, EspPlayer, shipped
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.errors import ConfigurationError
from monopoly_env.policy.names import resolve
from monopoly_env.reference import table as markdown
from studies.pages import Page
from training.evolution.esp_monopoly import BASE, TABLES, unmet

PAGE: Final = Path(__file__).parent / "data" / "esp_monopoly.md"
TEMPLATE: Final = "# Networks that correct a scripted player\n"


@dataclass(frozen=True)
class Options:
    """Compare the shipped players of genetic/esp with their base policy, at tables of four.

    The families of their opponents change from game to game.
    """

    games: int = 4000
    """Games against the families of the training, and against others; a seed from every seat."""
    ablation_games: int = 1600
    """Games of each player with one of its networks switched off."""
    seed: int = 41
    """Seed of the games."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""
    ship: tuple[Path, ...] = ()
    """Saved players: play `--games` of each, and save the best of each kind in the library."""
    out: Path = PAGE
    """The page."""
    json: bool = False
    """Print one JSON object at the end."""


# [name on the page] -> tables: those of the training, and those of unseen families.
FAMILIES: Final = {"known": TABLES["changing"], "unknown": unmet("changing")}


def play(players: Sequence[Any], families: str, games: int, options: Options) -> list[Wins]:
    """Play the same games with each player, as many at each table."""
    tables = FAMILIES[families]
    each = max(1, games // sum(table.orders for table in tables))
    seatings = [Seating(table.opponents, table.rules, table.turn_limit) for table in tables]
    return arena.against(
        players,
        seatings,
        [each * table.orders for table in tables],
        options.seed,
        options.threads,
        same_seeds=False,
    )


def measure(options: Options) -> list[dict[str, Any]]:
    """Play all games; returns a row for each comparison."""
    players = [shipped.POLICIES[f"genetic/esp/{form}"]() for form in FORMS]
    rows = []
    for families in FAMILIES:
        scores = play([*players, BASE], families, options.games, options)
        rows += [_row("strength", families, score, scores[-1]) for score in scores[:-1]]
        rows += [_row("memory", families, two, one) for one, two in combinations(scores[:-1], 2)]
    rows += [row for player in players for row in _ablations(player, options)]
    return rows


def _ablations(player: EspPlayer, options: Options) -> Iterator[dict[str, Any]]:
    """The loss of a player without each of its networks."""
    scores = play(
        [player, *(player.without(question) for question in QUESTIONS)],
        "known",
        options.ablation_games,
        options,
    )
    for question, score in zip(QUESTIONS, scores[1:], strict=True):
        yield _row("networks", "known", scores[0], score) | {"network": question}


def _row(kind: str, families: str, score: Wins, other: Wins) -> dict[str, Any]:
    """The difference of two players' wins, paired by seed."""
    less = score.difference(other)
    return {
        "kind": kind, "families": families, "player": score.name, "than": other.name,
        "games": len(score.won), "win_rate": score.rate,
        "other_win_rate": other.rate, "difference": less.difference, "low": less.low,
        "high": less.high,
    }  # fmt: skip


def _points(row: dict[str, Any]) -> tuple[str, str]:
    return f"{100 * row['difference']:+.1f}", f"{100 * row['low']:+.1f} to {100 * row['high']:+.1f}"


def section(rows: Sequence[dict[str, Any]], kind: str) -> str:
    """A table of the page."""
    mine = [row for row in rows if row["kind"] == kind]
    if kind == "networks":
        without = [
            (
                f"`{row['player']}`",
                f"`{row['network']}`",
                f"{row['other_win_rate']:.3f}",
                *_points(row),
            )
            for row in mine
        ]
        return markdown(
            ("player", "network", "wins without it", "what it earns (points)", "95% interval"),
            without,
        )
    lines = [
        (
            f"`{row['player']}`",
            f"`{row['than']}`",
            row["families"],
            f"{row['games']:,}",
            f"{row['win_rate']:.3f}",
            f"{row['other_win_rate']:.3f}",
            *_points(row),
        )
        for row in mine
    ]
    return markdown(
        (
            "player",
            "beside",
            "families",
            "games of each",
            "wins",
            "the other wins",
            "difference (points)",
            "95% interval",
        ),
        lines,
    )


def ship(options: Options, console: Console) -> list[dict[str, Any]]:
    """Save the players that win most, one of each kind, in the library; returns a row for each."""
    players = [_saved(path) for path in options.ship]
    scores = {
        families: play([*players, BASE], families, options.games, options) for families in FAMILIES
    }
    totals = [sum(score.rate for score in both) for both in zip(*scores.values(), strict=True)]
    for form in FORMS:
        mine = [place for place, player in enumerate(players) if player.form == form]
        if mine:
            best = max(mine, key=totals.__getitem__)
            console.print(
                f"{options.ship[best]} written to {shipped.write(players[best])}",
                markup=False,
                soft_wrap=True,
            )
    return [
        _row("ship", families, score, base) | {"player": str(path)}
        for families, (*those, base) in scores.items()
        for path, score in zip(options.ship, those, strict=True)
    ]


def _saved(path: Path) -> EspPlayer:
    player = resolve(str(path))
    if not isinstance(player, EspPlayer):
        raise ConfigurationError(
            f"{str(path)!r} is a policy of kind {player.kind!r}, expected one of genetic/esp."
        )
    return player


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Measure and write the page, or ship the best of some players."""
    if options.ship:
        return {"rows": ship(options, console)}
    page = Page(options.out, TEMPLATE)
    kinds = ("strength", "memory", "networks")
    for kind in kinds:
        page.check(kind)
    rows = measure(options)
    for kind in kinds:
        page.write(kind, section(rows, kind))
    return {"rows": rows}


def show(results: dict[str, Any]) -> None:
    """Print the rows."""
    for row in results["rows"]:
        than = f"without {row['network']}" if "network" in row else row["than"]
        print(f"{row['player']:26} {than:26} {row['families']:8} {' '.join(_points(row))}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    return command.main("studies.esp_monopoly", Command(Options(), execute, show), arguments)


if __name__ == "__main__":
    sys.exit(main())
