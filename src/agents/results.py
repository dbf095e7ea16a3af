"""What an arena found: who won how often, how sure that is, and what the games were like."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from monopoly_env.core import write_atomically
from monopoly_env.errors import ConfigurationError, FormatError

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from rich.table import Table

CONFIDENCE: Final = 0.95
FORMAT: Final = "monopoly-results"
FORMAT_VERSION: Final = 1
_PERCENTILES: Final = (10, 50, 90)


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
        unit: (G,) int32, games of one unit share their seed and differ in the seats.
        first: (G,) int16, the seat that began.
        turns: (G,) int32, single turns, all players together.
        choices: (G,) int64, decisions asked in each game.
        capped: (G,) bool, whether the turn limit ended it.
        seconds: Wall time.
    """

    names: tuple[str, ...]
    rules: str
    seed: int
    turn_limit: int
    seats: NDArray[np.int16]
    place: NDArray[np.int16]
    unit: NDArray[np.int32]
    first: NDArray[np.int16]
    turns: NDArray[np.int32]
    choices: NDArray[np.int64]
    capped: NDArray[np.bool_]
    seconds: float

    @property
    def games(self) -> int:
        """Games played."""
        return len(self.turns)

    @property
    def decisions(self) -> int:
        """Decisions asked in all games."""
        return int(self.choices.sum())

    @property
    def capped_share(self) -> float:
        """Share of games that hit the turn limit."""
        return float(self.capped.mean())

    @property
    def wins(self) -> NDArray[np.float64]:
        """(G, P) float64, each seat's share of the win: 1, 0, or a fraction in a draw."""
        winners = self.place == 1
        return winners / winners.sum(axis=1, keepdims=True)

    def rows(self) -> list[dict[str, Any]]:
        """A row a policy, most wins first.

        Returns:
            `name`; `games` it sat in; `wins` (a draw counts its share; two seats of one policy add up); `win_rate` = wins / games;
            `low`, `high`: Wilson's interval; `paired_low`, `paired_high`: the interval from the spread between seeds, narrower
            where permuted seats cancel the luck of the dice (it shrinks to nothing where all seeds went one way); `mean_place`;
            `win_rate_by_order`: by order of play, the share of its seats that won.
        """
        rows = [self._row(policy) for policy in range(len(self.names))]
        return sorted(rows, key=lambda row: -row["win_rate"])

    def _row(self, policy: int) -> dict[str, Any]:
        mine = self.seats == policy
        played = mine.any(axis=1)
        won = (self.wins * mine).sum(axis=1)[played]
        games, wins = len(won), float(won.sum())
        low, high = wilson(wins, games)
        paired_low, paired_high = clustered(won, self.unit[played])
        order = (np.arange(mine.shape[1]) - self.first[:, None]) % mine.shape[1]
        by_order = [_mean(self.wins[mine & (order == place)]) for place in range(mine.shape[1])]
        return {
            "name": self.names[policy], "games": games, "wins": wins, "win_rate": wins / games, "low": low, "high": high,
            "paired_low": paired_low, "paired_high": paired_high, "mean_place": _mean(self.place[mine]), "win_rate_by_order": by_order,
        }  # fmt: skip

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
            "win_rate_by_order": self.seat_effect("order").tolist(),
            "win_rate_by_seat": self.seat_effect("seat").tolist(),
        }

    def table(self) -> Table:
        """The rows as a rich table; the interval is Wilson's at 95%."""
        from rich.table import Table

        lengths = self.lengths()
        table = Table(
            title=f"{self.games:,} games, rules {self.rules}, seed {self.seed}",
            caption=f"{lengths['mean']:.0f} turns a game (10% under {lengths['p10']:.0f}, 10% over {lengths['p90']:.0f}), "
            f"{self.capped_share:.1%} hit the limit, first to throw wins {self.seat_effect()[0]:.1%}, "
            f"{self.games / self.seconds:,.0f} games/s",
        )
        table.add_column("policy")
        for heading in ("games", "wins", "win rate", "95% interval", "mean place"):
            table.add_column(heading, justify="right")
        for row in self.rows():
            table.add_row(
                row["name"], f"{row['games']:,}", f"{row['wins']:,.10g}", f"{row['win_rate']:.1%}",
                f"{row['low']:.1%} to {row['high']:.1%}", f"{row['mean_place']:.2f}",
            )  # fmt: skip
        return table

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(file=io.StringIO(), width=100)
        console.print(self.table())
        return console.file.getvalue()  # type: ignore[attr-defined]

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a data frame."""
        import pandas

        return pandas.DataFrame(self.rows())

    def plot(self, axes: Axes | None = None) -> Axes:
        """Win rates with their intervals, as horizontal bars.

        Args:
            axes: Where to draw; new ones by default.
        """
        if axes is None:
            import matplotlib.pyplot

            axes = matplotlib.pyplot.subplots(figsize=(7, 0.6 + 0.4 * len(self.names)))[1]
        rows = self.rows()[::-1]
        rates = np.array([row["win_rate"] for row in rows])
        errors = np.array([[row["win_rate"] - row["low"], row["high"] - row["win_rate"]] for row in rows]).T
        axes.barh([row["name"] for row in rows], rates, xerr=np.maximum(errors, 0.0), color="steelblue", capsize=3)
        axes.axvline(1 / self.seats.shape[1], color="grey", linewidth=0.8, linestyle="--")  # an even share
        axes.set(xlim=(0, 1), xlabel=f"win rate with {CONFIDENCE:.0%} interval ({self.games:,} games, rules {self.rules})")
        return axes

    def save(self, path: str | Path) -> None:
        """Write the results: every game to a `.npz` file (for `load`), or the rows to `.csv`, or the summary to `.json`.

        Raises:
            ConfigurationError: Another suffix, or the file can't be written.
        """
        target = Path(path)
        if target.suffix == ".npz":
            write_atomically(target, self._npz())
        elif target.suffix == ".csv":
            write_atomically(target, self.to_pandas().to_csv(index=False).encode())
        elif target.suffix == ".json":
            write_atomically(target, (json.dumps(self.summary(), indent=2) + "\n").encode())
        else:
            raise ConfigurationError(f"Results are saved to .npz, .csv or .json, not to {str(path)!r}.")

    def _npz(self) -> bytes:
        about: dict[str, Any] = {"format": FORMAT, "format_version": FORMAT_VERSION}
        arrays: dict[str, NDArray[Any]] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            (arrays if isinstance(value, np.ndarray) else about)[field.name] = value
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, about=np.array(json.dumps(about)), **arrays)
        return buffer.getvalue()

    @classmethod
    def load(cls, path: str | Path) -> Results:
        """Results from a `.npz` file that `save` wrote.

        Raises:
            FormatError: The file is missing, corrupt, foreign, or of another version.
        """
        try:
            with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as file:
                about = json.loads(str(file["about"]))
                arrays = {name: file[name] for name in file.files if name != "about"}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise FormatError(f"{str(path)!r} holds no results: {error}.") from error
        version = (about.pop("format", None), about.pop("format_version", None))
        if version != (FORMAT, FORMAT_VERSION):
            raise FormatError(f"{str(path)!r} is {version[0]!r} of version {version[1]}, expected {FORMAT!r} of version {FORMAT_VERSION}.")
        try:
            return cls(**(about | {"names": tuple(about["names"])}), **arrays)
        except (KeyError, TypeError) as error:
            raise FormatError(f"{str(path)!r} holds no results: {error}.") from error


def merge(parts: Sequence[Results], names: Sequence[str]) -> Results:
    """Results of several tables as one; policies are matched by name, units stay apart.

    Args:
        parts: Results with the same rules, seed, limit and number of seats.
        names: All policies.
    """
    numbers = [np.array([names.index(name) for name in part.names], np.int16) for part in parts]
    offsets = np.cumsum([0, *(int(part.unit.max()) + 1 for part in parts)])
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ("place", "first", "turns", "choices", "capped")}
    return Results(
        names=tuple(names),
        rules=parts[0].rules,
        seed=parts[0].seed,
        turn_limit=parts[0].turn_limit,
        seats=np.concatenate([number[part.seats] for number, part in zip(numbers, parts, strict=True)]),
        unit=np.concatenate([part.unit + np.int32(offset) for offset, part in zip(offsets, parts, strict=False)]),
        seconds=sum(part.seconds for part in parts),
        **joined,
    )


def wilson(wins: float, games: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval (JASA 22, 1927) of a share; wins may be fractions, from draws."""
    z = float(stats.norm.ppf((1 + confidence) / 2))
    rate = wins / games
    centre = (rate + z * z / (2 * games)) / (1 + z * z / games)
    half = z * np.sqrt(rate * (1 - rate) / games + z * z / (4 * games * games)) / (1 + z * z / games)
    return (0.0 if wins == 0 else float(centre - half)), (1.0 if wins == games else float(centre + half))


def clustered(won: NDArray[np.float64], unit: NDArray[np.int32], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Interval of a mean whose games come in units that share a seed: the ratio estimator of cluster sampling, with Student's t.

    A single unit says nothing of the spread: the interval is then (0, 1).
    """
    _, number = np.unique(unit, return_inverse=True)
    sums = np.bincount(number, won)
    sizes = np.bincount(number)
    units = len(sums)
    rate = won.mean()
    if units < 2:
        return 0.0, 1.0
    variance = units / (units - 1) * ((sums - rate * sizes) ** 2).sum() / len(won) ** 2
    half = float(stats.t.ppf((1 + confidence) / 2, units - 1)) * np.sqrt(variance)
    return max(0.0, float(rate - half)), min(1.0, float(rate + half))


def _mean(values: NDArray[Any]) -> float | None:
    return float(values.mean()) if values.size else None
