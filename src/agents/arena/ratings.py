"""The strength of policies, from their ranks at many tables.

Plackett-Luce strengths, a cross table, and running ratings.

`strengths` fits one number per policy to all games at once (Plackett, Applied Statistics 24, 1975;
Luce, 1959): at a table, the probability that a policy comes first is its strength divided by the
sum of all strengths, and so on among the rest. For tables of two this is the model behind Elo
ratings. `cross_table` counts who ends before whom. `Ratings` are updated by each new result and
kept in a file.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from agents.arena.pictures import heat_map
from monopoly_env.errors import ConfigurationError, FormatError, shortened
from monopoly_env.extras import extra
from monopoly_env.files import read_file, read_json, write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from agents.arena.results import Results
    from monopoly_env.terminal import Table

POINTS: Final = 400.0  # points that stand for ten times the strength, as in chess
REPLICATES: Final = 400  # a percentile of 2.5% then rests on ten of them
FORMAT: Final = "monopoly-ratings"
FORMAT_VERSION: Final = 1
_MOST_BYTES: Final = 1 << 25  # of a file
_CONFIDENCE: Final = 0.95
# pseudo-games: each policy gets half a win and half a loss, which keeps strengths finite
_PRIOR: Final = 0.5
# Smallest weight drawn: keeps the arithmetic away from zero without moving any percentile in use
_LEAST: Final = 1e-9
_TOLERANCE: Final = 1e-9  # largest change of a log strength at which the iteration stops
_ITERATIONS: Final = 10_000
_BATCH: Final = 16  # bootstrap replicates whose weights are drawn at once

# The policy that came first, and the set it was in (sorted, itself included)
Choice = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class Strengths:
    """Plackett-Luce strengths of N policies.

    Attributes:
        names: The names of the policies.
        points: (N,) float64, 400 times the decimal logarithm of the strength: a lead of 400 points
            means ten wins for each loss. 0 is the mean of the middle half of the field (of the
            whole field if it has fewer than four policies). The extremes are left out because a
            policy that never wins may have any low strength, which would widen the intervals of all
            others.
        low: (N,) float64, lower bound of the 95% interval; minus infinity if all games are of one
            unit, when the spread is unknown.
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
        """(N,) float64, the probability to win a two-player game against a policy with 0 points."""
        return 1.0 / (1.0 + 10.0 ** (-self.points / POINTS))

    def rows(self) -> list[dict[str, Any]]:
        """One row per policy, the strongest first.

        Returns:
            Dictionaries with `rank`, `name`, `games`, `points`, `points_low`, `points_high` (None
            if the spread is unknown) and `against_average`.
        """
        order = sorted(range(len(self.names)), key=lambda i: (-self.points[i], self.names[i]))
        chance = self.against_average
        return [
            {
                "rank": rank, "name": self.names[i], "games": int(self.games[i]),
                "points": float(self.points[i]),
                "points_low": _finite(self.low[i]), "points_high": _finite(self.high[i]),
                "against_average": float(chance[i]),
            }
            for rank, i in enumerate(order, 1)
        ]  # fmt: skip


def strengths(
    names: Sequence[str],
    seats: ArrayLike,
    place: ArrayLike,
    unit: ArrayLike,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Strengths:
    """Fit Plackett-Luce strengths to the ranks of all games.

    Ties are split: k policies with the same rank count as all k! orders among them, each with
    weight 1 / k!. Each policy also gets half a win and half a loss as pseudo-games, spread evenly
    over all others, so that a policy that won every game still has a finite strength. A policy in
    several seats of a table counts as several players of equal strength.

    The interval comes from the Bayesian bootstrap (Rubin, Annals of Statistics 9, 1981) over units:
    all games of a unit get the same exponential weight, and the pseudo-games get gamma weights. For
    independent games of two policies this is Jeffreys' interval, which has the right coverage even
    where one of them won every game.

    Args:
        names: The names of N policies.
        seats: (G, P) int, the policy in each seat.
        place: (G, P) int, final ranks; 1 is the winner.
        unit: (G,) int; games of one unit share a seed.
        replicates: The number of bootstrap replicates.
        seed: The seed of the bootstrap weights; the same arguments give the same interval.

    Raises:
        ConfigurationError: The shapes or values of the arguments do not fit together.
    """
    seats_, place_, unit_ = _checked(names, seats, place, unit)
    kinds, counts = _count_choices(seats_, place_, unit_)
    model = _Model(len(names), kinds)
    total = np.asarray(counts.sum(axis=0)).ravel()
    prior = _PRIOR / (len(names) - 1)
    best = model.fit(total, np.full(model.pairs, prior))
    generator = np.random.Generator(np.random.Philox(seed))
    drawn: list[NDArray[np.float64]] = []
    for first in range(0, replicates, _BATCH):
        batch = min(_BATCH, replicates - first)
        weighted = np.asarray(generator.standard_exponential((batch, counts.shape[0])) @ counts)
        priors = np.maximum(generator.standard_gamma(prior, (batch, model.pairs)), _LEAST)
        drawn += [model.fit(*row, best) for row in zip(weighted, priors, strict=True)]
    middle = np.argsort(best)[len(names) // 4 : len(names) - len(names) // 4]
    scale = POINTS / math.log(10.0)
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    if counts.shape[0] > 1 and replicates > 1:
        spread = np.array(drawn) - np.mean(np.array(drawn)[:, middle], axis=1, keepdims=True)
        low, high = scale * np.quantile(
            spread, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2], axis=0
        )
    games = np.array(
        [(seats_ == policy).any(axis=1).sum() for policy in range(len(names))], np.int64
    )
    return Strengths(tuple(names), scale * (best - best[middle].mean()), low, high, games)


def _checked(
    names: Sequence[str], seats: ArrayLike, place: ArrayLike, unit: ArrayLike
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The arguments of `strengths` as arrays.

    Raises:
        ConfigurationError: Their shapes or values do not fit together.
    """
    seats_, place_, unit_ = np.asarray(seats), np.asarray(place), np.asarray(unit)
    if len(names) < 2:
        raise ConfigurationError(
            f"Strengths compare two or more policies; {len(names)} were given."
        )
    if (
        seats_.ndim != 2
        or seats_.shape != place_.shape
        or unit_.shape != seats_.shape[:1]
        or not len(seats_)
    ):
        raise ConfigurationError(
            "Give seats (G, P), places (G, P) and units (G,) of one or more games, not"
            f" {seats_.shape}, {place_.shape}, {unit_.shape}."
        )
    if seats_.min() < 0 or seats_.max() >= len(names) or place_.min() < 1:
        raise ConfigurationError(
            f"Seats must be numbers of the {len(names)} policies, from 0, and places ranks, from 1."
        )
    return seats_, place_, unit_


def _count_choices(
    seats: NDArray[Any], place: NDArray[Any], unit: NDArray[Any]
) -> tuple[list[Choice], Any]:
    """Ranks as successive choices.

    They say which policy came first among all, which among the rest, and so on.

    Returns:
        The K different choices, and a sparse (U, K) matrix of how often each occurred in each unit.
    """
    order = np.argsort(place, axis=1, kind="stable")
    outcome = np.concatenate(
        [np.take_along_axis(seats, order, 1), np.take_along_axis(place, order, 1)], axis=1
    )
    outcomes, kind = np.unique(outcome, axis=0, return_inverse=True)
    _, number = np.unique(unit, return_inverse=True)
    met = sparse.csr_array((np.ones(len(kind)), (number, kind.ravel())))
    index: dict[Choice, int] = {}
    rows, columns, weights = [], [], []
    for row, ranked in enumerate(outcomes.tolist()):
        for choice, weight in _choices(ranked[: seats.shape[1]], ranked[seats.shape[1] :]):
            rows.append(row)
            columns.append(index.setdefault(choice, len(index)))
            weights.append(weight)
    shape = (len(outcomes), max(1, len(index)))  # a policy against itself gives no choices
    return list(index), met @ sparse.csr_array((weights, (rows, columns)), shape=shape)


def _choices(policies: list[int], places: list[int]) -> Iterable[tuple[Choice, float]]:
    """The choices that make up a ranking, with their weights.

    Tied policies count in all orders with equal weight.
    """
    start = 0
    for _, group in itertools.groupby(places):
        tied = len(list(group))
        rest = policies[start + tied :]
        for size in range(tied, 0, -1):
            weight = 1.0 / (math.comb(tied, size) * size)
            for left in itertools.combinations(policies[start : start + tied], size):
                members = tuple(sorted([*left, *rest]))
                if members[0] != members[-1]:
                    yield from (((winner, members), weight) for winner in left)
        start += tied


class _Model:
    """Iterated Luce spectral ranking (Maystre and Grossglauser, NeurIPS 2015) on counted choices.

    A step of `choix.lsr_pairwise_dense` takes a matrix of wins and builds a Markov chain that moves
    from j to i at the rate wins / (w_i + w_j). A choice of i among a set moves from each other
    member j at the rate 1 / (sum of the strengths of the set). For larger tables we pass `choix`
    the number of wins that gives this rate. For tables of two this is `choix.ilsr_pairwise_dense`.
    """

    def __init__(self, count: int, kinds: Sequence[Choice]) -> None:
        self.count = count
        self._pairs = [
            (winner, tuple(sorted((winner, loser))))
            for winner in range(count)
            for loser in range(count)
            if winner != loser
        ]
        self.pairs = len(self._pairs)
        self._kinds = len(kinds)
        choices = [*kinds, *self._pairs]
        rows = np.repeat(np.arange(len(choices)), [len(members) for _, members in choices])
        member = np.array([policy for _, members in choices for policy in members])
        winner = np.array([winner for winner, _ in choices])[rows]
        ones = np.ones(len(rows))
        self._sets = sparse.csr_array((ones, (rows, member)), shape=(len(choices), count))
        self._moves = sparse.csr_array(
            (ones, (winner * count + member, rows)), shape=(count * count, len(choices))
        )

    def fit(
        self,
        made: NDArray[np.float64],
        prior: NDArray[np.float64],
        start: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """The maximum-likelihood log strengths, with mean 0.

        Args:
            made: (K,), how often each choice occurred.
            prior: (pairs,), the pseudo-wins of each policy over each other.
            start: (N,), the first guess; zeros if None.

        Raises:
            ConfigurationError: The iteration does not converge.
        """
        with extra("results"):
            import choix

        made = np.concatenate([made[: self._kinds], prior])
        logs = np.zeros(self.count) if start is None else start
        for _ in range(_ITERATIONS):
            strength = np.exp(logs)
            rates = (self._moves @ (made / (self._sets @ strength))).reshape(self.count, self.count)
            step = choix.lsr_pairwise_dense(
                rates * (strength[:, None] + strength), initial_params=logs
            )
            step -= step.mean()
            if np.abs(step - logs).max() < _TOLERANCE:
                return step
            logs = step
        raise ConfigurationError(
            "The strengths do not converge: too few games connect the policies."
        )


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


# --- cross table


@dataclass(frozen=True)
class CrossTable:
    """How often each policy ends before each other, at the tables where both sit.

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

    def table(self) -> Table:
        """The table in percent, for the terminal.

        A column has the number of the row of the same policy.
        """
        from monopoly_env.terminal import Table

        table = Table(title="Who ends before whom, in percent", caption=self._met())
        table.add_column("", justify="right")
        table.add_column("policy")
        for number in range(1, len(self.names) + 1):
            table.add_column(str(number), justify="right", no_wrap=True)
        for number, (name, row) in enumerate(zip(self.names, self.share, strict=True), 1):
            table.add_row(
                str(number),
                name,
                *("" if np.isnan(share) else f"{share:.1%}"[:-1] for share in row),
            )
        return table

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw a heat map with the percentage in each square.

        Args:
            axes: The axes to draw into; new ones by default.
        """
        if axes is None:
            with extra("results"):
                import matplotlib.pyplot

            side = 2.5 + 0.55 * len(self.names)
            axes = matplotlib.pyplot.subplots(figsize=(side + 1.0, side), layout="constrained")[1]
        texts = [[f"{100 * share:.0f}" for share in row] for row in self.share]
        heat_map(axes, self.names, self.names, self.share, texts, "RdBu")
        axes.set_title(
            f"How often the row ends before the column, in percent\n{self._met()}", fontsize=10
        )
        return axes

    def to_json(self) -> dict[str, Any]:
        """The table as JSON values; None where two policies never met."""
        shares = [
            [None if np.isnan(share) else float(share) for share in row] for row in self.share
        ]
        return {"names": list(self.names), "share": shares, "games": self.games.tolist()}

    def _met(self) -> str:
        met = self.games[~np.isnan(self.share)]
        if not met.size:
            return "no games"
        fewest, most = int(met.min()), int(met.max())
        return (
            f"{fewest:,} games a pair" if fewest == most else f"{fewest:,} to {most:,} games a pair"
        )


def cross_table(names: Sequence[str], seats: ArrayLike, place: ArrayLike) -> CrossTable:
    """Count who ends before whom.

    Args:
        names: The names of N policies.
        seats: (G, P) int, the policy in each seat.
        place: (G, P) int, final ranks.
    """
    seats_, place_ = np.asarray(seats, np.int64), np.asarray(place)
    count = len(names)
    ahead, met = np.zeros(count * count), np.zeros(count * count, np.int64)
    for one, other in itertools.permutations(range(seats_.shape[1]), 2):
        pair = seats_[:, one] * count + seats_[:, other]
        won = (place_[:, one] < place_[:, other]) + 0.5 * (place_[:, one] == place_[:, other])
        ahead += np.bincount(pair, won, count * count)
        met += np.bincount(pair, minlength=count * count)
    games = met.reshape(count, count)
    np.fill_diagonal(games, 0)  # a policy against itself says nothing
    share = np.divide(
        ahead.reshape(count, count), games, out=np.full((count, count), np.nan), where=games > 0
    )
    return CrossTable(tuple(names), share, games)


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

    def update(self, results: Results) -> bool:
        """Update the ratings by the games of an arena, in a random order.

        The order is drawn from the seed of the results.

        A policy that sits in several seats gets the mean of the updated ratings of these seats.

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
        rated = [self.players[name] for name in results.names]
        order = np.random.Generator(np.random.Philox(results.seed)).permutation(results.games)
        for seats, place in zip(
            results.seats[order].tolist(), results.place[order].tolist(), strict=True
        ):
            _rate(model, [rated[policy] for policy in seats], place)
        self.counted.append(digest)
        return True

    def chances(self, names: Sequence[str]) -> list[float]:
        """The probability of each policy to win a game among all of them.

        Raises:
            ConfigurationError: A policy has no rating.
        """
        for name in names:
            if name not in self.players:
                raise ConfigurationError(f"{name!r} has no rating yet.")
        model = _openskill()
        teams = [
            [model.rating(mu=self.players[name].mu, sigma=self.players[name].sigma)]
            for name in names
        ]
        return [float(chance) for chance in model.predict_win(teams)]

    def rows(self) -> list[dict[str, Any]]:
        """One row per policy, the highest `mu` first: `name`, `mu`, `sigma`, `ordinal`, `games`."""
        ranked = sorted(self.players.items(), key=lambda item: (-item[1].mu, item[0]))
        return [
            {
                "name": name,
                "mu": rating.mu,
                "sigma": rating.sigma,
                "ordinal": rating.ordinal,
                "games": rating.games,
            }
            for name, rating in ranked
        ]

    def save(self, path: str | Path) -> None:
        """Write the ratings to a JSON file, atomically.

        Raises:
            ConfigurationError: The file cannot be written.
        """
        players = {
            name: {"mu": r.mu, "sigma": r.sigma, "games": r.games}
            for name, r in self.players.items()
        }
        written = {**_versions(), "players": players, "counted": self.counted}
        write_atomically(path, (json.dumps(written, indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> Ratings:
        """Load ratings that `save` wrote.

        Raises:
            FormatError: The file is missing, corrupt, or of another kind or version.
        """
        try:
            written = read_json(read_file(path, _MOST_BYTES))
            expected = _versions()
            differences = [
                f"{key} is {shortened(written.get(key))}, expected {value!r}"
                for key, value in expected.items()
                if written.get(key) != value
            ]
            if differences:
                raise FormatError(
                    f"{str(path)!r} does not match this version: {'; '.join(differences)}."
                )
            players = {
                str(name): Rating(float(r["mu"]), float(r["sigma"]), int(r["games"]))
                for name, r in written["players"].items()
            }
            if not all(
                math.isfinite(rating.mu) and 0 < rating.sigma < math.inf
                for rating in players.values()
            ):
                raise ValueError("a rating is not a finite number")
            return cls(players, [str(digest) for digest in written["counted"]])
        except FormatError:
            raise
        except Exception as error:  # whatever content leads to
            raise FormatError(f"{str(path)!r} holds no ratings: {error}.") from error


def _openskill() -> Any:
    with extra("results"):
        from openskill.models import PlackettLuce

    return PlackettLuce()


def _versions() -> dict[str, Any]:
    """The versions and scales that a file must have.

    With others, its numbers would mean something else.
    """
    model = _openskill()
    scale = {name: getattr(model, name) for name in ("mu", "sigma", "beta", "tau")}
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "model": "PlackettLuce",
        "scale": scale,
    }


def _rate(model: Any, rated: Sequence[Rating], place: Sequence[int]) -> None:
    """Update the ratings of the policies at a table by one game."""
    teams = [[model.rating(mu=rating.mu, sigma=rating.sigma)] for rating in rated]
    moved = [team[0] for team in model.rate(teams, ranks=[float(rank) for rank in place])]
    if len({id(rating) for rating in rated}) == len(rated):
        groups = [(rating, [new]) for rating, new in zip(rated, moved, strict=True)]
    else:
        one_of_each = {id(rating): rating for rating in rated}
        groups = [
            (one, [new for rating, new in zip(rated, moved, strict=True) if rating is one])
            for one in one_of_each.values()
        ]
    for rating, new in groups:
        rating.mu = sum(seat.mu for seat in new) / len(new)
        rating.sigma = sum(seat.sigma for seat in new) / len(new)
        rating.games += 1


def _digest(results: Results) -> str:
    """A hash of the policies, the rules and the ranks of all games."""
    about = [list(results.names), results.rules, results.seed, results.turn_limit]
    hashed = hashlib.sha256(json.dumps(about).encode())
    for array in (results.seats, results.place):
        hashed.update(np.ascontiguousarray(array, np.int64).tobytes())
    return hashed.hexdigest()[:16]
