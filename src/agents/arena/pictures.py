"""Results to look at: tables for the terminal, and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from agents.arena.counting import STATISTICS
from agents.arena.statistics import CONFIDENCE
from monopoly_env.board import GROUPS
from monopoly_env.errors import ConfigurationError, nearest

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from rich.table import Table

    from agents.arena.results import Results


def main_table(results: Results) -> Table:
    """A row a policy, with what matters most."""
    from rich.table import Table

    table = Table(title=_title(results), caption=_caption(results))
    table.add_column("policy")
    for heading in ("games", "wins", "win rate", "95% interval", "place", "bankrupt", "groups", "trades"):
        table.add_column(heading, justify="right")
    for row in results.rows():
        table.add_row(
            row["name"], f"{row['games']:,}", f"{row['wins']:,.10g}", f"{row['win_rate']:.1%}",
            f"{row['low']:.1%} to {row['high']:.1%}", f"{row['mean_place']:.2f}", f"{row['bankrupt']:.0%}", f"{row['groups']:.2f}",
            f"{row['trades']:.2f}",
        )  # fmt: skip
    return table


def details_table(results: Results) -> Table:
    """A row for everything that was counted, a column a policy: means a seat."""
    from rich.table import Table

    rows = results.rows()
    table = Table(title=_title(results), caption=_caption(results))
    table.add_column("mean of a game")
    for row in rows:
        table.add_column(row["name"], justify="right")
    table.add_row("games", *(f"{row['games']:,}" for row in rows))
    table.add_row("win rate", *(f"{row['win_rate']:.1%}" for row in rows))
    table.add_row("95% interval, seeds", *(f"{row['paired_low']:.1%} to {row['paired_high']:.1%}" for row in rows))
    for order in range(results.seats.shape[1]):
        table.add_row(f"win rate as number {order + 1}", *(_percent(row["win_rate_by_order"][order]) for row in rows))
    table.add_row("place", *(f"{row['mean_place']:.2f}" for row in rows))
    table.add_row("decided by a cap", *(f"{row['capped_share']:.1%}" for row in rows))
    table.add_row("turns", *(f"{row['turns']:,.1f}" for row in rows), end_section=True)
    for statistic in STATISTICS:
        for column, part in zip(statistic.columns, statistic.parts or ("",), strict=True):
            label = f"{statistic.name.replace('_', ' ')} {part}".strip()
            table.add_row(label, *(f"{row[column]:,.2f}" for row in rows), end_section=column == statistic.columns[-1] and part != "")
    return table


def _title(results: Results) -> str:
    return f"{results.games:,} games, rules {results.rules}, seed {results.seed}"


def _caption(results: Results) -> str:
    lengths = results.lengths()
    return (
        f"{lengths['mean']:.0f} turns a game (10% under {lengths['p10']:.0f}, 10% over {lengths['p90']:.0f}), "
        f"{results.capped_share:.1%} hit the limit, first to throw wins {results.seat_effect()[0]:.1%}, "
        f"{results.trades()['mean']:.1f} trades a game, {results.games / results.seconds:,.0f} games/s"
    )


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def plot(results: Results, kind: str, axes: Axes | None) -> Axes:
    """Draw one of the pictures of `Results.plot`."""
    if kind not in _PLOTS:
        raise ConfigurationError(f"Unknown kind of plot {kind!r}. {nearest(kind, _PLOTS)}")
    if axes is None:
        import matplotlib.pyplot

        height = 0.6 + 0.4 * len(results.names) if kind == "wins" else 4.0
        axes = matplotlib.pyplot.subplots(figsize=(7, height))[1]
    _PLOTS[kind](results, axes)
    return axes


def _plot_wins(results: Results, axes: Axes) -> None:
    rows = results.rows()[::-1]
    rates = np.array([row["win_rate"] for row in rows])
    errors = np.array([[row["win_rate"] - row["low"], row["high"] - row["win_rate"]] for row in rows]).T
    axes.barh([row["name"] for row in rows], rates, xerr=np.maximum(errors, 0.0), color="steelblue", capsize=3)
    axes.axvline(1 / results.seats.shape[1], color="grey", linewidth=0.8, linestyle="--")  # an even share
    axes.set(xlim=(0, 1), xlabel=f"win rate with {CONFIDENCE:.0%} interval ({results.games:,} games, rules {results.rules})")


def _plot_groups(results: Results, axes: Axes) -> None:
    rows = results.rows()
    width = 0.8 / len(rows)
    for number, row in enumerate(rows):
        heights = [row[f"purchases_{group}"] for group in GROUPS]
        axes.bar(np.arange(len(GROUPS)) + (number + 0.5) * width - 0.4, heights, width, label=row["name"])
    axes.set_xticks(range(len(GROUPS)), GROUPS, rotation=45, ha="right")
    axes.set(ylabel="lots got from the bank, a game and seat")
    axes.legend(fontsize="small")


def _plot_length(results: Results, axes: Axes) -> None:
    axes.hist(results.turns, bins=40, color="steelblue")
    axes.set(xlabel="single turns a game", ylabel=f"games of {results.games:,}")


_PLOTS: dict[str, Any] = {"wins": _plot_wins, "groups": _plot_groups, "length": _plot_length}
