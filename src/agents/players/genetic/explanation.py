"""Explanations of genomes: a table of lots by situation, rules of thumb, a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.players.genetic import mukhar, pring
from agents.players.genetic.kinds import GeneticPolicy
from monopoly_env.cli.extras import extra
from monopoly_env.errors import ConfigurationError
from monopoly_env.facts import board
from monopoly_env.policy.protocol import Policy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_START_CASH: Final = 1500  # dollars
_ORANGE: Final = board.lots_of(board.GROUP_LOTS[board.GROUPS.index("orange")])
_COLOURS: Final = (
    "saddlebrown", "skyblue", "orchid", "darkorange", "crimson", "gold", "seagreen", "navy",
    "dimgrey", "silver",
)  # fmt: skip
# The rules of thumb with which Mukhar and Kalita compare evolved genomes.
RULES: Final = (
    "buy if nobody owns in the group",
    "buy if it makes a second or a third",
    "buy if it blocks",
    "always block orange",
    "leave jail early",
    "stay in jail late",
)
_MEAN: Final = "mean chance to buy of the 28 lots where "
# By rule, how its share is computed: for chances to buy and to leave jail, and for preferences.
_HOW: Final = (
    *(_MEAN + situation for situation in mukhar.SITUATIONS[:3]),
    "the same of the orange lots",
    "chance to leave while no opponent owns there",
    "1 - mean chance to leave where opponents own a whole group there",
)
_BOUGHT: Final = f"share of the lots that are bought with ${_START_CASH:,}, whoever owns there"
PREFERRED: Final = {"pring": ("K",), "pring_by_use": pring.USES}  # names of the rows of preferences
_HOW_PREFERRED: Final = (_BOUGHT, _BOUGHT, _BOUGHT, _HOW[3], "", "")


class Rule(NamedTuple):
    """How closely a genome follows a rule of thumb."""

    name: str  # one of `RULES`
    share: float | None  # 0 to 1, how often the player acts so; None: its genes say nothing of it
    how: str  # how the share is computed


@dataclass(frozen=True)
class Explanation:
    """The meaning of a genome.

    Attributes:
        title: Name of the player, and its kind.
        lots: One row per lot in board order: `lot`, `group`, `square`, `price`, and a chance or a
            preference by situation. For kinds whose genes are parameters of a family, one row per
            parameter: `parameter`, `value`, `low`, `high`, `gene`.
        columns: The columns of `lots` that hold genes.
        jail: One row for each number of streets, or of complete groups, that opponents own on the
            two sides: `opponents own`, `states` (how many genes are about this number), `leaves`
            (their mean chance to leave jail). Empty for kinds without jail genes.
        rules: The six rules of thumb.
    """

    title: str
    lots: list[dict[str, Any]]
    columns: tuple[str, ...]
    jail: list[dict[str, Any]]
    rules: tuple[Rule, ...]

    def to_pandas(self) -> pd.DataFrame:
        """The rows of `lots` as a frame."""
        with extra("results"):
            import pandas as pd

        return pd.DataFrame(self.lots)

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw the genes as bars: a panel per situation, lots in board order and group colours."""
        if figure is None:
            with extra("results"):
                import matplotlib.pyplot

            figure = matplotlib.pyplot.figure(
                figsize=(10, 2.0 * len(self.columns) + 1.4), layout="constrained"
            )
        panels = figure.subplots(len(self.columns), 1, sharex=True, squeeze=False)[:, 0]
        groups = [board.GROUPS.index(row["group"]) for row in self.lots if "group" in row]
        colours = [_COLOURS[group] for group in groups] or "steelblue"
        for column, axes in zip(self.columns, panels, strict=True):
            axes.bar(range(len(self.lots)), [row[column] for row in self.lots], color=colours)
            axes.axhline(0.5, color="grey", linewidth=0.8, linestyle="--")
            axes.set(ylim=(0, 1), title=column)
        labels = [row.get("lot", row.get("parameter")) for row in self.lots]
        panels[-1].set_xticks(range(len(labels)), labels, rotation=90, fontsize="small")
        figure.suptitle(self.title)
        return figure


def explain(policy: Policy) -> Explanation:
    """Explain the genome of a player of one of `KINDS`, made, loaded or evolved.

    Raises:
        ConfigurationError: It is not such a player.
    """
    if not isinstance(policy, GeneticPolicy):
        raise ConfigurationError(
            f"Only players with a genome explain themselves (genetic/...), not {policy!r}."
        )
    kind, row = policy.genome_kind, policy.params
    title, jail = f"{policy.name} ({kind.name})", list[dict[str, Any]]()
    columns: tuple[str, ...] = ("gene",)
    shares, how = [None] * len(RULES), ("",) * len(RULES)
    if kind.kernel is mukhar.play:
        buy = row[mukhar.GENE_OF]  # (4, 28)
        states = mukhar.WIDE if len(row) > mukhar.WIDE_GENES else mukhar.NARROW
        leaves = row[mukhar.BUY_GENES : mukhar.BUY_GENES + states**2].reshape(states, states)
        columns, lots, jail = mukhar.SITUATIONS, _lots(mukhar.SITUATIONS, buy), _jail_rows(leaves)
        late = leaves[_late(states)].mean()
        shares = [*buy[:3].mean(axis=1), buy[2, _ORANGE].mean(), leaves[0, 0], 1 - late]
        how = _HOW
    elif kind.name in PREFERRED:
        preferences = row.reshape(-1, board.NUM_LOTS)
        columns = PREFERRED[kind.name]
        lots, bought = _lots(columns, preferences), _START_CASH * preferences[0] > board.PRICE[0]
        shares = [*[bought.mean()] * 3, bought[_ORANGE].mean(), None, None]
        how = _HOW_PREFERRED
    else:
        numbers = zip(row.tolist(), kind.least.tolist(), kind.most.tolist(), strict=True)
        known = dict(zip(kind.number_names, numbers, strict=True))
        lots = [
            dict(zip(("parameter", "value", "low", "high", "gene"), (n, *known[n], g), strict=True))
            for n, g in zip(kind.names, policy.genome.tolist(), strict=True)
        ]
    rules = (
        Rule(name, None, "its genes say nothing about this")
        if share is None
        else Rule(name, float(share), text)
        for name, share, text in zip(RULES, shares, how, strict=True)
    )
    return Explanation(title, lots, columns, jail, tuple(rules))


def _lots(columns: tuple[str, ...], genes: NDArray[np.float64]) -> list[dict[str, Any]]:
    """A row for each lot, in board order; `genes` (C, 28) go into the last columns."""
    return [
        {
            "lot": board.LOT_NAME[0][lot],
            "group": board.GROUPS[board.GROUP_OF[lot]],
            "square": int(board.LOT_SQUARE[0, lot]),
            "price": int(board.PRICE[0, lot]),
            **dict(zip(columns, genes[:, lot].tolist(), strict=True)),
        }
        for lot in board.BOARD_ORDER[0]
    ]


def _late(states: int) -> NDArray[np.bool_]:
    """(states, states) bool: whether opponents own one of the four groups whole."""
    side = np.arange(states)
    whole = (side & 7 == 7) | (side >> 3 == 7) if states == mukhar.WIDE else side > 0
    return np.asarray(whole[:, None] | whole[None, :])


def _jail_rows(leaves: NDArray[np.float64]) -> list[dict[str, Any]]:
    side = np.array([number.bit_count() for number in range(len(leaves))])
    owned = side[:, None] + side[None, :]
    return [
        {"opponents own": n, "states": int((owned == n).sum()), "leaves": leaves[owned == n].mean()}
        for n in range(int(owned.max()) + 1)
    ]
