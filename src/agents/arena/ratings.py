"""The strength of policies, from their ranks at many tables.

`strengths` fits one number per policy to all games at once (Plackett, Applied Statistics 24, 1975;
Luce, 1959): at a table, the probability that a policy comes first is its strength divided by the
sum of all strengths, and so on among the rest. For tables of two this is the model behind Elo
ratings. `cross_table` counts who ends before whom, a `Ladder` shows both. `Ratings` are updated by
each new result and kept in a file.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from agents.arena.games import PlayedGames
from agents.arena.pictures import heat_map, main_table, new_axes
from monopoly_env.cli.extras import extra
from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.files import differing, read_json, read_saved, understood, write_atomically
from monopoly_env.intervals import CONFIDENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from agents.arena.results import Results
    from monopoly_env.cli.terminal import TextTable

Floats = NDArray[np.float64]

POINTS: Final = 400.0  # points that stand for ten times the strength, as in chess
REPLICATES: Final = 400  # a percentile of 2.5% then rests on ten of them
FORMAT: Final = "monopoly-ratings"
FORMAT_VERSION: Final = 1
_MOST_BYTES: Final = 1 << 25  # of a file
# Pseudo-games: each policy gets half a win and half a loss, which keeps strengths finite
_PRIOR: Final = 0.5
# Smallest weight drawn: keeps the arithmetic away from zero without moving any percentile in use
_LEAST: Final = 1e-9
_TOLERANCE: Final = 1e-10  # of the log strengths, relative
_BATCH: Final = 16  # bootstrap replicates whose weights are drawn at once


@dataclass(frozen=True)
class Strengths:
    """Plackett-Luce strengths of N policies.

    Attributes:
        names: The names of the policies.
        points: (N,) float64, 400 times the decimal logarithm of the strength: a lead of 400 points
            means ten wins for each loss. 0 is the mean of the middle half of the policies (of all
            if they are fewer than four): a policy that never wins may have any low strength, which
            would widen the intervals of all others.
        low: (N,) float64, lower bound of the 95% interval; minus infinity if all games have the
            same seed, when the variance is unknown.
        high: (N,) float64, upper bound.
        games: (N,) int64, games that each policy took part in.
    """

    names: tuple[str, ...]
    points: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    games: NDArray[np.int64]

    @property
    def against_average(self) -> NDArray[np.float64]:
        """(N,) float64, the probability of winning against one policy with 0 points."""
        return 1.0 / (1.0 + 10.0 ** (-self.points / POINTS))

    def rows(self) -> list[dict[str, Any]]:
        """One row per policy, the strongest first.

        Returns:
            Dictionaries with `rank`, `name`, `games`, `points`, `points_low`, `points_high` (None
            if the variance is unknown) and `against_average`.
        """
        order = sorted(range(len(self.names)), key=lambda i: (-self.points[i], self.names[i]))
        return [
            {
                "rank": rank, "name": self.names[i], "games": int(self.games[i]),
                "points": float(self.points[i]),
                "points_low": _finite(self.low[i]), "points_high": _finite(self.high[i]),
                "against_average": float(self.against_average[i]),
            }
            for rank, i in enumerate(order, 1)
        ]  # fmt: skip


def strengths(results: PlayedGames, replicates: int = REPLICATES, seed: int = 0) -> Strengths:
    """Fit Plackett-Luce strengths to the ranks of all games.

    Ties are split: k policies with the same rank count as all k! orders among them, each with
    weight 1 / k!. Each policy also gets half a win and half a loss as pseudo-games, spread evenly
    over all others, so that a policy that won every game still has a finite strength. A policy in
    several seats of a table counts as several players of equal strength.

    The interval comes from the Bayesian bootstrap (Rubin, Annals of Statistics 9, 1981) over seeds:
    all games of a seed get the same exponential weight, and the pseudo-games get gamma weights. For
    independent games of two policies this is Jeffreys' interval, which has the right coverage even
    where one of them won every game.

    Args:
        results: The games.
        replicates: The number of bootstrap replicates.
        seed: The seed of the bootstrap weights; the same arguments give the same interval.

    Raises:
        ConfigurationError: There is only one policy.
    """
    count = len(results.names)
    if count < 2:
        raise ConfigurationError(f"Strengths compare two or more policies; {count} were given.")
    sets, counts = _choices(results)
    one, other = np.triu_indices(count, 1)
    sets = np.concatenate([sets, np.eye(count)[one] + np.eye(count)[other]])
    apart = ~np.eye(count, dtype=np.bool_)

    def fit(counted: Floats, pseudo: Floats, start: Floats) -> Floats:
        prior = np.zeros((count, count))
        prior[apart] = pseudo
        weights = np.concatenate([counted[count:], (prior + prior.T)[one, other]])
        return _most_likely(sets, weights, counted[:count] + prior.sum(axis=1), start)

    share, number = _PRIOR / (count - 1), count * (count - 1)
    best = fit(np.asarray(counts.sum(axis=0)), np.full(number, share), np.zeros(count))
    generator = np.random.Generator(np.random.Philox(seed))
    drawn: list[Floats] = []
    for first in range(0, replicates, _BATCH):
        batch = min(_BATCH, replicates - first)
        weighted = generator.standard_exponential((batch, counts.shape[0])) @ counts
        pseudo = np.maximum(generator.standard_gamma(share, (batch, number)), _LEAST)
        drawn += [fit(*row, best) for row in zip(weighted, pseudo, strict=True)]
    middle = np.argsort(best)[count // 4 : count - count // 4]
    scale = POINTS / math.log(10.0)
    low, high = np.full(count, -np.inf), np.full(count, np.inf)
    if counts.shape[0] > 1 and replicates > 1:
        apart = np.array(drawn) - np.mean(np.array(drawn)[:, middle], axis=1, keepdims=True)
        low, high = scale * np.quantile(apart, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    games = [(results.seats == policy).any(axis=1).sum() for policy in range(count)]
    points = scale * (best - best[middle].mean())
    return Strengths(results.names, points, low, high, np.array(games, np.int64))


def _choices(results: PlayedGames) -> tuple[Floats, Any]:
    """Ranks as choices: the first among all, the next among the rest, and so on.

    Returns:
        (M, N) float64, seats of each policy in each set that was chosen from; and a sparse
        (S, N + M) array: for each seed, how often each policy was chosen, and from each set.
    """
    count = len(results.names)
    order = np.argsort(results.place, axis=1, kind="stable")
    ranked = [np.take_along_axis(array, order, 1) for array in (results.seats, results.place)]
    outcomes, kind = np.unique(np.stack(ranked, axis=1), axis=0, return_inverse=True)
    _, seed = np.unique(results.seeds, return_inverse=True)
    met = sparse.csr_array((np.ones(len(kind)), (seed, kind.ravel())))
    numbers: dict[tuple[int, ...], int] = {}
    entries: list[tuple[int, int, float]] = []  # outcome, column, weight
    for outcome, (policies, places) in enumerate(outcomes.tolist()):
        for chosen, members, weight in _split_ties(policies, places):
            entries.append((outcome, count + numbers.setdefault(members, len(numbers)), weight))
            entries += [(outcome, policy, weight / len(chosen)) for policy in chosen]
    rows, columns, weights = np.array(entries).reshape(-1, 3).T
    made = sparse.csr_array(
        (weights, (rows.astype(np.intp), columns.astype(np.intp))),
        shape=(len(outcomes), count + len(numbers)),
    )
    sets = np.array([np.bincount(members, minlength=count) for members in numbers], np.float64)
    return sets.reshape(-1, count), met @ made


def _split_ties(
    policies: list[int], places: list[int]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], float]]:
    """The choices that make up a ranking: who may be chosen, from which set, and the weight.

    Tied policies count in all orders with equal weight.
    """
    start = 0
    for _, group in itertools.groupby(places):
        tied = len(list(group))
        rest = policies[start + tied :]
        for size in range(tied, 0, -1):
            for left in itertools.combinations(policies[start : start + tied], size):
                members = tuple(sorted([*left, *rest]))
                if members[0] != members[-1]:
                    yield left, members, 1.0 / math.comb(tied, size)
        start += tied


def _most_likely(sets: Floats, weights: Floats, won: Floats, start: Floats) -> Floats:
    """The log strengths of the highest likelihood, with mean 0.

    Args:
        sets: (M, N), seats of each policy in each set.
        weights: (M,), how often a policy was chosen from each set.
        won: (N,), how often each policy was chosen.
        start: (N,), the first guess.
    """
    from scipy import optimize  # a quarter of a second

    weights, won = weights / weights.sum(), won / weights.sum()

    def chances(logs: Floats) -> Floats:
        strength = sets * np.exp(logs)
        return strength / strength.sum(axis=1, keepdims=True)

    # The likelihood does not depend on the mean of the logs: minus half its square makes the
    # maximum, the root of the gradient, unique.
    def gradient(logs: Floats) -> Floats:
        return weights @ chances(logs) - won + logs.mean() / len(logs)

    def hessian(logs: Floats) -> Floats:
        chance = chances(logs)
        return np.diag(weights @ chance) - (chance.T * weights) @ chance + len(logs) ** -2.0

    found = optimize.root(gradient, start, jac=hessian, tol=_TOLERANCE).x
    return np.asarray(found - found.mean())


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


# --- cross table


@dataclass(frozen=True)
class CrossTable:
    """Shares of games in which one policy ends before another, at the tables where both sit.

    Attributes:
        names: The names of N policies.
        share: (N, N) float64, the share of games in which the policy of the row ended before that
            of the column. A tie counts half; NaN if the two never met.
        games: (N, N) int64, how often the two met.
    """

    names: tuple[str, ...]
    share: NDArray[np.float64]
    games: NDArray[np.int64]

    def sorted(self, names: Sequence[str]) -> CrossTable:
        """The same table with the policies in the given order."""
        order = [self.names.index(name) for name in names]
        return CrossTable(
            tuple(names), self.share[np.ix_(order, order)], self.games[np.ix_(order, order)]
        )

    def table(self) -> TextTable:
        """The table in percent, for the terminal.

        A column has the number of the row of the same policy.
        """
        from monopoly_env.cli.terminal import TextTable

        table = TextTable(title="Who ends before whom, in percent", caption=self._met())
        table.add_column("", justify="right")
        table.add_column("policy")
        for number in range(1, len(self.names) + 1):
            table.add_column(str(number), justify="right", no_wrap=True)
        for number, (name, row) in enumerate(zip(self.names, self.share, strict=True), 1):
            cells = ("" if np.isnan(share) else f"{share:.1%}"[:-1] for share in row)
            table.add_row(str(number), name, *cells)
        return table

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw a heat map with the percentage in each square.

        Args:
            axes: The axes to draw into; new ones by default.
        """
        axes = axes or new_axes(*self.size)
        texts = [[f"{100 * share:.0f}" for share in row] for row in self.share]
        heat_map(axes, self.names, self.names, self.share, texts, "RdBu")
        axes.set_title(
            f"How often the row ends before the column, in percent\n{self._met()}", fontsize=10
        )
        return axes

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the picture, in inches."""
        side = 2.5 + 0.55 * len(self.names)
        return side + 1.0, side

    def to_json(self) -> dict[str, Any]:
        """The table as JSON values; None where two policies never met."""
        shares = [[_finite(share) for share in row] for row in self.share]
        return {"names": list(self.names), "share": shares, "games": self.games.tolist()}

    def _met(self) -> str:
        met = self.games[~np.isnan(self.share)]
        if not met.size:
            return "no games"
        fewest, most = int(met.min()), int(met.max())
        return (
            f"{fewest:,} games a pair" if fewest == most else f"{fewest:,} to {most:,} games a pair"
        )


def cross_table(results: PlayedGames) -> CrossTable:
    """Count how often each policy ends before each other."""
    seats, place, count = results.seats.astype(np.int64), results.place, len(results.names)
    ahead, met = np.zeros(count * count), np.zeros(count * count, np.int64)
    for one, other in itertools.permutations(range(seats.shape[1]), 2):
        pair = seats[:, one] * count + seats[:, other]
        won = (place[:, one] < place[:, other]) + 0.5 * (place[:, one] == place[:, other])
        ahead += np.bincount(pair, won, count * count)
        met += np.bincount(pair, minlength=count * count)
    games = met.reshape(count, count)
    np.fill_diagonal(games, 0)  # a policy against itself
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(games > 0, ahead.reshape(count, count) / games, np.nan)
    return CrossTable(results.names, share, games)


# --- ladder


@dataclass(frozen=True)
class Ladder:
    """Policies in the order of their wins, with strengths and a cross table.

    Attributes:
        results: All games.
    """

    results: Results

    @cached_property
    def strengths(self) -> Strengths | None:
        """Plackett-Luce strengths; None for a single policy."""
        return strengths(self.results) if len(self.results.names) > 1 else None

    @cached_property
    def cross_table(self) -> CrossTable:
        """The cross table in the order of the ladder."""
        return cross_table(self.results).sorted([row["name"] for row in self.rows])

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the results, most wins first, with `rank` and the strengths of each."""
        known = {row["name"]: row for row in self.strengths.rows()} if self.strengths else {}
        wanted = ("points", "points_low", "points_high", "against_average")
        return [
            row | {"rank": rank} | {key: known[row["name"]][key] for key in wanted if known}
            for rank, row in enumerate(self.results.rows(), 1)
        ]

    def summary(self) -> dict[str, Any]:
        """The summary of the results, with the ladder as `players`, and `cross_table`."""
        crossed = self.cross_table.to_json()
        return self.results.summary() | {"players": self.rows, "cross_table": crossed}

    def table(self) -> TextTable:
        """The rows as a rich table."""
        return main_table(self.summary(), self.results.seconds)


# --- running ratings


@dataclass
class Rating:
    """The rating of one policy: a normal distribution over its skill.

    Attributes:
        mu: The mean.
        sigma: The standard deviation.
        games: The number of games that it is based on.
    """

    mu: float
    sigma: float
    games: int = 0

    @property
    def ordinal(self) -> float:
        """A conservative estimate of the skill: mu minus three sigma."""
        return self.mu - 3.0 * self.sigma


@dataclass
class Ratings:
    """Ratings by openskill's Plackett-Luce model, updated by new results and kept in a JSON file.

    Attributes:
        players: The ratings, by name of the policy.
        counted: Digests of the results counted so far, so that the same results are not counted
            twice.
    """

    players: dict[str, Rating] = field(default_factory=dict)
    counted: list[str] = field(default_factory=list)

    def update(self, results: PlayedGames) -> bool:
        """Update the ratings by games, in a random order drawn from the seed of the results.

        A policy in several seats gets the mean of the updated ratings of these seats.

        Args:
            results: The games; policies are identified by their names.

        Returns:
            True if the games were counted, False if they had been counted before.
        """
        digest = _digest(results)
        if digest in self.counted:
            return False
        model = _openskill()
        for name in results.names:
            fresh = model.rating()
            self.players.setdefault(name, Rating(fresh.mu, fresh.sigma))
        order = np.random.Generator(np.random.Philox(results.seed)).permutation(results.games)
        for game in order:
            names = [results.names[policy] for policy in results.seats[game]]
            self._rate(model, names, results.place[game].tolist())
        self.counted.append(digest)
        return True

    def _rate(self, model: Any, names: Sequence[str], place: Sequence[int]) -> None:
        """Update the ratings of the policies at a table by one game."""
        teams = [[model.rating(self.players[name].mu, self.players[name].sigma)] for name in names]
        moved = defaultdict(list)
        for name, (new,) in zip(names, model.rate(teams, ranks=[*map(float, place)]), strict=True):
            moved[name].append(new)
        for name, seats in moved.items():
            rating = self.players[name]
            rating.mu = sum(seat.mu for seat in seats) / len(seats)
            rating.sigma = sum(seat.sigma for seat in seats) / len(seats)
            rating.games += 1

    def rows(self) -> list[dict[str, Any]]:
        """One row per policy, the highest `mu` first: `name`, `mu`, `sigma`, `ordinal`, `games`."""
        rows = [
            {"name": name, "mu": r.mu, "sigma": r.sigma, "ordinal": r.ordinal, "games": r.games}
            for name, r in self.players.items()
        ]
        return sorted(rows, key=lambda row: (-row["mu"], row["name"]))

    def save(self, path: str | Path) -> None:
        """Write the ratings to a JSON file, atomically.

        Raises:
            ConfigurationError: The file cannot be written.
        """
        players = {name: asdict(rating) for name, rating in self.players.items()}
        written = {**_versions(), "players": players, "counted": self.counted}
        write_atomically(path, (json.dumps(written, indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> Ratings:
        """Load ratings that `save` wrote.

        Raises:
            FormatError: The file is missing, corrupt, or of another kind or version.
        """
        written = read_json(read_saved(path, _MOST_BYTES, "holds no ratings"))
        with understood(path, "holds no ratings"):
            if differences := differing(written, _versions()):
                raise FormatError(f"{str(path)!r} does not match this version: {differences}.")
            players = {
                str(name): Rating(float(r["mu"]), float(r["sigma"]), int(r["games"]))
                for name, r in written["players"].items()
            }
            if not all(math.isfinite(r.mu) and 0 < r.sigma < math.inf for r in players.values()):
                raise ValueError("a rating is not a finite number")
            return cls(players, [str(digest) for digest in written["counted"]])


def _openskill() -> Any:
    with extra("results"):
        from openskill.models import PlackettLuce

    return PlackettLuce()


def _versions() -> dict[str, Any]:
    """The versions and scales that give the numbers of a file their meaning."""
    model = _openskill()
    scale = {name: getattr(model, name) for name in ("mu", "sigma", "beta", "tau")}
    about = {"format": FORMAT, "format_version": FORMAT_VERSION}
    return about | {"model": "PlackettLuce", "scale": scale}


def _digest(results: PlayedGames) -> str:
    """A hash of the policies, the rules and the ranks of all games."""
    about = [list(results.names), results.rules, results.seed, results.turn_limit]
    hashed = hashlib.sha256(json.dumps(about).encode())
    for array in (results.seats, results.place):
        hashed.update(np.ascontiguousarray(array, np.int64).tobytes())
    return hashed.hexdigest()[:16]
