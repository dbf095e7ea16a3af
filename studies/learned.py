"""The strength of the learned agents: `python -m studies.learned --help`.

# every shipped agent at its own table: a section of docs/results/learned.md
python -m studies.learned
python -m studies.learned --games 1000 --only ppo/best/ocnaru
# at smaller tables than its own
python -m studies.learned --only ppo/best/four --num-players 3
# store the learning curve of a run, or of several seeds, for `python -m studies.pictures`
python -m studies.learned --curve runs/dqn
# save an agent in the library, as int8
python -m studies.learned --ship runs/ppo/agent.safetensors ppo_ocnaru
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.console import Console
from rich.progress import track

from agents import arena
from agents.arena.evaluation import Seating
from agents.learned import shipped
from agents.learned.agent import LearnedAgent
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.files import read_file, read_json
from monopoly_env.policy.names import resolve
from monopoly_env.reference import table as markdown
from monopoly_env.rules import PRESETS, Rules
from studies.pages import Page, Row, measured, write_rows
from training.run.folder import CONFIG, MOST_CONFIG

PAGE: Final = Path(__file__).parents[1] / "docs" / "results" / "learned.md"
TEMPLATE: Final = "# How strong are the learned agents?\n"
SECTION: Final = "strength"


class Opponents(NamedTuple):
    """The opponents of an agent's evaluation.

    Attributes:
        evolved: The strongest agent without networks, which plays the same seats of the same games
            for comparison.
        trained: Opponents of its training.
        unseen: Other opponents.
    """

    evolved: str
    trained: tuple[str, ...]
    unseen: tuple[str, ...]


_FP: Final = ("fp/a/guarded", "fp/b/guarded", "fp/c/guarded")
_STRANGERS: Final = ("yasumura", *_FP)
_OFFICIAL: Final = ("strategic", "algorithmic", "expert", "expert/bargaining")
_OCNARU: Final = (
    "strategic",
    "algorithmic",
    "expert",
    "expert/bargaining/ocnaru",
    "ocnaru/algorithmic",
    "landlord/balanced",
    "gcp",
)
_TWO: Final = Opponents("expert/bargaining", (*_OFFICIAL, "landlord/balanced", "gcp"), _STRANGERS)
# [agent] -> opponents.
OPPONENTS: Final = {
    "ppo/best/two": _TWO,
    "ppo/bidder/two": _TWO,
    "ppo/best/four": Opponents(
        "expert/bargaining", (*_OFFICIAL, "expert/value"), (*_STRANGERS, "landlord/balanced")
    ),
    "ppo/best/ocnaru": Opponents("expert/bargaining/ocnaru", _OCNARU, _STRANGERS),
    "dqn/best/ocnaru": Opponents("expert/bargaining/ocnaru", _OCNARU, _STRANGERS),
}


@dataclass(frozen=True)
class Options:
    """Play every shipped learned agent against opponents of its training and others."""

    only: tuple[str, ...] = ()
    """Agents; by default all shipped ones."""
    num_players: int | None = None
    """Seats at the table; by default those of the agent."""
    games: int = 2000
    """Games against each opponent; every seed is played from every seat."""
    seed: int = 31
    """Seed of the games."""
    curve: tuple[Path, ...] = ()
    """Folders of runs that differ only in their seeds: store their learning curves instead."""
    ship: tuple[Path, str] | None = None
    """A saved agent, and the name of the file: save it in the library."""
    out: Path = PAGE
    """The page."""
    json: bool = False
    """Print one JSON object at the end."""


def measure(name: str, options: Options, console: Console) -> Iterator[dict[str, Any]]:
    """Play all games of an agent: a row for each opponent."""
    agent, group = shipped.POLICIES[name](), OPPONENTS[name]
    agent.check_table(options.num_players or agent.num_players)
    rules = next(
        rules for rules in PRESETS if Rules.preset(rules).changed() == agent.options()["rules"]
    )
    for opponent in track((*group.trained, *group.unseen), name, console=console):
        yield compared(agent, rules, opponent, group, options)


def compared(
    agent: LearnedAgent, rules: str, opponent: str, group: Opponents, options: Options
) -> dict[str, Any]:
    """Play an agent and the evolved one against an opponent."""
    players = options.num_players or agent.num_players
    seating = Seating((resolve(opponent),) * (players - 1), Rules.preset(rules))
    score, beside = arena.against([agent, group.evolved], [seating], [options.games], options.seed)
    (low, high), more = score.interval, score.difference(beside)
    return {
        "agent": agent.name, "players": players, "rules": rules, "opponent": opponent,
        "trained": opponent in group.trained,
        "games": score.results[0].games, "win_rate": score.rate, "low": low, "high": high,
        "evolved": group.evolved,
        "evolved_rate": beside.rate, "more": more.difference, "more_low": more.low,
        "more_high": more.high, "seed": options.seed, "date": f"{date.today()}",
    }  # fmt: skip


def section(rows: Sequence[Row]) -> str:
    """The table: each agent against the evolved one, and where it does worst beside that."""
    heads = "agent", "rules, players", "against", "wins", "evolved agent there", "difference"
    shown = []
    for table in dict.fromkeys((row["agent"], row["players"]) for row in rows):
        found = [row for row in rows if (row["agent"], row["players"]) == table]
        least = min(found, key=lambda row: row["more"])
        shown += [row for row in found if row is least or row["opponent"] == row["evolved"]]
    return f"{measured(rows)}\n\n{markdown(heads, map(_cells, shown))}"


def _cells(row: Row) -> tuple[str, ...]:
    met = "" if row["trained"] else " (never met)"
    return (
        f"`{row['agent']}`",
        f"{row['rules']}, {row['players']}",
        f"`{row['opponent']}`{met}",
        f"**{row['win_rate']:.3f}** ({row['low']:.3f} to {row['high']:.3f})",
        f"{row['evolved_rate']:.3f}",
        f"{row['more']:+.3f} ({row['more_low']:+.3f} to {row['more_high']:+.3f})",
    )


def curves(folders: Sequence[Path]) -> list[Row]:
    """Win rates over the self-play of runs, from their curves; at 0 after imitation.

    Raises:
        ConfigurationError: A folder holds no curves.
    """
    rows = []
    for folder in folders:
        rates = _rates(folder, "self-play")
        if not rates:
            raise ConfigurationError(f"{str(folder)!r} holds no curves of self-play.")
        imitated = _rates(folder, "imitation")
        players = read_json(read_file(folder / CONFIG, MOST_CONFIG))["num_players"]
        rows += [
            {
                "run": folder.name, "players": players, "opponent": opponent, "decisions": step,
                "win_rate": rate, "low": low, "high": high,
            }
            for opponent, points in rates.items()
            for step, (rate, low, high) in sorted((imitated.get(opponent, {}) | points).items())
        ]  # fmt: skip
    return rows


def _rates(folder: Path, stage: str) -> dict[str, dict[int, tuple[float, ...]]]:
    """Win rate and interval, by opponent and number of own decisions; of several, the last."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    if not (folder / "curves" / stage).is_dir():
        return {}
    events = EventAccumulator(str(folder / "curves" / stage), size_guidance={"scalars": 0})
    events.Reload()
    tags = [
        tag.removeprefix("win_rate/")
        for tag in events.Tags()["scalars"]
        if tag.startswith("win_rate/")
    ]
    curves = {
        tag: [events.Scalars(f"{curve}/{tag}") for curve in ("win_rate", "low", "high")]
        for tag in tags
    }
    return {
        tag: {of[0].step: tuple(point.value for point in of) for of in zip(*three, strict=True)}
        for tag, three in curves.items()
    }


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Measure, and write the page row by row; or store curves; or ship.

    Raises:
        ConfigurationError: An agent is unknown, or a file holds no learned agent.
    """
    if options.ship is not None:
        path, name = options.ship
        agent = resolve(str(path))
        if not isinstance(agent, LearnedAgent):
            raise ConfigurationError(
                f"{str(path)!r} is not a learned agent but a policy of kind {agent.kind!r}."
            )
        shipped.write(agent, name)
        return {"rows": []}
    page = Page(options.out, TEMPLATE)
    if options.curve:
        write_rows(page.data("curve"), curves(options.curve))
        return {"rows": []}
    names, found = options.only or tuple(shipped.POLICIES), []
    for name in names:
        if name not in shipped.POLICIES:
            raise ConfigurationError(
                f"Unknown learned agent {name!r}. {nearest(name, shipped.POLICIES)}"
            )
    page.check(SECTION)
    for name in names:
        for row in measure(name, options, console):
            found.append(row)
            page.write(SECTION, section(page.add([row], ("agent", "players", "opponent"))))
    return {"rows": found}


def show(results: dict[str, Any]) -> None:
    """Print the rows."""
    for row in results["rows"]:
        print(
            f"{row['agent']:20} {row['opponent']:26} {row['win_rate']:.3f} ({row['low']:.3f} to"
            f" {row['high']:.3f})"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    return command.main("studies.learned", Command(Options(), execute, show), arguments)


if __name__ == "__main__":
    sys.exit(main())
