"""Explanations of genomes: a table of lots by situation, rules of thumb, a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.players.genetic import mukhar
from agents.players.genetic.kinds import GeneticPolicy
from monopoly_env.cli.extras import extra
from monopoly_env.errors import ConfigurationError
from monopoly_env.facts import board
from monopoly_env.policy.protocol import Policy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from monopoly_env.cli.terminal import TextTable

_START_CASH: Final = 1500  # dollars
_ORANGE: Final = board.GROUPS.index("orange")
_COLOURS: Final = (
    "saddlebrown", "skyblue", "orchid", "darkorange", "crimson", "gold", "seagreen", "navy",
    "dimgrey", "silver",
)  # fmt: skip
_HAS_NONE: Final = "its genes say nothing about this"

# The rules of thumb with which Mukhar and Kalita compare evolved genomes.
RULES: Final = (
    "buy if nobody owns in the group",
    "buy if it makes a second or a third",
    "buy if it blocks",
    "always block orange",
    "leave jail early",
    "stay in jail late",
)


@dataclass(frozen=True)
class Rule:
    """How far a genome keeps to a rule of thumb.

    Attributes:
        name: The rule, one of `RULES`.
        share: 0 to 1, how often the player acts as the rule says; None if its genes say nothing
            about it.
        how: How the share is computed.
    """

    name: str
    share: float | None
    how: str


@dataclass(frozen=True)
class Explanation:
    """What a genome means.

    Attributes:
        name: The player's name.
        kind: The kind of its genome.
        lots: One row per lot in board order: `lot`, `group`, `square`, `price`, and a chance or a
            preference by situation. For kinds whose genes are parameters of a family, one row per
            parameter: `parameter`, `value`, `gene`, `low`, `high`.
        jail: One row for each number of streets, or of complete groups, that opponents own on the
            two sides: `opponents own`, `states` (how many genes are about this number), `leaves`
            (their mean chance to leave jail). Empty for kinds without jail genes.
        rules: The six rules of thumb.
    """

    name: str
    kind: str
    lots: list[dict[str, Any]]
    jail: list[dict[str, Any]]
    rules: tuple[Rule, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of `lots` that hold genes."""
        return tuple(
            name
            for name in self.lots[0]
            if name not in ("lot", "group", "square", "price", "parameter", "value", "low", "high")
        )

    def to_pandas(self) -> pd.DataFrame:
        """The rows of `lots` as a frame."""
        with extra("results"):
            import pandas as pd

        return pd.DataFrame(self.lots)

    def table(self) -> TextTable:
        """The rows of `lots` for the terminal, the rules of thumb below."""
        from monopoly_env.cli.terminal import TextTable

        kept = "; ".join(
            f"{rule.name} {rule.share:.0%}" for rule in self.rules if rule.share is not None
        )
        table = TextTable(title=self.name, caption=kept or None)
        for column, value in self.lots[0].items():
            table.add_column(column, justify="left" if isinstance(value, str) else "right")
        for row in self.lots:
            cells = (f"{x:.3g}" if isinstance(x, float) else str(x) for x in row.values())
            table.add_row(*cells)
        return table

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw the genes as bars: a panel per situation, lots in board order and group colours.

        Args:
            figure: Where to draw; a new one by default.
        """
        if figure is None:
            with extra("results"):
                import matplotlib.pyplot

            figure = matplotlib.pyplot.figure(
                figsize=(10, 2.0 * len(self.columns) + 1.4), layout="constrained"
            )
        panels = figure.subplots(len(self.columns), 1, sharex=True, squeeze=False)[:, 0]
        for column, axes in zip(self.columns, panels, strict=True):
            self._panel(column, axes)
        labels = [row.get("lot", row.get("parameter")) for row in self.lots]
        panels[-1].set_xticks(range(len(labels)), labels, rotation=90, fontsize="small")
        figure.suptitle(f"{self.name} ({self.kind})")
        return figure

    def _panel(self, column: str, axes: Axes) -> None:
        colours = [
            _COLOURS[board.GROUPS.index(row["group"])] if "group" in row else "steelblue"
            for row in self.lots
        ]
        axes.bar(range(len(self.lots)), [row[column] for row in self.lots], color=colours)
        axes.axhline(0.5, color="grey", linewidth=0.8, linestyle="--")
        axes.set(ylim=(0, 1), title=column)


def explain(policy: Policy) -> Explanation:
    """Explain the genome of a player.

    Args:
        policy: A player of one of `KINDS`, made, loaded or evolved.

    Raises:
        ConfigurationError: It is not such a player.
    """
    if not isinstance(policy, GeneticPolicy):
        raise ConfigurationError(
            f"Only players with a genome explain themselves (genetic/...), not {policy!r}."
        )
    kind = policy.genome_kind
    if kind.kernel is mukhar.play:
        parts = _of_chances(policy.params)
    elif kind.name == "pring":
        parts = _of_preferences(policy.params)
    else:
        parts = _of_parameters(policy), [], _no_rules()
    return Explanation(policy.name, kind.name, *parts)


def _lots() -> list[dict[str, Any]]:
    return [
        {
            "lot": board.LOT_NAME[0][lot],
            "group": board.GROUPS[board.GROUP_OF[lot]],
            "square": int(board.LOT_SQUARE[0, lot]),
            "price": int(board.PRICE[0, lot]),
        }
        for lot in board.BOARD_ORDER[0]
    ]


def _no_rules() -> tuple[Rule, ...]:
    return tuple(Rule(name, None, _HAS_NONE) for name in RULES)


def _of_parameters(policy: GeneticPolicy) -> list[dict[str, Any]]:
    """A row for each parameter of the family that evolves."""
    kind = policy.genome_kind
    rows = []
    for name, gene in zip(kind.names, policy.genome.tolist(), strict=True):
        n = kind.number_names.index(name)
        value, low, high = (float(array[n]) for array in (policy.params, kind.least, kind.most))
        rows.append({"parameter": name, "gene": gene, "value": value, "low": low, "high": high})
    return rows


def _of_preferences(
    params: NDArray[np.float64],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], tuple[Rule, ...]]:
    rows = [
        row | {"K": float(params[lot])}
        for row, lot in zip(_lots(), board.BOARD_ORDER[0], strict=True)
    ]
    bought = _START_CASH * params > board.PRICE[0]
    how = f"share of the lots that are bought with ${_START_CASH:,}, whoever owns in the group"
    orange = float(np.mean(bought[board.lots_of(board.GROUP_LOTS[_ORANGE])]))
    every = tuple(Rule(name, float(np.mean(bought)), how) for name in RULES[:3])
    return (
        rows,
        [],
        (*every, Rule(RULES[3], orange, "the same of the orange lots"), *_no_rules()[4:]),
    )


def _of_chances(
    params: NDArray[np.float64],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], tuple[Rule, ...]]:
    buy = params[mukhar.GENE_OF]  # (4, 28)
    rows = [
        row | {situation: float(buy[r, lot]) for r, situation in enumerate(mukhar.SITUATIONS)}
        for row, lot in zip(_lots(), board.BOARD_ORDER[0], strict=True)
    ]
    states = mukhar.WIDE if len(params) > mukhar.WIDE_GENES else mukhar.NARROW
    leaves = params[mukhar.BUY_GENES : mukhar.BUY_GENES + states * states].reshape(states, states)
    mean = "mean chance to buy of the 28 lots where "
    late = _late(states)
    rules = (
        Rule(RULES[0], float(buy[0].mean()), mean + mukhar.SITUATIONS[0]),
        Rule(RULES[1], float(buy[1].mean()), mean + mukhar.SITUATIONS[1]),
        Rule(RULES[2], float(buy[2].mean()), mean + mukhar.SITUATIONS[2]),
        Rule(
            RULES[3],
            float(buy[2, board.lots_of(board.GROUP_LOTS[_ORANGE])].mean()),
            "the same of the orange lots",
        ),
        Rule(RULES[4], float(leaves[0, 0]), "chance to leave while no opponent owns there"),
        Rule(
            RULES[5],
            float(1 - leaves[late].mean()),
            "1 - mean chance to leave where opponents own a whole group there",
        ),
    )
    return rows, _jail_rows(leaves), rules


def _late(states: int) -> NDArray[np.bool_]:
    """(states, states) bool: whether opponents own one of the four groups whole."""
    side = np.arange(states)
    whole = (
        ((side & 0b111) == 0b111) | ((side >> 3) == 0b111) if states == mukhar.WIDE else side > 0
    )
    return np.asarray(whole[:, None] | whole[None, :])


def _jail_rows(leaves: NDArray[np.float64]) -> list[dict[str, Any]]:
    side = np.array([number.bit_count() for number in range(len(leaves))])
    owned = side[:, None] + side[None, :]
    return [
        {
            "opponents own": count,
            "states": int((owned == count).sum()),
            "leaves": float(leaves[owned == count].mean()),
        }
        for count in range(int(owned.max()) + 1)
    ]
