"""The pictures of docs/results, from stored rows: `python -m studies.pictures --help`.

python -m studies.pictures                # all of docs/results/pictures
python -m studies.pictures --only ladder exploit

Markers and lines tell series apart, not colours. A picture is light or dark as its reader's system.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rich.console import Console

from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.facts.board import GROUP_SIZE, GROUPS
from monopoly_env.files import read_file, read_json, write_atomically
from studies.pages import Row, read_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOT: Final = Path(__file__).parents[1]
DATA: Final = ROOT / "docs" / "results" / "data"
OUT: Final = ROOT / "docs" / "results" / "pictures"

INK, PAPER, GREY, BLUE, PALE = "#24292f", "#ffffff", "#8c959f", "#0969da", "#b6d4f5"
_DARK: Final = {INK: "#e6edf3", PAPER: "#0d1117", BLUE: "#58a6ff", PALE: "#1f4d80"}
_STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "monopoly-env",
    "font.family": "sans-serif",
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "legend.frameon": False,
    "grid.color": GREY,
    "grid.alpha": 0.35,
    "grid.linewidth": 0.6,
}
# [way of benchmarks.run.WAYS] -> the code that the first game runs
_CODE: Final = {
    "library": "compiled library", "warm": "Numba's code from disk", "cold": "Numba compiles",
}  # fmt: skip
# [number of a series] -> its marker, colour, fill and line
_SERIES: Final = (
    ("o", BLUE, BLUE, "-"),
    ("D", INK, PAPER, "--"),
    ("^", INK, INK, ":"),
    ("s", BLUE, PAPER, "-."),
)


@dataclass(frozen=True)
class Options:
    """Draw the pictures of docs/results from the rows that the studies stored."""

    only: tuple[str, ...] = ()
    """Pictures; by default all."""
    out: Path = OUT
    """Folder of the pictures."""
    json: bool = False
    """Print one JSON object at the end."""


# --- kinds of pictures


def dots(
    axes: Axes, labels: Sequence[str], series: Mapping[str, Sequence[Sequence[float]]]
) -> None:
    """Draw one line per label, the first on top, with a dot and an interval for each series.

    Args:
        axes: The axes to draw into.
        labels: (L,) names.
        series: Name of each series, with (L,) triples: value, low and high. NaN: no dot.
    """
    places = range(len(labels))
    for number, (name, points) in enumerate(series.items()):
        marker, colour, fill, _ = _SERIES[number]
        values, low, high = zip(*points, strict=True)
        axes.hlines(places, low, high, color=colour, linewidth=1.4, zorder=2)
        axes.plot(
            values, places, marker, color=colour, markerfacecolor=fill, markersize=5, label=name,
            zorder=3, clip_on=False,
        )  # fmt: skip
    axes.set_yticks(places, labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)


def lines(axes: Axes, series: Mapping[str, Sequence[Sequence[tuple[float, float]]]]) -> None:
    """Draw points joined by lines: of each series one or several, in a style of its own."""
    for number, (name, several) in enumerate(series.items()):
        marker, colour, fill, style = _SERIES[number]
        for points in several:
            axes.plot(
                *zip(*points, strict=True), marker=marker, linestyle=style, color=colour,
                markerfacecolor=fill, markersize=4.5, linewidth=1.2,
                label=name if points is several[0] else "_",  # once in the legend
            )  # fmt: skip
    axes.grid()


def cells(
    axes: Axes,
    rows: Sequence[str],
    columns: Sequence[str],
    numbers: Sequence[Sequence[float]],
    shares: Sequence[Sequence[float]],
) -> None:
    """Draw a table of numbers, each on a bar.

    Args:
        axes: The axes to draw into.
        rows: (R,) names.
        columns: (C,) names.
        numbers: (R, C), written with one decimal.
        shares: (R, C), from 0 to 1: the part of its cell that a bar fills.
    """
    for down, (texts, filled) in enumerate(zip(numbers, shares, strict=True)):
        axes.barh([down] * len(filled), filled, 0.8, range(len(filled)), color=PALE)
        for across, number in enumerate(texts):
            axes.text(across + 0.04, down + 0.03, f"{number:.1f}", va="center", fontsize=8)
    axes.set_xticks(range(len(columns)), columns, ha="left")
    axes.set_yticks(range(len(rows)), rows)
    axes.set(xlim=(0, len(columns)), ylim=(len(rows) - 0.5, -0.5))
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.grid(axis="x")
    axes.spines[:].set_visible(False)


def _figure(width: float, height: float, **options: Any) -> tuple[Figure, Any]:
    """A figure of this size in inches, and its axes as a flat array."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(squeeze=False, **options).ravel()


def _above(axes: Axes, columns: int) -> None:
    """Put the legend above the axes."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.2)


def _even(axes: Axes, share: float) -> None:
    """Mark an even share."""
    axes.axvline(share, color=GREY, linewidth=1, linestyle="--", zorder=1)


def _interval(rows: Sequence[Row], value: str, low: str, high: str) -> list[Sequence[float]]:
    return [(row[value], row[low], row[high]) for row in rows]


# --- the pictures


def exploit() -> Figure:
    """Wins of the best response found, and of `expert`, against each player."""
    rows = [
        row
        for row in read_rows(DATA / "exploit.csv")
        if (row["rules"], row["players"]) == ("official", 2)
    ]
    rows = sorted(rows, key=lambda row: row["win_rate"])[:30]
    figure, (axes,) = _figure(7, 0.19 * len(rows) + 1)
    shown = {
        "best response found": _interval(rows, "win_rate", "low", "high"),
        "expert": _interval(rows, "expert", "expert_low", "expert_high"),
    }
    dots(axes, [row["agent"] for row in rows], shown)
    _even(axes, 0.5)
    axes.set(xlim=(0, 1), xlabel="share of games won against the player (dashed: even)")
    _above(axes, 2)
    return figure


def luck() -> Figure:
    """The variance left after luck is subtracted, by two values."""
    rows = read_rows(DATA / "adjusted_gain.csv")
    tables = list(dict.fromkeys(row["table"] for row in rows))
    left = {(row["table"], row["value"]): row["variance"] for row in rows}
    figure, (axes,) = _figure(7, 3)
    shown = {value: [(left[table, value],) * 3 for table in tables] for value in ("best", "worth")}
    dots(axes, [table.replace(", ", " - ") for table in tables], shown)
    axes.axvline(1, color=GREY, linewidth=1, linestyle="--", zorder=1)
    axes.set(xlim=(0, 1.05), xlabel="variance left, as a share of the plain variance")
    axes.xaxis.set_major_formatter("{x:.0%}")
    _above(axes, 2)
    return figure


def ladder() -> Figure:
    """Points of the scripted agents."""
    rows = [row for row in read_rows(DATA / "agents_ladder.csv") if row["name"] != "random"]
    figure, (axes,) = _figure(7, 0.24 * len(rows) + 0.8)
    names = [f"{row['name']}  {row['points']:+.0f}" for row in rows]
    dots(axes, names, {"points": _interval(rows, "points", "low", "high")})
    _even(axes, 0)
    axes.set(xlabel="points (400 more: ten wins for each loss)")
    return figure


def purchases() -> Figure:
    """Lots that each scripted agent buys from the bank."""
    rows = read_rows(DATA / "agents_purchases.csv")
    figure, (axes,) = _figure(8, 0.22 * len(rows) + 0.5)
    numbers = [[row[group] for group in GROUPS] for row in rows]
    shares = [[lots / size for lots, size in zip(row, GROUP_SIZE, strict=True)] for row in numbers]
    groups = [group.replace("_", "\n") for group in GROUPS]
    cells(axes, [row["name"] for row in rows], groups, numbers, shares)
    return figure


def bargaining() -> Figure:
    """Wins of `expert/bargaining`, and of its sibling for the rules `ocnaru`."""
    rows = read_rows(DATA / "bargaining.csv")
    figure, (axes,) = _figure(7, 0.24 * len(rows) + 1)
    shown: dict[str, Sequence[Sequence[float]]] = {
        "wins": _interval(rows, "win_rate", "low", "high"),
        "an even share": [(row["even"],) * 3 for row in rows],
    }
    names = [f"{row['opponent']}, {row['rules']}, {row['players']} players" for row in rows]
    dots(axes, names, shown)
    axes.set(xlim=(0, 1), xlabel="share of games won")
    _above(axes, 2)
    return figure


def learned() -> Figure:
    """Wins of each learned agent, and of the evolved one in its place."""
    rows = read_rows(DATA / "learned.csv")
    tables = dict.fromkeys((row["rules"], row["players"]) for row in rows)
    figure, panels = _figure(7, 8.5, nrows=len(tables), sharex=True)
    for axes, (rules, players) in zip(panels, tables, strict=True):
        found = [row for row in rows if (row["rules"], row["players"]) == (rules, players)]
        agents = dict.fromkeys(row["agent"] for row in found)
        parts = [[row for row in found if row["agent"] == agent] for agent in agents]
        first, *others = zip(agents, parts, strict=True)
        shown: dict[str, Sequence[Sequence[float]]] = {
            first[0]: _interval(first[1], "win_rate", "low", "high"),
            f"{parts[0][0]['evolved']} there": [(row["evolved_rate"],) * 3 for row in parts[0]],
        }
        shown |= {agent: _interval(part, "win_rate", "low", "high") for agent, part in others}
        names = [f"{row['opponent']}{'' if row['trained'] else ' *'}" for row in parts[0]]
        dots(axes, names, shown)
        _even(axes, 1 / players)
        _above(axes, 2)
    panels[-1].set(
        xlim=(0, 1), xlabel="share of games won (dashed: even; *: never trained against)"
    )
    return figure


def strangers() -> Figure:
    """Difference from `expert/bargaining` against each stranger, at each size of table."""
    rows = read_rows(DATA / "learned_strangers.csv")
    sizes = dict.fromkeys(row["players"] for row in rows)
    figure, panels = _figure(7, 14, nrows=len(sizes), sharex=True)
    for axes, players in zip(panels, sizes, strict=True):
        found = [row for row in rows if row["players"] == players]
        parts: dict[str, dict[Any, Row]] = {row["agent"]: {} for row in found}
        for row in found:
            parts[row["agent"]][row["stranger"]] = row
        first = sorted(next(iter(parts.values())).values(), key=lambda row: row["more"])
        numbers = [row["stranger"] for row in first]
        shown = {
            agent: _interval([part[number] for number in numbers], "more", "low", "high")
            for agent, part in parts.items()
        }
        # a mixture's second source makes some kinds of its decisions
        dots(axes, [re.sub(r", for .* ", " + ", row["made_from"]) for row in first], shown)
        _even(axes, 0)
        axes.set(xlabel=f"difference from expert/bargaining in games won, {players} players")
        _above(axes, 2)
    return figure


def curves() -> Figure:
    """Wins of each learned agent's first run while it learned."""
    rows = read_rows(DATA / "learned_curve.csv")
    agents = dict.fromkeys(row["run"].partition(", seed")[0] for row in rows)
    figure, panels = _figure(7, 2.6 * -(-len(agents) // 2), nrows=-(-len(agents) // 2), ncols=2)
    for axes, agent in zip(panels, agents, strict=False):
        found = [row for row in rows if row["run"].partition(", seed")[0] == agent]
        shown = {
            opponent: [
                [
                    (row["decisions"] / 1e6, row["win_rate"])
                    for row in found
                    if (row["run"], row["opponent"]) == (run, opponent)
                ]
                for run in dict.fromkeys(row["run"] for row in found)
            ]
            for opponent in dict.fromkeys(row["opponent"] for row in found)
        }
        lines(axes, shown)
        axes.axhline(1 / found[0]["players"], color=GREY, linewidth=1, linestyle="--")
        axes.set(title=agent, xlabel="own decisions, millions", ylim=(0, 1))
    for axes in panels[::2]:
        axes.set_ylabel("share of games won")
        axes.legend(loc="lower right", fontsize=8)
    return figure


def search() -> Figure:
    """Gain of search over its base policy against each opponent, known and unknown."""
    rows = [row for row in read_rows(DATA / "search.csv") if row["section"] in ("known", "unknown")]
    rows.sort(key=lambda row: (-row["players"], row["opponent"]))
    found: dict[str, dict[str, Row]] = {"known": {}, "unknown": {}, "unknown, more time": {}}
    for row in rows:
        kind = row["section"]
        if kind == "unknown" and row["playouts"] > 16:
            kind = "unknown, more time"
        where = found[kind]
        place = f"{row['opponent']}, {row['players']} players"
        if place not in where or where[place]["lead"] < row["lead"]:
            where[place] = row
    places = list(dict.fromkeys(f"{row['opponent']}, {row['players']} players" for row in rows))
    figure, (axes,) = _figure(7, 0.24 * len(places) + 1)
    none = (float("nan"),) * 3
    shown = {
        kind: [
            tuple(where[place][name] for name in ("lead", "lead_low", "lead_high"))
            if place in where
            else none
            for place in places
        ]
        for kind, where in found.items()
    }
    dots(axes, places, shown)
    _even(axes, 0)
    axes.set(xlabel="games won more than expert/bargaining in the same seats, as a share")
    _above(axes, 3)
    return figure


def playouts() -> Figure:
    """Wins of search, and its time for a decision, by the number of playouts."""
    rows = [row for row in read_rows(DATA / "search.csv") if row["section"] == "playouts"]
    rows.sort(key=lambda row: row["playouts"])
    most = max(row["games"] for row in rows)
    figure, (left, right) = _figure(7, 2.8, ncols=2)
    paired = [row for row in rows if row["games"] == most]
    numbers = [row["playouts"] for row in paired]
    left.vlines(
        numbers, [row["low"] for row in paired], [row["high"] for row in paired], color=BLUE
    )
    lines(left, {"wins": [[(row["playouts"], row["win_rate"]) for row in paired]]})
    timed = [(row["playouts"], row["seconds"]) for row in rows if row["seconds"]]
    lines(right, {"time": [timed]})
    left.set(ylabel="share of games won", ylim=(0.8, 0.95))
    right.set(ylabel="CPU seconds a decision", yscale="log")
    right.set_yticks([0.01, 0.1, 1])
    right.yaxis.set_major_formatter("{x:g}")
    right.yaxis.set_minor_formatter("")
    for axes, shown in ((left, paired), (right, [row for row in rows if row["seconds"]])):
        axes.set(xscale="log", xlabel="playouts of each answer")
        axes.set_xticks([row["playouts"] for row in shown])
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
    return figure


def bench() -> Figure:
    """Scores in Bench-8, a panel for each task."""
    agents = read_json(read_file(DATA / "bench.json"))["agents"]
    tasks = [task["name"] for task in agents[0]["tasks"]]
    figure, panels = _figure(9, 0.24 * len(agents) + 1.2, ncols=len(tasks), sharey=True)
    none = (float("nan"),) * 3
    for axes, number in zip(panels, range(len(tasks)), strict=True):
        rows = [agent["tasks"][number] for agent in agents]
        points = [
            (row["score"], row["low"], row["high"]) if "score" in row else none for row in rows
        ]
        dots(axes, [agent["name"] for agent in agents], {"score": points})
        better = "higher" if rows[0]["higher_is_better"] else "lower"
        axes.set_title(f"{tasks[number]}\n{better} is better", fontsize=8.5)
        axes.tick_params(labelsize=8)
        axes.locator_params(axis="x", nbins=3)
    return figure


def ocnaru() -> Figure:
    """Win rates of the scripted agents and of the networks of Ocnaru's thesis, and ours."""
    scripted = [
        row for row in read_rows(DATA / "ocnaru_agents.csv") if row["experiment"] == "twelve_agents"
    ]
    scripted.sort(key=lambda row: -row["published"])
    trained = [row for row in read_rows(DATA / "ocnaru_networks.csv") if row["section"] == "fresh"]
    figure, (above, below) = _figure(7, 4.6, nrows=2, sharex=True, height_ratios=(3, 1))
    shown = {
        label: _interval(scripted, name, f"{name}_low", f"{name}_high")
        for label, name in (("here", "ours"), ("the thesis", "published"))
    }
    dots(above, [row["figure"].removesuffix(": won") for row in scripted], shown)
    found = {(row["agent"], row["against"]): row for row in trained}
    opponents = ("strategic", "ocnaru/algorithmic", "ocnaru/random")
    networks = (("here", "ocnaru"), ("our recipe", "thesis"), ("and upgrade gated", "gated"))
    shown = {
        label: _interval(
            [found[f"runs/{run}/agent", name] for name in opponents], "value", "low", "high"
        )
        for label, run in networks
    }
    texts = (found["runs/ocnaru/agent", name]["published"] for name in opponents)
    claimed = [(float(text.partition(";")[0]),) * 3 for text in texts]
    dots(below, opponents, {"here": shown.pop("here"), "the thesis": claimed, **shown})
    for axes in (above, below):
        _even(axes, 0.5)
        _above(axes, 2)
    below.set(xlim=(0, 1), xlabel="share of games won (dashed: even); below: networks, by opponent")
    return figure


def values() -> Figure:
    """Brier scores of three forecasts, by stage of the game."""
    rows = [row for row in read_rows(DATA / "values.csv") if row["playouts_by"] == "algorithmic"]
    pools = dict.fromkeys(row["pool"] for row in rows)
    figure, panels = _figure(7, 6.5, nrows=len(pools), sharex=True)
    for axes, pool in zip(panels, pools, strict=True):
        found = [row for row in rows if row["pool"] == pool]
        shown = {
            name: [(row[name],) * 3 for row in found] for name in ("network", "playouts", "worth")
        }
        dots(axes, [row["positions"] for row in found], shown)
        axes.set_title(pool, loc="right")
    _above(panels[0], 3)
    panels[-1].set(xlim=(0, 0.75), xlabel="Brier score (lower is better)")
    return figure


def values_curve() -> Figure:
    """The Brier score of the network of values while it learned."""
    rows = read_rows(DATA / "values_curve.csv")
    figure, (axes,) = _figure(5, 2.8)
    kinds = ("training", "held out")
    lines(
        axes, {f"{kind} policies": [[(row["games"], row[kind]) for row in rows]] for kind in kinds}
    )
    axes.set(xscale="log", xlabel="games learned from", ylabel="Brier score")
    axes.legend()
    return figure


def batch() -> Figure:
    """Decisions a second of vector steps, by the number of games."""
    rows = [row for row in _measured("speed.json") if row["name"].startswith("vector/")]
    games = [int(row["name"].partition("/")[2]) for row in rows]
    figure, (axes,) = _figure(5, 2.8)
    shown = {"one thread, CPU time": "cpu_one_thread", "two cores, wall time": "wall_all_cores"}
    lines(
        axes,
        {
            name: [[(size, row[key] / 1e6) for size, row in zip(games, rows, strict=True)]]
            for name, key in shown.items()
        },
    )
    axes.set(xscale="log", xlabel="games in a batch", ylabel="million decisions a second")
    axes.set_ylim(0)
    axes.set_xticks(games)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_minor_formatter("")
    axes.legend()
    return figure


def cold_start() -> Figure:
    """CPU seconds to the first finished game, by the source of the machine code."""
    seconds = {row["name"]: row["cpu_one_thread"] for row in _measured("cold_start/speed.json")}
    figure, (axes,) = _figure(6, 1.5)
    found = {
        f"{code}: {seconds[f'compile/python/{way}']:.3g} s": seconds[f"compile/python/{way}"]
        for way, code in _CODE.items()
    }
    dots(axes, list(found), {"time": [(value,) * 3 for value in found.values()]})
    axes.set(xscale="log", xlim=(0.1, 100), xlabel="CPU seconds to the first finished game")
    axes.xaxis.set_major_formatter("{x:g}")
    return figure


def _measured(name: str) -> list[Row]:
    """The figures of a report of benchmarks/run.py."""
    figures: list[Row] = read_json(read_file(ROOT / "benchmarks" / "results" / name))["figures"]
    return figures


Picture: TypeAlias = Callable[[], "Figure"]
PICTURES: Final[dict[str, Picture]] = {
    function.__name__: function
    for function in (
        ladder,
        purchases,
        bargaining,
        exploit,
        luck,
        learned,
        strangers,
        curves,
        search,
        playouts,
        bench,
        ocnaru,
        values,
        values_curve,
        batch,
        cold_start,
    )
}


# --- the command


def svg(picture: Picture) -> str:
    """The text of a picture, with a style for systems that are dark."""
    import matplotlib as mpl

    text = io.StringIO()
    with mpl.rc_context(_STYLE):
        picture().savefig(text, format="svg", metadata={"Date": None})
    rules = "".join(
        f'[style*="{what}: {light}"]{{{what}:{dark} !important}}'
        for light, dark in _DARK.items()
        for what in ("fill", "stroke")
    )
    style = f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>"
    head, tag, rest = text.getvalue().partition("<defs>")
    # matplotlib ends lines of paths with blanks
    return "\n".join(line.rstrip() for line in f"{head}{style}\n {tag}{rest}".splitlines()) + "\n"


def execute(options: Options, _: Console) -> list[str]:
    """Draw; returns the paths of the pictures.

    Raises:
        MonopolyError: An unknown picture; rows that are missing.
    """
    for name in options.only:
        if name not in PICTURES:
            raise ConfigurationError(f"Unknown picture {name!r}. {nearest(name, PICTURES)}")
    options.out.mkdir(parents=True, exist_ok=True)
    paths = [options.out / f"{name}.svg" for name in options.only or PICTURES]
    for path in paths:
        write_atomically(path, svg(PICTURES[path.stem]).encode())
    return list(map(str, paths))


def show(paths: list[str]) -> None:
    """Print the paths."""
    print("\n".join(paths))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all pictures were drawn."""
    return command.main("studies.pictures", Command(Options(), execute, show), arguments)


if __name__ == "__main__":
    sys.exit(main())
