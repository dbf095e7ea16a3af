"""Tables for the terminal and plots, from `agents.arena.results.Results.summary`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.arena.counting import STATISTICS
from monopoly_env.cli.extras import extra
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.facts.board import GROUP_SIZE, GROUPS
from monopoly_env.intervals import CONFIDENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from monopoly_env.cli.terminal import TextTable

Summary: TypeAlias = dict[str, Any]
Cell: TypeAlias = Callable[[dict[str, Any]], str]  # the text of a row of `Results.rows`


def _form(key: str, form: str) -> Cell:
    return lambda row: "" if row[key] is None else f"{row[key]:{form}}"


def _interval(of: str, form: str = ".1%") -> Cell:
    low, high = f"{of}_low", f"{of}_high"
    return lambda row: "unknown" if row[low] is None else f"{row[low]:{form}} to {row[high]:{form}}"


_RATE: Final = (("win rate", _form("win_rate", ".1%")), ("95% interval", _interval("paired")))
# The first of these groups of columns that the results have is added
_COUNTED: Final = (
    ("games", _form("games", ",")),
    ("wins", _form("wins", ",.10g")),
    ("place", _form("mean_place", ".2f")),
)
_POINTS: Final = (
    ("points", _form("points", "+.0f")),
    ("95% interval", _interval("points", "+.0f")),
)
_ADJUSTED: Final = (
    ("adjusted", _form("adjusted_rate", ".1%")),
    ("95% interval", _interval("adjusted")),
    ("variance", lambda row: f"{-row['variance_removed']:+.0%}"),
)


def main_table(summary: Summary, seconds: float = 0.0) -> TextTable:
    """The most important numbers, one row per policy.

    Args:
        summary: Its rows may also have the `rank` and `points` of a ladder.
        seconds: The time that the games took; 0 if it is not known.
    """
    from monopoly_env.cli.terminal import TextTable

    rows, caption = summary["players"], _caption(summary, seconds)
    columns = (*_RATE, *(_POINTS if "points" in rows[0] else _COUNTED))
    if "adjusted_by" in summary:
        columns, caption = (*_RATE, *_ADJUSTED), caption + _adjustment(summary)
    table = TextTable(title=_title(summary), caption=caption + decided(summary.get("costs", {})))
    if "rank" in rows[0]:
        table.add_column("", justify="right")
    table.add_column("policy")
    for heading, _ in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        rank = [str(row["rank"])] if "rank" in row else []
        table.add_row(*rank, row["name"], *(cell(row) for _, cell in columns))
    return table


def details_table(summary: Summary, seconds: float = 0.0) -> TextTable:
    """The mean per seat of every statistic: one row per statistic, one column per policy."""
    from monopoly_env.cli.terminal import TextTable

    rows = summary["players"]
    caption = _caption(summary, seconds) + decided(summary.get("costs", {}))
    table = TextTable(title=_title(summary), caption=caption)
    table.add_column("mean of a game")
    for row in rows:
        table.add_column(row["name"], justify="right")

    def line(label: str, cell: Cell, end: bool = False) -> None:
        table.add_row(label, *map(cell, rows), end_section=end)

    line("games", _form("games", ","))
    line("win rate", _form("win_rate", ".1%"))
    line("95% interval, seeds", _interval("paired"))
    for order in range(len(summary["win_rate_by_order"])):
        shares = [row["win_rate_by_order"][order] for row in rows]
        texts = ("" if share is None else f"{share:.1%}" for share in shares)
        table.add_row(f"win rate as number {order + 1}", *texts)
    line("place", _form("mean_place", ".2f"))
    line("decided by a cap", _form("capped_share", ".1%"))
    line("turns", _form("turns", ",.1f"), end=True)
    for statistic in STATISTICS:
        for column in statistic.columns:
            last = bool(statistic.parts) and column == statistic.columns[-1]
            line(column.replace("_", " "), _form(column, ",.2f"), end=last)
    return table


def _title(summary: Summary) -> str:
    return f"{summary['games']:,} games, rules {summary['rules']}, seed {summary['seed']}"


def _caption(summary: Summary, seconds: float) -> str:
    turns = summary["turns"]
    return (
        f"{turns['mean']:.0f} turns a game (10% under {turns['p10']:.0f}, 10% over"
        f" {turns['p90']:.0f}), {summary['capped_share']:.1%} hit the limit, first to throw wins"
        f" {summary['win_rate_by_order'][0]:.1%}, {summary['trades']['mean']:.1f} trades a game"
        f"{f', {speed(summary, seconds)}' if seconds else ''}; intervals from the variance between"
        " seeds"
    )


def speed(summary: Summary, seconds: float) -> str:
    """Games a second in words."""
    return f"{summary['games'] / seconds:,.0f} games/s"


def _adjustment(summary: Summary) -> str:
    """The method of the adjusted rates, with a warning if they are noisier than the plain ones."""
    factors = " and ".join(f"{number:.2f}" for number in summary["coefficients"])
    about = f"; adjusted by the value {summary['adjusted_by']!r} times {factors}"
    noisier = [row["name"] for row in summary["players"] if row["variance_removed"] < 0]
    if not noisier:
        return about
    return (
        f"{about}. This value makes {', '.join(noisier)} noisier: read the plain rates, or take a"
        " better value."
    )


def decided(costs: Mapping[str, Mapping[str, float]]) -> str:
    """The decisions that each policy's fallback made, a line each, after a line break."""
    return "".join(
        f"\n{name}: {spent.get('decisions', 0):,.0f} decisions, {spent['fallbacks']:,.0f} of them"
        " by its fallback"
        for name, spent in costs.items()
        if "fallbacks" in spent
    )


# --- plots


def new_axes(width: float, height: float) -> Axes:
    """The axes of a new figure of this size, in inches."""
    with extra("results"):
        import matplotlib.pyplot

    return matplotlib.pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def plot(kind: str, summary: Summary, turns: NDArray[np.int32], axes: Axes | None) -> Axes:
    """Draw one of the plots of `agents.arena.results.Results.plot`.

    Args:
        kind: A key of `_PLOTS`.
        summary: The summary of the results.
        turns: (G,), turns of each game.
        axes: The axes to draw into; new ones if None.

    Raises:
        ConfigurationError: The kind is unknown.
    """
    if kind not in _PLOTS:
        raise ConfigurationError(f"Unknown kind of plot {kind!r}. {nearest(kind, _PLOTS)}")
    draw, height, more = _PLOTS[kind]
    axes = axes or new_axes(7, height + more * len(summary["players"]))
    draw(summary, turns, axes)
    return axes


def _plot_wins(summary: Summary, _: NDArray[np.int32], axes: Axes) -> None:
    rows = summary["players"][::-1]
    rates, low, high = (
        np.array([row[key] for row in rows]) for key in ("win_rate", "paired_low", "paired_high")
    )
    errors = np.maximum([rates - low, high - rates], 0.0)
    axes.barh([row["name"] for row in rows], rates, xerr=errors, color="steelblue", capsize=3)
    # An even share
    axes.axvline(1 / len(summary["win_rate_by_order"]), color="grey", linewidth=0.8, linestyle="--")
    what = f"{summary['games']:,} games, rules {summary['rules']}"
    axes.set(xlim=(0, 1), xlabel=f"win rate with {CONFIDENCE:.0%} interval ({what})")


def _plot_groups(summary: Summary, _: NDArray[np.int32], axes: Axes) -> None:
    rows = summary["players"]
    bought = np.array([[row[f"purchases_{group}"] for group in GROUPS] for row in rows])
    texts = [[f"{lots:.1f}" for lots in row] for row in bought]
    heat_map(axes, [row["name"] for row in rows], GROUPS, bought / GROUP_SIZE, texts, "Blues")
    axes.set_title(
        "Lots bought from the bank, per game and seat\n(colour: as a share of the group)",
        fontsize=10,
    )


def _plot_length(_: Summary, turns: NDArray[np.int32], axes: Axes) -> None:
    axes.hist(turns, bins=40, color="steelblue")
    axes.set(xlabel="turns per game, all players together", ylabel=f"games of {len(turns):,}")


# [kind] -> function that draws it, height in inches, additional height per player
_PLOTS: Final[
    dict[str, tuple[Callable[[Summary, NDArray[np.int32], Axes], None], float, float]]
] = {
    "wins": (_plot_wins, 0.6, 0.4),
    "groups": (_plot_groups, 1.6, 0.4),
    "length": (_plot_length, 4.0, 0.0),
}


_LUMINANCE: Final = (0.299, 0.587, 0.114)  # of red, green and blue
_DARK: Final = 0.5  # darker squares get light text


def heat_map(
    axes: Axes,
    rows: Sequence[str],
    columns: Sequence[str],
    shares: NDArray[np.float64],
    texts: Sequence[Sequence[str]],
    colours: str,
) -> None:
    """Draw a table whose squares are coloured.

    Args:
        axes: The axes to draw into.
        rows: (R,) names.
        columns: (C,) names.
        shares: (R, C), from 0 to 1, for the colours; a square of NaN stays empty.
        texts: (R, C), the texts in the squares.
        colours: Name of a colour map of matplotlib.
    """
    from matplotlib import colormaps

    axes.imshow(shares, cmap=colours, vmin=0.0, vmax=1.0, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    for row, column in zip(*np.nonzero(~np.isnan(shares)), strict=True):
        dark = float(np.dot(colormaps[colours](shares[row, column])[:3], _LUMINANCE)) < _DARK
        colour = "white" if dark else "black"
        axes.text(
            column, row, texts[row][column], ha="center", va="center", fontsize=8, color=colour
        )
