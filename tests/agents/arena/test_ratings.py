"""Strengths, ratings that go on, and the cross table.

Strengths are held against another program, and against known strengths and intervals.
"""

from __future__ import annotations

import itertools
import json
import math
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
from agents.arena.results import Results
from tests.results import results_of

mpl.use("Agg")

PER_LOG = 400 / math.log(10)


def simulated(
    logs: NDArray[np.float64], games: int, players: int, seeds: int = 500, seed: int = 0
) -> Results:
    """Games between policies of known strengths."""
    generator = np.random.default_rng(seed)
    seats = np.argsort(generator.random((games, len(logs))), axis=1)[:, :players]
    score = logs[seats] + generator.gumbel(size=seats.shape)
    place = np.argsort(np.argsort(-score, axis=1), axis=1) + 1
    return results_of("abcdefgh"[: len(logs)], seats, place, generator.integers(0, seeds, games))


def duels(wins: int, losses: int) -> Results:
    """Games of policy 0 against policy 1, each with its own seed."""
    place = [[1, 2]] * wins + [[2, 1]] * losses
    return results_of("ab", np.tile([0, 1], (wins + losses, 1)), place)


def ranked(results: Results) -> NDArray[Any]:
    """(G, P) the policies of each game, the first one first."""
    return np.take_along_axis(results.seats, np.argsort(results.place, axis=1), 1)


def test_tables_of_two_agree_with_choix() -> None:
    results = simulated(np.array([1.0, 0.3, 0.0, -0.4, -0.9]), 2000, 2)
    wins = np.full((5, 5), 0.5 / 4)
    winner, loser = ranked(results).T
    np.add.at(wins, (winner, loser), 1.0)
    expected = choix.ilsr_pairwise_dense(wins)
    points = strengths(results, replicates=0).points
    assert points - points.mean() == pytest.approx(PER_LOG * expected, abs=1e-4)
    assert np.sort(points)[1:4].mean() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("players", [3, 4, 6])
def test_larger_tables_agree_with_choix(players: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings, "_PRIOR", 1e-12)
    results = simulated(np.linspace(-1, 1, 7), 400, players)
    expected = choix.ilsr_rankings(7, ranked(results).tolist())
    points = strengths(results, replicates=0).points
    assert points - points.mean() == pytest.approx(PER_LOG * expected, abs=1e-3)


@pytest.mark.parametrize(
    "places", [(1, 1), (1, 1, 3), (1, 2, 2, 2), (1, 1, 1, 4, 4), (1, 1, 1, 1, 1, 1)]
)
def test_ties_are_all_orders_alike(places: tuple[int, ...]) -> None:
    """A game with ties counts as its orders, each once, if it was played as often."""
    names = "abcdef"[: len(places)]
    orders = {
        tuple(np.lexsort((order, places)).argsort() + 1)
        for order in itertools.permutations(range(len(places)))
    }
    more = [[*range(1, len(places) + 1)]] * len(orders)  # else all would be equal
    tied, split = (
        strengths(
            results_of(names, np.tile(np.arange(len(places)), (2 * len(orders), 1)), place), 0
        )
        for place in ([*[places] * len(orders), *more], [*orders, *more])
    )
    assert tied.points == pytest.approx(split.points, abs=1e-4)
    assert np.ptp(tied.points) > 10


def test_draws_only_make_equals() -> None:
    drawn = results_of("abc", [[0, 1, 2], [2, 0, 1]], np.ones((2, 3)))
    assert strengths(drawn).points == pytest.approx([0, 0, 0], abs=1e-6)


@pytest.mark.slow
def test_known_strengths_are_found_and_their_intervals_hold_them() -> None:
    logs = np.linspace(-1.5, 1.5, 8)
    inside = 0
    for seed in range(10):
        fitted = strengths(simulated(logs, 4000, 4, seeds=1000, seed=seed))
        # 5 standard errors of the least sure
        assert fitted.points == pytest.approx(PER_LOG * logs, abs=45)
        inside += int(((fitted.low <= PER_LOG * logs) & (PER_LOG * logs <= fitted.high)).sum())
    assert 66 <= inside <= 80  # 76 of 80 expected


@pytest.mark.slow
@pytest.mark.parametrize(("wins", "losses"), [(5, 15), (500, 500), (0, 3)])
def test_a_duel_has_the_interval_of_jeffreys(wins: int, losses: int) -> None:
    fitted = strengths(duels(wins, losses), replicates=4000)
    difference = 2 * np.array([fitted.low[0], fitted.high[0]])
    below = stats.beta(wins + 0.5, losses + 0.5).cdf(1 / (1 + 10 ** (-difference / 400)))
    # 5 standard errors of 4,000 replicates
    assert below == pytest.approx([0.025, 0.975], abs=0.0125)
    assert fitted.points[0] == pytest.approx(
        200 * math.log10((wins + 0.5) / (losses + 0.5)), abs=1e-3
    )
    assert fitted.points.sum() == pytest.approx(0, abs=1e-6)


@pytest.mark.slow
def test_games_of_one_seed_count_together() -> None:
    """Four games of one seed are worth as much as one, of four seeds four times as much."""
    games = duels(60, 40)
    seats, place = (np.tile(array, (4, 1)) for array in (games.seats, games.place))
    fits = (
        strengths(results_of("ab", seats, place, seeds), 2000)
        for seeds in (np.tile(np.arange(100), 4), np.arange(400))
    )
    widths = [np.ptp([fit.low[0], fit.high[0]]) for fit in fits]
    assert widths[0] / widths[1] == pytest.approx(2, rel=0.15)


def test_who_won_everything_has_a_finite_strength_and_a_wide_interval() -> None:
    games = [(i, j) for i, j in itertools.combinations(range(4), 2) for _ in range(100)]
    place = [[1, 2] if i == 0 or number % 2 else [2, 1] for number, (i, _) in enumerate(games)]
    fitted = strengths(results_of("abcd", games, place))
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
    points = strengths(results_of("abc", seats, place)).points
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
    fitted = strengths(results_of("ab", seats, place))
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
    games = simulated(np.array([0.5, 0.0, -0.5]), 300, 3, seeds=50)
    one, again = strengths(games), strengths(games)
    turned = strengths(
        results_of(games.names, games.seats[::-1], games.place[::-1], games.seeds[::-1])
    )
    assert (one.points.tolist(), one.low.tolist(), one.high.tolist()) == (
        again.points.tolist(),
        again.low.tolist(),
        again.high.tolist(),
    )
    assert turned.points == pytest.approx(one.points, abs=1e-6)
    assert turned.low == pytest.approx(one.low, abs=1e-6)


def test_rows_are_a_ladder() -> None:
    rows = strengths(simulated(np.array([-1.0, 0.0, 1.0]), 500, 2)).rows()
    assert [(row["rank"], row["name"]) for row in rows] == [(1, "c"), (2, "b"), (3, "a")]
    assert all(row["points_low"] < row["points"] < row["points_high"] for row in rows)
    assert sum(row["games"] for row in rows) == 1000
    alone = strengths(results_of("ab", [[0, 1]], [[1, 2]])).rows()
    assert alone[0]["points_low"] is alone[0]["points_high"] is None
    json.dumps(rows + alone, allow_nan=False)


def test_one_policy_has_no_strength() -> None:
    with pytest.raises(me.ConfigurationError, match="two or more policies; 1"):
        strengths(results_of("a", [[0, 0]], [[1, 2]]))


# --- the cross table


def test_the_cross_table_counts_who_ended_before_whom() -> None:
    seats, place = [[0, 1, 2], [2, 0, 1], [1, 0, 0]], [[1, 2, 3], [1, 1, 3], [1, 2, 3]]
    table = cross_table(results_of("abcd", seats, place))
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
    table = cross_table(simulated(np.array([2.0, 0.0, -2.0]), 300, 2))
    console = Console(width=100)
    assert len(table.table().columns) == 5
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
