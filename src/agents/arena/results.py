"""The results of games: their rows, tables, plots and files."""

from __future__ import annotations

import io
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.arena import pictures, result_files, statistics
from agents.arena.games import ARRAYS, PlayedGames
from agents.arena.statistics import Difference
from monopoly_env.cli.extras import extra
from monopoly_env.files import write_atomically

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from monopoly_env.cli.terminal import TextTable


class Results(PlayedGames):
    """The results of games between policies: `PlayedGames`, with rows, tables and files."""

    def rows(self) -> list[dict[str, Any]]:
        """One row per policy, by win rate: see `agents.arena.statistics.rows`."""
        return statistics.rows(self)

    def difference(self, first: str, second: str, adjusted: bool = False) -> Difference:
        """The difference of two policies' win rates per seat, paired by seed.

        The two may play at the same tables, or at different tables with the same seeds.

        Args:
            first: The name of a policy.
            second: The name of another policy.
            adjusted: Compare the luck-adjusted shares.

        Raises:
            ConfigurationError: A name is unknown, both names are the same, or no luck was measured.
        """
        return statistics.difference(self, first, second, adjusted)

    def summary(self) -> dict[str, Any]:
        """The `rows` and statistics of all games in one JSON object, without times."""
        return statistics.summary(self)

    def table(self, details: bool = False) -> TextTable:
        """The results as a rich table, one row per policy, with 95% intervals.

        Args:
            details: Show every statistic instead, with one column per policy.
        """
        draw = pictures.details_table if details else pictures.main_table
        return draw(self.summary(), self.seconds)

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(file=io.StringIO(), width=80)
        console.print(self.table())
        return console.file.getvalue()  # type: ignore[attr-defined]

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a data frame, one row per policy.

        Raises:
            ExtraError: pandas is not installed.
        """
        with extra("results"):
            import pandas

        return pandas.DataFrame(self.rows())

    def plot(self, kind: str = "wins", axes: Axes | None = None) -> Axes:
        """Plot the results with matplotlib.

        Args:
            kind: "wins" for win rates with their intervals, "groups" for lots bought from the bank
                by colour group, or "length" for a histogram of turns per game.
            axes: The axes to draw into; new ones by default.

        Raises:
            ConfigurationError: The kind is unknown.
        """
        return pictures.plot(kind, self.summary(), self.turns, axes)

    def save(self, path: str | Path) -> None:
        """Save the results.

        Args:
            path: "x" or "x.parquet" writes the two files that `load` reads: x.parquet with every
                game and x.json with the summary. "x.json" writes the summary alone, "x.csv" the
                rows alone.

        Raises:
            ConfigurationError: The suffix is unknown, or a file cannot be written.
        """
        suffix = Path(path).suffix
        if suffix == ".csv":
            write_atomically(path, self.to_pandas().to_csv(index=False).encode())
        elif suffix == ".json":
            write_atomically(path, (json.dumps(self.summary(), indent=2) + "\n").encode())
        else:
            arrays = {name: getattr(self, name) for name in ARRAYS}
            arrays |= {} if self.luck is None else {"luck": self.luck}
            result_files.write(path, self.names, self.summary() | {"setup": self.setup}, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Results:
        """Load results that `save` wrote. Replays are not part of these files.

        Args:
            path: The path of either file, or the path without a suffix.

        Raises:
            FormatError: A file is missing, corrupt, of another kind or version, or the two do not
                belong together; the message says what differs.
        """
        return cls(**result_files.read(path))


def merge(parts: Sequence[Results], names: Sequence[str]) -> Results:
    """Join the results of several tables; policies are matched by name.

    Args:
        parts: Results with the same rules, turn limit and number of seats.
        names: The names of all policies.
    """
    head = parts[0]
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS}
    numbers = [np.array([names.index(name) for name in part.names], np.int16) for part in parts]
    joined["seats"] = np.concatenate(
        [number[part.seats] for number, part in zip(numbers, parts, strict=True)]
    )
    luck = [part.luck for part in parts if part.luck is not None and part.value == head.value]
    costs: dict[str, Counter[str]] = defaultdict(Counter)  # amounts of money, too
    for part in parts:
        for name, spent in zip(part.names, part.costs, strict=False):
            costs[name].update(spent)
    return Results(
        names=tuple(names),
        rules=head.rules,
        seed=head.seed,
        turn_limit=head.turn_limit,
        setup=_merged_setup(parts, names),
        replays=[replay for part in parts for replay in part.replays],
        costs=[dict(costs[name]) for name in names],
        seconds=sum(part.seconds for part in parts) if all(part.seconds for part in parts) else 0.0,
        luck=np.concatenate(luck) if len(luck) == len(parts) else None,
        value=head.value if len(luck) == len(parts) else "",
        **joined,
    )


def _merged_setup(parts: Sequence[Results], names: Sequence[str]) -> dict[str, Any]:
    """The common setup of parts that differ only in their tables, else empty."""
    shared = [
        {name: value for name, value in part.setup.items() if name not in ("policies", "tables")}
        for part in parts
    ]
    if not shared[0] or any(other != shared[0] for other in shared):
        return {}
    policies = {
        name: about
        for part in parts
        for name, about in zip(part.names, part.setup["policies"], strict=True)
    }
    tables = [
        [names.index(part.names[number]) for number in table]
        for part in parts
        for table in part.setup["tables"]
    ]
    return shared[0] | {"policies": [policies.get(name) for name in names], "tables": tables}
