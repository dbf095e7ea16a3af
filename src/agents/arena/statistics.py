"""Statistics of results: win rates with intervals, paired differences, luck, lengths and trades.

Games of one seed share its dice, so they are not independent: intervals use the variance between
seeds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import special  # its statistics take half a second to import

from agents.arena.counting import STATISTICS
from agents.arena.games import PlayedGames
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.intervals import (
    CONFIDENCE,
    clustered,
    half_width,
    per_seed,
    standard_error,
    wilson,
)

Floats = NDArray[np.float64]

MANY_MOVES: Final = 3  # trades of one lot in a game; more are rare between reasonable traders
_PERCENTILES: Final = (10, 50, 90)
_NOTHING: Final = 1e-12  # a standard error of rounding only
# Largest multiple of the luck, for values that move half as much as they should: few games fit any
_MOST_LUCK: Final = 2.0


# --- all games


def summary(results: PlayedGames) -> dict[str, Any]:
    """The `rows` (as `players`) and statistics of all games in one JSON object."""
    found: dict[str, Any] = {"players": rows(results)}
    if results.luck is not None:
        found |= {"adjusted_by": results.value, "coefficients": list(coefficients(results))}
    spent = {
        name: costs for name, costs in zip(results.names, results.costs, strict=False) if costs
    }
    if spent:
        found["costs"] = spent
    return found | {
        "rules": results.rules,
        "seed": results.seed,
        "games": results.games,
        "turn_limit": results.turn_limit,
        "confidence": CONFIDENCE,
        "decisions": results.decisions,
        "capped_share": float(results.capped.mean()),
        "turns": lengths(results),
        "trades": trades(results),
        "win_rate_by_order": seat_effect(results, "order").tolist(),
        "win_rate_by_seat": seat_effect(results, "seat").tolist(),
    }


def seat_effect(results: PlayedGames, by: str = "order") -> Floats:
    """(P,) float64, the share of games won from each seat by any policy.

    Args:
        results: The games.
        by: "order" for the order of play (the player who moves first comes first), or "seat" for
            the seat number.

    Examples:
        >>> import agents
        >>> from agents.arena import statistics
        >>> same = agents.arena.play(["random"] * 2, games=40, seed=0)
        >>> float(statistics.seat_effect(same).sum())
        1.0

    Raises:
        ConfigurationError: `by` is neither of these.
    """
    if by not in ("order", "seat"):
        raise ConfigurationError(f"A seat effect is by 'order' or by 'seat', not by {by!r}.")
    wins = results.wins
    if by == "order":
        order = (results.first[:, None] + np.arange(wins.shape[1])) % wins.shape[1]
        wins = np.take_along_axis(wins, order, axis=1)
    return np.asarray(wins.mean(axis=0))


def lengths(results: PlayedGames) -> dict[str, float]:
    """The mean and some percentiles of the game length, in turns counted over all players.

    Examples:
        >>> import agents
        >>> from agents.arena import statistics
        >>> results = agents.arena.play(["expert", "random"], games=40, seed=0)
        >>> sorted(statistics.lengths(results))
        ['mean', 'p10', 'p50', 'p90']
    """
    return _distribution(results.turns)


def trades(results: PlayedGames) -> dict[str, float]:
    """Statistics of trades.

    Returns:
        `mean` and percentiles of the number of trades per game; `games_with`, the share of games
        with at least one trade; `most_moves`, the maximum of trades of one lot in a game;
        `games_with_many_moves`, the share of games with a lot traded more than three times.

    Examples:
        >>> import agents
        >>> from agents.arena import statistics
        >>> results = agents.arena.play(["expert", "random"], games=40, seed=0)
        >>> sorted(statistics.trades(results))
        ['games_with', 'games_with_many_moves', 'mean', 'most_moves', 'p10', 'p50', 'p90']
    """
    made, moves = results.game_counts["trades"], results.game_counts["lot_moves"]
    return _distribution(made) | {
        "games_with": float((made > 0).mean()),
        "most_moves": int(moves.max()),
        "games_with_many_moves": float((moves > MANY_MOVES).mean()),
    }


def _distribution(values: NDArray[Any]) -> dict[str, float]:
    percentiles = {f"p{p}": float(np.percentile(values, p)) for p in _PERCENTILES}
    return {"mean": float(values.mean())} | percentiles


# --- each policy


def rows(results: PlayedGames) -> list[dict[str, Any]]:
    """One row per policy, sorted by win rate.

    Returns:
        Dictionaries with these keys: `name`; `games` of the policy; `wins` (a draw counts as a
        fraction, two seats of one policy add up); `win_rate` = wins / games; `low` and `high`,
        Wilson's 95% interval; `paired_low` and `paired_high`, the 95% interval from the variance
        between seeds, which is narrower where permuting the seats cancels the luck of the dice;
        `mean_place`; `win_rate_by_order`, the share of its seats that won, by order of play;
        `capped_share` of its games; `turns`, the mean length of its games; then the mean per seat
        of every column of `agents.arena.counting.STATISTICS`. If luck was measured, also
        `adjusted_rate`, `adjusted_low` and `adjusted_high`, the luck-adjusted win rate with its 95%
        interval from the variance between seeds, and `variance_removed`, the share of the variance
        of `win_rate` that adjusting removes; negative if it adds noise.

    Examples:
        >>> import agents
        >>> from agents.arena import statistics
        >>> results = agents.arena.play(["expert", "random"], games=40, seed=0)
        >>> [row["name"] for row in statistics.rows(results)]
        ['expert', 'random']
    """
    wins = results.wins
    adjusted = None if results.luck is None else adjusted_wins(results)
    means = _means(results)
    found = []
    for number in range(len(results.names)):
        row = _row(results, number, wins)
        row |= {column: float(mean[number]) for column, mean in means.items()}
        row |= {} if adjusted is None else _adjusted_row(results, number, wins, adjusted)
        found.append(row)
    return sorted(found, key=lambda row: -row["win_rate"])


def _row(results: PlayedGames, policy: int, wins: Floats) -> dict[str, Any]:
    mine = results.seats == policy
    played = mine.any(axis=1)
    won = (wins * mine).sum(axis=1)[played]
    games, total = len(won), float(won.sum())
    low, high = wilson(total, games)
    paired_low, paired_high = clustered(won, results.seeds[played])
    order = (np.arange(mine.shape[1]) - results.first[:, None]) % mine.shape[1]
    by_order = [_mean(wins[mine & (order == place)]) for place in range(mine.shape[1])]
    return {
        "name": results.names[policy], "games": games, "wins": total, "win_rate": total / games,
        "low": low, "high": high, "paired_low": paired_low, "paired_high": paired_high,
        "mean_place": _mean(results.place[mine]), "win_rate_by_order": by_order,
        "capped_share": _mean(results.capped[played]), "turns": _mean(results.turns[played]),
    }  # fmt: skip


def _mean(values: NDArray[Any]) -> float | None:
    return float(values.mean()) if values.size else None


def _means(results: PlayedGames) -> dict[str, Floats]:
    """The mean per seat of every statistic, by policy."""
    policy = results.seats.ravel()
    seats = np.bincount(policy, minlength=len(results.names))
    means = {}
    for statistic in STATISTICS:
        values = results.seat_counts[statistic.name].reshape(len(policy), -1)
        for column, part in zip(statistic.columns, values.T, strict=True):
            means[column] = np.bincount(policy, part, len(results.names)) / seats
    return means


# --- two policies


@dataclass(frozen=True)
class Difference:
    """The difference of two policies' win rates over the same seeds.

    Attributes:
        first: The name of a policy.
        second: The name of the policy that it is compared with.
        rates: The mean share of the win per seat, of each of the two.
        difference: The first rate minus the second.
        low: Lower bound of its confidence interval.
        high: Upper bound of its confidence interval.
        p_value: Two-sided p-value of the hypothesis that there is no difference.
        seeds: The number of seeds.
        confidence: The confidence level of the interval.
        results: The games, an `agents.arena.results.Results`, or None.
    """

    first: str
    second: str
    rates: tuple[float, float]
    difference: float
    low: float
    high: float
    p_value: float
    seeds: int
    confidence: float = CONFIDENCE
    results: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        """All numbers in one line."""
        rates = f"{self.first} {self.rates[0]:.1%}, {self.second} {self.rates[1]:.1%} a seat"
        interval = f"{self.confidence:.0%} interval {self.low:+.1%} to {self.high:+.1%}"
        return (
            f"{rates}: difference {self.difference:+.1%}, {interval}, p = {self.p_value:.2g}"
            f" ({self.seeds:,} seeds)"
        )


def difference(results: PlayedGames, first: str, second: str, adjusted: bool = False) -> Difference:
    """See `Results.difference`."""
    for name in (first, second):
        if name not in results.names:
            raise ConfigurationError(
                f"No policy {name!r} played these games. {nearest(name, results.names)}"
            )
    if first == second:
        raise ConfigurationError(f"Give the names of two different policies, not {first!r} twice.")
    wins = adjusted_wins(results) if adjusted else results.wins
    _, seed = np.unique(results.seeds, return_inverse=True)
    masks = [results.seats == results.names.index(name) for name in (first, second)]
    won = [np.bincount(seed, (wins * mask).sum(axis=1)) for mask in masks]
    seats = [np.bincount(seed, mask.sum(axis=1)) for mask in masks]
    return paired_difference(first, second, (won[0], won[1]), (seats[0], seats[1]))


def paired_difference(
    first: str,
    second: str,
    won: tuple[NDArray[Any], NDArray[Any]],
    seats: tuple[NDArray[Any], NDArray[Any]],
) -> Difference:
    """The difference of two win rates over the same S seeds, with an interval.

    The interval comes from the variance of the difference between seeds (Student's t).

    Args:
        first: The name of a policy.
        second: The name of another policy.
        won: For each of the two, (S,) wins with each seed.
        seats: For each of the two, (S,) seats taken with each seed.

    Returns:
        The difference. If all seeds give the same difference, the variance is 0, and the interval
        is widened like Wilson's interval of S won games. The p-value is never below that of a sign
        test, 2 ** (1 - S). With one seed, the interval is unbounded.
    """
    seeds = len(won[0])
    rates = (float(won[0].sum() / seats[0].sum()), float(won[1].sum() / seats[1].sum()))
    more = rates[0] - rates[1]
    if seeds < 2:
        return Difference(first, second, rates, more, -1.0, 1.0, 1.0, seeds)
    one, other = ((w - rate * s) / s.sum() for w, s, rate in zip(won, seats, rates, strict=True))
    error = standard_error(one - other)
    if more != 0 and error < _NOTHING:
        least = more * (2 * wilson(seeds, seeds)[0] - 1)
        low, high = min(least, more), max(least, more)
    else:
        half = half_width(one - other)
        low, high = max(-1.0, more - half), min(1.0, more + half)
    p_value = 2.0 ** (1 - seeds)
    if more == 0:
        p_value = 1.0
    elif error >= _NOTHING:
        p_value = max(p_value, 2 * float(special.stdtr(seeds - 1, -abs(more) / error)))
    return Difference(first, second, rates, more, low, high, p_value, seeds)


# --- luck


def clustered_error(won: NDArray[Any], seeds: NDArray[Any]) -> float:
    """The standard error of a win rate over games that may share seeds; 0 for a single seed."""
    sums, sizes = per_seed(won, seeds)
    return standard_error((sums - won.mean() * sizes) / sizes.sum()) if len(sums) > 1 else 0.0


def adjusted_wins(results: PlayedGames) -> Floats:
    """(G, P) float64, the share of the win of each seat minus a multiple of its luck.

    It has the mean of `wins` and less variance. The multiple is independent of the luck, which has
    mean zero: for even seeds it is fitted to the odd ones (least squares), and vice versa. So no
    mean changes, even with a bad value function.

    Examples:
        >>> import agents
        >>> from agents.arena import statistics
        >>> results = agents.arena.play(["expert", "algorithmic"], games=40, adjust="value")
        >>> bool(statistics.adjusted_wins(results).var() < results.wins.var())
        True

    Raises:
        ConfigurationError: No luck was measured.
    """
    parity = (results.seeds % np.uint64(2)).astype(np.intp)
    return np.asarray(
        results.wins - np.array(coefficients(results))[parity, None] * _measured_luck(results)
    )


def coefficients(results: PlayedGames) -> tuple[float, float]:
    """The multiples of the luck that are subtracted from the results of even and of odd seeds.

    Raises:
        ConfigurationError: No luck was measured.
    """
    seats = [results.seats == policy for policy in range(len(results.names))]
    shares = np.array(
        [
            [per_seed((values * mine).sum(axis=1), results.seeds)[0] for mine in seats]
            for values in (results.wins, _measured_luck(results))
        ]
    )
    odd = np.unique(results.seeds) % np.uint64(2) == 1
    return control_coefficient(*shares[:, :, odd]), control_coefficient(*shares[:, :, ~odd])


def control_coefficient(won: Floats, luck: Floats) -> float:
    """The multiple of the luck, 0 to `_MOST_LUCK`, whose subtraction minimizes the variance.

    Args:
        won: (K, S), the wins of each of K policies with each seed.
        luck: (K, S), their luck; its mean is zero.
    """
    if won.shape[1] < 2:
        return 0.0
    known = float((luck**2).sum())
    together = float(((won - won.mean(axis=1, keepdims=True)) * luck).sum())
    return min(max(together / known, 0.0), _MOST_LUCK) if known > 0 else 0.0


def _measured_luck(results: PlayedGames) -> Floats:
    if results.luck is None:
        raise ConfigurationError(
            "The luck of these games was not measured: play them with adjust='value'."
        )
    return results.luck


def _adjusted_row(
    results: PlayedGames, policy: int, wins: Floats, adjusted: Floats
) -> dict[str, float]:
    mine = results.seats == policy
    played = mine.any(axis=1)
    plain, without_luck = ((shares * mine).sum(axis=1)[played] for shares in (wins, adjusted))
    seeds = results.seeds[played]
    low, high = clustered(without_luck, seeds)
    before, after = clustered_error(plain, seeds), clustered_error(without_luck, seeds)
    return {
        "adjusted_rate": float(without_luck.mean()), "adjusted_low": low, "adjusted_high": high,
        "variance_removed": 1 - (after / before) ** 2 if before > 0 else 0.0,
    }  # fmt: skip
