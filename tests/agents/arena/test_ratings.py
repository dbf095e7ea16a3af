"""Strengths, ratings that go on, and the cross table.

Strengths are held against another program, and against known strengths and intervals.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import choix
import matplotlib as mpl
import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console
from scipy import stats

import monopoly_env as me
from agents import arena
from agents.arena import ratings
from agents.arena.ratings import Ratings, cross_table, strengths

mpl.use("Agg")

Games = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
PER_LOG = 400 / math.log(10)


def simulated(
    logs: NDArray[np.float64], games: int, players: int, units: int = 500, seed: int = 0
) -> Games:
    """Games between policies of known strengths: (seats, place, unit)."""
    generator = np.random.default_rng(seed)
    seats = np.argsort(generator.random((games, len(logs))), axis=1)[:, :players]
    score = logs[seats] + generator.gumbel(size=seats.shape)
    return (
        seats,
        np.argsort(np.argsort(-score, axis=1), axis=1) + 1,
        generator.integers(0, units, games),
    )


def duels(wins: int, losses: int) -> Games:
    """Games of policy 0 against policy 1, each of its own unit."""
    games = wins + losses
    return (
        np.tile([0, 1], (games, 1)),
        np.array([[1, 2]] * wins + [[2, 1]] * losses),
        np.arange(games),
    )


def letters(count: int) -> tuple[str, ...]:
    return tuple("abcdefghijklmnop"[:count])


def test_tables_of_two_agree_with_choix() -> None:
    seats, place, unit = simulated(np.array([1.0, 0.3, 0.0, -0.4, -0.9]), 2000, 2)
    wins = np.full((5, 5), 0.5 / 4)
    winner, loser = np.take_along_axis(seats, np.argsort(place, axis=1), 1).T
    np.add.at(wins, (winner, loser), 1.0)
    expected = choix.ilsr_pairwise_dense(wins)
    points = strengths(letters(5), seats, place, unit, replicates=0).points
    assert points - points.mean() == pytest.approx(PER_LOG * expected, abs=1e-4)
    assert np.sort(points)[1:4].mean() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("players", [3, 4, 6])
def test_larger_tables_agree_with_choix(players: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "_PRIOR", 1e-12)
    seats, place, unit = simulated(np.linspace(-1, 1, 7), 400, players)
    expected = choix.ilsr_rankings(
        7, np.take_along_axis(seats, np.argsort(place, axis=1), 1).tolist()
    )
    points = strengths(letters(7), seats, place, unit, replicates=0).points
    assert points - points.mean() == pytest.approx(PER_LOG * expected, abs=1e-3)


@pytest.mark.parametrize(
    "places", [(1, 1), (1, 1, 3), (1, 2, 2, 2), (1, 1, 1, 4, 4), (1, 1, 1, 1, 1, 1)]
)
def test_ties_are_all_orders_alike(places: tuple[int, ...]) -> None:
    policies = list(range(len(places)))[::-1]
    groups = [
        [policy for policy, place in zip(policies, places, strict=True) if place == rank]
        for rank in sorted(set(places))
    ]
    orders = [
        sum(order, ())
        for order in itertools.product(*(itertools.permutations(group) for group in groups))
    ]
    expected: dict[Any, float] = defaultdict(float)
    for order in orders:
        for first in range(len(order) - 1):
            expected[order[first], tuple(sorted(order[first:]))] += 1 / len(orders)
    given: dict[Any, float] = defaultdict(float)
    for choice, weight in ratings._choices(policies, list(places)):
        given[choice] += weight
    assert given == pytest.approx(expected)


def test_draws_only_make_equals() -> None:
    seats = np.array([[0, 1, 2], [2, 0, 1]])
    assert strengths(letters(3), seats, np.ones((2, 3), int), [0, 1]).points == pytest.approx(
        [0, 0, 0], abs=1e-6
    )


def test_known_strengths_are_found_and_their_intervals_hold_them() -> None:
    logs = np.linspace(-1.5, 1.5, 8)
    inside = 0
    for seed in range(10):
        fitted = strengths(letters(8), *simulated(logs, 4000, 4, units=1000, seed=seed))
        # 5 standard errors of the least sure
        assert fitted.points == pytest.approx(PER_LOG * logs, abs=45)
        inside += int(((fitted.low <= PER_LOG * logs) & (PER_LOG * logs <= fitted.high)).sum())
    assert 66 <= inside <= 80  # 76 of 80 expected


@pytest.mark.parametrize(("wins", "losses"), [(20, 0), (5, 15), (500, 500), (0, 3)])
def test_a_duel_has_the_interval_of_jeffreys(wins: int, losses: int) -> None:
    fitted = strengths(letters(2), *duels(wins, losses), replicates=4000)
    difference = 2 * np.array([fitted.low[0], fitted.high[0]])
    below = stats.beta(wins + 0.5, losses + 0.5).cdf(1 / (1 + 10 ** (-difference / 400)))
    # 5 standard errors of 4,000 replicates
    assert below == pytest.approx([0.025, 0.975], abs=0.0125)
    assert fitted.points[0] == pytest.approx(
        200 * math.log10((wins + 0.5) / (losses + 0.5)), abs=1e-3
    )
    assert fitted.points.sum() == pytest.approx(0, abs=1e-6)


def test_the_unit_is_the_seed() -> None:
    """Four games of one unit are worth as much as one, of four units four times as much."""
    seats, place, unit = (
        np.tile(array, (4, 1)) if array.ndim == 2 else np.tile(array, 4) for array in duels(60, 40)
    )
    apart = unit + 100 * np.repeat(np.arange(4), 100)
    widths = [
        np.ptp([fit.low[0], fit.high[0]])
        for fit in (strengths(letters(2), seats, place, u, 2000) for u in (unit, apart))
    ]
    assert widths[0] / widths[1] == pytest.approx(2, rel=0.15)


def test_who_won_everything_has_a_finite_strength_and_a_wide_interval() -> None:
    games = [(i, j) for i, j in itertools.combinations(range(4), 2) for _ in range(100)]
    place = [[1, 2] if i == 0 or number % 2 else [2, 1] for number, (i, _) in enumerate(games)]
    fitted = strengths(letters(4), games, place, np.arange(600))
    assert 1000 < fitted.points[0] < 1600
    assert fitted.high[0] > fitted.points[0] + 400
    assert fitted.against_average[0] > 0.99
    assert np.isfinite([fitted.low, fitted.high]).all()
    assert fitted.points[1:] == pytest.approx([0, 0, 0], abs=60)
    assert (fitted.high - fitted.low)[1:].max() < 120  # his strength is unsure, not theirs


def test_policies_that_never_met_are_compared_through_others() -> None:
    """a and c never met."""
    seats = np.array([[0, 1]] * 100 + [[1, 2]] * 100)
    place = np.array([[1, 2]] * 75 + [[2, 1]] * 25 + [[1, 2]] * 75 + [[2, 1]] * 25)
    points = strengths(letters(3), seats, place, np.arange(200)).points
    assert points[0] - points[2] == pytest.approx(2 * 400 * math.log10(3), rel=0.05)


def test_a_policy_in_two_seats_has_one_strength() -> None:
    """The strength is the likeliest: there, the derivative of the likelihood is zero."""
    seats = np.tile([0, 0, 1], (300, 1))
    place = np.array(
        (
            [[1, 2, 3]] * 2
            + [[3, 2, 1]]
            + [[2, 1, 3]] * 2
            + [[2, 3, 1]]
            + [[1, 3, 2]] * 2
            + [[3, 1, 2]]
        )
        * 34
    )[:300]
    fitted = strengths(letters(2), seats, place, np.arange(300))
    ratio = 10 ** ((fitted.points[0] - fitted.points[1]) / 400)
    # wins of policy 0 less what its strength promises, over all choices in which both are left
    score = 0.0
    for ranks in place.tolist():
        left = [0, 0, 1]
        for seat in np.argsort(ranks):
            if len(set(left)) == 2:
                promised = left.count(0) * ratio / (left.count(0) * ratio + left.count(1))
                score += (seats[0, seat] == 0) - promised
            left.remove(int(seats[0, seat]))
    score += 0.5 - ratio / (1 + ratio)  # the game that is added
    assert score == pytest.approx(0, abs=1e-4)
    assert fitted.games.tolist() == [300, 300]


def test_the_same_games_give_the_same_numbers_in_any_order() -> None:
    seats, place, unit = simulated(np.array([0.5, 0.0, -0.5]), 300, 3, units=50)
    one = strengths(letters(3), seats, place, unit)
    again = strengths(letters(3), seats, place, unit)
    turned = strengths(letters(3), seats[::-1], place[::-1], unit[::-1])
    assert (one.points.tolist(), one.low.tolist(), one.high.tolist()) == (
        again.points.tolist(),
        again.low.tolist(),
        again.high.tolist(),
    )
    assert turned.points == pytest.approx(one.points, abs=1e-6)
    assert turned.low == pytest.approx(one.low, abs=1e-6)


def test_rows_are_a_ladder() -> None:
    rows = strengths(letters(3), *simulated(np.array([-1.0, 0.0, 1.0]), 500, 2)).rows()
    assert [(row["rank"], row["name"]) for row in rows] == [(1, "c"), (2, "b"), (3, "a")]
    assert all(row["points_low"] < row["points"] < row["points_high"] for row in rows)
    assert sum(row["games"] for row in rows) == 1000
    alone = strengths(letters(2), [[0, 1]], [[1, 2]], [0]).rows()
    assert alone[0]["points_low"] is alone[0]["points_high"] is None
    json.dumps(rows + alone, allow_nan=False)


@pytest.mark.parametrize(
    ("names", "seats", "place", "unit", "message"),
    [
        (("a",), [[0, 0]], [[1, 2]], [0], "two or more policies; 1"),
        (("a", "b"), [[0, 1]], [[1, 2, 3]], [0], r"not \(1, 2\), \(1, 3\), \(1,\)"),
        (("a", "b"), [[0, 1]], [[1, 2]], [0, 1], "seats"),
        (("a", "b"), np.zeros((0, 2)), np.zeros((0, 2)), [], "one or more games"),
        (("a", "b"), [[0, 2]], [[1, 2]], [0], "numbers of the 2 policies"),
        (("a", "b"), [[0, 1]], [[0, 1]], [0], "places ranks, from 1"),
    ],
)
def test_games_that_do_not_fit(names: Any, seats: Any, place: Any, unit: Any, message: str) -> None:
    with pytest.raises(me.ConfigurationError, match=message):
        strengths(names, seats, place, unit)


# --- the cross table


def test_the_cross_table_counts_who_ended_before_whom() -> None:
    table = cross_table(
        letters(4), [[0, 1, 2], [2, 0, 1], [1, 0, 0]], [[1, 2, 3], [1, 1, 3], [1, 2, 3]]
    )
    expected = [
        [math.nan, 2 / 4, 1.5 / 2, math.nan],
        [2 / 4, math.nan, 1 / 2, math.nan],
        [0.5 / 2, 1 / 2, math.nan, math.nan],
    ]
    assert table.share[:3] == pytest.approx(np.array(expected), nan_ok=True)
    assert np.isnan(table.share[3]).all()
    assert table.games.tolist() == [[0, 4, 2, 0], [4, 0, 2, 0], [2, 2, 0, 0], [0, 0, 0, 0]]
    turned = table.sorted(("c", "b", "a"))
    assert turned.share[0, 2] == table.share[2, 0]
    assert json.loads(json.dumps(table.to_json(), allow_nan=False))["share"][0] == [
        None,
        0.5,
        0.75,
        None,
    ]


def test_the_cross_table_is_shown_and_drawn() -> None:
    table = cross_table(letters(3), *simulated(np.array([2.0, 0.0, -2.0]), 300, 2)[:2])
    console = Console(width=100)
    with console.capture() as captured:
        console.print(table.table())
    assert f"{100 * table.share[0, 2]:.1f}" in captured.get()
    axes = table.plot()
    shown = [text.get_text() for text in axes.texts]
    assert shown == [f"{100 * share:.0f}" for share in table.share.ravel() if not np.isnan(share)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "c"]
    assert "games a pair" in axes.get_title()


# --- ratings that go on


@pytest.fixture(scope="module")
def results() -> Any:
    return arena.play(["algorithmic", "random"], 60, "ocnaru", seed=1)


def test_ratings_move_and_are_kept(results: Any, tmp_path: Path) -> None:
    rated = Ratings()
    assert rated.update(results)
    rows = rated.rows()
    assert [row["name"] for row in rows] == ["algorithmic", "random"]
    assert [row["games"] for row in rows] == [60, 60]
    assert rows[0]["mu"] > 25 > rows[1]["mu"]
    assert all(
        row["sigma"] < 25 / 3 and row["ordinal"] == row["mu"] - 3 * row["sigma"] for row in rows
    )
    chances = rated.chances(["algorithmic", "random"])
    assert chances[0] > 0.9
    assert sum(chances) == pytest.approx(1)
    rated.save(tmp_path / "ratings.json")
    loaded = Ratings.load(tmp_path / "ratings.json")
    assert loaded == rated
    assert not loaded.update(results)  # counted before
    assert loaded == rated
    more = arena.play(["algorithmic", "random", "random/no_trades"], 12, "ocnaru", seed=2)
    assert loaded.update(more)
    assert [row["games"] for row in loaded.rows() if row["name"] != "random/no_trades"] == [72, 72]


def test_the_same_results_give_the_same_ratings(results: Any) -> None:
    one, other = Ratings(), Ratings()
    one.update(results)
    other.update(results)
    assert one == other


def test_several_seats_of_one_policy_are_one_rating() -> None:
    rated = Ratings()
    assert rated.update(arena.play(["random", "random", "random"], 10, "ocnaru"))
    (row,) = rated.rows()
    assert row["games"] == 10
    assert row["mu"] == pytest.approx(25, abs=1)


def test_unknown_names_have_no_chances() -> None:
    with pytest.raises(me.ConfigurationError, match="'algorithmic' has no rating yet"):
        Ratings().chances(["algorithmic"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda about: about.update(format="other"),
            "format is 'other', expected 'monopoly-ratings'",
        ),
        (lambda about: about.update(format_version=99), "format_version is 99"),
        (lambda about: about["scale"].update(mu=1500.0), "scale is"),
        (lambda about: about["players"]["random"].update(sigma=-1.0), "holds no ratings"),
        (lambda about: about["players"]["random"].update(mu=math.nan), "holds no ratings"),
        (lambda about: about["players"]["random"].pop("mu"), "holds no ratings"),
        (lambda about: about.update(players=[]), "holds no ratings"),
    ],
)
def test_files_that_hold_no_ratings(
    change: Callable[[dict[str, Any]], Any], message: str, results: Any, tmp_path: Path
) -> None:
    rated = Ratings()
    rated.update(results)
    path = tmp_path / "ratings.json"
    rated.save(path)
    about = json.loads(path.read_text())
    change(about)
    path.write_text(json.dumps(about))
    with pytest.raises(me.FormatError, match=message):
        Ratings.load(path)


def test_files_that_are_no_json(tmp_path: Path) -> None:
    path = tmp_path / "ratings.json"
    with pytest.raises(me.FormatError, match="holds no ratings"):
        Ratings.load(path)
    for text in ("", "[]", "\x00"):
        path.write_text(text)
        with pytest.raises(me.FormatError, match="holds no ratings"):
            Ratings.load(path)
