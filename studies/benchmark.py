"""How strong the learned agents are, as published in docs/results/dqn.md: `python -m studies.benchmark --help`.

python -m studies.benchmark                                      # every match, 10,000 games each; then the page
python -m studies.benchmark --only four-expert two-expert        # these rows again; the others stay as they were measured
python -m studies.benchmark --resume                             # go on where it was stopped
python -m studies.benchmark --only none --run runs/long          # nothing is played: the page anew, with the curves of a run

Each match is played by the agent, by `expert` in its place, and by the agent's parent alone, on the same seeds from the same seats.
So whatever its model of partners and its networks add shows as a paired difference. Figures are kept beside the page as JSON, and
the page is written from it.
"""

from __future__ import annotations

import fnmatch
import hashlib
import itertools
import json
import shlex
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from rich.console import Console

from agents import arena
from agents.arena.matches import Lineup, Score
from agents.arena.progress import games_bar
from agents.networks.learned.policy import LearnedPolicy
from monopoly_env.core import write_atomically
from monopoly_env.errors import ConfigurationError, FormatError, nearest
from monopoly_env.policy.protocol import Policy
from monopoly_env.policy.resolve import make, resolve
from monopoly_env.reference import table as markdown
from monopoly_env.rules import RULES_VERSION
from studies.pages import save_picture
from studies.published import PLAYERS as THESIS
from training.run import command
from training.run.command import Command
from training.run.folder import CONFIG, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AGENT: Final = "agent"  # at a table: the policy that takes the agent's place
EXPERT: Final = "expert"
PARENT: Final = "parent"
STRATEGIC: Final = "strategic"
NO_MATCH: Final = "none"  # in place of the names of matches
HELD_OUT: Final = ("fp/*", "landlord/*", "yasumura", "ocnaru/algorithmic")  # no network was trained against them

Done = Callable[[int], None]


def is_held_out(who: str) -> bool:
    """Whether a policy is one of those that no network was trained against."""
    return any(fnmatch.fnmatch(who, pattern) for pattern in HELD_OUT)


@dataclass(frozen=True)
class Match:
    """A row of the page.

    Attributes:
        title: What is played.
        tables: The policies at each table; the first, whose wins are counted, is the same at all. The games are dealt out evenly.
        published: The figure that others have published, and of what.
        goal: The share of the win that was aimed at.
        rules: A preset.
        heads: Whether the heads of the agent are compared, each alone and each left out.
    """

    title: str
    tables: tuple[tuple[str, ...], ...]
    published: str = ""
    goal: float | None = None
    rules: str = "official"
    heads: bool = False

    @property
    def held_out(self) -> bool:
        """Whether the networks have met none of the opponents in training."""
        return all(is_held_out(who) for table in self.tables for who in table if who != AGENT)

    def lineups(self, entrant: Policy | str = AGENT) -> list[Lineup]:
        """The opponents at each table, with a policy in the agent's place."""
        return [Lineup(tuple(entrant if who == AGENT else who for who in table[1:]), self.rules) for table in self.tables]

    def games(self, wanted: int) -> list[int]:
        """The games of each table: at least so many in all, in all orders of the seats of each seed."""
        return [-(-wanted // len(self.tables) // lineup.orders) * lineup.orders for lineup in self.lineups()]


def _ocnaru(who: str, published: str = "", goal: float | None = None) -> Match:
    return Match(f"2 players, `ocnaru`, against `{who}`", ((AGENT, who),), published, goal, "ocnaru")


def _official(what: str, *tables: tuple[str, ...], published: str = "", goal: float | None = None) -> Match:
    return Match(f"{len(tables[0]) + 1} players, official, against {what}", tuple((AGENT, *others) for others in tables), published, goal)


_FRESH: Final = "{} claimed; {} measured of its networks with fresh opponents"
_LANDLORDS: Final = tuple(f"landlord/{name}" for name in ("balanced", "aggressive", "cautious", "darling"))
_FP: Final = ("fp/a", "fp/b", "fp/c")
_GUARDED: Final = tuple(f"{name}/guarded" for name in _FP)

MATCHES: Final[dict[str, Match]] = {
    "ocnaru-strategic": _ocnaru(STRATEGIC, _FRESH.format("0.89", "0.21 and 0.34"), 0.90),
    "ocnaru-algorithmic": _ocnaru("ocnaru/algorithmic", _FRESH.format("0.52", "0.28 and 0.65"), 0.80),
    **{f"ocnaru-{name.replace('/', '-')}": _ocnaru(name, goal=0.80) for name in (*_FP, *_GUARDED, "yasumura")},
    "ocnaru-our-algorithmic": _ocnaru("algorithmic"),
    "robin": Match("`ocnaru`, 13-agent round robin: the agent, of its own games", tuple((AGENT, who) for who in THESIS),
                   "0.86 claimed", 0.88, "ocnaru"),
    "robin-strategic": Match("the same: `strategic`, of its own games",
                             tuple((STRATEGIC, who) for who in (AGENT, *THESIS) if who != STRATEGIC), "0.51", None, "ocnaru"),
    "four-fp": _official("`fp/a`, `fp/b`, `fp/c`", _FP, published="0.9165 (hybrid PPO, other rules)", goal=0.92),
    "four-guarded": _official("the same guarded", _GUARDED, goal=0.75),
    "four-landlord": _official("three different `landlord/*`", *itertools.combinations(_LANDLORDS, 3), goal=0.50),
    "four-expert": _official("three `expert`", (EXPERT,) * 3, goal=0.45),
    "three-expert": _official("two `expert`", (EXPERT,) * 2),
    "two-expert": _official("`expert`", (EXPERT,), goal=0.65),
    "heads-2": Match("2 players", ((AGENT, EXPERT),), heads=True),
    "heads-4": Match("4 players", ((AGENT, *(EXPERT,) * 3),), heads=True),
}  # fmt: skip

# Other pages that are linked where they lie beside this one.
LINKS: Final = {
    "dqn_card.md": "how the learned agents came to be: data, budgets, commands, seeds, what did not work",
    "dqn_ocnaru.md": "the thesis's agent, trained as the thesis says, and what its evaluation measured",
    "ppo.md": "MaskablePPO, a well-known baseline, against the same panel",
    "agents.md": "the scripted agents, among them `expert`",
}


@dataclass(frozen=True)
class Options:
    """Measure the learned agents in every match of docs/results/dqn.md and write that page.

    Every seed is played from all seats, by the agent, by `expert` in its place and by the agent's parent alone. Intervals are 95%,
    from the spread between seeds.
    """

    agent: str = "dqn/best"
    """Who plays by the official rules: a learned policy, by name or file."""
    agent_ocnaru: str = "dqn/best/ocnaru"
    """Who plays by the rules of the thesis."""
    games: int = 10_000
    """Games of each match for each who takes the agent's place, at least; the orders of seats of a seed are played in full."""
    only: tuple[str, ...] = ()
    """Matches by name, or patterns such as 'ocnaru-*'; the other rows stay as they were. `none`: only the page is written anew."""
    resume: bool = False
    """Leave out the matches that were measured before with the same agent, games, seed and rules."""
    run: tuple[Path, ...] = ()
    """Folders of training runs whose curves the page shows."""
    out: Path = Path("docs/results/dqn.md")
    """The page. Its figures lie beside it (.json), and its curves (_curves.png)."""
    seed: int = 0
    """Decides all dice and cards."""
    threads: int | None = None
    """Cores to play on; default: all. The results are the same."""
    machine: str = "2 shared cores, 2.6 GHz"
    """What the page says of the machine."""
    json: bool = False
    """Print the figures as one JSON object."""


def selected(only: Sequence[str]) -> list[str]:
    """The names of the matches that are asked for; all by default.

    Raises:
        ConfigurationError: A name or pattern that no match has.
    """
    if only == (NO_MATCH,):
        return []
    for pattern in only:
        if not fnmatch.filter(MATCHES, pattern):
            raise ConfigurationError(f"No match is called {pattern!r}. {nearest(pattern, (*MATCHES, NO_MATCH))}")
    return [name for name in MATCHES if not only or any(fnmatch.fnmatch(name, pattern) for pattern in only)]


# --- playing ------------------------------------------------------------------------------------------------------------


def learned(who: str) -> LearnedPolicy:
    """A learned policy by name or file.

    Raises:
        MonopolyError: There is none, or it has no parent and heads to be compared with.
    """
    policy = resolve(who)
    if not isinstance(policy, LearnedPolicy):
        raise ConfigurationError(f"{who!r} is of the kind {policy.kind!r}: a learned policy is measured here, beside its parent.")
    return policy


def entrants(match: Match, agent: LearnedPolicy) -> dict[str, Policy]:
    """Who takes the agent's place, by name: a head with a plus plays alone, one with a minus is left out."""
    taking: dict[str, Policy] = {AGENT: agent, PARENT: agent.with_heads(()) if match.heads else agent.parent()}
    if not match.heads:
        return taking | {EXPERT: make(EXPERT)}
    for head in agent.heads:
        taking[f"+{head}"] = agent.with_heads((head,))
        taking[f"-{head}"] = agent.with_heads([other for other in agent.heads if other != head])
    return taking


def compared(match: Match, agent: LearnedPolicy) -> list[tuple[str, str]]:
    """Which of them are compared: the first less the second."""
    if not match.heads:
        return [(AGENT, EXPERT), (AGENT, PARENT)]
    return [(AGENT, PARENT), *((f"+{head}", PARENT) for head in agent.heads), *((AGENT, f"-{head}") for head in agent.heads)]


def score(match: Match, entrant: Policy, options: Options, done: Done) -> Score:
    """Play all tables of a match with a policy in the agent's place."""
    first = match.tables[0][0]
    candidate = entrant if first == AGENT else first
    lineups, games = match.lineups(entrant), match.games(options.games)
    return arena.against([candidate], lineups, games, options.seed, options.threads, done)[0]


def settings(match: Match, who: str, agent: LearnedPolicy, options: Options) -> dict[str, Any]:
    """What a row depends on; one with the same settings need not be measured again."""
    digest = hashlib.sha256(repr(agent.heads).encode())
    for name, array in sorted(agent.arrays().items()):
        digest.update(name.encode() + np.ascontiguousarray(array).tobytes())
    return {
        "agent": who, "sha256": digest.hexdigest(), "agent_heads": list(agent.heads), "rules": match.rules, "rules_version": RULES_VERSION,
        "tables": [list(table) for table in match.tables], "games": sum(match.games(options.games)), "seed": options.seed,
    }  # fmt: skip


def measure(match: Match, agent: LearnedPolicy, options: Options, done: Done) -> dict[str, Any]:
    """Play a match.

    Returns:
        `shares`: by entrant, `win_rate`, `low` and `high`. `differences`: of each comparison `first`, `second`, `difference`, `low`,
        `high` and `p_value`. `seconds`.
    """
    began = time.perf_counter()
    scores = {name: score(match, entrant, options, done) for name, entrant in entrants(match, agent).items()}
    shares = {name: dict(zip(("win_rate", "low", "high"), (found.rate, *found.interval), strict=True)) for name, found in scores.items()}
    differences: list[dict[str, Any]] = []
    for first, second in compared(match, agent):
        found = scores[first].less(scores[second])
        numbers = {key: getattr(found, key) for key in ("difference", "low", "high", "p_value")}
        differences.append({"first": first, "second": second} | numbers)
    return {"shares": shares, "differences": differences, "seconds": time.perf_counter() - began}


def run(options: Options, console: Console) -> dict[str, Any]:
    """Measure what is asked for, keep each match as soon as it is played, and write the page.

    Returns:
        The figures: `rows` by the names of the matches, `curves` by run, and how they were made.

    Raises:
        MonopolyError: Wrong options; an unknown agent; a damaged file of figures; a policy that breaks the rules.
    """
    for name in ("games", "threads"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise ConfigurationError(f"--{name} must be 1 or more, not {value}.")
    path = options.out.with_suffix(".json")
    kept = read(path)
    kept["machine"] = options.machine
    for folder in options.run:
        check_held_out(folder)
    kept["curves"] |= {folder.name: curves(folder) for folder in options.run}
    todo = _todo(options, kept["rows"])
    total = sum(about["games"] * len(entrants(MATCHES[name], agent)) for name, agent, about in todo)
    if todo:
        with games_bar(total) as done:
            for name, agent, about in todo:
                kept["rows"][name] = about | measure(MATCHES[name], agent, options, done) | {"command": _command(options)}
                _write(path, kept)
                console.print(f"{name}: {_share(kept['rows'][name]['shares'][AGENT])}")
    _write(path, kept)
    if kept["curves"]:
        save_picture(_picture_path(options.out), picture(kept["curves"]), dpi=110)
    write_atomically(options.out, page(kept, options.out).encode())
    return kept


def _todo(options: Options, rows: Mapping[str, Any]) -> list[tuple[str, LearnedPolicy, dict[str, Any]]]:
    """The matches to be played, who plays them, and their settings."""
    names = selected(options.only)
    who = {name: options.agent_ocnaru if MATCHES[name].rules == "ocnaru" else options.agent for name in names}
    made = {name: learned(name) for name in dict.fromkeys(who.values())}
    todo = [(name, made[who[name]], settings(MATCHES[name], who[name], made[who[name]], options)) for name in names]
    if not options.resume:
        return todo
    return [(name, agent, about) for name, agent, about in todo if not about.items() <= rows.get(name, {}).items()]


def _command(options: Options) -> str:
    """The command line that measures such rows, without their names."""
    default, words = Options(), ["python", "-m", "studies.benchmark"]
    for name in ("agent", "agent_ocnaru", "games", "seed"):
        if (value := getattr(options, name)) != getattr(default, name):
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


# --- files --------------------------------------------------------------------------------------------------------------


def read(path: Path) -> dict[str, Any]:
    """The figures measured so far; none if there is no file.

    Raises:
        FormatError: The file holds something else.
    """
    if not path.exists():
        return {"rows": {}, "curves": {}}
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(f"{str(path)!r} can't be read: {error}. Move it away to measure everything anew.") from error
    if not isinstance(kept, dict) or not all(isinstance(kept.get(name), dict) for name in ("rows", "curves")):
        raise FormatError(f"{str(path)!r} holds no figures of this command: choose another --out, or move it away.")
    return kept


def _write(path: Path, kept: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, (json.dumps(kept, indent=1) + "\n").encode())


def curves(folder: Path) -> list[dict[str, Any]]:
    """The evaluations that a training run has written into its curves.

    Returns:
        A row for each opponent and step: `opponent`, `step`, `win_rate`, `low`, `high`.

    Raises:
        ConfigurationError: The folder holds none.
    """
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    saved: Any = EventAccumulator(str(Run(folder).curves), {"scalars": 0})
    if Run(folder).curves.is_dir():
        saved.Reload()
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for tag in saved.Tags()["scalars"]:
        kind, _, opponent = tag.partition("/")
        if kind in ("win_rate", "low", "high"):
            for tag_part, meant in (("__", ", "), ("_x_", " x "), ("_players", " players")):  # TensorBoard's tags have no spaces and commas
                opponent = opponent.replace(tag_part, meant)
            for event in saved.Scalars(tag):
                row = rows.setdefault((opponent, event.step), {"opponent": opponent, "step": event.step})
                row[kind] = event.value
    if not rows:
        raise ConfigurationError(f"{str(folder)!r} holds no curves with win rates: give the folder of a training run.")
    return [rows[key] for key in sorted(rows)]


def check_held_out(folder: Path) -> None:
    """Look whether a training run met opponents that the page calls held out.

    Raises:
        ConfigurationError: It did.
    """
    config = folder / CONFIG
    settings = json.loads(config.read_text(encoding="utf-8")) if config.exists() else {}
    if met := [who for who in settings.get("opponents", ()) if is_held_out(who)]:
        raise ConfigurationError(f"The run in {str(folder)!r} was trained against {', '.join(met)}, which the page calls held out.")


def _picture_path(out: Path) -> Path:
    return out.with_name(f"{out.stem}_curves.png")


def picture(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> Figure:
    """Win rates by step, with their intervals: a plot a run, a line an opponent."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4 * len(runs)), layout="constrained")
    for axes, (title, rows) in zip(figure.subplots(len(runs), squeeze=False)[:, 0], runs.items(), strict=True):
        for opponent, points in itertools.groupby(rows, lambda row: row["opponent"]):
            step, rate, low, high = np.array([[p[key] for key in ("step", "win_rate", "low", "high")] for p in points]).T
            (line,) = axes.plot(step, rate, marker="o", label=opponent)
            axes.fill_between(step, low, high, alpha=0.15, color=line.get_color())
        axes.set(title=title, xlabel="steps", ylabel="share of games won")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    return figure


# --- the page -----------------------------------------------------------------------------------------------------------

_INTRODUCTION: Final = """\
Each match is played three times on the same seeds, from the same seats: by the agent, by `expert` in its place, and by the agent's parent
alone, which is the agent without its model of partners and without any of its networks. The differences are paired by seed; they say
what the learner has added.
Every seed is played in all orders of the seats. Intervals are 95%, from the spread between seeds. A goal counts as *reached* if the whole
interval lies at or above it, as *missed* if it lies below, and is *open* if it lies on both sides."""

_HELD_OUT: Final = """\
*Held out*: neither the search for the parent's numbers nor the training of networks met any opponent of that match (`fp/*`, `landlord/*`,
`yasumura`, `ocnaru/algorithmic`). Both began from `expert`, whose own constants had been set by hand with some of them in the field
([which ones](agents.md)); the column "agent less `expert`" is free of that."""


def page(kept: Mapping[str, Any], out: Path) -> str:
    """The page as Markdown."""
    rows = {name: kept["rows"][name] for name in MATCHES if name in kept["rows"]}
    matches = {name: row for name, row in rows.items() if not MATCHES[name].heads}
    ablations = {name: row for name, row in rows.items() if MATCHES[name].heads}
    parts = [
        "<!-- Generated by `python -m studies.benchmark`. -->",
        "# How strong the learned agents are",
        _INTRODUCTION,
        f"All on {kept['machine']}. {_counts(rows.values())}",
    ]
    if rows:
        parts.append(_commands(rows))
    if matches:
        parts += ["## Matches", markdown(_HEADINGS, [_cells(name, row) for name, row in matches.items()]), _HELD_OUT]
    if ablations:
        parts += ["## What each head adds", *_ablations(ablations)]
    if kept["curves"]:
        parts += ["## How it was learned", _CURVES, f"![Win rates by steps of training]({_picture_path(out).name})"]
    if rows:
        parts += ["## Who played", _who(rows)]
    links = [f"- [{name}]({name}): {about}." for name, about in LINKS.items() if (out.parent / name).exists()]
    return "\n\n".join([*parts, *(["## Beside it", "\n".join(links)] if links else [])]) + "\n"


_CURVES: Final = """\
As a run went, with 95% intervals. A step of the default preset of `training.dqn` is a pair of rollouts, one of `training.evolve` a
generation."""
_HEADINGS: Final = (
    "match", "name", "held out", "published", "goal", "agent", "", "`expert` in its place", "parent alone", "agent less `expert`",
    "agent less parent",
)  # fmt: skip


def _counts(rows: Collection[Mapping[str, Any]]) -> str:
    """Games, seeds and the rules' versions, as a sentence."""
    made = [(row["games"], row["seed"]) for row in rows]
    if not made:
        return "Nothing has been measured yet."
    fewest, most = min(games for games, _ in made), max(games for games, _ in made)
    games = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
    seeds = ", ".join(map(str, sorted({seed for _, seed in made})))
    versions = ", ".join(map(str, sorted({row["rules_version"] for row in rows})))
    return f"{games} games in each place, seed {seeds}, version {versions} of the [rules](../rules.md#versions)."


def _commands(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """The command lines that have measured the rows."""
    names: dict[str, list[str]] = {}
    for name, row in rows.items():
        names.setdefault(row["command"], []).append(name)
    lines = [f"{command} --only {' '.join(made)}" if len(made) < len(MATCHES) else command for command, made in names.items()]
    return "\n".join(["```sh", *lines, "```"])


def _cells(name: str, row: Mapping[str, Any]) -> list[str]:
    match, shares = MATCHES[name], row["shares"]
    goal = "" if match.goal is None else f"{match.goal:.2f}"
    return [
        match.title, f"`{name}`", "yes" if match.held_out else "", match.published or "none", goal, f"**{_share(shares[AGENT])}**",
        _verdict(match.goal, shares[AGENT]), _share(shares[EXPERT]), _share(shares[PARENT]), *map(_difference, row["differences"]),
    ]  # fmt: skip


def _verdict(goal: float | None, share: Mapping[str, float]) -> str:
    if goal is None:
        return ""
    return "reached" if share["low"] >= goal else "missed" if share["high"] < goal else "open"


def _share(share: Mapping[str, float]) -> str:
    return f"{share['win_rate']:.3f} ({share['low']:.3f} to {share['high']:.3f})"


def _difference(found: Mapping[str, float]) -> str:
    return f"{found['difference']:+.3f} ({found['low']:+.3f} to {found['high']:+.3f})"


def _ablations(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A table for each number of players."""
    about = (
        "Against copies of `expert` by the official rules. *Alone*: the agent with this head only, less its parent. "
        "*Left out*: the whole agent less the agent without this head. Where both are about 0, the head adds nothing."
    )
    parts = [about]
    for name, row in rows.items():
        found = {(each["first"], each["second"]): _difference(each) for each in row["differences"]}
        cells = [[f"`{head}`", found[f"+{head}", PARENT], found[AGENT, f"-{head}"]] for head in row["agent_heads"]]
        whole = f"The agent {_share(row['shares'][AGENT])}, without networks {_share(row['shares'][PARENT])}."
        parts += [f"### {MATCHES[name].title}", whole, markdown(("head", "alone", "left out"), [*cells, ["all", found[AGENT, PARENT], ""]])]
    return parts


def _who(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Which agents played which rows."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, row in rows.items():
        groups.setdefault((row["agent"], row["sha256"]), []).append(name)
    cells = []
    for (agent, digest), names in groups.items():
        heads = ", ".join(rows[names[0]]["agent_heads"]) or "none"
        cells.append([f"`{agent}`", f"`{digest[:12]}`", heads, ", ".join(names), f"{sum(rows[name]['seconds'] for name in names):,.0f}"])
    return markdown(("agent", "sha256", "heads of networks", "matches", "seconds"), cells)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if everything was played and written."""
    measuring = Command(Options(), run, lambda kept: print("The page is written."))
    return command.main("studies.benchmark", measuring, arguments, resume_from="the last match")


if __name__ == "__main__":
    sys.exit(main())
