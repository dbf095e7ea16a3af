"""What an arena found: who won how often, how sure that is, and what the games were like."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.arena.counting import STATISTICS
from agents.arena.statistics import CONFIDENCE, Difference, clustered, paired_difference, wilson
from monopoly_env.core import write_atomically
from monopoly_env.errors import ConfigurationError, nearest

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from rich.table import Table

    from monopoly_env.replays import Replay

MANY_MOVES: Final = 3  # trades of one lot in a game; where sane traders play, more are rare
_PERCENTILES: Final = (10, 50, 90)
_JOINED: Final = ("place", "first", "capped", "seat_counts", "game_counts")


@dataclass
class Results:
    """Games between policies, one row a game: G games of P seats.

    Attributes:
        names: Policies, by number.
        rules: Preset or the changed options of the rules, as text.
        seed: What all game seeds were derived from.
        turn_limit: Turns of each player after which the score decided.
        seats: (G, P) int16, the policy in each seat.
        place: (G, P) int16, final ranks; 1 won, several 1: a draw, which shares the win.
        unit: (G,) int32, games of one unit share their seed and differ in the seats or in who sits there.
        first: (G,) int16, the seat that began.
        capped: (G,) bool, whether the turn limit ended it.
        seat_counts: (G, P) records, a field for each of `agents.arena.counting.STATISTICS`.
        game_counts: (G,) records, a field for each of `agents.arena.counting.GAME_STATISTICS`.
        seconds: Wall time.
        setup: What it takes to play the same games again, as JSON values: see `agents.arena.play_again`.
        replays: The games that were recorded.
    """

    names: tuple[str, ...]
    rules: str
    seed: int
    turn_limit: int
    seats: NDArray[np.int16]
    place: NDArray[np.int16]
    unit: NDArray[np.int32]
    first: NDArray[np.int16]
    capped: NDArray[np.bool_]
    seat_counts: NDArray[Any]
    game_counts: NDArray[Any]
    seconds: float
    setup: dict[str, Any] = field(default_factory=dict)
    replays: list[Replay] = field(default_factory=list)

    @property
    def games(self) -> int:
        """Games played."""
        return len(self.place)

    @property
    def turns(self) -> NDArray[np.int32]:
        """(G,) int32, single turns, all players together."""
        return self.game_counts["turns"]

    @property
    def choices(self) -> NDArray[np.int32]:
        """(G,) int32, decisions asked in each game."""
        return self.game_counts["choices"]

    @property
    def decisions(self) -> int:
        """Decisions asked in all games."""
        return int(self.choices.sum(dtype=np.int64))

    @property
    def capped_share(self) -> float:
        """Share of games that hit the turn limit."""
        return float(self.capped.mean())

    @property
    def wins(self) -> NDArray[np.float64]:
        """(G, P) float64, each seat's share of the win: 1, 0, or a fraction in a draw."""
        winners = self.place == 1
        return winners / winners.sum(axis=1, keepdims=True)

    # --- numbers ----------------------------------------------------------------------------------------------------------

    def rows(self) -> list[dict[str, Any]]:
        """A row a policy, most wins first.

        Returns:
            `name`; `games` it sat in; `wins` (a draw counts its share; two seats of one policy add up); `win_rate` = wins / games;
            `low`, `high`: Wilson's interval; `paired_low`, `paired_high`: the interval from the spread between seeds, narrower
            where permuted seats cancel the luck of the dice; `mean_place`; `win_rate_by_order`: by order of play, the share of its
            seats that won; `capped_share` of its games; `turns`: their mean length; then the mean a seat of all that
            `agents.arena.counting.STATISTICS` names.
        """
        wins = self.wins
        means = self._means()
        rows = [self._row(policy, wins) | {name: float(mean[policy]) for name, mean in means.items()} for policy in range(len(self.names))]
        return sorted(rows, key=lambda row: -row["win_rate"])

    def _row(self, policy: int, wins: NDArray[np.float64]) -> dict[str, Any]:
        mine = self.seats == policy
        played = mine.any(axis=1)
        won = (wins * mine).sum(axis=1)[played]
        games, total = len(won), float(won.sum())
        low, high = wilson(total, games)
        paired_low, paired_high = clustered(won, self.unit[played])
        order = (np.arange(mine.shape[1]) - self.first[:, None]) % mine.shape[1]
        by_order = [_mean(wins[mine & (order == place)]) for place in range(mine.shape[1])]
        return {
            "name": self.names[policy], "games": games, "wins": total, "win_rate": total / games, "low": low, "high": high,
            "paired_low": paired_low, "paired_high": paired_high, "mean_place": _mean(self.place[mine]), "win_rate_by_order": by_order,
            "capped_share": _mean(self.capped[played]), "turns": _mean(self.turns[played]),
        }  # fmt: skip

    def _means(self) -> dict[str, NDArray[np.float64]]:
        """The mean a seat of every statistic, by policy."""
        policy = self.seats.ravel()
        seats = np.bincount(policy, minlength=len(self.names))
        means = {}
        for statistic in STATISTICS:
            values = self.seat_counts[statistic.name].reshape(len(policy), -1)
            for column, part in zip(statistic.columns, values.T, strict=True):
                means[column] = np.bincount(policy, part, len(self.names)) / seats
        return means

    def number_of(self, name: str) -> int:
        """The number of a policy.

        Raises:
            ConfigurationError: There is none of this name.
        """
        if name not in self.names:
            raise ConfigurationError(f"No policy {name!r} sat here. {nearest(name, self.names)}")
        return self.names.index(name)

    def difference(self, first: str, second: str) -> Difference:
        """How much more a seat of one policy won than a seat of another: paired by seed.

        The two may have sat together, or at tables of their own with the same seeds.

        Args:
            first: Name of a policy.
            second: Name of another.

        Raises:
            ConfigurationError: An unknown name, or twice the same.
        """
        if self.number_of(first) == self.number_of(second):
            raise ConfigurationError(f"A difference takes two policies, not {first!r} twice.")
        wins = self.wins
        _, unit = np.unique(self.unit, return_inverse=True)
        masks = [self.seats == self.number_of(name) for name in (first, second)]
        won = [np.bincount(unit, (wins * mask).sum(axis=1)) for mask in masks]
        seats = [np.bincount(unit, mask.sum(axis=1)) for mask in masks]
        return paired_difference(first, second, (won[0], won[1]), (seats[0], seats[1]))

    def seat_effect(self, by: str = "order") -> NDArray[np.float64]:
        """What a seat is worth, whoever sits there.

        Args:
            by: "order": by order of play, the first to throw first; "seat": by seat number.

        Returns:
            (P,) float64, the share of games won from there.

        Raises:
            ConfigurationError: Another word.
        """
        if by not in ("order", "seat"):
            raise ConfigurationError(f"A seat effect is by 'order' or by 'seat', not by {by!r}.")
        wins = self.wins
        if by == "order":
            order = (self.first[:, None] + np.arange(wins.shape[1])) % wins.shape[1]
            wins = np.take_along_axis(wins, order, axis=1)
        return np.asarray(wins.mean(axis=0))

    def lengths(self) -> dict[str, float]:
        """Game length in single turns: the mean and some percentiles."""
        percentiles = {f"p{p}": float(np.percentile(self.turns, p)) for p in _PERCENTILES}
        return {"mean": float(self.turns.mean())} | percentiles

    def trades(self) -> dict[str, float]:
        """Whether trading is sane: concluded trades a game, and how often lots go to and fro.

        Returns:
            `mean` and percentiles of the trades a game; `games_with`: the share of games that saw a trade; `most_moves`: the most that
            one lot changed hands by in any game; `games_with_many_moves`: the share of games in which one did more than three times.
        """
        trades, moves = self.game_counts["trades"], self.game_counts["lot_moves"]
        percentiles = {f"p{p}": float(np.percentile(trades, p)) for p in _PERCENTILES}
        return {"mean": float(trades.mean())} | percentiles | {
            "games_with": float((trades > 0).mean()),
            "most_moves": int(moves.max()),
            "games_with_many_moves": float((moves > MANY_MOVES).mean()),
        }  # fmt: skip

    def summary(self) -> dict[str, Any]:
        """Everything in one JSON object: `players` (the rows) and what the games were like."""
        return {
            "players": self.rows(),
            "rules": self.rules,
            "seed": self.seed,
            "games": self.games,
            "seconds": self.seconds,
            "turn_limit": self.turn_limit,
            "confidence": CONFIDENCE,
            "decisions": self.decisions,
            "capped_share": self.capped_share,
            "turns": self.lengths(),
            "trades": self.trades(),
            "win_rate_by_order": self.seat_effect("order").tolist(),
            "win_rate_by_seat": self.seat_effect("seat").tolist(),
        }

    # --- to look at -------------------------------------------------------------------------------------------------------

    def table(self, details: bool = False) -> Table:
        """The rows as a rich table; the interval is Wilson's at 95%.

        Args:
            details: Everything that was counted, with a column a policy.
        """
        from agents.arena.pictures import details_table, main_table

        return details_table(self) if details else main_table(self)

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(file=io.StringIO(), width=100)
        console.print(self.table())
        return console.file.getvalue()  # type: ignore[attr-defined]

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a data frame."""
        import pandas

        return pandas.DataFrame(self.rows())

    def plot(self, kind: str = "wins", axes: Axes | None = None) -> Axes:
        """A picture of the results.

        Args:
            kind: "wins": win rates with their intervals; "groups": lots got from the bank by colour group; "length": turns a game.
            axes: Where to draw; new ones by default.

        Raises:
            ConfigurationError: Another kind.
        """
        from agents.arena.pictures import plot

        return plot(self, kind, axes)

    # --- files ------------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the results: every game to `x.parquet` and all about them to `x.json`; or less than that to a single file.

        Args:
            path: "x" or "x.parquet" for the pair of files that `load` reads; "x.json" for the summary alone, "x.csv" for the rows.

        Raises:
            ConfigurationError: Another suffix, or a file can't be written.
        """
        from agents.arena import result_files

        suffix = Path(path).suffix
        if suffix == ".csv":
            write_atomically(path, self.to_pandas().to_csv(index=False).encode())
        elif suffix == ".json":
            write_atomically(path, (json.dumps(self.summary(), indent=2) + "\n").encode())
        else:
            result_files.write(path, self)

    @classmethod
    def load(cls, path: str | Path) -> Results:
        """Results that `save` wrote; recorded games are in files of their own.

        Args:
            path: Of either file, or without a suffix.

        Raises:
            FormatError: A file is missing, corrupt, foreign, of another version, or belongs to another one; the message says what differs.
        """
        from agents.arena import result_files

        return result_files.read(path)


def _mean(values: NDArray[Any]) -> float | None:
    return float(values.mean()) if values.size else None


def merge(parts: Sequence[Results], names: Sequence[str]) -> Results:
    """Results of several tables as one; policies are matched by name.

    Args:
        parts: Results with the same rules, limit and number of seats. Units of parts with the same seed are the same seeds; those of
            others stay apart.
        names: All policies.
    """
    numbers = [np.array([names.index(name) for name in part.names], np.int16) for part in parts]
    seeds = list(dict.fromkeys(part.seed for part in parts))
    units = [max(int(part.unit.max()) + 1 for part in parts if part.seed == seed) for seed in seeds]
    offset = dict(zip(seeds, np.cumsum([0, *units]), strict=False))
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _JOINED}
    return Results(
        names=tuple(names),
        rules=parts[0].rules,
        seed=parts[0].seed,
        turn_limit=parts[0].turn_limit,
        seats=np.concatenate([number[part.seats] for number, part in zip(numbers, parts, strict=True)]),
        unit=np.concatenate([part.unit + np.int32(offset[part.seed]) for part in parts]),
        seconds=sum(part.seconds for part in parts),
        setup=_merged_setup(parts, names),
        replays=[replay for part in parts for replay in part.replays],
        **joined,
    )


def _merged_setup(parts: Sequence[Results], names: Sequence[str]) -> dict[str, Any]:
    """The setup of parts that differ in their tables alone; else none."""
    shared = [{name: value for name, value in part.setup.items() if name not in ("policies", "tables")} for part in parts]
    if not shared[0] or any(other != shared[0] for other in shared):
        return {}
    policies = {name: about for part in parts for name, about in zip(part.names, part.setup["policies"], strict=True)}
    tables = [[names.index(part.names[number]) for number in table] for part in parts for table in part.setup["tables"]]
    return shared[0] | {"policies": [policies.get(name) for name in names], "tables": tables}
