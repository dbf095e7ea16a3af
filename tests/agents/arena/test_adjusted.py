"""Luck-adjusted results.

The luck of a throw is exact, it changes no mean, and a value that does harm is named.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import monopoly_env as me
from agents import arena
from agents.arena import result_files
from agents.arena.counting import throws_next
from agents.arena.games import ARRAYS
from agents.arena.luck import Luck, throw_measured
from agents.arena.results import Results, merge
from agents.arena.statistics import adjusted_wins, coefficients, control_coefficient
from monopoly_env.actions import parse
from monopoly_env.analyse.values import Value, ValueKernel, resolve
from monopoly_env.core import batch_of
from monopoly_env.engine import agenda
from monopoly_env.engine.legal import count_legal
from monopoly_env.engine.step import answer, settle_one
from monopoly_env.errors import ConfigurationError, FormatError
from tests.policies import Acting
from tests.results import results_of

PAIR = ("algorithmic", "gcp")
FALSE_ALARM = 4.9  # standard errors: fewer than 1e-6 of all true hypotheses are that far off


@ValueKernel
def _by_square(game: Any, params: Any, shares: Any) -> None:
    """No value at all: it moves with every throw and likes sevens.

    Its shares do not even add up to 1.
    """
    for seat in range(game.num_players):
        shares[seat] = params[game.position[seat]] + (game.dice[0] + game.dice[1] == 7)


@ValueKernel
def _even(game: Any, params: Any, shares: Any) -> None:
    shares[:] = 1.0 / game.num_players


@ValueKernel
def _when_asked(game: Any, params: Any, shares: Any) -> None:
    """1 for the player who decides, if it is on turn before its throw.

    0 wherever the record contradicts itself.
    """
    top = int(game.depth) - 1
    sound = (
        game.agenda[top, 0] == game.decision
        and game.agenda[top, 1] == game.player
        and count_legal(game) > 0
    )
    shares[:] = 0.0
    if sound:
        shares[game.player] = (
            1.0 if count_legal(game) == 1 and game.agenda[top - 1, 0] == agenda.THROW else 0.5
        )


@ValueKernel
def _failing(game: Any, params: Any, shares: Any) -> None:
    shares[0] = params[game.turns]


@ValueKernel
def _empty(game: Any, params: Any, shares: Any) -> None:
    shares[:] = np.nan


SQUARES = Value("squares", _by_square, np.random.default_rng(0).normal(0, 0.2, size=40))


def before_a_throw(**position: Any) -> Any:
    """A game of two whose next task is the throw of player 0."""
    game = batch_of(me.position(2, **position))[0]
    while not throws_next(game):
        answer(game, parse("go on"))
        to_the_next_throw(game)
    return game


def to_the_next_throw(game: Any) -> None:
    while not throws_next(game) and settle_one(game):
        pass


def measured(game: Any, value: Value) -> NDArray[np.float64]:
    """The luck of the next throw of a game, which is carried out."""
    sums = np.zeros((1, int(game.num_players)))
    throw_measured(game, Luck.of(value, sums), sums[0])
    return sums[0]


def within_false_alarm(values: NDArray[np.float64], seeds: NDArray[np.uint64]) -> bool:
    """Whether the mean of values is zero, as far as their spread between seeds tells."""
    sums = np.bincount(np.unique(seeds, return_inverse=True)[1], values)
    return bool(abs(sums.mean()) <= FALSE_ALARM * sums.std(ddof=1) / len(sums) ** 0.5)


# --- a throw


def test_the_luck_of_a_throw_is_what_it_brought_less_the_mean_of_all_36() -> None:
    where = {"positions": {0: 35}, "lots": {1: ["Reading Railroad"]}, "seed": 3}
    values = []
    for first, second in itertools.product(range(1, 7), repeat=2):
        game = before_a_throw(**where)
        game.forced_throws[0], game.num_forced = 10 * first + second, 1
        settle_one(game)
        to_the_next_throw(game)
        values.append(SQUARES.params[game.position[:2]].astype(float) + (first + second == 7))
    game = before_a_throw(**where)
    found = measured(game, SQUARES)
    thrown = 6 * (int(game.dice[0]) - 1) + int(game.dice[1]) - 1
    assert found == pytest.approx(values[thrown] - np.mean(values, axis=0), abs=1e-6)
    assert abs(found[0]) > 0.01


def test_a_throw_that_ends_the_game_counts_by_its_result() -> None:
    """From square 35 a 2, 3 or 4 (6 of 36) ruins player 0: Park Place, the luxury tax, Boardwalk.

    All else is even, says the value.
    """
    found = []
    for seed in range(40):
        game = before_a_throw(
            positions={0: 35}, cash={0: 35}, lots={1: ["Park Place", "Boardwalk"]},
            buildings={"Park Place": 5, "Boardwalk": 5},
            chance=["dividend"], seed=seed,
            rules=me.Rules(trade="none", build_window="before_each_throw"),
        )  # fmt: skip
        luck = measured(game, Value("even", _even))
        ruined = 2 <= int(game.dice[0]) + int(game.dice[1]) <= 4
        assert luck[0] == pytest.approx(-5 / 12 if ruined else 1 / 12)
        assert luck[1] == pytest.approx(-luck[0])
        found.append(ruined)
    assert 0 < sum(found) < 40


def test_measuring_carries_out_the_same_throw() -> None:
    game = before_a_throw(lots={0: ["Baltic Avenue"]}, seed=5)
    plain = batch_of(game).copy()[0]
    settle_one(plain)
    measured(game, resolve("worth"))
    assert game.tobytes() == plain.tobytes()


@pytest.mark.slow
def test_what_a_throw_could_have_brought_does_not_depend_on_what_it_brought() -> None:
    """So its luck is zero in the mean exactly, for any value.

    A throw is compared with all that could have come instead of it.
    """
    differ = 0
    for square in range(40):
        game = before_a_throw(
            positions={0: square},
            lots={1: ["Electric Company", "Boardwalk", "Reading Railroad"]},
            seed=square,
        )
        other = batch_of(game).copy()[0]
        other.throws[0] += 7  # another number of the stream
        one, two = (Luck.of(resolve("best"), np.zeros((1, 2))) for _ in range(2))
        throw_measured(game, one, one.sums[0])
        throw_measured(other, two, two.sums[0])
        assert np.array_equal(one.after, two.after)
        differ += game.dice.tolist() != other.dice.tolist()
    assert differ > 30


def test_a_value_sees_a_sound_record_also_between_two_throws() -> None:
    """Nobody owns anything.

    After a throw that sells nothing, what is valued is the next throw, of player 0 (a double) or
    player 1.
    """
    game = before_a_throw(
        lots={0: ["Baltic Avenue"]}, cash={0: 0}, seed=1, rules=me.Rules(trade="none")
    )
    luck = Luck.of(Value("asked", _when_asked), np.zeros((1, 2)))
    throw_measured(game, luck, luck.sums[0])
    assert (luck.after.sum(axis=1) > 0).all()
    assert set(luck.after.max(axis=1)) == {0.5, 1.0}


def test_a_forced_throw_is_no_luck() -> None:
    game = before_a_throw(lots={0: ["Baltic Avenue"]}, throws=[(1, 3)])
    assert measured(game, SQUARES).tolist() == [0, 0]
    assert game.dice.tolist() == [1, 3]


# --- games


@pytest.fixture(scope="module")
def played() -> Results:
    return arena.play(PAIR, 1200, adjust=SQUARES)


def test_luck_is_zero_in_the_mean_whatever_the_value(played: Results) -> None:
    """Of each policy in each seat: 1,200 games here, 200,000 in `studies.adjusted`."""
    assert played.luck is not None
    for policy, seat in itertools.product(range(2), range(2)):
        here = played.seats[:, seat] == policy
        assert played.luck[here, seat].std() > 0.1
        assert within_false_alarm(played.luck[here, seat], played.seeds[here])
        assert within_false_alarm(
            (played.wins - adjusted_wins(played))[here, seat], played.seeds[here]
        )


def test_the_luck_by_the_best_value_is_zero_in_the_mean() -> None:
    """Of one policy, over both seats of each seed.

    The score ends games soon, which takes little time and leaves little spread.
    """
    short = arena.play(PAIR, 800, adjust="value", turn_limit=25)
    assert short.value == "best"
    assert short.luck is not None
    own = short.seats == 0
    assert short.luck[own].std() > 0.1
    assert within_false_alarm(short.luck[own], short.seeds)
    assert within_false_alarm((short.wins - adjusted_wins(short))[own], short.seeds)


def test_games_are_the_same_with_and_without(played: Results) -> None:
    plain = arena.play(PAIR, 60)
    for name in ("place", "turns"):
        assert (getattr(plain, name) == getattr(played, name)[:60]).all()
    assert plain.luck is None
    assert "adjusted_rate" not in plain.rows()[0]
    with pytest.raises(ConfigurationError, match="adjust='value'"):
        plain.difference(*plain.names, adjusted=True)


def test_luck_depends_on_neither_threads_nor_on_how_a_policy_is_asked(played: Results) -> None:
    assert played.luck is not None
    for players, threads in ((PAIR, 1), (PAIR, 3), ((Acting(PAIR[0]), PAIR[1]), 2)):
        again = arena.play(players, 40, threads=threads, adjust=SQUARES)
        assert again.luck is not None
        assert again.luck.tobytes() == played.luck[:40].tobytes()


def test_more_players_and_a_draw_of_rules() -> None:
    found = arena.play(
        ["algorithmic", "gcp", "random"], 12, "ocnaru", adjust="worth", turn_limit=30
    )
    assert found.luck is not None
    assert found.luck.sum(axis=1) == pytest.approx(0, abs=1e-9)  # shares of worth add up to 1
    assert adjusted_wins(found).sum(axis=1) == pytest.approx(1)


# --- how much of it is subtracted


def won_by_luck(won: NDArray[np.float64], luck: NDArray[np.float64]) -> Results:
    """Results of two in fixed seats where the first wins these games (0 or 1), with this luck."""
    place, seats = np.stack([2 - won, 1 + won], axis=1), np.tile([0, 1], (len(won), 1))
    luck = np.stack([luck, -luck], axis=1)
    return results_of(PAIR, seats, place, luck=luck, value="made up")


def test_a_good_value_takes_the_variance_away_and_the_mean_stays() -> None:
    draw = np.random.default_rng(1)
    luck = draw.choice([-0.5, 0.5], 2000)
    won = (draw.random(2000) < 0.5 + 0.8 * luck).astype(float)  # nearly all of a win is luck
    found = won_by_luck(won, luck)
    row = found.rows()[0]
    assert coefficients(found) == pytest.approx((0.8, 0.8), abs=0.1)
    assert row["variance_removed"] == pytest.approx(0.64, abs=0.05)
    assert row["adjusted_rate"] == pytest.approx(0.5, abs=0.03)
    assert row["adjusted_high"] - row["adjusted_low"] == pytest.approx(
        0.6 * (row["paired_high"] - row["paired_low"]), rel=0.05
    )
    assert found.difference(*found.names, adjusted=True).difference == pytest.approx(
        adjusted_wins(found)[:, 0].mean() * 2 - 1
    )
    assert "-64%" in str(found)
    assert "noisier" not in str(found)


def test_each_half_of_the_seeds_is_adjusted_by_the_other() -> None:
    luck = np.tile([1.0, 1.0, -1.0, -1.0], 10)
    won = np.tile([1.0, 0.0, 0.0, 1.0], 10)  # even seeds win by luck, odd ones against it
    found = won_by_luck(won, luck)
    # of even seeds: the odd ones say none; of odd ones: the even ones say a half
    assert coefficients(found) == (0.0, 0.5)
    assert found.rows()[0]["variance_removed"] < 0
    assert " ".join(str(found).split()).count("noisier") == 1


def test_what_can_not_be_fitted_is_not_subtracted() -> None:
    assert control_coefficient(np.ones((2, 1)), np.ones((2, 1))) == 0
    assert control_coefficient(np.ones((2, 9)), np.ones((2, 9))) == 0  # no variance to take away
    assert control_coefficient(np.eye(2), np.zeros((2, 2))) == 0
    assert control_coefficient(np.eye(2), np.eye(2) - 0.5) == 1
    assert control_coefficient(np.eye(2), 0.1 * np.eye(2) - 0.05) == 2


def test_play_stops_by_the_adjusted_interval() -> None:
    found = arena.play(PAIR, 4000, until=0.05, adjust="worth")
    row = found.rows()[0]
    assert (
        max(row["adjusted_high"] - row["adjusted_rate"], row["adjusted_rate"] - row["adjusted_low"])
        <= 0.05
    )
    assert found.games < 4000


# --- files, merged results, errors


def test_luck_is_saved_and_played_again(tmp_path: Path) -> None:
    found = arena.round_robin([*PAIR, "random"], 10, adjust="worth")
    found.save(tmp_path / "x")
    loaded = Results.load(tmp_path / "x")
    assert found.luck is not None
    assert loaded.luck is not None
    assert (loaded.value, loaded.luck.tobytes()) == ("worth", found.luck.tobytes())
    assert loaded.rows() == found.rows()
    again = arena.play_again(loaded)
    assert again.luck is not None
    assert again.luck.tobytes() == found.luck.tobytes()


def test_damaged_luck_is_refused(tmp_path: Path) -> None:
    found = arena.play(PAIR, 10, adjust="worth")
    assert found.luck is not None
    about, arrays = found.summary() | {"setup": {}}, {name: getattr(found, name) for name in ARRAYS}
    arrays["luck"] = np.where(np.arange(10)[:, None] == 3, np.inf, found.luck)
    result_files.write(tmp_path / "x", found.names, about, arrays)
    with pytest.raises(FormatError, match="'luck' is not finite"):
        Results.load(tmp_path / "x")


def test_luck_of_several_values_is_not_merged(played: Results) -> None:
    plain, other = arena.play(PAIR, 10), arena.play(PAIR, 10, adjust="worth")
    both = merge([played, played], played.names)
    assert both.luck is not None
    assert (both.value, len(both.luck)) == ("squares", 2400)
    assert merge([played, plain], played.names).luck is None
    assert merge([played, other], played.names).luck is None


@pytest.mark.parametrize(
    ("adjust", "message"),
    [
        ("wealth", "Unknown value 'wealth'"),
        (3, "Unknown value 3"),
        (Value("failing", _failing), "The value 'failing' raised IndexError"),
        (Value("empty", _empty), "The value 'empty' gave a share that is no finite number"),
    ],
)
def test_wrong_values_are_named(adjust: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        arena.play(PAIR, 4, adjust=adjust)


def test_the_best_value_is_for_tables_of_four_at_most() -> None:
    assert arena.play(["random"] * 4, 1, adjust="value", turn_limit=1).value == "best"
    with pytest.raises(ConfigurationError, match="'best' is for tables of 2 to 4, not of 5"):
        arena.play(["random"] * 5, 1, adjust="value")
