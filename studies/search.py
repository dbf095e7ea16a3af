r"""The gain by search: `python -m studies.search --help`.

# `search/best`; writes a section of docs/results/search.md
python -m studies.search --section four --games 1000
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
from studies.pages import Page
from training.run.options import RulesName

PAGE: Final = Path(__file__).parents[1] / "docs" / "results" / "search.md"
TEMPLATE: Final = "# What looking ahead is worth\n\n"
# options of `search/best`
_CHOSEN: Final = set(BEST) - {"playouts", "name"}
_HEADINGS: Final = ("against", "players", "playouts", "games", "wins", "95% interval")
_COSTS: Final = ("95% interval", "played out a game", "seconds each")


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
    section: str = "strength"
    """The section of the page to write."""
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
                "opponent": opponent, "players": size, "playouts": playouts, "games": games,
                "win_rate": score.rate, "low": low,
                "high": high, "lead": lead.difference, "lead_low": lead.low, "lead_high": lead.high,
                "searched": searched / games,
                "seconds": seconds / max(1, searched),
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


def section(rows: Sequence[dict[str, Any]], options: Options) -> str:
    """The table of the page."""
    lines = [
        (
            f"`{row['opponent']}`",
            row["players"],
            row["playouts"],
            f"{row['games']:,}",
            f"{row['win_rate']:.3f}",
            f"{row['low']:.3f} to {row['high']:.3f}",
            f"{row['lead']:+.3f}",
            f"{row['lead_low']:+.3f} to {row['lead_high']:+.3f}",
            *(
                (f"{row['searched']:.1f}", f"{row['seconds']:.3f}")
                if row["searched"]
                else ("-", "-")
            ),
        )
        for row in rows
    ]
    about = (
        f"{_described(options)}, rules `{options.rules}`, seed {options.seed}. Seconds are"
        " processor time of whole games, divided by the decisions that were played out."
    )
    other = "its base policy" if options.beside is None else f"`{options.beside}`"
    return f"{about}\n\n{markdown((*_HEADINGS, f'more than {other}', *_COSTS), lines)}"


def _described(options: Options) -> str:
    """The player in words."""
    if options.player is not None:
        return f"`{options.player}`"
    limit = "" if options.time is None else f", {options.time:g} s a decision at most"
    if options.doubt is None and all(
        getattr(options, name) == BEST[name] for name in vars(options) if name in _CHOSEN
    ):
        return f"`search/best`{limit}"
    offers = f" own offers out of {options.offers} packages," if options.offers else ""
    advice = f" with the advice of {_names(options.advisers)}" if options.advisers else ""
    doubt = (
        ""
        if options.doubt is None
        else f" and its own choices of a probability from {options.doubt}"
    )
    others = (
        ""
        if options.others is None
        else (
            f" and, in the other seats, those of {_names(options.others)} that explain what was"
            " seen"
        )
    )
    asked = "" if options.decisions is None else f" at the decisions {_names(options.decisions)},"
    return (
        f"`search` on `{options.base}`{advice}{doubt},{asked} playouts of {options.turns} rounds by"
        f" `{options.rollout_policy or options.base}`{others},{offers} ended by the value"
        f" `{options.value}`; margin {options.margin}{limit}"
    )


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Measure, and write the page after each row, in case the run is interrupted."""
    page = Page(options.out, TEMPLATE)
    page.check(options.section)
    rows = list[dict[str, Any]]()
    for row in measure(options, console):
        rows.append(row)
        page.write(options.section, section(rows, options))
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
