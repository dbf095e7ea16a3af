"""The results of games.

Who won how often, with which confidence interval, and what the games were like.
"""

from __future__ import annotations

import io
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.arena import pictures, result_files
from agents.arena.counting import STATISTICS
from agents.arena.statistics import Difference, control_coefficient, paired_difference, spread
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.extras import extra
from monopoly_env.files import write_atomically
from monopoly_env.intervals import CONFIDENCE, clustered, per_unit, wilson

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from monopoly_env.replays import Replay
    from monopoly_env.terminal import Table

MANY_MOVES: Final = 3  # trades of one lot in a game; where sane traders play, more are rare
_PERCENTILES: Final = (10, 50, 90)
_ARRAYS: Final = ("seats", "place", "unit", "first", "capped", "seat_counts", "game_counts")
_JOINED: Final = ("place", "first", "capped", "seat_counts", "game_counts")


@dataclass
class Results:
    """The results of G games between policies, at tables of P seats.

    Attributes:
        names: The names of the policies; arrays refer to them by index.
        rules: The preset, or the options that differ from the default, as text.
        seed: The seed from which all game seeds were derived.
        turn_limit: Turns per player after which the score decided the game.
        seats: (G, P) int16, the policy in each seat.
        place: (G, P) int16, final ranks. 1 is the winner; if several seats have rank 1, the game
            was a draw and they share the win.
        unit: (G,) int32. Games of one unit have the same seed and differ only in who sits where.
        first: (G,) int16, the seat that moved first.
        capped: (G,) bool, whether the turn limit ended the game.
        seat_counts: (G, P) records, one field for each of `agents.arena.counting.STATISTICS`.
        game_counts: (G,) records, one field for each of `agents.arena.counting.GAME_STATISTICS`.
        seconds: Wall time without compiling; 0 for results from a file, since equal games make
            equal files.
        setup: Everything needed to play the same games again, as JSON values; see
            `agents.arena.play_again`.
        replays: The games that were recorded.
        luck: (G, P) float64, by how much the dice raised each seat's share of the win
            (`agents.arena.luck`); None if it was not measured.
        value: The name of the value that it was measured by.
        costs: What each policy spent in these games (`Policy.costs`); nothing, for most.
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
    seconds: float = 0.0
    setup: dict[str, Any] = field(default_factory=dict)
    replays: list[Replay] = field(default_factory=list)
    luck: NDArray[np.float64] | None = None
    value: str = ""
    costs: list[dict[str, float]] = field(default_factory=list)

    @property
    def games(self) -> int:
        """Games played."""
        return len(self.place)

    @property
    def turns(self) -> NDArray[np.int32]:
        """(G,) int32, turns of each game, counted over all players."""
        return self.game_counts["turns"]

    @property
    def choices(self) -> NDArray[np.int32]:
        """(G,) int32, decisions of each game, counted over all players."""
        return self.game_counts["choices"]

    @property
    def decisions(self) -> int:
        """The number of decisions in all games."""
        return int(self.choices.sum(dtype=np.int64))

    @property
    def speed(self) -> str:
        """Games a second in words; empty for results from a file."""
        return f"{self.games / self.seconds:,.0f} games/s" if self.seconds else ""

    @property
    def spent(self) -> dict[str, dict[str, float]]:
        """The costs by name, of the policies that have any."""
        return {name: costs for name, costs in zip(self.names, self.costs, strict=False) if costs}

    @property
    def capped_share(self) -> float:
        """The share of games that hit the turn limit."""
        return float(self.capped.mean())

    @property
    def wins(self) -> NDArray[np.float64]:
        """(G, P) float64, the share of the win of each seat: 1, 0, or a fraction after a draw."""
        winners = self.place == 1
        return winners / winners.sum(axis=1, keepdims=True)

    @property
    def coefficients(self) -> tuple[float, float]:
        """How much of the luck is subtracted from the results of even and of odd units.

        See `adjusted`.

        Raises:
            ConfigurationError: No luck was measured.
        """
        luck, seats = (
            self._measured_luck(),
            [self.seats == policy for policy in range(len(self.names))],
        )
        shares = np.array(
            [
                [per_unit((values * mine).sum(axis=1), self.unit)[0] for mine in seats]
                for values in (self.wins, luck)
            ]
        )
        odd = np.unique(self.unit) % 2 == 1
        return control_coefficient(*shares[:, :, odd]), control_coefficient(*shares[:, :, ~odd])

    @property
    def adjusted(self) -> NDArray[np.float64]:
        """(G, P) float64, the share of the win of each seat less a multiple of its luck.

        Its mean is that of `wins`, with less variance.

        Luck is zero in the mean, and the multiple is a number that does not depend on it: for even
        units it is fitted to the odd ones (least squares), and the other way round. So no mean is
        changed, also if the value is a bad one.

        Raises:
            ConfigurationError: No luck was measured.
        """
        return np.asarray(
            self.wins - np.array(self.coefficients)[self.unit % 2, None] * self._measured_luck()
        )

    def _measured_luck(self) -> NDArray[np.float64]:
        if self.luck is None:
            raise ConfigurationError(
                "The luck of these games was not measured: play them with adjust='value'."
            )
        return self.luck

    # --- numbers

    def rows(self) -> list[dict[str, Any]]:
        """One row per policy, sorted by win rate.

        Returns:
            Dictionaries with these keys: `name`; `games` that the policy took part in; `wins` (a
            draw counts as a fraction, two seats of one policy add up); `win_rate` = wins / games;
            `low` and `high`, Wilson's 95% interval; `paired_low` and `paired_high`, the 95%
            interval from the spread between seeds, which is narrower where permuting the seats
            cancels the luck of the dice; `mean_place`; `win_rate_by_order`, the share of its seats
            that won, by order of play; `capped_share` of its games; `turns`, the mean length of its
            games; then the mean per seat of every column of `agents.arena.counting.STATISTICS`. If
            luck was measured, also `adjusted_rate`, `adjusted_low` and `adjusted_high`, the
            luck-adjusted win rate with its 95% interval from the spread between seeds, and
            `variance_removed`, the share of the variance of `win_rate` that it lacks: negative
            where adjusting made it noisier.
        """
        wins, adjusted = self.wins, None if self.luck is None else self.adjusted
        means = self._means()
        rows = []
        for policy in range(len(self.names)):
            row = self._row(policy, wins) | {
                name: float(mean[policy]) for name, mean in means.items()
            }
            rows.append(
                row if adjusted is None else row | self._adjusted_row(policy, wins, adjusted)
            )
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
            "name": self.names[policy], "games": games, "wins": total, "win_rate": total / games,
            "low": low, "high": high,
            "paired_low": paired_low, "paired_high": paired_high,
            "mean_place": _mean(self.place[mine]), "win_rate_by_order": by_order,
            "capped_share": _mean(self.capped[played]), "turns": _mean(self.turns[played]),
        }  # fmt: skip

    def _adjusted_row(
        self, policy: int, wins: NDArray[np.float64], adjusted: NDArray[np.float64]
    ) -> dict[str, float]:
        mine = self.seats == policy
        played = mine.any(axis=1)
        plain, without_luck = ((shares * mine).sum(axis=1)[played] for shares in (wins, adjusted))
        unit = self.unit[played]
        low, high = clustered(without_luck, unit)
        before, after = spread(plain, unit), spread(without_luck, unit)
        return {
            "adjusted_rate": float(without_luck.mean()), "adjusted_low": low, "adjusted_high": high,
            "variance_removed": 1 - (after / before) ** 2 if before > 0 else 0.0,
        }  # fmt: skip

    def _means(self) -> dict[str, NDArray[np.float64]]:
        """The mean per seat of every statistic, by policy."""
        policy = self.seats.ravel()
        seats = np.bincount(policy, minlength=len(self.names))
        means = {}
        for statistic in STATISTICS:
            values = self.seat_counts[statistic.name].reshape(len(policy), -1)
            for column, part in zip(statistic.columns, values.T, strict=True):
                means[column] = np.bincount(policy, part, len(self.names)) / seats
        return means

    def number_of(self, name: str) -> int:
        """The index of a policy in `names`.

        Raises:
            ConfigurationError: No policy has this name.
        """
        if name not in self.names:
            raise ConfigurationError(
                f"No policy {name!r} played these games. {nearest(name, self.names)}"
            )
        return self.names.index(name)

    def difference(self, first: str, second: str, adjusted: bool = False) -> Difference:
        """How much more often a seat of one policy won than a seat of another, paired by seed.

        The two may have sat at the same tables, or at different tables with the same seeds.

        Args:
            first: The name of a policy.
            second: The name of another policy.
            adjusted: Take the luck-adjusted shares.

        Raises:
            ConfigurationError: A name is unknown, both names are the same, or no luck was measured.
        """
        if self.number_of(first) == self.number_of(second):
            raise ConfigurationError(
                f"Give the names of two different policies, not {first!r} twice."
            )
        wins = self.adjusted if adjusted else self.wins
        _, unit = np.unique(self.unit, return_inverse=True)
        masks = [self.seats == self.number_of(name) for name in (first, second)]
        won = [np.bincount(unit, (wins * mask).sum(axis=1)) for mask in masks]
        seats = [np.bincount(unit, mask.sum(axis=1)) for mask in masks]
        return paired_difference(first, second, (won[0], won[1]), (seats[0], seats[1]))

    def seat_effect(self, by: str = "order") -> NDArray[np.float64]:
        """The share of games won from each seat, whichever policy sat there.

        Args:
            by: "order" for the order of play (the player who moves first comes first), or "seat"
                for the seat number.

        Returns:
            (P,) float64.

        Raises:
            ConfigurationError: `by` is neither of these.
        """
        if by not in ("order", "seat"):
            raise ConfigurationError(f"A seat effect is by 'order' or by 'seat', not by {by!r}.")
        wins = self.wins
        if by == "order":
            order = (self.first[:, None] + np.arange(wins.shape[1])) % wins.shape[1]
            wins = np.take_along_axis(wins, order, axis=1)
        return np.asarray(wins.mean(axis=0))

    def lengths(self) -> dict[str, float]:
        """The mean and some percentiles of the game length, in turns counted over all players."""
        percentiles = {f"p{p}": float(np.percentile(self.turns, p)) for p in _PERCENTILES}
        return {"mean": float(self.turns.mean())} | percentiles

    def trades(self) -> dict[str, float]:
        """How many trades were made, and whether single lots were traded back and forth.

        Returns:
            `mean` and percentiles of the number of trades per game; `games_with`, the share of
            games with at least one trade; `most_moves`, the most often that any lot was traded in
            one game; `games_with_many_moves`, the share of games in which some lot was traded more
            than three times.
        """
        trades, moves = self.game_counts["trades"], self.game_counts["lot_moves"]
        percentiles = {f"p{p}": float(np.percentile(trades, p)) for p in _PERCENTILES}
        return {"mean": float(trades.mean())} | percentiles | {
            "games_with": float((trades > 0).mean()),
            "most_moves": int(moves.max()),
            "games_with_many_moves": float((moves > MANY_MOVES).mean()),
        }  # fmt: skip

    def summary(self) -> dict[str, Any]:
        """Everything in one JSON object, but for the time that it took.

        It holds `players` (see `rows`) and statistics of all games.
        """
        return {
            "players": self.rows(),
            **(
                {}
                if self.luck is None
                else {"adjusted_by": self.value, "coefficients": list(self.coefficients)}
            ),
            **({"costs": self.spent} if self.spent else {}),
            "rules": self.rules,
            "seed": self.seed,
            "games": self.games,
            "turn_limit": self.turn_limit,
            "confidence": CONFIDENCE,
            "decisions": self.decisions,
            "capped_share": self.capped_share,
            "turns": self.lengths(),
            "trades": self.trades(),
            "win_rate_by_order": self.seat_effect("order").tolist(),
            "win_rate_by_seat": self.seat_effect("seat").tolist(),
        }

    # --- tables and plots

    def table(self, details: bool = False) -> Table:
        """The results as a rich table.

        One row per policy, with the 95% interval from the spread between seeds.

        Args:
            details: Show every statistic instead, with one column per policy.
        """
        return (pictures.details_table if details else pictures.main_table)(
            self.summary(), self.speed
        )

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

    # --- files

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
            arrays = {name: getattr(self, name) for name in _ARRAYS} | (
                {} if self.luck is None else {"luck": self.luck}
            )
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


def _mean(values: NDArray[Any]) -> float | None:
    return float(values.mean()) if values.size else None


def merge(parts: Sequence[Results], names: Sequence[str]) -> Results:
    """Join the results of several tables; policies are matched by name.

    Args:
        parts: Results with the same rules, turn limit and number of seats. Units with the same
            number are joined where the parts have the same seed, and kept apart where they do not.
        names: The names of all policies.
    """
    numbers = [np.array([names.index(name) for name in part.names], np.int16) for part in parts]
    seeds = list(dict.fromkeys(part.seed for part in parts))
    units = [max(int(part.unit.max()) + 1 for part in parts if part.seed == seed) for seed in seeds]
    offset = dict(zip(seeds, np.cumsum([0, *units]), strict=False))
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in _JOINED
    }
    joined |= _merged_luck(parts)
    costs: dict[str, Counter[str]] = defaultdict(Counter)  # amounts of money, too
    for part in parts:
        for name, spent in zip(part.names, part.costs, strict=False):
            costs[name].update(spent)
    return Results(
        names=tuple(names),
        rules=parts[0].rules,
        seed=parts[0].seed,
        turn_limit=parts[0].turn_limit,
        seats=np.concatenate(
            [number[part.seats] for number, part in zip(numbers, parts, strict=True)]
        ),
        unit=np.concatenate([part.unit + np.int32(offset[part.seed]) for part in parts]),
        seconds=sum(part.seconds for part in parts) if all(part.seconds for part in parts) else 0.0,
        setup=_merged_setup(parts, names),
        replays=[replay for part in parts for replay in part.replays],
        costs=[dict(costs[name]) for name in names],
        **joined,
    )


def _merged_luck(parts: Sequence[Results]) -> dict[str, Any]:
    """The luck of all games, if it was measured by the same value in all of them."""
    luck = [part.luck for part in parts if part.luck is not None and part.value == parts[0].value]
    return (
        {"luck": np.concatenate(luck), "value": parts[0].value} if len(luck) == len(parts) else {}
    )


def _merged_setup(parts: Sequence[Results], names: Sequence[str]) -> dict[str, Any]:
    """The common setup of parts that differ only in their tables; empty if they differ in more."""
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
