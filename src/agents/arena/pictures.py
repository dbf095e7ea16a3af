"""Tables for the terminal and plots, drawn from a summary of results.

The summary is that of `agents.arena.results.Results.summary`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.arena.counting import STATISTICS
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.extras import extra
from monopoly_env.facts.board import GROUP_SIZE, GROUPS
from monopoly_env.intervals import CONFIDENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from monopoly_env.terminal import Table

Summary: TypeAlias = dict[str, Any]


def main_table(summary: Summary, speed: str) -> Table:
    """The most important numbers, one row per policy."""
    from monopoly_env.terminal import Table

    adjusted = "adjusted_by" in summary
    caption = _caption(summary, speed) + (_adjustment(summary) if adjusted else "")
    table = Table(title=_title(summary), caption=caption + decided(summary.get("costs", {})))
    table.add_column("policy")
    for heading in ("win rate", "95% interval", *(_ADJUSTED if adjusted else _COUNTED)):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in summary["players"]:
        rate = (
            row["name"],
            f"{row['win_rate']:.1%}",
            f"{row['paired_low']:.1%} to {row['paired_high']:.1%}",
        )
        table.add_row(*rate, *(_adjusted_cells(row) if adjusted else _counted_cells(row)))
    return table


_COUNTED: Final = ("games", "wins", "place")
# In place of these: they would not fit beside them
_ADJUSTED: Final = ("adjusted", "95% interval", "variance")


def _counted_cells(row: dict[str, Any]) -> tuple[str, ...]:
    return f"{row['games']:,}", f"{row['wins']:,.10g}", f"{row['mean_place']:.2f}"


def _adjusted_cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{row['adjusted_rate']:.1%}",
        f"{row['adjusted_low']:.1%} to {row['adjusted_high']:.1%}",
        f"{-row['variance_removed']:+.0%}",
    )


def _adjustment(summary: Summary) -> str:
    """How the adjusted rates were made, and a warning where they are worse than the plain ones."""
    about = (
        f"; adjusted by the value {summary['adjusted_by']!r} times"
        f" {' and '.join(f'{number:.2f}' for number in summary['coefficients'])}"
    )
    noisier = [row["name"] for row in summary["players"] if row["variance_removed"] < 0]
    return about + (
        f". This value makes {', '.join(noisier)} noisier: read the plain rates, or take a better"
        " value."
        if noisier
        else ""
    )


def details_table(summary: Summary, speed: str) -> Table:
    """The mean per seat of every statistic: one row per statistic, one column per policy."""
    from monopoly_env.terminal import Table

    rows = summary["players"]
    table = Table(
        title=_title(summary), caption=_caption(summary, speed) + decided(summary.get("costs", {}))
    )
    table.add_column("mean of a game")
    for row in rows:
        table.add_column(row["name"], justify="right")
    table.add_row("games", *(f"{row['games']:,}" for row in rows))
    table.add_row("win rate", *(f"{row['win_rate']:.1%}" for row in rows))
    table.add_row(
        "95% interval, seeds",
        *(f"{row['paired_low']:.1%} to {row['paired_high']:.1%}" for row in rows),
    )
    for order in range(len(summary["win_rate_by_order"])):
        table.add_row(
            f"win rate as number {order + 1}",
            *(_percent(row["win_rate_by_order"][order]) for row in rows),
        )
    table.add_row("place", *(f"{row['mean_place']:.2f}" for row in rows))
    table.add_row("decided by a cap", *(f"{row['capped_share']:.1%}" for row in rows))
    table.add_row("turns", *(f"{row['turns']:,.1f}" for row in rows), end_section=True)
    for statistic in STATISTICS:
        for column, part in zip(statistic.columns, statistic.parts or ("",), strict=True):
            label = f"{statistic.name.replace('_', ' ')} {part}".strip()
            table.add_row(
                label,
                *(f"{row[column]:,.2f}" for row in rows),
                end_section=column == statistic.columns[-1] and part != "",
            )
    return table


def decided(costs: Mapping[str, Mapping[str, float]]) -> str:
    """How many decisions of each policy its fallback made: a line each, after a line break."""
    return "".join(
        f"\n{name}: {spent.get('decisions', 0):,.0f} decisions, {spent['fallbacks']:,.0f} of them"
        " by its fallback"
        for name, spent in costs.items()
        if "fallbacks" in spent
    )


def _title(summary: Summary) -> str:
    return f"{summary['games']:,} games, rules {summary['rules']}, seed {summary['seed']}"


def _caption(summary: Summary, speed: str) -> str:
    turns = summary["turns"]
    return (
        f"{turns['mean']:.0f} turns a game (10% under {turns['p10']:.0f}, 10% over"
        f" {turns['p90']:.0f}), {summary['capped_share']:.1%} hit the limit, first to throw wins"
        f" {summary['win_rate_by_order'][0]:.1%}, {summary['trades']['mean']:.1f} trades a"
        f" game{', ' * bool(speed)}{speed}; intervals from the spread between seeds"
    )


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


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
    if axes is None:
        with extra("results"):
            import matplotlib.pyplot

        height, of_each = _HEIGHTS[kind]
        axes = matplotlib.pyplot.subplots(
            figsize=(7, height + of_each * len(summary["players"])), layout="constrained"
        )[1]
    _PLOTS[kind](summary, turns, axes)
    return axes


def _plot_wins(summary: Summary, _: NDArray[np.int32], axes: Axes) -> None:
    rows = summary["players"][::-1]
    rates = np.array([row["win_rate"] for row in rows])
    errors = np.array(
        [
            [row["win_rate"] - row["paired_low"], row["paired_high"] - row["win_rate"]]
            for row in rows
        ]
    ).T
    axes.barh(
        [row["name"] for row in rows],
        rates,
        xerr=np.maximum(errors, 0.0),
        color="steelblue",
        capsize=3,
    )
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


_PLOTS: Final[dict[str, Callable[[Summary, NDArray[np.int32], Axes], None]]] = {
    "wins": _plot_wins, "groups": _plot_groups, "length": _plot_length
}  # fmt: skip
# In inches: of the plot, and of each player more
_HEIGHTS: Final = {"wins": (0.6, 0.4), "groups": (1.6, 0.4), "length": (4.0, 0.0)}


_LUMINANCE: Final = (0.299, 0.587, 0.114)  # of red, green and blue
_DARK: Final = 0.5  # a square that is darker needs light text


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
        shares: (R, C), from 0 to 1, which give the colours; a square of NaN stays empty.
        texts: (R, C), what stands in the squares.
        colours: Name of a colour map of matplotlib.
    """
    from matplotlib import colormaps

    axes.imshow(shares, cmap=colours, vmin=0.0, vmax=1.0, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    for row, column in zip(*np.nonzero(~np.isnan(shares)), strict=True):
        dark = float(np.dot(colormaps[colours](shares[row, column])[:3], _LUMINANCE)) < _DARK
        axes.text(
            column,
            row,
            texts[row][column],
            ha="center",
            va="center",
            fontsize=8,
            color="white" if dark else "black",
        )
