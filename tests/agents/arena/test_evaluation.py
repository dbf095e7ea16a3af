"""`arena.against`: the games, the shares and the differences are those of `play` and `compare`."""

from __future__ import annotations

import pytest

import agents
import monopoly_env as me
from agents import arena
from agents.arena.evaluation import Seating
from agents.arena.games import ARRAYS
from tests.policies import Acting

ALONE = Seating(("random",), "ocnaru")
THREE = Seating(("algorithmic", "random"), "short", turn_limit=40)


def test_each_lineup_is_a_table_of_the_arena() -> None:
    first, second = agents.make("algorithmic"), agents.make("algorithmic", reserve=900.0)
    scores = arena.against([first, second], [ALONE, THREE], [21, 12], seed=4, threads=2)
    for policy, score in zip((first, second), scores, strict=True):
        parts = [
            arena.play(
                [policy, *seating.opponents], games, seating.rules, 4, turn_limit=seating.turn_limit
            )
            for seating, games in ((ALONE, 21), (THREE, 12))
        ]
        for found, played in zip(score.results, parts, strict=True):
            assert found.names == played.names
            for name in ARRAYS:
                assert getattr(found, name).tobytes() == getattr(played, name).tobytes()
            assert (found.rules, found.turn_limit, found.rows()) == (
                played.rules,
                played.turn_limit,
                played.rows(),
            )
        rows = [
            next(row for row in played.rows() if row["name"] == "algorithmic")
            for played in parts[:1]
        ]
        assert score.rows()[0] == rows[0]
        assert score.rate == pytest.approx(sum(row["wins"] for row in score.rows()) / 33)


def test_a_difference_is_that_of_compare() -> None:
    first, second = agents.make("algorithmic"), agents.make("random")
    better, worse = arena.against([first, second], [ALONE], [40], seed=2)
    exact = arena.compare(first, second, ["random"], 40, 2, "ocnaru", 2)
    found = better.difference(worse)
    assert (found.difference, found.low, found.high, found.p_value) == (
        exact.difference,
        exact.low,
        exact.high,
        exact.p_value,
    )
    assert (better.rate, worse.rate) == exact.rates
    assert better.interval == (better.rows()[0]["paired_low"], better.rows()[0]["paired_high"])


def test_lineups_share_their_seeds_or_do_not() -> None:
    (shared,) = arena.against(["algorithmic"], [ALONE, ALONE], [8, 6], seed=1)
    assert shared.by_seed[1].tolist() == [4, 4, 4, 2]
    assert shared.won[:6].tolist() == shared.won[8:].tolist()
    (apart,) = arena.against(["algorithmic"], [ALONE, ALONE], [8, 6], seed=1, same_seeds=False)
    assert apart.by_seed[1].tolist() == [2] * 7
    assert apart.won[:8].tolist() == shared.won[:8].tolist()
    assert apart.results[1].turns.tolist() != shared.results[1].turns.tolist()


def test_where_a_network_sits_each_lineup_is_played_alone() -> None:
    """Its last bits depend on how many decisions it is asked at once.

    So they are those of `play`.
    """
    alone, together = Acting("algorithmic"), Acting("algorithmic")
    games = 12
    for rules in ("ocnaru", "official"):
        arena.play([alone, "random"], games, rules, 3)
    seatings = [Seating(("random",), "ocnaru"), Seating(("random",), "official")]
    (score,) = arena.against([together], seatings, [games, games], seed=3)
    assert together.batches == alone.batches
    (compiled,) = arena.against(["algorithmic"], seatings, [games, games], seed=3)
    assert score.won.tolist() == compiled.won.tolist()


def test_a_candidate_of_the_opponents_name_is_counted_alone() -> None:
    (score,) = arena.against(["random"], [Seating(("random", "random"))], [12])
    assert score.rate == pytest.approx(1 / 3)
    assert score.results[0].names == ("random", "random (2)")
    assert (
        str(Seating((agents.make("algorithmic"), "random", "random"))) == "algorithmic, 2 x random"
    )
    assert Seating(("algorithmic", "random", "random")).orders == 12


def test_games_are_told_as_they_end() -> None:
    ended: list[int] = []
    arena.against(["random", "algorithmic"], [ALONE, THREE], [6, 6], progress=ended.append)
    assert sum(ended) == 24


@pytest.mark.parametrize(
    ("seating", "games", "message"),
    [
        (Seating(("random",) * 8), 2, "policies at a table: 9 must be a whole number from 2 to 8"),
        (Seating(("random",)), 0, "games=0 must be"),
        (Seating(("random",), turn_limit=0), 2, "turn_limit=0 must be"),
        (Seating(("randm",)), 2, "Did you mean 'random'"),
        (Seating(("random",), "oficial"), 2, "Did you mean 'official'"),
    ],
)
def test_wrong_arguments_are_refused(seating: Seating, games: int, message: str) -> None:
    with pytest.raises(me.MonopolyError, match=message):
        arena.against(["algorithmic"], [seating], [games])
