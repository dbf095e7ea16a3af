"""The strength of the learned agents: `python -m studies.learned --help`.

# every shipped agent at its own table: writes docs/results/learned.md
python -m studies.learned
python -m studies.learned --games 1000 --only ppo/best/ocnaru
# at smaller tables than its own
python -m studies.learned --only ppo/best/four --num-players 3
# the learning curve of a run, as docs/results/learned/curve.png; or of several seeds
python -m studies.learned --curve runs/ppo
# save an agent in the library, as int8
python -m studies.learned --ship runs/ppo/agent.safetensors ppo_ocnaru
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

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
from studies.pages import Page
from training.run.folder import CONFIG, MOST_CONFIG

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE: Final = Path(__file__).parents[1] / "docs" / "results" / "learned.md"
TEMPLATE: Final = "# How strong the learned agents are\n"


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
# [agent] -> opponents.
OPPONENTS: Final = {
    "ppo/best/two": Opponents(
        "expert/bargaining", (*_OFFICIAL, "landlord/balanced", "gcp"), _STRANGERS
    ),
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
    """Folders of runs that differ only in their seeds: draw their learning curves instead."""
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
        "more_high": more.high,
    }  # fmt: skip


def section(rows: Sequence[dict[str, Any]], options: Options) -> str:
    """The table of an agent."""
    name, evolved = rows[0]["agent"], rows[0]["evolved"]
    heads = (
        "against",
        "trained against it",
        "wins",
        "95% interval",
        f"`{evolved}` there",
        "more than that",
        "95% interval",
    )
    about = (
        f"**`{name}`**, {rows[0]['players']} players, rules `{rows[0]['rules']}`,"
        f" {rows[0]['games']:,} games a row"
    )
    seats = f" --num-players {options.num_players}" if options.num_players else ""
    command = (
        f"`python -m studies.learned --only {name}{seats} --games {options.games} --seed"
        f" {options.seed}`"
    )
    return f"{about} ({command}):\n\n{markdown(heads, [_cells(row) for row in rows])}"


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    trained, interval = "yes" if row["trained"] else "no", f"{row['low']:.3f} to {row['high']:.3f}"
    more = f"{row['more']:+.3f}", f"{row['more_low']:+.3f} to {row['more_high']:+.3f}"
    return (
        f"`{row['opponent']}`",
        trained,
        f"{row['win_rate']:.3f}",
        interval,
        f"{row['evolved_rate']:.3f}",
        *more,
    )


def curve(folders: Sequence[Path]) -> Figure:
    """Win rates over the self-play of runs, from their curves; at 0 after imitation.

    The dashed line is an even share.

    Raises:
        ConfigurationError: A folder holds no curves.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3.5))
    colours: dict[str, Any] = {}
    for folder in folders:
        rates = _rates(folder, "self-play")
        if not rates:
            raise ConfigurationError(f"{str(folder)!r} holds no curves of self-play.")
        imitated = _rates(folder, "imitation")
        for opponent, points in rates.items():
            steps, shown = zip(*sorted((imitated.get(opponent, {}) | points).items()), strict=True)
            millions, (rate, low, high) = [step / 1e6 for step in steps], zip(*shown, strict=True)
            label = None if opponent in colours else opponent
            (line,) = axes.plot(
                millions, rate, marker="o", markersize=3, label=label, color=colours.get(opponent)
            )
            colours[opponent] = line.get_color()
            axes.fill_between(millions, low, high, alpha=0.2 / len(folders), color=line.get_color())
    players = read_json(read_file(folders[0] / CONFIG, MOST_CONFIG))["num_players"]
    axes.axhline(1 / players, color="grey", linewidth=0.8, linestyle="--")
    axes.set(
        xlabel="own decisions learned from (millions)",
        ylabel="share of games won",
        ylim=(0, 1),
        title="Learning by self-play",
    )
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.tight_layout()
    return figure


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
    """Measure, and write each agent's section of the page row by row; or draw a curve; or ship.

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
        page.write(
            "curve",
            page.picture("curve", curve(options.curve), "Share of games won while learning"),
        )
        return {"rows": []}
    names, found = options.only or tuple(shipped.POLICIES), []
    at = f" at tables of {options.num_players}" if options.num_players else ""
    for name in names:
        if name not in shipped.POLICIES:
            raise ConfigurationError(
                f"Unknown learned agent {name!r}. {nearest(name, shipped.POLICIES)}"
            )
        page.check(name + at)
    for name in names:
        rows: list[dict[str, Any]] = []
        for row in measure(name, options, console):
            rows.append(row)
            page.write(name + at, section(rows, options))
        found += rows
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
