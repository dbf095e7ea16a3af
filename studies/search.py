r"""The gain by search: `python -m studies.search --help`.

# `search/best`; adds rows to a section of docs/results/search.md
python -m studies.search --section known --games 1000
python -m studies.search --section learned --base ppo/best/two --advisers --doubt 0.1 \
    --others None --offers 0 --sizes 2
# a first look, minutes
python -m studies.search --playouts 25 --games 100 --section look --out look.md
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from agents import arena
from agents.arena.evaluation import Seating
from agents.players.search.player import BEST, SearchPolicy
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.policy.names import resolve
from monopoly_env.policy.protocol import Policy
from monopoly_env.reference import table as markdown
from studies.pages import Page, Row, measured
from training.run.options import RulesName

PAGE: Final = Path(__file__).parents[1] / "docs" / "results" / "search.md"
TEMPLATE: Final = "# What is search worth?\n"
# options of `search/best`
_CHOSEN: Final = set(BEST) - {"playouts", "name"}
_KEY: Final = ("section", "player", "rules", "opponent", "players", "playouts", "games")
_SHOWN: Final = 6  # rows of a section on the page, those with the least gain


@dataclass(frozen=True)
class Options:
    """Compare `search` with its base policy in the same seats of the same games."""

    player: str | None = None
    """The policy to be measured, such as `one_ply` or `search/switching`; None: `search` with the
    following options."""
    base: str = BEST["base"]
    """The base policy, which decides if its advisers agree, and with which the player is
    compared."""
    beside: str | None = None
    """Compare the player with this policy instead of its base."""
    advisers: tuple[str, ...] = BEST["advisers"]
    """Policies that propose other actions."""
    against: tuple[str, ...] = (
        "expert/bargaining",
        "fp/b/guarded",
        "landlord/balanced",
        "yasumura",
    )
    """Opponents, in all other seats."""
    sizes: tuple[int, ...] = (4,)
    """Seats at the tables."""
    playouts: tuple[int, ...] = (BEST["playouts"],)
    """Playouts of each answer; a row for each."""
    offers: int = BEST["offers"]
    """Packages compared by playouts for an own offer; 0: only offers of the base policy."""
    turns: int = BEST["turns"]
    """Rounds after which a playout is cut off and valued."""
    value: str = BEST["value"]
    """The value function of cut-off playouts."""
    rollout_policy: str | None = BEST["rollout_policy"]
    """The policy of playouts; None: the base policy."""
    others: tuple[str, ...] | None = BEST["others"]
    """Possible policies of the opponents in playouts, weighted by posterior probability; None: the
    policy of playouts."""
    doubt: float | None = None
    """Also compare actions to which the networks of a learned base give this probability."""
    decisions: tuple[str, ...] | None = BEST["decisions"]
    """Kinds of decisions with playouts; None: all."""
    margin: float = BEST["margin"]
    """Standard errors by which another action must lead the base policy's."""
    time: float | None = None
    """Time limit of a decision in seconds; the results then depend on the clock."""
    games: int = 400
    """Games of each row; every seed is played from every seat."""
    rules: RulesName = "official"
    seed: int = 11
    """Seed of the games."""
    threads: int | None = None
    """Threads of playouts; by default one per core."""
    section: str = "known"
    """The section of the page to add the rows to."""
    out: Path = PAGE
    """The page."""
    json: bool = False
    """Print one JSON object instead of the table."""


def measure(options: Options, console: Console) -> Iterator[dict[str, Any]]:
    """Play all games; yields a row for each opponent, size and number of playouts.

    Raises:
        ConfigurationError: A policy is unknown or not compiled, or a number is out of range.
    """
    other = resolve(options.beside or options.base)
    opponents = [(name, resolve(name)) for name in options.against]
    for size, (opponent, policy) in product(options.sizes, opponents):
        seating = Seating((policy,) * (size - 1), options.rules)
        (alone,) = arena.against([other], [seating], [options.games], options.seed)
        for player in _players(options):
            console.print(f"{player.name} against {opponent}, {size} players")
            began = time.process_time()
            (score,) = arena.against(
                [player], [seating], [options.games], options.seed, progress=console.is_terminal
            )
            seconds = time.process_time() - began
            lead, games = score.difference(alone), score.results[0].games
            low, high = score.interval
            playouts, searched = (
                (player.options()["playouts"], player.searched)
                if isinstance(player, SearchPolicy)
                else (0, 0)
            )
            yield {
                "section": options.section, "player": name_of(options),
                "options": _changed(options), "rules": options.rules, "opponent": opponent,
                "players": size, "playouts": playouts, "games": games,
                "win_rate": score.rate, "low": low, "high": high,
                "beside": options.beside or options.base,
                "lead": lead.difference, "lead_low": lead.low, "lead_high": lead.high,
                "searched": searched / games, "seconds": seconds / max(1, searched),
                "seed": options.seed, "date": f"{date.today()}",
            }  # fmt: skip


def _players(options: Options) -> list[Policy]:
    if options.player is not None:
        return [resolve(options.player)]
    return [
        SearchPolicy(
            options.base, playouts, options.advisers, options.margin, options.turns, options.value,
            options.others, offers=options.offers,
            time=options.time, threads=options.threads, rollout_policy=options.rollout_policy,
            doubt=options.doubt,
            decisions=options.decisions,
        )
        for playouts in options.playouts
    ]  # fmt: skip


def section(rows: Sequence[Row]) -> str:
    """The table of a section: the rows with the least gain."""
    heads = "player", "against, players", "playouts", "wins", "gain"
    shown = sorted(rows, key=lambda row: row["lead"])[:_SHOWN]
    cells = [
        (
            f"`{row['player']}`", f"`{row['opponent']}`, {row['players']}",
            row["playouts"] or "-",
            f"{row['win_rate']:.3f} ({row['low']:.3f} to {row['high']:.3f})",
            f"**{row['lead']:+.3f}** ({row['lead_low']:+.3f} to {row['lead_high']:+.3f})",
        )
        for row in shown
    ]  # fmt: skip
    part = f" The {_SHOWN} smallest gains of {len(rows)} rows:" if len(rows) > _SHOWN else ""
    return f"{measured(rows)}{part}\n\n{markdown(heads, cells)}"


def name_of(options: Options) -> str:
    """The player in a few words: `search` if more than its base or its knowledge is changed."""
    if options.player is not None:
        return options.player
    tuned = _CHOSEN - {"base", "advisers", "others"}
    best = options.doubt is None and all(getattr(options, name) == BEST[name] for name in tuned)
    base = "" if options.base == BEST["base"] else f" on {options.base}"
    limit = "" if options.time is None else f", {options.time:g} s"
    return f"{'search/best' if best else 'search'}{base}{limit}"


def _changed(options: Options) -> str:
    """The options that differ from those of `search/best`, as on a command line."""
    if options.player is not None:
        return ""
    changed = {
        name: value
        for name, value in vars(options).items()
        if name in _CHOSEN and value != BEST[name]
    } | {name: getattr(options, name) for name in ("beside", "doubt", "time")}
    return " ".join(
        f"--{name.replace('_', '-')} {' '.join(value) if isinstance(value, tuple) else value}"
        for name, value in changed.items()
        if value is not None or name in _CHOSEN
    )


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Measure, and write the page after each row, in case the run is interrupted."""
    page = Page(options.out, TEMPLATE)
    page.check(options.section)
    rows = list[dict[str, Any]]()
    for row in measure(options, console):
        rows.append(row)
        stored = page.add([row], _KEY)
        page.write(
            options.section, section([row for row in stored if row["section"] == options.section])
        )
    return {"rows": rows}


def show(results: dict[str, Any]) -> None:
    """Print the rows."""
    for row in results["rows"]:
        print(
            f"{row['opponent']:20} {row['players']} players {row['playouts']:5} playouts:"
            f" {row['win_rate']:.3f}, {row['lead']:+.3f} ({row['lead_low']:+.3f} to"
            f" {row['lead_high']:+.3f}) more than the other, {row['searched']:.1f} decisions a"
            f" game, {row['seconds']:.3f} s each"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    return command.main("studies.search", Command(Options(), execute, show), arguments)


if __name__ == "__main__":
    sys.exit(main())
